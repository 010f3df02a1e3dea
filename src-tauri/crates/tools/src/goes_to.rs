//! What a call goes to, in words for whoever is asked about it: "click 300, 300" says nothing to a person.

use std::collections::BTreeSet;
use std::time::Duration;

use desktop::{
    Desktop, DesktopError, Element, ElementQuery, Scope, Selector, Snapshot, Taker, Target, WindowId,
    WindowView,
};
use protocol::geometry::{NormPoint, NormRect, PhysicalRect};
use protocol::tool::{FrontWindow, ToolCall};

use crate::contract::act_effects::{self, Met};
use crate::plan::Step;
use crate::reach::{Act, Reach};
use crate::{Limits, Router, hosts, untrusted, whose};

/// Characters of one name.
const NAME_CHARS: usize = 80;
/// Width and height, in 0-1000, of a control: what is larger is a pane or a page, and shows anything.
const SMALL: (f64, f64) = (120.0, 80.0);
/// Controls that take the wheel as a new value.
const VALUES: [&str; 7] =
    ["combo box", "date editor", "dial", "incrementor", "slider", "spin button", "spinner"];
const PRESSED: [&str; 7] = [
    "button",
    "check menu item",
    "menu item",
    "push button menu",
    "radio menu item",
    "toggle button",
    "link",
];
/// Elements among which a plan's controls are looked for: one that is left out may be the one that is meant.
const MOST: u32 = 3_000;
/// Longest wait for one look at elements or windows.
const LOOK: Duration = Duration::from_secs(2);

/// Where a call acts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ActsIn {
    /// Windows that it goes to by points, elements, or their numbers.
    pub enters: BTreeSet<WindowId>,
    /// The last of them.
    pub last: Option<WindowId>,
    /// Whether its keys go wherever the keyboard is now.
    pub types: bool,
    /// Whether one of our own windows lies over one of its points.
    pub is_below_ours: bool,
}

impl ActsIn {
    fn enter(&mut self, window: Option<WindowId>) {
        self.enters.extend(window);
        self.last = window.or(self.last);
    }
}

impl Router {
    /// Of each call in this one, in order: the elements and the window at the points that it acts at, or those that it names
    /// by number or ref, such as `button “Save” · “notes.txt” (Mousepad)`. Empty if it names none, or if none is known.
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

    /// A control below these points that takes the wheel as a new value, such as `slider “Volume”`.
    pub(crate) async fn value_at(
        &self,
        display: u32,
        points: &[NormPoint],
        limits: &Limits,
    ) -> Option<String> {
        let windows = self.open_windows().await;
        for point in points {
            let Some(window) = whose::window_at(&windows, display, *point) else { continue };
            // A field or a button within it hands the wheel on.
            let elements = of_window(self.desktop(), window, display, limits.ui_nodes).await.elements;
            let takes_it =
                |one: &&Element| whose::holds(&one.bounds, *point) && VALUES.contains(&one.role.as_str());
            if let Some(element) = elements.iter().find(takes_it) {
                return Some(called(element));
            }
        }
        None
    }

    /// What a part of a call would meet now, as far as a plan must know it.
    pub(crate) async fn met(&self, part: &Step) -> Met {
        let mut met = Met { is_holding: self.is_holding(), ..Met::default() };
        let plan = part.plan();
        match plan.act() {
            None | Some(Act::Fill(_)) => {}
            Some(Act::Start(app)) => {
                let looked = tokio::time::timeout(LOOK, self.desktop().launches(app.clone())).await;
                met.starts = looked.ok().flatten();
            }
            Some(Act::Input(_)) if plan.points().is_empty() => {
                let looked = tokio::time::timeout(LOOK, self.desktop().field()).await;
                met.field = looked.ok().flatten();
            }
            Some(Act::Input(_)) => met.controls = self.all_at(plan.points(), plan.display()).await,
            Some(Act::Element(_)) => met.controls = self.all_meant(plan.reach()).await,
        }
        met
    }

