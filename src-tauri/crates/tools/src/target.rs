//! What a call would touch, found out before the user is asked: an act's risk is its target's, not only its tool's.
//!
//! The model may have been turned against the user by what it read; which window its keys go to, it cannot talk us out
//! of.

use std::time::Duration;

use browser::{Browser, WebTarget};
use desktop::{Action, Desktop, Field, Key, Owner, Selector, Target, WindowView};
use protocol::address;
use protocol::contract::EffectClass;
use protocol::geometry::{NormPoint, NormRect};
use protocol::tool::{Grant, Risk};
use serde_json::{Value, json};

use crate::applications::{self, Class};
use crate::contract::{self, Need};
use crate::plan::Step;
use crate::policy::Grants;
use crate::secrets::Landing;
use crate::{hosts, links, untrusted, words};

/// Longest wait for what is open.
const PATIENCE: Duration = Duration::from_millis(400);
const NAME_CHARS: usize = 80;

/// Where an act goes.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Reach {
    /// To no application.
    Nowhere,
    /// To whatever has the keyboard; `enters` if a line break or Enter is among it.
    Focus { enters: bool },
    /// To whatever lies at these points of a display.
    Points { display: u32, points: Vec<NormPoint> },
    /// To a window as a whole, by the system's number.
    Window(u64),
    /// To an application by its name: the active one where it is not named.
    App(Option<String>),
    /// To an element: by its ref, or by its name and application.
    Element(Target),
    /// To a menu's item, by the names on the way to it.
    Menu { app: Option<String>, path: Vec<String> },
    /// To an address of the web.
    Address(String),
    /// To an element of a page, or to its dialog where none is named.
    Page { reference: Option<String>, sends: Sends },
}

/// What an act in a page sends out by itself, beside what a click sets off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sends {
    Nothing,
    /// A page reads what is written into it.
    ToPage,
    /// And Enter is pressed there.
    ToForm,
}

impl Reach {
    /// Of pointer and keyboard.
    pub(crate) fn of(action: &Action) -> Self {
        let is_enter = |key: &Key| *key == Key::Enter;
        match action {
            Action::Move { display, to } => Self::Points { display: *display, points: vec![*to] },
            Action::Click { display, at, .. }
            | Action::Scroll { display, at, .. }
            | Action::ButtonDown { display, at, .. }
            | Action::ButtonUp { display, at, .. } => Self::Points { display: *display, points: vec![*at] },
            Action::Drag { display, path, .. } => {
                let ends = path.first().into_iter().chain(path.last()).copied();
                Self::Points { display: *display, points: ends.collect() }
            }
            Action::Type { text } => Self::Focus { enters: text.contains(['\n', '\r']) },
            Action::Press { key, .. } | Action::KeyDown { key } | Action::KeyUp { key } => {
                Self::Focus { enters: is_enter(key) }
            }
            Action::Hotkey { keys } | Action::Hold { keys, .. } => {
                Self::Focus { enters: keys.iter().any(is_enter) }
            }
        }
    }

    pub(crate) fn takes_keys(&self) -> bool {
        matches!(self, Self::Focus { .. })
    }

    /// Whether it depends on what is in front.
    pub(crate) fn is_on_the_screen(&self) -> bool {
        match self {
            Self::Focus { .. } | Self::Points { .. } | Self::Element(_) | Self::Menu { .. } => true,
            Self::Nowhere | Self::Window(_) | Self::App(_) | Self::Address(_) | Self::Page { .. } => false,
        }
    }

    pub(crate) fn enters(&self) -> bool {
        matches!(self, Self::Focus { enters: true })
    }
}

/// What one act of a call would touch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Touched {
    /// As the desktop calls it, cleaned.
    pub app: String,
    /// `None` if it has no window yet.
    pub window: Option<u64>,
    pub pid: Option<u32>,
    pub class: Option<Class>,
    /// The name of the control that is meant, cleaned; `None` if a place or the focus is.
    pub control: Option<String>,
}

impl Touched {
    fn of(desktop: &dyn Desktop, window: &WindowView) -> Self {
        let program = window.pid.and_then(|pid| desktop.program(pid));
        let class = applications::class_of_window(&window.app, program.as_deref());
        Self {
            app: untrusted::line(&window.app, NAME_CHARS),
            window: Some(window.id.0),
            pid: window.pid,
            class,
            control: None,
        }
    }

    fn with_control(self, name: Option<&str>) -> Self {
        let control = name.map(|name| untrusted::line(name, NAME_CHARS)).filter(|name| !name.is_empty());
        Self { control, ..self }
    }

