//! What stands at a name: a file, a folder, or something that is never opened.

use std::fmt;

use cap_std::fs::{FileType, Metadata};
use serde::Serialize;

/// What an entry of a folder is. Only files and folders are ever opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Kind {
    File,
    Folder,
    Link,
    Pipe,
    Socket,
    Device,
}

impl Kind {
    pub(super) fn of(kind: FileType) -> Self {
        if kind.is_file() {
            return Self::File;
        }
        if kind.is_dir() {
            return Self::Folder;
        }
        if kind.is_symlink() {
            return Self::Link;
        }
        #[cfg(unix)]
        {
            use cap_std::fs::FileTypeExt;
            if kind.is_fifo() {
                return Self::Pipe;
            }
            if kind.is_socket() {
                return Self::Socket;
            }
        }
        Self::Device
    }

    pub(super) fn of_meta(meta: &Metadata) -> Self {
        Self::of(meta.file_type())
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::File => "file",
            Self::Folder => "folder",
            Self::Link => "symbolic link",
            Self::Pipe => "pipe",
            Self::Socket => "socket",
            Self::Device => "device",
        })
    }
}
