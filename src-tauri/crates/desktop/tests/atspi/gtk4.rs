//! GTK 4: places within windows and popovers, lists that scroll on, fields that hold their text. What was really done is
//! told by the log of `tests/truth/gtk4.py`.

use std::sync::Arc;
use std::time::Duration;

use desktop::{Action, Button, Desktop, Element, ElementAction, ElementQuery, Evidence, Glance};
use tokio_util::sync::CancellationToken;

use super::stage::{Stage, by, elements, eventually, find_in, menu, of, operate};

const APP: &str = "Orders";
const CLICK: ElementAction = ElementAction::Click { button: Button::Left, count: 1 };

async fn logged(stage: &Stage, line: &str) {
    let ask = || async { stage.said("gtk4") };
    eventually(line, ask, |lines| lines.iter().any(|one| one == line)).await;
}

async fn orders(stage: &mut Stage) -> (Arc<dyn Desktop>, Vec<Element>) {
    stage.start_orders("gtk4");
    let desktop = stage.desktop();
    let placed =
        |seen: &[Element]| find_in(seen, "button", "Press me").is_some_and(|one| one.bounds.width > 0.0);
    let seen = elements(&desktop, APP, placed).await;
    let ask = || async { desktop.glance().await.unwrap() };
    eventually("the window", ask, |now: &Glance| now.active_title() == Some("Orders")).await;
    (desktop, seen)
}

