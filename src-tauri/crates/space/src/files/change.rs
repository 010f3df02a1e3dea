//! Every change of a file, and what is written down of it so that it can be undone.
//!
//! Before a file is replaced, what it held is handed to [`Keep`]. What cannot be undone is refused.

use std::borrow::Cow;
use std::io::{self, Cursor, Read};
use std::time::SystemTime;

use cap_std::fs::{Dir, File, Metadata};
use serde::{Deserialize, Serialize};

use super::diff::{self, Diff};
use super::edit::{self, Decoded, Edit};
use super::error::{FileError, NoUndo};
use super::kind::Kind;
use super::path::SpacePath;
use super::replace::{self, Manner};
use super::trash::{self, InTrash};
use super::tree::{self, Print};
use super::{Space, Stop, handle};

/// What is kept of one file so that a change of it can be undone, in bytes.
pub const MAX_KEPT: u64 = 64 << 20;

/// Where the bytes before a change are kept: the journal's blobs.
pub trait Keep {
    /// Stores what is read, and answers with its name once it is on the disk.
    fn keep(&self, bytes: &mut dyn Read) -> io::Result<String>;

    /// What was kept under a name.
    fn open(&self, name: &str) -> io::Result<Box<dyn Read>>;

    /// Told what is about to be done, right before it is: what was written down here can be undone even where Miki
    /// is killed before it could say that it was done. An error ends the change before it is made.
    fn intend(&self, _change: &Change) -> io::Result<()> {
        Ok(())
    }
}

/// What was done, with all that is needed to undo it. Kept in events.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "did", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Change {
    /// A file was made or replaced. `folders` were made for it, outermost first.
    Wrote { path: SpacePath, before: Before, after: String, bytes: u64, folders: Vec<SpacePath> },
    /// Folders were made, outermost first.
    MadeFolder { path: SpacePath, folders: Vec<SpacePath> },
    /// A file or folder was moved to a free name.
    Moved { from: SpacePath, to: SpacePath, print: Option<Print>, folders: Vec<SpacePath> },
    /// A file or folder was copied to a free name. `print` is the copy's.
    Copied { from: SpacePath, to: SpacePath, print: Option<Print>, folders: Vec<SpacePath> },
    /// A file or folder was put into the trash.
    Trashed { path: SpacePath, print: Option<Print>, place: InTrash },
}

/// What a file held before it was written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "was", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Before {
    /// There was no file.
    Nothing,
    /// `name` is what [`Keep`] calls the bytes.
    Kept { name: String, sha256: String, bytes: u64, mode: Option<u32>, modified: Option<SystemTime> },
}

impl Change {
    /// The path that is looked at to see what was done: where the thing is now, or was.
    pub fn path(&self) -> &SpacePath {
        match self {
            Self::Wrote { path, .. } | Self::MadeFolder { path, .. } | Self::Trashed { path, .. } => path,
            Self::Moved { to, .. } | Self::Copied { to, .. } => to,
        }
    }

    /// Folders that were made for it, outermost first.
    pub(super) fn folders(&self) -> &[SpacePath] {
        match self {
            Self::Wrote { folders, .. } | Self::Moved { folders, .. } | Self::Copied { folders, .. } => {
                folders
            }
            Self::MadeFolder { folders, .. } => folders,
            Self::Trashed { .. } => &[],
        }
    }

    /// Whether it can be undone while nobody else changes anything.
    pub fn undoable(&self) -> Result<(), NoUndo> {
        match self {
            Self::Moved { print: None, .. }
            | Self::Copied { print: None, .. }
            | Self::Trashed { print: None, .. } => Err(NoUndo::TooMany),
            _ => Ok(()),
        }
    }
}

