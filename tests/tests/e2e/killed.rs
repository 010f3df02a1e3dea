//! `kill -9` at random moments of runs that change files, run commands and ask: judged by the folder, not by what was said.
//! What was acknowledged is on disk, exactly once; what was in doubt, at most once; and all of it can be taken back.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use outside::fake_model::{Asked, FakeModel, MindTurn, Said};
use outside::miki::{self, Client, Miki};
use outside::stage::Stage;
use outside::{LONG, Process, wait_for};
use protocol::command::{AnswerApproval, RunOverrides, StartRun, StartedRun};
use protocol::event::RunEnd;
use protocol::ids::{ApprovalId, CallId, RunId};
use protocol::tool::{Answer, Approval, ApprovalMode, Effect, ToolCall};
use protocol::view::Question;
use protocol::{Event, EventBody};
use serde_json::json;

use crate::asking::Approver;
use crate::beyond::files;
use crate::durability::{Dice, collect};

/// How often something is killed; `MIKI_KILLS` says otherwise, for who has the time (5 s each): issue 13 asks for 200.
const KILLS: usize = 6;
/// So many of them kill the app with its windows; the others the engine of a command.
const WITH_WINDOWS: usize = 5;
const LATEST_KILL_MS: u64 = 1_800;
const LATEST_WHILE_IT_ASKS_MS: u64 = 250;
/// Acts of a run that asks about each of them, and of one that does not.
const ASKED_ACTS: usize = 7;
const FREE_ACTS: usize = 80;
const GOAL: &str = "work by line";

/// Which act the turn before asked for; `None` before the first.
fn last_act(asked: &Asked) -> Option<usize> {
    let mut calls = asked.heard.messages.iter().rev().filter_map(|said| match said {
        Said::Assistant(answer) => answer.calls.first(),
        _ => None,
    });
    let call = calls.next()?;
    let text =
        ["text", "command", "path", "from"].map(|field| call.arguments[field].as_str().unwrap_or_default());
    let named = text.iter().find_map(|text| {
        let (_, number) =
            text.split_whitespace().chain(text.split('/')).find_map(|word| word.split_once('-'))?;
        number.trim_end_matches(".txt").split_whitespace().next()?.parse::<usize>().ok()
    })?;
    Some(match call.name.as_str() {
        "moveFile" => named + 1,
        "trashFile" => named + 2,
        _ => named,
    })
}

/// Five kinds of acts in turn, each with a name of its own. Where it stands is in the conversation alone, of which the
/// beginning may be gone.
fn mind(asked: &Asked) -> MindTurn {
    let goal = format!("{:?}", asked.heard.messages.first());
    let Some((_, rest)) = goal.split_once(GOAL) else {
        let think = MindTurn::call("", "think", json!({ "thought": "on and on" }));
        return MindTurn { pause: Duration::from_millis(500), ..think };
    };
    let mut words = rest.split_whitespace();
    let (kill, most) = (words.next().unwrap(), words.next().unwrap().parse::<usize>().unwrap());
    if !asked.heard.messages.iter().any(|said| matches!(said, Said::Results(_))) {
        return MindTurn::call("", "useTools", json!({ "groups": ["files", "terminal"] }));
    }
    let act = last_act(asked).map_or(0, |last| last + 1);
    if act >= most {
        return MindTurn::done("all lines are written", true);
    }
    let name = |act: usize| format!("{kill}-{act}");
    let this = name(act);
    match act % 5 {
        0 => MindTurn::call(
            "",
            "writeFile",
            json!({ "path": "log.txt", "text": format!("{this}\n"), "mode": "append" }),
        ),
        1 => MindTurn::call("", "runCommand", json!({ "command": format!("echo {this} >> commands.txt") })),
        2 => MindTurn::call(
            "",
            "writeFile",
            json!({ "path": format!("steps/{this}.txt"), "text": format!("{this}\n") }),
        ),
        3 => {
            let before = name(act - 1);
            let (from, to) = (format!("steps/{before}.txt"), format!("moved/{before}.txt"));
            MindTurn::call("", "moveFile", json!({ "from": from, "to": to }))
        }
        _ => MindTurn::call("", "trashFile", json!({ "path": format!("moved/{}.txt", name(act - 2)) })),
    }
}

/// The line that a call adds to one of the two files, and to which.
fn line_of(call: &ToolCall) -> Option<(&'static str, String)> {
    match call.tool.as_str() {
        "writeFile" if call.arguments["path"] == "log.txt" => {
            Some(("log.txt", call.arguments["text"].as_str()?.trim().to_owned()))
        }
        "runCommand" => {
            Some(("commands.txt", call.arguments["command"].as_str()?.split(' ').nth(1)?.to_owned()))
        }
        _ => None,
    }
}

