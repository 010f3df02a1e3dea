//! What the fence forbids anyway is refused before its user is asked about it.

use crate::planning::{stage, window};
use crate::stage::{limits, request};
use browser::fake::FakeBrowser;
use desktop::{Fence, WindowId, WindowView};
use protocol::geometry::NormRect;
use protocol::tool::{ApprovalMode, ToolErrorKind};
use serde_json::{Value, json};
use tools::{Decision, ExecRequest, Router};

fn of_apps(apps: &[&str]) -> Fence {
    Fence { apps: apps.iter().map(|app| (*app).to_owned()).collect(), ..Fence::default() }
}

/// The reason of a refusal; `None` if it is asked.
async fn refusal(router: &Router, fence: &Fence, (tool, arguments): (&str, Value)) -> Option<String> {
    let request =
        ExecRequest { approval: ApprovalMode::Ask, fence: fence.clone(), ..request(tool, arguments.clone()) };
    match router.assess(&request, &limits()).await.decision {
        Decision::Ask { .. } => None,
        Decision::Forbid { error } => {
            assert_eq!(error.kind, ToolErrorKind::Forbidden, "{tool} {arguments}: {}", error.message);
            Some(error.message)
        }
        Decision::Run => panic!("{tool} {arguments} runs"),
    }
}

fn acts() -> Vec<(&'static str, Value)> {
    vec![
        ("click", json!({ "x": 500, "y": 500 })),
        ("type", json!({ "text": "a" })),
        ("hotkey", json!({ "keys": ["ctrl", "s"] })),
        ("drag", json!({ "from": { "x": 400, "y": 400 }, "to": { "x": 500, "y": 500 } })),
        ("clickElement", json!({ "ref": "e1" })),
        ("clickElement", json!({ "name": "Save", "app": "painter" })),
        ("pressMenu", json!({ "app": "painter", "path": ["File"] })),
        ("launchApp", json!({ "app": "Painter" })),
        ("quitApp", json!({ "app": "Painter" })),
        ("batch", json!({ "actions": [{ "tool": "click", "arguments": { "x": 500, "y": 500 } }] })),
    ]
}

#[tokio::test]
async fn nobody_is_asked_about_an_act_outside_the_fence() {
    let router = Router::builtin(stage("Painter", "Save"));
    for act in acts() {
        let outside = refusal(&router, &of_apps(&["Mousepad"]), act.clone()).await;
        let outside = outside.unwrap_or_else(|| panic!("{act:?} is asked about"));
        assert!(outside.contains("outside the user's fence") && outside.contains("Mousepad"), "{outside}");
        let never = Fence { never: vec!["paint".into()], ..Fence::default() };
        let never = refusal(&router, &never, act.clone()).await.unwrap_or_else(|| panic!("{act:?}: never"));
        assert!(never.contains("never lets paint"), "{never}");
        for within in [Fence::default(), of_apps(&["mousepad", "paint"])] {
            assert_eq!(refusal(&router, &within, act.clone()).await, None, "{act:?}");
        }
    }
}

#[tokio::test]
async fn nor_about_one_on_a_display_or_in_a_window_outside_it() {
    let desktop = stage("Painter", "Save");
    let bounds = NormRect { x: 0.0, y: 0.0, width: 10.0, height: 10.0 };
    let editor =
        WindowView { id: WindowId(2), pid: Some(8), bounds, states: Vec::new(), ..window("Mousepad") };
    desktop.edit(|scene| scene.windows.push(editor));
    let router = Router::builtin(desktop);
    let click = || ("click", json!({ "x": 500, "y": 500 }));
    let other = Fence { displays: vec![1], ..Fence::default() };
    assert!(refusal(&router, &other, click()).await.unwrap().contains("display 0"));
    assert_eq!(refusal(&router, &Fence { displays: vec![0], ..Fence::default() }, click()).await, None);
    let close = |id: u64| json!({ "tool": "changeWindow", "arguments": { "window": id, "change": "close" } });
    let second = |id: u64| {
        ("batch", json!({ "actions": [{ "tool": "click", "arguments": { "x": 500, "y": 500 } }, close(id)] }))
    };
    let fence = of_apps(&["Painter"]);
    assert_eq!(refusal(&router, &fence, second(1)).await, None);
    assert!(refusal(&router, &fence, second(2)).await.unwrap().contains("Mousepad is outside"));
}

#[tokio::test]
async fn nor_about_a_page_in_a_browser_outside_it_nor_about_one_of_several_windows_that_may_be_within() {
    let browser = FakeBrowser::new();
    browser.edit(|pages| pages.app = "Chromium".into());
    let router = Router::builtin(stage("Mousepad", "Save")).with_browser(browser);
    for act in [
        ("webNavigate", json!({ "url": "https://example.org/" })),
        ("webType", json!({ "ref": "w1", "text": "a" })),
    ] {
        assert!(refusal(&router, &of_apps(&["Mousepad"]), act.clone()).await.is_some(), "{act:?}");
        assert_eq!(refusal(&router, &of_apps(&["Chromium"]), act).await, None);
    }
    // One process, whose windows are called differently.
    let desktop = stage("Office-Calc", "Save");
    desktop.edit(|scene| {
        scene.windows.push(WindowView { id: WindowId(2), states: Vec::new(), ..window("Office-Writer") });
    });
    let router = Router::builtin(desktop);
    assert_eq!(
        refusal(&router, &of_apps(&["Office-Writer"]), ("clickElement", json!({ "ref": "e1" }))).await,
        None
    );
}
