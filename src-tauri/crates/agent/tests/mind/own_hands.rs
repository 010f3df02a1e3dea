//! Runs with a pointer and a keyboard of their own, beside their user's.

use desktop::fake::Call;
use desktop::{Hands, Taker, WindowChange, WindowId};
use models::scripted::Step;
use protocol::EventBody;
use protocol::command::{BringUpWindow, ResumeRun, RunOverrides, StopRun};
use protocol::event::RunEnd;
use protocol::ids::SessionId;
use protocol::principal::Surface;
use protocol::settings::Settings;
use protocol::tool::{Answer, ApprovalMode, ExecResult};
use protocol::view::{BesideView, PointerView};
use serde_json::json;

use crate::asking::{answer, crashed};
use crate::bench::{Bench, click, done, history, settings};
use crate::tree::Tree;

async fn bench(steps: Vec<Step>) -> Bench {
    let bench = Bench::new(steps).await;
    bench.desktop.edit(|scene| scene.own_hands = true);
    bench.show_editor();
    bench.handle.update_settings(serde_json::from_value(json!({ "ownHands": true })).unwrap()).await.unwrap();
    bench
}

fn acts(desktop: &desktop::fake::FakeDesktop) -> usize {
    desktop.calls().iter().filter(|call| matches!(call, Call::Act(_))).count()
}

#[tokio::test]
async fn acts_go_by_them_and_nobody_is_told_that_the_desktop_is_taken() {
    let mut bench = bench(vec![click(), done()]).await;
    bench.start(ApprovalMode::Auto).await;
    let taken = std::cell::Cell::new(false);
    let end = bench
        .until(|body| {
            let is_taken = matches!(body, EventBody::DesktopChanged { desktop } if desktop.owner.is_some());
            taken.set(taken.get() || is_taken);
            matches!(body, EventBody::RunEnded { .. })
        })
        .await;
    assert!(matches!(end.body, EventBody::RunEnded { end: RunEnd::Completed { .. } }), "{end:?}");
    let own = bench.desktop.own_hands();
    assert_eq!((own.len(), acts(&own[0].1), acts(&bench.desktop)), (1, 1, 0));
    assert!(!taken.get(), "the user has it all the while");
    assert!(!own[0].1.is_holding());
}

#[tokio::test]
async fn what_only_looks_needs_none_and_where_there_are_none_it_acts_with_its_users() {
    let mut bench = bench(vec![Step::call("screenshot", json!({})), done(), click(), done()]).await;
    bench.start(ApprovalMode::Auto).await;
    bench.end().await;
    assert!(bench.desktop.own_hands().is_empty());
    bench.desktop.edit(|scene| scene.own_hands = false);
    let session = bench.start(ApprovalMode::Auto).await;
    assert!(matches!(bench.end().await, RunEnd::Completed { .. }));
    assert_eq!(acts(&bench.desktop), 1);
    let is_said = |body: &EventBody| matches!(body, EventBody::Noted { message, .. } if message.contains("acts with your pointer"));
    assert_eq!(history(&bench.handle, &session).await.iter().filter(|event| is_said(&event.body)).count(), 1);
}

#[tokio::test]
async fn a_stop_lets_go_of_what_they_hold() {
    let holds = Step::call("mouseDown", json!({ "x": 1, "y": 1, "reason": "to drag" }));
    let mut bench = bench(vec![holds, Step::silence()]).await;
    let started = bench.begin(ApprovalMode::Auto).await;
    bench.until(|body| matches!(body, EventBody::ToolFinished { .. })).await;
    let own = bench.desktop.own_hands().remove(0).1;
    assert!(own.is_holding());
    bench.handle.stop_run(StopRun { run: Some(started.run) }, Surface::Cli).await.unwrap();
    assert!(!own.is_holding());
}

#[tokio::test]
async fn the_user_pauses_it_in_its_window_alone() {
    let mut bench = bench(vec![click(), Step::silence()]).await;
    let started = bench.begin(ApprovalMode::Auto).await;
    bench.until(|body| matches!(body, EventBody::ToolFinished { .. })).await;
    // They work in another window than it does.
    bench.desktop.edit(|scene| scene.windows[0].id = desktop::WindowId(9));
    bench.desktop.interrupt(tools::Interruption::UserInput);
    bench.desktop.end_interruption();
    let run = bench.handle.list_runs().await.unwrap().remove(0);
    assert!(!run.status.paused, "{run:?}");
    bench.desktop.edit(|scene| scene.windows[0].id = desktop::WindowId(1));
    bench.desktop.interrupt(tools::Interruption::UserInput);
    bench.until(|body| matches!(body, EventBody::RunPaused { .. })).await;
    bench.desktop.end_interruption();
    bench.handle.resume_run(ResumeRun { run: Some(started.run) }).await.unwrap();
}

