//! The recorded streams, read to reviewed values; each cut at every byte.

use serde_json::json;

use super::*;
use crate::decode::decode;
use crate::{Turn, Wire};

macro_rules! fixture {
    ($name:literal) => {
        include_str!(concat!("../../../../../../tests/fixtures/gemini/", $name))
    };
}

/// What is said and how it ends; calls in pieces and counts on the way are the snapshots' affair.
fn read(stream: &str) -> Result<Vec<TurnEvent>, ModelError> {
    let (events, end) = decode(Wire::Gemini, "gemini", stream.as_bytes());
    let said = |event: &TurnEvent| matches!(event, TurnEvent::Text(_) | TurnEvent::Thinking(_));
    let mut events: Vec<TurnEvent> = events.into_iter().filter(said).collect();
    events.push(end?);
    Ok(events)
}

fn call(id: &str, name: &str, arguments: Value) -> ProposedCall {
    ProposedCall::new(Some(id.into()), name, arguments)
}

fn turn(text: &str, calls: Vec<ProposedCall>, parts: &Value) -> Turn {
    Turn {
        text: text.into(),
        calls,
        provider: "gemini".into(),
        raw: match parts.as_array().is_some_and(Vec::is_empty) {
            true => Value::Null,
            false => json!({"parts": parts, "role": "model"}).to_string().into(),
        },
    }
}

#[test]
fn a_text_comes_in_pieces_and_keeps_its_signature() {
    let parts = json!([
        {"text": "Hello"},
        {"text": ", wörld 👋"},
        {"text": "", "thoughtSignature": "EvYBCvMB0e2KbAAA"},
    ]);
    let expected = [
        TurnEvent::Text("Hello".into()),
        TurnEvent::Text(", wörld 👋".into()),
        TurnEvent::Finished {
            turn: turn("Hello, wörld 👋", vec![], &parts),
            usage: Usage { input: 12, cached: 0, output: 5, thinking: 40, cache_write: 0 },
            stop: StopReason::End,
        },
    ];
    assert_eq!(read(fixture!("stream_text.sse")).unwrap(), expected);
}

#[test]
fn a_thought_and_a_call_come_apart_and_go_back_together() {
    let thought = "**Locating the button**\n\nI see it.";
    let arguments = json!({"x": 500, "y": 42});
    let parts = json!([
        {"text": thought, "thought": true},
        {
            "functionCall": {"id": "a1b2c3d4", "name": "click", "args": arguments},
            "thoughtSignature": "CiQB0e2KbzJ3mSigAbCd",
        },
    ]);
    let expected = [
        TurnEvent::Thinking(thought.into()),
        TurnEvent::Finished {
            turn: turn("", vec![call("a1b2c3d4", "click", arguments)], &parts),
            usage: Usage { input: 1_500, cached: 1_024, output: 22, thinking: 64, cache_write: 0 },
            stop: StopReason::ToolCalls,
        },
    ];
    assert_eq!(read(fixture!("stream_thought_then_function_call.sse")).unwrap(), expected);
}

#[test]
fn parallel_calls_keep_their_order_and_the_one_signature() {
    let events = read(fixture!("stream_parallel_function_calls.sse")).unwrap();
    let parts = json!([
        {"functionCall": {"id": "f1", "name": "click", "args": {"x": 1, "y": 2}}, "thoughtSignature": "U2lnT25GaXJzdE9ubHk="},
        {"functionCall": {"id": "f2", "name": "screenshot", "args": {}}},
    ]);
    let calls = vec![call("f1", "click", json!({"x": 1, "y": 2})), call("f2", "screenshot", json!({}))];
    let usage = Usage { input: 1_500, cached: 0, output: 30, thinking: 50, cache_write: 0 };
    let expected = TurnEvent::Finished { turn: turn("", calls, &parts), usage, stop: StopReason::ToolCalls };
    assert_eq!(events, [expected]);
}

// bar: C65
#[test]
fn a_blocked_prompt_is_a_turn_without_content() {
    let usage = Usage { input: 9, ..Usage::default() };
    let stop = StopReason::Blocked { reason: "PROHIBITED_CONTENT".into() };
    let expected = TurnEvent::Finished { turn: turn("", vec![], &json!([])), usage, stop };
    assert_eq!(read(fixture!("stream_prompt_blocked.sse")).unwrap(), [expected]);
}

fn finished(finish: &str) -> Result<(Turn, StopReason), ModelError> {
    let call = json!({"functionCall": {"name": "click", "args": {}}});
    let parts = json!([{"text": "Par"}, call]);
    let response =
        json!({"candidates": [{"content": {"parts": parts, "role": "model"}, "finishReason": finish}]});
    match read(&format!("data: {response}\n\n"))?.pop() {
        Some(TurnEvent::Finished { turn, stop, .. }) => Ok((turn, stop)),
        other => panic!("{other:?}"),
    }
}