    /// All controls at all of these points; `None` if that cannot be told of one of them.
    async fn all_at(&self, points: &[NormPoint], display: u32) -> Option<Vec<Element>> {
        let windows = self.open_windows().await;
        let mut all = Vec::new();
        for point in points {
            let window = whose::taker(self.desktop(), &windows, Some((display, *point))).await?;
            let Snapshot { elements, untold, is_partial, pid, .. } =
                of_window(self.desktop(), window, display, MOST).await;
            let is_another = pid.is_some() && pid != window.pid;
            if is_partial || is_another || self.is_in(&untold, *point, display).await {
                return None;
            }
            all.extend(act_effects::at(&elements, *point)?);
        }
        Some(all)
    }

    async fn is_in(&self, places: &[PhysicalRect], point: NormPoint, display: u32) -> bool {
        if places.is_empty() {
            return false;
        }
        let displays = tokio::time::timeout(LOOK, self.desktop().displays()).await;
        let displays = displays.ok().and_then(Result::ok).unwrap_or_default();
        let Some(display) = displays.into_iter().find(|one| one.index == display) else { return true };
        places.iter().any(|place| whose::holds(&place.to_norm(&display.bounds), point))
    }

    /// All controls that an element's name may mean, or what its ref is now.
    async fn all_meant(&self, reach: &Reach) -> Option<Vec<Element>> {
        let (query, role, name) = match reach {
            Reach::Element(Target::Ref(reference)) => (
                ElementQuery { root: Some(reference.clone()), limit: 1, ..ElementQuery::default() },
                None,
                None,
            ),
            Reach::Element(Target::Selector(Selector { app, role, name: Some(name), .. })) => {
                let (app, query) = (app.clone(), Some(name.clone()));
                let query =
                    ElementQuery { app, query, limit: MOST, scope: Scope::All, ..ElementQuery::default() };
                (query, role.as_deref(), Some(name.to_lowercase()))
            }
            _ => return None,
        };
        let is_one = query.root.is_some();
        let Snapshot { mut elements, is_partial, .. } = self.snapshot(query).await;
        elements.retain(|one| {
            role.is_none_or(|role| one.role.eq_ignore_ascii_case(role))
                && name.as_ref().is_none_or(|name| act_effects::said(one).to_lowercase().contains(name))
        });
        // Below a ref there is more than it.
        let is_whole = is_one || !is_partial;
        (is_whole && !elements.is_empty() && elements.iter().all(act_effects::is_told)).then_some(elements)
    }

    /// Where a call acts; `None` if the windows cannot be looked at.
    pub async fn acts_in(&self, call: &ToolCall, limits: &Limits) -> Option<ActsIn> {
        let tools = self.registry().all();
        let mut acts_in = ActsIn::default();
        // What has no plan is refused by whoever runs it.
        let Ok(step) = self.env(limits, &tools).plan(&call.tool, &call.arguments) else {
            return Some(acts_in);
        };
        let windows = tokio::time::timeout(LOOK, self.desktop().windows()).await.ok()?.ok()?;
        let mut goes_in = false;
        for part in step.parts() {
            let plan = part.plan();
            for point in plan.points() {
                let at = Some((plan.display(), *point));
                let taker = tokio::time::timeout(LOOK, self.desktop().taker(at)).await;
                acts_in.is_below_ours |= taker == Ok(Taker::Ours);
                let taker = whose::taker(self.desktop(), &windows, at).await;
                goes_in |= taker.is_some();
                acts_in.enter(taker.map(|window| window.id));
            }
            match plan.reach() {
                // Where the parts before it lead, its keys go, too.
                Reach::Focus { .. } => acts_in.types |= !goes_in,
                Reach::Window(id) => {
                    goes_in |= part.name() == "focusWindow";
                    acts_in.enter(Some(WindowId(*id)));
                }
                reach => {
                    let touched = whose::owned(self.desktop(), &windows, reach).await;
                    let window = touched.and_then(|touched| touched.window);
                    goes_in |= window.is_some();
                    acts_in.enter(window.map(WindowId));
                }
            }
        }
        Some(acts_in)
    }

