//! Setting an object's value by accessibility calls, and reading it back.
//!
//! Text goes by `EditableText`, numbers by `Value`, one of several by `Selection`, on and off by the press. A
//! password is never read back.

use std::time::Duration;

use tokio::time::Instant;

use super::acting::{ACTION, LOOK_AGAIN, Operand, Tried};
use super::bus::{CallError, PROPERTIES};
use super::details::TEXT;
use super::nodes;
use super::role::{self, States, number};
use crate::{Acted, DesktopError, Evidence};

pub(super) const EDITABLE_TEXT: &str = "org.a11y.atspi.EditableText";
pub(super) const VALUE: &str = "org.a11y.atspi.Value";
/// For a value to be as it was set.
pub(super) const READ_BACK: Duration = Duration::from_millis(400);
/// For an application to work off keys and clicks, where it seems to have done nothing with them.
const WORKED_OFF: Duration = Duration::from_secs(3);
/// For an application to take a value back that it does not like.
const TAKEN_BACK: Duration = Duration::from_millis(500);
/// Steps of a slider on the way to a value.
const MOST_STEPS: u32 = 200;
/// Characters of a value in a message.
const SHOWN: usize = 60;

impl Operand {
    /// Replaces the whole value.
    ///
    /// # Errors
    /// `BadInput` where the value cannot be one of this object: out of range, no such item, read-only.
    pub(in super::super) async fn set_value(&self, value: &str) -> Result<Tried, DesktopError> {
        if self.quirks.set_by_hand.contains(&self.role) {
            return Ok(Tried::Not(format!("{} is set by hand alone", self.called)));
        }
        match role::describe(self.role).0 {
            "check box" | "toggle button" | "radio button" | "check menu item" | "radio menu item" => {
                return self.switch(value).await;
            }
            "combo box" | "list" | "list box" | "page tab list" | "menu" => {
                return match (self.choose_item(value).await?, self.editor().await) {
                    (Some(tried), _) => Ok(tried),
                    (None, Some(_)) if self.quirks.hides_combo_texts => {
                        Ok(Tried::Not(format!("{} does not show a text that is set", self.called)))
                    }
                    (None, Some(editor)) => editor.set_text(value).await,
                    (None, None) => Ok(Tried::Not(format!("{} shows no items", self.called))),
                };
            }
            _ if !self.parts().await.is_empty() => {
                return Ok(Tried::Not(format!("{} is typed part by part", self.called)));
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
        // Qt calls a field that is read-only editable as well.
        let is_read_only =
            self.states.has(States::READ_ONLY) || !(self.states.has(States::EDITABLE) || self.is_password());
        if self.is_text_field() && is_read_only {
            return Err(DesktopError::BadInput(format!("{} is read-only; nothing was done", self.called)));
        }
        if !self.interfaces.has(EDITABLE_TEXT) {
            return Ok(Tried::Not(format!("{} takes no text this way", self.called)));
        }
        if self.is_mangled(value) {
            return Ok(Tried::Not(format!("{} would get other characters", self.called)));
        }
        if role::is_numeric(self.role) && self.entering().await.is_none() {
            return Ok(Tried::Not(format!("{} takes over only what is typed", self.called)));
        }
        let before = self.text_now().await;
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
        let acted = self.read_text_back(value, before.as_deref()).await;
        if acted.evidence != Evidence::Mismatch {
            return Ok(Tried::Done(self.unless_taken_back(acted, self.other_text(value)).await));
        }
        if set.is_err() {
            return Ok(Tried::Done(self.unanswered("gave the text to")));
        }
        let acted = self.made_of(acted, before).await;
        if acted.evidence != Evidence::Nothing {
            return Ok(Tried::Done(acted));
        }
        // What the application did not take by this way, it may take from the keyboard.
        Ok(Tried::Not(acted.note))
    }

    /// Of a password, as many marks as it has characters.
    pub(in super::super) async fn text_now(&self) -> Option<String> {
        if self.is_password() {
            let held = usize::try_from(self.count().await.ok()?).ok()?;
            return Some("*".repeat(held));
        }
        nodes::text(&self.object, -1).await.ok()
    }

    async fn count(&self) -> Result<i32, CallError> {
        self.object.program.property(&self.object.path, TEXT, "CharacterCount").await
    }

    /// What was read back, unless a moment later there is `other`: applications take a value back, or change it, once
    /// they have checked it. Nobody tells when they have: each value that is said to be confirmed waits for it.
    pub(in super::super) async fn unless_taken_back(
        &self,
        acted: Acted,
        other: impl Future<Output = Option<String>>,
    ) -> Acted {
        if acted.evidence != Evidence::ReadBack {
            return acted;
        }
        tokio::time::sleep(TAKEN_BACK).await;
        // A busy application does what was due by now after it has answered this, and before it is asked again.
        let _answer = self.object.states().await;
        tokio::time::sleep(LOOK_AGAIN).await;
        match other.await {
            Some(now) => {
                let note = format!("{}, but {now} a moment later: the application changed it", acted.note);
                Acted { evidence: Evidence::Mismatch, note }
            }
            None => acted,
        }
    }

    /// What it holds instead of this text; a password's is not told.
    pub(in super::super) async fn other_text(&self, value: &str) -> Option<String> {
        if self.is_password() {
            return None;
        }
        let now = self.text_now().await.filter(|now| unified(now) != unified(value))?;
        Some(format!("\"{}\"", shortened(&now)))
    }

    async fn other_number(&self, wished: f64, near: f64) -> Option<String> {
        let now = self.current().await.ok().filter(|now| (now - wished).abs() > near)?;
        Some(format!("at {}", tidy(now)))
    }

    /// What came of keys that were to write `value`. A busy application works them off late: that nothing happened is
    /// said only after a while.
    pub(in super::super) async fn typed(&self, value: &str, before: Option<String>) -> Acted {
        let until = Instant::now() + WORKED_OFF;
        loop {
            let acted = self.read_text_back(value, before.as_deref()).await;
            let acted = self.made_of(acted, before.clone()).await;
            if acted.evidence != Evidence::Nothing || Instant::now() >= until {
                return acted;
            }
        }
    }

    /// What was read back, where the application may have made something else of it: capitals, a result. It is `Nothing`
    /// only where it is what it was.
    async fn made_of(&self, acted: Acted, before: Option<String>) -> Acted {
        if acted.evidence != Evidence::Mismatch {
            return acted;
        }
        match self.text_now().await {
            None => acted,
            now if now == before => Acted { evidence: Evidence::Nothing, ..acted },
            Some(_) => Acted { note: format!("{}: the application made that of it", acted.note), ..acted },
        }
    }

    /// The action that takes over what a field holds.
    async fn entering(&self) -> Option<i32> {
        let actions = self.actions().await.unwrap_or_default();
        let at = actions.iter().position(|one| one.name.eq_ignore_ascii_case("activate"))?;
        i32::try_from(at).ok()
    }

    async fn enter(&self) {
        if let Some(index) = self.entering().await {
            let _answer = self.change::<_, bool>(&self.object, ACTION, "DoAction", &index).await;
        }
    }

    /// Reads the text until it is as wished, or the time is up.
    async fn read_text_back(&self, value: &str, before: Option<&str>) -> Acted {
        let count = value.chars().count();
        if self.is_password() || self.is_mangled(value) {
            return self.count_back(value, before).await;
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

    fn is_mangled(&self, text: &str) -> bool {
        self.quirks.mangles_astral && text.chars().any(|one| one > '\u{ffff}')
    }

    /// Of a password, only how long it is: as a person sees by its marks.
    async fn count_back(&self, value: &str, before: Option<&str>) -> Acted {
        let count = value.chars().count();
        // Some count in units of UTF-16.
        let is_all =
            |held: i32| [count, value.encode_utf16().count()].contains(&usize::try_from(held).unwrap_or(0));
        let length = |text: &str| i32::try_from(text.chars().count()).unwrap_or(i32::MAX);
        let until = Instant::now() + READ_BACK;
        loop {
            let held = self.count().await;
            match held {
                Ok(held) if !is_all(held) && Instant::now() < until => tokio::time::sleep(LOOK_AGAIN).await,
                Ok(held) if !is_all(held) => {
                    let note = format!("{} holds {held} characters", self.called);
                    return Acted { evidence: Evidence::Mismatch, note };
                }
                Ok(held) if self.is_password() && before.is_some_and(|before| !is_all(length(before))) => {
                    let note = format!(
                        "{} holds {held} characters, as many as were sent; it is not read",
                        self.called
                    );
                    return Acted { evidence: Evidence::ReadBack, note };
                }
                Ok(_) | Err(_) => {
                    let why = if self.is_password() {
                        "a password is not read back"
                    } else {
                        "they cannot be read back"
                    };
                    let note = format!("{count} characters were sent to {}; {why}", self.called);
                    return Acted { evidence: Evidence::Sent, note };
                }
            }
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
        let (Ok(least), Ok(most), Ok(before)) = (least, most, now) else { return Ok(None) };
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
                let acted = Acted { evidence: Evidence::ReadBack, note };
                let acted = self.unless_taken_back(acted, self.other_number(wished, near)).await;
                return Ok(Some(Tried::Done(acted)));
            }
            if Instant::now() >= until {
                let note = format!("{} is at {}", self.called, tidy(now));
                // What takes no value this way may take it from the keyboard.
                if (now - before).abs() > near {
                    let note = format!("{note}: the application made that of {}", tidy(wished));
                    return Ok(Some(Tried::Done(Acted { evidence: Evidence::Mismatch, note })));
                }
                if self.role == number::SPIN_BUTTON {
                    return Ok(Some(Tried::Not(note)));
                }
                return Ok(Some(self.step_to(wished, near).await?));
            }
            tokio::time::sleep(LOOK_AGAIN).await;
        }
    }

    /// By its own actions that move it a step, as the arrow keys do.
    async fn step_to(&self, wished: f64, near: f64) -> Result<Tried, DesktopError> {
        let actions = self.actions().await.map_err(|error| self.failed(&error))?;
        let index = |words: [&str; 2]| {
            let at = actions
                .iter()
                .position(|one| words.iter().any(|word| one.name.eq_ignore_ascii_case(word)))?;
            i32::try_from(at).ok()
        };
        let (up, down) = (index(["increment", "increase"]), index(["decrement", "decrease"]));
        let (Some(up), Some(down)) = (up, down) else {
            return Ok(Tried::Not(format!("{} does not take a value", self.called)));
        };
        let mut now = self.current().await?;
        for _ in 0..MOST_STEPS {
            let before = now;
            if (before - wished).abs() <= near {
                let note = format!("{} is at {}, read back", self.called, tidy(before));
                let acted = Acted { evidence: Evidence::ReadBack, note };
                return Ok(Tried::Done(self.unless_taken_back(acted, self.other_number(wished, near)).await));
            }
            let step = if before < wished { up } else { down };
            match self.change::<_, bool>(&self.object, ACTION, "DoAction", &step).await {
                Ok(_) => {}
                Err(CallError::Late) => return Ok(Tried::Done(self.unanswered("moved"))),
                Err(error) => return Err(self.failed(&error)),
            }
            let until = Instant::now() + READ_BACK;
            while now == before && Instant::now() < until {
                now = self.current().await?;
            }
            let stepped_over = (before < wished) != (now < wished) && (now - wished).abs() > near;
            if now == before || stepped_over {
                break;
            }
        }
        let note = format!("{} is at {}, as near as its steps come", self.called, tidy(now));
        Ok(Tried::Done(Acted { evidence: Evidence::Mismatch, note }))
    }

    async fn current(&self) -> Result<f64, DesktopError> {
        let now = self.object.program.property::<f64>(&self.object.path, VALUE, "CurrentValue").await;
        now.map_err(|error| self.failed(&error))
    }

    /// On or off, by the press where it is not so already.
    async fn switch(&self, value: &str) -> Result<Tried, DesktopError> {
        let Some(wished) = is_on(value) else {
            return Err(DesktopError::BadInput(format!(
                "value = \"{}\" is neither on nor off, which is all that {} can be",
                shortened(value),
                self.called
            )));
        };
        if self.is_on(self.states) == Some(wished) {
            let note = format!("{} was {} already", self.called, on_or_off(Some(wished)));
            return Ok(Tried::Done(Acted { evidence: Evidence::ReadBack, note }));
        }
        let mut tried = self.press().await?;
        let mut from = self.states;
        if let (Tried::Done(_), Some(now)) = (&tried, self.takes_another(wished).await) {
            from = now;
            tried = self.press().await?;
        }
        let Tried::Done(acted) = &tried else { return Ok(tried) };
        match acted.evidence {
            // It was looked at again already.
            Evidence::ReadBack if self.other_state(wished).await.is_none() => {
                let note = format!("{} is {}", self.called, on_or_off(Some(wished)));
                Ok(Tried::Done(Acted { evidence: Evidence::ReadBack, note }))
            }
            Evidence::Mismatch => Ok(tried),
            _ => Ok(Tried::Done(self.switched(from).await?)),
        }
    }

    /// A cell or row whose mark is as wished. Of one that is not checked it is not known whether it has a mark.
    pub(in super::super) fn ticked_already(&self, value: &str) -> Option<Acted> {
        let is = self.is_on(self.states)?;
        (is_on(value) == Some(is)).then(|| match is {
            true => Acted { evidence: Evidence::ReadBack, note: format!("{} was on already", self.called) },
            false => Acted {
                evidence: Evidence::Sent,
                note: format!("{} shows no check mark; nothing was done", self.called),
            },
        })
    }

    async fn other_state(&self, was: bool) -> Option<String> {
        let is = self.is_on(self.object.states().await.ok()?);
        (is != Some(was)).then(|| on_or_off(is).to_owned())
    }

    /// Its states now, where a press that was to bring it there led to or from between: one more does.
    pub(in super::super) async fn takes_another(&self, wished: bool) -> Option<States> {
        let now = self.object.states().await.ok()?;
        let (was, is) = (self.is_on(self.states), self.is_on(now));
        (was != is && is != Some(wished) && (was.is_none() || is.is_none())).then_some(now)
    }

    /// `None` if it is between on and off.
    fn is_on(&self, states: States) -> Option<bool> {
        let is_between = self.quirks.tells_between && states.has(States::INDETERMINATE);
        (!is_between).then(|| states.has(States::CHECKED))
    }

    /// Whether it is now on where it was off in these states, or the other way round.
    pub(in super::super) async fn switched(&self, from: States) -> Result<Acted, DesktopError> {
        let was = self.is_on(from);
        let until = Instant::now() + WORKED_OFF;
        loop {
            let now = self.object.states().await.map_err(|error| self.failed(&error))?;
            let is = self.is_on(now);
            if is != was || Instant::now() >= until {
                let evidence = if is == was { Evidence::Nothing } else { Evidence::ReadBack };
                let acted = Acted { evidence, note: format!("{} is {}", self.called, on_or_off(is)) };
                let Some(is) = is else { return Ok(acted) };
                return Ok(self.unless_taken_back(acted, self.other_state(is)).await);
            }
            tokio::time::sleep(LOOK_AGAIN).await;
        }
    }
}

fn on_or_off(is: Option<bool>) -> &'static str {
    match is {
        Some(true) => "on",
        Some(false) => "off",
        None => "between on and off",
    }
}

/// What a value says of a switch.
pub(in super::super) fn is_on(value: &str) -> Option<bool> {
    match value.trim().to_lowercase().as_str() {
        "on" | "true" | "yes" | "1" | "checked" => Some(true),
        "off" | "false" | "no" | "0" | "unchecked" => Some(false),
        _ => None,
    }
}

fn parse(value: &str) -> Option<f64> {
    let plain = value.trim().trim_end_matches('%').trim_end().replace(',', "");
    plain.parse().ok().filter(|number: &f64| number.is_finite())
}

fn tidy(number: f64) -> String {
    ((number * 1000.0).round() / 1000.0).to_string()
}

pub(in super::super) fn shortened(text: &str) -> String {
    let start: String = text.chars().take(SHOWN).collect();
    if start.len() < text.len() { format!("{start}...") } else { start }
}

/// Toolkits write the end of a line in three ways, and Firefox a mark of no width after an emoji.
pub(in super::super) fn unified(text: &str) -> String {
    text.replace("\r\n", "\n").replace(['\u{2029}', '\u{2028}'], "\n").replace('\u{feff}', "")
}

#[cfg(test)]
mod tests;
