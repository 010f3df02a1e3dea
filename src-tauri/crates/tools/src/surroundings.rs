//! What the screen shows around the points that a call acts at: a yes counts for what was there when it was asked for.

use std::time::Duration;

use desktop::Area;
use protocol::geometry::{NormPoint, NormRect};
use protocol::tool::{Approval, ToolCall, ToolError, ToolErrorKind};
use sha2::{Digest, Sha256};
use tokio::time::Instant;

use crate::digest::hex;
use crate::plan::Step;
use crate::reach::Reach;
use crate::tool::tool_error;
use crate::{Limits, Router};

/// What counts as around a point, to each side of it, in 0-1000 of the display: a button with its words, a line with those
/// beside it.
const SIDEWAYS: f64 = 60.0;
const UPRIGHT: f64 = 40.0;
/// Longest wait for one look.
const LOOK: Duration = Duration::from_secs(1);
/// How long the screen may take to show the same again: a window that gets the focus is drawn anew, a caret blinks.
const PATIENCE: Duration = Duration::from_secs(2);
const INTERVAL: Duration = Duration::from_millis(50);

/// What the user's own hands did in others' windows while a question stood open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Meanwhile {
    /// Nothing, or nobody knows.
    Idle,
    /// Keys or buttons were pressed: what the act would meet may be another, even where it looks the same.
    Used,
}

impl Router {
    /// Two hashes of what the screen shows around the points that a call acts at, the same in every process: of its pixels,
    /// and of what the elements there are called. `None` if it acts at none, or if the screen cannot be looked at.
    pub async fn surroundings(&self, call: &ToolCall, limits: &Limits) -> Option<String> {
        let pixels = self.look_at(&self.places(call, limits)).await?;
        let names = self.names_around(call, limits).await.unwrap_or_default();
        Some(format!("{pixels} {names}"))
    }

    /// Puts back what was there when a call was asked for: its window in front, and around its points what was seen, or
    /// the very elements that were named.
    ///
    /// # Errors
    /// What is not there any more, or cannot be shown to be.
    pub async fn restore(
        &self,
        asked: &Approval,
        meanwhile: Meanwhile,
        limits: &Limits,
    ) -> Result<(), ToolError> {
        let tools = self.registry().all();
        // What has no plan any more is refused by whoever runs it.
        let Ok(step) = self.env(limits, &tools).plan(&asked.call.tool, &asked.call.arguments) else {
            return Ok(());
        };
        let goes_to = |is: fn(&Reach) -> bool| step.parts().any(|part| is(part.plan().reach()));
        if meanwhile == Meanwhile::Used && goes_to(Reach::is_on_the_screen) {
            let message = "not done: the user has used the mouse or the keyboard elsewhere since it was asked for; look again \
                           before you act";
            return Err(tool_error(ToolErrorKind::Cancelled, message));
        }
        match &asked.window {
            Some(window) => {
                let restored = self.restore_focus(&window.clone().into()).await;
                if goes_to(Reach::is_on_the_screen) {
                    restored?;
                }
            }
            None if goes_to(Reach::takes_keys) && self.focus().await.is_some() => {
                return Err(changed("no window was in front"));
            }
            None => {}
        }
        let places = step.places();
        if places.is_empty() {
            return Ok(());
        }
        let seen = asked.seen.as_ref().ok_or_else(|| changed("the screen could not be looked at"))?;
        // In journals of before there are no names.
        let (pixels, names) = seen.split_once(' ').map_or((seen.as_str(), None), |(a, b)| (a, Some(b)));
        let end = Instant::now() + PATIENCE;
        loop {
            // What stands beside a button says what it is for: where rows change places, each has a button of the same
            // name, and the screen may not have been drawn anew yet.
            let now = self.names_around(&asked.call, limits).await;
            let names_are_the_same = names.is_none_or(|names| now.as_deref() == Some(names));
            if names_are_the_same && self.look_at(&places).await.as_deref() == Some(pixels) {
                return Ok(());
            }
            // A pointer that has gone elsewhere leaves a button in another colour.
            if names_are_the_same
                && names.is_some()
                && self.goes_to_elements(&asked.call, limits).await.is_some_and(|now| now == asked.goes_to)
            {
                return Ok(());
            }
            if Instant::now() >= end {
                return Err(changed("the screen showed something else there"));
            }
            tokio::time::sleep(INTERVAL).await;
        }
    }

