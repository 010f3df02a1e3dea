//! The contract itself: approvals, Plan mode, deadlines, retries, stops, panics, batches.

use std::time::Duration;

use crate::stage::{call, desktop, execute, limits, request};
use browser::fake::FakeBrowser;
use desktop::fake::Call;
use desktop::{Action, Element, Field, Inside, Owner, Taker, WindowId, WindowView};
use protocol::geometry::NormRect;
use protocol::ids::Timestamp;
use protocol::settings::Settings;
use protocol::tool::{ApprovalMode, Effect, Grant, Mode, Risk, ToolErrorKind};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;
use tools::{Decision, ExecRequest, Grants, Router, Yes};

pub fn click() -> Value {
    json!({"x": 512, "y": 40})
}

fn asking(tool: &str, arguments: Value) -> ExecRequest {
    ExecRequest { approval: ApprovalMode::Ask, ..request(tool, arguments) }
}

#[tokio::test(start_paused = true)]
async fn unapproved_click_is_never_sent() {
    let fake = desktop();
    let router = Router::builtin(fake.clone());
    let other = router.assess(&asking("click", json!({"x": 512, "y": 41})), &limits()).await.digest;
    let Yes { digest, risk } = router.assess(&asking("click", click()), &limits()).await.yes();
    let wrong =
        [None, Some(String::new()), Some(other), Some(digest.to_uppercase()), Some(format!("{digest} "))];
    for digest in wrong {
        let approved = digest.map(|digest| Yes { digest, risk });
        let request = ExecRequest { approved: approved.clone(), ..asking("click", click()) };
        let executed = execute(&router, request, CancellationToken::new()).await;
        assert_eq!(executed.result.effect, Effect::Refused, "{approved:?}");
        assert_eq!(executed.result.error.unwrap().kind, ToolErrorKind::Forbidden, "{approved:?}");
    }
    assert_eq!(fake.calls(), []);
}

#[tokio::test(start_paused = true)]
async fn an_approved_click_is_sent_once() {
    let fake = desktop();
    let router = Router::builtin(fake.clone());
    let yes = router.assess(&asking("click", click()), &limits()).await.yes();
    let request = ExecRequest { approved: Some(yes), ..asking("click", click()) };
    let executed = execute(&router, request, CancellationToken::new()).await;
    assert_eq!(executed.result.effect, Effect::Unverified);
    assert_eq!(fake.actions().len(), 1);
}

#[tokio::test]
async fn the_question_holds_the_models_reason_on_one_line() {
    let router = Router::builtin(desktop());
    let reason = "open\nthe \u{202e}menu";
    let assessment =
        router.assess(&asking("click", json!({"x": 1, "y": 2, "reason": reason})), &limits()).await;
    assert_eq!(assessment.risk, Some(Risk::Edit));
    let expected = "click can change something on this computer; the model says: open the menu";
    assert_eq!(assessment.decision, Decision::Ask { reason: expected.into() });
}

/// A window that has the keyboard, over the whole display.
fn in_front(app: &str) -> WindowView {
    WindowView {
        id: WindowId(7),
        title: "a window".into(),
        app: app.into(),
        pid: Some(7),
        display: 0,
        bounds: NormRect { x: 0.0, y: 0.0, width: 1000.0, height: 1000.0 },
        states: vec!["focused".into()],
    }
}

fn grant(tool: &str, app: &str) -> Grant {
    Grant { tool: tool.into(), app: Some(app.into()) }
}

#[tokio::test]
async fn a_grant_covers_its_tool_in_its_application_and_never_a_consequential_one() {
    let fake = desktop();
    let router = Router::builtin(fake.clone());
    fake.edit(|scene| scene.windows = vec![in_front("Painter")]);
    let runs = async |grants: &[Grant], tool: &str, arguments: Value| {
        let mut granted = Grants::default();
        granted.allow(grants.iter().cloned());
        let request =
            ExecRequest { grants: granted, approval: ApprovalMode::Thread, ..request(tool, arguments) };
        matches!(router.assess(&request, &limits()).await.decision, Decision::Run)
    };
    let (clicks, types) = (grant("click", "Painter"), grant("type", "Painter"));
    assert!(runs(std::slice::from_ref(&clicks), "click", click()).await);
    assert!(!runs(std::slice::from_ref(&clicks), "type", json!({"text": "a"})).await);
    assert!(!runs(&[grant("click", "Other")], "click", click()).await);
    assert!(!runs(&[Grant { tool: "osa".into(), app: None }], "osa", json!({"script": "a"})).await);
    let batch = json!({"actions": [
        {"tool": "click", "arguments": click()}, {"tool": "type", "arguments": {"text": "a"}}, {"tool": "wait", "arguments": {"seconds": 1}},
    ]});
    assert!(
        !runs(&[grant("batch", "Painter")], "batch", batch.clone()).await,
        "a batch is no way around its parts"
    );
    assert!(!runs(std::slice::from_ref(&clicks), "batch", batch.clone()).await);
    assert!(runs(&[clicks.clone(), types.clone()], "batch", batch.clone()).await);
    let asked = router.assess(&asking("batch", batch), &limits()).await;
    assert_eq!(asked.touches, [clicks, types]);
    fake.edit(|scene| scene.windows = Vec::new());
    assert!(!runs(&[grant("click", "Painter")], "click", click()).await, "nobody knows what is there");
}

