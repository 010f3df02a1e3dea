//! `dist`: the release build, its sizes and what it takes when idle, against the aims; before that, the lines of Rust.

use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, Result};

use crate::checkout::{Build, Checkout};
use crate::lines;
use crate::setup::{self, Need};
use crate::shell::{heading, note};
use crate::vitals;

const BINARY_MB: f64 = 25.0;
const WASM_GZIPPED_KB: f64 = 500.0;
/// Of one core, with every window hidden.
const IDLE_CPU_PERCENT: f64 = 0.5;

/// One line of the table.
struct Figure {
    name: &'static str,
    value: f64,
    unit: &'static str,
    /// The value should be at most this.
    aim: Option<f64>,
}

impl Figure {
    fn missed(&self) -> bool {
        self.aim.is_some_and(|aim| self.value > aim)
    }
}

/// Counts, builds, measures and prints; fails where an aim is missed.
pub fn dist(checkout: &Checkout, since: &str) -> Result<()> {
    lines::print(checkout, since)?;
    setup::ready(checkout, &[Need::Build, Need::SmallWindows, Need::Desktop, Need::Sdks])?;
    crate::run::app(checkout, Build::Release)?;
    heading("measuring on a private desktop");
    let vitals = vitals::measure(checkout)?;
    let wasm = checkout.root.join("ui/dist/ui_bg.wasm");
    let (app, gui) = (checkout.app(Build::Release), checkout.gui(Build::Release));
    let figures = [
        Figure { name: "binary", value: size(&app)? / 1e6, unit: "MB", aim: Some(BINARY_MB) },
        Figure { name: "binary of the windows", value: size(&gui)? / 1e6, unit: "MB", aim: None },
        Figure { name: "wasm", value: size(&wasm)? / 1e3, unit: "kB", aim: None },
        Figure {
            name: "wasm, gzipped",
            value: gzipped(&wasm)? / 1e3,
            unit: "kB",
            aim: Some(WASM_GZIPPED_KB),
        },
        Figure { name: "idle memory (PSS)", value: vitals.pss_mb(), unit: "MB", aim: None },
        Figure { name: "idle memory (RSS)", value: vitals.rss_mb(), unit: "MB", aim: None },
        Figure {
            name: "idle CPU, in the tray",
            value: vitals.idle_cpu_percent,
            unit: "%",
            aim: Some(IDLE_CPU_PERCENT),
        },
        Figure {
            name: "idle CPU, dashboard open",
            value: vitals.open_cpu_percent,
            unit: "%",
            aim: Some(IDLE_CPU_PERCENT),
        },
    ];
    println!();
    for figure in &figures {
        let aim = figure.aim.map(|aim| format!("aim <= {aim} {}", figure.unit)).unwrap_or_default();
        let mark = if figure.missed() { "  MISSED" } else { "" };
        println!("{:<26} {:>9.2} {:<3} {aim}{mark}", figure.name, figure.value, figure.unit);
    }
    for process in &vitals.processes {
        println!(
            "  {:<24} {:>9.2} MB PSS, {:.2} MB RSS",
            process.name,
            process.pss_kb as f64 / 1e3,
            process.rss_kb as f64 / 1e3
        );
    }
    note(&format!("{}", app.display()));
    let missed: Vec<_> = figures.iter().filter(|figure| figure.missed()).map(|figure| figure.name).collect();
    anyhow::ensure!(missed.is_empty(), "aims missed: {}", missed.join(", "));
    Ok(())
}

fn size(file: &Path) -> Result<f64> {
    Ok(std::fs::metadata(file).with_context(|| format!("could not look at {}", file.display()))?.len() as f64)
}

/// The size after `gzip -9`, as a web server would send it.
fn gzipped(file: &Path) -> Result<f64> {
    let output = Command::new("gzip")
        .args(["-9", "-c"])
        .stdin(std::fs::File::open(file)?)
        .stdout(Stdio::piped())
        .output()
        .context("could not start gzip")?;
    anyhow::ensure!(output.status.success(), "gzip could not read {}", file.display());
    Ok(output.stdout.len() as f64)
}
