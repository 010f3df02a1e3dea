//! The engine alone, measured by the crate's own `spine` on the disk of the target folder: a table, and
//! `artifacts/bench-spine.json`. An aim that is missed is said, and is no error: a busy machine misses some.

use std::path::PathBuf;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};

use super::figures::{self, Aim, Figure, Raced, alone, beside};
use super::table;
use crate::checkout::Checkout;
use crate::setup::{self, Need};
use crate::shell::{self, heading};

const APPEND: [&str; 2] = ["append", "ours"];

const FIGURES: &[Figure] = &[
    alone("10,000 steps opened in the engine", "open", "ours", Aim::Within(300.0)),
    alone("a run in them, to its start on disk", "start", "ours", Aim::Within(100.0)),
    alone("an intent on disk (FULL)", "append", "alone", Aim::Within(5.0)),
    beside("the same beside a reader", APPEND, "alone", "without it", Aim::WorstOver(10.0)),
    beside("", APPEND, "busy", "beside as much computing", Aim::None),
    alone("a decision", "decide", "ours", Aim::Within(0.05)),
    alone("stop of one of 3, last input", "stop", "ours", Aim::MostlyWithin(100.0)),
    alone("the same, answered", "stop", "answered", Aim::None),
];

/// The measuring program; [`bench`] builds it.
pub fn program(checkout: &Checkout) -> PathBuf {
    checkout.target.join("release/examples/spine")
}

pub fn bench(checkout: &Checkout) -> Result<()> {
    ensure!(cfg!(target_os = "linux"), "the engine is measured on Linux only: memory is asked of /proc");
    setup::ready(checkout, &[Need::Build])?;
    heading("building the measuring program, optimised (takes some minutes)");
    let example = ["build", "--release", "--package", "agent", "--example", "spine"];
    shell::run(shell::cargo(checkout).args(example))?;
    heading("measuring the engine (some minutes, and 600 MB of disk meanwhile)");
    let output = Command::new(program(checkout))
        .arg(checkout.target.join("bench"))
        .stderr(Stdio::inherit())
        .output()
        .context("could not start the measurement")?;
    ensure!(output.status.success(), "the measurement failed");
    let raced: Raced =
        serde_json::from_slice(&output.stdout).context("the measurement says what was not agreed")?;
    let rows = figures::rows(FIGURES, &raced.races)?;
    table::print(&rows);
    table::print_memory(&raced.memory);
    table::leave(checkout, "bench-spine.json", raced.load, &rows, &raced.memory)
}
