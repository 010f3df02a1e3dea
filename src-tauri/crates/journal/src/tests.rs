//! What the journal promises while the disk is well; damage is in `open/tests.rs`, groups in
//! `writer/tests.rs`, kills and migration in `tests/`.

use std::sync::atomic::{AtomicU64, Ordering};

use proptest::prelude::*;
use protocol::budget::{Bound, BudgetOf, Measure, Reached};
use protocol::citation::Citation;
use protocol::command::Which;
use protocol::event::{Level, RunEnd};
use protocol::geometry::NormPoint;
use protocol::ids::{AgentId, CallId, ModelId, RunId, SessionId, StreamId, Timestamp};
use protocol::run::RunSpec;
use protocol::settings::Settings;
use protocol::tool::{
    ApprovalMode, Change, Changed, Effect, ExecResult, Millis, Mode, PictureView, Risk, ToolCall,
};
use protocol::turn::{Cost, StopReason, Usage};
use protocol::view::RunView;
use serde_json::json;

use super::*;

/// Tells 1, 2, 3 ...
#[derive(Default)]
pub(crate) struct Ticks(AtomicU64);

impl Clock for Ticks {
    fn now(&self) -> Timestamp {
        Timestamp(i64::try_from(self.0.fetch_add(1, Ordering::Relaxed) + 1).unwrap())
    }
}

pub(crate) fn journal() -> (tempfile::TempDir, Journal) {
    let home = tempfile::tempdir().unwrap();
    let journal = Journal::open(home.path(), Arc::new(Ticks::default())).unwrap();
    (home, journal)
}

pub(crate) fn block<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(future)
}

pub(crate) fn append(journal: &Journal, scope: Scope, body: EventBody) -> Result<Event, JournalError> {
    block(journal.append(scope, body))
}

pub(crate) fn read<T: Send + 'static>(
    journal: &Journal,
    work: impl FnOnce(&Reader<'_>) -> Result<T, JournalError> + Send + 'static,
) -> Result<T, JournalError> {
    block(journal.read(work))
}

/// All events after `seq`, of all streams.
fn after(journal: &Journal, seq: u64) -> Vec<Event> {
    read(journal, move |reader| reader.after(Seq(seq), None, usize::MAX)).unwrap()
}

fn session_of(journal: &Journal, id: &SessionId) -> Option<SessionView> {
    let id = id.clone();
    read(journal, move |reader| reader.session(&id)).unwrap()
}

pub(crate) fn scope(session: &str, run: &str) -> Scope {
    Scope {
        session: Some(SessionId::from_suffix(session)),
        run: Some(RunId::from_suffix(run)),
        agent: Some(AgentId::from_suffix("root")),
    }
}

pub(crate) fn created(title: &str) -> EventBody {
    EventBody::SessionCreated {
        title: title.into(),
        mode: Mode::Act,
        approval: ApprovalMode::Ask,
        search: false,
        origin: None,
    }
}

pub(crate) fn spec(goal: &str) -> RunSpec {
    RunSpec {
        goal: goal.into(),
        model: ModelId("gemini/x".into()),
        base_url: None,
        mode: Mode::Act,
        approval: ApprovalMode::Ask,
        max_steps: 30,
        most: protocol::budget::Most::default(),
        forecast: None,
        search: false,
        fence: Some(protocol::run::Fence { displays: vec![0], apps: vec!["pad".into()], never: vec![] }),
        unattended: protocol::command::Unattended::End,
        space: None,
        parent: None,
        recording: None,
        plan: false,
        user_goal: None,
        groups: None,
        conducts: false,
        carry_on: 0,
    }
}

pub(crate) fn started(goal: &str) -> EventBody {
    EventBody::RunStarted(Box::new(spec(goal)))
}

pub(crate) fn noted(message: &str) -> EventBody {
    EventBody::Noted { level: Level::Info, message: message.into(), hint: None }
}

pub(crate) fn call(id: &str) -> ToolCall {
    ToolCall { id: CallId::from_suffix(id), tool: "click".into(), arguments: json!({"y": 1, "x": 0.1}) }
}

