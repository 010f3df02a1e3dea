//! The one way an event comes to be: journaled first, then seen.
//!
//! Durable events are broadcast by the journal's own thread, in the order of their numbers; passing ones by whoever
//! has them. A [`Subscription`] makes one sequence of them, and reads from the journal what it was too slow for.

mod subscription;

pub use subscription::Subscription;

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use journal::{Clock, Committed, Decided, Journal, JournalError, Reader};
use protocol::event::{Activity, DeltaKind, Scope, Status};
use protocol::ids::{ApprovalId, BlobRef, RunId, Seq, StreamId, Timestamp};
use protocol::principal::Surface;
use protocol::tool::{Answer, PictureView};
use protocol::view::DesktopView;
use protocol::{ErrorCode, ErrorView, Event, EventBody};
use tokio::sync::broadcast;
use tools::TakenPicture;

/// Events that a subscription may lag behind before it reads from the journal.
const BACKLOG: usize = 4_096;

pub struct Log {
    source: Arc<Source>,
    failed: AtomicBool,
}

/// What subscriptions read, as long as there is the log.
struct Source {
    journal: Journal,
    feed: Arc<Feed>,
}

/// What subscriptions hear. Apart from the journal, whose thread holds it.
struct Feed {
    clock: Arc<dyn Clock>,
    events: broadcast::Sender<Arc<Event>>,
    /// The last durable event that was broadcast or is about to be.
    last: AtomicU64,
    now: Mutex<Now>,
}

/// What passing events said last, for whoever missed them.
#[derive(Default)]
struct Now {
    /// Of the runs that are not idle.
    statuses: BTreeMap<Option<RunId>, (Scope, Status)>,
    desktop: Option<DesktopView>,
    /// What turns under way have said, by their streams.
    turns: BTreeMap<StreamId, (Scope, SoFar)>,
    failure: Option<(String, Option<String>)>,
}

/// What a turn has said so far.
#[derive(Clone, Default)]
struct SoFar {
    turn: u32,
    next: u32,
    text: String,
    thinking: String,
}

impl Now {
    fn heard(&mut self, scope: &Scope, body: &EventBody) {
        match body {
            EventBody::DesktopChanged { desktop } => self.desktop = Some(desktop.clone()),
            EventBody::TurnDelta { turn, index, kind, text } => {
                let (of, heard) = self.turns.entry(scope.stream()).or_default();
                if of != scope || heard.turn != *turn || *index == 0 {
                    (*of, *heard) = (scope.clone(), SoFar { turn: *turn, ..SoFar::default() });
                }
                heard.next = index + 1;
                match kind {
                    DeltaKind::Text => heard.text.push_str(text),
                    DeltaKind::Thinking => heard.thinking.push_str(text),
                }
            }
            EventBody::TurnFinished { .. }
            | EventBody::TurnFailed { .. }
            | EventBody::TurnDropped { .. }
            | EventBody::RunEnded { .. } => drop(self.turns.remove(&scope.stream())),
            _ => {}
        }
    }
}

impl Log {
    /// To be made before the first event of this process.
    pub fn new(journal: Journal, clock: Arc<dyn Clock>) -> Self {
        Self::with_backlog(journal, clock, BACKLOG)
    }

    fn with_backlog(journal: Journal, clock: Arc<dyn Clock>, backlog: usize) -> Self {
        let last = AtomicU64::new(journal.last_seq().0);
        let (events, _) = broadcast::channel(backlog);
        let feed = Arc::new(Feed { clock, events, last, now: Mutex::default() });
        let published = feed.clone();
        journal.on_commit(move |committed| published.publish(committed));
        Self { source: Arc::new(Source { journal, feed }), failed: AtomicBool::new(false) }
    }

    pub fn now(&self) -> Timestamp {
        self.feed().clock.now()
    }

    pub fn has_failed(&self) -> bool {
        self.failed.load(Ordering::Acquire)
    }

    pub fn journal(&self) -> &Journal {
        &self.source.journal
    }

    fn feed(&self) -> &Feed {
        &self.source.feed
    }

    /// Puts a durable event on disk, then shows it to everyone.
    ///
    /// # Errors
    /// Where the journal cannot be written: everyone is told, once, by `JournalFailed`, and nothing is accepted after.
    /// An event that could not be read again is refused alone.
    pub async fn append(&self, scope: Scope, body: EventBody) -> Result<Event, ErrorView> {
        self.open()?;
        self.checked(self.journal().append(scope, body).await)
    }

    /// Writes many events, each at its own time, or none of them.
    ///
    /// # Errors
    /// As [`Log::append`].
    pub async fn append_all(&self, events: Vec<journal::Copied>) -> Result<Event, ErrorView> {
        self.open()?;
        self.checked(self.journal().append_all(events).await)
    }

    /// Answers a question, if it is open and about the call with this digest.
    ///
    /// # Errors
    /// As [`Log::append`].
    pub async fn decide(
        &self,
        approval: &ApprovalId,
        digest: &str,
        answer: Answer,
        by: Surface,
    ) -> Result<Decided, ErrorView> {
        self.open()?;
        self.checked(self.journal().decide(approval, digest, answer, by).await)
    }

    /// Writes a blob and syncs it, so that an event may name it.
    ///
    /// # Errors
    /// As [`Log::append`].
    pub async fn put_blob(&self, bytes: Vec<u8>, media_type: &'static str) -> Result<BlobRef, ErrorView> {
        self.open()?;
        self.checked(self.journal().put_blob(bytes, media_type).await)
    }

