//! Whole runs through the handle: a scripted model, the real router, a fake desktop, a real journal.

use std::time::Duration;

use agent::Setup;
use models::scripted::Step;
use models::{Message, ModelError, ModelErrorKind, ProposedCall};
use protocol::command::{
    AnswerApproval, CallTool, EditSession, PauseRun, ReadEvents, RunOverrides, StartRun, StopRun,
    TakeBackGrant, Unattended,
};
use protocol::event::{Level, RunEnd};
use protocol::ids::{StreamId, Timestamp};
use protocol::principal::Surface;
use protocol::settings::{Settings, SettingsPatch, StandingGrant};
use protocol::tool::{Answer, ApprovalMode, Effect, Grant, Mode, Until};
use protocol::turn::StopReason;
use protocol::{ErrorCode, EventBody};
use serde_json::{Value, json};

use crate::asking::{self, answer};
use crate::bench::{Bench, click, done, history, home};

#[tokio::test]
async fn a_goal_is_worked_on_until_done_and_every_step_is_in_the_journal_with_its_picture() {
    let mut bench = Bench::new(vec![click(), done()]).await;
    let session = bench.start(ApprovalMode::Auto).await;
    assert_eq!(bench.end().await, RunEnd::Completed { summary: "pressed it".into() });
    assert_eq!(bench.clicks(), 1);
    let events = history(&bench.handle, &session).await;
    let kinds: Vec<&str> = events
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
    let EventBody::ToolFinished { result, .. } = &events[4].body else { panic!("no outcome") };
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
    let wrong = bench.handle.answer_approval(answer("0", Answer::Once), Surface::Chat).await.unwrap_err();
    assert_eq!(wrong.code, ErrorCode::BadRequest);
    bench.handle.answer_approval(answer(&question.digest, Answer::Once), Surface::Chat).await.unwrap();
    // The same call again asks again; the old answer is spent.
    let again = bench.question().await;
    assert_eq!(bench.clicks(), 1);
    let late = bench
        .handle
        .answer_approval(answer(&question.digest, Answer::Once), Surface::Chat)
        .await
        .unwrap_err();
    assert_eq!(late.code, ErrorCode::NotFound);
    let deny = AnswerApproval { approval: again.id, digest: again.digest, answer: Answer::Deny };
    bench.handle.answer_approval(deny, Surface::Chat).await.unwrap();
    bench.end().await;
    assert_eq!(bench.clicks(), 1);
}

// bar: C25
#[tokio::test]
async fn a_yes_for_the_session_does_not_reach_another_session() {
    let mut bench = Bench::new(vec![click(), click(), done(), click(), done()]).await;
    bench.show_editor();
    bench.start(ApprovalMode::Thread).await;
    let question = bench.question().await;
    let yes = AnswerApproval { approval: question.id, digest: question.digest, answer: Answer::Thread };
    bench.handle.answer_approval(yes, Surface::Chat).await.unwrap();
    bench.end().await;
    assert_eq!(bench.clicks(), 2);
    bench.handle.stop_run(StopRun { run: None }, Surface::Cli).await.unwrap();
    let overrides = RunOverrides {
        approval: Some(ApprovalMode::Thread),
        unattended: Unattended::End,
        ..RunOverrides::default()
    };
    bench.start_with(None, overrides).await;
    assert!(matches!(bench.end().await, RunEnd::NeedsApproval { .. }));
    assert_eq!(bench.clicks(), 2);
}

