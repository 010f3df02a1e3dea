//! The keyboard focus: whose it is, and how it comes back to where it was.

use std::sync::Arc;
use std::time::Duration;

use crate::stage::{call, desktop, limits};
use desktop::fake::FakeDesktop;
use desktop::{DesktopError, Element, Evidence, WindowId, WindowView};
use protocol::geometry::NormRect;
use protocol::ids::CallId;
use protocol::tool::{ToolCall, ToolErrorKind};
use serde_json::json;
use tools::{FocusedWindow, Router};

fn window(id: u64, title: &str, app: &str, pid: u32) -> WindowView {
    WindowView {
        id: WindowId(id),
        title: title.into(),
        app: app.into(),
        pid: Some(pid),
        display: 0,
        bounds: NormRect { x: 0.0, y: 0.0, width: 500.0, height: 500.0 },
        states: Vec::new(),
    }
}

fn focused(view: WindowView) -> WindowView {
    WindowView { states: vec!["focused".into()], ..view }
}

fn with(windows: Vec<WindowView>) -> (Arc<FakeDesktop>, Router) {
    let fake = desktop();
    fake.edit(|scene| scene.windows = windows);
    (fake.clone(), Router::builtin(fake))
}

fn editor() -> FocusedWindow {
    FocusedWindow { id: WindowId(1), app: "Editor".into(), title: "Untitled".into(), pid: Some(10) }
}

fn two() -> Vec<WindowView> {
    vec![window(1, "Untitled", "Editor", 10), window(2, "Shell", "Terminal", 20)]
}

#[tokio::test(start_paused = true)]
async fn the_window_with_the_focus_is_told_and_the_topmost_while_one_of_ours_has_it() {
    let (fake, router) = with(vec![focused(window(1, "Untitled", "Editor", 10)), window(2, "a", "b", 20)]);
    assert_eq!(router.focus().await, Some(editor()));
    // Our own windows are in no list, so nobody in it has the focus.
    fake.edit(|scene| scene.windows = two());
    assert_eq!(router.focus().await, Some(editor()));
    let minimized = WindowView { states: vec!["minimized".into()], ..window(1, "Untitled", "Editor", 10) };
    fake.edit(|scene| scene.windows = vec![minimized]);
    assert_eq!(router.focus().await, None);
}

#[tokio::test(start_paused = true)]
async fn the_focus_goes_back_to_the_window_that_had_it_under_whatever_title() {
    let (fake, router) = with(vec![window(1, "*Untitled", "Editor", 10), window(2, "Shell", "Terminal", 20)]);
    router.restore_focus(&editor()).await.unwrap();
    let FocusedWindow { id, title, .. } = router.focus().await.unwrap();
    assert_eq!((id, title.as_str()), (WindowId(1), "*Untitled"));
    // It had it already.
    router.restore_focus(&editor()).await.unwrap();
    assert_eq!(fake.actions(), []);
}

#[tokio::test(start_paused = true)]
async fn a_window_that_is_gone_or_anothers_by_now_is_not_activated() {
    let others = [
        vec![window(2, "Shell", "Terminal", 20)],
        vec![window(1, "Untitled", "Terminal", 10)],
        vec![window(1, "Untitled", "Editor", 11)],
    ];
    for windows in others {
        let (fake, router) = with(windows);
        let error = router.restore_focus(&editor()).await.unwrap_err();
        assert_eq!(error.kind, ToolErrorKind::NotFound);
        assert_eq!(error.message, "the window \"Untitled\" of Editor, which had the keyboard, is gone");
        assert_eq!(fake.calls(), []);
    }
}

#[tokio::test(start_paused = true)]
async fn a_window_that_comes_up_late_is_waited_for_and_one_that_never_does_is_said() {
    let (fake, router) = with(two());
    // It takes the wish and does nothing.
    fake.edit(|scene| scene.evidence = Evidence::Nothing);
    let editor = editor();
    let (restored, ()) = tokio::join!(router.restore_focus(&editor), async {
        tokio::time::sleep(Duration::from_millis(900)).await;
        fake.edit(|scene| scene.windows[0] = focused(scene.windows[0].clone()));
    });
    restored.unwrap();
    fake.edit(|scene| {
        scene.windows[0].states.clear();
        scene.windows[1].states = vec!["focused".into()];
    });
    let error = router.restore_focus(&editor).await.unwrap_err();
    assert_eq!(error.kind, ToolErrorKind::Failed);
    assert_eq!(
        error.message,
        "the window \"Untitled\" of Editor did not get the keyboard back; \"Shell\" has it"
    );
}

