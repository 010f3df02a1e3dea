//! Operating one object by accessibility calls: pressing, its own actions, the focus.
//!
//! What cannot be done this way is said as [`Tried::Not`], with the reason; pointer and keys are for others to use.
//! Nothing here looks for objects (`selector.rs`) or sets values (`setting.rs`).

use std::sync::Arc;
use std::time::Duration;

use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::time::Instant;
use zbus::zvariant::{DynamicType, OwnedValue, Type};

use super::apart::Apart;
use super::bus::{self, ACCESSIBLE, CallError, Object};
use super::details;
use super::interfaces::Interfaces;
use super::prune::shortened;
use super::quirks::Quirks;
use super::reach;
use super::ref_table::KnownObject;
use super::role::{self, Kind, States, number};
use super::shown::Shown;
use crate::{Acted, DesktopError, Element, Evidence, choose};

pub(super) const ACTION: &str = "org.a11y.atspi.Action";
pub(super) const COMPONENT: &str = "org.a11y.atspi.Component";
pub(super) const SELECTION: &str = "org.a11y.atspi.Selection";
/// For an application to answer a call that makes it do something. One that opens a modal dialog may answer only when
/// that is closed.
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
    /// The name it has itself; empty if it has that from the label beside it.
    pub(super) name: String,
    pub(in super::super) states: States,
    pub(super) interfaces: Interfaces,
    /// Path of the window it is in.
    pub(super) window: Arc<str>,
    pub(super) quirks: Quirks,
    pub(super) apart: Apart,
    /// `button "Save"`.
    pub(in super::super) called: String,
}

/// An object, and its states before a click.
pub(in super::super) struct Sign {
    object: Object,
    states: States,
}

/// What an action on an object may change.
struct Before {
    states: States,
    shown: Option<Shown>,
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
    pub(super) async fn of(known: &KnownObject, apart: &Apart) -> Result<Self, CallError> {
        let object = known.object.clone();
        let (role, name, states, interfaces) =
            tokio::join!(object.role(), object.name(), object.states(), object.interfaces());
        let (role, mut states) = (role?, states?);
        if known.quirks.is_called_defunct(role, states) {
            states = reach::states_of_holder(&object).await?.unwrap_or(states);
        }
        let name = known.quirks.own_name_of(role, name?);
        // Some have their name from the label beside them.
        let shown = if name.trim().is_empty() { &known.element.name } else { &name };
        Ok(Self {
            called: called(role, shown),
            home: known.bus_name.clone(),
            object,
            role,
            name,
            states,
            interfaces: interfaces.unwrap_or_default(),
            window: known.window.clone(),
            quirks: known.quirks,
            apart: apart.clone(),
        })
    }

    /// Refuses what has become something else since it was looked at, as a row that now shows another file.
    pub(super) async fn check_still(&self, told: &Element) -> Result<(), DesktopError> {
        let (now, name) = if self.quirks.is_known_by_labels(self.role, &self.name) {
            let name = details::row_name(&self.object, self.quirks).await;
            let name = name.map_err(|error| self.failed(&error))?;
            (called(self.role, &name), name)
        } else {
            (self.called.clone(), self.name.clone())
        };
        let name = if self.quirks.keeps_old_names { self.unless_relabelled(name).await } else { name };
        // A combo box is named by what is chosen in it.
        let may_differ = name.trim().is_empty() || self.role == number::COMBO_BOX;
        if role::describe(self.role).0 == told.role
            && (may_differ || shortened(&name) == shortened(&told.name))
        {
            return Ok(());
        }
        let now = if name == self.name { now } else { called(self.role, &name) };
        Err(DesktopError::NotFound(format!(
            "{} is {now} now; nothing was done; call elementsJson again",
            choose::called(told)
        )))
    }

    /// The name, or what its labels say, where neither is part of the other.
    async fn unless_relabelled(&self, name: String) -> String {
        let labels = details::labels_say(&self.object).await;
        let (said, plain) = (labels.replace(' ', ""), name.replace(' ', ""));
        if said.contains(&plain) || plain.contains(&said) { name } else { labels }
    }

