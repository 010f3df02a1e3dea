//! The fold as its surfaces see it: whole values, one sentence a test.

mod page;

use super::*;
use crate::feed::{Feed, Wants};
use crate::transcript::{Bill, Entry, EntryBody, Stage, Step, Streaming, picture_url};
use protocol::event::Scope;
use protocol::geometry::NormPoint;
use protocol::ids::{ApprovalId, BlobRef, CallId, ModelId, Timestamp};
use protocol::tool::{Answer, Door, Effect, ExecResult, Millis, PictureView, Risk, ToolCall};
use protocol::turn::{Cost, Spent, StopReason, Usage, Usd};
use serde_json::{Value, json};

fn view() -> SnapshotView {
    SnapshotView {
        seq: Seq(0),
        settings: Settings::default(),
        status: Status::default(),
        sessions: Vec::new(),
        current: None,
        events: Vec::new(),
        approvals: Vec::new(),
        version: "0.1.0".into(),
        platform: Platform::Linux,
    }
}

fn in_session(session: &str, seq: u64, body: EventBody) -> Event {
    let scope =
        Scope { session: Some(SessionId(session.into())), run: Some(RunId("r-1".into())), agent: None };
    Event { seq: Seq(seq), time: Timestamp(i64::try_from(seq).unwrap() * 1_000), scope, body }
}

fn event(seq: u64, body: EventBody) -> Event {
    in_session("s-1", seq, body)
}

fn created() -> EventBody {
    EventBody::SessionCreated {
        title: "Haiku".into(),
        mode: Mode::Act,
        approval: ApprovalMode::Ask,
        search: false,
    }
}

fn started() -> EventBody {
    EventBody::RunStarted {
        goal: "write a haiku".into(),
        model: ModelId("gemini/flash".into()),
        mode: Mode::Act,
        approval: ApprovalMode::Ask,
        max_steps: 30,
        search: false,
    }
}

fn click() -> ToolCall {
    ToolCall { id: CallId("c-1".into()), tool: "click".into(), arguments: json!({"x": 10, "y": 20}) }
}

const USAGE: Usage = Usage { input: 1_000, cached: 0, output: 20, thinking: 3, cache_write: 0 };

