//! Each tool: what it sends to the desktop, what it says, and what it refuses.

use std::time::Duration;

use crate::stage::{call, desktop, execute, limits, request};
use desktop::fake::Call;
use desktop::{Action, Area, Button, Evidence, Key, Script, Shot};
use protocol::geometry::NormPoint;
use protocol::tool::{Effect, ToolErrorKind};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;
use tools::{ExecRequest, Finish, Router};

fn point(x: f64, y: f64) -> NormPoint {
    NormPoint::new(x, y).unwrap()
}

#[tokio::test(start_paused = true)]
async fn each_acting_tool_sends_its_action_and_says_it_in_one_line() {
    let table: Vec<(&str, Value, Action, &str)> = vec![
        (
            "click",
            json!({"x": 512, "y": 40}),
            Action::Click {
                display: 0,
                at: point(512.0, 40.0),
                button: Button::Left,
                count: 1,
                held: vec![],
            },
            "clicked left at 512,40",
        ),
        (
            "click",
            json!({"x": 1000, "y": 0, "button": "right", "count": 2, "modifiers": ["ctrl"], "reason": "menu"}),
            Action::Click {
                display: 0,
                at: point(1000.0, 0.0),
                button: Button::Right,
                count: 2,
                held: vec![Key::Ctrl],
            },
            "clicked right twice at 1000,0 with Ctrl",
        ),
        (
            "click",
            json!({"x": 1, "y": 2, "display": 1}),
            Action::Click { display: 1, at: point(1.0, 2.0), button: Button::Left, count: 1, held: vec![] },
            "clicked left at 1,2 on display 1",
        ),
        (
            "move",
            json!({"x": 1.5, "y": 2}),
            Action::Move { display: 0, to: point(1.5, 2.0) },
            "moved the pointer to 1.5,2",
        ),
        (
            "drag",
            json!({"from": {"x": 1, "y": 2}, "to": {"x": 3, "y": 4}}),
            Action::Drag {
                display: 0,
                path: vec![point(1.0, 2.0), point(3.0, 4.0)],
                button: Button::Left,
                held: vec![],
            },
            "dragged from 1,2 to 3,4",
        ),
        (
            "drag",
            json!({"path": [{"x": 1, "y": 2}, {"x": 3, "y": 4}, {"x": 5, "y": 6}]}),
            Action::Drag {
                display: 0,
                path: vec![point(1.0, 2.0), point(3.0, 4.0), point(5.0, 6.0)],
                button: Button::Left,
                held: vec![],
            },
            "dragged from 1,2 to 5,6",
        ),
        (
            "scroll",
            json!({"x": 5, "y": 6, "down": 3, "right": -1}),
            Action::Scroll { display: 0, at: point(5.0, 6.0), down: 3, right: -1, held: vec![] },
            "scrolled down 3 and left 1 at 5,6",
        ),
        (
            "scroll",
            json!({"x": 5, "y": 6, "down": 3, "modifiers": ["Control_L"]}),
            Action::Scroll { display: 0, at: point(5.0, 6.0), down: 3, right: 0, held: vec![Key::Ctrl] },
            "scrolled down 3 at 5,6 with Ctrl",
        ),
        (
            "mouseDown",
            json!({"x": 5, "y": 6}),
            Action::ButtonDown { display: 0, at: point(5.0, 6.0), button: Button::Left },
            "pressed the left button down at 5,6",
        ),
        (
            "mouseUp",
            json!({"x": 5, "y": 6, "button": "right"}),
            Action::ButtonUp { display: 0, at: point(5.0, 6.0), button: Button::Right },
            "let go of the right button at 5,6",
        ),
        ("keyDown", json!({"key": "Shift_L"}), Action::KeyDown { key: Key::Shift }, "pressed Shift down"),
        ("keyUp", json!({"key": "⇧"}), Action::KeyUp { key: Key::Shift }, "let go of Shift"),
        (
            "hold",
            json!({"keys": ["ArrowRight"], "seconds": 1.5}),
            Action::Hold { keys: vec![Key::Right], time: Duration::from_millis(1500) },
            "held Right for 1.5 s",
        ),
        ("type", json!({"text": "秋の\n日"}), Action::Type { text: "秋の\n日".into() }, "typed 4 characters"),
        (
            "press",
            json!({"key": "Return", "times": 2}),
            Action::Press { key: Key::Enter, times: 2 },
            "pressed Enter 2 times",
        ),
        (
            "hotkey",
            json!({"keys": ["ctrl", "s"]}),
            Action::Hotkey { keys: vec![Key::Ctrl, Key::Char('s')] },
            "pressed Ctrl+s",
        ),
    ];
    for (tool, arguments, action, summary) in table {
        let fake = desktop();
        fake.edit(|scene| {
            let mut second = scene.displays[0].clone();
            (second.index, second.bounds.x, second.primary) = (1, 1920, false);
            scene.displays.push(second);
        });
        let router = Router::builtin(fake.clone());
        let display = u32::from(arguments["display"] == 1);
        let executed = call(&router, tool, arguments).await;
        for call in fake.calls() {
            let (Call::Screenshot(Shot { area, .. }) | Call::Thumbnail(area)) = call else { continue };
            assert_eq!(area, Area::Display(display), "{tool}: the looks are at where it acts");
        }
        assert_eq!(fake.actions(), [action], "{tool}");
        assert_eq!(executed.result.summary, summary);
        assert_eq!(executed.result.effect, Effect::Unverified, "{tool}");
        assert_eq!(executed.result.data["screen"], "sent; the screen changed", "{tool}");
        assert_eq!(executed.result.error, None);
        assert_eq!(executed.result.picture, None);
        assert!(executed.picture.unwrap().jpeg.starts_with(&[0xff, 0xd8]), "{tool}");
    }
}

