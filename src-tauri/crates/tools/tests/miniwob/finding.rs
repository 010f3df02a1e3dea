//! Tasks in which something is to be found by searching, leafing or looking: results, contacts, shapes, a hot spot.

use anyhow::{Context as _, Result, bail};
use browser::WebElement;
use serde_json::json;

use crate::mind::{Mind, Point, See, hinted, in_order, middle, tasks};
use crate::words::{between, colour, colour_in, first_quoted, ordinal};

tasks! {
    "search-engine" => a_result,
    "phone-book" => a_contact,
    "click-shape" => a_shape,
    "count-shape" => how_many_shapes,
    "ascending-numbers" => numbers_in_order,
    "grid-coordinate" => a_point_of_a_grid,
    "hot-cold" => a_hot_spot,
}

/// Three results on a page.
async fn a_result(mind: &Mind) -> Result<()> {
    let task = mind.task().await?;
    let index = ordinal(&task)?;
    mind.fill(&mind.nth("textbox", 0).await?, first_quoted(&task)?).await?;
    mind.click_named("Search").await?;
    if index >= 3 {
        mind.web_click(&mind.named(&(index / 3 + 1).to_string()).await?).await?;
    }
    let result = mind
        .seek("result", See::Active, |seen| {
            let links = seen.iter().filter(|one| one.role == "link" && one.name.len() > 1);
            in_order(links.cloned().collect()).into_iter().nth(index % 3)
        })
        .await?;
    mind.click(&result).await
}

async fn a_contact(mind: &Mind) -> Result<()> {
    let task = mind.task().await?;
    let name = between(&task, "Find ", " in the contact book")?;
    let what = between(&task, "click on their ", ".")?;
    let place = ["phone number", "email", "address"].iter().position(|one| *one == what);
    let place = place.with_context(|| format!("{what:?} is nothing that contacts have"))?;
    for _ in 0..6 {
        let (_, lines) = mind.read().await?;
        if lines.iter().any(|line| line.trim_start_matches(['#', ' ']) == name) {
            let seen = mind.elements(See::Active).await?;
            let links = seen.into_iter().filter(|one| one.role == "link" && one.name.len() > 1);
            let links = in_order(links.collect());
            return mind.click(links.get(place).context("the contact lacks it")?).await;
        }
        mind.web_click(&mind.named(">").await?).await?;
    }
    bail!("{name:?} is in no contact")
}

/// What a task says of a shape: `large red circle`, `small item`, `blue 7`.
struct Shape {
    large: Option<bool>,
    colour: Option<&'static str>,
    kind: String,
}

impl Shape {
    fn of(words: &str) -> Self {
        let mut words: Vec<&str> = words.split_whitespace().collect();
        let kind = words.pop().unwrap_or_default().to_owned();
        let large = words.iter().find_map(|word| match *word {
            "large" => Some(true),
            "small" => Some(false),
            _ => None,
        });
        Self { large, colour: words.iter().find_map(|word| colour(word)), kind }
    }

    fn fits(&self, one: &WebElement, board: f64) -> bool {
        let digit = one.name.chars().all(|c| c.is_ascii_digit());
        let (kind, known) = match one.role.as_str() {
            "rect" => ("shape", "rectangle"),
            "circle" => ("shape", "circle"),
            "polygon" => ("shape", "triangle"),
            "text" if digit => ("digit", one.name.as_str()),
            "text" => ("letter", one.name.as_str()),
            _ => return false,
        };
        // Small ones are half as high as large ones, which are about an eighth of the board.
        let large = one.bounds.height > board * 0.1;
        (self.kind == "item" || self.kind == kind || self.kind == known)
            && self.large.is_none_or(|wanted| wanted == large)
            && self.colour.is_none_or(|wanted| colour_in(&one.hint) == Some(wanted))
    }
}

/// The picture that holds the shapes.
fn board_height(seen: &[WebElement]) -> Result<f64> {
    seen.iter().find(|one| one.role == "image").map(|one| one.bounds.height).context("no board")
}

