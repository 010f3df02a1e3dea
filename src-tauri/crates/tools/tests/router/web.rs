//! The browser's tools: what they ask of the browser, and how what pages say comes to the model.

use std::sync::Arc;

use crate::stage::{call, desktop, execute, limits, request};
use browser::fake::{FakeBrowser, WebCall};
use browser::{
    Dialog, DialogAnswer, DialogKind, Fill, Journey, Kind, Links, PageQuery, PageText, PageView, Scope, Tab,
    TabChange, TextQuery, Then, WebClick, WebElement, WebTarget, WebText,
};
use desktop::{Button, DesktopError, Element, Evidence, Field, Inside, WindowId, WindowView};
use protocol::geometry::NormRect;
use protocol::tool::{ApprovalMode, Effect, Grant, Mode, Risk, ToolErrorKind};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;
use tools::{Assessment, Decision, ExecRequest, Grants, Router};

fn router() -> (Arc<FakeBrowser>, Router) {
    let browser = FakeBrowser::new();
    (browser.clone(), Router::builtin(desktop()).with_browser(browser))
}

#[tokio::test(start_paused = true)]
async fn every_tool_asks_the_browser_for_what_its_arguments_say() {
    let (browser, router) = router();
    let calls = [
        ("webElements", json!({"query": "", "wholePage": true})),
        ("webElements", json!({"query": "save", "all": true})),
        ("webRead", json!({"offset": 50, "links": true})),
        ("webClick", json!({"ref": "w7", "count": 2, "modifiers": ["shift"], "reason": "to open it"})),
        ("webClick", json!({"dialog": "accept", "answer": "Basho"})),
        ("webClick", json!({"dialog": "dismiss"})),
        ("webType", json!({"ref": "w8", "text": "", "append": false})),
        ("webType", json!({"ref": "w8", "text": "frog", "append": true, "submit": true})),
        ("webNavigate", json!({"url": "https://example.org/"})),
        ("webNavigate", json!({"go": "back"})),
        ("webTabs", json!({})),
        ("webTab", json!({"ref": "t2"})),
        ("webTabEdit", json!({"open": "https://example.org/"})),
        ("webTabEdit", json!({"close": "t2"})),
    ];
    for (tool, arguments) in calls {
        let result = call(&router, tool, arguments.clone()).await.result;
        assert_eq!(result.error, None, "{tool} {arguments}");
    }
    let elements = |query: Option<&str>, scope, kind| {
        WebCall::Elements(PageQuery { query: query.map(str::to_owned), scope, kind, limit: 200, display: 0 })
    };
    let text = |text: &str, how, then| {
        WebCall::Type(WebText { reference: "w8".into(), text: text.into(), how, then })
    };
    let click = WebClick {
        reference: "w7".into(),
        button: Button::Left,
        count: 2,
        held: vec!["shift".parse().unwrap()],
        display: 0,
    };
    let expected = [
        elements(None, Scope::Page, Kind::Interactive),
        elements(Some("save"), Scope::View, Kind::All),
        WebCall::Read(TextQuery { offset: 50, limit: 2_000, links: Links::Shown }),
        WebCall::Click(click),
        WebCall::Answer(DialogAnswer::Accept(Some("Basho".into()))),
        WebCall::Answer(DialogAnswer::Dismiss),
        text("", Fill::Replace, Then::Nothing),
        text("frog", Fill::Append, Then::Submit),
        WebCall::Navigate(Journey::To("https://example.org/".into())),
        WebCall::Navigate(Journey::Back),
        WebCall::Tabs,
        WebCall::ChangeTab(TabChange::Activate("t2".into())),
        WebCall::ChangeTab(TabChange::Open("https://example.org/".into())),
        WebCall::ChangeTab(TabChange::Close("t2".into())),
    ];
    assert_eq!(browser.calls(), expected);
}

