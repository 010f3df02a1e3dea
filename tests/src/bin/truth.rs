//! Carries the tasks of `outside::truth` out with the app that `MIKI_BIN` names and prints what came of each, then the
//! counts. `truth [--only PART] [--quick] [--matrix FILE]`. Ends with 1 where something is untrue, wrong
//! or harmful that `truth/known.txt` does not name.

use std::process::{Command, ExitCode};

use anyhow::{Context, Result};
use outside::truth::{self, Counts, Runner, Surprises, Verdict};

fn main() -> Result<ExitCode> {
    let mut only = String::new();
    let mut quick = false;
    let mut matrix = None;
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        let mut value = || arguments.next().with_context(|| format!("{argument} takes a value"));
        match argument.as_str() {
            "--only" => only = value()?,
            "--matrix" => matrix = Some(value()?),
            "--quick" => quick = true,
            other => anyhow::bail!("{other} is not known"),
        }
    }
    let mut runner = Runner::open()?;
    let mut verdicts = Vec::new();
    for task in truth::all().iter().filter(|task| task.name().contains(&only) && (task.quick || !quick)) {
        let verdict = runner.run(task)?;
        say(&verdict);
        verdicts.push(verdict);
    }
    println!("\n{}", Counts::of(&verdicts));
    if let Some(file) = matrix {
        let date = Command::new("date").arg("+%F").output()?;
        let date = String::from_utf8_lossy(&date.stdout);
        std::fs::write(file, truth::matrix(&verdicts, date.trim())?)?;
    }
    let surprises = Surprises::of(&verdicts);
    for line in &surprises.new {
        println!("new fault: {line}");
    }
    for line in &surprises.mended {
        println!("known fault that is none any more: {line}");
    }
    Ok(if surprises.are_bad() { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

fn say(verdict: &Verdict) {
    let mark = verdict.fault().map_or_else(|| "ok".into(), |fault| format!("{fault:?}"));
    let done = if verdict.done { "done" } else { "not done" };
    let wrong = verdict.wrong.as_ref().map(|what| format!("; wrong: {what}")).unwrap_or_default();
    println!(
        "{mark:<9} {:4.1} s  {}: {done}, {} {}{wrong}\n                  {}",
        verdict.seconds,
        verdict.task.name(),
        verdict.said.word(),
        verdict.by,
        verdict.summary
    );
}
