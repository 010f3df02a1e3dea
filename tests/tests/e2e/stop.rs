//! Stops, measured from outside: the time from the wish to the last input event, and what is held afterwards.

use std::time::{Duration, Instant};

use outside::fake_model::{FakeGemini, GeminiRequest, MindTurn};
use outside::miki::{self, Miki};
use outside::stage::{Editor, Stage, Witness};
use outside::{LONG, Process, wait_for};
use protocol::command::{AnyCommand, StopRun};
use protocol::event::RunEnd;
use serde_json::{Value, json};

/// The bar is 100 ms; a test shares two cores with others, and must not fail for that.
const BOUND: Duration = Duration::from_millis(250);

/// Does the same thing over and over.
fn again(tool: &'static str, arguments: Value) -> impl FnMut(&GeminiRequest) -> MindTurn + Send {
    move |_| MindTurn::call("", tool, arguments.clone())
}

struct Scene {
    stage: Stage,
    _editor: Editor,
    _model: FakeGemini,
    miki: Miki,
    run: Process,
}

/// A run under way that keeps pressing things in an editor.
fn under_way(tool: &'static str, arguments: Value) -> Scene {
    let stage = Stage::plain().unwrap();
    let editor = stage.open_editor(None).unwrap();
    stage.screen().unwrap().activate(&editor.window).unwrap();
    let model = FakeGemini::start(again(tool, arguments)).unwrap();
    let miki = Miki::with_model(&stage, "miki", &model.url(), json!({ "maxSteps": 500, "batchDelayMs": 0 }))
        .unwrap();
    let run = miki.start(&stage, "run", &["run", "go on and on", "--json"]).unwrap();
    Scene { stage, _editor: editor, _model: model, miki, run }
}

impl Scene {
    fn assert_nothing_is_held(&self) {
        let screen = self.stage.screen().unwrap();
        assert_eq!(screen.held_keys().unwrap(), Vec::<u8>::new());
        assert_eq!(screen.held_mask().unwrap() & 0x1f0d, 0, "a button or modifier is held");
    }

    fn end(&self) -> RunEnd {
        let lines = self.stage.log("run");
        let json: String =
            lines.lines().filter(|line| line.starts_with('{')).map(|line| format!("{line}\n")).collect();
        miki::end(&miki::events(&json).unwrap()).expect("no end of the run")
    }
}

/// As much as one call can type.
fn typing() -> Value {
    let text = "The quick brown fox jumps over the lazy dog AND RUNS AWAY. ".repeat(3);
    json!({ "actions": vec![json!({ "tool": "type", "arguments": { "text": text } }); 8] })
}

/// Waits for a moment in the middle of it: events just now, and many before.
fn in_the_middle(witness: &Witness) {
    let mut before = 0;
    wait_for("the middle of typing", LONG, || {
        let now = witness.count();
        (std::mem::replace(&mut before, now) < now && now > 200).then_some(())
    })
    .unwrap();
}

#[test]
fn ctrl_c_in_the_middle_of_typing_stops_within_the_bound_and_ends_with_code_3() {
    // bar: K77
    let mut scene = under_way("batch", typing());
    let witness = scene.stage.witness().unwrap();
    in_the_middle(&witness);
    let wished = Instant::now();
    scene.run.interrupt();
    let status = scene.run.wait(LONG).unwrap();
    assert_eq!(status.code(), Some(3), "{}", scene.stage.log("run"));
    let late = witness.last().unwrap().saturating_duration_since(wished);
    println!("stop by ctrl-c: last input event {late:?} after the wish");
    assert!(late < BOUND, "{late:?}");
    scene.assert_nothing_is_held();
    assert!(matches!(scene.end(), RunEnd::Stopped { .. }));
}

#[test]
fn a_stop_in_the_middle_of_a_drag_lets_go_of_the_button() {
    // bar: K78
    let path: Vec<Value> = (0..100).map(|i| json!({ "x": 100 + (i % 2) * 300, "y": 300 + i })).collect();
    let mut scene = under_way("drag", json!({ "path": path, "reason": "to paint" }));
    let screen = scene.stage.screen().unwrap();
    let mut client = scene.miki.connect(LONG).unwrap();
    const LEFT: u16 = 1 << 8;
    wait_for("a held button", LONG, || (screen.held_mask().ok()? & LEFT != 0).then_some(())).unwrap();
    let wished = Instant::now();
    client.call(AnyCommand::StopRun(StopRun { run: None })).unwrap();
    wait_for("the button to be let go", BOUND, || (screen.held_mask().ok()? & LEFT == 0).then_some(()))
        .unwrap();
    println!("stop in a drag: button seen released {:?} after the wish", wished.elapsed());
    assert_eq!(scene.run.wait(LONG).unwrap().code(), Some(3));
    scene.assert_nothing_is_held();
}

#[test]
fn the_users_pointer_in_the_corner_stops_everything() {
    // bar: K77
    let mut scene = under_way("batch", typing());
    let (witness, user) = (scene.stage.witness().unwrap(), scene.stage.user().unwrap());
    in_the_middle(&witness);
    let wished = Instant::now();
    user.move_to(0, 0).unwrap();
    assert_eq!(scene.run.wait(LONG).unwrap().code(), Some(3), "{}", scene.stage.log("run"));
    let late = witness.last().unwrap().saturating_duration_since(wished);
    println!("stop by the corner: last input event {late:?} after the wish");
    assert!(late < BOUND, "{late:?}");
    scene.assert_nothing_is_held();
    match scene.end() {
        RunEnd::Stopped { reason } => assert!(reason.contains("failsafe"), "{reason}"),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_stop_while_the_model_is_silent_does_not_wait_for_it() {
    let stage = Stage::plain().unwrap();
    let model = FakeGemini::start(|_: &GeminiRequest| MindTurn {
        pause: Duration::from_secs(600),
        ..MindTurn::default()
    })
    .unwrap();
    let miki = Miki::with_model(&stage, "miki", &model.url(), json!({})).unwrap();
    let mut run = miki.start(&stage, "run", &["run", "wait", "--json"]).unwrap();
    let mut client = miki.connect(LONG).unwrap();
    wait_for("the run", LONG, || {
        let snapshot = client.snapshot().ok()?;
        (snapshot.status.step == 1).then_some(())
    })
    .unwrap();
    let wished = Instant::now();
    client.call(AnyCommand::StopRun(StopRun { run: None })).unwrap();
    let took = wished.elapsed();
    println!("stop while the model is silent: answered after {took:?}");
    assert!(took < Duration::from_secs(1), "{took:?}");
    assert_eq!(run.wait(LONG).unwrap().code(), Some(3));
}
