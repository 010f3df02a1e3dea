//! Measures stops by the corner on a screen of its own: `cargo run --release -p desktop --example corner -- 1000`.
//! Prints one line of JSON: trials, p50, p99 and the longest, in milliseconds.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    dead_code,
    reason = "measures with what the tests use, and ends where something is not as it must be"
)]

#[cfg(target_os = "linux")]
#[path = "../tests/x11/screen.rs"]
mod screen;
#[cfg(target_os = "linux")]
#[path = "../tests/x11/trials.rs"]
mod trials;
#[cfg(target_os = "linux")]
#[path = "../tests/x11/user.rs"]
mod user;

#[cfg(target_os = "linux")]
fn main() {
    use screen::{HEIGHT, Screen, Target, WIDTH};

    let count = std::env::args().nth(1).map_or(1000, |count| count.parse().unwrap());
    let screen = Screen::new();
    let target = Target::new(&screen, "target", (0, 0, WIDTH, HEIGHT), 0x0020_b040);
    target.focus();
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let trials = runtime.block_on(trials::measure(&screen, count));
    let millis = |percent| trials.percentile(percent).as_secs_f64() * 1000.0;
    println!(
        "{}",
        serde_json::json!({
            "trials": count, "corners": trials.corners, "p50": millis(50), "p99": millis(99), "max": millis(100),
        })
    );
}

#[cfg(not(target_os = "linux"))]
fn main() {}
