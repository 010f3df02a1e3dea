//! GTK 3: dialogs that run inside the call that opens them, what its cache does not hold, and what became of a ref.
//! What was really done is told by files and by the log of `tests/truth/gtk3.py`.

use std::sync::Arc;
use std::time::{Duration, Instant};

use desktop::{
    Acted, Action, ActionMethod, Button, Desktop, DesktopError, Element, ElementAction, ElementQuery,
    Evidence, Glance, Key, Scope, WindowChange,
};
use tokio_util::sync::CancellationToken;

use super::stage::{Stage, by, elements, eventually, find_in, menu, of, operate, signal};

const GARDEN: &str = "Garden";
const ORDERS: &str = "Orders";
const CLICK: ElementAction = ElementAction::Click { button: Button::Left, count: 1 };

async fn act(desktop: &Arc<dyn Desktop>, action: Action) {
    desktop.act(action, CancellationToken::new()).await.unwrap();
}

async fn press(desktop: &Arc<dyn Desktop>, key: Key) {
    act(desktop, Action::Press { key, times: 1 }).await;
}

async fn active(desktop: &Arc<dyn Desktop>, title: &str) {
    let ask = || async { desktop.glance().await.unwrap() };
    eventually(title, ask, |now: &Glance| now.active_title() == Some(title)).await;
}

async fn logged(stage: &Stage, line: &str) {
    let ask = || async { stage.said("gtk3") };
    eventually(line, ask, |lines| lines.iter().any(|one| one == line)).await;
}

async fn garden(stage: &mut Stage) -> (Arc<dyn Desktop>, Vec<Element>) {
    stage.start_ours("gtk3", "garden");
    let desktop = stage.desktop();
    let seen = elements(&desktop, GARDEN, |seen| find_in(seen, "button", "Ask...").is_some()).await;
    (desktop, seen)
}

