//! What a change found and left, so that it can be undone.

use serde::{Deserialize, Serialize};

use crate::CalendarId;

/// What a change made, and what undoes it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Changed<T> {
    pub now: T,
    pub undo: Undo,
}

/// The objects that one change touched: one, or two where a series was split. Empty: nothing was changed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Undo {
    pub objects: Vec<Before>,
}

/// One object before and after a change. With CalDAV the texts are iCalendar, as the server gave and was given them;
/// with EventKit they are our fields, since it shows no more.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Before {
    pub calendar: CalendarId,
    pub object: String,
    /// `None`: it was not there.
    pub before: Option<String>,
    /// `None`: it is gone.
    pub after: Option<String>,
    /// Its version after the change. `None` if it is gone.
    pub version: Option<String>,
}
