//! Tests of `keymap`.

use super::*;

/// Codes from 10: `1 !`, `a` (upper case implied), `A` in full, Cyrillic in the second group.
fn keymap(group: Option<usize>, caps_lock: bool) -> Keymap {
    let symbols = vec![
        0x31, 0x21, 0x31, 0x21, // 10
        0x61, 0, 0x6c6, 0, // 11
        0x62, 0x42, 0x6c9, 0, // 12
        0xff0d, 0, 0xff0d, 0, // 13
    ];
    Keymap { first: 10, per_code: 4, symbols, group, caps_lock }
}

#[test]
fn a_shifted_character_is_found_with_shift() {
    let map = keymap(Some(0), false);
    assert_eq!(map.typing('1'), Some(Stroke { code: 10, shift: false }));
    assert_eq!(map.typing('!'), Some(Stroke { code: 10, shift: true }));
    assert_eq!(map.typing('A'), Some(Stroke { code: 11, shift: true }));
    assert_eq!(map.typing('\n'), Some(Stroke { code: 13, shift: false }));
    assert_eq!(map.typing('z'), None);
}

#[test]
fn caps_lock_turns_shift_around_for_letters_only() {
    let map = keymap(Some(0), true);
    assert_eq!(map.typing('b'), Some(Stroke { code: 12, shift: true }));
    assert_eq!(map.typing('B'), Some(Stroke { code: 12, shift: false }));
    assert_eq!(map.typing('1'), Some(Stroke { code: 10, shift: false }));
}

#[test]
fn a_letter_that_the_layout_lacks_has_the_place_of_a_us_keyboard() {
    assert_eq!(Keymap::place_of('q'), Some(24));
    assert_eq!(Keymap::place_of('v'), Some(55));
    assert_eq!(Keymap::place_of('0'), Some(19));
    assert_eq!(Keymap::place_of('é'), None);
}

#[test]
fn another_layout_in_use_cannot_type_latin_but_its_hotkeys_work() {
    let map = keymap(Some(1), false);
    assert_eq!(map.typing('a'), None);
    assert_eq!(map.key(Key::Char('a')), Ok(Stroke { code: 11, shift: false }));
    assert!(map.key(Key::Char('é')).is_err());
}
