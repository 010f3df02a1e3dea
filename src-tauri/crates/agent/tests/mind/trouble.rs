//! What goes wrong around the mind: a keychain that hangs, a journal that cannot be written, a caller that goes away.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use agent::{ModelSource, OpenModel, SettingsStore};
use futures::FutureExt;
use futures::future::BoxFuture;
use models::scripted::{Scripted, Step};
use models::{ModelError, ModelErrorKind, SharedModel, TurnEvent};
use protocol::command::{CallTool, ResumeRun, RunOverrides, Unattended};
use protocol::event::RunEnd;
use protocol::ids::ModelId;
use protocol::principal::Surface;
use protocol::settings::Settings;
use protocol::tool::{ApprovalMode, Effect, Risk, ToolError};
use protocol::turn::{Cost, Usage, Usd};
use protocol::{ErrorCode, ErrorView, EventBody};
use serde_json::{Value, json};
use tools::{Env, Group, Needs, Plan, Spec, Tool, Verify};

use crate::asking::crashed;
use crate::bench::{Bench, One, click, done, goal, history};

/// A keychain whose prompt stands open.
struct Hanging;

impl ModelSource for Hanging {
    fn open<'a>(&'a self, _: OpenModel<'a>) -> BoxFuture<'a, Result<SharedModel, ErrorView>> {
        std::future::pending().boxed()
    }
}

#[tokio::test]
async fn a_keychain_that_hangs_holds_up_only_the_run_that_needs_it() {
    let bench = Bench::other(vec![], |setup| setup.models = Arc::new(Hanging)).await;
    let mut asking = Box::pin(bench.handle.start_run(goal(None, RunOverrides::default()), Surface::Cli));
    let looking = CallTool { tool: "screenshot".into(), arguments: json!({}), asked: None };
    tokio::select! {
        started = &mut asking => panic!("started without a key: {started:?}"),
        looked = bench.handle.call_tool(looking) => {
            assert_eq!(looked.unwrap().effect, Effect::Confirmed);
        }
    }
    assert_eq!(bench.handle.overview().await.unwrap().sessions, []);
}

/// Says when it was asked.
struct NotingSource(One, Arc<AtomicBool>);

impl ModelSource for NotingSource {
    fn open<'a>(&'a self, wanted: OpenModel<'a>) -> BoxFuture<'a, Result<SharedModel, ErrorView>> {
        self.1.store(true, Ordering::SeqCst);
        self.0.open(wanted)
    }
}

#[tokio::test]
async fn a_run_that_nobody_waits_for_any_more_does_not_begin() {
    let asked = Arc::new(AtomicBool::new(false));
    let told = asked.clone();
    let bench = Bench::other(vec![], |setup| {
        let silent = One(Arc::new(Scripted::new(vec![Step::silence()])));
        setup.models = Arc::new(NotingSource(silent, told));
    })
    .await;
    let mut asking = Box::pin(bench.handle.start_run(goal(None, RunOverrides::default()), Surface::Cli));
    // Up to the moment when it is handed to the orchestrator, and not further.
    loop {
        assert!(futures::poll!(&mut asking).is_pending());
        if asked.load(Ordering::SeqCst) {
            break;
        }
        tokio::task::yield_now().await;
    }
    drop(asking);
    assert_eq!(bench.handle.overview().await.unwrap().sessions, []);
}

#[tokio::test]
async fn after_the_journal_failed_nothing_is_accepted_even_where_it_could_be_written_again() {
    // bar: C70
    let mut bench = Bench::new(vec![done()]).await;
    bench.clock.break_once();
    let call = || CallTool { tool: "screenshot".into(), arguments: json!({}), asked: None };
    bench.handle.call_tool(call()).await.unwrap_err();
    bench.until(|body| matches!(body, EventBody::JournalFailed { .. })).await;
    let refused = bench.handle.call_tool(call()).await.unwrap_err();
    assert_eq!(refused.code, ErrorCode::Storage);
    let refused =
        bench.handle.start_run(goal(None, RunOverrides::default()), Surface::Cli).await.unwrap_err();
    assert_eq!(refused.code, ErrorCode::Storage);
    assert_eq!(bench.handle.overview().await.unwrap().sessions, []);
}

