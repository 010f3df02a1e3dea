//! Every action of every vendor, as calls of ours, line by line.

use std::sync::Arc;

use futures::StreamExt;

use super::*;
use crate::scripted::{Scripted, Step};
use crate::{Request, SharedModel, TurnEvent};

const DISPLAY: PixelSize = PixelSize { width: 1000, height: 500 };

fn proposed(name: &str, arguments: Value) -> ProposedCall {
    ProposedCall::new(Some("c".into()), name, arguments)
}

fn ours(calls: Vec<OurCall>) -> Value {
    calls.into_iter().map(|call| json!({ call.tool: call.arguments })).collect()
}

/// The action after the pointer was moved to the picture's pixel 100,100.
fn adapted(computer: Computer, name: &str, arguments: Value) -> Result<Value, String> {
    let mut adapter = Adapter::new(computer, DISPLAY);
    adapter.point("x", &json!(100), &json!(100)).unwrap();
    adapter.adapt(&proposed(name, arguments)).map(ours).map_err(|error| error.to_string())
}

#[test]
fn each_of_anthropics_actions_is_a_call_of_ours() {
    let cases = [
        ("left_click", json!({"coordinate": [640, 60]}), json!([{"click": {"x": 640.5, "y": 121.0}}])),
        ("left_click", json!({}), json!([{"click": {"x": 100.5, "y": 201.0}}])),
        (
            "left_click",
            json!({"coordinate": [0, 499], "text": "ctrl+shift"}),
            json!([{"click": {"x": 0.5, "y": 999.0, "modifiers": ["ctrl", "shift"]}}]),
        ),
        (
            "right_click",
            json!({"coordinate": [999, 0]}),
            json!([{"click": {"x": 999.5, "y": 1.0, "button": "right"}}]),
        ),
        (
            "middle_click",
            json!({"coordinate": [1, 1]}),
            json!([{"click": {"x": 1.5, "y": 3.0, "button": "middle"}}]),
        ),
        ("double_click", json!({"coordinate": [1, 1]}), json!([{"click": {"x": 1.5, "y": 3.0, "count": 2}}])),
        (
            "triple_click",
            json!({"coordinate": null}),
            json!([{"click": {"x": 100.5, "y": 201.0, "count": 3}}]),
        ),
        ("mouse_move", json!({"coordinate": [10, 20]}), json!([{"move": {"x": 10.5, "y": 41.0}}])),
        ("left_mouse_down", json!({}), json!([{"mouseDown": {"x": 100.5, "y": 201.0}}])),
        ("left_mouse_up", json!({}), json!([{"mouseUp": {"x": 100.5, "y": 201.0}}])),
        (
            "left_click_drag",
            json!({"start_coordinate": [10, 10], "coordinate": [20, 20], "text": "alt"}),
            json!([{"drag": {"from": {"x": 10.5, "y": 21.0}, "to": {"x": 20.5, "y": 41.0}, "modifiers": ["alt"]}}]),
        ),
        (
            "left_click_drag",
            json!({"coordinate": [20, 20]}),
            json!([{"drag": {"from": {"x": 100.5, "y": 201.0}, "to": {"x": 20.5, "y": 41.0}}}]),
        ),
        (
            "scroll",
            json!({"coordinate": [5, 5], "scroll_direction": "down", "scroll_amount": 3}),
            json!([{"scroll": {"x": 5.5, "y": 11.0, "down": 3}}]),
        ),
        (
            "scroll",
            json!({"scroll_direction": "up", "scroll_amount": 2, "text": "ctrl"}),
            json!([{"scroll": {"x": 100.5, "y": 201.0, "down": -2, "modifiers": ["ctrl"]}}]),
        ),
        (
            "scroll",
            json!({"scroll_direction": "left", "scroll_amount": 1}),
            json!([{"scroll": {"x": 100.5, "y": 201.0, "right": -1}}]),
        ),
        (
            "scroll",
            json!({"scroll_direction": "right", "scroll_amount": 1}),
            json!([{"scroll": {"x": 100.5, "y": 201.0, "right": 1}}]),
        ),
        ("type", json!({"text": "wörld\n"}), json!([{"type": {"text": "wörld\n"}}])),
        ("key", json!({"text": "Return"}), json!([{"press": {"key": "Return"}}])),
        ("key", json!({"text": "Tab", "repeat": 3}), json!([{"press": {"key": "Tab", "times": 3}}])),
        ("key", json!({"text": "ctrl+shift+t"}), json!([{"hotkey": {"keys": ["ctrl", "shift", "t"]}}])),
        ("key", json!({"text": "ctrl++"}), json!([{"hotkey": {"keys": ["ctrl", "+"]}}])),
        ("key", json!({"text": "+"}), json!([{"press": {"key": "+"}}])),
        (
            "key",
            json!({"text": "ctrl+a Delete"}),
            json!([{"hotkey": {"keys": ["ctrl", "a"]}}, {"press": {"key": "Delete"}}]),
        ),
        (
            "key",
            json!({"text": "ctrl+z", "repeat": 2}),
            json!([{"hotkey": {"keys": ["ctrl", "z"]}}, {"hotkey": {"keys": ["ctrl", "z"]}}]),
        ),
        (
            "hold_key",
            json!({"text": "shift+w", "duration": 2}),
            json!([{"hold": {"keys": ["shift", "w"], "seconds": 2.0}}]),
        ),
        ("wait", json!({"duration": 1}), json!([{"wait": {"seconds": 1.0}}])),
        ("screenshot", json!({}), json!([{"screenshot": {}}])),
        (
            "zoom",
            json!({"region": [250, 0, 750, 250]}),
            json!([{"zoom": {"x": 250.0, "y": 0.0, "width": 500.0, "height": 500.0}}]),
        ),
    ];
    let mut seen = std::collections::BTreeSet::from(["cursor_position"]);
    for (action, input, expected) in cases {
        seen.insert(action);
        assert_eq!(
            adapted(Computer::AnthropicToolset, action, input.clone()).as_ref(),
            Ok(&expected),
            "{action}"
        );
        let mut old = input;
        old["action"] = action.into();
        for computer in [Computer::Anthropic20251124, Computer::Anthropic20250124] {
            assert_eq!(adapted(computer, "computer", old.clone()).as_ref(), Ok(&expected), "{action}");
        }
    }
    assert_eq!(seen.len(), anthropic::ACTIONS.len(), "an action has no line");
}

