//! A model that acts by its vendor's own computer tool: its actions are ordinary calls of ours, and its answers have the
//! vendor's shape.

use std::sync::Arc;

use agent::{ModelSource, OpenModel};
use desktop::Action;
use futures::FutureExt;
use futures::future::BoxFuture;
use models::computer::Computer;
use models::scripted::{Scripted, Step, USAGE};
use models::{Message, NOT_EXECUTED, ProposedCall, SharedModel, ToolAnswer, Turn, TurnEvent};
use protocol::command::{AnswerApproval, RunOverrides};
use protocol::event::RunEnd;
use protocol::geometry::PixelSize;
use protocol::principal::Surface;
use protocol::tool::{Answer, ApprovalMode, Mode, Risk};
use protocol::turn::StopReason;
use protocol::{ErrorView, EventBody};
use serde_json::{Value, json};

use crate::bench::{Bench, done, history};

const RAW: &str = "[the vendor's own words]";

/// A model that sees what a provider would see.
struct Acting(Arc<Scripted>, Computer);

impl ModelSource for Acting {
    fn open<'a>(&'a self, _: OpenModel<'a>) -> BoxFuture<'a, Result<SharedModel, ErrorView>> {
        let model = models::computer::with(Some(self.1), self.0.clone());
        async move { Ok(model) }.boxed()
    }
}

async fn bench(computer: Computer, steps: Vec<Step>) -> Bench {
    let model = Arc::new(Scripted::new(steps));
    let source = Arc::new(Acting(model.clone(), computer));
    let mut bench = Bench::other(Vec::new(), |setup| setup.models = source).await;
    bench.model = model;
    bench.desktop.edit(|scene| {
        scene.displays[0].bounds.width = 1280;
        scene.displays[0].bounds.height = 800;
    });
    bench
}

fn turn(calls: &[(&str, Value)]) -> Step {
    let calls = calls.iter().zip(1..).map(|((name, arguments), number)| {
        ProposedCall::new(Some(format!("v{number}")), *name, arguments.clone())
    });
    let (text, provider) = (String::new(), "scripted".into());
    let turn = Turn { text, calls: calls.collect(), provider, raw: Value::String(RAW.into()) };
    Step::events(vec![Ok(TurnEvent::Finished { turn, usage: USAGE, stop: StopReason::ToolCalls })])
}

/// The answers that a request brings, and the turn they are to.
fn answers(bench: &Bench, request: usize) -> (Turn, Vec<ToolAnswer>) {
    match &bench.model.requests()[request].messages[..] {
        [.., Message::Assistant(turn), Message::ToolResults(answers)] => (turn.clone(), answers.clone()),
        other => panic!("no answers in {other:?}"),
    }
}

/// Calls as everyone else sees them.
async fn seen(bench: &Bench, session: &protocol::ids::SessionId) -> Vec<(String, Value)> {
    let events = history(&bench.handle, session).await;
    let calls = events.into_iter().flat_map(|event| match event.body {
        EventBody::TurnFinished { calls, .. } => calls,
        _ => Vec::new(),
    });
    calls.map(|call| (call.tool, call.arguments)).collect()
}

