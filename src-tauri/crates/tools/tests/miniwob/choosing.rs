//! Tasks in which something is to be chosen: boxes, options, lists, colours, dates.

use anyhow::{Context as _, Result, bail};
use browser::WebElement;

use crate::entering::complete;
use crate::mind::{Mind, See, has, hinted, in_order, middle, tasks};
use crate::words::{between, colour, colour_in, first_quoted, number, numbers, ordinal, ordinals};

tasks! {
    "click-option" => an_option,
    "click-checkboxes" => boxes,
    "click-checkboxes-large" => boxes,
    "click-checkboxes-transfer" => boxes,
    "choose-list" => one_of_a_list,
    "click-scroll-list" => some_of_a_list,
    "form-sequence-2" => a_radio_and_a_field,
    "form-sequence-3" => a_drawn_list,
    "click-color" => a_box_by_its_colour,
    "click-shades" => boxes_by_their_shade,
    "choose-date" => a_date,
    "choose-date-easy" => a_date,
    "choose-date-medium" => a_date,
    "choose-date-nodelay" => a_date,
    "number-checkboxes" => a_number_in_boxes,
    "order-food" => dishes,
    "odd-or-even" => odd_or_even,
    "buy-ticket" => a_ticket,
    "book-flight" => a_flight,
    "book-flight-nodelay" => a_flight,
}

async fn an_option(mind: &Mind) -> Result<()> {
    let task = mind.task().await?;
    mind.click_named(between(&task, "Select ", " and click Submit")?).await?;
    mind.click_named("Submit").await
}

async fn boxes(mind: &Mind) -> Result<()> {
    let task = mind.task().await?;
    let names = between(&task, "Select ", " and click Submit")?;
    let boxes = mind.elements(See::Active).await?;
    let at = |name: &str| {
        let found = boxes.iter().find(|one| one.role == "checkbox" && one.name == name);
        found.map(middle).with_context(|| format!("no box {name:?}"))
    };
    let names = names.split(", ").filter(|name| *name != "nothing");
    mind.points(&names.map(at).collect::<Result<Vec<_>>>()?).await?;
    mind.click_named("Submit").await
}

/// As the pictures beside the boxes have them.
const DIGITS: [&str; 10] = [
    ".##. #..# #..# #..# #..# #..# .##.",
    "..#. .##. ..#. ..#. ..#. ..#. ..#.",
    ".##. #..# #..# ..#. .#.. #... ####",
    ".##. #..# ...# .##. ...# #..# .##.",
    "#... #.#. #.#. #### ..#. ..#. ..#.",
    "#### #... #... ###. ...# #..# .##.",
    ".##. #..# #... ###. #..# #..# .##.",
    "#### #..# ...# ..#. ..#. .#.. .#..",
    ".##. #..# #..# .##. #..# #..# .##.",
    ".##. #..# #..# .### ...# #..# .##.",
];

async fn a_number_in_boxes(mind: &Mind) -> Result<()> {
    let digit: usize = first_quoted(&mind.task().await?)?.parse()?;
    // A click may get lost: it is looked again.
    for _ in 0..5 {
        let boxes = mind.of_role("checkbox").await?;
        let marks = DIGITS[digit].chars().filter(|mark| *mark != ' ').map(|mark| mark == '#');
        let other = boxes.iter().zip(marks).filter(|(one, mark)| has(one, "checked") != *mark);
        let other: Vec<_> = other.map(|(one, _)| middle(one)).collect();
        if other.is_empty() {
            return mind.click_named("Submit").await;
        }
        mind.points(&other).await?;
    }
    bail!("the boxes do not come to show {digit}")
}