#[test]
fn each_of_geminis_actions_is_a_call_of_ours() {
    let at = json!({"x": 640, "y": 60, "intent": "why"});
    let with = |more: Value| {
        let mut args = at.clone();
        args.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        args
    };
    let press = json!({"press": {"key": "Return"}});
    let cases = [
        ("click", at.clone(), json!([{"click": {"x": 640.5, "y": 60.5}}])),
        ("double_click", at.clone(), json!([{"click": {"x": 640.5, "y": 60.5, "count": 2}}])),
        ("triple_click", at.clone(), json!([{"click": {"x": 640.5, "y": 60.5, "count": 3}}])),
        ("middle_click", at.clone(), json!([{"click": {"x": 640.5, "y": 60.5, "button": "middle"}}])),
        (
            "right_click",
            json!({"x": 999, "y": 0}),
            json!([{"click": {"x": 999.5, "y": 0.5, "button": "right"}}]),
        ),
        ("mouse_down", at.clone(), json!([{"mouseDown": {"x": 640.5, "y": 60.5}}])),
        ("mouse_up", at.clone(), json!([{"mouseUp": {"x": 640.5, "y": 60.5}}])),
        ("move", at.clone(), json!([{"move": {"x": 640.5, "y": 60.5}}])),
        ("type", json!({"text": "cats"}), json!([{"type": {"text": "cats"}}])),
        ("type", json!({"text": "cats", "press_enter": true}), json!([{"type": {"text": "cats"}}, press])),
        (
            "drag_and_drop",
            json!({"start_x": 10, "start_y": 20, "end_x": 30, "end_y": 40}),
            json!([{"drag": {"from": {"x": 10.5, "y": 20.5}, "to": {"x": 30.5, "y": 40.5}}}]),
        ),
        ("wait", json!({}), json!([{"wait": {"seconds": 1.0}}, {"screenshot": {}}])),
        ("wait", json!({"seconds": 3}), json!([{"wait": {"seconds": 3.0}}, {"screenshot": {}}])),
        ("press_key", json!({"key": "Enter"}), json!([{"press": {"key": "Enter"}}])),
        ("key_down", json!({"key": "shift"}), json!([{"keyDown": {"key": "shift"}}])),
        ("key_up", json!({"key": "shift"}), json!([{"keyUp": {"key": "shift"}}])),
        ("hotkey", json!({"keys": ["ctrl", "s"]}), json!([{"hotkey": {"keys": ["ctrl", "s"]}}])),
        ("take_screenshot", json!({}), json!([{"screenshot": {}}])),
        (
            "scroll",
            with(json!({"direction": "down"})),
            json!([{"scroll": {"x": 640.5, "y": 60.5, "down": 3}}]),
        ),
        (
            "scroll",
            with(json!({"direction": "left", "magnitude_in_pixels": 999})),
            json!([{"scroll": {"x": 640.5, "y": 60.5, "right": -10}}]),
        ),
        (
            "scroll",
            with(json!({"direction": "up", "magnitude_in_pixels": 0})),
            json!([{"scroll": {"x": 640.5, "y": 60.5, "down": -1}}]),
        ),
    ];
    let mut seen = std::collections::BTreeSet::new();
    for (action, args, expected) in cases {
        seen.insert(action);
        assert_eq!(adapted(Computer::Gemini, action, args).as_ref(), Ok(&expected), "{action}");
    }
    assert_eq!(seen.len(), gemini::ACTIONS.len(), "an action has no line");
    for (action, args, why) in [
        ("click", json!({"x": 1000, "y": 3}), "x, y = 1000,3 is not within 0 to 999"),
        ("click", json!({"x": 10}), "x, y is missing or not as described"),
        ("scroll", with(json!({"direction": "away"})), "direction is missing or not as described"),
        ("wait", json!({"seconds": "long"}), "seconds is missing or not as described"),
        ("hotkey", json!({"keys": []}), "keys is missing or not as described"),
    ] {
        assert_eq!(adapted(Computer::Gemini, action, args), Err(why.to_owned()), "{action}");
    }
}

