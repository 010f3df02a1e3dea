//! The window that the user works in stays theirs while an agent acts with hands of its own.
//!
//! Applications that are operated bring themselves to the front: GTK 3 and Chromium do when one of their elements is given
//! the focus, Qt and Swing when they are clicked, and a window of a program that was just started does. Where such a window
//! is active without the user's doing, theirs is made active again, a few times at most. Their doing is a click, a shortcut,
//! a pointer that has gone into the window, and a wish that is said to be theirs (`_NET_ACTIVE_WINDOW` with source 2, by a
//! pager or a panel). Other windows, as a dialog of what the user works with, are none of the agent's doing.

use std::collections::{BTreeSet, HashMap};
use std::os::fd::AsFd as _;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use x11rb::connection::Connection as _;
use x11rb::protocol::Event;
use x11rb::protocol::xinput::ConnectionExt as _;
use x11rb::protocol::xproto::{
    AtomEnum, ChangeWindowAttributesAux, ClientMessageEvent, ConnectionExt as _, EventMask, Window,
};

use super::device_pair::PairIds;
use super::session::Session;
use super::watch::Watch;
use super::windows::Own;
use crate::DesktopError;

/// An application may come forward so long after the act that made it.
const AFTER: Duration = Duration::from_secs(1);
/// A wish may be followed so late.
const FOLLOWED: Duration = Duration::from_secs(3);
/// A click or a shortcut of the user's own so shortly before is why another window is active.
const PRESSED: Duration = Duration::from_millis(700);
/// An application that was clicked wants to be in front, and is behind again, within this; keys that come meanwhile it drops.
const SETTLES: Duration = Duration::from_millis(150);
/// At the longest.
const MOST: Duration = Duration::from_secs(1);
/// Between two looks whether there still is an agent.
const LOOK: Duration = Duration::from_millis(250);
/// Who asks, in EWMH's words.
const PAGER: u32 = 2;
/// How long a program may take to show its window.
const STARTS: Duration = Duration::from_secs(15);
/// A window that comes again so often is left in front.
const TIMES: usize = 3;
/// For the watch to hear of the press that has brought a window up.
const HEARS: Duration = Duration::from_millis(10);

/// Ends with the last one who has it.
pub(super) struct UsersWindow {
    acts: Mutex<Acts>,
}

#[derive(Default)]
struct Acts {
    now: usize,
    /// Processes that were operated.
    operated: BTreeSet<u32>,
    /// When a program was started last.
    launched: Option<Instant>,
    ended: Option<Instant>,
    /// When the user's window was made active again last.
    given_back: Option<Instant>,
}

/// An act under way.
pub(super) struct Acting(Arc<UsersWindow>);

impl Drop for Acting {
    fn drop(&mut self) {
        let mut acts = self.0.acts();
        acts.now -= 1;
        acts.ended = Some(Instant::now());
    }
}

impl UsersWindow {
    /// # Errors
    /// Where the display cannot be reached.
    pub(super) fn keep(
        display: Option<&str>,
        own: Own,
        watch: Arc<Watch>,
        pair: PairIds,
    ) -> Result<Arc<Self>, DesktopError> {
        let session = Session::connect(display)?;
        let seen = ChangeWindowAttributesAux::new()
            .event_mask(EventMask::SUBSTRUCTURE_NOTIFY | EventMask::PROPERTY_CHANGE);
        session.conn.change_window_attributes(session.root, &seen)?.check()?;
        let kept = Arc::new(Self { acts: Mutex::default() });
        let weak = Arc::downgrade(&kept);
        let mut keeper = Keeper {
            session,
            own,
            watch,
            pair,
            theirs: None,
            wished: HashMap::new(),
            known: HashMap::new(),
            given_back: Vec::new(),
        };
        keeper.theirs = keeper.active()?;
        keeper.note_windows()?;
        let thread = std::thread::Builder::new().name("desktop-user".into());
        thread
            .spawn(move || keeper.attend(&weak))
            .map_err(|error| DesktopError::Failed(error.to_string()))?;
        Ok(kept)
    }

