//! The engine alone, measured on a real disk, for `cargo xtask bench app`: a session of 10,000 steps opened, paged and
//! gone on with; appends beside a reader; decisions; stops of one of three agents. One line of JSON with every trial.
//!
//! The argument is a folder on the disk to measure. With `make` before it, that folder becomes a data folder with the
//! long session, for who measures the windows. Judges nothing: what a figure should be is xtask's to know.

mod appends;
mod decisions;
mod engine;
mod session;
mod stops;

use std::path::PathBuf;
use std::time::Instant;

use serde_json::{Value, json};

pub type Failure = Box<dyn std::error::Error + Send + Sync>;

#[tokio::main]
async fn main() -> Result<(), Failure> {
    let mut arguments: Vec<PathBuf> = std::env::args_os().skip(1).map(PathBuf::from).collect();
    let folder = arguments.pop().ok_or("name a folder on the disk to measure")?;
    std::fs::create_dir_all(&folder)?;
    if arguments.first().is_some_and(|what| what.as_os_str() == "make") {
        session::make(&folder).await?;
        return Ok(());
    }
    let load = load()?;
    let home = tempfile::tempdir_in(&folder)?;

    eprintln!("    making a session of {} steps", session::STEPS);
    let session = session::make(home.path()).await?;
    eprintln!("    opening it");
    let mut races = vec![engine::open(home.path(), &session).await?];
    eprintln!("    paging it");
    let memory = engine::page(home.path(), &session).await?;
    eprintln!("    starting runs in it");
    races.push(engine::start(home.path(), &session).await?);
    eprintln!("    appending beside a reader");
    races.push(appends::race(home.path(), &session).await?);
    drop(home);
    eprintln!("    deciding");
    races.push(decisions::race().await);
    eprintln!("    stopping one of three agents");
    races.push(stops::race(tempfile::tempdir_in(&folder)?.path()).await?);

    println!("{}", json!({ "load": [load, self::load()?], "races": races, "memory": [memory] }));
    Ok(())
}

/// One way of doing a work, with the times of its trials in milliseconds.
pub fn contender(who: &str, count: usize, ms: &[f64]) -> Value {
    json!({ "who": who, "count": count, "ms": ms })
}

pub fn since(began: Instant) -> f64 {
    began.elapsed().as_secs_f64() * 1_000.0
}

fn load() -> Result<f64, Failure> {
    // Linux alone tells it here.
    let text = std::fs::read_to_string("/proc/loadavg").unwrap_or_else(|_| "nan".into());
    Ok(text.split_whitespace().next().unwrap_or("nan").parse().unwrap_or(0.0))
}
