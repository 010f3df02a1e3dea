//! Writing: one thread, which takes all that waits into one transaction with one sync.
//!
//! What was written is published in the order of its numbers, after the sync and before anyone is answered.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::thread::JoinHandle;

use protocol::event::{EventBody, Scope};
use protocol::ids::{ApprovalId, Seq, Timestamp};
use protocol::principal::Surface;
use protocol::tool::{Answer, Approval};
use rusqlite::{Connection, TransactionBehavior};
use tokio::sync::oneshot;

use crate::rows::{Encoded, NewEvent};
use crate::tidy::{self, Tidied, Tidy};
use crate::{Blobs, Clock, Committed, Copied, JournalError, Reader, clean, projection, rows};

/// Writes that may wait; more of them wait for room.
const QUEUE: usize = 256;

/// Told of each event that is on disk.
pub(crate) type Publish = Box<dyn FnMut(&Committed) + Send>;

pub(crate) enum Task {
    /// From now on, this is told.
    Publish(Publish),
    Append {
        scope: Scope,
        body: Box<EventBody>,
        encoded: Encoded,
    },
    /// Each at its own time, all or none.
    AppendAll {
        events: Vec<(Encoded, Copied)>,
    },
    Tidy(Tidy),
    Decide {
        approval: ApprovalId,
        digest: String,
        answer: Answer,
        by: Surface,
    },
}

/// What came of a task.
pub(crate) enum Outcome {
    Nothing,
    Appended(Box<Committed>),
    Answered(Box<Approval>, Box<Committed>),
    AppendedAll(Vec<Committed>),
    /// With what says that sessions are gone.
    Tidied(Tidied, Vec<Committed>),
    /// Not written, as the next.
    NotOpen,
    OtherCall,
}

struct Job {
    task: Task,
    reply: oneshot::Sender<Result<Outcome, JournalError>>,
}

/// The handle of the thread. Dropped, it waits until all that is queued is written and the file is closed.
pub(crate) struct Writer {
    path: PathBuf,
    /// `None` only while it is dropped.
    queue: Option<SyncSender<Job>>,
    thread: Option<JoinHandle<()>>,
    last: Arc<AtomicU64>,
}

impl Writer {
    pub fn start(
        connection: Connection,
        path: &Path,
        clock: Arc<dyn Clock>,
        blobs: Blobs,
    ) -> Result<Self, JournalError> {
        let (queue, jobs) = sync_channel(QUEUE);
        let last = projection::last_seq(&connection).map_err(|e| JournalError::sqlite(path, e))?;
        let last = Arc::new(AtomicU64::new(last.0));
        let mut work =
            Work { connection, path: path.to_path_buf(), clock, blobs, publish: None, last: last.clone() };
        let thread = std::thread::Builder::new()
            .name("journal".into())
            .spawn(move || {
                work.go_on(&jobs);
                work.close();
            })
            .map_err(|e| JournalError::io(path, e))?;
        Ok(Self { path: path.to_path_buf(), queue: Some(queue), thread: Some(thread), last })
    }

    /// Has the task done. It is queued at once, in the order of the calls, or as soon as there is room; either way it
    /// is done whole, even if nobody waits for its outcome any more.
    pub async fn submit(&self, task: Task) -> Result<Outcome, JournalError> {
        let (reply, outcome) = oneshot::channel();
        let queue = self.queue.as_ref().ok_or_else(|| self.ended())?;
        let waits_for_room = match queue.try_send(Job { task, reply }) {
            Ok(()) => None,
            Err(TrySendError::Full(job)) => Some((queue.clone(), job)),
            Err(TrySendError::Disconnected(_)) => return Err(self.ended()),
        };
        // A blocking thread waits for the disk: a runtime with a paused clock takes anything else for idleness and
        // puts the clock forward.
        let waiting = tokio::task::spawn_blocking(move || {
            if let Some((queue, job)) = waits_for_room {
                // Refused by an ended thread; the outcome then says so.
                let _ = queue.send(job);
            }
            outcome.blocking_recv()
        });
        waiting.await.map_err(|_| self.ended())?.map_err(|_| self.ended())?
    }

