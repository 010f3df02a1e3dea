//! Secrets in calls: named by the model, put in where they belong, taken out of all that comes back.

use std::sync::Arc;

use crate::stage::{call, desktop};
use browser::fake::{FakeBrowser, WebCall};
use browser::{Space, WebElement, WebTarget};
use desktop::fake::{Call, FakeDesktop};
use desktop::{Element, ElementAction, WindowId, WindowView};
use futures::future::BoxFuture;
use ocr::TextLine;
use protocol::command;
use protocol::geometry::NormRect;
use protocol::tool::{Effect, ToolErrorKind};
use serde_json::json;
use tools::{Router, Secret, SecretScope, SecretSource};

const VALUE: &str = "canary 0815";

struct Mine;

impl SecretSource for Mine {
    fn all(&self) -> BoxFuture<'_, Arc<[Secret]>> {
        let secret = |name: &str, place: &str| Secret {
            name: name.into(),
            place: SecretScope::parse(place).unwrap(),
            value: command::Secret(VALUE.into()),
        };
        let all = [secret("bank", "https://bank.example"), secret("diary", "Editor")];
        Box::pin(async move { Arc::from(all) })
    }
}

fn stage() -> (Arc<FakeDesktop>, Arc<FakeBrowser>, Router) {
    let (desktop, browser) = (desktop(), FakeBrowser::new());
    let router = Router::builtin(desktop.clone()).with_browser(browser.clone()).with_secrets(Arc::new(Mine));
    (desktop, browser, router)
}

/// The one window, with the keyboard.
fn in_front(desktop: &FakeDesktop, app: &str) {
    let window = WindowView {
        id: WindowId(7),
        app: app.into(),
        title: "any".into(),
        pid: None,
        bounds: NormRect { x: 0.0, y: 0.0, width: 1000.0, height: 1000.0 },
        display: 0,
        states: vec!["focused".into()],
    };
    desktop.edit(|scene| scene.windows = vec![window]);
}

#[tokio::test(start_paused = true)]
async fn what_is_typed_goes_wherever_the_keyboard_is_by_then_and_takes_no_secret() {
    let (desktop, _, router) = stage();
    in_front(&desktop, "Editor");
    for text in ["{{diary}}", "my {{bank}}\n"] {
        let refused = call(&router, "type", json!({ "text": text })).await.result;
        assert_eq!(refused.effect, Effect::Refused);
        let error = refused.error.unwrap();
        assert_eq!(error.kind, ToolErrorKind::Forbidden);
        assert!(error.message.contains("password fields only"), "{}", error.message);
    }
    assert_eq!(desktop.actions(), []);
    // A template's own braces are no secret's.
    let typed = call(&router, "type", json!({ "text": "{{ diary }} {{other}}" })).await.result;
    assert_eq!(typed.error, None);
}

#[tokio::test(start_paused = true)]
async fn an_elements_secret_needs_its_ref_which_belongs_to_one_application() {
    let (desktop, _, router) = stage();
    in_front(&desktop, "Editor");
    let named = json!({ "name": "Save", "app": "Editor", "value": "{{diary}}" });
    let refused = call(&router, "setValue", named).await.result;
    assert_eq!(refused.error.unwrap().kind, ToolErrorKind::Forbidden);
    let other = call(&router, "setValue", json!({ "ref": "e1", "value": "{{bank}}" })).await.result;
    assert_eq!(other.error.unwrap().kind, ToolErrorKind::Forbidden);
    let diary = json!({ "ref": "e1", "value": "{{diary}}" });
    let open = call(&router, "setValue", diary.clone()).await.result;
    assert!(open.error.unwrap().message.contains("password fields only"));
    desktop.edit(|scene| scene.snapshot.elements[0].role = "password text".into());
    let done = call(&router, "setValue", diary).await.result;
    assert_eq!(done.error, None);
    let set: Vec<ElementAction> = desktop
        .calls()
        .into_iter()
        .filter_map(|call| if let Call::Operate(_, action) = call { Some(action) } else { None })
        .collect();
    assert_eq!(set, [ElementAction::SetValue(VALUE.into())]);
    assert!(!format!("{done:?}").contains(VALUE), "{done:?}");
}

