//! Calendars and reminders: CalDAV everywhere, EventKit on macOS. Knows nothing of tools, agents or windows; asks nobody
//! and keeps no keys: who may change what is decided above.
//!
//! Every change returns what undoes it. An event is addressed by the object that holds it; one occurrence of a series by
//! its [`RecurrenceId`] besides.

mod absent;
mod caldav;
mod error;
#[cfg(target_os = "macos")]
#[allow(unsafe_code, reason = "EventKit is called by Objective-C messages, which the bindings mark unsafe")]
mod event_kit;
pub mod fake;
mod ical;
mod kinds;
mod moment;
mod objects;
mod recur;
mod undo;

use async_trait::async_trait;

pub use jiff::tz::TimeZone;

pub use absent::Absent;
pub use caldav::{CalDav, CalDavAccount};
pub use error::Error;
#[cfg(target_os = "macos")]
pub use event_kit::EventKit;
pub use kinds::{
    Calendar, CalendarId, Due, Event, EventId, EventPatch, Events, Holds, NewEvent, NewReminder, Reminder,
    ReminderFilter, ReminderId, ReminderPatch, ReminderState, Reminders, Scope,
};
pub use moment::{Moment, NotAMoment, Range, RecurrenceId};
pub use undo::{Before, Changed, Undo};

/// The most events or reminders of one answer; what is beyond is counted.
pub const MAX_LISTED: usize = 500;
/// The most days that one look at a calendar spans.
pub const MAX_DAYS: i64 = 1100;

/// The zone of this machine.
pub fn local_zone() -> TimeZone {
    TimeZone::system()
}

/// A person's calendars and lists of reminders.
///
/// Dropping a future of these ends the request; a change that was on its way by then may have been made.
#[async_trait]
pub trait Agenda: Send + Sync {
    /// All calendars and lists, in the order of their source.
    async fn calendars(&self) -> Result<Vec<Calendar>, Error>;

    /// What happens in a range, each occurrence of a series by itself, in the order of their starts; at most
    /// [`MAX_LISTED`]. Of all calendars where none is named.
    async fn events(&self, range: &Range, calendar: Option<&CalendarId>) -> Result<Events, Error>;

    /// One event; of a series, the series itself, with the times of its first occurrence.
    async fn event(&self, id: &EventId) -> Result<Event, Error>;

    async fn create_event(&self, new: NewEvent) -> Result<Changed<Event>, Error>;

    /// Changes what the patch names and keeps all else, also what we know nothing of. Returns the event as it is then:
    /// of [`Scope::This`] the occurrence, of [`Scope::ThisAndFollowing`] the new series.
    async fn change_event(
        &self,
        id: &EventId,
        patch: EventPatch,
        scope: Scope,
    ) -> Result<Changed<Event>, Error>;

    async fn delete_event(&self, id: &EventId, scope: Scope) -> Result<Undo, Error>;

    /// Open ones by when they are due (those without a date last), then done ones; at most [`MAX_LISTED`].
    async fn reminders(&self, filter: &ReminderFilter) -> Result<Reminders, Error>;

    async fn reminder(&self, id: &ReminderId) -> Result<Reminder, Error>;

    async fn create_reminder(&self, new: NewReminder) -> Result<Changed<Reminder>, Error>;

    async fn change_reminder(
        &self,
        id: &ReminderId,
        patch: ReminderPatch,
    ) -> Result<Changed<Reminder>, Error>;

    /// Marks it done. One that recurs is moved to its next date instead, as calendars do.
    async fn complete_reminder(&self, id: &ReminderId) -> Result<Changed<Reminder>, Error>;

    async fn delete_reminder(&self, id: &ReminderId) -> Result<Undo, Error>;

    /// Puts back what a change found, unless something else has changed it since ([`Error::Conflict`]). Returns what
    /// undoes this in turn.
    async fn restore(&self, undo: &Undo) -> Result<Undo, Error>;
}
