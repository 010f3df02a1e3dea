//! Reading: a few connections of their own, so that no read waits for a write or holds one up.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use fold::forecast::{MOST_RUNS, PastRun};
use protocol::agent::AgentReport;
use protocol::command::Which;
use protocol::event::{Event, EventBody, RunEnd, Scope};
use protocol::ids::{ApprovalId, CallId, ModelId, RunId, Seq, SessionId, StreamId};
use protocol::run::RunSpec;
use protocol::settings::Settings;
use protocol::tool::{Answer, Approval, Change, ToolCall};
use protocol::turn::Usd;
use protocol::view::{EventPage, Question, SessionView, Tried};
use rusqlite::{Connection, OptionalExtension, ToSql, params};
use tokio::sync::Semaphore;

use crate::{JournalError, OpenRun, open, projection, rows};

/// How many read at once; others wait for one of them.
const CONNECTIONS: usize = 3;

/// A page of events has no more JSON than this, but at least one event.
pub const PAGE_BYTES: usize = 4 * 1024 * 1024;

/// What an event's JSON has beside its body's, about.
const HEAD_BYTES: usize = 256;

const OPEN_RUNS: &str = "SELECT id, started FROM runs WHERE ended IS NULL ORDER BY started";
/// Of a run, from its start: only what its fold looks at.
const OF_OPEN_RUN: &str = "WHERE run = ?1 AND seq >= ?2 AND type IN \
    ('runStarted', 'runPaused', 'runResumed', 'turnFinished', 'toolStarted', 'toolFinished', 'approvalRequested', \
    'approvalAnswered', 'grantTakenBack', 'turnFailed', 'turnDropped', 'budgetReached') ORDER BY seq";

/// A run that the agent of another one started.
#[derive(Clone, Debug, PartialEq)]
pub struct ChildRun {
    /// Of its `RunStarted`.
    pub scope: Scope,
    pub spec: RunSpec,
    /// So far, without what the agents below it took.
    pub took: Took,
    /// `None` if it has not ended.
    pub end: Option<RunEnd>,
    /// What its model said last to the one that it works for.
    pub report: Option<AgentReport>,
    /// What came of its calls that were to change something; once it has ended, with those of all below it.
    pub tried: Tried,
}

/// What a run took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Took {
    pub steps: u32,
    pub tokens: u64,
    /// As far as it is known.
    pub cost: Usd,
    /// Whether that is all of it; `None` if nothing was spent.
    pub exact: Option<bool>,
}

/// The connections that read.
pub(crate) struct Readers {
    path: PathBuf,
    free: Mutex<Vec<Connection>>,
    permits: Arc<Semaphore>,
}

impl Readers {
    pub fn new(path: PathBuf) -> Self {
        Self { path, free: Mutex::default(), permits: Arc::new(Semaphore::new(CONNECTIONS)) }
    }

    /// Does `work` on a blocking thread with the journal as it is now, whatever is written meanwhile.
    pub async fn read<T: Send + 'static>(
        self: Arc<Self>,
        work: impl FnOnce(&Reader<'_>) -> Result<T, JournalError> + Send + 'static,
    ) -> Result<T, JournalError> {
        let path = self.path.clone();
        let ended = || JournalError::Ended { path: path.clone() };
        let permit = self.permits.clone().acquire_owned().await.map_err(|_| ended())?;
        let reading = tokio::task::spawn_blocking(move || {
            let connection = self.take()?;
            let read = consistently(&connection, &self.path, work);
            // Not where `work` panicked: its connection is closed with it.
            self.free.lock().unwrap_or_else(PoisonError::into_inner).push(connection);
            drop(permit);
            read
        });
        reading.await.map_err(|_| ended())?
    }

    fn take(&self) -> Result<Connection, JournalError> {
        let free = self.free.lock().unwrap_or_else(PoisonError::into_inner).pop();
        free.map_or_else(|| open::connect_to_read(&self.path), Ok)
    }
}

/// One transaction for all of `work`: it sees one state.
fn consistently<T>(
    connection: &Connection,
    path: &Path,
    work: impl FnOnce(&Reader<'_>) -> Result<T, JournalError>,
) -> Result<T, JournalError> {
    let transaction = connection.unchecked_transaction().map_err(|e| JournalError::sqlite(path, e))?;
    work(&Reader::new(&transaction, path))
}

/// The journal as it was when the reading began.
#[derive(Clone, Copy)]
pub struct Reader<'a> {
    pub(crate) connection: &'a Connection,
    path: &'a Path,
}

