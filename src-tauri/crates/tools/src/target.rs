//! What a call would touch, found out before the user is asked: an act's risk is its target's, not only its tool's.
//!
//! The model may have been turned against the user by what it read; which window its keys go to, it cannot talk us out
//! of.

use std::time::Duration;

use browser::{Browser, WebTarget};
use desktop::{
    Action, Button, Desktop, Element, ElementAction, Field, Inside, ListedElement, Target, WindowView,
};
use protocol::address;
use protocol::contract::EffectClass;
use protocol::tool::{Grant, Risk, ToolError};
use serde_json::{Value, json};

use crate::applications::{self, Class};
use crate::contract::act_effects::{self, Met};
use crate::contract::{self, Need};
use crate::links::{self, Led};
use crate::plan::Step;
use crate::policy::Grants;
use crate::ports::Ports;
use crate::reach::{Act, Reach, Sends};
use crate::secrets::{self, Landing, PASSWORD};
use crate::whose::{in_app, is, is_unlisted, named, owned, taker};
use crate::{goes_to, hosts, untrusted};

pub(crate) mod beyond;
mod gravity;

pub(crate) use gravity::meets_field;
use gravity::{Keyboard, brings, gravity, keyboard, says, says_nothing};

/// Longest wait for what is open.
pub(crate) const PATIENCE: Duration = Duration::from_millis(400);
const NAME_CHARS: usize = 80;
/// The role of what shows a shell.
const TERMINAL: &str = "terminal";
const ROW_CHARS: usize = 500;

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
    /// What the row of a page says that the control is in, cleaned; `None` if it is in none.
    pub row: Option<String>,
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
            row: None,
        }
    }

    /// Without a window.
    pub(crate) fn of_name(app: &str, class: Option<Class>) -> Self {
        let app = untrusted::line(app, NAME_CHARS);
        Self { app, class, window: None, pid: None, program: None, is_modal: false, control: None, row: None }
    }

    fn with_control(self, name: Option<&str>) -> Self {
        let control = name.map(|name| untrusted::line(name, NAME_CHARS)).filter(|name| !name.is_empty());
        Self { control, ..self }
    }

    /// As a grant names it: with its program, where that is no name of the application. A window may call itself anything.
    fn granted_as(&self) -> String {
        match &self.program {
            Some(program) if !contract::is_same(&self.app, program) => {
                format!("{} ({})", self.app, untrusted::line(program, NAME_CHARS))
            }
            Some(_) | None => self.app.clone(),
        }
    }

    /// What shows a shell takes commands, whatever its program is called.
    fn in_role(self, role: Option<&str>) -> Self {
        let class = if role == Some(TERMINAL) { Some(Class::Terminal) } else { self.class };
        Self { class, ..self }
    }

    /// What an approval is bound to.
    fn identity(&self) -> Value {
        json!({
            "app": self.app, "window": self.window, "pid": self.pid, "control": self.control, "row": self.row,
        })
    }
}

/// One place that an act goes to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Destination {
    Window(Touched),
    Address(String),
    File(FileThere),
    Calendar(EntryThere),
    /// A command's line, or the one under way that is spoken to; in which folder.
    Command {
        line: String,
        folder: String,
    },
}

/// A file that would be changed, as it is now: a yes is for no other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FileThere {
    /// Absolute.
    pub path: String,
    /// What tells its content from another's without reading it; `None` if there is no such file.
    pub version: Option<String>,
}

/// An event or a reminder as it is now, or the calendar that a new one goes to: a yes is for no other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct EntryThere {
    /// The calendar's or list's, by its id.
    pub calendar: String,
    /// What tells it from what it was before; `None` if it is new.
    pub version: Option<String>,
    /// For people.
    pub called: String,
}

impl Destination {
    /// What an approval is bound to.
    fn identity(&self) -> Value {
        match self {
            Self::Window(touched) => touched.identity(),
            Self::Address(address) => json!({ "address": address }),
            Self::File(FileThere { path, version }) => json!({ "file": path, "version": version }),
            Self::Calendar(EntryThere { calendar, version, called }) => {
                json!({ "calendar": calendar, "version": version, "entry": called })
            }
            Self::Command { line, folder } => json!({ "command": line, "folder": folder }),
        }
    }