#[tokio::test(start_paused = true)]
async fn arguments_that_contradict_each_other_are_refused_before_the_browser_is_asked() {
    let (browser, router) = router();
    for (tool, arguments) in [
        ("webClick", json!({})),
        ("webClick", json!({"ref": "w1", "dialog": "accept"})),
        ("webClick", json!({"ref": "w1", "count": 4})),
        ("webClick", json!({"ref": "w1", "modifiers": ["a"]})),
        ("webClick", json!({"ref": "w".repeat(50)})),
        ("webType", json!({"ref": "w1"})),
        ("webType", json!({"ref": "", "text": "x"})),
        ("webNavigate", json!({})),
        ("webNavigate", json!({"url": "https://example.org/", "go": "back"})),
        ("webTabEdit", json!({"open": "https://example.org/", "close": "t1"})),
        ("webTabEdit", json!({})),
        ("webRead", json!({"offset": -1})),
    ] {
        let result = call(&router, tool, arguments.clone()).await.result;
        assert_eq!(result.error.unwrap().kind, ToolErrorKind::BadArguments, "{tool} {arguments}");
        assert_eq!(result.effect, Effect::Refused);
    }
    assert_eq!(browser.calls(), []);
}

#[test]
fn what_can_send_something_out_asks_first() {
    let (_, router) = router();
    for (tool, arguments, risk) in [
        ("webElements", json!({}), Risk::Observe),
        ("webRead", json!({}), Risk::Observe),
        ("webTabs", json!({}), Risk::Observe),
        ("webTab", json!({"ref": "t1"}), Risk::Navigate),
        ("webNavigate", json!({"url": "https://example.org/?secret"}), Risk::Edit),
        ("webTabEdit", json!({"open": "https://example.org/?secret"}), Risk::Edit),
        ("webClick", json!({"ref": "w1"}), Risk::Edit),
        ("webType", json!({"ref": "w1", "text": "x"}), Risk::Edit),
    ] {
        let asking = ExecRequest { approval: ApprovalMode::Ask, ..request(tool, arguments.clone()) };
        let assessment = router.outline(&asking, &limits());
        assert_eq!(assessment.risk, Some(risk), "{tool}");
        assert_eq!(matches!(assessment.decision, Decision::Ask { .. }), risk >= Risk::Edit, "{tool}");
        let planning = router.outline(&ExecRequest { mode: Mode::Plan, ..asking }, &limits());
        assert_eq!(matches!(planning.decision, Decision::Run), risk == Risk::Observe, "{tool}");
    }
}

fn once_a_tool(grants: &Grants, tool: &str, arguments: Value) -> ExecRequest {
    ExecRequest { approval: ApprovalMode::Thread, grants: grants.clone(), ..request(tool, arguments) }
}

async fn weighed(router: &Router, grants: &Grants, tool: &str, arguments: Value) -> Assessment {
    router.assess(&once_a_tool(grants, tool, arguments), &limits()).await
}

fn asks_about(assessment: &Assessment, host: &str) -> bool {
    let named = matches!(&assessment.decision, Decision::Ask { reason } if reason.contains(host));
    named && assessment.risk == Some(Risk::Consequential)
}