#[tokio::test]
async fn whichever_write_fails_nothing_is_done_whose_intent_is_not_on_disk() {
    let auto = RunOverrides { approval: Some(ApprovalMode::Auto), ..RunOverrides::default() };
    let mut seen = Vec::new();
    for time in 1..=9 {
        let mut bench = Bench::new(vec![click(), done()]).await;
        bench.clock.break_at(time);
        let started = bench.handle.start_run(goal(None, auto.clone()), Surface::Cli).await;
        let is_over =
            |body: &EventBody| matches!(body, EventBody::JournalFailed { .. } | EventBody::RunEnded { .. });
        bench.until(is_over).await;
        let next = Bench::at(crashed(&bench), vec![]).await;
        let intents = match started {
            Ok(started) => history(&next.handle, &started.session).await.into_iter().filter(is_click).count(),
            Err(_) => 0,
        };
        assert!(bench.clicks() <= intents, "write {time}: {} of {intents}", bench.clicks());
        seen.push((intents, bench.clicks()));
    }
    // Of all kinds: before the intent, with it, and after the act.
    assert!(seen.contains(&(0, 0)) && seen.contains(&(1, 1)), "{seen:?}");
}

fn is_click(event: &protocol::Event) -> bool {
    matches!(&event.body, EventBody::ToolStarted { call, .. } if call.tool == "click")
}

fn nested(depth: usize) -> Value {
    (0..depth).fold(json!(1), |inner, _| json!([inner]))
}

#[tokio::test]
async fn a_turn_that_cannot_be_journaled_fails_its_run_and_not_the_journal() {
    let deep = Step::call("think", json!({ "thought": nested(200) }));
    let mut bench = Bench::new(vec![deep, done()]).await;
    bench.start(ApprovalMode::Auto).await;
    match bench.end().await {
        RunEnd::Failed { message, .. } => assert!(message.contains("cannot journal"), "{message}"),
        other => panic!("{other:?}"),
    }
    bench.handle.stop_run(protocol::command::StopRun { run: None }, Surface::Cli).await.unwrap();
    bench.start(ApprovalMode::Auto).await;
    assert!(matches!(bench.end().await, RunEnd::Completed { .. }));
}

/// A tool that can be planned so often, and then breaks whoever plans it.
struct Fragile {
    spec: Spec,
    plans: AtomicUsize,
}

impl Fragile {
    fn planned(times: usize) -> Arc<Self> {
        let spec = Spec {
            name: "fragile".into(),
            description: "Breaks.".into(),
            schema: json!({ "type": "object" }),
            group: Group::Mind,
            needs: Needs::Nothing,
            verify: Verify::Own,
            reads: false,
            egress: false,
            risk: Risk::Observe,
        };
        Arc::new(Self { spec, plans: AtomicUsize::new(times) })
    }
}

impl Tool for Fragile {
    fn spec(&self) -> &Spec {
        &self.spec
    }

    fn plan(&self, _: Value, _: &Env<'_>) -> Result<Plan, ToolError> {
        let left = self.plans.fetch_sub(1, Ordering::SeqCst);
        assert!(left > 0, "the tool breaks, as it was told to");
        Ok(Plan::of_steps(Vec::new()))
    }
}

fn outcomes(events: &[protocol::Event]) -> Vec<Effect> {
    let outcome = |event: &protocol::Event| match &event.body {
        EventBody::ToolFinished { result, .. } => Some(result.effect),
        _ => None,
    };
    events.iter().filter_map(outcome).collect()
}