    fn called(&self) -> &str {
        match self {
            Self::Window(touched) => &touched.app,
            Self::Address(address) => address,
            Self::File(file) => &file.path,
            Self::Calendar(there) => &there.called,
            Self::Command { line, .. } => line,
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
            | Reach::Page { .. }
            | Reach::Files { .. }
            | Reach::Command(_)
            | Reach::Calendar { .. }
            | Reach::Search { .. } => false,
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
            all.sends_to.extend(part.sends_to.iter().cloned());
            all.leaves |= part.leaves;
            all.is_unknown |= part.is_unknown;
            all.refusal = all.refusal.or_else(|| part.refusal.clone());
            all.needs.extend(part.needs.iter().cloned());
            all.places.extend(part.places.iter().cloned());
        }
        all.hosts.sort();
        all.hosts.dedup();
        all.sends_to.sort();
        all.sends_to.dedup();
        if !all.sends_to.is_empty() {
            // First: it must not be missed.
            let sends = format!("it can send anything in its folder to {}", all.sends_to.join(", "));
            all.why = Some(all.why.map_or(sends.clone(), |why| format!("{sends}; {why}")));
        }
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
    /// Hosts that a command can send anything to.
    pub sends_to: Vec<String>,
    /// It may carry something away: sends, publishes, pays, submits, or starts what is typed. Once something was read, that
    /// asks in auto, too.
    pub leaves: bool,
    /// Some target could not be found out: nothing that was allowed before covers the call.
    pub is_unknown: bool,
    /// What a plan must name for it.
    pub needs: Vec<Need>,
    /// Why it would not be done, as far as that can be told before.
    pub refusal: Option<ToolError>,
    places: Vec<Destination>,
}

impl Targets {
    /// Takes what the controls that a call would act on say that they do.
    pub(crate) fn read(&mut self, controls: &[String]) {
        let class = self.class();
        // All of them: the first to be grave may be one that carries nothing away.
        for (why, needs) in controls.iter().filter_map(|control| says(control)) {
            self.weigh(why, needs);
        }
        if let Some((why, needs)) = controls.iter().find_map(|control| says_nothing(control, class)) {
            self.weigh(why, needs);
        }
    }

    /// Takes what one part of a call needs of a plan on the desktop. `its` is what the part was found to touch, `met` what it
    /// meets; `None` if it is looked at later, when its turn has come.
    pub(crate) fn meet(&mut self, part: &Step, its: &Self, met: Option<&Met>) {
        let (reach, act) = (part.plan().reach(), part.plan().act());
        if part.risk() < Risk::Edit
            || matches!(reach, Reach::Nowhere | Reach::Address(_) | Reach::Page { .. })
            || matches!(reach, Reach::Files { .. } | Reach::Command(_) | Reach::Calendar { .. })
            || matches!(reach, Reach::Search { .. })
        {
            return;
        }
        let mut last: Option<&Touched> = None;
        for place in &its.places {
            let Destination::Window(touched) = place else { continue };
            self.needs.extend(contract::of_window(reach, act, touched));
            if last.is_some_and(|last| last.window != touched.window) {
                self.needs.push(Need::Untold("a drop in another window"));
            }
            if let (Some(act), Some(met)) = (act, met) {
                self.needs.extend(act_effects::of_act(act, touched, met));
            }
            last = Some(touched);
        }
        if let Some(controls) = met.and_then(|met| met.controls.as_deref()) {
            self.read(&controls.iter().map(goes_to::said).collect::<Vec<_>>());
        }
    }

    /// What an approval is bound to, besides tool and arguments.
    pub(crate) fn identity(&self) -> Vec<Value> {
        self.places.iter().map(Destination::identity).collect()
    }

