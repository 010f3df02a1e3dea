//! Tasks whose pages change by themselves.

use std::time::{Duration, Instant};

use anyhow::Result;
use serde_json::json;

use crate::mind::{Mind, See, middle, tasks};

tasks! {
    "chase-circle" => a_circle_that_moves,
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
