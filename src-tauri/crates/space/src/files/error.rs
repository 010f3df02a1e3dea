//! What can go wrong with a file, in types: tools turn them into classes and remedies, windows into words.

use std::io;
use std::path::PathBuf;

use super::edit::EditError;
use super::kind::Kind;
use super::path::{PathError, SpacePath};

/// Why a folder cannot be a Space.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NoSpace {
    #[error("it is not an absolute path")]
    NotAbsolute,
    #[error("it is the root of the file system")]
    Root,
    #[error("it is a home folder, or holds one")]
    Home,
    #[error("it is a hidden folder of the home folder, where programs keep settings and keys")]
    Hidden,
    #[error(
        "it is, or is in, a folder that a tool keeps for itself, such as .git or .vscode: what is in it is run later"
    )]
    Guarded,
    #[error("it is one of the system's folders")]
    System,
    #[error("it is Miki's own data folder, holds it, or is in it")]
    OwnData,
    #[error("it is not a folder")]
    NotAFolder,
}

/// A call on files that failed. Nothing outside of the Space was opened, and no file is left half written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FileError {
    #[error("{} cannot be a Space: {why}; choose a folder with the files to work on", path.display())]
    NotASpace { path: PathBuf, why: NoSpace },
    #[error(transparent)]
    Path(#[from] PathError),
    #[error("{path} does not exist")]
    Missing { path: SpacePath },
    #[error("{path} exists already; choose another name, or delete it first")]
    Exists { path: SpacePath },
    #[error(
        "{path} is a symbolic link to {target}; links are not followed: name the file itself, within the Space"
    )]
    Link { path: SpacePath, target: String },
    #[error("{path} has further names (hard links), which may stand outside of the Space; ask the user")]
    HardLinked { path: SpacePath },
    #[error("{path} is a {kind}, not a file")]
    NotAFile { path: SpacePath, kind: Kind },
    #[error("{path} is a {kind}, not a folder")]
    NotAFolder { path: SpacePath, kind: Kind },
    #[error("{path} is the Space itself, which cannot be moved, written or deleted")]
    WholeSpace { path: SpacePath },
    #[error("{to} is inside of {from}; choose a folder outside of it")]
    IntoItself { from: SpacePath, to: SpacePath },
    #[error("{path} has {bytes} bytes, more than the {limit} this can take")]
    TooLarge { path: SpacePath, bytes: u64, limit: u64 },
    #[error("{path} holds more than {limit} files and folders; take its parts one by one")]
    TooMany { path: SpacePath, limit: u64 },
    #[error("{path} is not text, so it cannot be edited as text")]
    NotText { path: SpacePath },
    #[error("{path}: {source}")]
    Edit { path: SpacePath, source: EditError },
    #[error("{path} cannot be read as {what}: {why}")]
    Document { path: SpacePath, what: &'static str, why: String },
    #[error("the pattern {pattern:?} is not understood: {why}")]
    Pattern { pattern: String, why: String },
    #[error("{path} was changed by somebody else meanwhile; read it again")]
    Changed { path: SpacePath },
    #[error("{path} could not be undone afterwards: {why}; ask the user first")]
    NoUndo { path: SpacePath, why: NoUndo },
    #[error("{path} is on a file system without a trash; nothing was deleted")]
    NoTrash { path: SpacePath },
    #[error("{path} and its new place are on different disks; copy it, then delete it")]
    OtherDisk { path: SpacePath },
    #[error("no permission for {path}")]
    Permission { path: SpacePath },
    #[error("no space left on the disk of {path}; nothing was changed")]
    DiskFull { path: SpacePath },
    #[error("what {path} held before could not be kept, so it was not changed: {source}")]
    Keep { path: SpacePath, source: io::Error },
    #[error("stopped")]
    Stopped,
    #[error("{path}: {source}")]
    Io { path: SpacePath, source: io::Error },
}

/// Why a change cannot be undone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error, serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub enum NoUndo {
    #[error("it is larger than what is kept of a file")]
    TooLarge,
    #[error("it holds too many files")]
    TooMany,
    #[error("what was there before was not kept")]
    NotKept,
}

impl FileError {
    /// The error of an operation on `path`, told by its kind.
    pub(super) fn io(path: &SpacePath, source: io::Error) -> Self {
        let path = path.clone();
        match source.kind() {
            io::ErrorKind::NotFound => Self::Missing { path },
            io::ErrorKind::AlreadyExists => Self::Exists { path },
            io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => Self::Permission { path },
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge => {
                Self::DiskFull { path }
            }
            io::ErrorKind::CrossesDevices => Self::OtherDisk { path },
            _ => Self::Io { path, source },
        }
    }
}
