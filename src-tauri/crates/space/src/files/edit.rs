//! Changes of a text, as a model writes them: exact replacements, or a unified diff. Pure: knows no files.

use super::FileError;
use super::path::SpacePath;

/// One replacement. `old` must be found exactly once, unless `every`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edit {
    pub old: String,
    pub new: String,
    pub every: bool,
}

/// The line that is most like what was not found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Near {
    pub line: usize,
    pub text: String,
}

/// Why a text was not changed. All edits of a call are made, or none. `edit` counts from 1.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EditError {
    #[error("edit {edit}: the old text is empty; name the text to replace")]
    Empty { edit: usize },
    #[error("edit {edit}: old and new text are the same")]
    Same { edit: usize },
    #[error("edit {edit}: the old text is not in the file{}", near(.nearest.as_ref()))]
    NotFound { edit: usize, nearest: Option<Near> },
    #[error("edit {edit}: the old text is there {count} times (lines {}); add text around it, or replace every one", list(.lines))]
    Many { edit: usize, count: usize, lines: Vec<usize> },
    #[error("the patch is not understood: {why}")]
    BadPatch { why: String },
    #[error("the patch does not fit the file: {why}; read the file again")]
    NoFit { why: String },
    #[error("the result would be longer than {limit} bytes")]
    TooLong { limit: usize },
}

fn near(nearest: Option<&Near>) -> String {
    match nearest {
        Some(near) => format!("; the nearest is line {}: {:?}", near.line, near.text),
        None => "; read it again".into(),
    }
}

fn list(lines: &[usize]) -> String {
    let shown: Vec<String> = lines.iter().map(usize::to_string).collect();
    shown.join(", ")
}

/// A result is at most so long: `a` replaced by a page, a million times, is not a document.
const LONGEST: usize = 64 << 20;
/// Lines told of an ambiguous text.
const LINES: usize = 10;

/// Makes the edits one after the other. In a text with Windows' line ends, `\n` of an edit is taken for those.
pub(super) fn apply(text: &str, edits: &[Edit]) -> Result<String, EditError> {
    let mut text = text.to_owned();
    for (at, edit) in edits.iter().enumerate() {
        text = one(&text, edit, at + 1)?;
    }
    Ok(text)
}

fn one(text: &str, edit: &Edit, number: usize) -> Result<String, EditError> {
    if edit.old.is_empty() {
        return Err(EditError::Empty { edit: number });
    }
    if edit.old == edit.new {
        return Err(EditError::Same { edit: number });
    }
    let found = |old: &str| memchr::memmem::find(text.as_bytes(), old.as_bytes()).is_some();
    let (mut old, mut new) = (edit.old.clone(), edit.new.clone());
    if text.contains("\r\n") && !old.contains('\r') {
        let with = old.replace('\n', "\r\n");
        if old.contains('\n') && !found(&old) && found(&with) || !old.contains('\n') {
            old = with;
            new = new.replace("\r\n", "\n").replace('\n', "\r\n");
        }
    }
    let places: Vec<usize> = text.match_indices(&old).map(|(at, _)| at).take(100_000).collect();
    match places.len() {
        0 => Err(EditError::NotFound { edit: number, nearest: nearest(text, &edit.old) }),
        count if count > 1 && !edit.every => {
            let lines = places.iter().take(LINES).map(|at| line_of(text, *at)).collect();
            Err(EditError::Many { edit: number, count, lines })
        }
        count if text.len() + count.saturating_mul(new.len()) > LONGEST => {
            Err(EditError::TooLong { limit: LONGEST })
        }
        _ => Ok(text.replace(&old, &new)),
    }
}

fn line_of(text: &str, at: usize) -> usize {
    memchr::memchr_iter(b'\n', &text.as_bytes()[..at]).count() + 1
}