    /// Where an act of a batch goes now, if that is not where it went when the batch was allowed.
    pub(crate) fn strays_from(&self, shown: &Self, reach: &Reach, open: &[u64]) -> Option<&str> {
        let mut then = shown.places.iter();
        let is_other =
            |now: &&Destination| !then.next().is_some_and(|then| now.is_as_shown(then, reach, open));
        self.places.iter().find(is_other).map(Destination::called)
    }

    /// Of the application that the last act goes to.
    fn class(&self) -> Option<Class> {
        match self.places.last() {
            Some(Destination::Window(touched)) => touched.class,
            Some(_) | None => None,
        }
    }

    /// It asks each time, and no plan covers it that does not name this.
    fn weigh(&mut self, why: String, needs: Vec<Need>) {
        self.leaves |= needs.iter().any(contract::leaves);
        self.ask(why, needs);
    }

    /// The same of what goes to a known place, if anywhere.
    fn ask(&mut self, why: String, needs: Vec<Need>) {
        self.risk = Some(Risk::Consequential);
        self.why.get_or_insert(why);
        self.needs.extend(needs);
    }

    /// A text that is no secret's name goes into a password field.
    fn expose(&mut self, field: &str, part: &Step, grants: &Grants) {
        // Without a question only what the user has said.
        self.leaves |= !part.plan().text().is_some_and(|text| grants.has_said(text));
        let why = format!(
            "{field} hides what is written, and this text stays readable in the journal and with the model's provider; \
             `miki secret set` keeps it from both"
        );
        self.ask(why, vec![Need::Effect(EffectClass::Passwords)]);
    }

    /// A form is sent by this element of a page.
    fn submit(&mut self, target: &WebTarget) {
        let need = Need::Effect(EffectClass::Submit);
        if target.searches {
            self.needs.push(need);
        } else {
            let called = untrusted::line(&target.called, NAME_CHARS);
            self.ask(format!("“{called}” submits a form"), vec![need]);
        }
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
        self.touches.push(Grant { tool: part.name().to_owned(), app: Some(touched.granted_as()) });
        self.places.push(Destination::Window(touched));
    }

    /// What is dragged into another window, or what is let go of there, is given to it. Where it comes from may be in no list,
    /// as the desktop is.
    fn drops(&mut self, act: Option<&Act>, is_holding: bool) {
        let mut windows = self.places.iter().filter_map(|place| match place {
            Destination::Window(touched) => Some(touched),
            _ => None,
        });
        let from = match act {
            Some(Act::Input(Action::Drag { .. })) => windows.next().and_then(|from| from.window),
            Some(Act::Input(Action::ButtonUp { .. })) if is_holding => None,
            _ => return,
        };
        // A drag of one known place has begun nowhere.
        let is_inside = |to: &Touched| from.is_some() && from == to.window && self.places.len() > 1;
        let to = self.places.iter().rev().find_map(|place| match place {
            Destination::Window(touched) => Some(touched),
            _ => None,
        });
        let Some(to) = to.filter(|to| !is_inside(to)) else { return };
        if to.class.is_some_and(|class| class == Class::Browser || class.sends()) {
            let why = format!("what is dropped goes to {}", to.app);
            self.weigh(why, vec![Need::Untold("a drop in another window")]);
        }
    }

    /// Something is sent to an address: where nobody has named its host, that is asked about each time.
    fn send(&mut self, tool: &str, url: &str, grants: &Grants) {
        let Some(host) = hosts::of(url) else {
            self.is_unknown |= url != "about:blank";
            return;
        };
        self.visit(&host, url, grants);
        let place = address::shown(url);
        self.places.push(Destination::Address(place.clone()));
        let touch = Grant { tool: tool.to_owned(), app: Some(place) };
        if !self.touches.contains(&touch) {
            self.touches.push(touch);
        }
    }

    /// The host of an address, and those that the address itself hands on to.
    fn visit(&mut self, host: &str, url: &str, grants: &Grants) {
        for host in std::iter::once(host.to_owned()).chain(hosts::carried(url)) {
            if !grants.knows(&host) {
                self.risk = Some(Risk::Consequential);
                self.hosts.push(untrusted::line(&host, NAME_CHARS));
            }
        }
    }