#[tokio::test]
async fn a_sign_in_a_chat_and_a_value_in_an_editor_with_a_terminal_ask_whatever_was_allowed() {
    let fake = desktop();
    let router = Router::builtin(fake.clone());
    let asks = async |app: &str, name: &str, tool: &str, arguments: Value| {
        fake.edit(|scene| {
            scene.windows = vec![in_front(app)];
            scene.snapshot.app = app.into();
            scene.snapshot.elements = vec![Element {
                reference: "e1".into(),
                name: name.into(),
                bounds: NormRect { x: 500.0, y: 30.0, width: 20.0, height: 20.0 },
                ..Element::default()
            }];
        });
        let mut grants = Grants::default();
        grants.allow([grant(tool, app)]);
        let request = ExecRequest { grants, approval: ApprovalMode::Thread, ..request(tool, arguments) };
        matches!(router.assess(&request, &limits()).await.decision, Decision::Ask { .. })
    };
    let (by_ref, value) = (json!({"ref": "e1"}), json!({"ref": "e1", "value": "ls"}));
    assert!(asks("Signal", "➤", "clickElement", by_ref.clone()).await);
    assert!(asks("Signal", "➤", "click", click()).await);
    assert!(!asks("Signal", "Emoji", "clickElement", by_ref.clone()).await);
    assert!(!asks("Painter", "➤", "clickElement", by_ref).await);
    assert!(asks("Code", "Terminal 1", "setValue", value.clone()).await);
    assert!(!asks("Painter", "Title", "setValue", value).await);
}

#[tokio::test]
async fn a_terminal_by_another_name_is_known_by_its_program() {
    let fake = desktop();
    let router = Router::builtin(fake.clone());
    // As `xterm -class Notes` calls itself.
    fake.edit(|scene| {
        scene.windows = vec![in_front("Notes")];
        scene.program = Some("xterm".into());
    });
    let mut grants = Grants::default();
    grants.allow(["type", "click"].map(|tool| grant(tool, "Notes")));
    for (tool, arguments) in [("type", json!({"text": "ls"})), ("click", click())] {
        let grants = grants.clone();
        let request = ExecRequest { grants, approval: ApprovalMode::Thread, ..request(tool, arguments) };
        let assessment = router.assess(&request, &limits()).await;
        assert!(
            matches!(&assessment.decision, Decision::Ask { reason } if reason.contains("a terminal")),
            "{tool}"
        );
        assert_eq!(assessment.risk, Some(Risk::Consequential));
    }
}

#[tokio::test]
async fn a_terminal_asks_each_time_whatever_was_allowed() {
    let fake = desktop();
    let router = Router::builtin(fake.clone());
    fake.edit(|scene| scene.windows = vec![in_front("XTerm")]);
    let mut grants = Grants::default();
    grants.allow(["type", "press", "click", "clickElement"].map(|tool| grant(tool, "XTerm")));
    for (tool, arguments) in [
        ("type", json!({"text": "ls"})),
        ("press", json!({"key": "Enter"})),
        ("click", click()),
        ("clickElement", json!({"name": "Paste"})),
    ] {
        let request = ExecRequest {
            grants: grants.clone(),
            approval: ApprovalMode::Thread,
            ..request(tool, arguments)
        };
        let assessment = router.assess(&request, &limits()).await;
        assert_eq!(assessment.risk, Some(Risk::Consequential), "{tool}");
        let Decision::Ask { reason } = assessment.decision else { panic!("{tool} does not ask") };
        assert!(reason.contains("XTerm is a terminal"), "{reason}");
    }
}

