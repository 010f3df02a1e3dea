//! Which key code types what on the keyboard layout in use, read from the server before each act.
//!
//! The layout is never changed: remapping keys races the applications that reload it.

use x11rb::connection::Connection as _;
use x11rb::protocol::xproto::{ConnectionExt as _, KeyButMask, Keycode, Keysym};

use super::session::Session;
use crate::{DesktopError, Key};

/// A key code, and whether shift is held with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stroke {
    pub(super) code: Keycode,
    pub(super) shift: bool,
}

pub(super) struct Keymap {
    first: Keycode,
    per_code: usize,
    symbols: Vec<Keysym>,
    /// The layout in use, of those that the core keymap shows; none if it shows it not.
    group: Option<usize>,
    caps_lock: bool,
}

impl Keymap {
    pub(super) fn read(session: &Session) -> Result<Self, DesktopError> {
        Self::of(session, session)
    }

    /// The layout of one session's keyboard, as another's stands: its group, and caps lock.
    pub(super) fn of(session: &Session, stands: &Session) -> Result<Self, DesktopError> {
        let setup = session.conn.setup();
        let (first, last) = (setup.min_keycode, setup.max_keycode);
        let mapping = session.conn.get_keyboard_mapping(first, last - first + 1)?;
        let state = stands.conn.query_pointer(stands.root)?.reply()?.mask;
        let mapping = mapping.reply()?;
        // XKB puts the group into bits 13 and 14 of the state.
        let group = usize::from(u16::from(state) >> 13 & 3);
        Ok(Self {
            first,
            per_code: usize::from(mapping.keysyms_per_keycode),
            symbols: mapping.keysyms,
            group: (group < 2).then_some(group),
            caps_lock: u16::from(state) & u16::from(KeyButMask::LOCK) != 0,
        })
    }

    /// The stroke for a symbol in the layout in use; unshifted where there is a choice.
    fn find(&self, symbol: Keysym, group: usize) -> Option<Stroke> {
        let per_code = self.per_code.max(1);
        let level = |level: usize| {
            self.symbols.chunks(per_code).position(|symbols| {
                let base = symbols.get(group * 2).copied();
                let found = symbols.get(group * 2 + level).copied();
                // A key with one letter in its list has the upper case on shift, by the core protocol's rule.
                match (found, base) {
                    (Some(0) | None, Some(base)) if level == 1 => upper(base) == Some(symbol),
                    (found, _) => found == Some(symbol),
                }
            })
        };
        let code = |position: usize| u8::try_from(position).ok().and_then(|p| self.first.checked_add(p));
        let plain = level(0).and_then(code).map(|code| Stroke { code, shift: false });
        plain.or_else(|| level(1).and_then(code).map(|code| Stroke { code, shift: true }))
    }

    /// The stroke that types `character` now, caps lock taken into account.
    pub(super) fn typing(&self, character: char) -> Option<Stroke> {
        let symbol = match character {
            '\n' => named(Key::Enter)?,
            '\t' => named(Key::Tab)?,
            ' '..='~' => u32::from(character),
            _ => return None,
        };
        let mut stroke = self.find(symbol, self.group?)?;
        if self.caps_lock && character.is_ascii_alphabetic() {
            stroke.shift = !stroke.shift;
        }
        Some(stroke)
    }

    /// The key at the place where a Latin letter or digit is on a US keyboard: applications take a shortcut by its
    /// place where the layout has no Latin letters. Of evdev's codes, which X servers use everywhere.
    pub(super) fn place_of(character: char) -> Option<Keycode> {
        const ROWS: [(Keycode, &str); 4] =
            [(10, "1234567890"), (24, "qwertyuiop"), (38, "asdfghjkl"), (52, "zxcvbnm")];
        ROWS.iter().find_map(|(first, row)| {
            let position = row.chars().position(|known| known == character)?;
            u8::try_from(position).ok().map(|position| first + position)
        })
    }

    /// The stroke of a key, for pressing it alone or with others.
    ///
    /// # Errors
    /// [`DesktopError::NotAvailable`] where the layout has no such key.
    pub(super) fn key(&self, key: Key) -> Result<Stroke, DesktopError> {
        let symbols = match key {
            Key::Char(character) => [of_char(character), None],
            // Some layouts have the level-3 shift under its older name alone.
            Key::AltGr => [named(key), Some(0xff7e)],
            _ => [named(key), None],
        };
        let groups = self.group.into_iter().chain([0, 1]);
        groups
            .flat_map(|group| symbols.iter().flatten().filter_map(move |symbol| self.find(*symbol, group)))
            .next()
            .ok_or_else(|| {
                DesktopError::NotAvailable(format!(
                    "the keyboard layout in use has no key {key}; to write a character, type it as text"
                ))
            })
    }
}

fn upper(symbol: Keysym) -> Option<Keysym> {
    let lower = u8::try_from(symbol).ok().filter(u8::is_ascii_lowercase)?;
    Some(u32::from(lower.to_ascii_uppercase()))
}

/// Latin-1 is its own symbol; the rest of Unicode lies above 0x0100_0000.
fn of_char(character: char) -> Option<Keysym> {
    match u32::from(character) {
        code @ (0x20..=0x7e | 0xa0..=0xff) => Some(code),
        code @ 0x100.. => Some(0x0100_0000 | code),
        _ => None,
    }
}

/// The X symbol of a named key (X11/keysymdef.h, XF86keysym.h).
fn named(key: Key) -> Option<Keysym> {
    Some(match key {
        Key::Char(character) => return of_char(character),
        Key::Enter => 0xff0d,
        Key::Tab => 0xff09,
        Key::Space => 0x20,
        Key::Backspace => 0xff08,
        Key::Delete => 0xffff,
        Key::Insert => 0xff63,
        Key::Escape => 0xff1b,
        Key::Home => 0xff50,
        Key::Left => 0xff51,
        Key::Up => 0xff52,
        Key::Right => 0xff53,
        Key::Down => 0xff54,
        Key::PageUp => 0xff55,
        Key::PageDown => 0xff56,
        Key::End => 0xff57,
        Key::F(number) => 0xffbd + u32::from(number),
        Key::Shift => 0xffe1,
        Key::Ctrl | Key::Cmd => 0xffe3,
        Key::Alt => 0xffe9,
        Key::AltGr => 0xfe03,
        Key::Meta => 0xffeb,
        Key::CapsLock => 0xffe5,
        Key::NumLock => 0xff7f,
        Key::ScrollLock => 0xff14,
        Key::PrintScreen => 0xff61,
        Key::Pause => 0xff13,
        Key::Menu => 0xff67,
        Key::Fn => return None,
        Key::VolumeDown => 0x1008_ff11,
        Key::VolumeMute => 0x1008_ff12,
        Key::VolumeUp => 0x1008_ff13,
        Key::PlayPause => 0x1008_ff14,
        Key::PreviousTrack => 0x1008_ff16,
        Key::NextTrack => 0x1008_ff17,
    })
}

#[cfg(test)]
mod tests;
