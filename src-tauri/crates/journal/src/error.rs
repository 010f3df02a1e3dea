//! Why the journal could not be read or written, and what to do about it.

use std::error::Error;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use protocol::error::{ErrorCode, ErrorView};
use protocol::ids::StreamId;
use rusqlite::ErrorCode as Sqlite;

/// What the engine stops with. None of these has deleted or changed anything.
#[derive(Clone, Debug, thiserror::Error)]
pub enum JournalError {
    /// `copy` is `None` if the copy could not be made (a full disk).
    #[error("the journal {} is damaged: {detail}", path.display())]
    Damaged { path: PathBuf, detail: String, copy: Option<PathBuf> },
    #[error("the file {} is not a journal: {detail}", path.display())]
    NotAJournal { path: PathBuf, detail: String, copy: Option<PathBuf> },
    #[error("the journal {} has schema {found}, newer than {known}, the newest known here", path.display())]
    Newer { path: PathBuf, found: i64, known: i64, copy: Option<PathBuf> },
    #[error("cannot write {}: the disk is full", path.display())]
    Full { path: PathBuf },
    #[error("cannot read or write {}: {source}", path.display())]
    Io { path: PathBuf, source: Arc<dyn Error + Send + Sync> },
    #[error("the journal {} is held by another process", path.display())]
    Busy { path: PathBuf },
    #[error("the journal {} refused: {source}", path.display())]
    Database { path: PathBuf, source: Arc<rusqlite::Error> },
    #[error("cannot read {what} of the journal {}: {source}", path.display())]
    Unreadable { path: PathBuf, what: String, source: Arc<serde_json::Error> },
    #[error("cannot journal {what}: {source}")]
    Unwritable { what: String, source: Arc<serde_json::Error> },
    #[error("cannot journal {kind}: it is nested deeper than {most} levels and could not be read again")]
    TooDeep { kind: String, most: usize },
    #[error("cannot journal {kind}: it is a passing event")]
    Passing { kind: String },
    #[error("there is no stream {stream}")]
    UnknownStream { stream: StreamId },
    #[error("the stream {stream} has no event {after}: its last is number {last}")]
    AfterLast { stream: StreamId, after: u64, last: u64 },
    #[error("the thread that reads or writes the journal {} has ended", path.display())]
    Ended { path: PathBuf },
    #[error("{name:?} is not the name of a blob")]
    BlobName { name: String },
    #[error("the blob {sha256} does not exist")]
    BlobMissing { sha256: String },
    #[error("the blob {} is damaged: its content is not what its name says", path.display())]
    BlobDamaged { path: PathBuf },
}

impl JournalError {
    /// What to do about it, where we know.
    pub fn hint(&self) -> Option<String> {
        Some(match self {
            Self::Damaged { path, copy, .. } | Self::NotAJournal { path, copy, .. } => format!(
                "{}restore {} from a backup, or move it away to start with an empty journal",
                kept(copy.as_deref()),
                path.display()
            ),
            Self::Newer { copy, .. } => {
                format!("{}use the newer Miki that wrote it", kept(copy.as_deref()))
            }
            Self::Full { path } => {
                format!("free space on the disk of {}, then start the run again", path.display())
            }
            Self::Io { path, .. } => format!("check the disk and the permissions of {}", path.display()),
            Self::Busy { .. } => "end the other program that has it open, then try again".into(),
            Self::BlobDamaged { .. } => {
                "restore it from a backup; the rest of the session can be read".into()
            }
            Self::UnknownStream { .. } => {
                "a stream is named by its session's id, as the overview and `miki ps --json` tell it; what belongs to \
                 no session is in \"app\"".into()
            }
            Self::AfterLast { last, .. } => format!("read on after number {last}, or from the beginning: 0"),
            Self::Database { .. }
            | Self::Unreadable { .. }
            | Self::Unwritable { .. }
            | Self::TooDeep { .. }
            | Self::Passing { .. }
            | Self::Ended { .. }
            | Self::BlobName { .. }
            | Self::BlobMissing { .. } => return None,
        })
    }

