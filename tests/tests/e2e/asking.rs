//! `kill -9` at random moments of a run that asks: its question is open again at the next start, nothing is done twice,
//! and the run goes on to its end when the question is decided.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use outside::fake_model::{Asked, FakeModel, MindTurn, Said};
use outside::miki::{self, Client, Miki};
use outside::stage::{Stage, Witness};
use outside::{LONG, wait_for};
use protocol::Event;
use protocol::EventBody;
use protocol::command::{AnswerApproval, RunOverrides, StartRun, StartedRun};
use protocol::event::RunEnd;
use protocol::ids::{CallId, RunId};
use protocol::principal::Surface;
use protocol::tool::{Answer, Approval, Effect};
use protocol::view::Question;
use serde_json::json;

use crate::durability::Dice;

const KILLS: usize = 20;
/// A kill comes before a question lapses, and after it the next start has time to show it.
const LATEST_KILL_MS: u64 = 3_000;
const DEADLINE_MS: u64 = 5_000;
const ASKER: &str = "press two keys";

/// Presses two keys, each of which takes a yes, with a scroll in between, which takes none. Where it stands is in the
/// conversation alone. For any other goal it thinks, slowly: such a run keeps the engine.
fn mind(asked: &Asked) -> MindTurn {
    if !format!("{:?}", asked.heard.messages.first()).contains(ASKER) {
        let think = MindTurn::call("", "think", json!({ "thought": "on and on" }));
        return MindTurn { pause: Duration::from_millis(500), ..think };
    }
    let results = asked.heard.messages.iter().filter(|said| matches!(said, Said::Results(_))).count();
    let press = |key: &str| MindTurn::call("", "press", json!({ "key": key, "reason": "it is the goal" }));
    let scroll = || MindTurn::call("", "scroll", json!({ "x": 265, "y": 444, "down": 1 }));
    match results {
        0 => press("a"),
        1 => scroll(),
        2 => press("b"),
        _ => MindTurn::done("two keys were asked about", true),
    }
}

fn question(client: &mut Client, run: &RunId) -> anyhow::Result<Option<Question>> {
    Ok(client.overview()?.questions.into_iter().find(|question| question.run == *run))
}

/// Says yes to the first key over the connection that started the run; ends with the connection.
fn say_yes(mut owner: Client, run: RunId) -> std::thread::JoinHandle<()> {
    std::thread::spawn(move || {
        let first = wait_for("the first question", LONG, || match question(&mut owner, &run) {
            Ok(asked) => asked.map(Some),
            Err(_) => Some(None),
        });
        if let Ok(Some(Question { approval, .. })) = first {
            let Approval { id, digest, .. } = approval;
            // The engine may be killed in this very moment.
            let _ = owner.call(AnswerApproval { approval: id, digest, answer: Answer::Once }.into());
        }
    })
}

/// What was killed.
struct Killed {
    started: StartedRun,
    /// Presses of keys and buttons before it began.
    before: usize,
}

#[derive(Debug, Default)]
struct Tally {
    open_again: usize,
    completed: usize,
    interrupted: usize,
}

fn approvals(history: &[Event]) -> (Vec<Approval>, Vec<(String, Answer, Surface)>) {
    let asked = history.iter().filter_map(|event| match &event.body {
        EventBody::ApprovalRequested { approval } => Some(approval.clone()),
        _ => None,
    });
    let answered = history.iter().filter_map(|event| match &event.body {
        EventBody::ApprovalAnswered { approval, answer, by } => {
            Some((approval.0.clone(), answer.clone(), *by))
        }
        _ => None,
    });
    (asked.collect(), answered.collect())
}

/// How many acts are known to have been done, and of how many it is not known. Each is one press of a key or button.
fn acts(history: &[Event]) -> (usize, usize) {
    let began = |event: &Event| match &event.body {
        EventBody::ToolStarted { call, .. } if ["scroll", "press"].contains(&call.tool.as_str()) => {
            Some(call.id.clone())
        }
        _ => None,
    };
    let begun: Vec<CallId> = history.iter().filter_map(began).collect();
    let effect = |event: &Event| match &event.body {
        EventBody::ToolFinished { call, result } if begun.contains(call) => Some(result.effect),
        _ => None,
    };
    let effects: Vec<Effect> = history.iter().filter_map(effect).collect();
    assert_eq!(effects.len(), begun.len(), "an act without an outcome, or with two");
    let unknown = effects.iter().filter(|effect| **effect == Effect::Unknown).count();
    let refused = effects.iter().filter(|effect| **effect == Effect::Refused).count();
    (effects.len() - unknown - refused, unknown)
}

