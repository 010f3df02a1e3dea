//! A change taken back: only where things still are as the change left them.

use std::io;

use cap_std::fs::Dir;

use super::change::{Before, Change, Changes, unmake};
use super::error::{FileError, NoUndo};
use super::path::SpacePath;
use super::replace::{self, Manner};
use super::{Space, handle, trash, tree};

/// What was taken back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Undone {
    /// The paths that are as they were before.
    pub paths: Vec<SpacePath>,
    /// Folders that were made for it, and stay: somebody put something into them.
    pub left: Vec<SpacePath>,
}

impl Changes<'_> {
    /// Takes a change back. [`FileError::Changed`] where somebody changed its result since, [`FileError::Exists`]
    /// where something else stands at its old place; then nothing is done.
    pub fn undo(&self, change: &Change) -> Result<Undone, FileError> {
        change.undoable().map_err(|why| FileError::NoUndo { path: change.path().clone(), why })?;
        if self.is_as_before(change)? {
            let left = left_of(self.space(), change.folders());
            return Ok(Undone { paths: Vec::new(), left });
        }
        let (paths, folders) = match change {
            Change::Wrote { path, before, after, folders, .. } => {
                self.unwrite(path, before, after)?;
                (vec![path.clone()], folders.as_slice())
            }
            Change::MadeFolder { path, folders } => {
                let (dir, name) = self.space().parent(path)?;
                dir.remove_dir(name).map_err(|e| match e.kind() {
                    io::ErrorKind::DirectoryNotEmpty => FileError::Changed { path: path.clone() },
                    _ => FileError::io(path, e),
                })?;
                (vec![path.clone()], folders.split_last().map(|(_, outer)| outer).unwrap_or_default())
            }
            Change::Moved { from, to, print, folders } => {
                let (dir, name) = self.space().parent(to)?;
                self.same(&dir, name, to, print.as_ref())?;
                let (old_dir, old_name) = self.space().parent(from)?;
                back(&dir, name, &old_dir, old_name, from)?;
                (vec![from.clone(), to.clone()], folders.as_slice())
            }
            Change::Copied { to, print, folders, .. } => {
                let (dir, name) = self.space().parent(to)?;
                self.same(&dir, name, to, print.as_ref())?;
                // Taken aside first: what is looked at then is what is removed.
                let aside = handle::fresh_name();
                handle::rename_new(&dir, name, &dir, &aside).map_err(|e| FileError::io(to, e))?;
                if let Err(e) = self.same(&dir, &aside, to, print.as_ref()) {
                    back(&dir, &aside, &dir, name, to)?;
                    return Err(e);
                }
                tree::remove(&dir, aside.as_ref());
                (vec![to.clone()], folders.as_slice())
            }
            Change::Trashed { path, print, place } => {
                let gone = |_| FileError::NoUndo { path: path.clone(), why: NoUndo::NotKept };
                let dir = trash::find(place).map_err(gone)?;
                dir.symlink_metadata(&place.name).map_err(gone)?;
                self.same(&dir, &place.name, path, print.as_ref())?;
                let (old_dir, old_name) = self.space().parent(path)?;
                back(&dir, &place.name, &old_dir, old_name, path)?;
                trash::forget(place);
                (vec![path.clone()], [].as_slice())
            }
        };
        let left = left_of(self.space(), folders);
        Ok(Undone { paths, left })
    }

    /// Whether all is as it was before the change: it was written down, and Miki was killed before it was made, or
    /// somebody has taken it back by hand.
    fn is_as_before(&self, change: &Change) -> Result<bool, FileError> {
        let there = |path: &SpacePath| self.look_for(path, |dir, name| handle::entry(dir, name, path));
        let printed = |path: &SpacePath| {
            self.look_for(path, |dir, name| match handle::entry(dir, name, path)? {
                Some(_) => tree::print(dir, name.as_ref(), path, self.stop()),
                None => Ok(None),
            })
        };
        Ok(match change {
            Change::Wrote { path, before, after, .. } => {
                let now = self.look_for(path, |dir, name| match handle::entry(dir, name, path)? {
                    Some(_) => sha256_in(dir, name, path).map(Some),
                    None => Ok(None),
                })?;
                let is_so = match before {
                    Before::Nothing => now.is_none(),
                    Before::Kept { sha256, .. } => now.as_ref() == Some(sha256) && sha256 != after,
                };
                if is_so {
                    self.look_for(path, |dir, _| remove_unfinished(dir, after, path).map(Some))?;
                }
                is_so
            }
            Change::MadeFolder { path, .. } => there(path)?.is_none(),
            Change::Moved { from, to, print, .. } => there(to)?.is_none() && printed(from)? == *print,
            Change::Copied { to, .. } => there(to)?.is_none(),
            Change::Trashed { path, print, place } => {
                let in_trash = trash::find(place).and_then(|dir| dir.symlink_metadata(&place.name)).is_ok();
                !in_trash && printed(path)? == *print
            }
        })
    }

    /// Looks into the folder that `path` is in; `None` if there is no such folder.
    fn look_for<T>(
        &self,
        path: &SpacePath,
        look: impl FnOnce(&Dir, &str) -> Result<Option<T>, FileError>,
    ) -> Result<Option<T>, FileError> {
        match self.space().parent(path) {
            Ok((dir, name)) => look(&dir, name),
            Err(FileError::Missing { .. }) => Ok(None),
            Err(e) => Err(e),
        }
    }

    fn unwrite(&self, path: &SpacePath, before: &Before, after: &str) -> Result<(), FileError> {
        let changed = || FileError::Changed { path: path.clone() };
        let (dir, name) = self.space().parent(path)?;
        let is_ours = |name: &str| -> Result<_, FileError> {
            let (mut file, meta) = handle::open_file(&dir, name, path)?;
            let now = replace::sha256_of(&mut file).map_err(|e| FileError::io(path, e))?;
            if now == after { Ok(meta) } else { Err(changed()) }
        };
        let meta = is_ours(name)?;
        match before {
            Before::Nothing => {
                let aside = handle::fresh_name();
                handle::rename_new(&dir, name, &dir, &aside).map_err(|e| FileError::io(path, e))?;
                if let Err(e) = is_ours(&aside) {
                    back(&dir, &aside, &dir, name, path)?;
                    return Err(e);
                }
                dir.remove_file(&aside).map_err(|e| FileError::io(path, e))
            }
            Before::Kept { name: kept, sha256, mode, modified, .. } => {
                let lost = |source| FileError::Keep { path: path.clone(), source };
                let mut bytes = Vec::new();
                io::Read::read_to_end(&mut self.keep.open(kept).map_err(lost)?, &mut bytes).map_err(lost)?;
                if replace::sha256(&bytes) != *sha256 {
                    return Err(lost(io::Error::new(io::ErrorKind::InvalidData, "what was kept is damaged")));
                }
                let manner = Manner { old: Some(&meta), mode: *mode, modified: *modified };
                replace::put(&dir, name, path, &mut io::Cursor::new(bytes), manner)
            }
        }
    }

    fn same(
        &self,
        dir: &Dir,
        name: &str,
        path: &SpacePath,
        print: Option<&tree::Print>,
    ) -> Result<(), FileError> {
        let now = tree::print(dir, name.as_ref(), path, self.stop())?;
        if now.as_ref() == print && print.is_some() {
            Ok(())
        } else {
            Err(FileError::Changed { path: path.clone() })
        }
    }
}

