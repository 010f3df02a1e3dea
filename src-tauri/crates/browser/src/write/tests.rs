//! Tests of `write`.

use super::*;

#[test]
fn keys_are_those_of_a_us_keyboard() {
    let seen = |c: char| key_of(c).map(|key| (key.code, key.number, key.shift));
    assert_eq!(seen('a'), Some(("KeyA".into(), 65, false)));
    assert_eq!(seen('A'), Some(("KeyA".into(), 65, true)));
    assert_eq!(seen('('), Some(("Digit9".into(), 57, true)));
    assert_eq!(seen('_'), Some(("Minus".into(), 189, true)));
    assert_eq!(seen('語'), None);
    for c in ' '..='~' {
        assert!(key_of(c).is_some(), "{c:?}");
    }
}
