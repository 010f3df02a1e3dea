//! The desktop's work, a piece at a time, for `cargo xtask bench desktop`: each line of standard input names one
//! (`elements chromium visible`), which is done and answered by a line of JSON: `{"ms":[9.8],"count":88}`, or
//! `{"error":"..."}`. Beside the crate's own ways are the bare ones they are measured against.
//!
//! `DISPLAY` and the session bus are the environment's. Judges nothing: what a figure should be is xtask's to know.

#[cfg(target_os = "linux")]
mod acts;
#[cfg(target_os = "linux")]
mod bare;
#[cfg(target_os = "linux")]
mod proxies;
#[cfg(target_os = "linux")]
mod work;

// What the tests stop by the corner is what is measured.
#[cfg(target_os = "linux")]
#[allow(dead_code, clippy::unwrap_used, clippy::panic, reason = "the tests' own")]
#[path = "../../tests/x11/screen.rs"]
mod screen;
#[cfg(target_os = "linux")]
#[allow(dead_code, clippy::unwrap_used, clippy::expect_used, reason = "the tests' own")]
#[path = "../../tests/x11/trials.rs"]
mod trials;
#[cfg(target_os = "linux")]
#[allow(dead_code, clippy::unwrap_used, reason = "the tests' own")]
#[path = "../../tests/x11/user.rs"]
mod user;

#[cfg(not(target_os = "linux"))]
fn main() {}

#[cfg(target_os = "linux")]
#[tokio::main]
async fn main() -> Result<(), work::Failure> {
    if std::env::args().nth(1).is_some_and(|first| first == work::WATCHDOG) {
        return Ok(desktop::run_watchdog()?);
    }
    let mut work = work::Work::open()?;
    for line in std::io::stdin().lines() {
        let line = line?;
        // As the app does its calls: in a task, and not on the thread that waits for it.
        let task = tokio::spawn(async move {
            let words: Vec<&str> = line.split_whitespace().collect();
            let done = work.perform(&words).await.map_err(|error| format!("{line}: {error}"));
            (work, done)
        });
        let done;
        (work, done) = task.await?;
        let told = match done {
            Ok(work::Done { ms, count }) => serde_json::json!({ "ms": ms, "count": count }),
            Err(error) => serde_json::json!({ "error": error }),
        };
        println!("{told}");
    }
    Ok(())
}
