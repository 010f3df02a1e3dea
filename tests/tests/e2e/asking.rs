//! `kill -9` at random moments of a run that asks: its question is open again at the next start, is answered with the
//! approver key, and the run ends right; nothing is done twice.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use outside::fake_model::{Asked, FakeModel, MindTurn, Said};
use outside::miki::{self, Client, Miki};
use outside::stage::{Furniture, Stage, Witness};
use outside::{LONG, wait_for};
use protocol::Event;
use protocol::EventBody;
use protocol::command::{AnswerApproval, RunOverrides, StartRun, StartedRun};
use protocol::event::RunEnd;
use protocol::ids::{CallId, RunId};
use protocol::principal::Surface;
use protocol::tool::{Answer, Approval, Effect, WAIT_FOR};
use protocol::view::{Overview, Question};
use serde_json::json;

use crate::durability::Dice;

const KILLS: usize = 20;
/// A kill comes so long after its run's start at the latest, or after a question of it was seen.
const LATEST_KILL_MS: u64 = 1_500;
const LATEST_WHILE_IT_ASKS_MS: u64 = 300;
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

/// When a run is killed. The random moment itself is slept for: no condition could stand for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Moment {
    /// Whatever it does then.
    AfterItsStart(Duration),
    /// While this one of its questions is open, the first or the second.
    WhileItAsks(usize, Duration),
}

impl Moment {
    /// Every other one comes while a question is open; the others may.
    fn of(kill: usize, dice: &mut Dice) -> Self {
        match kill % 4 {
            1 => Self::WhileItAsks(1, Duration::from_millis(dice.below(LATEST_WHILE_IT_ASKS_MS))),
            3 => Self::WhileItAsks(2, Duration::from_millis(dice.below(LATEST_WHILE_IT_ASKS_MS))),
            _ => Self::AfterItsStart(Duration::from_millis(dice.below(LATEST_KILL_MS))),
        }
    }

