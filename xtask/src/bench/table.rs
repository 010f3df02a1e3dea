//! A measurement's rows as a table for a person, and as JSON in `artifacts/` for the next one to compare with.

use anyhow::Result;
use serde::Serialize;

use super::figures::{Memory, Row, SLACK_KB};
use crate::checkout::Checkout;
use crate::shell::note;

/// What is written for the next one to compare with.
#[derive(Serialize)]
struct Report<'a> {
    cores: usize,
    /// Before and after.
    load: [f64; 2],
    rows: &'a [Row],
    #[serde(skip_serializing_if = "Vec::is_empty")]
    memory: Vec<serde_json::Value>,
}

pub fn print(rows: &[Row]) {
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
}

pub fn print_memory(memory: &[Memory]) {
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

fn memory_json(memory: &Memory) -> serde_json::Value {
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

pub fn word(met: bool) -> &'static str {
    if met { "met" } else { "MISSED" }
}

/// Says how busy the machine was, and leaves the report.
pub fn leave(checkout: &Checkout, name: &str, load: [f64; 2], rows: &[Row], memory: &[Memory]) -> Result<()> {
    let cores = std::thread::available_parallelism()?.get();
    println!("\n{cores} cores; load {:.1} before, {:.1} after", load[0], load[1]);
    let report = Report { cores, load, rows, memory: memory.iter().map(memory_json).collect() };
    let file = checkout.artifacts().join(name);
    std::fs::create_dir_all(checkout.artifacts())?;
    std::fs::write(&file, serde_json::to_vec_pretty(&report)?)?;
    note(&format!("written to {}", file.display()));
    Ok(())
}
