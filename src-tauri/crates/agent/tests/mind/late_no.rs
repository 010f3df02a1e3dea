//! A no that comes after a yes: whatever the yes allowed for longer is not allowed any more.

use std::time::Duration;

use desktop::Field;
use models::scripted::Step;
use protocol::EventBody;
use protocol::command::{PauseRun, ResumeRun, StopRun};
use protocol::principal::Surface;
use protocol::tool::{Answer, Approval, ApprovalMode, Grant, Until};
use serde_json::json;

use crate::asking::{answer, window};
use crate::bench::{Bench, click, done, history};

fn typing() -> Step {
    Step::call("type", json!({ "text": "hello", "reason": "to greet" }))
}

async fn say(bench: &Bench, asked: &Approval, word: Answer) {
    bench.handle.answer_approval(answer(asked, word), Surface::Dashboard).await.unwrap();
}

/// What is told to who says no too late.
async fn deny_late(bench: &Bench, asked: &Approval) -> String {
    let no = bench.handle.answer_approval(answer(asked, Answer::Deny), Surface::Chat).await;
    no.unwrap_err().hint.unwrap_or_default()
}

async fn stop(bench: &mut Bench) {
    bench.handle.stop_run(StopRun { run: None }, Surface::Dashboard).await.unwrap();
    bench.end().await;
}

fn is_taken_back(body: &EventBody) -> bool {
    matches!(body, EventBody::GrantTakenBack { .. })
}

fn clicks() -> Grant {
    Grant { tool: "click".into(), app: Some("editor".into()) }
}

fn for_longer() -> [Answer; 4] {
    let until = |until| Answer::Until { until };
    [Answer::Thread, until(Until::Run), until(Until::Day), until(Until::Always)]
}

// bar: C27
#[tokio::test]
async fn a_late_no_takes_back_each_kind_of_yes_after_its_call_was_done_too() {
    for word in for_longer() {
        let mut bench = Bench::new(vec![click(), Step::silence()]).await;
        bench.show_editor();
        bench.start(ApprovalMode::Thread).await;
        let asked = bench.question().await;
        say(&bench, &asked, word.clone()).await;
        bench.until(|body| matches!(body, EventBody::ToolFinished { .. })).await;
        let is_kept = matches!(word, Answer::Until { until: Until::Day | Until::Always });
        assert_eq!(bench.handle.settings().grants.len(), usize::from(is_kept), "{word:?}");
        assert!(deny_late(&bench, &asked).await.contains("paused now"), "{word:?}");
        bench.until(is_taken_back).await;
        assert_eq!(bench.handle.settings().grants, [], "{word:?}");
        // What is allowed for longer stands in the settings alone.
        if !is_kept {
            bench.status(|status| status.paused && status.grants.is_empty()).await;
        }
        stop(&mut bench).await;
    }
}

// bar: C27
#[tokio::test]
async fn a_late_no_counts_when_another_question_came_since_and_when_its_run_is_over() {
    for word in for_longer() {
        let mut bench = Bench::new(vec![click(), typing(), click(), done(), typing(), done()]).await;
        bench.show_editor();
        let session = bench.start(ApprovalMode::Thread).await;
        let first = bench.question().await;
        say(&bench, &first, word.clone()).await;
        let second = bench.question().await;
        assert!(deny_late(&bench, &first).await.contains("paused now"), "{word:?}");
        bench.until(is_taken_back).await;
        assert_eq!(bench.handle.settings().grants, [], "{word:?}");
        say(&bench, &second, word.clone()).await;
        bench.handle.resume_run(ResumeRun { run: None }).await.unwrap();
        let again = bench.question().await;
        assert_eq!(again.call.tool, "click", "the next like the first asks");
        say(&bench, &again, Answer::Once).await;
        bench.end().await;
        assert!(deny_late(&bench, &second).await.contains("its run is over"), "{word:?}");
        assert_eq!(bench.handle.settings().grants, [], "{word:?}");
        let events = history(&bench.handle, &session).await;
        // Of an ended run only what its session keeps.
        let taken = 1 + usize::from(word == Answer::Thread);
        assert_eq!(events.iter().filter(|event| is_taken_back(&event.body)).count(), taken, "{word:?}");
        // The session's next run asks again.
        let over =
            protocol::command::RunOverrides { approval: Some(ApprovalMode::Thread), ..Default::default() };
        bench.start_with(Some(session), over).await;
        assert_eq!(bench.question().await.call.tool, "type", "{word:?}");
        stop(&mut bench).await;
    }
}

