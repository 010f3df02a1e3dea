//! What a run may use up: weighed before each turn, told when it is near, asked about when it is reached.

use std::sync::Arc;

use models::scripted::{Scripted, Step};
use models::{Message, Part, ProposedCall, Turn, TurnEvent};
use protocol::budget::{Bound, Measure, Reached};
use protocol::command::{ResumeRun, RunOverrides, StartRun, StartedRun, StopRun, Unattended, UpdateSettings};
use protocol::event::{Activity, RunEnd};
use protocol::ids::SessionId;
use protocol::principal::{Principal, Surface};
use protocol::tool::ApprovalMode;
use protocol::turn::{StopReason, Usage, Usd};
use protocol::{ErrorCode, EventBody};
use serde_json::{Value, json};

use crate::asking::crashed;
use crate::bench::{Bench, One, done, goal, history};

fn click(x: u32) -> Step {
    Step::call("click", json!({ "x": x, "y": 500, "reason": "press it" }))
}

fn auto() -> RunOverrides {
    RunOverrides { approval: Some(ApprovalMode::Auto), ..RunOverrides::default() }
}

fn steps(max_steps: u32) -> RunOverrides {
    RunOverrides { max_steps: Some(max_steps), ..auto() }
}

async fn begin(bench: &Bench, overrides: RunOverrides) -> StartedRun {
    bench.handle.start_run(goal(None, overrides), Surface::Cli).await.unwrap()
}

async fn go_on(bench: &Bench) {
    bench.handle.resume_run(ResumeRun { run: None }).await.unwrap();
}

fn completed() -> RunEnd {
    RunEnd::Completed { summary: "pressed it".into() }
}

/// The bound that the run waits at, and what its user is told.
async fn used_up(bench: &mut Bench) -> (Bound, String) {
    let is_it = |body: &EventBody| matches!(body, EventBody::BudgetReached { reached: Reached::UsedUp, .. });
    let EventBody::BudgetReached { bound, .. } = bench.until(is_it).await.body else { unreachable!() };
    let paused = bench.until(|body| matches!(body, EventBody::RunPaused { .. })).await;
    let EventBody::RunPaused { reason } = paused.body else { unreachable!() };
    (bound, reason)
}

async fn turns(bench: &Bench, session: &SessionId) -> Vec<u32> {
    let events = history(&bench.handle, session).await.into_iter();
    let turns = events.filter_map(|event| match event.body {
        EventBody::TurnFinished { turn, .. } => Some(turn),
        _ => None,
    });
    turns.collect()
}

/// A model with a price: 2 dollars a million tokens of input (2.50 where a cache is written), 10 of output.
async fn priced(steps: Vec<Step>) -> (Bench, Arc<Scripted>) {
    let model = Arc::new(Scripted::new(steps).named("anthropic/claude-sonnet-5-5"));
    let source = model.clone();
    (Bench::other(Vec::new(), |setup| setup.models = Arc::new(One(source))).await, model)
}

/// An answer of so many tokens.
fn long(output: u64, stop: StopReason) -> Step {
    let arguments = json!({ "x": output / 10, "y": 500, "reason": "press it" });
    let calls = vec![ProposedCall::new(Some("p1".into()), "click", arguments)];
    let turn = Turn { calls, provider: "scripted".into(), raw: Value::Null, ..Turn::default() };
    let usage = Usage { input: 100, output, ..Usage::default() };
    Step::events(vec![Ok(TurnEvent::Finished { turn, usage, stop })])
}

fn dollars(dollars: f64) -> Usd {
    Usd::from_dollars(dollars).unwrap()
}

#[tokio::test]
async fn a_run_that_has_taken_its_steps_waits_and_goes_on_with_as_many_again() {
    let mut bench = Bench::new(vec![click(1), click(2), click(3), click(4), done()]).await;
    let session = begin(&bench, steps(2)).await.session;
    for taken in ["2 of 2 steps", "4 of 4 steps"] {
        let (_, reason) = used_up(&mut bench).await;
        assert_eq!(
            reason,
            format!("the run's budget is used up: {taken}; go on with as much again, or stop")
        );
        go_on(&bench).await;
    }
    assert_eq!(bench.end().await, completed());
    assert_eq!(turns(&bench, &session).await, [1, 2, 3, 4, 5], "none was counted that was not asked for");
}

