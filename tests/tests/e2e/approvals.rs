//! Questions of runs whose starter cannot answer, or answers in a terminal.

use std::io::Write as _;
use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use outside::fake_model::{Asked, FakeModel, HaikuMind, MindTurn, ScriptMind};
use outside::miki::{self, GOAL, Miki};
use outside::stage::Stage;
use outside::{LONG, wait_for};
use protocol::EventBody;
use protocol::command::PauseRun;
use protocol::event::RunEnd;
use protocol::tool::{Answer, Effect, ToolErrorKind};
use serde_json::json;

#[test]
fn a_run_that_nobody_can_approve_ends_with_code_4_and_has_touched_nothing() {
    let stage = Stage::plain().unwrap();
    let _editor = stage.open_editor(None).unwrap();
    let witness = stage.witness().unwrap();
    let model = FakeModel::start(HaikuMind::default()).unwrap();
    let miki = Miki::with_model(&stage, "miki", &model.url(), json!({})).unwrap();
    let done = miki.run(&stage, &["run", GOAL, "--json", "--approval", "ask"]).unwrap();
    assert_eq!(done.code(), 4, "{} {}", done.stdout, done.stderr);
    // What was given already would not help.
    assert!(done.stderr.contains("without --json") && !done.stderr.contains("thread"), "{}", done.stderr);
    let events = miki::events(&done.stdout).unwrap();
    assert!(matches!(miki::end(&events), Some(RunEnd::NeedsApproval { .. })));
    let asked = events.iter().find_map(|event| match &event.body {
        EventBody::ApprovalRequested { approval } => Some(approval.call.tool.clone()),
        _ => None,
    });
    assert_eq!(asked.as_deref(), Some("click"));
    assert_eq!(witness.count(), 0, "a button or key was pressed without a yes");
}

#[test]
fn plan_mode_looks_and_never_acts() {
    let stage = Stage::plain().unwrap();
    let _editor = stage.open_editor(None).unwrap();
    let witness = stage.witness().unwrap();
    let call = |tool: &str, arguments| MindTurn::call("", tool, arguments);
    let turns =
        [call("screenshot", json!({})), call("click", json!({ "x": 500, "y": 500, "reason": "to try" }))];
    let model = FakeModel::start(ScriptMind::new(turns)).unwrap();
    let miki = Miki::with_model(&stage, "miki", &model.url(), json!({})).unwrap();
    let done = miki.run(&stage, &["run", "look", "--json", "--mode", "plan"]).unwrap();
    assert_eq!(done.code(), 0, "{} {}", done.stdout, done.stderr);
    let events = miki::events(&done.stdout).unwrap();
    let results: Vec<_> = events
        .iter()
        .filter_map(|event| match &event.body {
            EventBody::ToolFinished { result, .. } => {
                Some((result.effect, result.error.as_ref().map(|e| e.kind)))
            }
            _ => None,
        })
        .collect();
    assert_eq!(results[..2], [(Effect::Confirmed, None), (Effect::Refused, Some(ToolErrorKind::Forbidden))]);
    assert_eq!(witness.count(), 0);
}