    /// A link or a form that is followed in a browser's window leads to an address.
    fn lead(&mut self, url: &str, grants: &Grants) {
        if let Some(host) = hosts::of(url) {
            self.visit(&host, url, grants);
        }
        // Another one there than was asked about is another act.
        self.places.insert(0, Destination::Address(url.to_owned()));
    }

    /// Something is written in a browser, or Enter is pressed there: in its address field it goes where that leads, and a
    /// page reads what is written into it.
    fn writes(&mut self, part: &Step, written: Written<'_>, grants: &Grants) {
        let text = part.plan().text().unwrap_or_default();
        let mut leads_to = vec![text.to_owned()];
        match written {
            Written::ByKeys(Typed { before, text: typed }) => {
                typed.push_str(text);
                leads_to.push(typed.clone());
                match before {
                    Some(field) => match &field.inside {
                        Inside::Page(url) => return self.reads(part, url, grants),
                        Inside::Around => {
                            let whole = field.text.clone() + typed;
                            if part.plan().reach().enters() {
                                self.searches(&whole, typed, grants);
                            }
                            leads_to.push(whole);
                        }
                        Inside::Untold => {
                            leads_to.push(field.text.clone() + typed);
                            self.weigh(NO_PAGE.into(), vec![Need::Untold("which page gets the text")]);
                        }
                    },
                    None if part.plan().reach().enters() => {
                        let why = "Enter in a browser goes somewhere, and its field cannot be read".into();
                        let needs = vec![Need::Untold("where Enter in a browser goes")];
                        match self.places.first() {
                            // A link's or a form's word.
                            Some(Destination::Address(_)) if text.is_empty() => self.ask(why, needs),
                            Some(_) | None => self.weigh(why, needs),
                        }
                    }
                    None => self.weigh(NO_PAGE.into(), vec![Need::Untold("which page gets the text")]),
                }
            }
            Written::InElements(all) => {
                for inside in all {
                    match inside {
                        Inside::Page(url) => self.reads(part, &url, grants),
                        Inside::Around => {}
                        Inside::Untold => {
                            self.weigh(NO_PAGE.into(), vec![Need::Untold("which page gets the text")]);
                        }
                    }
                }
            }
        }
        for place in leads_to.iter().filter_map(|text| hosts::typed(text)) {
            if !grants.knows(&place) && !self.hosts.contains(&untrusted::line(&place, NAME_CHARS)) {
                self.send(part.name(), &format!("https://{place}"), grants);
            }
        }
    }

    /// Enter in a field of one line, of a program in no list, with an address in it: that may be where it goes.
    async fn goes_to_typed(&mut self, part: &Step, desktop: &dyn Desktop, grants: &Grants) {
        if !part.plan().reach().enters() {
            return;
        }
        let field = tokio::time::timeout(PATIENCE, desktop.field()).await.ok().flatten();
        let Some(field) = field.filter(|field| !field.takes_lines) else { return };
        let text = part.plan().text().unwrap_or_default();
        for words in [text.to_owned(), field.text + text] {
            for host in hosts::named(&words).filter(|host| !grants.knows(host)) {
                self.risk = Some(Risk::Consequential);
                self.hosts.push(untrusted::line(&host, NAME_CHARS));
            }
        }
    }

    /// What is no address goes to the search engine of the browser, once Enter is pressed. As with `webSearch`, that is asked
    /// about once something was read, unless the words are the user's own.
    fn searches(&mut self, whole: &str, typed: &str, grants: &Grants) {
        // With what was in the field before, and without it: it may be selected.
        let is_unsaid_search = |words: &str| {
            let words = words.trim();
            !words.is_empty() && hosts::typed(words).is_none() && !grants.has_said(words)
        };
        if grants.has_read() && [whole, typed].into_iter().any(is_unsaid_search) {
            let why = "these words go to the browser's search engine".into();
            self.weigh(why, vec![Need::Effect(EffectClass::Submit)]);
        }
    }