async fn a_shape(mind: &Mind) -> Result<()> {
    let task = mind.task().await?;
    let wanted = Shape::of(between(&task, "Click on a ", "")?);
    let seen = mind.elements(See::All).await?;
    let board = board_height(&seen)?;
    let shape = seen.iter().find(|one| wanted.fits(one, board)).with_context(|| format!("no {task:?}"))?;
    mind.click(shape).await
}

async fn how_many_shapes(mind: &Mind) -> Result<()> {
    let task = mind.task().await?;
    let wanted = Shape::of(between(&task, "How many ", "s are there")?);
    let seen = mind.elements(See::All).await?;
    let board = board_height(&seen)?;
    let count = seen.iter().filter(|one| wanted.fits(one, board)).count();
    // A shape may be a number, too.
    let name = count.to_string();
    let is_it = |one: &&WebElement| one.role == "button" && one.name == name;
    mind.click(seen.iter().find(is_it).with_context(|| format!("no button {name}"))?).await
}

/// After the first click the numbers are hidden: where they are is kept in mind.
async fn numbers_in_order(mind: &Mind) -> Result<()> {
    let seen = mind.elements(See::All).await?;
    let mut numbers: Vec<_> = seen
        .iter()
        .filter(|one| one.role == "text")
        .filter_map(|one| Some((one.name.parse::<u32>().ok()?, middle(one))))
        .collect();
    numbers.sort_by_key(|(number, _)| *number);
    mind.points(&numbers.into_iter().map(|(_, at)| at).collect::<Vec<_>>()).await
}

async fn a_point_of_a_grid(mind: &Mind) -> Result<()> {
    let task = mind.task().await?;
    let wanted = between(&task, "(", ")")?.split_once(',').context("no point")?;
    let (x, y) = (wanted.0.parse::<i64>()?, wanted.1.parse::<i64>()?);
    let seen = mind.elements(See::All).await?;
    let mut points: Vec<_> = seen.iter().filter(|one| one.role == "circle").map(middle).collect();
    // Column by column from the left; in each from below.
    points.sort_by(|one, other| (one.0.round(), -one.1).partial_cmp(&(other.0.round(), -other.1)).unwrap());
    let index = usize::try_from((x + 2) * 5 + y + 2)?;
    mind.point(*points.get(index).context("the grid is smaller")?).await
}

/// The page says how near the real pointer is; what it says of one place leaves fewer places for the next.
async fn a_hot_spot(mind: &Mind) -> Result<()> {
    let area = mind
        .seek("area", See::All, |seen| seen.iter().find(|one| hinted(one, "touch-area")).cloned())
        .await?;
    let bounds = &area.bounds;
    let wide = mind.wide().await?;
    let all: Vec<Point> = (1..40)
        .flat_map(|column| (1..32).map(move |row| (f64::from(column) / 40.0, f64::from(row) / 32.0)))
        .map(|(x, y)| (bounds.x + x * bounds.width, bounds.y + y * bounds.height))
        .collect();
    let far = |one: &Point, other: &Point| ((one.0 - other.0) * wide).hypot(one.1 - other.1);
    let mut left = all.clone();
    for _ in 0..60 {
        if left.is_empty() {
            // The page answered later than it was asked.
            left.clone_from(&all);
        }
        let count = left.len() as f64;
        let middle = (
            left.iter().map(|at| at.0).sum::<f64>() / count,
            left.iter().map(|at| at.1).sum::<f64>() / count,
        );
        let nearest =
            |one: &&Point, other: &&Point| far(one, &middle).partial_cmp(&far(other, &middle)).unwrap();
        let at = left.iter().min_by(nearest).copied().context("no place is left")?;
        mind.call("move", json!({ "x": at.0, "y": at.1 })).await?;
        let (_, lines) = mind.read().await?;
        // How near is hot, warm and cold, in parts of the area's width.
        let (least, most) = match lines.first().map(String::as_str) {
            Some("HOT") => return mind.point(at).await,
            Some("WARM") => (0.02, 0.08),
            Some("COLD") => (0.05, 0.28),
            _ => (0.24, 9.0),
        };
        let width = bounds.width * wide;
        left.retain(|other| *other != at && (least * width..most * width).contains(&far(other, &at)));
    }
    bail!("no place is hot")
}
