//! Looks at the screen around an action: what it was before, when it came to rest, a picture with the red dot.
//!
//! A picture that cannot be had never changes what is said of the action itself.

use std::time::Duration;

use desktop::{Picture, Shot};
use protocol::geometry::{NormPoint, PixelSize};
use protocol::tool::{ToolError, ToolErrorKind};
use tokio::time::Instant;

use crate::TakenPicture;
use crate::isolated::{self, Cut};
use crate::tool::{Context, DISPLAY, from_desktop, tool_error};

/// Longest wait for one capture around an action; the action's own deadline is not spent on it.
const CAPTURE: Duration = Duration::from_secs(3);
/// Between two looks while the screen comes to rest.
const INTERVAL: Duration = Duration::from_millis(50);
/// Only the hash is wanted, and it is taken of the unscaled pixels.
const PROBE: PixelSize = PixelSize { width: 16, height: 16 };

/// How long to look at a screen that is as before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Patience {
    /// It is known what was done: rest is enough.
    Rest,
    /// Nothing is known but the screen: applications answer late, so "no change" is said only at the very end.
    Change { before: u64 },
}

/// A hash of the pixels as they are; nothing where the screen cannot be captured.
pub(crate) async fn pixels(cx: &Context) -> Option<u64> {
    match capture(cx, None, PROBE, CAPTURE).await {
        Ok(picture) => Some(picture.pixels),
        Err(error) => {
            tracing::debug!(error = error.message, "no look before the action");
            None
        }
    }
}

/// Looks until two looks in a row are equal, or the limit is over; the last one is the picture.
pub(crate) async fn settled(
    cx: &Context,
    dot: Option<NormPoint>,
    patience: Patience,
) -> Result<TakenPicture, ToolError> {
    let end = Instant::now() + cx.limits.settle;
    let mut last: Option<TakenPicture> = None;
    loop {
        let taken = match (capture(cx, dot, cx.limits.picture, CAPTURE).await, last.take()) {
            (Ok(taken), previous) => {
                let rests = previous.is_some_and(|previous| previous.pixels == taken.pixels);
                let as_before = matches!(patience, Patience::Change { before } if before == taken.pixels);
                if rests && !as_before {
                    return Ok(taken);
                }
                taken
            }
            (Err(_), Some(previous)) => return Ok(previous),
            (Err(error), None) => return Err(error),
        };
        if Instant::now() >= end || cx.cancel.is_cancelled() {
            return Ok(taken);
        }
        last = Some(taken);
        tokio::select! {
            biased;
            () = cx.cancel.cancelled() => {}
            () = tokio::time::sleep_until(end.min(Instant::now() + INTERVAL)) => {}
        }
    }
}

async fn capture(
    cx: &Context,
    dot: Option<NormPoint>,
    max: PixelSize,
    within: Duration,
) -> Result<TakenPicture, ToolError> {
    let shot = Shot { dot, ..Shot::of_display(DISPLAY, max, cx.limits.jpeg_quality) };
    let trail = dot.map(|dot| cx.trail_to(dot)).unwrap_or_default();
    let picture = shoot(cx, Shot { trail, ..shot }, within).await?;
    Ok(TakenPicture::of(picture, dot, &[]))
}

/// A picture of any area.
pub(crate) async fn shoot(cx: &Context, shot: Shot, within: Duration) -> Result<Picture, ToolError> {
    let desktop = cx.desktop.clone();
    let within = within.min(cx.limits.timeout);
    match isolated::run(within, &cx.cancel, |_| async move { desktop.screenshot(shot).await }).await {
        (Some(Ok(picture)), _) => Ok(picture),
        (Some(Err(error)), _) => Err(from_desktop(&error)),
        (None, Some(Cut::Panicked(words))) => {
            Err(tool_error(ToolErrorKind::Failed, format!("the capture broke down: {words}")))
        }
        (None, Some(Cut::Stopped)) => Err(tool_error(ToolErrorKind::Cancelled, "stopped")),
        (None, Some(Cut::Late) | None) => {
            Err(tool_error(ToolErrorKind::Timeout, format!("the screen gave no picture within {within:?}")))
        }
    }
}
