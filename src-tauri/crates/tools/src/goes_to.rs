//! What a call goes to, in words for whoever is asked about it: "click 300, 300" says nothing to a person.

use std::time::Duration;

use desktop::{Element, ElementQuery, Scope, Selector, Target, WindowView};
use protocol::geometry::{NormPoint, NormRect};
use protocol::tool::{FrontWindow, ToolCall};

use crate::plan::Step;
use crate::target::Reach;
use crate::{Limits, Router, target, untrusted};

/// Characters of one name.
const NAME_CHARS: usize = 80;
/// Width and height, in 0-1000, of a control: what is larger is a pane or a page, and shows anything.
const SMALL: (f64, f64) = (120.0, 80.0);
/// Longest wait for one look at elements or windows.
const LOOK: Duration = Duration::from_secs(1);

impl Router {
    /// Of each call in this one, in order: the elements and the window at the points that it acts at, or those that it names
    /// by number or ref, such as `button “Save” · “notes.txt” (Mousepad)`. Empty where it names none, or where none is known.
    pub async fn goes_to(&self, call: &ToolCall, limits: &Limits) -> Vec<String> {
        let windows = self.open_windows().await;
        let mut all = Vec::new();
        for part in call.parts() {
            all.push(self.part_goes_to(&part, &windows, limits).await);
        }
        all
    }

    /// The same, where each point that it acts at is on a small element with a name; else `None`.
    pub(crate) async fn goes_to_elements(&self, call: &ToolCall, limits: &Limits) -> Option<Vec<String>> {
        let windows = self.open_windows().await;
        let tools = self.registry().all();
        let env = self.env(limits, &tools);
        for part in call.parts() {
            let step = env.plan(&part.tool, &part.arguments).ok()?;
            for point in step.plan().points() {
                let element = self.element_at(*point, step.plan().display(), &windows, limits).await?;
                let is_small = element.bounds.width <= SMALL.0 && element.bounds.height <= SMALL.1;
                if !is_small || element.name.trim().is_empty() {
                    return None;
                }
            }
        }
        Some(self.goes_to(call, limits).await)
    }

    /// The names of the controls at these points, where any are known.
    pub(crate) async fn controls_at(
        &self,
        display: u32,
        points: &[NormPoint],
        limits: &Limits,
    ) -> Vec<String> {
        if points.is_empty() {
            return Vec::new();
        }
        let windows = self.open_windows().await;
        let mut names = Vec::new();
        for point in points {
            let element = self.element_at(*point, display, &windows, limits).await;
            names.extend(element.as_ref().map(said));
        }
        names
    }

    /// What the controls are called that a part of a call would act on, as far as it does not name them itself. Where the
    /// call is `planned`, and nobody has seen what it names, also of those that a part of a name may mean and of what a ref
    /// is now; `None` if that cannot be told.
    pub(crate) async fn controls_of(
        &self,
        part: &Step,
        planned: bool,
        limits: &Limits,
    ) -> Option<Vec<String>> {
        let plan = part.plan();
        let mut names = self.controls_at(plan.display(), plan.points(), limits).await;
        let meant = match plan.reach() {
            Reach::Element(Target::Selector(Selector { app, name, .. })) if planned => ElementQuery {
                app: app.clone(),
                query: Some(name.clone()?),
                limit: limits.ui_nodes,
                scope: Scope::All,
                ..ElementQuery::default()
            },
            Reach::Element(Target::Ref(reference)) if planned => {
                ElementQuery { root: Some(reference.clone()), limit: 1, ..ElementQuery::default() }
            }
            _ => return Some(names),
        };
        let elements = self.elements(meant).await;
        names.extend(elements.iter().map(said));
        (!elements.is_empty()).then_some(names)
    }

    async fn open_windows(&self) -> Vec<WindowView> {
        let windows = tokio::time::timeout(LOOK, self.desktop().windows()).await;
        windows.ok().and_then(Result::ok).unwrap_or_default()
    }