/// What a file shall hold.
#[derive(Debug, Clone, Copy)]
pub enum Content<'a> {
    /// These bytes.
    Whole(&'a [u8]),
    /// What it holds, and then these.
    Append(&'a [u8]),
    /// What it holds, with replacements; all are made or none.
    Edits(&'a [Edit]),
    /// What it holds, changed by a unified diff of this one file.
    Patch(&'a str),
}

/// Whether there may, must, or must not be a file already.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WriteMode {
    Create,
    Replace,
    Either,
}

impl WriteMode {
    /// Whether a file that is there, or is not, may be written so.
    fn check(self, is_there: bool, path: &SpacePath) -> Result<(), FileError> {
        match (is_there, self) {
            (true, Self::Create) => Err(FileError::Exists { path: path.clone() }),
            (false, Self::Replace) => Err(FileError::Missing { path: path.clone() }),
            _ => Ok(()),
        }
    }
}

/// Changes of one Space. Made for a call: [`Space::changes`].
pub struct Changes<'a> {
    space: &'a Space,
    pub(super) keep: &'a dyn Keep,
    stop: Stop<'a>,
}

/// A file that stands where something is to be written.
struct Old {
    meta: Metadata,
    /// What it holds; `None` if that is more than is kept.
    bytes: Option<Vec<u8>>,
}

impl Space {
    /// Changes of this Space: `keep` takes what was there before.
    pub fn changes<'a>(&'a self, keep: &'a dyn Keep, stop: Stop<'a>) -> Changes<'a> {
        Changes { space: self, keep, stop }
    }

    /// Whether a write, move, copy or deletion of what stands at `path` could be undone: asked before it is done.
    /// The change itself holds to the same bounds.
    pub fn can_undo(&self, path: &SpacePath, stop: Stop<'_>) -> Result<Result<(), NoUndo>, FileError> {
        let entry = match self.look(path) {
            Ok(entry) => entry,
            Err(FileError::Missing { .. }) => return Ok(Ok(())),
            Err(e) => return Err(e),
        };
        Ok(match entry.kind {
            Kind::File if entry.bytes > MAX_KEPT => Err(NoUndo::TooLarge),
            Kind::Folder if !path.is_root() => {
                let (dir, name) = self.parent(path)?;
                tree::print(&dir, name.as_ref(), path, stop)?.map(|_| ()).ok_or(NoUndo::TooMany)
            }
            _ => Ok(()),
        })
    }

    /// What writing `content` would change, or why it would not be written; nothing is.
    pub fn preview(
        &self,
        path: &SpacePath,
        content: Content<'_>,
        mode: WriteMode,
    ) -> Result<Diff, FileError> {
        let old = self.to_be_replaced(path, mode)?;
        let Some(Old { bytes: None, meta }) = old else {
            let new = becomes(old.as_ref(), content, path)?;
            return Ok(diff::diff(old.as_ref().and_then(|old| old.bytes.as_deref()), &new));
        };
        let Content::Whole(new) = content else {
            return Err(FileError::TooLarge { path: path.clone(), bytes: meta.len(), limit: MAX_KEPT });
        };
        let mut diff = diff::diff(Some(&[]), new);
        (diff.opaque, diff.bytes_before, diff.removed, diff.text) = (true, meta.len(), 0, String::new());
        Ok(diff)
    }

    /// Why writing `content` would fail, without working out what it would change.
    pub fn check_write(
        &self,
        path: &SpacePath,
        content: Content<'_>,
        mode: WriteMode,
    ) -> Result<(), FileError> {
        match (self.to_be_replaced(path, mode)?, content) {
            (Some(Old { bytes: None, .. }), Content::Whole(_)) => Ok(()),
            (Some(Old { bytes: None, meta }), _) => {
                Err(FileError::TooLarge { path: path.clone(), bytes: meta.len(), limit: MAX_KEPT })
            }
            (old, content) => becomes(old.as_ref(), content, path).map(drop),
        }
    }

    /// What a write would replace; `None` if there is no such file.
    fn to_be_replaced(&self, path: &SpacePath, mode: WriteMode) -> Result<Option<Old>, FileError> {
        let old = match self.parent(path) {
            Ok((dir, name)) => old(self, &dir, name, path)?,
            Err(FileError::Missing { .. }) => None,
            Err(e) => return Err(e),
        };
        mode.check(old.is_some(), path)?;
        Ok(old)
    }
}

fn old(space: &Space, dir: &Dir, name: &str, path: &SpacePath) -> Result<Option<Old>, FileError> {
    if handle::entry(dir, name, path)?.is_none() {
        return Ok(None);
    }
    let (file, meta) = space.file_in(dir, name, path)?;
    let bytes = if meta.len() > MAX_KEPT { None } else { Some(read(file, &meta, path)?) };
    Ok(Some(Old { meta, bytes }))
}

fn read(file: File, meta: &Metadata, path: &SpacePath) -> Result<Vec<u8>, FileError> {
    let mut bytes = Vec::with_capacity(usize::try_from(meta.len()).unwrap_or_default());
    file.take(MAX_KEPT + 1).read_to_end(&mut bytes).map_err(|e| FileError::io(path, e))?;
    if bytes.len() as u64 == meta.len() { Ok(bytes) } else { Err(FileError::Changed { path: path.clone() }) }
}

