//! The vendors' computer tools: declared in each one's way, used in its own words, and answered as it wants it.

use outside::fake_model::{Asked, Computer, ComputerAction, FakeModel, MindTurn, Wire};
use serde_json::{Value, json};

use crate::bodies::{PNG, conversation, first};
use crate::client::{ask_at, data, headers, path};
use crate::strictness::message;

const WARNING: &str = "look out";

/// All of them: the model, its beta, the entry among the tools.
fn all() -> [(Wire, &'static str, &'static str, Value); 6] {
    let older = |version: &str| json!({ "type": version, "name": "computer", "display_width_px": 1, "display_height_px": 1 });
    let preview = json!({
        "type": "computer_use_preview", "display_width": 1, "display_height": 1, "environment": "linux",
    });
    [
        (Wire::Anthropic, "claude-opus-5-5", "", json!({ "type": "computer_toolset_20260801" })),
        (Wire::Anthropic, "claude-sonnet-4-6", "computer-use-2025-11-24", older("computer_20251124")),
        (Wire::Anthropic, "claude-haiku-4-5", "computer-use-2025-01-24", older("computer_20250124")),
        (Wire::Responses, "gpt-6.1-terra", "", json!({ "type": "computer" })),
        (Wire::Responses, "computer-use-preview", "", preview),
        (
            Wire::Gemini,
            "gemini-3.5-flash",
            "",
            json!({ "computerUse": { "environment": "ENVIRONMENT_DESKTOP" } }),
        ),
    ]
}

/// Acts once, after a warning, then ends.
fn hand(asked: &Asked) -> MindTurn {
    match asked.new_goal() {
        Some(_) => {
            let actions = [ComputerAction::Click { x: 500.0, y: 100.0 }];
            MindTurn { warning: Some(WARNING.into()), ..MindTurn::actions("I act.", &actions) }
        }
        None => MindTurn { text: "Done.".into(), ..MindTurn::default() },
    }
}

fn request(wire: Wire, model: &str, tool: &Value) -> Value {
    let mut body = first(wire);
    body["model"] = json!(model);
    body["tools"] = json!([tool]);
    if model == "computer-use-preview" {
        body["truncation"] = json!("auto");
    }
    body
}

#[test]
fn a_function_of_ours_that_has_an_actions_name_needs_no_picture_where_the_tool_is_not_declared() {
    let click = |asked: &Asked| match asked.new_goal() {
        Some(_) => MindTurn::call("", "click", json!({ "x": 1, "y": 2 })),
        None => MindTurn { text: "Done.".into(), ..MindTurn::default() },
    };
    let (wire, model, ..) = all()[5].clone();
    let server = FakeModel::start(click).unwrap();
    let declared = json!({ "functionDeclarations": [{ "name": "click" }] });
    assert_eq!(ask(&server, wire, "", &request(wire, model, &declared)).0, 200);
    let mut body = answered(wire, request(wire, model, &declared), &server);
    let result = &mut body["contents"][2]["parts"][0]["functionResponse"];
    *result = json!({ "id": result["id"], "name": "click", "response": { "error": { "message": "no" } } });
    let (status, told) = ask(&server, wire, "", &body);
    assert_eq!(status, 200, "{told}");
}

/// Asks, with the beta beside the others; status and body.
fn ask(server: &FakeModel, wire: Wire, beta: &str, body: &Value) -> (u16, String) {
    let mut headers = headers(wire, "k");
    if let Some((_, betas)) = headers.iter_mut().find(|(name, _)| *name == "anthropic-beta") {
        *betas = format!("{betas},{beta}");
    }
    let answered = ask_at(server, &path(wire), &headers, Some(body));
    (answered.status, answered.body)
}

