//! Tasks with sliders, spinners and areas whose size is to be changed.

use std::future::Future;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};
use browser::WebElement;

use crate::mind::{Mind, See, hinted, in_order, middle, tasks};
use crate::words::{between, number, numbers, ordinal};

tasks! {
    "use-slider" => one_slider,
    "use-slider-2" => three_sliders,
    "form-sequence" => a_slider_and_a_box,
    "use-spinner" => a_spinner,
    "resize-textarea" => another_size,
}

async fn handles(mind: &Mind) -> Result<Vec<WebElement>> {
    mind.seek("slider", See::Active, |seen| {
        let found = in_order(seen.iter().filter(|one| hinted(one, "ui-slider-handle")).cloned().collect());
        (!found.is_empty()).then_some(found)
    })
    .await
}

/// The numbers that the page shows beside its sliders.
async fn shown(mind: &Mind) -> Result<Vec<i64>> {
    let (_, lines) = mind.read().await?;
    Ok(lines.iter().filter_map(|line| line.parse().ok()).collect())
}

/// Presses keys until a number is as wished.
async fn move_to<F>(mind: &Mind, wanted: i64, (up, down): (&str, &str), now: impl Fn() -> F) -> Result<()>
where
    F: Future<Output = Result<i64>>,
{
    for _ in 0..10 {
        let start = now().await?;
        let (key, steps) = if start < wanted { (up, wanted - start) } else { (down, start - wanted) };
        if steps == 0 {
            return Ok(());
        }
        mind.press(key, u32::try_from(steps)?.min(50)).await?;
        // The page may take its keys one by one.
        let end = Instant::now() + Duration::from_secs(2);
        while now().await? != wanted && Instant::now() < end && steps <= 50 {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }
    bail!("it does not come to {wanted}")
}

/// The handle takes the focus by a real click, and real keys move it.
async fn slide(mind: &Mind, index: usize, wanted: i64) -> Result<()> {
    let handle = handles(mind).await?.into_iter().nth(index).context("no such slider")?;
    mind.click(&handle).await?;
    let now = || async move { shown(mind).await?.get(index).copied().context("no number is shown") };
    move_to(mind, wanted, ("Right", "Left"), now).await
}

async fn one_slider(mind: &Mind) -> Result<()> {
    let task = mind.task().await?;
    slide(mind, 0, number(between(&task, "Select ", " with")?)?).await?;
    mind.click_named("Submit").await
}

async fn three_sliders(mind: &Mind) -> Result<()> {
    let task = mind.task().await?;
    for (index, wanted) in numbers(between(&task, "combination ", " and")?).into_iter().enumerate() {
        slide(mind, index, wanted).await?;
    }
    mind.click_named("Submit").await
}

async fn a_slider_and_a_box(mind: &Mind) -> Result<()> {
    let task = mind.task().await?;
    slide(mind, 0, number(between(&task, "Select ", " with")?)?).await?;
    mind.click(&mind.nth("checkbox", ordinal(&task)?).await?).await?;
    mind.click_named("Submit").await
}

async fn a_spinner(mind: &Mind) -> Result<()> {
    let task = mind.task().await?;
    let wanted = number(between(&task, "Select ", " with")?)?;
    let field = mind.nth("spinbutton", 0).await?;
    mind.click(&field).await?;
    let now = || async move { Ok(mind.nth("spinbutton", 0).await?.value.parse::<i64>().unwrap_or_default()) };
    move_to(mind, wanted, ("Up", "Down"), now).await?;
    mind.click_named("Submit").await
}

/// The corner of the area is dragged.
async fn another_size(mind: &Mind) -> Result<()> {
    let task = mind.task().await?;
    let area = mind.nth("textbox", 0).await?.bounds;
    let corner = mind
        .seek("corner", See::All, |seen| seen.iter().find(|one| hinted(one, "ui-resizable-se")).map(middle))
        .await?;
    let part = if task.contains("larger") { 0.25 } else { -0.25 };
    let to = if task.contains("width") {
        (corner.0 + area.width * part, corner.1)
    } else {
        (corner.0, corner.1 + area.height * part)
    };
    mind.drag(&[corner, to]).await?;
    mind.click_named("Submit").await
}
