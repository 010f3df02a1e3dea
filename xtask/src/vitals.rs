//! What the release build takes at start and when idle, measured on a private desktop by `outside`'s `vitals` program.

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};

use crate::checkout::{Build, Checkout};
use crate::shell;

/// What `vitals` prints as its last line.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Vitals {
    /// From the start of the process to an answer from its socket, each start by itself, in milliseconds.
    pub cold_start_ms: Vec<f64>,
    /// From the start of `miki mcp desktop` to its answer to `initialize`, in milliseconds.
    pub mcp_start_ms: Vec<f64>,
    /// The same of the reference server, `server-everything`, in the same run.
    pub peer_start_ms: Vec<f64>,
    /// From an overview asked over the socket to its answer, in milliseconds.
    pub overview_ms: Vec<f64>,
    /// From one request to an instant model to the next: a step's own time, without waiting for the screen.
    pub step_ms: Vec<f64>,
    /// Of one core, over ten seconds, the app and its web processes together, in the tray with all windows hidden.
    pub idle_cpu_percent: f64,
    /// The same with the dashboard open, its caret blinking, all of it drawn by the processor.
    pub open_cpu_percent: f64,
    pub processes: Vec<Process>,
}

/// One process of the app's tree.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Process {
    pub name: String,
    pub rss_kb: u64,
    /// Shared pages divided among those who share them: the figure that adds up.
    pub pss_kb: u64,
}

impl Vitals {
    pub fn rss_mb(&self) -> f64 {
        self.processes.iter().map(|process| process.rss_kb as f64).sum::<f64>() / 1000.0
    }

    pub fn pss_mb(&self) -> f64 {
        self.processes.iter().map(|process| process.pss_kb as f64).sum::<f64>() / 1000.0
    }
}

/// Measures the release build, which must be there.
pub fn measure(checkout: &Checkout) -> Result<Vitals> {
    let mut last = String::new();
    let ended_well = shell::run_seeing(
        shell::cargo(checkout)
            .args(["run", "--quiet", "--package", "outside", "--bin", "vitals"])
            .env("MIKI_BIN", checkout.app(Build::Release)),
        |line| last = line.to_owned(),
    )?;
    anyhow::ensure!(ended_well, "the measurement failed");
    serde_json::from_str(&last).context("the measurement's last line is not what was agreed")
}

/// The middle one; the mean of the two in the middle where there is none.
pub fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    match (sorted.len(), sorted.len() / 2) {
        (0, _) => f64::NAN,
        (n, middle) if n % 2 == 1 => sorted[middle],
        (_, middle) => f64::midpoint(sorted[middle - 1], sorted[middle]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_of_few_values_is_the_middle() {
        assert!((median(&[3.0, 1.0, 2.0]) - 2.0).abs() < f64::EPSILON);
        assert!((median(&[4.0, 1.0, 2.0, 3.0]) - 2.5).abs() < f64::EPSILON);
        assert!(median(&[]).is_nan());
    }
}