    /// Whether it is one of our own windows that gets the keys.
    pub async fn is_below_ours(&self) -> bool {
        matches!(tokio::time::timeout(LOOK, self.desktop().taker(None)).await, Ok(Taker::Ours))
    }

    /// The window that gets the keys, by the system's word; `None` if it is one of ours, or in no list.
    pub async fn window_of_keys(&self) -> Option<WindowId> {
        match tokio::time::timeout(LOOK, self.desktop().taker(None)).await.ok()? {
            Taker::Window(window) => Some(window),
            Taker::Popup(_) | Taker::Unsaid => {
                let windows = self.open_windows().await;
                whose::taker(self.desktop(), &windows, None).await.map(|window| window.id)
            }
            Taker::Ours | Taker::Other => None,
        }
    }

    /// The window that this one belongs to, as a dialog does.
    pub async fn belongs_to(&self, window: WindowId) -> Option<WindowId> {
        tokio::time::timeout(LOOK, self.desktop().belongs_to(window)).await.ok().flatten()
    }

    pub(crate) async fn open_windows(&self) -> Vec<WindowView> {
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
        if let Reach::Page { reference: Some(reference), .. } = step.plan().reach() {
            return self.in_page_goes_to(reference).await;
        }
        let (display, points) = (step.plan().display(), step.plan().points());
        let mut there = Vec::new();
        // A drag goes from its first to its last.
        for point in points.iter().take(1).chain(points.iter().skip(1).last()) {
            there.push(self.at(*point, display, windows, limits).await);
        }
        // What is named, and not pointed at, is in an application's window.
        if let Some(touched) = whose::owned(self.desktop(), windows, step.plan().reach()).await {
            let window = windows.iter().find(|window| Some(window.id.0) == touched.window);
            there.push(window.map_or(touched.app, named));
        }
        there.dedup();
        there.retain(|there| !there.is_empty());
        there.join(" → ")
    }

    /// What an element of the page in front is called, and whose page it is: `“Pay” · shop.example`.
    async fn in_page_goes_to(&self, reference: &str) -> String {
        let looked = tokio::time::timeout(LOOK, self.browser().target(Some(reference.to_owned()))).await;
        let Some(target) = looked.ok().and_then(Result::ok) else { return String::new() };
        let name = untrusted::line(&target.called, NAME_CHARS);
        let host = hosts::of(&target.url).map(|host| untrusted::line(&host, NAME_CHARS));
        let name = Some(name).filter(|name| !name.is_empty()).map(|name| format!("“{name}”"));
        name.into_iter().chain(host).collect::<Vec<_>>().join(" · ")
    }

    async fn at(&self, point: NormPoint, display: u32, windows: &[WindowView], limits: &Limits) -> String {
        let Some(window) = whose::window_at(windows, display, point) else { return String::new() };
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
        let window = whose::window_at(windows, display, point)?;
        let elements = of_window(self.desktop(), window, display, limits.ui_nodes).await.elements;
        let area = |element: &&Element| element.bounds.width * element.bounds.height;
        let there = elements.iter().filter(|element| whose::holds(&element.bounds, point));
        there.min_by(|one, other| area(one).total_cmp(&area(other))).cloned()
    }

    /// The elements with a part in this area, of the windows at these points; only of that process, where one is named.
    pub(crate) async fn elements_in(
        &self,
        area: &NormRect,
        points: &[NormPoint],
        display: u32,
        pid: Option<u32>,
        limits: &Limits,
    ) -> Vec<Element> {
        let mut windows = self.open_windows().await;
        windows.retain(|window| pid.is_none() || window.pid == pid);
        let mut at: Vec<&WindowView> =
            points.iter().filter_map(|point| whose::window_at(&windows, display, *point)).collect();
        at.dedup_by_key(|window| window.id);
        let mut all = Vec::new();
        for window in at {
            let elements = of_window(self.desktop(), window, display, limits.ui_nodes).await.elements;
            all.extend(elements.into_iter().filter(|element| meet(&element.bounds, area)));
        }
        all
    }

    pub(crate) async fn elements(&self, query: ElementQuery) -> Vec<Element> {
        self.snapshot(query).await.elements
    }

