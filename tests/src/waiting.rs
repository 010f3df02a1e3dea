//! Waiting for conditions. Nothing here ever waits for a fixed time.

use std::time::{Duration, Instant};

use anyhow::{Result, bail};

/// For things that take seconds on a quiet machine: a bound that a busy one does not pass.
pub const LONG: Duration = Duration::from_secs(60);

const POLL: Duration = Duration::from_millis(20);

/// Asks `condition` until it answers something.
///
/// # Errors
/// Names `what` when `bound` has passed.
pub fn wait_for<T>(what: &str, bound: Duration, mut condition: impl FnMut() -> Option<T>) -> Result<T> {
    let started = Instant::now();
    loop {
        if let Some(found) = condition() {
            return Ok(found);
        }
        if started.elapsed() > bound {
            bail!("waited {bound:?} in vain for {what}");
        }
        std::thread::sleep(POLL);
    }
}
