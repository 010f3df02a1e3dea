//! Operating one object by accessibility calls: pressing, its own actions, the focus.
//!
//! What cannot be done this way is said as [`Tried::Not`], with the reason; pointer and keys are for others to use.
//! Nothing here looks for objects (`selector.rs`) or sets values (`setting.rs`).

use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;

use super::bus::{self, ACCESSIBLE, CallError, Object};
use super::quirks::Quirks;
use super::ref_table::KnownObject;
use super::role::{self, Kind, States, number};
use crate::{Acted, DesktopError, Evidence};

pub(super) const ACTION: &str = "org.a11y.atspi.Action";
pub(super) const COMPONENT: &str = "org.a11y.atspi.Component";
pub(super) const SELECTION: &str = "org.a11y.atspi.Selection";
/// For an application to answer an action. One that opens a modal dialog answers only when that is closed.
const ANSWER: Duration = Duration::from_millis(250);
/// For a state to change after an action that was taken.
const CHANGE: Duration = Duration::from_millis(300);
const FOCUS: Duration = Duration::from_millis(600);
pub(super) const LOOK_AGAIN: Duration = Duration::from_millis(12);
/// What a plain left click does, as toolkits name it; the first that is there counts.
const PRESSES: [&str; 10] =
    ["click", "press", "toggle", "jump", "check", "uncheck", "do default", "push", "select", "open"];

/// An object with what is known of it before something is done to it.
#[derive(Clone)]
pub(in super::super) struct Operand {
    pub(super) object: Object,
    /// The application's name on the accessibility bus.
    pub(super) home: Arc<str>,
    pub(super) role: u32,
    pub(super) states: States,
    pub(super) quirks: Quirks,
    /// `button "Save"`.
    pub(in super::super) called: String,
}

/// What came of trying it by accessibility.
pub(in super::super) enum Tried {
    Done(Acted),
    /// It cannot be done this way; pointer and keys may do it. Says why.
    Not(String),
}

/// One action of an object, as the application names it.
pub(super) struct Named {
    pub(super) name: String,
    /// The toolkit's own notation of mnemonic and shortcut.
    pub(super) keys: String,
}

impl Operand {
    /// What a ref stands for, as it is now.
    pub(super) async fn of(known: &KnownObject) -> Result<Self, CallError> {
        let object = known.object.clone();
        let (role, name, states) = tokio::join!(object.role(), object.name(), object.states());
        let name = name.unwrap_or_default();
        // Some have their name from the label beside them.
        let name = if name.trim().is_empty() { &known.element.name } else { &name };
        let (role, states) = (role?, states?);
        let (home, quirks) = (known.bus_name.clone(), known.quirks);
        Ok(Self { called: called(role, name), home, object, role, states, quirks })
    }

    pub(in super::super) fn is_password(&self) -> bool {
        self.role == number::PASSWORD
    }

    /// Whether a click means to put the keyboard there.
    pub(super) fn is_text_field(&self) -> bool {
        self.is_password() || role::is_textual(self.role, self.states)
    }

    /// Refuses what the application has greyed out.
    pub(in super::super) fn check_enabled(&self) -> Result<(), DesktopError> {
        let able = self.states.has(States::ENABLED) || self.states.has(States::SENSITIVE);
        if able || role::describe(self.role).1 != Kind::Control {
            return Ok(());
        }
        Err(DesktopError::BadInput(format!("{} is disabled; nothing was done", self.called)))
    }

    /// The plain left click, as an action of the object; it steals no focus.
    pub(in super::super) async fn press(&self) -> Result<Tried, DesktopError> {
        if self.is_text_field() {
            return Ok(Tried::Not("a click into a text field places the cursor".into()));
        }
        if self.quirks.clicked.contains(&self.role) {
            return Ok(Tried::Not(format!("{} hears of a click by the pointer alone", self.called)));
        }
        let actions = self.actions().await.map_err(|error| self.failed(&error))?;
        let wanted = PRESSES
            .iter()
            .find_map(|press| actions.iter().position(|one| one.name.eq_ignore_ascii_case(press)));
        let activates = || {
            let is = |one: &Named| one.name.eq_ignore_ascii_case("activate");
            if opens_when_activated(self.role) { None } else { actions.iter().position(is) }
        };
        match wanted.or_else(activates) {
            Some(index) => self.run(index, &actions[index].name).await,
            None => self.select().await,
        }
    }

    /// One of the object's own actions.
    pub(in super::super) async fn perform(&self, wanted: &str) -> Result<Acted, DesktopError> {
        let actions = self.actions().await.map_err(|error| self.failed(&error))?;
        let Some(index) = actions.iter().position(|one| one.name.eq_ignore_ascii_case(wanted.trim())) else {
            let names: Vec<&str> = actions.iter().map(|one| one.name.as_str()).collect();
            let there = if names.is_empty() { "none; click it instead".into() } else { names.join(", ") };
            return Err(DesktopError::NotFound(format!(
                "action \"{wanted}\" of {}; its actions: {there}",
                self.called
            )));
        };
        match self.run(index, &actions[index].name).await? {
            Tried::Done(acted) => Ok(acted),
            Tried::Not(why) => Ok(Acted { evidence: Evidence::Mismatch, note: why }),
        }
    }

