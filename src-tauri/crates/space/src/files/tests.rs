//! A real folder each, a keep in memory, and what the Space makes of them.

mod bounds;
mod changes;
mod confined;
mod documents;
mod finding;
mod racing;
mod reading;
mod undoing;
mod whole;

use std::cell::RefCell;
use std::collections::HashMap;
use std::io::{self, Cursor, Read};
use std::path::{Path, PathBuf};

use super::{Change, Changes, Keep, Places, Space, SpacePath};

/// A home with a Space in it, beside a folder that nobody may touch.
struct Stage {
    dir: tempfile::TempDir,
    space: Space,
    keep: InMemory,
}

/// The text outside of the Space. No read may give it, no change may take it.
const SECRET: &str = "outside: nobody reads this";

impl Stage {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        for folder in ["home/mia", "outside", "data", "home/.local/share/Trash"] {
            std::fs::create_dir_all(dir.path().join(folder)).unwrap();
        }
        std::fs::write(dir.path().join("outside/secret.txt"), SECRET).unwrap();
        let space = Space::open(&dir.path().join("home/mia"), &places(dir.path())).unwrap();
        Self { dir, space, keep: InMemory::default() }
    }

    fn at(&self, path: &str) -> PathBuf {
        self.dir.path().join("home/mia").join(path)
    }

    fn outside(&self, path: &str) -> PathBuf {
        self.dir.path().join("outside").join(path)
    }

    fn path(&self, path: &str) -> SpacePath {
        self.space.path(path).unwrap()
    }

    fn write(&self, path: &str, text: impl AsRef<[u8]>) {
        let at = self.at(path);
        std::fs::create_dir_all(at.parent().unwrap()).unwrap();
        std::fs::write(at, text).unwrap();
    }

    fn text(&self, path: &str) -> String {
        std::fs::read_to_string(self.at(path)).unwrap()
    }

    fn changes(&self) -> Changes<'_> {
        self.space.changes(&self.keep, &go_on)
    }

    /// Everything in the Space: paths, kinds, permissions and contents.
    fn picture(&self) -> Vec<String> {
        picture(&self.at(""))
    }

    /// What stands outside is as it was.
    fn assert_nothing_outside_changed(&self) {
        let names: Vec<_> =
            std::fs::read_dir(self.outside("")).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(names, ["secret.txt"]);
        assert_eq!(std::fs::read_to_string(self.outside("secret.txt")).unwrap(), SECRET);
    }
}

fn places(base: &Path) -> Places {
    Places { home: base.join("home"), data: base.join("data"), trash: base.join("home/.local/share/Trash") }
}

fn go_on() -> bool {
    false
}

fn picture(root: &Path) -> Vec<String> {
    use std::os::unix::fs::MetadataExt;
    let mut found = Vec::new();
    let mut left = vec![root.to_path_buf()];
    while let Some(folder) = left.pop() {
        for entry in std::fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            let meta = std::fs::symlink_metadata(&path).unwrap();
            let content =
                if meta.is_file() { format!("{:?}", std::fs::read(&path).unwrap()) } else { String::new() };
            let modified = if meta.is_file() { meta.mtime_nsec() } else { 0 };
            found.push(format!("{path:?} {:o} {modified} {content}", meta.mode()));
            if meta.is_dir() {
                left.push(path);
            }
        }
    }
    found.sort();
    found
}

/// Keeps bytes under their number.
#[derive(Default)]
struct InMemory {
    kept: RefCell<HashMap<String, Vec<u8>>>,
    refuses: std::cell::Cell<bool>,
    intended: RefCell<Vec<Change>>,
    dies_after_intent: std::cell::Cell<bool>,
}

impl Keep for InMemory {
    fn keep(&self, bytes: &mut dyn Read) -> io::Result<String> {
        if self.refuses.get() {
            return Err(io::ErrorKind::StorageFull.into());
        }
        let mut all = Vec::new();
        bytes.read_to_end(&mut all)?;
        let name = self.kept.borrow().len().to_string();
        self.kept.borrow_mut().insert(name.clone(), all);
        Ok(name)
    }

    fn open(&self, name: &str) -> io::Result<Box<dyn Read>> {
        let bytes = self.kept.borrow().get(name).cloned();
        Ok(Box::new(Cursor::new(bytes.ok_or(io::ErrorKind::NotFound)?)))
    }

    fn intend(&self, change: &Change) -> io::Result<()> {
        self.intended.borrow_mut().push(change.clone());
        if self.dies_after_intent.get() { Err(io::ErrorKind::Interrupted.into()) } else { Ok(()) }
    }
}
