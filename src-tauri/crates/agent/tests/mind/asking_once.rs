//! What a question shows is of one look and without secrets, and it is decided once, whoever answers at the same time.

use std::sync::Arc;

use desktop::fake::Call;
use desktop::{Action, Area, Shot, WindowView};
use futures::FutureExt;
use futures::future::BoxFuture;
use models::scripted::Step;
use protocol::command::{AnswerApproval, PauseRun, ResumeRun, Secret as Value, StopRun};
use protocol::event::RunEnd;
use protocol::geometry::NormRect;
use protocol::ids::ApprovalId;
use protocol::principal::Surface;
use protocol::tool::{Answer, Approval, ApprovalMode, Risk};
use protocol::{ErrorCode, EventBody};
use serde_json::json;
use tools::{Router, Secret, SecretScope, SecretSource};

use crate::asking::{answer, refusals, window};
use crate::bench::{Bench, click, done, history};

/// The window that was looked at first goes when the run lets go of the desktop, and a terminal is there in its place.
#[tokio::test]
async fn why_it_is_asked_and_what_a_yes_is_bound_to_are_of_one_look() {
    let move_there = ("move", json!({ "x": 500, "y": 500 }));
    let typing = ("type", json!({ "text": "hello", "reason": "to greet" }));
    let mut bench = Bench::new(vec![Step::calls(vec![move_there, typing]), done()]).await;
    bench.show_editor();
    bench.desktop.react(|action, scene| {
        if matches!(action, Action::Move { .. }) {
            let terminal = WindowView { app: "XTerm".into(), pid: Some(9), ..window(9, "sh") };
            scene.windows_after_release = Some(vec![terminal]);
        }
    });
    bench.start(ApprovalMode::Ask).await;
    let asked = bench.question().await;
    assert_eq!(asked.window.as_ref().map(|window| window.title.as_str()), Some("sh"));
    assert_eq!(asked.risk, Risk::Consequential);
    assert!(asked.reason.contains("XTerm is a terminal"), "{}", asked.reason);
    bench.handle.answer_approval(answer(&asked, Answer::Deny), Surface::Dashboard).await.unwrap();
    bench.end().await;
}

const VALUE: &str = "canary 0815-4711";

struct OneSecret;

impl SecretSource for OneSecret {
    fn all(&self) -> BoxFuture<'_, Arc<[Secret]>> {
        let place = SecretScope::parse("https://bank.example").unwrap();
        let secret = Secret { name: "bank".into(), place, value: Value(VALUE.into()) };
        async move { Arc::from([secret]) }.boxed()
    }
}

#[tokio::test]
async fn what_a_question_shows_has_no_value_of_a_secret() {
    let close = Step::call("changeWindow", json!({ "window": 1, "change": "close" }));
    let mut bench = Bench::other(vec![close, done()], |setup| {
        let router = std::mem::replace(&mut setup.router, Router::builtin(desktop::fake::FakeDesktop::new()));
        setup.router = router.with_secrets(Arc::new(OneSecret));
    })
    .await;
    let title = format!("Logged in as {VALUE}");
    bench.desktop.edit(|scene| scene.windows = vec![window(1, &title)]);
    let session = bench.start(ApprovalMode::Ask).await;
    let asked = bench.question().await;
    let titles = [&asked.window, &asked.target].map(|shown| shown.as_ref().unwrap().title.as_str());
    assert_eq!(titles, ["Logged in as {{bank}}"; 2]);
    bench.handle.answer_approval(answer(&asked, Answer::Deny), Surface::Dashboard).await.unwrap();
    bench.end().await;
    let all = format!("{:?}", history(&bench.handle, &session).await);
    assert!(!all.contains(VALUE), "{all}");
}

const SURFACES: [Surface; 4] = [Surface::Dashboard, Surface::Chat, Surface::Overlay, Surface::Tray];

// bar: C27
#[tokio::test(flavor = "multi_thread")]
async fn each_of_many_questions_is_decided_once_by_whichever_of_a_hundred_answers_is_first() {
    decide_at_once(&[Answer::Once]).await;
    decide_at_once(&[Answer::Once, Answer::Deny]).await;
}