/// A menu that is scrolled: each dish has its name, pictures of what is in it, and a plus behind them.
async fn dishes(mind: &Mind) -> Result<()> {
    let task = mind.task().await?;
    let (mut menu, mut says) = (Vec::new(), Vec::new());
    for one in mind.elements(See::Page).await? {
        match one.name.as_str() {
            "+" => menu.push((std::mem::take(&mut says), one)),
            name => says.push(name.to_owned()),
        }
    }
    let add = |word: &str| {
        let dish = menu.iter().find(|(says, _)| says.iter().any(|one| one == word));
        dish.map(|(_, add)| add).with_context(|| format!("no dish {word:?} in {menu:?}"))
    };
    let wanted = match between(&task, "one of each item: ", "") {
        Ok(names) => names.split(", ").map(add).collect::<Result<Vec<_>>>()?,
        Err(_) => vec![add(between(&task, "items that are ", "")?)?; usize::try_from(number(&task)?)?],
    };
    for one in wanted {
        mind.web_click(one).await?;
    }
    let is = |seen: &[WebElement]| seen.iter().find(|one| one.name == "Order!").cloned();
    mind.web_click(&mind.seek("Order!", See::Page, is).await?).await
}

async fn one_of_a_list(mind: &Mind) -> Result<()> {
    let task = mind.task().await?;
    let list = mind.nth("combobox", 0).await?;
    mind.fill(&list, between(&task, "Select ", " from the list")?).await?;
    mind.click_named("Submit").await
}

async fn some_of_a_list(mind: &Mind) -> Result<()> {
    let task = mind.task().await?;
    let list = mind.nth("listbox", 0).await?;
    mind.fill(&list, &between(&task, "Select ", " from the scroll list")?.replace(", ", "\n")).await?;
    mind.click_named("Submit").await
}

async fn a_radio_and_a_field(mind: &Mind) -> Result<()> {
    let task = mind.task().await?;
    let places = ordinals(&task);
    let [radio, field] = places[..] else { bail!("two places are named in {task:?}") };
    mind.click(&mind.nth("radio", radio).await?).await?;
    mind.fill(&mind.nth("textbox", field).await?, first_quoted(&task)?).await?;
    mind.click_named("Submit").await
}

/// A list that a page draws itself, out of plain boxes.
async fn a_drawn_list(mind: &Mind) -> Result<()> {
    let task = mind.task().await?;
    let wanted = between(&task, "Choose ", " from the dropdown")?;
    let opener = mind
        .seek("list", See::Active, |seen| {
            seen.iter().find(|one| one.role == "generic" || one.role == "combobox").cloned()
        })
        .await?;
    mind.click(&opener).await?;
    let item = mind
        .seek(wanted, See::Page, |seen| {
            seen.iter().find(|one| one.role == "listitem" && one.name == wanted).cloned()
        })
        .await?;
    mind.click(&item).await?;
    mind.click_named(first_quoted(&task)?).await
}

async fn a_box_by_its_colour(mind: &Mind) -> Result<()> {
    let (task, _) = mind.read().await?;
    let seen = mind.elements(See::All).await?;
    let mut swatches = seen.iter().filter(|one| hinted(one, "color"));
    let wanted = match between(&task, "Click on the ", " colored box") {
        Ok(name) => colour(name).with_context(|| format!("{name:?} is no known colour"))?.to_owned(),
        // The first one shows what is asked for.
        Err(_) => swatches.next().and_then(|one| colour_in(&one.hint)).context("no colour")?.to_owned(),
    };
    let found = swatches.find(|one| colour_in(&one.hint) == Some(&wanted)).context("no such box")?;
    mind.click(found).await
}

async fn boxes_by_their_shade(mind: &Mind) -> Result<()> {
    let task = mind.task().await?;
    let wanted = ["red", "green", "blue"].iter().position(|name| task.contains(&format!("shades of {name}")));
    let wanted = wanted.context("no colour is named")?;
    let strongest = |code: &str| {
        let part = |at: usize| u8::from_str_radix(code.get(at..at + 2).unwrap_or("0"), 16).unwrap_or(0);
        let parts = [part(1), part(3), part(5)];
        (0..3).max_by_key(|index| parts[*index]).unwrap_or(0)
    };
    let seen = mind.elements(See::All).await?;
    let is_meant = |one: &&WebElement| {
        one.role == "generic" && one.name.is_empty() && colour_in(&one.hint).map(strongest) == Some(wanted)
    };
    mind.points(&seen.iter().filter(is_meant).map(middle).collect::<Vec<_>>()).await?;
    mind.click_named("Submit").await
}

const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];