#[tokio::test]
async fn where_nobody_can_be_asked_for_more_the_run_ends_and_says_so() {
    let mut bench = Bench::new(vec![click(1), click(2)]).await;
    begin(&bench, RunOverrides { unattended: Unattended::End, ..steps(2) }).await;
    let RunEnd::Failed { message, hint } = bench.end().await else { panic!("it failed") };
    assert_eq!(
        message,
        "the run's budget is used up: 2 of 2 steps; nobody can be asked whether it may go on"
    );
    assert!(hint.unwrap().contains("--max-steps"));
}

#[tokio::test]
async fn a_turn_that_could_pass_the_bound_in_dollars_is_not_asked_for() {
    let (mut bench, model) =
        priced(vec![long(2_000, StopReason::ToolCalls), long(2_000, StopReason::ToolCalls), done()]).await;
    begin(&bench, RunOverrides { max_cost: Some(dollars(0.05)), ..auto() }).await;
    let (bound, reason) = used_up(&mut bench).await;
    // Two answers at $0.0202: what is left is less than a third one's $0.01 and its prompt.
    assert_eq!((bound.measure, bound.used.as_str()), (Measure::Dollars, "0.0404"));
    assert!(bound.next.is_some(), "{bound:?}");
    assert!(reason.contains("$0.0404 of $0.05, and the next call may take $"), "{reason}");
    assert_eq!(model.steps_left(), 1, "the third turn was not asked for");
    // Each answer could be as long as what was left had room for, and no longer.
    let bounds: Vec<u32> = model.requests().iter().map(|request| request.max_output.unwrap()).collect();
    assert!(bounds[0] < 5_000 && bounds[1] < 3_000, "{bounds:?}");
    go_on(&bench).await;
    assert_eq!(bench.end().await, completed());
}

#[tokio::test]
async fn a_turn_that_could_pass_the_bound_in_tokens_is_not_asked_for() {
    let mut bench = Bench::new(vec![click(1), click(2)]).await;
    begin(&bench, RunOverrides { max_tokens: Some(1_000), ..auto() }).await;
    let (bound, _) = used_up(&mut bench).await;
    assert_eq!((bound.measure, bound.used.as_str()), (Measure::Tokens, "0"));
    assert_eq!(bench.model.requests().len(), 0, "its prompt alone has more");
}

#[tokio::test]
async fn an_answer_that_was_cut_where_the_budget_ends_is_asked_for_again() {
    let (mut bench, model) = priced(vec![long(2_000, StopReason::MaxTokens), done()]).await;
    let session = begin(&bench, RunOverrides { max_cost: Some(dollars(0.05)), ..auto() }).await.session;
    used_up(&mut bench).await;
    go_on(&bench).await;
    assert_eq!(bench.end().await, completed());
    assert_eq!(turns(&bench, &session).await, [1], "by the same number");
    let [first, second] = &model.requests()[..] else { panic!("two turns") };
    assert_eq!(first.messages, second.messages, "nothing of it is in the conversation");
    assert!(second.max_output > first.max_output);
}

#[tokio::test]
async fn where_no_price_is_known_a_bound_in_dollars_is_said_to_hold_nothing() {
    let mut bench = Bench::new(vec![done()]).await;
    begin(&bench, RunOverrides { max_cost: Some(dollars(0.01)), ..auto() }).await;
    let noted = bench.until(|body| matches!(body, EventBody::Noted { .. })).await.body;
    assert!(
        matches!(&noted, EventBody::Noted { message, .. } if message.contains("no price of scripted/test")),
        "{noted:?}"
    );
    assert_eq!(bench.end().await, completed());
}

#[tokio::test]
async fn at_four_fifths_its_user_and_its_model_are_told_once() {
    let mut bench = Bench::new(vec![click(1), click(2), click(3), click(4), done()]).await;
    let session = begin(&bench, steps(5)).await.session;
    assert_eq!(bench.end().await, completed());
    let events = history(&bench.handle, &session).await.into_iter();
    let told = events.filter_map(|event| match event.body {
        EventBody::BudgetReached { reached, bound } => Some((reached, bound.to_string())),
        _ => None,
    });
    assert_eq!(told.collect::<Vec<_>>(), [(Reached::Near, "4 of 5 steps".to_owned())]);
    let said = |at: usize| {
        let requests = bench.model.requests();
        let is_it = |message: &Message| match message {
            Message::User(parts) => parts
                .iter()
                .any(|part| matches!(part, Part::Text(text) if text.contains("is used: 4 of 5 steps"))),
            Message::Assistant(_) | Message::ToolResults(_) => false,
        };
        requests[at].messages.iter().filter(|message| is_it(message)).count()
    };
    assert_eq!((said(3), said(4)), (0, 1));
}

