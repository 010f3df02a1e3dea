//! Tasks in which something is to be read, or worked out, and written down; or a text is to be marked or scrolled.

use anyhow::{Context as _, Result};
use browser::WebElement;
use serde_json::json;

use crate::mind::{Mind, See, has, hinted, middle, tasks};
use crate::words::{between, first_quoted, number, ordinal, ordinals};

tasks! {
    "find-word" => a_word,
    "read-table" => a_value,
    "read-table-2" => two_values,
    "simple-arithmetic" => a_result,
    "simple-algebra" => an_unknown,
    "text-transform" => slanted_letters,
    "visual-addition" => how_many_boxes,
    "identify-shape" => what_shape_it_is,
    "scroll-text" => the_last_word,
    "scroll-text-2" => to_one_end,
    "sign-agreement" => an_agreement,
    "highlight-text" => marking_a_text,
    "highlight-text-2" => marking_a_text,
}

async fn answer(mind: &Mind, text: &str) -> Result<()> {
    let is_field = |one: &&WebElement| one.role == "textbox" && !has(one, "multiline");
    let field = mind.seek("field", See::Active, |seen| seen.iter().find(is_field).cloned()).await?;
    mind.fill(&field, text).await?;
    mind.click_named("Submit").await
}

async fn a_word(mind: &Mind) -> Result<()> {
    let (task, lines) = mind.read().await?;
    let text = lines.first().context("no text")?;
    let word = text.split_whitespace().nth(ordinal(&task)?).context("no such word")?;
    answer(mind, word.trim_matches(|c: char| !c.is_ascii_alphabetic())).await
}

/// The value that stands beside a key.
fn beside(lines: &[String], key: &str) -> Result<String> {
    let cells = lines.iter().filter_map(|line| line.split_once('\t'));
    let found = cells.map(|(cell, value)| (cell.trim(), value.trim())).find(|(cell, _)| *cell == key);
    found.map(|(_, value)| value.to_owned()).with_context(|| format!("{key:?} is not in {lines:?}"))
}

async fn a_value(mind: &Mind) -> Result<()> {
    let (task, lines) = mind.read().await?;
    answer(mind, &beside(&lines, between(&task, "Enter the value of ", " into the text field")?)?).await
}

async fn two_values(mind: &Mind) -> Result<()> {
    let (_, lines) = mind.read().await?;
    let labels = lines.iter().filter_map(|line| line.strip_suffix(':'));
    for (index, label) in labels.enumerate() {
        mind.fill(&mind.nth("textbox", index).await?, &beside(&lines, label)?).await?;
    }
    mind.click_named("Submit").await
}

async fn a_result(mind: &Mind) -> Result<()> {
    let (_, lines) = mind.read().await?;
    let line = lines.iter().find(|line| line.contains('=')).context("no problem")?;
    let parts: Vec<&str> = line.split_whitespace().collect();
    let (one, other) = (number(parts[0])?, number(parts[2])?);
    let result = match parts[1] {
        "+" => one + other,
        "-" => one - other,
        _ => one * other,
    };
    answer(mind, &result.to_string()).await
}

async fn an_unknown(mind: &Mind) -> Result<()> {
    let (_, lines) = mind.read().await?;
    let line = lines.iter().find(|line| line.contains('=')).context("no problem")?;
    let parts: Vec<&str> = line.split_whitespace().collect();
    let sum = number(parts[4])?;
    let x = match (parts[0], parts[1]) {
        ("x", "+") => sum - number(parts[2])?,
        ("x", _) => sum + number(parts[2])?,
        (other, "+") => sum - number(other)?,
        (other, _) => number(other)? - sum,
    };
    answer(mind, &x.to_string()).await
}

async fn slanted_letters(mind: &Mind) -> Result<()> {
    let (_, lines) = mind.read().await?;
    let letters: String = lines.first().context("no letters")?.split_whitespace().collect();
    answer(mind, &letters).await
}

async fn how_many_boxes(mind: &Mind) -> Result<()> {
    let seen = mind.elements(See::All).await?;
    answer(mind, &seen.iter().filter(|one| hinted(one, "addition-block")).count().to_string()).await
}

async fn what_shape_it_is(mind: &Mind) -> Result<()> {
    let name = mind
        .seek("shape", See::All, |seen| {
            seen.iter().find_map(|one| match one.role.as_str() {
                "rect" => Some("Rectangle"),
                "circle" => Some("Circle"),
                "polygon" => Some("Triangle"),
                "text" if one.name.chars().all(|c| c.is_ascii_digit()) => Some("Number"),
                "text" => Some("Letter"),
                _ => None,
            })
        })
        .await?;
    mind.click_named(name).await
}

async fn the_last_word(mind: &Mind) -> Result<()> {
    let (_, lines) = mind.read().await?;
    // The text may be longer than what is in view; below it there is only the button.
    let text = lines.iter().rfind(|line| *line != "Submit").context("no text")?;
    let word = text.split_whitespace().last().context("no word")?;
    answer(mind, word.trim_end_matches('.')).await
}

async fn to_one_end(mind: &Mind) -> Result<()> {
    let task = mind.task().await?;
    let down = if task.contains("bottom") { 50 } else { -50 };
    mind.scroll(middle(&mind.nth("textbox", 0).await?), down).await?;
    mind.click_named("Submit").await
}

/// What is to be clicked can be clicked when the text was scrolled to its end.
async fn an_agreement(mind: &Mind) -> Result<()> {
    let task = mind.task().await?;
    let Ok(name) = first_quoted(&task) else { return mind.click_named("Cancel").await };
    let button = between(&task, "then press \"", "\"")?;
    mind.scroll(middle(&mind.nth("textbox", 0).await?), 50).await?;
    let enabled = |one: &&WebElement| one.role == "textbox" && one.name == "Name" && !has(one, "disabled");
    let field = mind.seek("open field", See::Active, |seen| seen.iter().find(enabled).cloned()).await?;
    mind.fill(&field, name).await?;
    mind.click_named(button).await
}

/// A paragraph is marked by a triple click of the real pointer; what is marked can be copied.
async fn marking_a_text(mind: &Mind) -> Result<()> {
    let (task, lines) = mind.read().await?;
    let index = ordinals(&task).first().copied().unwrap_or(0);
    let text = lines.iter().filter(|line| *line != "Submit").nth(index).context("no text")?;
    let is_it = |one: &&WebElement| one.name == *text;
    let paragraph = mind.seek("paragraph", See::All, |seen| seen.iter().find(is_it).cloned()).await?;
    let (x, y) = middle(&paragraph);
    for _ in 0..3 {
        mind.call("click", json!({ "x": x, "y": y, "count": 3 })).await?;
        mind.hotkey(&["ctrl", "c"]).await?;
        let copied = mind.call("readClipboard", json!({})).await?;
        if copied["text"].as_str().is_some_and(|copied| copied.trim() == text) {
            return mind.click_named("Submit").await;
        }
    }
    anyhow::bail!("{text:?} could not be marked")
}
