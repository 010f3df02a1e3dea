//! The desktop beside its peers, measured by `outside`'s `race`: a table, and `artifacts/bench-desktop.json`. An aim that
//! is missed is said, and is no error: a busy machine misses some.

use std::process::Stdio;

use anyhow::{Context, Result, ensure};
use serde::Serialize;

use super::figures::{self, Memory, Raced, Row, SLACK_KB};
use crate::place::Place;
use crate::setup::{self, Need};
use crate::shell::{self, heading, note};

/// What is written for the next one to compare with.
#[derive(Serialize)]
struct Report<'a> {
    cores: usize,
    /// Before and after.
    load: [f64; 2],
    rows: &'a [Row],
    memory: Vec<serde_json::Value>,
}

pub fn bench(place: &Place) -> Result<()> {
    ensure!(cfg!(target_os = "linux"), "the desktop is measured on Linux only, on a private X server");
    setup::ready(place, &[Need::Build, Need::Desktop, Need::Peers])?;
    heading("building the measuring program, optimised (takes some minutes)");
    let example = ["build", "--release", "--package", "desktop", "--example", "measure"];
    shell::run(shell::cargo(place).args(example))?;
    heading("measuring on a private desktop, beside the peers (some five minutes)");
    let mut race = shell::cargo(place);
    race.args(["run", "--quiet", "--package", "outside", "--bin", "race"])
        .env("MEASURE", place.target.join("release/examples/measure"))
        .env("PEERS", place.root.join("xtask/peers"))
        .env("PEERS_PYTHON", setup::peers(place)?);
    let output = race.stderr(Stdio::inherit()).output().context("could not start the measurement")?;
    ensure!(output.status.success(), "the measurement failed");
    let raced: Raced =
        serde_json::from_slice(&output.stdout).context("the measurement says what was not agreed")?;
    let rows = figures::rows(&raced.races)?;
    let cores = std::thread::available_parallelism()?.get();
    print(&rows, &raced.memory);
    println!("\n{cores} cores; load {:.1} before, {:.1} after", raced.load[0], raced.load[1]);
    let memory = raced.memory.iter().map(told).collect();
    let report = Report { cores, load: raced.load, rows: &rows, memory };
    let file = place.artifacts().join("bench-desktop.json");
    std::fs::create_dir_all(place.artifacts())?;
    std::fs::write(&file, serde_json::to_vec_pretty(&report)?)?;
    note(&format!("written to {}", file.display()));
    Ok(())
}

fn print(rows: &[Row], memory: &[Memory]) {
    println!(
        "\n{:<32} {:>6} {:>9} {:>9}  {:<30} {:>9} {:>9}  aim",
        "median, in ms", "found", "ours", "p99", "peer", "peer's", "as fast"
    );
    for row in rows {
        let Row { title, ours, peer, theirs, times_as_fast, aim, met, .. } = row;
        let theirs = theirs.map_or_else(String::new, |theirs| format!("{:.2}", theirs.median));
        let fast = times_as_fast.map_or_else(String::new, |times| format!("{times:.2} x"));
        let aim = aim.as_deref().unwrap_or_default();
        let met = met.map_or("", word);
        let (count, median, p99) = match title.is_empty() {
            true => Default::default(),
            false => (ours.count.to_string(), format!("{:.2}", ours.median), format!("{:.2}", ours.p99)),
        };
        let peer = peer.unwrap_or_default();
        println!(
            "{title:<32} {count:>6} {median:>9} {p99:>9}  {peer:<30} {theirs:>9} {fast:>9}  {aim:<16} {met}"
        );
    }
    println!(
        "\n{:<32} {:>9} {:>9} {:>9} {:>12} {:>12}  aim",
        "resident memory, in kB", "before", "half", "after", "second half", "X server's"
    );
    for memory in memory {
        let [before, half, after] = &memory.held;
        let (grown, server) = memory.growth();
        println!(
            "{:<32} {:>9} {:>9} {:>9} {grown:>+12} {server:>+12}  <= {SLACK_KB} kB each   {}",
            format!("{} {}", memory.count, memory.work),
            before.rss_kb,
            half.rss_kb,
            after.rss_kb,
            word(memory.met())
        );
    }
}

fn word(met: bool) -> &'static str {
    if met { "met" } else { "MISSED" }
}

fn told(memory: &Memory) -> serde_json::Value {
    let (grown, server) = memory.growth();
    serde_json::json!({
        "work": memory.work,
        "count": memory.count,
        "held": memory.held,
        "grownKb": grown,
        "serverGrownKb": server,
        "met": memory.met(),
    })
}
