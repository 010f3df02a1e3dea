//! Whether the journal is as it was closed: then it needs no check of every page and event, which takes the longer
//! the more there is.
//!
//! Closing writes down the file's length and time in `journal.db.clean`; the next opening takes the mark away. A kill
//! leaves a write-ahead log or no mark, a changed or restored file is not the one in the mark: all are checked whole.

use std::fs;
use std::path::Path;
use std::time::UNIX_EPOCH;

use crate::JournalError;
use crate::open::{beside, is_empty};

const SUFFIX: &str = ".clean";

/// Marks the journal at `path`, which nobody has open any more. Without a mark, the next start takes longer.
pub(crate) fn mark(path: &Path) {
    let written = is_empty(&beside(path, "-wal")).and_then(|closed| {
        if closed {
            let mark = beside(path, SUFFIX);
            fs::write(&mark, state(path)?).map_err(|e| JournalError::io(&mark, e))?;
        }
        Ok(())
    });
    if let Err(error) = written {
        tracing::warn!(%error, "the next start checks the whole journal");
    }
}

/// Whether nothing has touched the journal since it was marked.
pub(crate) fn is_marked(path: &Path) -> Result<bool, JournalError> {
    let marked = fs::read_to_string(beside(path, SUFFIX));
    Ok(is_empty(&beside(path, "-wal"))? && marked.is_ok_and(|mark| state(path).is_ok_and(|now| now == mark)))
}

/// Before the first write.
pub(crate) fn take_away(path: &Path) -> Result<(), JournalError> {
    let mark = beside(path, SUFFIX);
    match fs::remove_file(&mark) {
        Err(e) if e.kind() != std::io::ErrorKind::NotFound => Err(JournalError::io(&mark, e)),
        _ => Ok(()),
    }
}

/// What a change of the file changes: its length and the time of its last change.
fn state(path: &Path) -> Result<String, JournalError> {
    let io = |e| JournalError::io(path, e);
    let meta = fs::metadata(path).map_err(io)?;
    // A time before 1970 is odd, but as good as any other.
    let changed = match meta.modified().map_err(io)?.duration_since(UNIX_EPOCH) {
        Ok(after) => after.as_nanos().to_string(),
        Err(before) => format!("-{}", before.duration().as_nanos()),
    };
    Ok(format!("{} bytes, changed at {changed}\n", meta.len()))
}