async fn decide_at_once(said: &[Answer]) {
    const QUESTIONS: usize = 5;
    const AT_ONCE: usize = 100;
    let may_deny = said.contains(&Answer::Deny);
    let clicks = (0..QUESTIONS).map(|_| click());
    let mut bench = Bench::new(clicks.chain([done()]).collect()).await;
    bench.show_editor();
    let session = bench.start(ApprovalMode::Ask).await;
    let mut said_yes = 0;
    for _ in 0..QUESTIONS {
        let asked = bench.question().await;
        // Of another call, and of no question at all.
        let other = AnswerApproval { digest: "0".repeat(64), ..answer(&asked, Answer::Once) };
        let unknown = AnswerApproval {
            approval: ApprovalId::from_suffix("nobody-asked"),
            ..answer(&asked, Answer::Once)
        };
        for (wrong, code) in [(other, ErrorCode::BadRequest), (unknown, ErrorCode::NotFound)] {
            let refused = bench.handle.answer_approval(wrong, Surface::Chat).await.unwrap_err();
            assert_eq!(refused.code, code);
        }
        let answers = (0..AT_ONCE).map(|number| {
            let what = said[number % said.len()].clone();
            let (handle, given) = (bench.handle.clone(), answer(&asked, what.clone()));
            tokio::spawn(async move {
                let taken = handle.answer_approval(given, SURFACES[number % 4]).await;
                taken.map(|()| what).map_err(|error| error.code)
            })
        });
        let mut taken = Vec::new();
        for one in futures::future::join_all(answers.collect::<Vec<_>>()).await {
            match one.unwrap() {
                Ok(what) => taken.push(what),
                Err(code) => assert_eq!(code, ErrorCode::NotFound),
            }
        }
        let [decided] = &taken[..] else { panic!("decided {} times", taken.len()) };
        said_yes += usize::from(*decided == Answer::Once);
        // Late, and the other way round.
        for late in said {
            let late = answer(&asked, late.clone());
            let late = bench.handle.answer_approval(late, Surface::Dashboard).await;
            assert_eq!(late.unwrap_err().code, ErrorCode::NotFound);
        }
        // Each no that came after the yes has paused the run, if it had not ended by then.
        if may_deny {
            drop(bench.handle.resume_run(ResumeRun { run: None }).await);
        }
    }
    bench.end().await;
    // A no that comes after the yes beats it, where nothing was done yet.
    assert!(bench.clicks() == said_yes || (may_deny && bench.clicks() < said_yes), "{}", bench.clicks());
    let events = history(&bench.handle, &session).await;
    let given = |what: &Answer| {
        let is_it =
            |body: &EventBody| matches!(body, EventBody::ApprovalAnswered { answer, .. } if answer == what);
        events.iter().filter(|event| is_it(&event.body)).count()
    };
    assert_eq!((given(&Answer::Once), given(&Answer::Deny)), (said_yes, QUESTIONS - said_yes));
}

/// The desktop is another's while it is allowed: nothing is done yet when the no comes.
// bar: C27
#[tokio::test]
async fn a_late_no_to_what_was_not_begun_beats_the_yes_and_what_it_allowed_for_longer() {
    let mut bench = Bench::new(vec![click(), click(), Step::silence()]).await;
    bench.show_editor();
    let session = bench.start(ApprovalMode::Thread).await;
    let asked = bench.question().await;
    bench.handle.pause_run(PauseRun { run: None }, Surface::Dashboard).await.unwrap();
    bench.until(|body| matches!(body, EventBody::RunPaused { .. })).await;
    bench.handle.answer_approval(answer(&asked, Answer::Thread), Surface::Dashboard).await.unwrap();
    bench.handle.answer_approval(answer(&asked, Answer::Deny), Surface::Chat).await.unwrap_err();
    bench.until(|body| matches!(body, EventBody::GrantTakenBack { .. })).await;
    bench.handle.resume_run(ResumeRun { run: None }).await.unwrap();
    let again = bench.question().await;
    assert_ne!(again.id, asked.id, "the next like it asks");
    assert_eq!(bench.clicks(), 0);
    let told = refusals(&bench, &session).await;
    assert!(told[0].contains("took the yes back"), "{told:?}");
    bench.handle.stop_run(StopRun { run: None }, Surface::Dashboard).await.unwrap();
    bench.end().await;
}

// bar: C27
#[tokio::test]
async fn a_no_that_comes_after_the_yes_pauses_the_run_and_one_after_a_no_does_nothing() {
    for (first, pauses) in [(Answer::Once, true), (Answer::Deny, false)] {
        let mut bench = Bench::new(vec![click(), Step::silence()]).await;
        bench.show_editor();
        let session = bench.start(ApprovalMode::Ask).await;
        let asked = bench.question().await;
        bench.handle.answer_approval(answer(&asked, first), Surface::Dashboard).await.unwrap();
        let no = bench.handle.answer_approval(answer(&asked, Answer::Deny), Surface::Chat).await;
        let told = no.unwrap_err();
        assert_eq!((told.code, told.hint.is_some()), (ErrorCode::NotFound, pauses), "{told:?}");
        if pauses {
            bench.until(|body| matches!(body, EventBody::RunPaused { .. })).await;
        }
        bench.handle.stop_run(StopRun { run: None }, Surface::Dashboard).await.unwrap();
        bench.end().await;
        let events = history(&bench.handle, &session).await;
        let paused = events.iter().any(|event| matches!(event.body, EventBody::RunPaused { .. }));
        assert_eq!(paused, pauses);
    }
}

