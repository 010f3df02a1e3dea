//! A copy of what could not be read, made once: `journal.db.quarantine-<time>` and its `-wal`.
//!
//! The original stays where it is. The same damage at the next start finds its copy and makes no other.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use crate::open::{beside, is_empty, make_private_dir, sync_dir};
use crate::{Clock, JournalError};

/// Adds a copy to an error that says the journal cannot be read; gives every other error back as it is.
pub(crate) fn keep(mut error: JournalError, path: &Path, clock: &dyn Clock) -> JournalError {
    if let JournalError::Damaged { copy, .. }
    | JournalError::NotAJournal { copy, .. }
    | JournalError::Newer { copy, .. } = &mut error
    {
        match find_or_copy(path, clock) {
            Ok(kept) => *copy = Some(kept),
            // The reason to stop is the damage; the original is untouched all the same.
            Err(failure) => tracing::error!(%failure, "no quarantined copy"),
        }
    }
    error
}

fn find_or_copy(path: &Path, clock: &dyn Clock) -> Result<PathBuf, JournalError> {
    let (database, wal) = (digest(path)?, digest(&beside(path, "-wal"))?);
    for kept in copies(path)? {
        if digest(&kept)? == database && digest(&beside(&kept, "-wal"))? == wal {
            return Ok(kept);
        }
    }
    let mut kept = beside(path, &format!(".quarantine-{}", clock.now().0));
    // Clocks repeat; a copy never overwrites another.
    for number in 1.. {
        if !exists(&kept)? && !exists(&beside(&kept, "-wal"))? {
            break;
        }
        kept = beside(path, &format!(".quarantine-{}-{number}", clock.now().0));
    }
    // The database last: where it is, its WAL is too.
    copy(&beside(path, "-wal"), &beside(&kept, "-wal"))?;
    copy(path, &kept)?;
    Ok(kept)
}

fn exists(path: &Path) -> Result<bool, JournalError> {
    path.try_exists().map_err(|e| JournalError::io(path, e))
}

/// The copies beside `path`, by the names of their databases: where that was missing there is only a WAL.
fn copies(path: &Path) -> Result<BTreeSet<PathBuf>, JournalError> {
    let dir = path.parent().unwrap_or(Path::new("."));
    make_private_dir(dir)?;
    let mut prefix: OsString = path.file_name().unwrap_or_default().to_owned();
    prefix.push(".quarantine-");
    let io = |e| JournalError::io(dir, e);
    let mut found = BTreeSet::new();
    for entry in fs::read_dir(dir).map_err(io)? {
        let name = entry.map_err(io)?.file_name();
        if !name.as_encoded_bytes().starts_with(prefix.as_encoded_bytes()) {
            continue;
        }
        // Our own names are ASCII; another's that is not UTF-8 is no copy of ours.
        if let Some(name) = name.to_str() {
            found.insert(dir.join(name.strip_suffix("-wal").unwrap_or(name)));
        }
    }
    Ok(found)
}

/// `None` for a missing or empty file: a WAL without content says the same as none.
fn digest(path: &Path) -> Result<Option<[u8; 32]>, JournalError> {
    if is_empty(path)? {
        return Ok(None);
    }
    let io = |e| JournalError::io(path, e);
    let (mut file, mut hash) = (fs::File::open(path).map_err(io)?, Sha256::new());
    let mut buffer = vec![0; 64 * 1024];
    loop {
        match file.read(&mut buffer) {
            Ok(0) => return Ok(Some(hash.finalize().into())),
            Ok(count) => hash.update(&buffer[..count]),
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            Err(e) => return Err(io(e)),
        }
    }
}

/// Copies through a temporary name, so that a killed copy is not taken for a whole one.
fn copy(from: &Path, to: &Path) -> Result<(), JournalError> {
    if !exists(from)? || (is_empty(from)? && to.as_os_str().as_encoded_bytes().ends_with(b"-wal")) {
        return Ok(());
    }
    let dir = to.parent().unwrap_or(Path::new("."));
    let io = |e| JournalError::io(to, e);
    let mut temporary = tempfile::NamedTempFile::new_in(dir).map_err(io)?;
    io::copy(&mut fs::File::open(from).map_err(|e| JournalError::io(from, e))?, temporary.as_file_mut())
        .map_err(io)?;
    temporary.as_file().sync_all().map_err(io)?;
    temporary.persist_noclobber(to).map_err(|e| io(e.error))?;
    sync_dir(dir)
}
