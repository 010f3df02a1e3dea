//! Setting an object's value by accessibility calls, and reading it back.
//!
//! Text goes by `EditableText`, numbers by `Value`, one of several by `Selection`, on and off by the press. A
//! password is never read back.

use std::time::Duration;

use tokio::time::Instant;

use super::acting::{ACTION, LOOK_AGAIN, Operand, SELECTION, Tried};
use super::bus::{CallError, Object, PROPERTIES, Reference};
use super::nodes;
use super::role::{self, States, number};
use crate::{Acted, DesktopError, Evidence};

pub(super) const EDITABLE_TEXT: &str = "org.a11y.atspi.EditableText";
pub(super) const VALUE: &str = "org.a11y.atspi.Value";
/// For a value to be as it was set.
const READ_BACK: Duration = Duration::from_millis(400);
/// How deep below a list or combo box its items are looked for, and how many are named.
const DEEPEST: u32 = 3;
const MOST_NAMED: usize = 12;
/// Characters of a value in a message.
const SHOWN: usize = 60;

impl Operand {
    /// Replaces the whole value.
    ///
    /// # Errors
    /// `BadInput` where the value cannot be one of this object: out of range, no such item, read-only.
    pub(in super::super) async fn set_value(&self, value: &str) -> Result<Tried, DesktopError> {
        match role::describe(self.role).0 {
            "check box" | "toggle button" | "radio button" | "check menu item" | "radio menu item" => {
                return self.switch(value).await;
            }
            "combo box" | "list" | "list box" | "page tab list" | "menu" => {
                if let Tried::Done(acted) = self.choose_item(value).await? {
                    return Ok(Tried::Done(acted));
                }
            }
            _ => {}
        }
        if (role::is_numeric(self.role) || role::describe(self.role).0 == "scroll bar")
            && let Some(tried) = self.set_number(value).await?
        {
            return Ok(tried);
        }
        self.set_text(value).await
    }

    async fn set_text(&self, value: &str) -> Result<Tried, DesktopError> {
        let editable = self.states.has(States::EDITABLE);
        if self.is_text_field() && !editable && !self.is_password() {
            return Err(DesktopError::BadInput(format!("{} is read-only; nothing was done", self.called)));
        }
        if !self.interfaces.has(EDITABLE_TEXT) {
            return Ok(Tried::Not(format!("{} takes no text this way", self.called)));
        }
        let before = nodes::text(&self.object, -1).await.ok();
        let set = self.change::<_, bool>(&self.object, EDITABLE_TEXT, "SetTextContents", &value).await;
        match &set {
            Ok(true) | Err(CallError::Late) => {}
            Ok(false) => return Ok(Tried::Not(format!("{} takes no text this way", self.called))),
            Err(error) if self.object.states().await.is_ok() => {
                return Ok(Tried::Not(format!("{} takes no text this way ({error})", self.called)));
            }
            Err(error) => return Err(self.failed(error)),
        }
        if role::is_numeric(self.role) {
            // A spin button takes its text over only when it is entered.
            self.enter().await;
        }
        let acted = self.read_text_back(value).await;
        if acted.evidence != Evidence::Mismatch {
            return Ok(Tried::Done(acted));
        }
        if set.is_err() {
            return Ok(Tried::Done(self.unanswered("gave the text to")));
        }
        let now = nodes::text(&self.object, -1).await.ok();
        if now.is_some() && now != before {
            let note = format!("{}: the application made that of it", acted.note);
            return Ok(Tried::Done(Acted { evidence: Evidence::Sent, note }));
        }
        // What the application did not take by this way, it may take from the keyboard.
        Ok(Tried::Not(acted.note))
    }

    async fn enter(&self) {
        let actions = self.actions().await.unwrap_or_default();
        if let Some(at) = actions.iter().position(|one| one.name.eq_ignore_ascii_case("activate")) {
            let index = i32::try_from(at).unwrap_or(0);
            let _answer = self.change::<_, bool>(&self.object, ACTION, "DoAction", &index).await;
        }
    }

