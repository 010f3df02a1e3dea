//! Opening: a missing journal is made whole or not at all; an existing one is looked at before anything is written.

use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};
use tempfile::TempPath;

use crate::schema::{self, APPLICATION_ID, MIGRATIONS, Migration};
use crate::{Clock, JournalError, clean, quarantine, rows};
use protocol::ids::Seq;

/// The journal's name in the data folder.
pub const FILE_NAME: &str = "journal.db";

const BUSY_TIMEOUT: Duration = Duration::from_secs(5);

/// Opens or makes the journal at `path`, checked and with the newest schema.
pub(crate) fn open(path: &Path, clock: &dyn Clock) -> Result<Connection, JournalError> {
    open_with(path, clock, MIGRATIONS)
}

fn open_with(path: &Path, clock: &dyn Clock, migrations: &[Migration]) -> Result<Connection, JournalError> {
    let exists = path.try_exists().map_err(|e| JournalError::io(path, e))?;
    if exists || !is_empty(&beside(path, "-wal"))? {
        let mut connection = match examine(path, migrations) {
            Ok(connection) => connection,
            Err(error) => return Err(quarantine::keep(error, path, clock)),
        };
        make_private(path)?;
        clean::take_away(path)?;
        prepare(&connection).map_err(|e| JournalError::sqlite(path, e))?;
        schema::migrate(&mut connection, path, migrations, clock)?;
        return Ok(connection);
    }
    create(path, clock, migrations)?;
    let connection = connect(path)?;
    prepare(&connection).map_err(|e| JournalError::sqlite(path, e))?;
    Ok(connection)
}

/// Makes a journal under another name and gives it its own when it is whole and on disk. So an existing file of
/// 0 bytes is never a beginning of ours, but damage.
fn create(path: &Path, clock: &dyn Clock, migrations: &[Migration]) -> Result<(), JournalError> {
    let new = beside(path, ".new");
    // Left by a start that was killed; nothing in them was ever acknowledged.
    for left in [new.clone(), beside(&new, "-journal")] {
        match fs::remove_file(&left) {
            Err(e) if e.kind() != io::ErrorKind::NotFound => return Err(JournalError::io(&left, e)),
            _ => {}
        }
    }
    let io = |e| JournalError::io(&new, e);
    fs::File::create_new(&new).map_err(io)?;
    let new_path = TempPath::try_from_path(&new).map_err(io)?;
    make_private(&new)?;
    let mut connection = connect(&new)?;
    let sqlite = |e| JournalError::sqlite(&new, e);
    connection.pragma_update(None, "synchronous", "FULL").map_err(sqlite)?;
    schema::migrate(&mut connection, &new, migrations, clock)?;
    connection.close().map_err(|(_, e)| sqlite(e))?;
    fs::File::open(&new).and_then(|file| file.sync_all()).map_err(io)?;
    match new_path.persist_noclobber(path) {
        Err(e) if e.error.kind() != io::ErrorKind::AlreadyExists => {
            return Err(JournalError::io(path, e.error));
        }
        _ => {}
    }
    sync_dir(path.parent().unwrap_or(Path::new(".")))
}

/// Looks at an existing journal without changing a byte of it: nothing is written, and a WAL stays where it is.
fn examine(path: &Path, migrations: &[Migration]) -> Result<Connection, JournalError> {
    let damaged =
        |detail: &str| JournalError::Damaged { path: path.into(), detail: detail.into(), copy: None };
    // SQLite deletes the WAL of a database that is missing or has 0 bytes: it must not get to see such a pair.
    if is_empty(path)? {
        return Err(damaged("it is missing or has 0 bytes"));
    }
    check_wal(path)?;
    let sqlite = |e| JournalError::sqlite(path, e);
    let connection = connect(path)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true).map_err(sqlite)?;
    let application: i64 =
        connection.pragma_query_value(None, "application_id", |row| row.get(0)).map_err(sqlite)?;
    if application != APPLICATION_ID {
        let detail = format!("its application id is {application:#x}");
        return Err(JournalError::NotAJournal { path: path.into(), detail, copy: None });
    }
    let (found, known) = (schema::user_version(&connection).map_err(sqlite)?, schema::newest(migrations));
    if found > known {
        return Err(JournalError::Newer { path: path.into(), found, known, copy: None });
    }
    if found < known || !clean::is_marked(path)? {
        check_whole(&connection, path, found)?;
    }
    if found < known {
        check_events(&connection, path)?;
    }
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, false).map_err(sqlite)?;
    Ok(connection)
}

