//! The bound of a stop by the corner, held by most of a hundred: a machine that does other work, or stands still for a
//! moment, is late in some. The bar's 99 of 100 are what `cargo xtask bench desktop` measures, of a thousand.

use std::time::Duration;

use crate::screen::{HEIGHT, Screen, Target, WIDTH};
use crate::trials::measure;

// bar: C77
#[tokio::test(flavor = "multi_thread")]
async fn from_the_corner_to_the_last_event_are_at_most_100_ms_in_most_stops() {
    let screen = Screen::new();
    let target = Target::new(&screen, "target", (0, 0, WIDTH, HEIGHT), 0x0020_b040);
    target.focus();
    let trials = measure(&screen, 100).await;
    let (median, p99, most) = (trials.percentile(50), trials.percentile(99), trials.percentile(100));
    println!("corner to last event: p50 {median:?}, p99 {p99:?}, max {most:?}; {} as corner", trials.corners);
    assert!(trials.percentile(90) <= Duration::from_millis(100), "{:?}", trials.late);
    assert!(trials.percentile(98) <= Duration::from_secs(1), "{:?}", trials.late);
    assert!(trials.corners > 30, "{}", trials.corners);
}
