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
    let without = measure(&space, Sandbox::none("for the bench")).await?;
    let with = measure(&space, Sandbox::probe(None)).await?;
    println!("terminal without sandbox   {:6.1} ms", ms(without));
    println!("terminal with sandbox      {:6.1} ms  (+{:.1})", ms(with), ms(with.saturating_sub(without)));
    if confiner.is_some() {
        let whole = measure(&space, Sandbox::probe(confiner.as_deref())).await?;
        println!(
            "  and landlock             {:6.1} ms  (+{:.1})",
            ms(whole),
            ms(whole.saturating_sub(without))
        );
    }
    println!("plain bubblewrap           {:6.1} ms", ms(plain(&space)));
    std::fs::remove_dir_all(&space).map_err(folder)
}

async fn measure(space: &std::path::Path, sandbox: Sandbox) -> Result<Duration, TerminalError> {
    let terminal = Terminal::open(Setup::new(space), Arc::new(sandbox))?;
    let mut all = Vec::new();
    for _ in 0..ROUNDS {
        let spec = CommandSpec { unconfined: Unconfined::Allowed, ..CommandSpec::new("true") };
        let began = Instant::now();
        terminal.run(spec, |_| {}, CancellationToken::new()).await?;
        all.push(began.elapsed());
    }
    Ok(median(all))
}

fn plain(space: &std::path::Path) -> Duration {
    let round = |_| {
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
    };
    median((0..ROUNDS).map(round).collect())
}

fn median(mut all: Vec<Duration>) -> Duration {
    all.sort();
    all.get(all.len() / 2).copied().unwrap_or_default()
}

fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1000.0
}