#[tokio::test(start_paused = true)]
async fn an_element_is_in_the_application_that_would_be_acted_on_whatever_windows_are_called() {
    let fake = desktop();
    let router = Router::builtin(fake.clone());
    let terminal = WindowView { id: WindowId(8), pid: Some(8), states: Vec::new(), ..in_front("XTerm") };
    fake.edit(|scene| {
        scene.windows = vec![in_front("Painter"), terminal];
        scene.owner = Some(Owner { app: "painter".into(), pid: 7 });
    });
    let named = || asking("clickElement", json!({"name": "Save", "app": "painter"}));
    let before = router.assess(&named(), &limits()).await;
    assert_eq!((before.risk, &before.touches), (Some(Risk::Edit), &vec![grant("clickElement", "Painter")]));
    // By accessibility the same name stands for the terminal.
    fake.edit(|scene| scene.owner = Some(Owner { app: "painter".into(), pid: 8 }));
    for (tool, arguments) in [
        ("clickElement", json!({"name": "Save", "app": "painter"})),
        ("clickElement", json!({"ref": "e1"})),
        ("pressMenu", json!({"app": "painter", "path": ["File"]})),
    ] {
        let asked = router.assess(&asking(tool, arguments), &limits()).await;
        assert_eq!(asked.risk, Some(Risk::Consequential), "{tool}");
    }
    let request = ExecRequest { approved: Some(before.yes()), ..named() };
    let swapped = execute(&router, request, CancellationToken::new()).await.result;
    assert_eq!(swapped.error.unwrap().kind, ToolErrorKind::Forbidden);
    assert!(!fake.calls().iter().any(|call| matches!(call, Call::Operate(..))), "{:?}", fake.calls());
}

#[tokio::test]
async fn an_address_that_is_typed_into_a_browser_is_gone_to() {
    let fake = desktop();
    let router = Router::builtin(fake.clone());
    let mut grants = Grants::default();
    grants.note_words("look at example.org");
    let risk = async |app: &str, tool: &str, arguments: Value| {
        fake.edit(|scene| scene.windows = vec![in_front(app)]);
        let request = ExecRequest { grants: grants.clone(), ..asking(tool, arguments) };
        router.assess(&request, &limits()).await.risk
    };
    let field = |text: &str, inside| {
        fake.edit(|scene| scene.field = Some(Field { text: text.into(), inside, ..Field::default() }));
    };
    let evil = json!({"text": "evil.test/?q=secret"});
    field("", Inside::Around);
    assert_eq!(risk("Chromium", "type", evil.clone()).await, Some(Risk::Consequential));
    assert_eq!(risk("Chromium", "type", json!({"text": "example.org/today"})).await, Some(Risk::Edit));
    assert_eq!(risk("Chromium", "type", json!({"text": "ask evil.test"})).await, Some(Risk::Edit));
    assert_eq!(risk("Painter", "type", evil).await, Some(Risk::Edit));
    let set = json!({"name": "Address and search bar", "value": "https://evil.test"});
    assert_eq!(risk("Chromium", "setValue", set).await, Some(Risk::Consequential));

    // By parts: what stands there already counts, whoever wrote or pasted it, and so does Enter alone.
    let (enter, rest) = (json!({"key": "Enter"}), json!({"text": "test\n"}));
    field("evil.", Inside::Around);
    assert_eq!(risk("Chromium", "type", rest.clone()).await, Some(Risk::Consequential));
    field("evil.test", Inside::Around);
    assert_eq!(risk("Chromium", "press", enter.clone()).await, Some(Risk::Consequential));
    field("example.org/to", Inside::Around);
    assert_eq!(risk("Chromium", "type", json!({"text": "day\n"})).await, Some(Risk::Edit));
    assert_eq!(risk("Chromium", "press", enter.clone()).await, Some(Risk::Edit));
    // A page's field leads nowhere by itself: its page gets it, and Enter may send it.
    field("evil.", Inside::Page("https://example.org".into()));
    assert_eq!(risk("Chromium", "type", json!({"text": "test"})).await, Some(Risk::Edit));
    assert_eq!(risk("Chromium", "type", rest).await, Some(Risk::Consequential));
    field("", Inside::Around);
    let batch = json!({"actions": [
        {"tool": "type", "arguments": {"text": "evil."}}, {"tool": "type", "arguments": {"text": "zip"}},
        {"tool": "press", "arguments": enter},
    ]});
    assert_eq!(risk("Chromium", "batch", batch).await, Some(Risk::Consequential));
    fake.edit(|scene| scene.field = None);
    assert_eq!(risk("Chromium", "press", enter.clone()).await, Some(Risk::Consequential), "nobody knows");
    assert_eq!(risk("Painter", "press", enter).await, Some(Risk::Edit));
}

#[tokio::test(start_paused = true)]
async fn in_auto_a_later_action_of_a_batch_sends_nothing_where_it_would_have_asked_by_itself() {
    let fake = desktop();
    let router = Router::builtin(fake.clone());
    let field = |in_page| {
        let page = Inside::Page("https://example.org".into());
        let inside = if in_page { page } else { Inside::Around };
        Some(Field { inside, ..Field::default() })
    };
    fake.edit(|scene| {
        scene.windows = vec![in_front("Chromium")];
        scene.field = field(true);
    });
    // The hotkey leads from the page to the address field.
    fake.react(move |action, scene| {
        if matches!(action, Action::Hotkey { .. }) {
            scene.field = field(false);
        }
    });
    let actions = json!({ "actions": [
        { "tool": "hotkey", "arguments": { "keys": ["ctrl", "l"] } },
        { "tool": "type", "arguments": { "text": "evil.test/?q=secret" } },
    ] });
    let mut auto = ExecRequest { has_read: true, ..request("batch", actions) };
    auto.grants.note_words("look at example.org");
    let result = execute(&router, auto.clone(), CancellationToken::new()).await.result;
    let error = result.error.unwrap();
    assert!(error.message.contains("evil.test"), "{error:?}");
    assert_eq!(fake.actions().len(), 1, "{:?}", fake.actions());
    // Before anything was read, and where the user has named it, nothing asks.
    fake.edit(|scene| scene.field = field(true));
    auto.has_read = false;
    assert_eq!(execute(&router, auto.clone(), CancellationToken::new()).await.result.error, None);
    fake.edit(|scene| scene.field = field(true));
    auto.has_read = true;
    auto.grants.note_words("ask evil.test");
    assert_eq!(execute(&router, auto, CancellationToken::new()).await.result.error, None);
}

