//! What is said of an act, held against what the application did: the quick part of `cargo xtask bench truth`.

use std::collections::BTreeSet;
use std::io::Write as _;

use anyhow::Result;
use outside::truth::{self, App, Counts, Said, Surprises, Task, Verdict, Whose};

/// More than cores: what is tried waits more than it computes.
const STAGES: usize = 3;

fn carry_out(tasks: &[Task], stages: usize) -> Vec<Result<Verdict>> {
    truth::run(tasks, Whose::Users, stages, None, |_| ()).unwrap()
}

#[test]
fn what_is_said_of_an_act_is_what_the_application_did() {
    let mut tasks = truth::all();
    tasks.retain(|task| task.quick);
    let answers = carry_out(&tasks, STAGES);
    // What was only too slow beside others, to begin, to be done or to be seen, is tried once more, alone. An untrue word is
    // none of that.
    let (mut verdicts, mut unbegun) = (Vec::new(), Vec::new());
    for (task, answer) in tasks.iter().zip(answers) {
        match answer {
            Ok(verdict) => verdicts.push(verdict),
            Err(error) => {
                assert!(error.to_string().ends_with(truth::UNBEGUN), "{error:#}");
                unbegun.push(task.name());
            }
        }
    }
    let mut slow = Surprises::of(&verdicts).undone();
    slow.extend(unbegun);
    if !Counts::of(&verdicts).missed().is_empty() {
        let unseen = verdicts.iter().filter(|one| one.done && one.said == Said::Unverified);
        slow.extend(unseen.map(|one| one.task.name()));
    }
    tasks.retain(|task| slow.contains(&task.name()));
    verdicts.retain(|verdict| !slow.contains(&verdict.task.name()));
    if !tasks.is_empty() {
        verdicts.extend(carry_out(&tasks, 1).into_iter().map(Result::unwrap));
    }
    // What a test prints is kept back where it passes; the counts are to be seen then, too.
    let counts = Counts::of(&verdicts);
    writeln!(std::io::stdout(), "{counts}").unwrap();
    let new = Surprises::of(&verdicts).new;
    let told =
        verdicts.iter().filter(|verdict| new.iter().any(|line| line.starts_with(&verdict.task.name())));
    let told: Vec<String> = told.map(Verdict::to_string).collect();
    assert!(new.is_empty(), "{}\n{}", new.join("\n"), told.join("\n"));
    assert_eq!(counts.missed(), Vec::<String>::new(), "\n{counts}");
}

#[test]
fn no_false_word_and_no_harm_is_excused() {
    let task = truth::all().into_iter().find(|task| task.app == App::Cef && !task.is_sabotaged()).unwrap();
    let verdict = |said, done, wrong: Option<&str>, hung| Verdict {
        task: task.clone(),
        done,
        said,
        wrong: wrong.map(str::to_owned),
        disturbed: None,
        hung,
        by: String::new(),
        summary: String::new(),
        found: String::new(),
        seconds: 0.0,
    };
    for (verdict, told) in [
        (verdict(Said::Confirmed, false, None, false), "1 false `confirmed`"),
        (verdict(Said::NoChange, true, None, false), "1 false `no_change`"),
        (verdict(Said::Confirmed, true, Some("twice"), false), "1 acts on something else"),
        (verdict(Said::Confirmed, true, None, true), "1 applications hung"),
    ] {
        let missed = Counts::of(&[verdict]).missed();
        assert!(missed.iter().any(|one| one == told), "{told}: {missed:?}");
    }
}

/// The applications of these tasks, and their toolkits, each once.
fn among(tasks: &[Task]) -> (BTreeSet<&'static str>, BTreeSet<&'static str>) {
    let apps = || tasks.iter().map(|task| task.app);
    (apps().map(App::name).collect(), apps().map(|app| app.toolkit().name()).collect())
}

#[test]
fn ten_real_applications_of_six_toolkits_are_among_the_quick_tasks() {
    let mut tasks = truth::all();
    tasks.retain(|task| task.quick && (!task.app.is_ours() || task.app.is_browser()));
    let (apps, toolkits) = among(&tasks);
    assert!(apps.len() >= 10 && toolkits.len() >= 6, "{apps:?} of {toolkits:?}");
}

#[test]
fn a_hundred_and_twenty_tasks_are_on_applications_that_are_not_ours_and_a_third_of_them_is_sabotaged() {
    let mut tasks = truth::all();
    tasks.retain(|task| !task.app.is_ours());
    let sabotaged = tasks.iter().filter(|task| task.is_sabotaged()).count();
    assert!(tasks.len() >= 120 && sabotaged * 3 >= tasks.len(), "{sabotaged} of {}", tasks.len());
    let (apps, toolkits) = among(&tasks);
    assert!(apps.len() >= 10 && toolkits.len() >= 6, "{apps:?} of {toolkits:?}");
}

#[test]
fn a_task_is_known_by_its_name_alone() {
    let mut names = BTreeSet::new();
    let twice: Vec<String> =
        truth::all().iter().map(Task::name).filter(|name| !names.insert(name.clone())).collect();
    assert_eq!(twice, Vec::<String>::new());
}
