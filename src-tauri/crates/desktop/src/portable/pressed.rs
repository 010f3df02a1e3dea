//! What this program holds down, and when an act has to end. Plain data; letting go is the input's business.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio_util::sync::CancellationToken;

use super::watchdog::Watchdog;
use crate::{Button, DesktopError, Key};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Down {
    Key(Key),
    Button(Button),
}

#[derive(Default)]
pub(crate) struct PressedInput {
    down: Mutex<Vec<Down>>,
    /// What was put down to stay: not let go at the end of its act.
    kept: Mutex<Vec<Down>>,
    /// Counts releases of everything; an act begun before one of them is over.
    epoch: AtomicU64,
    watchdog: Watchdog,
}

impl PressedInput {
    /// The watchdog is told of all that goes down, before it does.
    #[cfg_attr(target_os = "linux", allow(dead_code, reason = "Linux has hands of its own"))]
    pub(crate) fn guarded(watchdog: Watchdog) -> Self {
        Self { watchdog, ..Self::default() }
    }

    /// To be called before it is sent.
    pub(crate) fn pressed(&self, down: Down) {
        self.down().push(down);
        self.watchdog.down(down);
    }

    /// To be called when all that came up was sent.
    #[cfg_attr(target_os = "linux", allow(dead_code, reason = "Linux has hands of its own"))]
    pub(crate) fn settle(&self) {
        let mut all = self.down().clone();
        all.extend(lock(&self.kept).iter().copied());
        self.watchdog.only(&all);
    }

    pub(crate) fn released(&self, down: Down) {
        let mut all = self.down();
        if let Some(at) = all.iter().rposition(|&one| one == down) {
            all.remove(at);
        }
    }

    /// It stays down after its act, until it is released or everything is.
    pub(crate) fn keep(&self, down: Down) {
        self.released(down);
        lock(&self.kept).push(down);
    }

    /// No longer kept; whether it was.
    pub(crate) fn give_up(&self, down: Down) -> bool {
        let mut kept = lock(&self.kept);
        let at = kept.iter().rposition(|&one| one == down);
        at.map(|at| kept.remove(at)).is_some()
    }

    /// What is down, last pressed first; nothing is held afterwards.
    pub(crate) fn take(&self) -> Vec<Down> {
        let mut all = std::mem::take(&mut *self.down());
        all.reverse();
        all
    }

    /// Ends every act under way, and answers what it left down.
    pub(crate) fn end_all(&self) -> Vec<Down> {
        self.epoch.fetch_add(1, Ordering::SeqCst);
        let mut all = self.take();
        let mut kept = std::mem::take(&mut *lock(&self.kept));
        kept.reverse();
        all.extend(kept);
        all
    }

    #[cfg_attr(target_os = "linux", allow(dead_code, reason = "Linux has hands of its own"))]
    pub(crate) fn is_empty(&self) -> bool {
        self.down().is_empty() && lock(&self.kept).is_empty()
    }

    fn down(&self) -> MutexGuard<'_, Vec<Down>> {
        lock(&self.down)
    }
}

fn lock(downs: &Mutex<Vec<Down>>) -> MutexGuard<'_, Vec<Down>> {
    downs.lock().unwrap_or_else(PoisonError::into_inner)
}

/// When an act has to end.
pub(crate) struct Stop {
    cancel: CancellationToken,
    held: Arc<PressedInput>,
    epoch: u64,
}

impl Stop {
    pub(crate) fn new(cancel: CancellationToken, held: &Arc<PressedInput>) -> Self {
        Self { cancel, held: Arc::clone(held), epoch: held.epoch.load(Ordering::SeqCst) }
    }

    /// # Errors
    /// [`DesktopError::Cancelled`] once the act is to end.
    pub(crate) fn check(&self) -> Result<(), DesktopError> {
        if self.cancel.is_cancelled() || self.held.epoch.load(Ordering::SeqCst) != self.epoch {
            Err(DesktopError::Cancelled)
        } else {
            Ok(())
        }
    }
}

#[cfg(test)]
mod tests;
