//! A thread for blocking calls, with what they need opened there, and deadlines for those who wait for it.
//!
//! A call that outlives its deadline loses its thread: the next call gets a new one, with a new connection, so that
//! one hanging call does not hang the rest.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::oneshot;

use super::session::Session;
use crate::DesktopError;

/// Calls that may wait for their turn.
const WAITING: usize = 16;

/// What a lane keeps open between calls.
pub(super) trait Kept: 'static {
    fn session(&self) -> &Session;
}

type Open<T> = Arc<dyn Fn() -> Result<T, DesktopError> + Send + Sync>;
type Job<T> = Box<dyn FnOnce(&mut Option<T>, &Open<T>) + Send>;

pub(super) struct Lane<T> {
    name: &'static str,
    open: Open<T>,
    jobs: Mutex<Option<SyncSender<Job<T>>>>,
}

impl<T: Kept> Lane<T> {
    pub(super) fn new(
        name: &'static str,
        open: impl Fn() -> Result<T, DesktopError> + Send + Sync + 'static,
    ) -> Self {
        Self { name, open: Arc::new(open), jobs: Mutex::new(None) }
    }

    /// Does `work` on the lane's thread.
    ///
    /// # Errors
    /// Those of `work` and of opening; [`DesktopError::Timeout`] after `deadline`.
    pub(super) async fn run<R: Send + 'static>(
        &self,
        deadline: Duration,
        work: impl FnOnce(&mut T) -> Result<R, DesktopError> + Send + 'static,
    ) -> Result<R, DesktopError> {
        let (answer, answered) = oneshot::channel();
        self.send(Box::new(move |kept, open| {
            let _gone = answer.send(perform(kept, open, work));
        }))?;
        match tokio::time::timeout(deadline, answered).await {
            Ok(Ok(result)) => result,
            Ok(Err(_)) => Err(DesktopError::Failed(format!("the {} thread ended", self.name))),
            Err(_) => {
                self.jobs.lock().unwrap_or_else(PoisonError::into_inner).take();
                Err(DesktopError::Timeout(deadline))
            }
        }
    }

    fn send(&self, job: Job<T>) -> Result<(), DesktopError> {
        let mut jobs = self.jobs.lock().unwrap_or_else(PoisonError::into_inner);
        let sender = match jobs.take() {
            Some(sender) => sender,
            None => self.start()?,
        };
        match sender.try_send(job) {
            Ok(()) => {
                *jobs = Some(sender);
                Ok(())
            }
            Err(TrySendError::Full(_)) => {
                *jobs = Some(sender);
                Err(DesktopError::Failed(format!(
                    "{WAITING} calls already wait for the {} thread",
                    self.name
                )))
            }
            Err(TrySendError::Disconnected(_)) => {
                Err(DesktopError::Failed(format!("the {} thread ended; try again", self.name)))
            }
        }
    }

    fn start(&self) -> Result<SyncSender<Job<T>>, DesktopError> {
        let (sender, jobs): (_, Receiver<Job<T>>) = sync_channel(WAITING);
        let open = Arc::clone(&self.open);
        std::thread::Builder::new()
            .name(format!("desktop-{}", self.name))
            .spawn(move || {
                let mut kept = None;
                for job in jobs {
                    job(&mut kept, &open);
                }
            })
            .map_err(|error| DesktopError::Failed(format!("start the {} thread: {error}", self.name)))?;
        Ok(sender)
    }
}

/// Opens where needed, works, and drops what is broken, so that the next call opens anew.
fn perform<T: Kept, R>(
    kept: &mut Option<T>,
    open: &Open<T>,
    work: impl FnOnce(&mut T) -> Result<R, DesktopError>,
) -> Result<R, DesktopError> {
    let outcome = catch_unwind(AssertUnwindSafe(|| {
        let opened = match kept.take() {
            Some(opened) => opened,
            None => open()?,
        };
        work(kept.insert(opened))
    }));
    match outcome {
        Ok(result) => {
            let broken = matches!(result, Err(DesktopError::Failed(_)))
                && kept.as_ref().is_some_and(|opened| !opened.session().is_alive());
            if broken {
                kept.take();
            }
            result
        }
        Err(_) => {
            kept.take();
            Err(DesktopError::Failed("a defect of ours: the desktop thread panicked".into()))
        }
    }
}
