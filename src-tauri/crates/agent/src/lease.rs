//! Who has the desktop: its pointer, its keyboard and its focus have one user at a time, in the order in which they asked.
//!
//! A run takes the seat at the first call that needs it and returns it at the end of its turn. The fence is set when the
//! seat is given, and what is held down comes up when it is returned. Calls that only look need no seat.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use protocol::EventBody;
use protocol::event::Scope;
use protocol::ids::{CallId, RunId};
use protocol::run::Fence;
use protocol::tool::{FrontWindow, ToolCall};
use protocol::view::{BesideView, DesktopView, PointerView};
use protocol::{ErrorCode, ErrorView};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tools::{ActsIn, FocusedWindow, Router, WindowId};

use crate::log::Log;

/// How long the desktop may take to say which window is in front.
pub const FRONT_WITHIN: Duration = Duration::from_secs(1);

/// How long one of our windows may take to make room, and how often that is looked at.
const MAKES_ROOM: Duration = Duration::from_millis(600);
const A_LOOK: Duration = Duration::from_millis(50);

/// How long a window may take to come up.
const COMES_UP: Duration = Duration::from_secs(4);

/// Dialogs that stand above each other.
const DIALOGS: usize = 5;

/// Who may have the seat.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Holder {
    Run(RunId),
    /// A single call of the user's own.
    Call(CallId),
}

/// One pointer with its keyboard: the user's own, or an agent's.
pub struct Seat {
    router: Arc<Router>,
    /// Where it is told who has it; `None` of an agent's own, which no other one can have.
    log: Option<Arc<Log>>,
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
    /// Those that have one of their own.
    beside: Vec<BesideView>,
}

impl Seat {
    pub fn new(router: Arc<Router>, log: Arc<Log>) -> Arc<Self> {
        Self::of(router, Some(log))
    }