fn field<'a>(seen: &'a [Element], name: &str) -> Option<&'a Element> {
    seen.iter().find(|one| one.name == name && one.states.contains(&"editable".to_owned()))
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_clicked_in_a_popover_is_what_was_meant() {
    let mut stage = Stage::open();
    let (desktop, seen) = orders(&mut stage).await;
    let combo = find_in(&seen, "combo box", "Fruit").unwrap();
    for fruit in ["Cherry", "Damson", "Banana"] {
        operate(&desktop, of(combo), CLICK).await.unwrap();
        let open = elements(&desktop, APP, |seen| {
            find_in(seen, "list item", fruit).is_some_and(|one| one.bounds.width > 0.0)
        })
        .await;
        operate(&desktop, of(find_in(&open, "list item", fruit).unwrap()), CLICK).await.unwrap();
        logged(&stage, &format!("fruit={fruit}")).await;
        elements(&desktop, APP, |seen| find_in(seen, "list item", fruit).is_none()).await;
    }
    assert_eq!(stage.said("gtk4"), ["fruit=Cherry", "fruit=Damson", "fruit=Banana"]);

    let right = ElementAction::Click { button: Button::Right, count: 1 };
    operate(&desktop, by(APP, "label", "Canvas"), right).await.unwrap();
    let open = elements(&desktop, APP, |seen| {
        find_in(seen, "menu item", "Paint blue").is_some_and(|one| one.bounds.width > 0.0)
    })
    .await;
    let item = find_in(&open, "menu item", "Paint blue").unwrap();
    let at = item.bounds.center().unwrap();
    let click = Action::Click { display: 0, at, button: Button::Left, count: 1, held: Vec::new() };
    desktop.act(click, CancellationToken::new()).await.unwrap();
    logged(&stage, "context=Paint blue").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_drop_down_a_menu_bar_and_the_rows_of_a_tree_are_operated_by_name() {
    let mut stage = Stage::open();
    let (desktop, seen) = orders(&mut stage).await;
    let combo = find_in(&seen, "combo box", "Fruit").unwrap();
    for fruit in ["Cherry", "Banana"] {
        let done = operate(&desktop, of(combo), ElementAction::SetValue(fruit.into())).await.unwrap();
        assert_eq!(done.acted.evidence, Evidence::ReadBack, "{done:?}");
        logged(&stage, &format!("fruit={fruit}")).await;
    }
    let error = operate(&desktop, of(combo), ElementAction::SetValue("Plum".into())).await.unwrap_err();
    assert!(error.to_string().contains("its items: \"Apple\""), "{error}");

    for (path, line) in [(&["File", "Print"][..], "menu=Print"), (&["Edit", "Style", "Bold"], "menu=Bold")] {
        let done = menu(&desktop, APP, path).await.unwrap();
        assert_eq!(done.acted.evidence, Evidence::ReadBack, "its menu has closed: {done:?}");
        logged(&stage, line).await;
    }

    // Its rows may come after the window.
    let has_europe = |seen: &[Element]| find_in(seen, "list item", "Europe").is_some();
    let seen = elements(&desktop, APP, has_europe).await;
    let europe = find_in(&seen, "list item", "Europe").unwrap();
    assert!(europe.actions.contains(&"expand".to_owned()), "{europe:?}");
    let done = operate(&desktop, of(europe), ElementAction::Do("expand".into())).await.unwrap();
    assert_eq!(done.acted.evidence, Evidence::ReadBack, "{done:?}");
    logged(&stage, "expanded=Europe").await;
    let norway = |seen: &[Element]| find_in(seen, "list item", "Norway").is_some();
    let open = elements(&desktop, APP, norway).await;
    let europe = find_in(&open, "list item", "Europe").unwrap();
    assert!(europe.states.contains(&"expanded".to_owned()), "{europe:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_row_is_clicked_where_it_comes_to_rest() {
    let mut stage = Stage::open();
    let (desktop, _) = orders(&mut stage).await;
    operate(&desktop, by(APP, "page tab", "Second"), CLICK).await.unwrap();
    logged(&stage, "tab=Second").await;
    let double = ElementAction::Click { button: Button::Left, count: 2 };
    for number in [30, 3, 47, 70, 20, 79] {
        let name = format!("Row {number}");
        let query = ElementQuery {
            app: Some(APP.into()),
            scope: desktop::Scope::All,
            limit: 3_000,
            deadline: Some(Duration::from_secs(60)),
            ..ElementQuery::default()
        };
        let all = desktop.elements(query).await.unwrap().elements;
        // Only the pointer clicks twice.
        operate(&desktop, of(find_in(&all, "button", &name).unwrap()), double.clone()).await.unwrap();
        logged(&stage, &format!("row={name}")).await;
    }
    let clicked = [30, 3, 47, 70, 20, 79].map(|number| vec![format!("row=Row {number}"); 2]).concat();
    let twelve = |lines: &Vec<String>| lines.len() > clicked.len();
    let lines = eventually("the last click", || async { stage.said("gtk4") }, twelve).await;
    assert_eq!(lines[1..], clicked);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_field_takes_a_text_once_and_says_what_it_holds() {
    let mut stage = Stage::open();
    let (desktop, seen) = orders(&mut stage).await;
    let [name, code] = ["Name", "Code"].map(|name| field(&seen, name).unwrap());
    let set = |text: &str| ElementAction::SetValue(text.into());
    let done = operate(&desktop, of(name), set("Bashō 古池")).await.unwrap();
    assert_eq!(done.acted.evidence, Evidence::ReadBack, "{done:?}");
    let done = operate(&desktop, of(code), set("frog")).await.unwrap();
    assert_eq!(done.acted.evidence, Evidence::Mismatch, "{done:?}");
    // Read at once, or a moment after what was set was read.
    assert!(done.acted.note.contains("\"FROG\""), "{done:?}");
    let holds = |seen: &[Element], name, value| field(seen, name).is_some_and(|one| one.value == value);
    let both = |seen: &[Element]| holds(seen, "Name", "Bashō 古池") && holds(seen, "Code", "FROG");
    let now = elements(&desktop, APP, both).await;
    let lines = stage.said("gtk4");
    let of_name: Vec<&String> = lines.iter().filter(|line| line.starts_with("name=")).collect();
    assert_eq!(of_name.last().unwrap().as_str(), "name=Bashō 古池", "{lines:?}");
    assert_eq!(lines.iter().filter(|line| line.as_str() == "code=FROG").count(), 1, "{lines:?}");
    let spin = find_in(&now, "spin button", "Count").unwrap();
    let done = operate(&desktop, of(spin), set("7")).await.unwrap();
    assert_eq!(done.acted.evidence, Evidence::ReadBack, "{done:?}");
    logged(&stage, "count=7").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_in_a_dialog_is_there_and_takes_text_and_clicks() {
    let mut stage = Stage::open();
    let (desktop, _) = orders(&mut stage).await;
    menu(&desktop, APP, &["Help", "Ask"]).await.unwrap();
    logged(&stage, "dialog=open").await;
    let ask = || async { desktop.glance().await.unwrap() };
    eventually("the dialog", ask, |now: &Glance| now.windows.iter().any(|one| one.title == "Answers")).await;
    let seen = elements(&desktop, APP, |seen| {
        field(seen, "Answer").is_some() && seen.iter().any(|one| one.name.starts_with("Fine"))
    })
    .await;
    let answer = field(&seen, "Answer").unwrap();
    let done = operate(&desktop, of(answer), ElementAction::SetValue("yes".into())).await.unwrap();
    assert_eq!(done.acted.evidence, Evidence::ReadBack, "{done:?}");
    logged(&stage, "answer=yes").await;
    let fine = seen.iter().find(|one| one.name.starts_with("Fine")).unwrap();
    let right = ElementAction::Click { button: Button::Middle, count: 1 };
    operate(&desktop, of(fine), right).await.unwrap();
    operate(&desktop, of(fine), CLICK).await.unwrap();
    logged(&stage, "dialog=closed").await;
    assert_eq!(stage.said("gtk4").iter().filter(|line| line.starts_with("answer=")).count(), 1);
}
