//! Date and time fields of browsers: a field of its own for each part, in the order of the user's language. A part tells
//! by its name alone what it is, and is typed into.

use tokio::time::Instant;

use super::acting::{LOOK_AGAIN, Operand};
use super::bus::Object;
use super::choosing::DEEPEST;
use super::nodes;
use super::quirks::Part;
use super::role::number;
use super::setting::{READ_BACK, VALUE};
use crate::DesktopError;

/// Objects of one level among which parts are looked for.
const MOST: usize = 50;
impl Operand {
    /// The parts of a date or time field; none of anything else.
    pub(in super::super) async fn parts(&self) -> Vec<Self> {
        let mut parts = Vec::new();
        if !matches!(self.role, number::DATE_EDITOR | number::PANEL | number::GROUPING) {
            return parts;
        }
        let mut level = vec![self.object.clone()];
        for _ in 0..DEEPEST {
            let mut below = Vec::new();
            for object in &level {
                for (_, path) in object.children().await.unwrap_or_default() {
                    let object = Object::new(&object.program, path.as_str());
                    let (role, states, name) = tokio::join!(object.role(), object.states(), object.name());
                    let (Ok(role), Ok(states), Ok(name)) = (role, states, name) else { continue };
                    match role {
                        number::SPIN_BUTTON => parts.push(self.part(object, role, states, name).await),
                        // Firefox lets the half of the day be typed as a text.
                        number::ENTRY if Part::named(&name) == Some(Part::Half) => {
                            parts.push(self.part(object, role, states, name).await);
                        }
                        _ => below.push(object),
                    }
                }
            }
            below.truncate(MOST);
            level = below;
        }
        // Of one that cannot be told, nobody knows what to type into it.
        if parts.iter().any(|part| Part::named(&part.name).is_none()) {
            parts.clear();
        }
        parts
    }

    /// What is to be typed into each part for this value.
    ///
    /// # Errors
    /// `BadInput` where the value does not say it.
    pub(in super::super) fn split(&self, parts: &[Self], value: &str) -> Result<Vec<String>, DesktopError> {
        let names: Vec<&str> = parts.iter().map(|part| part.name.as_str()).collect();
        split(&names, value).ok_or_else(|| {
            DesktopError::BadInput(format!(
                "value = \"{value}\" does not say what {} is made of: {}; write dates as 2026-01-31, times as 13:45, \
                 both as 2026-01-31T13:45, months as 2026-01",
                self.called,
                names.join(", ")
            ))
        })
    }

    /// Whether this part comes to hold what was typed.
    pub(in super::super) async fn comes_to_hold(&self, typed: &str) -> bool {
        let until = Instant::now() + READ_BACK;
        while !self.holds_part(typed).await {
            if Instant::now() >= until {
                return false;
            }
            tokio::time::sleep(LOOK_AGAIN).await;
        }
        true
    }

    /// What the first of its parts holds that no longer has what was typed into it.
    pub(in super::super) async fn other_part(parts: &[Self], typed: &[String]) -> Option<String> {
        for (part, typed) in parts.iter().zip(typed) {
            // One that is gone says nothing.
            if !part.holds_part(typed).await && part.object.states().await.is_ok() {
                return Some(format!("{} is another one", part.called));
            }
        }
        None
    }

    /// Firefox tells it as a text, Chromium as a number: before noon is 1 there.
    async fn holds_part(&self, typed: &str) -> bool {
        let text = nodes::text(&self.object, -1).await.unwrap_or_default();
        if let (Ok(held), Ok(typed)) = (text.parse::<u32>(), typed.parse::<u32>()) {
            return held == typed;
        }
        if !text.is_empty() {
            return text.to_lowercase().starts_with(typed);
        }
        let number = match typed {
            "a" => 1.0,
            "p" => 2.0,
            typed => typed.parse().unwrap_or(f64::NAN),
        };
        let held = self.object.program.property::<f64>(&self.object.path, VALUE, "CurrentValue").await;
        held.is_ok_and(|held| (held - number).abs() < 0.5)
    }
}

fn split(names: &[&str], value: &str) -> Option<Vec<String>> {
    let value = value.trim();
    let (date, time) = match value.split_once(['T', ' ']) {
        Some(both) => both,
        None if value.contains(':') => ("", value),
        None => (value, ""),
    };
    let parts: Vec<Part> = names.iter().map(|name| Part::named(name)).collect::<Option<_>>()?;
    let of = |text: &str, sign: char, at: usize| text.split(sign).nth(at)?.trim().parse::<u32>().ok();
    let hours = of(time, ':', 0).filter(|hours| *hours < 24);
    let halved = parts.contains(&Part::Half);
    let typed = |part: &Part| {
        let two = |number: Option<u32>| number.map(|number| format!("{number:02}"));
        match part {
            Part::Year => of(date, '-', 0).map(|year| format!("{year:04}")),
            Part::Month => two(of(date, '-', 1)),
            Part::Day => two(of(date, '-', 2)),
            Part::Hours => two(hours.map(|hours| if halved { (hours + 11) % 12 + 1 } else { hours })),
            Part::Minutes => two(of(time, ':', 1)),
            Part::Seconds => two(Some(of(time, ':', 2).unwrap_or(0))),
            Part::Half => hours.map(|hours| if hours < 12 { "a" } else { "p" }.to_owned()),
        }
    };
    parts.iter().map(typed).collect()
}

#[cfg(test)]
mod tests;
