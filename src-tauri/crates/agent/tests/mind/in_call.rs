//! What a tool asks its user in the middle of a call.

use std::sync::Arc;

use async_trait::async_trait;
use models::scripted::Step;
use protocol::EventBody;
use protocol::command::{StopRun, Unattended};
use protocol::contract::About;
use protocol::event::{Activity, RunEnd};
use protocol::principal::Surface;

use protocol::elicitation::Elicitation;
use protocol::tool::{ASK_HUMAN, Answer, Approval, ApprovalMode, Effect, Risk, ToolError};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;
use tools::{Context, Env, Group, Needs, Outcome, Plan, Spec, Task, Tool, Verify};

use crate::asking::answer;
use crate::bench::{Bench, done, goal};

/// A tool that asks before it answers; `gives_up` ends it without an answer.
struct Curious {
    spec: Spec,
    gives_up: CancellationToken,
}

struct Asks(CancellationToken);

fn wanted() -> Elicitation {
    Elicitation {
        server: "pond".into(),
        message: "how deep?".into(),
        is_required: true,
        ..Elicitation::default()
    }
}

#[async_trait]
impl Task for Asks {
    async fn run(&self, cx: &Context) -> Outcome {
        let Some(asker) = cx.asker() else {
            return Outcome::looked("asked nobody", json!({ "said": null }));
        };
        let said = tokio::select! {
            said = asker.ask(wanted()) => said,
            () = self.0.cancelled() => Some("nothing".into()),
            () = cx.cancel().cancelled() => None,
        };
        Outcome::looked("asked", json!({ "said": said }))
    }
}

impl Tool for Curious {
    fn spec(&self) -> &Spec {
        &self.spec
    }

    fn plan(&self, _: Value, _: &Env<'_>) -> Result<Plan, ToolError> {
        Ok(Plan::new(Risk::Observe, Asks(self.gives_up.clone())))
    }
}

async fn curious() -> (Bench, CancellationToken) {
    curious_and(vec![Step::call("curious", json!({})), done()]).await
}

async fn curious_and(steps: Vec<Step>) -> (Bench, CancellationToken) {
    let gives_up = CancellationToken::new();
    let spec = Spec {
        name: "curious".into(),
        description: "Asks.".into(),
        schema: json!({ "type": "object" }),
        group: Group::Mind,
        needs: Needs::Nothing,
        verify: Verify::Own,
        reads: false,
        egress: false,
        risk: Risk::Observe,
    };
    let tool = Arc::new(Curious { spec, gives_up: gives_up.clone() });
    let bench = Bench::other(steps, |setup| setup.router.registry().add(tool).unwrap()).await;
    (bench, gives_up)
}

fn told(asked: &Approval, text: &str) -> protocol::command::AnswerApproval {
    let mut arguments = asked.call.arguments.clone();
    arguments["answer"] = text.into();
    answer(asked, Answer::Edit { arguments })
}

async fn finished(bench: &mut Bench, call: &protocol::ids::CallId) -> protocol::tool::ExecResult {
    let is_it = |body: &EventBody| matches!(body, EventBody::ToolFinished { call: of, .. } if of == call);
    match bench.until(is_it).await.body {
        EventBody::ToolFinished { result, .. } => result,
        _ => unreachable!(),
    }
}

async fn calls_result(bench: &mut Bench) -> Value {
    let is_it = |body: &EventBody| matches!(body, EventBody::ToolFinished { result, .. } if result.data.get("said").is_some());
    match bench.until(is_it).await.body {
        EventBody::ToolFinished { result, .. } => result.data["said"].clone(),
        _ => unreachable!(),
    }
}

#[tokio::test]
async fn the_call_waits_for_what_its_user_says_and_the_run_goes_on() {
    let (mut bench, _) = curious().await;
    bench.start(ApprovalMode::Auto).await;
    let asked = bench.question().await;
    assert_eq!((asked.call.tool.as_str(), asked.reason.as_str()), (ASK_HUMAN, wanted().to_string().as_str()));
    assert_eq!(*asked.about, About::Elicitation(Box::new(wanted())));
    assert_eq!(bench.activity(Activity::Waiting).await.detail, "the server pond asks you something");
    assert!(!bench.handle.only_waits().await, "the call would be lost if Miki ended");
    bench.handle.answer_approval(told(&asked, "a metre"), Surface::Chat).await.unwrap();
    assert_eq!(finished(&mut bench, &asked.call.id).await.effect, Effect::Confirmed);
    assert_eq!(calls_result(&mut bench).await, "a metre");
    assert!(matches!(bench.end().await, RunEnd::Completed { .. }));
    let again = bench.handle.answer_approval(told(&asked, "two"), Surface::Chat).await;
    assert!(again.is_err(), "it is answered once");
}

