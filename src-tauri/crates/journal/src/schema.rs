//! The database's shape and how it came about: one migration a version, each whole or not at all.

use rusqlite::{Connection, TransactionBehavior, params};

use crate::Clock;

/// In the file's header: "Miki" in ASCII. Tells our journal from any other SQLite file.
pub(crate) const APPLICATION_ID: i64 = 0x4d69_6b69;

/// One step of the schema, from `version - 1` to `version`.
pub(crate) struct Migration {
    pub version: i64,
    pub name: &'static str,
    pub apply: fn(&Connection) -> rusqlite::Result<()>,
}

/// Append only; a released migration never changes.
pub(crate) const MIGRATIONS: &[Migration] =
    &[Migration { version: 1, name: "events and sessions", apply: events_and_sessions }];

/// The newest schema of a list of migrations.
pub(crate) fn newest(migrations: &[Migration]) -> i64 {
    migrations.last().map_or(0, |migration| migration.version)
}

/// Brings the database to the newest schema. Killed or failed in between, it is at the version before, whole.
pub(crate) fn migrate(
    connection: &mut Connection,
    migrations: &[Migration],
    clock: &dyn Clock,
) -> rusqlite::Result<()> {
    let version = user_version(connection)?;
    for migration in migrations.iter().filter(|migration| migration.version > version) {
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        transaction.execute_batch(
            "CREATE TABLE IF NOT EXISTS migrations \
             (version INTEGER PRIMARY KEY, name TEXT NOT NULL, time INTEGER NOT NULL) STRICT",
        )?;
        (migration.apply)(&transaction)?;
        transaction.execute(
            "INSERT INTO migrations (version, name, time) VALUES (?1, ?2, ?3)",
            params![migration.version, migration.name, clock.now().0],
        )?;
        // Both live in the header page and are part of the transaction.
        transaction.pragma_update(None, "application_id", APPLICATION_ID)?;
        transaction.pragma_update(None, "user_version", migration.version)?;
        transaction.commit()?;
        tracing::info!(version = migration.version, name = migration.name, "journal migrated");
    }
    Ok(())
}

pub(crate) fn user_version(connection: &Connection) -> rusqlite::Result<i64> {
    connection.pragma_query_value(None, "user_version", |row| row.get(0))
}

/// `events` is the truth; `sessions` is its fold, kept in the same transaction so that a list needs no replay.
fn events_and_sessions(connection: &Connection) -> rusqlite::Result<()> {
    connection.execute_batch(
        "CREATE TABLE events (
             seq INTEGER PRIMARY KEY,
             time INTEGER NOT NULL,
             session TEXT,
             run TEXT,
             agent TEXT,
             type TEXT NOT NULL,
             body TEXT NOT NULL
         ) STRICT;
         CREATE INDEX events_session ON events (session, seq) WHERE session IS NOT NULL;
         CREATE INDEX events_run ON events (run, seq) WHERE run IS NOT NULL;
         CREATE INDEX events_run_edges ON events (type, run) WHERE type IN ('runStarted', 'runEnded');
         CREATE TABLE sessions (
             id TEXT PRIMARY KEY,
             last_seq INTEGER NOT NULL REFERENCES events (seq),
             view TEXT NOT NULL
         ) STRICT;
         CREATE INDEX sessions_last ON sessions (last_seq);",
    )
}
