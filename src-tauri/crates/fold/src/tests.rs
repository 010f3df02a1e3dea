//! Each fold step by step. That the journal keeps the same is tested there.

use protocol::agent::{AgentsEnds, AgentsSummary};
use protocol::event::{Event, EventBody, Level, Position, RunEnd, Scope};
use protocol::ids::{ApprovalId, CallId, ModelId, RunId, Seq, SessionId, Timestamp};
use protocol::principal::Surface;
use protocol::run::RunSpec;
use protocol::tool::{
    Answer, Approval, ApprovalMode, Effect, ExecResult, Grant, Millis, Mode, Risk, Source, ToolCall, Until,
};
use protocol::view::{RunView, SessionView};
use serde_json::json;

use crate::{OpenRun, changed_for_a_list, run, session};

fn scope() -> Scope {
    Scope { session: Some(SessionId::from_suffix("1")), run: Some(RunId::from_suffix("1")), agent: None }
}

/// The event with this number, at a time of its own.
fn event(number: u64, body: EventBody) -> Event {
    let time = Timestamp(i64::try_from(number).unwrap() * 10);
    let position = Some(Position { seq: Seq(number), n: number });
    Event { position, stream: scope().stream(), time, scope: scope(), body }
}

fn spec() -> RunSpec {
    let spec = json!({"goal": "g", "model": "gemini/x", "mode": "act", "approval": "ask", "maxSteps": 3});
    RunSpec { model: ModelId("gemini/y".into()), ..serde_json::from_value(spec).unwrap() }
}

fn started() -> EventBody {
    EventBody::RunStarted(Box::new(spec()))
}

fn ended() -> EventBody {
    EventBody::RunEnded { end: RunEnd::Interrupted { reason: None } }
}

fn created() -> EventBody {
    EventBody::SessionCreated {
        title: "t".into(),
        mode: Mode::Act,
        approval: ApprovalMode::Ask,
        search: false,
        origin: None,
    }
}

fn noted() -> EventBody {
    EventBody::Noted { level: Level::Info, message: "n".into(), hint: None }
}

fn fold_session(bodies: impl IntoIterator<Item = EventBody>) -> Option<SessionView> {
    let id = SessionId::from_suffix("1");
    (1..).zip(bodies).fold(None, |view, (number, body)| session(view, &id, &event(number, body)))
}

#[test]
fn a_session_is_what_was_set_last_with_its_last_run() {
    let edited = EventBody::SessionEdited {
        title: Some("u".into()),
        mode: None,
        approval: None,
        search: Some(true),
        pinned: None,
        archived: None,
        space: Some("~/Haiku".into()),
    };
    let expected = SessionView {
        id: SessionId::from_suffix("1"),
        title: "u".into(),
        mode: Mode::Act,
        approval: ApprovalMode::Ask,
        search: true,
        created: Timestamp(10),
        updated: Timestamp(40),
        last_run: Some(RunView {
            id: RunId::from_suffix("1"),
            goal: "g".into(),
            end: Some(RunEnd::Interrupted { reason: None }),
            tried: Some(Box::default()),
        }),
        shelf: Default::default(),
        origin: None,
        space: Some("~/Haiku".into()),
    };
    assert_eq!(fold_session([created(), edited, started(), ended()]), Some(expected));
}

#[test]
fn events_of_a_session_that_was_never_created_make_none() {
    assert_eq!(fold_session([noted(), started()]), None);
}

#[test]
fn a_list_shows_a_session_otherwise_for_anything_but_a_later_event() {
    let before = fold_session([created()]).unwrap();
    assert!(changed_for_a_list(None, &before));
    assert!(!changed_for_a_list(Some(&before), &before));
    let later = fold_session([created(), noted()]).unwrap();
    assert_ne!(later, before);
    assert!(!changed_for_a_list(Some(&before), &later));
    let at_work = fold_session([created(), started()]).unwrap();
    assert!(changed_for_a_list(Some(&before), &at_work));
    let done = fold_session([created(), started(), ended()]).unwrap();
    assert!(changed_for_a_list(Some(&at_work), &done));
}

fn fold_run(bodies: impl IntoIterator<Item = EventBody>) -> Option<OpenRun> {
    (1..).zip(bodies).fold(None, |before, (number, body)| run(before, &event(number, body)))
}

fn call(id: &str) -> ToolCall {
    ToolCall { id: CallId::from_suffix(id), tool: "click".into(), arguments: json!({}) }
}

