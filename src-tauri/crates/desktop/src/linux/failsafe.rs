//! The failsafe: the user throws the pointer into the top left corner, and everything stops.
//!
//! Watched on a thread and a connection of its own, only while someone waits for it. Our own acts never go into the
//! corner (`input.rs` refuses them), so whoever put the pointer there was not us.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError, Weak};
use std::time::Duration;

use protocol::geometry::{PhysicalPoint, PhysicalRect};
use tokio::sync::watch;

use super::session::Session;

/// Between two looks at the pointer.
const LOOK: Duration = Duration::from_millis(25);
/// Between two tries to reach the server, where it is gone.
const RETRY: Duration = Duration::from_secs(2);

/// Whether a point is within `reach` pixels of a corner that the pointer can be thrown into: a display's top left
/// one, with no display beyond it.
pub(super) fn in_corner(point: PhysicalPoint, displays: &[PhysicalRect], reach: i32) -> bool {
    displays.iter().any(|display| {
        let left = PhysicalPoint { x: display.x - 1, y: display.y };
        let above = PhysicalPoint { x: display.x, y: display.y - 1 };
        let open = displays.iter().any(|other| other.contains(left) || other.contains(above));
        let near = |value: i32, corner: i32| (0..=reach).contains(&(value - corner));
        !open && near(point.x, display.x) && near(point.y, display.y)
    })
}

pub(super) struct Failsafe {
    display: Option<String>,
    waiting: Waiting,
    trips: watch::Sender<u64>,
    started: Mutex<bool>,
}

#[derive(Default)]
struct Waiting {
    count: AtomicUsize,
    lock: Mutex<()>,
    changed: Condvar,
}

/// One who waits; the thread sleeps when there is none.
struct Seat(Arc<Failsafe>);

impl Drop for Seat {
    fn drop(&mut self) {
        self.0.waiting.count.fetch_sub(1, Ordering::SeqCst);
    }
}

impl Failsafe {
    pub(super) fn new(display: Option<String>) -> Arc<Self> {
        let (trips, _) = watch::channel(0);
        Arc::new(Self { display, waiting: Waiting::default(), trips, started: Mutex::new(false) })
    }

    /// Completes when the pointer is in the corner.
    pub(super) async fn tripped(self: Arc<Self>) {
        let mut trips = self.trips.subscribe();
        trips.mark_unchanged();
        let _seat = Seat(Arc::clone(&self));
        self.waiting.count.fetch_add(1, Ordering::SeqCst);
        self.start();
        {
            let _lock = self.waiting.lock.lock().unwrap_or_else(PoisonError::into_inner);
            self.waiting.changed.notify_all();
        }
        if trips.changed().await.is_err() {
            std::future::pending::<()>().await;
        }
    }

    fn start(self: &Arc<Self>) {
        let mut started = self.started.lock().unwrap_or_else(PoisonError::into_inner);
        if *started {
            return;
        }
        let failsafe = Arc::downgrade(self);
        let spawned = std::thread::Builder::new()
            .name("desktop-failsafe".into())
            .spawn(move || watch_pointer(&failsafe));
        match spawned {
            Ok(_) => *started = true,
            Err(error) => tracing::error!(%error, "the failsafe corner is not watched"),
        }
    }

    /// Sleeps while nobody waits; looks up now and then, whether everybody has gone.
    fn sleep_while_unwatched(&self) {
        let lock = self.waiting.lock.lock().unwrap_or_else(PoisonError::into_inner);
        let unwatched = |(): &mut ()| self.waiting.count.load(Ordering::SeqCst) == 0;
        let _woken = self.waiting.changed.wait_timeout_while(lock, Duration::from_secs(30), unwatched);
    }
}

fn watch_pointer(failsafe: &Weak<Failsafe>) {
    let mut session: Option<Session> = None;
    let mut corners: Vec<PhysicalRect> = Vec::new();
    let mut looks: u32 = 0;
    while let Some(failsafe) = failsafe.upgrade() {
        if failsafe.waiting.count.load(Ordering::SeqCst) == 0 {
            failsafe.sleep_while_unwatched();
            continue;
        }
        let Some(open) = session.take().or_else(|| Session::connect(failsafe.display.as_deref()).ok()) else {
            drop(failsafe);
            std::thread::sleep(RETRY);
            continue;
        };
        // Displays seldom change; the pointer always does.
        if looks.is_multiple_of(200) {
            corners = open.displays().map(|all| all.iter().map(|d| d.bounds).collect()).unwrap_or_default();
        }
        looks = looks.wrapping_add(1);
        if let Ok(pointer) = open.pointer() {
            if in_corner(pointer, &corners, 0) {
                failsafe.trips.send_modify(|trips| *trips += 1);
            }
            session = Some(open);
        } else {
            looks = 0;
        }
        drop(failsafe);
        std::thread::sleep(LOOK);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LEFT: PhysicalRect = PhysicalRect { x: 0, y: 0, width: 1920, height: 1080 };
    const RIGHT: PhysicalRect = PhysicalRect { x: 1920, y: 0, width: 1280, height: 1024 };

    #[test]
    fn only_a_corner_that_stops_the_pointer_counts() {
        let at = |x, y| in_corner(PhysicalPoint { x, y }, &[LEFT, RIGHT], 0);
        assert!(at(0, 0));
        assert!(!at(1, 0) && !at(0, 1) && !at(1920, 0) && !at(960, 540));
    }

    #[test]
    fn our_own_acts_keep_two_pixels_away() {
        let near = |x, y| in_corner(PhysicalPoint { x, y }, &[LEFT], 2);
        assert!(near(2, 2) && near(0, 2) && !near(3, 0) && !near(0, 3));
    }
}
