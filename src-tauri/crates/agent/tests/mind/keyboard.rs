//! The user's keyboard: it is in the user's window while they are asked, and where the run works while it acts.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use desktop::fake::Call;
use desktop::{Action, Taker, WindowChange, WindowId, WindowView};
use models::scripted::Step;
use protocol::EventBody;
use protocol::budget::Reached;
use protocol::command::{PauseRun, ResumeRun, RunOverrides, StopRun};
use protocol::event::RunEnd;
use protocol::principal::Surface;
use protocol::tool::{Answer, Approval, ApprovalMode};
use serde_json::json;
use tokio::sync::Notify;

use crate::asking::{answer, window};
use crate::bench::{Bench, click, done, goal};

const EDITOR: u64 = 1;
const TERMINAL: u64 = 2;

fn typing() -> Step {
    Step::call("type", json!({ "text": "hello", "reason": "to greet" }))
}

/// A terminal over an editor.
fn windows(focused: u64) -> Vec<WindowView> {
    let terminal = WindowView { app: "terminal".into(), pid: Some(8), ..window(TERMINAL, "$") };
    let mut all = vec![terminal, window(EDITOR, "letter")];
    for one in &mut all {
        one.states.retain(|_| one.id == WindowId(focused));
    }
    all
}

async fn focused(bench: &Bench) -> Option<u64> {
    let all = desktop::Windows::windows(&*bench.desktop).await.unwrap();
    all.iter().find(|one| one.is("focused")).map(|one| one.id.0)
}

/// Its user starts a run in the terminal, and allows a click that takes the keyboard to the editor. Before its next step
/// `meanwhile` happens.
async fn clicked_away(steps: Vec<Step>, from: Surface, meanwhile: impl FnOnce(&Bench)) -> Bench {
    clicked_away_within(steps, from, 30, meanwhile).await
}

async fn clicked_away_within(
    steps: Vec<Step>,
    from: Surface,
    max_steps: u32,
    meanwhile: impl FnOnce(&Bench),
) -> Bench {
    let gate = Arc::new(Notify::new());
    let mut steps: std::collections::VecDeque<_> = steps.into();
    let next = steps.pop_front().unwrap().once(&gate);
    let steps = [click(), next].into_iter().chain(steps).collect();
    let mut bench = Bench::new(steps).await;
    bench.desktop.edit(|scene| scene.windows = windows(TERMINAL));
    let only = RunOverrides {
        approval: Some(ApprovalMode::Ask),
        max_steps: Some(max_steps),
        only_apps: Some(vec!["editor".into(), "terminal".into()]),
        ..RunOverrides::default()
    };
    bench.handle.start_run(goal(None, only), from).await.unwrap();
    let asked = bench.question().await;
    bench.handle.answer_approval(answer(&asked, Answer::Once), Surface::Cli).await.unwrap();
    bench.until(|body| matches!(body, EventBody::ToolFinished { .. })).await;
    bench.desktop.edit(|scene| scene.windows = windows(EDITOR));
    meanwhile(&bench);
    gate.notify_one();
    bench
}

#[tokio::test]
async fn who_is_asked_has_the_keyboard_where_they_started_the_run_and_what_is_allowed_goes_where_it_was_meant()
 {
    let mut bench = clicked_away(vec![typing(), done()], Surface::Cli, |_| {}).await;
    let typed = typed_into(&bench);
    let asked = bench.question().await;
    assert_eq!(focused(&bench).await, Some(TERMINAL));
    assert_eq!(asked.window.as_ref().map(|window| window.id), Some(EDITOR), "what is asked about");
    bench.handle.answer_approval(answer(&asked, Answer::Once), Surface::Cli).await.unwrap();
    assert!(matches!(bench.end().await, RunEnd::Completed { .. }));
    assert_eq!(*typed.lock().unwrap(), [Some(EDITOR)]);
    assert_eq!(focused(&bench).await, Some(TERMINAL), "the run has ended, and its user types on");
}