#[tokio::test]
async fn the_status_tells_what_is_used_of_what() {
    let mut bench = Bench::new(vec![click(1), Step::silence()]).await;
    begin(&bench, RunOverrides { max_minutes: Some(7), ..steps(9) }).await;
    let status = bench.status(|status| status.step == 2).await;
    let progress = status.progress.unwrap();
    assert_eq!((progress.tokens, progress.minutes, progress.cost), (110, 0, None));
    assert_eq!((progress.most.steps, progress.most.minutes, status.max_steps), (Some(9), Some(7), 9));
}

/// A run that waits after its second step, in a mind that has crashed or was quit since.
async fn waits_after_a_restart(quit: bool, then: Vec<Step>) -> (Bench, SessionId) {
    let mut before = Bench::new(vec![click(1), click(2)]).await;
    let session = begin(&before, steps(2)).await.session;
    used_up(&mut before).await;
    before.status(|status| status.paused).await;
    let folder = if quit {
        before.handle.shutdown().await;
        let folder = crashed(&before);
        drop(before);
        folder
    } else {
        let folder = crashed(&before);
        before.handle.shutdown().await;
        folder
    };
    let next = Bench::at(folder, then).await;
    (next, session)
}

#[tokio::test]
async fn a_run_that_waits_for_more_waits_on_over_a_restart_and_goes_on_when_it_is_told() {
    for quit in [false, true] {
        let (mut next, session) =
            waits_after_a_restart(quit, vec![click(3), click(4), click(5), done()]).await;
        let overview = next.handle.overview().await.unwrap();
        let status = &overview.runs[0].status;
        assert_eq!((status.activity, status.paused, status.step), (Activity::Waiting, true, 2));
        assert_eq!(status.progress.as_ref().unwrap().tokens, 220, "what it took is known from the journal");
        assert_eq!(next.model.requests().len(), 0, "nothing goes on by itself");
        go_on(&next).await;
        // It may have as many again, and no more: what it took before counts.
        let (bound, _) = used_up(&mut next).await;
        assert_eq!(bound.to_string(), "4 of 4 steps");
        let first = &next.model.requests()[0];
        let last = first.messages.last().unwrap();
        let is_told = |part: &Part| matches!(part, Part::Text(text) if text.contains("Time has passed"));
        assert!(matches!(last, Message::User(parts) if parts.iter().any(is_told)), "{last:?}");
        let answers = |message: &&Message| matches!(message, Message::ToolResults(_));
        assert_eq!(first.messages.iter().filter(answers).count(), 2, "it has its earlier turns");
        go_on(&next).await;
        assert_eq!(next.end().await, completed());
        assert_eq!(turns(&next, &session).await, [1, 2, 3, 4, 5, 6]);
    }
}

#[tokio::test]
async fn a_run_that_waits_for_more_after_a_restart_can_be_stopped() {
    let (next, session) = waits_after_a_restart(false, Vec::new()).await;
    next.handle.stop_run(StopRun { run: None }, Surface::Tray).await.unwrap();
    let events = history(&next.handle, &session).await;
    assert!(matches!(&events.last().unwrap().body, EventBody::RunEnded { end: RunEnd::Stopped { .. } }));
    assert!(next.handle.overview().await.unwrap().runs.is_empty());
    let refused = next.handle.resume_run(ResumeRun { run: None }).await.unwrap_err();
    assert_eq!(refused.code, ErrorCode::NotFound);
}