// bar: C25
#[tokio::test]
async fn a_yes_for_the_run_ends_with_it() {
    // Where every step is asked about, too.
    for approval in [ApprovalMode::Thread, ApprovalMode::Ask] {
        let mut bench = Bench::new(vec![click(), click(), done(), click(), done()]).await;
        bench.show_editor();
        let session = bench.begin(approval).await.session;
        let question = bench.question().await;
        assert!(question.for_run().is_some());
        let yes = answer(&question, Answer::Until { until: Until::Run });
        bench.handle.answer_approval(yes, Surface::Cli).await.unwrap();
        let next = bench
            .until(|body| matches!(body, EventBody::RunEnded { .. } | EventBody::ApprovalRequested { .. }));
        assert!(matches!(next.await.body, EventBody::RunEnded { .. }), "{approval:?}: it asks again");
        assert_eq!((bench.clicks(), bench.handle.overview().await.unwrap().settings.grants), (2, vec![]));
        let overrides = RunOverrides { unattended: Unattended::End, ..RunOverrides::default() };
        bench.start_with(Some(session), overrides).await;
        assert!(matches!(bench.end().await, RunEnd::NeedsApproval { .. }));
        assert_eq!(bench.clicks(), 2);
    }
}

// bar: C25
#[tokio::test]
async fn a_yes_to_a_batch_for_longer_covers_each_of_its_tools_in_its_application() {
    let press = || Step::call("press", json!({ "key": "a", "reason": "to try" }));
    let part = |tool: &str, arguments: Value| json!({ "tool": tool, "arguments": arguments });
    let both = || {
        let actions = [part("click", json!({ "x": 500, "y": 500 })), part("press", json!({ "key": "a" }))];
        Step::call("batch", json!({ "actions": actions, "reason": "both" }))
    };
    for until in [Until::Run, Until::Always] {
        let steps =
            vec![both(), click(), press(), both(), Step::call("type", json!({ "text": "b" })), done()];
        let mut bench = Bench::new(steps).await;
        bench.show_editor();
        bench.begin(ApprovalMode::Thread).await;
        let question = bench.question().await;
        let grants = question.for_run().unwrap();
        let grants: Vec<_> = grants.iter().map(|one| (one.tool.as_str(), one.app.as_deref())).collect();
        assert_eq!(grants, [("click", Some("editor")), ("press", Some("editor"))]);
        let yes = answer(&question, Answer::Until { until });
        bench.handle.answer_approval(yes, Surface::Dashboard).await.unwrap();
        let other = bench.question().await;
        assert_eq!((other.call.tool.as_str(), bench.clicks()), ("type", 3), "{until:?}");
        let standing = bench.handle.overview().await.unwrap().settings.grants.len();
        assert_eq!(standing, if until == Until::Always { 2 } else { 0 });
        bench.handle.answer_approval(answer(&other, Answer::Deny), Surface::Dashboard).await.unwrap();
        bench.end().await;
    }
}

// bar: C25
#[tokio::test]
async fn what_was_allowed_is_listed_and_asks_again_once_it_is_taken_back() {
    let press = || Step::call("press", json!({ "key": "a", "reason": "to try" }));
    let grant = Grant { tool: "click".into(), app: Some("editor".into()) };
    for given in [Answer::Thread, Answer::Until { until: Until::Run }, Answer::Until { until: Until::Always }]
    {
        let mut bench = Bench::new(vec![click(), click(), press(), click(), done()]).await;
        bench.show_editor();
        let run = bench.begin(ApprovalMode::Thread).await.run;
        let first = bench.question().await;
        bench.handle.answer_approval(answer(&first, given.clone()), Surface::Dashboard).await.unwrap();
        let other = bench.question().await;
        assert_eq!((other.call.tool.as_str(), bench.clicks()), ("press", 2), "{given:?}");
        let overview = || async { bench.handle.overview().await.unwrap() };
        let listed = || async { overview().await.runs[0].status.grants.clone() };
        if given == (Answer::Until { until: Until::Always }) {
            // It stands in the settings.
            assert_eq!((listed().await, overview().await.settings.grants.len()), (vec![], 1));
            let patch = SettingsPatch([("grants".to_owned(), json!([]))].into_iter().collect());
            bench.handle.update_settings(patch).await.unwrap();
        } else {
            assert_eq!(listed().await, std::slice::from_ref(&grant), "{given:?}");
            let never = TakeBackGrant { run: run.clone(), grant: Grant { app: None, ..grant.clone() } };
            let error = bench.handle.take_back_grant(never).await.unwrap_err();
            assert_eq!(error.code, ErrorCode::NotFound, "what was never allowed is not noted");
            let back = TakeBackGrant { run: run.clone(), grant: grant.clone() };
            bench.handle.take_back_grant(back).await.unwrap();
            assert_eq!(listed().await, [], "{given:?}");
        }
        bench.handle.answer_approval(answer(&other, Answer::Once), Surface::Dashboard).await.unwrap();
        let again = bench.question().await;
        assert_eq!((again.call.tool.as_str(), bench.clicks()), ("click", 2), "{given:?}");
        bench.handle.answer_approval(answer(&again, Answer::Deny), Surface::Dashboard).await.unwrap();
        bench.end().await;
        let late = TakeBackGrant { run, grant: grant.clone() };
        assert_eq!(bench.handle.take_back_grant(late).await.unwrap_err().code, ErrorCode::NotFound);
    }
}

