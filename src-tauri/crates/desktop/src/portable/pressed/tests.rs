//! Tests of `pressed`.

use super::*;

#[test]
fn what_was_pressed_last_is_let_go_first_and_only_once() {
    let held = PressedInput::default();
    held.pressed(Down::Key(Key::Ctrl));
    held.pressed(Down::Key(Key::Shift));
    held.pressed(Down::Button(Button::Left));
    held.released(Down::Key(Key::Shift));
    assert_eq!(held.take(), [Down::Button(Button::Left), Down::Key(Key::Ctrl)]);
    assert_eq!(held.take(), []);
}

#[test]
fn what_was_put_down_to_stay_outlives_its_act_and_ends_with_everything() {
    let held = PressedInput::default();
    held.pressed(Down::Key(Key::Shift));
    held.keep(Down::Key(Key::Shift));
    held.pressed(Down::Button(Button::Left));
    assert_eq!(held.take(), [Down::Button(Button::Left)]);
    held.keep(Down::Button(Button::Right));
    assert!(held.give_up(Down::Button(Button::Right)));
    assert!(!held.give_up(Down::Button(Button::Right)));
    assert_eq!(held.end_all(), [Down::Key(Key::Shift)]);
    assert_eq!(held.end_all(), []);
}

#[test]
fn releasing_everything_ends_the_acts_before_it_and_not_those_after() {
    let held = Arc::new(PressedInput::default());
    let before = Stop::new(CancellationToken::new(), &held);
    assert_eq!(before.check(), Ok(()));
    held.end_all();
    assert_eq!(before.check(), Err(DesktopError::Cancelled));
    let after = Stop::new(CancellationToken::new(), &held);
    assert_eq!(after.check(), Ok(()));
}
