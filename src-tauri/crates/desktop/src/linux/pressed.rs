//! What this program holds down, and letting go of it: from any thread, at once, on a connection of its own.
//!
//! The watchdog (`watchdog.rs`) is told before anything goes down, and that it is up only once the server has said so: a
//! server may drop what it has not read yet of a client that ends.
//!
//! A press that races with a release never stays down: whoever pressed looks again afterwards, and lets go itself.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio_util::sync::CancellationToken;
use x11rb::connection::Connection as _;
use x11rb::protocol::xproto::{
    BUTTON_PRESS_EVENT, BUTTON_RELEASE_EVENT, ConnectionExt as _, KEY_PRESS_EVENT, KEY_RELEASE_EVENT,
};
use x11rb::protocol::xtest::ConnectionExt as _;

use super::device_pair::DevicePair;
use super::session::Session;
use super::watchdog::Watchdog;
use crate::DesktopError;

/// How long the end of this program may wait for the server.
const LAST_WORD: std::time::Duration = std::time::Duration::from_millis(200);

/// A key by its code, or a pointer button by its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Down {
    Key(u8),
    Button(u8),
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    Press,
    Release,
}

pub(super) struct PressedInput {
    display: Option<String>,
    /// With which it is pressed; the user's if `None`.
    pub(super) pair: Option<Arc<DevicePair>>,
    down: Mutex<BTreeSet<Down>>,
    /// What the acts under way have pressed on their own connection, whoever has released it since.
    pressed: Mutex<BTreeSet<Down>>,
    /// Where the button that is down was pressed: a stop takes what is dragged back there before it lets go.
    drag_origin: Mutex<Option<(i16, i16)>>,
    /// Acts under way.
    acting: AtomicUsize,
    /// Counts releases of everything; an action begun before one of them is over.
    epoch: AtomicU64,
    session: Mutex<Option<Arc<Session>>>,
    pub(super) watchdog: Watchdog,
}

/// An act under way.
pub(super) struct Acting(Arc<PressedInput>);

impl Drop for Acting {
    fn drop(&mut self) {
        self.0.acting.fetch_sub(1, Ordering::SeqCst);
    }
}

/// When an action has to end.
pub(super) struct Stop {
    cancel: CancellationToken,
    held: Arc<PressedInput>,
    epoch: u64,
}

impl Stop {
    pub(super) fn new(cancel: CancellationToken, held: &Arc<PressedInput>) -> Self {
        Self { cancel, held: Arc::clone(held), epoch: held.epoch.load(Ordering::SeqCst) }
    }

    /// # Errors
    /// [`DesktopError::Cancelled`] once the action is to end.
    pub(super) fn check(&self) -> Result<(), DesktopError> {
        if self.cancel.is_cancelled() || self.held.epoch.load(Ordering::SeqCst) != self.epoch {
            Err(DesktopError::Cancelled)
        } else {
            Ok(())
        }
    }

    /// Waits in small pieces, for applications that need time between two events.
    pub(super) fn pause(&self, duration: std::time::Duration) -> Result<(), DesktopError> {
        let end = std::time::Instant::now() + duration;
        loop {
            self.check()?;
            let left = end.saturating_duration_since(std::time::Instant::now());
            if left.is_zero() {
                return Ok(());
            }
            std::thread::sleep(left.min(std::time::Duration::from_millis(10)));
        }
    }
}

impl PressedInput {
    /// `session` is kept for releasing alone; without one, releasing opens its own.
    pub(super) fn new(
        display: Option<String>,
        pair: Option<Arc<DevicePair>>,
        session: Option<Arc<Session>>,
        watchdog: Watchdog,
    ) -> Arc<Self> {
        Arc::new(Self {
            display,
            pair,
            down: Mutex::new(BTreeSet::new()),
            pressed: Mutex::default(),
            drag_origin: Mutex::default(),
            acting: AtomicUsize::new(0),
            epoch: AtomicU64::new(0),
            session: Mutex::new(session),
            watchdog,
        })
    }