#[tokio::test]
async fn a_call_whose_task_breaks_down_has_an_outcome_all_the_same() {
    // Planned when it is assessed, when its turn has come, and when it may run; then as it runs.
    let breaks = |setup: &mut agent::Setup| setup.router.registry().add(Fragile::planned(3)).unwrap();
    let mut bench = Bench::other(vec![Step::call("fragile", json!({}))], breaks).await;
    let session = bench.start(ApprovalMode::Auto).await;
    assert!(matches!(bench.end().await, RunEnd::Failed { message, .. } if message.contains("broke down")));
    let events = history(&bench.handle, &session).await;
    assert!(events.iter().any(|event| matches!(event.body, EventBody::ToolStarted { .. })));
    assert_eq!(outcomes(&events), [Effect::Unknown]);

    let breaks = |setup: &mut agent::Setup| setup.router.registry().add(Fragile::planned(1)).unwrap();
    let mut bench = Bench::other(Vec::new(), breaks).await;
    let call = CallTool { tool: "fragile".into(), arguments: json!({}), asked: None };
    assert_eq!(bench.handle.call_tool(call).await.unwrap_err().code, ErrorCode::Internal);
    bench.until(|body| matches!(body, EventBody::ToolStarted { .. })).await;
    let finished = bench.until(|body| matches!(body, EventBody::ToolFinished { .. })).await;
    assert_eq!(outcomes(&[finished]), [Effect::Unknown]);
}

/// The file that settings would be in.
struct OnDisk(Arc<Mutex<Settings>>);

impl SettingsStore for OnDisk {
    fn save(&self, settings: &Settings) -> Result<(), ErrorView> {
        settings.clone_into(&mut self.0.lock().unwrap());
        Ok(())
    }
}

#[tokio::test]
async fn settings_whose_change_could_not_be_journaled_are_as_before_in_memory_and_on_disk() {
    let disk = Arc::new(Mutex::new(Settings::default()));
    let file = disk.clone();
    let mut in_force = None;
    let bench = Bench::other(vec![], |setup| {
        setup.settings_store = Arc::new(OnDisk(file));
        in_force = Some(setup.settings.clone());
    })
    .await;
    bench.clock.break_once();
    let patch = || serde_json::from_value(json!({ "maxSteps": 5 })).unwrap();
    bench.handle.update_settings(patch()).await.unwrap_err();
    assert_eq!(Some(disk.lock().unwrap().clone()), in_force);
    assert_eq!(Some(bench.handle.overview().await.unwrap().settings), in_force);
    assert_eq!(bench.handle.update_settings(patch()).await.unwrap_err().code, ErrorCode::Storage);
    assert_eq!(disk.lock().unwrap().max_steps, 30);
}

#[tokio::test(start_paused = true)]
async fn what_a_turn_cost_before_it_failed_stands_with_its_failure() {
    let usage = Usage { input: 9, ..Usage::default() };
    let overloaded = || ModelError::new(ModelErrorKind::Overloaded, "overloaded");
    let heard = vec![Ok(TurnEvent::Usage(usage)), Ok(TurnEvent::Billed(Usd(7))), Err(overloaded())];
    let steps = vec![Step::events(heard), Step::events(Vec::new()), Step::fail(overloaded()), done()];
    let mut bench = Bench::new(steps).await;
    let session = bench.start(ApprovalMode::Auto).await;
    assert!(matches!(bench.end().await, RunEnd::Completed { .. }));
    let events = history(&bench.handle, &session).await;
    let failed: Vec<(Usage, Option<Cost>)> = events
        .into_iter()
        .filter_map(|event| match event.body {
            EventBody::TurnFailed { usage, cost, .. } => Some((usage, cost)),
            _ => None,
        })
        .collect();
    let none = Usage::default();
    let billed = Cost::Billed { usd: Usd(7) };
    assert_eq!(failed, [(usage, Some(billed)), (none, Some(Cost::Unknown)), (none, None)]);
    let old = r#"{"type":"turnFailed","turn":1,"message":"m","hint":null,"retry":true}"#;
    let old: EventBody = serde_json::from_str(old).unwrap();
    assert!(matches!(&old, EventBody::TurnFailed { cost: None, suggestions, .. } if suggestions.is_empty()));
    assert!(!serde_json::to_string(&old).unwrap().contains("suggestions"));
}

