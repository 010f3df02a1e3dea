//! What is kept beside the events, in the transaction that writes them: sessions, runs, approvals, texts and blobs, so
//! that a list, an answer or a search needs no replay. All of it follows from the events alone.

use std::path::Path;

use fold::BlobUse;
use fold::budget::Used;
use protocol::event::{Event, EventBody, RunEnd};
use protocol::ids::{BlobRef, RunId, Seq};
use protocol::view::SessionView;
use rusqlite::{Connection, ToSql};

use crate::tidy::KEPT;
use crate::{Committed, JournalError, Reader, search};

/// Takes a written event into the projections, and says what that changed for those who look.
pub(crate) fn project(connection: &Connection, path: &Path, event: Event) -> Result<Committed, JournalError> {
    let projection = Projection { connection, path };
    let session = projection.session(&event)?;
    projection.blobs(&event)?;
    projection.run(&event)?;
    let changed = projection.approval(&event)?;
    let questions = if changed { Some(Reader::new(connection, path).questions()?) } else { None };
    Ok(Committed { event, session, questions })
}

/// Takes in only the blobs that a written event names.
pub(crate) fn blobs(connection: &Connection, path: &Path, event: &Event) -> Result<(), JournalError> {
    Projection { connection, path }.blobs(event)
}

/// Takes in only what a written event is to its run.
pub(crate) fn run(connection: &Connection, path: &Path, event: &Event) -> Result<(), JournalError> {
    Projection { connection, path }.run(event)
}

#[derive(Clone, Copy)]
struct Projection<'a> {
    connection: &'a Connection,
    path: &'a Path,
}

