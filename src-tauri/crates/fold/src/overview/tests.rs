//! Where many sessions stand at once.

use protocol::event::Status;
use protocol::ids::{Seq, StreamId, Timestamp};
use protocol::settings::Settings;
use protocol::tool::{ApprovalMode, Mode};
use protocol::view::{Platform, Question, RunView};

use super::*;
use crate::sample::{event_of, of_run, question};

fn session(id: &str, end: Option<RunEnd>) -> SessionView {
    SessionView {
        id: SessionId(format!("s-{id}")),
        title: id.into(),
        mode: Mode::Act,
        approval: ApprovalMode::Ask,
        search: false,
        created: Timestamp(0),
        updated: Timestamp(0),
        last_run: Some(RunView {
            id: RunId(format!("r-{id}")),
            goal: format!("goal {id}"),
            end,
            tried: None,
        }),
        shelf: Default::default(),
        origin: None,
        space: None,
    }
}

fn view() -> Overview {
    Overview {
        seq: Seq(0),
        settings: Settings::default(),
        sessions: Vec::new(),
        questions: Vec::new(),
        runs: Vec::new(),
        desktop: DesktopView::default(),
        version: "0.1.0".into(),
        platform: Platform::Linux,
    }
}

fn passing(id: &str, body: EventBody) -> Event {
    event_of(of_run(&format!("s-{id}"), &format!("r-{id}")), 0, body)
}

fn begins(id: &str) -> [Event; 2] {
    [
        passing(id, EventBody::SessionChanged { session: Box::new(session(id, None)) }),
        status(id, Activity::Working),
    ]
}

fn status(id: &str, activity: Activity) -> Event {
    let status = Status {
        activity,
        detail: format!("{id} works"),
        step: 1,
        max_steps: 30,
        paused: false,
        wants_word: false,
        used_up: None,
        grants: Vec::new(),
        progress: None,
        asks_above: false,
    };
    passing(id, EventBody::StatusChanged { status })
}

fn ends(id: &str, end: RunEnd) -> Event {
    passing(id, EventBody::SessionChanged { session: Box::new(session(id, Some(end))) })
}

fn after(events: impl IntoIterator<Item = Event>) -> Overview {
    let mut view = view();
    for event in events {
        overview(&mut view, &event);
    }
    view
}

fn asked(id: &str) -> Question {
    let (session, run) = (SessionId(format!("s-{id}")), RunId(format!("r-{id}")));
    Question { session, run, approval: question(&format!("q-{id}")) }
}

fn state_of(view: &Overview, id: &str) -> SessionState {
    let known = view.sessions.iter().find(|known| known.title == id).unwrap();
    session_state(view, known)
}

#[test]
fn each_session_stands_where_its_own_run_does() {
    let mut view = after(begins("a").into_iter().chain(begins("b")).chain(begins("c")));
    view.questions = vec![asked("b"), asked("b")];
    view.runs[2].status.paused = true;
    assert_eq!(state_of(&view, "a"), SessionState::Works);
    assert_eq!(state_of(&view, "b"), SessionState::Asks { questions: 2 });
    assert_eq!(state_of(&view, "c"), SessionState::Paused);

    overview(&mut view, &ends("a", RunEnd::Stopped { reason: "by the user".into() }));
    assert_eq!(state_of(&view, "a"), SessionState::Ended(Outcome::Stopped));
    assert_eq!(view.runs.len(), 2, "the others go on");
    assert_eq!(run_in(&view, &SessionId("s-b".into())).map(|run| run.goal.as_str()), Some("goal b"));
    assert_eq!(run_in(&view, &SessionId("s-a".into())), None);

    view.sessions.push(SessionView { title: "new".into(), last_run: None, ..session("d", None) });
    assert_eq!(state_of(&view, "new"), SessionState::New);
}

#[test]
fn a_session_goes_to_the_top_where_its_run_begins_or_ends_and_not_in_between() {
    let mut view = after([begins("a"), begins("b")].into_iter().flatten());
    let order = |view: &Overview| view.sessions.iter().map(|one| one.title.clone()).collect::<Vec<_>>();
    assert_eq!(order(&view), ["b", "a"]);
    let now = |view: &mut Overview, session: SessionView| {
        let event = passing(&session.title.clone(), EventBody::SessionChanged { session: Box::new(session) });
        overview(view, &event);
    };
    now(&mut view, SessionView { updated: Timestamp(9), ..session("a", None) });
    assert_eq!(order(&view), ["b", "a"], "it works on");
    let stopped = RunEnd::Stopped { reason: String::new() };
    now(&mut view, SessionView { updated: Timestamp(10), ..session("a", Some(stopped)) });
    assert_eq!(order(&view), ["a", "b"]);
}

