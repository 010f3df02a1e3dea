//! Vendors' computer tools on the wire: declared where they are wanted, answered in the documented shapes.

use protocol::geometry::PixelSize;
use serde_json::{Value, json};

use super::super::*;
use super::unasked;
use crate::decode::decode;
use crate::{Image, Message, NOT_EXECUTED, Part, ProposedCall, ToolAnswer, ToolSpec, Turn, TurnEvent};

macro_rules! fixture {
    ($name:literal) => {
        include_str!(concat!("../../../tests/fixtures/", $name))
    };
}

fn remote(provider: &str, computer: Option<Computer>) -> Remote {
    unasked(Provider::named(provider).unwrap(), Options { computer, ..Options::default() })
}

fn body(provider: &str, computer: Option<Computer>, messages: Vec<Message>) -> Value {
    body_for(Some(PixelSize { width: 1280, height: 800 }), provider, computer, messages)
}

fn body_for(
    display: Option<PixelSize>,
    provider: &str,
    computer: Option<Computer>,
    messages: Vec<Message>,
) -> Value {
    let tool = ToolSpec {
        name: "done".into(),
        description: "Ends.".into(),
        schema: json!({"type": "object", "properties": {}}),
    };
    let goal = Message::User(vec![Part::Text("Search for cats.".into())]);
    let request = Request {
        tools: vec![tool],
        messages: [vec![goal], messages].concat(),
        display,
        ..Request::default()
    };
    serde_json::from_str(&remote(provider, computer).body(&request)).unwrap()
}

fn turn(provider: &str, stream: &str) -> Turn {
    match decode(Provider::named(provider).unwrap().wire, provider, stream.as_bytes()).1 {
        Ok(TurnEvent::Finished { turn, .. }) => turn,
        other => panic!("{other:?}"),
    }
}

fn answer(turn: &Turn, index: usize, response: Value, image: Option<&str>) -> ToolAnswer {
    let call = &turn.calls[index];
    let image = image.map(|png| {
        use base64::Engine;
        let bytes = base64::engine::general_purpose::STANDARD.decode(png).unwrap();
        Image { media_type: "image/png".into(), bytes: bytes.into(), detail: crate::Detail::Whole }
    });
    ToolAnswer { id: call.id.clone(), name: call.name.clone(), response, image }
}

#[test]
fn each_version_is_declared_as_documented_and_only_where_it_is_wanted() {
    for (provider, computer, declared) in [
        (
            "anthropic",
            Computer::AnthropicToolset,
            json!({"type": "computer_toolset_20260801", "configs": {"cursor_position": {"enabled": false}}}),
        ),
        (
            "anthropic",
            Computer::Anthropic20251124,
            json!({"name": "computer", "display_width_px": 1280, "display_height_px": 800, "type": "computer_20251124", "enable_zoom": true}),
        ),
        (
            "anthropic",
            Computer::Anthropic20250124,
            json!({"name": "computer", "display_width_px": 1280, "display_height_px": 800, "type": "computer_20250124"}),
        ),
        ("openai", Computer::OpenAi, json!({"type": "computer"})),
        (
            "gemini",
            Computer::Gemini,
            json!({"computerUse": {"environment": "ENVIRONMENT_DESKTOP", "enablePromptInjectionDetection": true}}),
        ),
    ] {
        let tools = |computer| body(provider, computer, Vec::new())["tools"].as_array().unwrap().clone();
        assert_eq!(tools(None).len(), 1);
        let with = tools(Some(computer));
        let mut last = with[1].clone();
        last.as_object_mut().unwrap().shift_remove("cache_control");
        assert_eq!((with.len(), last), (2, declared));
        assert!(with[0].to_string().contains("\"name\":\"done\""), "{}", with[0]);
    }
    let preview = body("openai", Some(Computer::OpenAiPreview), Vec::new());
    assert_eq!(
        (&preview["truncation"], &preview["tools"][1]["display_width"]),
        (&json!("auto"), &json!(1280))
    );
}

#[test]
fn the_older_tools_name_their_beta_beside_the_others() {
    let beta = |computer| remote("anthropic", computer).provider.headers["anthropic-beta"].0.clone();
    let usual = "thinking-binding-controls-2026-08-01";
    assert_eq!(beta(None), usual);
    assert_eq!(beta(Some(Computer::AnthropicToolset)), usual);
    assert_eq!(beta(Some(Computer::Anthropic20251124)), format!("{usual},computer-use-2025-11-24"));
    assert_eq!(beta(Some(Computer::Anthropic20250124)), format!("{usual},computer-use-2025-01-24"));
}

