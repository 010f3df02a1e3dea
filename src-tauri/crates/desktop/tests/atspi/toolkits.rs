//! What each toolkit needs of its own: tables of GTK 3, places of GTK 4, pages of Chromium.

use std::time::{Duration, Instant};

use desktop::{
    Action, ActionMethod, Button, DesktopError, Element, ElementAction, ElementQuery, Inside, Scope,
    Selector, Snapshot, Target,
};
use tokio_util::sync::CancellationToken;

use super::stage::{Stage, elements, eventually, find, find_in, of, operate, query, screen, snapshot};

#[tokio::test(flavor = "multi_thread")]
async fn cells_of_a_gtk_3_table_come_with_their_actions() {
    let mut stage = Stage::open();
    stage.start("gtk3-widget-factory", &[]);
    let accessibility = stage.accessibility();
    let ask = ElementQuery { scope: Scope::All, limit: 2_000, ..query("widget") };
    let seen = snapshot(&accessibility, &ask, |seen| find(seen, "table cell", "Andrea").is_some()).await;
    let cell = find(&seen, "table cell", "Andrea").unwrap();
    assert!(cell.actions.iter().any(|action| action == "Edit"), "{cell:?}");
    assert!(find(&seen, "table cell", "Cimi").is_some(), "{seen:#?}");
    let button = find(&seen, "button", "Close").unwrap();
    assert!(button.actions.is_empty(), "a plain press is not named: {button:?}");
    // Its title bar is its own, so that its window tells no title; the window list has one.
    let titled = ElementQuery { window: Some("gtk3-widget-factory".into()), ..query("widget") };
    let seen = accessibility.elements(&titled, &screen()).await.unwrap();
    assert!(find(&seen, "button", "Minimize").is_some(), "{seen:#?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn elements_of_a_gtk_4_window_are_where_they_can_be_clicked() {
    let mut stage = Stage::open();
    stage.start("gtk4-print-editor", &[]);
    let desktop = stage.desktop();
    let ask = || desktop.elements(query("print-editor"));
    let has = |seen: &Result<Snapshot, DesktopError>, name: &str| {
        let item = |seen: &Snapshot| {
            seen.elements
                .iter()
                .any(|one| one.role == "menu item" && one.name == name && one.bounds.width > 0.0)
        };
        seen.as_ref().is_ok_and(item)
    };
    let seen = eventually("the menu bar", ask, |seen| has(seen, "File") && has(seen, "Help")).await.unwrap();
    assert!(seen.elements.iter().all(|one| !one.name.starts_with("Gtk")), "{seen:#?}");
    let file = find(&seen, "menu item", "File").unwrap();
    let click = Action::Click {
        at: file.bounds.center().unwrap(),
        display: 0,
        button: Button::Left,
        count: 1,
        held: Vec::new(),
    };
    // GTK 4 tells places within the window; the window is somewhere else.
    let action = ElementAction::Click { button: Button::Middle, count: 1 };
    let done =
        desktop.operate(Target::Ref(file.reference.clone()), action, CancellationToken::new()).await.unwrap();
    assert_eq!(done.by, ActionMethod::Input, "{done:?}");
    let (at, middle) = (done.at.unwrap(), file.bounds.center().unwrap());
    assert!((at.x() - middle.x()).abs() < 3.0 && (at.y() - middle.y()).abs() < 3.0, "{at:?}, not {middle:?}");
    let before = seen.elements.len();
    desktop.act(click, CancellationToken::new()).await.unwrap();
    let opened = |seen: &Result<Snapshot, DesktopError>| {
        seen.as_ref().is_ok_and(|seen| seen.elements.len() > before + 2)
    };
    eventually("the open menu", ask, opened).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_gtk_4_window_that_no_window_manager_lists_has_its_place() {
    let mut stage = Stage::without_manager();
    stage.start("gtk4-print-editor", &[]);
    let desktop = stage.desktop();
    let placed =
        |seen: &[Element]| find_in(seen, "menu item", "File").is_some_and(|one| one.bounds.width > 0.0);
    elements(&desktop, "print-editor", placed).await;
}

/// Chromium with a page.
fn chromium(stage: &mut Stage, page: &str) {
    let profile = stage.write("unused", "");
    let profile = format!("--user-data-dir={}", profile.replace("unused", "profile"));
    let mut flags = vec!["--no-sandbox", "--no-first-run", "--no-default-browser-check"];
    flags.extend(["--disable-background-networking", "--disable-component-update", "--disable-sync"]);
    flags.extend(["--disable-default-apps", "--password-store=basic", "--disable-gpu"]);
    flags.extend(["--force-renderer-accessibility", &profile, page]);
    stage.start("chromium", &flags);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_lies_over_a_page_keeps_from_what_is_below_and_a_label_does_not() {
    let mut stage = Stage::open();
    let html = "<!doctype html><title>Orders</title><button onclick=\"said.textContent='bought'\">Buy</button>
<label style='position:relative'><input type=checkbox style='opacity:0;position:absolute;width:90px'>Agree</label>
<p id=said>nothing</p><button onclick='wall.remove()' style='position:relative;z-index:9'>Take away</button>
<div id=wall style='position:fixed;inset:0;background:white;z-index:5'><h1>Wait</h1></div>";
    let page = stage.write("page.html", html);
    chromium(&mut stage, &page);
    let desktop = stage.desktop();
    let seen = elements(&desktop, "chromium", |seen| find_in(seen, "button", "Take away").is_some()).await;
    let click = ElementAction::Click { button: Button::Left, count: 1 };
    let named = |role: &str, name: &str| of(find_in(&seen, role, name).unwrap());
    let error = operate(&desktop, named("button", "Buy"), click.clone()).await.unwrap_err();
    assert!(matches!(&error, DesktopError::BadInput(why) if why.contains("is covered by ")), "{error:?}");
    operate(&desktop, named("button", "Take away"), click.clone()).await.unwrap();
    let seen = elements(&desktop, "chromium", |seen| find_in(seen, "heading", "Wait").is_none()).await;
    let said = |text: &'static str| move |seen: &[Element]| seen.iter().any(|one| one.name == text);
    assert!(!said("bought")(&seen), "{seen:#?}");
    let done = operate(&desktop, named("check box", "Agree"), click.clone()).await.unwrap();
    assert_eq!(done.by, ActionMethod::Accessibility, "{done:?}");
    operate(&desktop, named("button", "Buy"), click).await.unwrap();
    elements(&desktop, "chromium", said("bought")).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_below_a_list_does_not_cover_what_is_scrolled_away_in_it() {
    let mut stage = Stage::open();
    let options: String = (1..=24).map(|n| format!("<option>Row {n}")).collect();
    let html = format!(
        "<!doctype html><title>Orders</title><select size=4 style='display:block'
onchange=\"said.textContent='chose '+this.value\">{options}</select>
<table style='width:90vw;height:60vh'><tr><td>Gear<td>Wheel</table><p id=said>nothing</p>"
    );
    let page = stage.write("page.html", &html);
    chromium(&mut stage, &page);
    let desktop = stage.desktop();
    for row in ["Row 16", "Row 24", "Row 1"] {
        let ask = ElementQuery { scope: Scope::All, limit: 500, ..query("chromium") };
        let has = |seen: &Result<Snapshot, DesktopError>| {
            seen.as_ref().is_ok_and(|seen| find(seen, "list item", row).is_some())
        };
        let seen = eventually("the rows", || desktop.elements(ask.clone()), has).await.unwrap();
        let click = ElementAction::Click { button: Button::Left, count: 1 };
        operate(&desktop, of(find(&seen, "list item", row).unwrap()), click).await.unwrap();
        let chosen = format!("chose {row}");
        elements(&desktop, "chromium", |seen| seen.iter().any(|one| one.name == chosen)).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_long_page_in_chromium_is_listed_as_far_as_is_asked_and_time_allows() {
    let mut stage = Stage::open();
    let row = |n: usize| {
        format!(
            "<div>Order {n} <a href='#{n}'>open {n}</a> <button>Delete {n}</button> <input value={n}></div>"
        )
    };
    let rows: String = (0..200).map(row).collect();
    let page =
        stage.write("page.html", &format!("<!doctype html><title>Orders</title><h1>All orders</h1>{rows}"));
    chromium(&mut stage, &page);
    let accessibility = stage.accessibility();
    let ask = |scope| ElementQuery {
        scope,
        limit: 10_000,
        deadline: Some(Duration::from_secs(30)),
        ..query("chromium")
    };
    let loaded = |seen: &Snapshot| find(seen, "button", "Delete 1").is_some();
    let visible = snapshot(&accessibility, &ask(Scope::Visible), loaded).await;
    assert!(find(&visible, "heading", "All orders").is_some(), "{visible:#?}");
    assert!(find(&visible, "button", "Delete 199").is_none(), "it is scrolled away");
    let interactive = accessibility.elements(&ask(Scope::Interactive), &screen()).await.unwrap();
    assert!(find(&interactive, "button", "Delete 1").is_some(), "{interactive:#?}");
    assert!(find(&interactive, "heading", "All orders").is_none(), "{interactive:#?}");
    let known = find(&visible, "button", "Delete 1").unwrap();
    assert_eq!(find(&interactive, "button", "Delete 1").unwrap().reference, known.reference);
    let whole = |seen: &Snapshot| find(seen, "button", "Delete 199").is_some();
    let all = snapshot(&accessibility, &ask(Scope::All), whole).await;
    let away = find(&all, "button", "Delete 199").unwrap();
    assert!(away.bounds.center().is_err() || away.states.contains(&"offscreen".into()), "{away:?}");

    // Only the pointer has a middle button, and the pointer needs it in view.
    let action = ElementAction::Click { button: Button::Middle, count: 1 };
    let (app, role, name) = (Some("chromium".into()), Some("button".into()), Some("Delete 199".into()));
    let target = Target::Selector(Selector { app, role, name, within: None });
    let done = stage.desktop().operate(target, action, CancellationToken::new()).await.unwrap();
    assert!(done.by == ActionMethod::Input && done.at.is_some(), "{done:?}");

    // In less time than it takes: what was read so far, or nothing, and said so.
    let (mut hurry, mut partial) = (Duration::from_millis(20), 0);
    while hurry < Duration::from_secs(20) {
        let query = ElementQuery { deadline: Some(hurry), ..ask(Scope::All) };
        let started = Instant::now();
        match accessibility.elements(&query, &screen()).await {
            Ok(seen) if seen.elements.len() < all.elements.len() => {
                assert!(seen.cut.iter().any(|cut| cut.contains("the time was up")), "{:?}", seen.cut);
                partial += 1;
            }
            Ok(_) => break,
            Err(error) => {
                assert_eq!(error, DesktopError::Timeout(hurry));
                partial += 1;
            }
        }
        assert!(started.elapsed() < hurry + Duration::from_secs(5), "{:?} for {hurry:?}", started.elapsed());
        hurry = hurry * 3 / 2;
    }
    assert!(partial > 0, "20 ms were enough for the whole page");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_in_a_page_is_told_with_its_address_and_what_is_around_it_as_no_pages() {
    let mut stage = Stage::open();
    let inner = stage.write("inner.html", "<!doctype html><title>Inner</title><input aria-label=Deep>");
    let frame = format!("<input aria-label=Name><iframe src='{inner}'></iframe>");
    let page = stage.write("page.html", &format!("<!doctype html><title>Form</title>{frame}"));
    chromium(&mut stage, &page);
    let desktop = stage.desktop();
    let find = |seen: &[Element], name: &str| seen.iter().find(|one| one.name == name).cloned();
    let all = |seen: &[Element]| ["Name", "Deep", "Reload"].iter().all(|name| find(seen, name).is_some());
    let seen = elements(&desktop, "chromium", all).await;
    let inside = async |name| desktop.inside(find(&seen, name).unwrap().reference).await;
    assert_eq!(inside("Name").await, Inside::Page(format!("file://{page}")));
    assert_eq!(
        inside("Deep").await,
        Inside::Page(format!("file://{inner}")),
        "a frame's text is the frame's"
    );
    assert_eq!(inside("Reload").await, Inside::Around);
    assert_eq!(desktop.inside("e9999".into()).await, Inside::Untold);
    operate(&desktop, of(&find(&seen, "Name").unwrap()), ElementAction::Focus).await.unwrap();
    let field = || async { desktop.field().await.map(|field| field.inside) };
    eventually("the field", field, |inside| *inside == Some(Inside::Page(format!("file://{page}")))).await;
}