#[tokio::test(start_paused = true)]
async fn what_the_desktop_refuses_is_refused_in_its_words() {
    let (fake, router) = with(two());
    fake.fail_next(DesktopError::Forbidden("Editor is outside the user's fence".into()));
    let error = router.restore_focus(&editor()).await.unwrap_err();
    assert_eq!(error.kind, ToolErrorKind::Forbidden);
    assert!(error.message.contains("outside the user's fence"), "{}", error.message);
}

#[tokio::test(start_paused = true)]
async fn acts_on_a_window_are_told_by_its_title_and_application() {
    let hidden = window(1, "no\u{202e}tes", "Editor", 10);
    let (_, router) = with(vec![hidden, window(2, "", "Terminal", 20)]);
    for (tool, arguments, told) in [
        ("changeWindow", json!({"window": 1, "change": "close"}), "closed “notes” (Editor)"),
        ("focusWindow", json!({"window": 1}), "brought up “notes” (Editor)"),
        ("focusWindow", json!({"window": 2}), "brought up Terminal"),
        ("screenshot", json!({"window": 1}), "took a picture of “notes” (Editor), "),
    ] {
        let summary = call(&router, tool, arguments).await.result.summary;
        assert!(summary.starts_with(told), "{summary}");
    }
    let missing = call(&router, "focusWindow", json!({"window": 3})).await.result.error.unwrap();
    assert_eq!(missing.kind, ToolErrorKind::NotFound);
}

#[tokio::test(start_paused = true)]
async fn what_a_call_goes_to_is_told_by_the_element_and_the_window_at_its_point() {
    let below = WindowView {
        bounds: NormRect { x: 0.0, y: 0.0, width: 1000.0, height: 1000.0 },
        ..window(2, "Shell", "Terminal", 20)
    };
    let (fake, router) = with(vec![window(1, "Untitled", "Editor", 10), below]);
    let element = |role: &str, name: &str, width| Element {
        reference: "e1".into(),
        role: role.into(),
        name: name.into(),
        bounds: NormRect { x: 280.0, y: 280.0, width, height: 40.0 },
        ..Element::default()
    };
    fake.edit(|scene| {
        scene.snapshot.elements =
            vec![element("tool bar", "", 200.0), element("button", "Save\u{200b}", 40.0)];
    });
    let goes_to = async |tool: &str, arguments| {
        let call = ToolCall { id: CallId("c-1".into()), tool: tool.into(), arguments };
        router.goes_to(&call, &limits()).await
    };
    assert_eq!(goes_to("click", json!({"x": 300, "y": 300})).await, ["button “Save” · “Untitled” (Editor)"]);
    assert_eq!(goes_to("click", json!({"x": 900, "y": 900})).await, ["“Shell” (Terminal)"]);
    assert_eq!(goes_to("type", json!({"text": "hello"})).await, [""]);
    assert_eq!(goes_to("clickElement", json!({"ref": "e1"})).await, ["tool bar"]);
    let drag = json!({"path": [{"x": 300, "y": 300}, {"x": 400, "y": 800}, {"x": 900, "y": 900}]});
    assert_eq!(goes_to("drag", drag).await, ["button “Save” · “Untitled” (Editor) → “Shell” (Terminal)"]);
    let batch = json!({"actions": [
        {"tool": "focusWindow", "arguments": {"window": 2}},
        {"tool": "click", "arguments": {"x": 300, "y": 300}},
        {"tool": "click", "arguments": {"x": "nowhere"}},
    ]});
    let of_batch = ["“Shell” (Terminal)", "button “Save” · “Untitled” (Editor)", ""];
    assert_eq!(goes_to("batch", batch).await, of_batch);
    fake.edit(|scene| scene.delay = Duration::from_secs(60));
    assert_eq!(
        goes_to("click", json!({"x": 300, "y": 300})).await,
        ["“Untitled” (Editor)"],
        "elements that hang hold nobody up"
    );
}

#[tokio::test(start_paused = true)]
async fn a_keyboard_that_comes_back_to_ours_is_asked_for_again() {
    let (fake, router) = with(two());
    // What the second click of a double click on the answer does to the first wish.
    let mut heard = Evidence::Nothing;
    fake.edit(|scene| std::mem::swap(&mut scene.evidence, &mut heard));
    let editor = editor();
    let (restored, ()) = tokio::join!(router.restore_focus(&editor), async {
        tokio::time::sleep(Duration::from_millis(100)).await;
        fake.edit(|scene| std::mem::swap(&mut scene.evidence, &mut heard));
    });
    restored.unwrap();
}
