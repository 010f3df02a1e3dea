//! What the screen shows where a call acts: a yes counts for what was there when it was asked for.

use std::time::Duration;

use desktop::{Area, Element};
use protocol::geometry::{NormPoint, NormRect};
use protocol::tool::{Approval, ToolCall, ToolError, ToolErrorKind};
use sha2::{Digest, Sha256};
use tokio::time::Instant;

use crate::digest::hex;
use crate::plan::Step;
use crate::reach::Reach;
use crate::tool::tool_error;
use crate::{Limits, Router, goes_to, target, whose};

/// What counts as around a point, to each side of it, in 0-1000 of the display: a button with its words, a line with those
/// beside it.
const SIDEWAYS: f64 = 60.0;
const UPRIGHT: f64 = 40.0;
/// What is no higher, and stands at the same height, is of the same row, however far beside.
const ROW: f64 = 60.0;
/// In 0-1000 of the display: where a field is, roughly.
const GRID: f64 = 4.0;
/// Longest wait for one look.
const LOOK: Duration = Duration::from_secs(1);
/// How long the screen may take to show the same again: a window that gets the focus is drawn anew, a caret blinks.
const PATIENCE: Duration = Duration::from_secs(2);
/// The same on a desktop so busy that looks run out of time: one that did is no evidence.
const LONGEST: Duration = Duration::from_secs(5);
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
    /// Hashes of what the screen shows where a call acts, the same in every process: of the pixels around its points, and for
    /// each of its parts of what the elements there are called. `None` if it acts at no place, or if the screen cannot be
    /// looked at.
    pub async fn surroundings(&self, call: &ToolCall, limits: &Limits) -> Option<String> {
        let tools = self.registry().all();
        let step = self.env(limits, &tools).plan(&call.tool, &call.arguments).ok()?;
        let places = step.places();
        let pixels = match places.is_empty() {
            true => UNKNOWN.to_owned(),
            false => self.look_at(&places).await?,
        };
        let names = self.names_around(&step, limits).await;
        let is_known = !places.is_empty() || names.iter().any(Option::is_some);
        let names: Vec<_> = names.iter().map(|name| name.as_deref().unwrap_or(UNKNOWN)).collect();
        is_known.then(|| format!("{pixels} {}", names.join(",")))
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
        // A window's number and an application's name are what they were: what the user did there since is not.
        let is_touched =
            |reach: &Reach| matches!(reach, Reach::Page { .. } | Reach::Window(_) | Reach::App(_));
        if meanwhile == Meanwhile::Used && (goes_to(Reach::is_on_the_screen) || goes_to(is_touched)) {
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
        let seen = match &asked.seen {
            Some(seen) => seen,
            None if places.is_empty() => return Ok(()),
            None => return Err(changed("the screen could not be looked at")),
        };
        // In journals of before there are no names.
        let (pixels, names) = seen.split_once(' ').map_or((seen.as_str(), None), |(a, b)| (a, Some(b)));
        let (end, last) = (Instant::now() + PATIENCE, Instant::now() + LONGEST);
        loop {
            let begun = Instant::now();
            // What stands beside a button says what it is for: where rows change places, each has a button of the same
            // name, and the screen may not have been drawn anew yet.
            let names_are_the_same = match names {
                Some(names) => are_as_seen(names, &self.names_around(&step, limits).await),
                None => true,
            };
            if names_are_the_same
                && (places.is_empty() || self.look_at(&places).await.as_deref() == Some(pixels))
            {
                return Ok(());
            }
            // A pointer that has gone elsewhere leaves a button in another colour.
            if names_are_the_same
                && names.is_some()
                && self.goes_to_elements(&asked.call, limits).await.is_some_and(|now| now == asked.goes_to)
            {
                return Ok(());
            }
            let may_be_late = begun.elapsed() >= LOOK && Instant::now() < last;
            if Instant::now() >= end && !may_be_late {
                return Err(changed("the screen showed something else there"));
            }
            tokio::time::sleep(INTERVAL).await;
        }
    }

    /// For each part of a call a hash of what is called how where it acts; `None` if that is not known, as of keys while
    /// one of our windows has the keyboard.
    async fn names_around(&self, step: &Step, limits: &Limits) -> Vec<Option<String>> {
        let displays = tokio::time::timeout(LOOK, self.desktop().displays()).await;
        let displays = displays.ok().and_then(Result::ok).unwrap_or_default();
        let mut all = Vec::new();
        for part in step.parts() {
            let plan = part.plan();
            all.push(match plan.reach() {
                _ if !plan.points().is_empty() => {
                    self.around_points(plan.points(), plan.display(), None, limits).await
                }
                Reach::Focus { .. } if target::meets_field(part) => {
                    self.meant(part, &displays, limits).await.map(|(_, field)| of_field(&field))
                }
                reach @ Reach::Element(_) => match self.meant(part, &displays, limits).await {
                    Some((display, one)) => {
                        let windows = self.open_windows().await;
                        let pid = whose::owned(self.desktop(), &windows, reach).await.and_then(|its| its.pid);
                        let center: Vec<_> = one.bounds.center().into_iter().collect();
                        self.around_points(&center, display, pid, limits).await
                    }
                    None => None,
                },
                _ => None,
            });
        }
        all
    }

    async fn around_points(
        &self,
        points: &[NormPoint],
        display: u32,
        pid: Option<u32>,
        limits: &Limits,
    ) -> Option<String> {
        let area = around(points)?;
        let band = NormRect { x: 0.0, width: 1000.0, ..area };
        let mut there = self.elements_in(&band, points, display, pid, limits).await;
        // A button at a row's end is for what stands at its beginning.
        let is_in_row = |one: &NormRect| {
            let holds = |point: &NormPoint| one.y <= point.y() && point.y() <= one.y + one.height;
            one.height <= ROW && points.iter().any(holds)
        };
        there.retain(|one| goes_to::meet(&one.bounds, &area) || is_in_row(&one.bounds));
        Some(of_names(&there))
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

/// In place of a hash of what could not be looked at.
const UNKNOWN: &str = "-";

/// Whether what is there now is what was seen, as far as that was known.
fn are_as_seen(seen: &str, now: &[Option<String>]) -> bool {
    let seen: Vec<&str> = seen.split(',').collect();
    seen.len() == now.len()
        && seen.iter().zip(now).all(|(seen, now)| *seen == UNKNOWN || now.as_deref() == Some(*seen))
}

/// A hash of the names and values of elements, in their order.
fn of_names(elements: &[Element]) -> String {
    let mut names = Sha256::new();
    for element in elements {
        for text in [&element.role, &element.name, &element.value] {
            names.update(text.len().to_le_bytes());
            names.update(text);
        }
    }
    hex(&names.finalize())
}

/// A hash of which field it is, and of what is in a line: a form that shows another record has the same fields. What is in a
/// larger one is left out: what runs in a terminal goes on while its user is asked.
fn of_field(field: &Element) -> String {
    let place = [field.bounds.x, field.bounds.y].map(|at| (at / GRID).round() as i64);
    let value = Some(&field.value).filter(|_| field.bounds.height <= ROW);
    hex(&Sha256::digest(format!("{:?}", (&field.role, &field.name, place, value))))
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