#[test]
fn a_batch_of_anthropics_is_answered_as_documented() {
    let turn = turn("anthropic", fixture!("anthropic/stream_computer_batch.sse"));
    let error = |message: &str| json!({"summary": message, "error": {"kind": "failed", "message": message}});
    let answers = vec![
        answer(&turn, 0, json!({"summary": "OK"}), None),
        answer(&turn, 1, error("no focused field"), Some("AQID")),
        answer(&turn, 2, error(NOT_EXECUTED), None),
    ];
    let messages = vec![Message::Assistant(turn), Message::ToolResults(answers)];
    let body = body("anthropic", Some(Computer::AnthropicToolset), messages);
    let mut results = body["messages"][2].clone();
    let last = results["content"].as_array_mut().unwrap().last_mut().unwrap();
    assert!(last.as_object_mut().unwrap().shift_remove("cache_control").is_some());
    let expected: Value = serde_json::from_str(fixture!("anthropic/computer_batch_results.json")).unwrap();
    assert_eq!(results, expected);
    let call = &body["messages"][1]["content"][1];
    assert_eq!((&call["name"], &call["toolset_name"]), (&json!("left_click"), &json!("computer")));
}

#[test]
fn an_action_of_anthropics_that_was_done_is_answered_with_words_and_a_picture() {
    let turn = turn("anthropic", fixture!("anthropic/stream_computer_batch.sse"));
    let answers = vec![answer(&turn, 0, json!({"summary": "clicked left at 500,75"}), Some("AQID"))];
    let messages = vec![Message::Assistant(turn), Message::ToolResults(answers)];
    let old = body("anthropic", Some(Computer::Anthropic20251124), messages.clone());
    assert_eq!(old["messages"][2]["content"][0]["is_error"], false, "a function of ours, of that name");
    let told = body("anthropic", Some(Computer::AnthropicToolset), messages);
    let result = &told["messages"][2]["content"][0];
    assert_eq!(result["content"][0], json!({"type": "text", "text": "clicked left at 500,75"}));
    assert_eq!(result["content"][1]["source"]["data"], "AQID");
    assert_eq!((&result["toolset_name"], result.get("is_error")), (&json!("computer"), None));
}

