//! Looks at the screen around an action: what it was before, when it came to rest, what differs, and one picture with
//! the red dot.
//!
//! Rest and change are seen by thumbnails; only the screen that came to rest is encoded. A look that cannot be had
//! never changes what is said of the action itself.

use std::time::Duration;

use desktop::{Area, DesktopError, Glance, Shot};
use pictures::{Difference, Picture, Thumbnail};
use protocol::geometry::NormPoint;
use protocol::tool::{ToolError, ToolErrorKind};
use tokio::time::Instant;

use crate::supervise::{self, Cut};
use crate::tool::{Context, from_desktop, tool_error};
use crate::{TakenPicture, blackout, withheld};

/// Pictures that are tried where windows come or move meanwhile.
const SHOTS: u32 = 2;
/// Longest wait for one capture around an action; the action's own deadline is not spent on it.
const CAPTURE: Duration = Duration::from_secs(3);
/// Between two looks while the screen comes to rest.
const INTERVAL: Duration = Duration::from_millis(50);
/// Longest wait for rest after an act that is known to have done what it should.
const BRIEF: Duration = Duration::from_millis(250);
/// Longest wait for one glance.
const GLANCE: Duration = Duration::from_millis(700);

/// How long to look at a screen that is as before.
#[derive(Clone, Copy, Debug)]
pub(crate) enum SettlePolicy<'a> {
    /// It was read back what was done: rest is enough, and not for long.
    Confirmed,
    /// What was before is not known.
    Rest,
    /// Nothing is known but the screen: applications answer late, so "no change" is said only at the very end.
    Change { before: &'a ScreenState },
}

/// The screen at one time; a part is `None` if it could not be had.
#[derive(Clone, Debug)]
pub(crate) struct ScreenState {
    pub thumbnail: Option<Thumbnail>,
    pub glance: Option<Glance>,
}

impl ScreenState {
    pub(crate) fn pixels(&self) -> Option<u64> {
        self.thumbnail.as_ref().map(|thumbnail| thumbnail.pixels)
    }

    /// Whether pixels, windows and focus are the same, as far as they are known in both.
    pub(crate) fn is_like(&self, other: &Self) -> bool {
        let same_pixels = self.pixels().zip(other.pixels()).is_none_or(|(one, other)| one == other);
        let same_scene = self.glance.as_ref().zip(other.glance.as_ref()).is_none_or(|(one, other)| {
            (&one.windows, one.active, &one.focused) == (&other.windows, other.active, &other.focused)
        });
        same_pixels && same_scene
    }

    /// Where the pixels differ, in 0-1000 of the display; `None` if they do not, or too little to be seen.
    pub(crate) fn changed_since(&self, before: &Self) -> Option<Difference> {
        before.thumbnail.as_ref()?.difference(self.thumbnail.as_ref()?)
    }

    /// Whether nothing happened between the two, not even what changes no pixel.
    fn rests_since(&self, other: &Self) -> bool {
        let events = |state: &Self| state.glance.as_ref().map(|glance| glance.events);
        self.pixels().is_some() && self.pixels() == other.pixels() && events(self) == events(other)
    }
}

/// The screen as it is before an act.
pub(crate) async fn before(cx: &Context) -> ScreenState {
    look(cx).await.unwrap_or_else(|(error, glance)| {
        tracing::debug!(error = error.message, "no look before the action");
        ScreenState { thumbnail: None, glance }
    })
}

/// Looks until two looks in a row are equal and the picture taken then shows the same, or the limit is over.
pub(crate) async fn settled(
    cx: &Context,
    dot: Option<NormPoint>,
    policy: SettlePolicy<'_>,
) -> Result<(ScreenState, TakenPicture), ToolError> {
    let limit = match policy {
        SettlePolicy::Confirmed => cx.limits.settle.min(BRIEF),
        SettlePolicy::Rest | SettlePolicy::Change { .. } => cx.limits.settle,
    };
    let end = Instant::now() + limit;
    let shot = Shot { dot, ..Shot::of_display(cx.display, cx.limits.picture, cx.limits.jpeg_quality) };
    let trail = dot.map(|dot| cx.trail_to(dot)).unwrap_or_default();
    let shot = Shot { trail, ..shot };
    loop {
        let state = at_rest(cx, policy, end).await?;
        let picture = shoot(cx, shot.clone(), CAPTURE).await?;
        // What changed while it was taken had not come to rest.
        if state.pixels() == Some(picture.pixels) || Instant::now() >= end || cx.cancel.is_cancelled() {
            let picture = TakenPicture::of(picture, dot, &[]);
            let picture = picture.of_display(cx.display, state.thumbnail.clone());
            return Ok((state, picture));
        }
    }
}