#[tokio::test]
async fn the_stricter_of_the_runs_and_the_plans_budget_holds() {
    for (of_plan, waits) in
        [(2, "the plan's budget is used up: 2 of 2 steps"), (20, "the run's budget is used up: 4 of 4 steps")]
    {
        let plan = json!({"steps": ["click"], "applications": ["editor"], "effects": ["edit"], "budget": {"turns": of_plan}});
        let look = || Step::call("listWindows", json!({}));
        let mut bench = Bench::new(vec![Step::call("plan", plan), look(), look(), look(), done()]).await;
        let ask = RunOverrides { approval: Some(ApprovalMode::Ask), ..steps(4) };
        begin(&bench, ask).await;
        let asked = bench.question().await;
        let yes = crate::asking::answer(&asked, protocol::tool::Answer::Once);
        bench.handle.answer_approval(yes, Surface::Dashboard).await.unwrap();
        let (_, reason) = used_up(&mut bench).await;
        assert!(reason.starts_with(waits), "{reason}");
        bench.handle.stop_run(StopRun { run: None }, Surface::Tray).await.unwrap();
    }
}

#[tokio::test]
async fn nobody_on_the_socket_gives_a_run_at_work_more_than_the_settings_have() {
    let bounded = |setup: &mut agent::Setup| {
        (setup.settings.max_minutes, setup.settings.max_tokens) = (10, 500_000);
        setup.settings.max_cost = dollars(1.0);
    };
    let mut bench = Bench::other(vec![click(1), click(2)], bounded).await;
    let run = begin(&bench, steps(2)).await.run;
    used_up(&mut bench).await;
    let client = Principal::of(Surface::Cli);
    for (name, value) in [
        ("maxSteps", json!(31)),
        ("maxMinutes", json!(11)),
        ("maxMinutes", json!(0)),
        ("maxTokens", json!(0)),
        ("maxCost", json!("1.01")),
        ("maxCost", json!("0")),
    ] {
        let patch = serde_json::from_value(json!({ name: value })).unwrap();
        let update = UpdateSettings { patch };
        let refused = bench.handle.update_settings_by(update.patch, &client).await.unwrap_err();
        assert_eq!(refused.code, ErrorCode::Forbidden, "{name}: {value}");
    }
    for overrides in [
        RunOverrides { max_steps: Some(31), ..RunOverrides::default() },
        RunOverrides { max_minutes: Some(0), ..RunOverrides::default() },
        RunOverrides { max_tokens: Some(600_000), ..RunOverrides::default() },
        RunOverrides { max_cost: Some(dollars(2.0)), ..RunOverrides::default() },
    ] {
        let start = StartRun { goal: "go".into(), session: None, overrides: overrides.clone() };
        let refused = bench.handle.permit(&start.into(), &client).await.unwrap_err();
        assert_eq!(refused.code, ErrorCode::Forbidden, "{overrides:?}");
    }
    // Nor does anybody there say that it may go on, but whoever started it over this very connection.
    let resume = || ResumeRun { run: Some(run.clone()) }.into();
    assert_eq!(bench.handle.permit(&resume(), &client).await.unwrap_err().code, ErrorCode::Forbidden);
    let unnamed = ResumeRun { run: None }.into();
    assert_eq!(bench.handle.permit(&unnamed, &client).await.unwrap_err().code, ErrorCode::Forbidden);
    let starter = Principal { surface: Surface::Cli, started: vec![run.clone()] };
    bench.handle.permit(&resume(), &starter).await.unwrap();
    // To bound it more is everybody's.
    let stricter = serde_json::from_value(json!({ "maxMinutes": 5, "maxCost": "0.5" })).unwrap();
    bench.handle.update_settings_by(stricter, &client).await.unwrap();
}

#[tokio::test]
async fn what_a_run_may_come_to_is_told_from_the_third_earlier_one_on() {
    let run = || vec![click(1), done()];
    let mut bench = Bench::new((0..4).flat_map(|_| run()).collect()).await;
    for earlier in 0..4_u32 {
        let forecast = bench.handle.forecast(None).await.unwrap();
        assert_eq!(forecast.is_some(), earlier >= 3, "{forecast:?} after {earlier}");
        begin(&bench, auto()).await;
        let started = bench.until(|body| matches!(body, EventBody::RunStarted(_))).await;
        let EventBody::RunStarted(spec) = started.body else { unreachable!() };
        assert_eq!(spec.forecast, forecast);
        assert_eq!(bench.end().await, completed());
    }
    let told = bench.handle.forecast(None).await.unwrap().unwrap();
    assert_eq!((told.runs, told.steps, told.tokens, told.cost), (4, (2, 2), (220, 220), None));
    assert_eq!(bench.handle.forecast(Some(protocol::ids::ModelId("other/one".into()))).await, Ok(None));
}
