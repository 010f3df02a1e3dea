//! Commands, measured: how long one takes to start and end in the sandbox, beside plain bubblewrap, by the crate's own
//! `terminal_start`; and whether the windows of the app answer while a command floods, by `flood` of `outside`. A table, and
//! `artifacts/bench-space.json`. An aim that is missed is said, and is no error: a busy machine misses some.

use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};

use super::figures::{self, Aim, Figure, Raced, alone, beside};
use super::table;
use crate::checkout::{Build, Checkout};
use crate::setup::{self, Need};
use crate::shell::{self, heading};

const COMMAND: [&str; 2] = ["command", "ours"];
const ANSWERS: Aim = Aim::MostlyWithin(200.0);

const STARTS: &[Figure] = &[
    beside("a command, in the sandbox", COMMAND, "bare", "without a sandbox", Aim::Over(30.0)),
    beside("", COMMAND, "bubblewrap", "plain bubblewrap", Aim::None),
    beside("", COMMAND, "namespaces", "without Landlock", Aim::None),
];

const FLOODS: &[Figure] = &[
    alone("the window answers: nothing runs", "flood none", "window", ANSWERS),
    alone("beside yes", "flood yes", "window", ANSWERS),
    alone("beside cat of 1 GB", "flood cat", "window", ANSWERS),
    alone("beside 500 children", "flood children", "window", ANSWERS),
    alone("beside a fork bomb", "flood bomb", "window", ANSWERS),
    alone("the engine answers: yes", "flood yes", "socket", ANSWERS),
    alone("cat of 1 GB", "flood cat", "socket", ANSWERS),
    alone("500 children", "flood children", "socket", ANSWERS),
    alone("a fork bomb", "flood bomb", "socket", ANSWERS),
];

pub fn bench(checkout: &Checkout) -> Result<()> {
    ensure!(cfg!(target_os = "linux"), "commands are measured on Linux only, in its sandbox");
    setup::ready(checkout, &[Need::Build, Need::SmallWindows, Need::Desktop])?;
    crate::run::app(checkout, Build::Release)?;
    heading("building the measuring program, optimised");
    shell::run(shell::cargo(checkout).args([
        "build",
        "--release",
        "--package",
        "space",
        "--example",
        "terminal_start",
    ]))?;
    heading("measuring commands (about half a minute)");
    let starts = raced(
        Command::new(checkout.target.join("release/examples/terminal_start"))
            .arg(checkout.target.join("bench/space"))
            .arg(checkout.confiner(Build::Release)),
    )?;
    heading("measuring the windows beside floods (about a minute, and 1 GB of disk meanwhile)");
    let floods = raced(
        shell::cargo(checkout)
            .args(["run", "--quiet", "--package", "outside", "--bin", "flood"])
            .env("MIKI_BIN", checkout.app(Build::Release)),
    )?;
    let mut rows = figures::rows(STARTS, &starts.races)?;
    rows.extend(figures::rows(FLOODS, &floods.races)?);
    table::print(&rows);
    table::leave(checkout, "bench-space.json", [starts.load[0], floods.load[1]], &rows, &[])
}

fn raced(command: &mut Command) -> Result<Raced> {
    let output = command.stderr(Stdio::inherit()).output().context("could not start the measurement")?;
    ensure!(output.status.success(), "the measurement failed");
    serde_json::from_slice(&output.stdout).context("the measurement says what was not agreed")
}