// bar: C24, C25
#[tokio::test]
async fn where_every_step_is_asked_about_no_yes_is_for_the_session() {
    let mut bench = Bench::new(vec![click(), click(), done()]).await;
    bench.show_editor();
    bench.start(ApprovalMode::Ask).await;
    let first = bench.question().await;
    assert_eq!(first.for_session(), None);
    let longer = bench.handle.answer_approval(answer(&first, Answer::Thread), Surface::Dashboard).await;
    let refused = longer.unwrap_err();
    assert_eq!(refused.code, ErrorCode::BadRequest);
    assert!(refused.message.contains("asks about every step"), "{refused:?}");
    bench.handle.answer_approval(answer(&first, Answer::Once), Surface::Dashboard).await.unwrap();
    let second = bench.question().await;
    assert_ne!(first.id, second.id);
    assert_eq!(bench.clicks(), 1);
}

// bar: C25
#[tokio::test]
async fn a_yes_from_now_on_is_a_window_s_to_give_listed_and_taken_back() {
    let mut bench = Bench::new(vec![click(), done(), click(), done(), click(), done()]).await;
    bench.show_editor();
    bench.start(ApprovalMode::Thread).await;
    let question = bench.question().await;
    for until in [Until::Day, Until::Always] {
        let refused = bench.handle.answer_approval(answer(&question, Answer::Until { until }), Surface::Cli);
        assert_eq!(refused.await.unwrap_err().code, ErrorCode::Forbidden);
    }
    let yes = answer(&question, Answer::Until { until: Until::Always });
    bench.handle.answer_approval(yes, Surface::Dashboard).await.unwrap();
    bench.end().await;
    let listed = bench.handle.overview().await.unwrap().settings.grants;
    let standing = StandingGrant { tool: "click".into(), app: "editor".into(), until: None };
    assert_eq!(listed, std::slice::from_ref(&standing));
    // Another session is not asked, until the grant has run out or is taken back.
    let overrides = || RunOverrides {
        approval: Some(ApprovalMode::Thread),
        unattended: Unattended::End,
        ..RunOverrides::default()
    };
    bench.start_with(None, overrides()).await;
    assert!(matches!(bench.end().await, RunEnd::Completed { .. }));
    assert_eq!(bench.clicks(), 2);
    let over = StandingGrant { until: Some(Timestamp(1)), ..standing };
    let patch = SettingsPatch([("grants".to_owned(), json!([over]))].into_iter().collect());
    bench.handle.update_settings(patch).await.unwrap();
    bench.start_with(None, overrides()).await;
    assert!(matches!(bench.end().await, RunEnd::NeedsApproval { .. }));
    assert_eq!(bench.clicks(), 2);
}