impl<'a> Reader<'a> {
    pub(crate) fn new(connection: &'a Connection, path: &'a Path) -> Self {
        Self { connection, path }
    }

    /// The number of the last durable event; 0 in an empty journal.
    pub fn last_seq(&self) -> Result<Seq, JournalError> {
        projection::last_seq(self.connection).map_err(|e| self.sqlite(e))
    }

    /// How many events a stream has.
    ///
    /// # Errors
    /// [`JournalError::UnknownStream`] where it has none, apart from the app's own.
    pub fn stream_last(&self, stream: &StreamId) -> Result<u64, JournalError> {
        let last = self
            .connection
            .prepare_cached("SELECT last FROM streams WHERE id = ?1")
            .and_then(|mut select| select.query_row([stream.as_str()], |row| row.get(0)).optional())
            .map_err(|e| self.sqlite(e))?;
        match last {
            Some(last) => Ok(last),
            None if *stream == StreamId::app() => Ok(0),
            None => Err(JournalError::UnknownStream { stream: stream.clone() }),
        }
    }

    /// A part of a stream: the oldest events after `after`, or else the newest ones, in both cases only those before
    /// `before`. At most `limit`, and no more than [`PAGE_BYTES`], but one at least where there is one.
    ///
    /// # Errors
    /// [`JournalError::UnknownStream`]; [`JournalError::AfterLast`] for an `after` that the stream does not have.
    pub fn page(
        &self,
        stream: &StreamId,
        before: Option<u64>,
        after: Option<u64>,
        limit: u32,
    ) -> Result<EventPage, JournalError> {
        let last = self.stream_last(stream)?;
        if let Some(after) = after.filter(|after| *after > last) {
            return Err(JournalError::AfterLast { stream: stream.clone(), after, last });
        }
        let order = if after.is_some() { "ASC" } else { "DESC" };
        // Numbers are below i64::MAX, SQLite's largest.
        let before = before.unwrap_or(u64::MAX).min(i64::MAX as u64);
        let mut events = self.events(
            &format!("WHERE stream = ?1 AND n > ?2 AND n < ?3 ORDER BY n {order} LIMIT ?4"),
            params![stream.as_str(), after.unwrap_or(0), before, limit.max(1)],
            PAGE_BYTES,
        )?;
        if after.is_none() {
            events.reverse();
        }
        Ok(EventPage { events, last })
    }

    /// The oldest events after `seq`, of these streams or of all. At most `limit` and [`PAGE_BYTES`], but one at least:
    /// none means that there are no more.
    pub fn after(
        &self,
        seq: Seq,
        streams: Option<&[StreamId]>,
        limit: usize,
    ) -> Result<Vec<Event>, JournalError> {
        let limit = i64::try_from(limit.max(1)).unwrap_or(i64::MAX);
        let Some(streams) = streams else {
            return self.events("WHERE seq > ?1 ORDER BY seq LIMIT ?2", params![seq.0, limit], PAGE_BYTES);
        };
        let streams =
            serde_json::to_string(streams).map_err(|source| JournalError::unwritable("a list", source))?;
        self.events(
            "WHERE seq > ?1 AND stream IN (SELECT value FROM json_each(?3)) ORDER BY seq LIMIT ?2",
            params![seq.0, limit, streams],
            PAGE_BYTES,
        )
    }

    /// The settings that were written last; `None` if none ever were.
    pub fn settings(&self) -> Result<Option<Settings>, JournalError> {
        let last = self.events(
            "WHERE stream = ?1 AND type = 'settingsChanged' ORDER BY n DESC LIMIT 1",
            params![StreamId::app().as_str()],
            usize::MAX,
        )?;
        Ok(last.into_iter().find_map(|event| match event.body {
            EventBody::SettingsChanged { settings } => Some(*settings),
            _ => None,
        }))
    }

