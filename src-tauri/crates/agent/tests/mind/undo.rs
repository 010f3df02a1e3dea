//! Taking back what runs changed: step by step further back, never over what somebody has changed since, and never while
//! another has the desktop.

use models::scripted::Step;
use protocol::command::{Undo, Undone};
use protocol::event::RunEnd;
use protocol::ids::{CallId, RunId};
use protocol::tool::{ApprovalMode, Changed};
use protocol::{ErrorCode, EventBody};
use serde_json::json;

use crate::bench::{Bench, click, done, history};
use crate::tree::{Tree, auto, spawn, wait_for_all};

fn add() -> Step {
    Step::call("useTools", json!({ "groups": ["clipboard"] }))
}

fn copy(text: &str) -> Step {
    Step::call("writeClipboard", json!({ "text": text }))
}

async fn runs(bench: &mut Bench) -> RunId {
    let started = bench.begin(ApprovalMode::Auto).await;
    assert!(matches!(bench.end().await, RunEnd::Completed { .. }));
    started.run
}

async fn undo(bench: &Bench, run: Option<&RunId>) -> Result<Undone, protocol::ErrorView> {
    bench.handle.undo(Undo { run: run.cloned(), call: None }).await
}

fn copied(bench: &Bench) -> String {
    let mut now = String::new();
    bench.desktop.edit(|scene| now.clone_from(&scene.clipboard));
    now
}

#[tokio::test]
async fn each_undo_without_a_name_goes_one_run_further_back() {
    let steps = vec![add(), copy("one"), copy("two"), done(), add(), copy("three"), done()];
    let mut bench = Bench::new(steps).await;
    bench.desktop.edit(|scene| scene.clipboard = "before".into());
    runs(&mut bench).await;
    runs(&mut bench).await;
    assert_eq!(copied(&bench), "three");
    assert_eq!(undo(&bench, None).await.unwrap().undone.len(), 1);
    assert_eq!(copied(&bench), "two");
    // A whole run at once, the newest first; a thing that was changed twice is one thing.
    assert_eq!(undo(&bench, None).await.unwrap().undone.len(), 1);
    assert_eq!(copied(&bench), "before");
    let nothing = undo(&bench, None).await.unwrap_err();
    assert_eq!(nothing.code, ErrorCode::NotFound);
    assert!(nothing.message.contains("nothing left"), "{nothing:?}");
}

#[tokio::test]
async fn what_nothing_takes_back_is_said_with_what_was() {
    let steps = vec![add(), copy("one"), click(), Step::call("listWindows", json!({})), done()];
    let mut bench = Bench::new(steps).await;
    bench.show_editor();
    let run = runs(&mut bench).await;
    let undone = undo(&bench, None).await.unwrap();
    assert_eq!((undone.run, undone.undone.len()), (Some(run), 1));
    assert_eq!(undone.stays.len(), 1, "{:?}", undone.stays);
    assert!(undone.stays[0].starts_with("clicked"), "{:?}", undone.stays);
}

#[tokio::test]
async fn a_run_is_named_by_the_beginning_of_its_id_where_that_is_no_other_ones() {
    let mut bench = Bench::new(vec![add(), copy("one"), done(), add(), copy("two"), done()]).await;
    bench.desktop.edit(|scene| scene.clipboard = "before".into());
    let first = runs(&mut bench).await;
    let named = RunId(first.as_str()[..first.as_str().len() - 1].into());
    assert_eq!(undo(&bench, Some(&named)).await.unwrap().undone.len(), 1);
    assert_eq!(copied(&bench), "before");
    runs(&mut bench).await;
    let end = first.as_str()[first.as_str().len() - 8..].to_owned();
    assert_eq!(
        undo(&bench, Some(&RunId(end))).await.unwrap().run,
        Some(first.clone()),
        "as `miki ps` shows it"
    );
    let short = undo(&bench, Some(&RunId("r-".into()))).await.unwrap_err();
    assert_eq!(short.code, ErrorCode::BadRequest, "{short:?}");
    // Both began in the same days.
    let both = undo(&bench, Some(&RunId(first.as_str()[..6].into()))).await.unwrap_err();
    assert_eq!(both.code, ErrorCode::BadRequest, "{both:?}");
    let none = undo(&bench, Some(&RunId("r-zzzz".into()))).await.unwrap_err();
    assert!(none.code == ErrorCode::NotFound && none.message.contains("r-zzzz"), "{none:?}");
}