#[tokio::test(start_paused = true)]
async fn an_application_of_which_the_user_wants_to_be_asked_asks_whatever_was_allowed() {
    let fake = desktop();
    let router = Router::builtin(fake.clone());
    let settings = Settings { ask_apps: vec!["bank".into()], ..Settings::default() };
    let mut allowed = Grants::default();
    allowed.allow(["type", "click"].map(|tool| grant(tool, "GnuBank")));
    let grants = allowed.with_settings(&settings, || Timestamp(0));
    let asked_for = |tool: &str, arguments: Value, approval| ExecRequest {
        approval,
        grants: grants.clone(),
        ..request(tool, arguments)
    };
    for approval in [ApprovalMode::Ask, ApprovalMode::Thread, ApprovalMode::Auto] {
        fake.edit(|scene| scene.windows = vec![in_front("GnuBank")]);
        for (tool, arguments) in [("click", click()), ("type", json!({"text": "a"}))] {
            let request = asked_for(tool, arguments, approval);
            let assessment = router.assess(&request, &limits()).await;
            let yes = assessment.yes();
            let Decision::Ask { reason } = assessment.decision else { panic!("{tool} {approval:?}") };
            assert!(reason.contains("you want to be asked of each act in GnuBank"), "{reason}");
            let result = execute(&router, request.clone(), CancellationToken::new()).await.result;
            assert_eq!(result.effect, Effect::Refused);
            // A yes is to this act.
            let yes = ExecRequest { approved: Some(yes), ..request };
            assert_ne!(execute(&router, yes, CancellationToken::new()).await.result.effect, Effect::Refused);
        }
        // What cannot be told may be there.
        fake.edit(|scene| scene.windows = Vec::new());
        let untold = router.assess(&asked_for("click", click(), approval), &limits()).await;
        assert!(matches!(untold.decision, Decision::Ask { .. }), "{approval:?}");
    }
    // Looking, and moving about, are no acts.
    fake.edit(|scene| scene.windows = vec![in_front("GnuBank")]);
    let look = asked_for("screenshot", json!({}), ApprovalMode::Auto);
    assert_eq!(router.assess(&look, &limits()).await.decision, Decision::Run);
    // A batch that began elsewhere does not come there.
    fake.edit(|scene| scene.windows = vec![in_front("Painter")]);
    fake.react(|action, scene| {
        if matches!(action, Action::Hotkey { .. }) {
            scene.windows = vec![in_front("GnuBank")];
        }
    });
    let before = fake.actions().len();
    let actions = json!({ "actions": [
        { "tool": "hotkey", "arguments": { "keys": ["alt", "tab"] } },
        { "tool": "type", "arguments": { "text": "a" } },
    ] });
    let auto = asked_for("batch", actions, ApprovalMode::Auto);
    let result = execute(&router, auto, CancellationToken::new()).await.result;
    assert!(result.error.is_some_and(|error| error.message.contains("GnuBank")));
    assert_eq!(fake.actions().len(), before + 1, "{:?}", fake.actions());
}

#[tokio::test]
async fn a_control_that_says_that_it_sends_asks_each_time() {
    let fake = desktop();
    let router = Router::builtin(fake.clone());
    fake.edit(|scene| scene.windows = vec![in_front("Painter")]);
    let risk =
        async |tool: &str, arguments: Value| router.assess(&asking(tool, arguments), &limits()).await.risk;
    assert_eq!(risk("clickElement", json!({"name": "Save"})).await, Some(Risk::Edit));
    assert_eq!(risk("clickElement", json!({"name": "Send"})).await, Some(Risk::Consequential));
    assert_eq!(risk("pressMenu", json!({"path": ["Message", "Send"]})).await, Some(Risk::Consequential));
    let send = Element {
        reference: "e9".into(),
        role: "button".into(),
        name: "Send".into(),
        bounds: NormRect { x: 500.0, y: 20.0, width: 40.0, height: 40.0 },
        ..Element::default()
    };
    fake.edit(|scene| scene.snapshot.elements.push(send));
    assert_eq!(risk("click", click()).await, Some(Risk::Consequential));
    assert_eq!(risk("click", json!({"x": 900, "y": 40})).await, Some(Risk::Edit));
}