    /// The last change of the settings, or a note since that begins so; `None` if there is neither.
    pub fn last_of_settings(&self, note: &str) -> Result<Option<Event>, JournalError> {
        let mut last = self.events(
            "WHERE stream = ?1 AND (type = 'settingsChanged' \
             OR (type = 'noted' AND substr(json_extract(body, '$.message'), 1, length(?2)) = ?2)) ORDER BY n DESC LIMIT 1",
            params![StreamId::app().as_str(), note],
            usize::MAX,
        )?;
        Ok(last.pop())
    }

    /// The newest events of a session, oldest first: a context without the whole session.
    pub fn tail(&self, session: &SessionId, events: u32) -> Result<Vec<Event>, JournalError> {
        let mut events = self.events(
            "WHERE stream = ?1 ORDER BY n DESC LIMIT ?2",
            params![StreamId::of_session(session).as_str(), events],
            usize::MAX,
        )?;
        events.reverse();
        Ok(events)
    }

    /// Where a session's model was last told a recap of what stands before; `None` if it never was.
    pub fn last_recap(&self, session: &SessionId) -> Result<Option<Event>, JournalError> {
        let last = self.events(
            "WHERE stream = ?1 AND type = 'contextCompacted' ORDER BY n DESC LIMIT 1",
            params![StreamId::of_session(session).as_str()],
            usize::MAX,
        )?;
        Ok(last.into_iter().next())
    }

    /// `None` if there is no such session.
    pub fn session(&self, session: &SessionId) -> Result<Option<SessionView>, JournalError> {
        let text: Option<String> = self
            .connection
            .prepare_cached("SELECT view FROM sessions WHERE id = ?1")
            .and_then(|mut select| select.query_row([session.as_str()], |row| row.get(0)).optional())
            .map_err(|e| self.sqlite(e))?;
        text.map(|text| self.decode_session(&text)).transpose()
    }

    /// Sessions, the one in which something happened last first; with `before`, those that come after that one in this
    /// order.
    ///
    /// # Errors
    /// [`JournalError::UnknownStream`] where there is no session `before`.
    pub fn sessions(
        &self,
        which: Which,
        before: Option<&SessionId>,
        limit: u32,
    ) -> Result<Vec<SessionView>, JournalError> {
        let of_them = match which {
            Which::Open => "archived = 0 AND deleted IS NULL AND view ->> '$.shelf.parent' IS NULL",
            Which::Pinned => "pinned = 1 AND archived = 0 AND deleted IS NULL",
            Which::Archived => "archived = 1 AND deleted IS NULL",
            Which::Deleted => "deleted IS NOT NULL AND view ->> '$.shelf.parent' IS NULL",
        };
        let below: i64 = match before {
            None => i64::MAX,
            Some(before) => self
                .connection
                .prepare_cached("SELECT active_seq FROM sessions WHERE id = ?1")
                .and_then(|mut select| select.query_row([before.as_str()], |row| row.get(0)).optional())
                .map_err(|e| self.sqlite(e))?
                .ok_or_else(|| JournalError::UnknownStream { stream: StreamId::of_session(before) })?,
        };
        self.session_views(
            &format!(
                "SELECT view FROM sessions WHERE active_seq < ?1 AND {of_them} ORDER BY active_seq DESC LIMIT ?2"
            ),
            params![below, limit],
        )
    }

    /// Sessions with events after `seq`, the one whose last event is the oldest first.
    pub fn sessions_since(&self, seq: Seq) -> Result<Vec<SessionView>, JournalError> {
        self.session_views("SELECT view FROM sessions WHERE last_seq > ?1 ORDER BY last_seq", params![seq.0])
    }

    /// Runs that have not ended, oldest first.
    pub fn open_runs(&self) -> Result<Vec<OpenRun>, JournalError> {
        // One by one: where SQLite joins them with the events, it looks at each event of the journal.
        let open: Vec<(String, u64)> = self
            .connection
            .prepare_cached(OPEN_RUNS)
            .and_then(|mut select| select.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?.collect())
            .map_err(|e| self.sqlite(e))?;
        let mut runs = Vec::with_capacity(open.len());
        for (id, started) in open {
            let mut run = None;
            self.each(OF_OPEN_RUN, params![id, started], |event, _| {
                run = fold::run(run.take(), &event);
                ControlFlow::Continue(())
            })?;
            runs.extend(run);
        }
        Ok(runs)
    }

