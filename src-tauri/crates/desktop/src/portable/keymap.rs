//! Our keys in enigo's words. A key this platform's keyboards lack is an error that names it.

use enigo::Key as Code;

use crate::{DesktopError, Key};

pub(super) fn code(key: Key) -> Result<Code, DesktopError> {
    let lacks = || Err(DesktopError::BadInput(format!("this platform has no key {key}")));
    Ok(match key {
        Key::Char(letter) => Code::Unicode(letter),
        Key::Enter => Code::Return,
        Key::Tab => Code::Tab,
        Key::Space => Code::Space,
        Key::Backspace => Code::Backspace,
        Key::Delete => Code::Delete,
        Key::Escape => Code::Escape,
        Key::Home => Code::Home,
        Key::End => Code::End,
        Key::PageUp => Code::PageUp,
        Key::PageDown => Code::PageDown,
        Key::Up => Code::UpArrow,
        Key::Down => Code::DownArrow,
        Key::Left => Code::LeftArrow,
        Key::Right => Code::RightArrow,
        Key::Shift => Code::Shift,
        Key::Ctrl => Code::Control,
        Key::Alt => Code::Alt,
        Key::Meta => Code::Meta,
        Key::Cmd if cfg!(target_os = "macos") => Code::Meta,
        Key::Cmd => Code::Control,
        Key::CapsLock => Code::CapsLock,
        Key::VolumeUp => Code::VolumeUp,
        Key::VolumeDown => Code::VolumeDown,
        Key::VolumeMute => Code::VolumeMute,
        Key::PlayPause => Code::MediaPlayPause,
        Key::NextTrack => Code::MediaNextTrack,
        Key::PreviousTrack => Code::MediaPrevTrack,
        Key::F(number) => match function(number) {
            Some(code) => code,
            None => return lacks(),
        },
        Key::AltGr
        | Key::Fn
        | Key::Insert
        | Key::NumLock
        | Key::ScrollLock
        | Key::PrintScreen
        | Key::Pause
        | Key::Menu => match rare(key) {
            Some(code) => code,
            None => return lacks(),
        },
    })
}

#[cfg(target_os = "macos")]
fn rare(key: Key) -> Option<Code> {
    match key {
        // Option is the level-3 shift of a Mac's keyboard.
        Key::AltGr => Some(Code::Option),
        Key::Fn => Some(Code::Function),
        _ => None,
    }
}

#[cfg(windows)]
fn rare(key: Key) -> Option<Code> {
    match key {
        Key::AltGr => Some(Code::RMenu),
        Key::Insert => Some(Code::Insert),
        Key::NumLock => Some(Code::Numlock),
        Key::ScrollLock => Some(Code::Scroll),
        Key::PrintScreen => Some(Code::PrintScr),
        Key::Pause => Some(Code::Pause),
        Key::Menu => Some(Code::Apps),
        _ => None,
    }
}

fn function(number: u8) -> Option<Code> {
    const FIRST: [Code; 20] = [
        Code::F1,
        Code::F2,
        Code::F3,
        Code::F4,
        Code::F5,
        Code::F6,
        Code::F7,
        Code::F8,
        Code::F9,
        Code::F10,
        Code::F11,
        Code::F12,
        Code::F13,
        Code::F14,
        Code::F15,
        Code::F16,
        Code::F17,
        Code::F18,
        Code::F19,
        Code::F20,
    ];
    #[cfg(windows)]
    const LAST: [Code; 4] = [Code::F21, Code::F22, Code::F23, Code::F24];
    #[cfg(not(windows))]
    const LAST: [Code; 0] = [];
    let at = usize::from(number).checked_sub(1)?;
    FIRST.iter().chain(&LAST).nth(at).copied()
}