#[test]
fn an_agent_works_for_the_run_that_its_user_started() {
    let mut view = after(["root", "one", "two"].map(begins).into_iter().flatten());
    view.runs[1].parent = Some(view.runs[0].run.clone());
    view.runs[2].parent = Some(view.runs[1].run.clone());
    assert_eq!(root_of(&view, &view.runs[2].run), Some(&view.runs[0]));
    assert_eq!(root_of(&view, &view.runs[0].run), None);
    assert_eq!(root_of(&view, &RunId("r-none".into())), None);
}

#[test]
fn every_end_has_its_outcome() {
    let approval = question("q-1").id;
    for (end, outcome, name) in [
        (RunEnd::Completed { summary: String::new() }, Outcome::Completed, "completed"),
        (RunEnd::Failed { message: String::new(), hint: None }, Outcome::Failed, "failed"),
        (RunEnd::Stopped { reason: String::new() }, Outcome::Stopped, "stopped"),
        (RunEnd::NeedsApproval { approval }, Outcome::NeedsApproval, "needs_approval"),
        (RunEnd::Interrupted { reason: None }, Outcome::Interrupted, "interrupted"),
    ] {
        let view = after(begins("a").into_iter().chain([ends("a", end)]));
        let state = state_of(&view, "a");
        assert_eq!((state, state.name()), (SessionState::Ended(outcome), name));
    }
}

#[test]
fn one_has_the_desktop_and_the_others_wait_in_order() {
    let ids = ["a", "b", "c", "d", "e"].map(|id| RunId(format!("r-{id}")));
    let [a, b, c, d, e] = ids;
    let own = BesideView { run: e.clone(), window: None, pointer: None, wants_room: false, color: 0 };
    let desktop =
        DesktopView { owner: Some(a.clone()), waiting: vec![c.clone(), b.clone()], beside: vec![own] };
    let view = after([passing("a", EventBody::DesktopChanged { desktop })]);
    assert_eq!(desktop_of(&view, &a), Desktop::Has);
    assert_eq!(desktop_of(&view, &c), Desktop::Waits { before: 0 });
    assert_eq!(desktop_of(&view, &b), Desktop::Waits { before: 1 });
    assert_eq!(desktop_of(&view, &d), Desktop::Nothing);
    assert_eq!(desktop_of(&view, &e), Desktop::Beside);
}

#[test]
fn questions_are_told_whole_and_replace_those_before() {
    let asks = |questions| passing("a", EventBody::QuestionsChanged { questions });
    let view = after([asks(vec![asked("a"), asked("b")]), asks(vec![asked("b")])]);
    assert_eq!(view.questions, [asked("b")]);
}

#[test]
fn a_question_of_any_run_goes_before_the_work_of_another() {
    let mut view = after(begins("a").into_iter().chain(begins("b")));
    assert_eq!(activity(&view), (Activity::Working, "a works".to_owned()));
    overview(&mut view, &status("b", Activity::Waiting));
    assert_eq!(activity(&view), (Activity::Waiting, "b works".to_owned()));
}

#[test]
fn a_failure_is_shown_until_the_next_run() {
    let failed = ends("a", RunEnd::Failed { message: "bad key".into(), hint: None });
    let mut view = after(begins("a").into_iter().chain([failed]));
    assert_eq!(activity(&view), (Activity::Error, "bad key".to_owned()));
    begins("b").iter().for_each(|event| overview(&mut view, event));
    assert_eq!(activity(&view).0, Activity::Working);
}

#[test]
fn a_journal_that_cannot_be_written_stops_everything() {
    let failed = EventBody::JournalFailed { message: "disk full".into(), hint: None };
    let mut view = after(begins("a"));
    let app = Event { stream: StreamId::app(), ..passing("a", failed) };
    overview(&mut view, &app);
    assert_eq!((view.runs.len(), activity(&view).0), (0, Activity::Idle));
}