    fn down(&self) -> MutexGuard<'_, BTreeSet<Down>> {
        self.down.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn drag_origin(&self) -> MutexGuard<'_, Option<(i16, i16)>> {
        self.drag_origin.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Moves the pointer back to where the button went down, if one is among these: nothing is dropped where a stop
    /// happened to come.
    fn take_back(&self, session: &Session, down: &BTreeSet<Down>) -> Result<(), DesktopError> {
        if down.iter().any(|what| matches!(what, Down::Button(_)))
            && let Some((x, y)) = self.drag_origin().take()
        {
            session.move_to((x, y))?;
        }
        Ok(())
    }

    fn pressed(&self) -> MutexGuard<'_, BTreeSet<Down>> {
        self.pressed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// To be kept while an act is under way.
    pub(super) fn begin(self: &Arc<Self>) -> Acting {
        self.acting.fetch_add(1, Ordering::SeqCst);
        Acting(Arc::clone(self))
    }

    /// An act was cut short: lets go of what it pressed on the connection that pressed it, and waits for the server.
    /// A release from another connection may have overtaken the press.
    pub(super) fn release_pressed(&self, session: &Session) -> Result<(), DesktopError> {
        let pressed = std::mem::take(&mut *self.pressed());
        self.take_back(session, &pressed)?;
        release_each(session, &pressed)?;
        session.sync()
    }

    pub(super) fn has(&self, what: Down) -> bool {
        self.down().contains(&what)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.down().is_empty()
    }

    pub(super) fn all(&self) -> BTreeSet<Down> {
        self.down().clone()
    }

    /// To be called when the server has worked off all that was released.
    pub(super) fn settle(&self) {
        self.watchdog.only(&self.all());
    }

    /// The program ends as it should: lets go of everything, and gives the server a moment to hear it.
    pub(super) fn end(self: &Arc<Self>) {
        self.release_all();
        let (told, heard) = std::sync::mpsc::sync_channel(1);
        let held = Arc::clone(self);
        let started = std::thread::Builder::new().name("desktop-release".into()).spawn(move || {
            // What is being pressed sees that it is over, and lets go by itself.
            while held.acting.load(Ordering::SeqCst) > 0 {
                std::thread::sleep(std::time::Duration::from_millis(1));
            }
            held.release_all_and_wait();
            let _gone = told.send(());
        });
        if started.is_ok() {
            let _late = heard.recv_timeout(LAST_WORD);
        }
        if let Some(pair) = &self.pair {
            pair.remove();
        }
        self.watchdog.end();
    }

    /// Presses; recorded, also with the watchdog, before it is sent.
    pub(super) fn press(&self, session: &Session, what: Down, stop: &Stop) -> Result<(), DesktopError> {
        self.record(session, what, stop)?;
        send(session, what, Way::Press)?;
        session.conn.flush()?;
        if let Err(stopped) = stop.check() {
            self.release(session, what)?;
            return Err(stopped);
        }
        Ok(())
    }

    /// Clicks `count` times, `pause` apart. All is sent at once, and the server waits in between: on a busy machine clicks
    /// that are sent one by one come too late to be one double click.
    pub(super) fn click(
        &self,
        session: &Session,
        button: u8,
        count: u8,
        pause: Duration,
        stop: &Stop,
    ) -> Result<(), DesktopError> {
        let what = Down::Button(button);
        self.record(session, what, stop)?;
        for index in 0..count {
            let pause = if index == 0 { Duration::ZERO } else { pause };
            send_after(session, what, Way::Press, pause)?;
            send(session, what, Way::Release)?;
        }
        session.conn.flush()?;
        self.down().remove(&what);
        self.pressed().remove(&what);
        Ok(())
    }

