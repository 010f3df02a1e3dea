//! Sees every input event on the stage with the time it came, whoever sent it: how a stop is measured from outside.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use anyhow::Result;
use x11rb::connection::Connection;
use x11rb::protocol::Event;
use x11rb::protocol::xinput::{ConnectionExt as _, EventMask, XIEventMask};

use super::Stage;
use super::xserver::SyncNow;

/// XInput2's number for "all master devices".
const ALL_MASTERS: u16 = 1;

pub struct Witness {
    seen: Arc<Mutex<Vec<Instant>>>,
    over: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Stage {
    /// Starts to watch all keys and buttons; pointer motion is left out, since a drag ends where it ends.
    ///
    /// # Errors
    /// Where the display has no XInput2.
    pub fn witness(&self) -> Result<Witness> {
        let (connection, screen) = self.connect()?;
        let root = connection.setup().roots[screen].root;
        connection.xinput_xi_query_version(2, 2)?.reply()?;
        let mask = XIEventMask::RAW_KEY_PRESS | XIEventMask::RAW_BUTTON_PRESS;
        connection.xinput_xi_select_events(root, &[EventMask { deviceid: ALL_MASTERS, mask: vec![mask] }])?;
        connection.sync_now()?;
        let (seen, over) = (Arc::new(Mutex::new(Vec::new())), Arc::new(AtomicBool::new(false)));
        let (seen_by_thread, over_for_thread) = (seen.clone(), over.clone());
        let thread = std::thread::spawn(move || {
            while !over_for_thread.load(Ordering::Relaxed) {
                match connection.poll_for_event() {
                    Ok(Some(Event::XinputRawKeyPress(_) | Event::XinputRawButtonPress(_))) => {
                        seen_by_thread.lock().unwrap_or_else(PoisonError::into_inner).push(Instant::now());
                    }
                    Ok(Some(_)) => {}
                    Ok(None) => std::thread::sleep(Duration::from_millis(1)),
                    Err(_) => break,
                }
            }
        });
        Ok(Witness { seen, over, thread: Some(thread) })
    }
}

impl Witness {
    pub fn count(&self) -> usize {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner).len()
    }

    /// When the newest event came.
    pub fn last(&self) -> Option<Instant> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner).last().copied()
    }
}

impl Drop for Witness {
    fn drop(&mut self) {
        self.over.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
