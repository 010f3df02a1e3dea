//! The app, measured: `artifacts/bench.json`. Before it the engine alone: `artifacts/bench-spine.json`.

use anyhow::Result;
use serde::Serialize;

use super::spine;
use crate::place::{Build, Place};
use crate::setup::{self, Need};
use crate::shell::{heading, note};
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
        }
    }
}

/// Measures the release build.
pub fn bench(place: &Place) -> Result<()> {
    setup::ready(place, &[Need::Build, Need::SmallWindows, Need::Desktop])?;
    crate::run::app(place, Build::Release)?;
    spine::bench(place)?;
    heading("measuring on a private desktop");
    let vitals = vitals::measure(place)?;
    let rows = [
        Row::of("start to first answer", "ms", &vitals.cold_start_ms),
        Row::of("overview over the socket", "ms", &vitals.overview_ms),
        Row::of("idle CPU, in the tray", "%", &[vitals.idle_cpu_percent]),
        Row::of("idle CPU, dashboard open", "%", &[vitals.open_cpu_percent]),
        Row::of("idle memory (PSS)", "MB", &[vitals.pss_mb()]),
    ];
    println!("\n{:<28} {:>10} {:>10} {:>10} {:>8}", "", "median", "least", "most", "samples");
    for row in &rows {
        println!(
            "{:<28} {:>10.2} {:>10.2} {:>10.2} {:>8}  {}",
            row.name, row.median, row.least, row.most, row.samples, row.unit
        );
    }
    let file = place.artifacts().join("bench.json");
    std::fs::create_dir_all(place.artifacts())?;
    std::fs::write(&file, serde_json::to_vec_pretty(&rows)?)?;
    note(&format!("written to {}", file.display()));
    Ok(())
}
