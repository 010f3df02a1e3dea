//! A thread for blocking calls, with what they need opened there, and deadlines for those who wait for it.
//!
//! A call that outlives its deadline loses its thread: the next call gets a new one, with a new connection, so that
//! one hanging call does not hang the rest. Threads that hang are counted, and there are only so many of them. A call
//! that nobody waits for any more is not begun.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::oneshot;

use crate::DesktopError;

/// Calls that may wait for their turn.
const WAITING: usize = 16;
/// Threads of one worker that may hang, beside the one that works.
const HANGING: usize = 4;

/// What a worker keeps open between calls.
pub(crate) trait WorkerState: 'static {
    /// Whether it can still be worked with; asked after a failure, and opened anew where not.
    fn is_alive(&self) -> bool {
        true
    }
}

type Open<T> = Arc<dyn Fn() -> Result<T, DesktopError> + Send + Sync>;
type Job<T> = Box<dyn FnOnce(&mut Option<T>, &Open<T>) + Send>;

pub(crate) struct Worker<T> {
    name: &'static str,
    open: Open<T>,
    jobs: Mutex<Jobs<T>>,
    /// Threads there are: the one that works, and those that hang.
    threads: Arc<AtomicUsize>,
}

/// The way to the thread that works.
struct Jobs<T> {
    sender: Option<SyncSender<Job<T>>>,
    /// Which thread that is, counted from the first.
    thread: u64,
}

/// One thread less when it goes, however it goes.
struct Counted(Arc<AtomicUsize>);

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

impl<T: WorkerState> Worker<T> {
    pub(crate) fn new(
        name: &'static str,
        open: impl Fn() -> Result<T, DesktopError> + Send + Sync + 'static,
    ) -> Self {
        Self {
            name,
            open: Arc::new(open),
            jobs: Mutex::new(Jobs { sender: None, thread: 0 }),
            threads: Arc::new(AtomicUsize::new(0)),
        }
    }

    /// Does `work` on the worker's thread.
    ///
    /// # Errors
    /// Those of `work` and of opening; [`DesktopError::Timeout`] after `deadline`.
    pub(crate) async fn run<R: Send + 'static>(
        &self,
        deadline: Duration,
        work: impl FnOnce(&mut T) -> Result<R, DesktopError> + Send + 'static,
    ) -> Result<R, DesktopError> {
        let (answer, answered) = oneshot::channel();
        let thread = self.send(Box::new(move |state, open| {
            // Its deadline passed while it waited for its turn, or its caller has gone.
            if answer.is_closed() {
                return;
            }
            let _gone = answer.send(perform(state, open, work));
        }))?;
        match tokio::time::timeout(deadline, answered).await {
            Ok(Ok(result)) => result,
            Ok(Err(_)) => Err(DesktopError::Failed(format!("the {} thread ended", self.name))),
            Err(_) => {
                let mut jobs = self.jobs.lock().unwrap_or_else(PoisonError::into_inner);
                // Another one may have its place already.
                if jobs.thread == thread {
                    jobs.sender = None;
                }
                Err(DesktopError::Timeout(deadline))
            }
        }
    }

    /// Answers which thread has it.
    fn send(&self, job: Job<T>) -> Result<u64, DesktopError> {
        let mut jobs = self.jobs.lock().unwrap_or_else(PoisonError::into_inner);
        let sender = match jobs.sender.take() {
            Some(sender) => sender,
            None => {
                let sender = self.start()?;
                jobs.thread += 1;
                sender
            }
        };
        match sender.try_send(job) {
            Ok(()) => {
                jobs.sender = Some(sender);
                Ok(jobs.thread)
            }
            Err(TrySendError::Full(_)) => {
                jobs.sender = Some(sender);
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
        let counted = Counted(Arc::clone(&self.threads));
        if self.threads.fetch_add(1, Ordering::SeqCst) > HANGING {
            return Err(DesktopError::NotAvailable(format!(
                "{HANGING} calls of the {} thread hang; the display does not answer, try again when it does",
                self.name
            )));
        }
        let (sender, jobs): (_, Receiver<Job<T>>) = sync_channel(WAITING);
        let open = Arc::clone(&self.open);
        std::thread::Builder::new()
            .name(format!("desktop-{}", self.name))
            .spawn(move || {
                let _counted = counted;
                let mut state = None;
                for job in jobs {
                    job(&mut state, &open);
                }
            })
            .map_err(|error| DesktopError::Failed(format!("start the {} thread: {error}", self.name)))?;
        Ok(sender)
    }
}

/// Opens where needed, works, and drops what is broken, so that the next call opens anew.
fn perform<T: WorkerState, R>(
    state: &mut Option<T>,
    open: &Open<T>,
    work: impl FnOnce(&mut T) -> Result<R, DesktopError>,
) -> Result<R, DesktopError> {
    let outcome = catch_unwind(AssertUnwindSafe(|| {
        let opened = match state.take() {
            Some(opened) => opened,
            None => open()?,
        };
        work(state.insert(opened))
    }));
    match outcome {
        Ok(result) => {
            let broken = matches!(result, Err(DesktopError::Failed(_)))
                && state.as_ref().is_some_and(|opened| !opened.is_alive());
            if broken {
                state.take();
            }
            result
        }
        Err(_) => {
            state.take();
            Err(DesktopError::Failed("a defect of ours: the desktop thread panicked".into()))
        }
    }
}

#[cfg(test)]
mod tests;