#[tokio::test(start_paused = true)]
async fn a_click_does_not_take_the_keyboard_while_its_user_types_to_us() {
    let only = RunOverrides { approval: Some(ApprovalMode::Auto), ..RunOverrides::default() };
    let mut bench = Bench::new(vec![click(), done()]).await;
    bench.desktop.edit(|scene| (scene.windows, scene.taker) = (windows(0), Taker::Ours));
    bench.desktop.press_just_now();
    let clicked = tokio::time::Instant::now();
    bench.handle.start_run(goal(None, only), Surface::Dashboard).await.unwrap();
    for _ in 0..10 {
        tokio::time::sleep(Duration::from_millis(100)).await;
        bench.desktop.press_just_now();
        assert_eq!(bench.desktop.fenced_acts().len(), 0, "the next letter would have gone elsewhere");
    }
    assert!(matches!(bench.end().await, RunEnd::Completed { .. }));
    assert_eq!(bench.desktop.fenced_acts().len(), 1);
    assert!(clicked.elapsed() >= Duration::from_millis(1700), "{:?}", clicked.elapsed());
}

#[tokio::test]
async fn what_comes_after_a_no_is_asked_about_where_the_run_works() {
    let mut bench = clicked_away(vec![typing(), typing(), done()], Surface::Cli, |_| {}).await;
    let typed = typed_into(&bench);
    let first = bench.question().await;
    bench.handle.answer_approval(answer(&first, Answer::Deny), Surface::Cli).await.unwrap();
    let second = bench.question().await;
    assert_eq!(second.window.as_ref().map(|window| window.id), Some(EDITOR));
    assert_eq!(focused(&bench).await, Some(TERMINAL));
    bench.handle.answer_approval(answer(&second, Answer::Once), Surface::Cli).await.unwrap();
    bench.end().await;
    assert_eq!(*typed.lock().unwrap(), [Some(EDITOR)]);
}

#[tokio::test]
async fn the_keyboard_of_a_user_who_went_elsewhere_or_is_in_one_of_our_windows_is_left_alone() {
    let mut pressed = clicked_away(vec![typing()], Surface::Cli, |bench| bench.desktop.press()).await;
    pressed.question().await;
    assert_eq!(focused(&pressed).await, Some(EDITOR), "they pressed something there");

    let mut in_chat = clicked_away(vec![typing()], Surface::Chat, |_| {}).await;
    in_chat.question().await;
    assert_eq!(focused(&in_chat).await, Some(EDITOR), "the chat comes back for itself");

    let ours = |bench: &Bench| {
        bench.desktop.edit(|scene| (scene.windows, scene.taker) = (windows(0), Taker::Ours));
    };
    let mut in_ours = clicked_away(vec![click()], Surface::Cli, ours).await;
    in_ours.question().await;
    assert_eq!(focused(&in_ours).await, None, "they are in one of ours");
}

#[tokio::test]
async fn who_started_it_in_the_chat_and_went_elsewhere_has_the_keyboard_there_again() {
    let gate = Arc::new(Notify::new());
    let mut bench = Bench::new(vec![click(), typing().once(&gate), done()]).await;
    bench.desktop.edit(|scene| scene.windows = windows(TERMINAL));
    let only = RunOverrides { approval: Some(ApprovalMode::Ask), ..RunOverrides::default() };
    bench.handle.start_run(goal(None, only), Surface::Chat).await.unwrap();
    let asked = bench.question().await;
    bench.desktop.press();
    bench.handle.answer_approval(answer(&asked, Answer::Once), Surface::Cli).await.unwrap();
    bench.until(|body| matches!(body, EventBody::ToolFinished { .. })).await;
    bench.desktop.edit(|scene| scene.windows = windows(EDITOR));
    gate.notify_one();
    let asked = bench.question().await;
    assert_eq!(focused(&bench).await, Some(TERMINAL), "they were asked there");
    bench.handle.answer_approval(answer(&asked, Answer::Once), Surface::Cli).await.unwrap();
    bench.end().await;
    assert_eq!(focused(&bench).await, Some(TERMINAL), "and the run has ended");
}