#[test]
fn each_of_openais_actions_is_a_call_of_ours() {
    let cases = [
        (
            json!({"type": "click", "button": "left", "x": 640, "y": 60}),
            json!([{"click": {"x": 640.5, "y": 121.0}}]),
        ),
        (
            json!({"type": "click", "button": "right", "x": 1, "y": 1, "keys": ["SHIFT"]}),
            json!([{"click": {"x": 1.5, "y": 3.0, "button": "right", "modifiers": ["SHIFT"]}}]),
        ),
        (
            json!({"type": "click", "button": "wheel", "x": 1, "y": 1}),
            json!([{"click": {"x": 1.5, "y": 3.0, "button": "middle"}}]),
        ),
        (
            json!({"type": "click", "button": "back", "x": 1, "y": 1}),
            json!([{"hotkey": {"keys": ["alt", "Left"]}}]),
        ),
        (
            json!({"type": "click", "button": "forward", "x": 1, "y": 1}),
            json!([{"hotkey": {"keys": ["alt", "Right"]}}]),
        ),
        (
            json!({"type": "double_click", "x": 1, "y": 1, "keys": null}),
            json!([{"click": {"x": 1.5, "y": 3.0, "count": 2}}]),
        ),
        (json!({"type": "move", "x": 10, "y": 20}), json!([{"move": {"x": 10.5, "y": 41.0}}])),
        (
            json!({"type": "drag", "path": [{"x": 0, "y": 0}, {"x": 5, "y": 5}, [10, 10]]}),
            json!([{"drag": {"path": [{"x": 0.5, "y": 1.0}, {"x": 5.5, "y": 11.0}, {"x": 10.5, "y": 21.0}]}}]),
        ),
        (json!({"type": "keypress", "keys": ["ENTER"]}), json!([{"press": {"key": "ENTER"}}])),
        (json!({"type": "keypress", "keys": ["CTRL", "S"]}), json!([{"hotkey": {"keys": ["CTRL", "S"]}}])),
        (
            json!({"type": "scroll", "x": 1, "y": 1, "scroll_x": 0, "scroll_y": 300}),
            json!([{"scroll": {"x": 1.5, "y": 3.0, "down": 3}}]),
        ),
        (
            json!({"type": "scroll", "x": 1, "y": 1, "scroll_x": -20, "scroll_y": -99_999}),
            json!([{"scroll": {"x": 1.5, "y": 3.0, "down": -50, "right": -1}}]),
        ),
        (json!({"type": "type", "text": "cats"}), json!([{"type": {"text": "cats"}}])),
        (json!({"type": "wait"}), json!([{"wait": {"seconds": 2.0}}, {"screenshot": {}}])),
        (json!({"type": "screenshot"}), json!([{"screenshot": {}}])),
    ];
    let kinds: std::collections::BTreeSet<String> =
        cases.iter().map(|(action, _)| action["type"].to_string()).collect();
    assert_eq!(kinds.len(), 9);
    for (action, expected) in cases {
        for computer in [Computer::OpenAi, Computer::OpenAiPreview] {
            let arguments = json!({ "actions": [action], "pending_safety_checks": [] });
            assert_eq!(adapted(computer, "computer", arguments).as_ref(), Ok(&expected), "{action}");
        }
    }
}

