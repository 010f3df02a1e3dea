//! What came of one task, and how a desktop's words become the contract's.

use desktop::{Acted, DesktopError, Evidence, ToldElements};
use protocol::geometry::NormPoint;
use protocol::terminal::Line;
use protocol::tool::{Change, Effect, Source, ToolError, ToolErrorKind};
use serde::Serialize;
use serde_json::{Value, json};

use super::tool_error;
use crate::{Finish, TakenPicture, untrusted};

/// Characters of an error or note.
const NOTE_CHARS: usize = 500;

/// What came of a task, before the router has looked at the screen. Bounded, and cleaned of what people cannot see, by
/// the task.
#[derive(Clone, Debug)]
pub struct Outcome {
    pub effect: Effect,
    /// One line for people.
    pub summary: String,
    /// For the model.
    pub data: Value,
    pub error: Option<ToolError>,
    /// Read back, and done in part or otherwise.
    pub(crate) in_part: bool,
    /// Where it acted on the display.
    pub(crate) dot: Option<NormPoint>,
    pub picture: Option<TakenPicture>,
    /// The elements that its data tells of.
    pub(crate) told: Vec<ToldElements>,
    /// Where what it tells came from.
    pub(crate) read: Vec<Source>,
    /// What it changed that can be taken back.
    pub(crate) changes: Vec<Change>,
    /// What a command printed, with its colours, for people.
    pub(crate) output: Vec<Line>,
    /// From `done` alone.
    pub(crate) finished: Option<Finish>,
}

impl Outcome {
    /// It is known to have done what it should; so is all that only looks or waits.
    pub fn looked(summary: impl Into<String>, data: Value) -> Self {
        Self {
            effect: Effect::Confirmed,
            summary: summary.into(),
            data,
            error: None,
            in_part: false,
            dot: None,
            picture: None,
            told: Vec::new(),
            read: Vec::new(),
            changes: Vec::new(),
            output: Vec::new(),
            finished: None,
        }
    }

    /// A list, under its name.
    pub(crate) fn listed(tool: &str, summary: impl Into<String>, name: &str, list: &impl Serialize) -> Self {
        match serde_json::to_value(list) {
            Ok(list) => Self::looked(summary, json!({ name: list })),
            Err(error) => {
                let error = tool_error(ToolErrorKind::Failed, format!("write the {name} as JSON: {error}"));
                Self::failed(tool, Effect::Refused, error)
            }
        }
    }

    /// Something was done, as far as the desktop can tell.
    pub(crate) fn acted(acted: &Acted, summary: &str, dot: Option<NormPoint>) -> Self {
        let note = untrusted::line(&acted.note, NOTE_CHARS);
        let (effect, summary) = match acted.evidence {
            Evidence::ReadBack => (Effect::Confirmed, summary.to_owned()),
            Evidence::Sent => (Effect::Unverified, summary.to_owned()),
            Evidence::Mismatch => {
                (Effect::Unverified, format!("{summary}; done in part, or otherwise than asked"))
            }
            Evidence::Nothing => {
                (Effect::NoChange, format!("{summary}; looked at again, and nothing happened"))
            }
        };
        let data = if note.is_empty() { json!({}) } else { json!({ "note": note }) };
        Self { effect, dot, in_part: acted.evidence == Evidence::Mismatch, ..Self::looked(summary, data) }
    }

    /// It did not work: `Unknown` if it may have happened in part, `Refused` if nothing was begun.
    pub fn failed(tool: &str, effect: Effect, error: ToolError) -> Self {
        let what = match effect {
            Effect::Unknown => "may or may not have happened",
            Effect::Confirmed | Effect::Unverified | Effect::NoChange | Effect::Refused => "not done",
        };
        let summary = format!("{} {what}: {}", untrusted::line(tool, 60), error.message);
        Self { effect, error: Some(error), ..Self::looked(summary, Value::Null) }
    }

    /// The desktop said no while something was to be done. Some answers leave open how far it came.
    pub(crate) fn failed_acting(tool: &str, error: &DesktopError) -> Self {
        let effect = match error {
            DesktopError::Timeout(_) | DesktopError::Cancelled | DesktopError::Failed(_) => Effect::Unknown,
            DesktopError::NotAvailable(_)
            | DesktopError::Permission { .. }
            | DesktopError::NotFound(_)
            | DesktopError::BadInput(_)
            | DesktopError::Forbidden(_) => Effect::Refused,
        };
        Self::failed(tool, effect, from_desktop(error))
    }

    pub(crate) fn failed_looking(tool: &str, error: &DesktopError) -> Self {
        Self::failed(tool, Effect::Refused, from_desktop(error))
    }

    /// Whether it was read back, and not as wished: what follows in a batch was meant for something else.
    pub(crate) fn falls_short(&self) -> bool {
        self.in_part || self.effect == Effect::NoChange
    }

    /// Adds words to the line for people.
    pub fn say(&mut self, words: &str) {
        self.summary = format!("{}; {words}", self.summary);
    }
}

/// A desktop's error for the model. Its text may hold window titles, so it is cleaned like all that was read.
pub(crate) fn from_desktop(error: &DesktopError) -> ToolError {
    let message = untrusted::line(&error.to_string(), NOTE_CHARS);
    match error {
        DesktopError::NotAvailable(_) => tool_error(ToolErrorKind::NotAvailable, message),
        DesktopError::Permission { .. } => {
            tool_error(ToolErrorKind::Permission, format!("not available here: {message}"))
        }
        DesktopError::NotFound(_) => tool_error(ToolErrorKind::NotFound, message),
        DesktopError::BadInput(_) => tool_error(ToolErrorKind::BadArguments, message),
        DesktopError::Forbidden(_) => tool_error(ToolErrorKind::Forbidden, message),
        DesktopError::Timeout(_) => tool_error(ToolErrorKind::Timeout, message),
        DesktopError::Cancelled => tool_error(ToolErrorKind::Cancelled, message),
        DesktopError::Failed(_) => tool_error(ToolErrorKind::Failed, message),
    }
}