    /// To be kept for as long as an act goes on.
    pub(super) fn begin(self: &Arc<Self>) -> Acting {
        self.acts().now += 1;
        Acting(Arc::clone(self))
    }

    /// What is operated may come to the front by itself.
    pub(super) fn operates(&self, pid: u32) {
        self.acts().operated.insert(pid);
    }

    /// So may new windows from now on.
    pub(super) fn launches(&self) {
        self.acts().launched = Some(Instant::now());
    }

    /// Waits until an application that was clicked has come to rest behind the user's window.
    pub(super) async fn settled(&self) {
        let begun = Instant::now();
        loop {
            tokio::time::sleep(SETTLES / 5).await;
            let changed = self.acts().given_back.map_or(begun, |at| at.max(begun));
            if changed.elapsed() > SETTLES || begun.elapsed() > MOST {
                return;
            }
        }
    }

    fn is_acted(&self) -> bool {
        let acts = self.acts();
        acts.now > 0 || acts.ended.is_some_and(|ended| ended.elapsed() < AFTER)
    }

    fn acts(&self) -> MutexGuard<'_, Acts> {
        self.acts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

struct Keeper {
    session: Session,
    own: Own,
    watch: Arc<Watch>,
    pair: PairIds,
    /// `None` if no window is active.
    theirs: Option<Window>,
    /// Windows that the user wants to be active, and since when.
    wished: HashMap<Window, Instant>,
    /// All windows, and since when they were there.
    known: HashMap<Window, Instant>,
    /// From which windows the keyboard was given back, and when.
    given_back: Vec<(Window, Instant)>,
}

impl Keeper {
    fn attend(mut self, kept: &Weak<UsersWindow>) {
        loop {
            let Some(kept) = kept.upgrade() else { return };
            if let Err(error) = self.look(&kept) {
                tracing::warn!(%error, "the user's window is not kept any more");
                return;
            }
            drop(kept);
            let most = Timespec { tv_sec: 0, tv_nsec: LOOK.subsec_nanos().into() };
            // An interrupted sleep is a short one.
            let _slept = poll(
                &mut [PollFd::from_borrowed_fd(self.session.conn.stream().as_fd(), PollFlags::IN)],
                Some(&most),
            );
        }
    }

    fn look(&mut self, kept: &UsersWindow) -> Result<(), DesktopError> {
        let atoms = &self.session.atoms;
        let (active, list) = (atoms._NET_ACTIVE_WINDOW, atoms._NET_CLIENT_LIST);
        while let Some(event) = self.session.conn.poll_for_event()? {
            match event {
                Event::ClientMessage(wish)
                    if wish.type_ == active && wish.format == 32 && wish.data.as_data32()[0] == PAGER =>
                {
                    self.wished.insert(wish.window, Instant::now());
                }
                Event::PropertyNotify(changed) if changed.atom == list => self.note_windows()?,
                Event::PropertyNotify(changed) if changed.atom == active => self.changed(kept)?,
                _ => {}
            }
        }
        self.wished.retain(|_, at| at.elapsed() < FOLLOWED);
        Ok(())
    }

