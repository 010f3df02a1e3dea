//! Tests of `setting`.

use super::*;

#[test]
fn a_number_may_carry_a_percent_sign_and_must_be_finite() {
    assert_eq!(parse(" 40 %"), Some(40.0));
    assert_eq!(parse("1,200.5"), Some(1200.5));
    assert_eq!(parse("NaN"), None);
    assert_eq!(parse("inf"), None);
    assert_eq!(parse("ten"), None);
}

#[test]
fn ends_of_lines_are_the_same_in_every_toolkit() {
    assert_eq!(unified("a\r\nb\u{2029}c"), "a\nb\nc");
    assert_eq!(unified("plop 🐸\u{feff}"), "plop 🐸");
}
