//! Passwords: what is written openly into their fields, and password managers, which are not read.

use std::sync::Arc;
use std::time::Duration;

use crate::planning::{field, named, window};
use crate::stage::{call, desktop, execute, limits, request};
use browser::WebTarget;
use browser::fake::FakeBrowser;
use desktop::fake::{Call, FakeDesktop};
use desktop::{Element, Field, Owner, WindowId, WindowView};
use protocol::geometry::NormRect;
use protocol::tool::{ApprovalMode, Effect, Grant, Risk, ToolErrorKind};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;
use tools::{Decision, ExecRequest, Grants, Router};

/// A password field, which has the keyboard, and a page with another.
fn stage() -> (Arc<FakeDesktop>, Router) {
    let (fake, browser) = (desktop(), FakeBrowser::new());
    fake.edit(|scene| {
        scene.windows = vec![window("Painter")];
        scene.snapshot.app = "Painter".into();
        scene.snapshot.elements = vec![Element { role: "password text".into(), ..named("Pass") }];
        scene.owner = Some(Owner { app: "Painter".into(), pid: 7 });
        scene.field = Some(Field { hides: true, ..field() });
    });
    browser.edit(|pages| {
        pages.target = WebTarget {
            url: "http://localhost/".into(),
            called: "Pass".into(),
            hides: true,
            ..WebTarget::default()
        };
    });
    let router = Router::builtin(fake.clone()).with_browser(browser);
    (fake, router)
}

fn all_granted() -> Grants {
    let mut grants = Grants::default();
    for app in ["Painter", "http://localhost"] {
        let tools = ["setValue", "type", "press", "hotkey", "webType", "focusElement"];
        grants.allow(tools.map(|tool| Grant { tool: tool.into(), app: Some(app.into()) }));
    }
    grants
}

#[tokio::test(start_paused = true)]
async fn a_text_that_is_no_secrets_name_is_asked_about_before_it_goes_into_a_password_field() {
    let (_, router) = stage();
    let thread = |tool: &str, arguments: Value| ExecRequest {
        approval: ApprovalMode::Thread,
        grants: all_granted(),
        ..request(tool, arguments)
    };
    for (tool, field, text) in [
        ("setValue", json!({"ref": "e1"}), "value"),
        ("setValue", json!({"name": "Pass", "app": "Painter"}), "value"),
        ("type", json!({}), "text"),
        ("webType", json!({"ref": "w1"}), "text"),
    ] {
        let with = |value: &str| {
            let mut arguments = field.clone();
            arguments[text] = value.into();
            arguments
        };
        for open in ["hunter2", "{{vault}}x", "{{vault}}{{vault}}"] {
            let asked = router.assess(&thread(tool, with(open)), &limits()).await;
            assert_eq!(asked.risk, Some(Risk::Consequential), "{tool} {open}");
            let Decision::Ask { reason } = asked.decision else { panic!("{tool} {open} does not ask") };
            assert!(reason.contains("`miki secret set`"), "{reason}");
        }
        let closed = router.assess(&thread(tool, with("{{vault}}")), &limits()).await;
        assert_eq!(closed.decision, Decision::Run, "{tool}");
        // In auto, once something was read, what the user has said is theirs.
        let mut grants = Grants::default();
        grants.note_words("log in, the password is “hunter2”, and the code 12345678");
        let auto = |value: &str| ExecRequest {
            grants: grants.clone(),
            has_read: true,
            ..request(tool, with(value))
        };
        assert_eq!(router.assess(&auto("hunter2"), &limits()).await.decision, Decision::Run, "{tool}");
        for unsaid in ["hunter3", "hunter", "1234"] {
            let asked = router.assess(&auto(unsaid), &limits()).await.decision;
            assert!(matches!(asked, Decision::Ask { .. }), "{tool} {unsaid}");
        }
    }
    // Letter by letter, and what was copied.
    for (tool, arguments) in [("press", json!({"key": "h"})), ("hotkey", json!({"keys": ["ctrl", "v"]}))] {
        assert_eq!(router.assess(&thread(tool, arguments), &limits()).await.risk, Some(Risk::Consequential));
    }
    let enter = router.assess(&thread("press", json!({"key": "Enter"})), &limits()).await;
    assert_eq!(enter.decision, Decision::Run);
}

#[tokio::test(start_paused = true)]
async fn a_batch_that_was_allowed_before_does_not_come_to_write_into_a_password_field() {
    let (fake, router) = stage();
    fake.edit(|scene| scene.field = Some(field()));
    fake.react(|_, scene| scene.field = Some(Field { hides: true, ..field() }));
    let actions = json!({"actions": [
        {"tool": "press", "arguments": {"key": "Tab"}}, {"tool": "type", "arguments": {"text": "hunter2"}},
    ]});
    let batch =
        ExecRequest { approval: ApprovalMode::Thread, grants: all_granted(), ..request("batch", actions) };
    assert_eq!(router.assess(&batch, &limits()).await.decision, Decision::Run);
    let result = execute(&router, batch, CancellationToken::new()).await.result;
    assert!(result.error.is_some_and(|error| error.message.contains("hides what is written")));
    assert_eq!(fake.actions().len(), 1);
}