    /// The same at the last moment, before the pointer goes where it is.
    pub(in super::super) async fn check_same(&self) -> Result<(), DesktopError> {
        let (role, name) = tokio::join!(self.object.role(), self.object.name());
        let role = role.map_err(|error| self.failed(&error))?;
        let mut name = self.quirks.own_name_of(role, name.map_err(|error| self.failed(&error))?);
        if self.quirks.is_known_by_labels(role, &name) {
            name = details::row_name(&self.object, self.quirks).await.map_err(|error| self.failed(&error))?;
        }
        let now = called(role, &name);
        // What has its name from a label beside it is still called so.
        if now == self.called || (role == self.role && name == self.name) {
            return Ok(());
        }
        Err(DesktopError::NotFound(format!("{} is {now} now; nothing was done", self.called)))
    }

    /// A call that makes the application do something: over a connection of its own, and not waited for longer than
    /// it takes to open a dialog. [`CallError::Late`] then, which says nothing of what happens.
    pub(super) async fn change<B, R>(
        &self,
        object: &Object,
        interface: &str,
        method: &str,
        body: &B,
    ) -> Result<R, CallError>
    where
        B: Serialize + DynamicType + Sync,
        R: DeserializeOwned + Type,
    {
        let apart = self.apart.object(object).await.map_err(|error| match error {
            CallError::Late => CallError::Refused("it does not answer; nothing was done".into()),
            other => other,
        })?;
        let answer = tokio::time::timeout(ANSWER, apart.call(interface, method, body)).await;
        answer.unwrap_or(Err(CallError::Late))
    }

