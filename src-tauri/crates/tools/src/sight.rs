//! What whoever is asked sees of a call's target: a cut of the screen, with our mark where the call would act.

use std::time::Duration;

use browser::{Kind, PageQuery, Space};
use desktop::{Area, Element, ElementQuery, Scope, Selector, Shot, Target};
use pictures::Mark;
use protocol::geometry::{NormPoint, NormRect, PixelSize};
use protocol::tool::ToolCall;
use protocol::view::DisplayView;

use crate::contract::act_effects;
use crate::plan::Step;
use crate::reach::Reach;
use crate::{Limits, Router, TakenPicture, blackout, withheld};

/// A control with what stands around it, in pixels of a display that is not scaled; more only where the target is larger.
const LEAST: (f64, f64) = (480.0, 270.0);
/// Beside a target, and from a point to the box around it, in the same pixels.
const MARGIN: f64 = 24.0;
const POINT: f64 = 10.0;
const MOST: PixelSize = PixelSize { width: 960, height: 540 };
/// Longest wait for the picture.
const LOOK: Duration = Duration::from_secs(2);

/// Where a part of a call acts, in 0-1000 of a display.
struct Spot {
    display: u32,
    at: At,
}

enum At {
    /// A drag goes from the first to the last.
    Points(Vec<NormPoint>),
    Element(NormRect),
}

impl Router {
    /// A cut of the screen as it is now around what a call would act at: a dot at its point, a line of its drag, a frame
    /// around its element; in a batch a box with the part's number for each. `None` if no place is known, or where the
    /// screen cannot be looked at.
    pub async fn sight(&self, call: &ToolCall, limits: &Limits) -> Option<TakenPicture> {
        let tools = self.registry().all();
        let step = self.env(limits, &tools).plan(&call.tool, &call.arguments).ok()?;
        let reaches_a_place = |part: &Step| {
            let reach = part.plan().reach();
            let is_in_a_page = matches!(reach, Reach::Page { reference: Some(_), .. });
            is_in_a_page || reach.is_on_the_screen() || !part.plan().points().is_empty()
        };
        if !self.desktop().abilities().screen || !step.parts().any(reaches_a_place) {
            return None;
        }
        let displays = tokio::time::timeout(LOOK, self.desktop().displays()).await.ok()?.ok()?;
        let mut spots = Vec::new();
        for (number, part) in (1..).zip(step.parts()) {
            spots.extend(self.spot(part, &displays, limits).await.map(|spot| (number, spot)));
        }
        let shot = shot(&spots, &displays, step.plan().steps().is_empty(), limits)?;
        // It is kept.
        let windows = withheld::windows(self.desktop()).await.ok()?;
        withheld::in_view(self.desktop(), &windows, &shot.area).ok()?;
        let secrets = self.secrets().await;
        let covers = blackout::covers(self.desktop(), self.browser(), &secrets, &windows, &shot.area).await;
        let shot = Shot { covers, ..shot };
        let (dot, marks) = (shot.dot, shot.marks.clone());
        let picture = tokio::time::timeout(LOOK, self.desktop().screenshot(shot)).await.ok()?.ok()?;
        if !secrets.is_empty() {
            let now = withheld::windows(self.desktop()).await.ok()?;
            withheld::are_the_same(&windows, &now).then_some(())?;
        }
        Some(TakenPicture::of(picture, dot, &marks))
    }

    async fn spot(&self, part: &Step, displays: &[DisplayView], limits: &Limits) -> Option<Spot> {
        let plan = part.plan();
        if !plan.points().is_empty() {
            return Some(Spot { display: plan.display(), at: At::Points(plan.points().to_vec()) });
        }
        if let Reach::Page { reference: Some(reference), .. } = plan.reach() {
            return self.in_page(reference, displays).await;
        }
        let (display, one) = self.meant(part, displays, limits).await?;
        Some(Spot { display, at: At::Element(one.bounds) })
    }

    /// The one element that a part of a call goes to, with the display that it is seen on: the one that it names, or the one
    /// that has the keyboard. `None` if nobody can tell which it is, or if it is on no display.
    pub(crate) async fn meant(
        &self,
        part: &Step,
        displays: &[DisplayView],
        limits: &Limits,
    ) -> Option<(u32, Element)> {
        let plan = part.plan();
        let all = ElementQuery { limit: limits.ui_nodes, ..ElementQuery::default() };
        let (query, role, name) = match plan.reach() {
            Reach::Focus { .. } => (ElementQuery { scope: Scope::Interactive, ..all }, None, None),
            Reach::Element(Target::Ref(reference)) => {
                (ElementQuery { root: Some(reference.clone()), limit: 1, ..all }, None, None)
            }
            Reach::Element(Target::Selector(Selector { app, role, name, .. })) => {
                let query = ElementQuery { app: app.clone(), query: name.clone(), ..all };
                let name = name.as_ref().map(|name| NameMatch::Part(name.to_lowercase()));
                (query, role.as_deref(), name)
            }
            // Its item is shown once it is open: the menu it is in, or the one that this is opened from.
            Reach::Menu { app, path } => {
                let menu = path.first()?;
                let query = ElementQuery { app: app.clone(), query: Some(menu.clone()), ..all };
                (query, None, Some(NameMatch::Menu(act_effects::plain(menu))))
            }
            _ => return None,
        };
        let takes_keys = plan.reach().takes_keys();
        let is_meant = |one: &Element| {
            (!takes_keys || one.states.iter().any(|state| state == "focused"))
                && role.is_none_or(|role| one.role.eq_ignore_ascii_case(role))
                && name.as_ref().is_none_or(|name| name.is(one))
        };
        let is_named_so = |one: &Element| matches!(&name, Some(NameMatch::Part(part)) if act_effects::said(one).to_lowercase() == *part);
        // What is off one display is on another.
        for display in displays.iter().map(|display| display.index) {
            let mut found = self.elements(ElementQuery { display, ..query.clone() }).await;
            found.retain(is_meant);
            // As where it is acted on: a cell B2 is meant before B20.
            if found.len() > 1 && found.iter().any(is_named_so) {
                found.retain(is_named_so);
            }
            // Which of several is meant, nobody can tell.
            if found.len() > 1 {
                return None;
            }
            let one = found.pop()?;
            let NormRect { width, height, .. } = one.bounds;
            if one.bounds.center().is_ok() && width > 0.0 && height > 0.0 {
                return Some((display, one));
            }
        }
        None
    }

