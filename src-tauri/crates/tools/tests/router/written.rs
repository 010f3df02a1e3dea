//! What is written into a page of a browser by keys or through the accessibility tree: its host is asked about, as where
//! the web's own tools write.

use browser::fake::FakeBrowser;
use browser::{WebElement, WebTarget};
use desktop::{Element, Field, Inside, WindowId, WindowView};
use protocol::geometry::NormRect;
use protocol::tool::{ApprovalMode, Grant, ToolErrorKind};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;
use tools::{Assessment, Decision, ExecRequest, Grants, Router};

use crate::stage::{desktop, execute, limits, request};

const BOUNDS: NormRect = NormRect { x: 400.0, y: 400.0, width: 200.0, height: 200.0 };

fn chromium() -> WindowView {
    WindowView {
        id: WindowId(7),
        title: "a page".into(),
        app: "Chromium".into(),
        pid: Some(7),
        display: 0,
        bounds: NormRect { x: 0.0, y: 0.0, width: 1000.0, height: 1000.0 },
        states: vec!["focused".into()],
    }
}

fn page(url: &str) -> Inside {
    Inside::Page(url.into())
}

/// In auto after something was read, and where it was allowed for the session.
fn loosest(tool: &str, arguments: &Value) -> [ExecRequest; 2] {
    let mut grants = Grants::default();
    grants.note_words("look something up at example.org");
    grants.allow([Grant { tool: tool.into(), app: Some("Chromium".into()) }]);
    let auto = ExecRequest { has_read: true, grants: grants.clone(), ..request(tool, arguments.clone()) };
    let thread = ExecRequest { approval: ApprovalMode::Thread, grants, ..request(tool, arguments.clone()) };
    [auto, thread]
}

fn asks(assessment: &Assessment, about: &str) -> bool {
    matches!(&assessment.decision, Decision::Ask { reason } if reason.contains(about))
}

// bar: C35
#[tokio::test(start_paused = true)]
async fn what_is_written_into_a_page_asks_for_its_host_however_it_is_written() {
    let fake = desktop();
    let router = Router::builtin(fake.clone());
    fake.edit(|scene| {
        scene.windows = vec![chromium()];
        scene.snapshot.app = "Chromium".into();
        scene.snapshot.elements = vec![Element {
            reference: "e1".into(),
            role: "text".into(),
            name: "Open field".into(),
            bounds: BOUNDS,
            ..Element::default()
        }];
    });
    let show = |inside: Inside| {
        fake.edit(|scene| {
            scene.field = Some(Field { inside: inside.clone(), pid: Some(7), ..Field::default() });
            scene.inside = inside;
        });
    };
    for (tool, arguments) in [
        ("type", json!({"text": "secret"})),
        ("press", json!({"key": "s"})),
        ("hold", json!({"keys": ["s"], "seconds": 0.1})),
        ("hotkey", json!({"keys": ["ctrl", "v"]})),
        ("hotkey", json!({"keys": ["ctrl", "shift", "v"]})),
        ("hotkey", json!({"keys": ["shift", "Insert"]})),
        // Shift may be held down by an earlier call.
        ("press", json!({"key": "Insert"})),
        ("setValue", json!({"ref": "e1", "value": "secret"})),
        ("setValue", json!({"app": "Chromium", "name": "Open field", "value": "secret"})),
    ] {
        for asked in loosest(tool, &arguments) {
            show(page("https://evil.test/take?d=1"));
            let assessment = router.assess(&asked, &limits()).await;
            assert!(asks(&assessment, "evil.test"), "{tool} {arguments} {assessment:?}");
            // Nobody knows who reads a page that is of no site, nor one that does not say where it is from.
            for untold in [page("data:text/html,a"), page("about:blank"), Inside::Untold] {
                show(untold.clone());
                let assessment = router.assess(&asked, &limits()).await;
                assert!(
                    asks(&assessment, "gets what is written") || asks(&assessment, "cannot be told"),
                    "{tool} {untold:?}"
                );
            }
            show(page("https://www.example.org/find"));
            assert_eq!(router.assess(&asked, &limits()).await.decision, Decision::Run, "{tool} {arguments}");
        }
    }
    // No field has the keyboard: any page may take it.
    fake.edit(|scene| scene.field = None);
    for asked in loosest("type", &json!({"text": "secret"})) {
        assert!(asks(&router.assess(&asked, &limits()).await, "cannot be told"));
    }
    // What moves about and brings nothing asks nothing.
    for asked in loosest("press", &json!({"key": "Down"})) {
        assert_eq!(router.assess(&asked, &limits()).await.decision, Decision::Run);
    }
}

