//! Tasks of plane geometry, solved with the real pointer: centres, midpoints, angles, lines.

use anyhow::{Context as _, Result};
use browser::WebElement;

use crate::mind::{Mind, Point, See, middle, tasks};
use crate::words::colour_in;

tasks! {
    "circle-center" => the_centre,
    "find-midpoint" => the_midpoint,
    "right-angle" => a_right_angle,
    "bisect-angle" => half_an_angle,
    "draw-line" => a_line,
    "draw-circle" => a_circle,
}

const BLUE: &str = "#0000ff";

async fn circles(mind: &Mind, least: usize) -> Result<Vec<WebElement>> {
    mind.seek("circles", See::All, |seen| {
        let found: Vec<_> = seen.iter().filter(|one| one.role == "circle").cloned().collect();
        (found.len() >= least).then_some(found)
    })
    .await
}

/// Clicks a point and hands it in.
async fn mark(mind: &Mind, at: Point) -> Result<()> {
    mind.point(at).await?;
    mind.click_named("Submit").await
}

async fn the_centre(mind: &Mind) -> Result<()> {
    mark(mind, middle(&circles(mind, 1).await?[0])).await
}

async fn the_midpoint(mind: &Mind) -> Result<()> {
    let found = circles(mind, 2).await?;
    let (one, other) = (middle(&found[0]), middle(&found[1]));
    mark(mind, ((one.0 + other.0) / 2.0, (one.1 + other.1) / 2.0)).await
}

/// The corner, which is blue, and the others.
fn corner(found: &[WebElement]) -> Result<(Point, Vec<Point>)> {
    let is_blue = |one: &&WebElement| colour_in(&one.hint) == Some(BLUE);
    let corner = found.iter().find(is_blue).map(middle).context("no corner is blue")?;
    Ok((corner, found.iter().filter(|one| !is_blue(one)).map(middle).collect()))
}

/// The board on which it is drawn.
async fn board(mind: &Mind) -> Result<WebElement> {
    mind.seek("board", See::All, |seen| {
        seen.iter().find(|one| one.role == "image" && one.bounds.width > 60.0).cloned()
    })
    .await
}

fn on(board: &WebElement, at: Point) -> bool {
    let bounds = &board.bounds;
    at.0 > bounds.x + 3.0
        && at.0 < bounds.x + bounds.width - 3.0
        && at.1 > bounds.y + 4.0
        && at.1 < bounds.y + bounds.height - 4.0
}

async fn a_right_angle(mind: &Mind) -> Result<()> {
    let (corner, others) = corner(&circles(mind, 2).await?)?;
    let (board, wide) = (board(mind).await?, mind.wide().await?);
    let (x, y) = ((others[0].0 - corner.0) * wide, others[0].1 - corner.1);
    // Turned by a quarter to both sides, and as far out as there is room.
    let turned = [0.9, 0.6, 0.4, 0.25].iter().flat_map(|part| [(*part, 1.0), (*part, -1.0)]);
    let mut places =
        turned.map(|(part, side)| (corner.0 - y * part * side / wide, corner.1 + x * part * side));
    mark(mind, places.find(|at| on(&board, *at)).context("there is no room")?).await
}

async fn half_an_angle(mind: &Mind) -> Result<()> {
    let (corner, others) = corner(&circles(mind, 3).await?)?;
    let (board, wide) = (board(mind).await?, mind.wide().await?);
    let unit = |at: &Point| {
        let (x, y) = ((at.0 - corner.0) * wide, at.1 - corner.1);
        let length = x.hypot(y);
        (x / length, y / length, length)
    };
    let (one, other) = (unit(&others[0]), unit(&others[1]));
    let (x, y) = (one.0 + other.0, one.1 + other.1);
    let length = one.2.min(other.2) / x.hypot(y).max(0.01);
    let mut places = [0.9, 0.6, 0.4, 0.2]
        .into_iter()
        .map(|part| (corner.0 + x * length * part / wide, corner.1 + y * length * part));
    mark(mind, places.find(|at| on(&board, *at)).context("there is no room")?).await
}

async fn a_line(mind: &Mind) -> Result<()> {
    let task = mind.task().await?;
    let (x, y) = middle(&circles(mind, 1).await?[0]);
    let board = board(mind).await?;
    let bounds = &board.bounds;
    let path = |part: f64| match task.contains("horizontal") {
        true => (bounds.x + bounds.width * part, y),
        false => (x, bounds.y + bounds.height * part),
    };
    let path: Vec<Point> = (2..=18).map(|step| path(f64::from(step) / 20.0)).collect();
    mind.drag(&path).await?;
    mind.click_named("Submit").await
}

async fn a_circle(mind: &Mind) -> Result<()> {
    let (x, y) = middle(&circles(mind, 1).await?[0]);
    let (bounds, wide) = (board(mind).await?.bounds, mind.wide().await?);
    // As far out as there is room on all sides.
    let room = [
        (x - bounds.x) * wide,
        (bounds.x + bounds.width - x) * wide,
        y - bounds.y,
        bounds.y + bounds.height - y,
    ];
    let radius = room.into_iter().fold(f64::INFINITY, f64::min) * 0.8;
    let path = (0..=40).map(|step| {
        let (sine, cosine) = (f64::from(step) * std::f64::consts::TAU / 40.0).sin_cos();
        (x + radius * cosine / wide, y + radius * sine)
    });
    mind.drag(&path.collect::<Vec<_>>()).await?;
    mind.click_named("Submit").await
}