#[tokio::test]
async fn what_goes_to_a_host_that_nobody_named_asks_each_time() {
    let (browser, router) = router();
    let mut grants = Grants::default();
    grants.note_words("Write down what Example.org says of the weather");
    grants.allow(
        ["webNavigate", "webTabEdit", "webClick", "webType"]
            .map(|tool| Grant { tool: tool.into(), app: Some("https://example.org".into()) }),
    );
    let (evil, named) = ("https://evil.test/?q=secret", "https://example.org/today");
    for (tool, argument) in [("webNavigate", "url"), ("webTabEdit", "open")] {
        assert!(asks_about(&weighed(&router, &grants, tool, json!({ argument: evil })).await, "evil.test"));
        let allowed = weighed(&router, &grants, tool, json!({ argument: named })).await;
        assert_eq!((allowed.risk, &allowed.decision), (Some(Risk::Edit), &Decision::Run), "{tool}");
    }
    // A form's address counts, not only its page's; what a button says counts, too.
    let form = |form: &str, called: &str, goes_there| WebTarget {
        url: named.into(),
        called: called.into(),
        leads_to: Some(form.into()),
        goes_there,
        ..WebTarget::default()
    };
    let (press, fill) = (json!({"ref": "w1"}), json!({"ref": "w1", "text": "x"}));
    let enter = json!({"ref": "w1", "text": "x", "submit": true});
    for (form, tool, arguments, asks) in [
        (form(evil, "Go", true), "webClick", &press, true),
        (form(evil, "Name", false), "webType", &enter, true),
        (form(evil, "Name", false), "webType", &fill, false),
        (form(named, "Go", true), "webClick", &press, false),
        (WebTarget { searches: true, ..form(named, "Name", false) }, "webType", &enter, false),
    ] {
        browser.edit(|pages| pages.target = form.clone());
        let assessment = weighed(&router, &grants, tool, arguments.clone()).await;
        assert_eq!(asks_about(&assessment, "evil.test"), asks, "{tool} {form:?}");
        assert_eq!(assessment.decision == Decision::Run, !asks, "{tool} {form:?}");
    }
    browser.edit(|pages| pages.target = form(named, "Buy now", true));
    assert_eq!(weighed(&router, &grants, "webClick", press.clone()).await.risk, Some(Risk::Consequential));

    // A page reads what is written into it, whatever its form says.
    let evils = WebTarget { url: evil.into(), ..form(named, "Name", false) };
    browser.edit(|pages| pages.target = evils.clone());
    grants.allow([Grant { tool: "webType".into(), app: Some("https://evil.test".into()) }]);
    for arguments in [&fill, &enter] {
        let assessment = weighed(&router, &grants, "webType", arguments.clone()).await;
        assert!(asks_about(&assessment, "evil.test"), "{assessment:?}");
    }
    // A yes to what a question did not name makes no host known.
    let clicked = weighed(&router, &grants, "webClick", press.clone()).await;
    assert!(!asks_about(&clicked, "evil.test"), "{clicked:?}");
    grants.visit(&clicked.hosts);
    assert!(asks_about(&weighed(&router, &grants, "webType", fill.clone()).await, "evil.test"));

    // A yes, be it for once, names its host; one for the session is for one address.
    let asked = weighed(&router, &grants, "webNavigate", json!({ "url": evil })).await;
    grants.visit(&asked.hosts);
    let again = weighed(&router, &grants, "webNavigate", json!({ "url": evil })).await;
    assert_eq!(again.risk, Some(Risk::Edit));
    assert!(matches!(again.decision, Decision::Ask { .. }), "{again:?}");
}

