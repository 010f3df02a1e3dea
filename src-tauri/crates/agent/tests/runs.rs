//! Whole runs through the handle: a scripted model, the real router, a fake desktop, a real journal.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test's way to say that it failed"
)]

use std::sync::Arc;
use std::time::Duration;

use agent::{AgentHandle, ModelSource, SettingsStore, Setup};
use desktop::fake::{Call, FakeDesktop};
use desktop::{Action, Desktop};
use journal::{Journal, SystemClock};
use models::scripted::{Scripted, Step};
use models::{Message, ModelError, ModelErrorKind, ProposedCall, SharedModel};
use protocol::command::{AnswerApproval, CallTool, ResumeRun, RunOverrides, StartRun, StopRun, Unattended};
use protocol::event::RunEnd;
use protocol::ids::{ModelId, SessionId};
use protocol::settings::Settings;
use protocol::tool::{Answer, ApprovalMode, Door, Effect, ToolErrorKind};
use protocol::turn::StopReason;
use protocol::{ErrorCode, ErrorView, Event, EventBody};
use serde_json::json;
use tokio::sync::broadcast;
use tools::{Limits, Router};

struct One(Arc<Scripted>);

impl ModelSource for One {
    fn open(&self, _: &ModelId, _: &Settings, _: Option<&str>) -> Result<SharedModel, ErrorView> {
        Ok(self.0.clone())
    }
}

struct Nowhere;

impl SettingsStore for Nowhere {
    fn save(&self, _: &Settings) -> Result<(), ErrorView> {
        Ok(())
    }
}

struct Bench {
    handle: AgentHandle,
    model: Arc<Scripted>,
    desktop: Arc<FakeDesktop>,
    home: tempfile::TempDir,
    events: broadcast::Receiver<Event>,
}

impl Bench {
    async fn new(steps: Vec<Step>) -> Self {
        Self::at(tempfile::tempdir().unwrap(), steps).await
    }

    async fn at(home: tempfile::TempDir, steps: Vec<Step>) -> Self {
        let model = Arc::new(Scripted::new(steps));
        let desktop = FakeDesktop::new();
        let journal = Arc::new(Journal::open(home.path(), Arc::new(SystemClock)).unwrap());
        let limits = Limits { settle: Duration::from_millis(1), ..limits() };
        let router = Router::builtin(desktop.clone() as Arc<dyn Desktop>, limits);
        let settings = Settings { step_delay_ms: 0, batch_delay_ms: 0, ..Settings::default() };
        let setup = Setup {
            journal,
            clock: Arc::new(SystemClock),
            router,
            models: Arc::new(One(model.clone())),
            settings,
            settings_store: Arc::new(Nowhere),
            version: "test".into(),
        };
        let handle = AgentHandle::init(setup).await.unwrap();
        let events = handle.subscribe();
        Self { handle, model, desktop, home, events }
    }

    async fn start(&self, approval: ApprovalMode) -> SessionId {
        self.start_with(None, RunOverrides { approval: Some(approval), ..RunOverrides::default() }).await
    }

    async fn start_with(&self, session: Option<SessionId>, overrides: RunOverrides) -> SessionId {
        let command = StartRun { goal: "press the button".into(), session, overrides };
        self.handle.start_run(command, Door::Cli).await.unwrap().session
    }

    async fn until(&mut self, wanted: impl Fn(&EventBody) -> bool) -> Event {
        loop {
            let event = tokio::time::timeout(Duration::from_secs(20), self.events.recv()).await;
            let event = event.expect("the event did not come within 20 s").unwrap();
            if wanted(&event.body) {
                return event;
            }
        }
    }

    async fn end(&mut self) -> RunEnd {
        match self.until(|body| matches!(body, EventBody::RunEnded { .. })).await.body {
            EventBody::RunEnded { end } => end,
            _ => unreachable!(),
        }
    }

    async fn question(&mut self) -> protocol::tool::Approval {
        match self.until(|body| matches!(body, EventBody::ApprovalRequested { .. })).await.body {
            EventBody::ApprovalRequested { approval } => approval,
            _ => unreachable!(),
        }
    }

    fn clicks(&self) -> usize {
        let is_click = |action: &&Action| matches!(action, Action::Click { .. });
        self.desktop.actions().iter().filter(is_click).count()
    }
}

