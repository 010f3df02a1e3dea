//! Files of a Space: read, search, change and undo, by directory handles.
//!
//! The folder is opened once; from then on every name is looked up in a handle, one by one, and symbolic links are
//! never followed. No path is checked first and opened afterwards, so nothing that happens in between leads out.
//! Everything is synchronous, bounded in memory, and stops when its `stop` says so. Who may do what is asked above:
//! [`protected`] says what must always be asked. Nothing here reads the environment.

mod change;
mod diff;
mod document;
mod edit;
mod error;
mod handle;
mod kind;
mod list;
mod path;
mod places;
mod protect;
mod read;
mod replace;
mod search;
mod trash;
mod tree;
mod undo;
mod walk;

#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use cap_std::fs::Dir;

pub use change::{Before, Change, Changes, Content, Keep, MAX_KEPT, WriteMode};
pub use diff::Diff;
pub use document::DocumentKind;
pub use edit::{Edit, EditError, Near};
pub use error::{FileError, NoSpace, NoUndo};
pub use kind::Kind;
pub use list::{Entry, Listing};
pub use path::{Names, PathError, SpacePath};
pub use places::Places;
pub(crate) use protect::may_be_public;
pub use protect::{Why, holds_secret, protected};
pub use read::{Encoding, PictureKind, Range, Reading, Text};
pub use search::{Case, FileMatches, Found, Glob, Line, Query};
pub use trash::InTrash;
pub use tree::Print;
pub use undo::Undone;
pub use walk::Skipped;

/// Asked now and then by everything that can be long; `true` ends it with [`FileError::Stopped`].
pub type Stop<'a> = &'a dyn Fn() -> bool;

/// A folder that a session's files and commands are confined to. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Space {
    inner: Arc<Inner>,
    hard_links: HardLinks,
}

#[derive(Debug)]
struct Inner {
    dir: Dir,
    root: PathBuf,
    /// The root as it was written, where that differs: what people and models call it.
    written: PathBuf,
    trash: PathBuf,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum HardLinks {
    Refused,
    Allowed,
}

impl Space {
    /// Opens a folder as a Space. Refuses what must not be one; `places` says where home, data and trash are.
    pub fn open(root: &Path, places: &Places) -> Result<Self, FileError> {
        let (dir, real) = places::open(root, places)?;
        let inner = Inner { dir, root: real, written: root.to_path_buf(), trash: places.trash.clone() };
        Ok(Self { inner: Arc::new(inner), hard_links: HardLinks::Refused })
    }

    /// Where it is, without symbolic links. For people and for the terminal; never opened again by this module.
    pub fn root(&self) -> &Path {
        &self.inner.root
    }

    /// Parses a path as a model or a user wrote it: relative to the Space, or absolute within it.
    pub fn path(&self, text: &str) -> Result<SpacePath, PathError> {
        match SpacePath::parse(text, &self.inner.root, Names::HERE) {
            Err(PathError::Outside { .. }) => SpacePath::parse(text, &self.inner.written, Names::HERE),
            other => other,
        }
    }

    /// The same Space, for one call that the user allowed after [`FileError::HardLinked`].
    #[must_use]
    pub fn with_hard_links(&self) -> Self {
        Self { inner: self.inner.clone(), hard_links: HardLinks::Allowed }
    }

    /// What stands at `path`: kind, size, time. Opens nothing.
    pub fn look(&self, path: &SpacePath) -> Result<Entry, FileError> {
        list::look(self, path)
    }
}
