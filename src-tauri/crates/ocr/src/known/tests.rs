//! Tests of `known`.

use super::*;
use pictures::Order;

fn frame() -> Frame {
    Frame { width: 330, height: 200, order: Order::Bgrx, pixels: vec![255; 330 * 200 * 4] }
}

fn rect(left: u32, top: u32, right: u32, bottom: u32) -> Rect {
    Rect { left, top, right, bottom }
}

fn draw(frame: &mut Frame, at: Rect) {
    for y in at.top..at.bottom {
        for x in (at.left..at.right).step_by(2) {
            frame.pixels[(y * frame.width + x) as usize * 4] = 0;
        }
    }
}

fn line(text: &str, at: Rect) -> Line {
    Line { text: text.into(), confidence: 0.9, at }
}

/// All that changed is looked at and read: these lines, each found in the area that holds its middle.
fn learn(known: &mut KnownScreen, changes: &Changes, lines: &[Line]) {
    known.forget(changes);
    for area in &changes.areas {
        let here = lines.iter().map(|line| line.at).filter(|at| area.holds(at.middle()));
        known.found(changes, area, here.collect());
    }
    for line in lines {
        if known.unread.contains(&line.at) {
            known.read(&line.at, Some(line.clone()));
        }
    }
    assert_eq!(known.unread, []);
}

#[test]
fn plain_tiles_are_never_read_and_unchanged_ones_not_again() {
    let mut frame = frame();
    draw(&mut frame, rect(40, 40, 90, 50));
    let whole = Rect::of(&frame);
    let mut known = KnownScreen::empty(&frame);
    let changes = known.changes(&frame, &whole);
    assert_eq!(changes.areas, [rect(32, 32, 96, 64)]);
    learn(&mut known, &changes, &[line("a", rect(40, 40, 90, 50))]);
    let changes = known.changes(&frame, &whole);
    assert_eq!((changes.areas.len(), changes.tiles.len()), (0, 0));
    learn(&mut known, &changes, &[]);
    assert_eq!(known.lines.len(), 1);
}

#[test]
fn a_line_is_read_again_whole_when_something_is_added_to_its_end() {
    let mut frame = frame();
    let whole = Rect::of(&frame);
    draw(&mut frame, rect(10, 40, 62, 50));
    draw(&mut frame, rect(10, 140, 62, 150));
    let mut known = KnownScreen::empty(&frame);
    let changes = known.changes(&frame, &whole);
    let lines = [line("up", rect(10, 40, 62, 50)), line("down", rect(10, 140, 62, 150))];
    learn(&mut known, &changes, &lines);
    draw(&mut frame, rect(68, 40, 74, 50));
    let changes = known.changes(&frame, &whole);
    assert_eq!(changes.areas, [rect(0, 32, 96, 64)]);
    learn(&mut known, &changes, &[line("up!", rect(10, 40, 74, 50))]);
    let texts: Vec<_> = known.lines.iter().map(|line| line.text.as_str()).collect();
    assert_eq!(texts, ["down", "up!"]);
}

#[test]
fn a_line_whose_place_is_plain_now_is_forgotten() {
    let mut before = frame();
    draw(&mut before, rect(10, 40, 62, 50));
    let whole = Rect::of(&before);
    let mut known = KnownScreen::empty(&before);
    let changes = known.changes(&before, &whole);
    learn(&mut known, &changes, &[line("gone", rect(10, 40, 62, 50))]);
    let changes = known.changes(&frame(), &whole);
    learn(&mut known, &changes, &[]);
    assert_eq!(known.lines, []);
}

#[test]
fn outside_the_part_nothing_counts_as_read() {
    let mut frame = frame();
    draw(&mut frame, rect(10, 40, 62, 50));
    draw(&mut frame, rect(200, 140, 262, 150));
    let mut known = KnownScreen::empty(&frame);
    let changes = known.changes(&frame, &rect(0, 0, 100, 100));
    assert_eq!(changes.areas, [rect(0, 32, 64, 64)]);
    learn(&mut known, &changes, &[]);
    let whole = Rect::of(&frame);
    assert_eq!(known.changes(&frame, &whole).areas, [rect(192, 128, 288, 160)]);
}

#[test]
fn a_known_line_is_not_found_twice() {
    let mut frame = frame();
    draw(&mut frame, rect(10, 10, 90, 26));
    let mut known = KnownScreen::empty(&frame);
    let changes = known.changes(&frame, &Rect::of(&frame));
    known.found(&changes, &changes.areas[0], vec![rect(10, 10, 90, 26), rect(20, 11, 90, 26)]);
    assert_eq!(known.unread, [rect(10, 10, 90, 26)]);
}

#[test]
fn left_halfway_it_goes_on_there_and_what_changed_meanwhile_is_found_again() {
    let (up, down) = (rect(10, 10, 62, 20), rect(10, 170, 62, 180));
    let mut frame = frame();
    let whole = Rect::of(&frame);
    draw(&mut frame, up);
    draw(&mut frame, down);
    let mut known = KnownScreen::empty(&frame);
    let changes = known.changes(&frame, &whole);
    assert_eq!(changes.areas, [rect(0, 0, 64, 32), rect(0, 160, 64, 192)]);
    known.forget(&changes);
    known.found(&changes, &changes.areas[0], vec![up]);
    // The first line is found, and not read; the second area is not looked at.
    let later = known.changes(&frame, &whole);
    assert_eq!(later.areas, changes.areas[1..]);
    assert_eq!(known.unread, [up]);
    draw(&mut frame, rect(11, 10, 62, 20));
    let later = known.changes(&frame, &whole);
    assert_eq!(later.areas, changes.areas);
    known.forget(&later);
    assert_eq!(known.unread, []);
}