#[tokio::test(start_paused = true)]
async fn the_red_dot_is_where_the_action_was() {
    let router = Router::builtin(desktop());
    call(&router, "elementsJson", json!({})).await;
    for (tool, arguments, dot) in [
        ("click", json!({"x": 1, "y": 2}), Some(point(1.0, 2.0))),
        ("drag", json!({"from": {"x": 1, "y": 2}, "to": {"x": 3, "y": 4}}), Some(point(3.0, 4.0))),
        ("press", json!({"key": "a"}), None),
        ("focusElement", json!({"ref": "e1"}), Some(point(125.0, 210.0))),
    ] {
        let executed = call(&router, tool, arguments).await;
        assert_eq!(executed.picture.unwrap().dot, dot, "{tool}");
    }
}

// bar: C64
#[tokio::test(start_paused = true)]
async fn bad_arguments_are_refused_with_the_field_and_nothing_is_done() {
    let table = [
        ("click", json!({"x": 1001, "y": 2}), "coordinate x = 1001 is outside 0-1000"),
        ("click", json!({"x": 1, "y": -1}), "coordinate y = -1 is outside 0-1000"),
        ("click", json!({"x": null, "y": 1}), "x: invalid type: null"),
        ("click", json!({"x": "NaN", "y": 1}), "x: invalid type: string \"NaN\""),
        ("click", json!({"x": 1, "y": 1e300}), "coordinate y = "),
        ("click", json!({"x": 1}), "missing field `y`"),
        ("click", json!({"x": 1, "y": 1, "count": 4}), "count = 4 is outside 1-3"),
        ("click", json!({"x": 1, "y": 1, "button": "Left"}), "button: unknown variant `Left`"),
        ("click", json!({"x": 1, "y": 1, "modifiers": ["a"]}), "a is no modifier"),
        ("click", json!([1, 2]), "the arguments must be one JSON object"),
        ("move", json!({"x": 1000.1, "y": 2}), "coordinate x = 1000.1"),
        ("drag", json!({"from": {"x": 1, "y": 2}}), "give either from and to, or a path"),
        ("drag", json!({"from": [1, 2], "to": {"x": 3, "y": 4}}), "from: a list, where an object"),
        ("drag", json!({"path": [{"x": 1, "y": 2}]}), "the number of points = 1 is outside 2-100"),
        ("drag", json!({"path": [{"x": 1, "y": 2}, {"x": 1, "y": "b"}]}), "path[1].y: invalid type"),
        ("drag", json!({"from": {"x": 1, "y": 2}, "to": {"x": 1, "y": 2000}}), "coordinate y = 2000"),
        ("click", json!({"x": 1, "y": 1, "display": 64}), "display = 64 is outside 0-63"),
        ("scroll", json!({"x": 1, "y": 2}), "down and right are both 0"),
        ("scroll", json!({"x": 1, "y": 2, "down": 51}), "down = 51 is outside -50-50"),
        ("type", json!({"text": ""}), "text is empty"),
        ("type", json!({"text": "x".repeat(20_001)}), "text has 20001 characters"),
        ("type", json!({"text": "x".repeat(5_000_000)}), "at most 200000 are taken"),
        ("press", json!({"key": "Pagup"}), "PageUp"),
        ("press", json!({"key": "a", "times": 0}), "times = 0 is outside 1-50"),
        ("hold", json!({"keys": ["a"], "seconds": 11}), "seconds = 11 is outside 0.01-10"),
        ("hold", json!({"keys": ["a", "a"], "seconds": 1}), "keys has a twice"),
        ("keyDown", json!({"key": "shft"}), "Shift"),
        ("mouseUp", json!({"x": 1, "y": -1}), "-1"),
        ("drag", json!({"from": {"x": 1, "y": 2}, "to": {"x": 3, "y": 4}, "modifiers": ["a"]}), "modifier"),
        ("hotkey", json!({"keys": []}), "the number of keys = 0 is outside 1-6"),
        ("hotkey", json!({"keys": ["ctrl", "ctrl"]}), "keys has Ctrl twice"),
        ("elementsJson", json!({"app": "x".repeat(201)}), "app has 201 characters"),
        ("focusElement", json!({"ref": ""}), "name the element: by its ref, or by its role or name"),
        ("clickElement", json!({}), "name the element"),
        ("clickElement", json!({"app": "Editor", "within": "a"}), "name the element"),
        ("clickElement", json!({"ref": "e1", "name": "Save"}), "give either a ref, or role, name"),
        ("clickElement", json!({"ref": "x".repeat(41)}), "ref has 41 characters"),
        ("clickElement", json!({"name": "x".repeat(201)}), "name has 201 characters"),
        ("clickElement", json!({"ref": "e1", "count": 4}), "count = 4 is outside 1-3"),
        ("clickElement", json!({"ref": "e1", "button": "Left"}), "button: unknown variant `Left`"),
        ("setValue", json!({"ref": "e1"}), "missing field `value`"),
        ("setValue", json!({"ref": "e1", "value": 5}), "value: invalid type"),
        ("setValue", json!({"ref": "e1", "value": "x".repeat(20_001)}), "value has 20001 characters"),
        ("doAction", json!({"ref": "e1", "action": ""}), "action is empty"),
        ("pressMenu", json!({"path": []}), "the number of names in path = 0 is outside 1-8"),
        ("pressMenu", json!({"path": ["File", ""]}), "path[1] is empty"),
        ("pressMenu", json!({"path": "File"}), "path: invalid type"),
        ("screenshot", json!({"x": 1}), "unknown field `x`"),
        ("readText", json!({"query": "x".repeat(201)}), "query has 201 characters"),
        (
            "readText",
            json!({"region": {"x": 900, "y": 0, "width": 200, "height": 1}}),
            "region.x + region.width = 1100 is outside 0-1000",
        ),
        (
            "readText",
            json!({"region": {"x": 900, "y": 0, "width": 0, "height": 1}}),
            "region.width and region.height must be above 0",
        ),
        ("screenshot", json!({"display": 0, "window": 7}), "not both"),
        ("screenshot", json!({"marks": true, "window": 7}), "marks are for the picture of a display"),
        ("zoom", json!({"x": 1, "y": 2, "width": 3}), "missing field `height`"),
        ("zoom", json!({"x": 900, "y": 0, "width": 101, "height": 3}), "x = 900 with width = 101"),
        ("zoom", json!({"x": 0, "y": -1, "width": 10, "height": 3}), "y = -1 is outside 0-1000"),
        ("zoom", json!({"x": 0, "y": 0, "width": 10, "height": 0}), "y = 0 with height = 0"),
        ("osa", json!({"script": ""}), "script is empty"),
        ("wait", json!({"seconds": 31}), "seconds = 31 is outside 0-30"),
        ("wait", json!({"seconds": -1}), "seconds = -1 is outside 0-30"),
        ("think", json!({}), "missing field `thought`"),
        ("done", json!({"summary": "x", "success": "yes"}), "success: invalid type"),
        ("batch", json!({"actions": []}), "the number of actions = 0 is outside 1-8"),
        (
            "batch",
            json!({"actions": [{"tool": "click", "arguments": {"x": 1, "y": 1001}}]}),
            "actions[0]: coordinate y",
        ),
        (
            "batch",
            json!({"actions": [{"tool": "batch", "arguments": {"actions": []}}]}),
            "actions[0]: batch cannot",
        ),
        (
            "batch",
            json!({"actions": [{"tool": "done", "arguments": {"summary": "x"}}]}),
            "actions[0]: done cannot",
        ),
        (
            "batch",
            json!({"actions": [{"tool": "osa", "arguments": {"script": "x"}}]}),
            "actions[0]: osa cannot",
        ),
        (
            "batch",
            json!({"actions": [{"tool": "Click", "arguments": {}}]}),
            "actions[0]: there is no tool \"Click\"",
        ),
    ];
    let fake = desktop();
    let router = Router::builtin(fake.clone());
    for (tool, arguments, expected) in table {
        let executed = call(&router, tool, arguments).await;
        let error = executed.result.error.unwrap();
        assert_eq!(
            (error.kind, executed.result.effect),
            (ToolErrorKind::BadArguments, Effect::Refused),
            "{expected}"
        );
        assert!(error.message.contains(expected), "{tool}: {:?} has no {expected:?}", error.message);
    }
    assert_eq!(fake.calls(), []);
}