fn question(client: &mut Client, run: &RunId) -> anyhow::Result<Option<Approval>> {
    let mut questions = client.overview()?.questions.into_iter();
    Ok(questions.find(|question: &Question| question.run == *run).map(|question| question.approval))
}

struct Killed {
    started: StartedRun,
    /// What was told of it before the kill.
    acknowledged: Vec<Event>,
    answered: BTreeSet<ApprovalId>,
}

/// Waits for the moment of the kill, and meanwhile says yes, as another client that started the run may: to all, or to all
/// but the last of so many questions, which is open when it comes.
fn come(dice: &mut Dice, open: Option<usize>, owner: &mut Client, run: &RunId) -> BTreeSet<ApprovalId> {
    let (began, latest) = (Instant::now(), Duration::from_millis(dice.below(LATEST_KILL_MS)));
    let mut answered = BTreeSet::new();
    loop {
        if open.is_none() && began.elapsed() >= latest {
            return answered;
        }
        if let Some(Approval { id, digest, .. }) = question(owner, run).unwrap()
            && !answered.contains(&id)
        {
            if open.is_some_and(|open| answered.len() + 1 >= open) {
                // The random moment itself: no condition could stand for it.
                std::thread::sleep(Duration::from_millis(dice.below(LATEST_WHILE_IT_ASKS_MS)));
                return answered;
            }
            let answer = AnswerApproval { approval: id.clone(), digest, answer: Answer::Once };
            owner.call(answer.into()).unwrap();
            answered.insert(id);
        }
        assert!(began.elapsed() < LONG, "the run does not ask");
        std::thread::sleep(Duration::from_millis(3));
    }
}

/// Answers what the run asks now, as its user in another terminal, until its end.
fn go_on(client: &mut Client, run: &StartedRun, approver: &Approver<'_>) -> Vec<Event> {
    wait_for("the run's end", LONG, || {
        if let Some(approval) = question(client, &run.run).ok()? {
            approver.say_yes(&approval);
        }
        let history = client.history(&run.session).ok()?;
        miki::end(&history).is_some().then_some(history)
    })
    .unwrap()
}

#[derive(Debug, Default)]
struct Tally {
    acknowledged: usize,
    woken: usize,
    interrupted: usize,
    acts: usize,
    in_doubt: usize,
}

