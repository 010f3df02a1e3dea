//! The scripts, the collector and all rules of this folder in a real Chromium that plays Safari or Chrome: what
//! osascript would run runs in the page itself. What no Linux can show is whether the applications answer as played.

use desktop::{Button, DesktopError, Evidence, Fence};

use super::app::{App, SAFARI, named};
use crate::{
    DialogAnswer, Fill, Journey, Links, Loaded, Space, Tab, TabChange, TextQuery, Then, WebActed, WebClick,
    WebElement, WebText,
};
use stage::{Stage, query, token};

mod stage;

const FORM: &str = r#"<!doctype html><title>Form</title><h1>Order</h1>
    <button onclick="this.textContent = event.isTrusted ? 'Really' : 'Faked'">Buy</button>
    <form action="/thanks"><label>Name <input id="name" name="n"></label>
    <select aria-label="Colour"><option>Red<option>Blue</select>
    <input type="password" aria-label="Secret" value="hunter2"></form>
    <div id="host"></div><iframe srcdoc="<button>Inside</button>" width="300" height="80"></iframe>
    <button onclick="document.title = confirm('Sure?') ? 'yes' : 'no'">Ask</button>
    <button onclick="this.remove()">Once</button>
    <script>host.attachShadow({ mode: "open" }).innerHTML = "<button>Shadow</button>";</script>"#;

fn pages(path: &str) -> String {
    match path {
        "/form" => FORM.into(),
        other => {
            format!("<!doctype html><title>{other}</title><h1>Page {other}</h1><a href='/form'>Back</a>")
        }
    }
}

fn click(element: &WebElement) -> WebClick {
    WebClick {
        reference: element.reference.clone(),
        button: Button::Left,
        count: 1,
        held: Vec::new(),
        display: 0,
    }
}

fn text(element: &WebElement, text: &str, how: Fill, then: Then) -> WebText {
    WebText { reference: element.reference.clone(), text: text.into(), how, then }
}

fn was_read_back(acted: &WebActed) {
    assert_eq!(acted.acted.evidence, Evidence::ReadBack, "{acted:?}");
}

async fn tabs_come_and_go(stage: &Stage, app: &'static App) {
    let change = |change| stage.browser.change_tab(app, change);
    let front = |tabs: Vec<Tab>| -> Vec<(String, bool)> {
        tabs.into_iter().map(|tab| (tab.reference, tab.front)).collect()
    };
    let told = |list: &[(&str, bool)]| -> Vec<(String, bool)> {
        list.iter().map(|&(tab, front)| (tab.to_owned(), front)).collect()
    };
    for name in ["second", "third"] {
        change(TabChange::Open(format!("{}/{name}", stage.here))).await.unwrap();
    }
    let tabs = stage.browser.tabs(app).await.unwrap();
    assert_eq!(tabs[2].url, format!("{}/third", stage.here));
    assert_eq!(front(tabs), told(&[("ta1", false), ("ta2", false), ("ta3", true)]));
    let tabs = change(TabChange::Activate("ta2".into())).await.unwrap();
    assert_eq!(front(tabs), told(&[("ta1", false), ("ta2", true), ("ta3", false)]));
    // The last one keeps its ref, also in Safari, where its place is another then.
    let tabs = change(TabChange::Close("ta2".into())).await.unwrap();
    assert_eq!(front(tabs), told(&[("ta1", true), ("ta3", false)]));
    let error = change(TabChange::Activate("ta2".into())).await.unwrap_err();
    assert!(matches!(&error, DesktopError::NotFound(why) if why.contains("ta2")), "{error}");
    let tabs = change(TabChange::Close("ta3".into())).await.unwrap();
    assert_eq!(front(tabs), told(&[("ta1", true)]));
}