#[tokio::test]
async fn an_application_that_is_never_acted_on_is_not_from_the_moment_on_that_its_user_says_so() {
    let mut bench = Bench::new(vec![click(), click(), done()]).await;
    bench.show_editor();
    bench.start(ApprovalMode::Ask).await;
    for never in [json!([]), json!(["bank"])] {
        let question = bench.question().await;
        let patch = SettingsPatch([("neverApps".to_owned(), never)].into_iter().collect());
        bench.handle.update_settings(patch).await.unwrap();
        bench.handle.answer_approval(answer(&question, Answer::Once), Surface::Dashboard).await.unwrap();
    }
    bench.end().await;
    let acts = bench.desktop.fenced_acts();
    let never: Vec<_> = acts.iter().map(|(_, fence)| fence.never.clone()).collect();
    assert_eq!(never, [vec![], vec!["bank".to_owned()]]);
}

// bar: C25
#[tokio::test]
async fn a_yes_for_the_session_is_over_with_its_process_for_a_run_that_goes_on_too() {
    let press = || Step::call("press", json!({ "key": "a", "reason": "to try" }));
    let mut before = Bench::new(vec![click(), press()]).await;
    before.show_editor();
    let session = before.start(ApprovalMode::Thread).await;
    let clicked = before.question().await;
    let for_session = asking::answer(&clicked, Answer::Thread);
    before.handle.answer_approval(for_session, Surface::Chat).await.unwrap();
    let pressed = before.question().await;
    assert_eq!((before.clicks(), pressed.call.tool.as_str()), (1, "press"));

    // The same run goes on in another process, and asks again about what was allowed for the session.
    let mut next = Bench::at(asking::crashed(&before), vec![click(), done(), click()]).await;
    before.handle.shutdown().await;
    next.show_editor();
    next.handle.answer_approval(asking::answer(&pressed, Answer::Once), Surface::Chat).await.unwrap();
    let again = next.question().await;
    assert_eq!((again.call.tool.as_str(), next.clicks()), ("click", 0));
    next.handle.answer_approval(asking::answer(&again, Answer::Deny), Surface::Chat).await.unwrap();
    next.end().await;
    // So does the next run of that session.
    let overrides = RunOverrides { unattended: Unattended::End, ..RunOverrides::default() };
    next.handle.stop_run(StopRun { run: None }, Surface::Cli).await.unwrap();
    next.start_with(Some(session), overrides).await;
    assert!(matches!(next.end().await, RunEnd::NeedsApproval { .. }));
    assert_eq!(next.clicks(), 0);
}