    /// All actions; none if the object has no such interface.
    pub(super) async fn actions(&self) -> Result<Vec<Named>, CallError> {
        let asked: Result<Vec<(String, String, String)>, CallError> =
            self.object.call(ACTION, "GetActions", &()).await;
        match asked {
            Ok(actions) => {
                let mut named = Vec::with_capacity(actions.len());
                for (index, (name, _, keys)) in (0_i32..).zip(actions) {
                    named.push(Named { name: self.object.action_name(index, name).await, keys });
                }
                Ok(named)
            }
            Err(CallError::Refused(_)) => Ok(Vec::new()),
            // Qt calls an interface that an object lacks an unknown object.
            Err(CallError::Gone) if self.object.states().await.is_ok() => Ok(Vec::new()),
            Err(error) => Err(error),
        }
    }

    async fn run(&self, index: usize, name: &str) -> Result<Tried, DesktopError> {
        let index = i32::try_from(index).unwrap_or(i32::MAX);
        let before = self.object.states().await.unwrap_or(self.states);
        // An application that shows a modal dialog reads nothing more from this connection until it is closed; so
        // the press has one of its own.
        let program = self.object.program.nearest().await;
        let pressed = Object { program, path: self.object.path.clone() };
        let call = pressed.call::<_, bool>(ACTION, "DoAction", &index);
        let answer = tokio::time::timeout(ANSWER, call).await;
        let busy = matches!(answer, Err(_) | Ok(Err(CallError::Late)));
        match answer {
            Ok(Ok(true)) | Err(_) | Ok(Err(CallError::Late)) => {}
            Ok(Ok(false)) => return Ok(Tried::Not(format!("{} does not take \"{name}\"", self.called))),
            Ok(Err(CallError::Gone)) => {
                // Qt answers some objects' actions by deleting them.
                return Ok(Tried::Done(self.went_away(name)));
            }
            Ok(Err(error)) => return Err(self.failed(&error)),
        }
        if busy {
            let note = format!(
                "did \"{name}\" of {}; the application has not answered yet, as one that shows a dialog",
                self.called
            );
            return Ok(Tried::Done(Acted { evidence: Evidence::Sent, note }));
        }
        Ok(Tried::Done(self.after(name, before).await))
    }

    /// What can be seen of an action on the object itself.
    async fn after(&self, name: &str, before: States) -> Acted {
        let patience = if tells(self.role) { CHANGE } else { Duration::ZERO };
        let until = Instant::now() + patience;
        loop {
            let Ok(now) = self.object.states().await else { return self.went_away(name) };
            if now.has(States::DEFUNCT) {
                return self.went_away(name);
            }
            if let Some(change) = told(before, now) {
                let note = format!("did \"{name}\" of {}; it is {change} now", self.called);
                return Acted { evidence: Evidence::ReadBack, note };
            }
            if self.names_its_row().await {
                let note = format!("did \"{name}\" of {}; its page shows now", self.called);
                return Acted { evidence: Evidence::ReadBack, note };
            }
            if Instant::now() >= until {
                let note = format!("did \"{name}\" of {}", self.called);
                return Acted { evidence: Evidence::Sent, note };
            }
            tokio::time::sleep(LOOK_AGAIN).await;
        }
    }

    /// What can be seen on the object itself of a click by the pointer, which `acted` tells of.
    pub(in super::super) async fn after_click(&self, acted: Acted) -> Acted {
        if !tells(self.role) {
            return acted;
        }
        let seen = self.after("click", self.states).await;
        if seen.evidence == Evidence::ReadBack { seen } else { acted }
    }

    /// Whether it is the tab whose page shows, by the name of its row.
    async fn names_its_row(&self) -> bool {
        if self.role != number::PAGE_TAB || !self.quirks.names_rows_by_page {
            return false;
        }
        let Some(row) = self.parent().await else { return false };
        let (row, tab) = tokio::join!(row.name(), self.object.name());
        matches!((row, tab), (Ok(row), Ok(tab)) if !tab.is_empty() && row == tab)
    }

    fn went_away(&self, name: &str) -> Acted {
        let note = format!("did \"{name}\" of {}; it is no longer there", self.called);
        Acted { evidence: Evidence::ReadBack, note }
    }