impl Projection<'_> {
    /// The session, if a list shows it otherwise now.
    fn session(self, event: &Event) -> Result<Option<SessionView>, JournalError> {
        let Some(id) = &event.scope.session else { return Ok(None) };
        let before = Reader::new(self.connection, self.path).session(id)?;
        let Some(after) = fold::session(before.clone(), id, event) else { return Ok(None) };
        let text =
            serde_json::to_string(&after).map_err(|source| JournalError::unwritable("a session", source))?;
        let happened = before.is_none() || !fold::is_about_the_list(&event.body);
        let deleted = after.shelf.deleted.map(|deleted| deleted.0);
        self.execute(
            "INSERT INTO sessions (id, last_seq, active_seq, pinned, archived, deleted, view) \
             VALUES (?1, ?2, ?2, ?3, ?4, ?5, ?6) \
             ON CONFLICT (id) DO UPDATE SET last_seq = excluded.last_seq, \
             active_seq = iif(?7, excluded.active_seq, active_seq), pinned = excluded.pinned, \
             archived = excluded.archived, deleted = excluded.deleted, view = excluded.view",
            &[
                &id.as_str(),
                &event.seq().0,
                &after.shelf.pinned,
                &after.shelf.archived,
                &deleted,
                &text,
                &happened,
            ],
        )?;
        let was_deleted = before.as_ref().is_some_and(|before| before.shelf.deleted.is_some());
        let sqlite = |e| JournalError::sqlite(self.path, e);
        // One that an earlier version deleted has no texts in the index any more, until it is there again.
        if !was_deleted || search::has_texts(self.connection, id).map_err(sqlite)? {
            search::add(self.connection, event).map_err(sqlite)?;
        } else if deleted.is_none() {
            search::refill(self.connection, self.path, id)?;
        }
        Ok(fold::changed_for_a_list(before.as_ref(), &after).then_some(after))
    }

    /// Who names which blob; a file that was to go is there again by now.
    fn blobs(self, event: &Event) -> Result<(), JournalError> {
        fold::blobs(&event.body).iter().try_for_each(|(blob, what)| self.blob(event, blob, *what))
    }

    fn blob(self, event: &Event, blob: &BlobRef, what: BlobUse) -> Result<(), JournalError> {
        self.execute(
            "INSERT INTO blobs (sha256, bytes, picture, used, state) VALUES (?1, ?2, ?3, ?4, ?5) \
             ON CONFLICT (sha256) DO UPDATE SET picture = min(picture, excluded.picture), \
             used = max(used, excluded.used), state = excluded.state",
            &[&blob.sha256, &blob.bytes, &(what == BlobUse::Picture), &event.time.0, &KEPT],
        )?;
        let sql = "INSERT OR IGNORE INTO blob_uses (sha256, seq) VALUES (?1, ?2)";
        self.execute(sql, &[&blob.sha256, &event.seq().0]).map(drop)
    }

    fn run(self, event: &Event) -> Result<(), JournalError> {
        let Some(run) = &event.scope.run else { return Ok(()) };
        match &event.body {
            EventBody::RunStarted(spec) => {
                self.execute(
                    "INSERT OR REPLACE INTO runs (id, started, model, steps, tokens, spent) \
                     VALUES (?1, ?2, ?3, 0, 0, 0)",
                    &[&run.as_str(), &event.seq().0, &spec.model.0],
                )?;
                // By itself, since version 11 makes its rows by this, too, and has no such columns.
                match &spec.parent {
                    Some(parent) => self
                        .execute(
                            "UPDATE runs SET parent = ?2, parent_session = (SELECT session FROM events \
                             WHERE seq = (SELECT started FROM runs WHERE id = ?2)) WHERE id = ?1",
                            &[&run.as_str(), &parent.as_str()],
                        )
                        .map(drop),
                    None => Ok(()),
                }
            }
            EventBody::RunEnded { end } => {
                self.execute("UPDATE runs SET ended = ?2 WHERE id = ?1", &[&run.as_str(), &event.seq().0])?;
                self.past_run(run, end, event)
            }
            _ => self.took(run, event),
        }
    }

    /// Adds what this event took to what its run took. Were that read together at the run's end, the end of a long run
    /// would hold up every append.
    fn took(self, run: &RunId, event: &Event) -> Result<(), JournalError> {
        let mut took = Used::default();
        took.fold(event);
        if took.spent.turns == 0 {
            return Ok(());
        }
        let turn = match event.body {
            EventBody::TurnFinished { turn, .. } => Some(turn),
            _ => None,
        };
        // SQLite's largest number is i64::MAX: a sum stays there.
        self.execute(
            "UPDATE runs SET steps = steps + (?2 IS NOT NULL AND ?2 IS NOT last_turn), \
             last_turn = COALESCE(?2, last_turn), \
             tokens = ?3 + min(tokens, 9223372036854775807 - ?3), \
             spent = ?4 + min(spent, 9223372036854775807 - ?4), \
             exact = min(COALESCE(exact, 1), ?5) WHERE id = ?1",
            &[
                &run.as_str(),
                &turn,
                &took.tokens().min(i64::MAX as u64),
                &took.spent.usd.0.min(i64::MAX as u64),
                &took.spent.is_exact(),
            ],
        )
        .map(drop)
    }

    /// What a run took that came to its end. One that broke off tells nothing of how long such a run is, and one that was
    /// copied is counted where it ran.
    fn past_run(self, run: &RunId, end: &RunEnd, event: &Event) -> Result<(), JournalError> {
        let Some(session) = &event.scope.session else { return Ok(()) };
        if !matches!(end, RunEnd::Completed { .. }) {
            return Ok(());
        }
        let session = Reader::new(self.connection, self.path).session(session)?;
        // Nor does what an agent did for another say how long a user's run is.
        if session.is_none_or(|session| session.origin.is_some() || session.shelf.parent.is_some()) {
            return Ok(());
        }
        self.execute(
            "INSERT OR REPLACE INTO past_runs (run, model, ended, steps, tokens, cost) \
             SELECT id, model, ?2, steps, tokens, iif(exact, spent, NULL) FROM runs WHERE id = ?1",
            &[&run.as_str(), &event.seq().0],
        )
        .map(drop)
    }

    /// Whether other questions are open now.
    fn approval(self, event: &Event) -> Result<bool, JournalError> {
        let changed = match &event.body {
            EventBody::ApprovalRequested { approval } => self.execute(
                "INSERT INTO approvals (id, run, asked) VALUES (?1, ?2, ?3) \
                 ON CONFLICT (id) DO UPDATE SET run = excluded.run, asked = excluded.asked, closed = NULL",
                &[&approval.id.as_str(), &event.scope.run.as_ref().map(RunId::as_str), &event.seq().0],
            ),
            EventBody::ApprovalAnswered { approval, .. } => self.execute(
                "UPDATE approvals SET closed = ?2 WHERE id = ?1 AND closed IS NULL",
                &[&approval.as_str(), &event.seq().0],
            ),
            // Nobody waits for an answer any more.
            EventBody::RunEnded { .. } => self.execute(
                "UPDATE approvals SET closed = ?2 WHERE run = ?1 AND closed IS NULL",
                &[&event.scope.run.as_ref().map(RunId::as_str), &event.seq().0],
            ),
            _ => Ok(0),
        };
        Ok(changed? > 0)
    }

    fn execute(self, sql: &str, parameters: &[&dyn ToSql]) -> Result<usize, JournalError> {
        self.connection
            .prepare_cached(sql)
            .and_then(|mut statement| statement.execute(parameters))
            .map_err(|e| JournalError::sqlite(self.path, e))
    }
}

/// The number of the last event; 0 in an empty journal.
pub(crate) fn last_seq(connection: &Connection) -> rusqlite::Result<Seq> {
    connection
        .prepare_cached("SELECT COALESCE(MAX(seq), 0) FROM events")?
        .query_row([], |row| row.get(0))
        .map(Seq)
}

#[cfg(test)]
mod tests;
