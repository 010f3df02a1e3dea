//! Stops by the corner, measured: from the user's hand to the last event that our hands send.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use desktop::{Action, Button, Interruption, Key};
use x11rb::connection::Connection as _;
use x11rb::protocol::Event;
use x11rb::protocol::xinput::{ConnectionExt as _, EventMask, XIEventMask};

use crate::screen::{Screen, at, token};
use crate::user::User;

/// What a number of trials came to, sorted.
pub struct Trials {
    pub late: Vec<Duration>,
    /// How many were told as the corner; the others as the user's hand on its way there.
    pub corners: usize,
}

impl Trials {
    /// The time that so much of a hundred were not later than.
    pub fn percentile(&self, percent: usize) -> Duration {
        self.late[(self.late.len() * percent / 100).min(self.late.len() - 1)]
    }
}

/// Writes down when a program's last event came.
struct Witness {
    last: Arc<Mutex<Option<Instant>>>,
    over: Arc<AtomicBool>,
}

impl Witness {
    fn new(screen: &Screen) -> Self {
        let conn = screen.connect();
        let root = conn.setup().roots[0].root;
        conn.xinput_xi_query_version(2, 2).unwrap().reply().unwrap();
        let devices = conn.xinput_xi_query_device(0_u16).unwrap().reply().unwrap().infos;
        let programs: Vec<u16> = devices
            .iter()
            .filter(|device| String::from_utf8_lossy(&device.name).contains("XTEST"))
            .map(|device| device.deviceid)
            .collect();
        let mask = XIEventMask::RAW_KEY_PRESS | XIEventMask::RAW_BUTTON_PRESS | XIEventMask::RAW_MOTION;
        let masks = [EventMask { deviceid: 1, mask: vec![mask] }];
        conn.xinput_xi_select_events(root, &masks).unwrap().check().unwrap();
        let (last, over) = (Arc::new(Mutex::new(None)), Arc::new(AtomicBool::new(false)));
        let (seen, ended) = (Arc::clone(&last), Arc::clone(&over));
        std::thread::spawn(move || {
            while let Ok(event) = conn.wait_for_event() {
                if ended.load(Ordering::SeqCst) {
                    return;
                }
                let source = match &event {
                    Event::XinputRawKeyPress(event) => event.sourceid,
                    Event::XinputRawButtonPress(event) | Event::XinputRawMotion(event) => event.sourceid,
                    _ => continue,
                };
                if programs.contains(&source) {
                    *seen.lock().unwrap() = Some(Instant::now());
                }
            }
        });
        Self { last, over }
    }

    fn last(&self) -> Option<Instant> {
        *self.last.lock().unwrap()
    }
}

impl Drop for Witness {
    fn drop(&mut self) {
        // It ends with the next event, or with the server.
        self.over.store(true, Ordering::SeqCst);
    }
}

/// Long typing, a long drag, a held modifier with clicks: what is stopped.
fn work(kind: usize) -> Vec<Action> {
    let points =
        |count: u32| (0..count).map(|i| at(200.0 + f64::from(i % 2) * 90.0, 200.0 + f64::from(i % 300)));
    match kind % 3 {
        0 => vec![Action::Press { key: Key::Char('a'), times: 200 }],
        1 => {
            vec![Action::Drag { display: 0, path: points(400).collect(), button: Button::Left, held: vec![] }]
        }
        _ => std::iter::once(Action::KeyDown { key: Key::Shift })
            .chain(points(20).map(|at| Action::Click {
                display: 0,
                at,
                button: Button::Left,
                count: 1,
                held: vec![Key::Ctrl],
            }))
            .chain([Action::KeyUp { key: Key::Shift }])
            .collect(),
    }
}

pub async fn measure(screen: &Screen, count: usize) -> Trials {
    let (user, witness, desktop) = (Arc::new(User::new(screen)), Witness::new(screen), screen.desktop());
    // As a run does: someone waits all the time.
    let _seat = desktop.interrupted();
    let mut trials = Trials { late: Vec::with_capacity(count), corners: 0 };
    for trial in 0..count {
        user.point(600, 400);
        let before = witness.last();
        let cancel = token();
        let interrupted = desktop.interrupted();
        let working = tokio::spawn({
            let (desktop, cancel) = (Arc::clone(&desktop), cancel.clone());
            async move {
                while !cancel.is_cancelled() {
                    for action in work(trial) {
                        let _stopped = desktop.act(action, cancel.clone()).await;
                    }
                    desktop.release_all();
                }
            }
        });
        let begun = Instant::now();
        while witness.last() == before {
            assert!(begun.elapsed() < Duration::from_secs(20), "nothing was done; has the server ended?");
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        // At another moment of the work each time.
        tokio::time::sleep(Duration::from_micros(trial as u64 * 7_919 % 30_000)).await;
        let thrown = Instant::now();
        // Until it stops, as a hand does: a drag of ours takes the pointer out of the corner again.
        let throwing = tokio::spawn({
            let user = Arc::clone(&user);
            async move {
                loop {
                    user.point(0, 0);
                    tokio::time::sleep(Duration::from_millis(3)).await;
                }
            }
        });
        let how = tokio::time::timeout(Duration::from_secs(20), interrupted).await.expect("no stop");
        // What the run does then.
        cancel.cancel();
        desktop.release_all();
        throwing.abort();
        working.await.unwrap();
        // Whatever is still on its way has come by then.
        tokio::time::sleep(Duration::from_millis(15)).await;
        trials.corners += usize::from(how == Interruption::Corner);
        let last = witness.last().unwrap_or(thrown);
        trials.late.push(last.saturating_duration_since(thrown));
    }
    trials.late.sort();
    trials
}
