//! Clicks, actions and the focus: by accessibility where it does, with the pointer where not, refused where unclear.

use desktop::{
    ActionMethod, Button, DesktopError, Element, ElementAction, ElementQuery, Evidence, Fence, Glance,
    Selector, Snapshot, Target,
};
use tokio_util::sync::CancellationToken;

use super::stage::{Stage, by, elements, eventually, find_in, menu, of, operate, query, signal};

const CLICK: ElementAction = ElementAction::Click { button: Button::Left, count: 1 };

/// What the calculator shows.
fn shown(elements: &[Element]) -> Vec<String> {
    elements.iter().map(|one| format!("{}{}", one.name, one.value)).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_calculator_computes_by_clicks_that_steal_no_focus_and_none_outside_the_fence() {
    let mut stage = Stage::open();
    let calculator = stage.start("galculator", &[]);
    let desktop = stage.desktop();
    elements(&desktop, "galculator", |seen| seen.iter().any(|one| one.name == "7")).await;
    stage.start("xterm", &[]);
    for key in ["7", "*", "6", "="] {
        let done = operate(&desktop, by("galculator", "", key), CLICK).await.unwrap();
        assert_eq!(done.by, ActionMethod::Accessibility, "{done:?}");
        assert!(done.at.is_some() && done.called.contains(key), "{done:?}");
    }
    let seen =
        elements(&desktop, "galculator", |seen| shown(seen).iter().any(|text| text.contains("42"))).await;
    let seven = seen.iter().find(|one| one.name == "7").unwrap().clone();

    for fence in [
        Fence { apps: vec!["xterm".into()], ..Fence::default() },
        Fence { displays: vec![1], ..Fence::default() },
    ] {
        desktop.fence(fence);
        let acts = [
            CLICK,
            ElementAction::Focus,
            ElementAction::SetValue("8".into()),
            ElementAction::Do("Click".into()),
        ];
        for act in acts {
            let refused = operate(&desktop, of(&seven), act.clone()).await.unwrap_err();
            assert!(matches!(&refused, DesktopError::Forbidden(_)), "{act:?}: {refused:?}");
        }
        let refused = menu(&desktop, "galculator", &["Help", "About"]).await.unwrap_err();
        assert!(matches!(&refused, DesktopError::Forbidden(_)), "{refused:?}");
    }
    desktop.fence(Fence { apps: vec!["galculator".into()], displays: vec![0], never: vec![] });
    operate(&desktop, of(&seven), CLICK).await.unwrap();
    desktop.fence(Fence::default());

    signal("KILL", &calculator.to_string());
    let gone = eventually(
        "the end of the calculator",
        || operate(&desktop, of(&seven), CLICK),
        |answer| matches!(answer, Err(DesktopError::NotFound(_))),
    )
    .await
    .unwrap_err();
    assert!(gone.to_string().contains("is gone"), "{gone}");
}

#[tokio::test(flavor = "multi_thread")]
async fn check_boxes_pages_and_the_focus_are_confirmed_by_their_states() {
    let mut stage = Stage::open();
    stage.start("gtk3-widget-factory", &[]);
    let desktop = stage.desktop();
    let seen = elements(&desktop, "widget", |seen| seen.len() > 50).await;
    let is = |one: &Element, state: &str| one.states.iter().any(|is| is == state);
    let open = |one: &&Element| one.role == "check box" && !is(one, "disabled");
    let check_box = seen.iter().find(open).unwrap();
    let was = is(check_box, "checked");
    let done = operate(&desktop, of(check_box), CLICK).await.unwrap();
    assert_eq!((done.by, done.acted.evidence), (ActionMethod::Accessibility, Evidence::ReadBack), "{done:?}");
    elements(&desktop, "widget", |now| {
        now.iter().any(|one| one.reference == check_box.reference && is(one, "checked") != was)
    })
    .await;

    let disabled = seen.iter().find(|one| one.role == "check box" && is(one, "disabled")).unwrap();
    let error = operate(&desktop, of(disabled), CLICK).await.unwrap_err();
    assert!(matches!(&error, DesktopError::BadInput(why) if why.contains("is disabled")), "{error:?}");

    let entry = seen.iter().find(|one| one.role == "text" && is(one, "editable")).unwrap();
    let done = operate(&desktop, of(entry), ElementAction::Focus).await.unwrap();
    assert_eq!(done.acted.evidence, Evidence::ReadBack, "{done:?}");

    let error = operate(&desktop, of(check_box), ElementAction::Do("fly".into())).await.unwrap_err();
    assert!(
        matches!(&error, DesktopError::NotFound(why) if why.to_lowercase().contains("its actions: click")),
        "{error:?}"
    );
    let done = operate(&desktop, of(check_box), ElementAction::Do("Click".into())).await.unwrap();
    assert_eq!(done.acted.evidence, Evidence::ReadBack, "{done:?}");

    let tab = seen.iter().find(|one| one.role == "page tab" && !is(one, "selected")).unwrap();
    let done = operate(&desktop, of(tab), CLICK).await.unwrap();
    assert_eq!(done.acted.evidence, Evidence::ReadBack, "{done:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_selector_that_matches_several_or_none_is_refused_with_names() {
    let mut stage = Stage::open();
    stage.start("gtk3-widget-factory", &[]);
    let desktop = stage.desktop();
    elements(&desktop, "widget", |seen| seen.len() > 50).await;
    let error = operate(&desktop, by("widget", "check box", "checkbutton"), CLICK).await.unwrap_err();
    let DesktopError::BadInput(why) = &error else { panic!("{error:?}") };
    assert!(why.contains("elements are check box named \"checkbutton\": e"), "{why}");
    let error = operate(&desktop, by("widget", "check box", "chekbuton"), CLICK).await.unwrap_err();
    let DesktopError::NotFound(why) = &error else { panic!("{error:?}") };
    assert!(why.contains("the nearest is e") && why.contains("(check box \"checkbutton\")"), "{why}");
    let within = Selector {
        app: Some("widget".into()),
        name: Some("checkbutton".into()),
        within: Some("no such page".into()),
        ..Selector::default()
    };
    let error = operate(&desktop, Target::Selector(within), CLICK).await.unwrap_err();
    assert!(matches!(&error, DesktopError::NotFound(_)), "{error:?}");
    let error = operate(&desktop, by("no such app", "button", "OK"), CLICK).await.unwrap_err();
    assert!(error.to_string().contains("gtk3-widget-factory"), "{error}");
    let error = operate(&desktop, Target::Ref("e99999".into()), CLICK).await.unwrap_err();
    assert!(matches!(&error, DesktopError::NotFound(_)), "{error:?}");
}

// bar: C64
#[tokio::test(flavor = "multi_thread")]
async fn the_pointer_clicks_what_can_be_seen_and_refuses_what_is_covered() {
    let mut stage = Stage::open();
    let file = stage.write("pond.txt", "old pond\n");
    stage.start("mousepad", &["--disable-server", &file]);
    let desktop = stage.desktop();
    let seen = elements(&desktop, "mousepad", |seen| {
        seen.iter().any(|one| one.role == "text" && one.value.starts_with("old pond"))
    })
    .await;
    let area = seen.iter().find(|one| one.role == "text").unwrap().clone();
    let twice = ElementAction::Click { button: Button::Left, count: 2 };
    let done =
        eventually("the click", || operate(&desktop, of(&area), twice.clone()), Result::is_ok).await.unwrap();
    assert_eq!((done.by, done.acted.evidence), (ActionMethod::Input, Evidence::Sent), "{done:?}");

    let right = ElementAction::Click { button: Button::Right, count: 1 };
    operate(&desktop, of(&area), right.clone()).await.unwrap();
    let menu = elements(&desktop, "mousepad", |seen| find_in(seen, "menu item", "Paste").is_some()).await;
    assert!(find_in(&menu, "menu item", "Paste").is_some());
    // The menu is in the tree before it takes the keys.
    let close = async || {
        let escape = desktop::Action::Press { key: desktop::Key::Escape, times: 1 };
        desktop.act(escape, tokio_util::sync::CancellationToken::new()).await.unwrap();
        desktop.elements(query("mousepad")).await.unwrap().elements
    };
    eventually("the menu's end", close, |seen| find_in(seen, "menu item", "Paste").is_none()).await;

    stage.start("xterm", &["-geometry", "300x100+0+0", "-title", "The wall"]);
    let is_up = |now: &Glance| now.active_title() == Some("The wall");
    eventually("the wall", || async { desktop.glance().await.unwrap() }, is_up).await;
    let error = operate(&desktop, of(&area), right.clone()).await.unwrap_err();
    assert!(error.to_string().contains("is covered by the window \"The wall\""), "{error}");
    // What needs no pixel is done, and what people see of it is said.
    let done = operate(&desktop, of(&area), ElementAction::SetValue("frog".into())).await.unwrap();
    assert!(done.acted.note.ends_with("the window \"The wall\" lies over it"), "{done:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_act_that_names_no_application_goes_to_none_that_was_only_looked_at() {
    let mut stage = Stage::open();
    stage.start("galculator", &[]);
    stage.start("mousepad", &["--disable-server"]);
    for app in ["galculator", "mousepad"] {
        elements(&stage.desktop(), app, |seen| !seen.is_empty()).await;
    }
    let ours = stage.start_ours("gtk3", "garden");
    let desktop = stage.desktop_of(ours);
    let looked_at = || async {
        elements(&desktop, "galculator", |seen| seen.iter().any(|one| one.name == "7")).await;
        desktop.elements(ElementQuery::default()).await.unwrap()
    };
    let ours_has_the_focus = |seen: &Snapshot| seen.cut.iter().any(|why| why.contains("our own window"));
    let seen = eventually("the focus of ours", looked_at, ours_has_the_focus).await;
    assert_eq!(seen.app, "galculator", "looking goes on where it was");
    let named = |app: Option<&str>| {
        let (app, name) = (app.map(str::to_owned), Some("7".to_owned()));
        Target::Selector(Selector { app, name, ..Selector::default() })
    };
    let no_app = operate(&desktop, named(None), CLICK).await.unwrap_err();
    let no_menu = desktop
        .press_menu(None, vec!["Help".into(), "About".into()], CancellationToken::new())
        .await
        .unwrap_err();
    for error in [no_app, no_menu] {
        assert!(
            matches!(&error, DesktopError::NotFound(why) if why.contains("name one with app")),
            "{error:?}"
        );
    }
    operate(&desktop, named(Some("galculator")), CLICK).await.unwrap();
}