fn check(client: &mut Client, killed: &Killed, witness: &Witness, tally: &mut Tally) {
    let StartedRun { session, run } = &killed.started;
    // What is open now, or was until a moment ago.
    let shown = question(client, run).unwrap();
    let history = client.history(session).unwrap();
    let (asked, answered) = approvals(&history);
    if let Some(Question { approval, .. }) = &shown {
        assert_eq!(Some(approval), asked.last(), "another question than was asked");
        assert!(answered.iter().all(|(id, ..)| *id != approval.id.0));
        tally.open_again += 1;
    }
    let open_or_lapsed = shown.is_some() || answered.iter().any(|(_, _, by)| *by == Surface::Deadline);
    let history = wait_for("the run's end", LONG, || {
        let history = client.history(session).ok()?;
        miki::end(&history).is_some().then_some(history)
    })
    .unwrap();
    let (asked, answered) = approvals(&history);
    match miki::end(&history) {
        Some(RunEnd::Completed { .. }) => tally.completed += 1,
        Some(RunEnd::Interrupted { reason: None }) if !open_or_lapsed => tally.interrupted += 1,
        other => panic!("a run with a question ended with {other:?}: {history:#?}"),
    }
    let mut ids: Vec<&str> = asked.iter().map(|approval| approval.id.as_str()).collect();
    ids.dedup();
    assert_eq!(ids.len(), asked.len(), "a question was asked twice");
    let mut decided: Vec<&str> = answered.iter().map(|(id, ..)| id.as_str()).collect();
    decided.sort_unstable();
    decided.dedup();
    assert_eq!(decided.len(), answered.len(), "a question was decided twice");
    let (done, unknown) = acts(&history);
    let pressed = witness.count() - killed.before;
    assert!((done..=done + unknown).contains(&pressed), "{pressed} presses, {done} acts, {unknown} in doubt");
}

// bar: C28
#[test]
fn a_question_is_open_again_after_each_of_twenty_kills_and_nothing_is_done_twice() {
    let seed = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_nanos() as u64 | 1;
    println!("seed {seed}");
    let mut dice = Dice(seed);
    let stage = Stage::small().unwrap();
    let editor = stage.open_editor(None).unwrap();
    stage.screen().unwrap().activate(&editor.window).unwrap();
    let witness = stage.witness().unwrap();
    let model = FakeModel::start(mind).unwrap();
    let settings =
        json!({ "approval": "ask", "approvalDeadlineMs": DEADLINE_MS, "settleMs": 0, "maxSteps": 500 });
    let miki = Miki::with_model(&stage, "miki", &model.url(), settings).unwrap();
    let mut tally = Tally::default();
    let mut last: Option<Killed> = None;
    for kill in 0..=KILLS {
        let mut engine = miki.start(&stage, "engine", &["run", "keep the engine", "--json"]).unwrap();
        let mut client = miki.connect(LONG).unwrap();
        if let Some(killed) = last.take() {
            check(&mut client, &killed, &witness, &mut tally);
        }
        if kill == KILLS {
            break;
        }
        let before = witness.count();
        let start = StartRun { goal: ASKER.into(), session: None, overrides: RunOverrides::default() };
        let started = client.call(start.into()).unwrap();
        let started: StartedRun = serde_json::from_value(started).unwrap();
        let yes = say_yes(client, started.run.clone());
        // The random moment itself: no condition could stand for it.
        std::thread::sleep(Duration::from_millis(dice.below(LATEST_KILL_MS)));
        engine.kill();
        yes.join().unwrap();
        last = Some(Killed { started, before });
    }
    println!("{KILLS} kills: {tally:?}");
    assert_eq!(tally.completed + tally.interrupted, KILLS, "{tally:?}");
    assert!(tally.open_again * 4 >= KILLS, "hardly any kill met an open question: {tally:?}");
}

#[test]
fn a_question_is_listed_and_shown_in_a_terminal_while_nobody_runs_the_engine() {
    let stage = Stage::small().unwrap();
    let model = FakeModel::start(mind).unwrap();
    let settings = json!({ "approval": "ask", "settleMs": 0 });
    let miki = Miki::with_model(&stage, "miki", &model.url(), settings).unwrap();
    let said = |line: &[&str]| {
        let done = miki.run(&stage, line).unwrap();
        assert_eq!(done.code(), 0, "{line:?}: {}", done.stderr);
        done.stdout
    };
    assert_eq!(said(&["approvals"]), "nothing waits for an answer\n");
    assert!(!miki.journal().exists(), "a look made a journal");
    let mut engine = miki.start(&stage, "engine", &["run", "keep the engine", "--json"]).unwrap();
    let mut client = miki.connect(LONG).unwrap();
    let start = StartRun { goal: ASKER.into(), session: None, overrides: RunOverrides::default() };
    let StartedRun { run, .. } = serde_json::from_value(client.call(start.into()).unwrap()).unwrap();
    let asked = wait_for("the question", LONG, || question(&mut client, &run).ok()?).unwrap().approval;
    engine.kill();
    // A look decides nothing: the second one finds the same.
    for _ in 0..2 {
        let listed = said(&["approvals", "list"]);
        assert!(listed.contains(&asked.id.0) && listed.contains("press"), "{listed}");
    }
    let shown = said(&["approvals", "show", &asked.id.0]);
    assert!(shown.contains("press") && shown.contains("it is the goal"), "{shown}");
}
