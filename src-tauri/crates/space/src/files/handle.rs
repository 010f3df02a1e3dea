//! Names looked up in handles: the only place where the Space's folders and files are opened.
//!
//! One name at a time, never following a symbolic link, never waiting for a pipe.

use std::io;

use cap_fs_ext::{DirExt, FollowSymlinks, MetadataExt, OpenOptionsFollowExt, OpenOptionsSyncExt};
use cap_std::fs::{Dir, File, Metadata, OpenOptions};

use super::error::FileError;
use super::kind::Kind;
use super::path::SpacePath;
use super::{HardLinks, Space};

impl Space {
    /// The folder at `path`, opened name by name.
    pub(super) fn folder(&self, path: &SpacePath) -> Result<Dir, FileError> {
        let mut dir = self.inner.dir.try_clone().map_err(|e| FileError::io(path, e))?;
        let mut at = SpacePath::root();
        for name in path.parts() {
            at = at.join(name);
            dir = open_folder(&dir, name, &at)?;
        }
        Ok(dir)
    }

    /// The folder that `path` is in, and its name there.
    pub(super) fn parent<'a>(&self, path: &'a SpacePath) -> Result<(Dir, &'a str), FileError> {
        let name = path.name().ok_or_else(|| FileError::WholeSpace { path: path.clone() })?;
        Ok((self.folder(&path.parent())?, name))
    }

    /// The file at `path`, opened for reading. It is a plain file by what was opened, not by what was there before.
    pub(super) fn file(&self, path: &SpacePath) -> Result<(File, Metadata), FileError> {
        let (dir, name) = self.parent(path).map_err(|e| match e {
            FileError::WholeSpace { path } => FileError::NotAFile { path, kind: Kind::Folder },
            other => other,
        })?;
        self.file_in(&dir, name, path)
    }

    pub(super) fn file_in(
        &self,
        dir: &Dir,
        name: &str,
        path: &SpacePath,
    ) -> Result<(File, Metadata), FileError> {
        let (file, meta) = open_file(dir, name, path)?;
        if self.hard_links == HardLinks::Refused && MetadataExt::nlink(&meta) > 1 {
            return Err(FileError::HardLinked { path: path.clone() });
        }
        Ok((file, meta))
    }
}

/// Opens a folder in `dir`.
pub(super) fn open_folder(dir: &Dir, name: &str, path: &SpacePath) -> Result<Dir, FileError> {
    dir.open_dir_nofollow(name).map_err(|e| explain(dir, name, path, e))
}

/// Opens a plain file in `dir`. Pipes, sockets and devices are told by their entry first, since opening some devices
/// does something; the handle is asked again, since the entry may be another by then.
pub(super) fn open_file(dir: &Dir, name: &str, path: &SpacePath) -> Result<(File, Metadata), FileError> {
    let before = dir.symlink_metadata(name).map_err(|e| FileError::io(path, e))?;
    plain(dir, name, path, &before)?;
    let mut options = OpenOptions::new();
    options.read(true).follow(FollowSymlinks::No).nonblock(true);
    let file = dir.open_with(name, &options).map_err(|e| explain(dir, name, path, e))?;
    let meta = file.metadata().map_err(|e| FileError::io(path, e))?;
    plain(dir, name, path, &meta)?;
    Ok((file, meta))
}

fn plain(dir: &Dir, name: &str, path: &SpacePath, meta: &Metadata) -> Result<(), FileError> {
    match Kind::of_meta(meta) {
        Kind::File => Ok(()),
        Kind::Link => Err(link(dir, name, path)),
        kind => Err(FileError::NotAFile { path: path.clone(), kind }),
    }
}

/// The error of an entry that is a symbolic link; the link is read, not followed.
pub(super) fn link(dir: &Dir, name: &str, path: &SpacePath) -> FileError {
    let target = dir.read_link_contents(name).map_or_else(
        |_| "a place outside".to_owned(),
        |target| target.to_string_lossy().chars().take(200).collect(),
    );
    FileError::Link { path: path.clone(), target }
}

/// Why opening `name` failed: what stands there says it better than the system's number.
pub(super) fn explain(dir: &Dir, name: &str, path: &SpacePath, error: io::Error) -> FileError {
    match dir.symlink_metadata(name).map(|meta| Kind::of_meta(&meta)) {
        Ok(Kind::Link) => link(dir, name, path),
        Ok(kind @ (Kind::Pipe | Kind::Socket | Kind::Device)) => {
            FileError::NotAFile { path: path.clone(), kind }
        }
        Ok(kind @ Kind::File) if error.kind() == io::ErrorKind::NotADirectory => {
            FileError::NotAFolder { path: path.clone(), kind }
        }
        _ => FileError::io(path, error),
    }
}

/// The entry at `name`, without following it; `None` if there is none.
pub(super) fn entry(dir: &Dir, name: &str, path: &SpacePath) -> Result<Option<Metadata>, FileError> {
    match dir.symlink_metadata(name) {
        Ok(meta) => Ok(Some(meta)),
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(e) => Err(FileError::io(path, e)),
    }
}

pub(super) fn same_folder(a: &Dir, b: &Dir) -> io::Result<bool> {
    Ok(same(&a.dir_metadata()?, &b.dir_metadata()?))
}

fn same(a: &Metadata, b: &Metadata) -> bool {
    (MetadataExt::dev(a), MetadataExt::ino(a)) == (MetadataExt::dev(b), MetadataExt::ino(b))
}

/// `true` where the entry is the file that was read, and nobody wrote to it since.
pub(super) fn unchanged(before: &Metadata, now: &Metadata) -> bool {
    same(before, now) && before.len() == now.len() && before.modified().ok() == now.modified().ok()
}

/// Moves an entry to a name that must be free, in one step where the system can.
pub(super) fn rename_new(from: &Dir, name: &str, to: &Dir, new: &str) -> io::Result<()> {
    #[cfg(any(target_os = "linux", target_vendor = "apple"))]
    {
        use rustix::fs::{RenameFlags, renameat_with};
        match renameat_with(from, name, to, new, RenameFlags::NOREPLACE) {
            Ok(()) => return Ok(()),
            // A file system that cannot: below, with a moment between looking and moving.
            Err(rustix::io::Errno::INVAL | rustix::io::Errno::NOSYS | rustix::io::Errno::NOTSUP) => {}
            Err(e) => return Err(e.into()),
        }
    }
    if to.symlink_metadata(new).is_ok() {
        return Err(io::ErrorKind::AlreadyExists.into());
    }
    from.rename(name, to, new)
}

/// Puts the folder's entries on the disk. Windows has no such call, and needs none.
pub(super) fn sync_folder(dir: &Dir) -> io::Result<()> {
    #[cfg(unix)]
    {
        dir.try_clone()?.into_std_file().sync_all().or_else(|e| match e.raw_os_error() {
            // File systems that cannot sync a folder (some network ones).
            Some(code) if code == rustix::io::Errno::INVAL.raw_os_error() => Ok(()),
            _ => Err(e),
        })
    }
    #[cfg(not(unix))]
    {
        let _ = dir;
        Ok(())
    }
}

/// A name nobody has, for what is not whole yet.
pub(super) fn fresh_name() -> String {
    use std::hash::{BuildHasher, Hasher};
    let random = || std::hash::RandomState::new().build_hasher().finish();
    format!("{UNFINISHED}{:016x}", random() ^ random().rotate_left(32))
}

/// Begins the names of what is not whole yet; one is left only where Miki was killed in that moment.
pub(super) const UNFINISHED: &str = ".miki-new-";