/// Looks until two looks in a row are equal, or until `end`.
async fn at_rest(cx: &Context, policy: SettlePolicy<'_>, end: Instant) -> Result<ScreenState, ToolError> {
    let mut last: Option<ScreenState> = None;
    loop {
        let state = match (look(cx).await, last.take()) {
            (Ok(state), previous) => {
                let rests = previous.is_some_and(|previous| state.rests_since(&previous));
                let as_before = matches!(policy, SettlePolicy::Change { before } if state.is_like(before));
                if rests && !as_before {
                    return Ok(state);
                }
                state
            }
            (Err(_), Some(previous)) => return Ok(previous),
            (Err((error, _)), None) => return Err(error),
        };
        if Instant::now() >= end || cx.cancel.is_cancelled() {
            return Ok(state);
        }
        last = Some(state);
        tokio::select! {
            biased;
            () = cx.cancel.cancelled() => {}
            () = tokio::time::sleep_until(end.min(Instant::now() + INTERVAL)) => {}
        }
    }
}

/// A thumbnail and a glance; the glance alone if no thumbnail can be had.
async fn look(cx: &Context) -> Result<ScreenState, (ToolError, Option<Glance>)> {
    let (desktop, area) = (cx.desktop.clone(), Area::Display(cx.display));
    let thumbnail = capture(cx, CAPTURE, async move { desktop.thumbnail(area).await });
    let desktop = cx.desktop.clone();
    let glance = supervise::run(GLANCE, &cx.cancel, |_| async move { desktop.glance().await });
    let (thumbnail, (glance, _)) = tokio::join!(thumbnail, glance);
    let glance = glance.and_then(Result::ok);
    match thumbnail {
        Ok(thumbnail) => Ok(ScreenState { thumbnail: Some(thumbnail), glance }),
        Err(error) => Err((error, glance)),
    }
}

/// A small copy of an area, to compare later ones with; `None` if it cannot be had.
pub(crate) async fn thumbnail(cx: &Context, area: Area) -> Option<Thumbnail> {
    let desktop = cx.desktop.clone();
    capture(cx, CAPTURE, async move { desktop.thumbnail(area).await }).await.ok()
}

/// A picture of any area in which nothing shows that is not read, and no value of a secret.
pub(crate) async fn shoot(cx: &Context, shot: Shot, within: Duration) -> Result<Picture, ToolError> {
    for _ in 0..SHOTS {
        let windows = withheld::windows(&*cx.desktop).await?;
        withheld::in_view(&*cx.desktop, &windows, &shot.area)?;
        let covers = tokio::select! {
            biased;
            () = cx.cancel.cancelled() => return Err(tool_error(ToolErrorKind::Cancelled, "stopped")),
            covers = blackout::covers(&*cx.desktop, &*cx.browser, &cx.secrets, &windows, &shot.area) => covers,
        };
        let (desktop, covered) = (cx.desktop.clone(), Shot { covers, ..shot.clone() });
        let picture = capture(cx, within, async move { desktop.screenshot(covered).await }).await?;
        // It takes a while to find out where secrets show: what came or moved meanwhile is in the picture as well.
        if cx.secrets.is_empty() || withheld::are_the_same(&windows, &withheld::windows(&*cx.desktop).await?)
        {
            return Ok(picture);
        }
    }
    let message =
        "no picture is taken: windows came or moved while it was looked for what must not be seen; try again";
    Err(tool_error(ToolErrorKind::Failed, message))
}

/// Captures within a time; a stop, a panic and being late are told as a tool's errors.
async fn capture<T: Send + 'static>(
    cx: &Context,
    within: Duration,
    work: impl Future<Output = Result<T, DesktopError>> + Send + 'static,
) -> Result<T, ToolError> {
    let within = within.min(cx.limits.timeout);
    match supervise::run(within, &cx.cancel, |_| work).await {
        (Some(Ok(captured)), _) => Ok(captured),
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