#[tokio::test(start_paused = true)]
async fn a_read_back_is_confirmed_and_a_mismatch_is_said() {
    let fake = desktop();
    let router = Router::builtin(fake.clone());
    fake.edit(|scene| scene.evidence = Evidence::ReadBack);
    assert_eq!(call(&router, "type", json!({"text": "a"})).await.result.effect, Effect::Confirmed);
    fake.edit(|scene| scene.evidence = Evidence::Mismatch);
    let result = call(&router, "type", json!({"text": "a"})).await.result;
    assert_eq!(result.effect, Effect::Unverified);
    assert!(result.summary.ends_with("; done in part, or otherwise than asked"), "{}", result.summary);
    fake.edit(|scene| scene.evidence = Evidence::Nothing);
    let result = call(&router, "type", json!({"text": "a"})).await.result;
    assert_eq!(result.effect, Effect::NoChange);
    assert!(result.summary.ends_with("; looked at again, and nothing happened"), "{}", result.summary);
    fake.edit(|scene| scene.evidence = Evidence::Mismatch);
    // That the keyboard went elsewhere is why the rest was not pressed.
    fake.react(|_, scene| scene.windows.push(crate::planning::window("Notes")));
    let result = call(&router, "press", json!({"key": "Enter", "times": 2})).await.result;
    assert_eq!(result.effect, Effect::Unverified, "{}", result.summary);
}

