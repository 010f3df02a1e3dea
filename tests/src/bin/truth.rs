//! Carries the tasks of `outside::truth` out with the app that `MIKI_BIN` names, says what came of each, and counts.
//! Ends with 1 where something is untrue, wrong or harmful, and where the whole list misses a bound.
//!
//! - `--only PART`: those whose name holds it; `--quick`: those of the test command.
//! - `--matrix FILE`: writes the document of what can be operated.
//! - `--pictures FOLDER`: the screen of each that is not as it should be.
//! - `--keep FILE`: writes what came of each down; `--again` takes from it what was as it should be, and tries the rest;
//!   with `--only`, what it names, whatever that was.
//! - `--stages NUMBER`: as many applications side by side.
//! - `--own-hands`: by an agent with hands of its own, while its user is in another window; nothing is spoilt then.
//!   `MIKI_STAGE_WM` names the window manager, which setup does not install: openbox (usual), xfwm4, metacity, mutter, or
//!   marco, which did not stay up here.
//! - `--list APPLICATION`: nothing but what Miki lists of it when it has come up.

use std::path::PathBuf;
use std::process::{Command, ExitCode};

use anyhow::{Context, Result};
use outside::truth::{self, Counts, Runner, Surprises, Task, Whose};

fn main() -> Result<ExitCode> {
    let mut only = String::new();
    let mut quick = false;
    let mut matrix = None;
    let mut list = None;
    let mut stages = 1;
    let mut pictures = None;
    let mut file: Option<PathBuf> = None;
    let mut again = false;
    let mut whose = Whose::Users;
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        let mut value = || arguments.next().with_context(|| format!("{argument} takes a value"));
        match argument.as_str() {
            "--only" => only = value()?,
            "--pictures" => pictures = Some(value()?.into()),
            "--list" => list = Some(value()?),
            "--stages" => stages = value()?.parse()?,
            "--matrix" => matrix = Some(value()?),
            "--quick" => quick = true,
            "--keep" => file = Some(value()?.into()),
            "--again" => again = true,
            "--own-hands" => whose = Whose::Agents,
            other => anyhow::bail!("{other} is not known"),
        }
    }
    if let Some(name) = list {
        let task = truth::all().into_iter().find(|task| task.app.name() == name);
        let task = task.with_context(|| format!("no application is called {name}"))?;
        Runner::open(whose)?.list(&task)?.iter().for_each(|element| println!("{element}"));
        return Ok(ExitCode::SUCCESS);
    }
    let mut tasks = truth::all();
    tasks.retain(|task| task.name().contains(&only) && (task.quick || !quick));
    // What spoils most of them is done by the user's hands, which are elsewhere.
    tasks.retain(|task| whose == Whose::Users || task.sabotage.is_none());
    let mut verdicts = match &file {
        Some(file) if again => truth::kept(file)?,
        _ => Vec::new(),
    };
    let (is_anew, before) = (again && !only.is_empty(), verdicts.len());
    verdicts.retain(|one| !(is_anew && one.task.name().contains(&only)));
    tasks.retain(|task| !verdicts.iter().any(|one| one.task.name() == task.name()));
    let answers = truth::run(&tasks, whose, stages, pictures, |answer| match answer {
        Ok(verdict) => println!("{verdict}"),
        Err(error) => println!("error: {error:#}"),
    })?;
    let broken = answers.iter().filter(|answer| answer.is_err()).count();
    verdicts.extend(answers.into_iter().flatten());
    let order: Vec<String> = truth::all().iter().map(Task::name).collect();
    verdicts.sort_by_key(|one| order.iter().position(|name| *name == one.task.name()));
    if let Some(file) = &file {
        truth::keep(file, &verdicts)?;
    }
    let counts = Counts::of(&verdicts);
    println!("\n{counts}");
    if let Some(file) = matrix {
        let said = |program: &str, arguments: &[&str]| -> Result<String> {
            let output = Command::new(program).args(arguments).output()?;
            Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
        };
        let (date, commit) = (said("date", &["+%F"])?, said("git", &["rev-parse", "--short", "HEAD"])?);
        let of_them = match is_anew {
            true => format!(" ({} of {before} acts; the others a few commits before)", tasks.len()),
            false => String::new(),
        };
        std::fs::write(file, truth::matrix(&verdicts, &format!("{date} with {commit}{of_them}"))?)?;
    }
    let surprises = Surprises::of(&verdicts);
    for line in &surprises.new {
        println!("new fault: {line}");
    }
    for line in &surprises.mended {
        println!("known fault that is none any more: {line}");
    }
    let is_whole = (only.is_empty() || is_anew) && !quick;
    let missed = if is_whole { [counts.missed(), counts.missed_as_they_came()].concat() } else { Vec::new() };
    for line in &missed {
        println!("missed: {line}");
    }
    Ok(if surprises.are_bad() || broken > 0 || !missed.is_empty() {
        ExitCode::FAILURE
    } else {
        ExitCode::SUCCESS
    })
}
