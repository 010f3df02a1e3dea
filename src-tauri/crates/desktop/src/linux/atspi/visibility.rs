//! Where an object is on the screen, what of it can be seen, and whether a point really is on it.
//!
//! Asks and scrolls; clicks nothing. Which window lies above is the X server's to say (`scene.rs`).

use std::sync::Arc;

use protocol::geometry::{PhysicalPoint, PhysicalRect};

use super::acting::{COMPONENT, Operand, parent};
use super::bus::{Object, Reference};
use super::nodes;
use super::prune::intersection;
use super::role::{self, States, number};
use super::{Accessibility, origin};

/// The deepest tree that is followed.
const DEEPEST: usize = 60;
/// AT-SPI's number for "scroll so that it can be seen, the shortest way".
const ANYWHERE: u32 = 6;
/// AT-SPI's role number of an application.
const APPLICATION: u32 = 75;

/// An object's place, in pixels of the space that spans all displays.
#[derive(Clone)]
pub(in super::super) struct Visibility {
    pub(in super::super) whole: PhysicalRect,
    /// `None` if it is scrolled away.
    pub(in super::super) seen: Option<PhysicalRect>,
    /// What can be seen of the nearest pane that scrolls it.
    pub(in super::super) pane: Option<PhysicalRect>,
    /// Title of its window.
    pub(in super::super) window: String,
    top: Option<Object>,
    /// Paths of everything above.
    above: Vec<Arc<str>>,
    /// Corner of the window, where the application knows places within it only.
    corner: Option<(i32, i32)>,
}

/// What is at a point.
pub(in super::super) enum Hit {
    /// The object, or nothing that says otherwise.
    Target,
    /// Another object of the application.
    Other(String),
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
}

impl Accessibility {
    /// `None` if the object has no place on the screen.
    pub(in super::super) async fn place(&self, operand: &Operand) -> Option<Visibility> {
        let mut place = operand.told_place().await?;
        let who = self.bus().await.ok()?.acquaintance(&operand.home).await.ok()?;
        if who.quirks.places_in_window {
            let corner = origin::of_window(self.inner.display.clone(), who.pid, place.window.clone()).await?;
            for rect in
                [Some(&mut place.whole), place.seen.as_mut(), place.pane.as_mut()].into_iter().flatten()
            {
                (rect.x, rect.y) = (rect.x + corner.0, rect.y + corner.1);
            }
            place.corner = Some(corner);
        }
        Some(place)
    }
}

impl Operand {
    /// As the application tells it.
    async fn told_place(&self) -> Option<Visibility> {
        let whole = rect(nodes::extents(&self.object).await.ok()?)?;
        let (mut seen, mut pane) = (Some(whole), None);
        let (mut at, mut inner) = (self.object.clone(), self.role);
        let mut place = Visibility {
            whole,
            seen,
            pane,
            window: String::new(),
            top: None,
            above: Vec::new(),
            corner: None,
        };
        let mut pops_up = false;
        for _ in 0..DEEPEST {
            let Some(next) = parent(&at).await else { break };
            let (role, extents) = tokio::join!(next.role(), nodes::extents(&next));
            let Ok(role) = role else { break };
            if role == APPLICATION {
                break;
            }
            // What is in a popup is not cut off by what the popup hangs from.
            pops_up |= role::pops_up(role);
            // A page in Chromium has no pane: its window cuts it off.
            if (role::clips(role) || role == number::FRAME) && !pops_up {
                let frame = extents.ok().and_then(rect);
                pane = match (pane, frame) {
                    (None, frame) => frame,
                    (Some(pane), Some(frame)) => intersection(&pane, &frame),
                    (pane, None) => pane,
                };
                seen = seen.zip(frame).and_then(|(seen, frame)| intersection(&seen, &frame));
            }
            place.above.push(next.path.clone());
            (at, inner) = (next, role);
        }
        if matches!(role::describe(inner).1, role::Kind::Frame) || inner == number::DIALOG {
            place.window = at.name().await.unwrap_or_default();
        }
        // A popup's window is not where its menu is in the tree.
        let top = (!pops_up || inner != number::FRAME).then_some(at);
        Some(Visibility { seen, pane, top, ..place })
    }

    /// Asks the application to scroll it into view.
    pub(in super::super) async fn scroll_to(&self) -> bool {
        self.object.call::<_, bool>(COMPONENT, "ScrollTo", &ANYWHERE).await.unwrap_or(false)
    }

    /// What the application says is at a point within its window.
    pub(in super::super) async fn hit(&self, place: &Visibility, at: PhysicalPoint) -> Hit {
        const SCREEN: u32 = 0;
        const WINDOW: u32 = 1;
        let Some(mut leaf) = place.top.clone() else { return Hit::Target };
        let (x, y, space) = match place.corner {
            Some((left, top)) => (at.x - left, at.y - top, WINDOW),
            None => (at.x, at.y, SCREEN),
        };
        let mut passed = Vec::new();
        for _ in 0..DEEPEST {
            let found: Result<Reference, _> =
                leaf.call(COMPONENT, "GetAccessibleAtPoint", &(x, y, space)).await;
            let Ok((_, path)) = found else { break };
            if path.as_str().ends_with("/null") || path.as_str() == &*leaf.path || passed.contains(&path) {
                break;
            }
            if path.as_str() == &*self.object.path {
                return Hit::Target;
            }
            leaf = Object::new(&self.object.program, path.as_str());
            passed.push(path);
        }
        let is_above =
            place.top.as_ref().is_some_and(|top| top.path == leaf.path) || place.above.contains(&leaf.path);
        if is_above || self.holds(&leaf).await {
            return Hit::Target;
        }
        match leaf.states().await {
            Ok(states) if states.has(States::SHOWING) => {
                let (role, name) = tokio::join!(leaf.role(), leaf.name());
                Hit::Other(super::acting::called(role.unwrap_or_default(), &name.unwrap_or_default()))
            }
            Ok(_) | Err(_) => Hit::Target,
        }
    }

    async fn holds(&self, leaf: &Object) -> bool {
        let mut at = leaf.clone();
        for _ in 0..DEEPEST {
            if at.path == self.object.path {
                return true;
            }
            match parent(&at).await {
                Some(above) => at = above,
                None => return false,
            }
        }
        false
    }
}

/// The window an object is in.
pub(super) async fn window_of(object: &Object) -> Option<Object> {
    let mut at = object.clone();
    for _ in 0..DEEPEST {
        let above = parent(&at).await?;
        if above.role().await.ok()? == APPLICATION {
            return Some(at);
        }
        at = above;
    }
    None
}

fn rect((x, y, width, height): (i32, i32, i32, i32)) -> Option<PhysicalRect> {
    // GTK's word for what has no place now.
    if x == i32::MIN || y == i32::MIN {
        return None;
    }
    let (width, height) = (u32::try_from(width).ok()?, u32::try_from(height).ok()?);
    (width > 0 && height > 0).then_some(PhysicalRect { x, y, width, height })
}