/// A turn of one call of Anthropic's, and the answer to it.
fn one_call(name: &str, more: &str, raw: bool) -> Vec<Message> {
    let call = ProposedCall::new(Some("toolu_1".into()), name, json!({}));
    let block = format!(r#"[{{"type":"tool_use","id":"toolu_1","name":"{name}"{more},"input":{{}}}}]"#);
    let raw = if raw { block.into() } else { Value::Null };
    let turn = Turn { text: String::new(), calls: vec![call], provider: "anthropic".into(), raw };
    let answers = vec![answer(&turn, 0, json!({"summary": "looked"}), Some("AQID"))];
    vec![Message::Assistant(turn), Message::ToolResults(answers)]
}

#[test]
fn a_function_of_ours_that_has_an_actions_name_is_answered_as_a_function() {
    let display = Some(PixelSize { width: 1280, height: 800 });
    let of_toolset = r#","toolset_name":"computer""#;
    for (display, messages, answered_as_action, why) in [
        (display, one_call("screenshot", of_toolset, true), true, "an action, as it came"),
        (None, one_call("screenshot", "", true), false, "only looking: the tool is not declared"),
        (display, one_call("screenshot", "", true), false, "of an earlier run that only looked"),
        (display, one_call("screenshot", of_toolset, false), false, "an earlier run, told in neutral form"),
        (display, one_call("left_click", of_toolset, false), false, "an action that was none of ours"),
    ] {
        let body = body_for(display, "anthropic", Some(Computer::AnthropicToolset), messages);
        let (call, result) = (&body["messages"][1]["content"][0], &body["messages"][2]["content"][0]);
        let toolset = |block: &Value| block.get("toolset_name").is_some();
        assert_eq!((toolset(call), toolset(result)), (answered_as_action, answered_as_action), "{why}");
        let declared = body["tools"].to_string().contains("computer_toolset");
        assert_eq!(declared, display.is_some(), "{why}");
    }
}

#[test]
fn a_call_of_openais_that_is_told_in_neutral_form_is_answered_so() {
    let call = ProposedCall::new(Some("c1".into()), "computer", json!({}));
    let turn = Turn { calls: vec![call], ..Turn::default() };
    let answers = vec![answer(&turn, 0, json!({"summary": "refused"}), None)];
    let messages = vec![Message::Assistant(turn), Message::ToolResults(answers)];
    let told = body("openai", Some(Computer::OpenAi), messages);
    let kinds = (&told["input"][1]["type"], &told["input"][2]["type"]);
    assert_eq!(kinds, (&json!("function_call"), &json!("function_call_output")));
}

#[test]
fn a_call_of_openais_is_answered_with_a_picture_and_what_the_user_said_yes_to() {
    let expected: Value = serde_json::from_str(fixture!("openai-responses/request_computer.json")).unwrap();
    let documented = &expected["input"][2];
    let turn = turn("openai", fixture!("openai-responses/stream_computer_call.sse"));
    let png = documented["output"]["image_url"].as_str().unwrap().rsplit(',').next().unwrap();
    let checks = documented["acknowledged_safety_checks"].clone();
    let done = answer(&turn, 0, json!({"summary": "x", "acknowledged_safety_checks": checks}), Some(png));
    let messages = vec![Message::Assistant(turn.clone()), Message::ToolResults(vec![done])];
    let told = body("openai", Some(Computer::OpenAi), messages);
    assert_eq!(told["input"][2], *documented);
    assert_eq!(told["input"][1]["type"], "computer_call");

    // One whose picture was taken out of the history, and one that failed: the picture must be there all the same.
    let error = json!({"error": {"kind": "failed", "message": "no such place"}, "picture": "left out here"});
    let failed = answer(&turn, 0, error, None);
    let messages = vec![Message::Assistant(turn), Message::ToolResults(vec![failed])];
    let told = body("openai", Some(Computer::OpenAi), messages);
    let url = told["input"][2]["output"]["image_url"].as_str().unwrap();
    assert!(url.starts_with("data:image/png;base64,"));
    assert_eq!(told["input"][3]["content"][0]["text"], "[of call_c1: no such place; left out here]");
}

#[test]
fn an_action_of_geminis_is_answered_with_a_picture_and_the_users_yes() {
    let turn = turn("gemini", fixture!("gemini/stream_computer_use_35_actions.sse"));
    let decision = turn.calls[0].arguments["safety_decision"].clone();
    assert_eq!(decision["decision"], "require_confirmation");
    let answered = |response: Value| {
        let done = answer(&turn, 0, response, Some("AQID"));
        let messages = vec![Message::Assistant(turn.clone()), Message::ToolResults(vec![done])];
        body("gemini", Some(Computer::Gemini), messages)["contents"][2]["parts"][0]["functionResponse"]
            .clone()
    };
    let told =
        answered(json!({"summary": "x", "acknowledged_safety_checks": [decision], "effect": "confirmed"}));
    let image = json!({"$ref": "screen.png"});
    let response =
        json!({"summary": "x", "effect": "confirmed", "safety_acknowledgement": "true", "image": image});
    assert_eq!((&told["id"], &told["name"]), (&json!("c1"), &json!("click")));
    assert_eq!(told["response"], response);
    assert_eq!(told["parts"][0]["inlineData"]["data"], "AQID");
    assert_eq!(answered(json!({"summary": "x"}))["response"], json!({"summary": "x", "image": image}));
}

#[test]
fn a_request_by_a_vendors_tool_is_as_it_was_reviewed() {
    let anthropic = turn("anthropic", fixture!("anthropic/stream_computer_batch.sse"));
    let openai = turn("openai", fixture!("openai-responses/stream_computer_call.sse"));
    let told = |turn: &Turn| {
        let done = |index| answer(turn, index, json!({"summary": "done"}), Some("AQID"));
        let answers = (0..turn.calls.len()).map(done).collect();
        vec![Message::Assistant(turn.clone()), Message::ToolResults(answers)]
    };
    for (name, computer, turn) in [
        ("anthropic", Computer::AnthropicToolset, &anthropic),
        ("openai", Computer::OpenAi, &openai),
        ("openai_preview", Computer::OpenAiPreview, &openai),
    ] {
        let provider = name.split('_').next().unwrap();
        insta::assert_json_snapshot!(format!("computer_{name}"), body(provider, Some(computer), told(turn)));
    }
}

#[test]
fn the_older_tool_of_openais_has_one_action_a_call() {
    let item = r#"{"type":"computer_call","id":"cu_1","call_id":"c","status":"completed","pending_safety_checks":[],"action":{"type":"screenshot"}}"#;
    let stream = format!(
        "data: {{\"type\":\"response.output_item.done\",\"output_index\":0,\"item\":{item}}}\n\ndata: {{\"type\":\"response.completed\",\"response\":{{\"status\":\"completed\"}}}}\n\n"
    );
    let turn = turn("openai", &stream);
    assert_eq!(turn.calls[0].arguments["actions"], json!([{"type": "screenshot"}]));
}
