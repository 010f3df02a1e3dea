//! What the journal promises while the disk is well; damage is in `open_tests.rs`, kills in `tests/kill.rs`.

use std::sync::Arc;

use proptest::prelude::*;
use protocol::citation::Citation;
use protocol::event::{Level, RunEnd};
use protocol::ids::{AgentId, ApprovalId, CallId, ModelId, Timestamp};
use protocol::settings::Settings;
use protocol::tool::{Answer, ApprovalMode, Door, Effect, ExecResult, Millis, Mode, Risk};
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

fn scope(session: &str, run: &str) -> Scope {
    Scope {
        session: Some(SessionId::from_suffix(session)),
        run: Some(RunId::from_suffix(run)),
        agent: Some(AgentId::from_suffix("root")),
    }
}

fn created(title: &str) -> EventBody {
    EventBody::SessionCreated {
        title: title.into(),
        mode: Mode::Act,
        approval: ApprovalMode::Ask,
        search: false,
    }
}

fn started(goal: &str) -> EventBody {
    EventBody::RunStarted {
        goal: goal.into(),
        model: ModelId("gemini/x".into()),
        mode: Mode::Act,
        approval: ApprovalMode::Ask,
        max_steps: 30,
        search: false,
    }
}

pub(crate) fn noted(message: &str) -> EventBody {
    EventBody::Noted { level: Level::Info, message: message.into(), hint: None }
}

fn call(id: &str) -> ToolCall {
    ToolCall { id: CallId::from_suffix(id), tool: "click".into(), arguments: json!({"y": 1, "x": 0.1}) }
}

fn approval(id: &str, call_id: &str) -> Approval {
    Approval {
        id: ApprovalId::from_suffix(id),
        call: call(call_id),
        risk: Risk::Edit,
        reason: "it clicks".into(),
        digest: "d".into(),
        deadline: Timestamp(9),
    }
}

fn result() -> ExecResult {
    ExecResult {
        effect: Effect::Confirmed,
        summary: "clicked".into(),
        data: json!(null),
        error: None,
        picture: None,
        took: Millis(3),
    }
}

/// One of each durable event.
fn durable() -> Vec<EventBody> {
    vec![
        created("t"),
        EventBody::SessionEdited {
            title: Some("u".into()),
            mode: Some(Mode::Plan),
            approval: None,
            search: Some(true),
        },
        started("g"),
        EventBody::RunSteered { text: "left".into() },
        EventBody::RunPaused { reason: "user".into() },
        EventBody::RunResumed,
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
            instead: vec![ModelId("gemini/x".into())],
        },
        EventBody::TurnDropped { turn: 3, usage: Usage::default(), cost: Cost::Unknown },
        EventBody::ApprovalRequested { approval: approval("1", "1") },
        EventBody::ApprovalAnswered {
            approval: ApprovalId::from_suffix("1"),
            answer: Answer::Once,
            by: Door::Cli,
        },
        EventBody::ToolStarted { call: call("1"), risk: Risk::Edit },
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
fn the_log_is_synced_at_each_commit() {
    let (_home, journal) = journal();
    let connection = journal.lock();
    let pragma = |name: &str| -> String {
        connection
            .pragma_query_value(None, name, |row| row.get::<_, rusqlite::types::Value>(0))
            .map(|v| match v {
                rusqlite::types::Value::Integer(i) => i.to_string(),
                other => format!("{other:?}"),
            })
            .unwrap()
    };
    assert_eq!((pragma("synchronous").as_str(), pragma("foreign_keys").as_str()), ("2", "1"));
    assert_eq!(pragma("journal_mode"), "Text(\"wal\")");
}

#[test]
fn every_durable_event_reads_back_equal_in_order_without_gaps() {
    let (home, journal) = journal();
    let written: Vec<Event> =
        durable().into_iter().map(|body| journal.append(scope("1", "1"), body).unwrap()).collect();
    let numbers: Vec<u64> = written.iter().map(|event| event.seq.0).collect();
    assert_eq!(numbers, (1..=16).collect::<Vec<u64>>());
    assert_eq!(journal.events_after(Seq(0), usize::MAX).unwrap(), written);
    assert_eq!(journal.session_events(&SessionId::from_suffix("1")).unwrap(), written);
    assert_eq!(journal.run_events(&RunId::from_suffix("1")).unwrap(), written);
    drop(journal);

    let again = Journal::open(home.path(), Arc::new(SystemClock)).unwrap();
    assert_eq!(again.last_seq(), Seq(16));
    assert_eq!(again.events_after(Seq(0), usize::MAX).unwrap(), written);
    assert_eq!(again.append(Scope::default(), noted("more")).unwrap().seq, Seq(17));
}

#[test]
fn a_page_of_events_begins_after_the_number_and_holds_no_more_than_asked() {
    let (_home, journal) = journal();
    for number in 1..=5 {
        journal.append(Scope::default(), noted(&number.to_string())).unwrap();
    }
    let page = journal.events_after(Seq(2), 2).unwrap();
    assert_eq!(page.iter().map(|event| event.seq.0).collect::<Vec<_>>(), [3, 4]);
    assert_eq!(journal.events_after(Seq(5), 10).unwrap(), []);
}

#[test]
fn a_passing_event_is_refused_and_takes_no_number() {
    let (_home, journal) = journal();
    let error = journal.append(Scope::default(), EventBody::TextDelta { text: "a".into() }).unwrap_err();
    assert_eq!(error.to_string(), "cannot journal textDelta: it is a passing event");
    assert_eq!(journal.append(Scope::default(), noted("n")).unwrap().seq, Seq(1));
}

#[test]
fn an_event_that_could_not_be_read_again_is_refused_before_it_is_written() {
    let (_home, journal) = journal();
    let deep = (0..200).fold(json!(1), |inner, _| json!([inner]));
    let body = EventBody::ToolStarted {
        call: ToolCall { id: CallId::from_suffix("1"), tool: "click".into(), arguments: deep },
        risk: Risk::Edit,
    };
    let error = journal.append(scope("1", "1"), body).unwrap_err();
    assert!(matches!(error, JournalError::Unwritable { .. }), "{error}");
    assert_eq!(journal.last_seq(), Seq(0));
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
        journal.append(scope(session, "1"), created(session)).unwrap();
    }
    let titles: Vec<String> = journal.sessions().unwrap().into_iter().map(|view| view.title).collect();
    assert_eq!(titles, ["2", "1"]);
}

