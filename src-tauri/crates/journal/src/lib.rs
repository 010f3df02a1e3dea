//! The append-only event log in SQLite, the content-addressed blobs beside it, and what follows from the events:
//! sessions, open runs, open questions.
//!
//! One thread writes; a few connections read, and never wait for it. Knows nothing of what events mean beyond
//! [`fold`]. Never deletes or overwrites what it cannot read: a damaged or newer journal is an error with a
//! quarantined copy, not a fresh start. One process at a time: the folder's lock is the caller's.

mod blobs;
mod clean;
mod clock;
mod error;
mod open;
mod projection;
mod quarantine;
mod reader;
mod rows;
mod schema;
mod search;
mod tidy;
mod writer;

pub use blobs::Blobs;
pub use clock::{Clock, SystemClock};
pub use error::JournalError;
pub use fold::export;
pub use fold::{Budget, Copied, Into as CopyInto, OpenRun, PlanState, branched, imported, interrupted};
pub use fold::{budget, forecast};
pub use open::FILE_NAME;
pub use reader::{ChildRun, PAGE_BYTES, Reader, Took};
pub use tidy::{Tidied, Tidy};

use std::path::Path;
use std::sync::Arc;

use protocol::event::{Event, EventBody, Scope};
use protocol::ids::{ApprovalId, BlobRef, Seq};
use protocol::principal::Surface;
use protocol::tool::{Answer, Approval};
use protocol::view::{Question, SessionView};

use crate::reader::Readers;
use crate::writer::{Outcome, Task, Writer};

/// The event log of one data folder. Its clones are the same one; the last of them, dropped, waits until all that was
/// queued is written, and closes it.
///
/// Its asynchronous functions need a Tokio runtime.
#[derive(Clone)]
pub struct Journal {
    inner: Arc<Inner>,
}

/// Dropped in this order: SQLite folds its log into the file when the last connection, the writer's, is closed.
struct Inner {
    readers: Arc<Readers>,
    writer: Writer,
    blobs: Blobs,
}

/// An event that is on disk, and what it changed for those who look.
#[derive(Clone, Debug, PartialEq)]
pub struct Committed {
    pub event: Event,
    /// Its session, if a list shows it otherwise now, and not only as updated later.
    pub session: Option<SessionView>,
    /// All open questions, oldest first, if they are others now.
    pub questions: Option<Vec<Question>>,
}

/// What came of an answer to a question.
#[derive(Clone, Debug, PartialEq)]
#[expect(clippy::large_enum_variant, reason = "one for each answer of a person, and not kept")]
pub enum Decided {
    /// It counts; the event is the answer's.
    Answered(Approval, Event),
    /// The question was never asked, or is answered, or its run has ended.
    NotOpen,
    /// The question is about another call than the one that the digest is of.
    OtherCall,
}

impl Journal {
    /// Opens the journal of the data folder `home`, making both where they are missing. Blocking.
    ///
    /// # Errors
    /// A journal that is damaged, foreign or newer is left as it is, with one quarantined copy beside it.
    pub fn open(home: &Path, clock: Arc<dyn Clock>) -> Result<Self, JournalError> {
        open::make_private_dir(home)?;
        let blobs = Blobs::open(&home.join("blobs"))?;
        let path = home.join(FILE_NAME);
        let connection = open::open(&path, clock.as_ref())?;
        let writer = Writer::start(connection, &path, clock, blobs.clone())?;
        Ok(Self { inner: Arc::new(Inner { readers: Arc::new(Readers::new(path)), writer, blobs }) })
    }

    /// The number of the last event on disk; 0 in an empty journal.
    pub fn last_seq(&self) -> Seq {
        self.inner.writer.last_seq()
    }

    /// Has each event told to `publish` from now on: in order, after it is on disk and before whoever appended it is
    /// answered. To be set once, before the first event. On the writer's thread, which writes nothing meanwhile;
    /// `publish` must not hold this journal, or it would never be closed.
    pub fn on_commit(&self, publish: impl FnMut(&Committed) + Send + 'static) {
        self.inner.writer.tell(Task::Publish(Box::new(publish)));
    }

