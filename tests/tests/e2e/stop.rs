//! Stops, measured from outside: the time from the wish to the last input event, and what is held afterwards.

use std::time::{Duration, Instant};

use outside::fake_model::{Asked, FakeModel, MindTurn};
use outside::miki::{self, Miki};
use outside::stage::{Editor, Furniture, Screen, Stage, Witness};
use outside::{LONG, Process, wait_for};
use protocol::command::{AnyCommand, StopRun};
use protocol::event::RunEnd;
use serde_json::{Value, json};

const TRIALS: usize = 7;
/// The bar, held by the median: a test shares two cores with others, which a single stop may meet.
const BAR: Duration = Duration::from_millis(100);
/// Held by all. Both are held by one set of trials, of so many at most: a machine may stand still in one, our own lateness
/// is in all.
const WORST: Duration = Duration::from_millis(250);
const SETS: usize = 3;

/// So many stops, each with how long it took.
fn trials(trial: impl FnMut() -> Duration) -> Vec<Duration> {
    std::iter::repeat_with(trial).take(TRIALS).collect()
}

fn assert_within_the_bar(what: &str, mut measured: impl FnMut() -> Vec<Duration>) {
    let mut sets = Vec::new();
    for _ in 0..SETS {
        let mut took = measured();
        took.sort();
        println!("{what}: {took:?}");
        if took[took.len() / 2] <= BAR && took.last().is_some_and(|worst| *worst <= WORST) {
            return;
        }
        sets.push(took);
    }
    panic!("{what}: no set of trials with a median within {BAR:?} and none over {WORST:?}: {sets:?}");
}

/// Does the same thing over and over.
fn again(tool: &'static str, arguments: Value) -> impl FnMut(&Asked) -> MindTurn + Send {
    move |_| MindTurn::call("", tool, arguments.clone())
}

/// An editor, and a model that keeps pressing things in it.
struct Scene {
    stage: Stage,
    editor: Editor,
    _model: FakeModel,
    miki: Miki,
}

impl Scene {
    fn new(furniture: Furniture, tool: &'static str, arguments: Value) -> Self {
        let stage = Stage::new(furniture).unwrap();
        let editor = stage.open_editor(None).unwrap();
        let model = FakeModel::start(again(tool, arguments)).unwrap();
        let settings = json!({ "maxSteps": 500, "batchDelayMs": 0 });
        let miki = Miki::with_model(&stage, "miki", &model.url(), settings).unwrap();
        Self { stage, editor, _model: model, miki }
    }

    fn plain(tool: &'static str, arguments: Value) -> Self {
        Self::new(Furniture { windows: false, keyring: false }, tool, arguments)
    }

    /// Starts a command with the editor in front and the pointer away from the corner.
    fn start(&self, arguments: &[&str]) -> Process {
        self.stage.user().unwrap().move_to(400, 400).unwrap();
        self.stage.screen().unwrap().activate(&self.editor.window).unwrap();
        self.miki.start(&self.stage, "run", arguments).unwrap()
    }

    fn run(&self) -> Process {
        self.start(&["run", "go on and on", "--json"])
    }

    fn assert_nothing_is_held(&self) {
        let screen = self.stage.screen().unwrap();
        assert_eq!(screen.held_keys().unwrap(), Vec::<u8>::new());
        assert_eq!(screen.held_mask().unwrap() & 0x1f0d, 0, "a button or modifier is held");
    }

