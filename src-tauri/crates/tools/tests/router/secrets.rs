//! Secrets in calls: named by the model, put in where they belong, taken out of all that comes back.

use std::cell::Cell;
use std::sync::Arc;

use crate::stage::{call, desktop};
use browser::fake::{FakeBrowser, WebCall};
use browser::{Space, WebElement, WebTarget};
use desktop::fake::{Call, FakeDesktop};
use desktop::{DesktopError, Element, ElementAction, PictureMark, Snapshot, WindowId, WindowView};
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
    assert!(!data.contains(VALUE) && data.contains("secret of the user's"), "{data}");
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

#[tokio::test(start_paused = true)]
async fn what_is_read_in_pixels_does_not_give_a_value_away_by_any_tool() {
    let (desktop, _, router) = stage();
    in_front(&desktop, "Plotter");
    let mark = |reference: &str, text: &str| PictureMark {
        reference: reference.into(),
        text: text.into(),
        ..PictureMark::default()
    };
    let entry = Element { reference: "e9".into(), value: format!("it is {VALUE}"), ..Element::default() };
    desktop.edit(|scene| {
        scene.snapshot.marks = vec![mark("m1", "it is canary O8l5."), mark("m2", "Caption")];
        scene.snapshot.elements.push(entry);
    });
    for (tool, arguments) in [("elementsJson", json!({})), ("screenshot", json!({"marks": true}))] {
        let data = call(&router, tool, arguments).await.result.data.to_string();
        assert!(!data.contains("O8l5") && data.contains("secret of the user's"), "{tool}: {data}");
        assert!(data.contains("Caption"), "{tool}: {data}");
    }
    // What a mark or an element hides is found by no guess at it.
    let listed = async |query: &str| {
        let data = call(&router, "elementsJson", json!({ "query": query })).await.result.data;
        (data["elements"].clone(), data["marks"].clone(), data["cut"].clone())
    };
    assert_eq!(listed("anary").await, listed("zebra").await);
    assert_ne!(listed("Caption").await, listed("zebra").await);
    // An act tells the words of what it was done to.
    desktop.fail_next(DesktopError::NotFound("text \"canary O8l5\" (m1) is seen in a picture only".into()));
    let failed = call(&router, "focusElement", json!({ "ref": "m1" })).await.result;
    let said = format!("{failed:?}");
    assert!(failed.error.is_some() && !said.contains("O8l5"), "{said}");
}

#[tokio::test(start_paused = true)]
async fn what_only_pixels_tell_of_a_value_is_black_too() {
    let (desktop, _, router) = stage();
    in_front(&desktop, "Plotter");
    let bounds = |y| NormRect { x: 100.0, y, width: 200.0, height: 30.0 };
    let line = |text: &str, y| TextLine { text: text.into(), bounds: bounds(y), confidence: 0.9 };
    // As a reader of pixels has it: an O for the 0, an l for the 1.
    let lines = vec![line("nothing here", 100.0), line("it is canary O8l5.", 200.0)];
    desktop.edit(|scene| scene.text.lines = lines);
    let sight = Cell::new(0);
    let covers = async || {
        let done = call(&router, "screenshot", json!({})).await;
        assert_eq!(done.result.error, None);
        sight.set(done.picture.unwrap().sight);
        let calls = desktop.calls();
        let Some(Call::Screenshot(shot)) = calls.last() else { panic!("no picture") };
        shot.covers.clone()
    };
    let read = [NormRect { x: 98.0, y: 198.0, width: 204.0, height: 34.0 }];
    let told = |name: &str, value: &str| {
        vec![Element { role: "text".into(), name: name.into(), value: value.into(), ..Element::default() }]
    };
    let long = "long ".repeat(40);
    for (elements, expected) in [
        // A window that tells nothing, and one that tells the beginning of a long text.
        (Vec::new(), &read[..]),
        (told(&long.repeat(100), ""), &read[..]),
        (told("Text", &long.repeat(100)), &read[..]),
        // What is told whole is not read.
        (told(&long, ""), &[]),
        (told("Text", &long), &[]),
    ] {
        desktop.edit(|scene| scene.snapshot.elements = elements.clone());
        assert_eq!(covers().await, expected, "{elements:?}");
    }
    // A window may call itself what it likes.
    in_front(&desktop, "Chromium");
    desktop.edit(|scene| scene.snapshot.elements = told(&long.repeat(100), ""));
    assert_eq!(covers().await, read);
    in_front(&desktop, "Plotter");
    // What is told is another window's, or not all.
    desktop.edit(|scene| {
        scene.snapshot = Snapshot { pid: Some(9), elements: told("Text", "short"), ..scene.snapshot.clone() };
        scene.windows[0].pid = Some(8);
    });
    assert_eq!(covers().await, read);
    desktop.edit(|scene| (scene.snapshot.pid, scene.snapshot.is_partial) = (Some(8), true));
    assert_eq!(covers().await, read);
    desktop.edit(|scene| scene.snapshot.is_partial = false);
    assert_eq!(covers().await, []);
    // Nor does `readText` tell what is as good as the value.
    let told = call(&router, "readText", json!({})).await.result;
    let data = told.data.to_string();
    assert!(!data.contains("canary") && data.contains("secret of the user's"), "{data}");
    // What could not be read in time may show anything.
    desktop.edit(|scene| {
        scene.snapshot.elements = Vec::new();
        scene.text.unread = Some(ocr::Unread { lines: 3, percent: 0 });
    });
    assert_eq!(covers().await, [NormRect { x: 0.0, y: 0.0, width: 1000.0, height: 1000.0 }]);
    // Whoever has this picture does not have the one in which more may be seen, though the screen is the same.
    let black = sight.get();
    desktop.edit(|scene| scene.text.unread = None);
    assert_eq!(covers().await, read);
    assert_ne!(sight.get(), black);
    let seen = sight.get();
    covers().await;
    assert_eq!(sight.get(), seen);
}