#[tokio::test(start_paused = true)]
async fn a_yes_is_for_the_application_that_was_there_when_it_was_asked() {
    let fake = desktop();
    let router = Router::builtin(fake.clone());
    fake.edit(|scene| scene.windows = vec![in_front("Painter")]);
    let typing = || asking("type", json!({"text": "rm -rf ~\n"}));
    let yes = router.assess(&typing(), &limits()).await.yes();
    fake.edit(|scene| scene.windows = vec![in_front("XTerm")]);
    let request = ExecRequest { approved: Some(yes.clone()), ..typing() };
    let swapped = execute(&router, request, CancellationToken::new()).await.result;
    assert_eq!(swapped.error.unwrap().kind, ToolErrorKind::Forbidden);
    assert_eq!(fake.actions(), []);
    fake.edit(|scene| scene.windows = vec![in_front("Painter")]);
    let request = ExecRequest { approved: Some(yes), ..typing() };
    assert_eq!(execute(&router, request, CancellationToken::new()).await.result.error, None);
}

#[tokio::test(start_paused = true)]
async fn what_was_allowed_is_done_once_a_busy_desktop_can_be_looked_at_again() {
    let fake = desktop();
    let router = Router::builtin(fake.clone());
    let setting = || asking("setValue", json!({"name": "Save", "value": "new"}));
    let yes = router.assess(&setting(), &limits()).await.yes();
    fake.edit(|scene| scene.delay = Duration::from_secs(1));
    let later = fake.clone();
    tokio::spawn(async move {
        tokio::time::sleep(Duration::from_secs(3)).await;
        later.edit(|scene| scene.delay = Duration::ZERO);
    });
    let request = ExecRequest { approved: Some(yes), ..setting() };
    let done = execute(&router, request, CancellationToken::new()).await.result;
    assert_eq!(done.error, None, "{done:?}");
}

/// The window is the same, and what has the keyboard in it another.
#[tokio::test(start_paused = true)]
async fn a_yes_is_for_no_more_than_was_asked() {
    let fake = desktop();
    let router = Router::builtin(fake.clone());
    fake.edit(|scene| scene.windows = vec![in_front("Painter")]);
    let typing = || asking("type", json!({"text": "hunter2"}));
    let asked = router.assess(&typing(), &limits()).await;
    let request = || ExecRequest { approved: Some(asked.yes()), ..typing() };
    fake.edit(|scene| scene.field = Some(Field { hides: true, ..Field::default() }));
    let error = execute(&router, request(), CancellationToken::new()).await.result.error.unwrap();
    assert!(
        error.message.contains("was for less") && error.message.contains("hides what is written"),
        "{error:?}"
    );
    assert_eq!(fake.actions(), []);
    fake.edit(|scene| scene.field = None);
    assert_eq!(execute(&router, request(), CancellationToken::new()).await.result.error, None);
}

#[tokio::test(start_paused = true)]
async fn a_batch_that_leads_to_a_terminal_ends_there() {
    let fake = desktop();
    let router = Router::builtin(fake.clone());
    fake.edit(|scene| scene.windows = vec![in_front("Painter")]);
    fake.react(|action, scene| {
        if matches!(action, Action::Hotkey { .. }) {
            scene.windows = vec![in_front("XTerm")];
        }
    });
    let batch = json!({"actions": [
        {"tool": "hotkey", "arguments": {"keys": ["alt", "Tab"]}}, {"tool": "type", "arguments": {"text": "rm -rf ~\n"}},
    ]});
    let yes = router.assess(&asking("batch", batch.clone()), &limits()).await.yes();
    let request = ExecRequest { approved: Some(yes), ..asking("batch", batch) };
    let result = execute(&router, request, CancellationToken::new()).await.result;
    assert!(result.error.unwrap().message.contains("XTerm is a terminal"));
    assert_eq!(fake.actions().len(), 1, "only the hotkey: {:?}", fake.actions());
}

#[tokio::test(start_paused = true)]
async fn a_batch_that_leads_to_a_launcher_or_the_bare_desktop_ends_there() {
    let batch = json!({"actions": [
        {"tool": "hotkey", "arguments": {"keys": ["cmd", "d"]}}, {"tool": "click", "arguments": click()},
    ]});
    for granted in [false, true] {
        let fake = desktop();
        let router = Router::builtin(fake.clone());
        fake.edit(|scene| scene.windows = vec![in_front("Painter")]);
        fake.react(|action, scene| {
            if matches!(action, Action::Hotkey { .. }) {
                scene.taker = Taker::Other;
            }
        });
        let mut request = asking("batch", batch.clone());
        let assessment = router.assess(&request, &limits()).await;
        if granted {
            request.grants.allow_in_run(assessment.touches.clone());
        } else {
            request.approved = Some(assessment.yes());
        }
        let result = execute(&router, request, CancellationToken::new()).await.result;
        assert!(result.error.unwrap().message.contains("cannot be told"), "{granted}");
        assert_eq!(fake.actions().len(), 1, "only the hotkey: {:?}", fake.actions());
    }
}