    /// Reads the text until it is as wished, or the time is up.
    pub(in super::super) async fn read_text_back(&self, value: &str) -> Acted {
        let count = value.chars().count();
        if self.is_password() {
            let note =
                format!("{count} characters were sent to {}; a password is not read back", self.called);
            return Acted { evidence: Evidence::Sent, note };
        }
        let until = Instant::now() + READ_BACK;
        loop {
            let now = nodes::text(&self.object, -1).await;
            if now.as_deref().is_ok_and(|now| unified(now) == unified(value)) {
                let note = format!("{} holds \"{}\", read back", self.called, shortened(value));
                return Acted { evidence: Evidence::ReadBack, note };
            }
            if Instant::now() >= until {
                return match now {
                    Ok(now) => Acted {
                        evidence: Evidence::Mismatch,
                        note: format!("{} holds \"{}\"", self.called, shortened(&now)),
                    },
                    Err(_) => Acted {
                        evidence: Evidence::Sent,
                        note: format!("{count} characters were sent to {}", self.called),
                    },
                };
            }
            tokio::time::sleep(LOOK_AGAIN).await;
        }
    }

    /// `None` if the object has no number after all.
    async fn set_number(&self, value: &str) -> Result<Option<Tried>, DesktopError> {
        if !self.interfaces.has(VALUE) {
            return Ok(None);
        }
        let read = |name| self.object.program.property::<f64>(&self.object.path, VALUE, name);
        let (least, most, step, now) = tokio::join!(
            read("MinimumValue"),
            read("MaximumValue"),
            read("MinimumIncrement"),
            read("CurrentValue")
        );
        let (Ok(least), Ok(most), Ok(_)) = (least, most, now) else { return Ok(None) };
        let range = || format!("{}-{} of {}", tidy(least), tidy(most), self.called);
        let Some(wished) = parse(value) else {
            if self.role == number::SPIN_BUTTON {
                // Some show a time or a unit, which they take as text.
                return Ok(None);
            }
            return Err(DesktopError::BadInput(format!(
                "value = \"{}\" is no number; the range is {}",
                shortened(value),
                range()
            )));
        };
        if least <= most && !(least..=most).contains(&wished) {
            return Err(DesktopError::BadInput(format!("value = {} is outside {}", tidy(wished), range())));
        }
        let new = (VALUE, "CurrentValue", zbus::zvariant::Value::from(wished));
        match self.change::<_, ()>(&self.object, PROPERTIES, "Set", &new).await {
            Ok(()) => {}
            Err(CallError::Late) => return Ok(Some(Tried::Done(self.unanswered("gave the value to")))),
            Err(error) => {
                return Ok(Some(Tried::Not(format!("{} does not take a value ({error})", self.called))));
            }
        }
        let near = (step.unwrap_or(0.0).abs() / 2.0).max((most - least).abs() * 1e-6).max(1e-9);
        let until = Instant::now() + READ_BACK;
        loop {
            let now = read("CurrentValue").await.map_err(|error| self.failed(&error))?;
            if (now - wished).abs() <= near {
                let note = format!("{} is at {}, read back", self.called, tidy(now));
                return Ok(Some(Tried::Done(Acted { evidence: Evidence::ReadBack, note })));
            }
            if Instant::now() >= until {
                let note = format!("{} is at {}", self.called, tidy(now));
                return Ok(Some(Tried::Done(Acted { evidence: Evidence::Mismatch, note })));
            }
            tokio::time::sleep(LOOK_AGAIN).await;
        }
    }

    /// On or off, by the press where it is not so already.
    async fn switch(&self, value: &str) -> Result<Tried, DesktopError> {
        let wished = match value.trim().to_lowercase().as_str() {
            "on" | "true" | "yes" | "1" | "checked" => true,
            "off" | "false" | "no" | "0" | "unchecked" => false,
            _ => {
                return Err(DesktopError::BadInput(format!(
                    "value = \"{}\" is neither on nor off, which is all that {} can be",
                    shortened(value),
                    self.called
                )));
            }
        };
        let is = |states: States| states.has(States::CHECKED);
        let words = |on: bool| if on { "on" } else { "off" };
        if is(self.states) == wished {
            let note = format!("{} was {} already", self.called, words(wished));
            return Ok(Tried::Done(Acted { evidence: Evidence::ReadBack, note }));
        }
        let tried = self.press().await?;
        let Tried::Done(_) = tried else { return Ok(tried) };
        let now = self.object.states().await.map_err(|error| self.failed(&error))?;
        let evidence = if is(now) == wished { Evidence::ReadBack } else { Evidence::Mismatch };
        let note = format!("{} is {}", self.called, words(is(now)));
        Ok(Tried::Done(Acted { evidence, note }))
    }

