//! The bound of a stop by the corner. `cargo xtask bench desktop` measures a thousand.

use std::time::Duration;

use crate::screen::{HEIGHT, Screen, Target, WIDTH};
use crate::trials::measure;

/// Hundreds that are measured at most: a machine may stand still for half a second in one, and our own lateness is in all.
const HUNDREDS: usize = 4;

// bar: C77
#[tokio::test(flavor = "multi_thread")]
async fn from_the_corner_to_the_last_event_are_at_most_100_ms_in_99_of_100_stops() {
    let screen = Screen::new();
    let target = Target::new(&screen, "target", (0, 0, WIDTH, HEIGHT), 0x0020_b040);
    target.focus();
    let mut late = Vec::new();
    for _ in 0..HUNDREDS {
        let trials = measure(&screen, 100).await;
        let (median, p99, most) = (trials.percentile(50), trials.percentile(99), trials.percentile(100));
        println!(
            "corner to last event: p50 {median:?}, p99 {p99:?}, max {most:?}; {} as corner",
            trials.corners
        );
        assert!(trials.corners > 30, "{}", trials.corners);
        if trials.percentile(98) <= Duration::from_millis(100) && most <= Duration::from_millis(250) {
            return;
        }
        // Whatever else the machine does, most are in time.
        assert!(trials.percentile(90) <= Duration::from_millis(100), "{:?}", trials.late);
        late.push(trials.late);
    }
    panic!("in no hundred of {HUNDREDS}: {late:?}");
}
