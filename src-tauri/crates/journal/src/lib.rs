//! The append-only event log in SQLite, the content-addressed blobs beside it, and the sessions folded from them.
//!
//! Blocking; callers put it on a thread of their own. Knows nothing of what events mean beyond the fold into
//! [`protocol::view::SessionView`]. Never deletes or overwrites what it cannot read: a damaged or newer journal is
//! an error with a quarantined copy, not a fresh start. One process at a time: the folder's lock is the caller's.

mod blobs;
mod clock;
mod error;
mod fold;
mod open;
mod quarantine;
mod schema;

pub use blobs::Blobs;
pub use clock::{Clock, SystemClock};
pub use error::JournalError;
pub use open::FILE_NAME;

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use protocol::event::{Event, EventBody, Scope};
use protocol::ids::{RunId, Seq, SessionId};
use protocol::tool::{Approval, ToolCall};
use protocol::view::SessionView;
use rusqlite::{Connection, OptionalExtension, Row, TransactionBehavior, params};

/// The event log of one data folder.
pub struct Journal {
    path: PathBuf,
    connection: Mutex<Connection>,
    /// Of the last event on disk; written only while `connection` is held.
    last: AtomicU64,
    clock: Arc<dyn Clock>,
    blobs: Blobs,
}

/// A run that has begun and not ended: the program stopped in the middle of it, or it is under way.
#[derive(Clone, Debug, PartialEq)]
pub struct OpenRun {
    /// Of its `RunStarted`.
    pub scope: Scope,
    /// Begun without an outcome: they may or may not have happened. Never to be run again by themselves.
    pub in_doubt: Vec<ToolCall>,
    /// Asked and not answered, oldest first.
    pub pending: Vec<Approval>,
}

impl Journal {
    /// Opens the journal of the data folder `home`, making both where they are missing.
    ///
    /// # Errors
    /// A journal that is damaged, foreign or newer is left as it is, with one quarantined copy beside it.
    pub fn open(home: &Path, clock: Arc<dyn Clock>) -> Result<Self, JournalError> {
        open::make_private_dir(home)?;
        let blobs = Blobs::open(&home.join("blobs"))?;
        let path = home.join(FILE_NAME);
        let connection = open::open(&path, clock.as_ref())?;
        let last = last_seq(&connection).map_err(|e| JournalError::sqlite(&path, e))?;
        Ok(Self { path, connection: Mutex::new(connection), last: AtomicU64::new(last), clock, blobs })
    }

    /// Writes one event; when this returns, it is on disk.
    ///
    /// # Errors
    /// [`JournalError::Passing`] for a passing event, [`JournalError::Full`] on a full disk. Nothing is written then,
    /// and the same call may be tried again later.
    pub fn append(&self, scope: Scope, body: EventBody) -> Result<Event, JournalError> {
        let (kind, text) = encode(&body)?;
        let mut connection = self.lock();
        let (time, path) = (self.clock.now(), &self.path);
        let sqlite = |e| JournalError::sqlite(path, e);
        let transaction =
            connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(sqlite)?;
        let seq = last_seq(&transaction).map_err(sqlite)? + 1;
        transaction
            .prepare_cached(
                "INSERT INTO events (seq, time, session, run, agent, type, body) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
            )
            .and_then(|mut insert| {
                insert.execute(params![
                    seq,
                    time.0,
                    scope.session.as_ref().map(SessionId::as_str),
                    scope.run.as_ref().map(RunId::as_str),
                    scope.agent.as_ref().map(|agent| agent.as_str()),
                    kind,
                    text
                ])
            })
            .map_err(sqlite)?;
        let event = Event { seq: Seq(seq), time, scope, body };
        if let Some(session) = &event.scope.session
            && let Some(view) = fold::session(read_session(&transaction, path, session)?, session, &event)
        {
            write_session(&transaction, path, &view, event.seq)?;
        }
        transaction.commit().map_err(sqlite)?;
        self.last.store(seq, Ordering::Release);
        Ok(event)
    }

    /// The number of the last durable event; 0 in an empty journal.
    pub fn last_seq(&self) -> Seq {
        Seq(self.last.load(Ordering::Acquire))
    }

    /// At most `limit` events after `after`, in order.
    pub fn events_after(&self, after: Seq, limit: usize) -> Result<Vec<Event>, JournalError> {
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        self.events("WHERE seq > ?1 ORDER BY seq LIMIT ?2", params![after.0, limit])
    }

    /// All events of a session, oldest first.
    pub fn session_events(&self, session: &SessionId) -> Result<Vec<Event>, JournalError> {
        self.events("WHERE session = ?1 ORDER BY seq", params![session.as_str()])
    }

    /// All events of a run, oldest first.
    pub fn run_events(&self, run: &RunId) -> Result<Vec<Event>, JournalError> {
        self.events("WHERE run = ?1 ORDER BY seq", params![run.as_str()])
    }

    /// All sessions, the one with the newest event first.
    pub fn sessions(&self) -> Result<Vec<SessionView>, JournalError> {
        let connection = self.lock();
        let texts: Vec<String> = connection
            .prepare_cached("SELECT view FROM sessions ORDER BY last_seq DESC")
            .and_then(|mut select| select.query_map([], |row| row.get(0))?.collect())
            .map_err(|e| JournalError::sqlite(&self.path, e))?;
        texts.iter().map(|text| decode_session(&self.path, text)).collect()
    }

