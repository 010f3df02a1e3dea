//! Paths as a model or a user writes them, parsed before anything is opened.
//!
//! Pure text: asks no file system. Nothing is decoded: `%2e%2e` is a name of six letters. What a parsed path leads to
//! is decided by handles alone; that it cannot leave the Space by its text is the first of two walls.

use std::fmt;
use std::path::Path;

use serde::{Deserialize, Serialize};

/// The longest path that is taken, in bytes (Linux's own bound).
const LONGEST: usize = 4096;
/// The longest name in it, in bytes.
const LONGEST_NAME: usize = 255;

/// A path within a Space: names divided by `/`, none of them `.` or `..`; no names at all is the Space itself.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Default, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct SpacePath(String);

/// Why a text is no path within the Space.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PathError {
    #[error("the path is empty; \".\" is the Space itself")]
    Empty,
    #[error("{path:?} leads out of the Space; only what is in it can be used")]
    Outside { path: String },
    #[error("{path:?} is an address, not a path; write the path alone")]
    Address { path: String },
    #[error(
        "{path:?} begins in a home folder; write it relative to the Space (\"./~\" is a file of that name)"
    )]
    Home { path: String },
    #[error("{path:?} is a path of Windows' kind; write it relative to the Space, with \"/\"")]
    Windows { path: String },
    #[error("{path:?} holds a character that no name can have")]
    Character { path: String },
    #[error("{path:?} holds a name that this system does not keep as it is: {name:?}")]
    Name { path: String, name: String },
    #[error("the path is longer than a path can be ({bytes} bytes)")]
    TooLong { bytes: usize },
}

/// Whose names are valid: Windows drops dots and spaces at the end, has streams, and names that are devices.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Names {
    Unix,
    Windows,
}

impl Names {
    /// The names of the system this runs on.
    pub const HERE: Self = if cfg!(windows) { Self::Windows } else { Self::Unix };
}

impl SpacePath {
    /// The Space itself.
    pub fn root() -> Self {
        Self::default()
    }

    /// Parses what was written: relative to `root`, or absolute and within it. `..` is taken as long as it stays in.
    pub fn parse(text: &str, root: &Path, names: Names) -> Result<Self, PathError> {
        let error = || text.chars().take(200).collect::<String>();
        if text.is_empty() {
            return Err(PathError::Empty);
        }
        if text.len() > LONGEST {
            return Err(PathError::TooLong { bytes: text.len() });
        }
        if text.contains('\0') {
            return Err(PathError::Character { path: error() });
        }
        if is_address(text) {
            return Err(PathError::Address { path: error() });
        }
        if text.starts_with('~') {
            return Err(PathError::Home { path: error() });
        }
        let divider = |c: char| c == '/' || (names == Names::Windows && c == '\\');
        let relative = match within(text, root, names) {
            Within::Relative(rest) => rest,
            Within::Outside => return Err(PathError::Outside { path: error() }),
            Within::Windows => return Err(PathError::Windows { path: error() }),
        };
        // A backslash is a letter on Unix; but nobody who writes `..\` means a name.
        if names == Names::Unix
            && relative.split(['/', '\\']).any(|part| part == "..")
            && relative.contains('\\')
        {
            return Err(PathError::Windows { path: error() });
        }
        let mut parts: Vec<&str> = Vec::new();
        for part in relative.split(divider) {
            match part {
                "" | "." => {}
                ".." => {
                    if parts.pop().is_none() {
                        return Err(PathError::Outside { path: error() });
                    }
                }
                name => {
                    check_name(name, names).map_err(|wrong| match wrong {
                        Wrong::Character => PathError::Character { path: error() },
                        Wrong::Name => {
                            PathError::Name { path: error(), name: name.chars().take(80).collect() }
                        }
                        Wrong::Long => PathError::TooLong { bytes: name.len() },
                    })?;
                    parts.push(name);
                }
            }
        }
        Ok(Self(parts.join("/")))
    }

    /// The names, outermost first.
    pub fn parts(&self) -> impl DoubleEndedIterator<Item = &str> {
        self.0.split('/').filter(|part| !part.is_empty())
    }

    /// `true` for the Space itself.
    pub fn is_root(&self) -> bool {
        self.0.is_empty()
    }

    /// The last name; `None` for the Space itself.
    pub fn name(&self) -> Option<&str> {
        self.parts().next_back()
    }

    /// The folder it is in; the Space itself for a single name.
    pub fn parent(&self) -> Self {
        Self(self.0.rsplit_once('/').map_or_else(String::new, |(parent, _)| parent.to_owned()))
    }