    /// Runs that have not ended, as they were asked for, oldest first. However long they are, this is one row for each.
    pub fn running(&self) -> Result<Vec<(Scope, RunSpec)>, JournalError> {
        let started = self.events(
            "JOIN runs ON events.seq = runs.started WHERE runs.ended IS NULL ORDER BY seq",
            &[],
            usize::MAX,
        )?;
        let of_run = |event: Event| match event.body {
            EventBody::RunStarted(spec) => Some((event.scope, *spec)),
            _ => None,
        };
        Ok(started.into_iter().filter_map(of_run).collect())
    }

    /// How a run began.
    pub fn started(&self, run: &RunId) -> Result<Option<(Scope, RunSpec)>, JournalError> {
        let clause = "JOIN runs ON events.seq = runs.started WHERE runs.id = ?1";
        let found = self.events(clause, params![run.as_str()], usize::MAX)?.pop();
        Ok(found.and_then(|event| match event.body {
            EventBody::RunStarted(spec) => Some((event.scope, *spec)),
            _ => None,
        }))
    }

    /// The runs that the agent of a run started, oldest first.
    pub fn children_of_run(&self, run: &RunId) -> Result<Vec<ChildRun>, JournalError> {
        self.children("parent = ?1", run.as_str())
    }

    /// The same of all runs of a session.
    pub fn children_in(&self, session: &SessionId) -> Result<Vec<ChildRun>, JournalError> {
        self.children("parent IS NOT NULL AND parent_session = ?1", session.as_str())
    }