#[tokio::test(start_paused = true)]
async fn a_click_that_changes_nothing_on_the_screen_says_so() {
    let fake = desktop();
    fake.react(|_, _| {});
    let result = call(&Router::builtin(fake.clone()), "click", json!({"x": 1, "y": 2})).await.result;
    assert_eq!(result.effect, Effect::Unverified);
    assert_eq!(result.summary, "clicked left at 1,2; the screen is as before");
    assert_eq!(result.data["screen"], "sent; the screen is as before");
}

#[tokio::test(start_paused = true)]
async fn a_change_that_comes_late_is_still_seen() {
    let fake = desktop();
    fake.react(|_, _| {});
    let router = Router::builtin(fake.clone());
    let later = fake.clone();
    tokio::spawn(async move {
        tokio::time::sleep(Duration::from_millis(500)).await;
        later.edit(|scene| scene.colour = [1, 2, 3]);
    });
    assert_eq!(call(&router, "click", json!({"x": 1, "y": 2})).await.result.effect, Effect::Unverified);
}

#[tokio::test(start_paused = true)]
async fn elements_are_data_without_invisible_characters() {
    let fake = desktop();
    fake.edit(|scene| scene.snapshot.elements[0].name = "Sa\u{200b}ve\u{e0041}".into());
    let router = Router::builtin(fake.clone());
    let result = call(&router, "elementsJson", json!({"app": "Edit", "query": ""})).await.result;
    assert_eq!(result.effect, Effect::Confirmed);
    assert_eq!(result.summary, "found 1 element in Editor");
    assert_eq!(
        result.data,
        json!({
            "number": 0,
            "app": "Editor",
            "window": "Untitled",
            "elements": [{
                "ref": "e1", "role": "button", "name": "Save",
                "bounds": {"x": 100.0, "y": 200.0, "width": 50.0, "height": 20.0}, "depth": 1,
            }],
            "cut": ["cut: 2 invisible characters, which can carry hidden orders"],
        })
    );
    assert!(
        matches!(&fake.calls()[..], [Call::Elements(q)] if q.app.as_deref() == Some("Edit") && q.limit == 200)
    );
}

