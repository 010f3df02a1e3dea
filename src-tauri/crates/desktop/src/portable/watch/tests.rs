//! Tests of `watch`.

use super::*;

fn at(x: i32) -> PhysicalPoint {
    PhysicalPoint { x, y: 0 }
}

fn after(milliseconds: u64, start: Instant) -> Instant {
    start + Duration::from_millis(milliseconds)
}

#[test]
fn escape_stops_once_it_was_held_for_a_second_and_pauses_when_only_tapped() {
    let start = Instant::now();
    let mut watch = Watch::default();
    assert_eq!(watch.note(Heard::Escape(Way::Down), start), None);
    assert_eq!(watch.note(Heard::Escape(Way::Down), after(500, start)), None);
    assert_eq!(watch.due(after(999, start)), None);
    assert_eq!(watch.due(after(1000, start)), Some((Interruption::Escape, UserInputAt::Keyboard)));
    assert_eq!(watch.due(after(1001, start)), None);
    let mut watch = Watch::default();
    watch.note(Heard::Escape(Way::Down), start);
    let tapped = watch.note(Heard::Escape(Way::Up), after(100, start));
    assert_eq!(tapped, Some((Interruption::UserInput, UserInputAt::Keyboard)));
    assert_eq!(watch.due(after(5000, start)), None);
}

#[test]
fn a_key_or_a_button_pauses_at_once() {
    let now = Instant::now();
    let mut watch = Watch::default();
    assert_eq!(watch.note(Heard::Key, now), Some((Interruption::UserInput, UserInputAt::Keyboard)));
    let pressed = watch.note(Heard::Pressed(at(5)), now);
    assert_eq!(pressed, Some((Interruption::UserInput, UserInputAt::Pointer(at(5)))));
}

#[test]
fn a_shaken_desk_is_no_user_and_a_moved_mouse_is() {
    let start = Instant::now();
    let mut watch = Watch::default();
    for (round, x) in [100, 110, 100, 115].into_iter().enumerate() {
        let now = after(round as u64 * 10, start);
        assert_eq!(watch.note(Heard::Moved(at(x)), now), None, "{x}");
    }
    // Slow drift is not taken together.
    assert_eq!(watch.note(Heard::Moved(at(130)), after(1000, start)), None);
    let moved = watch.note(Heard::Moved(at(160)), after(1050, start));
    assert_eq!(moved, Some((Interruption::UserInput, UserInputAt::Pointer(at(160)))));
}
