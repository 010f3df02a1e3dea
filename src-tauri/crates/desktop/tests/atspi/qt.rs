//! Qt's widgets: an act counts where the application hears of it as of a person's, by its own log.

use std::sync::Arc;

use desktop::{
    Action, ActionMethod, Button, Desktop, DesktopError, Element, ElementAction, ElementQuery, Evidence, Key,
    Scope,
};
use tokio_util::sync::CancellationToken;

use super::stage::{Stage, by, elements, eventually, find_in, menu, of, operate};

const APP: &str = "qt";
const CLICK: ElementAction = ElementAction::Click { button: Button::Left, count: 1 };

fn set(value: &str) -> ElementAction {
    ElementAction::SetValue(value.into())
}

fn named(role: &str, name: &str) -> desktop::Target {
    by("qt.py", role, name)
}

async fn opened() -> (Stage, Arc<dyn Desktop>) {
    let mut stage = Stage::open();
    stage.start_orders(APP);
    let desktop = stage.desktop();
    elements(&desktop, "qt.py", |seen| find_in(seen, "button", "Press me").is_some()).await;
    (stage, desktop)
}

/// Waits until the application has logged this.
async fn hears(stage: &Stage, line: &str) {
    let log = || async { stage.said(APP) };
    eventually(line, log, |log| log.iter().any(|said| said == line)).await;
}