    /// `None` if it is out of view, or if nothing tells where the page is on the screen.
    async fn in_page(&self, reference: &str, displays: &[DisplayView]) -> Option<Spot> {
        for display in displays.iter().map(|display| display.index) {
            let (query, limit) = (None, 2_000);
            let query = PageQuery { query, scope: browser::Scope::View, kind: Kind::All, limit, display };
            let view = tokio::time::timeout(LOOK, self.browser().elements(query)).await.ok()?.ok()?;
            let one = view.elements.iter().find(|one| one.reference == reference)?;
            if view.space == Space::Display && one.bounds.center().is_ok() {
                return Some(Spot { display, at: At::Element(one.bounds) });
            }
        }
        None
    }
}

/// By what name an element is looked for.
enum NameMatch {
    /// In lower case, anywhere in it.
    Part(String),
    /// The whole name of a menu, without the sign of its key.
    Menu(String),
}

impl NameMatch {
    fn is(&self, one: &Element) -> bool {
        match self {
            Self::Part(part) => act_effects::said(one).to_lowercase().contains(part),
            Self::Menu(name) => {
                one.role.starts_with("menu") && act_effects::plain(act_effects::said(one)) == *name
            }
        }
    }
}

/// A picture of all spots on the display of the first.
fn shot(spots: &[(usize, Spot)], displays: &[DisplayView], is_one: bool, limits: &Limits) -> Option<Shot> {
    let display = spots.first()?.1.display;
    let DisplayView { bounds, scale, .. } = displays.iter().find(|one| one.index == display)?;
    let norm = |pixels: f64, length: u32| pixels * scale.0 * 1000.0 / f64::from(length.max(1));
    let (x, y) = (|pixels| norm(pixels, bounds.width), |pixels| norm(pixels, bounds.height));
    let mut shot = Shot::of_display(display, MOST, limits.jpeg_quality);
    let mut all: Option<[f64; 4]> = None;
    for (number, Spot { at, .. }) in spots.iter().filter(|(_, spot)| spot.display == display) {
        let edges = match at {
            At::Element(NormRect { x, y, width, height }) => [*x, *y, x + width, y + height],
            At::Points(points) => {
                let edge = |of: fn(NormPoint) -> f64, more: fn(f64, f64) -> f64| {
                    points.iter().copied().map(of).reduce(more)
                };
                let (left, right) = (edge(NormPoint::x, f64::min)?, edge(NormPoint::x, f64::max)?);
                let (top, bottom) = (edge(NormPoint::y, f64::min)?, edge(NormPoint::y, f64::max)?);
                [left - x(POINT), top - y(POINT), right + x(POINT), bottom + y(POINT)]
            }
        };
        match at {
            At::Points(points) if is_one => {
                shot.dot = points.last().copied();
                shot.trail = points.split_last().map(|(_, before)| before.to_vec()).unwrap_or_default();
            }
            At::Points(_) | At::Element(_) => {
                let label = if is_one { String::new() } else { number.to_string() };
                let [left, top, right, bottom] = edges;
                let bounds = NormRect { x: left, y: top, width: right - left, height: bottom - top };
                shot.marks.push(Mark { label, bounds });
            }
        }
        let [l, t, r, b] = all.unwrap_or(edges);
        let [left, top, right, bottom] = edges;
        all = Some([l.min(left), t.min(top), r.max(right), b.max(bottom)]);
    }
    let [left, top, right, bottom] = all?;
    let (from_x, width) = around(left, right, x(LEAST.0), x(MARGIN));
    let (from_y, height) = around(top, bottom, y(LEAST.1), y(MARGIN));
    shot.area = Area::Region { display, rect: NormRect { x: from_x, y: from_y, width, height } };
    Some(shot)
}

/// Where a cut begins along one side of a display, and how long it is: the target in the middle, but for the edges.
fn around(from: f64, to: f64, least: f64, margin: f64) -> (f64, f64) {
    let length = (to - from + 2.0 * margin).max(least).min(1000.0);
    (((from + to - length) / 2.0).clamp(0.0, 1000.0 - length), length)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cut_has_its_target_in_the_middle_and_never_leaves_the_display() {
        assert_eq!(around(495.0, 505.0, 250.0, 10.0), (375.0, 250.0));
        assert_eq!(around(0.0, 10.0, 250.0, 10.0), (0.0, 250.0));
        assert_eq!(around(990.0, 1005.0, 250.0, 10.0), (750.0, 250.0));
        assert_eq!(around(200.0, 800.0, 250.0, 10.0), (190.0, 620.0));
        assert_eq!(around(-50.0, 1200.0, 250.0, 10.0), (0.0, 1000.0));
    }
}