fn limits() -> Limits {
    Limits {
        timeout: Duration::from_secs(5),
        retries: 0,
        batch_delay: Duration::ZERO,
        batch_actions: 8,
        ui_nodes: 200,
        jpeg_quality: 85,
        picture: protocol::geometry::PixelSize { width: 64, height: 64 },
        data_chars: 2_000,
        settle: Duration::from_millis(1),
    }
}

fn click() -> Step {
    Step::call("click", json!({ "x": 500, "y": 500, "reason": "press it" }))
}

fn done() -> Step {
    Step::call("done", json!({ "summary": "pressed it" }))
}

#[tokio::test]
async fn a_goal_is_worked_on_until_done_and_every_step_is_in_the_journal_with_its_picture() {
    let mut bench = Bench::new(vec![click(), done()]).await;
    let session = bench.start(ApprovalMode::Auto).await;
    assert_eq!(bench.end().await, RunEnd::Completed { summary: "pressed it".into() });
    assert_eq!(bench.clicks(), 1);
    let history = bench.handle.open_session(&session).await.unwrap();
    let kinds: Vec<&str> = history
        .events
        .iter()
        .map(|event| match event.body {
            EventBody::SessionCreated { .. } => "created",
            EventBody::RunStarted { .. } => "started",
            EventBody::TurnFinished { .. } => "turn",
            EventBody::ToolStarted { .. } => "intent",
            EventBody::ToolFinished { .. } => "outcome",
            EventBody::RunEnded { .. } => "ended",
            _ => "other",
        })
        .collect();
    assert_eq!(
        kinds,
        ["created", "started", "turn", "intent", "outcome", "turn", "intent", "outcome", "ended"]
    );
    let EventBody::ToolFinished { result, .. } = &history.events[4].body else { panic!("no outcome") };
    let picture = result.picture.as_ref().expect("a click leaves a picture");
    assert!(bench.handle.blob_path(&picture.blob.sha256).unwrap().exists());
    // The model was sent that picture with the call's own id.
    let requests = bench.model.requests();
    let Some(Message::ToolResults(answers)) = requests[1].messages.last() else {
        panic!("no result went back")
    };
    assert_eq!(answers[0].id.as_deref(), Some("p1"));
    assert!(answers[0].image.is_some());
}

#[tokio::test]
async fn unapproved_click_is_never_sent_and_a_yes_counts_for_that_call_alone() {
    let mut bench = Bench::new(vec![click(), click(), done()]).await;
    bench.start(ApprovalMode::Ask).await;
    let question = bench.question().await;
    assert_eq!(bench.clicks(), 0);
    let answer = |digest: &str, answer| AnswerApproval {
        approval: question.id.clone(),
        digest: digest.into(),
        answer,
    };
    let wrong = bench.handle.answer_approval(answer("0", Answer::Once), Door::Chat).await.unwrap_err();
    assert_eq!(wrong.code, ErrorCode::BadRequest);
    bench.handle.answer_approval(answer(&question.digest, Answer::Once), Door::Chat).await.unwrap();
    // The same call again asks again; the old answer is spent.
    let again = bench.question().await;
    assert_eq!(bench.clicks(), 1);
    let late =
        bench.handle.answer_approval(answer(&question.digest, Answer::Once), Door::Chat).await.unwrap_err();
    assert_eq!(late.code, ErrorCode::NotFound);
    let deny = AnswerApproval { approval: again.id, digest: again.digest, answer: Answer::Deny };
    bench.handle.answer_approval(deny, Door::Chat).await.unwrap();
    bench.end().await;
    assert_eq!(bench.clicks(), 1);
}

// bar: 25
#[tokio::test]
async fn a_yes_for_the_session_does_not_reach_another_session() {
    let mut bench = Bench::new(vec![click(), click(), done(), click(), done()]).await;
    bench.start(ApprovalMode::Thread).await;
    let question = bench.question().await;
    let yes = AnswerApproval { approval: question.id, digest: question.digest, answer: Answer::Thread };
    bench.handle.answer_approval(yes, Door::Chat).await.unwrap();
    bench.end().await;
    assert_eq!(bench.clicks(), 2);
    bench.handle.stop_run(StopRun { run: None }, Door::Cli).await.unwrap();
    let overrides = RunOverrides {
        approval: Some(ApprovalMode::Thread),
        unattended: Unattended::End,
        ..RunOverrides::default()
    };
    bench.start_with(None, overrides).await;
    assert!(matches!(bench.end().await, RunEnd::NeedsApproval { .. }));
    assert_eq!(bench.clicks(), 2);
}

