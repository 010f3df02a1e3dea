//! Writing a file so that a crash leaves the old bytes or the new ones, never part of them.

use std::fs::{File, Metadata};
use std::io::{self, Write};
use std::path::Path;

/// Replaces `path` by `bytes`: a private file beside it, synced, renamed over it, and the folder synced.
///
/// # Errors
/// As the file system has it; `path` is as before then.
pub fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    put(path, bytes, |_| Ok(()))
}

/// The same for a file of the user's own, which keeps its mode and its owner.
///
/// # Errors
/// As [`replace`]; also where mode and owner cannot be given to the new one.
pub fn rewrite(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let old = std::fs::metadata(path)?;
    put(path, bytes, |new| {
        keep_owner(new, &old)?;
        new.set_permissions(old.permissions())
    })
}

fn put(path: &Path, bytes: &[u8], dress: impl FnOnce(&File) -> io::Result<()>) -> io::Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut file = tempfile::Builder::new().prefix(".miki-").tempfile_in(folder)?;
    file.write_all(bytes)?;
    dress(file.as_file())?;
    file.as_file().sync_all()?;
    file.persist(path)?;
    sync_folder(folder)
}

#[cfg(unix)]
fn keep_owner(new: &File, old: &Metadata) -> io::Result<()> {
    use std::os::unix::fs::MetadataExt;

    let now = new.metadata()?;
    if (now.uid(), now.gid()) == (old.uid(), old.gid()) {
        return Ok(());
    }
    std::os::unix::fs::fchown(new, Some(old.uid()), Some(old.gid()))
}

/// The folder's access list, which the old file had too, holds for the new one.
#[cfg(not(unix))]
fn keep_owner(_new: &File, _old: &Metadata) -> io::Result<()> {
    Ok(())
}

/// Without this the rename itself may be lost in a power cut.
#[cfg(unix)]
fn sync_folder(folder: &Path) -> io::Result<()> {
    std::fs::File::open(folder)?.sync_all()
}

/// A folder cannot be opened to be synced here; the file system journals the rename.
#[cfg(not(unix))]
fn sync_folder(_folder: &Path) -> io::Result<()> {
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_new_bytes_are_there_whole_and_nothing_else_is_left() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.json");
        std::fs::write(&path, "a long old text").unwrap();
        replace(&path, b"new").unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"new");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_write_that_fails_leaves_the_old_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("taken");
        std::fs::create_dir(&path).unwrap();
        std::fs::write(path.join("inside"), "kept").unwrap();
        replace(&path, b"new").unwrap_err();
        assert_eq!(std::fs::read(path.join("inside")).unwrap(), b"kept");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[cfg(unix)]
    #[test]
    fn a_rewritten_file_keeps_its_mode_and_its_owner() {
        use std::os::unix::fs::{MetadataExt, PermissionsExt};

        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(".env");
        std::fs::write(&path, "old").unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o640)).unwrap();
        // Giving a file away takes root; without it, the owner is the same by itself.
        let given = std::os::unix::fs::chown(&path, Some(12_345), Some(12_345)).is_ok();
        let before = std::fs::metadata(&path).unwrap();
        rewrite(&path, b"new").unwrap();
        let after = std::fs::metadata(&path).unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"new");
        assert_eq!((after.mode(), after.uid(), after.gid()), (before.mode(), before.uid(), before.gid()));
        assert_eq!(given, after.uid() == 12_345);
    }
}
