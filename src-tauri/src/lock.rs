//! The data folder's lock: who holds it is the engine. The system lets go of it when the process ends, however it ends.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read, Seek, Write};

use protocol::{ErrorCode, ErrorView};

use crate::home::Home;

/// Held for as long as it lives.
#[derive(Debug)]
pub struct HomeLock {
    _file: File,
}

/// What came of trying.
#[derive(Debug)]
pub enum Try {
    Taken(HomeLock),
    /// Another process has it; its process id where it can be read.
    Elsewhere {
        pid: Option<u32>,
    },
}

impl HomeLock {
    /// Takes the lock or says who has it; never waits.
    ///
    /// # Errors
    /// [`ErrorCode::Storage`] where the file cannot be opened or the file system knows no locks.
    pub fn try_take(home: &Home) -> Result<Try, ErrorView> {
        let path = home.lock();
        let fail = |error: std::io::Error| {
            ErrorView::new(
                ErrorCode::Storage,
                format!("lock file {} cannot be taken: {error}", path.display()),
            )
            .with_hint(hint(error.kind()))
        };
        let mut file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(&path)
            .map_err(fail)?;
        match file.try_lock() {
            Ok(()) => {
                // For people and messages only; the lock is what counts.
                file.set_len(0).map_err(fail)?;
                file.rewind().map_err(fail)?;
                writeln!(file, "{}", std::process::id()).map_err(fail)?;
                Ok(Try::Taken(Self { _file: file }))
            }
            Err(TryLockError::WouldBlock) => {
                let mut text = String::new();
                // Windows refuses to read what another process has locked: then the id stays unknown.
                let pid = file.read_to_string(&mut text).ok().and_then(|_| text.trim().parse().ok());
                Ok(Try::Elsewhere { pid })
            }
            Err(TryLockError::Error(error)) => Err(fail(error)),
        }
    }
}

fn hint(kind: std::io::ErrorKind) -> &'static str {
    match kind {
        std::io::ErrorKind::StorageFull | std::io::ErrorKind::QuotaExceeded => {
            "free some disk space, then start miki again"
        }
        _ => "set MIKI_HOME to a folder on a local disk that you may write to",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_disk_asks_for_space_and_not_for_another_folder() {
        assert!(hint(std::io::ErrorKind::StorageFull).contains("free some disk space"));
        assert!(hint(std::io::ErrorKind::PermissionDenied).contains("MIKI_HOME"));
    }

    #[test]
    fn a_folder_has_one_engine_and_the_next_may_follow() {
        // bar: C72
        let folder = tempfile::tempdir().unwrap();
        let home = Home::at(folder.path()).unwrap();
        let Try::Taken(first) = HomeLock::try_take(&home).unwrap() else { panic!("free lock not taken") };
        match HomeLock::try_take(&home).unwrap() {
            Try::Taken(_) => panic!("taken twice"),
            Try::Elsewhere { pid } => assert!(pid.is_none_or(|pid| pid == std::process::id())),
        }
        drop(first);
        assert!(matches!(HomeLock::try_take(&home).unwrap(), Try::Taken(_)));
    }

    #[test]
    fn a_lock_file_left_behind_holds_nobody_up() {
        let folder = tempfile::tempdir().unwrap();
        let home = Home::at(folder.path()).unwrap();
        std::fs::write(home.lock(), "4242424242\n").unwrap();
        assert!(matches!(HomeLock::try_take(&home).unwrap(), Try::Taken(_)));
    }
}