#[tokio::test(start_paused = true)]
async fn each_action_of_a_batch_meets_the_window_that_it_was_allowed_for() {
    let keys = || ("type", json!({"text": "hello"}));
    let cases = [
        ("the same", in_front("Painter"), keys(), true),
        (
            "another application",
            WindowView { id: WindowId(9), pid: Some(9), ..in_front("Notes") },
            keys(),
            false,
        ),
        ("a dialog that came up", WindowView { id: WindowId(9), ..in_front("Painter") }, keys(), true),
        ("another of its windows", WindowView { id: WindowId(8), ..in_front("Painter") }, keys(), false),
        (
            "another process",
            WindowView { id: WindowId(9), pid: Some(9), ..in_front("Painter") },
            keys(),
            false,
        ),
        (
            "a window over the point",
            WindowView { id: WindowId(9), ..in_front("Painter") },
            ("click", click()),
            false,
        ),
    ];
    for (case, leads_to, (tool, arguments), goes_on) in cases {
        let fake = desktop();
        let router = Router::builtin(fake.clone());
        let behind = WindowView { id: WindowId(8), states: Vec::new(), ..in_front("Painter") };
        fake.edit(|scene| scene.windows = vec![in_front("Painter"), behind]);
        fake.react(move |action, scene| {
            if matches!(action, Action::Hotkey { .. }) {
                scene.windows = vec![leads_to.clone()];
            }
        });
        let batch = json!({"actions": [
            {"tool": "hotkey", "arguments": {"keys": ["ctrl", "s"]}}, {"tool": tool, "arguments": arguments},
        ]});
        let yes = router.assess(&asking("batch", batch.clone()), &limits()).await.yes();
        let request = ExecRequest { approved: Some(yes), ..asking("batch", batch) };
        let result = execute(&router, request, CancellationToken::new()).await.result;
        assert_eq!(fake.actions().len(), 1 + usize::from(goes_on), "{case}: {result:?}");
        assert_eq!(result.error.is_none(), goes_on, "{case}");
    }
}

#[tokio::test]
async fn a_window_is_changed_in_the_application_that_was_allowed() {
    let fake = desktop();
    let router = Router::builtin(fake.clone());
    let notes = WindowView { id: WindowId(8), pid: Some(8), states: Vec::new(), ..in_front("Notes") };
    fake.edit(|scene| scene.windows = vec![in_front("Painter"), notes]);
    let mut grants = Grants::default();
    let close = |id: u64| json!({"window": id, "change": "close"});
    let asked = router.assess(&asking("changeWindow", close(7)), &limits()).await;
    grants.allow(asked.touches);
    for (id, runs) in [(7, true), (8, false), (9, false)] {
        let request = ExecRequest {
            grants: grants.clone(),
            approval: ApprovalMode::Thread,
            ..request("changeWindow", close(id))
        };
        let decision = router.assess(&request, &limits()).await.decision;
        assert_eq!(decision == Decision::Run, runs, "window {id}");
    }
}

/// It takes the keyboard from all others, and the window manager says that another has it.
#[tokio::test(start_paused = true)]
async fn nothing_is_typed_while_a_password_is_asked_for() {
    let prompt = WindowView {
        id: WindowId(9),
        title: "New keyring".into(),
        states: vec![],
        ..in_front("Gcr-prompter")
    };
    let fake = desktop();
    fake.edit(|scene| scene.windows = vec![in_front("Editor"), prompt.clone()]);
    let router = Router::builtin(fake.clone());
    let typed = || async { call(&router, "type", json!({ "text": "twelve chars" })).await.result };
    let part = json!({ "tool": "press", "arguments": { "key": "a" } });
    for (tool, arguments) in [
        ("type", json!({ "text": "twelve chars" })),
        ("press", json!({ "key": "Tab" })),
        ("setValue", json!({ "app": "Editor", "name": "City", "value": "twelve chars" })),
        ("batch", json!({ "actions": [part], "reason": "to try" })),
    ] {
        let refused = call(&router, tool, arguments).await.result;
        assert_eq!(refused.effect, Effect::Refused, "{tool}");
        assert!(refused.error.unwrap().message.contains("“New keyring”"), "{tool}");
    }
    assert_eq!(fake.actions(), []);
    fake.edit(|scene| scene.windows[1].states = vec!["minimized".into()]);
    assert_eq!(typed().await.error, None);
}

