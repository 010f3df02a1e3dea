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
    Migration { version: 6, name: "search, shelves and blobs", apply: search_shelves_and_blobs },
    Migration {
        version: 7,
        name: "files, commands, calendars, and changes that can be taken back",
        apply: |_, _| Ok(()),
    },
    Migration {
        version: 8,
        name: "changes before they are made, and what is kept for them",
        apply: kept_files,
    },
    Migration { version: 9, name: "budgets, and what runs took", apply: budgets },
    Migration { version: 10, name: "what a model is told of what is left out", apply: |_, _| Ok(()) },
    Migration { version: 11, name: "what runs took so far", apply: sums_of_runs },
    Migration { version: 12, name: "agents that other agents started", apply: parents_of_runs },
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
/// The events are written again as if they came now. What follows from them is made by version 11, which has other
/// tables for it; a later version that changes that code does this itself, and leaves only the tables to that one.
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
        rows::insert(connection, path, NewEvent { seq, time, scope, body }, &encoded)?;
    }
    drop(old);
    drop(select);
    connection.execute_batch("DROP TABLE events_1").map_err(sqlite)
}

/// Sessions have a shelf, their texts are found, and who names which blob is known. All that follows from the events is
/// made anew from them, by version 11. No table but `streams` points at an event by a key of SQLite's: events of a purged
/// session go, and SQLite would look through each table for each of them. `gaps` has their numbers.
fn search_shelves_and_blobs(connection: &Connection, path: &Path) -> Result<(), JournalError> {
    let sqlite = |e| JournalError::sqlite(path, e);
    connection
        .execute_batch(
            "DROP TABLE sessions;
             DROP TABLE runs;
             DROP TABLE approvals;
             CREATE TABLE gaps (seq INTEGER PRIMARY KEY) STRICT;
             CREATE TABLE sessions (
                 id TEXT PRIMARY KEY,
                 last_seq INTEGER NOT NULL,
                 active_seq INTEGER NOT NULL,
                 pinned INTEGER NOT NULL,
                 archived INTEGER NOT NULL,
                 deleted INTEGER,
                 view TEXT NOT NULL
             ) STRICT;
             CREATE INDEX sessions_last ON sessions (last_seq);
             CREATE INDEX sessions_active ON sessions (active_seq);
             CREATE INDEX sessions_deleted ON sessions (deleted) WHERE deleted IS NOT NULL;
             CREATE TABLE runs (
                 id TEXT PRIMARY KEY,
                 started INTEGER NOT NULL,
                 ended INTEGER
             ) STRICT;
             CREATE INDEX runs_started ON runs (started);
             CREATE INDEX runs_open ON runs (started) WHERE ended IS NULL;
             CREATE TABLE approvals (
                 id TEXT PRIMARY KEY,
                 run TEXT,
                 asked INTEGER NOT NULL,
                 closed INTEGER
             ) STRICT;
             CREATE INDEX approvals_asked ON approvals (asked);
             CREATE INDEX approvals_open ON approvals (asked) WHERE closed IS NULL;
             CREATE TABLE texts (
                 id INTEGER PRIMARY KEY,
                 session TEXT NOT NULL,
                 n INTEGER NOT NULL,
                 place INTEGER NOT NULL,
                 text TEXT NOT NULL
             ) STRICT;
             CREATE INDEX texts_session ON texts (session);
             CREATE INDEX texts_titles ON texts (id) WHERE place = 0;
             CREATE VIRTUAL TABLE texts_index USING fts5
                 (text, content = 'texts', content_rowid = 'id', tokenize = 'trigram');
             INSERT INTO texts_index (texts_index, rank) VALUES ('secure-delete', 1);
             CREATE TABLE blobs (
                 sha256 TEXT PRIMARY KEY,
                 bytes INTEGER NOT NULL,
                 picture INTEGER NOT NULL,
                 used INTEGER NOT NULL,
                 state INTEGER NOT NULL
             ) STRICT;
             CREATE INDEX blobs_pictures ON blobs (used) WHERE picture = 1 AND state = 0;
             CREATE INDEX blobs_that_go ON blobs (state) WHERE state = 1;
             CREATE TABLE blob_uses (
                 sha256 TEXT NOT NULL,
                 seq INTEGER NOT NULL,
                 PRIMARY KEY (sha256, seq)
             ) STRICT, WITHOUT ROWID;
             CREATE INDEX blob_uses_seq ON blob_uses (seq);",
        )
        .map_err(sqlite)
}

