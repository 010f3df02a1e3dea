//! What counts as a circle, and what does not.

use protocol::ids::CallId;
use protocol::tool::{Millis, ToolError, ToolErrorKind};
use serde_json::json;

use super::*;

fn call(tool: &str, arguments: Value) -> ToolCall {
    ToolCall { id: CallId("c-1".into()), tool: tool.into(), arguments }
}

fn result(effect: Effect) -> ExecResult {
    ExecResult {
        effect,
        summary: String::new(),
        data: Value::Null,
        error: None,
        picture: None,
        read: Vec::new(),
        changes: Vec::new(),
        output: Vec::new(),
        took: Millis(1),
    }
}

const LOOKS: [&str; 3] = ["screenshot", "webRead", WAIT];

/// What is said after each call, in short.
fn said(calls: impl IntoIterator<Item = (ToolCall, ExecResult, Option<u64>)>) -> String {
    let mut loops = LoopDetector::default();
    let word = |advice| match advice {
        None => '.',
        Some(Advice::Tell(text)) if text.contains("paused") => 'r',
        Some(Advice::Tell(_)) => 'n',
        Some(Advice::Pause(_)) => 'P',
    };
    let turns = (1..).zip(calls);
    turns
        .map(|(turn, (call, result, sight))| {
            word(loops.note(turn, &call, LOOKS.contains(&call.tool.as_str()), &result, sight))
        })
        .collect()
}

// bar: C66
#[test]
fn the_same_call_with_the_same_outcome_is_told_twice_and_then_paused() {
    let click = |n: usize| {
        let reason = format!("try {n}");
        (call("click", json!({ "x": 1, "reason": reason })), result(Effect::NoChange), Some(n as u64))
    };
    assert_eq!(said((0..16).map(click)), "..n.r.P..n.r.P..");
    let refused = |_| {
        let error = Some(ToolError { kind: ToolErrorKind::Denied, message: "no".into() });
        (call("type", json!({})), ExecResult { error, ..result(Effect::Refused) }, None)
    };
    assert_eq!(said((0..7).map(refused)), "..n.r.P");
}

// bar: C66
#[test]
fn calls_that_come_in_turn_are_a_circle_too() {
    let in_turn = |length: usize| {
        move |n: usize| (call("click", json!({ "x": n % length })), result(Effect::NoChange), Some(n as u64))
    };
    assert_eq!(said((0..14).map(in_turn(2))), ".....nn..rr..P", "of A B and of B A");
    assert!(said((0..12).map(in_turn(3))).starts_with("........n"));
    assert_eq!(said((0..40).map(in_turn(4))), ".".repeat(40), "nobody can tell this from work");
}

#[test]
fn what_is_done_again_and_changes_something_is_no_circle() {
    let next = |n: usize| (call("click", json!({ "x": 1 })), result(Effect::Unverified), Some(n as u64));
    assert_eq!(said((0..20).map(next)), ".".repeat(20));
    let read = |n: usize| {
        let read = ExecResult { data: json!({ "text": n }), ..result(Effect::Confirmed) };
        (call("webRead", json!({})), read, None)
    };
    assert_eq!(said((0..20).map(read)), ".".repeat(20));
    let waits = |n: usize| {
        let tool = if n.is_multiple_of(2) { "wait" } else { "screenshot" };
        (call(tool, json!({})), result(Effect::Confirmed), (n % 2 == 1).then_some(7))
    };
    assert_eq!(said((0..40).map(waits)), ".".repeat(40));
}

#[test]
fn looks_alone_are_told_and_paused_late() {
    let look = |_| (call("screenshot", json!({})), result(Effect::Confirmed), Some(7));
    let said = said((0..60).map(look));
    assert!(said.starts_with("..n.r..") && said.find('P') == Some(19), "{said}");
}

#[test]
fn what_is_asked_for_at_once_is_no_circle() {
    let mut loops = LoopDetector::default();
    for _ in 0..50 {
        let said =
            loops.note(1, &call("click", json!({ "x": 1 })), false, &result(Effect::NoChange), Some(7));
        assert_eq!(said, None);
    }
}

// bar: C66
#[test]
fn acts_that_change_nothing_on_the_screen_are_told_whatever_they_are() {
    let about = |n: usize| (call("click", json!({ "x": n })), result(Effect::Unverified), Some(7));
    assert_eq!(said((0..13).map(about)), "......n..r..P");
}

// bar: C66
#[test]
fn a_command_that_tells_the_same_again_is_a_circle_and_one_that_tells_more_is_none() {
    let make = |output: usize| {
        let data = json!({ "exit": 2, "output": output });
        (
            call("runCommand", json!({ "command": "make" })),
            ExecResult { data, ..result(Effect::Unverified) },
            None,
        )
    };
    assert_eq!(said((0..7).map(|_| make(1))), "..n.r.P");
    assert_eq!(said((0..20).map(make)), ".".repeat(20));
    let in_turn = |n: usize| {
        let tool = if n.is_multiple_of(2) { "readFile" } else { "writeFile" };
        (call(tool, json!({ "path": "a.txt" })), result(Effect::Confirmed), None)
    };
    assert_eq!(said((0..14).map(in_turn)), ".....nn..rr..P");
}

#[test]
fn who_waits_for_agents_goes_in_no_circle_and_what_is_done_between_may() {
    let waits = |_| (call("waitFor", json!({})), result(Effect::Confirmed), None);
    assert_eq!(said((0..100).map(waits)), ".".repeat(100));
    let click = |_| (call("click", json!({ "x": 1 })), result(Effect::NoChange), None);
    assert_eq!(said((0..7).flat_map(|n| [waits(n), click(n)])), ".....n...r...P");
}
