//! The desktop beside its peers, measured by `benches`, a workspace of its own: a table, and
//! `artifacts/bench-desktop.json`. An aim that is missed is said, and is no error: a busy machine misses some.

use std::process::Stdio;

use anyhow::{Context, Result, ensure};

use super::figures::{self, Aim, Figure, Raced, alone, beside};
use super::table;
use crate::place::Place;
use crate::setup::{self, Need};
use crate::shell::{self, heading};

const CAPTURE: [&str; 2] = ["capture", "ours"];
const GTK: [&str; 2] = ["gtk", "all"];
const CHROMIUM: [&str; 2] = ["chromium", "all"];
const PAGE: [&str; 2] = ["page", "ours"];
const MOVE: [&str; 2] = ["move", "ours"];
const CLICK: [&str; 2] = ["click", "ours"];

const FIGURES: &[Figure] = &[
    beside(
        "screen, dot, JPEG, base64",
        CAPTURE,
        "bare",
        "XShm + libjpeg-turbo + base64",
        Aim::TimesTheirs(1.15),
    ),
    beside("", CAPTURE, "mss", "mss + Pillow", Aim::None),
    beside("", CAPTURE, "pyautogui", "pyautogui + Pillow", Aim::Faster(3.0)),
    beside("", CAPTURE, "scrot", "scrot + convert", Aim::Faster(35.0)),
    alone("GTK app, visible", "gtk", "visible", Aim::Within(25.0)),
    beside("GTK app, all", GTK, "pyatspi", "pyatspi", Aim::Within(25.0)),
    beside("", GTK, "one by one", "proxies, one by one", Aim::None),
    beside("", GTK, "joined", "proxies, joined", Aim::None),
    alone("Chromium, visible and focusable", "chromium", "interactive", Aim::Within(60.0)),
    alone("Chromium, visible", "chromium", "visible", Aim::Within(150.0)),
    beside("Chromium, all", CHROMIUM, "pyatspi", "pyatspi", Aim::Within(900.0)),
    beside("", CHROMIUM, "one by one", "proxies, one by one", Aim::None),
    beside("", CHROMIUM, "joined", "proxies, joined", Aim::None),
    beside("DOM, visible and interactive", PAGE, "bare", "one evaluate call", Aim::TimesTheirs(1.3)),
    beside("", PAGE, "playwright", "Playwright's snapshot", Aim::None),
    alone("what a question about an element looks up", "question", "element", Aim::Within(20.0)),
    alone("what a question about a point looks up", "question", "point", Aim::Within(20.0)),
    alone("a question's picture of its target", "question", "picture", Aim::Within(20.0)),
    alone("all that a question looks up", "question", "whole", Aim::Within(20.0)),
    beside("move", MOVE, "bare", "X round trip", Aim::Over(2.0)),
    beside("", MOVE, "pyautogui", "pyautogui, as it comes", Aim::None),
    beside("", MOVE, "xdotool", "xdotool", Aim::None),
    beside("click", CLICK, "bare", "X round trip", Aim::Over(2.0)),
    beside("", CLICK, "pyautogui", "pyautogui, as it comes", Aim::None),
    beside("", CLICK, "xdotool", "xdotool", Aim::None),
    alone("corner to last event", "corner", "ours", Aim::MostlyWithin(100.0)),
];

pub fn bench(place: &Place) -> Result<()> {
    ensure!(cfg!(target_os = "linux"), "the desktop is measured on Linux only, on a private X server");
    setup::ready(place, &[Need::Build, Need::Desktop, Need::Peers])?;
    heading("building the measuring programs, optimised (takes some minutes)");
    for (package, example) in
        [("desktop", "measure"), ("browser", "measure_pages"), ("tools", "measure_questions")]
    {
        let build = ["build", "--release", "--package", package, "--example", example];
        shell::run(shell::cargo(place).args(build))?;
    }
    heading("measuring on a private desktop, beside the peers (some five minutes)");
    let mut race = shell::cargo(place);
    race.args(["run", "--quiet", "--manifest-path", "benches/Cargo.toml"])
        .env("MEASURE", place.target.join("release/examples/measure"))
        .env("MEASURE_PAGES", place.target.join("release/examples/measure_pages"))
        .env("MEASURE_QUESTIONS", place.target.join("release/examples/measure_questions"))
        .env("PEERS", place.root.join("benches/peers"))
        .env("PEERS_PYTHON", setup::peers(place)?);
    let output = race.stderr(Stdio::inherit()).output().context("could not start the measurement")?;
    ensure!(output.status.success(), "the measurement failed");
    let raced: Raced =
        serde_json::from_slice(&output.stdout).context("the measurement says what was not agreed")?;
    let rows = figures::rows(FIGURES, &raced.races)?;
    table::print(&rows);
    table::print_memory(&raced.memory);
    table::leave(place, "bench-desktop.json", raced.load, &rows, &raced.memory)
}
