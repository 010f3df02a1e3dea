//! Where an object is on the screen, what of it can be seen, and whether a point really is on it.
//!
//! Asks and scrolls; clicks nothing. Which window lies above is the X server's to say (`scene.rs`).

use std::sync::Arc;
use std::time::Duration;

use protocol::geometry::{PhysicalPoint, PhysicalRect};
use tokio::time::Instant;

use super::Accessibility;
use super::acting::{COMPONENT, LOOK_AGAIN, Operand, parent};
use super::bus::{self, CallError, Object, Reference};
use super::nodes;
use super::origin::{self, Popover, ReportedWindow};
use super::prune::intersection;
use super::role::{self, States, number};
use super::settled::{self, Correction};
use crate::DesktopError;

/// The deepest tree that is followed.
const DEEPEST: usize = 60;
/// For a page to tell what is at a point.
const GUESSED: Duration = Duration::from_millis(400);
/// Pixels from the start of a cell, in whose middle its check mark is.
const MARK: u32 = 20;
/// AT-SPI's number for "scroll so that it can be seen, the shortest way".
const ANYWHERE: u32 = 6;

/// An object's place, in pixels of the space that spans all displays.
#[derive(Clone)]
pub(in super::super) struct Visibility {
    pub(in super::super) whole: PhysicalRect,
    /// `None` if it is scrolled away.
    pub(in super::super) seen: Option<PhysicalRect>,
    /// What can be seen of the nearest pane that scrolls it.
    pub(in super::super) pane: Option<PhysicalRect>,
    /// Title of its window, and where that is.
    pub(in super::super) window: String,
    pub(in super::super) frame: Option<PhysicalRect>,
    top: Option<Object>,
    /// Paths of everything above.
    above: Vec<Arc<str>>,
    /// Its window as the application tells it: whether it is active, and its size.
    told: (bool, (i32, i32)),
    in_page: bool,
    /// The popover it is in, where that has places of its own.
    popover: Option<Popover>,
    /// Corner of the window, where the application knows places within it only.
    corner: Option<(i32, i32)>,
}

/// What is at a point.
pub(in super::super) enum Hit {
    /// The object, or nothing that says otherwise.
    Target,
    /// Another object of the application.
    Other(Other),
}

pub(in super::super) struct Other {
    pub(in super::super) called: String,
    name: String,
    place: Option<PhysicalRect>,
}

impl Visibility {
    /// Where to click: the middle of what can be seen.
    pub(in super::super) fn middle(&self) -> Option<PhysicalPoint> {
        self.seen.map(|seen| PhysicalPoint {
            x: seen.x + (seen.width / 2) as i32,
            y: seen.y + (seen.height / 2) as i32,
        })
    }

    /// Whether enough of it can be seen to be clicked.
    pub(in super::super) fn is_in_view(&self) -> bool {
        let enough = |seen: u32, whole: u32| seen >= whole.div_ceil(2).min(8);
        self.seen.is_some_and(|seen| {
            enough(seen.width, self.whole.width) && enough(seen.height, self.whole.height)
        })
    }

    /// Keeps what of it is the check mark of a cell or row: Qt has it at the start, GTK anywhere.
    pub(in super::super) fn narrow_to_mark(&mut self) {
        if let Some(seen) = &mut self.seen {
            seen.width = seen.width.min(MARK);
        }
    }

    fn shift(&mut self, (right, down): (i32, i32)) {
        for rect in [Some(&mut self.whole), self.seen.as_mut(), self.pane.as_mut()].into_iter().flatten() {
            (rect.x, rect.y) = (rect.x + right, rect.y + down);
        }
    }
}

impl Accessibility {
    /// `None` if the object has no place on the screen.
    ///
    /// # Errors
    /// `Timeout` where its application does not tell.
    pub(in super::super) async fn place(
        &self,
        operand: &Operand,
    ) -> Result<Option<Visibility>, DesktopError> {
        match operand.told_place().await {
            Ok(Some(place)) => Ok(self.on_screen(operand, place).await),
            Ok(None) => Ok(None),
            Err(CallError::Late) => Err(DesktopError::Timeout(bus::CALL)),
            Err(_) => Ok(None),
        }
    }

