//! A thousand arbitrary arguments for each tool: never a panic, never an act with wrong arguments.

use crate::stage::{call, desktop};
use browser::fake::FakeBrowser;
use desktop::{Action, ElementAction, Selector, Target, fake::Call};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use protocol::tool::{Effect, Mode, ToolErrorKind};
use serde_json::{Map, Value, json};
use tools::Router;

fn scalar() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        (-100i32..1100).prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        (-0.5f64..1000.5).prop_map(Value::from),
        any::<String>().prop_map(Value::from),
        prop::sample::select(vec![
            "left",
            "Left",
            "ctrl",
            "Enter",
            "e1",
            "click",
            "type",
            "",
            "NaN",
            "\u{e0041}"
        ])
        .prop_map(Value::from),
    ]
}

fn key() -> impl Strategy<Value = String> {
    let known = vec![
        "x",
        "y",
        "button",
        "count",
        "modifiers",
        "reason",
        "from",
        "to",
        "path",
        "down",
        "right",
        "text",
        "key",
        "times",
        "keys",
        "app",
        "query",
        "ref",
        "region",
        "role",
        "name",
        "within",
        "value",
        "action",
        "script",
        "arguments",
        "seconds",
        "thought",
        "summary",
        "success",
        "actions",
        "tool",
    ];
    prop_oneof![9 => prop::sample::select(known).prop_map(str::to_owned), 1 => any::<String>()]
}

fn any_json() -> impl Strategy<Value = Value> {
    scalar().prop_recursive(4, 24, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            prop::collection::vec((key(), inner), 0..6)
                .prop_map(|pairs| Value::Object(pairs.into_iter().collect::<Map<_, _>>())),
        ]
    })
}

/// Arguments that pass, one field of which is then changed: these come far deeper than pure noise.
fn nearly_right(tool: &str) -> impl Strategy<Value = Value> + use<> {
    let good = match tool {
        "click" => {
            json!({"x": 1, "y": 2, "button": "left", "count": 2, "modifiers": ["shift"], "reason": "r"})
        }
        "move" => json!({"x": 1, "y": 2}),
        "drag" => json!({"from": {"x": 1, "y": 2}, "to": {"x": 3, "y": 4}, "modifiers": ["shift"]}),
        "scroll" => json!({"x": 1, "y": 2, "down": 3, "modifiers": ["ctrl"]}),
        "hold" => json!({"keys": ["Right"], "seconds": 0.5}),
        "mouseDown" | "mouseUp" => json!({"x": 1, "y": 2, "button": "left"}),
        "keyDown" | "keyUp" => json!({"key": "shift"}),
        "type" => json!({"text": "a"}),
        "press" => json!({"key": "Enter", "times": 2}),
        "hotkey" => json!({"keys": ["ctrl", "s"]}),
        "focusElement" => json!({"ref": "e1"}),
        "readText" => json!({"query": "a", "region": {"x": 1, "y": 2, "width": 3, "height": 4}}),
        "clickElement" => json!({"role": "button", "name": "Save", "button": "left", "count": 1}),
        "setValue" => json!({"ref": "e1", "value": "a"}),
        "pressMenu" => json!({"app": "Editor", "path": ["File", "Save"]}),
        "doAction" => json!({"ref": "e1", "action": "expand"}),
        "osa" => json!({"script": "a", "arguments": ["b"]}),
        "plan" => json!({"steps": ["a"], "applications": ["Editor"], "effects": ["edit"]}),
        "focusWindow" => json!({"window": 7}),
        "changeWindow" => json!({"window": 7, "change": "move", "x": 1, "y": 2}),
        "launchApp" | "quitApp" => json!({"app": "a"}),
        "writeClipboard" => json!({"text": "a"}),
        "wait" => json!({"seconds": 1}),
        "think" => json!({"thought": "a"}),
        "done" => json!({"summary": "a"}),
        "batch" => json!({"actions": [{"tool": "click", "arguments": {"x": 1, "y": 2}}]}),
        _ => json!({}),
    };
    (key(), any_json()).prop_map(move |(key, value)| {
        let mut arguments = good.clone();
        arguments[key] = value;
        arguments
    })
}