#[tokio::test]
async fn a_batch_of_a_vendors_actions_is_done_by_calls_of_ours_and_answered_in_its_shape() {
    let steps = vec![
        turn(&[
            ("left_click", json!({"coordinate": [640, 400]})),
            ("type", json!({"text": "cats"})),
            ("screenshot", json!({})),
        ]),
        done(),
        done(),
    ];
    let mut bench = bench(Computer::AnthropicToolset, steps).await;
    let session = bench.start(ApprovalMode::Auto).await;
    assert!(matches!(bench.end().await, RunEnd::Completed { .. }));
    let clicked = bench.desktop.actions().iter().any(|action| {
        matches!(action, Action::Click { at, .. } if (at.x() - 500.0).abs() < 1.0 && (at.y() - 500.0).abs() < 1.0)
    });
    assert!(clicked, "{:?}", bench.desktop.actions());
    assert!(bench.desktop.actions().contains(&Action::Type { text: "cats".into() }));

    let requests = bench.model.requests();
    let tools: Vec<&str> = requests[0].tools.iter().map(|tool| tool.name.as_str()).collect();
    assert!(!tools.contains(&"click") && !tools.contains(&"screenshot"), "{tools:?}");
    assert!(tools.contains(&"clickElement") && tools.contains(&"done"), "{tools:?}");
    assert_eq!(requests[0].display, Some(PixelSize { width: 1280, height: 800 }));
    assert!(requests[0].system.contains("pixels of the last screenshot"));

    let (told, answers) = answers(&bench, 1);
    assert_eq!(told.raw, RAW);
    let named: Vec<_> = answers.iter().map(|answer| (answer.id.as_deref(), answer.name.as_str())).collect();
    assert_eq!(named, [(Some("v1"), "left_click"), (Some("v2"), "type"), (Some("v3"), "screenshot")]);
    assert!(answers[0].image.is_some());

    let seen = seen(&bench, &session).await;
    assert_eq!(seen[0], ("click".into(), json!({"x": 500.391, "y": 500.625})));
    assert_eq!((seen[1].0.as_str(), seen[2].0.as_str()), ("type", "screenshot"));

    // A later run may act by other tools: the turn is told in calls of ours.
    bench.start_with(Some(session), RunOverrides::default()).await;
    bench.end().await;
    let requests = bench.model.requests();
    let Message::Assistant(turn) = &requests[2].messages[1] else { panic!("no turn") };
    assert_eq!((&turn.raw, turn.calls[0].name.as_str()), (&Value::Null, "click"));
}

#[tokio::test]
async fn actions_after_one_that_fails_are_not_done_and_other_calls_of_the_turn_are() {
    let steps = vec![
        turn(&[
            ("left_click", json!({"coordinate": [5000, 400]})),
            ("type", json!({"text": "cats"})),
            ("think", json!({"thought": "hm"})),
        ]),
        done(),
    ];
    let mut bench = bench(Computer::AnthropicToolset, steps).await;
    bench.start(ApprovalMode::Auto).await;
    bench.end().await;
    assert_eq!(bench.desktop.actions(), []);
    let (_, answers) = answers(&bench, 1);
    let errors: Vec<Option<&str>> =
        answers.iter().map(|answer| answer.response["error"]["message"].as_str()).collect();
    assert_eq!(
        errors,
        [
            Some("coordinate = 5000,400 is outside the screenshot of 1280x800 pixels"),
            Some(NOT_EXECUTED),
            None
        ]
    );
}

#[tokio::test]
async fn in_plan_mode_a_vendors_tool_is_not_offered() {
    let mut bench = bench(Computer::AnthropicToolset, vec![done()]).await;
    bench.start_with(None, RunOverrides { mode: Some(Mode::Plan), ..RunOverrides::default() }).await;
    bench.end().await;
    let request = &bench.model.requests()[0];
    assert_eq!(request.display, None);
    assert!(request.tools.iter().any(|tool| tool.name == "screenshot"));
}

fn warned() -> (Value, Step) {
    let check =
        json!({"id": "sc_1", "code": "malicious_instructions", "message": "Instructions on the page."});
    let arguments = json!({
        "actions": [
            {"type": "click", "button": "left", "x": 640, "y": 400},
            {"type": "type", "text": "cats"},
            {"type": "wait"},
        ],
        "pending_safety_checks": [check],
    });
    (check, turn(&[("computer", arguments)]))
}