    /// Moved to where its window is, where the application knows places within that only.
    async fn on_screen(&self, operand: &Operand, mut place: Visibility) -> Option<Visibility> {
        let who = self.bus().await.ok()?.acquaintance(&operand.home).await.ok()?;
        if who.quirks.places_in_window {
            let origins = origin::of_process(self.inner.display.clone(), who.pid).await;
            let (active, size) = place.told;
            let corner = match place.popover {
                Some(popover) => origins.of_popover(popover)?,
                None => origins.of_window(&ReportedWindow { title: &place.window, active, size })?,
            };
            place.shift(corner);
            if let Some(frame) = &mut place.frame {
                (frame.x, frame.y) = (frame.x + corner.0, frame.y + corner.1);
            }
            place.corner = Some(corner);
        }
        if who.quirks.lags_behind {
            match settled::correction_of(&operand.object).await {
                Correction::Lags(0, 0) => {}
                // What it says is at a point would lag, too.
                Correction::Lags(right, down) => {
                    place.shift((right, down));
                    place.top = None;
                }
                Correction::Known(top) => place.top = Some(top),
            }
        }
        Some(place)
    }
}

impl Operand {
    /// As the application tells it.
    async fn told_place(&self) -> Result<Option<Visibility>, CallError> {
        if !self.interfaces.has(COMPONENT) {
            return Ok(None);
        }
        let Some(whole) = rect(nodes::extents(&self.object).await?) else { return Ok(None) };
        let (mut seen, mut pane) = (Some(whole), None);
        let (mut at, mut inner) = (self.object.clone(), self.role);
        let mut place = Visibility {
            whole,
            seen,
            pane,
            window: String::new(),
            frame: None,
            top: None,
            above: Vec::new(),
            told: (false, (0, 0)),
            in_page: false,
            popover: None,
            corner: None,
        };
        let (mut pops_up, mut in_popover) = (false, false);
        for _ in 0..DEEPEST {
            let next = match parent(&at).await {
                Err(CallError::Late) => return Err(CallError::Late),
                Err(_) => break,
                Ok(next) => next,
            };
            let (role, states) = tokio::join!(next.role(), next.states());
            let role = match role {
                Err(CallError::Late) => return Err(CallError::Late),
                // The application has no place.
                Err(_) | Ok(number::APPLICATION) => break,
                Ok(role) => role,
            };
            if in_popover && place.popover.is_none() {
                place.popover = Some(popover(&next).await?);
            } else if !self.quirks.popover_content.is_empty() && !in_popover {
                in_popover = self.quirks.is_popover_content(&next.name().await?);
            }
            // What is in a popup is not cut off by what the popup hangs from.
            pops_up |= role::opens_apart(role, inner) || place.popover.is_some();
            // A page in Chromium has no pane: its window cuts it off.
            let clips = role::clips(role, states.unwrap_or_default());
            let frame = match clips || role == number::FRAME {
                true if !pops_up => nodes::extents(&next).await.ok().and_then(rect),
                _ => None,
            };
            // Swing does not tell where its windows are, and GTK 3 not where a viewport is whose list was scrolled far;
            // the pane around it cuts off the same.
            if (clips && !pops_up && role != number::VIEWPORT) || frame.is_some() {
                pane = match (pane, frame) {
                    (None, frame) => frame,
                    (Some(pane), Some(frame)) => intersection(&pane, &frame),
                    (pane, None) => pane,
                };
                seen = seen.zip(frame).and_then(|(seen, frame)| intersection(&seen, &frame));
            }
            place.in_page |= role::is_page(role);
            place.above.push(next.path.clone());
            (at, inner) = (next, role);
        }
        // The last one below the application, whatever its role: a file chooser is a window, too.
        place.window = at.name().await.unwrap_or_default();
        let extents = nodes::extents(&at).await.unwrap_or_default();
        place.frame = rect(extents);
        if self.quirks.places_in_window {
            let states = at.states().await.unwrap_or_default();
            place.told = (states.has(States::ACTIVE), (extents.2, extents.3));
        }
        // A popup's window is not where its menu is in the tree.
        let elsewhere = place.popover.is_some() || (pops_up && inner == number::FRAME);
        let top = (!elsewhere).then_some(at);
        Ok(Some(Visibility { seen, pane, top, ..place }))
    }

    /// Asks the application to scroll it into view.
    pub(in super::super) async fn scroll_to(&self) -> bool {
        self.object.call::<_, bool>(COMPONENT, "ScrollTo", &ANYWHERE).await.unwrap_or(false)
    }

