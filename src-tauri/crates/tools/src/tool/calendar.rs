//! What the tools for calendars and reminders share: which calendar is meant, in which zone, and what is told of it.

use std::sync::Arc;

use agenda::{Agenda, Calendar, CalendarId, Error, Event, Reminder, TimeZone, Undo};
use protocol::tool::{Change, Changed, Effect, ToolError, ToolErrorKind};
use serde_json::{Value, json};

use super::{Context, Outcome, bad_arguments, tool_error};
use crate::ports::AgendaPort;
use crate::untrusted;

pub(super) const TITLE_CHARS: usize = 500;
pub(super) const NOTES_CHARS: usize = 10_000;
const SHOWN_CHARS: usize = 80;

pub(super) fn port(cx: &Context) -> Result<Arc<AgendaPort>, ToolError> {
    let none = || tool_error(ToolErrorKind::NotAvailable, "not available here: no calendar is set up");
    cx.ports.agenda.clone().ok_or_else(none)
}

/// The zone that is named, or this machine's.
pub(super) fn zone(named: Option<&str>) -> Result<TimeZone, ToolError> {
    match named {
        None => Ok(agenda::local_zone()),
        Some(name) => TimeZone::get(name).map_err(|_| {
            bad_arguments(format!("timeZone = {name:?} is no time zone such as Europe/Berlin or Asia/Tokyo"))
        }),
    }
}

/// The same by its name, as new entries are kept in.
pub(super) fn zone_name(named: Option<String>) -> Option<String> {
    named.or_else(|| agenda::local_zone().iana_name().map(str::to_owned))
}

/// The calendar that is named, or the one that new entries go to.
pub(crate) fn meant<'a>(
    all: &'a [Calendar],
    named: Option<&str>,
    usual: &str,
    holds: impl Fn(&Calendar) -> bool,
) -> Result<&'a Calendar, ToolError> {
    let may = |calendar: &&Calendar| holds(calendar) && !calendar.read_only;
    let names = || {
        let names: Vec<_> =
            all.iter().filter(may).map(|one| untrusted::line(&one.name, SHOWN_CHARS)).collect();
        if names.is_empty() {
            "there is none that can be written".to_owned()
        } else {
            format!("there are: {}", names.join(", "))
        }
    };
    let by_name =
        |name: &str| all.iter().filter(may).find(|one| one.name.to_lowercase() == name.to_lowercase());
    match named {
        Some(name) => by_name(name).ok_or_else(|| {
            let name = untrusted::line(name, SHOWN_CHARS);
            tool_error(ToolErrorKind::NotFound, format!("no calendar {name:?} takes this; {}", names()))
        }),
        None => by_name(usual).or_else(|| all.iter().find(may)).ok_or_else(|| {
            tool_error(ToolErrorKind::NotFound, format!("no calendar takes this; {}", names()))
        }),
    }
}

pub(super) async fn calendars(agenda: &dyn Agenda) -> Result<Vec<Calendar>, ToolError> {
    agenda.calendars().await.map_err(|error| from_agenda(&error))
}

pub(super) fn named(all: &[Calendar], id: &CalendarId) -> String {
    let name = all.iter().find(|one| one.id == *id).map_or(id.0.as_str(), |one| one.name.as_str());
    untrusted::line(name, SHOWN_CHARS)
}

pub(super) fn shown(title: &str) -> String {
    format!("“{}”", untrusted::line(title, SHOWN_CHARS))
}

/// What is told of an event: what others may have written, cleaned.
pub(super) fn event(event: &Event, calendars: &[Calendar]) -> Value {
    let mut told = json!({
        "id": event.id,
        "calendar": named(calendars, &event.calendar),
        "title": untrusted::line(&event.title, TITLE_CHARS),
        "start": event.start,
        "end": event.end,
        "version": event.version,
    });
    let mut tell = |name: &str, text: &Option<String>, most: usize| {
        if let Some(text) = text {
            told[name] = json!(untrusted::cut(&untrusted::clean(text).0, most));
        }
    };
    tell("timeZone", &event.time_zone, 100);
    tell("location", &event.location, TITLE_CHARS);
    tell("notes", &event.notes, 2_000);
    tell("url", &event.url, TITLE_CHARS);
    tell("recurrence", &event.recurrence, TITLE_CHARS);
    if let Some(occurrence) = &event.recurrence_id {
        told["occurrence"] = json!(occurrence);
    }
    if event.all_day {
        told["allDay"] = true.into();
    }
    if event.cancelled {
        told["cancelled"] = true.into();
    }
    if !event.invited.is_empty() {
        told["invited"] = event.invited.len().into();
    }
    told
}

pub(super) fn reminder(reminder: &Reminder, lists: &[Calendar]) -> Value {
    let mut told = json!({
        "id": reminder.id,
        "list": named(lists, &reminder.list),
        "title": untrusted::line(&reminder.title, TITLE_CHARS),
        "done": reminder.done,
        "version": reminder.version,
    });
    if let Some(due) = &reminder.due {
        told["due"] = json!(due);
    }
    if let Some(notes) = &reminder.notes {
        told["notes"] = json!(untrusted::cut(&untrusted::clean(notes).0, 2_000));
    }
    if reminder.priority > 0 {
        told["priority"] = reminder.priority.into();
    }
    told
}

/// What was changed, with what takes it back.
pub(super) fn changed(of: Changed, summary: String, title: &str, data: Value, undo: &Undo) -> Outcome {
    let mut outcome = Outcome::looked(summary, data);
    if let (false, Ok(undo)) = (undo.objects.is_empty(), serde_json::to_value(undo)) {
        let name = untrusted::line(title, SHOWN_CHARS);
        outcome.changes.push(Change { of, name, diff: None, data: undo });
    }
    outcome
}

/// Takes a change of an event or a reminder back.
pub(crate) async fn take_back(agenda: &dyn Agenda, change: &Change) -> Result<(), ToolError> {
    let undo: Undo = serde_json::from_value(change.data.clone()).map_err(|error| {
        tool_error(ToolErrorKind::Failed, format!("what was changed cannot be read: {error}"))
    })?;
    agenda.restore(&undo).await.map(drop).map_err(|error| from_agenda(&error))
}

/// A change that failed: of some it is not known whether it was made.
pub(super) fn failed(tool: &str, error: &Error) -> Outcome {
    let effect = match error {
        Error::UnknownOutcome { .. } => Effect::Unknown,
        _ => Effect::Refused,
    };
    Outcome::failed(tool, effect, from_agenda(error))
}

pub(crate) fn from_agenda(error: &Error) -> ToolError {
    let kind = match error {
        Error::Absent { .. } => ToolErrorKind::NotAvailable,
        Error::NotFound { .. } => ToolErrorKind::NotFound,
        Error::SignIn { .. } | Error::Denied { .. } | Error::ReadOnly { .. } | Error::Elsewhere { .. } => {
            ToolErrorKind::Permission
        }
        Error::Unreachable { .. } | Error::Refused { .. } => ToolErrorKind::Network,
        Error::TimedOut { .. } => ToolErrorKind::Timeout,
        Error::Invalid { .. } => ToolErrorKind::BadArguments,
        Error::Conflict { .. }
        | Error::UnknownOutcome { .. }
        | Error::Address { .. }
        | Error::TooLarge { .. }
        | Error::Unreadable { .. } => ToolErrorKind::Failed,
    };
    tool_error(kind, untrusted::line(&error.to_string(), 500))
}