#[tokio::test]
async fn a_no_is_told_to_the_call() {
    let (mut bench, _) = curious().await;
    bench.start(ApprovalMode::Auto).await;
    let asked = bench.question().await;
    bench.handle.answer_approval(answer(&asked, Answer::Deny), Surface::Chat).await.unwrap();
    assert_eq!(calls_result(&mut bench).await, Value::Null);
    assert!(matches!(bench.end().await, RunEnd::Completed { .. }));
}

#[tokio::test]
async fn a_question_ends_with_the_call_that_asked() {
    let (mut bench, gives_up) = curious().await;
    bench.start(ApprovalMode::Auto).await;
    let asked = bench.question().await;
    gives_up.cancel();
    assert_eq!(finished(&mut bench, &asked.call.id).await.effect, Effect::Refused);
    assert!(matches!(bench.end().await, RunEnd::Completed { .. }));
    assert!(bench.handle.overview().await.unwrap().questions.is_empty());
    assert!(bench.handle.answer_approval(told(&asked, "a metre"), Surface::Chat).await.is_err());
}

#[tokio::test]
async fn a_stop_ends_the_question_and_where_nobody_can_answer_nobody_is_asked() {
    let (mut bench, _) = curious().await;
    bench.start(ApprovalMode::Auto).await;
    bench.question().await;
    bench.handle.stop_run(StopRun { run: None }, Surface::Cli).await.unwrap();
    assert!(matches!(bench.end().await, RunEnd::Stopped { .. }));
    assert!(bench.handle.overview().await.unwrap().questions.is_empty());

    let (mut bench, _) = curious().await;
    let alone = protocol::command::RunOverrides {
        approval: Some(ApprovalMode::Auto),
        unattended: Unattended::End,
        ..Default::default()
    };
    bench.handle.start_run(goal(None, alone), Surface::Cli).await.unwrap();
    assert_eq!(calls_result(&mut bench).await, Value::Null);
    assert!(matches!(bench.end().await, RunEnd::Completed { .. }));
}

#[tokio::test]
async fn what_the_turn_does_after_a_question_is_not_done_where_its_user_has_been_elsewhere() {
    for elsewhere in [true, false] {
        let steps =
            vec![Step::calls(vec![("curious", json!({})), ("click", json!({ "x": 5, "y": 5 }))]), done()];
        let (mut bench, _) = curious_and(steps).await;
        bench.start(ApprovalMode::Auto).await;
        let asked = bench.question().await;
        if elsewhere {
            bench.desktop.press();
        }
        bench.handle.answer_approval(told(&asked, "a metre"), Surface::Chat).await.unwrap();
        assert!(matches!(bench.end().await, RunEnd::Completed { .. }));
        assert_eq!(bench.clicks(), usize::from(!elsewhere));
    }
}

#[tokio::test]
async fn while_a_call_asks_its_run_holds_neither_the_desktop_nor_a_key() {
    let held = ("keyDown", json!({ "key": "shift" }));
    let steps = vec![Step::calls(vec![held, ("curious", json!({}))]), done()];
    let (mut bench, _) = curious_and(steps).await;
    bench.start(ApprovalMode::Auto).await;
    let asked = bench.question().await;
    assert!(
        bench.desktop.releases() > 0 && bench.handle.desktop_last_taken() > Some(std::time::Duration::ZERO)
    );
    bench.handle.answer_approval(told(&asked, "a metre"), Surface::Chat).await.unwrap();
    bench.end().await;
}

#[tokio::test]
async fn a_batch_asks_nobody_in_its_middle() {
    let actions = json!({ "actions": [{ "tool": "curious", "arguments": {} }] });
    let (mut bench, _) = curious_and(vec![Step::call("batch", actions), done()]).await;
    bench.start(ApprovalMode::Auto).await;
    let asked_or_done = |body: &EventBody| {
        matches!(body, EventBody::ApprovalRequested { .. } | EventBody::ToolFinished { .. })
    };
    let EventBody::ToolFinished { result, .. } = bench.until(asked_or_done).await.body else {
        panic!("it asks");
    };
    let has_run = result.error.is_none() && result.data.to_string().contains("asked nobody");
    assert!(has_run, "{result:?}");
}