#[test]
fn a_yes_that_was_typed_before_its_question_came_answers_nothing() {
    let stage = Stage::plain().unwrap();
    let _editor = stage.open_editor(None).unwrap();
    let witness = stage.witness().unwrap();
    let has_typed = Arc::new(AtomicBool::new(false));
    let gate = has_typed.clone();
    let mind = move |asked: &Asked| {
        wait_for("the yes to be typed", LONG, || gate.load(Ordering::SeqCst).then_some(())).unwrap();
        match asked.heard.messages.len() {
            1 => MindTurn::call("", "press", json!({ "key": "a", "reason": "it is the goal" })),
            _ => MindTurn::done("asked", true),
        }
    };
    let model = FakeModel::start(mind).unwrap();
    let miki = Miki::with_model(&stage, "miki", &model.url(), json!({})).unwrap();
    // A terminal of its own, whose keys are what is written here.
    let (keys, mut fingers) = std::io::pipe().unwrap();
    let mut terminal = miki.starter(&stage, "script");
    let line = format!("'{}' run press --approval ask", miki.bin.display());
    terminal
        .args(["--quiet", "--flush", "--return", "--command", &line, "/dev/null"])
        .stdin(Stdio::from(keys));
    let _run = stage.launch("terminal", "script (bsdutils)", terminal).unwrap();
    let mut client = miki.connect(LONG).unwrap();
    client.subscribe().unwrap();
    let yes = format!("{}y", " ".repeat(20));
    fingers.write_all(yes.as_bytes()).unwrap();
    wait_for("the terminal's echo", LONG, || stage.log("terminal").contains(&yes).then_some(())).unwrap();
    has_typed.store(true, Ordering::SeqCst);
    client.events_until(|body| matches!(body, EventBody::ApprovalRequested { .. })).unwrap();
    // From half a second on what is typed answers it.
    std::thread::sleep(Duration::from_millis(700));
    fingers.write_all(b"\nn\n").unwrap();
    let events = client.events_until(|body| matches!(body, EventBody::ApprovalAnswered { .. })).unwrap();
    let answer = events.into_iter().find_map(|event| match event.body {
        EventBody::ApprovalAnswered { answer, .. } => Some(answer),
        _ => None,
    });
    assert_eq!((answer, witness.count()), (Some(Answer::Deny), 0), "{}", stage.log("terminal"));
}

#[test]
fn the_prompt_of_an_agents_question_comes_again_below_what_happens_meanwhile() {
    const PROMPT: &str = "your answer, on one line";
    let stage = Stage::plain().unwrap();
    let mind = |asked: &Asked| {
        if asked.goal().starts_with("which colour?") {
            return match asked.heard.messages.len() {
                1 => MindTurn::call(
                    "",
                    "askHuman",
                    json!({ "question": "Which colour?", "reason": "to go on" }),
                ),
                _ => MindTurn::done("asked", true),
            };
        }
        match asked.heard.messages.len() {
            1 => MindTurn::call("", "useTools", json!({ "groups": ["agents"] })),
            3 => {
                let agent = json!({ "goal": "which colour?", "tools": ["files"], "reason": "to know" });
                MindTurn::call("", "spawn", agent)
            }
            5 => MindTurn::call("", "waitFor", json!({})),
            _ => MindTurn::done("knows the colour", true),
        }
    };
    let model = FakeModel::start(mind).unwrap();
    let miki = Miki::with_model(&stage, "miki", &model.url(), json!({})).unwrap();
    let (keys, mut fingers) = std::io::pipe().unwrap();
    let mut terminal = miki.starter(&stage, "script");
    let line = format!("'{}' run 'find the colour'", miki.bin.display());
    terminal
        .args(["--quiet", "--flush", "--return", "--command", &line, "/dev/null"])
        .stdin(Stdio::from(keys));
    let _run = stage.launch("terminal", "script (bsdutils)", terminal).unwrap();
    let log = || stage.log("terminal");
    let prompts = |wanted: usize| {
        let came = wait_for("the prompt", LONG, || (log().matches(PROMPT).count() == wanted).then_some(()));
        assert!(came.is_ok(), "{}", log());
    };
    prompts(1);
    let mut client = miki.connect(LONG).unwrap();
    client.call(PauseRun { run: None }.into()).unwrap();
    prompts(2);
    // What came meanwhile stands on lines of its own.
    let printed = log();
    let beside = printed.split(PROMPT).nth(1).unwrap();
    assert!(beside.lines().any(|line| line.starts_with("paused")), "{printed}");
    std::thread::sleep(Duration::from_millis(700));
    fingers.write_all(b"green\n").unwrap();
    let is_answered = || client.overview().ok()?.questions.is_empty().then_some(());
    let answered = wait_for("the answer", LONG, is_answered);
    assert!(answered.is_ok(), "{}", log());
}