#[tokio::test]
async fn who_is_asked_whether_a_run_that_goes_in_circles_may_go_on_has_the_keyboard_where_they_started_it() {
    let looks = (0..21).map(|_| Step::call("listWindows", json!({})));
    let mut bench = clicked_away(looks.chain([done()]).collect(), Surface::Cli, |_| {}).await;
    bench.until(|body| matches!(body, EventBody::RunPaused { .. })).await;
    assert_eq!(focused(&bench).await, Some(TERMINAL));
}

#[tokio::test]
async fn who_is_asked_whether_a_run_may_go_on_has_the_keyboard_where_they_started_it() {
    let looks = Step::call("listWindows", json!({}));
    let mut bench = clicked_away_within(vec![looks, typing()], Surface::Cli, 2, |_| {}).await;
    let is_used_up =
        |body: &EventBody| matches!(body, EventBody::BudgetReached { reached: Reached::UsedUp, .. });
    bench.until(is_used_up).await;
    assert_eq!(focused(&bench).await, Some(TERMINAL));
    bench.handle.resume_run(ResumeRun { run: None }).await.unwrap();
    let asked = bench.question().await;
    assert_eq!(asked.window.as_ref().map(|window| window.id), Some(EDITOR));
    assert_eq!(focused(&bench).await, Some(TERMINAL));
}

/// What was typed, and where the keyboard was then.
fn typed_into(bench: &Bench) -> Arc<Mutex<Vec<Option<u64>>>> {
    let all = Arc::new(Mutex::new(Vec::new()));
    let seen = all.clone();
    bench.desktop.react(move |action, scene| {
        if matches!(action, Action::Type { .. }) {
            let at = scene.windows.iter().find(|one| one.is("focused")).map(|one| one.id.0);
            seen.lock().unwrap().push(at);
        }
    });
    all
}

async fn deny(bench: &Bench, asked: &Approval) {
    bench.handle.answer_approval(answer(asked, Answer::Deny), Surface::Cli).await.unwrap();
}

#[tokio::test]
async fn the_very_keys_that_answer_a_question_are_no_reason_to_keep_the_keyboard_from_the_next() {
    let mut bench = clicked_away(vec![typing(), typing(), done()], Surface::Cli, |_| {}).await;
    let first = bench.question().await;
    bench.desktop.press_just_now();
    bench.handle.answer_approval(answer(&first, Answer::Once), Surface::Cli).await.unwrap();
    bench.until(|body| matches!(body, EventBody::ToolFinished { .. })).await;
    // A second later it is clear that they brought nothing of ours to the front.
    bench.desktop.count_press();
    let second = bench.question().await;
    assert_eq!(focused(&bench).await, Some(TERMINAL));
    deny(&bench, &second).await;
    bench.end().await;
}

#[tokio::test(start_paused = true)]
async fn who_still_types_after_an_answer_keeps_the_keyboard_until_their_keys_rest() {
    let mut bench = clicked_away(vec![typing(), typing(), done()], Surface::Cli, |_| {}).await;
    let first = bench.question().await;
    bench.desktop.press_just_now();
    deny(&bench, &first).await;
    for _ in 0..10 {
        tokio::time::sleep(Duration::from_millis(100)).await;
        bench.desktop.press_just_now();
        let taken =
            bench.desktop.calls().contains(&Call::ChangeWindow(WindowId(EDITOR), WindowChange::Focus));
        assert!(!taken, "their keys would have gone to the run's window");
    }
    let pressed = tokio::time::Instant::now();
    let second = bench.question().await;
    assert!(pressed.elapsed() >= Duration::from_millis(700), "{:?}", pressed.elapsed());
    assert_eq!(second.window.as_ref().map(|window| window.id), Some(EDITOR));
    deny(&bench, &second).await;
    bench.end().await;
}

