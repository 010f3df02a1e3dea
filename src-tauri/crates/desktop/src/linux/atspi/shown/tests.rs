//! Tests of `shown`.

use super::*;

fn label(name: &str) -> Part {
    let facts = Facts { role: number::LABEL, name: name.into(), ..Facts::default() };
    Part::of(&facts, Quirks::of("any", "any", "")).unwrap()
}

#[test]
fn what_is_new_or_gone_is_named_and_what_only_moved_is_not() {
    let window = [label("Orders"), label("Gear"), label("Gear")];
    for (now, expected) in [
        (vec![label("Gear"), label("Orders"), label("Gear")], None),
        (
            vec![label("Orders"), label("Gear"), label("Gear"), label("Saved")],
            Some("label \"Saved\" shows now"),
        ),
        (vec![label("Orders"), label("Gear")], Some("label \"Gear\" shows no longer")),
    ] {
        assert_eq!(difference(&window, &now).as_deref(), expected);
    }
}

#[test]
fn a_value_and_what_can_be_done_with_it_are_seen_but_not_the_focus_or_a_bar_that_moves_by_itself() {
    let entry = |value: &str, states: States| Facts {
        role: number::ENTRY,
        value: value.into(),
        states,
        ..Facts::default()
    };
    let plain = Quirks::of("any", "any", "");
    let part = |value, states| vec![Part::of(&entry(value, states), plain).unwrap()];
    let before = part("42", States::ENABLED);
    assert_eq!(difference(&before, &part("42", States::ENABLED.with(States::FOCUSED))), None);
    assert!(difference(&before, &part("42", States::default())).is_some());
    let now = difference(&before, &part("43", States::ENABLED)).unwrap();
    assert_eq!(now, "entry without a name with \"43\" shows now");
    let bar = Facts { role: number::PROGRESS_BAR, value: "12".into(), ..Facts::default() };
    assert_eq!(Part::of(&bar, plain), None);
}

#[test]
fn a_browsers_tab_that_says_how_much_memory_it_uses_is_no_sign_and_another_one_that_is_selected_is() {
    let tab = |memory: &str, states| Facts {
        role: number::PAGE_TAB,
        name: format!("Orders - Memory usage - {memory} MB"),
        states,
        ..Facts::default()
    };
    let part = |memory, states, toolkit| {
        vec![Part::of(&tab(memory, states), Quirks::of("any", toolkit, "")).unwrap()]
    };
    let before = part("25.7", States::default(), "Chromium");
    assert_eq!(difference(&before, &part("25.8", States::default(), "Chromium")), None);
    assert!(difference(&before, &part("25.7", States::SELECTED, "Chromium")).is_some());
    assert!(difference(&part("1", States::default(), "gtk"), &part("2", States::default(), "gtk")).is_some());
}
