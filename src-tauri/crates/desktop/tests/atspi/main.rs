//! The accessibility tree of real applications, and acting by it, on an X server, a session bus and a window manager of their own.
#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test's stage that cannot be set up fails the test")]

mod stage;

mod changes;
mod clicking;
#[cfg(feature = "heavy")]
mod firefox;
mod glancing;
mod gtk3;
mod gtk4;
mod menus;
#[cfg(feature = "heavy")]
mod office;
mod qt;
mod toolkits;
mod values;

use std::collections::HashSet;
use std::path::Path;
use std::time::{Duration, Instant};

use desktop::{Accessibility, DesktopError, Element, ElementQuery, Evidence, Snapshot};
use protocol::view::CheckState;

use self::stage::{Stage, editable, eventually, find, query, screen, signal, snapshot};

#[tokio::test(flavor = "multi_thread")]
async fn an_editors_menus_and_text_are_found_focused_and_read() {
    let mut stage = Stage::open();
    let text = "old pond\na frog leaps in\n古池や\n";
    let file = stage.write("pond.txt", text);
    let editor = stage.start("mousepad", &["--disable-server", &file]);
    let accessibility = stage.accessibility();

    let seen = snapshot(&accessibility, &ElementQuery::default(), |seen| {
        editable(seen).is_some_and(|e| !e.value.is_empty())
    })
    .await;
    assert_eq!(seen.app, "mousepad");
    assert!(seen.window.contains("pond.txt"), "{seen:#?}");
    for menu in ["File", "Edit", "Help"] {
        assert!(find(&seen, "menu", menu).is_some(), "{menu} in {seen:#?}");
    }
    let area = editable(&seen).unwrap().clone();
    assert!(area.value.starts_with("old pond"), "{area:?}");
    for element in &seen.elements {
        let bounds = element.bounds;
        assert!(bounds.x >= 0.0 && bounds.x + bounds.width <= 1000.1, "{element:?}");
        assert!(bounds.y >= 0.0 && bounds.y + bounds.height <= 1000.1, "{element:?}");
    }

    let acted = accessibility.focus(&area.reference).await.unwrap();
    assert_eq!(acted.evidence, Evidence::ReadBack, "{acted:?}");
    let mut took = Vec::new();
    for _ in 0..50 {
        let started = Instant::now();
        // `None` if a look ran out of time: the machine did something else.
        let Some(read) = accessibility.focused_text().await else { continue };
        assert_eq!(read, text);
        took.push(started.elapsed());
        if took.len() == 5 {
            break;
        }
    }
    assert_eq!(took.len(), 5, "it was not read in 50 looks");
    // By most: a single one may meet a moment in which the machine did something else.
    took.sort();
    assert!(took[2] < Duration::from_millis(400), "{took:?}");

    for unknown in ["e0", "e9999", "f1", ""] {
        let error = accessibility.focus(unknown).await.unwrap_err();
        assert!(matches!(&error, DesktopError::NotFound(_)), "{error:?}");
        assert!(error.to_string().contains("elementsJson"), "{error}");
    }
    signal("KILL", &editor.to_string());
    let gone = eventually(
        "the end of the editor",
        || accessibility.focus(&area.reference),
        |answer| matches!(answer, Err(DesktopError::NotFound(_))),
    )
    .await;
    assert!(gone.unwrap_err().to_string().contains("no longer there"));
    assert_eq!(accessibility.focused_text().await, None);
}