// bar: C35
#[tokio::test]
async fn in_auto_what_goes_to_a_host_that_nobody_named_asks_once_something_was_read() {
    let (browser, router) = router();
    let evil = "https://evil.test/?q=secret";
    browser.edit(|pages| {
        let leads_to = Some(evil.into());
        pages.target = WebTarget {
            url: evil.into(),
            called: "More".into(),
            leads_to,
            goes_there: true,
            ..WebTarget::default()
        };
    });
    let mut grants = Grants::default();
    grants.note_words("What does example.org say?");
    let calls = [
        ("webNavigate", json!({ "url": evil })),
        ("webTabEdit", json!({ "open": evil })),
        ("webClick", json!({ "ref": "w1" })),
        ("webType", json!({ "ref": "w1", "text": "secret" })),
        ("batch", json!({ "actions": [{ "tool": "webNavigate", "arguments": { "url": evil } }] })),
    ];
    for (tool, arguments) in calls {
        let auto = |has_read, grants: &Grants| {
            let grants = grants.clone();
            ExecRequest { grants, has_read, ..request(tool, arguments.clone()) }
        };
        assert_eq!(router.assess(&auto(false, &grants), &limits()).await.decision, Decision::Run, "{tool}");
        let asked = router.assess(&auto(true, &grants), &limits()).await;
        assert!(asks_about(&asked, "evil.test"), "{tool} {asked:?}");
        let result = execute(&router, auto(true, &grants), CancellationToken::new()).await.result;
        assert_eq!(result.effect, Effect::Refused, "{tool}");
        let mut after_a_yes = grants.clone();
        after_a_yes.visit(&asked.hosts);
        let again = router.assess(&auto(true, &after_a_yes), &limits()).await;
        assert_eq!(again.decision, Decision::Run, "{tool}");
    }
    assert_eq!(browser.calls(), []);
    // Where a script sends something, nobody can tell, whatever was read.
    let router = Router::builtin(desktop()).with_browser(browser);
    for has_read in [false, true] {
        let script = json!({ "script": "do shell script \"curl evil.test\"" });
        let auto = ExecRequest { has_read, ..request("osa", script) };
        let decision = router.assess(&auto, &limits()).await.decision;
        assert!(matches!(decision, Decision::Ask { .. }), "{decision:?}");
    }
    // That was all there are.
    let tried = ["webNavigate", "webTabEdit", "webClick", "webType", "batch", "osa"];
    let can_send = router.specs(Mode::Act, &tools::Ports::default()).into_iter().filter(|spec| spec.egress);
    assert_eq!(can_send.filter(|spec| !tried.contains(&&*spec.name)).count(), 0);
    let known = ExecRequest {
        grants,
        has_read: true,
        ..request("webNavigate", json!({ "url": "https://example.org/today" }))
    };
    assert_eq!(router.assess(&known, &limits()).await.decision, Decision::Run);
}

// bar: C35
#[tokio::test(start_paused = true)]
async fn a_link_in_a_browser_that_leads_to_a_host_nobody_named_asks_however_it_is_clicked() {
    let fake = desktop();
    let router = Router::builtin(fake.clone());
    let whole = NormRect { x: 0.0, y: 0.0, width: 1000.0, height: 1000.0 };
    let show = |app: &str, link: &str| {
        fake.edit(|scene| {
            scene.windows = vec![WindowView {
                id: WindowId(7),
                title: "a page".into(),
                app: app.into(),
                pid: Some(7),
                display: 0,
                bounds: whole,
                states: vec!["focused".into()],
            }];
            scene.snapshot.app = app.into();
            scene.snapshot.elements = vec![Element {
                reference: "e1".into(),
                role: "link".into(),
                name: "More".into(),
                states: vec!["focused".into()],
                bounds: NormRect { x: 400.0, y: 400.0, width: 200.0, height: 200.0 },
                ..Element::default()
            }];
            scene.link = Some(link.into());
        });
    };
    let mut grants = Grants::default();
    grants.note_words("What does example.org say?");
    let allowed = ["click", "clickElement", "doAction"]
        .map(|tool| Grant { tool: tool.into(), app: Some("Chromium".into()) });
    grants.allow(allowed);
    for (tool, arguments) in [
        ("click", json!({"x": 500, "y": 500})),
        ("clickElement", json!({"ref": "e1"})),
        ("clickElement", json!({"app": "Chromium", "name": "More"})),
        ("doAction", json!({"ref": "e1", "action": "jump"})),
        ("batch", json!({"actions": [{"tool": "click", "arguments": {"x": 500, "y": 500}}]})),
    ] {
        for approval in [ApprovalMode::Thread, ApprovalMode::Auto] {
            let ask = || ExecRequest {
                grants: grants.clone(),
                approval,
                has_read: true,
                ..request(tool, arguments.clone())
            };
            show("Chromium", "https://evil.test/?q=secret");
            let asked = router.assess(&ask(), &limits()).await;
            assert!(asks_about(&asked, "evil.test"), "{tool} {approval:?} {asked:?}");
            show("Chromium", "https://example.org/today");
            assert_eq!(router.assess(&ask(), &limits()).await.decision, Decision::Run, "{tool} {approval:?}");
        }
    }
    // Enter follows the link that has the keyboard; under ask and thread it asks anyway.
    let enter = || {
        let grants = grants.clone();
        ExecRequest { grants, has_read: true, ..request("press", json!({"key": "Enter"})) }
    };
    show("Chromium", "https://evil.test/");
    assert!(asks_about(&router.assess(&enter(), &limits()).await, "evil.test"));
    show("Chromium", "https://example.org/");
    assert_eq!(router.assess(&enter(), &limits()).await.decision, Decision::Run);
    // A program in no list hands its links to the browser.
    show("Editor", "https://evil.test/");
    let auto = |has_read| ExecRequest { has_read, ..request("click", json!({"x": 500, "y": 500})) };
    assert!(asks_about(&router.assess(&auto(true), &limits()).await, "evil.test"));
    assert_eq!(router.assess(&auto(false), &limits()).await.decision, Decision::Run);
}

