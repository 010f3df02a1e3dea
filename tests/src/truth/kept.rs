//! Verdicts in a file, so that what was only too slow beside others can be tried once more without all the rest.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use serde_json::{Value, json};

use super::{Said, Surprises, Verdict, all};

/// Writes the verdicts down.
///
/// # Errors
/// Where the file cannot be written.
pub fn keep(file: &Path, verdicts: &[Verdict]) -> Result<()> {
    let all: Vec<Value> = verdicts
        .iter()
        .map(|one| {
            json!({
                "task": one.task.name(), "done": one.done, "said": one.said.word(), "wrong": one.wrong,
                "disturbed": one.disturbed, "hung": one.hung, "by": one.by, "summary": one.summary, "found": one.found, "seconds": one.seconds,
            })
        })
        .collect();
    fs::write(file, serde_json::to_vec_pretty(&all)?).with_context(|| file.display().to_string())
}

/// Those of a file; what was only not done, and is not known to be so, is to be tried again. An untrue word stays one.
///
/// # Errors
/// Where the file cannot be read, or names a task or a word that there is not.
pub fn kept(file: &Path) -> Result<Vec<Verdict>> {
    let text = fs::read(file).with_context(|| file.display().to_string())?;
    let (tasks, lines): (_, Vec<Value>) = (all(), serde_json::from_slice(&text)?);
    let verdicts = lines.into_iter().map(|line| {
        let text = |name: &str| line[name].as_str().unwrap_or_default().to_owned();
        let task = tasks.iter().find(|task| task.name() == text("task"));
        let said = Said::ALL.into_iter().find(|said| said.word() == text("said"));
        Ok(Verdict {
            task: task.with_context(|| format!("no task is called {}", text("task")))?.clone(),
            said: said.with_context(|| format!("nothing is said as {}", text("said")))?,
            done: line["done"] == true,
            wrong: line["wrong"].as_str().map(str::to_owned),
            disturbed: line["disturbed"].as_str().map(str::to_owned),
            hung: line["hung"] == true,
            by: text("by"),
            summary: text("summary"),
            found: text("found"),
            seconds: line["seconds"].as_f64().unwrap_or_default(),
        })
    });
    let mut verdicts: Vec<Verdict> = verdicts.collect::<Result<_>>()?;
    let undone = Surprises::of(&verdicts).undone();
    verdicts.retain(|one| !undone.contains(&one.task.name()));
    Ok(verdicts)
}
