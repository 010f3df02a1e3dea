//! Tests of `role`.

use super::*;

#[test]
fn the_table_stands_at_the_numbers_of_the_specification() {
    let named = [
        (2, "alert"),
        (number::DIAL, "dial"),
        (number::DIALOG, "dialog"),
        (19, "file chooser"),
        (number::FRAME, "frame"),
        (29, "label"),
        (43, "button"),
        (number::MENU, "menu"),
        (number::POPUP_MENU, "popup menu"),
        (number::PASSWORD, "password text"),
        (number::PROGRESS_BAR, "progress bar"),
        (number::SCROLL_PANE, "scroll pane"),
        (number::SLIDER, "slider"),
        (number::SPIN_BUTTON, "spin button"),
        (number::TERMINAL, "terminal"),
        (number::TEXT, "text"),
        (number::VIEWPORT, "viewport"),
        (number::WINDOW, "window"),
        (number::ENTRY, "entry"),
        (88, "link"),
        (95, "document web"),
        (number::LEVEL_BAR, "level bar"),
        (116, "static"),
        (129, "push button menu"),
    ];
    for (role, name) in named {
        assert_eq!(describe(role).0, name);
    }
    assert_eq!(describe(9_999), ("element", Kind::Content));
}

#[test]
fn states_go_to_words_and_back() {
    let states = States::SHOWING.with(States::FOCUSED).with(States(1 << 41));
    let words: Vec<u32> = states.words().into_iter().map(i32::cast_unsigned).collect();
    assert_eq!(States::from_words(&words), states);
}

#[test]
fn a_password_is_never_textual() {
    assert!(!is_textual(number::PASSWORD, States::EDITABLE));
    assert!(is_textual(number::ENTRY, States::default()));
}

#[test]
fn only_a_control_is_called_disabled() {
    assert_eq!(States::default().names(Kind::Control), ["disabled"]);
    assert_eq!(States::default().names(Kind::Content), Vec::<String>::new());
    let focused = States::FOCUSED.with(States::EDITABLE).with(States::ENABLED);
    assert_eq!(focused.names(Kind::Control), ["focused", "editable"]);
}
