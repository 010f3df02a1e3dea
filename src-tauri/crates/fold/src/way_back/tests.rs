//! What a run's way back says.

use protocol::tool::Risk;

use super::*;
use crate::sample::{clicked, events, started};
use crate::transcript::Transcript;
use protocol::EventBody;
use protocol::agent::{AgentsChange, AgentsEnds, AgentsSummary};
use protocol::event::RunEnd;
use protocol::ids::CallId;
use protocol::tool::{Change, ExecResult, ToolCall};
use serde_json::{Value, json};

fn begun(id: &str, tool: &str, arguments: Value, risk: Risk) -> EventBody {
    let call = ToolCall { id: CallId(id.into()), tool: tool.into(), arguments };
    EventBody::ToolStarted { call, risk }
}

fn ended(id: &str, of: &[(Changed, &str)]) -> EventBody {
    let change = |(of, name): &(Changed, &str)| Change {
        of: *of,
        name: (*name).into(),
        diff: None,
        data: Value::Null,
    };
    let result = ExecResult { changes: of.iter().map(change).collect(), ..clicked() };
    EventBody::ToolFinished { call: CallId(id.into()), result }
}

fn way_back(transcript: &Transcript) -> WayBack {
    let mut ends = transcript.entries().iter().rev().filter_map(|entry| match &entry.body {
        EntryBody::End { way_back, .. } => Some((**way_back).clone()),
        _ => None,
    });
    ends.next().unwrap()
}

#[test]
fn a_run_says_what_of_it_can_be_taken_back_and_what_stays() {
    let actions = json!([
        {"tool": "setValue", "arguments": {"name": "Size", "value": "3"}},
        {"tool": "press", "arguments": {"key": "Enter"}},
    ]);
    let mut all = vec![
        started(),
        begun("c-1", "readFile", json!({"path": "a.txt"}), Risk::Observe),
        ended("c-1", &[]),
        begun("c-2", "writeFile", json!({"path": "a.txt"}), Risk::Edit),
        ended("c-2", &[(Changed::File, "a.txt")]),
        begun("c-3", "runCommand", json!({"command": "make"}), Risk::Edit),
        ended("c-3", &[]),
        begun("c-4", "batch", json!({ "actions": actions }), Risk::Edit),
        ended("c-4", &[(Changed::Value, "Size")]),
        begun("c-7", "editFile", json!({"path": "a.txt"}), Risk::Edit),
        ended("c-7", &[(Changed::File, "a.txt")]),
        begun("c-5", "done", json!({}), Risk::Observe),
        ended("c-5", &[]),
        EventBody::RunEnded { end: RunEnd::Completed { summary: "done".into() } },
    ];
    let said = way_back(&Transcript::of(&events(all.clone())));
    assert_eq!(said.run, Some(RunId("r-1".into())));
    assert_eq!(said.back, [(Changed::File, "a.txt".to_owned()), (Changed::Value, "Size".to_owned())]);
    assert_eq!(said.stays[0], "runCommand make");
    assert!(said.stays[1].starts_with("batch") && said.stays.len() == 2, "{said:?}");
    // One step is taken back: the rest is still there to be.
    all.push(begun("c-6", "undo", json!({"calls": ["c-2", "c-7"]}), Risk::Edit));
    let result = ExecResult { data: json!({"undone": ["c-2", "c-7"]}), ..clicked() };
    all.push(EventBody::ToolFinished { call: CallId("c-6".into()), result });
    let transcript = Transcript::of(&events(all));
    assert_eq!(way_back(&transcript).back, [(Changed::Value, "Size".to_owned())]);
    let end = transcript.entries().iter().find(|entry| matches!(entry.body, EntryBody::End { .. }));
    assert_eq!(end.unwrap().revision, 2, "it is drawn anew");
}

#[test]
fn a_value_of_a_batch_that_was_not_kept_stays() {
    let value = json!({"name": "Size", "value": "3"});
    let actions = json!([
        {"tool": "writeFile", "arguments": {"path": "a.txt"}},
        {"tool": "setValue", "arguments": value},
    ]);
    let stays = |kept: &[(Changed, &str)]| {
        let all = vec![
            started(),
            begun("c-1", "batch", json!({ "actions": actions }), Risk::Edit),
            ended("c-1", kept),
            EventBody::RunEnded { end: RunEnd::Completed { summary: "done".into() } },
        ];
        way_back(&Transcript::of(&events(all))).stays.len()
    };
    assert_eq!(stays(&[(Changed::File, "a.txt")]), 1);
    assert_eq!(stays(&[(Changed::File, "a.txt"), (Changed::Value, "Size")]), 0);
}

#[test]
fn nothing_is_said_of_a_run_whose_beginning_is_not_known() {
    let all = vec![
        begun("c-2", "writeFile", json!({"path": "a.txt"}), Risk::Edit),
        ended("c-2", &[(Changed::File, "a.txt")]),
        EventBody::RunEnded { end: RunEnd::Completed { summary: "done".into() } },
    ];
    assert_eq!(way_back(&Transcript::of(&events(all))), WayBack::default());
}

#[test]
fn what_its_agents_changed_goes_back_with_it_and_is_not_named_once_it_has() {
    let change = AgentsChange { call: CallId("a-1".into()), of: Changed::File, name: "b.txt".into() };
    let mut all = vec![
        started(),
        begun("c-1", "writeFile", json!({"path": "a.txt"}), Risk::Edit),
        ended("c-1", &[(Changed::File, "a.txt")]),
        EventBody::AgentsUsed(Box::new(AgentsSummary {
            ends: AgentsEnds { completed: 1, ..AgentsEnds::default() },
            changes: vec![change],
            stays: vec!["clicked a button".into()],
            ..AgentsSummary::default()
        })),
        EventBody::RunEnded { end: RunEnd::Completed { summary: "done".into() } },
    ];
    let said = way_back(&Transcript::of(&events(all.clone())));
    let file = |name: &str| (Changed::File, name.to_owned());
    assert_eq!(said.back, [file("a.txt"), file("b.txt")]);
    assert_eq!(said.stays, ["clicked a button"]);
    let undo = ToolCall { id: CallId("u-1".into()), tool: "undo".into(), arguments: json!({}) };
    all.push(EventBody::ToolStarted { call: undo, risk: Risk::Edit });
    let result = ExecResult { data: json!({ "undone": ["a-1"] }), changes: Vec::new(), ..clicked() };
    all.push(EventBody::ToolFinished { call: CallId("u-1".into()), result });
    assert_eq!(way_back(&Transcript::of(&events(all))).back, [file("a.txt")]);
}

#[test]
fn a_run_whose_agents_did_nothing_of_what_they_tried_came_to_nothing() {
    let acts = |done, not_done, unanswered| {
        let agents = AgentsSummary {
            ends: AgentsEnds { failed: unanswered, unanswered, came_to_nothing: 1, ..AgentsEnds::default() },
            done,
            not_done,
            ..AgentsSummary::default()
        };
        let all = vec![
            started(),
            EventBody::AgentsUsed(Box::new(agents)),
            EventBody::RunEnded { end: RunEnd::Completed { summary: "done".into() } },
        ];
        let transcript = Transcript::of(&events(all));
        let end = transcript.entries().last().map(|entry| entry.body.clone());
        let Some(EntryBody::End { acts, .. }) = end else { panic!("{end:?}") };
        acts.came_to_nothing()
    };
    assert!(acts(0, 2, 0));
    assert!(!acts(1, 2, 0));
    assert!(acts(0, 0, 1), "one needed a yes, and nobody could be asked");
    assert!(!acts(0, 0, 0) && !acts(1, 0, 1));
}
