//! The app, measured: `artifacts/bench.json`. Before it the engine alone: `artifacts/bench-spine.json`.

use std::process::Command;

use anyhow::{Context, Result, ensure};
use serde::Serialize;

use super::spine;
use crate::checkout::{Build, Checkout};
use crate::setup::{self, Need};
use crate::shell::{self, heading, note};
use crate::vitals::{self, median};

/// One measured thing.
#[derive(Serialize)]
struct Row {
    name: &'static str,
    unit: &'static str,
    median: f64,
    least: f64,
    most: f64,
    samples: usize,
    /// The most that the median may be, where an issue says so.
    aim: Option<f64>,
}

impl Row {
    fn of(name: &'static str, unit: &'static str, values: &[f64]) -> Self {
        Self {
            name,
            unit,
            median: median(values),
            least: values.iter().copied().fold(f64::INFINITY, f64::min),
            most: values.iter().copied().fold(f64::NEG_INFINITY, f64::max),
            samples: values.len(),
            aim: None,
        }
    }

    fn within(self, aim: f64) -> Self {
        Self { aim: Some(aim), ..self }
    }

    fn verdict(&self) -> String {
        let Some(aim) = self.aim else { return String::new() };
        format!("<= {aim}: {}", if self.median <= aim { "met" } else { "missed" })
    }
}

/// Measures the release build.
pub fn bench(checkout: &Checkout) -> Result<()> {
    setup::ready(checkout, &[Need::Build, Need::SmallWindows, Need::Desktop, Need::Sdks])?;
    crate::run::app(checkout, Build::Release)?;
    spine::bench(checkout)?;
    heading("measuring on a private desktop");
    let opened_ms = opening(checkout)?;
    let vitals = vitals::measure(checkout)?;
    let rows = [
        Row::of("10,000 steps opened, seen", "ms", &opened_ms).within(300.0),
        Row::of("start to first answer", "ms", &vitals.cold_start_ms),
        Row::of("miki mcp: first answer", "ms", &vitals.mcp_start_ms).within(100.0),
        Row::of("server-everything: the same", "ms", &vitals.peer_start_ms),
        Row::of("overview over the socket", "ms", &vitals.overview_ms),
        Row::of("a step's own time", "ms", &vitals.step_ms).within(60.0),
        Row::of("idle CPU, in the tray", "%", &[vitals.idle_cpu_percent]),
        Row::of("idle CPU, dashboard open", "%", &[vitals.open_cpu_percent]),
        Row::of("idle memory (PSS)", "MB", &[vitals.pss_mb()]),
    ];
    println!("\n{:<28} {:>10} {:>10} {:>10} {:>8}", "", "median", "least", "most", "samples");
    for row in &rows {
        println!(
            "{:<28} {:>10.2} {:>10.2} {:>10.2} {:>8}  {:<3} {}",
            row.name,
            row.median,
            row.least,
            row.most,
            row.samples,
            row.unit,
            row.verdict()
        );
    }
    let file = checkout.artifacts().join("bench.json");
    std::fs::create_dir_all(checkout.artifacts())?;
    std::fs::write(&file, serde_json::to_vec_pretty(&rows)?)?;
    note(&format!("written to {}", file.display()));
    Ok(())
}

/// From the press on a session of 10,000 steps in the dashboard to the frame that shows its newest, in milliseconds.
fn opening(checkout: &Checkout) -> Result<Vec<f64>> {
    let home = checkout.target.join("bench/long-session");
    if home.exists() {
        std::fs::remove_dir_all(&home)?;
    }
    shell::run(Command::new(spine::program(checkout)).arg("make").arg(&home))?;
    let mut last = String::new();
    let ended_well = shell::run_seeing(
        shell::cargo(checkout)
            .args(["run", "--quiet", "--package", "outside", "--bin", "opening"])
            .arg(&home)
            .env("MIKI_BIN", checkout.app(Build::Release)),
        |line| last = line.to_owned(),
    )?;
    std::fs::remove_dir_all(&home)?;
    ensure!(ended_well, "the opening of a session could not be measured");
    serde_json::from_str(&last).context("the measurement's last line is not what was agreed")
}
