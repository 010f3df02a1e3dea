//! What a call would touch, found out before the user is asked: an act's risk is its target's, not only its tool's.
//!
//! The model may have been turned against the user by what it read; which window its keys go to, it cannot talk us out
//! of.

use std::time::Duration;

use browser::{Browser, WebTarget};
use desktop::{Desktop, Field, Target, WindowView};
use protocol::address;
use protocol::contract::EffectClass;
use protocol::tool::{Grant, Risk};
use serde_json::{Value, json};

use crate::applications::{self, Class};
use crate::contract::told::{self, Met};
use crate::contract::{self, Need};
use crate::plan::Step;
use crate::policy::Grants;
use crate::reach::{Act, Reach, Sends};
use crate::secrets::Landing;
use crate::whose::{in_app, is, named, owned, taker};
use crate::{goes_to, hosts, links, untrusted, words};

/// Longest wait for what is open.
pub(crate) const PATIENCE: Duration = Duration::from_millis(400);
const NAME_CHARS: usize = 80;

/// What one act of a call would touch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Touched {
    /// As the desktop calls it, cleaned.
    pub app: String,
    /// `None` if it has no window yet.
    pub window: Option<u64>,
    pub pid: Option<u32>,
    /// What its process runs; `None` if that is not known.
    pub program: Option<String>,
    pub class: Option<Class>,
    /// Whether its program shows a dialog that takes everything until it is answered.
    pub is_modal: bool,
    /// The name of the control that is meant, cleaned; `None` if a place or the focus is.
    pub control: Option<String>,
}

impl Touched {
    pub(crate) fn of(desktop: &dyn Desktop, window: &WindowView) -> Self {
        let program = window.pid.and_then(|pid| desktop.program(pid));
        let class = applications::class_of_window(&window.app, program.as_deref());
        Self {
            app: untrusted::line(&window.app, NAME_CHARS),
            window: Some(window.id.0),
            pid: window.pid,
            program,
            class,
            is_modal: is(window, "modal"),
            control: None,
        }
    }