    /// A picture as events name it.
    ///
    /// # Errors
    /// As [`Log::append`].
    pub async fn put_picture(&self, taken: TakenPicture) -> Result<PictureView, ErrorView> {
        let (width, height, dot) = (taken.size.width, taken.size.height, taken.dot);
        let blob = self.put_blob(taken.jpeg, "image/jpeg").await?;
        Ok(PictureView { blob, width, height, dot })
    }

    /// Reads one state of the journal.
    ///
    /// # Errors
    /// What `work` answers.
    pub async fn read<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Reader<'_>) -> Result<T, JournalError> + Send + 'static,
    ) -> Result<T, ErrorView> {
        Ok(self.journal().read(work).await?)
    }

    /// Shows a passing event to whoever looks now.
    pub fn broadcast_transient(&self, scope: Scope, body: EventBody) {
        let mut now = self.feed().now();
        now.heard(&scope, &body);
        self.feed().send_transient(scope, body);
    }

    /// Says what a run is doing, if it is something else than before. Idle is forgotten; a failure stays until
    /// [`Log::forget_status`] or the run's next status.
    /// Changes what was last told of a run without a task.
    pub fn change_status(&self, scope: Scope, change: impl FnOnce(&mut Status)) {
        let before = self.feed().now().statuses.get(&scope.run).map(|(_, status)| status.clone());
        if let Some(mut status) = before {
            change(&mut status);
            self.set_status(scope, status);
        }
    }

    pub fn set_status(&self, scope: Scope, status: Status) {
        // Held while it is sent, so that the last one sent is the one that is kept.
        let mut now = self.feed().now();
        let before = now.statuses.get(&scope.run).map(|(_, status)| status.clone()).unwrap_or_default();
        if before == status {
            return;
        }
        if status.activity == Activity::Idle {
            now.statuses.remove(&scope.run);
        } else {
            now.statuses.insert(scope.run.clone(), (scope.clone(), status.clone()));
        }
        self.feed().send_transient(scope, EventBody::StatusChanged { status });
    }

    /// Forgets a run's status without a word.
    pub fn forget_status(&self, run: &RunId) {
        self.feed().now().statuses.remove(&Some(run.clone()));
    }

    /// Of each run that is not idle, by the run's id, and so by its age.
    pub fn statuses(&self) -> Vec<(Scope, Status)> {
        self.feed().now().statuses.values().cloned().collect()
    }

    /// Follows the durable events of these streams (of all, if `None`) after `after`, or from now on.
    pub fn subscribe(&self, streams: Option<Vec<StreamId>>, after: Option<Seq>) -> Subscription {
        Subscription::new(&self.source, streams, after)
    }

    /// What the journal once failed to keep has no successor: after a gap, nothing could be told apart from a loss.
    fn open(&self) -> Result<(), ErrorView> {
        if self.has_failed() { Err(closed()) } else { Ok(()) }
    }

    fn checked<T>(&self, written: Result<T, JournalError>) -> Result<T, ErrorView> {
        written.map_err(|error| {
            let view = ErrorView::from(&error);
            if !error.is_about_the_data() {
                self.fail(&view);
            }
            view
        })
    }

    fn fail(&self, error: &ErrorView) {
        let mut now = self.feed().now();
        if !self.failed.swap(true, Ordering::AcqRel) {
            let (message, hint) = (error.message.clone(), error.hint.clone());
            now.failure = Some((message.clone(), hint.clone()));
            self.feed().send_transient(Scope::default(), EventBody::JournalFailed { message, hint });
        }
    }
}

impl Feed {
    fn last(&self) -> Seq {
        Seq(self.last.load(Ordering::Acquire))
    }

    /// On the journal's thread, in the order of the numbers.
    fn publish(&self, committed: &Committed) {
        let event = &committed.event;
        // Before it is sent: whoever subscribes and then reads the number gets every later event.
        self.last.store(event.seq().0, Ordering::Release);
        self.now().heard(&event.scope, &event.body);
        self.send(event.clone());
        if let Some(session) = &committed.session {
            let scope = Scope { session: Some(session.id.clone()), ..Scope::default() };
            self.send_transient(scope, EventBody::SessionChanged { session: Box::new(session.clone()) });
        }
        if let Some(questions) = &committed.questions {
            self.send_transient(
                Scope::default(),
                EventBody::QuestionsChanged { questions: questions.clone() },
            );
        }
    }

    fn transient(&self, scope: Scope, body: EventBody) -> Event {
        debug_assert!(!body.is_durable(), "durable events go through append");
        Event { position: None, stream: scope.stream(), time: self.clock.now(), scope, body }
    }

    fn send_transient(&self, scope: Scope, body: EventBody) {
        self.send(self.transient(scope, body));
    }

    fn send(&self, event: Event) {
        // No receiver is fine: nobody looks.
        let _ = self.events.send(Arc::new(event));
    }

    fn now(&self) -> MutexGuard<'_, Now> {
        self.now.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The answer to whoever would begin or write anything after the journal failed.
pub fn closed() -> ErrorView {
    ErrorView::new(ErrorCode::Storage, "the journal could not be written; nothing new is accepted")
        .with_hint("free some disk space or repair the disk, then start miki again")
}

#[cfg(test)]
mod tests;