    /// What an approval is bound to.
    fn identity(&self) -> Value {
        json!({ "app": self.app, "window": self.window, "pid": self.pid, "control": self.control })
    }
}

/// One place that an act goes to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    Window(Touched),
    Address(String),
}

impl Place {
    /// What an approval is bound to.
    fn identity(&self) -> Value {
        match self {
            Self::Window(touched) => touched.identity(),
            Self::Address(address) => json!({ "address": address }),
        }
    }

    fn called(&self) -> &str {
        match self {
            Self::Window(touched) => &touched.app,
            Self::Address(address) => address,
        }
    }

    /// Whether it is what was shown, when only the windows `open` were there. A dialog that has come up since in the same
    /// program takes its keys; elements are found in whichever of its windows has them.
    fn is_as_shown(&self, shown: &Self, reach: &Reach, open: &[u64]) -> bool {
        let (Self::Window(now), Self::Window(then)) = (self, shown) else { return self == shown };
        let may_be_another = match reach {
            Reach::Focus { .. } => now.window.is_some_and(|window| !open.contains(&window)),
            Reach::Element(_) | Reach::Menu { .. } | Reach::App(_) => true,
            Reach::Nowhere
            | Reach::Points { .. }
            | Reach::Window(_)
            | Reach::Address(_)
            | Reach::Page { .. } => false,
        };
        let then = Touched { window: if may_be_another { now.window } else { then.window }, ..then.clone() };
        *now == then
    }
}

/// What the parts of a call would touch, one for each of them.
#[derive(Default)]
pub(crate) struct Found {
    pub parts: Vec<Targets>,
    /// The windows there were.
    pub open: Vec<u64>,
}

impl Found {
    /// Of the whole call.
    pub(crate) fn together(&self) -> Targets {
        let mut all = Targets::default();
        for part in &self.parts {
            all.touches.extend(part.touches.iter().cloned());
            all.risk = all.risk.max(part.risk);
            all.why = all.why.or_else(|| part.why.clone());
            all.hosts.extend(part.hosts.iter().cloned());
            all.is_unknown |= part.is_unknown;
            all.needs.extend(part.needs.iter().cloned());
            all.places.extend(part.places.iter().cloned());
        }
        all.hosts.sort();
        all.hosts.dedup();
        if !all.hosts.is_empty() {
            let named =
                format!("neither your words nor an earlier yes of yours named {}", all.hosts.join(", "));
            all.why = Some(all.why.map_or(named.clone(), |why| format!("{why}; {named}")));
        }
        all
    }
}

/// What a call, or a part of one, would touch, and what follows from it.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Targets {
    /// What a yes for the session would cover, one for each of its acts.
    pub touches: Vec<Grant>,
    /// The risk that they have; the plan's counts where it is higher.
    pub risk: Option<Risk>,
    /// Why, for the user; `None` if the targets add nothing.
    pub why: Option<String>,
    /// Hosts that it would go to, and that nobody has named.
    pub hosts: Vec<String>,
    /// Some target could not be found out: nothing that was allowed before covers the call.
    pub is_unknown: bool,
    /// What a plan must name for it.
    pub needs: Vec<Need>,
    places: Vec<Place>,
}

impl Targets {
    /// Takes what the controls that a call would act on say that they do; `None` if they cannot be told.
    pub(crate) fn read(&mut self, controls: Option<Vec<String>>) {
        let Some(controls) = controls else {
            return self.needs.push(Need::Untold("an element that cannot be told"));
        };
        self.needs.extend(controls.iter().flat_map(|control| contract::of_control(control)));
        if let Some(why) = controls.iter().find_map(|control| says(control)) {
            self.risk = Some(Risk::Consequential);
            self.why.get_or_insert(why);
        }
    }

    /// What an approval is bound to, besides tool and arguments.
    pub(crate) fn identity(&self) -> Vec<Value> {
        self.places.iter().map(Place::identity).collect()
    }

    /// Where an act of a batch goes now, if that is not where it went when the batch was allowed.
    pub(crate) fn strays_from(&self, shown: &Self, reach: &Reach, open: &[u64]) -> Option<&str> {
        let mut then = shown.places.iter();
        let is_other = |now: &&Place| !then.next().is_some_and(|then| now.is_as_shown(then, reach, open));
        self.places.iter().find(is_other).map(Place::called)
    }

