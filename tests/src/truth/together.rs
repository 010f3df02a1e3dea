//! Tasks on several stages at a time: an application waits more than it computes.

use std::collections::VecDeque;
use std::panic::resume_unwind;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use anyhow::Result;

use super::{App, Runner, Task, Verdict, Whose};

/// Carries the tasks out on as many stages, those of one application one after the other; `told` hears of each as it
/// comes. The answers are in the order of the tasks. Of what is not as it should be, `pictures` gets the screen.
///
/// # Errors
/// Where a stage or an engine does not come up.
pub fn run(
    tasks: &[Task],
    whose: Whose,
    stages: usize,
    pictures: Option<PathBuf>,
    told: impl Fn(&Result<Verdict>) + Sync,
) -> Result<Vec<Result<Verdict>>> {
    if let Some(folder) = &pictures {
        std::fs::create_dir_all(folder)?;
    }
    let mut groups: Vec<Vec<(usize, &Task)>> = App::ALL
        .iter()
        .map(|app| tasks.iter().enumerate().filter(|(_, task)| task.app == *app).collect())
        .collect();
    // What takes longest begins first.
    groups.sort_by_key(|group| std::cmp::Reverse(group.len()));
    let waiting = Mutex::new(VecDeque::from(groups));
    let next = || waiting.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
    let work = || -> Result<Vec<(usize, Result<Verdict>)>> {
        let mut runner = Runner::open(whose)?;
        runner.pictures.clone_from(&pictures);
        let mut came = Vec::new();
        while let Some(group) = next() {
            for (at, task) in group {
                let verdict = runner.run(task);
                told(&verdict);
                came.push((at, verdict));
            }
        }
        Ok(came)
    };
    let came = std::thread::scope(|scope| {
        let started: Vec<_> = (0..stages).map(|_| scope.spawn(work)).collect();
        let ended = started.into_iter().map(|one| one.join().unwrap_or_else(|panic| resume_unwind(panic)));
        ended.collect::<Result<Vec<_>>>()
    })?;
    let mut all: Vec<_> = came.into_iter().flatten().collect();
    all.sort_by_key(|(at, _)| *at);
    Ok(all.into_iter().map(|(_, verdict)| verdict).collect())
}