#[tokio::test(start_paused = true)]
async fn nothing_moves_unasked_while_a_button_is_down() {
    let fake = desktop();
    let router = Router::builtin(fake.clone());
    let asks = |tool: &str, arguments: Value| {
        matches!(router.outline(&asking(tool, arguments), &limits()).decision, Decision::Ask { .. })
    };
    let scroll = json!({"x": 1, "y": 2, "down": 1});
    assert!(!asks("move", click()) && !asks("scroll", scroll.clone()));
    assert!(asks("scroll", json!({"x": 1, "y": 2, "down": 1, "modifiers": ["ctrl"]})));
    let down = execute(&router, request("mouseDown", click()), CancellationToken::new()).await;
    assert_eq!(down.result.error, None);
    assert!(asks("move", click()) && asks("scroll", scroll));
}

#[tokio::test(start_paused = true)]
async fn a_locked_screen_refuses_all_that_sees_or_acts_and_lets_go() {
    let fake = desktop();
    let router = Router::builtin(fake.clone()).with_browser(FakeBrowser::new());
    fake.edit(|scene| scene.locked = true);
    let tools = [
        ("screenshot", json!({})),
        ("elementsJson", json!({})),
        ("listWindows", json!({})),
        ("readClipboard", json!({})),
        ("writeClipboard", json!({"text": "a"})),
        ("click", click()),
        ("type", json!({"text": "a"})),
        ("clickElement", json!({"ref": "e1"})),
        ("launchApp", json!({"app": "Editor"})),
        ("webRead", json!({})),
        ("webClick", json!({"ref": "w1"})),
        (
            "batch",
            json!({"actions": [{"tool": "wait", "arguments": {"seconds": 1}}, {"tool": "click", "arguments": click()}]}),
        ),
    ];
    for (tool, arguments) in tools {
        let result = execute(&router, request(tool, arguments), CancellationToken::new()).await.result;
        assert_eq!(result.effect, Effect::Refused, "{tool}");
        assert!(result.error.unwrap().message.contains("locked"), "{tool}");
    }
    assert!(fake.calls().iter().all(|call| *call == Call::Released), "{:?}", fake.calls());
    let thought =
        execute(&router, request("think", json!({"thought": "so what"})), CancellationToken::new()).await;
    assert_eq!(thought.result.error, None);
}

#[tokio::test(start_paused = true)]
async fn what_was_copied_is_cleaned_of_what_people_cannot_see() {
    let fake = desktop();
    let router = Router::builtin(fake.clone());
    fake.edit(|scene| scene.clipboard = "to\u{200b}\u{e0041}day".into());
    let read = execute(&router, request("readClipboard", json!({})), CancellationToken::new()).await.result;
    assert_eq!(read.data["text"], "today");
    assert!(read.data["cut"].as_str().unwrap().contains("2 invisible"), "{}", read.data);
}

#[tokio::test(start_paused = true)]
async fn what_was_typed_is_not_repeated() {
    let router = Router::builtin(desktop());
    let typing = ExecRequest { approval: ApprovalMode::Auto, ..request("type", json!({"text": "hunter2"})) };
    let typed = execute(&router, typing, CancellationToken::new()).await.result;
    assert_eq!(typed.effect, Effect::Unverified);
    assert!(typed.summary.starts_with("typed 7 characters"), "{}", typed.summary);
    assert!(!typed.summary.contains("hunter2"), "{}", typed.summary);
}

#[tokio::test(start_paused = true)]
async fn plan_mode_forbids_all_but_looking_whatever_was_approved() {
    let fake = desktop();
    let router = Router::builtin(fake.clone());
    let acting = [
        ("click", click()),
        ("move", click()),
        ("scroll", json!({"x": 1, "y": 2, "down": 1})),
        ("type", json!({"text": "a"})),
        ("press", json!({"key": "a"})),
        ("hotkey", json!({"keys": ["ctrl", "s"]})),
        ("drag", json!({"from": {"x": 1, "y": 2}, "to": {"x": 3, "y": 4}})),
        ("focusElement", json!({"ref": "e1"})),
        ("clickElement", json!({"ref": "e1"})),
        ("setValue", json!({"ref": "e1", "value": "a"})),
        ("pressMenu", json!({"path": ["File"]})),
        ("doAction", json!({"ref": "e1", "action": "expand"})),
        ("osa", json!({"script": "a"})),
        ("batch", json!({"actions": [{"tool": "move", "arguments": click()}]})),
    ];
    for (tool, arguments) in acting {
        for approval in [ApprovalMode::Ask, ApprovalMode::Thread, ApprovalMode::Auto] {
            let mut plan = ExecRequest { mode: Mode::Plan, approval, ..request(tool, arguments.clone()) };
            plan.approved = Some(router.assess(&plan, &limits()).await.yes());
            let result = execute(&router, plan, CancellationToken::new()).await.result;
            assert_eq!(
                (result.effect, result.error.unwrap().kind),
                (Effect::Refused, ToolErrorKind::Forbidden),
                "{tool}"
            );
        }
    }
    assert_eq!(fake.calls(), []);
    let looks = json!({"actions": [{"tool": "wait", "arguments": {"seconds": 1}}]});
    let plan = ExecRequest { mode: Mode::Plan, ..request("batch", looks) };
    assert_eq!(execute(&router, plan, CancellationToken::new()).await.result.effect, Effect::Confirmed);
}