#[tokio::test]
async fn what_somebody_has_changed_since_is_said_and_left_and_the_next_undo_goes_past_it() {
    let mut bench = Bench::new(vec![add(), copy("one"), done(), add(), copy("two"), done()]).await;
    bench.desktop.edit(|scene| scene.clipboard = "before".into());
    runs(&mut bench).await;
    let second = runs(&mut bench).await;
    bench.desktop.edit(|scene| scene.clipboard = "mine".into());
    let tried = undo(&bench, None).await.unwrap();
    assert!(tried.undone.is_empty() && tried.left[0].why.contains("copied since"), "{tried:?}");
    assert_eq!(copied(&bench), "mine", "nothing is put over what its user copied");
    // The first run's is not as it was left either; it was tried, and not the second's again.
    bench.desktop.edit(|scene| scene.clipboard = "one".into());
    assert_eq!(undo(&bench, None).await.unwrap().undone.len(), 1);
    assert_eq!(copied(&bench), "before");
    // By its name it is tried again.
    bench.desktop.edit(|scene| scene.clipboard = "two".into());
    assert_eq!(undo(&bench, Some(&second)).await.unwrap().undone.len(), 1);
    assert_eq!(copied(&bench), "one");
}

#[tokio::test]
async fn behind_a_locked_screen_nothing_on_it_is_taken_back() {
    let mut bench = Bench::new(vec![add(), copy("one"), done()]).await;
    let run = runs(&mut bench).await;
    bench.desktop.edit(|scene| scene.locked = true);
    let tried = undo(&bench, Some(&run)).await.unwrap();
    assert!(tried.undone.is_empty() && tried.left[0].why.contains("locked"), "{tried:?}");
    assert_eq!(copied(&bench), "one");
}

#[tokio::test]
async fn a_step_or_a_run_that_changed_nothing_says_so() {
    let mut bench = Bench::new(vec![done()]).await;
    let run = runs(&mut bench).await;
    let nothing = undo(&bench, Some(&run)).await.unwrap_err();
    assert_eq!(nothing.code, ErrorCode::NotFound);
    let call = Some(CallId::from_suffix("none"));
    let nothing = bench.handle.undo(Undo { run: None, call }).await.unwrap_err();
    assert_eq!(nothing.code, ErrorCode::NotFound);
}

#[tokio::test(start_paused = true)]
async fn what_agents_changed_is_taken_back_with_what_the_one_that_they_worked_for_did_in_the_order_of_all() {
    let child = vec![add(), copy("two"), done()];
    let root =
        vec![add(), copy("one"), Step::calls(vec![spawn("copy it")]), wait_for_all(), copy("three"), done()];
    let mut tree = Tree::new(vec![root, child]).await;
    tree.bench.desktop.edit(|scene| scene.clipboard = "before".into());
    let started = tree.start("copy", auto()).await;
    assert!(matches!(tree.end_of(&started.run).await, RunEnd::Completed { .. }));
    assert_eq!(copied(&tree.bench), "three");
    // It is said at the end, before anybody takes it back.
    let events = history(&tree.bench.handle, &started.session).await;
    let told = events.iter().find_map(|event| match &event.body {
        EventBody::AgentsUsed(did) => Some(did.changes.iter().map(|change| change.of).collect()),
        _ => None,
    });
    assert_eq!(told, Some(vec![Changed::Clipboard]));

    let undone = undo(&tree.bench, None).await.unwrap();
    assert_eq!((undone.run.as_ref(), undone.undone.len()), (Some(&started.run), 1), "{undone:?}");
    assert_eq!(copied(&tree.bench), "before");
    let nothing = undo(&tree.bench, None).await.unwrap_err();
    assert_eq!(nothing.code, ErrorCode::NotFound);
}

#[tokio::test(start_paused = true)]
async fn an_agents_changes_can_be_taken_back_alone_and_are_not_taken_back_twice() {
    let child = vec![add(), copy("two"), done()];
    let root = vec![Step::calls(vec![spawn("copy it")]), wait_for_all(), add(), done()];
    let mut tree = Tree::new(vec![root, child]).await;
    tree.bench.desktop.edit(|scene| scene.clipboard = "before".into());
    let started = tree.start("copy", auto()).await;
    assert!(matches!(tree.end_of(&started.run).await, RunEnd::Completed { .. }));
    let waited = tree.results(&started, "waitFor").await;
    let agent = RunId(waited[0].data["agents"][0]["agent"].as_str().unwrap().into());
    assert_eq!(undo(&tree.bench, Some(&agent)).await.unwrap().undone.len(), 1);
    assert_eq!(copied(&tree.bench), "before");
    // The one that it worked for does not offer it any more.
    let events = history(&tree.bench.handle, &started.session).await;
    let is_undo =
        |body: &EventBody| matches!(body, EventBody::ToolStarted { call, .. } if call.tool == "undo");
    assert_eq!(events.iter().filter(|event| is_undo(&event.body)).count(), 1);
    tree.bench.desktop.edit(|scene| scene.clipboard = "of the user".into());
    let again = undo(&tree.bench, Some(&started.run)).await.unwrap();
    assert_eq!((again.undone.len(), again.left.len()), (0, 0), "{again:?}");
    assert_eq!(copied(&tree.bench), "of the user");
}
