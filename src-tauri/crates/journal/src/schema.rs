//! The database's shape and how it came about: one migration a version, each whole or not at all.

use std::path::Path;

use protocol::event::Scope;
use protocol::ids::{AgentId, RunId, Seq, SessionId, Timestamp};
use rusqlite::{Connection, TransactionBehavior, params};

use crate::rows::{self, Encoded, NewEvent};
use crate::{Clock, JournalError, projection};

/// In the file's header: "Miki" in ASCII. Tells our journal from any other SQLite file.
pub(crate) const APPLICATION_ID: i64 = 0x4d69_6b69;

/// One step of the schema, from `version - 1` to `version`.
pub(crate) struct Migration {
    pub version: i64,
    pub name: &'static str,
    pub apply: fn(&Connection, &Path) -> Result<(), JournalError>,
}

/// Append only; what a released migration makes never changes.
pub(crate) const MIGRATIONS: &[Migration] = &[
    Migration { version: 1, name: "events and sessions", apply: events_and_sessions },
    Migration { version: 2, name: "streams, runs and approvals", apply: streams_runs_and_approvals },
    // Events that earlier versions cannot read.
    Migration { version: 3, name: "plans", apply: |_, _| Ok(()) },
    Migration { version: 4, name: "a yes for a run, a day or for ever", apply: |_, _| Ok(()) },
    Migration { version: 5, name: "a yes taken back", apply: |_, _| Ok(()) },
    Migration { version: 6, name: "files, commands, calendars, and changes that can be taken back", apply: |_, _| Ok(()) },
];

/// The newest schema of a list of migrations.
pub(crate) fn newest(migrations: &[Migration]) -> i64 {
    migrations.last().map_or(0, |migration| migration.version)
}

/// Brings the database to the newest schema. Killed or failed in between, it is at the version before, whole.
pub(crate) fn migrate(
    connection: &mut Connection,
    path: &Path,
    migrations: &[Migration],
    clock: &dyn Clock,
) -> Result<(), JournalError> {
    let sqlite = |e| JournalError::sqlite(path, e);
    let version = user_version(connection).map_err(sqlite)?;
    for migration in migrations.iter().filter(|migration| migration.version > version) {
        let transaction =
            connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(sqlite)?;
        transaction
            .execute_batch(
                "CREATE TABLE IF NOT EXISTS migrations \
                 (version INTEGER PRIMARY KEY, name TEXT NOT NULL, time INTEGER NOT NULL) STRICT",
            )
            .map_err(sqlite)?;
        (migration.apply)(&transaction, path)?;
        write_down(&transaction, migration, clock.now()).map_err(sqlite)?;
        transaction.commit().map_err(sqlite)?;
        tracing::info!(version = migration.version, name = migration.name, "journal migrated");
    }
    Ok(())
}

fn write_down(connection: &Connection, migration: &Migration, time: Timestamp) -> rusqlite::Result<()> {
    connection.execute(
        "INSERT INTO migrations (version, name, time) VALUES (?1, ?2, ?3)",
        params![migration.version, migration.name, time.0],
    )?;
    // Both live in the header page and are part of the transaction.
    connection.pragma_update(None, "application_id", APPLICATION_ID)?;
    connection.pragma_update(None, "user_version", migration.version)
}

pub(crate) fn user_version(connection: &Connection) -> rusqlite::Result<i64> {
    connection.pragma_query_value(None, "user_version", |row| row.get(0))
}

/// `events` is the truth; `sessions` is its fold, kept in the same transaction so that a list needs no replay.
fn events_and_sessions(connection: &Connection, path: &Path) -> Result<(), JournalError> {
    let made = connection.execute_batch(
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
    );
    made.map_err(|e| JournalError::sqlite(path, e))
}

/// Each event has its number in its stream; runs and approvals are kept as sessions are. What a run or a question is
/// stands in its event alone; the tables say where that is, and which event ended it.
///
/// The events are written again as if they came now, so that all that follows from them is made by the same code. A
/// later version that changes that code does this itself, and leaves only the tables to this one.
fn streams_runs_and_approvals(connection: &Connection, path: &Path) -> Result<(), JournalError> {
    let sqlite = |e| JournalError::sqlite(path, e);
    connection
        .execute_batch(
            "DROP TABLE sessions;
             DROP INDEX events_session;
             DROP INDEX events_run;
             DROP INDEX events_run_edges;
             ALTER TABLE events RENAME TO events_1;
             CREATE TABLE streams (
                 id TEXT PRIMARY KEY,
                 last INTEGER NOT NULL
             ) STRICT;
             CREATE TABLE events (
                 seq INTEGER PRIMARY KEY,
                 stream TEXT NOT NULL,
                 n INTEGER NOT NULL,
                 time INTEGER NOT NULL,
                 session TEXT,
                 run TEXT,
                 agent TEXT,
                 type TEXT NOT NULL,
                 body TEXT NOT NULL
             ) STRICT;
             CREATE UNIQUE INDEX events_stream ON events (stream, n);
             CREATE INDEX events_run ON events (run, seq) WHERE run IS NOT NULL;
             CREATE TABLE sessions (
                 id TEXT PRIMARY KEY,
                 last_seq INTEGER NOT NULL REFERENCES events (seq),
                 view TEXT NOT NULL
             ) STRICT;
             CREATE INDEX sessions_last ON sessions (last_seq);
             CREATE TABLE runs (
                 id TEXT PRIMARY KEY,
                 started INTEGER NOT NULL REFERENCES events (seq),
                 ended INTEGER REFERENCES events (seq)
             ) STRICT;
             CREATE INDEX runs_open ON runs (started) WHERE ended IS NULL;
             CREATE TABLE approvals (
                 id TEXT PRIMARY KEY,
                 run TEXT,
                 asked INTEGER NOT NULL REFERENCES events (seq),
                 closed INTEGER REFERENCES events (seq)
             ) STRICT;
             CREATE INDEX approvals_open ON approvals (asked) WHERE closed IS NULL;",
        )
        .map_err(sqlite)?;
    let mut select = connection
        .prepare("SELECT seq, time, session, run, agent, type, body FROM events_1 ORDER BY seq")
        .map_err(sqlite)?;
    let mut old = select.query([]).map_err(sqlite)?;
    while let Some(row) = old.next().map_err(sqlite)? {
        let columns = || {
            let scope = Scope {
                session: row.get::<_, Option<String>>(2)?.map(SessionId),
                run: row.get::<_, Option<String>>(3)?.map(RunId),
                agent: row.get::<_, Option<String>>(4)?.map(AgentId),
            };
            let encoded = Encoded { kind: row.get(5)?, text: row.get(6)? };
            Ok((Seq(row.get(0)?), Timestamp(row.get(1)?), scope, encoded))
        };
        let (seq, time, scope, encoded) = columns().map_err(sqlite)?;
        let body = rows::body(path, seq, &encoded.text)?;
        let event = rows::insert(connection, path, NewEvent { seq, time, scope, body }, &encoded)?;
        projection::project(connection, path, event)?;
    }
    drop(old);
    drop(select);
    connection.execute_batch("DROP TABLE events_1").map_err(sqlite)
}
