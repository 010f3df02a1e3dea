//! The user steps in: what stops, what pauses, and what the model is told.

use std::time::Duration;

use crate::bench::{Bench, click, done};
use desktop::Hands;
use desktop::fake::Call;
use models::scripted::Step;
use models::{Message, ProposedCall};
use protocol::EventBody;
use protocol::command::{AnswerApproval, ResumeRun};
use protocol::event::RunEnd;
use protocol::principal::Surface;
use protocol::tool::{Answer, ApprovalMode, Effect, ToolErrorKind};
use protocol::turn::StopReason;
use serde_json::json;

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

#[tokio::test]
async fn what_only_looks_takes_the_keyboard_from_none_of_our_windows() {
    let look = json!({ "tool": "screenshot", "arguments": {} });
    let looks = Step::call("batch", json!({ "actions": [look.clone(), look], "reason": "to see" }));
    let mut bench = Bench::new(vec![looks, done()]).await;
    bench.show_editor();
    bench.desktop.edit(|scene| scene.windows[0].states.clear());
    bench.start(ApprovalMode::Auto).await;
    bench.end().await;
    let focused = |call: &Call| matches!(call, Call::ChangeWindow(..));
    assert!(!bench.desktop.calls().iter().any(focused), "{:?}", bench.desktop.calls());
}

// bar: C78
#[tokio::test]
async fn the_users_input_cuts_the_act_under_way_pauses_the_run_and_the_model_has_to_look_again() {
    let calls = ["type", "click", "screenshot"].map(|name| {
        let arguments = match name {
            "type" => json!({ "text": "hello" }),
            "click" => json!({ "x": 1, "y": 1 }),
            _ => json!({}),
        };
        ProposedCall::new(None, name, arguments)
    });
    let steps = || vec![Step::turn("", calls.to_vec(), StopReason::ToolCalls), done()];
    let mut took = Vec::new();
    let (mut bench, paused) = loop {
        let mut bench = Bench::new(steps()).await;
        bench.desktop.edit(|scene| scene.delay = Duration::from_secs(600));
        bench.start(ApprovalMode::Auto).await;
        bench.until(|body| matches!(body, EventBody::ToolStarted { .. })).await;
        let released = bench.desktop.releases();
        let begun = std::time::Instant::now();
        bench.desktop.interrupt(tools::Interruption::UserInput);
        let paused = bench.until(|body| matches!(body, EventBody::RunPaused { .. })).await;
        took.push(begun.elapsed());
        assert!(bench.desktop.releases() > released);
        if took.len() == 5 {
            break (bench, paused);
        }
    };
    took.sort();
    println!("paused after {took:?}");
    assert!(took[2] < Duration::from_millis(100), "{took:?}");
    assert!(matches!(paused.body, EventBody::RunPaused { reason } if reason.contains("mouse")));
    let cut = bench.until(|body| matches!(body, EventBody::ToolFinished { .. })).await;
    let EventBody::ToolFinished { result, .. } = cut.body else { unreachable!() };
    assert_eq!(result.error.map(|error| error.kind), Some(ToolErrorKind::Cancelled));
    assert!(matches!(result.effect, Effect::Unknown | Effect::Refused));
    bench.desktop.end_interruption();
    bench.desktop.edit(|scene| scene.delay = Duration::ZERO);
    bench.handle.resume_run(ResumeRun { run: None }).await.unwrap();
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
    bench.handle.answer_approval(answer, Surface::Chat).await.unwrap();
    assert!(matches!(bench.end().await, RunEnd::Completed { .. }));
    assert_eq!(bench.clicks(), 1);
}

#[tokio::test]
async fn nothing_is_held_while_a_question_is_open() {
    let hold = Step::call("keyDown", json!({ "key": "shift", "reason": "to select" }));
    let mut bench = Bench::new(vec![hold, click(), done()]).await;
    bench.start(ApprovalMode::Ask).await;
    let question = bench.question().await;
    let answer = AnswerApproval { approval: question.id, digest: question.digest, answer: Answer::Once };
    bench.handle.answer_approval(answer, Surface::Chat).await.unwrap();
    bench.until(|body| matches!(body, EventBody::ToolFinished { .. })).await;
    assert!(bench.desktop.is_holding(), "a turn's end lets nothing go that the next one needs");
    bench.question().await;
    assert!(!bench.desktop.is_holding());
}

/// A yes was for what was there when it was asked for: whoever has used other windows since may have changed what no
/// picture shows. The pointer's way to the answer is no use of them.
#[tokio::test]
async fn after_the_users_hands_were_elsewhere_an_approved_act_is_looked_at_again() {
    let launch = || Step::call("launchApp", json!({ "app": "editor", "reason": "to write" }));
    let click = || Step::calls(vec![("click", json!({ "x": 500, "y": 500, "reason": "press it" }))]);
    let cases: [(Step, bool, Surface, usize); 6] = [
        (click(), true, Surface::Dashboard, 0),
        (click(), true, Surface::Chat, 0),
        (click(), false, Surface::Dashboard, 1),
        // There the answer is itself a key in a window of another.
        (click(), true, Surface::Cli, 1),
        // What it goes to may have been opened, or closed, by the user's own hands.
        (launch(), true, Surface::Dashboard, 0),
        (launch(), false, Surface::Dashboard, 1),
    ];
    for (step, used, by, acts) in cases {
        let mut bench = Bench::new(vec![step, done()]).await;
        // A press of before the question is none of its business.
        bench.desktop.press();
        bench.start(ApprovalMode::Ask).await;
        let question = bench.question().await;
        bench.desktop.interrupt(tools::Interruption::UserInput);
        bench.desktop.end_interruption();
        if used {
            bench.desktop.press();
        }
        let tool = question.call.tool.clone();
        let answer = AnswerApproval { approval: question.id, digest: question.digest, answer: Answer::Once };
        bench.handle.answer_approval(answer, by).await.unwrap();
        let finished = bench.until(|body| matches!(body, EventBody::ToolFinished { .. })).await;
        let EventBody::ToolFinished { result, .. } = finished.body else { unreachable!() };
        assert!(matches!(bench.end().await, RunEnd::Completed { .. }));
        let launches = bench.desktop.calls().iter().filter(|call| matches!(call, Call::Launch(_))).count();
        assert_eq!(bench.clicks() + launches, acts, "{tool}, {used}, {by:?}: {result:?}");
        let told = result.error.as_ref().map(|error| error.message.as_str()).unwrap_or_default();
        assert_eq!(told.contains("look again"), acts == 0, "{tool}, {used}, {by:?}: {told}");
    }
}
