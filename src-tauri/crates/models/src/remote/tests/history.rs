//! History that is faithful: ten turns go back to their provider as the bytes that came, thirty requests each begin as
//! the one before, and another provider is told the same in neutral form.

use serde_json::{Value, json};

use super::super::*;
use super::unasked;
use crate::decode::decode;
use crate::{Image, Message, Part, ToolAnswer, ToolSpec, Turn, TurnEvent};

macro_rules! fixture {
    ($name:literal) => {
        include_str!(concat!("../../../tests/fixtures/", $name))
    };
}

/// Each provider with recorded turns of its own.
const RECORDED: [(&str, &[&str]); 7] = [
    (
        "gemini",
        &[
            fixture!("gemini/stream_thought_then_function_call.sse"),
            fixture!("gemini/stream_parallel_function_calls.sse"),
        ],
    ),
    (
        "anthropic",
        &[
            fixture!("anthropic/stream_thinking_two_parallel_tools.sse"),
            fixture!("anthropic/stream_text_then_tool_use.sse"),
        ],
    ),
    ("openai", &[fixture!("openai-responses/stream_reasoning_function_call.sse")]),
    // The same wire; what is recorded of xAI itself has a search in it and no call of ours.
    ("xai", &[fixture!("openai-responses/stream_reasoning_function_call.sse")]),
    (
        "openrouter",
        &[
            fixture!("openrouter/stream_reasoning_and_tool.sse"),
            fixture!("openrouter/stream_gemini_encrypted_reasoning.sse"),
        ],
    ),
    ("ollama", &[fixture!("ollama/stream_thinking_and_tool.ndjson")]),
    ("lmstudio", &[fixture!("lmstudio/stream_reasoning_tool.sse")]),
];

fn remote(provider: &str) -> Remote {
    unasked(Provider::named(provider).unwrap(), Options { thinking: true, ..Options::default() })
}

fn turn(provider: &str, stream: &str) -> Turn {
    let wire = Provider::named(provider).unwrap().wire;
    match decode(wire, provider, stream.as_bytes()).1 {
        // As it comes back from the disk.
        Ok(TurnEvent::Finished { turn, .. }) => {
            let kept = serde_json::to_vec(&turn.raw).unwrap();
            Turn { raw: serde_json::from_slice(&kept).unwrap(), ..turn }
        }
        other => panic!("{other:?}"),
    }
}

/// A conversation of so many turns, each answered with a picture.
fn conversation(provider: &str, turns: usize) -> Request {
    let (_, streams) = RECORDED.iter().find(|(name, _)| *name == provider).unwrap();
    let mut messages = vec![Message::User(vec![Part::Text("Open settings.".into())])];
    for stream in streams.iter().cycle().take(turns) {
        let turn = turn(provider, stream);
        let image = Image {
            media_type: "image/png".into(),
            bytes: vec![1, 2, 3].into(),
            detail: crate::Detail::Whole,
        };
        let answers = turn.calls.iter().map(|call| ToolAnswer {
            id: call.id.clone(),
            name: call.name.clone(),
            response: json!({"effect": "confirmed", "summary": "done"}),
            image: Some(image.clone()),
        });
        let answers = Message::ToolResults(answers.collect());
        messages.extend([Message::Assistant(turn), answers]);
    }
    let schema = json!({"type": "object", "properties": {}});
    let tool = ToolSpec { name: "click".into(), description: "Clicks.".into(), schema };
    Request { system: "You operate a desktop.".into(), tools: vec![tool], messages, ..Request::default() }
}

/// What the provider wrote of a turn, as it must stand in the next request.
fn own_words(turn: &Turn) -> String {
    let raw = turn.raw.as_str().unwrap();
    raw.trim_start_matches('[').trim_end_matches(']').to_owned()
}

#[test]
fn ten_turns_go_back_to_their_provider_byte_for_byte_and_in_order() {
    for (provider, _) in RECORDED {
        let request = conversation(provider, 10);
        let body = remote(provider).body(&request);
        assert!(serde_json::from_str::<Value>(&body).is_ok(), "{provider}: {body}");
        let (mut at, mut turns) = (0, 0);
        for message in &request.messages {
            if let Message::Assistant(turn) = message {
                let words = own_words(turn);
                let found =
                    body[at..].find(&words).unwrap_or_else(|| panic!("{provider}: {words} in {body}"));
                at += found + words.len();
                turns += 1;
            }
        }
        assert_eq!(turns, 10);
        assert_eq!(remote(provider).body(&request), body, "the same messages are the same bytes");
    }
}

