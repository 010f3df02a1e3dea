//! Whole folders by handles: what is in them, told by a print; copied; removed.

use std::ffi::{OsStr, OsString};
use std::fs::FileTimes;
use std::io::{self, Read, Write};
use std::time::UNIX_EPOCH;

use cap_fs_ext::{DirExt, FollowSymlinks, MetadataExt, OpenOptionsFollowExt, OpenOptionsSyncExt};
use cap_std::fs::{Dir, Metadata, OpenOptions};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::error::FileError;
use super::handle;
use super::kind::Kind;
use super::path::SpacePath;
use super::replace::hex;
use super::{HardLinks, Space, Stop};

/// Files and folders that are taken together at most.
const ENTRIES: u64 = 100_000;
/// Folders within folders.
const DEPTH: usize = 128;

/// What a file or folder was: kinds, names, sizes, times and permissions of all that is in it. Contents are not read:
/// whoever writes a file changes its time.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Print {
    pub sha256: String,
    pub entries: u64,
    pub bytes: u64,
}

/// The print of what stands at a name; `None` if it holds too much.
pub(super) fn print(
    dir: &Dir,
    name: &OsStr,
    path: &SpacePath,
    stop: Stop<'_>,
) -> Result<Option<Print>, FileError> {
    let mut walk = Printing { hash: Sha256::new(), entries: 0, bytes: 0, path, stop };
    let meta = dir.symlink_metadata(name).map_err(|e| FileError::io(path, e))?;
    let whole = walk.one(dir, name, None, &meta, 0)?;
    let print = Print { sha256: hex(&walk.hash.finalize()), entries: walk.entries, bytes: walk.bytes };
    Ok(whole.then_some(print))
}

struct Printing<'a> {
    hash: Sha256,
    entries: u64,
    bytes: u64,
    path: &'a SpacePath,
    stop: Stop<'a>,
}

impl Printing<'_> {
    /// `called` is its name in the print; the outermost has none, since it is moved. `false` where it is too much.
    fn one(
        &mut self,
        dir: &Dir,
        name: &OsStr,
        called: Option<&OsStr>,
        meta: &Metadata,
        depth: usize,
    ) -> Result<bool, FileError> {
        let io = |e| FileError::io(self.path, e);
        self.entries += 1;
        if self.entries > ENTRIES || depth > DEPTH {
            return Ok(false);
        }
        if self.entries.is_multiple_of(256) && (self.stop)() {
            return Err(FileError::Stopped);
        }
        let kind = Kind::of_meta(meta);
        let mut add = |bytes: &[u8]| {
            self.hash.update((bytes.len() as u64).to_le_bytes());
            self.hash.update(bytes);
        };
        add(called.map(OsStr::as_encoded_bytes).unwrap_or_default());
        add(&[kind as u8]);
        add(&super::replace::mode_of(meta).unwrap_or_default().to_le_bytes());
        match kind {
            Kind::Folder => {
                let folder = dir.open_dir_nofollow(name).map_err(io)?;
                let names = names(&folder).map_err(io)?;
                let Some(names) = names else { return Ok(false) };
                add(&(names.len() as u64).to_le_bytes());
                for name in names {
                    let meta = folder.symlink_metadata(&name).map_err(|e| FileError::io(self.path, e))?;
                    if !self.one(&folder, &name, Some(&name), &meta, depth + 1)? {
                        return Ok(false);
                    }
                }
            }
            Kind::Link => add(dir.read_link_contents(name).map_err(io)?.as_os_str().as_encoded_bytes()),
            _ => {
                let modified = meta.modified().ok().map(cap_std::time::SystemTime::into_std);
                let since =
                    modified.and_then(|time| time.duration_since(UNIX_EPOCH).ok()).unwrap_or_default();
                add(&meta.len().to_le_bytes());
                add(&since.as_nanos().to_le_bytes());
                self.bytes += meta.len();
            }
        }
        Ok(true)
    }
}

/// The names in a folder, sorted; `None` if there are too many.
fn names(dir: &Dir) -> io::Result<Option<Vec<OsString>>> {
    let mut names = Vec::new();
    for entry in dir.entries()? {
        names.push(entry?.file_name());
        if names.len() as u64 > ENTRIES {
            return Ok(None);
        }
    }
    names.sort_unstable();
    Ok(Some(names))
}