/// What each run took that came to its end: what the next ones may come to follows from it. Version 11 fills it.
fn budgets(connection: &Connection, path: &Path) -> Result<(), JournalError> {
    let made = connection.execute_batch(
        "CREATE TABLE past_runs (
             run TEXT PRIMARY KEY,
             model TEXT NOT NULL,
             ended INTEGER NOT NULL,
             steps INTEGER NOT NULL,
             tokens INTEGER NOT NULL,
             cost INTEGER
         ) STRICT;
         CREATE INDEX past_runs_model ON past_runs (model, ended);",
    );
    made.map_err(|e| JournalError::sqlite(path, e))
}

/// What files held before a change is known as their events' own, so that it goes with its session.
fn kept_files(connection: &Connection, path: &Path) -> Result<(), JournalError> {
    let sqlite = |e| JournalError::sqlite(path, e);
    let mut select = connection
        .prepare(&format!(
            "SELECT {} FROM events WHERE type = 'toolFinished' \
             AND json_array_length(body, '$.result.changes') > 0 ORDER BY seq",
            rows::COLUMNS
        ))
        .map_err(sqlite)?;
    let mut events = select.query([]).map_err(sqlite)?;
    while let Some(row) = events.next().map_err(sqlite)? {
        projection::blobs(connection, path, &rows::decode(row, path)?.0)?;
    }
    Ok(())
}

/// Whose agent started a run, and in which session that one is. Earlier versions started none for an agent.
fn parents_of_runs(connection: &Connection, path: &Path) -> Result<(), JournalError> {
    let made = connection.execute_batch(
        "ALTER TABLE runs ADD COLUMN parent TEXT;
         ALTER TABLE runs ADD COLUMN parent_session TEXT;
         CREATE INDEX runs_parent ON runs (parent, started) WHERE parent IS NOT NULL;
         CREATE INDEX runs_parent_session ON runs (parent_session, started) WHERE parent IS NOT NULL;",
    );
    made.map_err(|e| JournalError::sqlite(path, e))
}

/// What each run took so far, kept with it from turn to turn: at its end nothing is to be read but that. `exact` is null
/// until something is spent. Where the tables of version 6 are empty, all that follows from the events is made here.
fn sums_of_runs(connection: &Connection, path: &Path) -> Result<(), JournalError> {
    let sqlite = |e| JournalError::sqlite(path, e);
    connection
        .execute_batch(
            "DROP TABLE runs;
             CREATE TABLE runs (
                 id TEXT PRIMARY KEY,
                 started INTEGER NOT NULL,
                 ended INTEGER,
                 model TEXT NOT NULL,
                 steps INTEGER NOT NULL,
                 last_turn INTEGER,
                 tokens INTEGER NOT NULL,
                 spent INTEGER NOT NULL,
                 exact INTEGER
             ) STRICT;
             CREATE INDEX runs_started ON runs (started);
             CREATE INDEX runs_open ON runs (started) WHERE ended IS NULL;",
        )
        .map_err(sqlite)?;
    let is_filled: bool = connection
        .query_row("SELECT EXISTS (SELECT 1 FROM sessions)", [], |row| row.get(0))
        .map_err(sqlite)?;
    let which = match is_filled {
        true => "WHERE type IN ('runStarted', 'turnFinished', 'turnFailed', 'turnDropped', 'runEnded')",
        false => "",
    };
    let mut select = connection
        .prepare(&format!("SELECT {} FROM events {which} ORDER BY seq", rows::COLUMNS))
        .map_err(sqlite)?;
    let mut events = select.query([]).map_err(sqlite)?;
    while let Some(row) = events.next().map_err(sqlite)? {
        let (event, _) = rows::decode(row, path)?;
        if is_filled {
            projection::run(connection, path, &event)?;
        } else {
            projection::project(connection, path, event)?;
        }
    }
    Ok(())
}