    /// What lies over the object where that is in a page: something of the page that reaches beyond it, as no drawing of its
    /// own does, and is not called as it is, as its label is. An object too small to be seen has others stand for it.
    pub(in super::super) async fn wall(
        &self,
        place: &Visibility,
        at: PhysicalPoint,
    ) -> Result<Option<String>, DesktopError> {
        const SEEN: u32 = 4;
        if !place.in_page || place.whole.width.min(place.whole.height) < SEEN {
            return Ok(None);
        }
        let Hit::Other(other) = self.hit(place, at).await? else { return Ok(None) };
        let reaches_out = other.place.is_some_and(|other| intersection(&other, &place.whole) != Some(other));
        let is_label = !other.name.is_empty() && self.name.contains(&other.name);
        Ok((reaches_out && !is_label).then_some(other.called))
    }

    /// What the application says is at a point within its window.
    ///
    /// # Errors
    /// `Timeout` where it does not say.
    pub(in super::super) async fn hit(
        &self,
        place: &Visibility,
        at: PhysicalPoint,
    ) -> Result<Hit, DesktopError> {
        // Chromium guesses by places alone, and has its page asked meanwhile: what lies above tells the next one.
        let until = Instant::now() + if place.in_page { GUESSED } else { Duration::ZERO };
        loop {
            match self.told_hit(place, at).await {
                Err(CallError::Late) => return Err(DesktopError::Timeout(bus::CALL)),
                // What cannot tell says nothing against it.
                Err(_) => return Ok(Hit::Target),
                Ok(Hit::Other(_)) if Instant::now() < until => tokio::time::sleep(LOOK_AGAIN).await,
                Ok(hit) => return Ok(hit),
            }
        }
    }

    async fn told_hit(&self, place: &Visibility, at: PhysicalPoint) -> Result<Hit, CallError> {
        const SCREEN: u32 = 0;
        const WINDOW: u32 = 1;
        let Some(mut leaf) = place.top.clone() else { return Ok(Hit::Target) };
        let (x, y, space) = match place.corner {
            Some((left, top)) => (at.x - left, at.y - top, WINDOW),
            None => (at.x, at.y, SCREEN),
        };
        let mut passed = Vec::new();
        for _ in 0..DEEPEST {
            let found: Result<Reference, _> =
                leaf.call(COMPONENT, "GetAccessibleAtPoint", &(x, y, space)).await;
            let path = match found {
                Err(CallError::Late) => return Err(CallError::Late),
                Err(_) => break,
                Ok((_, path)) => path,
            };
            if path.as_str().ends_with("/null") || path.as_str() == &*leaf.path || passed.contains(&path) {
                break;
            }
            if path.as_str() == &*self.object.path {
                return Ok(Hit::Target);
            }
            leaf = Object::new(&self.object.program, path.as_str());
            passed.push(path);
        }
        let is_above =
            place.top.as_ref().is_some_and(|top| top.path == leaf.path) || place.above.contains(&leaf.path);
        if is_above || self.holds(&leaf).await {
            return Ok(Hit::Target);
        }
        if !leaf.states().await?.has(self.quirks.shown) {
            return Ok(Hit::Target);
        }
        let (role, name, extents) = tokio::join!(leaf.role(), leaf.name(), nodes::extents(&leaf));
        let extents = extents.ok().and_then(rect);
        // Qt makes a cell of a tree anew each time.
        if role == Ok(self.role) && extents == Some(place.whole) {
            return Ok(Hit::Target);
        }
        let name = self.quirks.own_name(name?);
        Ok(Hit::Other(Other { called: super::acting::called(role?, &name), name, place: extents }))
    }

    async fn holds(&self, leaf: &Object) -> bool {
        let mut at = leaf.clone();
        for _ in 0..DEEPEST {
            if at.path == self.object.path {
                return true;
            }
            match parent(&at).await {
                Ok(above) => at = above,
                Err(_) => return false,
            }
        }
        false
    }
}

/// A popover as it tells itself.
async fn popover(object: &Object) -> Result<Popover, CallError> {
    let anchor = parent(object).await?;
    let (own, anchor) = tokio::join!(nodes::extents(object), nodes::extents(&anchor));
    Ok(Popover { own: own?, anchor: anchor? })
}

fn rect((x, y, width, height): (i32, i32, i32, i32)) -> Option<PhysicalRect> {
    let (width, height) = (u32::try_from(width).ok()?, u32::try_from(height).ok()?);
    (width > 0 && height > 0).then_some(PhysicalRect { x, y, width, height })
}