    /// Whether what was to be written or read is to blame, and not the journal: the next event may well be written.
    pub fn is_about_the_data(&self) -> bool {
        match self {
            Self::Unwritable { .. }
            | Self::TooDeep { .. }
            | Self::Passing { .. }
            | Self::UnknownStream { .. }
            | Self::AfterLast { .. }
            | Self::BlobName { .. }
            | Self::BlobMissing { .. } => true,
            Self::Damaged { .. }
            | Self::NotAJournal { .. }
            | Self::Newer { .. }
            | Self::Full { .. }
            | Self::Io { .. }
            | Self::Busy { .. }
            | Self::Database { .. }
            | Self::Unreadable { .. }
            | Self::Ended { .. }
            | Self::BlobDamaged { .. } => false,
        }
    }

    pub(crate) fn unwritable(what: &str, source: serde_json::Error) -> Self {
        Self::Unwritable { what: what.into(), source: Arc::new(source) }
    }

    pub(crate) fn unreadable(path: &Path, what: String, source: serde_json::Error) -> Self {
        Self::Unreadable { path: path.into(), what, source: Arc::new(source) }
    }

    pub(crate) fn io(path: &Path, source: io::Error) -> Self {
        let path = path.to_path_buf();
        match source.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => Self::Full { path },
            _ => Self::Io { path, source: Arc::new(source) },
        }
    }

    pub(crate) fn sqlite(path: &Path, source: rusqlite::Error) -> Self {
        let path = path.to_path_buf();
        match source.sqlite_error_code() {
            Some(Sqlite::DiskFull) => Self::Full { path },
            Some(Sqlite::DatabaseCorrupt) => Self::Damaged { path, detail: source.to_string(), copy: None },
            Some(Sqlite::NotADatabase) => Self::NotAJournal { path, detail: source.to_string(), copy: None },
            Some(Sqlite::DatabaseBusy | Sqlite::DatabaseLocked) => Self::Busy { path },
            Some(
                Sqlite::SystemIoFailure
                | Sqlite::CannotOpen
                | Sqlite::ReadOnly
                | Sqlite::PermissionDenied
                | Sqlite::FileLockingProtocolFailed
                | Sqlite::NoLargeFileSupport,
            ) => Self::Io { path, source: Arc::new(source) },
            _ => Self::Database { path, source: Arc::new(source) },
        }
    }
}

fn kept(copy: Option<&Path>) -> String {
    copy.map(|copy| format!("a copy is kept at {}; ", copy.display())).unwrap_or_default()
}

impl From<&JournalError> for ErrorView {
    fn from(error: &JournalError) -> Self {
        let code = match error {
            JournalError::UnknownStream { .. } => ErrorCode::NotFound,
            JournalError::AfterLast { .. } => ErrorCode::BadRequest,
            _ => ErrorCode::Storage,
        };
        Self { hint: error.hint(), ..Self::new(code, error.to_string()) }
    }
}

impl From<JournalError> for ErrorView {
    fn from(error: JournalError) -> Self {
        Self::from(&error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_disk_is_told_from_other_io_errors() {
        let path = Path::new("journal.db");
        let full = JournalError::io(path, io::ErrorKind::StorageFull.into());
        assert!(matches!(full, JournalError::Full { .. }));
        let denied = JournalError::io(path, io::ErrorKind::PermissionDenied.into());
        assert!(matches!(denied, JournalError::Io { .. }));
    }

    #[test]
    fn an_error_at_a_door_is_a_storage_error_with_its_hint() {
        let view = ErrorView::from(JournalError::Full { path: "journal.db".into() });
        assert_eq!(view.code, ErrorCode::Storage);
        assert_eq!(view.message, "cannot write journal.db: the disk is full");
        assert_eq!(
            view.hint.as_deref(),
            Some("free space on the disk of journal.db, then start the run again")
        );
    }
}