    /// The item named, selected in this list or combo box.
    async fn choose_item(&self, value: &str) -> Result<Tried, DesktopError> {
        let items = items(&self.object, 0).await;
        let names: Vec<&str> = items.iter().map(|(_, _, name)| name.as_str()).collect();
        if names.iter().all(|name| name.is_empty()) {
            return Ok(Tried::Not(format!("{} shows no items", self.called)));
        }
        let wish = value.trim().to_lowercase();
        let exact = names.iter().position(|name| name.trim().to_lowercase() == wish);
        let Some(at) = exact else {
            if self.states.has(States::EDITABLE) {
                return Ok(Tried::Not(format!("{} has no such item", self.called)));
            }
            let more = names.len().saturating_sub(MOST_NAMED);
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            let quoted: Vec<String> =
                names.iter().take(MOST_NAMED).map(|name| format!("\"{}\"", shortened(name))).collect();
            return Err(DesktopError::BadInput(format!(
                "{} has no item \"{}\"; its items: {}{more}",
                self.called,
                shortened(value),
                quoted.join(", ")
            )));
        };
        let (holder, index, name) = &items[at];
        // A combo box selects by itself; a list's items are selected in what holds them.
        for (selecting, child) in [(&self.object, at), (holder, *index)] {
            let child = i32::try_from(child).unwrap_or(i32::MAX);
            if !selecting.interfaces().await.unwrap_or_default().has(SELECTION) {
                continue;
            }
            let taken = self.change::<_, bool>(selecting, SELECTION, "SelectChild", &child).await;
            if taken == Err(CallError::Late) {
                return Ok(Tried::Done(self.unanswered("selected an item in")));
            }
            if taken.unwrap_or(false) && self.shows_item(selecting, name).await {
                let note = format!("\"{}\" is selected in {}, read back", shortened(name), self.called);
                return Ok(Tried::Done(Acted { evidence: Evidence::ReadBack, note }));
            }
        }
        Ok(Tried::Not(format!("{} does not let its items be selected", self.called)))
    }

    async fn shows_item(&self, selecting: &Object, name: &str) -> bool {
        let until = Instant::now() + READ_BACK;
        while Instant::now() < until {
            let selected: Result<Reference, _> = selecting.call(SELECTION, "GetSelectedChild", &0_i32).await;
            if let Ok((_, path)) = selected {
                let child = Object::new(&self.object.program, path.as_str());
                if child.name().await.is_ok_and(|now| now == name) {
                    return true;
                }
            }
            if self.object.name().await.is_ok_and(|now| now == name) {
                return true;
            }
            tokio::time::sleep(LOOK_AGAIN).await;
        }
        false
    }
}

/// The items below an object, each with what holds it, its place there, and its name. Menus and panels in between
/// are passed through.
async fn items(object: &Object, depth: u32) -> Vec<(Object, usize, String)> {
    let mut found = Vec::new();
    if depth == DEEPEST {
        return found;
    }
    for (index, (_, path)) in object.children().await.unwrap_or_default().into_iter().enumerate() {
        let child = Object::new(&object.program, path.as_str());
        let (role, name) = tokio::join!(child.role(), child.name());
        match role::describe(role.unwrap_or_default()).0 {
            "list item" | "menu item" | "table cell" | "page tab" | "tree item" | "check menu item"
            | "radio menu item" | "icon" => found.push((object.clone(), index, name.unwrap_or_default())),
            "menu" | "popup menu" | "list" | "list box" | "panel" | "filler" | "scroll pane" | "viewport"
            | "window" | "tree" | "tree table" | "table" => {
                found.extend(Box::pin(items(&child, depth + 1)).await);
            }
            _ => {}
        }
    }
    found
}

fn parse(value: &str) -> Option<f64> {
    let plain = value.trim().trim_end_matches('%').trim_end().replace(',', "");
    plain.parse().ok().filter(|number: &f64| number.is_finite())
}

fn tidy(number: f64) -> String {
    ((number * 1000.0).round() / 1000.0).to_string()
}

fn shortened(text: &str) -> String {
    let start: String = text.chars().take(SHOWN).collect();
    if start.len() < text.len() { format!("{start}...") } else { start }
}

/// Toolkits write the end of a line in three ways.
fn unified(text: &str) -> String {
    text.replace("\r\n", "\n").replace(['\u{2029}', '\u{2028}'], "\n")
}

#[cfg(test)]
mod tests;