    /// Waits for it, and meanwhile says yes to the first question, as the terminal that started the run may. A kill that is
    /// to come while that one is open finds it unanswered.
    fn come(self, owner: &mut Client, run: &RunId) {
        let began = Instant::now();
        let mut first: Option<Approval> = None;
        loop {
            let asked = question(owner, run).unwrap().map(|question| question.approval);
            match (self, &asked, &first) {
                (Self::AfterItsStart(moment), ..) if began.elapsed() >= moment => return,
                (Self::WhileItAsks(1, moment), Some(_), _) => return std::thread::sleep(moment),
                (Self::WhileItAsks(_, moment), Some(asked), Some(first)) if asked.id != first.id => {
                    return std::thread::sleep(moment);
                }
                (_, Some(asked), None) => {
                    let Approval { id, digest, .. } = asked.clone();
                    owner.call(AnswerApproval { approval: id, digest, answer: Answer::Once }.into()).unwrap();
                    first = Some(asked.clone());
                }
                _ => assert!(began.elapsed() < LONG, "the run does not ask: {self:?}"),
            }
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

/// What was killed.
struct Killed {
    started: StartedRun,
    /// Presses of keys and buttons before it began.
    before: usize,
}

/// The user in another terminal, who has the approver key.
pub struct Approver<'a> {
    stage: &'a Stage,
    miki: &'a Miki,
}

impl<'a> Approver<'a> {
    /// Makes the key, while no engine runs.
    pub fn new(stage: &'a Stage, miki: &'a Miki) -> Self {
        let made = miki.run(stage, &["approvals", "key", "new"]).unwrap();
        assert_eq!(made.code(), 0, "{}", made.stderr);
        std::fs::write(stage.path("key"), made.stdout).unwrap();
        Self { stage, miki }
    }

    pub fn say_yes(&self, approval: &Approval) {
        self.answer(approval, &["yes"]);
    }

    /// What the terminal was told, once it was let go.
    pub fn answer(&self, approval: &Approval, answer: &[&str]) -> String {
        let line = [&["approvals", "answer", &approval.id.0], answer].concat();
        let mut command = self.miki.command(self.stage, &line);
        command.stdin(std::fs::File::open(self.stage.path("key")).unwrap());
        let done = self.stage.run("miki", command, LONG).unwrap();
        assert_eq!(done.code(), 0, "{}", done.stderr);
        done.stdout
    }
}

#[derive(Debug, Default)]
struct Tally {
    /// Kills that came while a question was open, after which it was open again.
    open_again: usize,
    /// Runs of those that went on by the user's yes and ended as their goal says.
    ended_right: usize,
    /// Kills that came while nothing was asked: the run ends with the engine, and says so.
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

/// Says yes to all that a run asks now, until its end.
pub fn go_on(client: &mut Client, run: &StartedRun, approver: &Approver<'_>) -> Vec<Event> {
    wait_for("the run's end", LONG, || {
        if let Some(Question { approval, .. }) = question(client, &run.run).ok()? {
            approver.say_yes(&approval);
        }
        let history = client.history(&run.session).ok()?;
        miki::end(&history).is_some().then_some(history)
    })
    .unwrap()
}

fn check(
    client: &mut Client,
    killed: &Killed,
    approver: &Approver<'_>,
    witness: &Witness,
    tally: &mut Tally,
) {
    let StartedRun { session, run } = &killed.started;
    let open = question(client, run).unwrap();
    let before = client.history(session).unwrap();
    let (asked, answered) = approvals(&before);
    match &open {
        Some(Question { approval, .. }) => {
            assert_eq!(Some(approval), asked.last(), "another question than was asked");
            assert!(answered.iter().all(|(id, ..)| *id != approval.id.0));
        }
        None => assert_eq!(asked.len(), answered.len(), "a question is lost: {before:#?}"),
    }
    let history = go_on(client, &killed.started, approver);
    let (asked, answered) = approvals(&history);
    let mut ids: Vec<&str> = asked.iter().map(|approval| approval.id.as_str()).collect();
    ids.dedup();
    assert_eq!(ids.len(), asked.len(), "a question was asked twice");
    let decided: Vec<&str> = answered.iter().map(|(id, ..)| id.as_str()).collect();
    assert_eq!(decided, ids, "not each question was decided once");
    assert!(
        answered.iter().all(|(_, answer, by)| (answer, *by) == (&Answer::Once, Surface::Cli)),
        "not the user's answers: {answered:?}"
    );
    let (done, unknown) = acts(&history);
    let pressed = witness.count() - killed.before;
    match (miki::end(&history), open) {
        (Some(RunEnd::Completed { .. }), Some(_)) => {
            assert_eq!((done, unknown, pressed), (3, 0, 3), "two keys and a scroll, once each: {history:#?}");
            tally.open_again += 1;
            tally.ended_right += 1;
        }
        (Some(RunEnd::Interrupted { reason: None }), None) => {
            assert!((done..=done + unknown).contains(&pressed), "{pressed}; {done}, {unknown} in doubt");
            tally.interrupted += 1;
        }
        other => panic!("{other:?}: {history:#?}"),
    }
}

// bar: C28
#[test]
fn a_question_is_open_again_after_each_of_twenty_kills_and_a_yes_of_the_approver_lets_the_run_end_right() {
    let seed = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_nanos() as u64 | 1;
    println!("seed {seed}");
    let mut dice = Dice(seed);
    let stage = Stage::sized(Furniture { windows: false, keyring: true }, "1024x768x24").unwrap();
    let editor = stage.open_editor(None).unwrap();
    stage.screen().unwrap().activate(&editor.window).unwrap();
    let witness = stage.witness().unwrap();
    let model = FakeModel::start(mind).unwrap();
    let settings = json!({ "approval": "ask", "settleMs": 0, "maxSteps": 500 });
    let miki = Miki::with_model(&stage, "miki", &model.url(), settings).unwrap();
    let approver = Approver::new(&stage, &miki);
    let mut tally = Tally::default();
    let mut last: Option<Killed> = None;
    for kill in 0..=KILLS {
        let mut engine = miki.start(&stage, "engine", &["run", "keep the engine", "--json"]).unwrap();
        let mut client = miki.connect(LONG).unwrap();
        if let Some(killed) = last.take() {
            check(&mut client, &killed, &approver, &witness, &mut tally);
        }
        if kill == KILLS {
            break;
        }
        let before = witness.count();
        let start = StartRun { goal: ASKER.into(), session: None, overrides: RunOverrides::default() };
        let started = client.call(start.into()).unwrap();
        let started: StartedRun = serde_json::from_value(started).unwrap();
        Moment::of(kill, &mut dice).come(&mut client, &started.run);
        engine.kill();
        last = Some(Killed { started, before });
    }
    println!("{KILLS} kills: {tally:?}");
    assert_eq!((tally.ended_right + tally.interrupted, tally.ended_right), (KILLS, tally.open_again));
    assert!(tally.open_again * 2 >= KILLS, "hardly any kill met an open question: {tally:?}");
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
    assert!(said(&["approvals"]).starts_with("nothing is asked\n"));
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
    // Its run has not ended: what is refused for that names a run that is listed, and can be stopped.
    let refused = miki.run(&stage, &["approvals", "key", "new"]).unwrap();
    assert!(refused.code() == 1 && refused.stderr.contains(run.as_str()), "{}", refused.stderr);
    assert!(refused.stderr.contains(&format!("miki stop {run}")), "{}", refused.stderr);
    let listed = said(&["ps", "--json"]);
    assert!(listed.contains(run.as_str()) && said(&["ps"]).contains("asks"), "{listed}");
    assert_eq!(said(&["stop", run.as_str()]), format!("stopped {run}\n"));
    assert!(said(&["approvals"]).starts_with("nothing is asked\n"));
    assert_eq!(said(&["ps"]), "nothing is running\n");
}

/// Sends for two agents, each of which presses a key, and waits for both; for any other goal as [`mind`].
fn conductor(asked: &Asked) -> MindTurn {
    let results = asked.heard.messages.iter().filter(|said| matches!(said, Said::Results(_))).count();
    let is_root = asked.goal() == BOTH;
    let sent = |key: &str| {
        let goal = format!("press {key}");
        ("spawn".to_owned(), json!({ "goal": goal, "tools": ["screen"], "reason": "side by side" }))
    };
    match (is_root, results) {
        (true, 0) => MindTurn::call("", "useTools", json!({ "groups": ["agents"] })),
        (true, 1) => MindTurn { calls: ["a", "b"].map(sent).into(), ..MindTurn::default() },
        (true, 2) => MindTurn::call("", WAIT_FOR, json!({})),
        (false, 0) if asked.goal().starts_with("press ") => {
            MindTurn::call("", "press", json!({ "key": "a", "reason": "it is the goal" }))
        }
        (false, _) if !asked.goal().starts_with("press ") => mind(asked),
        _ => MindTurn::done("it was asked about", true),
    }
}

const BOTH: &str = "have both pressed";

#[test]
fn an_answer_where_nobody_runs_the_engine_takes_its_terminal_only_while_something_goes_on() {
    let stage = Stage::new(Furniture { windows: false, keyring: true }).unwrap();
    let model = FakeModel::start(conductor).unwrap();
    let settings = json!({ "approval": "ask", "settleMs": 0 });
    let miki = Miki::with_model(&stage, "miki", &model.url(), settings).unwrap();
    let approver = Approver::new(&stage, &miki);
    let mut engine = miki.start(&stage, "engine", &["run", "keep the engine", "--json"]).unwrap();
    let mut client = miki.connect(LONG).unwrap();
    let start = StartRun { goal: BOTH.into(), session: None, overrides: RunOverrides::default() };
    client.call(start.into()).unwrap();
    let questions = wait_for("two questions, and one that waits for both", LONG, || {
        let Overview { runs, questions, .. } = client.overview().ok()?;
        let root = runs.into_iter().find(|run| run.goal == BOTH)?;
        let history = client.history(&root.session).ok()?;
        let waits =
            |body: &EventBody| matches!(body, EventBody::ToolStarted { call, .. } if call.tool == WAIT_FOR);
        let all_wait = questions.len() == 2 && history.iter().any(|event| waits(&event.body));
        all_wait.then_some(questions)
    })
    .unwrap();
    engine.kill();
    // The one that waits would do so for minutes.
    let said = approver.answer(&questions[0].approval, &["no"]);
    assert_eq!(said, "answered\n1 more question waits: miki approvals\n");
    assert_eq!(approver.answer(&questions[1].approval, &["no"]), "answered\n");
    assert_eq!(model.turns().last().unwrap().goal(), BOTH, "it goes on once both were answered");
    assert_eq!(miki.run(&stage, &["ps"]).unwrap().stdout, "nothing is running\n");
}