// bar: C25
#[tokio::test]
async fn what_was_taken_back_is_so_after_a_restart_too() {
    for is_back_before in [true, false] {
        let press = || Step::call("press", json!({ "key": "a", "reason": "to try" }));
        let mut before = Bench::new(vec![click(), press()]).await;
        before.show_editor();
        let run = before.begin(ApprovalMode::Ask).await.run;
        let clicked = before.question().await;
        let for_run = asking::answer(&clicked, Answer::Until { until: Until::Run });
        before.handle.answer_approval(for_run, Surface::Dashboard).await.unwrap();
        let pressed = before.question().await;
        let grant = Grant { tool: "click".into(), app: Some("editor".into()) };
        let back = TakeBackGrant { run, grant };
        if is_back_before {
            before.handle.take_back_grant(back.clone()).await.unwrap();
        }
        let mut next = Bench::at(asking::crashed(&before), vec![click(), done()]).await;
        before.handle.shutdown().await;
        next.show_editor();
        if !is_back_before {
            next.handle.take_back_grant(back.clone()).await.unwrap();
        }
        assert_eq!(next.handle.take_back_grant(back).await.unwrap_err().code, ErrorCode::NotFound);
        next.handle.answer_approval(asking::answer(&pressed, Answer::Once), Surface::Chat).await.unwrap();
        let again = next.question().await;
        assert_eq!((again.call.tool.as_str(), next.clicks()), ("click", 0), "{is_back_before}");
    }
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
async fn the_failsafe_corner_stops_the_run() {
    let mut bench = Bench::new(vec![Step::silence()]).await;
    bench.start(ApprovalMode::Auto).await;
    bench.desktop.interrupt(tools::Interruption::Corner);
    assert!(matches!(bench.end().await, RunEnd::Stopped { reason } if reason.starts_with("failsafe")));
}

#[tokio::test]
async fn a_second_run_begins_beside_the_first_but_not_in_its_session() {
    let mut bench = Bench::new(vec![Step::silence(), done()]).await;
    let session = bench.start(ApprovalMode::Auto).await;
    let another = |session| StartRun { goal: "another".into(), session, overrides: RunOverrides::default() };
    let refused = bench.handle.start_run(another(Some(session)), Surface::Cli).await.unwrap_err();
    assert_eq!(refused.code, ErrorCode::Busy);
    while bench.model.requests().is_empty() {
        tokio::task::yield_now().await;
    }
    bench.handle.start_run(another(None), Surface::Cli).await.unwrap();
    assert!(matches!(bench.end().await, RunEnd::Completed { .. }));
    let runs = bench.handle.list_runs().await.unwrap();
    assert_eq!(runs.len(), 1, "the first one goes on: {runs:?}");
}

#[tokio::test(start_paused = true)]
async fn a_call_that_acts_waits_for_the_desktop_and_one_that_looks_does_not() {
    let mut bench = Bench::new(vec![Step::call("type", json!({ "text": "hello" }))]).await;
    let patch = serde_json::from_value(json!({ "toolTimeoutMs": 60_000 })).unwrap();
    bench.handle.update_settings(patch).await.unwrap();
    bench.desktop.edit(|scene| scene.delay = Duration::from_secs(20));
    bench.start(ApprovalMode::Auto).await;
    bench.until(|body| matches!(body, EventBody::ToolStarted { .. })).await;
    let acting = CallTool { tool: "click".into(), arguments: json!({ "x": 1, "y": 1 }), asked: None };
    assert_eq!(bench.handle.call_tool(acting).await.unwrap_err().code, ErrorCode::Busy);
    let looking = CallTool { tool: "screenshot".into(), arguments: json!({}), asked: None };
    assert_eq!(bench.handle.call_tool(looking).await.unwrap().effect, Effect::Confirmed);
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

// bar: C62
#[tokio::test]
async fn no_tool_of_a_turn_cut_by_its_token_limit_ever_runs() {
    let call = ProposedCall::new(None, "click", json!({ "x": 1, "y": 1 }));
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
    let events = history(&next.handle, &session).await;
    let tail: Vec<_> = events.iter().rev().take(2).map(|event| &event.body).collect();
    assert!(matches!(tail[0], EventBody::RunEnded { end: RunEnd::Interrupted { reason: None } }));
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
async fn a_run_whose_user_wants_that_goes_on_by_itself_at_the_next_start_and_three_times_at_the_most() {
    let wanted =
        RunOverrides { approval: Some(ApprovalMode::Auto), carry_on: Some(true), ..RunOverrides::default() };
    for quit in [false, true] {
        let mut at_work = Bench::new(vec![click(), Step::silence()]).await;
        let session = at_work.start_with(None, wanted.clone()).await;
        at_work.until(|body| matches!(body, EventBody::ToolFinished { .. })).await;
        for left in [Some(2), Some(1), Some(0), None] {
            let folder = if quit {
                at_work.handle.shutdown().await;
                asking::crashed(&at_work)
            } else {
                let folder = asking::crashed(&at_work);
                at_work.handle.shutdown().await;
                folder
            };
            at_work = Bench::at(folder, vec![Step::silence()]).await;
            at_work.handle.carry_on().await.unwrap();
            let events = history(&at_work.handle, &session).await;
            let last = events.iter().rev().find_map(|event| match &event.body {
                EventBody::RunStarted(spec) => Some(Some(spec)),
                // One that goes on no more is interrupted by a quit as by a crash: nobody has stopped it.
                EventBody::RunEnded { end } => {
                    assert_eq!(*end, RunEnd::Interrupted { reason: None }, "quit: {quit}");
                    Some(None)
                }
                _ => None,
            });
            let going_on = last.unwrap();
            assert_eq!(going_on.map(|spec| spec.carry_on), left, "quit: {quit}");
            if let Some(spec) = going_on {
                assert!(spec.goal.contains("look at the screen") && spec.goal.ends_with(spec.words()));
                assert!(!spec.words().contains("Go on where"), "{}", spec.words());
            }
        }
    }
    // Nobody else's.
    let before = Bench::new(vec![Step::silence()]).await;
    before.start(ApprovalMode::Auto).await;
    let next = Bench::at(asking::crashed(&before), vec![Step::silence()]).await;
    before.handle.shutdown().await;
    next.handle.carry_on().await.unwrap();
    assert!(next.handle.overview().await.unwrap().runs.is_empty());
    // Where its user says so, the model is told that time has passed; the goal stays theirs.
    let session = next.start_with(None, RunOverrides { goes_on: true, ..RunOverrides::default() }).await;
    let events = history(&next.handle, &session).await;
    let spec = events.into_iter().find_map(|event| match event.body {
        EventBody::RunStarted(spec) => Some(spec),
        _ => None,
    });
    let spec = spec.unwrap();
    assert_eq!(spec.told(), "press the button");
    assert!(spec.goal.contains("look at the screen") && spec.goal.ends_with(spec.told()), "{}", spec.goal);
}

#[tokio::test]
async fn whoever_only_looks_after_a_crash_keeps_no_run_from_going_on_by_itself() {
    let wanted =
        RunOverrides { approval: Some(ApprovalMode::Auto), carry_on: Some(true), ..RunOverrides::default() };
    let mut at_work = Bench::new(vec![click(), Step::silence()]).await;
    let session = at_work.start_with(None, wanted).await;
    at_work.until(|body| matches!(body, EventBody::ToolFinished { .. })).await;
    // As `miki ps` does: nothing is at work, and it has no end.
    let looks = Bench::at(asking::crashed(&at_work), vec![]).await;
    let overview = looks.handle.overview().await.unwrap();
    assert!(overview.runs.is_empty() && looks.handle.list_runs().await.unwrap().is_empty());
    let is_end = |event: &protocol::Event| matches!(event.body, EventBody::RunEnded { .. });
    assert!(!history(&looks.handle, &session).await.iter().any(is_end));
    let next = Bench::at(asking::crashed(&looks), vec![Step::silence()]).await;
    next.handle.carry_on().await.unwrap();
    let events = history(&next.handle, &session).await;
    assert_eq!(events.iter().filter(|event| is_end(event)).count(), 1);
    assert_eq!(next.handle.overview().await.unwrap().runs.len(), 1);
    // Its user finds their own words, and what came of them.
    let told = |event: &protocol::Event| match &event.body {
        EventBody::RunStarted(spec) => Some(spec.told().to_owned()),
        _ => None,
    };
    let goals: Vec<_> = events.iter().filter_map(told).collect();
    assert_eq!(goals.len(), 2);
    assert_eq!(goals[0], goals[1]);
    let noted = |event: &protocol::Event| matches!(&event.body, EventBody::Noted { message, .. } if message.contains("went on by itself"));
    assert!(events.iter().any(noted));
    at_work.handle.shutdown().await;
}

#[tokio::test]
async fn what_its_user_held_narrowed_or_used_up_stays_so_where_a_run_goes_on_by_itself() {
    let wanted = || RunOverrides {
        approval: Some(ApprovalMode::Auto),
        carry_on: Some(true),
        max_steps: Some(9),
        ..RunOverrides::default()
    };
    for quit in [false, true] {
        // Paused by hand: nothing goes on, however Miki ends.
        let mut held = Bench::new(vec![click(), Step::silence()]).await;
        held.start_with(None, wanted()).await;
        held.until(|body| matches!(body, EventBody::ToolFinished { .. })).await;
        held.handle.pause_run(PauseRun { run: None }, Surface::Dashboard).await.unwrap();
        held.until(|body| matches!(body, EventBody::RunPaused { .. })).await;
        if quit {
            held.handle.shutdown().await;
        }
        let next = Bench::at(asking::crashed(&held), vec![Step::silence()]).await;
        next.handle.carry_on().await.unwrap();
        let runs = next.handle.overview().await.unwrap().runs;
        assert!(runs.len() == 1 && runs[0].status.paused, "quit: {quit}: {runs:?}");
        assert!(next.model.requests().is_empty(), "quit: {quit}");
        held.handle.shutdown().await;
    }
    // Stopped in the middle of a call, and then killed before the end is written.
    let mut stopped = Bench::new(vec![Step::call("type", json!({ "text": "hello" }))]).await;
    stopped.desktop.edit(|scene| scene.delay = Duration::from_secs(600));
    stopped.start_with(None, wanted()).await;
    stopped.until(|body| matches!(body, EventBody::ToolStarted { .. })).await;
    let stop = stopped.handle.stop_run(StopRun { run: None }, Surface::Tray);
    let killed = async {
        let asked = stopped.handle.clone();
        loop {
            let sessions = asked.overview().await.unwrap();
            let session = sessions.sessions[0].id.clone();
            let events = history(&asked, &session).await;
            if events.iter().any(|event| matches!(event.body, EventBody::RunPaused { .. })) {
                return asking::crashed(&stopped);
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    let (stop, folder) = tokio::join!(stop, killed);
    stop.unwrap();
    let next = Bench::at(folder, vec![Step::silence()]).await;
    next.handle.carry_on().await.unwrap();
    assert!(next.handle.overview().await.unwrap().runs.is_empty(), "it was stopped");
    stopped.handle.shutdown().await;
    // What its session became, and what is left of its budget.
    let mut loose = Bench::new(vec![click(), Step::silence()]).await;
    let session = loose.start_with(None, wanted()).await;
    loose.until(|body| matches!(body, EventBody::ToolFinished { .. })).await;
    let edit = EditSession {
        session: session.clone(),
        title: None,
        mode: None,
        approval: Some(ApprovalMode::Ask),
        search: None,
        pinned: None,
        archived: None,
    };
    loose.handle.edit_session(edit).await.unwrap();
    let next = Bench::at(asking::crashed(&loose), vec![Step::silence()]).await;
    next.handle.carry_on().await.unwrap();
    let events = history(&next.handle, &session).await;
    let spec = events.iter().rev().find_map(|event| match &event.body {
        EventBody::RunStarted(spec) => Some(spec),
        _ => None,
    });
    let spec = spec.unwrap();
    assert_eq!((spec.approval, spec.carry_on, spec.max_steps), (ApprovalMode::Ask, 2, 8));
    loose.handle.shutdown().await;
}

#[tokio::test]
async fn settings_out_of_range_are_refused_and_nothing_is_changed() {
    let bench = Bench::new(vec![]).await;
    let patch = serde_json::from_value(json!({ "maxSteps": 0 })).unwrap();
    assert_eq!(bench.handle.update_settings(patch).await.unwrap_err().code, ErrorCode::BadRequest);
    assert_eq!(bench.handle.overview().await.unwrap().settings.max_steps, 30);
    let patch = serde_json::from_value(json!({ "maxSteps": 5 })).unwrap();
    assert_eq!(bench.handle.update_settings(patch).await.unwrap().max_steps, 5);
}

#[tokio::test]
async fn plan_only_binds_the_session_that_is_there_and_says_what_it_means_for_a_run_under_way() {
    let mut bench = Bench::new(vec![Step::silence(), click(), done()]).await;
    let session = bench.start(ApprovalMode::Auto).await;
    bench.handle.set_mode(Mode::Plan).await.unwrap();
    let noted = bench.until(|body| matches!(body, EventBody::Noted { .. })).await.body;
    assert!(
        matches!(&noted, EventBody::Noted { message, .. } if message.contains("goes on acting")),
        "{noted:?}"
    );
    bench.handle.stop_run(StopRun { run: None }, Surface::Tray).await.unwrap();
    // A goal typed into the session that is open looks, and does not act.
    let overrides = RunOverrides { approval: Some(ApprovalMode::Auto), ..RunOverrides::default() };
    bench.start_with(Some(session), overrides.clone()).await;
    bench.until(|body| matches!(body, EventBody::RunStarted(spec) if spec.mode == Mode::Plan)).await;
    bench.end().await;
    assert_eq!(bench.clicks(), 0);
    bench.handle.stop_run(StopRun { run: None }, Surface::Tray).await.unwrap();
    bench.start_with(None, overrides).await;
    bench.until(|body| matches!(body, EventBody::RunStarted(spec) if spec.mode == Mode::Plan)).await;
}

#[tokio::test]
async fn what_was_loosened_in_the_settings_file_behind_our_back_waits_for_a_window() {
    let start = async |home, change: fn(&mut Settings)| {
        Bench::with(home, vec![], |setup: &mut Setup| change(&mut setup.settings)).await
    };
    let stop = async |bench: Bench| {
        bench.handle.shutdown().await;
        let Bench { home, handle, events, .. } = bench;
        drop((handle, events));
        home
    };
    let told = async |bench: &Bench| {
        let page = ReadEvents { stream: StreamId::app(), before: None, after: Some(0), limit: 100 };
        let events = bench.handle.read_events(page).await.unwrap().events.into_iter();
        let warned = events.filter_map(|event| match event.body {
            EventBody::Noted { level: Level::Warning, message, .. } => Some(message),
            _ => None,
        });
        warned.collect::<Vec<_>>()
    };
    let first = start(home(), |settings| settings.fence_apps = vec!["Editor".into()]).await;
    assert_eq!(told(&first).await, Vec::<String>::new());
    // The file says more now, and something harmless.
    let second = start(stop(first).await, |settings| {
        (settings.approval, settings.failsafe, settings.max_steps) = (ApprovalMode::Auto, false, 7);
        settings.base_urls.insert("gemini".into(), "https://evil.test".into());
    })
    .await;
    let settings = second.handle.overview().await.unwrap().settings;
    assert_eq!((settings.approval, settings.failsafe, settings.max_steps), (ApprovalMode::Ask, true, 7));
    assert_eq!((settings.fence_apps.as_slice(), settings.base_urls.len()), (&["Editor".to_owned()][..], 0));
    let [warning] = &told(&second).await[..] else { panic!("{:?}", told(&second).await) };
    let put_back = second.handle.put_back().await.unwrap().unwrap();
    assert_eq!(&put_back.said.message, warning, "a check of the machine has it");
    assert!(put_back.said.hint.is_some());
    for name in ["approval", "failsafe", "fence", "baseUrls"] {
        assert!(warning.contains(name), "{warning}");
    }
    // In a window it is the user's own word, and stays.
    let patch = serde_json::from_value(json!({ "approval": "auto" })).unwrap();
    second.handle.update_settings(patch).await.unwrap();
    assert!(second.handle.put_back().await.unwrap().is_none(), "until the settings are changed");
    let third = start(stop(second).await, |settings| {
        (settings.approval, settings.max_steps) = (ApprovalMode::Auto, 7);
        settings.fence_apps = vec!["Editor".into()];
    })
    .await;
    assert_eq!(third.handle.overview().await.unwrap().settings.approval, ApprovalMode::Auto);
    assert_eq!(told(&third).await.len(), 1);
}