#[test]
fn what_a_provider_writes_in_its_own_way_is_not_written_in_ours() {
    let call = r#"{"functionCall": {"name":"b","args":{"y":1.50,"x":2E1,"big":12345678901234567890123,"s":"\u003ca\/"}},"thoughtSignature":"Sg=="}"#;
    let gemini = format!(
        "data: {{\"candidates\":[{{\"content\":{{\"parts\":[{call}],\"role\":\"model\"}},\"finishReason\":\"STOP\"}}]}}\n\n"
    );
    let item = r#"{"type":"function_call","id":"fc_1", "call_id":"c","name":"b","arguments":"{\"x\":2E1}","status":"completed","\u006eew":1.0e0}"#;
    let openai = format!(
        "data: {{\"type\":\"response.output_item.done\",\"output_index\":0,\"item\":{item}}}\n\ndata: {{\"type\":\"response.completed\",\"response\":{{\"status\":\"completed\"}}}}\n\n"
    );
    let made = r#"{"function":{"name":"b","arguments":{"x":1.50,"y":2E1}}}"#;
    let ollama = format!(
        "{{\"message\":{{\"role\":\"assistant\",\"content\":\"\",\"tool_calls\":[{made}]}},\"done\":true}}\n"
    );
    for (provider, stream, words) in
        [("gemini", gemini, call), ("openai", openai, item), ("ollama", ollama, made)]
    {
        let messages = vec![Message::Assistant(turn(provider, &stream))];
        let body = remote(provider).body(&Request { messages, ..Request::default() });
        assert!(body.contains(words), "{provider}: {body}");
    }
    let input = r#"{\"x\": 2E1, \"y\":1.50}"#;
    let anthropic =
        fixture!("anthropic/stream_thinking_two_parallel_tools.sse").replace(r#"{\"x\":10,\"y\":20}"#, input);
    let messages = vec![Message::Assistant(turn("anthropic", &anthropic))];
    let body = remote("anthropic").body(&Request { messages, ..Request::default() });
    assert!(body.contains(r#""input":{"x": 2E1, "y":1.50}"#), "{body}");
}

#[test]
fn of_two_bounds_of_an_answer_the_smaller_one_is_sent() {
    for (provider, at) in [
        ("gemini", "/generationConfig/maxOutputTokens"),
        ("openai", "/max_output_tokens"),
        ("openrouter", "/max_tokens"),
        ("ollama", "/options/num_predict"),
        ("anthropic", "/max_tokens"),
    ] {
        let sent = |set, asked| {
            let options = Options { max_output: set, ..Options::default() };
            let remote = unasked(Provider::named(provider).unwrap(), options);
            let messages = vec![Message::User(vec![Part::Text("hello".into())])];
            let body = remote.body(&Request { messages, max_output: asked, ..Request::default() });
            serde_json::from_str::<Value>(&body).unwrap().pointer(at).and_then(Value::as_u64)
        };
        assert_eq!(sent(Some(4_096), None), Some(4_096), "{provider}");
        assert_eq!(sent(Some(4_096), Some(2_000)), Some(2_000), "{provider}");
        assert_eq!(sent(Some(1_000), Some(2_000)), Some(1_000), "{provider}");
        assert_eq!(sent(None, Some(2_000)), Some(2_000), "{provider}");
    }
}

/// A body without its end and without the marks of what to cache, which move on with the newest words.
fn prefix(body: &str) -> String {
    let unmarked = body.replace(r#","cache_control":{"type":"ephemeral"}"#, "");
    unmarked.trim_end_matches(['}', ']']).to_owned()
}

#[test]
fn over_thirty_steps_each_request_begins_as_the_one_before() {
    for (provider, _) in RECORDED {
        let model = remote(provider);
        let mut last = prefix(&model.body(&conversation(provider, 0)));
        for step in 1..=30 {
            let body = prefix(&model.body(&conversation(provider, step)));
            assert!(body.starts_with(&last) && body.len() > last.len(), "{provider} at step {step}");
            last = body;
        }
    }
}

#[test]
fn marks_stand_at_the_end_of_the_prefix_and_of_the_newest_words_and_are_four_at_most() {
    // Anthropic's tools have one of their own; OpenRouter's documentation knows none there.
    for (provider, of_prefix) in [("anthropic", 2), ("openrouter", 1)] {
        let model = remote(provider);
        for step in [0, 1, 2, 30] {
            let body: Value = serde_json::from_str(&model.body(&conversation(provider, step))).unwrap();
            let marks = body.to_string().matches("cache_control").count();
            assert_eq!(marks, of_prefix + if step == 0 { 1 } else { 2 }, "{provider}, step {step}");
            let newest = body["messages"].as_array().unwrap().last().unwrap();
            let part = newest["content"].as_array().unwrap().last().unwrap();
            assert!(part["cache_control"].is_object(), "{provider}: {part}");
        }
    }
}

#[test]
fn another_provider_is_told_the_same_without_the_first_ones_secrets() {
    for (from, _) in RECORDED {
        let request = conversation(from, 10);
        for (to, _) in RECORDED.iter().filter(|(to, _)| *to != from) {
            let body = remote(to).body(&request);
            let value: Value = serde_json::from_str(&body).unwrap();
            for secret in [
                "CiQB0e2KbzJ3mSigAbCd",
                "EqQBCgIYAhIM",
                "gAAAAABo-final",
                "reasoning_details",
                "\"thinking\":\"",
            ] {
                assert!(!body.contains(secret), "{from} to {to}: {secret}");
            }
            let answers = body.matches("confirmed").count();
            let calls: usize = request.messages.iter().map(calls_of).sum();
            assert_eq!(answers, calls, "{from} to {to}: each call has its answer: {value}");
        }
    }
}

fn calls_of(message: &Message) -> usize {
    match message {
        Message::Assistant(turn) => turn.calls.len(),
        Message::User(_) | Message::ToolResults(_) => 0,
    }
}

#[test]
fn each_wire_shows_a_picture_of_a_result_in_its_own_way() {
    let png = "AQID";
    for (provider, path) in [
        ("gemini", "/contents/2/parts/0/functionResponse/parts/0/inlineData/data"),
        ("anthropic", "/messages/2/content/0/content/1/source/data"),
        ("openai", "/input/3/output/1/image_url"),
        ("openrouter", "/messages/3/content/0/image_url/url"),
        ("ollama", "/messages/3/images/0"),
        ("lmstudio", "/messages/4/content/1/image_url/url"),
    ] {
        let body: Value = serde_json::from_str(&remote(provider).body(&conversation(provider, 1))).unwrap();
        let data = body.pointer(path).and_then(Value::as_str).unwrap_or_else(|| panic!("{provider}: {body}"));
        assert!(data.ends_with(png), "{provider}: {data}");
    }
    let body: Value = serde_json::from_str(&remote("xai").body(&conversation("xai", 1))).unwrap();
    assert_eq!(body["input"][4]["type"], "function_call_output");
    assert_eq!(body["input"][5]["content"][1]["image_url"], "data:image/png;base64,AQID");
}

/// Whether the vendors' own types know them, a test of the mind asks.
#[test]
fn a_request_of_each_provider_is_as_it_was_reviewed() {
    for (provider, _) in RECORDED {
        let body: Value = serde_json::from_str(&remote(provider).body(&conversation(provider, 2))).unwrap();
        insta::assert_json_snapshot!(format!("body_{provider}"), body);
    }
}

/// A server of the user's own that speaks this wire.
fn custom(wire: Wire) -> Remote {
    let provider = Provider::custom("custom", "http://127.0.0.1:1", wire, std::collections::BTreeMap::new());
    unasked(&provider, Options::default())
}

#[test]
fn what_a_custom_server_wrote_on_one_wire_is_told_in_neutral_form_on_another() {
    let stream = fixture!("anthropic/stream_thinking_two_parallel_tools.sse");
    let [one, other] = [Wire::Anthropic, Wire::OpenAiChat].map(custom);
    let turn = match decode(Wire::Anthropic, &one.author, stream.as_bytes()).1 {
        Ok(TurnEvent::Finished { turn, .. }) => turn,
        other => panic!("{other:?}"),
    };
    let body = |remote: &Remote, turn: &Turn| {
        let user = Message::User(vec![Part::Text("go".into())]);
        let messages = vec![user, Message::Assistant(turn.clone())];
        remote.body(&Request { messages, ..Request::default() })
    };
    assert!(body(&one, &turn).contains(&own_words(&turn)));
    let told: Value = serde_json::from_str(&body(&other, &turn)).unwrap();
    assert_eq!(told["messages"][1]["tool_calls"].as_array().map(Vec::len), Some(turn.calls.len()));
    // As journals had it before the wire was part of the name: which one it was is not known.
    let old = Turn { provider: "custom".into(), ..turn.clone() };
    for remote in [&one, &other] {
        assert!(!body(remote, &old).contains(&own_words(&turn)));
        assert!(body(remote, &old).contains(&turn.calls[0].name));
    }
}