    fn record(&self, session: &Session, what: Down, stop: &Stop) -> Result<(), DesktopError> {
        let drags = self.down().iter().any(|down| matches!(down, Down::Button(_)));
        if matches!(what, Down::Button(_)) && !drags {
            let at = session.conn.query_pointer(session.root)?.reply()?;
            *self.drag_origin() = Some((at.root_x, at.root_y));
        }
        // After the wait for the server: what was let go of meanwhile would be missing.
        stop.check()?;
        self.down().insert(what);
        self.pressed().insert(what);
        // What a pair holds comes up with the pair.
        if self.pair.is_none() {
            self.watchdog.down(what);
        }
        Ok(())
    }

    pub(super) fn release(&self, session: &Session, what: Down) -> Result<(), DesktopError> {
        send(session, what, Way::Release)?;
        session.conn.flush()?;
        self.down().remove(&what);
        self.pressed().remove(&what);
        Ok(())
    }

    /// Lets go of what went down since `before`.
    pub(super) fn release_since(
        &self,
        session: &Session,
        before: &BTreeSet<Down>,
    ) -> Result<(), DesktopError> {
        for what in self.all().difference(before) {
            self.release(session, *what)?;
        }
        session.sync()
    }

    /// The same, and waits until the server has done it. For the acting thread alone, before it answers.
    pub(super) fn release_all_and_wait(&self) {
        self.release_all();
        let kept = self.session.lock().unwrap_or_else(PoisonError::into_inner).clone();
        // A broken connection was named where it broke.
        let _synced = kept.map(|session| session.sync());
    }

    /// Lets go of everything, and ends the actions under way. Locks are held for moments only; nothing is waited for.
    pub(super) fn release_all(&self) {
        self.epoch.fetch_add(1, Ordering::SeqCst);
        let down = std::mem::take(&mut *self.down());
        if down.is_empty() {
            return;
        }
        let kept = self.session.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let release = |session: &Session| {
            self.take_back(session, &down)?;
            release_each(session, &down)
        };
        if kept.is_some_and(|session| release(&session).is_ok()) {
            return;
        }
        // The kept connection is gone: open another, away from the caller, who must not wait.
        let (display, pair) = (self.display.clone(), self.pair.clone());
        let started = std::thread::Builder::new().name("desktop-release".into()).spawn(move || {
            let released = Session::connect_as(display.as_deref(), pair.as_deref())
                .and_then(|session| release_each(&session, &down));
            if let Err(error) = released {
                tracing::warn!(%error, "keys or buttons may still be held");
            }
        });
        if let Err(error) = started {
            tracing::warn!(%error, "keys or buttons may still be held");
        }
    }
}

pub(super) fn release_each(session: &Session, down: &BTreeSet<Down>) -> Result<(), DesktopError> {
    for what in down {
        send(session, *what, Way::Release)?;
    }
    session.conn.flush()?;
    Ok(())
}

fn send(session: &Session, what: Down, way: Way) -> Result<(), DesktopError> {
    send_after(session, what, way, Duration::ZERO)
}

/// What is sent later waits for it.
fn send_after(session: &Session, what: Down, way: Way, pause: Duration) -> Result<(), DesktopError> {
    if let Some(pair) = session.pair {
        std::thread::sleep(pause);
        return match (pair.send(session, what, way), way) {
            // With the pair went all that it held.
            (Err(DesktopError::NotAvailable(_)), Way::Release) => Ok(()),
            (sent, _) => sent,
        };
    }
    let (kind, detail) = match (what, way) {
        (Down::Key(code), Way::Press) => (KEY_PRESS_EVENT, code),
        (Down::Key(code), Way::Release) => (KEY_RELEASE_EVENT, code),
        (Down::Button(number), Way::Press) => (BUTTON_PRESS_EVENT, number),
        (Down::Button(number), Way::Release) => (BUTTON_RELEASE_EVENT, number),
    };
    session.conn.xtest_fake_input(kind, detail, pause.as_millis() as u32, session.root, 0, 0, 0)?;
    Ok(())
}
