//! Tasks in which the right thing is to be clicked: buttons, links, dialogs, menus, what opens and closes.

use anyhow::{Context as _, Result};
use browser::WebElement;

use crate::mind::{Mind, See, has, hinted, middle, tasks};
use crate::words::{between, first_quoted, number, ordinal, quoted};

tasks! {
    "click-test" => the_only_button,
    "click-test-2" => the_button_of_that_name,
    "click-test-transfer" => the_button_of_that_name,
    "click-button-sequence" => one_then_two,
    "click-button" => what_is_quoted,
    "unicode-test" => what_is_quoted,
    "click-link" => what_is_quoted,
    "click-dialog" => closing_a_dialog,
    "click-dialog-2" => a_button_of_a_dialog,
    "click-widget" => a_widget_of_that_kind,
    "focus-text" => focusing_the_only_field,
    "focus-text-2" => focusing_a_field,
    "click-tab" => a_tab,
    "click-tab-2" => a_link_behind_tabs,
    "click-tab-2-easy" => a_link_behind_tabs,
    "click-tab-2-medium" => a_link_behind_tabs,
    "click-tab-2-hard" => a_link_behind_tabs,
    "click-collapsible" => opening_a_section,
    "click-collapsible-nodelay" => opening_a_section,
    "click-collapsible-2" => a_link_within_sections,
    "click-collapsible-2-nodelay" => a_link_within_sections,
    "click-menu" => a_path_of_menus,
    "click-menu-2" => an_item_or_its_icon,
    "button-delay" => one_then_two_later,
    "navigate-tree" => a_file_in_a_tree,
    "find-greatest" => the_greatest_card,
}

async fn the_only_button(mind: &Mind) -> Result<()> {
    mind.click(&mind.nth("button", 0).await?).await
}

async fn the_button_of_that_name(mind: &Mind) -> Result<()> {
    let task = mind.task().await?;
    mind.click_named(between(&task, "Click button ", ".")?).await
}

async fn one_then_two(mind: &Mind) -> Result<()> {
    let task = mind.task().await?;
    mind.click_named(between(&task, "Click button ", ",")?).await?;
    mind.click_named(between(&task, "then click button ", ".")?).await
}

/// The waiting is what is asked for.
async fn one_then_two_later(mind: &Mind) -> Result<()> {
    let task = mind.task().await?;
    let (one, two) = (mind.named("ONE").await?, mind.named("TWO").await?);
    mind.web_click(&one).await?;
    tokio::time::sleep(std::time::Duration::from_secs(number(&task)?.unsigned_abs())).await;
    mind.web_click(&two).await
}

async fn what_is_quoted(mind: &Mind) -> Result<()> {
    let task = mind.task().await?;
    mind.web_click(&mind.named(first_quoted(&task)?).await?).await
}

async fn closing_a_dialog(mind: &Mind) -> Result<()> {
    mind.click(&mind.named("Close").await?).await
}

async fn a_button_of_a_dialog(mind: &Mind) -> Result<()> {
    let task = mind.task().await?;
    let name = first_quoted(&task)?;
    mind.click_named(if name == "x" { "Close" } else { name }).await
}

async fn a_widget_of_that_kind(mind: &Mind) -> Result<()> {
    let task = mind.task().await?;
    let (role, lines) = match first_quoted(&task)? {
        "textarea" => ("textbox", true),
        "text" => ("textbox", false),
        kind => (kind, false),
    };
    let is_it = |one: &&WebElement| one.role == role && has(one, "multiline") == lines;
    let widget = mind.seek("widget", See::Active, |seen| seen.iter().find(is_it).cloned()).await?;
    mind.click(&widget).await
}

async fn focusing_the_only_field(mind: &Mind) -> Result<()> {
    mind.click(&mind.nth("textbox", 0).await?).await
}

async fn focusing_a_field(mind: &Mind) -> Result<()> {
    let index = ordinal(&mind.task().await?)?;
    mind.click(&mind.nth("textbox", index).await?).await
}

async fn a_tab(mind: &Mind) -> Result<()> {
    let task = mind.task().await?;
    let name = between(&task, "Click on ", ".")?;
    let is_it = |one: &&WebElement| one.role == "link" && one.name == name;
    let tab = mind.seek(name, See::Active, |seen| seen.iter().find(is_it).cloned()).await?;
    mind.click(&tab).await
}