#[test]
fn a_batch_of_openais_stays_in_order_and_is_done_whole_or_not_at_all() {
    let click = json!({"type": "click", "button": "left", "x": 640, "y": 60});
    let text = json!({"type": "type", "text": "cats"});
    let batch = |actions: Value| adapted(Computer::OpenAi, "computer", json!({ "actions": actions }));
    assert_eq!(
        batch(json!([click, text, {"type": "wait"}, {"type": "keypress", "keys": ["ENTER"]}])),
        Ok(json!([
            {"click": {"x": 640.5, "y": 121.0}},
            {"type": {"text": "cats"}},
            {"wait": {"seconds": 2.0}},
            {"press": {"key": "ENTER"}},
        ]))
    );
    let beyond = json!({"type": "move", "x": 1000, "y": 1});
    assert_eq!(
        batch(json!([click, beyond])).unwrap_err(),
        "x, y = 1000,1 is outside the screenshot of 1000x500 pixels"
    );
    assert!(batch(json!([])).is_err());
    assert!(batch(Value::from(vec![text; 31])).is_err());
}

#[test]
fn what_is_no_action_is_said_and_nothing_is_done() {
    for (name, arguments, error) in [
        (
            "left_click",
            json!({"coordinate": [1000, 10]}),
            "coordinate = 1000,10 is outside the screenshot of 1000x500 pixels",
        ),
        (
            "left_click",
            json!({"coordinate": [-1, 10]}),
            "coordinate = -1,10 is outside the screenshot of 1000x500 pixels",
        ),
        ("left_click", json!({"coordinate": "middle"}), "coordinate is missing or not as described"),
        ("mouse_move", json!({}), "coordinate is missing or not as described"),
        (
            "scroll",
            json!({"scroll_direction": "sideways", "scroll_amount": 1}),
            "scroll_direction is missing or not as described",
        ),
        ("type", json!({"text": ""}), "text is missing or not as described"),
        ("key", json!({"text": "a", "repeat": 51}), "repeat is missing or not as described"),
        (
            "key",
            json!({"text": "ctrl+a", "repeat": 21}),
            "these are too many keys at once: send them in smaller parts",
        ),
        ("zoom", json!({"region": [10, 10, 10, 20]}), "region is missing or not as described"),
        (
            "zoom",
            json!({"region": [0, 0, 1001, 20]}),
            "region = 1001,20 is outside the screenshot of 1000x500 pixels",
        ),
        ("cursor_position", json!({}), "the pointer's place is not told here: take a screenshot"),
        ("open_door", json!({}), "there is no action \"open_door\""),
    ] {
        assert_eq!(adapted(Computer::AnthropicToolset, name, arguments).unwrap_err(), error);
    }
    let mut fresh = Adapter::new(Computer::AnthropicToolset, DISPLAY);
    assert_eq!(fresh.adapt(&proposed("left_click", json!({}))), Err(NotOurs::NoPointer));
    for arguments in
        [json!("text"), json!({}), json!({"actions": [{"type": "fly"}]}), json!({"actions": [5]})]
    {
        assert!(adapted(Computer::OpenAi, "computer", arguments).is_err());
    }
}

/// The calls of ours that the next turn has, with pictures of this size.
async fn calls(model: &SharedModel, display: Option<PixelSize>) -> Vec<ProposedCall> {
    let events: Vec<_> =
        model.stream(Request { display, ..Request::default() }.into()).await.unwrap().collect().await;
    match events.last() {
        Some(Ok(TurnEvent::Finished { turn, .. })) => turn.calls.clone(),
        other => panic!("{other:?}"),
    }
}

fn refusal(call: &ProposedCall) -> Option<&str> {
    call.translation.as_ref()?.refusal.as_deref()
}

