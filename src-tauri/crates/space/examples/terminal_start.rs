//! How long a command takes to start and end: in our terminal with and without the sandbox, and in plain bubblewrap.
//!
//! `cargo run --release -p space --example terminal_start [-- PATH_OF_MIKI_CONFINE]` prints medians in milliseconds.
//! The bar: at most 30 ms more with the sandbox than without.

use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use space::terminal::{CommandSpec, Sandbox, Setup, Terminal, TerminalError, Unconfined};
use tokio_util::sync::CancellationToken;

const ROUNDS: usize = 50;

#[tokio::main]
async fn main() -> Result<(), TerminalError> {
    let confiner = std::env::args_os().nth(1).map(PathBuf::from);
    let space = std::env::temp_dir().join(format!("terminal-start-{}", std::process::id()));
    let folder = |source| TerminalError::Folder { path: space.clone(), source };
    std::fs::create_dir(&space).map_err(folder)?;
    let open = |sandbox| Terminal::open(Setup::new(&space), Arc::new(sandbox));
    let mut terminals = vec![
        ("terminal without sandbox", open(Sandbox::none("for the bench"))?),
        ("terminal with sandbox", open(Sandbox::probe(None))?),
    ];
    if confiner.is_some() {
        terminals.push(("  with landlock, too", open(Sandbox::probe(confiner.as_deref()))?));
    }
    // In turns, so that what else the machine does falls on all alike.
    let mut took = vec![Vec::new(); terminals.len() + 1];
    for _ in 0..ROUNDS {
        for ((_, terminal), took) in terminals.iter().zip(&mut took) {
            took.push(run(terminal).await?);
        }
        took[terminals.len()].push(plain(&space));
    }
    let names = terminals.iter().map(|(name, _)| *name).chain(["plain bubblewrap"]);
    let took: Vec<Duration> = took.into_iter().map(median).collect();
    for (name, time) in names.zip(&took) {
        println!("{name:26}{:6.1} ms  (+{:.1})", ms(*time), ms(time.saturating_sub(took[0])));
    }
    std::fs::remove_dir_all(&space).map_err(folder)
}

async fn run(terminal: &Terminal) -> Result<Duration, TerminalError> {
    let spec = CommandSpec { unconfined: Unconfined::Allowed, ..CommandSpec::new("true") };
    let began = Instant::now();
    terminal.run(spec, |_| {}, CancellationToken::new()).await?;
    Ok(began.elapsed())
}

fn plain(space: &std::path::Path) -> Duration {
    let began = Instant::now();
    let mut command = Command::new("bwrap");
    command.args([
        "--die-with-parent",
        "--unshare-all",
        "--ro-bind",
        "/",
        "/",
        "--proc",
        "/proc",
        "--dev",
        "/dev",
        "--bind",
    ]);
    command.arg(space).arg(space).args(["--", "/bin/sh", "-c", "true"]);
    let _ = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status();
    began.elapsed()
}

fn median(mut all: Vec<Duration>) -> Duration {
    all.sort();
    all.get(all.len() / 2).copied().unwrap_or_default()
}

fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1000.0
}
