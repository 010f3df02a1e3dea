//! The words of ours that the vendors' computer tools are adapted to: names and arguments as the tools themselves have them.

use std::collections::BTreeSet;

use desktop::fake::FakeDesktop;
use models::ProposedCall;
use models::computer::{Adapter, Computer, OurCall, REPLACED};
use protocol::geometry::PixelSize;
use protocol::ids::CallId;
use protocol::settings::Settings;
use protocol::tool::{ApprovalMode, Mode, ToolCall};
use serde_json::{Value, json};
use tools::{Decision, ExecRequest, Grants, Limits, Planning, Router};

/// Each vendor's actions; between them every tool of ours that is ever used for one.
fn actions() -> Vec<(Computer, &'static str, Value)> {
    let at = json!({ "coordinate": [640, 400] });
    let place = json!({ "x": 640, "y": 400 });
    let batch = json!({ "actions": [
        { "type": "click", "button": "right", "x": 640, "y": 400, "keys": ["SHIFT"] },
        { "type": "click", "button": "back", "x": 640, "y": 400 },
        { "type": "double_click", "x": 640, "y": 400 },
        { "type": "move", "x": 1, "y": 1 },
        { "type": "drag", "path": [{ "x": 1, "y": 1 }, { "x": 9, "y": 9 }, { "x": 5, "y": 7 }] },
        { "type": "scroll", "x": 640, "y": 400, "scroll_x": -100, "scroll_y": 300 },
        { "type": "type", "text": "cats" },
        { "type": "keypress", "keys": ["CTRL", "S"] },
        { "type": "keypress", "keys": ["ENTER"] },
        { "type": "screenshot" },
        { "type": "wait" },
    ] });
    let mut all = vec![(Computer::OpenAi, "computer", batch)];
    let of_anthropic = [
        ("left_click", json!({ "coordinate": [640, 400], "text": "ctrl+shift" })),
        ("middle_click", at.clone()),
        ("triple_click", at.clone()),
        ("mouse_move", at.clone()),
        ("left_mouse_down", at.clone()),
        ("left_mouse_up", at),
        ("left_click_drag", json!({ "start_coordinate": [1, 1], "coordinate": [9, 9] })),
        ("scroll", json!({ "coordinate": [640, 400], "scroll_direction": "left", "scroll_amount": 3 })),
        ("type", json!({ "text": "cats\n" })),
        ("key", json!({ "text": "ctrl+a Delete" })),
        ("key", json!({ "text": "Tab", "repeat": 3 })),
        ("hold_key", json!({ "text": "shift", "duration": 0.5 })),
        ("wait", json!({ "duration": 1 })),
        ("screenshot", json!({})),
        ("zoom", json!({ "region": [0, 0, 640, 400] })),
    ];
    all.extend(of_anthropic.map(|(name, input)| (Computer::AnthropicToolset, name, input)));
    let of_gemini = [
        ("mouse_down", place.clone()),
        ("drag_and_drop", json!({ "start_x": 1, "start_y": 1, "end_x": 9, "end_y": 9 })),
        ("type", json!({ "text": "cats", "press_enter": true })),
        ("key_down", json!({ "key": "shift" })),
        ("key_up", json!({ "key": "shift" })),
        ("hotkey", json!({ "keys": ["ctrl", "s"] })),
        ("press_key", json!({ "key": "Enter" })),
        ("scroll", json!({ "x": 640, "y": 400, "direction": "up", "magnitude_in_pixels": 250 })),
        ("wait", json!({})),
        ("right_click", place),
    ];
    all.extend(of_gemini.map(|(name, args)| (Computer::Gemini, name, args)));
    all
}

fn adapted() -> Vec<OurCall> {
    let display = PixelSize { width: 1280, height: 800 };
    let calls = actions().into_iter().flat_map(|(computer, name, arguments)| {
        let call = ProposedCall::new(None, name, arguments);
        Adapter::new(computer, display).adapt(&call).unwrap_or_else(|error| panic!("{name}: {error}"))
    });
    calls.collect()
}

#[test]
fn every_call_that_an_action_becomes_is_one_that_our_tools_take() {
    let router = Router::builtin(FakeDesktop::new());
    for (number, OurCall { tool, arguments }) in adapted().into_iter().enumerate() {
        let id = CallId::from_suffix(number);
        let call = ToolCall { id, tool: tool.to_owned(), arguments: arguments.clone() };
        let (mode, approval, approved) = (Mode::Act, ApprovalMode::Auto, None);
        let (grants, has_read, planning) = (Grants::default(), false, Planning::Off);
        let request = ExecRequest {
            call,
            mode,
            approval,
            approved,
            grants,
            has_read,
            planning,
            waived: Vec::new(),
            fence: Default::default(),
            ports: tools::Ports::default(),
        };
        match router.outline(&request, &Limits::from(&Settings::default())).decision {
            Decision::Run | Decision::Ask { .. } => {}
            Decision::Forbid { error } => panic!("{tool} {arguments}: {}", error.message),
        }
    }
}

#[test]
fn what_a_vendors_tool_stands_for_is_what_its_actions_become_and_every_word_of_it_is_a_tool_of_ours() {
    let router = Router::builtin(FakeDesktop::new());
    let known: BTreeSet<String> = router
        .specs(Mode::Act, &tools::Ports::default())
        .into_iter()
        .map(|spec| spec.name.to_string())
        .collect();
    let replaced: BTreeSet<&str> = REPLACED.into();
    assert_eq!(replaced.len(), REPLACED.len(), "a word stands twice");
    let unknown: Vec<&&str> = replaced.iter().filter(|word| !known.contains(**word)).collect();
    assert!(unknown.is_empty(), "{unknown:?} are no tools: {known:?}");
    let mut used: BTreeSet<&str> = adapted().iter().map(|call| call.tool).collect();
    // Its own batches take the place of ours.
    used.insert("batch");
    assert_eq!(used, replaced);
}