    /// Another window is active.
    fn changed(&mut self, kept: &UsersWindow) -> Result<(), DesktopError> {
        let Some(now) = self.active()? else { return Ok(()) };
        let Some(theirs) = self.theirs.filter(|theirs| *theirs != now) else {
            self.theirs = Some(now);
            return Ok(());
        };
        self.given_back.retain(|(_, at)| at.elapsed() < FOLLOWED);
        let times = self.given_back.iter().filter(|(window, _)| *window == now).count();
        let is_agents = kept.is_acted() && self.is_agents(now, theirs, kept)? && times < TIMES;
        if is_agents {
            std::thread::sleep(HEARS);
        }
        let is_theirs = !is_agents
            || self.wished.contains_key(&now)
            || self.has_pressed()
            || !self.windows()?.contains(&theirs)
            || self.is_ours(now)
            || self.is_under_pointer(now)?;
        if is_theirs {
            self.theirs = Some(now);
            return Ok(());
        }
        self.given_back.push((now, Instant::now()));
        let data = [PAGER, x11rb::CURRENT_TIME, 0, 0, 0];
        let event = ClientMessageEvent::new(32, theirs, self.session.atoms._NET_ACTIVE_WINDOW, data);
        let read_by = EventMask::SUBSTRUCTURE_REDIRECT | EventMask::SUBSTRUCTURE_NOTIFY;
        self.session.conn.send_event(false, self.session.root, read_by, event)?;
        self.session.conn.flush()?;
        kept.acts().given_back = Some(Instant::now());
        Ok(())
    }

    /// Whether a window may have come up by what the agent does: its program is operated, or was just started.
    fn is_agents(&self, now: Window, theirs: Window, kept: &UsersWindow) -> Result<bool, DesktopError> {
        let (its, users) = (self.pid(now)?, self.pid(theirs)?);
        let (operated, launched) = {
            let acts = kept.acts();
            (its.is_some_and(|pid| acts.operated.contains(&pid)), acts.launched)
        };
        let pointed = self.session.conn.xinput_xi_query_pointer(self.session.root, self.pair.pointer())?;
        let over = pointed.reply()?.child;
        if self.session.top_of(now) == Some(over) {
            return Ok(true);
        }
        // What the user works with opens windows of its own.
        if its.is_some() && its == users {
            return Ok(false);
        }
        let is_new = launched.is_some_and(|launched| {
            launched.elapsed() < STARTS && self.known.get(&now).is_none_or(|since| *since >= launched)
        });
        Ok(is_new || operated || (its.is_some() && self.pid(over)? == its))
    }

    fn pid(&self, window: Window) -> Result<Option<u32>, DesktopError> {
        if window == x11rb::NONE {
            return Ok(None);
        }
        Ok(self.session.client_in(window, self.session.atoms._NET_WM_PID, 0)?.and_then(|(_, pid)| pid))
    }

    fn has_pressed(&self) -> bool {
        let last = self.watch.last_press();
        last.click.into_iter().chain(last.shortcut).any(|at| at.elapsed() < PRESSED)
    }

    /// The user's pointer.
    fn is_under_pointer(&self, window: Window) -> Result<bool, DesktopError> {
        let over = self.session.conn.query_pointer(self.session.root)?.reply()?.child;
        Ok(self.session.top_of(window) == Some(over))
    }

    /// One of ours comes forward with a question.
    fn is_ours(&self, window: Window) -> bool {
        self.session.is_ours(window, &self.own).unwrap_or(true)
    }

    fn active(&self) -> Result<Option<Window>, DesktopError> {
        let active = self.of_root(self.session.atoms._NET_ACTIVE_WINDOW)?;
        Ok(active.first().copied().filter(|window| *window != x11rb::NONE))
    }

    fn windows(&self) -> Result<Vec<Window>, DesktopError> {
        self.of_root(self.session.atoms._NET_CLIENT_LIST)
    }

    fn note_windows(&mut self) -> Result<(), DesktopError> {
        let windows = self.windows()?;
        self.known.retain(|window, _| windows.contains(window));
        for window in windows {
            self.known.entry(window).or_insert_with(Instant::now);
        }
        Ok(())
    }

    fn of_root(&self, property: u32) -> Result<Vec<u32>, DesktopError> {
        let (conn, root) = (&self.session.conn, self.session.root);
        let reply = conn.get_property(false, root, property, AtomEnum::ANY, 0, 4_096)?.reply()?;
        Ok(reply.value32().map(Iterator::collect).unwrap_or_default())
    }
}