// bar: C27
#[tokio::test]
async fn questions_of_two_runs_are_answered_in_any_order_each_for_its_own_run() {
    let mut bench = Bench::new(vec![click(), click(), done(), done()]).await;
    bench.show_editor();
    let mut asked = Vec::new();
    for _ in 0..2 {
        bench.start(ApprovalMode::Ask).await;
        asked.push(bench.question().await);
    }
    // The digest is the same, the question is not.
    assert_eq!(asked[0].digest, asked[1].digest);
    bench.handle.answer_approval(answer(&asked[1], Answer::Deny), Surface::Dashboard).await.unwrap();
    bench.end().await;
    assert_eq!(bench.clicks(), 0);
    bench.handle.answer_approval(answer(&asked[0], Answer::Once), Surface::Dashboard).await.unwrap();
    bench.end().await;
    assert_eq!(bench.clicks(), 1);
}

/// The picture is of the question alone: a call that does not ask is not looked at for it.
#[tokio::test]
async fn a_question_has_a_picture_of_its_target_and_a_call_that_does_not_ask_costs_none() {
    let cuts = |bench: &Bench| {
        let is_cut = |call: &Call| matches!(call, Call::Screenshot(Shot { area: Area::Region { .. }, .. }));
        bench.desktop.calls().iter().filter(|call| is_cut(call)).count()
    };
    let mut bench = Bench::new(vec![click(), done()]).await;
    bench.start(ApprovalMode::Auto).await;
    assert!(matches!(bench.end().await, RunEnd::Completed { .. }));
    assert_eq!((bench.clicks(), cuts(&bench)), (1, 0));

    let mut bench = Bench::new(vec![click(), done()]).await;
    bench.start(ApprovalMode::Ask).await;
    let asked = bench.question().await;
    let picture = asked.picture.clone().unwrap();
    assert_eq!((picture.width, picture.height, cuts(&bench)), (480, 270, 1));
    let jpeg = std::fs::read(bench.handle.blob_path(&picture.blob.sha256).unwrap()).unwrap();
    assert!(jpeg.starts_with(&[0xff, 0xd8, 0xff]));
    bench.handle.answer_approval(answer(&asked, Answer::Once), Surface::Dashboard).await.unwrap();
    bench.end().await;
    assert_eq!((bench.clicks(), cuts(&bench)), (1, 1));

    // Journals of before have none.
    let mut old = serde_json::to_value(&asked).unwrap();
    old.as_object_mut().unwrap().remove("picture").unwrap();
    assert_eq!(serde_json::from_value::<Approval>(old).unwrap().picture, None);
}

/// Who changes a text does so in a window of ours, which has the keyboard then: the field that it is for is told by nobody.
#[tokio::test]
async fn a_changed_text_is_asked_about_with_the_picture_of_its_field() {
    let field = desktop::Element {
        reference: "e1".into(),
        role: "text".into(),
        name: "Letter".into(),
        states: vec!["focused".into(), "editable".into()],
        bounds: NormRect { x: 200.0, y: 200.0, width: 300.0, height: 100.0 },
        ..desktop::Element::default()
    };
    let typing = || Step::call("type", json!({ "text": "helo", "reason": "to greet" }));
    for is_another in [false, true] {
        let mut bench = Bench::new(vec![typing(), done()]).await;
        bench.show_editor();
        bench.desktop.edit(|scene| scene.snapshot.elements = vec![field.clone()]);
        bench.start(ApprovalMode::Ask).await;
        let asked = bench.question().await;
        assert!(asked.picture.is_some());
        bench.desktop.edit(|scene| {
            scene.snapshot.elements.clear();
            if is_another {
                scene.windows = vec![window(2, "another")];
            }
        });
        let edit = Answer::Edit { arguments: json!({ "text": "hello", "reason": "to greet" }) };
        bench.handle.answer_approval(answer(&asked, edit), Surface::Dashboard).await.unwrap();
        let again = bench.question().await;
        let expected = asked.picture.filter(|_| !is_another);
        assert_eq!((again.call.arguments["text"].as_str(), again.picture), (Some("hello"), expected));
    }
}