#[tokio::test]
async fn a_yes_counts_unless_its_user_has_worked_elsewhere_since_it_was_asked_for() {
    for (is_used, acts_then) in [(false, 2), (true, 1)] {
        let mut bench = bench(vec![click(), click(), done()]).await;
        bench.start(ApprovalMode::Ask).await;
        let first = bench.question().await;
        bench.handle.answer_approval(answer(&first, Answer::Once), Surface::Dashboard).await.unwrap();
        let second = bench.question().await;
        if is_used {
            bench.desktop.press();
        }
        bench.handle.answer_approval(answer(&second, Answer::Once), Surface::Dashboard).await.unwrap();
        assert!(matches!(bench.end().await, RunEnd::Completed { .. }));
        assert_eq!(acts(&bench.desktop.own_hands()[0].1), acts_then, "{is_used}");
    }
}

async fn beside(bench: &Bench) -> Vec<BesideView> {
    bench.handle.overview().await.unwrap().desktop.beside
}

#[tokio::test]
async fn where_it_works_is_told_until_it_ends() {
    let mut bench = bench(vec![click(), Step::silence()]).await;
    let started = bench.begin(ApprovalMode::Auto).await;
    bench.until(|body| matches!(body, EventBody::ToolFinished { .. })).await;
    let [one] = <[BesideView; 1]>::try_from(beside(&bench).await).unwrap();
    assert_eq!((&one.run, one.color, one.wants_room), (&started.run, 0, false));
    assert_eq!(one.window.unwrap().id, 1);
    let Some(Call::Act(desktop::Action::Click { display, at, .. })) =
        bench.desktop.own_hands()[0].1.calls().into_iter().find(|call| matches!(call, Call::Act(_)))
    else {
        panic!("it has not clicked")
    };
    assert_eq!(one.pointer, Some(PointerView { display, at }));
    bench.handle.stop_run(StopRun { run: Some(started.run) }, Surface::Cli).await.unwrap();
    bench.until(|body| matches!(body, EventBody::RunEnded { .. })).await;
    assert_eq!(beside(&bench).await, []);
}

#[tokio::test]
async fn a_window_of_ours_over_what_it_acts_on_is_asked_to_make_room() {
    let types = Step::call("type", json!({ "text": "x", "reason": "to write" }));
    let mut bench = bench(vec![click(), types, Step::silence()]).await;
    bench.desktop.edit(|scene| scene.taker = Taker::Ours);
    let session = bench.begin(ApprovalMode::Auto).await.session;
    for _ in 0..2 {
        bench.until(|body| matches!(body, EventBody::ToolFinished { .. })).await;
    }
    assert!(beside(&bench).await[0].wants_room);
    // It does not: its user is in it.
    let refused = results(&bench, &session).await.remove(1).error.unwrap();
    assert!(refused.message.contains("one of Miki's own windows lies over"), "{refused:?}");
}

#[tokio::test]
async fn its_user_has_its_window_brought_up_and_takes_it_over() {
    let mut bench = bench(vec![click(), Step::silence()]).await;
    let other = BringUpWindow { run: protocol::ids::RunId("r-none".into()), take: true };
    bench.handle.bring_up_window(other).await.unwrap_err();
    let started = bench.begin(ApprovalMode::Auto).await;
    bench.until(|body| matches!(body, EventBody::ToolFinished { .. })).await;
    let brought = |calls: Vec<Call>| {
        calls
            .iter()
            .filter(|call| matches!(call, Call::ChangeWindow(WindowId(1), WindowChange::Focus)))
            .count()
    };
    let watch = BringUpWindow { run: started.run.clone(), take: false };
    bench.handle.bring_up_window(watch).await.unwrap();
    assert_eq!(brought(bench.desktop.calls()), 1);
    assert!(!bench.handle.list_runs().await.unwrap()[0].status.paused);
    let take = BringUpWindow { run: started.run, take: true };
    bench.handle.bring_up_window(take).await.unwrap();
    assert!(bench.handle.list_runs().await.unwrap()[0].status.paused);
    assert_eq!(brought(bench.desktop.calls()), 2);
}