fn turn(text: &str, calls: Vec<ToolCall>) -> EventBody {
    EventBody::TurnFinished {
        turn: 1,
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

fn clicked() -> ExecResult {
    let blob = BlobRef { sha256: "ab".repeat(32), media_type: "image/jpeg".into(), bytes: 9 };
    let dot = NormPoint::new(11.0, 20.0).ok();
    ExecResult {
        effect: Effect::Confirmed,
        summary: "clicked Save at 10,20".into(),
        data: Value::Null,
        error: None,
        picture: Some(PictureView { blob, width: 1280, height: 800, dot }),
        took: Millis(12),
    }
}

fn question() -> Approval {
    Approval {
        id: ApprovalId("q-1".into()),
        call: click(),
        risk: Risk::Edit,
        reason: "it changes something".into(),
        digest: "d".into(),
        deadline: Timestamp(9_000),
    }
}

fn status(detail: &str) -> EventBody {
    let status = Status { activity: Activity::Working, detail: detail.into(), step: 1, max_steps: 30 };
    EventBody::StatusChanged { status }
}

/// The state after these durable events, numbered from 1, each of which must apply.
fn after(bodies: Vec<EventBody>) -> State {
    let mut state = State::from(view());
    for (body, seq) in bodies.into_iter().zip(1..) {
        assert_eq!(reduce(&mut state, &event(seq, body)), Reduced::Applied);
    }
    state
}

fn steered(seq: u64) -> Event {
    event(seq, EventBody::RunSteered { text: seq.to_string() })
}

fn said(seq: u64) -> EntryBody {
    EntryBody::Said { text: seq.to_string() }
}

fn bodies(state: &State) -> Vec<EntryBody> {
    state.transcript.entries().iter().map(|entry| entry.body.clone()).collect()
}

fn step(stage: Stage) -> Step {
    Step { call: click(), risk: Some(Risk::Edit), stage, answer: None }
}

#[test]
fn a_run_becomes_goal_words_step_and_end() {
    let state = after(vec![
        created(),
        started(),
        turn(" I click. ", vec![click()]),
        EventBody::ToolStarted { call: click(), risk: Risk::Edit },
        EventBody::ToolFinished { call: click().id, result: clicked() },
        EventBody::RunEnded { end: RunEnd::Completed { summary: "done".into() } },
    ]);
    let bill = Bill { usage: USAGE, spent: Spent { usd: Usd(1_230_000_000), turns: 1, ..Spent::default() } };
    assert_eq!(
        bodies(&state),
        [
            EntryBody::Goal {
                run: Some(RunId("r-1".into())),
                goal: "write a haiku".into(),
                model: "gemini/flash".into()
            },
            EntryBody::Turn {
                turn: 1,
                text: "I click.".into(),
                thinking: String::new(),
                citations: Vec::new(),
            },
            EntryBody::Step(step(Stage::Done { result: Box::new(clicked()) })),
            EntryBody::End { end: RunEnd::Completed { summary: "done".into() }, bill, is_told: false },
        ]
    );
    let last_run = RunView {
        id: RunId("r-1".into()),
        goal: "write a haiku".into(),
        end: Some(RunEnd::Completed { summary: "done".into() }),
    };
    assert_eq!(
        state.sessions,
        [SessionView {
            id: SessionId("s-1".into()),
            title: "Haiku".into(),
            mode: Mode::Act,
            approval: ApprovalMode::Ask,
            search: false,
            created: Timestamp(1_000),
            updated: Timestamp(6_000),
            last_run: Some(last_run),
        }]
    );
    assert_eq!((state.running(), state.busy(), state.seq), (None, false, Seq(6)));
}

#[test]
fn a_snapshot_and_the_events_one_by_one_give_the_same_state() {
    let told = vec![
        created(),
        started(),
        turn("", vec![click()]),
        EventBody::ApprovalRequested { approval: question() },
    ];
    let folded = after(told.clone());
    let events: Vec<Event> = told.into_iter().zip(1..).map(|(body, seq)| event(seq, body)).collect();
    let snapshot = SnapshotView {
        seq: Seq(4),
        sessions: folded.sessions.clone(),
        current: Some(SessionId("s-1".into())),
        events,
        approvals: vec![question()],
        ..view()
    };
    assert_eq!(State::from(snapshot), folded);
}

#[test]
fn a_gap_asks_for_a_snapshot_and_changes_nothing() {
    let mut state = after(vec![created(), started()]);
    let before = state.clone();
    assert_eq!(reduce(&mut state, &event(4, EventBody::RunResumed)), Reduced::NeedsSnapshot);
    assert_eq!(
        reduce(&mut state, &event(3, EventBody::TextDelta { text: "x".into() })),
        Reduced::NeedsSnapshot
    );
    assert_eq!(state, before);
}

#[test]
fn an_event_told_twice_counts_once() {
    let mut state = after(vec![created(), started()]);
    let before = state.clone();
    assert_eq!(reduce(&mut state, &event(2, started())), Reduced::Stale);
    assert_eq!(reduce(&mut state, &event(1, EventBody::TextDelta { text: "late".into() })), Reduced::Stale);
    assert_eq!(state, before);
}

#[test]
fn text_streams_until_the_turn_is_whole() {
    let mut state = after(vec![created(), started()]);
    for text in ["I ", "click"] {
        assert_eq!(
            reduce(&mut state, &event(2, EventBody::TextDelta { text: text.into() })),
            Reduced::Applied
        );
    }
    assert_eq!(state.transcript.streaming, Streaming { text: "I click".into(), thinking: String::new() });
    assert_eq!(reduce(&mut state, &event(3, turn("I click", vec![]))), Reduced::Applied);
    assert_eq!(state.transcript.streaming, Streaming::default());
}

#[test]
fn a_status_is_the_last_word_and_touches_nothing_else() {
    let mut state = after(vec![created(), started()]);
    let before = state.clone();
    assert_eq!(reduce(&mut state, &event(1, status("click Save"))), Reduced::Applied);
    let EventBody::StatusChanged { status } = status("click Save") else { unreachable!() };
    assert_eq!(state, State { status, ..before });
}

#[test]
fn a_question_waits_on_its_step_until_it_is_answered() {
    let asked = || {
        vec![
            created(),
            started(),
            turn("", vec![click()]),
            EventBody::ApprovalRequested { approval: question() },
        ]
    };
    let state = after(asked());
    assert_eq!(state.approvals, [question()]);
    let waiting = Stage::Waiting { approval: question().id };
    assert_eq!(state.transcript.steps().collect::<Vec<_>>(), [&step(waiting)]);

    let answered =
        EventBody::ApprovalAnswered { approval: question().id, answer: Answer::Deny, by: Door::Chat };
    let state = after(asked().into_iter().chain([answered]).collect());
    assert_eq!(state.approvals, []);
    let denied = Step { answer: Some(Answer::Deny), ..step(Stage::Proposed) };
    assert_eq!(state.transcript.steps().collect::<Vec<_>>(), [&denied]);
}

#[test]
fn the_end_of_a_run_takes_its_questions_and_its_unstarted_calls_with_it() {
    let state = after(vec![
        created(),
        started(),
        turn("", vec![click()]),
        EventBody::ApprovalRequested { approval: question() },
        EventBody::RunEnded { end: RunEnd::Stopped { reason: "by the user".into() } },
    ]);
    assert_eq!(state.approvals, []);
    assert_eq!(state.transcript.steps().collect::<Vec<_>>(), [&step(Stage::NotRun)]);
}

#[test]
fn the_end_of_a_run_that_is_not_shown_takes_its_own_questions_and_no_others() {
    let mut state = after(vec![created(), started(), EventBody::ApprovalRequested { approval: question() }]);
    state.show_new();
    let mut of_another = in_session(
        "s-2",
        4,
        EventBody::ApprovalRequested { approval: Approval { id: ApprovalId("q-2".into()), ..question() } },
    );
    of_another.scope.run = Some(RunId("r-2".into()));
    let ended = event(5, EventBody::RunEnded { end: RunEnd::Interrupted });
    for event in [of_another, ended] {
        assert_eq!(reduce(&mut state, &event), Reduced::Applied);
    }
    let asked: Vec<&str> = state.approvals.iter().map(|asked| asked.id.0.as_str()).collect();
    assert_eq!(asked, ["q-2"]);
}

#[test]
fn a_pause_holds_until_it_is_resumed_or_the_run_is_over() {
    let paused = || vec![created(), started(), EventBody::RunPaused { reason: "by the user".into() }];
    let with = |body| after(paused().into_iter().chain([body]).collect());
    let stopped = EventBody::RunEnded { end: RunEnd::Interrupted };
    assert!(after(paused()).paused());
    assert!(!with(EventBody::RunResumed).paused());
    assert!(!with(stopped).paused());
}

#[test]
fn a_step_redraws_by_its_revision_and_the_others_stay() {
    let mut state = after(vec![created(), started(), turn("hm", vec![click()])]);
    let keys = |state: &State| {
        state.transcript.entries().iter().map(|e: &Entry| (e.id, e.revision)).collect::<Vec<_>>()
    };
    assert_eq!(keys(&state), [(0, 0), (1, 0), (2, 0)]);
    let started = EventBody::ToolStarted { call: click(), risk: Risk::Edit };
    assert_eq!(reduce(&mut state, &event(4, started)), Reduced::Applied);
    assert_eq!(keys(&state), [(0, 0), (1, 0), (2, 1)]);
}

#[test]
fn the_ring_is_where_it_acts_and_then_where_the_dot_is() {
    let run = || vec![created(), started(), EventBody::ToolStarted { call: click(), risk: Risk::Edit }];
    let at = |x| Some((click().id, NormPoint::new(x, 20.0).unwrap()));
    assert_eq!(after(run()).transcript.last_point(), at(10.0));
    let finished = EventBody::ToolFinished { call: click().id, result: clicked() };
    assert_eq!(after(run().into_iter().chain([finished]).collect()).transcript.last_point(), at(11.0));
    let mut elsewhere = click();
    elsewhere.arguments["display"] = 1.into();
    let away = vec![created(), started(), EventBody::ToolStarted { call: elsewhere, risk: Risk::Edit }];
    assert_eq!(after(away).transcript.last_point(), None, "the overlay covers the first display");
}

#[test]
fn a_broken_journal_is_told_whatever_its_number() {
    let mut state = after(vec![created()]);
    let failed = EventBody::JournalFailed { message: "disk full".into(), hint: Some("make room".into()) };
    assert_eq!(reduce(&mut state, &event(0, failed)), Reduced::Applied);
    assert_eq!(state.broken, Some(ErrorView::new(ErrorCode::Storage, "disk full").with_hint("make room")));
}

#[test]
fn events_before_the_snapshot_are_folded_on_top_of_it() {
    let mut feed = Feed::default();
    for (seq, body) in [(1, created()), (2, started()), (2, status("thinking"))] {
        assert_eq!(feed.event(None, event(seq, body)), Wants::Nothing);
    }
    let known = after(vec![created()]);
    let snapshot = SnapshotView {
        seq: Seq(1),
        sessions: known.sessions.clone(),
        current: known.shown.clone(),
        ..view()
    };
    let (state, wants) = feed.snapshot(None, snapshot);
    assert_eq!((wants, state.seq, state.status.detail.as_str()), (Wants::Nothing, Seq(2), "thinking"));
}

#[test]
fn after_a_gap_the_feed_fetches_once_and_goes_on() {
    let mut feed = Feed::default();
    let (mut state, wants) = feed.snapshot(None, view());
    assert_eq!(wants, Wants::Nothing);
    assert_eq!(feed.event(Some(&mut state), event(1, created())), Wants::Nothing);
    assert_eq!(feed.event(Some(&mut state), steered(3)), Wants::Snapshot);
    assert_eq!(feed.event(Some(&mut state), steered(4)), Wants::Nothing);
    let (state, wants) = feed.snapshot(
        None,
        SnapshotView { seq: Seq(2), sessions: state.sessions, current: state.shown, ..view() },
    );
    assert_eq!((wants, state.seq), (Wants::Nothing, Seq(4)));
    assert_eq!(bodies(&state), [said(3), said(4)]);
}

#[test]
fn a_snapshot_does_not_hide_that_the_journal_is_broken() {
    let mut feed = Feed::default();
    let (mut state, _) = feed.snapshot(None, view());
    let failed = EventBody::JournalFailed { message: "disk full".into(), hint: None };
    assert_eq!(feed.event(Some(&mut state), event(0, failed)), Wants::Nothing);
    let gap = event(9, EventBody::RunSteered { text: "x".into() });
    assert_eq!(feed.event(Some(&mut state), gap), Wants::Snapshot);
    let (state, _) = feed.snapshot(None, SnapshotView { seq: Seq(9), ..view() });
    assert_eq!(state.broken, Some(ErrorView::new(ErrorCode::Storage, "disk full")));
}

#[test]
fn only_a_blobs_name_becomes_a_pictures_address() {
    let name = "ab".repeat(32);
    assert_eq!(picture_url(&name, Platform::Linux), Some(format!("picture://localhost/{name}")));
    assert_eq!(picture_url(&name, Platform::Windows), Some(format!("http://picture.localhost/{name}")));
    assert_eq!(picture_url("../settings.json", Platform::Linux), None);
}