#[tokio::test]
async fn a_pause_and_a_stop_are_heard_while_a_call_waits_for_the_users_keys_to_rest() {
    let is_next = |body: &EventBody| {
        matches!(
            body,
            EventBody::RunPaused { .. } | EventBody::RunEnded { .. } | EventBody::ApprovalRequested { .. }
        )
    };
    for stops in [false, true] {
        let mut bench = clicked_away(vec![typing(), typing(), done()], Surface::Cli, |_| {}).await;
        let first = bench.question().await;
        bench.desktop.press_just_now();
        deny(&bench, &first).await;
        bench.until(|body| matches!(body, EventBody::TurnFinished { .. })).await;
        let (desktop, handle) = (bench.desktop.clone(), bench.handle.clone());
        let types = async {
            loop {
                desktop.press_just_now();
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        };
        let said = async {
            match stops {
                true => handle.stop_run(StopRun { run: None }, Surface::Tray).await.unwrap(),
                false => handle.pause_run(PauseRun { run: None }, Surface::Tray).await.unwrap(),
            }
            bench.until(is_next).await.body
        };
        let next = tokio::select! {
            next = said => next,
            () = types => unreachable!(),
        };
        if stops {
            assert!(matches!(next, EventBody::RunEnded { end: RunEnd::Stopped { .. } }), "{next:?}");
            continue;
        }
        assert!(matches!(next, EventBody::RunPaused { .. }), "{next:?}");
        bench.handle.resume_run(ResumeRun { run: None }).await.unwrap();
        let second = bench.question().await;
        assert_eq!(second.window.as_ref().map(|window| window.id), Some(EDITOR), "it is looked at anew");
        deny(&bench, &second).await;
        bench.end().await;
    }
}

#[tokio::test]
async fn while_the_window_it_worked_in_is_gone_its_keys_go_nowhere() {
    let forward = Step::call("focusWindow", json!({ "window": 3 }));
    let steps = vec![typing(), typing(), typing(), forward, typing(), done()];
    let mut bench = clicked_away(steps, Surface::Cli, |_| {}).await;
    let typed = typed_into(&bench);
    let first = bench.question().await;
    assert_eq!(focused(&bench).await, Some(TERMINAL));
    // Another letter is there instead.
    bench.desktop.edit(|scene| {
        scene.windows.retain(|one| one.id != WindowId(EDITOR));
        let other = window(3, "another letter");
        scene.windows.push(WindowView { states: Vec::new(), ..other });
    });
    deny(&bench, &first).await;
    bench.until(|body| matches!(body, EventBody::ToolFinished { .. })).await;
    for _ in 0..2 {
        let refused = bench.until(|body| matches!(body, EventBody::ToolFinished { .. })).await;
        let EventBody::ToolFinished { result, .. } = refused.body else { panic!() };
        let error = result.error.unwrap();
        assert!(error.message.contains("look again") || error.message.contains("is gone"), "{error:?}");
    }
    let asked = bench.question().await;
    assert_eq!(asked.window.as_ref().map(|window| window.id), Some(3));
    bench.handle.answer_approval(answer(&asked, Answer::Once), Surface::Cli).await.unwrap();
    bench.end().await;
    assert_eq!(*typed.lock().unwrap(), [Some(3)]);
}

#[tokio::test]
async fn a_window_that_closes_under_the_run_is_no_move_of_the_users() {
    let closed = |bench: &Bench| {
        bench.desktop.edit(|scene| (scene.windows, scene.taker) = (windows(0), Taker::Other));
    };
    let mut bench = clicked_away(vec![click(), typing(), done()], Surface::Cli, closed).await;
    let first = bench.question().await;
    bench.handle.answer_approval(answer(&first, Answer::Once), Surface::Cli).await.unwrap();
    bench.until(|body| matches!(body, EventBody::ToolFinished { .. })).await;
    bench.desktop.edit(|scene| (scene.windows, scene.taker) = (windows(EDITOR), Taker::Unsaid));
    let second = bench.question().await;
    assert_eq!(focused(&bench).await, Some(TERMINAL));
    deny(&bench, &second).await;
    bench.end().await;
}