    /// A page gets what is written, and its form is sent where Enter is pressed in it.
    fn reads(&mut self, part: &Step, url: &str, grants: &Grants) {
        match hosts::of(url) {
            None => {
                let why = format!("a page that is of no site ({}) gets what is written", address::shown(url));
                self.weigh(why, vec![Need::Untold("a page that is of no site")]);
            }
            // Another page in its place is another act.
            Some(host) if grants.knows(&host) => {
                self.places.insert(0, Destination::Address(address::shown(url)))
            }
            Some(_) => self.send(part.name(), url, grants),
        }
    }

    fn add_page(&mut self, part: &Step, sends: Sends, found: Option<WebTarget>, grants: &Grants) {
        let tool = part.name();
        let Some(target) = found else {
            self.is_unknown = true;
            return;
        };
        let WebTarget { url, called, row, leads_to, goes_there, sends_form, .. } = &target;
        let row = Some(untrusted::line(row, ROW_CHARS)).filter(|row| !row.is_empty());
        let page = Touched { row, ..Touched::of_name(&address::shown(url), None).with_control(Some(called)) };
        let there = leads_to.as_deref().unwrap_or(url);
        let goes = sends == Sends::ToForm || (*goes_there && sends == Sends::Nothing);
        let sent_to =
            (sends != Sends::Nothing).then_some(url.as_str()).into_iter().chain(goes.then_some(there));
        self.needs.extend(contract::of_page(url, page.control.as_deref(), sent_to));
        self.touch(part, page);
        if sends == Sends::ToForm || (*sends_form && sends == Sends::Nothing) {
            self.submit(&target);
        }
        if sends != Sends::Nothing {
            if target.hides && part.plan().text().is_some_and(secrets::tells) {
                self.expose(&format!("“{}”", untrusted::line(called, NAME_CHARS)), part, grants);
            }
            self.send(tool, url, grants);
        }
        if goes {
            self.send(tool, there, grants);
        }
    }
}

const NO_PAGE: &str = "what is written in a browser goes to its page, and which one that is cannot be told";

/// It pastes what is selected, or opens a link.
fn is_middle_click(act: &Act) -> bool {
    let button = match act {
        Act::Input(Action::Click { button, .. })
        | Act::Input(Action::ButtonDown { button, .. } | Action::ButtonUp { button, .. })
        | Act::Element(ElementAction::Click { button, .. }) => button,
        Act::Input(_) | Act::Element(_) | Act::Fill(_) | Act::Start(_) => return false,
    };
    *button == Button::Middle
}

/// How a text comes into a browser's window.
enum Written<'a> {
    ByKeys(&'a mut Typed),
    /// Into elements, of which one is meant.
    InElements(Vec<Inside>),
}

/// What one call writes by keys into the field of a browser that had the keyboard before.
struct Typed {
    before: Option<Field>,
    text: String,
}

impl Typed {
    /// The address of the page whose field it is.
    fn page(&self) -> Option<&str> {
        match &self.before.as_ref()?.inside {
            Inside::Page(url) => Some(url),
            Inside::Around | Inside::Untold => None,
        }
    }
}

/// Whether it is of that page, and not of another one that lies at the same place.
fn is_of(target: &WebTarget, page: &str) -> bool {
    address::shown(&target.url) == address::shown(page)
}

/// Looks up what the parts of a call would touch. `grants` tell which hosts are known.
pub(crate) async fn find(
    desktop: &dyn Desktop,
    browser: &dyn Browser,
    grants: &Grants,
    ports: &Ports,
    step: &Step,
) -> Found {
    let mut found = Found::default();
    let mut windows = None;
    let mut typed = None;
    let touched = |window: &WindowView| Touched::of(desktop, window);
    for part in step.parts() {
        let is_first = found.parts.is_empty();
        found.parts.push(Targets::default());
        let Some(targets) = found.parts.last_mut().filter(|_| part.is_looked_up()) else { continue };
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
            Reach::Files { paths, does } => {
                beyond::add_files(targets, part, paths, *does, (grants, ports)).await;
                // What a later part of a batch meets, those before it may make.
                if is_first {
                    targets.refusal = beyond::refusal(part, ports).await;
                }
                continue;
            }
            Reach::Command(ordered) => {
                beyond::add_command(targets, part, ordered, grants, ports);
                continue;
            }
            Reach::Calendar { entry, deletes } => {
                beyond::add_calendar(targets, part, entry, *deletes, ports).await;
                continue;
            }
            Reach::Search { words } => {
                beyond::add_search(targets, part, words, grants, ports);
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
        // The password field that it would write into.
        let mut hides = None;
        match reach {
            Reach::Nowhere | Reach::Address(_) | Reach::Page { .. } => {}
            Reach::Files { .. } | Reach::Command(_) | Reach::Calendar { .. } | Reach::Search { .. } => {}
            Reach::Focus { enters } => {
                let taker = taker(desktop, windows, None).await.map(touched);
                if taker.is_none() && *enters && is_unlisted(desktop).await {
                    let untold = "a window that no list names";
                    let why = format!("Enter goes to {untold}, as launchers are, which start what is typed");
                    targets.weigh(why, vec![Need::Untold(untold)]);
                }
                let class = taker.as_ref().and_then(|taker| taker.class);
                let keyboard = keyboard(desktop, windows, part, class).await;
                let role = keyboard.as_ref().and_then(|keyboard| keyboard.role.as_deref());
                targets.add(part, taker.map(|one| one.in_role(role)));
                if let Some(Keyboard { field, control, writes, goes_on, role: _ }) = keyboard {
                    if goes_on {
                        let why = "a Tab in the text goes on to another control, which the rest may press";
                        targets
                            .weigh(why.into(), vec![Need::Untold("a text that goes on in another control")]);
                    }
                    if writes && field.as_ref().is_some_and(|field| field.hides) {
                        hides = Some("the field with the keyboard".to_owned());
                    }
                    targets.read(control.as_slice());
                }
            }
            Reach::Points { display, points } => {
                for point in points {
                    let at = Some((*display, *point));
                    targets.add(part, taker(desktop, windows, at).await.map(touched));
                }
                targets.drops(part.plan().act(), desktop.is_holding());
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
                // A part of a name is enough.
                let meant = links::meant(desktop, selector).await;
                let shows = meant.iter().map(|one| one.role.as_str()).find(|role| *role == TERMINAL);
                let touched = touched.map(|one| one.in_role(shows));
                targets.add(part, touched.map(|one| one.with_control(selector.name.as_deref())));
                // What a later part of a batch means, those before it may bring: it is looked for again when it comes.
                if meant.is_empty() && is_first && part.risk() >= Risk::Edit {
                    let why = "which element is meant cannot be told now".into();
                    targets.weigh(why, vec![Need::Untold("an element that cannot be told")]);
                }
                targets.read(&meant.iter().map(goes_to::said).collect::<Vec<_>>());
                let is_hidden = |one: &&Element| one.role == PASSWORD;
                hides = meant.iter().find(is_hidden).map(|one| gravity::titled(&one.name));
            }
            Reach::Element(Target::Ref(reference)) => {
                let listed = tokio::time::timeout(PATIENCE, desktop.listed(reference.clone())).await;
                let listed = listed.ok().flatten();
                let touched = match owned(desktop, windows, reach).await {
                    None => listed.as_ref().map(|listed| named(desktop, windows, &listed.app)),
                    touched => touched.filter(|_| listed.is_some()),
                };
                let is_hidden = |listed: &&ListedElement| listed.role == PASSWORD;
                hides = listed.as_ref().filter(is_hidden).map(|listed| gravity::titled(&listed.name));
                let touched =
                    touched.map(|one| one.in_role(listed.as_ref().map(|listed| listed.role.as_str())));
                let is_blank = |listed: &ListedElement| {
                    listed.name.trim().is_empty() && goes_to::is_pressed(&listed.role)
                };
                let is_blank = listed.as_ref().is_some_and(is_blank);
                let name = listed.map(|listed| listed.name);
                targets.add(part, touched.map(|one| one.with_control(name.as_deref())));
                if is_blank && part.risk() >= Risk::Edit {
                    targets.read(&[String::new()]);
                }
            }
        }
        let text = part.plan().text();
        let tells = if reach.takes_keys() {
            text.is_none_or(secrets::tells)
        } else {
            text.is_some_and(secrets::tells)
        };
        if let Some(field) = hides.filter(|_| tells) {
            targets.expose(&field, part, grants);
        }
        let is_browser = match targets.class() {
            Some(class) => class == Class::Browser,
            // A program that nobody has listed may show pages, too.
            None => grants.has_read() && shows_pages(desktop, reach).await,
        };
        if !is_browser {
            // Other programs hand their links to the browser, and one in no list may have an address field.
            if grants.has_read() {
                for url in links::told(desktop, windows, reach).await {
                    targets.lead(&url, grants);
                }
                if targets.class().is_none() {
                    targets.goes_to_typed(part, desktop, grants).await;
                }
            }
            continue;
        }
        if part.plan().act().is_some_and(is_middle_click) {
            let why = "a click with the middle button brings what is selected into a page, or goes there";
            targets.weigh(why.into(), vec![Need::Untold("which page gets what is selected")]);
        }
        let Led { to, sent } = links::lead_to(desktop, browser, windows, reach).await;
        for url in to {
            targets.lead(&url, grants);
        }
        let by_keys = matches!(reach, Reach::Focus { .. });
        if by_keys && typed.is_none() && (part.goes_out() || brings(part)) {
            let looked = tokio::time::timeout(PATIENCE, desktop.field()).await;
            typed = Some(Typed { before: looked.ok().flatten(), text: String::new() });
        }
        let page = typed.as_ref().filter(|_| by_keys).and_then(Typed::page);
        if reach.enters() && page.is_some_and(|page| !sent.iter().any(|one| is_of(one, page))) {
            let why = "Enter in a field of a page may send what is in it, and where to cannot be told".into();
            targets.weigh(why, vec![Need::Effect(EffectClass::Submit)]);
        }
        for target in sent {
            targets.submit(&target);
        }
        if part.goes_out() || brings(part) {
            match typed.as_mut().filter(|_| by_keys) {
                Some(typed) => targets.writes(part, Written::ByKeys(typed), grants),
                None if text.is_some() => {
                    let inside = links::inside(desktop, reach).await;
                    targets.writes(part, Written::InElements(inside), grants);
                }
                None => {}
            }
        }
    }
    found.open = windows.into_iter().flatten().map(|window| window.id.0).collect();
    found
}

/// Whether what an act goes to is a page's.
async fn shows_pages(desktop: &dyn Desktop, reach: &Reach) -> bool {
    // An application made of pages of its own goes nowhere.
    let is_page = |inside: &Inside| matches!(inside, Inside::Page(url) if hosts::of(url).is_some());
    match reach {
        Reach::Focus { .. } => {
            let field = tokio::time::timeout(PATIENCE, desktop.field()).await.ok().flatten();
            field.is_some_and(|field| is_page(&field.inside))
        }
        Reach::Element(_) => links::inside(desktop, reach).await.iter().any(is_page),
        _ => false,
    }
}

/// Where a text would be written now.
pub(crate) async fn landing(desktop: &dyn Desktop, browser: &dyn Browser, reach: &Reach) -> Landing {
    let landing = match reach {
        Reach::Element(Target::Ref(reference)) => {
            let listed = tokio::time::timeout(PATIENCE, desktop.listed(reference.clone())).await;
            let owner = tokio::time::timeout(PATIENCE, desktop.owner(Target::Ref(reference.clone()))).await;
            let program = owner.ok().flatten().and_then(|owner| desktop.program(owner.pid));
            listed.ok().flatten().map(|listed| Landing::in_app(listed, program))
        }
        Reach::Page { reference, .. } => {
            let looked = tokio::time::timeout(PATIENCE, browser.target(reference.clone())).await;
            looked.ok().and_then(Result::ok).map(Landing::in_page)
        }
        _ => None,
    };
    landing.unwrap_or(Landing::Open)
}