pub(crate) fn approval(id: &str, call_id: &str) -> Approval {
    Approval {
        asks: Default::default(),
        id: ApprovalId::from_suffix(id),
        call: call(call_id),
        risk: Risk::Edit,
        reason: "it clicks".into(),
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

pub(crate) fn result() -> ExecResult {
    ExecResult {
        effect: Effect::Confirmed,
        summary: "clicked".into(),
        data: json!(null),
        error: None,
        picture: Some(PictureView {
            blob: BlobRef { sha256: "0".repeat(64), media_type: "image/png".into(), bytes: 7 },
            width: 10,
            height: 20,
            dot: Some(NormPoint::new(1.5, 1000.0).unwrap()),
        }),
        read: Vec::new(),
        changes: Vec::new(),
        output: Vec::new(),
        took: Millis(3),
    }
}

/// One of each durable event.
/// A file that held something before, which is kept under this name.
pub(crate) fn changed(name: &str) -> Change {
    let before =
        json!({ "was": "kept", "name": name, "sha256": name, "bytes": 3, "mode": 420, "modified": null });
    let data =
        json!({ "did": "wrote", "path": "a.txt", "before": before, "after": "", "bytes": 1, "folders": [] });
    Change { of: Changed::File, name: "a.txt".into(), diff: None, data }
}

fn durable() -> Vec<EventBody> {
    vec![
        created("t"),
        EventBody::SessionEdited {
            title: Some("u".into()),
            mode: Some(Mode::Plan),
            approval: None,
            search: Some(true),
            pinned: None,
            archived: None,
            space: Some("~/a".into()),
        },
        EventBody::SessionDeleted,
        EventBody::SessionRestored,
        EventBody::SessionPurged { purged: SessionId::from_suffix("9") },
        started("g"),
        EventBody::RunSteered { text: "left".into() },
        EventBody::RunPaused { reason: "user".into() },
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
        EventBody::TurnFinished {
            turn: 1,
            text: "wörld 👋\u{0}".into(),
            thinking: String::new(),
            calls: vec![call("1")],
            citations: vec![Citation { url: "https://example.org".into(), title: "E".into() }],
            usage: Usage { input: 1, cached: 2, output: 3, thinking: 4, cache_write: 5 },
            cost: Cost::default(),
            stop: StopReason::ToolCalls,
            raw: None,
        },
        EventBody::TurnFailed {
            turn: 2,
            message: "m".into(),
            hint: None,
            retry: true,
            usage: Usage::default(),
            cost: None,
            suggestions: vec![ModelId("gemini/x".into())],
        },
        EventBody::TurnDropped { turn: 3, usage: Usage::default(), cost: Cost::Unknown, text: String::new() },
        EventBody::ApprovalRequested { approval: approval("1", "1") },
        EventBody::ApprovalAnswered {
            approval: ApprovalId::from_suffix("1"),
            answer: Answer::Once,
            by: Surface::Cli,
        },
        EventBody::ToolStarted { call: call("1"), risk: Risk::Edit },
        EventBody::ChangeIntended { call: call("1").id, change: changed(&"0".repeat(64)) },
        EventBody::ToolFinished { call: CallId::from_suffix("1"), result: result() },
        EventBody::SettingsChanged { settings: Box::new(Settings::default()) },
        noted("n"),
        EventBody::RunEnded { end: RunEnd::Completed { summary: "s".into() } },
    ]
}

#[test]
fn the_linked_sqlite_has_no_wal_reset_bug() {
    assert!(rusqlite::version_number() >= 3_051_003, "{}", rusqlite::version());
}

#[test]
fn every_durable_event_reads_back_equal_in_order_without_gaps() {
    let (home, journal) = journal();
    let written: Vec<Event> =
        durable().into_iter().map(|body| append(&journal, scope("1", "1"), body).unwrap()).collect();
    let numbers: Vec<u64> = written.iter().map(|event| event.seq().0).collect();
    let last = written.len() as u64;
    assert_eq!(numbers, (1..=last).collect::<Vec<u64>>());
    assert_eq!(journal.last_seq(), Seq(last));
    assert_eq!(after(&journal, 0), written);
    let read_run =
        |journal: &Journal| read(journal, |reader| reader.run_events(&RunId::from_suffix("1"))).unwrap();
    assert_eq!(read_run(&journal), written);
    drop(journal);

    let again = Journal::open(home.path(), Arc::new(SystemClock)).unwrap();
    assert_eq!(again.last_seq(), Seq(last));
    assert_eq!(after(&again, 0), written);
    assert_eq!(append(&again, Scope::default(), noted("more")).unwrap().seq(), Seq(last + 1));
}

#[test]
fn each_stream_counts_its_own_events_from_1() {
    let (_home, journal) = journal();
    let scopes = [scope("1", "a"), Scope::default(), scope("2", "b"), scope("1", "c"), Scope::default()];
    let written = scopes.map(|scope| append(&journal, scope, noted("n")).unwrap());
    let places: Vec<(&str, u64, u64)> = written
        .iter()
        .map(|event| (event.stream.as_str(), event.seq().0, event.position.unwrap().n))
        .collect();
    assert_eq!(places, [("s-1", 1, 1), ("app", 2, 1), ("s-2", 3, 1), ("s-1", 4, 2), ("app", 5, 2)]);
}

#[test]
fn a_passing_event_is_refused_and_takes_no_number() {
    let (_home, journal) = journal();
    let error = append(&journal, Scope::default(), EventBody::QuestionsChanged { questions: vec![] });
    assert_eq!(error.unwrap_err().to_string(), "cannot journal questionsChanged: it is a passing event");
    assert_eq!(append(&journal, Scope::default(), noted("n")).unwrap().seq(), Seq(1));
}

/// A call whose arguments are `levels` lists within each other.
fn nested(levels: usize) -> EventBody {
    let arguments = (1..levels).fold(json!([]), |inner, _| json!([inner]));
    EventBody::ToolStarted { call: ToolCall { arguments, ..call("1") }, risk: Risk::Edit }
}

#[test]
fn an_event_that_could_not_be_read_again_is_refused_before_it_is_written() {
    let (_home, journal) = journal();
    // The event and its call are two levels.
    for levels in [99, 200, 1_000] {
        let error = append(&journal, scope("1", "1"), nested(levels)).unwrap_err();
        assert!(matches!(error, JournalError::TooDeep { .. }), "{error}");
        assert!(error.is_about_the_data());
    }
    assert_eq!(journal.last_seq(), Seq(0));
    let deepest = append(&journal, scope("1", "1"), nested(98)).unwrap();
    let page = read(&journal, |reader| {
        reader.page(&StreamId::of_session(&SessionId::from_suffix("1")), None, None, 1)
    });
    let page = page.unwrap();
    assert_eq!(page.events, [deepest]);
    // In a page in an answer in a line of the socket, too.
    let line = serde_json::to_string(&json!([[{ "ok": page }]])).unwrap();
    serde_json::from_str::<serde_json::Value>(&line).unwrap();
}

// bar: C73
#[test]
fn order_follows_the_number_when_the_clock_goes_back() {
    struct Backwards(AtomicU64);
    impl Clock for Backwards {
        fn now(&self) -> Timestamp {
            Timestamp(i64::try_from(self.0.fetch_sub(1, Ordering::Relaxed)).unwrap())
        }
    }
    let home = tempfile::tempdir().unwrap();
    let journal = Journal::open(home.path(), Arc::new(Backwards(1_000.into()))).unwrap();
    for session in ["1", "2"] {
        append(&journal, scope(session, "1"), created(session)).unwrap();
    }
    assert_eq!(titles(&journal, None, 10), ["2", "1"]);
}

fn titles(journal: &Journal, before: Option<&str>, limit: u32) -> Vec<String> {
    let before = before.map(SessionId::from_suffix);
    let views = read(journal, move |reader| reader.sessions(Which::Open, before.as_ref(), limit)).unwrap();
    views.into_iter().map(|view| view.title).collect()
}

#[test]
fn sessions_come_with_the_newest_event_first_and_their_last_run() {
    let (_home, journal) = journal();
    append(&journal, scope("1", "x"), created("one")).unwrap();
    append(&journal, scope("2", "x"), created("two")).unwrap();
    append(&journal, scope("1", "r"), started("goal")).unwrap();
    let end = RunEnd::Stopped { reason: "user".into() };
    append(&journal, scope("1", "other"), EventBody::RunEnded { end: end.clone() }).unwrap();
    assert_eq!(titles(&journal, None, 10), ["one", "two"]);
    let one = SessionId::from_suffix("1");
    let mut run =
        RunView { id: RunId::from_suffix("r"), goal: "goal".into(), end: None, tried: Some(Box::default()) };
    let last_run = session_of(&journal, &one).unwrap().last_run;
    assert_eq!(last_run, Some(run.clone()), "another run's end is not this run's");

    append(&journal, scope("1", "r"), EventBody::RunEnded { end: end.clone() }).unwrap();
    run.end = Some(end);
    let view = session_of(&journal, &one).unwrap();
    assert_eq!(view.last_run, Some(run));
    assert!(view.created < view.updated);
    assert!(!view.search);
    let edited = EventBody::SessionEdited {
        title: None,
        mode: None,
        approval: None,
        search: Some(true),
        pinned: None,
        archived: None,
        space: None,
    };
    append(&journal, scope("1", "x"), edited).unwrap();
    assert!(session_of(&journal, &one).unwrap().search);
    assert_eq!(session_of(&journal, &SessionId::from_suffix("3")), None);
}

#[test]
fn sessions_are_read_page_by_page() {
    let (_home, journal) = journal();
    for session in ["1", "2", "3", "4", "5"] {
        append(&journal, scope(session, session), created(session)).unwrap();
    }
    append(&journal, scope("2", "2"), noted("n")).unwrap();
    assert_eq!(titles(&journal, None, 2), ["2", "5"]);
    assert_eq!(titles(&journal, Some("5"), 2), ["4", "3"]);
    assert_eq!(titles(&journal, Some("3"), 2), ["1"]);
    assert_eq!(titles(&journal, Some("1"), 2), [""; 0]);
    let unknown =
        read(&journal, |reader| reader.sessions(Which::Open, Some(&SessionId::from_suffix("9")), 2))
            .unwrap_err();
    assert!(matches!(unknown, JournalError::UnknownStream { .. }), "{unknown}");
    let since = read(&journal, |reader| reader.sessions_since(Seq(3))).unwrap();
    let since: Vec<&str> = since.iter().map(|view| view.title.as_str()).collect();
    assert_eq!(since, ["4", "5", "2"]);
}

#[test]
fn an_open_run_tells_what_is_in_doubt_and_what_waits_for_an_answer() {
    let (_home, journal) = journal();
    append(&journal, scope("1", "done"), started("a")).unwrap();
    append(&journal, scope("1", "done"), EventBody::RunEnded { end: RunEnd::Interrupted { reason: None } })
        .unwrap();
    // Ids say nothing of the order.
    let runs = [("1", "z-open"), ("2", "a-later")];
    let times = runs.map(|(session, run)| append(&journal, scope(session, run), started(run)).unwrap().time);
    for body in [
        EventBody::ToolStarted { call: call("1"), risk: Risk::Edit },
        EventBody::ToolFinished { call: CallId::from_suffix("1"), result: result() },
        EventBody::ToolStarted { call: call("2"), risk: Risk::Edit },
        EventBody::ApprovalRequested { approval: approval("1", "1") },
        EventBody::ApprovalAnswered {
            approval: ApprovalId::from_suffix("1"),
            answer: Answer::Deny,
            by: Surface::Chat,
        },
        EventBody::ApprovalRequested { approval: approval("2", "3") },
        EventBody::RunPaused { reason: "p".into() },
    ] {
        append(&journal, scope("1", "z-open"), body).unwrap();
    }
    let found = read(&journal, |reader| reader.open_runs()).unwrap();
    let open = OpenRun {
        scope: scope("1", "z-open"),
        spec: spec("z-open"),
        started: times[0],
        turn: 0,
        in_doubt: vec![call("2")],
        approval: Some(approval("2", "3")),
        paused: Some("p".into()),
        plan: fold::PlanState::default(),
        budget: found[0].budget.clone(),
        read: Vec::new(),
        granted: Vec::new(),
    };
    let later = OpenRun {
        scope: scope("2", "a-later"),
        spec: spec("a-later"),
        started: times[1],
        turn: 0,
        in_doubt: vec![],
        approval: None,
        paused: None,
        plan: fold::PlanState::default(),
        budget: found[1].budget.clone(),
        read: Vec::new(),
        granted: Vec::new(),
    };
    assert_eq!(found, [open, later]);
}

#[test]
fn a_question_is_open_until_it_is_answered_or_its_run_ends() {
    let (_home, journal) = journal();
    let ask = |id: &str, run: &str| {
        let body = EventBody::ApprovalRequested { approval: approval(id, id) };
        append(&journal, scope("1", run), body).unwrap();
    };
    let open = || {
        let open = read(&journal, |reader| reader.questions()).unwrap();
        open.into_iter().map(|question| (question.run.0, question.approval.id.0)).collect::<Vec<_>>()
    };
    ask("3", "a");
    ask("1", "b");
    ask("2", "b");
    let one = |run: &str, id: &str| (run.to_owned(), id.to_owned());
    assert_eq!(open(), [one("r-a", "q-3"), one("r-b", "q-1"), one("r-b", "q-2")]);
    let answered = EventBody::ApprovalAnswered {
        approval: ApprovalId::from_suffix("1"),
        answer: Answer::Once,
        by: Surface::Chat,
    };
    append(&journal, scope("1", "b"), answered).unwrap();
    assert_eq!(open(), [one("r-a", "q-3"), one("r-b", "q-2")]);
    append(&journal, scope("1", "b"), EventBody::RunEnded { end: RunEnd::Interrupted { reason: None } })
        .unwrap();
    assert_eq!(open(), [one("r-a", "q-3")]);
    let asked = |id: &str| {
        let id = ApprovalId::from_suffix(id);
        read(&journal, move |reader| reader.approval(&id)).unwrap()
    };
    assert_eq!(asked("3"), Some((approval("3", "3"), scope("1", "a"), true)));
    assert_eq!(asked("2"), Some((approval("2", "2"), scope("1", "b"), false)));
    assert_eq!(asked("9"), None);
}

#[test]
fn many_threads_get_distinct_numbers_without_gaps() {
    let (_home, journal) = journal();
    std::thread::scope(|threads| {
        for _ in 0..8 {
            threads.spawn(|| {
                (0..10).for_each(|_| drop(append(&journal, Scope::default(), noted("n")).unwrap()))
            });
        }
    });
    let numbers: Vec<u64> = after(&journal, 0).iter().map(|event| event.seq().0).collect();
    assert_eq!(numbers, (1..=80).collect::<Vec<u64>>());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    #[test]
    fn what_is_kept_is_the_fold_of_the_events(steps in prop::collection::vec((0..3usize, 0..16usize), 1..40)) {
        let (_home, journal) = journal();
        let bodies = durable();
        for (session, body) in steps {
            let name = session.to_string();
            append(&journal, scope(&name, &name), bodies[body].clone()).unwrap();
        }
        let mut open = Vec::new();
        for name in ["0", "1", "2"] {
            let id = SessionId::from_suffix(name);
            let events = { let id = id.clone(); read(&journal, move |reader| reader.tail(&id, 100)).unwrap() };
            let folded = events.iter().fold(None, |view, event| fold::session(view, &id, event));
            prop_assert_eq!(session_of(&journal, &id), folded);
            open.extend(events.iter().fold(None, fold::run));
        }
        open.sort_by_key(|run: &OpenRun| run.started);
        prop_assert_eq!(read(&journal, |reader| reader.open_runs()).unwrap(), open);
    }
}
