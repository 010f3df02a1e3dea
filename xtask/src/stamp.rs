//! A stamp says from what a thing was made: the same content again means that there is nothing to do.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use sha2::{Digest, Sha256};

/// A digest under construction.
#[derive(Default)]
pub struct Stamp(Sha256);

impl Stamp {
    pub fn text(mut self, text: &str) -> Self {
        self.0.update((text.len() as u64).to_le_bytes());
        self.0.update(text);
        self
    }

    /// A file's content, or all files below a folder, in order of name. Named from `root` on, so that the same content
    /// in another checkout gives the same stamp.
    pub fn path(mut self, root: &Path, path: &Path) -> Result<Self> {
        for file in files_below(path)? {
            let content =
                std::fs::read(&file).with_context(|| format!("could not read {}", file.display()))?;
            self = self.text(&file.strip_prefix(root).unwrap_or(&file).to_string_lossy());
            self.0.update((content.len() as u64).to_le_bytes());
            self.0.update(&content);
        }
        Ok(self)
    }

    pub fn finish(self) -> String {
        self.0.finalize().iter().fold(String::new(), |mut hex, byte| {
            let _ = write!(hex, "{byte:02x}");
            hex
        })
    }
}

/// Whether `file` holds this stamp.
pub fn holds(file: &Path, stamp: &str) -> bool {
    std::fs::read_to_string(file).is_ok_and(|held| held == stamp)
}

/// Writes the stamp, last of all steps, so that an interrupted one is done again.
pub fn leave(file: &Path, stamp: &str) -> Result<()> {
    if let Some(folder) = file.parent() {
        std::fs::create_dir_all(folder)?;
    }
    std::fs::write(file, stamp).with_context(|| format!("could not write {}", file.display()))
}

/// The file itself, or every file below the folder, sorted; none if the path is not there.
pub fn files_below(path: &Path) -> Result<Vec<PathBuf>> {
    if path.is_file() {
        return Ok(vec![path.to_path_buf()]);
    }
    let mut files = Vec::new();
    if path.is_dir() {
        for entry in std::fs::read_dir(path).with_context(|| format!("could not list {}", path.display()))? {
            files.extend(files_below(&entry?.path())?);
        }
    }
    files.sort();
    Ok(files)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_changed_file_changes_the_stamp_and_another_checkout_does_not() {
        let folder = std::env::temp_dir().join(format!("miki-stamp-{}", std::process::id()));
        std::fs::create_dir_all(folder.join("below")).unwrap();
        std::fs::write(folder.join("below/a"), "1").unwrap();
        let stamp = || Stamp::default().path(&folder, &folder).unwrap().finish();
        let first = stamp();
        assert_eq!(first, stamp());
        std::fs::write(folder.join("below/a"), "2").unwrap();
        let second = stamp();
        assert_ne!(first, second);
        let elsewhere = folder.with_extension("elsewhere");
        std::fs::rename(&folder, &elsewhere).unwrap();
        let third = Stamp::default().path(&elsewhere, &elsewhere).unwrap().finish();
        std::fs::remove_dir_all(&elsewhere).unwrap();
        assert_eq!(second, third);
    }

    #[test]
    fn a_stamp_holds_only_where_it_was_left() {
        let file = std::env::temp_dir().join(format!("miki-stamp-left-{}", std::process::id()));
        assert!(!holds(&file, "x"));
        leave(&file, "x").unwrap();
        assert!(holds(&file, "x") && !holds(&file, "y"));
        std::fs::remove_file(&file).unwrap();
    }
}