// bar: C35
#[tokio::test(start_paused = true)]
async fn a_form_that_leads_to_a_host_nobody_named_asks_when_its_button_is_clicked_or_its_field_entered() {
    let (fake, browser) = (desktop(), FakeBrowser::new());
    let router = Router::builtin(fake.clone()).with_browser(browser.clone());
    let bounds = NormRect { x: 400.0, y: 400.0, width: 200.0, height: 200.0 };
    fake.edit(|scene| {
        scene.windows = vec![WindowView {
            id: WindowId(7),
            title: "a page".into(),
            app: "Chromium".into(),
            pid: Some(7),
            display: 0,
            bounds: NormRect { x: 0.0, y: 0.0, width: 1000.0, height: 1000.0 },
            states: vec!["focused".into()],
        }];
        scene.snapshot.app = "Chromium".into();
        let states = vec!["focused".into()];
        scene.snapshot.elements =
            vec![Element { reference: "e1".into(), name: "Go".into(), states, bounds, ..Element::default() }];
        let inside = Inside::Page("http://127.0.0.1/".into());
        scene.field = Some(Field { inside, ..Field::default() });
    });
    let show = |form: &str, goes_there| {
        browser.edit(|pages| {
            pages.view.elements =
                vec![WebElement { reference: "w1".into(), bounds, ..WebElement::default() }];
            let (url, leads_to) = ("http://127.0.0.1/".into(), Some(form.into()));
            pages.target = WebTarget { url, leads_to, goes_there, ..WebTarget::default() };
        });
    };
    for (tool, arguments, is_button) in [
        ("click", json!({"x": 500, "y": 500}), true),
        ("clickElement", json!({"ref": "e1"}), true),
        ("clickElement", json!({"app": "Chromium", "name": "Go"}), true),
        ("press", json!({"key": "Enter"}), false),
        ("type", json!({"text": "secret\n"}), false),
    ] {
        let auto = || ExecRequest { has_read: true, ..request(tool, arguments.clone()) };
        show("https://evil.test/take", is_button);
        let asked = router.assess(&auto(), &limits()).await;
        assert!(asks_about(&asked, "evil.test"), "{tool} {arguments} {asked:?}");
        show("http://127.0.0.1/", is_button);
        assert_eq!(router.assess(&auto(), &limits()).await.decision, Decision::Run, "{tool} {arguments}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_yes_to_a_form_is_not_for_the_one_that_took_its_place() {
    let (browser, router) = router();
    let ask = || once_a_tool(&Grants::default(), "webClick", json!({"ref": "w1"}));
    let target = |form: &str| WebTarget {
        url: "https://example.org/".into(),
        called: "Go".into(),
        row: "Draft".into(),
        leads_to: Some(form.into()),
        goes_there: true,
        ..WebTarget::default()
    };
    browser.edit(|pages| pages.target = target("https://example.org/"));
    let yes = router.assess(&ask(), &limits()).await.yes();
    let approved = || ExecRequest { approved: Some(yes.clone()), ..ask() };
    let other_row = WebTarget { row: "Thesis".into(), ..target("https://example.org/") };
    for other in [target("https://evil.test/"), other_row] {
        browser.edit(|pages| pages.target = other);
        let swapped = execute(&router, approved(), CancellationToken::new()).await.result;
        assert_eq!((swapped.error.unwrap().kind, browser.calls()), (ToolErrorKind::Forbidden, vec![]));
    }
    browser.edit(|pages| pages.target = target("https://example.org/"));
    assert_eq!(execute(&router, approved(), CancellationToken::new()).await.result.error, None);
}

// bar: C37
#[tokio::test(start_paused = true)]
async fn what_a_page_says_is_cleaned_and_bounded() {
    let (browser, router) = router();
    browser.edit(|pages| {
        pages.view = PageView {
            title: "Pond\u{202e}".into(),
            elements: vec![WebElement {
                reference: "w1".into(),
                role: "button".into(),
                name: "Sa\u{200b}ve\u{e0041}".into(),
                value: "x".repeat(5_000),
                ..WebElement::default()
            }],
            ..PageView::default()
        };
        pages.text = PageText { text: "old\u{200b} pond\nfrog".into(), total: 14, ..PageText::default() };
        pages.tabs = vec![Tab { title: "Po\u{2066}nd\n".into(), ..Tab::default() }];
        pages.acted.called = "button \"Sa\u{200b}ve\"".into();
        pages.acted.dialog =
            Some(Dialog { kind: DialogKind::Alert, message: "Bo\u{200b}o".into(), number: 1 });
    });
    let data = |tool: &'static str, arguments: Value| {
        let router = &router;
        async move { call(router, tool, arguments).await.result }
    };
    let seen = data("webElements", json!({})).await;
    assert_eq!(seen.summary, "found 1 element in Pond");
    assert_eq!(seen.data["elements"][0]["name"], "Save");
    assert!(seen.data["elements"][0]["value"].as_str().unwrap().ends_with("(cut: 4600 of 5000 characters)"));
    assert!(seen.data["cut"][0].as_str().unwrap().contains("3 invisible characters"), "{}", seen.data);
    assert_eq!(data("webRead", json!({})).await.data["text"], "old pond\nfrog");
    assert_eq!(data("webTabs", json!({})).await.data["tabs"][0]["title"], "Pond");
    let clicked = data("webClick", json!({"ref": "w1"})).await;
    assert_eq!(clicked.summary, "clicked button \"Save\" (w1); a dialog is open: Boo");
    assert_eq!(clicked.data["dialog"], json!({"kind": "alert", "message": "Boo"}));
    assert_eq!(clicked.effect, Effect::Confirmed);
}

#[tokio::test(start_paused = true)]
async fn a_refused_act_is_refused_and_a_broken_one_is_unknown() {
    let (browser, router) = router();
    for (error, effect) in [
        (DesktopError::BadInput("it is covered".into()), Effect::Refused),
        (DesktopError::NotFound("w1".into()), Effect::Refused),
        (DesktopError::Failed("the browser is gone".into()), Effect::Unknown),
    ] {
        browser.edit(|pages| pages.failures.push_back(error));
        assert_eq!(call(&router, "webClick", json!({"ref": "w1"})).await.result.effect, effect);
    }
    browser.edit(|pages| pages.acted.acted.evidence = Evidence::Mismatch);
    let result = call(&router, "webType", json!({"ref": "w1", "text": "secret"})).await.result;
    assert_eq!(result.effect, Effect::Unverified);
    assert!(!result.summary.contains("secret"), "{}", result.summary);
}