/// An independent look at what was sent: everything in it must stand in the arguments as it was sent.
fn is_justified(action: &Action, arguments: &Value) -> bool {
    let has = |point: &protocol::geometry::NormPoint, place: &Value| {
        place["x"].as_f64() == Some(point.x()) && place["y"].as_f64() == Some(point.y())
    };
    match action {
        Action::Move { to, .. } => has(to, arguments),
        Action::Click { at, count, .. } => has(at, arguments) && (1..=3).contains(count),
        Action::Drag { path, .. } => match arguments["path"].as_array() {
            Some(places) => {
                places.len() == path.len() && places.iter().zip(path).all(|(place, point)| has(point, place))
            }
            None => has(&path[0], &arguments["from"]) && has(&path[1], &arguments["to"]),
        },
        Action::Scroll { at, down, right, .. } => has(at, arguments) && (*down, *right) != (0, 0),
        Action::Type { text } => arguments["text"] == **text && !text.is_empty(),
        Action::Press { times, .. } => arguments["key"].is_string() && (1..=50).contains(times),
        Action::Hotkey { keys } => {
            arguments["keys"].as_array().is_some_and(|names| names.len() == keys.len())
        }
        Action::ButtonDown { at, .. } | Action::ButtonUp { at, .. } => has(at, arguments),
        Action::KeyDown { .. } | Action::KeyUp { .. } => arguments["key"].is_string(),
        Action::Hold { keys, time } => {
            arguments["keys"].as_array().is_some_and(|names| names.len() == keys.len())
                && arguments["seconds"].as_f64().map(std::time::Duration::try_from_secs_f64)
                    == Some(Ok(*time))
        }
    }
}

/// The same for what was done to an element.
fn is_meant(target: &Target, action: &ElementAction, arguments: &Value) -> bool {
    let target = match target {
        Target::Ref(reference) => arguments["ref"] == **reference,
        Target::Selector(Selector { role, name, .. }) => {
            let said =
                |key: &str, wish: &Option<String>| wish.as_ref().is_none_or(|wish| arguments[key] == **wish);
            said("role", role) && said("name", name) && (role.is_some() || name.is_some())
        }
    };
    let is_it = match action {
        ElementAction::Click { count, .. } => (1..=3).contains(count),
        ElementAction::SetValue(value) => arguments["value"] == **value,
        ElementAction::Focus => true,
        ElementAction::Do(action) => arguments["action"] == **action,
    };
    target && is_it
}

fn a_thousand(tool: &str) {
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
    let fake = desktop();
    let router = Router::builtin(fake.clone());
    let mut runner = TestRunner::new(Config { cases: 1_000, failure_persistence: None, ..Config::default() });
    runner
        .run(&prop_oneof![any_json(), nearly_right(tool)], |arguments| {
            let earlier = fake.calls().len();
            let executed = runtime.block_on(call(&router, tool, arguments.clone()));
            let result = executed.result;
            let calls = fake.calls().split_off(earlier);
            if let Some(error) = &result.error {
                prop_assert!(!error.message.contains("broke down"), "panicked: {}", error.message);
            }
            if result.error.as_ref().is_some_and(|error| error.kind == ToolErrorKind::BadArguments) {
                prop_assert_eq!(result.effect, Effect::Refused);
                prop_assert_eq!(&calls, &Vec::<Call>::new());
            }
            prop_assert!(arguments.is_object() || arguments.is_null() || calls.is_empty());
            let whole = [arguments.clone()];
            let parts: Vec<Value> = match arguments["actions"].as_array() {
                Some(actions) if tool == "batch" => {
                    actions.iter().map(|part| part["arguments"].clone()).collect()
                }
                _ => whole.to_vec(),
            };
            for call in &calls {
                let justified = match call {
                    Call::Act(action) => parts.iter().any(|part| is_justified(action, part)),
                    Call::Operate(target, action) => parts.iter().any(|part| is_meant(target, action, part)),
                    Call::Menu(_, path) => parts.iter().any(|part| part["path"] == json!(path)),
                    _ => true,
                };
                prop_assert!(justified, "{:?} from {}", call, arguments);
            }
            Ok(())
        })
        .unwrap();
}

#[test]
fn a_thousand_arbitrary_arguments_never_panic_and_never_act_wrongly() {
    let tools = Router::builtin(desktop())
        .with_browser(FakeBrowser::new())
        .specs(Mode::Act, &tools::Ports::default());
    // Tools do not share anything, so they go side by side.
    std::thread::scope(|scope| {
        for tool in &tools {
            scope.spawn(|| a_thousand(&tool.name));
        }
    });
}