    /// Queues what nobody waits for.
    pub fn tell(&self, task: Task) {
        if let Some(queue) = &self.queue {
            let (reply, _) = oneshot::channel();
            // An ended thread tells whoever waits for something.
            let _ = queue.send(Job { task, reply });
        }
    }

    /// The number of the last event on disk; 0 in an empty journal.
    pub fn last_seq(&self) -> Seq {
        Seq(self.last.load(Ordering::Acquire))
    }

    pub fn ended(&self) -> JournalError {
        JournalError::Ended { path: self.path.clone() }
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        drop(self.queue.take());
        if let Some(thread) = self.thread.take()
            // Whoever is told of events may hold the last handle.
            && thread.thread().id() != std::thread::current().id()
            && thread.join().is_err()
        {
            tracing::error!(path = %self.path.display(), "the journal's thread panicked");
        }
    }
}

/// What the thread owns.
struct Work {
    connection: Connection,
    path: PathBuf,
    clock: Arc<dyn Clock>,
    blobs: Blobs,
    publish: Option<Publish>,
    last: Arc<AtomicU64>,
}

impl Work {
    /// Until there is no handle left, and nothing queued.
    fn go_on(&mut self, jobs: &Receiver<Job>) {
        while let Ok(first) = jobs.recv() {
            let waiting = std::iter::once(first).chain(jobs.try_iter()).take(QUEUE);
            let (tasks, replies): (Vec<_>, Vec<_>) = waiting.map(|job| (job.task, job.reply)).unzip();
            match self.write(tasks) {
                Ok(outcomes) => {
                    for outcome in &outcomes {
                        self.publish(outcome);
                    }
                    for (reply, outcome) in replies.into_iter().zip(outcomes) {
                        let outcome = self.without_files(outcome);
                        // Nobody may wait for it any more.
                        let _ = reply.send(outcome);
                    }
                }
                Err(error) => {
                    for reply in replies {
                        let _ = reply.send(Err(error.clone()));
                    }
                }
            }
        }
    }

    /// All of it, or nothing.
    fn write(&mut self, tasks: Vec<Task>) -> Result<Vec<Outcome>, JournalError> {
        let sqlite = |e| JournalError::sqlite(&self.path, e);
        let transaction =
            self.connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(sqlite)?;
        let last = projection::last_seq(&transaction).map_err(sqlite)?;
        let mut group =
            Group { connection: &transaction, path: &self.path, clock: self.clock.as_ref(), last };
        let mut outcomes = Vec::with_capacity(tasks.len());
        for task in tasks {
            outcomes.push(match task {
                Task::Publish(publish) => {
                    self.publish = Some(publish);
                    Outcome::Nothing
                }
                Task::Append { scope, body, encoded } => {
                    Outcome::Appended(Box::new(group.append(scope, *body, &encoded)?))
                }
                Task::AppendAll { events } => Outcome::AppendedAll(group.append_all(events)?),
                Task::Tidy(tidy) => group.tidy(tidy)?,
                Task::Decide { approval, digest, answer, by } => {
                    group.decide(approval, &digest, answer, by)?
                }
            });
        }
        let last = group.last;
        transaction.commit().map_err(sqlite)?;
        self.last.store(last.0, Ordering::Release);
        Ok(outcomes)
    }

    fn publish(&mut self, outcome: &Outcome) {
        let Some(publish) = &mut self.publish else { return };
        match outcome {
            Outcome::Appended(committed) | Outcome::Answered(_, committed) => publish(committed),
            Outcome::AppendedAll(all) | Outcome::Tidied(_, all) => all.iter().for_each(publish),
            Outcome::Nothing | Outcome::NotOpen | Outcome::OtherCall => {}
        }
    }