async fn orders(stage: &mut Stage) -> Arc<dyn Desktop> {
    stage.start_orders("gtk3");
    let desktop = stage.desktop();
    elements(&desktop, ORDERS, |seen| find_in(seen, "button", "Open...").is_some()).await;
    active(&desktop, "Orders").await;
    desktop
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_managers_dialog_that_its_menu_opens_takes_keys_and_makes_a_folder() {
    let mut stage = Stage::open();
    stage.write("things/a.txt", "a");
    let folder = stage.path("things");
    stage.start("thunar", &[folder.to_str().unwrap()]);
    let desktop = stage.desktop();
    elements(&desktop, "thunar", |seen| find_in(seen, "menu", "File").is_some()).await;
    active(&desktop, "things - Thunar").await;
    let query = ElementQuery { app: Some("thunar".into()), limit: 1_000, ..ElementQuery::default() };
    let cut = desktop.elements(query).await.unwrap().cut;
    assert!(cut.iter().any(|line| line.starts_with("not told: what the panel of \"Icon view\"")), "{cut:?}");

    menu(&desktop, "thunar", &["File", "Create Folder..."]).await.unwrap();
    active(&desktop, "Create New Folder").await;
    act(&desktop, Action::Hotkey { keys: vec![Key::Ctrl, Key::Char('a')] }).await;
    act(&desktop, Action::Type { text: "Ponds".into() }).await;
    press(&desktop, Key::Enter).await;
    eventually("the folder", || async { folder.join("Ponds").is_dir() }, |made| *made).await;
    elements(&desktop, "thunar", |seen| find_in(seen, "menu", "File").is_some()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_calculator_still_computes_after_its_about_dialog_took_keys() {
    let mut stage = Stage::open();
    stage.start("galculator", &[]);
    let desktop = stage.desktop();
    elements(&desktop, "galculator", |seen| seen.iter().any(|one| one.name == "7")).await;
    active(&desktop, "galculator").await;
    let before = desktop.glance().await.unwrap();
    menu(&desktop, "galculator", &["Help", "About"]).await.unwrap();
    let ask = || async { desktop.glance().await.unwrap() };
    eventually("the dialog", ask, |now| now.without(&before).next().is_some()).await;
    // Escape closes it, whatever the keys before it do.
    for key in [Key::Tab, Key::Tab, Key::Escape] {
        press(&desktop, key).await;
    }
    eventually("the dialog's end", ask, |now| now.without(&before).next().is_none()).await;
    for key in ["7", "*", "6", "="] {
        operate(&desktop, by("galculator", "", key), CLICK).await.unwrap();
    }
    let shows = |one: &Element| format!("{}{}", one.name, one.value).contains("42");
    elements(&desktop, "galculator", |seen| seen.iter().any(shows)).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_open_menu_is_closed_and_nothing_of_it_chosen() {
    let mut stage = Stage::open();
    let desktop = orders(&mut stage).await;
    assert!(!desktop.close_menus().await);
    let file = elements(&desktop, ORDERS, |seen| find_in(seen, "menu", "File").is_some()).await;
    let at = find_in(&file, "menu", "File").unwrap().bounds.center().unwrap();
    act(&desktop, Action::Click { display: 0, at, button: Button::Left, count: 1, held: Vec::new() }).await;
    elements(&desktop, ORDERS, |seen| find_in(seen, "menu item", "Print").is_some()).await;
    assert!(desktop.close_menus().await);
    assert!(!desktop.close_menus().await);
    operate(&desktop, by(ORDERS, "button", "Press me"), CLICK).await.unwrap();
    logged(&stage, "pressed=Press me").await;
    let lines = stage.said("gtk3");
    assert!(!lines.iter().any(|line| line.starts_with("menu=")), "{lines:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_dialog_opened_by_a_press_takes_keys_however_often() {
    let mut stage = Stage::open();
    let (desktop, seen) = garden(&mut stage).await;
    let ask = find_in(&seen, "button", "Ask...").unwrap();
    for answer in ["one", "two", "three"] {
        active(&desktop, "Garden").await;
        let done = operate(&desktop, of(ask), CLICK).await.unwrap().acted;
        assert_eq!(done.evidence, Evidence::ReadBack, "{done:?}");
        assert!(done.note.ends_with("dialog \"Question\" has opened"), "{done:?}");
        active(&desktop, "Question").await;
        // The field has the keyboard a moment after its window.
        let field = |seen: &[Element]| seen.iter().any(|one| one.states == ["focused", "editable"]);
        elements(&desktop, GARDEN, field).await;
        let typed = Action::Type { text: format!("{answer}\n") };
        let done = desktop.act(typed, CancellationToken::new()).await.unwrap();
        assert_eq!(done.evidence, Evidence::ReadBack, "{done:?}");
        logged(&stage, &format!("answered={answer}")).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_modal_dialog_stands_before_is_refused_and_the_dialog_named() {
    let mut stage = Stage::open();
    let (desktop, seen) = garden(&mut stage).await;
    menu(&desktop, GARDEN, &["File", "Ask..."]).await.unwrap();
    active(&desktop, "Question").await;
    let behind = find_in(&seen, "button", "Press me").unwrap();
    let error = operate(&desktop, of(behind), CLICK).await.unwrap_err();
    assert!(
        matches!(&error, DesktopError::BadInput(why) if why.contains("behind dialog \"Question\"")),
        "{error:?}"
    );
    let error = menu(&desktop, GARDEN, &["File", "New"]).await.unwrap_err();
    assert!(error.to_string().contains("behind dialog \"Question\""), "{error}");
    operate(&desktop, by(GARDEN, "button", "Fine"), CLICK).await.unwrap();
    logged(&stage, "answered=").await;
    operate(&desktop, of(behind), CLICK).await.unwrap();
    logged(&stage, "pressed=Press me").await;
    let lines = stage.said("gtk3");
    assert!(!lines.contains(&"menu=New".into()), "{lines:?}");
    assert_eq!(lines.iter().filter(|line| line.starts_with("pressed")).count(), 1, "{lines:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_in_a_minimized_window_is_refused_until_it_is_restored() {
    let mut stage = Stage::open();
    let (desktop, seen) = garden(&mut stage).await;
    let window = async |change: WindowChange| {
        let windows = desktop.windows().await.unwrap();
        let id = windows.iter().find(|one| one.title == "Garden").unwrap().id;
        desktop.change_window(id, change).await.unwrap();
    };
    active(&desktop, "Garden").await;
    window(WindowChange::Minimize).await;
    let button = find_in(&seen, "button", "Press me").unwrap();
    let error = operate(&desktop, of(button), CLICK).await.unwrap_err();
    assert!(
        matches!(&error, DesktopError::BadInput(why) if why.contains("\"Garden\", which is minimized")),
        "{error:?}"
    );
    assert_eq!(stage.said("gtk3"), Vec::<String>::new());
    window(WindowChange::Restore).await;
    let done = operate(&desktop, of(button), CLICK).await.unwrap();
    assert_eq!(done.acted.evidence, Evidence::Sent, "it shows nothing: {done:?}");
    logged(&stage, "pressed=Press me").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_another_window_with_the_same_title_covers_is_refused() {
    let mut stage = Stage::open();
    let (desktop, seen) = garden(&mut stage).await;
    let find = async || {
        let windows = desktop.windows().await.unwrap();
        windows.into_iter().filter(|one| one.title == "Garden").collect::<Vec<_>>()
    };
    let first = eventually("the window", &find, |windows| !windows.is_empty()).await[0].clone();
    menu(&desktop, GARDEN, &["File", "Twin"]).await.unwrap();
    let both = eventually("the twin", &find, |windows| windows.len() == 2).await;
    let twin = both.iter().find(|one| one.id != first.id).unwrap();
    // A little beside the other, so that each covers the other's buttons.
    let beside = WindowChange::Move { x: first.bounds.x + 20.0, y: first.bounds.y + 20.0 };
    desktop.change_window(twin.id, beside).await.unwrap();
    desktop.change_window(twin.id, WindowChange::Focus).await.unwrap();
    let double = ElementAction::Click { button: Button::Left, count: 2 };
    let button = find_in(&seen, "button", "Press me").unwrap();
    let error = eventually("the refusal", || operate(&desktop, of(button), double.clone()), Result::is_err)
        .await
        .unwrap_err();
    assert!(error.to_string().contains("is covered by the window \"Garden\""), "{error}");
    assert!(!stage.said("gtk3").iter().any(|line| line.starts_with("twin")), "{:?}", stage.said("gtk3"));
    desktop.change_window(first.id, WindowChange::Focus).await.unwrap();
    eventually("the click", || operate(&desktop, of(button), double.clone()), Result::is_ok).await.unwrap();
    logged(&stage, "pressed=Press me").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn of_two_applications_with_one_title_the_front_one_is_read_and_the_other_is_named() {
    let mut stage = Stage::open();
    let processes = [stage.start_ours("gtk3", "garden"), stage.start_ours("gtk3", "garden")];
    let desktop = stage.desktop();
    let find = async || {
        let windows = desktop.windows().await.unwrap();
        windows.into_iter().filter(|one| one.title == GARDEN && one.pid.is_some()).collect::<Vec<_>>()
    };
    let both = eventually("both windows", &find, |windows| windows.len() == 2).await;
    stage.start("xterm", &["-T", "Other"]);
    for front in processes {
        let its = both.iter().find(|one| one.pid == Some(front)).unwrap();
        desktop.change_window(its.id, WindowChange::Focus).await.unwrap();
        let other = async || desktop.windows().await.unwrap().into_iter().find(|one| one.title == "Other");
        let other = eventually("the terminal", &other, Option::is_some).await.unwrap();
        desktop.change_window(other.id, WindowChange::Focus).await.unwrap();
        // Neither is active now.
        let look = || desktop.elements(ElementQuery { app: Some(GARDEN.into()), ..ElementQuery::default() });
        let seen = eventually("the front one", look, |seen| {
            seen.as_ref().is_ok_and(|seen| seen.pid == Some(front) && !seen.elements.is_empty())
        })
        .await
        .unwrap();
        let said = seen.cut.iter().find(|line| line.contains("more than one application fits"));
        let behind = processes.iter().find(|&&pid| pid != front).unwrap();
        assert!(said.is_some_and(|said| said.contains(&format!("process {behind}"))), "{:?}", seen.cut);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn looks_that_share_a_reading_see_the_same_and_others_see_what_is_there_now() {
    let mut stage = Stage::open();
    let (desktop, seen) = garden(&mut stage).await;
    let names = async || {
        let query = ElementQuery { app: Some(GARDEN.into()), limit: 1_000, ..ElementQuery::default() };
        let seen = desktop.elements(query).await.unwrap();
        seen.elements.into_iter().map(|one| one.name).collect::<Vec<_>>()
    };
    let (before, shared) = desktop::one_look(async {
        let before = names().await;
        let done = operate(&desktop, of(find_in(&seen, "button", "Relabel").unwrap()), CLICK).await.unwrap();
        assert!(done.acted.note.ends_with("button \"Delete all\" shows now"), "{done:?}");
        (before, desktop::one_look(names()).await)
    })
    .await;
    assert_eq!(before, shared);
    assert_ne!(before, names().await);
    assert_ne!(before, desktop::one_look(names()).await);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_application_that_hangs_is_not_called_one_without_elements_however_it_is_asked_for() {
    let mut stage = Stage::open();
    let process = stage.start_ours("gtk3", "garden");
    let desktop = stage.desktop();
    elements(&desktop, GARDEN, |seen| !seen.is_empty()).await;
    active(&desktop, GARDEN).await;
    let stopped = std::process::Command::new("kill").args(["-STOP", &process.to_string()]).status().unwrap();
    assert!(stopped.success());
    let named = |app: Option<&str>, window: Option<&str>| ElementQuery {
        app: app.map(str::to_owned),
        window: window.map(str::to_owned),
        ..ElementQuery::default()
    };
    for query in [named(None, None), named(None, Some(GARDEN)), named(Some(GARDEN), None)] {
        let said = match desktop.elements(query.clone()).await {
            Ok(seen) => seen.cut.join("; "),
            Err(error) => error.to_string(),
        };
        assert!(said.contains("hang") && said.contains("answer"), "{query:?}: {said}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_window_of_its_own_lies_over_is_refused_by_accessibility_too() {
    let mut stage = Stage::open();
    let (desktop, seen) = garden(&mut stage).await;
    operate(&desktop, of(find_in(&seen, "button", "Colours").unwrap()), CLICK).await.unwrap();
    active(&desktop, "Palette").await;
    let press = of(find_in(&seen, "button", "Press me").unwrap());
    for act in [CLICK, ElementAction::Do("Click".into())] {
        let error = operate(&desktop, press.clone(), act).await.unwrap_err();
        let DesktopError::BadInput(why) = &error else { panic!("{error:?}") };
        assert!(why.contains("is covered by the window \"Palette\""), "{why}");
    }
    assert_eq!(stage.said("gtk3"), Vec::<String>::new());
    let palette = desktop.windows().await.unwrap().into_iter().find(|one| one.title == "Palette").unwrap();
    desktop.change_window(palette.id, WindowChange::Close).await.unwrap();
    operate(&desktop, press, CLICK).await.unwrap();
    logged(&stage, "pressed=Press me").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_hidden_since_the_look_is_refused() {
    let mut stage = Stage::open();
    let (desktop, seen) = garden(&mut stage).await;
    let shy = find_in(&seen, "button", "Shy").unwrap();
    operate(&desktop, of(find_in(&seen, "button", "Hide").unwrap()), CLICK).await.unwrap();
    let is_hidden = |answer: &Result<_, DesktopError>| matches!(answer, Err(DesktopError::BadInput(why)) if why.contains("button \"Shy\" is hidden"));
    eventually("the refusal", || operate(&desktop, of(shy), ElementAction::Focus), is_hidden)
        .await
        .unwrap_err();
    let error = operate(&desktop, of(shy), CLICK).await;
    assert!(is_hidden(&error), "{error:?}");
    assert_eq!(stage.said("gtk3"), Vec::<String>::new());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_ref_relabelled_since_the_look_is_refused_with_both_names() {
    let mut stage = Stage::open();
    let (desktop, seen) = garden(&mut stage).await;
    let button = find_in(&seen, "button", "Press me").unwrap();
    let done = operate(&desktop, of(find_in(&seen, "button", "Relabel").unwrap()), CLICK).await.unwrap();
    assert_eq!(done.acted.evidence, Evidence::ReadBack, "{done:?}");
    assert!(done.acted.note.ends_with("button \"Delete all\" shows now"), "{done:?}");
    // Ours, of which no agent is told: for a question, a picture, an undo.
    let look = ElementQuery { app: Some(GARDEN.into()), limit: 1_000, ..ElementQuery::default() };
    let again = eventually(
        "the new name",
        || desktop.elements(look.clone()),
        |seen| seen.as_ref().is_ok_and(|seen| find_in(&seen.elements, "button", "Delete all").is_some()),
    );
    let again = again.await.unwrap();
    assert_eq!(find_in(&again.elements, "button", "Delete all").unwrap().reference, button.reference);
    let error =
        eventually("the refusal", || operate(&desktop, of(button), ElementAction::Focus), Result::is_err)
            .await
            .unwrap_err();
    let DesktopError::NotFound(why) = &error else { panic!("{error:?}") };
    assert!(why.contains("\"Press me\"") && why.contains("is button \"Delete all\" now"), "{why}");
    for action in [CLICK, ElementAction::Do("click".into())] {
        operate(&desktop, of(button), action).await.unwrap_err();
    }
    let lines = stage.said("gtk3");
    assert!(!lines.iter().any(|line| line.starts_with("pressed")), "{lines:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_window_that_is_named_is_meant_though_another_of_its_application_is_active() {
    let mut stage = Stage::open();
    let (desktop, _) = garden(&mut stage).await;
    menu(&desktop, GARDEN, &["File", "Meadow"]).await.unwrap();
    active(&desktop, "Meadow").await;
    let press = |app: &str| operate(&desktop, by(app, "button", "Press me"), CLICK);
    press(GARDEN).await.unwrap();
    logged(&stage, "pressed=Press me").await;
    press("Meadow").await.unwrap();
    logged(&stage, "meadow=pressed Press me").await;
    assert_eq!(stage.said("gtk3").len(), 2, "{:?}", stage.said("gtk3"));
    menu(&desktop, GARDEN, &["File", "New"]).await.unwrap();
    logged(&stage, "menu=New").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_application_that_does_not_answer_is_no_application_whose_elements_are_gone() {
    let mut stage = Stage::open();
    let garden = stage.start_ours("gtk3", "garden");
    let desktop = stage.desktop();
    let seen = elements(&desktop, GARDEN, |seen| find_in(seen, "button", "Press me").is_some()).await;
    let button = find_in(&seen, "button", "Press me").unwrap();
    signal("STOP", &garden.to_string());
    for action in [CLICK, ElementAction::Focus, ElementAction::Click { button: Button::Right, count: 1 }] {
        let started = Instant::now();
        let error = operate(&desktop, of(button), action).await.unwrap_err();
        assert!(matches!(&error, DesktopError::Timeout(_)), "{error:?}");
        assert!(started.elapsed() < Duration::from_secs(10), "{:?}", started.elapsed());
    }
    signal("CONT", &garden.to_string());
    operate(&desktop, of(button), CLICK).await.unwrap();
    logged(&stage, "pressed=Press me").await;
    assert_eq!(stage.said("gtk3").len(), 1, "{:?}", stage.said("gtk3"));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_busy_with_a_press_is_not_said_to_be_gone() {
    let mut stage = Stage::open();
    let (desktop, seen) = garden(&mut stage).await;
    let doze = find_in(&seen, "check box", "Doze").unwrap();
    let done = operate(&desktop, of(doze), CLICK).await.unwrap();
    assert_eq!(done.acted.evidence, Evidence::Sent, "{done:?}");
    assert!(done.acted.note.contains("has not answered yet"), "{done:?}");
    assert_eq!(stage.said("gtk3"), ["doze=begun"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn rows_and_cells_are_listed_and_do_what_they_are_for() {
    let mut stage = Stage::open();
    let (desktop, _) = garden(&mut stage).await;
    // A row is known by the label in it, and goes where a click goes. It may be told of later than the rest.
    active(&desktop, "Garden").await;
    let seen = elements(&desktop, GARDEN, |seen| find_in(seen, "list item", "Attic").is_some()).await;
    let attic = find_in(&seen, "list item", "Attic").unwrap();
    let done = operate(&desktop, of(attic), CLICK).await.unwrap();
    assert_eq!(done.by, ActionMethod::Input, "{done:?}");
    logged(&stage, "place=Attic").await;

    operate(&desktop, by(GARDEN, "button", "Afloat"), CLICK).await.unwrap();
    logged(&stage, "pressed=Afloat").await;

    // A cell with a check box is known by its column, one of an icon and a text by its text.
    assert!(find_in(&seen, "table cell", "Water").is_some(), "{seen:#?}");
    assert!(find_in(&seen, "table column header", "Done?").is_some(), "{seen:#?}");
    let done: Vec<&Element> = seen.iter().filter(|one| one.description == "Done?").collect();
    assert_eq!(done.len(), 3, "{seen:#?}");
    operate(&desktop, of(done[1]), CLICK).await.unwrap();
    logged(&stage, "Water=True").await;
    elements(&desktop, GARDEN, |seen| {
        seen.iter().any(|one| one.reference == done[1].reference && one.states.contains(&"checked".into()))
    })
    .await;
    for (cell, value, line) in [(done[2], "on", "Harvest=True"), (done[1], "off", "Water=False")] {
        let acted = operate(&desktop, of(cell), ElementAction::SetValue(value.into())).await.unwrap().acted;
        assert_eq!(acted.evidence, Evidence::ReadBack, "{acted:?}");
        logged(&stage, line).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_chooser_is_listed_and_takes_a_file() {
    let mut stage = Stage::open();
    stage.write("rake.txt", "rake");
    stage.write("spade.txt", "spade");
    let desktop = orders(&mut stage).await;
    operate(&desktop, by(ORDERS, "button", "Open..."), CLICK).await.unwrap();
    active(&desktop, "Open a file").await;
    let chooser = elements(&desktop, ORDERS, |seen| {
        find_in(seen, "table cell", "spade.txt").is_some() && find_in(seen, "list item", "Home").is_some()
    })
    .await;
    let spade = find_in(&chooser, "table cell", "spade.txt").unwrap();
    operate(&desktop, of(spade), CLICK).await.unwrap();
    operate(&desktop, of(find_in(&chooser, "button", "Open").unwrap()), CLICK).await.unwrap();
    logged(&stage, "file=spade.txt").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_the_application_made_of_a_text_is_not_called_unchanged() {
    let mut stage = Stage::open();
    let desktop = orders(&mut stage).await;
    let set = |name: &str, value: &str| {
        operate(&desktop, by(ORDERS, "text", name), ElementAction::SetValue(value.into()))
    };
    let done = set("Name", "Bashō").await.unwrap();
    assert_eq!(done.acted.evidence, Evidence::ReadBack, "{done:?}");
    let done = set("Code", "frog").await.unwrap();
    assert_eq!(done.acted.evidence, Evidence::Mismatch, "{done:?}");
    assert!(done.acted.note.contains("\"FROG\""), "{done:?}");
    let lines = stage.said("gtk3");
    assert_eq!(lines.iter().filter(|line| *line == "code=FROG").count(), 1, "{lines:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_the_application_takes_back_a_moment_later_is_not_called_done() {
    let mut stage = Stage::open();
    let desktop = orders(&mut stage).await;
    let is_told = |done: &Acted| {
        assert_eq!(done.evidence, Evidence::Mismatch, "{done:?}");
        assert!(done.note.contains(" a moment later: the application changed it"), "{done:?}");
    };
    for (role, name, value, line) in [
        ("text", "Price", "250", "price=250"),
        ("spin button", "Limit", "50", "limit=50"),
        ("check box", "Beta", "on", "beta=on"),
    ] {
        let done = operate(&desktop, by(ORDERS, role, name), ElementAction::SetValue(value.into()));
        is_told(&done.await.unwrap().acted);
        logged(&stage, line).await;
    }
    operate(&desktop, by(ORDERS, "text", "Price"), ElementAction::Focus).await.unwrap();
    press(&desktop, Key::End).await;
    is_told(&desktop.act(Action::Type { text: "7".into() }, CancellationToken::new()).await.unwrap());
    logged(&stage, "price=1007").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_asked_that_makes_an_application_complain_and_no_place_is_without_sense() {
    let mut stage = Stage::open();
    let complaints = stage.start_and_hear("gtk3-widget-factory", &[]);
    let desktop = stage.desktop();
    elements(&desktop, "widget", |seen| seen.len() > 50).await;
    let all = ElementQuery {
        scope: Scope::All,
        limit: 5_000,
        app: Some("widget".into()),
        ..ElementQuery::default()
    };
    let seen = desktop.elements(all).await.unwrap();
    let far = |one: &&Element| one.bounds.x.abs() > 100_000.0 || one.bounds.y.abs() > 100_000.0;
    assert_eq!(seen.elements.iter().find(far), None);
    let text = seen.elements.iter().find(|one| one.role == "text").unwrap();
    operate(&desktop, of(text), ElementAction::Click { button: Button::Right, count: 1 }).await.unwrap();
    let button = seen.elements.iter().find(|one| one.role == "page tab").unwrap();
    operate(&desktop, of(button), CLICK).await.unwrap();
    let heard = std::fs::read_to_string(complaints).unwrap();
    assert!(!heard.contains("CRITICAL"), "{heard}");
}
