//! Content-addressed files: pictures and other large results, named by the SHA-256 of their bytes.
//!
//! Written and synced before the event that names them. Never changed; what is read is checked against its name. Removed
//! only by the journal's writer, which knows who names them.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use protocol::ids::BlobRef;
use sha2::{Digest, Sha256};

use crate::JournalError;
use crate::open::{make_private_dir, sync_dir};

/// Begins the name of a blob that is not whole yet.
const UNFINISHED: &str = ".new-";
/// A blob that was written so short a time ago may be about to be named by an event: it is not removed.
const FRESH: Duration = Duration::from_secs(60 * 60);

/// The `blobs/` folder of a data folder.
#[derive(Clone, Debug)]
pub struct Blobs {
    dir: PathBuf,
    /// Held where one is found to be there, and where one goes: what was found is not gone a moment later.
    removing: Arc<Mutex<()>>,
}

impl Blobs {
    /// Opens the folder, making it where it is missing, and clears away blobs whose writing was killed: nothing
    /// names them.
    pub(crate) fn open(dir: &Path) -> Result<Self, JournalError> {
        make_private_dir(dir)?;
        let io = |e| JournalError::io(dir, e);
        for entry in fs::read_dir(dir).map_err(io)? {
            let entry = entry.map_err(io)?;
            if entry.file_name().as_encoded_bytes().starts_with(UNFINISHED.as_bytes()) {
                fs::remove_file(entry.path()).map_err(|e| JournalError::io(&entry.path(), e))?;
            }
        }
        Ok(Self { dir: dir.to_path_buf(), removing: Arc::default() })
    }

    /// Stores `bytes`; when this returns, they are on disk. The same content is stored once.
    pub fn put(&self, bytes: &[u8], media_type: &str) -> Result<BlobRef, JournalError> {
        let sha256 = hex(&Sha256::digest(bytes));
        let path = self.dir.join(&sha256);
        let blob = BlobRef { sha256, media_type: media_type.to_owned(), bytes: bytes.len() as u64 };
        // A file cut short by a failing disk is written again, from the right content.
        if self.is_there(&path, blob.bytes) {
            return Ok(blob);
        }
        let io = |e| JournalError::io(&path, e);
        let mut file = tempfile::Builder::new().prefix(UNFINISHED).tempfile_in(&self.dir).map_err(io)?;
        file.write_all(bytes).and_then(|()| file.as_file().sync_all()).map_err(io)?;
        file.persist(&path).map_err(|e| io(e.error))?;
        sync_dir(&self.dir)?;
        Ok(blob)
    }

    /// Whether it is there, whole. Then it counts as written now.
    fn is_there(&self, path: &Path, bytes: u64) -> bool {
        let _nobody_removes = self.removing.lock().unwrap_or_else(PoisonError::into_inner);
        let touched = |file: fs::File| {
            file.metadata().is_ok_and(|meta| meta.len() == bytes)
                && file.set_modified(SystemTime::now()).is_ok()
        };
        fs::OpenOptions::new().write(true).open(path).is_ok_and(touched)
    }

    /// Removes a blob's file; `false` if it was written so short a time ago that it stays.
    pub(crate) fn remove(&self, sha256: &str) -> Result<bool, JournalError> {
        let path = self.path(sha256).ok_or_else(|| JournalError::BlobName { name: sha256.into() })?;
        let _nobody_finds_it = self.removing.lock().unwrap_or_else(PoisonError::into_inner);
        let io = |e| JournalError::io(&path, e);
        let written = match fs::metadata(&path).and_then(|meta| meta.modified()) {
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(true),
            written => written.map_err(io)?,
        };
        // One of the future was written by a clock that was wrong.
        if SystemTime::now().duration_since(written).is_ok_and(|age| age < FRESH) {
            return Ok(false);
        }
        fs::remove_file(&path).map_err(io)?;
        Ok(true)
    }

    /// The content of a blob, checked against its name.
    pub fn get(&self, sha256: &str) -> Result<Vec<u8>, JournalError> {
        let path = self.path(sha256).ok_or_else(|| JournalError::BlobName { name: sha256.into() })?;
        let bytes = fs::read(&path).map_err(|e| match e.kind() {
            io::ErrorKind::NotFound => JournalError::BlobMissing { sha256: sha256.into() },
            _ => JournalError::io(&path, e),
        })?;
        if hex(&Sha256::digest(&bytes)) == sha256 {
            Ok(bytes)
        } else {
            Err(JournalError::BlobDamaged { path })
        }
    }

    /// Where a blob of this name is or would be; `None` if it is not a blob's name.
    pub fn path(&self, sha256: &str) -> Option<PathBuf> {
        BlobRef::is_name(sha256).then(|| self.dir.join(sha256))
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn blobs() -> (tempfile::TempDir, Blobs) {
        let home = tempfile::tempdir().unwrap();
        let blobs = Blobs::open(&home.path().join("blobs")).unwrap();
        (home, blobs)
    }

    fn names(blobs: &Blobs) -> Vec<String> {
        fs::read_dir(&blobs.dir).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap()).collect()
    }

    #[test]
    fn the_same_content_is_stored_once_under_its_sha256() {
        let (_home, blobs) = blobs();
        let blob = blobs.put(b"abc", "image/jpeg").unwrap();
        assert_eq!(blobs.put(b"abc", "image/jpeg").unwrap(), blob);
        assert_eq!(blob.sha256, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
        assert_eq!((blob.media_type.as_str(), blob.bytes), ("image/jpeg", 3));
        assert_eq!(names(&blobs), std::slice::from_ref(&blob.sha256));
        assert_eq!(blobs.get(&blob.sha256).unwrap(), b"abc");
    }

    #[test]
    fn nothing_but_a_blobs_name_reaches_a_path() {
        let (_home, blobs) = blobs();
        for bad in ["", "..", "../journal.db", "/etc/passwd", &"A".repeat(64)] {
            assert_eq!(blobs.path(bad), None, "{bad}");
            assert!(matches!(blobs.get(bad), Err(JournalError::BlobName { .. })), "{bad}");
        }
    }

    #[test]
    fn a_missing_blob_and_a_changed_one_are_told_apart() {
        let (_home, blobs) = blobs();
        let missing = blobs.get(&"0".repeat(64)).unwrap_err();
        assert!(matches!(missing, JournalError::BlobMissing { .. }), "{missing}");
        let blob = blobs.put(b"abc", "image/jpeg").unwrap();
        fs::write(blobs.path(&blob.sha256).unwrap(), b"abd").unwrap();
        let changed = blobs.get(&blob.sha256).unwrap_err();
        assert!(matches!(changed, JournalError::BlobDamaged { .. }), "{changed}");
    }

    #[test]
    fn a_blob_cut_short_is_mended_by_storing_it_again() {
        let (_home, blobs) = blobs();
        let blob = blobs.put(b"abc", "image/jpeg").unwrap();
        fs::write(blobs.path(&blob.sha256).unwrap(), b"").unwrap();
        blobs.put(b"abc", "image/jpeg").unwrap();
        assert_eq!(blobs.get(&blob.sha256).unwrap(), b"abc");
    }

    #[test]
    fn an_unfinished_blob_is_cleared_away_at_the_next_start() {
        let (home, blobs) = blobs();
        let blob = blobs.put(b"abc", "image/jpeg").unwrap();
        fs::write(blobs.dir.join(".new-x1y2"), b"ab").unwrap();
        let blobs = Blobs::open(&home.path().join("blobs")).unwrap();
        assert_eq!(names(&blobs), [blob.sha256]);
    }
}