#[tokio::test]
async fn the_pointer_is_where_the_last_action_left_it_and_the_pictures_size_may_change() {
    let far = || ("left_click", json!({"coordinate": [2000, 10]}));
    let script = Scripted::new(vec![
        Step::calls(vec![("mouse_move", json!({"coordinate": [10, 10]})), far()]),
        Step::calls(vec![("left_mouse_down", json!({}))]),
        Step::calls(vec![far()]),
        Step::calls(vec![far()]),
    ]);
    let model = with(Some(Computer::AnthropicToolset), Arc::new(script));
    let first = calls(&model, Some(DISPLAY)).await;
    assert_eq!((first[0].name.as_str(), refusal(&first[0])), ("move", None));
    assert!(refusal(&first[1]).unwrap().contains("outside the screenshot of 1000x500"), "{first:?}");
    let down = calls(&model, Some(DISPLAY)).await;
    assert_eq!((down[0].name.as_str(), &down[0].arguments), ("mouseDown", &json!({"x": 10.5, "y": 21.0})));
    assert_eq!(refusal(&calls(&model, Some(PixelSize { width: 2001, height: 1000 })).await[0]), None);
    // Without a display it is a model like any other.
    assert_eq!(calls(&model, None).await, [ProposedCall::new(Some("p1".into()), far().0, far().1)]);
}

#[tokio::test]
async fn a_warning_stands_with_the_first_part_of_an_action_and_its_parts_belong_together() {
    let check = json!({"code": "c", "message": "Look out."});
    let actions = json!([{"type": "screenshot"}, {"type": "wait"}]);
    let step = Step::call("computer", json!({"actions": actions, "pending_safety_checks": [check]}));
    let model = with(Some(Computer::OpenAi), Arc::new(Scripted::new(vec![step])));
    let parts = calls(&model, Some(DISPLAY)).await;
    let told: Vec<_> = parts
        .iter()
        .map(|part| (part.name.as_str(), part.translation.as_ref().unwrap()))
        .map(|(name, one)| (name, one.warnings.len(), one.goes_on, one.needs_picture))
        .collect();
    assert_eq!(
        told,
        [("screenshot", 1, true, true), ("wait", 0, true, true), ("screenshot", 0, false, true)]
    );
}

#[test]
fn each_model_has_its_own_version_and_most_have_none() {
    let of = |provider: &str, model: &str| Computer::of(Provider::named(provider).unwrap(), model);
    for (provider, model, computer) in [
        ("anthropic", "claude-opus-5-5", Some(Computer::AnthropicToolset)),
        ("anthropic", "claude-sonnet-4-6", Some(Computer::Anthropic20251124)),
        ("anthropic", "claude-haiku-4-5", Some(Computer::Anthropic20250124)),
        ("anthropic", "claude-opus-4-8", Some(Computer::AnthropicToolset)),
        ("anthropic", "claude-fable-5-1", Some(Computer::AnthropicToolset)),
        ("anthropic", "claude-haiku-5-5", Some(Computer::AnthropicToolset)),
        ("anthropic", "claude-opus-4-7", Some(Computer::Anthropic20251124)),
        ("anthropic", "claude-3-haiku", None),
        ("openai", "gpt-6.1-terra", Some(Computer::OpenAi)),
        ("openai", "computer-use-preview", Some(Computer::OpenAiPreview)),
        ("openai", "gpt-4o", None),
        ("openai", "gpt-5.2", None),
        ("openrouter", "anthropic/claude-opus-5.5", None),
        ("gemini", "gemini-3.5-flash", Some(Computer::Gemini)),
        ("gemini", "gemini-3.8-flash", Some(Computer::Gemini)),
        ("gemini", "gemini-3-flash-preview", None),
        ("ollama", "gpt-6", None),
    ] {
        assert_eq!(of(provider, model), computer, "{provider}/{model}");
    }
}

#[test]
fn a_vendors_warning_is_told_and_goes_back_as_it_came() {
    let check =
        json!({"id": "cu_sc_1", "code": "malicious_instructions", "message": "Instructions on the page."});
    let bare = json!({"id": "cu_sc_2", "code": "irrelevant_domain", "message": null});
    let arguments = json!({ "actions": [], "pending_safety_checks": [check, bare] });
    let told = safety_checks(&proposed("computer", arguments));
    let messages: Vec<&str> = told.iter().map(|check| check.message.as_str()).collect();
    assert_eq!(messages, ["Instructions on the page.", "irrelevant_domain"]);
    assert_eq!(told[0].as_it_came, check);
    assert_eq!(safety_checks(&proposed("click", json!({"x": 1}))), []);
    let decision = json!({"decision": "require_confirmation", "explanation": "Must check check-box"});
    let told = safety_checks(&proposed("click", json!({"x": 1, "y": 1, "safety_decision": decision})));
    assert_eq!(told, [SafetyCheck { message: "Must check check-box".into(), as_it_came: decision }]);
    let regular = json!({"x": 1, "y": 1, "safety_decision": {"decision": "regular"}});
    assert_eq!(safety_checks(&proposed("click", regular)), []);
}