    /// Of the newest run.
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

/// Waits for a moment in the middle of it: events just now, and many since `start`.
fn in_the_middle(witness: &Witness, start: usize) {
    let mut before = start;
    wait_for("the middle of typing", LONG, || {
        let now = witness.count();
        (std::mem::replace(&mut before, now) < now && now > start + 200).then_some(())
    })
    .unwrap();
}

/// Ends typing by `stop`, again and again; answers how long after the wish the last key was pressed.
fn stops_in_typing(
    scene: &Scene,
    mut start: impl FnMut() -> Process,
    mut stop: impl FnMut(&Process),
) -> Vec<Duration> {
    let witness = scene.stage.witness().unwrap();
    let trial = || {
        let before = witness.count();
        let mut run = start();
        in_the_middle(&witness, before);
        let wished = Instant::now();
        stop(&run);
        assert_eq!(run.wait(LONG).unwrap().code(), Some(3), "{}", scene.stage.log("run"));
        scene.assert_nothing_is_held();
        witness.last().unwrap().saturating_duration_since(wished)
    };
    trials(trial)
}

#[test]
fn ctrl_c_in_the_middle_of_typing_stops_within_the_bound_and_ends_with_code_3() {
    // bar: C77
    let scene = Scene::plain("batch", typing());
    assert_within_the_bar("stop by ctrl-c, last key after", || {
        stops_in_typing(&scene, || scene.run(), Process::interrupt)
    });
    assert!(matches!(scene.end(), RunEnd::Stopped { .. }));
}

#[test]
fn a_stop_from_another_door_in_the_middle_of_typing_stops_within_the_bound() {
    // bar: C77
    let scene = Scene::plain("batch", typing());
    assert_within_the_bar("stop through the socket, last key after", || {
        stops_in_typing(
            &scene,
            || scene.run(),
            |_| {
                let mut client = scene.miki.connect(LONG).unwrap();
                client.call(AnyCommand::StopRun(StopRun { run: None })).unwrap();
            },
        )
    });
}

#[test]
fn the_users_pointer_in_the_corner_stops_everything() {
    // bar: C77
    let scene = Scene::plain("batch", typing());
    let user = scene.stage.user().unwrap();
    assert_within_the_bar("stop by the corner, last key after", || {
        stops_in_typing(&scene, || scene.run(), |_| user.move_to(0, 0).unwrap())
    });
    match scene.end() {
        RunEnd::Stopped { reason } => assert!(reason.contains("failsafe"), "{reason}"),
        other => panic!("{other:?}"),
    }
}

#[test]
fn the_users_pointer_in_the_corner_stops_a_single_call_too() {
    // bar: C77
    let scene = Scene::plain("wait", json!({ "seconds": 1 }));
    let (witness, user) = (scene.stage.witness().unwrap(), scene.stage.user().unwrap());
    let part = |tool: &str, arguments: Value| json!({ "tool": tool, "arguments": arguments });
    let call = json!({ "actions": [
        part("press", json!({ "key": "a" })),
        part("wait", json!({ "seconds": 20 })),
        part("press", json!({ "key": "b" })),
    ]});
    let mut command = scene.start(&["do", "batch", &call.to_string()]);
    wait_for("the first part", LONG, || (witness.count() >= 1).then_some(())).unwrap();
    let wished = Instant::now();
    user.move_to(0, 0).unwrap();
    assert_eq!(command.wait(LONG).unwrap().code(), Some(3), "{}", scene.stage.log("run"));
    assert!(wished.elapsed() < Duration::from_secs(15), "it waited to its end");
    assert_eq!(witness.count(), 1, "something was pressed after the stop");
    scene.assert_nothing_is_held();
}

/// As long as one call can drag.
fn dragging() -> Value {
    let path: Vec<Value> = (0..100).map(|i| json!({ "x": 100 + (i % 2) * 300, "y": 300 + i })).collect();
    json!({ "path": path })
}

/// Ends a drag by `stop`, again and again; answers how long after the wish the button was seen to be let go.
fn stops_in_a_drag(
    scene: &Scene,
    start: impl Fn() -> Process,
    stop: impl Fn(&mut Process),
    code: Option<i32>,
) -> Vec<Duration> {
    const LEFT: u16 = 1 << 8;
    let screen: Screen = scene.stage.screen().unwrap();
    let held = || screen.held_mask().unwrap() & LEFT != 0;
    let trial = || {
        let mut run = start();
        wait_for("a held button", LONG, || {
            // Refused where the app has not let go yet of the call of a command that was killed.
            if run.has_ended() {
                let log = scene.stage.log("run");
                assert!(log.lines().rev().take(5).any(|line| line.contains("has the desktop")), "{log}");
                run = start();
            }
            held().then_some(())
        })
        .unwrap();
        let wished = Instant::now();
        stop(&mut run);
        while held() {
            assert!(wished.elapsed() < LONG, "the button stays held");
            std::thread::sleep(Duration::from_millis(1));
        }
        let took = wished.elapsed();
        assert_eq!(run.wait(LONG).unwrap().code(), code, "{}", scene.stage.log("run"));
        scene.assert_nothing_is_held();
        took
    };
    trials(trial)
}

#[test]
fn a_stop_in_the_middle_of_a_drag_lets_go_of_the_button() {
    // bar: C78
    let scene = Scene::plain("drag", dragging());
    let stop = |_: &mut Process| {
        let mut client = scene.miki.connect(LONG).unwrap();
        client.call(AnyCommand::StopRun(StopRun { run: None })).unwrap();
    };
    assert_within_the_bar("stop in a drag, button let go after", || {
        stops_in_a_drag(&scene, || scene.run(), stop, Some(3))
    });
}

#[test]
fn ctrl_c_in_a_single_drag_lets_go_of_the_button() {
    // bar: C78
    let scene = Scene::plain("drag", dragging());
    let call = dragging().to_string();
    assert_within_the_bar("stop of a single drag, button let go after", || {
        stops_in_a_drag(&scene, || scene.start(&["do", "drag", &call]), |run| run.interrupt(), Some(3))
    });
}

#[test]
fn a_single_drag_in_the_running_app_ends_with_the_command_that_asked_for_it() {
    // bar: C78
    let scene = Scene::new(Furniture { windows: true, keyring: true }, "drag", dragging());
    let _app = scene.miki.start(&scene.stage, "app", &[]).unwrap();
    let screen = scene.stage.screen().unwrap();
    let dashboard = screen.wait_for_window("the dashboard", LONG, |title| title == "Miki").unwrap();
    screen.place(&dashboard, 1000, 80, 880, 900).unwrap();
    scene.miki.connect(LONG).unwrap();
    let call = dragging().to_string();
    let start = || scene.start(&["do", "drag", &call]);
    assert_within_the_bar("ctrl-c of a call in the app, button let go after", || {
        stops_in_a_drag(&scene, start, |run| run.interrupt(), Some(3))
    });
    assert_within_the_bar("a command killed, button let go after", || {
        stops_in_a_drag(&scene, start, Process::kill, None)
    });
}

#[test]
fn a_stop_while_the_model_is_silent_does_not_wait_for_it() {
    let stage = Stage::plain().unwrap();
    let model =
        FakeModel::start(|_: &Asked| MindTurn { pause: Duration::from_secs(600), ..MindTurn::default() })
            .unwrap();
    let miki = Miki::with_model(&stage, "miki", &model.url(), json!({})).unwrap();
    let mut run = miki.start(&stage, "run", &["run", "wait", "--json"]).unwrap();
    let mut client = miki.connect(LONG).unwrap();
    wait_for("the run", LONG, || {
        let overview = client.overview().ok()?;
        overview.runs.first().is_some_and(|run| run.status.step == 1).then_some(())
    })
    .unwrap();
    let wished = Instant::now();
    client.call(AnyCommand::StopRun(StopRun { run: None })).unwrap();
    let took = wished.elapsed();
    println!("stop while the model is silent: answered after {took:?}");
    // The model would answer after ten minutes; the bound itself is held where keys and buttons are.
    assert!(took < Duration::from_secs(10), "{took:?}");
    assert_eq!(run.wait(LONG).unwrap().code(), Some(3));
}
