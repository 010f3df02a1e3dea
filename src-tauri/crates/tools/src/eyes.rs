//! Looks at the screen around an action: what it was before, when it came to rest, a picture with the red dot, and
//! what differs.
//!
//! A picture that cannot be had never changes what is said of the action itself.

use std::time::Duration;

use desktop::{Glance, Shot};
use pictures::{Difference, Picture, difference};
use protocol::geometry::{NormPoint, PictureBudget, PixelSize};
use protocol::tool::{ToolError, ToolErrorKind};
use tokio::time::Instant;

use crate::TakenPicture;
use crate::isolated::{self, Cut};
use crate::tool::{Context, from_desktop, tool_error};

/// Longest wait for one capture around an action; the action's own deadline is not spent on it.
const CAPTURE: Duration = Duration::from_secs(3);
/// Between two looks while the screen comes to rest.
const INTERVAL: Duration = Duration::from_millis(50);
/// Longest wait for rest after an act that is known to have done what it should.
const BRIEF: Duration = Duration::from_millis(250);
/// Longest wait for one glance.
const GLANCE: Duration = Duration::from_millis(700);
/// Large enough to say where something changed.
const PROBE: PixelSize = PixelSize { width: 640, height: 640 };

/// How long to look at a screen that is as before.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Patience<'a> {
    /// It was read back what was done: rest is enough, and not for long.
    Confirmed,
    /// What was before is not known.
    Rest,
    /// Nothing is known but the screen: applications answer late, so "no change" is said only at the very end.
    Change { before: &'a Look },
}

/// The screen at one time; in parts nothing where it could not be had.
#[derive(Clone, Debug)]
pub(crate) struct Look {
    pub picture: Option<TakenPicture>,
    pub glance: Option<Glance>,
}

impl Look {
    /// Whether pixels, windows and focus are the same, as far as they are known in both.
    pub(crate) fn is_like(&self, other: &Self) -> bool {
        let pixels = |look: &Self| look.picture.as_ref().map(|picture| picture.pixels);
        let same_pixels = pixels(self).zip(pixels(other)).is_none_or(|(one, other)| one == other);
        let same_scene = self.glance.as_ref().zip(other.glance.as_ref()).is_none_or(|(one, other)| {
            (&one.windows, one.active, &one.focused) == (&other.windows, other.active, &other.focused)
        });
        same_pixels && same_scene
    }

    fn has_pixels_of(&self, other: &Self) -> bool {
        let pixels = |look: &Self| look.picture.as_ref().map(|picture| picture.pixels);
        pixels(self).is_some() && pixels(self) == pixels(other)
    }

    /// Whether nothing happened between the two, not even what changes no pixel.
    fn rests_since(&self, other: &Self) -> bool {
        let events = |look: &Self| look.glance.as_ref().map(|glance| glance.events);
        self.has_pixels_of(other) && events(self) == events(other)
    }
}

/// The screen as it is before an act.
pub(crate) async fn before(cx: &Context) -> Look {
    look(cx, None, PROBE).await.unwrap_or_else(|(error, glance)| {
        tracing::debug!(error = error.message, "no look before the action");
        Look { picture: None, glance }
    })
}

/// Looks until two looks in a row are equal, or the limit is over; the last one's is the picture.
pub(crate) async fn settled(
    cx: &Context,
    dot: Option<NormPoint>,
    patience: Patience<'_>,
) -> Result<Look, ToolError> {
    let limit = match patience {
        Patience::Confirmed => cx.limits.settle.min(BRIEF),
        Patience::Rest | Patience::Change { .. } => cx.limits.settle,
    };
    let end = Instant::now() + limit;
    let mut last: Option<Look> = None;
    loop {
        let taken = match (look(cx, dot, cx.limits.picture).await, last.take()) {
            (Ok(taken), previous) => {
                let rests = previous.is_some_and(|previous| taken.rests_since(&previous));
                let as_before = matches!(patience, Patience::Change { before } if taken.is_like(before));
                if rests && !as_before {
                    return Ok(taken);
                }
                taken
            }
            (Err(_), Some(previous)) => return Ok(previous),
            (Err((error, _)), None) => return Err(error),
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

/// Where the pixels differ, in 0-1000 of the display; nothing where they don't, or too little to be seen.
pub(crate) async fn changed(cx: &Context, before: &Look, after: &Look) -> Option<Difference> {
    if after.has_pixels_of(before) {
        return None;
    }
    let before = before.picture.as_ref()?.jpeg.clone();
    // Without the dot, and of the same size.
    let after = capture(cx, None, PROBE, CAPTURE).await.ok()?.jpeg;
    let compared = tokio::task::spawn_blocking(move || difference(&before, &after));
    compared.await.ok().flatten()
}

/// A picture and a glance; the glance alone where no picture can be had.
async fn look(
    cx: &Context,
    dot: Option<NormPoint>,
    max: impl Into<PictureBudget>,
) -> Result<Look, (ToolError, Option<Glance>)> {
    let desktop = cx.desktop.clone();
    let glance = isolated::run(GLANCE, &cx.cancel, |_| async move { desktop.glance().await });
    let (picture, (glance, _)) = tokio::join!(capture(cx, dot, max, CAPTURE), glance);
    let glance = glance.and_then(Result::ok);
    match picture {
        Ok(picture) => Ok(Look { picture: Some(picture), glance }),
        Err(error) => Err((error, glance)),
    }
}

async fn capture(
    cx: &Context,
    dot: Option<NormPoint>,
    max: impl Into<PictureBudget>,
    within: Duration,
) -> Result<TakenPicture, ToolError> {
    let shot = Shot { dot, ..Shot::of_display(cx.display, max, cx.limits.jpeg_quality) };
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