/// The line most like the first line of `old` with something in it. Looks at so many lines at most.
fn nearest(text: &str, old: &str) -> Option<Near> {
    const LOOKED: usize = 20_000;
    let wanted = old.lines().map(str::trim).find(|line| !line.is_empty())?;
    let wanted = &wanted[..wanted.floor_char_boundary(200)];
    let pairs = pairs_of(wanted);
    let mut best: Option<(f64, usize, &str)> = None;
    for (at, line) in text.lines().enumerate().take(LOOKED) {
        let trimmed = line.trim();
        let trimmed = &trimmed[..trimmed.floor_char_boundary(200)];
        let score = if trimmed == wanted { 1.0 } else { likeness(&pairs, &pairs_of(trimmed)) };
        if score > best.map_or(0.4, |(score, ..)| score) {
            best = Some((score, at + 1, line));
        }
    }
    best.map(|(_, line, text)| Near { line, text: text[..text.floor_char_boundary(200)].to_owned() })
}

fn pairs_of(text: &str) -> Vec<[u8; 2]> {
    let bytes: Vec<u8> =
        text.bytes().filter(|b| !b.is_ascii_whitespace()).map(|b| b.to_ascii_lowercase()).collect();
    let mut pairs: Vec<[u8; 2]> = bytes.windows(2).map(|pair| [pair[0], pair[1]]).collect();
    pairs.sort_unstable();
    pairs
}

/// Dice's coefficient of two sorted lists of pairs.
fn likeness(a: &[[u8; 2]], b: &[[u8; 2]]) -> f64 {
    let (mut i, mut j, mut both) = (0, 0, 0);
    while i < a.len() && j < b.len() {
        match a[i].cmp(&b[j]) {
            std::cmp::Ordering::Less => i += 1,
            std::cmp::Ordering::Greater => j += 1,
            std::cmp::Ordering::Equal => (i, j, both) = (i + 1, j + 1, both + 1),
        }
    }
    if a.is_empty() || b.is_empty() { 0.0 } else { 2.0 * f64::from(both) / (a.len() + b.len()) as f64 }
}

/// Applies a unified diff of one file; the names in its head are not looked at. Must fit exactly: lines may have
/// moved, but not changed.
pub(super) fn patch(text: &str, diff: &str) -> Result<String, EditError> {
    let parsed = diffy::Patch::from_str(diff).map_err(|e| EditError::BadPatch { why: e.to_string() })?;
    if parsed.hunks().is_empty() {
        return Err(EditError::BadPatch { why: "it has no hunks (@@ ... @@)".into() });
    }
    let windows = text.contains("\r\n") && !diff.contains('\r');
    let plain = if windows { text.replace("\r\n", "\n") } else { text.to_owned() };
    let patched = diffy::apply(&plain, &parsed).map_err(|e| EditError::NoFit { why: e.to_string() })?;
    Ok(if windows { patched.replace('\n', "\r\n") } else { patched })
}

/// Bytes of a text file, and back into the encoding they had.
pub(super) enum Decoded {
    Utf8(String),
    Utf16 { text: String, big: bool },
}

impl Decoded {
    pub(super) fn new(bytes: Vec<u8>, path: &SpacePath) -> Result<Self, FileError> {
        let not_text = || FileError::NotText { path: path.clone() };
        let big = bytes.starts_with(b"\xfe\xff");
        if big || bytes.starts_with(b"\xff\xfe") {
            let (units, rest) = bytes[2..].as_chunks::<2>();
            if !rest.is_empty() {
                return Err(not_text());
            }
            let units = units
                .iter()
                .map(|unit| if big { u16::from_be_bytes(*unit) } else { u16::from_le_bytes(*unit) });
            let text: Result<String, _> = char::decode_utf16(units).collect();
            return Ok(Self::Utf16 { text: text.map_err(|_| not_text())?, big });
        }
        if memchr::memchr(0, &bytes).is_some() {
            return Err(not_text());
        }
        String::from_utf8(bytes).map(Self::Utf8).map_err(|_| not_text())
    }

    pub(super) fn text(&self) -> &str {
        match self {
            Self::Utf8(text) | Self::Utf16 { text, .. } => text,
        }
    }

    /// A changed text in the same encoding.
    pub(super) fn encode(&self, text: String) -> Vec<u8> {
        match self {
            Self::Utf8(_) => text.into_bytes(),
            Self::Utf16 { big, .. } => {
                let unit = |unit: u16| if *big { unit.to_be_bytes() } else { unit.to_le_bytes() };
                std::iter::once(0xfeff).chain(text.encode_utf16()).flat_map(unit).collect()
            }
        }
    }
}