#[tokio::test(flavor = "multi_thread")]
async fn controls_come_with_states_and_values_and_the_limit_and_the_query_cut_aloud() {
    let mut stage = Stage::open();
    stage.start("gtk3-widget-factory", &[]);
    let accessibility = stage.accessibility();
    let all = snapshot(&accessibility, &query("widget"), |seen| seen.elements.len() > 50).await;
    let has = |role: &str, state: &str| {
        all.elements.iter().any(|one| one.role == role && one.states.iter().any(|is| is == state))
    };
    assert!(has("check box", "checked") && has("check box", "disabled") && has("page tab", "selected"));
    assert!(all.elements.iter().any(|one| one.role == "slider" && one.value == "50"), "{all:#?}");
    assert!(
        all.elements.iter().all(|one| one.role != "filler" && one.role != "panel" || !one.name.is_empty())
    );
    let references: HashSet<&str> = all.elements.iter().map(|one| one.reference.as_str()).collect();
    assert_eq!(references.len(), all.elements.len());

    let limited = ElementQuery { limit: 10, ..query("widget") };
    let few = accessibility.elements(&limited, &screen()).await.unwrap();
    assert_eq!(few.elements.len(), 10);
    assert!(few.cut.iter().any(|cut| cut.contains("beyond the limit of 10")), "{:?}", few.cut);

    let wanted = ElementQuery { query: Some("CHECKBUTTON".into()), ..query("widget") };
    let boxes = accessibility.elements(&wanted, &screen()).await.unwrap();
    assert!(!boxes.elements.is_empty() && boxes.elements.iter().all(|one| one.name == "checkbutton"));
    assert!(boxes.cut.iter().any(|cut| cut.contains("do not mention")), "{:?}", boxes.cut);

    let hurried = ElementQuery { deadline: Some(Duration::ZERO), ..query("widget") };
    let error = accessibility.elements(&hurried, &screen()).await.unwrap_err();
    assert_eq!(error, DesktopError::Timeout(Duration::ZERO));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_qt_application_which_has_no_collection_is_walked() {
    let mut stage = Stage::open();
    let file = stage.write("pond.txt", "old pond\n");
    stage.start("featherpad", &["--standalone", &file]);
    let accessibility = stage.accessibility();
    let opened = |seen: &Snapshot| editable(seen).is_some_and(|area| area.value.starts_with("old pond"));
    let seen = snapshot(&accessibility, &query("featherpad"), opened).await;
    assert!(find(&seen, "menu item", "File").is_some(), "{seen:#?}");
    assert!(find(&seen, "button", "Save").is_some(), "{seen:#?}");
    let area = editable(&seen).unwrap().reference.clone();
    eventually(
        "the focus",
        || accessibility.focus(&area),
        |acted| acted.as_ref().is_ok_and(|acted| acted.evidence == Evidence::ReadBack),
    )
    .await
    .unwrap();
    let text = || accessibility.focused_text();
    eventually("the focused text", text, |text| text.as_deref() == Some("old pond\n")).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_unknown_application_is_answered_with_those_that_exist() {
    let mut stage = Stage::open();
    stage.start("galculator", &[]);
    let accessibility = stage.accessibility();
    snapshot(&accessibility, &query("GALCULATOR"), |seen| find(seen, "toggle button", "7").is_some()).await;
    let error = accessibility.elements(&query("no such thing"), &screen()).await.unwrap_err();
    assert!(matches!(&error, DesktopError::NotFound(_)), "{error:?}");
    assert!(
        error.to_string().contains("no such thing") && error.to_string().contains("galculator"),
        "{error}"
    );
    assert_eq!(accessibility.check().await.state, CheckState::Well);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_window_without_a_tree_gives_an_empty_snapshot_that_says_so() {
    let mut stage = Stage::open();
    stage.start("xterm", &[]);
    let accessibility = stage.accessibility();
    let empty = snapshot(&accessibility, &ElementQuery::default(), |seen| !seen.cut.is_empty()).await;
    assert_eq!(empty.elements, Vec::<Element>::new());
    assert!(empty.cut[0].contains("no window with an accessibility tree is active"), "{:?}", empty.cut);
    let error = accessibility.elements(&query("xterm"), &screen()).await.unwrap_err();
    assert!(matches!(&error, DesktopError::NotFound(_)), "{error:?}");
    assert_eq!(accessibility.check().await.state, CheckState::Limited);
    // The one application that has a tree does not stand for another one's window: an act would go there.
    stage.start("galculator", &[]);
    snapshot(&accessibility, &query("galculator"), |seen| find(seen, "toggle button", "7").is_some()).await;
    stage.start("xterm", &[]);
    let in_front = ElementQuery::default();
    let seen = snapshot(&accessibility, &in_front, |seen| seen.elements.is_empty()).await;
    assert!(seen.cut[0].contains("no window with an accessibility tree is active"), "{:?}", seen.cut);
}

#[tokio::test(flavor = "multi_thread")]
async fn our_own_windows_do_not_exist() {
    let mut stage = Stage::open();
    let ours = stage.start("galculator", &[]);
    snapshot(&stage.accessibility(), &query("galculator"), |seen| !seen.elements.is_empty()).await;
    let accessibility = Accessibility::new(Some(stage.bus.clone()), ours);
    let error = accessibility.elements(&query("galculator"), &screen()).await.unwrap_err();
    assert!(matches!(&error, DesktopError::NotFound(_)), "{error:?}");
    let seen = accessibility.elements(&ElementQuery::default(), &screen()).await.unwrap();
    assert!(seen.elements.is_empty() && seen.cut[0].contains("our own window"), "{seen:#?}");
    assert_eq!(accessibility.focused_text().await, None);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_application_that_hangs_does_not_hold_up_the_others() {
    let mut stage = Stage::open();
    let hanging = stage.start("galculator", &[]);
    let file = stage.write("pond.txt", "old pond\n");
    stage.start("mousepad", &["--disable-server", &file]);
    let accessibility = stage.accessibility();
    snapshot(&accessibility, &query("galculator"), |seen| !seen.elements.is_empty()).await;
    let seen = snapshot(&accessibility, &query("mousepad"), |seen| editable(seen).is_some()).await;
    signal("STOP", &hanging.to_string());
    let started = Instant::now();
    let again = accessibility.elements(&query("mousepad"), &screen()).await.unwrap();
    assert_eq!(again.elements.len(), seen.elements.len());
    assert!(started.elapsed() < Duration::from_secs(3), "{:?}", started.elapsed());
    let started = Instant::now();
    let limit = Duration::from_secs(4);
    let hung = ElementQuery { deadline: Some(limit), ..query("galculator") };
    let error = accessibility.elements(&hung, &screen()).await.unwrap_err();
    assert!(error.to_string().contains("galculator does not answer"), "{error}");
    assert!(started.elapsed() < limit, "{:?}", started.elapsed());
    signal("CONT", &hanging.to_string());
    snapshot(&accessibility, &query("galculator"), |seen| !seen.elements.is_empty()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_missing_bus_is_named_with_its_remedy() {
    assert!(!Path::new("/nonexistent/bus").exists());
    let accessibility = Accessibility::new(Some("unix:path=/nonexistent/bus".into()), 1);
    let error = accessibility.elements(&query("any"), &screen()).await.unwrap_err();
    assert!(matches!(&error, DesktopError::NotAvailable(_)), "{error:?}");
    assert!(error.to_string().contains("at-spi2-core"), "{error}");
    let check = accessibility.check().await;
    assert_eq!(check.state, CheckState::Missing);
    assert!(check.remedy.is_some_and(|remedy| remedy.contains("at-spi2-core")));
    assert_eq!(accessibility.focused_text().await, None);
}