#[tokio::test(start_paused = true)]
async fn focus_goes_to_a_known_element_and_an_unknown_one_is_not_found() {
    let fake = desktop();
    fake.edit(|scene| scene.evidence = Evidence::ReadBack);
    let router = Router::builtin(fake.clone());
    call(&router, "elementsJson", json!({})).await;
    let result = call(&router, "focusElement", json!({"ref": "e1"})).await.result;
    assert_eq!((result.effect, result.summary.as_str()), (Effect::Confirmed, "focused button \"Save\""));
    let result = call(&router, "focusElement", json!({"ref": "e9"})).await.result;
    assert_eq!((result.effect, result.error.unwrap().kind), (Effect::Refused, ToolErrorKind::NotFound));
}

#[tokio::test(start_paused = true)]
async fn a_screenshot_is_a_picture_without_a_dot() {
    let executed = call(&Router::builtin(desktop()), "screenshot", Value::Null).await;
    let picture = executed.picture.unwrap();
    assert_eq!((picture.size.width, picture.size.height, picture.dot), (64, 48, None));
    assert_eq!(executed.result.effect, Effect::Confirmed);
    assert_eq!(executed.result.summary, "took a picture of the screen, 64x48");
}

// bar: C23
#[tokio::test(start_paused = true)]
async fn a_script_gets_its_values_as_arguments() {
    let fake = desktop();
    let router = Router::builtin(fake.clone());
    let asked = request("osa", json!({"script": "on run argv", "arguments": ["a\"b"]}));
    let yes = router.assess(&asked, &limits()).await.yes();
    let allowed = ExecRequest { approved: Some(yes), ..asked };
    let result = execute(&router, allowed, CancellationToken::new()).await.result;
    assert_eq!((result.effect, result.data), (Effect::Confirmed, json!({"output": "output"})));
    let script = Script {
        source: "on run argv".into(),
        arguments: vec!["a\"b".into()],
        timeout: Duration::from_secs(30),
    };
    assert_eq!(fake.calls(), [Call::Script(script)]);
}

#[tokio::test(start_paused = true)]
async fn waiting_thinking_and_ending_do_nothing_to_the_desktop() {
    let fake = desktop();
    let router = Router::builtin(fake.clone());
    let waited = call(&router, "wait", json!({"seconds": 30})).await.result;
    assert_eq!((waited.effect, waited.summary.as_str()), (Effect::Confirmed, "waited 30 s"));
    assert!(waited.took.0 >= 30_000);
    assert_eq!(call(&router, "think", json!({"thought": "hm"})).await.result.summary, "thought: hm");
    let done = call(&router, "done", json!({"summary": "saved"})).await;
    assert_eq!(done.finished, Some(Finish { summary: "saved".into(), success: true }));
    let gave_up = call(&router, "done", json!({"summary": "no file", "success": false})).await;
    assert_eq!(gave_up.finished, Some(Finish { summary: "no file".into(), success: false }));
    assert_eq!(fake.calls(), []);
}