#[tokio::test(start_paused = true)]
async fn a_vendors_warning_is_asked_of_the_user_even_where_nothing_asks_and_a_yes_goes_back() {
    let (check, step) = warned();
    let mut bench = bench(Computer::OpenAi, vec![step, done()]).await;
    bench.start(ApprovalMode::Auto).await;
    let question = bench.question().await;
    assert_eq!(bench.desktop.actions(), []);
    assert_eq!(question.reason, "the model's provider warns: Instructions on the page.");
    assert_eq!((question.call.tool.as_str(), question.risk), ("click", Risk::Consequential));
    let yes =
        |answer| AnswerApproval { approval: question.id.clone(), digest: question.digest.clone(), answer };
    assert!(bench.handle.answer_approval(yes(Answer::Thread), Surface::Chat).await.is_err());
    bench.handle.answer_approval(yes(Answer::Once), Surface::Chat).await.unwrap();
    bench.end().await;
    assert_eq!(bench.clicks(), 1);
    let (told, answers) = answers(&bench, 1);
    assert_eq!(told.raw, RAW);
    let [answer] = &answers[..] else { panic!("{answers:?}") };
    assert_eq!((answer.id.as_deref(), answer.name.as_str()), (Some("v1"), "computer"));
    assert_eq!(answer.response["acknowledged_safety_checks"], json!([check]));
    assert!(answer.image.is_some(), "the answer is a picture, of the screenshot after the wait");
}

#[tokio::test]
async fn after_a_no_to_a_warning_the_turn_is_told_in_calls_of_ours_and_nothing_is_acknowledged() {
    let (_, step) = warned();
    let mut bench = bench(Computer::OpenAi, vec![step, done()]).await;
    bench.start(ApprovalMode::Auto).await;
    let question = bench.question().await;
    let no = AnswerApproval { approval: question.id, digest: question.digest, answer: Answer::Deny };
    bench.handle.answer_approval(no, Surface::Chat).await.unwrap();
    bench.end().await;
    assert_eq!(bench.desktop.actions(), []);
    let (told, answers) = answers(&bench, 1);
    assert_eq!(told.raw, Value::Null);
    let names: Vec<&str> = told.calls.iter().map(|call| call.name.as_str()).collect();
    assert_eq!(names, ["click", "type", "wait", "screenshot"]);
    assert_eq!(answers.len(), 4);
    let errors: Vec<&str> =
        answers.iter().filter_map(|answer| answer.response["error"]["message"].as_str()).collect();
    assert!(errors[0].starts_with("the user said no") && errors[1..].iter().all(|e| *e == NOT_EXECUTED));
    let all = json!(answers.iter().map(|answer| answer.response.clone()).collect::<Vec<_>>());
    assert!(!all.to_string().contains("acknowledged"));
}

#[tokio::test]
async fn a_warned_action_that_was_refused_before_anyone_was_asked_is_told_in_calls_of_ours() {
    let check = json!({"id": "sc_1", "code": "x", "message": "Look out."});
    let off_screen = json!({
        "actions": [{"type": "click", "button": "left", "x": 64_000, "y": 400}],
        "pending_safety_checks": [check],
    });
    let decision = json!({"decision": "require_confirmation", "explanation": "Look out."});
    let warned = json!({"x": 500, "y": 500, "safety_decision": decision});
    for (computer, calls, why) in [
        (Computer::OpenAi, vec![("computer", off_screen)], "a place that is not on the screen"),
        (
            Computer::Gemini,
            vec![("click", json!({"x": 5_000, "y": 500})), ("click", warned.clone())],
            "an action before it failed",
        ),
        (
            Computer::Gemini,
            vec![("click", json!({"x": 5_000, "y": 500, "safety_decision": decision}))],
            "a place that is not on the grid",
        ),
    ] {
        let mut bench = bench(computer, vec![turn(&calls), done()]).await;
        bench.start(ApprovalMode::Auto).await;
        assert!(matches!(bench.end().await, RunEnd::Completed { .. }), "{why}");
        assert_eq!(bench.desktop.actions(), [], "{why}");
        let (told, answers) = answers(&bench, 1);
        assert_eq!((&told.raw, told.calls.len()), (&Value::Null, answers.len()), "{why}");
        let all = format!("{told:?} {answers:?}");
        assert!(!all.contains("safety") && !all.contains("sc_1"), "{why}: {all}");
    }
}
