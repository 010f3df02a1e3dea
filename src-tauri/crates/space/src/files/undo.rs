//! A change taken back: only where things still are as the change left them.

use std::io;

use cap_std::fs::Dir;

use super::change::{Before, Change, Changes, unmake};
use super::error::{FileError, NoUndo};
use super::path::SpacePath;
use super::replace::{self, Manner};
use super::{handle, trash, tree};

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
        let gone = unmake(self.space(), folders);
        let left = folders.iter().filter(|folder| !gone.contains(folder)).cloned().collect();
        Ok(Undone { paths, left })
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
            Before::Lost { .. } => Err(FileError::NoUndo { path: path.clone(), why: NoUndo::NotKept }),
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

/// Moves an entry to the name it had, which must be free.
fn back(dir: &Dir, name: &str, old: &Dir, old_name: &str, path: &SpacePath) -> Result<(), FileError> {
    handle::rename_new(dir, name, old, old_name).map_err(|e| match e.kind() {
        io::ErrorKind::AlreadyExists => FileError::Exists { path: path.clone() },
        _ => FileError::io(path, e),
    })
}