    fn goes_to_a_browser(&self) -> bool {
        let is_browser =
            |place: &Place| matches!(place, Place::Window(one) if one.class == Some(Class::Browser));
        self.places.last().is_some_and(is_browser)
    }

    fn add(&mut self, tool: &str, reach: &Reach, found: Option<Touched>) {
        let Some(touched) = found else {
            self.is_unknown = true;
            return;
        };
        self.needs.extend(contract::of_window(reach, &touched));
        self.touch(tool, reach, touched);
    }

    fn touch(&mut self, tool: &str, reach: &Reach, touched: Touched) {
        if let Some(why) = gravity(reach, &touched) {
            self.risk = Some(Risk::Consequential);
            self.why.get_or_insert(why);
        }
        self.touches.push(Grant { tool: tool.to_owned(), app: Some(touched.app.clone()) });
        self.places.push(Place::Window(touched));
    }

    /// Something is sent to an address: where nobody has named its host, that is asked about each time.
    fn send(&mut self, tool: &str, url: &str, grants: &Grants) {
        let Some(host) = hosts::of(url) else {
            self.is_unknown |= url != "about:blank";
            return;
        };
        if !grants.knows(&host) {
            self.risk = Some(Risk::Consequential);
            self.hosts.push(untrusted::line(&host, NAME_CHARS));
        }
        let place = address::shown(url);
        self.places.push(Place::Address(place.clone()));
        let touch = Grant { tool: tool.to_owned(), app: Some(place) };
        if !self.touches.contains(&touch) {
            self.touches.push(touch);
        }
    }

    /// A link that is clicked leads to an address.
    fn lead(&mut self, url: &str, grants: &Grants) {
        if let Some(host) = hosts::of(url).filter(|host| !grants.knows(host)) {
            self.risk = Some(Risk::Consequential);
            self.hosts.push(untrusted::line(&host, NAME_CHARS));
        }
        // Another one there than was asked about is another act.
        self.places.insert(0, Place::Address(url.to_owned()));
    }

    /// Something is written in a browser, or Enter is pressed there: in its address field it goes where that leads. `typed`
    /// is what the same call has written by keys.
    fn types(&mut self, part: &Step, typed: Option<&mut Typed>, grants: &Grants) {
        let text = part.plan().text().unwrap_or_default();
        let mut leads_to = vec![text.to_owned()];
        if let Some(typed) = typed {
            typed.text.push_str(text);
            match &typed.before {
                Some(field) if field.in_page => return,
                Some(field) => leads_to.extend([typed.text.clone(), field.text.clone() + &typed.text]),
                None if part.plan().reach().enters() => {
                    self.risk = Some(Risk::Consequential);
                    self.why.get_or_insert(
                        "Enter in a browser goes somewhere, and its field cannot be read".into(),
                    );
                }
                None => leads_to.push(typed.text.clone()),
            }
        }
        for place in leads_to.iter().filter_map(|text| hosts::typed(text)) {
            if !grants.knows(&place) && !self.hosts.contains(&untrusted::line(&place, NAME_CHARS)) {
                self.send(part.name(), &format!("https://{place}"), grants);
            }
        }
    }

    fn add_page(&mut self, tool: &str, sends: Sends, found: Option<WebTarget>, grants: &Grants) {
        let Some(WebTarget { url, called, leads_to, goes_there, hides: _ }) = found else {
            self.is_unknown = true;
            return;
        };
        let page = Touched { app: address::shown(&url), window: None, pid: None, class: None, control: None };
        let page = page.with_control(Some(&called));
        let there = leads_to.as_deref().unwrap_or(&url);
        let goes = sends == Sends::ToForm || (goes_there && sends == Sends::Nothing);
        let sent_to =
            (sends != Sends::Nothing).then_some(url.as_str()).into_iter().chain(goes.then_some(there));
        self.needs.extend(contract::of_page(&url, page.control.as_deref(), sent_to));
        if sends == Sends::ToForm {
            self.needs.push(Need::Effect(EffectClass::Submit));
        }
        self.touch(tool, &Reach::Nowhere, page);
        if sends != Sends::Nothing {
            self.send(tool, &url, grants);
        }
        if goes {
            self.send(tool, there, grants);
        }
    }
}

/// What one call writes by keys into the field of a browser that had the keyboard before.
struct Typed {
    before: Option<Field>,
    text: String,
}