fn approval() -> Approval {
    Approval {
        asks: Default::default(),
        id: ApprovalId::from_suffix("1"),
        call: call("2"),
        risk: Risk::Edit,
        reason: "r".into(),
        digest: "d".into(),
        deadline: Timestamp(1),
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

#[test]
fn an_open_run_has_what_began_and_did_not_end() {
    let begun = |id| EventBody::ToolStarted { call: call(id), risk: Risk::Edit };
    let done = EventBody::ToolFinished {
        call: CallId::from_suffix("1"),
        result: ExecResult {
            effect: Effect::Confirmed,
            summary: "s".into(),
            data: json!(null),
            error: None,
            picture: None,
            read: vec![Source::Screen],
            changes: Vec::new(),
            output: Vec::new(),
            took: Millis(1),
        },
    };
    let asked = EventBody::ApprovalRequested { approval: approval() };
    let answer = |id| EventBody::ApprovalAnswered { approval: id, answer: Answer::Once, by: Surface::Chat };
    let mut expected = OpenRun {
        scope: scope(),
        spec: spec(),
        started: Timestamp(20),
        turn: 2,
        in_doubt: vec![call("2")],
        approval: Some(approval()),
        paused: None,
        plan: crate::PlanState::default(),
        budget: crate::Budget::default(),
        read: vec![Source::Screen],
        granted: Vec::new(),
    };
    let mut bodies = vec![noted(), started(), begun("1"), begun("2"), done, asked];
    bodies.push(crate::sample::turn(2, "", Vec::new()));
    bodies.push(answer(ApprovalId::from_suffix("another")));
    let with_its_budget = |expected: &OpenRun, bodies: &[EventBody]| {
        // What it took is looked at in tests of its own.
        Some(OpenRun { budget: fold_run(bodies.to_vec())?.budget, ..expected.clone() })
    };
    assert_eq!(fold_run(bodies.clone()), with_its_budget(&expected, &bodies));

    bodies.push(answer(ApprovalId::from_suffix("1")));
    expected.approval = None;
    assert_eq!(fold_run(bodies.clone()), with_its_budget(&expected, &bodies));

    bodies.push(ended());
    assert_eq!(fold_run(bodies), None);
}

#[test]
fn what_an_open_run_may_is_over_once_it_is_taken_back() {
    let touches = vec![Grant { tool: "click".into(), app: Some("editor".into()) }];
    let asked = Approval { touches: touches.clone(), ..approval() };
    let answer = Answer::Until { until: Until::Run };
    let answered = EventBody::ApprovalAnswered { approval: asked.id.clone(), answer, by: Surface::Chat };
    let mut bodies = vec![started(), EventBody::ApprovalRequested { approval: asked }, answered];
    assert_eq!(fold_run(bodies.clone()).unwrap().granted, [(touches[0].clone(), Until::Run)]);
    bodies.push(EventBody::GrantTakenBack { grant: touches[0].clone() });
    assert_eq!(fold_run(bodies).unwrap().granted, []);
}

#[test]
fn an_open_run_is_paused_until_it_goes_on() {
    let paused = |reason: &str| EventBody::RunPaused { reason: reason.into() };
    let reason = |bodies: Vec<EventBody>| fold_run(bodies).unwrap().paused;
    assert_eq!(reason(vec![started(), paused("p")]), Some("p".into()));
    assert_eq!(reason(vec![started(), paused("p"), EventBody::RunResumed]), None);
    assert_eq!(reason(vec![started(), paused("p"), started()]), None);
}

#[test]
fn what_comes_before_its_start_makes_no_run() {
    assert_eq!(fold_run([noted(), EventBody::RunResumed]), None);
}

#[test]
fn a_list_knows_that_a_run_came_to_nothing() {
    let call =
        |tool: &str| ToolCall { id: CallId(format!("c-{tool}")), tool: tool.into(), arguments: json!({}) };
    let finished = |tool: &str, effect: Effect| EventBody::ToolFinished {
        call: call(tool).id,
        result: ExecResult { effect, ..crate::sample::clicked() },
    };
    let begun = |tool: &str, risk: Risk| EventBody::ToolStarted { call: call(tool), risk };
    let came_to_nothing = |bodies: Vec<EventBody>| {
        let all = [vec![created(), started()], bodies, vec![ended()]].concat();
        fold_session(all).unwrap().last_run.unwrap().tried.unwrap().came_to_nothing()
    };
    let refused = vec![begun("click", Risk::Edit), finished("click", Effect::Refused)];
    let done = vec![begun("type", Risk::Edit), finished("type", Effect::Confirmed)];
    let looked = vec![begun("screenshot", Risk::Observe), finished("screenshot", Effect::Confirmed)];
    assert!(came_to_nothing(refused.clone()));
    assert!(came_to_nothing([looked.clone(), refused.clone()].concat()), "to look is to do nothing");
    assert!(!came_to_nothing([refused, done].concat()));
    assert!(!came_to_nothing(looked), "nothing was tried");
    let asked = Approval { call: call("click"), ..approval() };
    let denied = vec![EventBody::ApprovalRequested { approval: asked }, finished("click", Effect::Refused)];
    assert!(came_to_nothing(denied));
    let ends = AgentsEnds { failed: 1, unanswered: 1, ..AgentsEnds::default() };
    let unanswered = AgentsSummary { ends, ..AgentsSummary::default() };
    assert!(came_to_nothing(vec![EventBody::AgentsUsed(Box::new(unanswered))]));
}

#[test]
fn a_list_is_told_of_what_was_tried_at_the_end_alone() {
    let id = SessionId::from_suffix("1");
    let before = fold_session([created(), started()]).unwrap();
    let call = ToolCall { id: CallId("c".into()), tool: "click".into(), arguments: json!({}) };
    let begun = EventBody::ToolStarted { call, risk: Risk::Edit };
    let after = session(Some(before.clone()), &id, &event(3, begun)).unwrap();
    assert_ne!(before.last_run, after.last_run);
    assert!(!changed_for_a_list(Some(&before), &after));
    let over = session(Some(after.clone()), &id, &event(4, ended())).unwrap();
    assert!(changed_for_a_list(Some(&after), &over));
}
