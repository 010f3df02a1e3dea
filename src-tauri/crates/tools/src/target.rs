//! What a call would touch, found out before the user is asked: an act's risk is its target's, not only its tool's.
//!
//! The model may have been turned against the user by what it read; which window its keys go to, it cannot talk us out
//! of.

use std::time::Duration;

use browser::WebTarget;
use desktop::{Action, Button, Desktop, ElementAction, Field, Inside};
use protocol::address;
use protocol::contract::EffectClass;
use protocol::tool::{Grant, Risk, ToolError};
use serde_json::Value;

use crate::applications::Class;
use crate::contract::act_effects::{self, Met};
use crate::contract::{self, Need};
use crate::plan::Step;
use crate::policy::Grants;
use crate::reach::{Act, Reach, Sends};
use crate::secrets;
use crate::{goes_to, hosts, untrusted};

pub(crate) mod beyond;
mod destination;
mod fenced;
mod find;
mod gravity;

pub(crate) use destination::{Destination, EntryThere, FileThere, Touched};
pub(crate) use fenced::keep_to_fence;
pub(crate) use find::{find, landing};
pub(crate) use gravity::meets_field;
use gravity::{gravity, says, says_nothing};

/// Longest wait for what is open.
pub(crate) const PATIENCE: Duration = Duration::from_millis(400);
const NAME_CHARS: usize = 80;
const ROW_CHARS: usize = 500;

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
            all.is_ungranted |= part.is_ungranted;
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
    /// Some part changes something that no yes for longer can name: it asks each time.
    pub is_ungranted: bool,
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
            || matches!(reach, Reach::Search { .. } | Reach::Server { .. })
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
