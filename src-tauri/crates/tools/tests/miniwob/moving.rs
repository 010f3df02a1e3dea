//! Tasks whose pages change by themselves: what moves, blinks or has a price.

use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};
use browser::WebElement;
use serde_json::json;

use crate::mind::{Mind, See, hinted, in_order, middle, tasks};
use crate::words::between;

tasks! {
    "chase-circle" => a_circle_that_moves,
    "moving-items" => circles_that_pass,
    "simon-says" => what_lights_up,
    "stock-market" => a_low_price,
    "drag-cube" => a_side_of_a_cube,
}

/// As long as an episode of those that end by themselves.
const EPISODE: Duration = Duration::from_secs(10);

async fn a_circle_that_moves(mind: &Mind) -> Result<()> {
    let end = Instant::now() + EPISODE;
    while Instant::now() < end {
        let seen = mind.elements(See::All).await?;
        if let Some((x, y)) = seen.iter().find(|one| one.role == "circle").map(middle) {
            mind.call("move", json!({ "x": x, "y": y })).await?;
        }
    }
    Ok(())
}

/// Each look tells where they are, two how fast they go; clicked is where they will be then.
async fn circles_that_pass(mind: &Mind) -> Result<()> {
    let end = Instant::now() + EPISODE;
    let mut before: Option<(Instant, Vec<WebElement>)> = None;
    let mut late = Duration::from_millis(60);
    while Instant::now() < end {
        let seen = mind.elements(See::All).await?;
        let now = Instant::now();
        let circles: Vec<WebElement> = seen.into_iter().filter(|one| one.role == "circle").collect();
        if let Some((then, earlier)) = before.take() {
            let passed = (now - then).as_secs_f64();
            let moved = circles.iter().find_map(|one| {
                let same = earlier.iter().find(|other| other.reference == one.reference)?;
                let ((x, y), (old_x, old_y)) = (middle(one), middle(same));
                let ahead = late.as_secs_f64() / passed;
                ((x - old_x).abs() > 0.1).then_some((x + (x - old_x) * ahead, y + (y - old_y) * ahead))
            });
            if let Some(at) = moved {
                let asked = Instant::now();
                mind.point(at).await?;
                late = asked.elapsed();
                continue;
            }
        }
        before = Some((now, circles));
    }
    Ok(())
}

async fn what_lights_up(mind: &Mind) -> Result<()> {
    let mut order = Vec::new();
    let mut lit = None;
    let mut last = Instant::now();
    // Nothing more lights up.
    while order.is_empty() || last.elapsed() < Duration::from_millis(1_500) {
        let seen = mind.elements(See::Active).await?;
        let now = seen.iter().find(|one| hinted(one, "push")).cloned();
        if let Some(one) = now.as_ref().filter(|one| lit.as_ref() != Some(&one.reference)) {
            order.push(one.clone());
            last = Instant::now();
        }
        lit = now.map(|one| one.reference);
    }
    for button in &order {
        mind.web_click(button).await?;
    }
    Ok(())
}

async fn a_low_price(mind: &Mind) -> Result<()> {
    let task = mind.task().await?;
    let price = |text: &str| text.trim().trim_start_matches('$').trim_end_matches('.').parse::<f64>().ok();
    let most = price(between(&task, "less than ", "")?).context("no price is named")?;
    let buy = mind.named("Buy").await?;
    let end = Instant::now() + EPISODE;
    while Instant::now() < end {
        let (_, lines) = mind.read().await?;
        let now =
            lines.iter().find_map(|line| price(line.rsplit('$').next().filter(|_| line.contains('$'))?));
        // It may go up by that much before the click comes.
        if now.is_some_and(|now| now < most - 1.5) {
            return mind.web_click(&buy).await;
        }
    }
    bail!("the price never was low enough")
}

async fn a_side_of_a_cube(mind: &Mind) -> Result<()> {
    let task = mind.task().await?;
    let wanted = between(&task, "so that \"", "\"")?;
    for turn in 0..12 {
        let seen = mind.elements(See::Page).await?;
        if seen.iter().any(|one| hinted(one, "active") && one.name == wanted) {
            return mind.click_named("Submit").await;
        }
        let button = mind.named("Submit").await?;
        let sides = in_order(seen.into_iter().filter(|one| one.hint.contains("cube")).collect());
        let (x, y) = middle(sides.first().context("no cube")?);
        let far = button.bounds.width;
        let to = if turn % 5 == 4 { (x, y - far) } else { (x + far, y) };
        mind.drag(&[(x, y), (f64::midpoint(x, to.0), f64::midpoint(y, to.1)), to]).await?;
    }
    bail!("that side does not come")
}
