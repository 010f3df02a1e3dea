//! Tests of `acting`.

use super::*;

#[test]
fn a_press_is_told_by_the_states_it_changes() {
    let none = States::default();
    assert_eq!(told(none, States::CHECKED), Some("checked"));
    assert_eq!(told(States::CHECKED, none), Some("no longer checked"));
    assert_eq!(told(none, States::EXPANDED), Some("expanded"));
    assert_eq!(told(none, States::FOCUSED), None);
    assert_eq!(told(States::CHECKED, States::CHECKED), None);
}

#[test]
fn a_long_or_missing_name_is_called_so() {
    assert_eq!(called(43, " Save "), "button \"Save\"");
    assert_eq!(called(43, ""), "button without a name");
    assert_eq!(called(29, &"x".repeat(70)), format!("label \"{}...\"", "x".repeat(60)));
}
