//! Reading text in pixels, where there is no tree: PP-OCR's two networks, one that finds lines and one that reads them.
//!
//! Nothing is loaded before the first reading. What was read stays known: only what changed since is looked at again, and
//! a line that was read once is not read again wherever it stands. A reading that runs out of time answers what it has,
//! and the next one goes on there. Captures nothing itself and starts no thread that outlives a call; on macOS, where
//! Vision reads, only the words are left of it.

use protocol::geometry::NormRect;
use serde::{Deserialize, Serialize};

#[cfg(any(target_os = "linux", windows))]
pub use networks::are_in;
#[cfg(any(target_os = "linux", windows))]
pub use reader::{Deadline, ReadRequest, Reader, Reading, Source, Waiting, Work};

#[cfg(any(target_os = "linux", windows))]
mod reader;

#[cfg(any(target_os = "linux", windows))]
mod known;
#[cfg(any(target_os = "linux", windows))]
mod texts;

#[cfg(any(target_os = "linux", windows))]
mod areas;
#[cfg(any(target_os = "linux", windows))]
mod detect;
#[cfg(any(target_os = "linux", windows))]
mod recognise;
#[cfg(any(target_os = "linux", windows))]
mod surfaces;

#[cfg(any(target_os = "linux", windows))]
mod networks;
#[cfg(any(target_os = "linux", windows))]
mod rect;

/// The text of an area, as far as it was read. In reading order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TextRead {
    pub lines: Vec<TextLine>,
    /// What there was no time for; asking again goes on there.
    pub unread: Option<Unread>,
}

/// What time ran out for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Unread {
    /// Lines that were found, but not read.
    pub lines: usize,
    /// Of the area, 0-100: where no lines were looked for.
    pub percent: u8,
}

/// A line of text that was read in a picture.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TextLine {
    pub text: String,
    /// In 0-1000 of the display.
    pub bounds: NormRect,
    /// 0-1, as the reader says.
    pub confidence: f32,
}

/// Why no text could be read.
#[cfg(any(target_os = "linux", windows))]
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum OcrError {
    /// A network's file is missing or not what it should be.
    #[error("{0}")]
    Networks(String),
    #[error("the region to read text in is empty or off what is read")]
    Region,
    /// Nobody waits for it any more.
    #[error("stopped")]
    Cancelled,
    #[error("{0}")]
    Failed(String),
}
