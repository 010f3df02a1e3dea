//! The provider's own search: asked for where it is wanted and there, beside our tools; and what it did goes back with
//! its own bytes.

use serde_json::{Value, json};

use super::super::*;
use super::unasked;
use crate::decode::decode;
use crate::{Message, Part, ToolAnswer, ToolSpec, Turn, TurnEvent};
use protocol::turn::StopReason;

macro_rules! fixture {
    ($name:literal) => {
        include_str!(concat!("../../../tests/fixtures/", $name))
    };
}

fn remote(provider: &str, search: bool) -> Remote {
    unasked(Provider::named(provider).unwrap(), Options { search, ..Options::default() })
}

fn asking(messages: Vec<Message>) -> Request {
    let schema = json!({"type": "object", "properties": {}});
    let tool = ToolSpec { name: "done".into(), description: "Ends.".into(), schema };
    Request { system: "You operate a desktop.".into(), tools: vec![tool], messages, ..Request::default() }
}

fn goal() -> Message {
    Message::User(vec![Part::Text("What is new?".into())])
}

fn body(provider: &str, search: bool) -> Value {
    serde_json::from_str(&remote(provider, search).body(&asking(vec![goal()]))).unwrap()
}

#[test]
fn each_providers_own_search_is_asked_for_beside_our_tools_and_only_where_it_is_wanted() {
    for (provider, tools) in [
        ("gemini", json!([{ "googleSearch": {} }])),
        ("anthropic", json!([{ "type": "web_search_20250305", "name": "web_search", "max_uses": 5 }])),
        ("openai", json!([{ "type": "web_search" }])),
        ("xai", json!([{ "type": "web_search" }, { "type": "x_search" }])),
        ("openrouter", json!([])),
        ("ollama", json!([])),
        ("lmstudio", json!([])),
    ] {
        let (off, mut on) = (body(provider, false), body(provider, true));
        assert!(!off.to_string().contains("earch"), "{provider}: {off}");
        let ours = off["tools"].as_array().unwrap().len();
        let mut theirs = on["tools"].as_array().unwrap()[ours..].to_vec();
        for tool in &mut theirs {
            tool.as_object_mut().unwrap().shift_remove("cache_control");
        }
        assert_eq!(Value::from(theirs), tools, "{provider}");
        assert_eq!(on["tools"][0]["name"], off["tools"][0]["name"], "{provider}: ours stay as they are");
        if provider == "openrouter" {
            assert_eq!(on.as_object_mut().unwrap().shift_remove("plugins"), Some(json!([{ "id": "web" }])));
        }
        if tools == json!([]) {
            assert_eq!(on, off, "{provider}");
        }
    }
}

#[test]
fn gemini_is_told_to_take_its_search_and_our_functions_together() {
    let config = |search| body("gemini", search)["toolConfig"].clone();
    let mode = |mode: &str| json!({ "mode": mode });
    assert_eq!(config(false), json!({ "functionCallingConfig": mode("AUTO") }));
    // AUTO is not supported beside it.
    let both =
        json!({ "functionCallingConfig": mode("VALIDATED"), "includeServerSideToolInvocations": true });
    assert_eq!(config(true), both);
}