// bar: C27
#[tokio::test(start_paused = true)]
async fn a_late_no_reaches_a_run_that_waits_for_days_without_a_task() {
    for word in for_longer() {
        let mut bench = Bench::new(vec![click(), typing(), click(), done()]).await;
        bench.show_editor();
        let week = json!({ "approvalDeadlineMs": 7 * 86_400_000_u64 });
        bench.handle.update_settings(serde_json::from_value(week).unwrap()).await.unwrap();
        bench.start(ApprovalMode::Thread).await;
        let first = bench.question().await;
        say(&bench, &first, word.clone()).await;
        let second = bench.question().await;
        tokio::time::sleep(Duration::from_secs(86_000)).await;
        assert!(deny_late(&bench, &first).await.contains("paused now"), "{word:?}");
        assert_eq!(bench.handle.settings().grants, [], "{word:?}");
        let taken = bench.until(is_taken_back).await;
        assert_eq!(taken.body, EventBody::GrantTakenBack { grant: clicks() });
        say(&bench, &second, Answer::Once).await;
        bench.handle.resume_run(ResumeRun { run: None }).await.unwrap();
        assert_eq!(bench.question().await.call.tool, "click", "{word:?}");
        stop(&mut bench).await;
    }
}

// bar: C27
#[tokio::test]
async fn a_late_no_to_a_plan_ends_it() {
    let plan = || {
        let plan = json!({"steps": ["write"], "applications": ["editor"], "effects": ["edit"]});
        Step::call("plan", plan)
    };
    let letter = |bench: &Bench| {
        bench.desktop.edit(|scene| {
            scene.windows = vec![window(1, "letter")];
            scene.field = Some(Field { takes_lines: true, pid: Some(7), ..Field::default() });
        });
    };
    // Before it was put in force, after, and while another question stands open.
    let mut bench = Bench::new(vec![plan(), typing(), Step::silence()]).await;
    letter(&bench);
    bench.start(ApprovalMode::Ask).await;
    let asked = bench.question().await;
    bench.handle.pause_run(PauseRun { run: None }, Surface::Dashboard).await.unwrap();
    bench.until(|body| matches!(body, EventBody::RunPaused { .. })).await;
    say(&bench, &asked, Answer::Once).await;
    deny_late(&bench, &asked).await;
    bench.until(is_taken_back).await;
    bench.handle.resume_run(ResumeRun { run: None }).await.unwrap();
    assert_eq!(bench.question().await.call.tool, "type", "what it named asks");
    stop(&mut bench).await;

    let shortcut = Step::call("hotkey", json!({ "keys": ["alt", "f"], "reason": "the menu" }));
    let mut bench = Bench::new(vec![plan(), typing(), shortcut, typing(), Step::silence()]).await;
    letter(&bench);
    let session = bench.start(ApprovalMode::Ask).await;
    let asked = bench.question().await;
    say(&bench, &asked, Answer::Once).await;
    let outside = bench.question().await;
    assert_eq!(outside.call.tool, "hotkey");
    assert!(deny_late(&bench, &asked).await.contains("paused now"));
    bench.until(is_taken_back).await;
    say(&bench, &outside, Answer::Deny).await;
    bench.handle.resume_run(ResumeRun { run: None }).await.unwrap();
    assert_eq!(bench.question().await.call.tool, "type", "what ran by the plan before asks");
    stop(&mut bench).await;
    let events = history(&bench.handle, &session).await;
    assert!(!events.iter().any(|event| matches!(event.body, EventBody::PlanReported { .. })));
}
