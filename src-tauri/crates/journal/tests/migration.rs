//! A journal that version 1 wrote, as this version reads it. `data/README.md` says what is in it.

#![expect(clippy::unwrap_used, reason = "a test's way to say that it failed")]

use std::path::Path;
use std::sync::Arc;

use journal::{Decided, Journal, OpenRun, SystemClock};
use protocol::command::{Unattended, Which};
use protocol::event::{Event, EventBody, RunEnd, Scope};
use protocol::ids::{AgentId, ApprovalId, CallId, ModelId, RunId, Seq, SessionId, StreamId, Timestamp};
use protocol::principal::Surface;
use protocol::run::RunSpec;
use protocol::tool::{Answer, ApprovalMode, Mode};
use protocol::view::{RunView, Tried};

fn journal() -> (tempfile::TempDir, Journal) {
    let home = tempfile::tempdir().unwrap();
    std::fs::copy(
        Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/version-1.db"),
        home.path().join("journal.db"),
    )
    .unwrap();
    let journal = open(home.path());
    (home, journal)
}

fn open(home: &Path) -> Journal {
    Journal::open(home, Arc::new(SystemClock)).unwrap()
}

async fn all(journal: &Journal) -> Vec<Event> {
    journal.read(|reader| reader.after(Seq(0), None, 1_000)).await.unwrap()
}

fn scope(session: &str, run: &str) -> Scope {
    Scope {
        session: Some(SessionId::from_suffix(session)),
        run: Some(RunId::from_suffix(run)),
        agent: Some(AgentId::from_suffix("root")),
    }
}

fn spec(goal: &str, search: bool) -> RunSpec {
    RunSpec {
        goal: goal.into(),
        model: ModelId("gemini/gemini-3-flash-preview".into()),
        base_url: None,
        mode: Mode::Act,
        approval: ApprovalMode::Ask,
        max_steps: 40,
        most: protocol::budget::Most::default(),
        forecast: None,
        search,
        fence: None,
        unattended: Unattended::Wait,
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

#[tokio::test]
async fn every_event_keeps_its_number_and_gets_one_in_its_stream() {
    let (home, journal) = journal();
    let events = all(&journal).await;
    let numbers: Vec<u64> = events.iter().map(|event| event.seq().0).collect();
    assert_eq!(numbers, (1..=27).collect::<Vec<_>>());
    let times: Vec<i64> = events.iter().map(|event| event.time.0).collect();
    assert!(times.is_sorted() && times[0] >= 1_760_000_000_000, "as they were: {times:?}");
    for (stream, expected) in [
        ("app", vec![1, 16, 26, 27]),
        ("s-one", [2..=15, 22..=22].into_iter().flatten().collect()),
        ("s-two", [17..=21, 23..=25].into_iter().flatten().collect()),
    ] {
        let stream = StreamId(stream.into());
        let of_it: Vec<&Event> = events.iter().filter(|event| event.stream == stream).collect();
        assert_eq!(of_it.iter().map(|event| event.seq().0).collect::<Vec<_>>(), expected, "{stream}");
        let counted: Vec<u64> = of_it.iter().map(|event| event.position.unwrap().n).collect();
        assert_eq!(counted, (1..=of_it.len() as u64).collect::<Vec<_>>(), "{stream}");
        let page = journal.read(move |reader| reader.page(&stream, None, None, 100)).await.unwrap();
        assert_eq!(page.events.iter().collect::<Vec<_>>(), of_it);
    }
    // A second start finds it as it is.
    drop(journal);
    assert_eq!(all(&open(home.path())).await, events);
}

#[tokio::test]
async fn runs_are_read_with_a_whole_spec_and_without_a_fence() {
    let (_home, journal) = journal();
    let started: Vec<RunSpec> = all(&journal)
        .await
        .into_iter()
        .filter_map(|event| match event.body {
            EventBody::RunStarted(spec) => Some(*spec),
            _ => None,
        })
        .collect();
    assert_eq!(started, [spec("save the letter", false), spec("delete it", false), spec("look it up", true)]);
    assert!(started.iter().all(|spec| !spec.can_go_on()));
}

#[tokio::test]
async fn the_surface_of_an_old_answer_is_still_said() {
    let (_home, journal) = journal();
    let answers: Vec<EventBody> = all(&journal)
        .await
        .into_iter()
        .map(|event| event.body)
        .filter(|body| matches!(body, EventBody::ApprovalAnswered { .. }))
        .collect();
    let approval = ApprovalId::from_suffix("yes");
    assert_eq!(answers, [EventBody::ApprovalAnswered { approval, answer: Answer::Once, by: Surface::Cli }]);
}

#[tokio::test]
async fn sessions_open_runs_and_open_questions_are_there() {
    let (_home, journal) = journal();
    let (sessions, runs, questions) = journal
        .read(|reader| {
            Ok((reader.sessions(Which::Open, None, 10)?, reader.open_runs()?, reader.questions()?))
        })
        .await
        .unwrap();
    let shown: Vec<_> = sessions
        .iter()
        .map(|view| (view.title.as_str(), view.mode, view.search, view.last_run.clone()))
        .collect();
    // Of the call that was asked about, nothing came.
    let run = |id: &str, goal: &str, end, call: &str| {
        let tried = Tried { open: vec![CallId::from_suffix(call)], ..Tried::default() };
        Some(RunView { id: RunId::from_suffix(id), goal: goal.into(), end, tried: Some(Box::new(tried)) })
    };
    let nobody = RunEnd::NeedsApproval { approval: ApprovalId::from_suffix("nobody") };
    assert_eq!(
        shown,
        [
            ("Look it up, quickly", Mode::Act, true, run("open", "look it up", None, "4")),
            ("Save the letter", Mode::Plan, false, run("unattended", "delete it", Some(nobody), "2")),
        ]
    );
    assert_eq!(
        questions.iter().map(|question| question.approval.id.as_str()).collect::<Vec<_>>(),
        ["q-open"]
    );
    let [OpenRun { scope: of, spec: asked, started, in_doubt, approval, paused: None, turn: 1, .. }] =
        runs.as_slice()
    else {
        panic!("{runs:?}")
    };
    assert_eq!((of, asked), (&scope("two", "open"), &spec("look it up", true)));
    assert!(*started > Timestamp(1_760_000_000_000));
    assert_eq!(in_doubt.iter().map(|call| &call.id).collect::<Vec<_>>(), [&CallId::from_suffix("3")]);
    assert_eq!(*approval, Some(questions[0].approval.clone()));
}

#[tokio::test]
async fn an_open_question_can_be_answered_and_a_closed_one_cannot() {
    let (_home, journal) = journal();
    let decide = async |id: &str| {
        let (id, digest) = (ApprovalId::from_suffix(id), format!("digest-{id}"));
        journal.decide(&id, &digest, Answer::Deny, Surface::Chat).await.unwrap()
    };
    let Decided::Answered(_, event) = decide("open").await else { panic!("it is open") };
    assert_eq!((event.seq(), event.scope), (Seq(28), scope("two", "open")));
    assert_eq!(decide("yes").await, Decided::NotOpen);
    assert_eq!(decide("nobody").await, Decided::NotOpen);
}