#[tokio::test(start_paused = true)]
async fn what_may_be_taken_in_place_of_an_unknown_model_stands_with_the_failure() {
    let offered = vec![ModelId("xai/grok-4.7".into())];
    let unknown = ModelError::new(ModelErrorKind::NotFound, "no such model");
    let mut bench =
        Bench::new(vec![Step::fail(ModelError { suggestions: offered.clone(), ..unknown })]).await;
    let session = bench.start(ApprovalMode::Auto).await;
    assert!(matches!(bench.end().await, RunEnd::Failed { .. }));
    let events = history(&bench.handle, &session).await;
    let told = events.into_iter().find_map(|event| match event.body {
        EventBody::TurnFailed { suggestions, retry: false, .. } => Some(suggestions),
        _ => None,
    });
    assert_eq!(told, Some(offered));
}

#[tokio::test(start_paused = true)]
async fn the_last_failure_of_a_turn_does_not_say_that_another_try_follows() {
    let overloaded = || Step::fail(ModelError::new(ModelErrorKind::Overloaded, "overloaded"));
    let mut bench = Bench::new((0..4).map(|_| overloaded()).collect()).await;
    let session = bench.start(ApprovalMode::Auto).await;
    assert_eq!(bench.end().await, RunEnd::Failed { message: "overloaded".into(), hint: None });
    let events = history(&bench.handle, &session).await;
    let follows: Vec<bool> = events
        .iter()
        .filter_map(|event| match event.body {
            EventBody::TurnFailed { retry, .. } => Some(retry),
            _ => None,
        })
        .collect();
    assert_eq!(follows, [true, true, true, false]);
}

#[tokio::test(start_paused = true)]
async fn a_turn_that_gives_signs_of_life_for_ever_is_over_after_a_quarter_of_an_hour() {
    let thinks_on = Step::unended(vec![TurnEvent::Thinking("hm".into())]);
    let mut bench = Bench::new(vec![Step::silence(), thinks_on, done()]).await;
    let began = tokio::time::Instant::now();
    let session = bench.start(ApprovalMode::Auto).await;
    // The waiting of `until` would be over before, in virtual time.
    while !matches!(bench.events.next().await.unwrap().body, EventBody::RunEnded { .. }) {}
    let most = 2 * 15 * 60;
    assert!((most..most + 60).contains(&began.elapsed().as_secs()), "{:?}", began.elapsed());
    let failed: Vec<String> = history(&bench.handle, &session)
        .await
        .into_iter()
        .filter_map(|event| match event.body {
            EventBody::TurnFailed { message, .. } => Some(message),
            _ => None,
        })
        .collect();
    assert_eq!(failed, ["the model's turn was not over after 15 minutes"; 2]);
}

// bar: C66
#[tokio::test]
async fn a_run_that_goes_in_circles_is_told_so_and_then_waits_for_its_user() {
    let gone = || Step::call("clickElement", json!({ "ref": "e99" }));
    let steps = || (0..7).map(|_| gone()).chain([done()]).collect();
    let mut bench = Bench::new(steps()).await;
    let session = bench.start(ApprovalMode::Auto).await;
    let paused = bench.until(|body| matches!(body, EventBody::RunPaused { .. })).await;
    let EventBody::RunPaused { reason } = &paused.body else { unreachable!() };
    assert!(reason.starts_with("it did the same 7 times, with the same outcome (clickElement)"), "{reason}");
    let told = format!("{:?}", bench.model.requests());
    assert!(told.contains("try another way") && told.contains("you go in circles"), "{told}");
    bench.handle.resume_run(ResumeRun { run: None }).await.unwrap();
    assert!(matches!(bench.end().await, RunEnd::Completed { .. }));
    let tries = history(&bench.handle, &session).await;
    assert_eq!(tries.iter().filter(|event| matches!(event.body, EventBody::ToolFinished { .. })).count(), 8);

    let mut alone = Bench::new(steps()).await;
    let overrides = RunOverrides {
        approval: Some(ApprovalMode::Auto),
        unattended: Unattended::End,
        ..RunOverrides::default()
    };
    alone.start_with(None, overrides).await;
    let RunEnd::Failed { message, .. } = alone.end().await else { panic!("it went on") };
    assert!(message.starts_with("it did the same 7 times"), "{message}");
}
