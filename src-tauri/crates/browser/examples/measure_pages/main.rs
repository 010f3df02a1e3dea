//! Looking at a page, for `cargo xtask bench desktop`: each line of standard input is `page` or `page-bare`, which is
//! done and answered by a line of JSON: `{"ms":[9.8],"count":88}`, or `{"error":"..."}`. The bare way is what ours is
//! measured against.
//!
//! `DISPLAY` and the session bus are the environment's; the first argument is the browser's debugging port. Judges
//! nothing: what a figure should be is xtask's to know.

#[cfg(target_os = "linux")]
mod bare;
#[cfg(target_os = "linux")]
mod work;

#[cfg(not(target_os = "linux"))]
fn main() {}

#[cfg(target_os = "linux")]
#[tokio::main]
async fn main() -> Result<(), work::Failure> {
    let port = std::env::args().nth(1).ok_or("name the browser's debugging port")?;
    let mut work = work::Work::open(port.parse()?);
    for line in std::io::stdin().lines() {
        let line = line?;
        // As the app does its calls: in a task, and not on the thread that waits for it.
        let task = tokio::spawn(async move {
            let done = work.perform(&line).await.map_err(|error| format!("{line}: {error}"));
            (work, done)
        });
        let done;
        (work, done) = task.await?;
        let told = match done {
            Ok((ms, count)) => serde_json::json!({ "ms": [ms], "count": count }),
            Err(error) => serde_json::json!({ "error": error }),
        };
        println!("{told}");
    }
    Ok(())
}
