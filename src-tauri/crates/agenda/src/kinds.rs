//! Calendars, events and reminders as everyone above sees them: plain data.

use serde::{Deserialize, Serialize};

use crate::{Moment, RecurrenceId};

macro_rules! id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(pub String);

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(&self.0)
            }
        }
    };
}

id! {
    /// A calendar or a list of reminders. Opaque; with CalDAV, its path on the server.
    CalendarId
}
id! {
    /// The object of an event: all occurrences of a series have the same. Opaque; with CalDAV, its path on the server.
    EventId
}
id! {
    /// The object of a reminder. Opaque; with CalDAV, its path on the server.
    ReminderId
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Calendar {
    pub id: CalendarId,
    pub name: String,
    /// `#rrggbb`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub colour: Option<String>,
    pub holds: Holds,
    pub read_only: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Holds {
    Events,
    Reminders,
    Both,
}

impl Holds {
    pub fn events(self) -> bool {
        matches!(self, Self::Events | Self::Both)
    }

    pub fn reminders(self) -> bool {
        matches!(self, Self::Reminders | Self::Both)
    }
}

/// An event, a whole series, or one occurrence of a series.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Event {
    pub id: EventId,
    pub calendar: CalendarId,
    pub title: String,
    pub start: Moment,
    /// Not part of it any more: an event of the whole 1st ends on the 2nd.
    pub end: Moment,
    pub all_day: bool,
    /// The IANA name. `None` for whole days and for times that are local wherever one is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time_zone: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub location: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub notes: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// The series' rule, as iCalendar has it: `FREQ=WEEKLY;BYDAY=MO`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recurrence: Option<String>,
    /// Which occurrence of the series this is: the start that the rule gave it. `None` for a series as a whole.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recurrence_id: Option<RecurrenceId>,
    /// Differs from the other occurrences of its series.
    pub is_exception: bool,
    /// Called off, and shown all the same.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub cancelled: bool,
    /// The addresses of who is invited, at most fifty. The server may send them mail about a change.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub invited: Vec<String>,
    /// Changes whenever the object does (an ETag).
    pub version: String,
}

/// Some events, and what is not among them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Events {
    pub events: Vec<Event>,
    /// How many more there are, at least: ask for a shorter range.
    pub left_off: usize,
    /// Objects that could not be understood, by their ids.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unreadable: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NewEvent {
    pub calendar: CalendarId,
    pub title: String,
    pub start: Moment,
    /// `None`: an hour after the start, or the whole day.
    #[serde(default)]
    pub end: Option<Moment>,
    /// The IANA name of the zone that times without one are in, and that the others are kept in.
    #[serde(default)]
    pub time_zone: Option<String>,
    #[serde(default)]
    pub location: Option<String>,
    #[serde(default)]
    pub notes: Option<String>,
    #[serde(default)]
    pub url: Option<String>,
    #[serde(default)]
    pub recurrence: Option<String>,
}

/// What to change. `None` keeps; an empty text removes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct EventPatch {
    pub title: Option<String>,
    /// Without an end, the event stays as long as it was.
    pub start: Option<Moment>,
    pub end: Option<Moment>,
    /// The zone that times of this patch without one are in. `None`: the event's.
    pub time_zone: Option<String>,
    pub location: Option<String>,
    pub notes: Option<String>,
    pub url: Option<String>,
    /// Not for one occurrence alone.
    pub recurrence: Option<String>,
    /// The version that was looked at: if it is another by now, nothing is changed ([`crate::Error::Conflict`]).
    pub version: Option<String>,
}

/// How much of a series a change is about. An event that does not recur is changed with [`Scope::All`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", tag = "scope", content = "occurrence")]
pub enum Scope {
    /// One occurrence.
    This(RecurrenceId),
    /// This occurrence and all after it, which become a series of their own.
    ThisAndFollowing(RecurrenceId),
    /// The whole series; times of a patch are those of its first occurrence.
    All,
    /// The whole series; times of a patch are those of this occurrence, and all others move as far.
    AllSeenFrom(RecurrenceId),
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Reminder {
    pub id: ReminderId,
    pub list: CalendarId,
    pub title: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub due: Option<Moment>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub notes: Option<String>,
    /// 1 (most) to 9 (least); 0: none.
    pub priority: u8,
    pub done: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub done_at: Option<jiff::Timestamp>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recurrence: Option<String>,
    pub version: String,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Reminders {
    pub reminders: Vec<Reminder>,
    pub left_off: usize,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unreadable: Vec<String>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct ReminderFilter {
    pub state: ReminderState,
    /// `None`: of all lists.
    pub list: Option<CalendarId>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum ReminderState {
    #[default]
    Open,
    Done,
    All,
}

impl ReminderState {
    pub(crate) fn takes(self, done: bool) -> bool {
        match self {
            Self::Open => !done,
            Self::Done => done,
            Self::All => true,
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NewReminder {
    pub list: CalendarId,
    pub title: String,
    #[serde(default)]
    pub due: Option<Moment>,
    /// The zone that a time without one is in.
    #[serde(default)]
    pub time_zone: Option<String>,
    #[serde(default)]
    pub notes: Option<String>,
    #[serde(default)]
    pub priority: u8,
    /// Needs a date.
    #[serde(default)]
    pub recurrence: Option<String>,
}

/// What to change. `None` keeps; an empty text removes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct ReminderPatch {
    pub title: Option<String>,
    pub due: Option<Due>,
    pub time_zone: Option<String>,
    pub notes: Option<String>,
    pub priority: Option<u8>,
    /// `false` opens it again; for `true` see [`crate::Agenda::complete_reminder`].
    pub done: Option<bool>,
    /// As in [`EventPatch`].
    pub version: Option<String>,
}

/// A new date, or none any more; as JSON, its text or an empty one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Due {
    At(Moment),
    Never,
}

impl TryFrom<String> for Due {
    type Error = crate::NotAMoment;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        if text.is_empty() { Ok(Self::Never) } else { text.parse().map(Self::At) }
    }
}

impl From<Due> for String {
    fn from(due: Due) -> Self {
        match due {
            Due::At(moment) => moment.to_string(),
            Due::Never => Self::new(),
        }
    }
}