#[tokio::test]
async fn bad_calls_go_back_as_errors_and_the_run_goes_on() {
    let bad = Step::calls(vec![
        ("launchMissiles", json!({})),
        ("click", json!({ "x": 5000, "y": 1 })),
        ("click", json!({ "x": "left" })),
    ]);
    let mut bench = Bench::new(vec![bad, done()]).await;
    bench.start(ApprovalMode::Auto).await;
    assert!(matches!(bench.end().await, RunEnd::Completed { .. }));
    assert_eq!(bench.clicks(), 0);
    let requests = bench.model.requests();
    let Some(Message::ToolResults(answers)) = requests[1].messages.last() else { panic!("no results") };
    let kinds: Vec<_> = answers.iter().map(|answer| answer.response["error"]["kind"].clone()).collect();
    assert_eq!(kinds, [json!("unknown_tool"), json!("bad_arguments"), json!("bad_arguments")]);
}

#[tokio::test]
async fn stop_ends_a_wait_for_the_model_at_once_and_releases_what_is_held() {
    let mut bench = Bench::new(vec![Step::silence()]).await;
    bench.start(ApprovalMode::Auto).await;
    let started = std::time::Instant::now();
    bench.handle.stop_run(StopRun { run: None }, Door::Tray).await.unwrap();
    assert!(started.elapsed() < Duration::from_secs(1));
    assert_eq!(bench.end().await, RunEnd::Stopped { reason: "by the user, in the tray menu".into() });
    assert!(bench.desktop.calls().contains(&Call::Released));
}

#[tokio::test]
async fn a_call_that_a_stop_cuts_is_recorded_as_unknown() {
    let mut bench = Bench::new(vec![Step::call("type", json!({ "text": "hello" })), done()]).await;
    bench.desktop.edit(|scene| scene.delay = Duration::from_secs(30));
    let session = bench.start(ApprovalMode::Auto).await;
    bench.until(|body| matches!(body, EventBody::ToolStarted { .. })).await;
    bench.handle.stop_run(StopRun { run: None }, Door::Cli).await.unwrap();
    let events = bench.handle.open_session(&session).await.unwrap().events;
    let results: Vec<_> = events
        .iter()
        .filter_map(|event| match &event.body {
            EventBody::ToolFinished { result, .. } => Some(result),
            _ => None,
        })
        .collect();
    assert_eq!(results.len(), 1);
    assert_eq!(results[0].error.as_ref().map(|error| error.kind), Some(ToolErrorKind::Cancelled));
    assert!(matches!(results[0].effect, Effect::Unknown | Effect::Refused));
    assert!(matches!(events.last().unwrap().body, EventBody::RunEnded { end: RunEnd::Stopped { .. } }));
}

#[tokio::test]
async fn the_failsafe_corner_stops_the_run() {
    let mut bench = Bench::new(vec![Step::silence()]).await;
    bench.start(ApprovalMode::Auto).await;
    bench.desktop.interrupt(tools::Interruption::Corner);
    assert!(matches!(bench.end().await, RunEnd::Stopped { reason } if reason.starts_with("failsafe")));
}

async fn bench_with(steps: Vec<Step>, patch: serde_json::Value) -> Bench {
    let bench = Bench::new(steps).await;
    bench.handle.update_settings(serde_json::from_value(patch).unwrap()).await.unwrap();
    bench
}

#[tokio::test]
async fn a_corner_means_nothing_where_the_settings_say_so_and_all_as_soon_as_they_say_otherwise() {
    let mut bench = bench_with(vec![done(), Step::silence()], json!({ "failsafe": false })).await;
    bench.desktop.interrupt(tools::Interruption::Corner);
    bench.desktop.end_interruption();
    bench.start(ApprovalMode::Auto).await;
    bench.end().await;
    let patch = serde_json::from_value(json!({ "failsafe": true })).unwrap();
    bench.handle.update_settings(patch).await.unwrap();
    bench.start(ApprovalMode::Auto).await;
    bench.desktop.interrupt(tools::Interruption::Corner);
    assert!(matches!(bench.end().await, RunEnd::Stopped { reason } if reason.starts_with("failsafe")));
}

