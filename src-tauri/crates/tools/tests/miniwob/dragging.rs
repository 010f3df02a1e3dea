//! Tasks in which something is to be dragged with the real pointer: boxes, shapes, the rows of a list.

use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};
use browser::WebElement;

use crate::mind::{Mind, Point, See, in_order, middle, tasks};
use crate::words::{between, colour, colour_in, ordinal};

tasks! {
    "drag-box" => one_box_into_another,
    "drag-circle" => a_shape_to_one_side,
    "drag-single-shape" => a_shape_to_one_side,
    "drag-shapes" => shapes_into_a_box,
    "drag-shapes-2" => shapes_into_two_boxes,
    "drag-items" => a_row_to_its_place,
    "drag-items-grid" => a_box_to_its_place,
    "drag-sort-numbers" => rows_in_order,
}

async fn one_box_into_another(mind: &Mind) -> Result<()> {
    let seen = mind.elements(See::All).await?;
    let named = |name: &str| seen.iter().find(|one| one.name == name).map(middle);
    mind.drag(&[named("s").context("no small box")?, named("L").context("no large box")?]).await?;
    mind.click_named("Submit").await
}

fn is_shape(one: &WebElement) -> bool {
    ["circle", "rect", "polygon"].contains(&one.role.as_str())
}

async fn a_shape_to_one_side(mind: &Mind) -> Result<()> {
    let task = mind.task().await?;
    let shape = mind.seek("shape", See::All, |seen| seen.iter().find(|one| is_shape(one)).cloned()).await?;
    let (x, y) = middle(&shape);
    let (width, height) = (shape.bounds.width, shape.bounds.height);
    let sides = [
        ("left", (x - width, y)),
        ("right", (x + width, y)),
        ("up", (x, y - height)),
        ("down", (x, y + height)),
    ];
    let side = sides.iter().find(|(word, _)| task.contains(&format!(" {word} then")));
    mind.drag(&[(x, y), side.context("no side is named")?.1]).await?;
    mind.click_named("Submit").await
}

/// The frames, which have no colour within, and the shapes, which have one.
async fn frames_and_shapes(mind: &Mind) -> Result<(Vec<WebElement>, Vec<WebElement>)> {
    let seen = mind.elements(See::All).await?;
    let (filled, empty): (Vec<_>, Vec<_>) =
        seen.into_iter().filter(is_shape).partition(|one| colour_in(&one.hint).is_some());
    Ok((in_order(empty), filled))
}

/// Whether a shape is of the kind, or the colour, that the task names after "all".
fn is_meant(task: &str, shape: &WebElement) -> bool {
    let word = between(task, "Drag all ", " ").unwrap_or_default();
    let role = match word {
        "rectangles" => "rect",
        "circles" => "circle",
        "triangles" => "polygon",
        name => return colour(name) == colour_in(&shape.hint),
    };
    shape.role == role
}

async fn shapes_into_a_box(mind: &Mind) -> Result<()> {
    let task = mind.task().await?;
    let (frames, shapes) = frames_and_shapes(mind).await?;
    let frame = middle(frames.first().context("no box")?);
    for shape in shapes.iter().filter(|shape| is_meant(&task, shape)) {
        mind.drag(&[middle(shape), frame]).await?;
    }
    mind.click_named("Submit").await
}

async fn shapes_into_two_boxes(mind: &Mind) -> Result<()> {
    let task = mind.task().await?;
    let (mut frames, shapes) = frames_and_shapes(mind).await?;
    frames.sort_by(|one, other| one.bounds.x.partial_cmp(&other.bounds.x).unwrap());
    let [left, right] = &frames[..] else { bail!("{} boxes", frames.len()) };
    for shape in &shapes {
        let frame = if is_meant(&task, shape) { left } else { right };
        mind.drag(&[middle(shape), middle(frame)]).await?;
    }
    mind.click_named("Submit").await
}

/// The rows of a list by their texts, from above.
async fn rows(mind: &Mind) -> Result<Vec<WebElement>> {
    let seen = mind.elements(See::All).await?;
    let below_the_task = |one: &&WebElement| {
        one.role == "generic"
            && !one.name.is_empty()
            && seen.first().is_some_and(|task| one.bounds.y > task.bounds.y)
    };
    // To the right of the page there are the scores.
    let edge = seen.first().map_or(0.0, |task| task.bounds.x + task.bounds.width);
    Ok(in_order(seen.iter().filter(below_the_task).filter(|one| one.bounds.x < edge).cloned().collect()))
}

/// A little beyond the middle of where it is to be: the others make room when they are passed.
fn beyond(from: Point, target: &WebElement) -> Vec<Point> {
    let (x, y) = middle(target);
    let past = |now: f64, then: f64, size: f64| {
        if (then - now).abs() < size * 0.4 { 0.0 } else { size * 0.3 * (then - now).signum() }
    };
    let end = (x + past(from.0, x, target.bounds.width), y + past(from.1, y, target.bounds.height));
    vec![from, ((from.0 + end.0) / 2.0, (from.1 + end.1) / 2.0), end]
}

async fn a_row_to_its_place(mind: &Mind) -> Result<()> {
    let task = mind.task().await?;
    let rows = rows(mind).await?;
    let index = rows.iter().position(|row| task.starts_with(&format!("Drag {} ", row.name)));
    let index = index.context("no such row")?;
    let target = if task.contains("to the top") {
        0
    } else if task.contains("to the bottom") {
        rows.len() - 1
    } else if task.contains("down by one") {
        index + 1
    } else if task.contains("up by one") {
        index - 1
    } else {
        ordinal(&task)?
    };
    mind.drag(&beyond(middle(&rows[index]), &rows[target])).await
}

/// Of three rows with three boxes each.
async fn a_box_to_its_place(mind: &Mind) -> Result<()> {
    let task = mind.task().await?;
    let boxes = rows(mind).await?;
    let index = boxes.iter().position(|one| task.starts_with(&format!("Drag {} ", one.name)));
    let index = index.context("no such box")?;
    let place = |before: &str, after: &str| match (task.contains(before), task.contains(after)) {
        (true, _) => 0,
        (_, true) => 2,
        _ => 1,
    };
    let target = match between(&task, " to the ", ".") {
        Ok(_) => place(" top", " bottom") * 3 + place(" left", " right"),
        Err(_) => index + place(" up ", " down ") * 3 + place(" left ", " right ") - 4,
    };
    mind.drag(&beyond(middle(&boxes[index]), &boxes[target])).await
}

async fn numbered_rows(mind: &Mind) -> Result<Vec<(i64, WebElement)>> {
    let rows = rows(mind).await?.into_iter();
    Ok(rows.filter_map(|row| Some((row.name.parse().ok()?, row))).collect())
}

/// The least of those that are left is brought up, row by row.
async fn rows_in_order(mind: &Mind) -> Result<()> {
    let mut rows = numbered_rows(mind).await?;
    for place in 0..rows.len() {
        let least = (place..rows.len()).min_by_key(|index| rows[*index].0).context("no numbers")?;
        let value = rows[least].0;
        if least == place {
            continue;
        }
        mind.drag(&beyond(middle(&rows[least].1), &rows[place].1)).await?;
        let end = Instant::now() + Duration::from_secs(10);
        while rows.get(place).map(|row| row.0) != Some(value) {
            if Instant::now() >= end {
                bail!("{value} did not come to place {place}");
            }
            rows = numbered_rows(mind).await?;
        }
    }
    mind.click_named("Submit").await
}