    fn children(&self, of_them: &str, of: &str) -> Result<Vec<ChildRun>, JournalError> {
        let rows = |row: &rusqlite::Row<'_>| {
            let (spent, exact): (u64, Option<bool>) = (row.get(5)?, row.get(6)?);
            let took = Took { steps: row.get(3)?, tokens: row.get(4)?, cost: Usd(spent), exact };
            Ok((RunId(row.get(0)?), row.get::<_, u64>(1)?, row.get::<_, Option<u64>>(2)?, took))
        };
        let found: Vec<_> = self
            .connection
            .prepare_cached(&format!(
                "SELECT id, started, ended, steps, tokens, spent, exact FROM runs WHERE {of_them} ORDER BY started"
            ))
            .and_then(|mut select| select.query_map([of], rows)?.collect())
            .map_err(|e| self.sqlite(e))?;
        let mut children = Vec::with_capacity(found.len());
        for (run, started, ended, took) in found {
            let one = |seq: u64| -> Result<Option<Event>, JournalError> {
                Ok(self.events("WHERE seq = ?1", params![seq], usize::MAX)?.pop())
            };
            let Some(Event { scope, body: EventBody::RunStarted(spec), .. }) = one(started)? else {
                continue;
            };
            let end = match ended.map(one).transpose()?.flatten().map(|event| event.body) {
                Some(EventBody::RunEnded { end }) => Some(end),
                _ => None,
            };
            let report = self.events(
                "WHERE run = ?1 AND type = 'toolFinished' AND body ->> '$.result.data.report' IS NOT NULL \
                 ORDER BY seq DESC LIMIT 1",
                params![run.as_str()],
                usize::MAX,
            )?;
            let report = report.into_iter().find_map(|event| match event.body {
                EventBody::ToolFinished { result, .. } => {
                    serde_json::from_value(result.data.get("report")?.clone()).ok()
                }
                _ => None,
            });
            // Its session has it alone.
            let view = scope.session.as_ref().map(|session| self.session(session)).transpose()?.flatten();
            let tried = view.and_then(|view| view.last_run?.tried).map(|tried| *tried).unwrap_or_default();
            children.push(ChildRun { scope, spec: *spec, took, end, report, tried });
        }
        Ok(children)
    }

    /// What the newest runs of a model took that came to their end.
    pub fn past_runs(&self, model: &ModelId) -> Result<Vec<PastRun>, JournalError> {
        let past = |row: &rusqlite::Row<'_>| {
            let cost: Option<u64> = row.get(2)?;
            Ok(PastRun { steps: row.get(0)?, tokens: row.get(1)?, cost: cost.map(Usd) })
        };
        let most = i64::try_from(MOST_RUNS).unwrap_or(i64::MAX);
        self.connection
            .prepare_cached(
                "SELECT steps, tokens, cost FROM past_runs WHERE model = ?1 ORDER BY ended DESC LIMIT ?2",
            )
            .and_then(|mut select| select.query_map(params![model.0, most], past)?.collect())
            .map_err(|e| self.sqlite(e))
    }

    /// All events of a run, oldest first.
    pub fn run_events(&self, run: &RunId) -> Result<Vec<Event>, JournalError> {
        self.events("WHERE run = ?1 ORDER BY seq", params![run.as_str()], usize::MAX)
    }

    /// The beginnings and outcomes of a run's calls, oldest first.
    pub fn run_calls(&self, run: &RunId) -> Result<Vec<Event>, JournalError> {
        let clause = "WHERE run = ?1 AND type IN ('toolStarted', 'toolFinished') ORDER BY seq";
        self.events(clause, params![run.as_str()], usize::MAX)
    }

    /// Runs whose ids begin so, or end so where none begins so: two at the most.
    pub fn runs_named(&self, id: &RunId) -> Result<Vec<RunId>, JournalError> {
        const BEGIN: &str = "SELECT DISTINCT run FROM events WHERE run >= ?1 AND run < ?1 || '~' LIMIT 2";
        const END: &str = "SELECT id FROM runs WHERE substr(id, -length(?1)) = ?1 LIMIT 2";
        match self.runs_of(BEGIN, id)? {
            none if none.is_empty() => self.runs_of(END, id),
            some => Ok(some),
        }
    }

    fn runs_of(&self, select: &str, id: &RunId) -> Result<Vec<RunId>, JournalError> {
        self.connection
            .prepare_cached(select)
            .and_then(|mut select| {
                select.query_map(params![id.as_str()], |row| row.get(0).map(RunId))?.collect()
            })
            .map_err(|e| self.sqlite(e))
    }

    /// Where a call stands that has come to an outcome; `None` if there is none of this id.
    pub fn finished(&self, call: &CallId) -> Result<Option<Event>, JournalError> {
        let clause =
            "WHERE type = 'toolFinished' AND json_extract(body, '$.call') = ?1 ORDER BY seq DESC LIMIT 1";
        Ok(self.events(clause, params![call.0], usize::MAX)?.pop())
    }

    /// Calls that changed something which can be taken back, the newest first: those before `before`, at most `limit`.
    pub fn changes(&self, before: Option<Seq>, limit: u32) -> Result<Vec<Event>, JournalError> {
        let clause = "WHERE type = 'toolFinished' AND json_array_length(body, '$.result.changes') > 0 AND seq < ?1 \
                      ORDER BY seq DESC LIMIT ?2";
        let before = before.map_or(i64::MAX, |before| i64::try_from(before.0).unwrap_or(i64::MAX));
        self.events(clause, params![before, limit], usize::MAX)
    }

    /// Calls of a tool in a stream that were begun, oldest first.
    pub fn begun(&self, stream: &StreamId, tool: &str) -> Result<Vec<ToolCall>, JournalError> {
        let clause = "WHERE stream = ?1 AND type = 'toolStarted' AND json_extract(body, '$.call.tool') = ?2 ORDER BY seq";
        let begun = self.events(clause, params![stream.as_str(), tool], usize::MAX)?;
        let call = |event: Event| match event.body {
            EventBody::ToolStarted { call, .. } => Some(call),
            _ => None,
        };
        Ok(begun.into_iter().filter_map(call).collect())
    }

    /// What a call of a run was about to change, oldest first.
    pub fn intended(&self, run: &RunId, call: &CallId) -> Result<Vec<Change>, JournalError> {
        let clause = "WHERE run = ?1 AND type = 'changeIntended' ORDER BY seq";
        let intended = self.events(clause, params![run.as_str()], usize::MAX)?;
        let of_call = |event: Event| match event.body {
            EventBody::ChangeIntended { call: of, change } if of == *call => Some(change),
            _ => None,
        };
        Ok(intended.into_iter().filter_map(of_call).collect())
    }

    /// Questions without an answer, oldest first.
    pub fn questions(&self) -> Result<Vec<Question>, JournalError> {
        let asked = self.events(
            "JOIN approvals ON events.seq = approvals.asked WHERE approvals.closed IS NULL ORDER BY seq",
            &[],
            usize::MAX,
        )?;
        let of_run = |(approval, scope): (Approval, Scope)| {
            let Scope { session: Some(session), run: Some(run), .. } = scope else { return None };
            Some(Question { session, run, approval })
        };
        Ok(asked.into_iter().filter_map(question).filter_map(of_run).collect())
    }

    /// A question, whose it is, and whether it is open. `None` if it was never asked.
    pub fn approval(&self, id: &ApprovalId) -> Result<Option<(Approval, Scope, bool)>, JournalError> {
        let open: Option<bool> = self
            .connection
            .prepare_cached("SELECT closed IS NULL FROM approvals WHERE id = ?1")
            .and_then(|mut select| select.query_row([id.as_str()], |row| row.get(0)).optional())
            .map_err(|e| self.sqlite(e))?;
        let Some(open) = open else { return Ok(None) };
        let asked = self.events(
            "JOIN approvals ON events.seq = approvals.asked WHERE approvals.id = ?1",
            params![id.as_str()],
            usize::MAX,
        )?;
        Ok(asked.into_iter().find_map(question).map(|(approval, scope)| (approval, scope, open)))
    }

    /// Whose question this was, if it was answered with a yes.
    pub fn allowed(&self, id: &ApprovalId) -> Result<Option<(RunId, Answer)>, JournalError> {
        let clause = "JOIN approvals ON events.seq = approvals.closed WHERE approvals.id = ?1";
        let closed = self.events(clause, params![id.as_str()], usize::MAX)?;
        Ok(closed.into_iter().find_map(|event| match event.body {
            EventBody::ApprovalAnswered { answer, .. } if answer != Answer::Deny => {
                event.scope.run.map(|run| (run, answer))
            }
            _ => None,
        }))
    }

    /// The events that `clause` picks, in its order, until their JSON would be longer than `bytes`.
    fn events(
        &self,
        clause: &str,
        parameters: &[&dyn ToSql],
        bytes: usize,
    ) -> Result<Vec<Event>, JournalError> {
        let (mut events, mut length) = (Vec::new(), 0_usize);
        self.each(clause, parameters, |event, text| {
            length = length.saturating_add(text).saturating_add(HEAD_BYTES);
            if length > bytes && !events.is_empty() {
                return ControlFlow::Break(());
            }
            events.push(event);
            ControlFlow::Continue(())
        })?;
        Ok(events)
    }

    /// Shows the events that `clause` picks, in its order and each with the length of its JSON, until `look` has enough.
    fn each(
        &self,
        clause: &str,
        parameters: &[&dyn ToSql],
        mut look: impl FnMut(Event, usize) -> ControlFlow<()>,
    ) -> Result<(), JournalError> {
        let sqlite = |e| self.sqlite(e);
        let mut select = self
            .connection
            .prepare_cached(&format!("SELECT {} FROM events {clause}", rows::COLUMNS))
            .map_err(sqlite)?;
        let mut found = select.query(parameters).map_err(sqlite)?;
        while let Some(row) = found.next().map_err(sqlite)? {
            let (event, text) = rows::decode(row, self.path)?;
            if look(event, text).is_break() {
                break;
            }
        }
        Ok(())
    }

    fn session_views(
        &self,
        select: &str,
        parameters: &[&dyn ToSql],
    ) -> Result<Vec<SessionView>, JournalError> {
        let texts: Vec<String> = self
            .connection
            .prepare_cached(select)
            .and_then(|mut select| select.query_map(parameters, |row| row.get(0))?.collect())
            .map_err(|e| self.sqlite(e))?;
        texts.iter().map(|text| self.decode_session(text)).collect()
    }

    fn decode_session(&self, text: &str) -> Result<SessionView, JournalError> {
        serde_json::from_str(text)
            .map_err(|source| JournalError::unreadable(self.path, "a session".into(), source))
    }

    pub(crate) fn sqlite(&self, error: rusqlite::Error) -> JournalError {
        JournalError::sqlite(self.path, error)
    }
}

fn question(asked: Event) -> Option<(Approval, Scope)> {
    match asked.body {
        EventBody::ApprovalRequested { approval } => Some((approval, asked.scope)),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