/// Removes the folders that were made for a change; those that stay, since somebody put something into them.
fn left_of(space: &Space, folders: &[SpacePath]) -> Vec<SpacePath> {
    let gone = unmake(space, folders);
    let is_there = |folder: &SpacePath| !gone.contains(folder) && space.folder(folder).is_ok();
    folders.iter().filter(|folder| is_there(folder)).cloned().collect()
}

fn sha256_in(dir: &Dir, name: &str, path: &SpacePath) -> Result<String, FileError> {
    let (mut file, _) = handle::open_file(dir, name, path)?;
    replace::sha256_of(&mut file).map_err(|e| FileError::io(path, e))
}

/// What a kill left of a file right before it was put in its place: told from another write's by what it holds.
fn remove_unfinished(dir: &Dir, after: &str, path: &SpacePath) -> Result<(), FileError> {
    let io = |e| FileError::io(path, e);
    for entry in dir.entries().map_err(io)? {
        let name = entry.map_err(io)?.file_name();
        let Some(name) = name.to_str().filter(|name| name.starts_with(handle::UNFINISHED)) else { continue };
        if sha256_in(dir, name, path).is_ok_and(|sha256| sha256 == after) {
            dir.remove_file(name).map_err(io)?;
        }
    }
    Ok(())
}

/// Moves an entry to the name it had, which must be free.
fn back(dir: &Dir, name: &str, old: &Dir, old_name: &str, path: &SpacePath) -> Result<(), FileError> {
    handle::rename_new(dir, name, old, old_name).map_err(|e| match e.kind() {
        io::ErrorKind::AlreadyExists => FileError::Exists { path: path.clone() },
        _ => FileError::io(path, e),
    })
}