fn manager() -> WindowView {
    let bounds = NormRect { x: 100.0, y: 100.0, width: 300.0, height: 300.0 };
    WindowView { id: WindowId(9), app: "KeePassXC".into(), pid: Some(9), bounds, ..window("KeePassXC") }
}

#[tokio::test(start_paused = true)]
async fn nothing_is_photographed_where_nobody_tells_in_time_what_it_would_show() {
    let fake = desktop();
    let router = Router::builtin(fake.clone());
    fake.edit(|scene| {
        scene.windows = vec![manager()];
        scene.windows_delay = Duration::from_secs(10);
    });
    let looks = [("screenshot", json!({})), ("zoom", json!({"x": 0, "y": 0, "width": 500, "height": 500}))];
    for (tool, arguments) in looks.into_iter().chain([("readText", json!({}))]) {
        let executed = call(&router, tool, arguments).await;
        assert_eq!(executed.result.effect, Effect::Refused, "{tool}: {:?}", executed.result);
        assert!(executed.picture.is_none() && executed.result.data.is_null(), "{tool}");
    }
    let is_picture = |call: &Call| matches!(call, Call::Screenshot(_) | Call::ReadText(_));
    assert!(!fake.calls().iter().any(is_picture), "{:?}", fake.calls());
    // A busy desktop that tells in time is no reason to see nothing.
    fake.edit(|scene| {
        scene.windows = vec![window("Painter")];
        scene.windows_delay = Duration::from_secs(1);
    });
    assert!(call(&router, "screenshot", json!({})).await.picture.is_some());
}

#[tokio::test(start_paused = true)]
async fn a_password_manager_is_not_read() {
    let fake = desktop();
    let router = Router::builtin(fake.clone());
    let behind = || window("Painter");
    fake.edit(|scene| {
        scene.snapshot.app = "KeePassXC".into();
        scene.snapshot.elements = vec![Element { value: "hunter2".into(), ..named("Entry") }];
        scene.windows = vec![manager(), behind()];
    });
    let area = |x: u32| json!({"x": x, "y": 0, "width": 200, "height": 500});
    let refused = async |tool: &str, arguments: Value| {
        let executed = call(&router, tool, arguments.clone()).await;
        let is_refused = executed.result.effect == Effect::Refused;
        let error = executed.result.error;
        assert_eq!(error.is_some(), is_refused, "{tool} {arguments} {error:?}");
        if let Some(error) = error {
            assert_eq!(error.kind, ToolErrorKind::Forbidden);
            assert!(error.message.contains("KeePassXC is a password manager"), "{}", error.message);
            assert!(executed.picture.is_none() && executed.result.data.is_null(), "{tool}");
        }
        is_refused
    };
    for (tool, arguments) in [
        ("elementsJson", json!({"app": "KeePassXC"})),
        ("screenshot", json!({"window": 9})),
        ("screenshot", json!({})),
        ("screenshot", json!({"marks": true})),
        ("zoom", area(300)),
        ("readText", json!({})),
        ("readText", json!({ "region": area(0) })),
    ] {
        assert!(refused(tool, arguments.clone()).await, "{tool} {arguments}");
    }
    for (tool, arguments) in [
        ("screenshot", json!({"window": 1})),
        ("zoom", area(500)),
        ("readText", json!({ "region": area(500) })),
    ] {
        assert!(!refused(tool, arguments.clone()).await, "{tool} {arguments}");
    }
    // Nor by the picture of a question.
    for (x, is_shown) in [(450, false), (900, true)] {
        let click = protocol::tool::ToolCall {
            id: protocol::ids::CallId("c-1".into()),
            tool: "click".into(),
            arguments: json!({"x": x, "y": 250}),
        };
        fake.edit(|scene| (scene.displays[0].bounds.width, scene.displays[0].bounds.height) = (1920, 1080));
        assert_eq!(router.sight(&click, &crate::stage::limits()).await.is_some(), is_shown, "{x}");
    }
    // Nor by the picture after an act.
    let executed = call(&router, "press", json!({"key": "Tab"})).await;
    assert!(executed.picture.is_none() && executed.result.summary.contains("password manager"));
    // What is covered or out of the way is not seen.
    let hidden = WindowView { states: vec!["minimized".into()], ..manager() };
    for windows in [vec![hidden, behind()], vec![behind(), manager()]] {
        fake.edit(|scene| scene.windows = windows);
        assert!(!refused("screenshot", json!({})).await);
        assert!(refused("screenshot", json!({"window": 9})).await);
    }
    // By its program, whatever its window is called.
    fake.edit(|scene| {
        scene.snapshot.app = "Notes".into();
        scene.snapshot.pid = Some(9);
        scene.program = Some("keepassxc".into());
        scene.windows = vec![WindowView { app: "Notes".into(), ..manager() }];
    });
    let executed = call(&router, "elementsJson", json!({})).await.result;
    assert_eq!(executed.effect, Effect::Refused);
}
