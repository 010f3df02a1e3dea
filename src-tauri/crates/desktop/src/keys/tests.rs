//! Tests of `keys`.

use super::*;

fn check(names: &[&str], expected: Key) {
    for name in names {
        assert_eq!(name.parse(), Ok(expected), "{name}");
    }
}

#[test]
fn every_vendors_name_is_the_same_key() {
    check(&["Return", "Enter", "return", "KP_Enter", "ENTER", "\n"], Key::Enter);
    check(&["Page_Up", "PageUp", "pgup", "page up", "Prior"], Key::PageUp);
    check(&["ctrl", "Control", "Control_L", "ControlLeft", "⌃"], Key::Ctrl);
    check(&["super", "Super_L", "Meta", "win"], Key::Meta);
    check(&["cmd", "Command", "⌘", "ControlOrMeta"], Key::Cmd);
    check(&["BackSpace", "Backspace", "backspace"], Key::Backspace);
    check(&["Up", "ArrowUp", "up arrow"], Key::Up);
    check(&["F5", "f5"], Key::F(5));
    check(&["a", "KeyA"], Key::Char('a'));
    check(&["plus", "+"], Key::Char('+'));
    check(&["Digit7", "KP_7", "7"], Key::Char('7'));
    check(&["space", " ", "Spacebar"], Key::Space);
    check(&["Prior", "KP_Prior", "KP_Page_Up", "Page_Up", "⇞"], Key::PageUp);
    check(&["Escape", "esc", "⎋"], Key::Escape);
    check(&["option", "alt", "Alt_L", "AltLeft", "⌥"], Key::Alt);
    check(&["delete", "Delete", "forwarddelete", "forward delete", "KP_Delete", "⌦"], Key::Delete);
    check(&["fn", "Fn", "globe"], Key::Fn);
    check(&["ArrowLeft", "Left", "KP_Left", "left arrow"], Key::Left);
    check(&["ISO_Level3_Shift", "AltGraph", "Mode_switch"], Key::AltGr);
    check(&["Digit1", "1", "KP_1", "Numpad1"], Key::Char('1'));
    check(&["NumpadAdd", "KP_Add", "plus", "+"], Key::Char('+'));
    check(&["EuroSign", "U20AC", "€"], Key::Char('€'));
    check(&["Num_Lock", "NumLock"], Key::NumLock);
    check(&["XF86AudioMute", "AudioVolumeMute"], Key::VolumeMute);
    check(&["KP_F2", "F2", "XK_F2"], Key::F(2));
    assert_eq!("é".parse(), Ok(Key::Char('é')));
    assert_eq!("A".parse(), Ok(Key::Char('A')));
}

#[test]
fn an_unknown_name_is_refused_with_the_nearest_names() {
    let error = "Pagup".parse::<Key>().unwrap_err();
    assert_eq!(error.nearest.first().map(String::as_str), Some("PageUp"));
    assert!(error.to_string().contains("PageUp"), "{error}");
    for nonsense in ["", "F25", "F0", "frobnicate", "\u{0}", &"x".repeat(10_000)] {
        assert!(nonsense.parse::<Key>().is_err(), "{nonsense}");
    }
}

#[test]
fn the_canonical_name_comes_back_as_the_same_key() {
    let named = NAMES.iter().map(|(key, ..)| *key);
    for key in named.chain((1..=24).map(Key::F)).chain(('!'..='~').map(Key::Char)) {
        let json = serde_json::to_string(&key).unwrap();
        assert_eq!(serde_json::from_str::<Key>(&json).unwrap(), key, "{json}");
    }
}

#[test]
fn no_two_keys_share_a_name() {
    let mut all: Vec<String> = Vec::new();
    for (_, name, others) in NAMES {
        all.push(name.to_lowercase());
        all.extend(others.iter().map(|other| (*other).to_owned()));
    }
    all.extend(CHARACTERS.iter().flat_map(|(_, names)| names.iter().map(|name| (*name).to_owned())));
    let count = all.len();
    all.sort();
    all.dedup();
    assert_eq!(all.len(), count);
}

#[test]
fn a_chord_is_read_in_order() {
    assert_eq!(Key::chord("ctrl+shift+t"), Ok(vec![Key::Ctrl, Key::Shift, Key::Char('t')]));
    assert_eq!(Key::chord("ctrl++"), Ok(vec![Key::Ctrl, Key::Char('+')]));
    assert_eq!(Key::chord("+"), Ok(vec![Key::Char('+')]));
    assert!(Key::chord("ctrl+nonsense").is_err());
}
