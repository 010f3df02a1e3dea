//! The watchdog's far side on macOS and Windows: waits for the end of the program that started it, and lets go of what
//! that one held. Does nothing before, and ends right after.
//!
//! Type-checked; not run by this project's tests. On macOS a process that sends input needs the Accessibility
//! permission: this is the same program in the same bundle, to which that was given.

use std::io::BufReader;
use std::thread::sleep;
use std::time::Duration;

use super::super::input;
use super::heard;
use crate::DesktopError;

/// A press may still be on its way when the end of the program that sent it is heard: released again after this.
const AGAIN: Duration = Duration::from_millis(30);
const ROUNDS: u32 = 3;

pub(crate) fn run_watchdog() -> Result<(), DesktopError> {
    let down = heard(BufReader::new(std::io::stdin().lock()));
    if down.is_empty() {
        return Ok(());
    }
    let mut enigo = input::connect()?;
    for _ in 0..ROUNDS {
        input::let_go_of(&mut enigo, &down);
        sleep(AGAIN);
    }
    Ok(())
}