    /// The path of an entry of this folder. `name` is one name as the system gave it.
    pub(crate) fn join(&self, name: &str) -> Self {
        if self.is_root() { Self(name.to_owned()) } else { Self(format!("{}/{name}", self.0)) }
    }

    /// `true` where `other` is this path or below it.
    pub fn holds(&self, other: &Self) -> bool {
        self.is_root()
            || other.0.strip_prefix(&self.0).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    }

    /// The text, empty for the Space itself.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for SpacePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.is_root() { "." } else { &self.0 })
    }
}

impl From<SpacePath> for String {
    fn from(path: SpacePath) -> Self {
        path.0
    }
}

/// As it is kept in journals: what is not a plain relative path is refused.
impl TryFrom<String> for SpacePath {
    type Error = PathError;

    fn try_from(text: String) -> Result<Self, PathError> {
        let plain = text.split('/').all(|part| {
            !part.is_empty() && part != "." && part != ".." && check_name(part, Names::HERE).is_ok()
        });
        if text.is_empty() || plain { Ok(Self(text)) } else { Err(PathError::Outside { path: text }) }
    }
}

enum Within<'a> {
    Relative(&'a str),
    Outside,
    Windows,
}

/// Takes the root off an absolute path; by whole names, so that `/ws-evil` is not in `/ws`.
fn within<'a>(text: &'a str, root: &Path, names: Names) -> Within<'a> {
    let bytes = text.as_bytes();
    let drive = bytes.len() >= 2 && bytes[0].is_ascii_alphabetic() && bytes[1] == b':';
    let windows_absolute = text.starts_with('\\')
        || (drive && (names == Names::Windows || matches!(bytes.get(2), Some(b'\\' | b'/'))));
    let absolute = text.starts_with('/') || windows_absolute;
    if !absolute {
        return Within::Relative(text);
    }
    if windows_absolute && names == Names::Unix {
        return Within::Windows;
    }
    let Some(root) = root.to_str() else { return Within::Outside };
    let root = root.trim_end_matches(['/', '\\']);
    // `//server/share` is a network path on Windows, and `/` on Unix.
    let text = if names == Names::Unix {
        let slashes = text.len() - text.trim_start_matches('/').len();
        &text[slashes - 1..]
    } else {
        text
    };
    match text.get(..root.len()) {
        Some(head) if same(head, root, names) => {
            let rest = &text[root.len()..];
            if rest.is_empty() || rest.starts_with('/') || (names == Names::Windows && rest.starts_with('\\'))
            {
                Within::Relative(if rest.is_empty() { "." } else { rest })
            } else {
                Within::Outside
            }
        }
        _ if windows_absolute && text.starts_with("\\\\") => Within::Windows,
        _ => Within::Outside,
    }
}

fn same(a: &str, b: &str, names: Names) -> bool {
    match names {
        Names::Unix => a == b,
        Names::Windows => a.replace('/', "\\").eq_ignore_ascii_case(&b.replace('/', "\\")),
    }
}

/// `scheme:` with two letters or more before it and `//` behind, and `file:` in any shape.
fn is_address(text: &str) -> bool {
    let Some((scheme, rest)) = text.split_once(':') else { return false };
    let is_scheme = scheme.len() >= 2
        && scheme.starts_with(|c: char| c.is_ascii_alphabetic())
        && scheme.chars().all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c));
    is_scheme && (rest.starts_with("//") || scheme.eq_ignore_ascii_case("file"))
}

enum Wrong {
    Character,
    Name,
    Long,
}

fn check_name(name: &str, names: Names) -> Result<(), Wrong> {
    if name.contains(['\0', '/']) {
        return Err(Wrong::Character);
    }
    if name.len() > LONGEST_NAME {
        return Err(Wrong::Long);
    }
    if names == Names::Unix {
        return Ok(());
    }
    // A colon is a stream (`a.txt:hidden`) or a drive.
    if name.chars().any(|c| c < ' ' || "<>:\"|?*\\".contains(c)) {
        return Err(Wrong::Character);
    }
    if name.ends_with(['.', ' ']) || is_device(name) {
        return Err(Wrong::Name);
    }
    Ok(())
}

/// Names that Windows takes for devices, with any ending (`nul.txt`).
fn is_device(name: &str) -> bool {
    let stem = name.split('.').next().unwrap_or_default().trim_end().to_ascii_lowercase();
    match stem.as_str() {
        "con" | "prn" | "aux" | "nul" | "conin$" | "conout$" => true,
        other => ["com", "lpt"].iter().any(|port| {
            other.strip_prefix(port).is_some_and(|number| {
                let mut digits = number.chars();
                matches!((digits.next(), digits.next()), (Some('0'..='9' | '¹' | '²' | '³'), None))
            })
        }),
    }
}