    async fn part_goes_to(&self, part: &ToolCall, windows: &[WindowView], limits: &Limits) -> String {
        if let Some(id) = part.window() {
            return windows.iter().find(|window| window.id.0 == id).map(named).unwrap_or_default();
        }
        if let Some(reference) = part.element() {
            let query = ElementQuery { root: Some(reference.into()), limit: 1, ..ElementQuery::default() };
            if let Some(element) = self.elements(query).await.first() {
                return called(element);
            }
            // What was read in a picture is no element.
            let listed = self.desktop().listed(reference.into()).await;
            return listed.map(|one| titled(&one.role, &one.name)).unwrap_or_default();
        }
        let tools = self.registry().all();
        let env = self.env(limits, &tools);
        let Ok(step) = env.plan(&part.tool, &part.arguments) else { return String::new() };
        let (display, points) = (step.plan().display(), step.plan().points());
        let mut there = Vec::new();
        // A drag goes from its first to its last.
        for point in points.iter().take(1).chain(points.iter().skip(1).last()) {
            there.push(self.at(*point, display, windows, limits).await);
        }
        // What is named, and not pointed at, is in an application's window.
        if let Some(touched) = target::owned(self.desktop(), windows, step.plan().reach()).await {
            let window = windows.iter().find(|window| Some(window.id.0) == touched.window);
            there.push(window.map_or(touched.app, named));
        }
        there.dedup();
        there.retain(|there| !there.is_empty());
        there.join(" → ")
    }

    async fn at(&self, point: NormPoint, display: u32, windows: &[WindowView], limits: &Limits) -> String {
        let Some(window) = target::window_at(windows, display, point) else { return String::new() };
        let element = self.element_at(point, display, windows, limits).await;
        element.iter().map(called).chain([named(window)]).collect::<Vec<_>>().join(" · ")
    }

    /// The smallest element of the window at a point that has the point in it.
    async fn element_at(
        &self,
        point: NormPoint,
        display: u32,
        windows: &[WindowView],
        limits: &Limits,
    ) -> Option<Element> {
        let window = target::window_at(windows, display, point)?;
        let elements = self.elements(all_of(window, display, limits)).await;
        let area = |element: &&Element| element.bounds.width * element.bounds.height;
        let there = elements.iter().filter(|element| target::holds(&element.bounds, point));
        there.min_by(|one, other| area(one).total_cmp(&area(other))).cloned()
    }

    /// The elements with a part in this area, of the windows at these points.
    pub(crate) async fn elements_in(
        &self,
        area: &NormRect,
        points: &[NormPoint],
        display: u32,
        limits: &Limits,
    ) -> Vec<Element> {
        let windows = self.open_windows().await;
        let mut at: Vec<&WindowView> =
            points.iter().filter_map(|point| target::window_at(&windows, display, *point)).collect();
        at.dedup_by_key(|window| window.id);
        let mut all = Vec::new();
        for window in at {
            let elements = self.elements(all_of(window, display, limits)).await;
            all.extend(elements.into_iter().filter(|element| meet(&element.bounds, area)));
        }
        all
    }

    async fn elements(&self, query: ElementQuery) -> Vec<Element> {
        let look = self.desktop().elements(ElementQuery { deadline: Some(LOOK), ..query });
        let snapshot = tokio::time::timeout(LOOK, look).await.ok().and_then(Result::ok);
        snapshot.unwrap_or_default().elements
    }
}

/// What a control says of itself: by its description where it has no name, as a picture has.
fn said(element: &Element) -> String {
    let text = if element.name.trim().is_empty() { &element.description } else { &element.name };
    untrusted::line(text, NAME_CHARS)
}

fn all_of(window: &WindowView, display: u32, limits: &Limits) -> ElementQuery {
    ElementQuery {
        app: Some(window.app.clone()),
        window: Some(window.title.clone()).filter(|title| !title.is_empty()),
        limit: limits.ui_nodes,
        display,
        ..ElementQuery::default()
    }
}

fn meet(one: &NormRect, other: &NormRect) -> bool {
    one.x < other.x + other.width
        && other.x < one.x + one.width
        && one.y < other.y + other.height
        && other.y < one.y + one.height
}

fn called(element: &Element) -> String {
    titled(&element.role, &element.name)
}

fn titled(role: &str, name: &str) -> String {
    match untrusted::line(name, NAME_CHARS) {
        name if name.is_empty() => role.to_owned(),
        name => format!("{role} “{name}”"),
    }
}

fn named(window: &WindowView) -> String {
    let clean = |text: &str| untrusted::line(text, NAME_CHARS);
    let WindowView { id, app, title, pid, .. } = window;
    FrontWindow { id: id.0, app: clean(app), title: clean(title), pid: *pid }.to_string()
}