    /// A hash of the names and values of the elements around the points that a call acts at, in their order.
    async fn names_around(&self, call: &ToolCall, limits: &Limits) -> Option<String> {
        let tools = self.registry().all();
        let step = self.env(limits, &tools).plan(&call.tool, &call.arguments).ok()?;
        let mut names = Sha256::new();
        for part in step.parts() {
            let plan = part.plan();
            let Some(area) = around(plan.points()) else { continue };
            for element in self.elements_in(&area, plan.points(), plan.display(), limits).await {
                for text in [&element.role, &element.name, &element.value] {
                    names.update(text.len().to_le_bytes());
                    names.update(text);
                }
            }
        }
        Some(hex(&names.finalize()))
    }

    /// Of the areas around the points that a call acts at.
    fn places(&self, call: &ToolCall, limits: &Limits) -> Vec<Area> {
        let tools = self.registry().all();
        let env = self.env(limits, &tools);
        env.plan(&call.tool, &call.arguments).map_or_else(|_| Vec::new(), |step| step.places())
    }

    async fn look_at(&self, places: &[Area]) -> Option<String> {
        let mut seen = Sha256::new();
        for place in places {
            let look = self.desktop().thumbnail(place.clone());
            let thumbnail = tokio::time::timeout(LOOK, look).await.ok()?.ok()?;
            // In full: so small an area is not scaled down. The hash tells colours of the same brightness apart.
            seen.update(thumbnail.pixels.to_le_bytes());
            seen.update(thumbnail.grey());
        }
        (!places.is_empty()).then(|| hex(&seen.finalize()))
    }
}

impl Step {
    fn places(&self) -> Vec<Area> {
        let plan = self.plan();
        let own = around(plan.points()).map(|rect| Area::Region { display: plan.display(), rect });
        own.into_iter().chain(plan.steps().iter().flat_map(Self::places)).collect()
    }
}

/// What lies around these points; `None` if there are none.
fn around(points: &[NormPoint]) -> Option<NormRect> {
    let edges = |of: fn(NormPoint) -> f64, margin: f64| {
        let low = points.iter().copied().map(of).reduce(f64::min)? - margin;
        let high = points.iter().copied().map(of).reduce(f64::max)? + margin;
        Some((low.max(0.0), high.min(1000.0)))
    };
    let ((left, right), (top, bottom)) = (edges(NormPoint::x, SIDEWAYS)?, edges(NormPoint::y, UPRIGHT)?);
    Some(NormRect { x: left, y: top, width: right - left, height: bottom - top })
}

fn changed(why: &str) -> ToolError {
    let message = format!(
        "not done: it was allowed for a screen that is no more ({why} when it was asked for); look again before you act"
    );
    tool_error(ToolErrorKind::Cancelled, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_around_points_reaches_to_the_edges_of_the_display_and_not_beyond() {
        let point = |x, y| NormPoint::new(x, y).unwrap();
        assert_eq!(around(&[]), None);
        let rect = |x, y, width, height| Some(NormRect { x, y, width, height });
        assert_eq!(around(&[point(500.0, 500.0)]), rect(440.0, 460.0, 120.0, 80.0));
        assert_eq!(around(&[point(10.0, 990.0)]), rect(0.0, 950.0, 70.0, 50.0));
        assert_eq!(around(&[point(100.0, 100.0), point(300.0, 60.0)]), rect(40.0, 20.0, 320.0, 120.0));
    }
}