/// What came of each line of the two files so far, by all runs: whether it must be there; `None` if it may be.
type Lines = BTreeMap<(&'static str, String), Option<bool>>;

fn check(
    client: &mut Client,
    killed: &Killed,
    approver: &Approver<'_>,
    lines: &mut Lines,
    tally: &mut Tally,
) {
    let found = client.history(&killed.started.session).unwrap();
    for event in &killed.acknowledged {
        assert!(found.contains(event), "acknowledged and lost: {event:?}");
    }
    tally.acknowledged += killed.acknowledged.len();
    for id in &killed.answered {
        let is_it = |event: &Event| matches!(&event.body, EventBody::ApprovalAnswered { approval, .. } if approval == id);
        assert_eq!(found.iter().filter(|event| is_it(event)).count(), 1, "an answer is lost");
    }
    let history = go_on(client, &killed.started, approver);
    match miki::end(&history) {
        Some(RunEnd::Completed { .. }) => tally.woken += 1,
        Some(RunEnd::Interrupted { reason: None }) => tally.interrupted += 1,
        other => panic!("{other:?}: {history:#?}"),
    }
    let mut begun: BTreeMap<CallId, ToolCall> = BTreeMap::new();
    for event in &history {
        match &event.body {
            EventBody::ToolStarted { call, .. } => {
                assert!(begun.insert(call.id.clone(), call.clone()).is_none(), "begun twice: {call:?}");
            }
            EventBody::ToolFinished { call, result } => {
                let Some(call) = begun.remove(call) else { continue };
                tally.acts += 1;
                tally.in_doubt += usize::from(result.effect == Effect::Unknown);
                let Some(line) = line_of(&call) else { continue };
                let is_there = match (result.effect, &result.error) {
                    (Effect::Unknown, _) => None,
                    (Effect::Refused, _) | (_, Some(_)) => panic!("{call:?}: {result:?}"),
                    (_, None) => Some(true),
                };
                lines.insert(line, is_there);
            }
            _ => {}
        }
    }
    assert!(begun.is_empty(), "an intent without an outcome was left open: {begun:?}");
}

/// Each line that was said to be written is there once, none twice, and none that nobody wrote.
fn judge(folder: &Path, lines: &Lines) {
    for file in ["log.txt", "commands.txt"] {
        let text = fs::read_to_string(folder.join(file)).unwrap_or_default();
        let mut found: BTreeMap<&str, usize> = BTreeMap::new();
        text.lines().filter(|line| *line != "before").for_each(|line| *found.entry(line).or_default() += 1);
        for ((_, line), is_there) in lines.iter().filter(|((of, _), _)| *of == file) {
            let count = found.remove(line.as_str()).unwrap_or_default();
            let right = if *is_there == Some(true) { count == 1 } else { count <= 1 };
            assert!(right, "{line} is {count} times in {file}: {text}");
        }
        assert!(found.is_empty(), "nobody said that it writes {found:?} into {file}");
    }
}

// bar: C8, C28, C68
#[test]
fn kills_of_runs_with_files_commands_and_questions_lose_nothing_do_nothing_twice_and_all_is_taken_back() {
    let kills = std::env::var("MIKI_KILLS").ok().and_then(|kills| kills.parse().ok()).unwrap_or(KILLS);
    let seed = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_nanos() as u64 | 1;
    println!("seed {seed}");
    let mut dice = Dice(seed);
    let stage = Stage::full().unwrap();
    let folder = stage.path("home").join("Miki");
    fs::create_dir_all(folder.join("kept")).unwrap();
    fs::write(folder.join("log.txt"), "before\n").unwrap();
    fs::write(folder.join("kept/letter.txt"), "Dear").unwrap();
    let before = files(&folder);
    let model = FakeModel::start(mind).unwrap();
    let miki = Miki::with_model(&stage, "miki", &model.url(), json!({ "maxSteps": 500 })).unwrap();
    let approver = Approver::new(&stage, &miki);
    let (mut lines, mut tally) = (Lines::new(), Tally::default());
    let mut runs: Vec<RunId> = Vec::new();
    let mut last: Option<Killed> = None;
    let start = |kill: usize| -> Process {
        let line: &[&str] =
            if kill % WITH_WINDOWS == WITH_WINDOWS - 1 { &[] } else { &["run", "keep the engine", "--json"] };
        miki.start(&stage, "engine", line).unwrap()
    };
    for kill in 0..kills {
        let mut engine = start(kill);
        let mut owner = miki.connect(LONG).unwrap();
        if let Some(killed) = last.take() {
            check(&mut owner, &killed, &approver, &mut lines, &mut tally);
            judge(&folder, &lines);
        }
        let mut told = miki.connect(LONG).unwrap();
        told.subscribe().unwrap();
        let seen = Arc::new(Mutex::new(Vec::new()));
        let collector = collect(told, seen.clone());
        // Every other one asks, and most of those are killed while a question is open.
        let asks = kill % 2 == 1;
        let open = (asks && kill % 8 != 7).then(|| 1 + dice.below(ASKED_ACTS as u64) as usize);
        let goal = format!("{GOAL} {kill} {} .", if asks { ASKED_ACTS } else { FREE_ACTS });
        let approval = asks.then_some(ApprovalMode::Ask);
        let overrides = RunOverrides { approval, ..RunOverrides::default() };
        let started = owner.call(StartRun { goal, session: None, overrides }.into()).unwrap();
        let started: StartedRun = serde_json::from_value(started).unwrap();
        let answered = come(&mut dice, open, &mut owner, &started.run);
        engine.kill();
        collector.join().unwrap();
        let mut acknowledged = std::mem::take(&mut *seen.lock().unwrap());
        acknowledged.retain(|event| event.scope.run.as_ref() == Some(&started.run));
        runs.push(started.run.clone());
        last = Some(Killed { started, acknowledged, answered });
    }
    // With its windows, and no run of its own: what is taken back is asked for by a command.
    let _app = start(WITH_WINDOWS - 1);
    let mut client = miki.connect(LONG).unwrap();
    if let Some(killed) = last.take() {
        check(&mut client, &killed, &approver, &mut lines, &mut tally);
        judge(&folder, &lines);
    }
    println!("{kills} kills: {tally:?}, 0 lost, 0 twice");
    for run in runs.iter().rev() {
        let changed = client.call(protocol::command::Undo { run: Some(run.clone()), call: None }.into());
        let undone = match changed {
            Ok(undone) => undone,
            // Killed before it changed anything.
            Err(error) if error.to_string().contains("nothing that can be taken back") => continue,
            Err(error) => panic!("{run}: {error}"),
        };
        assert_eq!(undone["left"], json!([]), "{run}: {undone}");
    }
    let mut after = files(&folder);
    // What a command writes is not kept, and not taken back.
    after.remove(Path::new("commands.txt"));
    assert_eq!(after, before, "byte for byte as before");
    assert!(tally.acts > kills * 3, "hardly anything was going on: {tally:?}");
}
