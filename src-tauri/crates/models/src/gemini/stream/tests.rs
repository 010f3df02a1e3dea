//! Ends, repetitions and counts that the recorded streams do not have.

use serde_json::json;

use super::*;
use crate::decode::decode;
use crate::{Turn, Wire};

/// What is said and how it ends; calls in pieces and counts on the way are the snapshots' affair.
fn read(stream: &str) -> Result<Vec<TurnEvent>, ModelError> {
    let (events, end) = decode(Wire::Gemini, "gemini", stream.as_bytes());
    let said = |event: &TurnEvent| matches!(event, TurnEvent::Text(_) | TurnEvent::Thinking(_));
    let mut events: Vec<TurnEvent> = events.into_iter().filter(said).collect();
    events.push(end?);
    Ok(events)
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
        assert_eq!((got.text.as_str(), got.calls, got.raw), ("Par", vec![], Value::Null), "{finish}");
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
fn a_response_that_comes_twice_is_not_done_twice() {
    let call = json!({"functionCall": {"id": "f1", "name": "click", "args": {}}, "thoughtSignature": "Sg=="});
    let response = json!({"candidates": [{"content": {"parts": [call]}, "finishReason": "STOP"}]});
    match read(&format!("data: {response}\n\ndata: {response}\n\n")).unwrap().pop() {
        Some(TurnEvent::Finished { turn, .. }) => assert_eq!(turn.calls.len(), 1),
        other => panic!("{other:?}"),
    }
}

#[test]
fn odd_parts_are_passed_over() {
    let parts = json!([null, 3, {}, {"functionCall": 3}, {"functionCall": {}}, {"text": 3}]);
    let response = json!({"candidates": [{"content": {"parts": parts}, "finishReason": "STOP"}]});
    assert!(read(&format!("data: {response}\n")).is_ok());
}

#[test]
fn counts_that_are_not_there_leave_the_last_ones_and_odd_ones_are_none() {
    let counted = |counts: &[Value]| {
        let events = counts.iter().map(|counts| json!({"candidates": [], "usageMetadata": counts}));
        let last = json!({"candidates": [{"content": {"parts": [{"text": "a"}]}, "finishReason": "STOP"}]});
        let stream: String = events.chain([last]).map(|event| format!("data: {event}\n\n")).collect();
        match read(&stream).unwrap().pop() {
            Some(TurnEvent::Finished { usage, .. }) => usage,
            other => panic!("{other:?}"),
        }
    };
    let nine = Usage { input: 9, ..Usage::default() };
    for odd in [json!(null), json!(3), json!("x")] {
        assert_eq!(counted(&[json!({"promptTokenCount": 9}), odd.clone()]), nine, "{odd}");
    }
    let odd = json!({"promptTokenCount": 9, "candidatesTokenCount": null, "thoughtsTokenCount": "x"});
    assert_eq!(counted(&[odd]), nine);
}