#[tokio::test(start_paused = true)]
async fn a_pages_secret_goes_to_its_origin_only_and_a_look_does_not_tell_it() {
    let (desktop, browser, router) = stage();
    let target = |url: &str| WebTarget { url: url.into(), hides: true, ..WebTarget::default() };
    let on = |url: &str| browser.edit(|pages| pages.target = target(url));
    let text = json!({ "ref": "w1", "text": "{{bank}}" });
    for url in
        ["https://evil.test/?https://bank.example", "http://bank.example/", "https://bank.example.evil.test/"]
    {
        on(url);
        let refused = call(&router, "webType", text.clone()).await.result;
        assert_eq!(refused.error.unwrap().kind, ToolErrorKind::Forbidden, "{url}");
    }
    let typed = || browser.calls().into_iter().filter(|call| matches!(call, WebCall::Type(_))).count();
    // A field that shows what is in it, one in a frame, and a form that leads elsewhere.
    let here = || target("https://bank.example/login");
    for other in [
        WebTarget { hides: false, ..here() },
        WebTarget { leads_to: Some("https://evil.test/".into()), ..here() },
    ] {
        browser.edit(|pages| pages.target = other);
        let refused = call(&router, "webType", text.clone()).await.result;
        assert!(refused.error.unwrap().message.contains("password fields only"));
    }
    assert_eq!(typed(), 0);
    on("https://bank.example/login");
    let done = call(&router, "webType", text).await.result;
    assert_eq!((done.error.as_ref(), typed()), (None, 1));
    assert!(!format!("{done:?}").contains(VALUE), "{done:?}");
    // What an application shows of it is told by its name.
    desktop.edit(|scene| scene.snapshot.elements[0].value = format!("it is {VALUE}."));
    let look = call(&router, "elementsJson", json!({})).await.result;
    let data = look.data.to_string();
    assert!(!data.contains(VALUE) && data.contains("it is {{"), "{data}");
    // And what is read in a picture of it.
    let bounds = NormRect { x: 10.0, y: 20.0, width: 30.0, height: 4.0 };
    let line = TextLine { text: format!("it is {VALUE}."), bounds, confidence: 0.9 };
    desktop.edit(|scene| scene.text.lines = vec![line]);
    let read = call(&router, "readText", json!({})).await.result;
    let data = read.data.to_string();
    assert!(!data.contains(VALUE) && data.contains("it is {{"), "{data}");
}

#[tokio::test(start_paused = true)]
async fn where_a_value_shows_every_picture_is_black() {
    let (desktop, browser, router) = stage();
    in_front(&desktop, "Editor");
    let bounds = |y| NormRect { x: 100.0, y, width: 200.0, height: 30.0 };
    let element = |reference: &str, value: &str, y| Element {
        reference: reference.into(),
        role: "entry".into(),
        value: value.into(),
        bounds: bounds(y),
        ..Element::default()
    };
    desktop.edit(|scene| {
        scene.snapshot.elements =
            vec![element("e1", "nothing", 100.0), element("e2", &format!("it is {VALUE}"), 200.0)];
        // It may show what it hides, and tells nothing of it.
        scene.snapshot.elements.push(Element { role: "password text".into(), ..element("e3", "", 600.0) });
    });
    let text = |name: &str, y| WebElement {
        reference: "w1".into(),
        role: "text".into(),
        name: name.into(),
        bounds: bounds(y),
        ..WebElement::default()
    };
    browser.edit(|pages| {
        pages.view.space = Space::Display;
        let states = vec!["password".to_owned(), "filled".to_owned()];
        let empty = WebElement { states: states[..1].to_vec(), ..text("New password", 700.0) };
        let filled = WebElement { states, ..text("Password", 800.0) };
        pages.view.elements = vec![text("Welcome", 300.0), text(VALUE, 400.0), empty, filled];
    });
    let area = json!({ "x": 0, "y": 0, "width": 500, "height": 500 });
    for (tool, arguments) in [("screenshot", json!({})), ("click", json!({"x": 1, "y": 2})), ("zoom", area)] {
        let before = desktop.calls().len();
        let done = call(&router, tool, arguments).await.result;
        assert_eq!(done.error, None, "{tool}");
        let shots: Vec<_> = desktop.calls()[before..]
            .iter()
            .filter_map(|call| match call {
                Call::Screenshot(shot) => Some(shot.covers.clone()),
                _ => None,
            })
            .collect();
        assert!(!shots.is_empty(), "{tool}");
        let all = [200.0, 600.0, 400.0, 800.0].map(bounds);
        assert!(shots.iter().all(|covers| *covers == all), "{tool}: {shots:?}");
    }
    desktop.edit(|scene| scene.windows[0].title = format!("{VALUE} - Editor"));
    call(&router, "screenshot", json!({})).await;
    let calls = desktop.calls();
    let Some(Call::Screenshot(shot)) = calls.last() else { panic!("no picture") };
    assert_eq!(
        shot.covers[0],
        NormRect { x: 0.0, y: 0.0, width: 1000.0, height: 1000.0 },
        "all of its window"
    );
}
