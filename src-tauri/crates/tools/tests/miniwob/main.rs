//! MiniWoB++'s pages in a real Chromium: each task is solved by a small scripted mind that sees and acts through the
//! public tools alone, with a real pointer and real keys where a person would use them; a referee reads the reward.
//!
//! Pages without a task, and what they seem to lack (by what they show; nobody has tried them all): `chase-circle`,
//! `moving-items`, `hover-shape`, `simon-says` and `stock-market` change faster than a look and an act follow each
//! other; `count-sides`, `drag-cube` and the two `click-pie` show what counts in a picture or in shapes without a
//! name; `click-checkboxes-soft` and the two `*-nl-turk` ask for the meaning of words, which a script does not know;
//! for `daily-calendar`, `text-editor` and `tic-tac-toe` nobody has written one.
//!
//! `MINIWOB_ONLY=click,drag` runs the tasks whose names contain one of these, `MINIWOB_SEED=7` another episode of each.
#![cfg(target_os = "linux")]

#[cfg(test)]
mod choosing;
#[cfg(test)]
mod clicking;
#[cfg(test)]
mod dragging;
#[cfg(test)]
mod drawing;
#[cfg(test)]
mod entering;
#[cfg(test)]
mod finding;
#[cfg(test)]
mod mind;
#[cfg(test)]
mod moving;
#[cfg(test)]
mod posts;
#[cfg(test)]
mod puzzles;
#[cfg(test)]
mod reading;
#[cfg(test)]
mod referee;
#[cfg(test)]
mod sliding;
#[cfg(test)]
mod words;

#[cfg(test)]
#[path = "../../../browser/tests/chromium/stage.rs"]
#[expect(dead_code, reason = "the stage of the browser's own tests, of which these use a part")]
mod browser_stage;
#[cfg(test)]
#[path = "../router/stage.rs"]
#[allow(dead_code, reason = "the stage of the router's own tests, of which these use a part")]
mod stage;

#[cfg(test)]
mod tests {
    use std::io::Write as _;
    use std::time::Instant;

    use crate::browser_stage::{Size, Stage};
    use crate::mind::{Mind, Task};
    use crate::referee::{Referee, pages};
    use crate::{
        choosing, clicking, dragging, drawing, entering, finding, moving, posts, puzzles, reading, sliding,
    };

    /// What is asked for.
    const LEAST: usize = 115;
    const SEED: &str = "1";

    fn tasks() -> Vec<Task> {
        let kinds = [
            clicking::tasks(),
            choosing::tasks(),
            entering::tasks(),
            reading::tasks(),
            finding::tasks(),
            posts::tasks(),
            sliding::tasks(),
            dragging::tasks(),
            drawing::tasks(),
            puzzles::tasks(),
            moving::tasks(),
        ];
        kinds.into_iter().flatten().collect()
    }

    #[test]
    fn no_task_is_counted_twice() {
        let mut names: Vec<_> = tasks().iter().map(|task| task.name).collect();
        names.sort_unstable();
        let all = names.len();
        names.dedup();
        assert!(names.len() == all && all >= LEAST, "{all} tasks, {} names", names.len());
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn scripted_minds_solve_miniwob_through_the_public_tools() {
        let named = |name: &str| std::env::var(name).ok().filter(|text| !text.is_empty());
        let (only, seed) = (named("MINIWOB_ONLY"), named("MINIWOB_SEED"));
        let seed = seed.as_deref().unwrap_or(SEED);
        // The pages are small, and each act is looked at before and after.
        let size = Size { screen: (640, 480), at: (0, 0), window: (640, 480) };
        let stage = Stage::sized(size, pages()).await.with_port();
        let mind = Mind::on(&stage);
        let mut referee = Referee::watching(&stage, &mind).await;
        // What a test prints is kept back where it passes; the list is to be seen then, too.
        let mut out = std::io::stdout();
        let (mut solved, mut failed) = (0, Vec::new());
        let tasks: Vec<Task> = tasks()
            .into_iter()
            .filter(|task| {
                only.as_deref().is_none_or(|only| only.split(',').any(|part| task.name.contains(part)))
            })
            .collect();
        let begun = Instant::now();
        for task in &tasks {
            let start = Instant::now();
            let came = referee.episode(task, seed, &mind).await;
            let (used, took) = (mind.used(), start.elapsed().as_secs_f32());
            match came {
                Ok(reward) => {
                    solved += 1;
                    writeln!(out, "ok     {:<30} reward {reward:.2}  {took:.1} s  {used}", task.name)
                        .unwrap();
                }
                Err(why) => {
                    writeln!(out, "FAILED {:<30} {why:#}  {took:.1} s  {used}", task.name).unwrap();
                    failed.push(task.name);
                }
            }
        }
        let all = tasks.len();
        let took = begun.elapsed().as_secs_f32();
        writeln!(out, "MiniWoB++: {solved} of {all} tasks solved (seed {seed}, {took:.0} s)").unwrap();
        assert!(failed.is_empty(), "not solved: {}", failed.join(", "));
        assert!(only.is_some() || solved >= LEAST, "{solved} tasks are solved; {LEAST} are asked for");
    }
}