#[tokio::test]
async fn a_page_of_chrome_is_seen_read_clicked_and_filled_by_apple_events() {
    let chrome = named("Google Chrome").unwrap();
    let stage = Stage::open(chrome, pages).await;
    let browser = &stage.browser;
    let arrived = browser.navigate(chrome, Journey::To(format!("{}/form", stage.here))).await.unwrap();
    assert_eq!(
        (arrived.title.as_str(), arrived.loaded, arrived.tab.as_str()),
        ("Form", Loaded::Wholly, "ta1")
    );

    tabs_come_and_go(&stage, chrome).await;

    // Open shadow roots and frames of the same site are seen; a password is not.
    let (shadow, view) = stage.find(chrome, "Shadow").await;
    assert!(shadow.reference.starts_with("wa"), "{shadow:?}");
    assert!(view.elements.iter().any(|one| one.name == "Inside"), "{view:#?}");
    assert!(!format!("{view:?}").contains("hunter2"));

    // The real pointer clicks where the page's own event says that the element is.
    let (buy, _) = stage.find(chrome, "Buy").await;
    let clicked = browser.click(click(&buy), &token()).await.unwrap();
    was_read_back(&clicked);
    assert!(clicked.at.is_some(), "{clicked:?}");
    let (_, view) = stage.find(chrome, "Really").await;
    assert_eq!(view.space, Space::Display);
    let (inside, _) = stage.find(chrome, "Inside").await;
    let clicked = browser.click(click(&inside), &token()).await.unwrap();
    assert!(clicked.acted.note.contains("reached the element"), "{clicked:?}");

    // A browser outside the fence is not touched.
    browser.desktop.fence(Fence { apps: vec!["Safari".into()], ..Fence::default() });
    let go = browser.navigate(chrome, Journey::Reload).await.map(|_| ());
    let close = browser.change_tab(chrome, TabChange::Close("ta1".into())).await.map(|_| ());
    let answer = browser.answer(chrome, DialogAnswer::Dismiss, token()).await.map(|_| ());
    let press = browser.click(click(&inside), &token()).await.map(|_| ());
    for refused in [go, close, answer, press] {
        assert!(matches!(refused, Err(DesktopError::Forbidden(_))), "{refused:?}");
    }
    browser.desktop.fence(Fence { apps: vec!["chrome".into(), "chromium".into()], ..Fence::default() });

    let (name, _) = stage.find(chrome, "Name").await;
    let wanted = "日本語 \"'`${x}\\ naïve";
    let typed = text(&name, wanted, Fill::Replace, Then::Nothing);
    was_read_back(&browser.type_text(typed, &token()).await.unwrap());
    let added = text(&name, "!", Fill::Append, Then::Nothing);
    was_read_back(&browser.type_text(added, &token()).await.unwrap());
    let (name, _) = stage.find(chrome, "Name").await;
    assert_eq!(name.value, format!("{wanted}!"));
    let (colour, _) = stage.find(chrome, "Colour").await;
    let chosen = text(&colour, "blue", Fill::Replace, Then::Nothing);
    was_read_back(&browser.type_text(chosen, &token()).await.unwrap());
    let none = text(&colour, "green", Fill::Replace, Then::Nothing);
    let error = browser.type_text(none, &token()).await.unwrap_err().to_string();
    assert!(error.contains("Red; Blue"), "{error}");

    // A ref whose element is gone names what is nearest.
    let (once, _) = stage.find(chrome, "Once").await;
    was_read_back(&browser.click(click(&once), &token()).await.unwrap());
    let error = browser.click(click(&once), &token()).await.unwrap_err();
    assert!(
        matches!(&error, DesktopError::NotFound(why) if why.contains("no longer in the page")),
        "{error}"
    );

    // Enter sends the form, and the page is another one then: at once, or as soon as the browser comes to it.
    let sent = text(&name, "Ada", Fill::Replace, Then::Submit);
    let sent = browser.type_text(sent, &token()).await.unwrap();
    was_read_back(&sent);
    stage.comes_to(chrome, "/thanks?n=Ada").await;
}

#[tokio::test]
async fn safari_is_read_and_travels_and_a_dialog_is_answered_by_apple_events() {
    let stage = Stage::open(&SAFARI, pages).await;
    let browser = &stage.browser;
    let go = |journey| browser.navigate(&SAFARI, journey);
    go(Journey::To(format!("{}/first", stage.here))).await.unwrap();
    go(Journey::To(format!("{}/form", stage.here))).await.unwrap();
    let asked = TextQuery { offset: 0, limit: 1000, links: Links::Left };
    let read = browser.read(&SAFARI, asked).await.unwrap();
    assert!(read.text.contains("# Order"), "{read:?}");
    assert_eq!(go(Journey::Back).await.unwrap().title, "/first");
    let error = go(Journey::Forward).await.and(go(Journey::Forward).await).unwrap_err();
    assert!(matches!(error, DesktopError::BadInput(_)), "{error}");
    assert_eq!(go(Journey::Reload).await.unwrap().title, "Form");
    let tabs = browser.tabs(&SAFARI).await.unwrap();
    assert_eq!((tabs.len(), tabs[0].reference.as_str(), tabs[0].front), (1, "ta1", true));

    tabs_come_and_go(&stage, &SAFARI).await;

    let none = browser.answer(&SAFARI, DialogAnswer::Dismiss, token()).await.unwrap_err();
    assert!(none.to_string().contains("none is open"), "{none}");
    let (ask, _) = stage.find(&SAFARI, "Ask").await;
    let clicked = browser.click(click(&ask), &token()).await.unwrap();
    assert!(clicked.acted.note.contains("dialog"), "{clicked:?}");
    let answered = browser.answer(&SAFARI, DialogAnswer::Accept(None), token()).await.unwrap();
    was_read_back(&answered);
    assert_eq!(browser.elements(&SAFARI, query()).await.unwrap().title, "yes");
}
