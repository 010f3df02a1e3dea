//! Names of keys, as any vendor or model writes them: xdotool, Playwright, macOS.
//!
//! One type for all; which key code it is on this keyboard is the platform's business.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use self::names::{CHARACTERS, NAMES};

mod names;

/// One key: a named one, or the one that types a character.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Key {
    /// The key that types this character, with shift where the keyboard needs it.
    Char(char),
    Enter,
    Tab,
    Space,
    Backspace,
    Delete,
    Insert,
    Escape,
    Home,
    End,
    PageUp,
    PageDown,
    Up,
    Down,
    Left,
    Right,
    /// F1-F24.
    F(u8),
    Shift,
    Ctrl,
    Alt,
    /// The level-3 shift of European keyboards.
    AltGr,
    /// Super, Windows; on macOS the same key as [`Key::Cmd`].
    Meta,
    /// The platform's key for shortcuts: Command on macOS, ctrl elsewhere.
    Cmd,
    CapsLock,
    NumLock,
    ScrollLock,
    PrintScreen,
    Pause,
    Menu,
    /// Of Apple's keyboards.
    Fn,
    VolumeUp,
    VolumeDown,
    VolumeMute,
    PlayPause,
    NextTrack,
    PreviousTrack,
}

/// A name that is no key's.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown key {name:?}; {}", self.hint())]
pub struct UnknownKey {
    pub name: String,
    /// Canonical names that come closest, best first.
    pub nearest: Vec<String>,
}

impl UnknownKey {
    fn hint(&self) -> String {
        if self.nearest.is_empty() {
            "name a key such as Enter, Escape, PageUp, F5 or one character".into()
        } else {
            format!("the nearest names are {}", self.nearest.join(", "))
        }
    }
}

impl Key {
    /// Whether it is held down while others are pressed.
    pub fn is_modifier(self) -> bool {
        matches!(self, Self::Shift | Self::Ctrl | Self::Alt | Self::AltGr | Self::Meta | Self::Cmd)
    }

    /// Reads `ctrl+shift+t`, as many vendors write hotkeys; `+` itself may come last, as in `ctrl++`.
    ///
    /// # Errors
    /// [`UnknownKey`] for the first part that names no key.
    pub fn chord(text: &str) -> Result<Vec<Self>, UnknownKey> {
        if let Ok(key) = text.parse() {
            return Ok(vec![key]);
        }
        let (head, plus) = match text.strip_suffix("++") {
            Some(head) => (head, true),
            None => (text, false),
        };
        let mut keys: Vec<Self> =
            head.split('+').map(|part| part.trim().parse()).collect::<Result<_, _>>()?;
        if plus {
            keys.push(Self::Char('+'));
        }
        Ok(keys)
    }
}

impl FromStr for Key {
    type Err = UnknownKey;

    fn from_str(text: &str) -> Result<Self, UnknownKey> {
        let mut characters = text.chars();
        if let (Some(only), None) = (characters.next(), characters.next()) {
            match only {
                ' ' => return Ok(Self::Space),
                '\n' | '\r' => return Ok(Self::Enter),
                '\t' => return Ok(Self::Tab),
                '\u{1b}' => return Ok(Self::Escape),
                '\u{8}' => return Ok(Self::Backspace),
                _ => {}
            }
            if let Some((key, ..)) = NAMES.iter().find(|(.., others)| others.contains(&text)) {
                return Ok(*key);
            }
            if !only.is_control() {
                return Ok(Self::Char(only));
            }
        }
        let plain = plain(text);
        if let Some(key) = by_plain_name(&plain) {
            return Ok(key);
        }
        Err(UnknownKey { name: text.chars().take(40).collect(), nearest: nearest(&plain) })
    }
}

/// Lower case, without what vendors put between words, and without the DOM's and macOS's prefixes.
fn plain(text: &str) -> String {
    let folded: String =
        text.trim().chars().filter(|c| !matches!(c, '_' | '-' | ' ')).flat_map(char::to_lowercase).collect();
    folded.strip_prefix("xk").filter(|rest| rest.len() > 1).map_or(folded.clone(), str::to_owned)
}

fn by_plain_name(plain: &str) -> Option<Key> {
    let named =
        NAMES.iter().find(|(_, name, others)| name.eq_ignore_ascii_case(plain) || others.contains(&plain));
    if let Some((key, ..)) = named {
        return Some(*key);
    }
    if let Some((character, _)) = CHARACTERS.iter().find(|(_, names)| names.contains(&plain)) {
        return Some(Key::Char(*character));
    }
    if let Some(number) = plain.strip_prefix('f').and_then(|digits| digits.parse::<u8>().ok()) {
        return (1..=24).contains(&number).then_some(Key::F(number));
    }
    // X11's names of any character: U20AC.
    if let Some(digits) = plain.strip_prefix('u').map(|rest| rest.trim_start_matches('+'))
        && (4..=6).contains(&digits.len())
        && let Some(character) = u32::from_str_radix(digits, 16).ok().and_then(char::from_u32)
    {
        return (!character.is_control()).then_some(Key::Char(character));
    }
    // The DOM's codes: KeyA, Digit1, Numpad1; X11's: KP_1, KP_F1.
    if let Some(number) = plain.strip_prefix("kpf").and_then(|digits| digits.parse::<u8>().ok()) {
        return (1..=4).contains(&number).then_some(Key::F(number));
    }
    let rest = ["key", "digit", "numpad", "kp"].iter().find_map(|prefix| plain.strip_prefix(prefix))?;
    let mut characters = rest.chars();
    match (characters.next(), characters.next()) {
        (Some(only), None) if only.is_ascii_alphanumeric() => Some(Key::Char(only)),
        _ => None,
    }
}

fn nearest(plain: &str) -> Vec<String> {
    let mut scored: Vec<(usize, &str)> = NAMES
        .iter()
        .map(|(_, name, others)| {
            let best = std::iter::once(name.to_lowercase().as_str())
                .chain(others.iter().copied())
                .map(|candidate| distance(plain, candidate))
                .min();
            (best.unwrap_or(usize::MAX), *name)
        })
        .filter(|(score, _)| *score <= 1 + plain.chars().count() / 3)
        .collect();
    scored.sort_by_key(|(score, _)| *score);
    scored.into_iter().take(3).map(|(_, name)| name.to_owned()).collect()
}

/// Levenshtein's distance. Names are short; what is long is far from all of them.
fn distance(a: &str, b: &str) -> usize {
    if a.len() > 64 {
        return usize::MAX;
    }
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let replaced = diagonal + usize::from(x != *y);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}

impl fmt::Display for Key {
    /// The canonical name, which parses back to the same key.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Char(character) => write!(f, "{character}"),
            Self::F(number) => write!(f, "F{number}"),
            named => match NAMES.iter().find(|(key, ..)| key == named) {
                Some((_, name, _)) => f.write_str(name),
                None => write!(f, "{named:?}"),
            },
        }
    }
}

impl TryFrom<String> for Key {
    type Error = UnknownKey;

    fn try_from(text: String) -> Result<Self, UnknownKey> {
        text.parse()
    }
}

impl From<Key> for String {
    fn from(key: Key) -> Self {
        key.to_string()
    }
}

#[cfg(test)]
mod tests;