/// Copies what stands at a name to one that is free. What is there of it after an error is the caller's to remove.
pub(super) fn copy(
    space: &Space,
    from: (&Dir, &OsStr),
    to: (&Dir, &OsStr),
    path: &SpacePath,
    stop: Stop<'_>,
) -> Result<(), FileError> {
    let mut copying = Copying { space, entries: 0, path, stop, buffer: vec![0; 128 * 1024] };
    copying.one(from, to, 0)
}

struct Copying<'a> {
    space: &'a Space,
    entries: u64,
    path: &'a SpacePath,
    stop: Stop<'a>,
    buffer: Vec<u8>,
}

impl Copying<'_> {
    fn one(
        &mut self,
        (from, name): (&Dir, &OsStr),
        (to, new): (&Dir, &OsStr),
        depth: usize,
    ) -> Result<(), FileError> {
        let path = self.path;
        let io = |e| FileError::io(path, e);
        self.entries += 1;
        if self.entries > ENTRIES || depth > DEPTH {
            return Err(FileError::TooMany { path: path.clone(), limit: ENTRIES });
        }
        if (self.stop)() {
            return Err(FileError::Stopped);
        }
        let meta = from.symlink_metadata(name).map_err(io)?;
        match Kind::of_meta(&meta) {
            Kind::Folder => {
                let source = from.open_dir_nofollow(name).map_err(io)?;
                to.create_dir(new).map_err(io)?;
                let target = to.open_dir_nofollow(new).map_err(io)?;
                let names = names(&source).map_err(io)?;
                let names = names.ok_or_else(|| FileError::TooMany { path: path.clone(), limit: ENTRIES })?;
                for name in names {
                    self.one((&source, &name), (&target, &name), depth + 1)?;
                }
                permit(&target, &meta).map_err(io)
            }
            Kind::File => self.file(from, name, to, new),
            Kind::Link => copy_link(from, name, to, new).map_err(io),
            kind => Err(FileError::NotAFile { path: path.clone(), kind }),
        }
    }

    fn file(&mut self, from: &Dir, name: &OsStr, to: &Dir, new: &OsStr) -> Result<(), FileError> {
        let path = self.path;
        let io = |e| FileError::io(path, e);
        let mut reading = OpenOptions::new();
        reading.read(true).follow(FollowSymlinks::No).nonblock(true);
        let mut source = from.open_with(name, &reading).map_err(io)?;
        let meta = source.metadata().map_err(io)?;
        let kind = Kind::of_meta(&meta);
        if kind != Kind::File {
            return Err(FileError::NotAFile { path: path.clone(), kind });
        }
        if self.space.hard_links == HardLinks::Refused && MetadataExt::nlink(&meta) > 1 {
            return Err(FileError::HardLinked { path: path.clone() });
        }
        let mut writing = OpenOptions::new();
        writing.write(true).create_new(true);
        let mut target = to.open_with(new, &writing).map_err(io)?;
        loop {
            if (self.stop)() {
                return Err(FileError::Stopped);
            }
            match source.read(&mut self.buffer).map_err(io)? {
                0 => break,
                read => target.write_all(&self.buffer[..read]).map_err(io)?,
            }
        }
        target.set_permissions(meta.permissions()).map_err(io)?;
        let target = target.into_std();
        if let Ok(modified) = meta.modified() {
            target.set_times(FileTimes::new().set_modified(modified.into_std())).map_err(io)?;
        }
        target.sync_all().map_err(io)
    }
}

#[cfg(unix)]
fn permit(dir: &Dir, meta: &Metadata) -> io::Result<()> {
    dir.set_permissions(".", meta.permissions())
}

#[cfg(not(unix))]
fn permit(_: &Dir, _: &Metadata) -> io::Result<()> {
    Ok(())
}

/// The link as it is written; it leads nowhere for us, wherever it leads.
#[cfg(unix)]
fn copy_link(from: &Dir, name: &OsStr, to: &Dir, new: &OsStr) -> io::Result<()> {
    to.symlink_contents(from.read_link_contents(name)?, new)
}

#[cfg(not(unix))]
fn copy_link(_: &Dir, _: &OsStr, _: &Dir, _: &OsStr) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Removes what stands at a name, for good: a copy that is not whole, or one that is undone.
pub(super) fn remove(dir: &Dir, name: &OsStr) {
    let is_folder = dir.symlink_metadata(name).is_ok_and(|meta| meta.is_dir());
    let removed = if is_folder { dir.remove_dir_all(name) } else { dir.remove_file(name) };
    let _ = removed;
    let _ = handle::sync_folder(dir);
}