    /// What is said of a call that was sent and not answered.
    pub(super) fn unanswered(&self, what: &str) -> Acted {
        let note = format!(
            "{what} {}; the application has not answered yet, as one that shows a dialog",
            self.called
        );
        Acted { evidence: Evidence::Sent, note }
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
        // Swing's lists hold labels.
        let is_choice = self.role == number::LABEL && self.is_in_combo_box().await;
        if is_choice || self.quirks.clicked.contains(&self.role) {
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
        let is_wanted = |one: &Named| {
            let wanted = wanted.trim();
            one.name.eq_ignore_ascii_case(wanted) || details::own_word(&one.name) == Some(wanted)
        };
        let Some(index) = actions.iter().position(is_wanted) else {
            if let Some(arrow) = self.arrow().await {
                return Box::pin(arrow.perform(wanted)).await;
            }
            let names: Vec<&str> = actions.iter().map(|one| one.name.as_str()).collect();
            let there = if names.is_empty() { "none; click it instead".into() } else { names.join(", ") };
            return Err(DesktopError::NotFound(format!(
                "action \"{wanted}\" of {}; its actions: {there}",
                self.called
            )));
        };
        match self.run(index, &actions[index].name).await? {
            Tried::Done(acted) => Ok(acted),
            Tried::Not(why) => Ok(Acted { evidence: Evidence::Nothing, note: why }),
        }
    }

    /// The part of a row that expands it, where that is apart.
    async fn arrow(&self) -> Option<Self> {
        if self.role != number::LIST_ITEM {
            return None;
        }
        for (_, path) in self.object.children().await.ok()? {
            let object = Object::new(&self.object.program, path.as_str());
            let states = object.states().await.ok()?;
            if states.has(States::EXPANDABLE) {
                return Some(Self { object, states, role: number::TREE_ITEM, ..self.clone() });
            }
        }
        None
    }

    /// All actions; none if the object has no such interface.
    pub(super) async fn actions(&self) -> Result<Vec<Named>, CallError> {
        if !self.interfaces.has(ACTION) {
            return Ok(Vec::new());
        }
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
        let before = Before {
            states: self.object.states().await.unwrap_or(self.states),
            shown: if is_command(self.role) || self.role == number::TOGGLE_BUTTON {
                Some(self.shown_at_rest().await)
            } else {
                None
            },
        };
        match self.change::<_, bool>(&self.object, ACTION, "DoAction", &index).await {
            Ok(true) => Ok(Tried::Done(self.after(name, &before).await)),
            Ok(false) => Ok(Tried::Not(format!("{} does not take \"{name}\"", self.called))),
            Err(CallError::Late) => {
                let unanswered = self.unanswered(&format!("did \"{name}\" of"));
                Ok(Tried::Done(self.or_seen(unanswered, name, before.shown.as_ref()).await))
            }
            // Qt answers some objects' actions by deleting them.
            Err(CallError::Gone) => {
                Ok(Tried::Done(self.or_seen(self.went_away(name), name, before.shown.as_ref()).await))
            }
            Err(error) => Err(self.failed(&error)),
        }
    }

    /// What was done, or what the application shows of it.
    async fn or_seen(&self, acted: Acted, name: &str, shown: Option<&Shown>) -> Acted {
        let Some(shown) = shown else { return acted };
        self.seen_since(shown).await.map_or(acted, |sign| self.read_back(name, &sign))
    }

    fn read_back(&self, name: &str, sign: &str) -> Acted {
        let note = format!("did \"{name}\" of {}; {sign}", self.called);
        Acted { evidence: Evidence::ReadBack, note }
    }

    /// What can be seen of an action on the object itself, or in its window.
    async fn after(&self, name: &str, Before { states: before, shown }: &Before) -> Acted {
        let before = *before;
        let of_open_menu = is_menu_item(self.role) && before.has(self.quirks.shown);
        let patience = if tells(self.role) || of_open_menu || shown.is_some() {
            CHANGE + self.quirks.late
        } else {
            Duration::ZERO
        };
        let read_back = |sign: &str| self.read_back(name, sign);
        let mut until = Instant::now() + patience;
        let mut went_down = false;
        loop {
            let now = match self.object.states().await {
                Ok(now) => now,
                Err(CallError::Late) => return self.unanswered(&format!("did \"{name}\" of")),
                Err(_) => States::DEFUNCT,
            };
            let has_left = now.has(States::DEFUNCT) || (of_open_menu && !self.is_shown_still(now).await);
            if of_open_menu && has_left && self.has_windows().await {
                return read_back("its menu has closed");
            }
            if has_left {
                return self.or_seen(self.went_away(name), name, shown.as_ref()).await;
            }
            if let Some(change) = told(before, now) {
                let acted = read_back(&format!("it is {change} now"));
                let acted = self.unless_changed_back(acted, &self.object, now).await;
                // A key that sprang back did something else, if anything.
                return match acted.evidence {
                    Evidence::Sent => self.or_seen(acted, name, shown.as_ref()).await,
                    _ => acted,
                };
            }
            if self.names_its_row().await {
                return read_back("its page shows now");
            }
            // Qt lets a button be seen to go down, and tells its application when that comes up.
            if !went_down && now.has(States::PRESSED) && !before.has(States::PRESSED) {
                (went_down, until) = (true, Instant::now() + CHANGE);
            } else if went_down && !now.has(States::PRESSED) {
                return read_back("it went down and up");
            }
            let note = format!("did \"{name}\" of {}", self.called);
            let sent = Acted { evidence: Evidence::Sent, note };
            // The last look begins when the time is up: one may take long.
            let is_last = Instant::now() >= until;
            let acted = self.or_seen(sent, name, shown.as_ref()).await;
            if is_last || acted.evidence == Evidence::ReadBack {
                return acted;
            }
            tokio::time::sleep(LOOK_AGAIN).await;
        }
    }

    /// Whether an item of an open menu shows, and is where it was: a menu of GTK 4 that has closed is only taken out of
    /// the tree.
    async fn is_shown_still(&self, now: States) -> bool {
        let mut at = self.object.clone();
        loop {
            let Ok(above) = parent(&at).await else { return false };
            if above.path.as_ref() == bus::ROOT || above.path == self.window {
                return now.has(self.quirks.shown);
            }
            let below = above.children().await.unwrap_or_default();
            if !below.iter().any(|(_, path)| path.as_str() == &*at.path) {
                return false;
            }
            at = above;
        }
    }

    /// Whether its application has a window still.
    async fn has_windows(&self) -> bool {
        let root = Object::new(&self.object.program, bus::ROOT);
        root.children().await.is_ok_and(|windows| !windows.is_empty())
    }

    /// What may tell of a click, as it is before: the object, and for what only says something the row that it is in.
    pub(in super::super) async fn signs(&self) -> Vec<Sign> {
        const ABOVE: usize = 3;
        let states = self.object.states().await.unwrap_or(self.states);
        let mut signs = vec![Sign { object: self.object.clone(), states }];
        let mut at = self.object.clone();
        if role::describe(self.role).1 != Kind::Content {
            return signs;
        }
        for _ in 0..ABOVE {
            let Ok(above) = parent(&at).await else { break };
            if let (Ok(role), Ok(states)) = tokio::join!(above.role(), above.states())
                && matches!(role, number::LIST_ITEM | number::TABLE_ROW | number::TREE_ITEM)
            {
                signs.push(Sign { object: above.clone(), states });
            }
            at = above;
        }
        signs
    }

    /// What can be seen of `count` clicks by the pointer, which `acted` tells of, on the object and its row. That
    /// something is gone says nothing: its window may have been closed by somebody else.
    pub(in super::super) async fn after_clicks(&self, acted: Acted, count: u8, signs: &[Sign]) -> Acted {
        let until = Instant::now() + CHANGE;
        let read_back = |change: &str| Acted {
            evidence: Evidence::ReadBack,
            note: format!("clicked {}; it is {change} now", self.called),
        };
        loop {
            for (at, Sign { object, states: before }) in signs.iter().enumerate() {
                let Ok(now) = object.states().await else { return acted };
                // The first of two clicks selects.
                match told(*before, now) {
                    Some(change) if count == 1 || change.ends_with("expanded") => {
                        return self.unless_changed_back(read_back(change), object, now).await;
                    }
                    _ => {}
                }
                let gained_focus = now.has(States::FOCUSED) && !before.has(States::FOCUSED);
                if count == 1 && at == 0 && gained_focus && !tells(self.role) {
                    return read_back("focused");
                }
            }
            if self.names_its_row().await {
                return read_back("the tab whose page shows");
            }
            if Instant::now() >= until {
                return acted;
            }
            tokio::time::sleep(LOOK_AGAIN).await;
        }
    }

    /// What a click made of `object`, unless its application takes that back a moment later. An item of a menu is chosen
    /// while its menu is open, and no longer.
    async fn unless_changed_back(&self, acted: Acted, object: &Object, then: States) -> Acted {
        if is_menu_item(self.role) {
            return acted;
        }
        let other = async {
            let now = object.states().await.ok().filter(|now| !now.has(States::DEFUNCT))?;
            told(then, now).map(str::to_owned)
        };
        let acted = self.unless_taken_back(acted, other).await;
        // A calculator's keys are such buttons.
        let is_key = self.role == number::TOGGLE_BUTTON && then.has(States::CHECKED);
        if is_key && acted.evidence == Evidence::Mismatch {
            let note = format!("clicked {}; it went down and sprang back", self.called);
            return Acted { evidence: Evidence::Sent, note };
        }
        acted
    }

    /// Whether it is the tab whose page shows, by the name of its row.
    async fn names_its_row(&self) -> bool {
        if self.role != number::PAGE_TAB || !self.quirks.names_rows_by_page {
            return false;
        }
        let Ok(row) = self.parent().await else { return false };
        let (row, tab) = tokio::join!(row.name(), self.object.name());
        matches!((row, tab), (Ok(row), Ok(tab)) if !tab.is_empty() && row == tab)
    }

    /// Not read back: its window may have been closed by somebody else.
    fn went_away(&self, name: &str) -> Acted {
        let note = format!("did \"{name}\" of {}; it is no longer there", self.called);
        Acted { evidence: Evidence::Sent, note }
    }

    /// Selects the object in what holds it: tabs and list items that have no action.
    async fn select(&self) -> Result<Tried, DesktopError> {
        let parent = self.parent().await.map_err(|error| self.failed(&error))?;
        if !parent.interfaces().await.unwrap_or_default().has(SELECTION) {
            return Ok(Tried::Not(format!("{} has no action", self.called)));
        }
        let index: Result<i32, CallError> = self.object.call(ACCESSIBLE, "GetIndexInParent", &()).await;
        let Some(index) = index.ok().filter(|index| *index >= 0) else {
            return Ok(Tried::Not(format!("{} has no action", self.called)));
        };
        match self.change::<_, bool>(&parent, SELECTION, "SelectChild", &index).await {
            Ok(true) => {}
            Err(CallError::Late) => return Ok(Tried::Done(self.unanswered("selected"))),
            _ => return Ok(Tried::Not(format!("{} has no action", self.called))),
        }
        let until = Instant::now() + CHANGE;
        while Instant::now() < until {
            let now = match self.object.states().await {
                Ok(now) => now,
                // LibreOffice lays its tabs out anew, with other objects.
                Err(CallError::Gone) => States::DEFUNCT,
                Err(_) => self.states,
            };
            if now.has(States::DEFUNCT) {
                return Ok(Tried::Done(self.went_away("select")));
            }
            if now.has(States::SELECTED) {
                let acted = Acted { evidence: Evidence::ReadBack, note: format!("selected {}", self.called) };
                return Ok(Tried::Done(self.unless_changed_back(acted, &self.object, now).await));
            }
            tokio::time::sleep(LOOK_AGAIN).await;
        }
        Ok(Tried::Not(format!("{} was selected, but does not say so", self.called)))
    }

    /// Whether it is in the list that a combo box has opened: what is selected there is not chosen yet.
    async fn is_in_combo_box(&self) -> bool {
        const ABOVE: usize = 6;
        let mut at = self.object.clone();
        for _ in 0..ABOVE {
            let Ok(above) = parent(&at).await else { break };
            if above.role().await == Ok(number::COMBO_BOX) {
                return true;
            }
            at = above;
        }
        false
    }

    pub(super) async fn parent(&self) -> Result<Object, CallError> {
        parent(&self.object).await
    }

    /// Gives the object the keyboard focus, and reads back whether it has it.
    pub(in super::super) async fn focus(&self) -> Result<Tried, DesktopError> {
        let not = |words: &str| Ok(Tried::Not(format!("{} {words}", self.called)));
        if !self.interfaces.has(COMPONENT) {
            return not("cannot take the focus");
        }
        match self.change::<_, bool>(&self.object, COMPONENT, "GrabFocus", &()).await {
            Ok(_) | Err(CallError::Late) => {}
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

pub(super) async fn parent(object: &Object) -> Result<Object, CallError> {
    let value: OwnedValue = object.program.property(&object.path, ACCESSIBLE, "Parent").await?;
    let (_, path) = bus::Reference::try_from(value).map_err(|error| CallError::Refused(error.to_string()))?;
    Ok(Object::new(&object.program, path.as_str()))
}

/// "activate" of these opens or enters them, as a double click or Enter does; a click only selects them.
fn opens_when_activated(role: u32) -> bool {
    matches!(
        role::describe(role).0,
        "table cell" | "list item" | "tree item" | "icon" | "table row" | "desktop icon"
    )
}

pub(super) fn is_menu_item(role: u32) -> bool {
    matches!(role::describe(role).0, "menu item" | "check menu item" | "radio menu item")
}

/// Whether a press does something, and shows in no state of the object's own.
fn is_command(role: u32) -> bool {
    matches!(role::describe(role).0, "button" | "menu item" | "link")
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