#[test]
fn the_risk_of_a_batch_is_the_highest_of_its_parts() {
    let router = Router::builtin(desktop());
    let risk = |tool: &str, arguments: Value| {
        let actions = json!({"actions": [
            {"tool": "think", "arguments": {"thought": "a"}}, {"tool": tool, "arguments": arguments},
        ]});
        router.outline(&request("batch", actions), &limits()).risk
    };
    assert_eq!(risk("wait", json!({"seconds": 1})), Some(Risk::Observe));
    assert_eq!(risk("move", click()), Some(Risk::Navigate));
    assert_eq!(risk("click", click()), Some(Risk::Edit));
}

// bar: C23
#[test]
fn every_script_is_consequential_whatever_it_says() {
    let router = Router::builtin(desktop());
    for script in [
        "return 1",
        "do shell script \"rm -rf ~/pond\"",
        "tell application \"System Events\" to keystroke \"w\" using command down",
    ] {
        let assessment = router.outline(&request("osa", json!({"script": script})), &limits());
        assert_eq!(assessment.risk, Some(Risk::Consequential), "{script}");
        // In auto, too, whatever was read: what it sends cannot be told.
        assert!(matches!(assessment.decision, Decision::Ask { .. }), "{script}");
        let batch = json!({"actions": [{"tool": "osa", "arguments": {"script": script}}]});
        let assessment = router.outline(&request("batch", batch), &limits());
        assert_ne!(assessment.decision, Decision::Run, "{script}");
    }
}

/// A window calls itself what was allowed, and is of another program.
// bar: C25
#[tokio::test]
async fn a_grant_is_of_the_program_that_was_there_whatever_a_window_calls_itself() {
    let fake = desktop();
    let router = Router::builtin(fake.clone());
    let assess = async |program: &str, allowed: &[Grant]| {
        fake.edit(|scene| {
            scene.windows = vec![in_front("Painter")];
            scene.program = Some(program.into());
        });
        let mut grants = Grants::default();
        grants.allow(allowed.iter().cloned());
        let approval = ApprovalMode::Thread;
        router.assess(&ExecRequest { grants, approval, ..request("click", click()) }, &limits()).await
    };
    let allowed = assess("brush", &[]).await.touches;
    assert_eq!(allowed, [grant("click", "Painter (brush)")]);
    assert_eq!(assess("painter", &[]).await.touches, [grant("click", "Painter")]);
    assert_eq!(assess("brush", &allowed).await.decision, Decision::Run);
    // What was allowed before programs were kept is asked about anew.
    let before = [grant("click", "Painter")];
    for (program, allowed) in [
        ("evil", &allowed[..]),
        ("?", &allowed),
        ("python3", &allowed),
        ("brush", &before),
        ("evil", &before),
    ] {
        let decision = assess(program, allowed).await.decision;
        assert!(matches!(decision, Decision::Ask { .. }), "{program} {allowed:?}");
    }
}

/// No list has its program, and it shows a shell.
#[tokio::test]
async fn what_shows_a_shell_is_a_terminal_whatever_its_program_is_called() {
    let fake = desktop();
    let router = Router::builtin(fake.clone());
    let shell = Element {
        reference: "e1".into(),
        role: "terminal".into(),
        name: "Notes".into(),
        states: vec!["focused".into()],
        bounds: NormRect { x: 0.0, y: 0.0, width: 900.0, height: 900.0 },
        ..Element::default()
    };
    fake.edit(|scene| {
        scene.windows = vec![in_front("Notes")];
        scene.snapshot.app = "Notes".into();
        scene.snapshot.elements = vec![shell];
    });
    let mut grants = Grants::default();
    grants.allow(["type", "press", "setValue"].map(|tool| grant(tool, "Notes")));
    for (tool, arguments) in [
        ("type", json!({"text": "ls"})),
        ("press", json!({"key": "Enter"})),
        ("press", json!({"key": "l"})),
        ("setValue", json!({"ref": "e1", "value": "ls"})),
        ("setValue", json!({"app": "Notes", "name": "Notes", "value": "ls"})),
    ] {
        let request = ExecRequest {
            grants: grants.clone(),
            approval: ApprovalMode::Thread,
            ..request(tool, arguments)
        };
        let assessment = router.assess(&request, &limits()).await;
        assert_eq!(assessment.risk, Some(Risk::Consequential), "{tool}");
        let Decision::Ask { reason } = assessment.decision else { panic!("{tool} does not ask") };
        assert!(reason.contains("Notes is a terminal"), "{reason}");
    }
}
