//! Tests of `as_hands`.

use super::*;

#[test]
fn text_has_arrived_when_it_is_there_once_more_than_before() {
    assert!(has_arrived("", "hello", "hello"));
    assert!(has_arrived("hello", "hello hello", "hello"));
    assert!(has_arrived("hello", "hello", "hello"));
    assert!(!has_arrived("say hello", "say hello", "hello"));
    assert!(!has_arrived("", "helo", "hello"));
    assert!(has_arrived("", "a\r\nb", "a\nb"));
    assert!(has_arrived("", "a\u{2029}🐸\u{feff}", "a\n🐸"));
}