    /// Selects the object in what holds it: tabs and list items that have no action.
    async fn select(&self) -> Result<Tried, DesktopError> {
        let Some(parent) = self.parent().await else {
            return Ok(Tried::Not(format!("{} has no action", self.called)));
        };
        let index: Result<i32, CallError> = self.object.call(ACCESSIBLE, "GetIndexInParent", &()).await;
        let Some(index) = index.ok().filter(|index| *index >= 0) else {
            return Ok(Tried::Not(format!("{} has no action", self.called)));
        };
        match parent.call::<_, bool>(SELECTION, "SelectChild", &index).await {
            Ok(true) => {}
            _ => return Ok(Tried::Not(format!("{} has no action", self.called))),
        }
        let until = Instant::now() + CHANGE;
        while Instant::now() < until {
            if self.object.states().await.is_ok_and(|states| states.has(States::SELECTED)) {
                let note = format!("selected {}", self.called);
                return Ok(Tried::Done(Acted { evidence: Evidence::ReadBack, note }));
            }
            tokio::time::sleep(LOOK_AGAIN).await;
        }
        Ok(Tried::Not(format!("{} was selected, but does not say so", self.called)))
    }

    pub(super) async fn parent(&self) -> Option<Object> {
        parent(&self.object).await
    }

    /// Gives the object the keyboard focus, and reads back whether it has it.
    pub(in super::super) async fn focus(&self) -> Result<Tried, DesktopError> {
        let not = |words: &str| Ok(Tried::Not(format!("{} {words}", self.called)));
        match self.object.call::<_, bool>(COMPONENT, "GrabFocus", &()).await {
            Ok(_) => {}
            Err(CallError::Refused(_)) => return not("cannot take the focus"),
            Err(CallError::Gone) if self.object.states().await.is_ok() => {
                return not("cannot take the focus");
            }
            Err(error) => return Err(self.failed(&error)),
        }
        self.has_focus().await
    }

    /// Waits until the object has the keyboard focus.
    pub(in super::super) async fn has_focus(&self) -> Result<Tried, DesktopError> {
        let until = Instant::now() + FOCUS;
        loop {
            let states = self.object.states().await.map_err(|error| self.failed(&error))?;
            if states.has(States::FOCUSED) {
                let note = format!("{} has the focus", self.called);
                return Ok(Tried::Done(Acted { evidence: Evidence::ReadBack, note }));
            }
            if Instant::now() >= until {
                return Ok(Tried::Not(format!("{} did not take the focus", self.called)));
            }
            tokio::time::sleep(LOOK_AGAIN).await;
        }
    }

    /// A failed call on this object in the crate's words.
    pub(super) fn failed(&self, error: &CallError) -> DesktopError {
        match error {
            CallError::Late => DesktopError::Timeout(bus::CALL),
            CallError::Gone => {
                DesktopError::NotFound(format!("{} is no longer there; call elementsJson again", self.called))
            }
            CallError::Broken(_) => DesktopError::Failed(format!("the accessibility bus failed: {error}")),
            CallError::Refused(_) => {
                DesktopError::Failed(format!("the application refused to operate {}: {error}", self.called))
            }
        }
    }
}

/// What a message calls an object.
pub(super) fn called(role: u32, name: &str) -> String {
    const MOST: usize = 60;
    let name = name.trim();
    let word = role::describe(role).0;
    if name.is_empty() {
        return format!("{word} without a name");
    }
    let shown: String = name.chars().take(MOST).collect();
    let more = if shown.len() < name.len() { "..." } else { "" };
    format!("{word} \"{shown}{more}\"")
}

pub(super) async fn parent(object: &Object) -> Option<Object> {
    let value: zbus::zvariant::OwnedValue =
        object.program.property(&object.path, ACCESSIBLE, "Parent").await.ok()?;
    let (_, path) = bus::Reference::try_from(value).ok()?;
    Some(Object::new(&object.program, path.as_str()))
}

/// "activate" of these opens or enters them, as a double click or Enter does; a click only selects them.
fn opens_when_activated(role: u32) -> bool {
    matches!(
        role::describe(role).0,
        "table cell" | "list item" | "tree item" | "icon" | "table row" | "desktop icon"
    )
}

/// Whether a press shows in the object's own states.
fn tells(role: u32) -> bool {
    matches!(
        role::describe(role).0,
        "check box"
            | "radio button"
            | "toggle button"
            | "check menu item"
            | "radio menu item"
            | "page tab"
            | "list item"
            | "tree item"
    )
}

/// What changed in the states that tell of a press.
fn told(before: States, now: States) -> Option<&'static str> {
    let words = [
        (States::CHECKED, "checked", "no longer checked"),
        (States::SELECTED, "selected", "no longer selected"),
        (States::EXPANDED, "expanded", "no longer expanded"),
    ];
    words.into_iter().find_map(|(state, on, off)| match (before.has(state), now.has(state)) {
        (false, true) => Some(on),
        (true, false) => Some(off),
        (true, true) | (false, false) => None,
    })
}

#[cfg(test)]
mod tests;
