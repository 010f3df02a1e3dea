//! All tasks, solved by scripted minds and counted.

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
                writeln!(out, "ok     {:<30} reward {reward:.2}  {took:.1} s  {used}", task.name).unwrap();
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
