//! Search and export, measured by the journal's own `sessions` on the disk of the target folder: a table, and
//! `artifacts/bench-sessions.json`. An aim that is missed is said, and is no error: a busy machine misses some.

use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};

use super::figures::{self, Aim, Figure, Raced, alone};
use super::table;
use crate::checkout::Checkout;
use crate::setup::{self, Need};
use crate::shell::{self, heading, note};

const SEARCH: Aim = Aim::Within(50.0);
const EXPORT: Aim = Aim::Within(2_000.0);

const FIGURES: &[Figure] = &[
    alone("search: a word that is everywhere", "search invoice", "ours", SEARCH),
    alone("the same of two signs", "search 俳句", "ours", SEARCH),
    alone("of one sign", "search 句", "ours", SEARCH),
    alone("of one letter", "search e", "ours", SEARCH),
    alone("two letters that are nowhere", "search zz", "ours", SEARCH),
    alone("three words of many texts", "search row 7 clicked", "ours", SEARCH),
    alone("three words, in one text each", "search calendar 表計算 browser", "ours", SEARCH),
    alone("two words of one session", "search needle 613", "ours", SEARCH),
    alone("three words, one of them nowhere", "search nowhere at all", "ours", SEARCH),
    alone("a word, and two letters nowhere", "search garden zz", "ours", SEARCH),
    alone("1,000 steps exported: JSON Lines", "export jsonl", "ours", EXPORT),
    alone("Markdown", "export md", "ours", EXPORT),
    alone("a page with all pictures", "export html", "ours", EXPORT),
];

pub fn bench(checkout: &Checkout) -> Result<()> {
    setup::ready(checkout, &[Need::Build])?;
    heading("building the measuring program, optimised (takes a minute)");
    let example = ["build", "--release", "--package", "journal", "--example", "sessions"];
    shell::run(shell::cargo(checkout).args(example))?;
    heading("measuring search and export (about a minute, and 200 MB of disk meanwhile)");
    let folder = checkout.target.join("bench/sessions");
    let output = Command::new(checkout.target.join("release/examples/sessions"))
        .arg(&folder)
        .stderr(Stdio::inherit())
        .output()
        .context("could not start the measurement")?;
    ensure!(output.status.success(), "the measurement failed");
    let raced: Raced =
        serde_json::from_slice(&output.stdout).context("the measurement says what was not agreed")?;
    let rows = figures::rows(FIGURES, &raced.races)?;
    table::print(&rows);
    note(&format!("the exported page is to be looked at: {}", folder.join("export.html").display()));
    table::leave(checkout, "bench-sessions.json", raced.load, &rows, &[])
}
