//! Who has the desktop: its pointer, its keyboard and its focus have one user at a time, in the order in which they asked.
//!
//! A run takes the seat at the first call that needs it and returns it at the end of its turn. The fence is set when the
//! seat is given, and what is held down comes up when it is returned. Calls that only look need no seat.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use protocol::EventBody;
use protocol::event::Scope;
use protocol::ids::{CallId, RunId};
use protocol::run::Fence;
use protocol::tool::{FrontWindow, ToolCall};
use protocol::view::DesktopView;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tools::{FocusedWindow, Router, WindowId};

use crate::log::Log;

/// How long the desktop may take to say which window is in front.
pub const FRONT_WITHIN: Duration = Duration::from_secs(1);

/// Who may have the seat.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Holder {
    Run(RunId),
    /// A single call of the user's own.
    Call(CallId),
}

/// One pointer with its keyboard: today the user's own.
pub struct Seat {
    router: Arc<Router>,
    log: Arc<Log>,
    /// Fair: whoever has waited longest is next.
    free: Arc<Semaphore>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    owner: Option<Holder>,
    waiting: Vec<Holder>,
    /// Who had it last.
    last: Option<Holder>,
    /// The run that had it last, and until when: what the user does next concerns it.
    last_run: Option<(RunId, Instant)>,
}

impl Seat {
    pub fn new(router: Arc<Router>, log: Arc<Log>) -> Arc<Self> {
        Arc::new(Self { router, log, free: Arc::new(Semaphore::new(1)), state: Mutex::default() })
    }

    /// Waits for its turn. Dropping the future gives the place in the queue up.
    pub async fn take(self: &Arc<Self>, holder: Holder, fence: Fence) -> Lease {
        let ticket = QueueTicket::new(self, holder.clone());
        // The semaphore is never closed.
        let permit = self.free.clone().acquire_owned().await.ok();
        let lease = self.seated(holder, fence, permit);
        drop(ticket);
        lease
    }

    /// `None` while another has it, or waits for it.
    pub fn take_if_free(self: &Arc<Self>, holder: Holder, fence: Fence) -> Option<Lease> {
        let permit = self.free.clone().try_acquire_owned().ok()?;
        let lease = self.seated(holder, fence, Some(permit));
        self.announce(&self.state());
        Some(lease)
    }

    fn seated(self: &Arc<Self>, holder: Holder, fence: Fence, permit: Option<OwnedSemaphorePermit>) -> Lease {
        let passed_on = {
            let mut state = self.state();
            state.owner = Some(holder.clone());
            state.last.as_ref().is_some_and(|last| *last != holder)
        };
        self.router.fence(fence);
        Lease { seat: self.clone(), holder, passed_on, _permit: permit }
    }

    /// Whom the user's own mouse and keyboard concern: the run that has the seat, or had it last.
    pub fn user_meets(&self) -> Option<RunId> {
        let state = self.state();
        match &state.owner {
            Some(Holder::Run(run)) => Some(run.clone()),
            Some(Holder::Call(_)) => None,
            None => state.last_run.as_ref().map(|(run, _)| run.clone()),
        }
    }

    /// Lets go of all that is held down, if it is `run` that has the seat. Past every queue.
    pub fn release_if_held_by(&self, run: &RunId) {
        // Under the lock: what the next owner presses must not come up for it.
        let state = self.state();
        if state.owner.as_ref().is_some_and(|owner| *owner == Holder::Run(run.clone())) {
            self.router.release_all();
        }
    }

    /// How long ago a run had it: no time while one has it, `None` before any had.
    pub fn last_taken(&self) -> Option<Duration> {
        let state = self.state();
        match (&state.owner, &state.last_run) {
            (Some(Holder::Run(_)), _) => Some(Duration::ZERO),
            (_, last) => last.as_ref().map(|(_, until)| until.elapsed()),
        }
    }

    pub fn view(&self) -> DesktopView {
        self.state().view()
    }

    /// Under the lock of what it tells, so that the last word is the newest.
    fn announce(&self, state: &State) {
        let desktop = state.view();
        self.log.broadcast_transient(Scope::default(), EventBody::DesktopChanged { desktop });
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn view(&self) -> DesktopView {
        let run = |holder: &Holder| match holder {
            Holder::Run(run) => Some(run.clone()),
            Holder::Call(_) => None,
        };
        DesktopView {
            owner: self.owner.as_ref().and_then(run),
            waiting: self.waiting.iter().filter_map(run).collect(),
        }
    }
}

/// A place in the queue, shown to the surfaces and gone with this.
struct QueueTicket<'a> {
    seat: &'a Seat,
    holder: Holder,
}

impl<'a> QueueTicket<'a> {
    fn new(seat: &'a Seat, holder: Holder) -> Self {
        let mut state = seat.state();
        state.waiting.push(holder.clone());
        seat.announce(&state);
        drop(state);
        Self { seat, holder }
    }
}

impl Drop for QueueTicket<'_> {
    fn drop(&mut self) {
        let mut state = self.seat.state();
        if let Some(at) = state.waiting.iter().position(|one| *one == self.holder) {
            state.waiting.remove(at);
        }
        self.seat.announce(&state);
    }
}

/// The seat, for as long as this lives.
pub struct Lease {
    seat: Arc<Seat>,
    holder: Holder,
    /// Somebody else has had the seat since this holder last had it.
    pub passed_on: bool,
    _permit: Option<OwnedSemaphorePermit>,
}

impl Lease {
    /// Lets go of what is held, and returns the seat; answers which window is in front. `None` if the desktop does not tell
    /// it soon.
    pub async fn give_back(self) -> Option<FocusedWindow> {
        self.seat.router.release_all();
        front(&self.seat.router).await
    }
}

impl Drop for Lease {
    /// The permit goes after this: the next owner finds nothing held.
    fn drop(&mut self) {
        let mut state = self.seat.state();
        self.seat.router.release_all();
        state.owner = None;
        if let Holder::Run(run) = &self.holder {
            state.last_run = Some((run.clone(), Instant::now()));
        }
        state.last = Some(self.holder.clone());
        self.seat.announce(&state);
    }
}

/// The window that a call names by its number, as it is called now; a desktop that hangs holds nobody up.
pub async fn target(router: &Router, call: &ToolCall) -> Option<FrontWindow> {
    let window = router.window(WindowId(call.window()?));
    tokio::time::timeout(FRONT_WITHIN, window).await.ok().flatten()
}

/// The window in front; a desktop that hangs holds nobody up.
pub async fn front(router: &Router) -> Option<FocusedWindow> {
    tokio::time::timeout(FRONT_WITHIN, router.focus()).await.ok().flatten()
}