/// What the file will hold.
fn becomes<'a>(
    old: Option<&Old>,
    content: Content<'a>,
    path: &SpacePath,
) -> Result<Cow<'a, [u8]>, FileError> {
    if let Content::Whole(bytes) = content {
        return Ok(Cow::Borrowed(bytes));
    }
    let before = match old {
        Some(Old { bytes: Some(bytes), .. }) => bytes.clone(),
        Some(Old { meta, .. }) => {
            return Err(FileError::TooLarge { path: path.clone(), bytes: meta.len(), limit: MAX_KEPT });
        }
        None => match content {
            Content::Edits(_) => return Err(FileError::Missing { path: path.clone() }),
            _ => Vec::new(),
        },
    };
    let wrong = |source| FileError::Edit { path: path.clone(), source };
    Ok(Cow::Owned(match content {
        Content::Whole(bytes) => bytes.to_vec(),
        Content::Append(more) => [before.as_slice(), more].concat(),
        Content::Edits(edits) => {
            let text = Decoded::new(before, path)?;
            text.encode(edit::apply(text.text(), edits).map_err(wrong)?)
        }
        Content::Patch(diff) => {
            let text = Decoded::new(before, path)?;
            text.encode(edit::patch(text.text(), diff).map_err(wrong)?)
        }
    }))
}

impl<'a> Changes<'a> {
    /// Writes a file, in one step. Folders it needs are made. Permissions stay.
    pub fn write(
        &self,
        path: &SpacePath,
        content: Content<'_>,
        mode: WriteMode,
    ) -> Result<Change, FileError> {
        let space = self.space;
        let old = space.to_be_replaced(path, mode)?;
        let new = becomes(old.as_ref(), content, path)?;
        let before = self.before(old.as_ref(), path)?;
        self.go_on()?;
        let (dir, name, folders) = self.parents(path)?;
        let change = Change::Wrote {
            path: path.clone(),
            before,
            after: replace::sha256(&new),
            bytes: new.len() as u64,
            folders: folders.clone(),
        };
        let manner = Manner { old: old.as_ref().map(|old| &old.meta), ..Manner::default() };
        let put = || {
            self.intend(&change, path)?;
            replace::put(&dir, name, path, &mut Cursor::new(&new), manner)
        };
        self.or_unmake(put(), &folders)?;
        Ok(change)
    }

    fn before(&self, old: Option<&Old>, path: &SpacePath) -> Result<Before, FileError> {
        let Some(old) = old else { return Ok(Before::Nothing) };
        let Some(bytes) = &old.bytes else {
            return Err(FileError::NoUndo { path: path.clone(), why: NoUndo::TooLarge });
        };
        let name = self
            .keep
            .keep(&mut Cursor::new(bytes))
            .map_err(|source| FileError::Keep { path: path.clone(), source })?;
        Ok(Before::Kept {
            name,
            sha256: replace::sha256(bytes),
            bytes: bytes.len() as u64,
            mode: replace::mode_of(&old.meta),
            modified: old.meta.modified().ok().map(cap_std::time::SystemTime::into_std),
        })
    }

    /// Makes a folder, and those it is in. There must be nothing at `path`.
    pub fn make_folder(&self, path: &SpacePath) -> Result<Change, FileError> {
        let (dir, name, mut folders) = self.parents(path)?;
        let mut all = folders.clone();
        all.push(path.clone());
        let change = Change::MadeFolder { path: path.clone(), folders: all };
        let made = self
            .intend(&change, path)
            .and_then(|()| dir.create_dir(name).map_err(|e| FileError::io(path, e)));
        self.or_unmake(made, &folders)?;
        folders.push(path.clone());
        Ok(change)
    }

    /// Moves a file or folder to a name that is free. A link is moved, not what it leads to.
    pub fn move_to(&self, from: &SpacePath, to: &SpacePath) -> Result<Change, FileError> {
        self.outside_of_itself(from, to)?;
        let (source, name) = self.space.parent(from)?;
        let print = self.print(&source, name, from)?;
        let (target, new, folders) = self.parents(to)?;
        let change = Change::Moved { from: from.clone(), to: to.clone(), print, folders: folders.clone() };
        let moved = self.intend(&change, from).and_then(|()| {
            handle::rename_new(&source, name, &target, new).map_err(|e| match e.kind() {
                io::ErrorKind::AlreadyExists => FileError::Exists { path: to.clone() },
                _ => FileError::io(from, e),
            })
        });
        self.or_unmake(moved, &folders)?;
        Ok(change)
    }

