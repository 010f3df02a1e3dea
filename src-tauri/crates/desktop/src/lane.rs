//! A thread for blocking calls, with what they need opened there, and deadlines for those who wait for it.
//!
//! A call that outlives its deadline loses its thread: the next call gets a new one, with a new connection, so that
//! one hanging call does not hang the rest.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::oneshot;

use crate::DesktopError;

/// Calls that may wait for their turn.
const WAITING: usize = 16;

/// What a lane keeps open between calls.
pub(crate) trait Kept: 'static {
    /// Whether it can still be worked with; asked after a failure, and opened anew where not.
    fn is_alive(&self) -> bool {
        true
    }
}

type Open<T> = Arc<dyn Fn() -> Result<T, DesktopError> + Send + Sync>;
type Job<T> = Box<dyn FnOnce(&mut Option<T>, &Open<T>) + Send>;

pub(crate) struct Lane<T> {
    name: &'static str,
    open: Open<T>,
    jobs: Mutex<Option<SyncSender<Job<T>>>>,
}

impl<T: Kept> Lane<T> {
    pub(crate) fn new(
        name: &'static str,
        open: impl Fn() -> Result<T, DesktopError> + Send + Sync + 'static,
    ) -> Self {
        Self { name, open: Arc::new(open), jobs: Mutex::new(None) }
    }

    /// Does `work` on the lane's thread.
    ///
    /// # Errors
    /// Those of `work` and of opening; [`DesktopError::Timeout`] after `deadline`.
    pub(crate) async fn run<R: Send + 'static>(
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
                && kept.as_ref().is_some_and(|opened| !opened.is_alive());
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

#[cfg(test)]
mod tests {
    use super::*;

    impl Kept for u32 {}
    impl Kept for () {}

    #[tokio::test]
    async fn what_was_opened_stays_open_and_a_panic_opens_anew() {
        let worker = Lane::new("test", || Ok(0_u32));
        let next = |kept: &mut u32| {
            *kept += 1;
            Ok(*kept)
        };
        let long = Duration::from_secs(10);
        assert_eq!(worker.run(long, next).await, Ok(1));
        assert_eq!(worker.run(long, next).await, Ok(2));
        let failed = worker.run::<u32>(long, |_| panic!("on purpose")).await;
        assert!(matches!(failed, Err(DesktopError::Failed(_))), "{failed:?}");
        assert_eq!(worker.run(long, next).await, Ok(1));
    }

    #[tokio::test]
    async fn a_call_that_hangs_loses_its_thread_and_not_the_next_one() {
        let worker = Lane::new("test", || Ok(()));
        let (free, hung) = std::sync::mpsc::channel::<()>();
        let short = Duration::from_millis(50);
        let late = worker
            .run(short, move |()| {
                let _freed = hung.recv();
                Ok(())
            })
            .await;
        assert_eq!(late, Err(DesktopError::Timeout(short)));
        assert_eq!(worker.run(Duration::from_secs(10), |()| Ok(7)).await, Ok(7));
        drop(free);
    }
}
