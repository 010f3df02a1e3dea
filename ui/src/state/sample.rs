//! States and events for this crate's tests.

use protocol::Event;
use protocol::event::{Activity, EventBody, Position, RunEnd, Scope, Status};
use protocol::ids::{ApprovalId, CallId, RunId, Seq, SessionId, StreamId, Timestamp};
use protocol::settings::Settings;
use protocol::tool::{Approval, ApprovalMode, Grant, Mode, Risk, ToolCall};
use protocol::view::{DesktopView, EventPage, Overview, Platform, Question, RunStatus, RunView, SessionView};

use super::{Follows, State};

pub fn session_id(id: &str) -> SessionId {
    SessionId(format!("s-{id}"))
}

pub fn run_id(id: &str) -> RunId {
    RunId(format!("r-{id}"))
}

/// With no run yet.
pub fn session(id: &str) -> SessionView {
    SessionView {
        id: session_id(id),
        title: id.into(),
        mode: Mode::Act,
        approval: ApprovalMode::Ask,
        search: false,
        created: Timestamp(0),
        updated: Timestamp(0),
        last_run: None,
        shelf: Default::default(),
        origin: None,
        space: None,
    }
}

pub fn with_run(id: &str, end: Option<RunEnd>) -> SessionView {
    let last_run = Some(RunView { id: run_id(id), goal: "a goal".into(), end, tried: None });
    SessionView { last_run, ..session(id) }
}

pub fn run(id: &str, activity: Activity) -> RunStatus {
    let status = Status { activity, step: 1, max_steps: 30, ..Status::default() };
    RunStatus { session: session_id(id), run: run_id(id), goal: "a goal".into(), status, parent: None }
}

/// Runs at work in sessions `at_work`, none in sessions `at_rest`.
pub fn overview(at_work: &[&str], at_rest: &[&str]) -> Overview {
    let busy = at_work.iter().map(|id| with_run(id, None));
    Overview {
        seq: Seq(10),
        settings: Settings::default(),
        sessions: busy.chain(at_rest.iter().map(|id| session(id))).collect(),
        questions: Vec::new(),
        runs: at_work.iter().map(|id| run(id, Activity::Working)).collect(),
        desktop: DesktopView::default(),
        version: "0.1.0".into(),
        platform: Platform::Linux,
    }
}

/// A dashboard with `id` opened, and with this as its history.
pub fn opened(overview: Overview, id: &str, history: Vec<EventBody>) -> State {
    let (mut state, _) = State::new(overview, Follows::TheUser);
    let _ = state.open(session_id(id));
    assert_eq!(state.take_page(&stream(id), page(id, history)), None);
    state
}

pub fn stream(id: &str) -> StreamId {
    StreamId::of_session(&session_id(id))
}

/// A whole stream, its events numbered from 1.
pub fn page(id: &str, bodies: Vec<EventBody>) -> EventPage {
    let last = bodies.len() as u64;
    EventPage { events: bodies.into_iter().zip(1..).map(|(body, n)| event(id, n, body)).collect(), last }
}

/// Durable ones are number `n` of their stream, and the tenth after that of the journal.
pub fn event(id: &str, n: u64, body: EventBody) -> Event {
    let position = body.is_durable().then_some(Position { seq: Seq(n + 10), n });
    let scope = Scope { session: Some(session_id(id)), run: Some(run_id(id)), agent: None };
    Event { position, stream: stream(id), time: Timestamp(0), scope, body }
}

pub fn said(text: &str) -> EventBody {
    EventBody::RunSteered { text: text.into() }
}

pub fn question(id: &str) -> Question {
    let arguments = serde_json::json!({"x": 10, "y": 20});
    let approval = Approval {
        asks: Default::default(),
        id: ApprovalId(format!("q-{id}")),
        call: ToolCall { id: CallId("c-1".into()), tool: "click".into(), arguments },
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
        touches: vec![Grant { tool: "click".into(), app: Some("editor".into()) }],
        read: Vec::new(),
        about: Box::default(),
    };
    Question { session: session_id(id), run: run_id(id), approval }
}