    fn of(router: Arc<Router>, log: Option<Arc<Log>>) -> Arc<Self> {
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
        let Some(log) = &self.log else { return };
        let desktop = state.view();
        log.broadcast_transient(Scope::default(), EventBody::DesktopChanged { desktop });
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
            beside: self.beside.clone(),
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

/// The user's seat, and those of runs that have one of their own.
pub struct Seats {
    pub shared: Arc<Seat>,
    own: Mutex<BTreeMap<RunId, Own>>,
}

/// A seat of a run's own.
#[derive(Clone)]
struct Own {
    seat: Arc<Seat>,
    /// Windows that it has acted in: no other run with a seat of its own does, for as long as this one works.
    windows: BTreeSet<WindowId>,
    shown: BesideView,
}

impl Seats {
    pub fn new(shared: Arc<Seat>) -> Self {
        Self { shared, own: Mutex::default() }
    }

    /// From now on a run has one of its own, with the hands of this router.
    pub fn add(&self, run: &RunId, router: Arc<Router>) -> Arc<Seat> {
        let seat = Seat::of(router, None);
        let mut own = self.own();
        let is_free = |color: &u8| own.values().all(|own| own.shown.color != *color);
        let color = (0..u8::MAX).find(is_free).unwrap_or_default();
        let shown = BesideView { run: run.clone(), window: None, pointer: None, wants_room: false, color };
        own.insert(run.clone(), Own { seat: seat.clone(), windows: BTreeSet::new(), shown });
        self.tell(&own);
        seat
    }

    /// A run has ended, or was put aside: its pointer and its keyboard are gone once its task is.
    pub fn remove(&self, run: &RunId) {
        let mut own = self.own();
        if own.remove(run).is_some() {
            self.tell(&own);
        }
    }

    /// Before it acts, for whoever watches: the window that a run goes into. What of ours lies over where it acts makes room,
    /// until it goes into another one.
    pub async fn goes_into(&self, run: &RunId, acts_in: ActsIn, router: &Router) {
        let look = async {
            let window = match acts_in.types && acts_in.last.is_none() {
                true => router.window_of_keys().await,
                false => acts_in.last,
            };
            router.window(window?).await
        };
        let window = tokio::time::timeout(FRONT_WITHIN, look).await.ok().flatten();
        self.change(run, |shown| {
            let stays =
                window.is_none() || window.as_ref().map(|it| it.id) == shown.window.as_ref().map(|it| it.id);
            shown.wants_room = acts_in.is_below_ours || (shown.wants_room && stays);
            shown.window = window.or(shown.window.take());
        });
    }

    /// What of ours lies over where a run's keys go makes room; whether they go to a window of its own then.
    pub async fn makes_room(&self, run: &RunId, router: &Router) -> bool {
        self.change(run, |shown| shown.wants_room = true);
        let end = Instant::now() + MAKES_ROOM;
        while Instant::now() < end {
            tokio::time::sleep(A_LOOK).await;
            if self.types_into_its_own(run, router).await {
                return true;
            }
        }
        false
    }

    /// After it has acted: where its pointer is now.
    pub fn points_at(&self, run: &RunId, pointer: PointerView) {
        self.change(run, |shown| shown.pointer = Some(pointer));
    }

    fn change(&self, run: &RunId, change: impl FnOnce(&mut BesideView)) {
        let mut own = self.own();
        let Some(its) = own.get_mut(run) else { return };
        let before = its.shown.clone();
        change(&mut its.shown);
        if its.shown != before {
            self.tell(&own);
        }
    }

    /// Under the lock of what it tells, so that the last word is the newest.
    fn tell(&self, own: &BTreeMap<RunId, Own>) {
        let mut state = self.shared.state();
        state.beside = own.values().map(|own| own.shown.clone()).collect();
        self.shared.announce(&state);
    }

    /// The window that a run with hands of its own works in.
    pub fn window_of(&self, run: &RunId) -> Option<FrontWindow> {
        self.own().get(run)?.shown.window.clone()
    }

    /// Gives its user's keyboard to a window, which comes up for it.
    ///
    /// # Errors
    /// `Busy` while a run works with the user's own mouse and keyboard; `NotFound` if it has closed, or does not come up.
    pub async fn bring_up(&self, window: &FrontWindow) -> Result<(), ErrorView> {
        let failed = |message: String| ErrorView::new(ErrorCode::NotFound, message);
        let now = tokio::time::timeout(FRONT_WITHIN, self.shared.router.window_now(window)).await;
        let now = now.ok().flatten().ok_or_else(|| failed(format!("{window} has closed")))?;
        let holder = Holder::Call(CallId("bring-up".into()));
        let lease = self.shared.take_if_free(holder, Fence::default()).ok_or_else(|| {
            ErrorView::new(ErrorCode::Busy, "another run has your mouse and keyboard")
                .with_hint("pause that one first")
        })?;
        let given = tokio::time::timeout(COMES_UP, self.shared.router.give_keyboard(&now)).await;
        drop(lease);
        match given {
            Ok(Ok(())) => Ok(()),
            Ok(Err(error)) => {
                tracing::debug!(?error, "a window did not come up");
                Err(failed(format!("{window} does not come up")))
            }
            Err(_) => Err(failed(format!("{window} does not come up"))),
        }
    }

    /// Gives a run these windows; `false` if another one has one of them: then it gets none.
    pub fn give_windows(&self, run: &RunId, windows: &BTreeSet<WindowId>) -> bool {
        let mut own = self.own();
        if own.iter().any(|(other, its)| other != run && !its.windows.is_disjoint(windows)) {
            return false;
        }
        if let Some(its) = own.get_mut(run) {
            its.windows.extend(windows);
        }
        true
    }

    /// Whether its keys go to a window that it has acted in, or to a dialog of one: they follow its pointer, and anything may
    /// have come below that.
    pub async fn types_into_its_own(&self, run: &RunId, router: &Router) -> bool {
        let Some(mut window) = router.window_of_keys().await else { return false };
        let met = window;
        for _ in 0..DIALOGS {
            if self.own().get(run).is_some_and(|own| own.windows.contains(&window)) {
                return self.give_windows(run, &BTreeSet::from([met]));
            }
            match router.belongs_to(window).await {
                Some(below) => window = below,
                None => break,
            }
        }
        false
    }

    /// How often the user has pressed something outside our windows.
    pub fn presses(&self) -> u64 {
        self.shared.router.presses()
    }

    /// Lets go of all that `run` holds down. Past every queue.
    pub fn release_if_held_by(&self, run: &RunId) {
        self.shared.release_if_held_by(run);
        let own = self.own().get(run).cloned();
        if let Some(own) = own {
            own.seat.release_if_held_by(run);
        }
    }

    /// Lets go of all that anybody holds down.
    pub fn release_all(&self) {
        self.shared.router.release_all();
        let own: Vec<_> = self.own().values().cloned().collect();
        own.iter().for_each(|own| own.seat.router.release_all());
    }

    /// Runs with hands of their own that work in the window that the user is in.
    pub async fn met_in_their_window(&self) -> Vec<RunId> {
        let own: Vec<_> = self.own().iter().map(|(run, own)| (run.clone(), own.clone())).collect();
        if own.is_empty() {
            return Vec::new();
        }
        let Some(users) = front(&self.shared.router).await else { return Vec::new() };
        let is_met = |own: &Own| own.windows.contains(&users.id);
        own.into_iter().filter(|(_, own)| is_met(own)).map(|(run, _)| run).collect()
    }

    fn own(&self) -> MutexGuard<'_, BTreeMap<RunId, Own>> {
        self.own.lock().unwrap_or_else(PoisonError::into_inner)
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
