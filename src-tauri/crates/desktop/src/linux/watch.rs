//! How the user steps in: the corner, Escape held for a second, the user's own mouse or keyboard.
//!
//! A thread and a connection of its own, so that it waits for nobody; both are there only while someone waits for
//! them, and a moment longer. Raw events of the input extension come before any grab and name the device they are
//! from: what comes from the server's XTEST devices (our acts, and other programs') is not the user's hand. The corner
//! and Escape count from any device, but our own acts keep out of the one, and what we hold ourselves is no stop.
//! What the user does on our own windows, answering a question for example, is no stepping in.

use std::os::fd::{AsFd as _, OwnedFd};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::{Duration, Instant};

use rustix::event::{EventfdFlags, PollFd, PollFlags, Timespec, eventfd, poll};
use tokio::sync::watch;

use super::pressed::PressedInput;
use super::windows::Own;
use crate::{DesktopError, Interruption, LastPress};

mod senses;

use self::senses::Senses;

/// Between two tries to reach the server, where it is gone.
const RETRY: Duration = Duration::from_secs(2);
/// Longest time between one who listens and the next, on a busy machine.
const LINGER: Duration = Duration::from_millis(500);

pub(super) struct Watch {
    display: Option<String>,
    own: Own,
    held: Arc<PressedInput>,
    seats: AtomicUsize,
    /// Someone has begun to wait: what goes on already is told again.
    newcomer: AtomicBool,
    told: watch::Sender<Option<Interruption>>,
    /// What the user pressed on no window of ours.
    presses: AtomicU64,
    last_press: Mutex<LastPress>,
    /// Wakes the thread; `None` if there is no thread yet.
    wake: Mutex<Option<Arc<OwnedFd>>>,
}

/// One who waits.
pub(super) struct Seat {
    watch: Arc<Watch>,
    told: watch::Receiver<Option<Interruption>>,
}

impl Seat {
    /// Completes when the user steps in after the seat was taken.
    pub(super) async fn interrupted(mut self) -> Interruption {
        loop {
            if self.told.changed().await.is_err() {
                std::future::pending::<()>().await;
            }
            if let Some(how) = *self.told.borrow_and_update() {
                return how;
            }
        }
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        // The thread sleeps without a timeout once nobody waits, so the last one tells it.
        if self.watch.seats.fetch_sub(1, Ordering::SeqCst) == 1 {
            self.watch.wake();
        }
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.wake();
    }
}

impl Watch {
    pub(super) fn new(display: Option<String>, own: Own, held: Arc<PressedInput>) -> Arc<Self> {
        Arc::new(Self {
            display,
            own,
            held,
            seats: AtomicUsize::new(0),
            newcomer: AtomicBool::new(false),
            told: watch::channel(None).0,
            presses: AtomicU64::new(0),
            last_press: Mutex::default(),
            wake: Mutex::new(None),
        })
    }

    pub(super) fn seat(self: &Arc<Self>) -> Seat {
        let mut told = self.told.subscribe();
        told.mark_unchanged();
        self.seats.fetch_add(1, Ordering::SeqCst);
        self.newcomer.store(true, Ordering::SeqCst);
        self.start();
        self.wake();
        Seat { watch: Arc::clone(self), told }
    }

    pub(super) fn presses(&self) -> u64 {
        self.presses.load(Ordering::SeqCst)
    }

    pub(super) fn last_press(&self) -> LastPress {
        *self.last_press.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wake(&self) {
        let wake = self.wake.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(wake) = &*wake {
            // It fails only where so many wakes are pending that one more changes nothing.
            let _pending = rustix::io::write(wake, &1u64.to_ne_bytes());
        }
    }

    fn start(self: &Arc<Self>) {
        let mut wake = self.wake.lock().unwrap_or_else(PoisonError::into_inner);
        if wake.is_some() {
            return;
        }
        let started = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)
            .map_err(Into::into)
            .and_then(|event| {
                let (event, watch) = (Arc::new(event), Arc::downgrade(self));
                let woken = Arc::clone(&event);
                let thread = std::thread::Builder::new().name("desktop-watch".into());
                thread.spawn(move || keep_watch(&watch, &woken)).map(|_| event)
            });
        match started {
            Ok(event) => *wake = Some(event),
            Err(error) => {
                tracing::error!(%error, "neither the failsafe corner nor the user's input is watched")
            }
        }
    }

    fn tell(&self, how: Interruption) {
        self.told.send_replace(Some(how));
    }

    /// Looks once at all that has happened; answers how long to sleep at most.
    fn look(&self, senses: &mut Option<Senses>) -> Result<Duration, DesktopError> {
        let newcomer = self.newcomer.swap(false, Ordering::SeqCst);
        let senses = match senses {
            Some(senses) => senses,
            none => none.insert(Senses::open(self.display.as_deref(), self.own.clone())?),
        };
        if newcomer {
            senses.tell_again();
        }
        let pressed = senses.look(&self.held, |how| self.tell(how))?;
        self.presses.fetch_add(pressed.counted, Ordering::SeqCst);
        let mut last = self.last_press.lock().unwrap_or_else(PoisonError::into_inner);
        last.elsewhere = pressed.last.elsewhere.or(last.elsewhere);
        last.key = pressed.last.key.or(last.key);
        last.click = pressed.last.click.or(last.click);
        last.shortcut = pressed.last.shortcut.or(last.shortcut);
        Ok(senses.sleep())
    }
}

fn keep_watch(watch: &Weak<Watch>, wake: &OwnedFd) {
    let mut senses: Option<Senses> = None;
    let mut left = Instant::now();
    while let Some(watch) = watch.upgrade() {
        if watch.seats.load(Ordering::SeqCst) > 0 {
            left = Instant::now();
        }
        // Whoever was told something listens again in a moment: what is pressed until then is counted, and what is
        // held is not forgotten.
        let sleep = if left.elapsed() < LINGER {
            match watch.look(&mut senses) {
                Ok(sleep) => Some(sleep),
                Err(error) => {
                    tracing::debug!(%error, "the user's input cannot be watched; trying again");
                    senses = None;
                    Some(RETRY)
                }
            }
        } else {
            // Closed, so that events do not pile up that nobody reads.
            senses = None;
            None
        };
        drop(watch);
        wait(senses.as_ref(), wake, sleep);
    }
}

/// Sleeps until the server says something, someone wakes us, or the time is over.
fn wait(senses: Option<&Senses>, wake: &OwnedFd, most: Option<Duration>) {
    let most = most.map(|most| Timespec {
        tv_sec: i64::try_from(most.as_secs()).unwrap_or(i64::MAX),
        tv_nsec: most.subsec_nanos().into(),
    });
    let mut all = vec![PollFd::new(wake, PollFlags::IN)];
    if let Some(senses) = senses {
        all.push(PollFd::from_borrowed_fd(senses.session.conn.stream().as_fd(), PollFlags::IN));
    }
    // An interrupted sleep is a short one.
    let _slept = poll(&mut all, most.as_ref());
    let mut count = [0; 8];
    let _drained = rustix::io::read(wake, &mut count);
}