async fn show_page(desktop: &Arc<dyn Desktop>, page: &str) {
    let done = operate(desktop, named("page tab", page), CLICK).await.unwrap();
    assert_eq!((done.by, done.acted.evidence), (ActionMethod::Accessibility, Evidence::ReadBack), "{done:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_click_on_a_box_is_heard_as_a_click_and_read_back() {
    let (stage, desktop) = opened().await;
    show_page(&desktop, "Second").await;
    for (role, name, line) in [
        ("check box", "Agree", "agree=on"),
        ("check box", "Agree", "agree=off"),
        ("check box", "Hold", "hold=on"),
        ("radio button", "Medium", "size=Medium"),
    ] {
        let done = operate(&desktop, named(role, name), CLICK).await.unwrap();
        assert_eq!((done.by, done.acted.evidence), (ActionMethod::Input, Evidence::ReadBack), "{done:?}");
        hears(&stage, line).await;
    }
    for (value, line) in [("on", "agree=on"), ("off", "agree=off")] {
        let before = stage.said(APP).len();
        let done = operate(&desktop, named("check box", "Agree"), set(value)).await.unwrap();
        assert_eq!(done.acted.evidence, Evidence::ReadBack, "{done:?}");
        let heard = stage.said(APP).split_off(before);
        assert!(heard.iter().any(|said| said == line), "{heard:?}");
    }
    // Its order is on, off, between.
    let seen = elements(&desktop, "qt.py", |_| true).await;
    assert_eq!(find_in(&seen, "check box", "Partly").unwrap().states, ["indeterminate"]);
    for (value, line) in [("off", "partly=off"), ("on", "partly=on")] {
        let done = operate(&desktop, named("check box", "Partly"), set(value)).await.unwrap();
        assert_eq!(done.acted.evidence, Evidence::ReadBack, "{done:?}");
        let partly = stage.said(APP).into_iter().rfind(|said| said.starts_with("partly="));
        assert_eq!(partly.as_deref(), Some(line), "{done:?}");
    }
    let done = operate(&desktop, named("button", "Press me"), CLICK).await.unwrap();
    assert_eq!(done.by, ActionMethod::Accessibility, "{done:?}");
    hears(&stage, "pressed=Press me").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_combo_box_shows_what_was_chosen_and_its_application_hears_of_it() {
    let (stage, desktop) = opened().await;
    let seen = elements(&desktop, "qt.py", |_| true).await;
    assert!(find_in(&seen, "list item", "Cherry").is_none(), "its list is closed: {seen:#?}");
    let mut shown = "Apple";
    for fruit in ["Cherry", "Apple", "Banana"] {
        let done = operate(&desktop, named("combo box", shown), set(fruit)).await.unwrap();
        assert_eq!(done.acted.evidence, Evidence::ReadBack, "{done:?}");
        hears(&stage, &format!("fruit={fruit}")).await;
        elements(&desktop, "qt.py", |seen| find_in(seen, "combo box", fruit).is_some()).await;
        shown = fruit;
    }
    let error = operate(&desktop, named("combo box", shown), set("Plum")).await.unwrap_err();
    assert!(matches!(&error, DesktopError::BadInput(why) if why.contains("\"Cherry\"")), "{error:?}");
    let done = operate(&desktop, named("combo box", "City"), set("Edo")).await.unwrap();
    assert_eq!(done.acted.evidence, Evidence::ReadBack, "{done:?}");
    hears(&stage, "city=Edo").await;

    // The hundredth of a hundred is scrolled to.
    show_page(&desktop, "Second").await;
    let done = operate(&desktop, named("combo box", "1900"), set("1999")).await.unwrap();
    assert_eq!(done.acted.evidence, Evidence::ReadBack, "{done:?}");
    hears(&stage, "year=1999").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_click_on_an_item_selects_it_and_a_second_one_leaves_it_selected() {
    let (stage, desktop) = opened().await;
    show_page(&desktop, "Second").await;
    hears(&stage, "tab=Second").await;
    elements(&desktop, "qt.py", |seen| find_in(seen, "list item", "Network").is_some()).await;
    for times in 1..=2 {
        let done = operate(&desktop, named("list item", "Network"), CLICK).await.unwrap();
        assert_eq!(done.by, ActionMethod::Input, "{done:?}");
        let heard = async || stage.said(APP).iter().filter(|line| *line == "room=Network").count();
        eventually("the click is heard of", heard, |heard| *heard == times).await;
        elements(&desktop, "qt.py", |seen| find_in(seen, "label", "page of Network").is_some()).await;
    }
    let done = operate(&desktop, named("table cell", "Gear"), CLICK).await.unwrap();
    assert_eq!(done.acted.evidence, Evidence::ReadBack, "{done:?}");
    hears(&stage, "part=Gear").await;
    operate(&desktop, named("list item", "two"), CLICK).await.unwrap();
    hears(&stage, "many=two").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_modal_dialog_stands_before_is_refused_and_the_dialog_named() {
    let (stage, desktop) = opened().await;
    let seen = elements(&desktop, "qt.py", |_| true).await;
    let behind = |role, name| of(find_in(&seen, role, name).unwrap());
    menu(&desktop, "qt.py", &["Help", "About"]).await.unwrap();
    let open = elements(&desktop, "qt.py", |seen| find_in(seen, "button", "Close").is_some()).await;
    let errors = [
        operate(&desktop, behind("button", "Press me"), CLICK).await.unwrap_err(),
        operate(&desktop, behind("text", "Name"), set("Ada")).await.unwrap_err(),
        menu(&desktop, "qt.py", &["File", "Print"]).await.unwrap_err(),
    ];
    for error in errors {
        assert!(error.to_string().contains("is behind dialog \"About Orders\""), "{error}");
    }
    operate(&desktop, of(find_in(&open, "button", "Close").unwrap()), CLICK).await.unwrap();
    hears(&stage, "dialog=closed").await;
    operate(&desktop, behind("button", "Press me"), CLICK).await.unwrap();
    hears(&stage, "pressed=Press me").await;
    assert_eq!(stage.said(APP), ["dialog=open", "dialog=closed", "pressed=Press me"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_context_menu_that_is_in_no_tree_is_told_of_with_its_place() {
    let (_stage, desktop) = opened().await;
    let cut = async || {
        let query = ElementQuery { app: Some("qt.py".into()), limit: 1_000, ..ElementQuery::default() };
        desktop.elements(query).await.unwrap().cut
    };
    let tells = |cut: &Vec<String>| cut.iter().any(|line| line.starts_with("not told: what an open menu"));
    assert!(!tells(&cut().await));
    let right = ElementAction::Click { button: Button::Right, count: 1 };
    operate(&desktop, named("label", "Canvas"), right).await.unwrap();
    eventually("the menu", &cut, tells).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_mark_of_a_row_is_set_and_taken_away_and_read_back() {
    let (stage, desktop) = opened().await;
    for (cell, value, line) in [("Nut", "on", "ticked=Nut True"), ("Gear", "off", "ticked=Gear False")] {
        let done = operate(&desktop, named("table cell", cell), set(value)).await.unwrap();
        assert_eq!(done.acted.evidence, Evidence::ReadBack, "{done:?}");
        hears(&stage, line).await;
    }
    // It has no mark.
    let done = operate(&desktop, named("table cell", "Bolt"), set("off")).await.unwrap();
    assert_eq!(done.acted.evidence, Evidence::Sent, "{done:?}");
    let done = operate(&desktop, named("table cell", "Bolt"), set("on")).await.unwrap();
    assert_eq!(done.acted.evidence, Evidence::Nothing, "{done:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn numbers_dates_and_texts_are_what_the_application_took() {
    let (stage, desktop) = opened().await;
    for (role, name, value, line) in [
        ("spin button", "Count", "7", "count=7"),
        ("slider", "Volume", "72", "volume=72"),
        ("spin button", "Day", "2026-05-06", "day=2026-05-06"),
        ("text", "Name", "plop 🐸", "name=plop 🐸"),
        ("text", "Notes", "a\n🐸b", "notes=a\\n🐸b"),
    ] {
        let done = operate(&desktop, named(role, name), set(value)).await.unwrap();
        assert_eq!(done.acted.evidence, Evidence::ReadBack, "{done:?}");
        hears(&stage, line).await;
    }
    // It makes capitals of it.
    let done = operate(&desktop, named("text", "Code"), set("abcdef")).await.unwrap();
    assert!(done.acted.evidence == Evidence::Mismatch && done.acted.note.contains("\"ABCDEF\""), "{done:?}");
    let done = operate(&desktop, named("password text", "Secret"), set("geheim")).await.unwrap();
    assert_eq!(done.acted.evidence, Evidence::ReadBack, "{done:?}");
    hears(&stage, "secret=geheim").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_line_break_ends_the_renaming_of_an_item() {
    let (stage, desktop) = opened().await;
    show_page(&desktop, "Third").await;
    elements(&desktop, "qt.py", |seen| find_in(seen, "list item", "frog").is_some()).await;
    operate(&desktop, named("list item", "frog"), CLICK).await.unwrap();
    let act = |action| desktop.act(action, CancellationToken::new());
    act(Action::Press { key: Key::F(2), times: 1 }).await.unwrap();
    act(Action::Type { text: "蛙\n".into() }).await.unwrap();
    hears(&stage, "renamed=蛙").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn of_a_table_of_a_thousand_million_cells_those_on_the_screen_are_listed() {
    let (stage, desktop) = opened().await;
    show_page(&desktop, "Third").await;
    let cell = |seen: &[Element], name: &str| find_in(seen, "table cell", name).cloned();
    let seen = elements(&desktop, "qt.py", |seen| cell(seen, "1:0").is_some()).await;
    assert!(cell(&seen, "900:0").is_none());
    operate(&desktop, of(&cell(&seen, "1:0").unwrap()), CLICK).await.unwrap();
    hears(&stage, "cell=1:0").await;
    let everything = ElementQuery {
        app: Some("qt.py".into()),
        scope: Scope::All,
        limit: 10_000,
        ..ElementQuery::default()
    };
    let all = desktop.elements(everything).await.unwrap();
    assert!(all.elements.len() < 3_000, "{}", all.elements.len());
    let page_down = Action::Press { key: Key::PageDown, times: 100 };
    desktop.act(page_down, CancellationToken::new()).await.unwrap();
    let far = |seen: &[Element]| {
        seen.iter().any(|one| {
            let row = one.name.split(':').next().and_then(|row| row.parse::<u32>().ok());
            one.role == "table cell" && row.is_some_and(|row| row > 100)
        })
    };
    elements(&desktop, "qt.py", far).await;
}
