//! GTK 4: places within windows and popovers, lists that scroll on, fields that hold their text. What was really done is
//! told by the log of `apps/gtk4.py`.

use std::sync::Arc;
use std::time::Duration;

use desktop::{Action, Button, Desktop, Element, ElementAction, ElementQuery, Evidence, Glance};
use tokio_util::sync::CancellationToken;

use super::stage::{Stage, by, elements, eventually, find_in, menu, of, operate};

const CLICK: ElementAction = ElementAction::Click { button: Button::Left, count: 1 };

async fn logged(stage: &Stage, line: &str) {
    let ask = || async { stage.logged("gtk4") };
    eventually(line, ask, |lines| lines.iter().any(|one| one == line)).await;
}

async fn orchard(stage: &mut Stage) -> (Arc<dyn Desktop>, Vec<Element>) {
    stage.start_ours("gtk4");
    let desktop = stage.desktop();
    let placed = |seen: &[Element]| find_in(seen, "button", "Ask").is_some_and(|one| one.bounds.width > 0.0);
    let seen = elements(&desktop, "orchard4", placed).await;
    let ask = || async { desktop.glance().await.unwrap() };
    eventually("the window", ask, |now: &Glance| now.active_title() == Some("Orchard")).await;
    (desktop, seen)
}

fn fields(seen: &[Element]) -> Vec<&Element> {
    seen.iter().filter(|one| one.role == "text" && one.states.contains(&"editable".to_owned())).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_clicked_in_a_popover_is_what_was_meant() {
    let mut stage = Stage::open();
    let (desktop, seen) = orchard(&mut stage).await;
    let combo = seen.iter().find(|one| one.role == "combo box").unwrap();
    for fruit in ["Cherry", "Elder", "Banana"] {
        operate(&desktop, of(combo), CLICK).await.unwrap();
        let open = elements(&desktop, "orchard4", |seen| {
            find_in(seen, "list item", fruit).is_some_and(|one| one.bounds.width > 0.0)
        })
        .await;
        operate(&desktop, of(find_in(&open, "list item", fruit).unwrap()), CLICK).await.unwrap();
        logged(&stage, &format!("fruit {fruit}")).await;
        elements(&desktop, "orchard4", |seen| find_in(seen, "list item", fruit).is_none()).await;
    }
    assert_eq!(stage.logged("gtk4"), ["fruit Cherry", "fruit Elder", "fruit Banana"]);

    operate(&desktop, by("orchard4", "button", "Harvest"), CLICK).await.unwrap();
    let open = elements(&desktop, "orchard4", |seen| {
        find_in(seen, "menu item", "Pick Damson").is_some_and(|one| one.bounds.width > 0.0)
    })
    .await;
    let item = find_in(&open, "menu item", "Pick Damson").unwrap();
    let at = item.bounds.center().unwrap();
    let click = Action::Click { display: 0, at, button: Button::Left, count: 1, held: Vec::new() };
    desktop.act(click, CancellationToken::new()).await.unwrap();
    logged(&stage, "menu Damson").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_drop_down_a_menu_bar_and_the_rows_of_a_tree_are_operated_by_name() {
    let mut stage = Stage::open();
    let (desktop, seen) = orchard(&mut stage).await;
    let combo = seen.iter().find(|one| one.role == "combo box").unwrap();
    for fruit in ["Cherry", "Banana"] {
        let done = operate(&desktop, of(combo), ElementAction::SetValue(fruit.into())).await.unwrap();
        assert_eq!(done.acted.evidence, Evidence::ReadBack, "{done:?}");
        logged(&stage, &format!("fruit {fruit}")).await;
    }
    let error = operate(&desktop, of(combo), ElementAction::SetValue("Plum".into())).await.unwrap_err();
    assert!(error.to_string().contains("its items: \"Apple\""), "{error}");

    for (path, line) in [(&["Tools", "Rake"][..], "menu Rake"), (&["Tools", "More", "Spade"], "menu Spade")] {
        menu(&desktop, "orchard4", path).await.unwrap();
        logged(&stage, line).await;
    }

    let north = find_in(&seen, "list item", "North").unwrap();
    assert!(north.actions.contains(&"expand".to_owned()), "{north:?}");
    let done = operate(&desktop, of(north), ElementAction::Do("expand".into())).await.unwrap();
    assert_eq!(done.acted.evidence, Evidence::ReadBack, "{done:?}");
    logged(&stage, "expanded North True").await;
    let moss = |seen: &[Element]| find_in(seen, "list item", "Moss").is_some();
    let open = elements(&desktop, "orchard4", moss).await;
    let north = find_in(&open, "list item", "North").unwrap();
    assert!(north.states.contains(&"expanded".to_owned()), "{north:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_row_is_clicked_where_it_comes_to_rest() {
    let mut stage = Stage::open();
    let (desktop, _) = orchard(&mut stage).await;
    let double = ElementAction::Click { button: Button::Left, count: 2 };
    for number in [30, 3, 77, 120, 60, 199] {
        let name = format!("Tree {number}");
        let query = ElementQuery {
            app: Some("orchard4".into()),
            scope: desktop::Scope::All,
            limit: 3_000,
            deadline: Some(Duration::from_secs(60)),
            ..ElementQuery::default()
        };
        let all = desktop.elements(query).await.unwrap().elements;
        // Only the pointer clicks twice.
        operate(&desktop, of(find_in(&all, "button", &name).unwrap()), double.clone()).await.unwrap();
        logged(&stage, &format!("row {name}")).await;
    }
    let clicked = [30, 3, 77, 120, 60, 199].map(|number| vec![format!("row Tree {number}"); 2]).concat();
    let twelve = |lines: &Vec<String>| lines.len() >= clicked.len();
    let lines = eventually("the last click", || async { stage.logged("gtk4") }, twelve).await;
    assert_eq!(lines, clicked);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_field_takes_a_text_once_and_says_what_it_holds() {
    let mut stage = Stage::open();
    let (desktop, seen) = orchard(&mut stage).await;
    let [name, loud] = fields(&seen)[..] else { panic!("{seen:#?}") };
    let set = |text: &str| ElementAction::SetValue(text.into());
    let done = operate(&desktop, of(name), set("Bashō 古池")).await.unwrap();
    assert_eq!(done.acted.evidence, Evidence::ReadBack, "{done:?}");
    let done = operate(&desktop, of(loud), set("frog")).await.unwrap();
    assert_eq!(done.acted.evidence, Evidence::Sent, "{done:?}");
    assert!(done.acted.note.contains("holds \"FROG\""), "{done:?}");
    let held = |seen: &[Element]| fields(seen).iter().map(|one| one.value.clone()).collect::<Vec<_>>();
    let now = elements(&desktop, "orchard4", |seen| held(seen) == ["Bashō 古池", "FROG"]).await;
    let lines = stage.logged("gtk4");
    let of_name: Vec<&String> = lines.iter().filter(|line| line.starts_with("entry ")).collect();
    assert_eq!(of_name.last().unwrap().as_str(), "entry Bashō 古池", "{lines:?}");
    assert_eq!(lines.iter().filter(|line| line.as_str() == "loud FROG").count(), 1, "{lines:?}");
    let spin = find_in(&now, "spin button", "").unwrap();
    let done = operate(&desktop, of(spin), set("7")).await.unwrap();
    assert_eq!(done.acted.evidence, Evidence::ReadBack, "{done:?}");
    logged(&stage, "spin 7").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_in_a_dialog_is_there_and_takes_text_and_clicks() {
    let mut stage = Stage::open();
    let (desktop, _) = orchard(&mut stage).await;
    operate(&desktop, by("orchard4", "button", "Ask"), CLICK).await.unwrap();
    logged(&stage, "dialog opened").await;
    let ask = || async { desktop.glance().await.unwrap() };
    eventually("the dialog", ask, |now: &Glance| now.windows.iter().any(|one| one.title == "Question")).await;
    let seen = elements(&desktop, "orchard4", |seen| {
        fields(seen).len() == 3 && seen.iter().any(|one| one.name.starts_with("Fine"))
    })
    .await;
    let answer = fields(&seen)[2];
    let done = operate(&desktop, of(answer), ElementAction::SetValue("yes".into())).await.unwrap();
    assert_eq!(done.acted.evidence, Evidence::ReadBack, "{done:?}");
    logged(&stage, "answer yes").await;
    let fine = seen.iter().find(|one| one.name.starts_with("Fine")).unwrap();
    let right = ElementAction::Click { button: Button::Middle, count: 1 };
    operate(&desktop, of(fine), right).await.unwrap();
    operate(&desktop, of(fine), CLICK).await.unwrap();
    logged(&stage, "dialog closed").await;
    assert_eq!(stage.logged("gtk4").iter().filter(|line| line.starts_with("answer")).count(), 1);
}