/// Why an act on this target asks each time; `None` if its plan's risk is enough.
fn gravity(reach: &Reach, touched: &Touched) -> Option<String> {
    // Its place on the screen, or its closing, which its program may ask about.
    if let Reach::Window(_) = reach {
        return None;
    }
    if let Some(why) = touched.control.as_deref().and_then(says) {
        return Some(why);
    }
    let class = touched.class?;
    let grave = class.is_grave() || (reach.takes_keys() && class.takes_commands());
    if grave {
        return Some(format!("{} is {}", touched.app, class.called()));
    }
    (reach.enters() && class.sends())
        .then(|| format!("a line break in {} ({}) sends", touched.app, class.called()))
}

fn says(control: &str) -> Option<String> {
    words::says(control).map(|does| format!("“{control}” {does}"))
}

/// Looks up what the parts of a call would touch. `grants` tell which hosts are known.
pub(crate) async fn find(
    desktop: &dyn Desktop,
    browser: &dyn Browser,
    grants: &Grants,
    step: &Step,
) -> Found {
    let mut found = Found::default();
    let mut windows = None;
    let mut typed = None;
    let touched = |window: &WindowView| Touched::of(desktop, window);
    for part in step.parts() {
        found.parts.push(Targets::default());
        let Some(targets) = found.parts.last_mut().filter(|_| part.risk() >= Risk::Edit) else { continue };
        let (tool, reach) = (part.name(), part.plan().reach());
        if part.risk() == Risk::Consequential {
            targets.needs.push(Need::Untold("what asks each time by itself"));
        }
        match reach {
            Reach::Nowhere => {
                targets.needs.push(contract::of_nothing(&part.spec().group));
                targets.touches.push(Grant { tool: tool.to_owned(), app: None });
                continue;
            }
            Reach::Address(url) => {
                targets.needs.extend(contract::of_address(url));
                targets.send(tool, url, grants);
                continue;
            }
            Reach::Page { reference, sends } => {
                if reference.is_none() {
                    targets.needs.push(Need::Untold("a page's dialog"));
                }
                let looked = tokio::time::timeout(PATIENCE, browser.target(reference.clone())).await;
                targets.add_page(tool, *sends, looked.ok().and_then(Result::ok), grants);
                continue;
            }
            _ => {}
        }
        let windows = match &mut windows {
            Some(windows) => &*windows,
            none => {
                let looked = tokio::time::timeout(PATIENCE, desktop.windows()).await;
                &*none.insert(looked.ok().and_then(Result::ok).unwrap_or_default())
            }
        };
        match reach {
            Reach::Nowhere | Reach::Address(_) | Reach::Page { .. } => {}
            Reach::Focus { .. } => targets.add(tool, reach, front(windows).map(touched)),
            Reach::Points { display, points } => {
                for point in points {
                    targets.add(tool, reach, window_at(windows, *display, *point).map(touched));
                }
            }
            Reach::Window(id) => {
                let window = windows.iter().find(|window| window.id.0 == *id);
                targets.add(tool, reach, window.map(touched));
            }
            Reach::App(app) => targets.add(tool, reach, in_app(desktop, windows, app.as_deref())),
            Reach::Menu { path, .. } => {
                let touched = owned(desktop, windows, reach).await;
                targets.add(
                    tool,
                    reach,
                    touched.map(|one| one.with_control(path.last().map(String::as_str))),
                );
            }
            Reach::Element(Target::Selector(selector)) => {
                let touched = owned(desktop, windows, reach).await;
                targets.add(tool, reach, touched.map(|one| one.with_control(selector.name.as_deref())));
            }
            Reach::Element(Target::Ref(reference)) => {
                let listed = tokio::time::timeout(PATIENCE, desktop.listed(reference.clone())).await;
                let listed = listed.ok().flatten();
                let touched = match owned(desktop, windows, reach).await {
                    None => listed.as_ref().map(|listed| named(desktop, windows, &listed.app)),
                    touched => touched.filter(|_| listed.is_some()),
                };
                let name = listed.map(|listed| listed.name);
                targets.add(tool, reach, touched.map(|one| one.with_control(name.as_deref())));
            }
        }
        if targets.goes_to_a_browser() {
            for url in links::lead_to(desktop, windows, reach).await {
                targets.lead(&url, grants);
            }
        }
        if targets.goes_to_a_browser() && part.goes_out() {
            let by_keys = matches!(reach, Reach::Focus { .. });
            if by_keys && typed.is_none() {
                let looked = tokio::time::timeout(PATIENCE, desktop.field()).await;
                typed = Some(Typed { before: looked.ok().flatten(), text: String::new() });
            }
            targets.types(part, typed.as_mut().filter(|_| by_keys), grants);
        }
    }
    found.open = windows.into_iter().flatten().map(|window| window.id.0).collect();
    found
}