    /// Writes one event; when this answers, it is on disk. If nobody waits for the answer any more, it is written all
    /// the same.
    ///
    /// # Errors
    /// What could not be read again and a passing event are refused alone. [`JournalError::Full`] on a full disk, for
    /// all that were to be written together: nothing is written then, and the same call may be tried again later.
    pub async fn append(&self, scope: Scope, body: EventBody) -> Result<Event, JournalError> {
        let encoded = rows::encode(&body)?;
        match self.inner.writer.submit(Task::Append { scope, body: Box::new(body), encoded }).await? {
            Outcome::Appended(committed) | Outcome::Answered(_, committed) => Ok(committed.event),
            _ => Err(self.inner.writer.ended()),
        }
    }

    /// Writes all these events, each at its own time, or none of them; answers the last one. The others are published
    /// without what they changed.
    ///
    /// # Errors
    /// As [`append`](Self::append).
    pub async fn append_all(&self, events: Vec<Copied>) -> Result<Event, JournalError> {
        let encoded = |event: Copied| Ok((rows::encode(&event.body)?, event));
        let events = events.into_iter().map(encoded).collect::<Result<Vec<_>, JournalError>>()?;
        match self.inner.writer.submit(Task::AppendAll { events }).await? {
            Outcome::AppendedAll(mut all) if !all.is_empty() => Ok(all.swap_remove(all.len() - 1).event),
            _ => Err(self.inner.writer.ended()),
        }
    }

    /// Lets go of what may go, some of it at a time: [`Tidied::more`] says whether to ask again.
    ///
    /// # Errors
    /// As [`append`](Self::append); what could not be removed is tried again the next time.
    pub async fn tidy(&self, tidy: Tidy) -> Result<Tidied, JournalError> {
        match self.inner.writer.submit(Task::Tidy(tidy)).await? {
            Outcome::Tidied(tidied, _) => Ok(tidied),
            _ => Err(self.inner.writer.ended()),
        }
    }

    /// Answers an open question about the call with this digest: the first answer counts, and is on disk when this
    /// returns, in the scope in which it was asked.
    ///
    /// # Errors
    /// As [`append`](Self::append).
    pub async fn decide(
        &self,
        approval: &ApprovalId,
        digest: &str,
        answer: Answer,
        by: Surface,
    ) -> Result<Decided, JournalError> {
        let task = Task::Decide { approval: approval.clone(), digest: digest.to_owned(), answer, by };
        match self.inner.writer.submit(task).await? {
            Outcome::Answered(approval, committed) => Ok(Decided::Answered(*approval, committed.event)),
            Outcome::NotOpen => Ok(Decided::NotOpen),
            Outcome::OtherCall => Ok(Decided::OtherCall),
            _ => Err(self.inner.writer.ended()),
        }
    }

    /// Reads with `work`, which sees one state from beginning to end. On a blocking thread; it neither waits for a
    /// write nor holds one up.
    ///
    /// # Errors
    /// What `work` answers.
    pub async fn read<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Reader<'_>) -> Result<T, JournalError> + Send + 'static,
    ) -> Result<T, JournalError> {
        self.inner.readers.clone().read(work).await
    }

    /// Pictures and other large results, written before the event that names them. Blocking.
    pub fn blobs(&self) -> &Blobs {
        &self.inner.blobs
    }

    /// Writes a blob; when this answers, it is on disk, so that an event may name it.
    ///
    /// # Errors
    /// [`JournalError::Full`] on a full disk.
    pub async fn put_blob(&self, bytes: Vec<u8>, media_type: &'static str) -> Result<BlobRef, JournalError> {
        let blobs = self.inner.blobs.clone();
        tokio::task::spawn_blocking(move || blobs.put(&bytes, media_type))
            .await
            .map_err(|_| self.inner.writer.ended())?
    }
}

#[cfg(test)]
mod tests;
