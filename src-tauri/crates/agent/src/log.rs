//! The one way an event comes to be: journaled first, then seen.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use journal::{Clock, Journal, JournalError};
use protocol::event::{Scope, Status};
use protocol::ids::{BlobRef, Seq, Timestamp};
use protocol::{ErrorCode, ErrorView, Event, EventBody};
use tokio::sync::broadcast;

/// Events a slow surface may lag behind before it must fetch a snapshot.
const BACKLOG: usize = 4_096;

pub struct Log {
    journal: Arc<Journal>,
    clock: Arc<dyn Clock>,
    events: broadcast::Sender<Event>,
    /// Held from append to broadcast, so that surfaces see the journal's order.
    order: tokio::sync::Mutex<()>,
    last: AtomicU64,
    failed: AtomicBool,
    status: Mutex<Status>,
}

impl Log {
    pub fn new(journal: Arc<Journal>, clock: Arc<dyn Clock>) -> Self {
        let last = AtomicU64::new(journal.last_seq().0);
        let (events, _) = broadcast::channel(BACKLOG);
        let (order, failed, status) = (tokio::sync::Mutex::new(()), AtomicBool::new(false), Mutex::default());
        Self { journal, clock, events, order, last, failed, status }
    }

    pub fn subscribe(&self) -> broadcast::Receiver<Event> {
        self.events.subscribe()
    }

    pub fn now(&self) -> Timestamp {
        self.clock.now()
    }

    pub fn has_failed(&self) -> bool {
        self.failed.load(Ordering::Acquire)
    }

    pub fn journal(&self) -> &Journal {
        &self.journal
    }

    /// Puts a durable event on disk, then shows it to everyone.
    ///
    /// # Errors
    /// Where the journal cannot be written: everyone is told, once, by `JournalFailed`, and nothing is accepted after.
    /// An event that could not be read again is refused alone.
    pub async fn append(&self, scope: Scope, body: EventBody) -> Result<Event, ErrorView> {
        let _order = self.order.lock().await;
        let event = self.write(move |journal| journal.append(scope, body)).await?;
        self.last.store(event.seq.0, Ordering::Release);
        // No receiver is fine: nobody looks.
        let _ = self.events.send(event.clone());
        Ok(event)
    }

    /// Shows a passing event to whoever looks now.
    pub fn pass(&self, scope: Scope, body: EventBody) {
        debug_assert!(!body.is_durable(), "durable events go through append");
        let seq = Seq(self.last.load(Ordering::Acquire));
        let _ = self.events.send(Event { seq, time: self.clock.now(), scope, body });
    }

    pub fn status(&self) -> Status {
        self.status.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub fn set_status(&self, scope: Scope, status: Status) {
        let mut current = self.status.lock().unwrap_or_else(PoisonError::into_inner);
        if *current != status {
            *current = status.clone();
            drop(current);
            self.pass(scope, EventBody::StatusChanged { status });
        }
    }

    /// Writes a blob and syncs it, so that an event may name it.
    ///
    /// # Errors
    /// As [`Log::append`].
    pub async fn put_blob(&self, bytes: Vec<u8>, media_type: &'static str) -> Result<BlobRef, ErrorView> {
        self.write(move |journal| journal.blobs().put(&bytes, media_type)).await
    }

    /// Reads with no event appended in between.
    ///
    /// # Errors
    /// What `read` answers.
    pub async fn frozen<T: Send + 'static>(
        &self,
        read: impl FnOnce(&Journal) -> Result<T, JournalError> + Send + 'static,
    ) -> Result<T, ErrorView> {
        let _order = self.order.lock().await;
        Ok(self.blocking(read).await??)
    }

    /// What the journal once failed to keep has no successor: after a gap, nothing could be told apart from a loss.
    async fn write<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Journal) -> Result<T, JournalError> + Send + 'static,
    ) -> Result<T, ErrorView> {
        if self.has_failed() {
            return Err(closed());
        }
        match self.blocking(work).await {
            Ok(Ok(written)) => Ok(written),
            Ok(Err(error)) => {
                let view = ErrorView::from(&error);
                if !error.is_about_the_data() {
                    self.fail(&view);
                }
                Err(view)
            }
            Err(panic) => {
                self.fail(&panic);
                Err(panic)
            }
        }
    }

    async fn blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Journal) -> Result<T, JournalError> + Send + 'static,
    ) -> Result<Result<T, JournalError>, ErrorView> {
        let journal = self.journal.clone();
        tokio::task::spawn_blocking(move || work(&journal)).await.map_err(|panic| {
            ErrorView::new(ErrorCode::Internal, format!("the journal's thread ended: {panic}"))
        })
    }

    fn fail(&self, error: &ErrorView) {
        if !self.failed.swap(true, Ordering::AcqRel) {
            let (message, hint) = (error.message.clone(), error.hint.clone());
            self.pass(Scope::default(), EventBody::JournalFailed { message, hint });
        }
    }
}

/// The answer to whoever would begin or write anything after the journal failed.
pub fn closed() -> ErrorView {
    ErrorView::new(ErrorCode::Storage, "the journal could not be written; nothing new is accepted")
        .with_hint("free some disk space or repair the disk, then start miki again")
}