#[test]
fn sessions_come_with_the_newest_event_first_and_their_last_run() {
    let (_home, journal) = journal();
    journal.append(scope("1", "x"), created("one")).unwrap();
    journal.append(scope("2", "x"), created("two")).unwrap();
    journal.append(scope("1", "r"), started("goal")).unwrap();
    let end = RunEnd::Stopped { reason: "user".into() };
    journal.append(scope("1", "other"), EventBody::RunEnded { end: end.clone() }).unwrap();
    let views = journal.sessions().unwrap();
    assert_eq!(views.iter().map(|view| view.title.as_str()).collect::<Vec<_>>(), ["one", "two"]);
    let mut run = RunView { id: RunId::from_suffix("r"), goal: "goal".into(), end: None };
    assert_eq!(views[0].last_run, Some(run.clone()), "another run's end is not this run's");

    journal.append(scope("1", "r"), EventBody::RunEnded { end: end.clone() }).unwrap();
    run.end = Some(end);
    let view = journal.session(&SessionId::from_suffix("1")).unwrap().unwrap();
    assert_eq!(view.last_run, Some(run));
    assert!(view.created < view.updated);
    assert!(!view.search);
    let edited = EventBody::SessionEdited { title: None, mode: None, approval: None, search: Some(true) };
    journal.append(scope("1", "x"), edited).unwrap();
    assert!(journal.session(&SessionId::from_suffix("1")).unwrap().unwrap().search);
    assert_eq!(journal.session(&SessionId::from_suffix("3")).unwrap(), None);
}

#[test]
fn an_open_run_tells_what_is_in_doubt_and_what_waits_for_an_answer() {
    let (_home, journal) = journal();
    journal.append(scope("1", "done"), started("a")).unwrap();
    journal.append(scope("1", "done"), EventBody::RunEnded { end: RunEnd::Interrupted }).unwrap();
    for body in [
        started("b"),
        EventBody::ToolStarted { call: call("1"), risk: Risk::Edit },
        EventBody::ToolFinished { call: CallId::from_suffix("1"), result: result() },
        EventBody::ToolStarted { call: call("2"), risk: Risk::Edit },
        EventBody::ApprovalRequested { approval: approval("1", "1") },
        EventBody::ApprovalAnswered {
            approval: ApprovalId::from_suffix("1"),
            answer: Answer::Deny,
            by: Door::Chat,
        },
        EventBody::ApprovalRequested { approval: approval("2", "3") },
    ] {
        journal.append(scope("1", "open"), body).unwrap();
    }
    let expected =
        OpenRun { scope: scope("1", "open"), in_doubt: vec![call("2")], pending: vec![approval("2", "3")] };
    assert_eq!(journal.open_runs().unwrap(), [expected]);
}

// bar: C70
#[test]
fn a_full_disk_is_said_and_the_journal_goes_on_when_there_is_space() {
    let (home, journal) = journal();
    journal.append(Scope::default(), noted("before")).unwrap();
    let pages: i64 = journal.lock().pragma_query_value(None, "page_count", |row| row.get(0)).unwrap();
    journal.lock().pragma_update(None, "max_page_count", pages + 2).unwrap();
    let big = "x".repeat(100_000);
    let error = journal.append(Scope::default(), noted(&big)).unwrap_err();
    assert!(matches!(error, JournalError::Full { .. }), "{error}");
    assert_eq!(journal.last_seq(), Seq(1));

    journal.lock().pragma_update(None, "max_page_count", 1_000_000).unwrap();
    assert_eq!(journal.append(Scope::default(), noted(&big)).unwrap().seq, Seq(2));
    drop(journal);
    assert_eq!(Journal::open(home.path(), Arc::new(SystemClock)).unwrap().last_seq(), Seq(2));
}

#[test]
fn many_threads_get_distinct_numbers_without_gaps() {
    let (_home, journal) = journal();
    std::thread::scope(|threads| {
        for _ in 0..8 {
            threads
                .spawn(|| (0..10).for_each(|_| drop(journal.append(Scope::default(), noted("n")).unwrap())));
        }
    });
    let events = journal.events_after(Seq(0), usize::MAX).unwrap();
    assert_eq!(events.iter().map(|event| event.seq.0).collect::<Vec<_>>(), (1..=80).collect::<Vec<u64>>());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    #[test]
    fn the_kept_sessions_are_the_fold_of_the_events(steps in prop::collection::vec((0..3usize, 0..15usize), 1..40)) {
        let (_home, journal) = journal();
        let bodies = durable();
        for (session, body) in steps {
            journal.append(scope(&session.to_string(), "1"), bodies[body].clone()).unwrap();
        }
        for session in ["0", "1", "2"].map(SessionId::from_suffix) {
            let events = journal.session_events(&session).unwrap();
            let folded = events.iter().fold(None, |view, event| fold::session(view, &session, event));
            prop_assert_eq!(journal.session(&session).unwrap(), folded);
        }
    }
}
