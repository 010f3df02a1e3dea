//! An event's body lies flat beside its place and scope: no field may have the name of another.

use serde_json::json;

use super::*;
use crate::budget::{BudgetOf, Measure};
use crate::tool::ToolCall;

fn event(body: EventBody) -> Event {
    let scope = Scope {
        session: Some(SessionId("s-1".into())),
        run: Some(RunId("r-1".into())),
        agent: Some(AgentId("a-1".into())),
    };
    let position = body.is_durable().then_some(Position { seq: Seq(7), n: 3 });
    Event { position, stream: scope.stream(), time: Timestamp(5), scope, body }
}

fn approval() -> Approval {
    Approval {
        asks: Default::default(),
        id: ApprovalId("q-1".into()),
        call: call(),
        risk: Risk::Edit,
        reason: "r".into(),
        digest: "d".into(),
        deadline: Timestamp(9),
        window: None,
        target: None,
        goes_to: Vec::new(),
        seen: None,
        picture: None,
        hosts: Vec::new(),
        touches: Vec::new(),
        read: Vec::new(),
        about: Box::default(),
    }
}

fn call() -> ToolCall {
    ToolCall { id: CallId("c-1".into()), tool: "click".into(), arguments: json!({"x": 1}) }
}

fn session() -> SessionView {
    SessionView {
        id: SessionId("s-1".into()),
        title: "t".into(),
        mode: Mode::Act,
        approval: ApprovalMode::Ask,
        search: false,
        created: Timestamp(1),
        updated: Timestamp(2),
        last_run: None,
        shelf: Default::default(),
        origin: None,
        space: None,
    }
}

#[test]
fn every_event_is_read_as_it_was_written() {
    let spec = json!({"goal": "g", "model": "gemini/x", "mode": "act", "approval": "ask", "maxSteps": 3});
    let question =
        Question { session: SessionId("s-1".into()), run: RunId("r-1".into()), approval: approval() };
    let bodies = [
        EventBody::SessionCreated {
            title: "t".into(),
            mode: Mode::Act,
            approval: ApprovalMode::Ask,
            search: true,
            origin: None,
        },
        EventBody::SessionEdited {
            title: Some("u".into()),
            mode: None,
            approval: None,
            search: None,
            pinned: None,
            archived: None,
            space: Some("~/a".into()),
        },
        EventBody::RunStarted(Box::new(serde_json::from_value(spec).unwrap())),
        EventBody::RunSteered { text: "t".into() },
        EventBody::RunPaused { reason: "r".into() },
        EventBody::RunResumed,
        EventBody::BudgetReached {
            reached: Reached::UsedUp,
            bound: Bound {
                of: BudgetOf::Plan,
                measure: Measure::Dollars,
                used: "0.04".into(),
                most: "0.05".into(),
                next: Some("0.02".into()),
            },
        },
        EventBody::TurnFailed {
            turn: 1,
            message: "m".into(),
            hint: None,
            retry: true,
            usage: Usage::default(),
            cost: None,
            suggestions: Vec::new(),
        },
        EventBody::TurnDropped { turn: 1, usage: Usage::default(), cost: Cost::Unknown, text: "t".into() },
        EventBody::ApprovalRequested { approval: approval() },
        EventBody::ApprovalAnswered {
            approval: ApprovalId("q-1".into()),
            answer: Answer::Deny,
            by: Surface::Chat,
        },
        EventBody::ToolStarted { call: call(), risk: Risk::Edit },
        EventBody::RunEnded { end: RunEnd::Interrupted { reason: None } },
        EventBody::SettingsChanged { settings: Box::default() },
        EventBody::Noted { level: Level::Info, message: "m".into(), hint: None },
        EventBody::TurnSoFar { turn: 1, next: 2, text: "t".into(), thinking: String::new() },
        EventBody::TurnDelta { turn: 1, index: 2, kind: DeltaKind::Text, text: "t".into() },
        EventBody::StatusChanged { status: Status::default() },
        EventBody::SessionChanged { session: Box::new(session()) },
        EventBody::QuestionsChanged { questions: vec![question] },
        EventBody::DesktopChanged { desktop: DesktopView::default() },
        EventBody::JournalFailed { message: "m".into(), hint: None },
    ];
    for body in bodies {
        let event = event(body);
        let text = serde_json::to_string(&event).unwrap();
        let read = serde_json::from_str::<Event>(&text);
        assert!(matches!(&read, Ok(read) if *read == event), "{text}: {read:?}");
    }
}

#[test]
fn suggestions_that_were_written_under_their_old_name_are_read() {
    let old = r#"{"type":"turnFailed","turn":1,"message":"m","hint":null,"retry":false,"instead":["xai/grok-4.7"]}"#;
    let read: EventBody = serde_json::from_str(old).unwrap();
    let EventBody::TurnFailed { suggestions, .. } = &read else { panic!("{read:?}") };
    assert_eq!(suggestions, &[ModelId("xai/grok-4.7".into())]);
    let now = serde_json::to_value(&read).unwrap();
    assert_eq!((&now["suggestions"], now.get("instead")), (&json!(["xai/grok-4.7"]), None));
}