/// Looks behind each tab; a page that is through covers itself with START.
async fn a_link_behind_tabs(mind: &Mind) -> Result<()> {
    let task = mind.task().await?;
    let wanted = first_quoted(&task)?;
    let all = mind.of_role("tab").await?.len();
    for index in 0..all {
        if index > 0 {
            let seen = mind.elements(See::Active).await?;
            let mut tabs = seen.iter().filter(|one| one.role == "link" && one.href.contains("#tabs-"));
            let tab = tabs.nth(index).cloned().context("a tab is gone")?;
            mind.web_click(&tab).await?;
        }
        let seen = mind.elements(See::Active).await?;
        if seen.iter().any(|one| one.name == "START") {
            return Ok(());
        }
        if let Some(link) = seen.iter().find(|one| one.role == "generic" && one.name == wanted) {
            return mind.web_click(link).await;
        }
    }
    anyhow::bail!("{wanted:?} is behind no tab")
}

async fn opening_a_section(mind: &Mind) -> Result<()> {
    mind.click(&mind.nth("tab", 0).await?).await?;
    mind.seek("open section", See::Active, |seen| seen.iter().find(|one| has(one, "expanded")).map(drop))
        .await?;
    mind.click(&mind.still("Submit").await?).await
}

async fn a_link_within_sections(mind: &Mind) -> Result<()> {
    let task = mind.task().await?;
    let wanted = first_quoted(&task)?;
    for section in mind.of_role("tab").await? {
        let name = section.name;
        mind.web_click(&mind.still(&name).await?).await?;
        mind.still(&name).await?;
        let seen = mind.elements(See::Active).await?;
        if seen.iter().any(|one| one.name == wanted) {
            return mind.click(&mind.still(wanted).await?).await;
        }
    }
    anyhow::bail!("{wanted:?} is in no section")
}

/// Menus open below the pointer; the last is clicked.
async fn a_path_of_menus(mind: &Mind) -> Result<()> {
    let task = mind.task().await?;
    let path: Vec<&str> = between(&task, "Select ", "")?.split('>').collect();
    let (last, menus) = path.split_last().context("no path")?;
    for name in menus {
        let (x, y) = middle(&mind.still(name).await?);
        mind.call("move", serde_json::json!({ "x": x, "y": y })).await?;
    }
    mind.click(&mind.still(last).await?).await
}

/// In the menu, or in the one that opens within it.
async fn an_item_or_its_icon(mind: &Mind) -> Result<()> {
    let task = mind.task().await?;
    let label = quoted(&task).get(1).copied();
    let icon = |one: &WebElement| {
        one.hint.split([' ', ',']).find(|part| part.starts_with("ui-icon-")).map(str::to_owned)
    };
    let wanted = mind.elements(See::All).await?.iter().find_map(icon);
    mind.click_named("Menu").await?;
    // The task shows the icon, too, and comes first.
    let find = |seen: &[WebElement]| match label {
        Some(label) => seen.iter().find(|one| one.name == label).cloned(),
        None => seen.iter().filter(|one| icon(one) == wanted).nth(1).cloned(),
    };
    let more =
        mind.seek("menu", See::All, |seen| seen.iter().find(|one| one.name == "Playback").cloned()).await?;
    if find(&mind.elements(See::All).await?).is_none() {
        let (x, y) = middle(&more);
        mind.call("move", serde_json::json!({ "x": x, "y": y })).await?;
    }
    mind.click(&mind.seek("item", See::All, find).await?).await
}

/// Opens folder after folder by the sign before its name.
async fn a_file_in_a_tree(mind: &Mind) -> Result<()> {
    let task = mind.task().await?;
    let wanted = first_quoted(&task)?;
    loop {
        let seen = mind.elements(See::All).await?;
        // The task names it first.
        let mut named = seen.iter().filter(|one| one.name == wanted && one.role == "generic");
        if let Some(found) = named.next() {
            return mind.web_click(found).await;
        }
        let closed =
            seen.iter().find(|one| hinted(one, "expandable-hitarea")).context("no folder is closed")?;
        mind.web_click(closed).await?;
    }
}

async fn the_greatest_card(mind: &Mind) -> Result<()> {
    let card = mind
        .seek("card", See::Active, |seen| {
            let value = |one: &WebElement| one.name.parse::<i64>().ok();
            let cards = seen.iter().filter_map(|one| Some((value(one)?, one)));
            cards.max_by_key(|(value, _)| *value).map(|(_, one)| one.clone())
        })
        .await?;
    mind.click(&card).await?;
    mind.click_named("Submit").await
}