/// Its pointer is anywhere before that.
#[tokio::test]
async fn keys_go_to_a_window_that_it_has_gone_into_and_to_no_other() {
    let types = || Step::call("type", json!({ "text": "hello" }));
    let mut bench = bench(vec![types(), click(), types(), done()]).await;
    let session = bench.start(ApprovalMode::Auto).await;
    bench.end().await;
    let results = results(&bench, &session).await;
    assert!(
        results[0].error.as_ref().unwrap().message.contains("in no window that you work in"),
        "{results:?}"
    );
    assert_eq!(acts(&bench.desktop.own_hands()[0].1), 2);
}

#[tokio::test]
async fn keys_go_to_a_window_that_was_focused_and_to_a_dialog_of_it() {
    for (keys, is_refused) in [(1, false), (7, false), (8, true)] {
        let focus = Step::call("focusWindow", json!({ "window": 1 }));
        let types = Step::call("type", json!({ "text": "hello" }));
        let mut bench = bench(vec![focus, types, done()]).await;
        bench.desktop.edit(|scene| {
            scene.belongs = vec![(WindowId(7), WindowId(1))];
            scene.taker = Taker::Window(WindowId(keys));
        });
        let session = bench.start(ApprovalMode::Auto).await;
        bench.end().await;
        let results = results(&bench, &session).await;
        assert_eq!(results[1].error.is_some(), is_refused, "{keys}: {results:?}");
    }
}

async fn results(bench: &Bench, session: &SessionId) -> Vec<ExecResult> {
    let result = |event: protocol::Event| match event.body {
        EventBody::ToolFinished { result, .. } => Some(result),
        _ => None,
    };
    history(&bench.handle, session).await.into_iter().filter_map(result).collect()
}

/// The answer wakes it: it has none until then.
#[tokio::test]
async fn what_is_allowed_after_a_restart_is_done_by_hands_of_its_own_too() {
    let first = bench(vec![click()]).await;
    let mut first = first;
    first.start(ApprovalMode::Ask).await;
    let question = first.question().await;
    first.handle.shutdown().await;
    let settings = Settings { own_hands: true, ..settings() };
    let mut tree = Tree::at(crashed(&first), vec![vec![done()]], settings, |router| router).await;
    tree.bench.desktop.edit(|scene| scene.own_hands = true);
    tree.bench.show_editor();
    tree.bench.handle.answer_approval(answer(&question, Answer::Once), Surface::Dashboard).await.unwrap();
    assert!(matches!(tree.bench.end().await, RunEnd::Completed { .. }));
    let own = tree.bench.desktop.own_hands();
    assert_eq!((own.len(), acts(&own[0].1), acts(&tree.bench.desktop)), (1, 1, 0));
}

#[tokio::test]
async fn of_two_at_work_only_one_acts_in_a_window() {
    let minds = vec![vec![click(), Step::silence()], vec![click(), done()]];
    let settings = Settings { own_hands: true, ..settings() };
    let mut tree = Tree::at(tempfile::tempdir().unwrap(), minds, settings, |router| router).await;
    tree.bench.desktop.edit(|scene| scene.own_hands = true);
    tree.bench.show_editor();
    let auto = || RunOverrides { approval: Some(ApprovalMode::Auto), ..RunOverrides::default() };
    let first = tree.start("first", auto()).await;
    tree.bench.until(|body| matches!(body, EventBody::ToolFinished { .. })).await;
    let second = tree.start("second", auto()).await;
    tree.end_of(&second.run).await;
    let refused = tree.results(&second, "click").await;
    assert!(
        refused[0].error.as_ref().unwrap().message.contains("another agent works in that window"),
        "{refused:?}"
    );
    let own = tree.bench.desktop.own_hands();
    assert_eq!(own.iter().map(|(_, desktop)| acts(desktop)).collect::<Vec<_>>(), [1, 0]);
    // Once it has ended, its windows are anybody's.
    tree.bench.handle.stop_run(StopRun { run: Some(first.run) }, Surface::Cli).await.unwrap();
}