/// Where a text would be written now.
pub(crate) async fn landing(desktop: &dyn Desktop, browser: &dyn Browser, reach: &Reach) -> Landing {
    let landing = match reach {
        Reach::Element(Target::Ref(reference)) => {
            let listed = tokio::time::timeout(PATIENCE, desktop.listed(reference.clone())).await;
            listed.ok().flatten().map(Landing::in_app)
        }
        Reach::Page { reference, .. } => {
            let looked = tokio::time::timeout(PATIENCE, browser.target(reference.clone())).await;
            looked.ok().and_then(Result::ok).map(Landing::in_page)
        }
        _ => None,
    };
    landing.unwrap_or(Landing::Open)
}

/// The window that has the keyboard, or while one of ours has it, the topmost.
fn front(windows: &[WindowView]) -> Option<&WindowView> {
    windows.iter().find(|one| is(one, "focused")).or_else(|| windows.iter().find(|one| !is(one, "minimized")))
}

fn is(window: &WindowView, state: &str) -> bool {
    window.states.iter().any(|one| one == state)
}

/// The topmost window at a point; the desktop itself is none.
pub(crate) fn window_at(windows: &[WindowView], display: u32, point: NormPoint) -> Option<&WindowView> {
    let is_there = |window: &&WindowView| {
        let is_minimized = window.states.iter().any(|state| state == "minimized");
        window.display == display && !is_minimized && holds(&window.bounds, point)
    };
    windows.iter().find(is_there)
}

pub(crate) fn holds(bounds: &NormRect, point: NormPoint) -> bool {
    let within = |at: f64, from: f64, length: f64| (from..from + length).contains(&at);
    within(point.x(), bounds.x, bounds.width) && within(point.y(), bounds.y, bounds.height)
}

/// Where an element or a menu is, by the word of whoever would act on it; by the windows' names where it has none.
pub(crate) async fn owned(desktop: &dyn Desktop, windows: &[WindowView], reach: &Reach) -> Option<Touched> {
    let (target, app) = match reach {
        Reach::Element(target @ Target::Ref(_)) => (target.clone(), None),
        Reach::Element(target @ Target::Selector(selector)) => (target.clone(), selector.app.clone()),
        Reach::Menu { app, .. } => {
            (Target::Selector(Selector { app: app.clone(), ..Selector::default() }), app.clone())
        }
        _ => return None,
    };
    let is_ref = matches!(target, Target::Ref(_));
    match tokio::time::timeout(PATIENCE, desktop.owner(target)).await.ok().flatten() {
        Some(Owner { app, pid }) => {
            let program = desktop.program(pid);
            let class = applications::class_of_window(&app, program.as_deref());
            let is_its = |window: &&WindowView| window.pid == Some(pid);
            let window = front(windows).filter(is_its).or_else(|| windows.iter().find(is_its));
            Some(match window.map(|window| Touched::of(desktop, window)) {
                Some(found) => Touched { class: found.class.or(class), ..found },
                None => Touched {
                    app: untrusted::line(&app, NAME_CHARS),
                    window: None,
                    pid: Some(pid),
                    class,
                    control: None,
                },
            })
        }
        None if is_ref => None,
        None => in_app(desktop, windows, app.as_deref()),
    }
}

fn in_app(desktop: &dyn Desktop, windows: &[WindowView], app: Option<&str>) -> Option<Touched> {
    match app {
        Some(app) => Some(named(desktop, windows, app)),
        None => front(windows).map(|window| Touched::of(desktop, window)),
    }
}

/// By a part of its application's name or of its title, as the tools take it.
fn called<'a>(windows: &'a [WindowView], name: &str) -> Option<&'a WindowView> {
    let wanted = name.to_lowercase();
    let is = |window: &&WindowView| {
        [&window.app, &window.title].iter().any(|text| text.to_lowercase().contains(&wanted))
    };
    front(windows).filter(is).or_else(|| windows.iter().find(is))
}

/// An application by its name, or by a part of it.
fn named(desktop: &dyn Desktop, windows: &[WindowView], name: &str) -> Touched {
    let by_name = applications::class_of([name]);
    match called(windows, name).map(|window| Touched::of(desktop, window)) {
        Some(found) => Touched { class: found.class.or(by_name), ..found },
        None => {
            let app = untrusted::line(name, NAME_CHARS);
            Touched { app, window: None, pid: None, class: by_name, control: None }
        }
    }
}