    /// Copies a file or folder to a name that is free; it is there whole, or not at all. Links are copied as links.
    pub fn copy(&self, from: &SpacePath, to: &SpacePath) -> Result<Change, FileError> {
        self.outside_of_itself(from, to)?;
        let (source, name) = self.space.parent(from)?;
        handle::entry(&source, name, from)?.ok_or_else(|| FileError::Missing { path: from.clone() })?;
        let (target, new, folders) = self.parents(to)?;
        let copied = || {
            if handle::entry(&target, new, to)?.is_some() {
                return Err(FileError::Exists { path: to.clone() });
            }
            let spare = handle::fresh_name();
            let whole = || {
                tree::copy(self.space, (&source, name.as_ref()), (&target, spare.as_ref()), from, self.stop)?;
                let print = tree::print(&target, spare.as_ref(), to, self.stop)?;
                let change =
                    Change::Copied { from: from.clone(), to: to.clone(), print, folders: folders.clone() };
                self.intend(&change, to)?;
                handle::rename_new(&target, &spare, &target, new).map_err(|e| FileError::io(to, e))?;
                Ok(change)
            };
            let result = whole();
            if result.is_err() {
                tree::remove(&target, spare.as_ref());
            }
            result
        };
        self.or_unmake(copied(), &folders)
    }

    /// Puts a file, folder or link into the trash.
    pub fn trash(&self, path: &SpacePath) -> Result<Change, FileError> {
        let (dir, name) = self.space.parent(path)?;
        let print = self.print(&dir, name, path)?;
        let intend = |place: &InTrash| {
            let change = Change::Trashed { path: path.clone(), print: print.clone(), place: place.clone() };
            self.intend(&change, path)
        };
        let place = trash::put(self.space, &dir, name, path, &intend)?;
        Ok(Change::Trashed { path: path.clone(), print, place })
    }

    /// What stands at a name before it is moved away; refused where it is too much to be undone.
    fn print(&self, dir: &Dir, name: &str, path: &SpacePath) -> Result<Option<Print>, FileError> {
        handle::entry(dir, name, path)?.ok_or_else(|| FileError::Missing { path: path.clone() })?;
        let print = tree::print(dir, name.as_ref(), path, self.stop)?;
        if print.is_none() {
            return Err(FileError::NoUndo { path: path.clone(), why: NoUndo::TooMany });
        }
        Ok(print)
    }

    fn outside_of_itself(&self, from: &SpacePath, to: &SpacePath) -> Result<(), FileError> {
        if from.is_root() || to.is_root() {
            return Err(FileError::WholeSpace { path: SpacePath::root() });
        }
        if from.holds(to) && from != to {
            return Err(FileError::IntoItself { from: from.clone(), to: to.clone() });
        }
        self.go_on()
    }

    fn go_on(&self) -> Result<(), FileError> {
        if (self.stop)() { Err(FileError::Stopped) } else { Ok(()) }
    }

    fn intend(&self, change: &Change, path: &SpacePath) -> Result<(), FileError> {
        self.keep.intend(change).map_err(|source| FileError::Keep { path: path.clone(), source })
    }

    /// The folder that `path` shall be in, made where it is missing; and which folders were made.
    fn parents<'p>(&self, path: &'p SpacePath) -> Result<(Dir, &'p str, Vec<SpacePath>), FileError> {
        let name = path.name().ok_or_else(|| FileError::WholeSpace { path: path.clone() })?;
        let mut made = Vec::new();
        let mut at = SpacePath::root();
        let mut dir = self.space.folder(&at)?;
        for part in path.parent().parts() {
            at = at.join(part);
            let next = handle::open_folder(&dir, part, &at).or_else(|e| match e {
                FileError::Missing { .. } => {
                    dir.create_dir(part).map_err(|e| FileError::io(&at, e))?;
                    made.push(at.clone());
                    handle::open_folder(&dir, part, &at)
                }
                other => Err(other),
            });
            dir = self.or_unmake(next, &made)?;
        }
        Ok((dir, name, made))
    }

    /// Takes away folders that were made for something that failed.
    fn or_unmake<T>(&self, result: Result<T, FileError>, made: &[SpacePath]) -> Result<T, FileError> {
        if result.is_err() {
            unmake(self.space, made);
        }
        result
    }

    pub(super) fn space(&self) -> &'a Space {
        self.space
    }

    pub(super) fn stop(&self) -> Stop<'a> {
        self.stop
    }
}

/// Removes folders, innermost first, as far as they are empty. Says which are gone.
pub(super) fn unmake(space: &Space, made: &[SpacePath]) -> Vec<SpacePath> {
    let mut gone = Vec::new();
    for path in made.iter().rev() {
        let removed = space
            .parent(path)
            .and_then(|(dir, name)| dir.remove_dir(name).map_err(|e| FileError::io(path, e)));
        if removed.is_err() {
            break;
        }
        gone.push(path.clone());
    }
    gone
}