    /// Empty if none can be had.
    async fn snapshot(&self, query: ElementQuery) -> Snapshot {
        let look = self.desktop().elements(ElementQuery { deadline: Some(LOOK), ..query });
        tokio::time::timeout(LOOK, look).await.ok().and_then(Result::ok).unwrap_or_default()
    }
}

/// What the controls at these points say; an empty text for one of which nothing is told. Beside the innermost element all
/// that can be pressed there counts: an open menu lies over what is smaller.
pub(crate) async fn controls_at(desktop: &dyn Desktop, display: u32, points: &[NormPoint]) -> Vec<String> {
    if points.is_empty() {
        return Vec::new();
    }
    let windows = tokio::time::timeout(LOOK, desktop.windows()).await.ok().and_then(Result::ok);
    let windows = windows.unwrap_or_default();
    let mut names = Vec::new();
    for point in points {
        let Some(window) = whose::taker(desktop, &windows, Some((display, *point))).await else {
            names.push(String::new());
            continue;
        };
        let Snapshot { mut elements, is_partial, .. } = of_window(desktop, window, display, MOST).await;
        elements.retain(|element| whose::holds(&element.bounds, *point));
        let area = |element: &Element| element.bounds.width * element.bounds.height;
        elements.sort_by(|one, other| area(one).total_cmp(&area(other)));
        let innermost = elements.first();
        // A field that says nothing is written into.
        if is_partial || innermost.is_none_or(|one| said(one).is_empty() && !act_effects::is_field(one)) {
            names.push(String::new());
        }
        let is_meant = |(at, one): &(usize, &Element)| *at == 0 || is_pressed(&one.role);
        let said = elements.iter().enumerate().filter(is_meant).map(|(_, one)| said(one));
        names.extend(said.filter(|said| !said.is_empty()));
    }
    names
}

/// Whether what has this role does what its name says when it is clicked.
pub(crate) fn is_pressed(role: &str) -> bool {
    PRESSED.contains(&role)
}

/// What a window shows; empty if that cannot be had. It is known by its application, or where that calls itself
/// otherwise in the accessibility tree, by its title and process.
pub(crate) async fn of_window(
    desktop: &dyn Desktop,
    window: &WindowView,
    display: u32,
    limit: u32,
) -> Snapshot {
    told_of_window(desktop, window, display, (limit, 0)).await.unwrap_or_default()
}

/// The same with so many characters of each text, 200 if 0; `None` if it was not told in time.
pub(crate) async fn told_of_window(
    desktop: &dyn Desktop,
    window: &WindowView,
    display: u32,
    (limit, text_chars): (u32, u32),
) -> Option<Snapshot> {
    let title = Some(window.title.clone()).filter(|title| !title.is_empty());
    let query = ElementQuery { limit, text_chars, display, deadline: Some(LOOK), ..ElementQuery::default() };
    let by_app = ElementQuery { app: Some(window.app.clone()), window: title.clone(), ..query.clone() };
    let look = async |query| tokio::time::timeout(LOOK, desktop.elements(query)).await.ok();
    match look(by_app).await? {
        Err(DesktopError::NotFound(_)) if title.is_some() => {}
        Err(DesktopError::Timeout(_)) => return None,
        // A window that tells no title may be another one's of its name.
        Ok(found) if found.window.is_empty() && title.is_some() && found.pid != window.pid => {
            return Some(Snapshot::default());
        }
        looked => return Some(looked.unwrap_or_default()),
    }
    let found = look(ElementQuery { window: title, ..query }).await?.ok();
    Some(found.filter(|found| found.pid.is_some() && found.pid == window.pid).unwrap_or_default())
}

pub(crate) fn meet(one: &NormRect, other: &NormRect) -> bool {
    one.x < other.x + other.width
        && other.x < one.x + one.width
        && one.y < other.y + other.height
        && other.y < one.y + one.height
}

pub(crate) fn said(element: &Element) -> String {
    untrusted::line(act_effects::said(element), NAME_CHARS)
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