    /// One session, where it exists.
    pub fn session(&self, session: &SessionId) -> Result<Option<SessionView>, JournalError> {
        read_session(&self.lock(), &self.path, session)
    }

    /// Runs without an end, oldest first, with what in them is in doubt or waits for an answer.
    pub fn open_runs(&self) -> Result<Vec<OpenRun>, JournalError> {
        let starts = self.events(
            "WHERE type = 'runStarted' AND NOT EXISTS \
             (SELECT 1 FROM events AS e WHERE e.type = 'runEnded' AND e.run = events.run) ORDER BY seq",
            params![],
        )?;
        starts
            .into_iter()
            .map(|start| {
                let events = match &start.scope.run {
                    Some(run) => self.run_events(run)?,
                    None => Vec::new(),
                };
                Ok(fold::open_run(start.scope, events))
            })
            .collect()
    }

    /// Pictures and other large results, written before the event that names them.
    pub fn blobs(&self) -> &Blobs {
        &self.blobs
    }

    fn events(&self, clause: &str, parameters: &[&dyn rusqlite::ToSql]) -> Result<Vec<Event>, JournalError> {
        let connection = self.lock();
        let rows: Vec<(Event0, String)> = connection
            .prepare_cached(&format!("SELECT seq, time, session, run, agent, body FROM events {clause}"))
            .and_then(|mut select| select.query_map(parameters, read_event)?.collect())
            .map_err(|e| JournalError::sqlite(&self.path, e))?;
        rows.into_iter()
            .map(|((seq, time, scope), text)| {
                let body = serde_json::from_str(&text).map_err(|source| JournalError::Unreadable {
                    path: self.path.clone(),
                    what: format!("event {}", seq.0),
                    source,
                })?;
                Ok(Event { seq, time, scope, body })
            })
            .collect()
    }

    /// A panic under the lock leaves an open transaction at worst, which its guard has rolled back: go on.
    fn lock(&self) -> MutexGuard<'_, Connection> {
        self.connection.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

type Event0 = (Seq, protocol::ids::Timestamp, Scope);

fn read_event(row: &Row<'_>) -> rusqlite::Result<(Event0, String)> {
    let scope = Scope {
        session: row.get::<_, Option<String>>(2)?.map(SessionId),
        run: row.get::<_, Option<String>>(3)?.map(RunId),
        agent: row.get::<_, Option<String>>(4)?.map(protocol::ids::AgentId),
    };
    Ok(((Seq(row.get(0)?), protocol::ids::Timestamp(row.get(1)?), scope), row.get(5)?))
}

/// The event's type and text. What cannot be read again (too deeply nested, a number JSON does not know) is refused
/// here: once acknowledged it would make its whole session unreadable.
fn encode(body: &EventBody) -> Result<(String, String), JournalError> {
    let kind = fold::kind(body)?;
    if !body.is_durable() {
        return Err(JournalError::Passing { kind });
    }
    let text = serde_json::to_string(body)
        .map_err(|source| JournalError::Unwritable { kind: kind.clone(), source })?;
    match serde_json::from_str::<EventBody>(&text) {
        Ok(_) => Ok((kind, text)),
        Err(source) => Err(JournalError::Unwritable { kind, source }),
    }
}

fn last_seq(connection: &Connection) -> rusqlite::Result<u64> {
    connection.prepare_cached("SELECT COALESCE(MAX(seq), 0) FROM events")?.query_row([], |row| row.get(0))
}

fn read_session(
    connection: &Connection,
    path: &Path,
    session: &SessionId,
) -> Result<Option<SessionView>, JournalError> {
    let text: Option<String> = connection
        .prepare_cached("SELECT view FROM sessions WHERE id = ?1")
        .and_then(|mut select| select.query_row([session.as_str()], |row| row.get(0)).optional())
        .map_err(|e| JournalError::sqlite(path, e))?;
    text.map(|text| decode_session(path, &text)).transpose()
}

fn write_session(
    connection: &Connection,
    path: &Path,
    view: &SessionView,
    last: Seq,
) -> Result<(), JournalError> {
    let text = serde_json::to_string(view)
        .map_err(|source| JournalError::Unwritable { kind: "session".into(), source })?;
    connection
        .prepare_cached(
            "INSERT INTO sessions (id, last_seq, view) VALUES (?1, ?2, ?3) \
             ON CONFLICT (id) DO UPDATE SET last_seq = excluded.last_seq, view = excluded.view",
        )
        .and_then(|mut upsert| upsert.execute(params![view.id.as_str(), last.0, text]))
        .map_err(|e| JournalError::sqlite(path, e))?;
    Ok(())
}

fn decode_session(path: &Path, text: &str) -> Result<SessionView, JournalError> {
    serde_json::from_str(text).map_err(|source| JournalError::Unreadable {
        path: path.to_path_buf(),
        what: "a session".into(),
        source,
    })
}

#[cfg(test)]
mod tests;