/// A recorded turn as it comes back from the disk, how it ended, and the addresses it rests on.
fn turn(provider: &str, stream: &str) -> (Turn, StopReason, Vec<String>) {
    let wire = Provider::named(provider).unwrap().wire;
    let (events, end) = decode(wire, provider, stream.as_bytes());
    let cited = events.into_iter().filter_map(|event| match event {
        TurnEvent::Citation { url, .. } => Some(url),
        _ => None,
    });
    let cited = cited.collect();
    match end {
        Ok(TurnEvent::Finished { turn, stop, .. }) => {
            let kept = serde_json::to_vec(&turn.raw).unwrap();
            (Turn { raw: serde_json::from_slice(&kept).unwrap(), ..turn }, stop, cited)
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn what_a_search_did_goes_back_as_the_bytes_that_came() {
    for (provider, stream, words, cited) in [
        (
            "anthropic",
            fixture!("anthropic/stream_web_search_paused.sse"),
            &[
                r#"{"type":"server_tool_use","id":"srvtoolu_01Ab","name":"web_search","input":{"query": "rust news"}}"#,
                r#"{"type":"web_search_tool_result", "tool_use_id":"srvtoolu_01Ab","content":[{"type":"web_search_result","url":"https://example.com/a\u0026b","title":"A page","encrypted_content":"EqgfCioIARgBIiQ3YTAwMjY1Mi1mZjM5LTQ1NGUtODgxNC1kNjNjNTk1ZWI3Y","page_age":null,"score":1.50e0}]}"#,
            ][..],
            &[][..],
        ),
        (
            "anthropic",
            fixture!("anthropic/stream_web_search_cited.sse"),
            &[r#""encrypted_index":"Eo8BCioIAhgBIiQyYjQ0OWJmZi1lNm","cited_text":"Rust is 11.""#],
            &["https://example.com/a&b"],
        ),
        (
            "openai",
            fixture!("openai-responses/stream_web_search.sse"),
            &[
                r#"{"id":"rs_1","type":"reasoning","summary":[],"encrypted_content":"gAAAAABo-search"},{"id":"ws_1","type":"web_search_call","status":"completed","action":{"type":"search","query":"rust news","queries":["rust news"],"sources":[{"type":"url","url":"https://example.com/a"}]}},{"id":"msg_1""#,
            ],
            &["https://example.com/a"],
        ),
        (
            "xai",
            fixture!("xai/stream_responses_search.sse"),
            &[
                r#"{"id":"ws_1","type":"web_search_call","status":"completed","action":{"type":"search","query":"xai news","sources":[{"type":"url","url":"https://example.com/a"}]}},{"id":"ctc_1","type":"custom_tool_call","status":"completed","call_id":"xs_call_1","name":"x_keyword_search","input":"{\"query\":\"from:xai\",\"limit\":5}"}"#,
            ],
            &["https://example.com/a"],
        ),
        (
            "gemini",
            fixture!("gemini/stream_search_and_function.sse"),
            &[
                r#"{"parts":[{"toolCall":{"toolType":"GOOGLE_SEARCH_WEB","args":{"queries":["rust news"]},"id":"ts1"},"thoughtSignature":"Sg=="},{"toolResponse":{"toolType":"GOOGLE_SEARCH_WEB","response":{"search_suggestions":"<div>rust</div>"},"id":"ts1"},"thoughtSignature":"Sw=="},{"text":"Rust is eleven."},{"functionCall":"#,
            ],
            &["https://vertexaisearch.cloud.google.com/grounding-api-redirect/AbC"],
        ),
    ] {
        let (turn, stop, found) = turn(provider, stream);
        assert_eq!(found, cited, "{provider}");
        let answers = turn.calls.iter().map(|call| ToolAnswer {
            id: call.id.clone(),
            name: call.name.clone(),
            response: json!({}),
            image: None,
        });
        let answers = Message::ToolResults(answers.collect());
        let body = remote(provider, true).body(&asking(vec![goal(), Message::Assistant(turn), answers]));
        let value: Value = serde_json::from_str(&body).unwrap();
        if stop != StopReason::Paused {
            insta::assert_json_snapshot!(format!("search_{provider}"), value);
        }
        for words in words {
            assert!(body.contains(words), "{provider}: {words}\nis not in\n{body}");
        }
    }
}

#[test]
fn a_search_that_was_paused_goes_on_where_it_stopped() {
    let (paused, stop, _) = turn("anthropic", fixture!("anthropic/stream_web_search_paused.sse"));
    assert_eq!((stop, paused.calls.len()), (StopReason::Paused, 0));
    let (cited, stop, _) = turn("anthropic", fixture!("anthropic/stream_web_search_cited.sse"));
    assert_eq!((stop, cited.calls[0].name.as_str()), (StopReason::ToolCalls, "done"));
    let model = remote("anthropic", true);
    let first = model.body(&asking(vec![goal(), Message::Assistant(paused)]));
    let first: Value = serde_json::from_str(&first).unwrap();
    let last = first["messages"].as_array().unwrap().last().unwrap();
    assert_eq!((&last["role"], &last["content"][1]["name"]), (&json!("assistant"), &json!("web_search")));
}

#[test]
fn a_turn_that_searched_says_so_and_one_that_only_could_does_not() {
    let searched = |provider: &str, stream: &str| {
        let wire = Provider::named(provider).unwrap().wire;
        decode(wire, provider, stream.as_bytes()).0.contains(&TurnEvent::Searched)
    };
    for (provider, with, without) in [
        (
            "anthropic",
            fixture!("anthropic/stream_web_search_paused.sse"),
            fixture!("anthropic/stream_text_then_tool_use.sse"),
        ),
        ("gemini", fixture!("gemini/stream_search_and_function.sse"), fixture!("gemini/stream_text.sse")),
        (
            "openai",
            fixture!("openai-responses/stream_web_search.sse"),
            fixture!("openai-responses/stream_text.sse"),
        ),
        ("xai", fixture!("xai/stream_responses_search.sse"), fixture!("xai/stream_chat_reasoning_tool.sse")),
    ] {
        assert!(searched(provider, with) && !searched(provider, without), "{provider}");
    }
    let cited = "data: {\"choices\":[{\"delta\":{\"annotations\":[{\"url_citation\":{\"url\":\"https://example.com\"}}]},\"finish_reason\":\"stop\"}]}\n\n";
    assert!(searched("openrouter", cited));
    let none = r#"{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"server_tool_use":{"web_search_requests":0}}}"#;
    assert!(
        !decode(Wire::Anthropic, "x", format!("data: {none}\n\n").as_bytes())
            .0
            .contains(&TurnEvent::Searched)
    );
}
