//! A run recorded, and played again where there is neither a model server nor a key.

use std::os::unix::fs::PermissionsExt;

use outside::LONG;
use outside::fake_model::{FakeModel, MindTurn, ScriptMind};
use outside::miki::{self, Miki};
use outside::stage::Stage;
use protocol::event::RunEnd;
use protocol::{Event, EventBody};
use serde_json::{Value, json};

const GOAL: &str = "look around";
const KEY: &str = "canary-Key-123";

fn mind() -> ScriptMind {
    let calls = [("list_windows", json!({})), ("displays", json!({}))];
    let look = MindTurn {
        thinking: "I look first.".into(),
        text: "Two looks at once.".into(),
        calls: calls.map(|(name, arguments)| (name.to_owned(), arguments)).into(),
        ..MindTurn::default()
    };
    ScriptMind::new([MindTurn::call("", "think", json!({ "thought": "what is there?" })), look])
}

/// What was said and done in a run, without its times and its own ids.
fn story(stdout: &str) -> Vec<Value> {
    let told = |event: Event| match event.body {
        EventBody::RunStarted(spec) => Some(json!(["started", spec.goal, spec.model])),
        EventBody::TurnFinished { text, thinking, calls, usage, .. } => {
            let calls: Vec<Value> = calls.iter().map(|call| json!([call.tool, call.arguments])).collect();
            Some(json!(["turn", text, thinking, calls, usage]))
        }
        EventBody::ToolStarted { call, .. } => Some(json!(["intent", call.tool])),
        EventBody::ToolFinished { result, .. } => Some(json!(["outcome", result.effect])),
        EventBody::RunEnded { end } => Some(json!(["ended", end])),
        _ => None,
    };
    miki::events(stdout).unwrap().into_iter().filter_map(told).collect()
}

fn failure(stdout: &str) -> String {
    match miki::end(&miki::events(stdout).unwrap()) {
        Some(RunEnd::Failed { message, .. }) => message,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_recorded_run_is_replayed_without_server_or_key_also_by_the_running_app() {
    // bar: C75
    let stage = Stage::plain().unwrap();
    let recording = stage.work().join("run.recording");
    let file = recording.to_str().unwrap();
    let model = FakeModel::start(mind()).unwrap();
    let first = Miki::with_model(&stage, "first", &model.url(), json!({})).unwrap();
    let first = first.env("MIKI_KEY_GEMINI", KEY);
    let recorded = first.run(&stage, &["run", GOAL, "--json", "--record", file]).unwrap();
    assert_eq!(recorded.code(), 0, "{} {}", recorded.stdout, recorded.stderr);
    let (turns, asked) = (model.turns().len(), model.requests());
    assert!(turns == 3 && asked.iter().all(|asked| asked.key.as_deref() == Some(KEY)));
    drop(model);
    let written = std::fs::read_to_string(&recording).unwrap();
    assert!(!written.contains(KEY) && !written.contains(GOAL), "{written}");
    assert_eq!(std::fs::metadata(&recording).unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(written.lines().count(), turns + 1);

    let again = first.run(&stage, &["run", GOAL, "--record", file]).unwrap();
    assert!(again.code() == 1 && again.stderr.contains("not there yet"), "{}", again.stderr);
    let second = Miki::on(&stage, "second").unwrap();
    let replayed = second.run(&stage, &["run", GOAL, "--json", "--replay", file]).unwrap();
    assert_eq!(replayed.code(), 0, "{} {}", replayed.stdout, replayed.stderr);
    assert_eq!(story(&replayed.stdout), story(&recorded.stdout));

    let app = second.start(&stage, "app", &[]).unwrap();
    let _client = second.connect(LONG).unwrap();
    // From the folder of the one who asks, not of the app.
    let mut line = second.command(&stage, &["run", GOAL, "--json", "--replay", "run.recording"]);
    line.current_dir(stage.work());
    let attached = stage.run("miki", line, LONG).unwrap();
    assert_eq!(attached.code(), 0, "{} {}", attached.stdout, attached.stderr);
    assert_eq!(story(&attached.stdout), story(&recorded.stdout));
    drop(app);
}

#[test]
fn a_recording_that_does_not_fit_is_refused_with_what_is_wrong() {
    let stage = Stage::plain().unwrap();
    let recording = stage.work().join("run.recording");
    let file = recording.to_str().unwrap();
    let model = FakeModel::start(mind()).unwrap();
    let miki = Miki::with_model(&stage, "miki", &model.url(), json!({})).unwrap();
    assert_eq!(miki.run(&stage, &["run", GOAL, "--record", file]).unwrap().code(), 0);
    drop(model);
    let replay = |goal: &str| miki.run(&stage, &["run", goal, "--json", "--replay", file]).unwrap();
    let other = replay("look elsewhere");
    assert_eq!(other.code(), 1);
    assert_eq!(failure(&other.stdout), "turn 1 of the recording was asked something else");
    let whole = std::fs::read_to_string(&recording).unwrap();
    let last = whole.trim_end().rfind('\n').unwrap() + 1;
    std::fs::write(&recording, &whole[..last]).unwrap();
    assert_eq!(failure(&replay(GOAL).stdout), "the recording has 2 turns and is asked for turn 3");
    std::fs::write(&recording, &whole[..last + 40]).unwrap();
    let cut = replay(GOAL);
    assert!(cut.code() == 1 && cut.stderr.contains("damaged or cut in line 4"), "{}", cut.stderr);
    let older = whole.replacen("\"version\":2", "\"version\":1", 1);
    std::fs::write(&recording, older).unwrap();
    assert!(replay(GOAL).stderr.contains("of version 1"));
}