// bar: C78
#[tokio::test]
async fn the_users_input_cuts_the_act_under_way_pauses_the_run_and_the_model_has_to_look_again() {
    let calls = ["type", "click", "screenshot"].map(|name| ProposedCall {
        id: None,
        name: name.into(),
        arguments: match name {
            "type" => json!({ "text": "hello" }),
            "click" => json!({ "x": 1, "y": 1 }),
            _ => json!({}),
        },
    });
    let steps = vec![Step::turn("", calls.to_vec(), StopReason::ToolCalls), done()];
    let mut bench = Bench::new(steps).await;
    bench.desktop.edit(|scene| scene.delay = Duration::from_secs(600));
    bench.start(ApprovalMode::Auto).await;
    let started = |body: &EventBody| matches!(body, EventBody::ToolStarted { .. });
    bench.until(started).await;
    let released = bench.desktop.releases();
    let begun = std::time::Instant::now();
    bench.desktop.interrupt(tools::Interruption::UserInput);
    let paused = bench.until(|body| matches!(body, EventBody::RunPaused { .. })).await;
    println!("paused after {:?}", begun.elapsed());
    assert!(begun.elapsed() < Duration::from_millis(100), "{:?}", begun.elapsed());
    assert!(bench.desktop.releases() > released);
    assert!(matches!(paused.body, EventBody::RunPaused { reason } if reason.contains("mouse")));
    let cut = bench.until(|body| matches!(body, EventBody::ToolFinished { .. })).await;
    let EventBody::ToolFinished { result, .. } = cut.body else { unreachable!() };
    assert_eq!(result.error.map(|error| error.kind), Some(ToolErrorKind::Cancelled));
    assert!(matches!(result.effect, Effect::Unknown | Effect::Refused));
    bench.desktop.end_interruption();
    bench.desktop.edit(|scene| scene.delay = Duration::ZERO);
    bench.handle.resume_run(ResumeRun { run: None }, Door::Chat).await.unwrap();
    assert!(matches!(bench.end().await, RunEnd::Completed { .. }));
    // The click was meant for a screen that is no more; looking is never out of date.
    assert_eq!(bench.clicks(), 0);
    let messages = bench.model.requests()[1].messages.clone();
    let [.., Message::ToolResults(answers), Message::User(parts)] = &messages[..] else {
        panic!("{messages:?}")
    };
    assert!(answers[1].response.to_string().contains("look again"), "{answers:?}");
    assert_eq!(answers[2].response["effect"], json!("confirmed"));
    assert!(format!("{parts:?}").contains("look again"), "{parts:?}");
}

#[tokio::test]
async fn the_users_input_is_no_pause_where_the_settings_say_so_while_a_question_is_open_or_when_paused() {
    let mut bench = bench_with(vec![done()], json!({ "pauseOnUserInput": false })).await;
    bench.start(ApprovalMode::Auto).await;
    bench.desktop.interrupt(tools::Interruption::UserInput);
    bench.desktop.end_interruption();
    assert!(matches!(bench.end().await, RunEnd::Completed { .. }));

    let mut bench = Bench::new(vec![click(), done()]).await;
    bench.start(ApprovalMode::Ask).await;
    let question = bench.question().await;
    bench.desktop.interrupt(tools::Interruption::UserInput);
    tokio::time::sleep(Duration::from_millis(50)).await;
    bench.desktop.end_interruption();
    let answer = AnswerApproval { approval: question.id, digest: question.digest, answer: Answer::Once };
    bench.handle.answer_approval(answer, Door::Chat).await.unwrap();
    assert!(matches!(bench.end().await, RunEnd::Completed { .. }));
    assert_eq!(bench.clicks(), 1);
}

#[tokio::test]
async fn nothing_is_held_while_a_question_is_open() {
    let mut bench = Bench::new(vec![click(), done()]).await;
    bench.start(ApprovalMode::Ask).await;
    bench.question().await;
    assert!(bench.desktop.releases() > 0);
}