/// Looks at every page, and for gaps in the events.
fn check_whole(connection: &Connection, path: &Path, found: i64) -> Result<(), JournalError> {
    let damaged = |detail: String| JournalError::Damaged { path: path.into(), detail, copy: None };
    let sqlite = |e| JournalError::sqlite(path, e);
    let verdict: String =
        connection.pragma_query_value(None, "quick_check", |row| row.get(0)).map_err(sqlite)?;
    if verdict != "ok" {
        return Err(damaged(verdict.lines().next().unwrap_or_default().to_owned()));
    }
    // Numbers of events that are gone for good are known, from version 6 on.
    let gaps = if found < 6 { "0" } else { "(SELECT COUNT(*) FROM gaps)" };
    let (count, last): (i64, i64) = connection
        .query_row(&format!("SELECT COUNT(*) + {gaps}, COALESCE(MAX(seq), 0) FROM events"), [], |row| {
            Ok((row.get(0)?, row.get(1)?))
        })
        .map_err(sqlite)?;
    if count != last {
        return Err(damaged(format!("it has {count} events, but the last is number {last}")));
    }
    Ok(())
}

/// Whether each event can be read, before a migration begins to write.
fn check_events(connection: &Connection, path: &Path) -> Result<(), JournalError> {
    let sqlite = |e| JournalError::sqlite(path, e);
    let mut select = connection.prepare("SELECT seq, body FROM events ORDER BY seq").map_err(sqlite)?;
    let mut events = select.query([]).map_err(sqlite)?;
    while let Some(row) = events.next().map_err(sqlite)? {
        let seq = Seq(row.get(0).map_err(sqlite)?);
        let text = row.get_ref(1).and_then(|text| Ok(text.as_str()?)).map_err(sqlite)?;
        if let Err(error) = rows::body(path, seq, text) {
            let detail = error.to_string();
            return Err(JournalError::Damaged { path: path.into(), detail, copy: None });
        }
    }
    Ok(())
}

/// SQLite passes over a WAL that does not begin as one and writes over it: its events would be lost unseen.
/// A header of zeros is a WAL that never was written (power lost at its making).
fn check_wal(path: &Path) -> Result<(), JournalError> {
    let wal = beside(path, "-wal");
    let mut head = Vec::new();
    match fs::File::open(&wal).and_then(|file| file.take(4).read_to_end(&mut head)) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(e) => return Err(JournalError::io(&wal, e)),
        Ok(_) => {}
    }
    match head.as_slice() {
        [] | [0, 0, 0, 0] | [0x37, 0x7f, 0x06, 0x82 | 0x83] => Ok(()),
        _ => Err(JournalError::Damaged {
            path: path.into(),
            detail: format!("{} is not its write-ahead log", wal.display()),
            copy: None,
        }),
    }
}

fn connect(path: &Path) -> Result<Connection, JournalError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags).map_err(|e| JournalError::sqlite(path, e))?;
    connection.busy_timeout(BUSY_TIMEOUT).map_err(|e| JournalError::sqlite(path, e))?;
    Ok(connection)
}

/// Opens a journal that the writer has open.
pub(crate) fn connect_to_read(path: &Path) -> Result<Connection, JournalError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags).map_err(|e| JournalError::sqlite(path, e))?;
    connection.busy_timeout(BUSY_TIMEOUT).map_err(|e| JournalError::sqlite(path, e))?;
    Ok(connection)
}

/// FULL: in WAL mode each commit is synced before it returns, which is what an acknowledged event means.
fn prepare(connection: &Connection) -> rusqlite::Result<()> {
    connection.pragma_update(None, "journal_mode", "WAL")?;
    connection.pragma_update(None, "synchronous", "FULL")?;
    // macOS's fsync leaves data in the drive's cache; elsewhere these are without effect.
    connection.pragma_update(None, "fullfsync", true)?;
    connection.pragma_update(None, "checkpoint_fullfsync", true)?;
    // What is written over is not left in its page, where that takes no further write.
    connection.pragma_update(None, "secure_delete", "FAST")?;
    connection.pragma_update(None, "foreign_keys", true)
}

/// Makes a folder for the user alone. One that exists keeps its mode: it may be shared with more than us.
pub(crate) fn make_private_dir(path: &Path) -> Result<(), JournalError> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path).map_err(|e| JournalError::io(path, e))
}

fn make_private(path: &Path) -> Result<(), JournalError> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        fs::set_permissions(path, fs::Permissions::from_mode(0o600))
            .map_err(|e| JournalError::io(path, e))?;
    }
    #[cfg(not(unix))]
    let _ = path; // a user's data folder is private by its inherited access list
    Ok(())
}

/// Makes renames in a folder durable. Windows has no such call and journals them itself.
pub(crate) fn sync_dir(path: &Path) -> Result<(), JournalError> {
    #[cfg(unix)]
    fs::File::open(path).and_then(|dir| dir.sync_all()).map_err(|e| JournalError::io(path, e))?;
    #[cfg(not(unix))]
    let _ = path;
    Ok(())
}

/// `journal.db` and `-wal` make `journal.db-wal`.
pub(crate) fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

/// Whether there is nothing at `path`, or a file without content.
pub(crate) fn is_empty(path: &Path) -> Result<bool, JournalError> {
    match fs::metadata(path) {
        Ok(meta) => Ok(meta.len() == 0),
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(true),
        Err(e) => Err(JournalError::io(path, e)),
    }
}

#[cfg(test)]
mod tests;
