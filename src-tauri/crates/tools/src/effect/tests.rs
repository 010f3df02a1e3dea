//! What pictures before and after say of an act.

use super::*;
use desktop::{Glimpse, WindowId};
use pictures::{Frame, Order, thumbnail};

fn glance(windows: &[(u64, &str)], active: u64, focused: &str) -> Glance {
    let windows = windows.iter().map(|(id, title)| Glimpse { id: WindowId(*id), title: (*title).into() });
    Glance {
        windows: windows.collect(),
        active: Some(WindowId(active)),
        focused: (!focused.is_empty()).then(|| focused.to_owned()),
        events: 0,
    }
}

#[derive(PartialEq)]
enum Shown {
    Nothing,
    /// A white box.
    Box,
}

fn look(shown: &Shown, glance: Glance) -> ScreenState {
    let is_white = |x: u32, y: u32| *shown == Shown::Box && (10..40).contains(&x) && (20..60).contains(&y);
    let pixel = |at: u32| [if is_white(at % 100, at / 100) { 255 } else { 0 }; 4];
    let pixels: Vec<u8> = (0..100 * 100).flat_map(pixel).collect();
    let frame = Frame { width: 100, height: 100, order: Order::Bgrx, pixels };
    ScreenState { thumbnail: thumbnail(&frame).ok(), glance: Some(glance) }
}

fn sent() -> Outcome {
    Outcome { effect: Effect::Unverified, ..Outcome::looked("clicked", json!({})) }
}

#[test]
fn what_changed_is_told_in_parts() {
    let before = look(&Shown::Nothing, glance(&[(1, "Untitled"), (2, "Old")], 1, "button \"Save\""));
    let after = look(&Shown::Box, glance(&[(1, "*Untitled"), (3, "Save\u{200b} As")], 3, "entry \"Name\""));
    let mut outcome = sent();
    judge(&mut outcome, Verify::Screen, &before, &after);
    assert_eq!(outcome.effect, Effect::Unverified);
    assert_eq!(outcome.summary, "clicked; opened the window \"Save As\"; closed the window \"Old\"");
    let expected = json!({
        "screen": "sent; the screen changed",
        "evidence": {
            "windowsOpened": ["Save As"],
            "windowsClosed": ["Old"],
            "titles": [{"from": "Untitled", "to": "*Untitled"}],
            "activeWindow": {"from": "Untitled", "to": "Save As"},
            "focus": {"from": "button \"Save\"", "to": "entry \"Name\""},
            "changed": {"bounds": {"x": 100.0, "y": 200.0, "width": 300.0, "height": 400.0}, "percent": 12.0},
        },
    });
    assert_eq!(outcome.data, expected);
}

#[test]
fn keys_have_arrived_where_a_window_closed_or_the_focus_moved() {
    let before = look(&Shown::Nothing, glance(&[(1, "Untitled"), (2, "About")], 2, "button \"OK\""));
    let closed = look(&Shown::Nothing, glance(&[(1, "Untitled")], 1, ""));
    let moved = look(&Shown::Nothing, glance(&[(1, "Untitled"), (2, "About")], 2, "link \"More\""));
    let silent = look(&Shown::Box, glance(&[(1, "Untitled"), (2, "About")], 2, ""));
    for (after, effect) in
        [(closed, Effect::Confirmed), (moved, Effect::Confirmed), (silent, Effect::Unverified)]
    {
        let mut outcome = sent();
        judge(&mut outcome, Verify::Keys, &before, &after);
        assert_eq!(outcome.effect, effect, "{}", outcome.summary);
    }
}

#[test]
fn a_screen_that_is_as_before_is_said_and_proves_nothing() {
    let same = look(&Shown::Nothing, glance(&[(1, "Untitled")], 1, ""));
    let mut outcome = sent();
    judge(&mut outcome, Verify::Screen, &same, &same);
    assert_eq!(
        (outcome.effect, outcome.summary.as_str()),
        (Effect::Unverified, "clicked; the screen is as before")
    );
    assert_eq!(outcome.data, json!({"screen": "sent; the screen is as before"}));
}

#[test]
fn a_focus_that_moved_without_a_pixel_is_a_change() {
    let before = look(&Shown::Nothing, glance(&[(1, "Untitled")], 1, "entry \"A\""));
    let after = look(&Shown::Nothing, glance(&[(1, "Untitled")], 1, "entry \"B\""));
    let mut outcome = sent();
    judge(&mut outcome, Verify::Screen, &before, &after);
    assert_eq!(outcome.effect, Effect::Unverified);
    assert_eq!(outcome.data["screen"], "sent; the screen looks as before, but a window or the focus changed");
}

#[test]
fn what_was_read_back_stands_whatever_the_screen_shows() {
    let same = look(&Shown::Nothing, glance(&[], 0, ""));
    let mut outcome = Outcome::looked("set", json!({}));
    judge(&mut outcome, Verify::Screen, &same, &same);
    assert_eq!((outcome.effect, outcome.summary.as_str()), (Effect::Confirmed, "set"));
}