/// The conversation after the act, answered as the vendor wants it.
fn answered(wire: Wire, mut body: Value, server: &FakeModel) -> Value {
    let given = server.given().remove(0);
    let all = body[conversation(wire)].as_array_mut().unwrap();
    match wire {
        Wire::Anthropic => {
            let (call, source) =
                (&given.raw[0], json!({ "type": "base64", "media_type": "image/png", "data": PNG }));
            let content = json!([{ "type": "text", "text": "OK" }, { "type": "image", "source": source }]);
            let mut result = json!({ "type": "tool_result", "tool_use_id": call["id"], "content": content });
            if call["toolset_name"].is_string() {
                result["toolset_name"] = call["toolset_name"].clone();
            }
            all.push(json!({ "role": "assistant", "content": given.raw }));
            all.push(json!({ "role": "user", "content": [result] }));
        }
        Wire::Gemini => {
            let call = &given.raw[0]["functionCall"];
            let response = json!({ "safety_acknowledgement": "true" });
            let parts = json!([{ "inlineData": { "mimeType": "image/png", "data": PNG } }]);
            let result =
                json!({ "id": call["id"], "name": call["name"], "response": response, "parts": parts });
            all.push(json!({ "role": "model", "parts": given.raw }));
            all.push(json!({ "role": "user", "parts": [{ "functionResponse": result }] }));
        }
        _ => {
            let call = &given.raw[0];
            let picture =
                json!({ "type": "computer_screenshot", "image_url": format!("data:image/png;base64,{PNG}") });
            all.extend(given.raw.iter().cloned());
            all.push(json!({
                "type": "computer_call_output", "call_id": call["call_id"], "output": picture,
                "acknowledged_safety_checks": call["pending_safety_checks"],
            }));
        }
    }
    body
}

#[test]
fn each_computer_tool_is_heard_used_in_its_own_words_and_answered_by_a_picture() {
    for (wire, model, beta, tool) in all() {
        let server = FakeModel::start(hand).unwrap();
        let (status, stream) = ask(&server, wire, beta, &request(wire, model, &tool));
        assert_eq!(status, 200, "{model}: {stream}");
        let display = match beta.is_empty() && model != "computer-use-preview" {
            true => None,
            false => Some((1, 1)),
        };
        let version = tool["type"].as_str().unwrap_or("ENVIRONMENT_DESKTOP").to_owned();
        assert_eq!(server.turns()[0].heard.computer, Some(Computer { version, display }));
        let said = Value::from(data(&stream)).to_string();
        let words = match wire {
            Wire::Anthropic => "left_click",
            Wire::Gemini => "require_confirmation",
            _ => "malicious_instructions",
        };
        assert!(said.contains(words), "{model}: {said}");
        let body = answered(wire, request(wire, model, &tool), &server);
        let (status, told) = ask(&server, wire, beta, &body);
        assert_eq!(status, 200, "{model}: {told}");
        let result = &server.turns()[1].results()[0].clone();
        assert_eq!(result.images.len(), 1, "{model}");
    }
}

#[test]
fn a_computer_tool_in_another_form_is_refused() {
    type Spoil = fn(&mut Value);
    let cases: [(usize, &str, Spoil); 11] = [
        (0, "Extra inputs", |body| body["tools"][0]["display_width_px"] = json!(5)),
        (0, "configs.fly", |body| body["tools"][0]["configs"] = json!({ "fly": {} })),
        (1, "display_width_px", |body| body["tools"][0]["display_width_px"] = json!("5")),
        (1, "Input should be 'computer'", |body| body["tools"][0]["name"] = json!("hands")),
        (1, "does not support tool types: computer_20251124", |body| {
            body["model"] = json!("claude-opus-5-5")
        }),
        (2, "enable_zoom: Extra", |body| body["tools"][0]["enable_zoom"] = json!(true)),
        (3, "tools[0].display_width", |body| body["tools"][0]["display_width"] = json!(5)),
        (4, "'truncation' to be 'auto'", |body| body["truncation"] = json!("disabled")),
        (4, "Invalid value: 'amiga'", |body| body["tools"][0]["environment"] = json!("amiga")),
        (5, "Unknown name \"display\"", |body| body["tools"][0]["computerUse"]["display"] = json!(1)),
        (5, "environment", |body| body["tools"][0]["computerUse"] = json!({ "environment": "BROWSER" })),
    ];
    for (which, words, spoil) in cases {
        let (wire, model, beta, tool) = all()[which].clone();
        let server = FakeModel::start(hand).unwrap();
        let mut body = request(wire, model, &tool);
        spoil(&mut body);
        let (status, told) = ask(&server, wire, beta, &body);
        assert_eq!(status, 400, "{model}, {words}: {told}");
        assert!(message(wire, &told).contains(words), "{model}: {told}");
    }
    let (wire, model, _, tool) = all()[1].clone();
    let server = FakeModel::start(hand).unwrap();
    let (_, told) = ask(&server, wire, "", &request(wire, model, &tool));
    assert!(message(wire, &told).contains("does not match any of the expected tags"), "no beta: {told}");
}