    /// Removes the files of what is gone, now that this is on disk. On this thread: no event can name one meanwhile.
    fn without_files(&mut self, outcome: Outcome) -> Result<Outcome, JournalError> {
        let Outcome::Tidied(mut tidied, committed) = outcome else { return Ok(outcome) };
        tidy::remove_files(&mut self.connection, &self.path, &self.blobs, &mut tidied)?;
        Ok(Outcome::Tidied(tidied, committed))
    }

    fn close(self) {
        match self.connection.close() {
            Ok(()) => clean::mark(&self.path),
            // The next start finds the log and checks everything.
            Err((_, error)) => {
                tracing::warn!(%error, path = %self.path.display(), "the journal was not closed")
            }
        }
    }
}

/// One transaction's worth of events.
struct Group<'a> {
    connection: &'a Connection,
    path: &'a Path,
    clock: &'a dyn Clock,
    last: Seq,
}

impl Group<'_> {
    fn append(
        &mut self,
        scope: Scope,
        body: EventBody,
        encoded: &Encoded,
    ) -> Result<Committed, JournalError> {
        self.append_at(self.clock.now(), scope, body, encoded)
    }

    fn append_at(
        &mut self,
        time: Timestamp,
        scope: Scope,
        body: EventBody,
        encoded: &Encoded,
    ) -> Result<Committed, JournalError> {
        let new = NewEvent { seq: Seq(self.last.0 + 1), time, scope, body };
        let event = rows::insert(self.connection, self.path, new, encoded)?;
        self.last = event.seq();
        projection::project(self.connection, self.path, event)
    }

    fn append_all(&mut self, events: Vec<(Encoded, Copied)>) -> Result<Vec<Committed>, JournalError> {
        let mut all = Vec::with_capacity(events.len());
        for (encoded, Copied { time, scope, body }) in events {
            all.push(self.append_at(time, scope, body, &encoded)?);
        }
        // It comes whole: nobody is to see its runs begin and end.
        if let Some((last, earlier)) = all.split_last_mut() {
            earlier.iter_mut().for_each(|one| (one.session, one.questions) = (None, None));
            if let Some(id) = &last.event.scope.session {
                last.session = Reader::new(self.connection, self.path).session(id)?;
            }
        }
        Ok(all)
    }

    fn tidy(&mut self, tidy: Tidy) -> Result<Outcome, JournalError> {
        let sqlite = |e| JournalError::sqlite(self.path, e);
        let mut tidied = Tidied::default();
        let due = tidy.deleted_before.map(|before| tidy::due(self.connection, before)).transpose();
        let due = due.map_err(sqlite)?.unwrap_or_default();
        let mut committed = Vec::new();
        for session in due {
            if !tidy::forget_texts(self.connection, &session).map_err(sqlite)? {
                tidied.more = true;
                break;
            }
            tidy::purge(self.connection, &session).map_err(sqlite)?;
            // The number of the last event must not be given again.
            let body = EventBody::SessionPurged { purged: session.clone() };
            committed.push(self.append(Scope::default(), body.clone(), &rows::encode(&body)?)?);
            tidied.sessions.push(session);
        }
        tidied.more |= tidy::mark_pictures(self.connection, tidy).map_err(sqlite)?;
        tidied.more |= !tidied.sessions.is_empty();
        Ok(Outcome::Tidied(tidied, committed))
    }

    fn decide(
        &mut self,
        approval: ApprovalId,
        digest: &str,
        answer: Answer,
        by: Surface,
    ) -> Result<Outcome, JournalError> {
        match Reader::new(self.connection, self.path).approval(&approval)? {
            Some((asked, _, true)) if asked.digest != digest => Ok(Outcome::OtherCall),
            Some((asked, scope, true)) => {
                let body = EventBody::ApprovalAnswered { approval, answer, by };
                let encoded = rows::encode(&body)?;
                Ok(Outcome::Answered(Box::new(asked), Box::new(self.append(scope, body, &encoded)?)))
            }
            Some((_, _, false)) | None => Ok(Outcome::NotOpen),
        }
    }
}

#[cfg(test)]
mod tests;
