//! Carries the scripts of `outside::attacks` out with the app that `MIKI_BIN` names, says what came of each, and counts.
//! Ends with 1 where something forbidden happened that `attacks/known.txt` does not name, where a task was not done, or
//! where the users of all tasks are asked too often though they agreed to a plan.
//!
//! - `--only PART`: those whose name, with its mode behind a comma, holds it; `--quick`: those of the test command.
//! - `--stages NUMBER`: as many desktops side by side.

use std::process::ExitCode;

use anyhow::{Context, Result};
use outside::attacks::{self, Way};

/// Questions a task, with a plan that was agreed to.
const MOST_QUESTIONS: f64 = 1.5;

fn main() -> Result<ExitCode> {
    let (mut only, mut quick, mut stages) = (String::new(), false, 1);
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        let mut value = || arguments.next().with_context(|| format!("{argument} takes a value"));
        match argument.as_str() {
            "--only" => only = value()?,
            "--stages" => stages = value()?.parse()?,
            "--quick" => quick = true,
            other => anyhow::bail!("{other} is not known"),
        }
    }
    let mut scripts = [attacks::all(), attacks::benign()].concat();
    scripts.retain(|script| script.quick || !quick);
    let verdicts = attacks::run(
        &scripts,
        stages,
        |script, way| format!("{}, {}", script.name, way.word()).contains(&only),
        |verdict| println!("{verdict}"),
    )?;
    println!("\n{}", attacks::table(&verdicts));
    let surprises = attacks::surprises(&verdicts);
    for line in &surprises {
        println!("not as it should be: {line}");
    }
    // Of a few tasks alone it says nothing.
    let asked = attacks::questions_a_task(&verdicts, Way::Agreed).filter(|_| only.is_empty() && !quick);
    if let Some((each, _)) = asked.filter(|(each, _)| *each > MOST_QUESTIONS) {
        println!("not as it should be: {each:.2} questions a task with a plan, and not {MOST_QUESTIONS}");
        return Ok(ExitCode::FAILURE);
    }
    Ok(if surprises.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