#[tokio::test]
async fn a_second_run_is_refused_while_one_is_under_way() {
    let bench = Bench::new(vec![Step::silence()]).await;
    bench.start(ApprovalMode::Auto).await;
    let command = StartRun { goal: "another".into(), session: None, overrides: RunOverrides::default() };
    assert_eq!(bench.handle.start_run(command, Door::Cli).await.unwrap_err().code, ErrorCode::Busy);
    let acting = CallTool { tool: "click".into(), arguments: json!({ "x": 1, "y": 1 }) };
    assert_eq!(bench.handle.call_tool(acting, Door::Cli).await.unwrap_err().code, ErrorCode::Busy);
    let looking = CallTool { tool: "screenshot".into(), arguments: json!({}) };
    assert_eq!(bench.handle.call_tool(looking, Door::Cli).await.unwrap().effect, Effect::Confirmed);
}

#[tokio::test(start_paused = true)]
async fn an_overloaded_model_is_asked_again_and_a_wrong_key_is_not() {
    let overloaded = || Step::fail(ModelError::new(ModelErrorKind::Overloaded, "overloaded"));
    let mut bench = Bench::new(vec![overloaded(), overloaded(), done()]).await;
    bench.start(ApprovalMode::Auto).await;
    assert!(matches!(bench.end().await, RunEnd::Completed { .. }));
    let mut bench =
        Bench::new(vec![Step::fail(ModelError::new(ModelErrorKind::Auth, "bad key")), done()]).await;
    bench.start(ApprovalMode::Auto).await;
    assert!(matches!(bench.end().await, RunEnd::Failed { message, .. } if message == "bad key"));
    assert_eq!(bench.model.steps_left(), 1);
}

// bar: 62
#[tokio::test]
async fn no_tool_of_a_turn_cut_by_its_token_limit_ever_runs() {
    let call = ProposedCall { id: None, name: "click".into(), arguments: json!({ "x": 1, "y": 1 }) };
    let mut bench = Bench::new(vec![Step::turn("", vec![call], StopReason::MaxTokens)]).await;
    bench.start(ApprovalMode::Auto).await;
    assert!(matches!(bench.end().await, RunEnd::Failed { .. }));
    assert_eq!(bench.clicks(), 0);
}

#[tokio::test]
async fn a_run_cut_off_by_a_crash_is_interrupted_at_the_next_start_and_its_call_unknown() {
    let mut bench = Bench::new(vec![Step::call("type", json!({ "text": "hello" }))]).await;
    bench.desktop.edit(|scene| scene.delay = Duration::from_secs(600));
    let session = bench.start(ApprovalMode::Auto).await;
    bench.until(|body| matches!(body, EventBody::ToolStarted { .. })).await;
    // A second mind on the same folder sees what a start after a crash sees: an intent without an outcome.
    let Bench { home, handle, .. } = bench;
    let copy = tempfile::tempdir().unwrap();
    for entry in std::fs::read_dir(home.path()).unwrap() {
        let entry = entry.unwrap();
        if entry.file_type().unwrap().is_file() {
            std::fs::copy(entry.path(), copy.path().join(entry.file_name())).unwrap();
        }
    }
    let mut next = Bench::at(copy, vec![done()]).await;
    let events = next.handle.open_session(&session).await.unwrap().events;
    let tail: Vec<_> = events.iter().rev().take(2).map(|event| &event.body).collect();
    assert!(matches!(tail[0], EventBody::RunEnded { end: RunEnd::Interrupted }));
    assert!(matches!(tail[1], EventBody::ToolFinished { result, .. } if result.effect == Effect::Unknown));
    // The session goes on, and the model is told.
    let overrides = RunOverrides { approval: Some(ApprovalMode::Auto), ..RunOverrides::default() };
    next.start_with(Some(session), overrides).await;
    next.end().await;
    let messages = next.model.requests()[0].messages.clone();
    assert_eq!(messages.len(), 4);
    let Message::ToolResults(answers) = &messages[2] else { panic!("the cut call has no answer") };
    assert_eq!(answers[0].response["effect"], json!("unknown"));
    handle.shutdown().await;
}

#[tokio::test]
async fn settings_out_of_range_are_refused_and_nothing_is_changed() {
    let bench = Bench::new(vec![]).await;
    let patch = serde_json::from_value(json!({ "maxSteps": 0 })).unwrap();
    assert_eq!(bench.handle.update_settings(patch).await.unwrap_err().code, ErrorCode::BadRequest);
    assert_eq!(bench.handle.snapshot().await.unwrap().settings.max_steps, 30);
    let patch = serde_json::from_value(json!({ "maxSteps": 5 })).unwrap();
    assert_eq!(bench.handle.update_settings(patch).await.unwrap().max_steps, 5);
}
