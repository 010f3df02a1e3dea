//! Where times come from: passed in, so that tests have their own.

use std::time::{SystemTime, UNIX_EPOCH};

use protocol::ids::Timestamp;

/// Tells the time of day. For people to read; nothing is ordered by it.
pub trait Clock: Send + Sync {
    fn now(&self) -> Timestamp;
}

/// The machine's clock.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        let millis = match SystemTime::now().duration_since(UNIX_EPOCH) {
            Ok(after) => i64::try_from(after.as_millis()).unwrap_or(i64::MAX),
            // A clock set before 1970 is odd, but no reason to fail.
            Err(before) => i64::try_from(before.duration().as_millis()).map_or(i64::MIN, |m| -m),
        };
        Timestamp(millis)
    }
}