#[test]
fn an_answer_that_is_not_the_vendors_form_is_refused() {
    type Spoil = fn(&mut Value);
    const URL: &str = "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAIAAAABCAAAAADRSSBWAAAAC0lEQVR4nGNoaAAAAYMBARg1IhUAAAAASUVORK5CYII=";
    let cases: [(usize, &str, Spoil); 12] = [
        (0, "toolset_name", |all| drop(all[2]["content"][0].as_object_mut().unwrap().remove("toolset_name"))),
        (1, "toolset_name", |all| all[2]["content"][0]["toolset_name"] = json!("computer")),
        (1, "declared size", |all| {
            all[2]["content"][0]["content"][1]["source"]["data"] = json!(URL.split(',').nth(1).unwrap());
        }),
        (0, "cannot be modified", |all| all[1]["content"][0]["input"]["coordinate"] = json!([9, 9])),
        (3, "must be acknowledged", |all| all[2]["acknowledged_safety_checks"] = json!([])),
        (3, "is none of computer call", |all| {
            let checks = all[2]["acknowledged_safety_checks"].as_array_mut().unwrap();
            checks.push(json!({ "id": "x", "code": "x", "message": "x" }));
        }),
        (3, "does not represent a valid image", |all| all[2]["output"]["image_url"] = json!("data:,")),
        (3, "Invalid value: 'input_text'", |all| {
            all[2]["output"] = json!({ "type": "input_text", "text": "ok" })
        }),
        (4, "Unknown parameter", |all| all[2]["output"]["detail"] = json!("original")),
        (4, "declared size", |all| all[2]["output"]["image_url"] = json!(URL)),
        (5, "missing a screenshot", |all| {
            drop(all[2]["parts"][0]["functionResponse"].as_object_mut().unwrap().remove("parts"));
        }),
        (5, "safety_acknowledgement", |all| all[2]["parts"][0]["functionResponse"]["response"] = json!({})),
    ];
    for (which, words, spoil) in cases {
        let (wire, model, beta, tool) = all()[which].clone();
        let server = FakeModel::start(hand).unwrap();
        assert_eq!(ask(&server, wire, beta, &request(wire, model, &tool)).0, 200);
        let mut body = answered(wire, request(wire, model, &tool), &server);
        spoil(&mut body[conversation(wire)]);
        let (status, told) = ask(&server, wire, beta, &body);
        assert_eq!(status, 400, "{model}, {words}: {told}");
        assert!(message(wire, &told).contains(words), "{model}, {words}: {told}");
    }
}

#[test]
fn after_an_action_that_failed_anthropic_wants_to_hear_that_no_other_was_done() {
    let two = |asked: &Asked| match asked.new_goal() {
        Some(_) => MindTurn::actions("", &[ComputerAction::press(&["ctrl", "x"]), ComputerAction::Look]),
        None => MindTurn { text: "Done.".into(), ..MindTurn::default() },
    };
    let (wire, model, beta, tool) = all()[0].clone();
    let server = FakeModel::start(two).unwrap();
    assert_eq!(ask(&server, wire, beta, &request(wire, model, &tool)).0, 200);
    let given = server.given().remove(0);
    let mut body = request(wire, model, &tool);
    let result = |at: usize, content: &str| {
        json!({
            "type": "tool_result", "tool_use_id": given.ids[at], "toolset_name": "computer", "is_error": true,
            "content": content,
        })
    };
    let mut ask_with = |second: &str| {
        let results = json!([result(0, "Error: no such key"), result(1, second)]);
        let all = body["messages"].as_array_mut().unwrap();
        all.truncate(1);
        all.push(json!({ "role": "assistant", "content": given.raw }));
        all.push(json!({ "role": "user", "content": results }));
        ask(&server, wire, beta, &body)
    };
    let (status, told) = ask_with("Error: not done");
    assert!(status == 400 && message(wire, &told).contains("earlier computer action"), "{told}");
    assert_eq!(ask_with("Not executed: an earlier computer action in this turn failed.").0, 200);
}
