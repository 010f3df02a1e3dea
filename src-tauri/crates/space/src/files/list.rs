//! What is in a folder: sorted, bounded, nothing opened.

use std::collections::BinaryHeap;
use std::time::SystemTime;

use cap_fs_ext::MetadataExt;
use cap_std::fs::Metadata;
use serde::Serialize;

use super::error::FileError;
use super::handle;
use super::kind::Kind;
use super::path::SpacePath;
use super::{Space, Stop};

/// An entry of a folder.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Entry {
    /// The name, with `\u{fffd}` for what is not UTF-8.
    pub name: String,
    pub kind: Kind,
    /// Of a file; 0 for everything else.
    pub bytes: u64,
    pub modified: Option<SystemTime>,
    /// Where a symbolic link leads, as it is written.
    pub target: Option<String>,
    /// A file with further names (hard links).
    pub hard_linked: bool,
    /// The name is not UTF-8: it cannot be named in a call. The folder it is in can be moved, copied and deleted.
    pub unnameable: bool,
}

/// A folder's entries, by name, at most as many as were asked for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Listing {
    pub entries: Vec<Entry>,
    /// How many there are; at least so many where `counted` is false.
    pub total: u64,
    /// False where the folder has more entries than are counted.
    pub counted: bool,
}

/// No folder is counted further than this.
const COUNTED: u64 = 5_000_000;

impl Space {
    /// Lists a folder: the first `limit` entries by name, of those after `after`. Holds `limit` names at once.
    pub fn list(
        &self,
        path: &SpacePath,
        after: Option<&str>,
        limit: usize,
        stop: Stop<'_>,
    ) -> Result<Listing, FileError> {
        let dir = self.folder(path)?;
        let mut first: BinaryHeap<std::ffi::OsString> = BinaryHeap::with_capacity(limit.min(4096) + 1);
        let mut total = 0_u64;
        let mut counted = true;
        for entry in dir.entries().map_err(|e| FileError::io(path, e))? {
            let name = entry.map_err(|e| FileError::io(path, e))?.file_name();
            total += 1;
            if total.is_multiple_of(1024) && stop() {
                return Err(FileError::Stopped);
            }
            if after.is_none_or(|after| name.as_encoded_bytes() > after.as_bytes()) {
                let largest = first.peek().is_some_and(|largest| *largest <= name);
                if first.len() < limit || !largest {
                    first.push(name);
                }
                if first.len() > limit {
                    first.pop();
                }
            }
            if total == COUNTED {
                counted = false;
                break;
            }
        }
        let entries = first
            .into_sorted_vec()
            .into_iter()
            // One that is gone by now is not listed.
            .filter_map(|name| {
                let meta = dir.symlink_metadata(&name).ok()?;
                let target = (Kind::of_meta(&meta) == Kind::Link)
                    .then(|| dir.read_link_contents(&name).ok())
                    .flatten();
                let shown = name.to_string_lossy().into_owned();
                Some(entry_of(shown, &meta, target.as_deref(), name.to_str().is_none()))
            })
            .collect();
        Ok(Listing { entries, total, counted })
    }
}

pub(super) fn look(space: &Space, path: &SpacePath) -> Result<Entry, FileError> {
    let Some(name) = path.name() else {
        let meta = space.inner.dir.dir_metadata().map_err(|e| FileError::io(path, e))?;
        return Ok(entry_of(".".into(), &meta, None, false));
    };
    let (dir, _) = space.parent(path)?;
    let meta = handle::entry(&dir, name, path)?.ok_or_else(|| FileError::Missing { path: path.clone() })?;
    let target = (Kind::of_meta(&meta) == Kind::Link).then(|| dir.read_link_contents(name).ok()).flatten();
    Ok(entry_of(name.to_owned(), &meta, target.as_deref(), false))
}

fn entry_of(name: String, meta: &Metadata, target: Option<&std::path::Path>, unnameable: bool) -> Entry {
    let kind = Kind::of_meta(meta);
    Entry {
        name,
        kind,
        bytes: if kind == Kind::File { meta.len() } else { 0 },
        modified: meta.modified().ok().map(cap_std::time::SystemTime::into_std),
        target: target.map(|target| target.to_string_lossy().into_owned()),
        hard_linked: kind == Kind::File && MetadataExt::nlink(meta) > 1,
        unnameable,
    }
}