async fn a_date(mind: &Mind) -> Result<()> {
    let task = mind.task().await?;
    pick_date(mind, 0, between(&task, "Select ", " as the date")?).await?;
    // The calendar closes slowly.
    let free = |one: &&WebElement| one.name == "Submit" && !has(one, "covered");
    let submit = mind.seek("free button", See::Active, |seen| seen.iter().find(free).cloned()).await?;
    mind.click(&submit).await
}

/// Of the field at this place. Its calendar shows one month; the way back is one arrow.
async fn pick_date(mind: &Mind, field: usize, date: &str) -> Result<()> {
    let [month, day, _year] = numbers(&date.replace('/', " "))[..] else { bail!("{date:?} is no date") };
    mind.click(&mind.nth("textbox", field).await?).await?;
    mind.named("Prev").await?;
    let seen = mind.elements(See::All).await?;
    let shown = MONTHS.iter().position(|name| seen.iter().any(|one| one.name.contains(name)));
    let back = i64::try_from(shown.context("no month is shown")?)? + 1 - month;
    if back > 0 {
        let arrow = middle(&mind.still("Prev").await?);
        mind.points(&vec![arrow; usize::try_from(back)?]).await?;
    }
    let day = day.to_string();
    let name = MONTHS[usize::try_from(month - 1)?];
    mind.seek(name, See::All, |seen| seen.iter().find(|one| one.name.contains(name)).map(drop)).await?;
    mind.click(&mind.still(&day).await?).await
}

async fn odd_or_even(mind: &Mind) -> Result<()> {
    let (_, lines) = mind.read().await?;
    let shown: Vec<i64> = lines.iter().filter_map(|line| line.parse().ok()).collect();
    let seen = mind.elements(See::Active).await?;
    let mut places = Vec::new();
    for (index, number) in shown.iter().enumerate() {
        let name = if number % 2 == 0 { "Even" } else { "Odd" };
        let rows = in_order(seen.iter().filter(|one| one.name == name).cloned().collect());
        places.push(middle(rows.get(index).context("no such row")?));
    }
    mind.points(&places).await?;
    mind.click_named("Submit").await
}

async fn a_ticket(mind: &Mind) -> Result<()> {
    let (task, lines) = mind.read().await?;
    mind.click(&mind.nth("button", best(&task, &lines)?).await?).await
}

/// From here to there on a day; then the best of what is found.
async fn a_flight(mind: &Mind) -> Result<()> {
    let task = mind.task().await?;
    let ends = [between(&task, "from: ", " to: ")?, between(&task, " to: ", " on ")?];
    for (index, end) in ends.into_iter().enumerate() {
        complete(mind, &mind.nth("textbox", index).await?, end, |name| name.contains(end)).await?;
    }
    pick_date(mind, ends.len(), between(&task, " on ", "")?).await?;
    mind.web_click(&mind.still("Search").await?).await?;
    mind.named("Back").await?;
    let (_, lines) = mind.read().await?;
    // Some are out of view.
    let mut offers = in_order(mind.elements(See::Page).await?);
    offers.retain(|one| one.role == "button" && one.name.contains('$'));
    mind.web_click(offers.get(best(&task, &lines)?).context("no such flight")?).await
}

/// Which of the offers is the cheapest, the shortest, the dearest or the longest.
fn best(task: &str, lines: &[String]) -> Result<usize> {
    let minutes = |line: &String| {
        let (hours, minutes) = line.strip_suffix('m')?.split_once("h ")?;
        Some(hours.parse::<i64>().ok()? * 60 + minutes.parse::<i64>().ok()?)
    };
    let price = |line: &String| number(line.split_once('$')?.1).ok();
    let values: Vec<i64> = match task.contains("duration") || task.contains("shortest") {
        true => lines.iter().filter_map(minutes).collect(),
        false => lines.iter().filter_map(price).collect(),
    };
    let by_value = |index: &usize| values[*index];
    let index = match task.contains("cheapest") || task.contains("shortest") {
        true => (0..values.len()).min_by_key(by_value),
        false => (0..values.len()).max_by_key(by_value),
    };
    index.context("no offer")
}

#[test]
fn places_are_read_from_words() {
    assert_eq!(ordinals("Check the 1st radio button ... into the 3rd textbox."), [0, 2]);
    assert_eq!(ordinal("the 12th word").unwrap(), 11);
}
