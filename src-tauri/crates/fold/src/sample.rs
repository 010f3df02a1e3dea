//! Events for this crate's tests.

use protocol::event::{DeltaKind, Event, EventBody, Position, Scope};
use protocol::ids::{ApprovalId, CallId, ModelId, RunId, Seq, SessionId, Timestamp};
use protocol::run::RunSpec;
use protocol::tool::{Approval, ApprovalMode, Effect, ExecResult, Millis, Mode, Risk, ToolCall};
use protocol::turn::{Cost, StopReason, Usage, Usd};
use serde_json::{Value, json};

pub const USAGE: Usage = Usage { input: 1_000, cached: 0, output: 20, thinking: 3, cache_write: 0 };

pub fn of_run(session: &str, run: &str) -> Scope {
    Scope { session: Some(SessionId(session.into())), run: Some(RunId(run.into())), agent: None }
}

/// Durable events get `n` as their number in the journal and in their stream, passing ones none.
pub fn event_of(scope: Scope, n: u64, body: EventBody) -> Event {
    let position = body.is_durable().then_some(Position { seq: Seq(n), n });
    let time = Timestamp(i64::try_from(n).unwrap() * 1_000);
    Event { position, stream: scope.stream(), time, scope, body }
}

/// Of run `r-1` in session `s-1`.
pub fn event(n: u64, body: EventBody) -> Event {
    event_of(of_run("s-1", "r-1"), n, body)
}

/// Of run `r-1` in session `s-1`, numbered from 1.
pub fn events(bodies: impl IntoIterator<Item = EventBody>) -> Vec<Event> {
    let mut n = 0;
    let number = |body: EventBody| {
        n += u64::from(body.is_durable());
        event(n, body)
    };
    bodies.into_iter().map(number).collect()
}

pub fn created() -> EventBody {
    let (mode, approval) = (Mode::Act, ApprovalMode::Ask);
    EventBody::SessionCreated { title: "Haiku".into(), mode, approval, search: false, origin: None }
}

pub fn started() -> EventBody {
    EventBody::RunStarted(Box::new(RunSpec {
        goal: "write a haiku".into(),
        model: ModelId("gemini/flash".into()),
        base_url: None,
        mode: Mode::Act,
        approval: ApprovalMode::Ask,
        max_steps: 30,
        most: protocol::budget::Most::default(),
        forecast: None,
        search: false,
        fence: None,
        unattended: protocol::command::Unattended::Wait,
        space: None,
        parent: None,
        recording: None,
        plan: false,
        user_goal: None,
        groups: None,
        conducts: false,
        carry_on: 0,
    }))
}

pub fn click(id: &str) -> ToolCall {
    ToolCall { id: CallId(id.into()), tool: "click".into(), arguments: json!({"x": 10, "y": 20}) }
}

pub fn turn(turn: u32, text: &str, calls: Vec<ToolCall>) -> EventBody {
    EventBody::TurnFinished {
        turn,
        text: text.into(),
        thinking: String::new(),
        calls,
        citations: Vec::new(),
        usage: USAGE,
        cost: Cost::Priced { usd: Usd(1_230_000_000) },
        stop: StopReason::ToolCalls,
        raw: None,
    }
}

pub fn tool_started(id: &str) -> EventBody {
    EventBody::ToolStarted { call: click(id), risk: Risk::Edit }
}

pub fn clicked() -> ExecResult {
    ExecResult {
        effect: Effect::Confirmed,
        summary: "clicked Save at 10,20".into(),
        data: Value::Null,
        error: None,
        picture: None,
        read: Vec::new(),
        changes: Vec::new(),
        output: Vec::new(),
        took: Millis(12),
    }
}

pub fn tool_finished(id: &str) -> EventBody {
    EventBody::ToolFinished { call: CallId(id.into()), result: clicked() }
}

pub fn question(id: &str) -> Approval {
    Approval {
        asks: Default::default(),
        id: ApprovalId(id.into()),
        call: click("c-1"),
        risk: Risk::Edit,
        reason: "it changes something".into(),
        digest: "d".into(),
        deadline: Timestamp(9_000),
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

pub fn said(text: &str) -> EventBody {
    EventBody::RunSteered { text: text.to_owned() }
}

pub fn delta(turn: u32, index: u32, text: &str) -> EventBody {
    EventBody::TurnDelta { turn, index, kind: DeltaKind::Text, text: text.into() }
}