/// As `webSearch` asks.
// bar: C35
#[tokio::test(start_paused = true)]
async fn words_in_the_address_field_go_to_a_search_engine() {
    let fake = desktop();
    let router = Router::builtin(fake.clone());
    fake.edit(|scene| {
        scene.windows = vec![chromium()];
        scene.field = Some(Field { inside: Inside::Around, pid: Some(7), ..Field::default() });
    });
    let mut grants = Grants::default();
    grants.note_words("look up the weather in Bern");
    let asked = async |text: &str, has_read: bool| {
        let request =
            ExecRequest { has_read, grants: grants.clone(), ..request("type", json!({"text": text})) };
        router.assess(&request, &limits()).await
    };
    // The field mostly has its page's address, which is selected.
    for text in ["", "https://known.test/"] {
        let field = Field { inside: Inside::Around, text: text.into(), pid: Some(7), ..Field::default() };
        fake.edit(|scene| scene.field = Some(field));
        assert!(asks(&asked("the secret is 42\n", true).await, "search engine"), "{text}");
    }
    // In two calls.
    let show = |text: &str| {
        let field = Field { inside: Inside::Around, text: text.into(), pid: Some(7), ..Field::default() };
        fake.edit(|scene| scene.field = Some(field));
    };
    let enter = || ExecRequest {
        has_read: true,
        grants: grants.clone(),
        ..request("press", json!({"key": "Enter"}))
    };
    show("the secret is 42");
    assert!(asks(&router.assess(&enter(), &limits()).await, "search engine"));
    show("the weather in Bern");
    assert_eq!(router.assess(&enter(), &limits()).await.decision, Decision::Run);
    show("");
    for (text, has_read) in
        [("the weather in Bern\n", true), ("the secret is 42\n", false), ("the secret", true)]
    {
        assert_eq!(asked(text, has_read).await.decision, Decision::Run, "{text}");
    }
}

// bar: C35
#[tokio::test(start_paused = true)]
async fn enter_in_a_pages_field_asks_as_a_form_does_unless_its_page_says_that_it_searches() {
    let (fake, browser) = (desktop(), FakeBrowser::new());
    let router = Router::builtin(fake.clone()).with_browser(browser.clone());
    fake.edit(|scene| {
        scene.windows = vec![chromium()];
        scene.snapshot.app = "Chromium".into();
        let states = vec!["focused".into()];
        scene.snapshot.elements = vec![Element {
            reference: "e1".into(),
            name: "Note".into(),
            states,
            bounds: BOUNDS,
            ..Element::default()
        }];
        let inside = page("https://example.org/");
        scene.field = Some(Field { inside, pid: Some(7), ..Field::default() });
    });
    let show = |target: Option<WebTarget>| {
        browser.edit(|pages| {
            let element = WebElement { reference: "w1".into(), bounds: BOUNDS, ..WebElement::default() };
            pages.view.elements = target.iter().map(|_| element.clone()).collect();
            pages.target = target.unwrap_or_default();
        });
    };
    let field = |url: &str| WebTarget { url: url.into(), called: "Note".into(), ..WebTarget::default() };
    let form = || Some("https://example.org/find".to_owned());
    for (tool, arguments) in [("press", json!({"key": "Enter"})), ("type", json!({"text": "frogs\n"}))] {
        let [auto, thread] = loosest(tool, &arguments);
        // Without an address a script may take it.
        show(Some(field("https://example.org/")));
        assert!(asks(&router.assess(&thread, &limits()).await, "“Note” submits a form"), "{tool}");
        // The page that the browser tells of is another one, or none is told of.
        for other in [Some(WebTarget { searches: true, ..field("https://other.test/") }), None] {
            show(other);
            for asked in [&auto, &thread] {
                let assessment = router.assess(asked, &limits()).await;
                assert!(asks(&assessment, "Enter in a field of a page"), "{tool} {assessment:?}");
            }
        }
        show(Some(WebTarget { searches: true, leads_to: form(), ..field("https://example.org/") }));
        for asked in [&auto, &thread] {
            assert_eq!(router.assess(asked, &limits()).await.decision, Decision::Run, "{tool}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_yes_to_what_is_typed_into_a_page_is_not_for_the_page_that_took_its_place() {
    let fake = desktop();
    let router = Router::builtin(fake.clone());
    let show = |url: &str| {
        let field = Field { inside: page(url), pid: Some(7), ..Field::default() };
        fake.edit(|scene| (scene.windows, scene.field) = (vec![chromium()], Some(field)));
    };
    show("https://example.org/");
    let mut grants = Grants::default();
    grants.note_words("example.org and other.test");
    let ask = || ExecRequest {
        approval: ApprovalMode::Ask,
        grants: grants.clone(),
        ..request("type", json!({"text": "secret"}))
    };
    let yes = router.assess(&ask(), &limits()).await.yes();
    let approved = || ExecRequest { approved: Some(yes.clone()), ..ask() };
    show("https://other.test/");
    let swapped = execute(&router, approved(), CancellationToken::new()).await.result;
    assert_eq!((swapped.error.unwrap().kind, fake.actions()), (ToolErrorKind::Forbidden, vec![]));
    show("https://example.org/further");
    assert_eq!(execute(&router, approved(), CancellationToken::new()).await.result.error, None);
}