// bar: C65
#[test]
fn a_turn_that_did_not_end_well_has_no_calls_to_run_or_to_answer() {
    let blocked = |reason: &str| StopReason::Blocked { reason: reason.into() };
    for (finish, expected) in [
        ("MAX_TOKENS", StopReason::MaxTokens),
        ("SAFETY", blocked("SAFETY")),
        ("SOMETHING_NEW", blocked("SOMETHING_NEW")),
    ] {
        let (got, stop) = finished(finish).unwrap();
        assert_eq!(stop, expected);
        assert_eq!(got, turn("Par", vec![], &json!([])), "{finish}");
    }
    assert_eq!(finished("STOP").unwrap().0.calls.len(), 1);
}

#[test]
fn a_malformed_call_is_an_error_that_may_be_tried_again() {
    for finish in ["MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL", "TOO_MANY_TOOL_CALLS"] {
        let error = finished(finish).unwrap_err();
        assert_eq!(
            (error.kind, error.retry()),
            (ModelErrorKind::Protocol, crate::Retry::After(None)),
            "{finish}"
        );
    }
    assert_eq!(finished("MISSING_THOUGHT_SIGNATURE").unwrap_err().retry(), crate::Retry::Never);
    assert_eq!(finished("FINISH_REASON_UNSPECIFIED").unwrap_err(), ModelError::cut());
}

#[test]
fn the_length_ran_out_in_the_middle_of_a_text() {
    let events = read(fixture!("stream_max_tokens.sse")).unwrap();
    let usage = Usage { input: 10, cached: 0, output: 3, thinking: 60, cache_write: 0 };
    let turn = turn("Par", vec![], &json!([]));
    let end = TurnEvent::Finished { turn, usage, stop: StopReason::MaxTokens };
    assert_eq!(events, [TurnEvent::Text("Par".into()), end]);
}

// bar: C61
#[test]
fn an_error_in_the_middle_of_a_stream_is_that_error() {
    let stream = format!(
        "data: {}\n\ndata: {}\n\n",
        json!({"candidates": [{"content": {"parts": [{"text": "a"}]}}]}),
        json!({"error": {"code": 503, "message": "overloaded", "status": "UNAVAILABLE"}})
    );
    assert_eq!(read(&stream).unwrap_err().kind, ModelErrorKind::Overloaded);
}

#[test]
fn odd_shapes_are_passed_over_or_refused_but_never_a_panic() {
    for data in ["", "[]", "null", "3", "{}", r#"{"candidates":{}}"#, r#"{"candidates":[null]}"#, "{\"a\":"] {
        assert!(read(&format!("data: {data}\n\n")).is_err(), "{data}");
    }
    let parts = json!([null, 3, {}, {"functionCall": 3}, {"functionCall": {}}, {"text": 3}]);
    let response = json!({"candidates": [{"content": {"parts": parts}, "finishReason": "STOP"}]});
    assert!(read(&format!("data: {response}\n")).is_ok());
}

#[test]
fn a_response_that_comes_twice_is_not_done_twice() {
    let call = json!({"functionCall": {"id": "f1", "name": "click", "args": {}}, "thoughtSignature": "Sg=="});
    let response = json!({"candidates": [{"content": {"parts": [call]}, "finishReason": "STOP"}]});
    match read(&format!("data: {response}\n\ndata: {response}\n\n")).unwrap().pop() {
        Some(TurnEvent::Finished { turn, .. }) => assert_eq!(turn.calls.len(), 1),
        other => panic!("{other:?}"),
    }
}

#[test]
fn counts_that_are_not_there_or_no_counts_leave_the_last_ones() {
    let first = json!({"candidates": [{"content": {"parts": [{"text": "a"}]}}], "usageMetadata": {"promptTokenCount": 9}});
    for odd in [json!(null), json!(3), json!("x")] {
        // Read the short way, and the long way.
        for more in [json!([{"text": "b"}]), json!([{"text": "b"}, {"text": "c"}])] {
            let second = json!({"candidates": [{"content": {"parts": more}}], "usageMetadata": odd});
            let last = json!({"candidates": [{"finishReason": "STOP"}]});
            let stream = [&first, &second, &last].map(|event| format!("data: {event}\n\n")).concat();
            match read(&stream).unwrap().pop() {
                Some(TurnEvent::Finished { usage, .. }) => assert_eq!(usage.input, 9, "{odd} with {more}"),
                other => panic!("{other:?}"),
            }
        }
    }
    let odd = json!({"promptTokenCount": 9, "candidatesTokenCount": null, "thoughtsTokenCount": "x"});
    for parts in [json!([{"text": "b"}]), json!([{"text": "b"}, {"text": "c"}])] {
        let one = json!({"candidates": [{"content": {"parts": parts}}], "usageMetadata": odd});
        let last = json!({"candidates": [{"finishReason": "STOP"}]});
        match read(&format!("data: {one}\n\ndata: {last}\n\n")).unwrap().pop() {
            Some(TurnEvent::Finished { usage, .. }) => {
                assert_eq!(usage, Usage { input: 9, ..Usage::default() });
            }
            other => panic!("{other:?}"),
        }
    }
}