    /// Without a window.
    pub(crate) fn of_name(app: &str, class: Option<Class>) -> Self {
        let app = untrusted::line(app, NAME_CHARS);
        Self { app, window: None, pid: None, program: None, class, is_modal: false, control: None }
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
        let window = if may_be_another { now.window } else { then.window };
        *now == Touched { window, is_modal: now.is_modal, ..then.clone() }
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
    /// Takes what the controls that a call would act on say that they do.
    pub(crate) fn read(&mut self, controls: &[String]) {
        let class = self.class();
        let blank = || controls.iter().find_map(|control| says_nothing(control, class));
        if let Some((why, needs)) = controls.iter().find_map(|control| says(control)).or_else(blank) {
            self.weigh(why, needs);
        }
    }

    /// Takes what one part of a call needs of a plan on the desktop. `its` is what the part was found to touch, `met` what it
    /// meets; `None` if it is looked at later, when its turn has come.
    pub(crate) fn meet(&mut self, part: &Step, its: &Self, met: Option<&Met>) {
        let (reach, act) = (part.plan().reach(), part.plan().act());
        if part.risk() < Risk::Edit
            || matches!(reach, Reach::Nowhere | Reach::Address(_) | Reach::Page { .. })
        {
            return;
        }
        let mut last: Option<&Touched> = None;
        for place in &its.places {
            let Place::Window(touched) = place else { continue };
            self.needs.extend(contract::of_window(reach, act, touched));
            if last.is_some_and(|last| last.window != touched.window) {
                self.needs.push(Need::Untold("a drop in another window"));
            }
            if let (Some(act), Some(met)) = (act, met) {
                self.needs.extend(told::of_act(act, touched, met));
            }
            last = Some(touched);
        }
        if let Some(controls) = met.and_then(|met| met.controls.as_deref()) {
            self.read(&controls.iter().map(goes_to::said).collect::<Vec<_>>());
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

    /// Of the application that the last act goes to.
    fn class(&self) -> Option<Class> {
        match self.places.last() {
            Some(Place::Window(touched)) => touched.class,
            Some(Place::Address(_)) | None => None,
        }
    }

    /// It asks each time, and no plan covers it that does not name this.
    fn weigh(&mut self, why: String, needs: Vec<Need>) {
        self.risk = Some(Risk::Consequential);
        self.why.get_or_insert(why);
        self.needs.extend(needs);
    }

    fn add(&mut self, part: &Step, found: Option<Touched>) {
        match found {
            Some(touched) => self.touch(part, touched),
            None => self.is_unknown = true,
        }
    }

    fn touch(&mut self, part: &Step, touched: Touched) {
        if let Some((why, needs)) = gravity(part, &touched) {
            self.weigh(why, needs);
        }
        self.touches.push(Grant { tool: part.name().to_owned(), app: Some(touched.app.clone()) });
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
                None if part.plan().reach().enters() => self.weigh(
                    "Enter in a browser goes somewhere, and its field cannot be read".into(),
                    vec![Need::Untold("where Enter in a browser goes")],
                ),
                None => leads_to.push(typed.text.clone()),
            }
        }
        for place in leads_to.iter().filter_map(|text| hosts::typed(text)) {
            if !grants.knows(&place) && !self.hosts.contains(&untrusted::line(&place, NAME_CHARS)) {
                self.send(part.name(), &format!("https://{place}"), grants);
            }
        }
    }

    fn add_page(&mut self, part: &Step, sends: Sends, found: Option<WebTarget>, grants: &Grants) {
        let tool = part.name();
        let Some(WebTarget { url, called, leads_to, goes_there, hides: _, sends_form }) = found else {
            self.is_unknown = true;
            return;
        };
        let page = Touched::of_name(&address::shown(&url), None).with_control(Some(&called));
        let there = leads_to.as_deref().unwrap_or(&url);
        let goes = sends == Sends::ToForm || (goes_there && sends == Sends::Nothing);
        let sent_to =
            (sends != Sends::Nothing).then_some(url.as_str()).into_iter().chain(goes.then_some(there));
        self.needs.extend(contract::of_page(&url, page.control.as_deref(), sent_to));
        if sends == Sends::ToForm || (sends_form && sends == Sends::Nothing) {
            self.needs.push(Need::Effect(EffectClass::Submit));
        }
        self.touch(part, page);
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

/// Why an act on this target asks each time, and what a plan must name for it; `None` if its plan's risk is enough.
fn gravity(part: &Step, touched: &Touched) -> Option<(String, Vec<Need>)> {
    let (reach, act) = (part.plan().reach(), part.plan().act());
    // Its place on the screen, or its closing, which its program may ask about.
    if let Reach::Window(_) = reach {
        return None;
    }
    let said = |control| says(control).or_else(|| says_nothing(control, touched.class));
    if let Some(grave) = touched.control.as_deref().and_then(said) {
        return Some(grave);
    }
    let class = touched.class?;
    let called = class.called();
    let breaks_line = reach.enters() || act.is_some_and(Act::breaks_line);
    let why = if class.is_grave()
        || (class == Class::Ide && (reach.takes_keys() || act.is_some_and(Act::brings_text)))
    {
        format!("{} is {called}", touched.app)
    } else if class == Class::Files && act.map_or(matches!(reach, Reach::Menu { .. }), Act::may_open) {
        format!("{} is {called}, and may start what is opened", touched.app)
    } else if breaks_line && class.sends() {
        format!("a line break in {} ({called}) sends", touched.app)
    } else {
        return None;
    };
    Some((why, contract::of_class(class, reach, act).into_iter().collect()))
}

fn says(control: &str) -> Option<(String, Vec<Need>)> {
    words::says(control).map(|does| (format!("“{control}” {does}"), contract::of_control(control)))
}

/// In a chat, a button with nothing but a sign on it is the one that sends.
fn says_nothing(control: &str, class: Option<Class>) -> Option<(String, Vec<Need>)> {
    let class = class.filter(|class| class.sends())?;
    let is_sign = !control.is_empty() && !control.chars().any(char::is_alphanumeric);
    let why = || format!("“{control}” in {} may send", class.called());
    is_sign.then(|| (why(), vec![Need::Effect(EffectClass::Send)]))
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
                targets.add_page(part, *sends, looked.ok().and_then(Result::ok), grants);
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
            Reach::Focus { .. } => targets.add(part, taker(desktop, windows, None).await.map(touched)),
            Reach::Points { display, points } => {
                for point in points {
                    let at = Some((*display, *point));
                    targets.add(part, taker(desktop, windows, at).await.map(touched));
                }
            }
            Reach::Window(id) => {
                let window = windows.iter().find(|window| window.id.0 == *id);
                targets.add(part, window.map(touched));
            }
            Reach::App(app) => targets.add(part, in_app(desktop, windows, app.as_deref())),
            Reach::Menu { path, .. } => {
                let touched = owned(desktop, windows, reach).await;
                targets.add(part, touched.map(|one| one.with_control(path.last().map(String::as_str))));
            }
            Reach::Element(Target::Selector(selector)) => {
                let touched = owned(desktop, windows, reach).await;
                targets.add(part, touched.map(|one| one.with_control(selector.name.as_deref())));
            }
            Reach::Element(Target::Ref(reference)) => {
                let listed = tokio::time::timeout(PATIENCE, desktop.listed(reference.clone())).await;
                let listed = listed.ok().flatten();
                let touched = match owned(desktop, windows, reach).await {
                    None => listed.as_ref().map(|listed| named(desktop, windows, &listed.app)),
                    touched => touched.filter(|_| listed.is_some()),
                };
                let name = listed.map(|listed| listed.name);
                targets.add(part, touched.map(|one| one.with_control(name.as_deref())));
            }
        }
        let class = targets.class();
        if class == Some(Class::Browser) {
            for url in links::lead_to(desktop, browser, windows, reach).await {
                targets.lead(&url, grants);
            }
        }
        if class == Some(Class::Browser) && part.goes_out() {
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
