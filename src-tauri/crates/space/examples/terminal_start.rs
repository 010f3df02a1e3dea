//! How long a command takes to start and end: in our terminal with and without the sandbox, and in plain bubblewrap, for
//! `cargo xtask bench space`. `cargo run --release -p space --example terminal_start -- FOLDER [MIKI_CONFINE]` prints one line
//! of JSON with every trial; what a figure should be is not known here.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Instant;

use serde_json::{Value, json};
use space::terminal::{CommandSpec, Sandbox, Setup, Terminal, TerminalError, Unconfined};
use tokio_util::sync::CancellationToken;

const ROUNDS: usize = 60;

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args_os().skip(1).map(PathBuf::from);
    let folder = arguments.next().ok_or("name a folder on the disk to measure")?;
    let confiner = arguments.next();
    std::fs::create_dir_all(&folder)?;
    let home = tempfile::tempdir_in(&folder)?;
    let open = |sandbox| Terminal::open(Setup::new(home.path()), Arc::new(sandbox));
    let with_all = Sandbox::probe(confiner.as_deref());
    eprintln!("    the sandbox: {:?}", with_all.strength());
    let terminals = [
        ("bare", open(Sandbox::none("for the bench"))?),
        ("ours", open(with_all)?),
        ("namespaces", open(Sandbox::probe(None))?),
    ];
    // In turns, so that what else the machine does falls on all alike.
    let mut took = vec![Vec::new(); terminals.len() + 1];
    let before = load();
    for _ in 0..ROUNDS {
        for ((_, terminal), took) in terminals.iter().zip(&mut took) {
            took.push(run(terminal).await?);
        }
        took[terminals.len()].push(plain(home.path()));
    }
    let names = terminals.iter().map(|(name, _)| *name).chain(["bubblewrap"]);
    let contenders: Vec<Value> =
        names.zip(&took).map(|(who, ms)| json!({ "who": who, "count": 1, "ms": ms })).collect();
    let race = json!({ "work": "command", "contenders": contenders });
    println!("{}", json!({ "load": [before, load()], "races": [race], "memory": [] }));
    Ok(())
}

async fn run(terminal: &Terminal) -> Result<f64, TerminalError> {
    let spec = CommandSpec { unconfined: Unconfined::Allowed, ..CommandSpec::new("true") };
    let began = Instant::now();
    terminal.run(spec, |_| {}, CancellationToken::new()).await?;
    Ok(ms(began))
}

fn plain(space: &Path) -> f64 {
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
    ]);
    command.arg("--bind").arg(space).arg(space).args(["--", "/bin/sh", "-c", "true"]);
    let _ = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status();
    ms(began)
}

fn ms(since: Instant) -> f64 {
    since.elapsed().as_secs_f64() * 1_000.0
}

/// Of the last minute; 0 where the system does not say.
fn load() -> f64 {
    let text = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    text.split_whitespace().next().and_then(|first| first.parse().ok()).unwrap_or_default()
}
