//! The models beside their peers, measured by `pace` of `benches`, a workspace of its own: a table, and
//! `artifacts/bench-models.json`. An aim that is missed is said, and is no error: a busy machine misses some.

use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};

use super::figures::{self, Aim, Figure, Raced, beside};
use super::table;
use crate::checkout::Checkout;
use crate::setup::{self, Need};
use crate::shell::{self, heading};

/// A line for each provider: what is done, and beside whom.
macro_rules! each {
    ($work:literal, $peer:literal, $called:literal, $aim:expr) => {
        [
            each!(@ "gemini", $work, $peer, $called, $aim),
            each!(@ "anthropic", $work, $peer, $called, $aim),
            each!(@ "openai", $work, $peer, $called, $aim),
            each!(@ "xai", $work, $peer, $called, $aim),
            each!(@ "openrouter", $work, $peer, $called, $aim),
            each!(@ "lmstudio", $work, $peer, $called, $aim),
            each!(@ "ollama", $work, $peer, $called, $aim),
        ]
    };
    (@ $of:literal, $work:literal, $peer:literal, $called:literal, $aim:expr) => {
        beside(concat!($work, " ", $of), [concat!($work, " ", $of), "ours"], $peer, $called, $aim)
    };
}

/// Megabytes of streams, decoded.
const DECODE: [Figure; 7] = each!("decode", "bare", "a tree of each event", Aim::PerSecond(50.0, "MB"));
/// 100,000 tokens and 20 pictures.
const BUILD: [Figure; 7] = each!("build", "bare", "escapes and base64", Aim::Within(20.0));
/// 40,000 tokens and 6 pictures asked, and the answer read, of a server that answers at once.
const TURN: [Figure; 7] = each!("turn", "bare", "HTTP client, same bytes", Aim::Over(5.0));
/// A small question; the stream of the answer read to its end.
const READ: [Figure; 7] = each!("read", "sdk", "the vendor's Python SDK", Aim::None);

pub fn bench(checkout: &Checkout) -> Result<()> {
    setup::ready(checkout, &[Need::Build, Need::Sdks])?;
    heading("building the measuring program, optimised (takes some minutes)");
    let pace = ["build", "--release", "--manifest-path", "benches/Cargo.toml", "--package", "pace"];
    shell::run(shell::cargo(checkout).args(pace))?;
    heading("measuring (about a minute)");
    let output = Command::new(checkout.target.join("release/pace"))
        .env("PEERS", checkout.root.join("benches/peers/sdks.py"))
        .env("PEERS_PYTHON", setup::sdks(checkout)?)
        .stderr(Stdio::inherit())
        .output()
        .context("could not start the measurement")?;
    ensure!(output.status.success(), "the measurement failed");
    let raced: Raced =
        serde_json::from_slice(&output.stdout).context("the measurement says what was not agreed")?;
    let mut rows = Vec::new();
    for figures in [DECODE, BUILD, TURN, READ] {
        rows.extend(figures::rows(&figures, &raced.races)?);
    }
    table::print(&rows);
    table::leave(checkout, "bench-models.json", raced.load, &rows, &[])
}
