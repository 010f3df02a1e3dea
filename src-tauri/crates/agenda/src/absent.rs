//! The agenda of a computer that has none.

use async_trait::async_trait;

use crate::{
    Agenda, Calendar, CalendarId, Changed, Error, Event, EventId, EventPatch, Events, NewEvent, NewReminder,
    Range, Reminder, ReminderFilter, ReminderId, ReminderPatch, Reminders, Scope, Undo,
};

/// Answers everything with why there is no calendar and how to set one up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Absent {
    pub why: String,
}

impl Absent {
    /// Nothing has been set up yet.
    pub fn not_set_up() -> Self {
        let why = "set the address, user name and password of a CalDAV server in the settings: \
                   https://caldav.icloud.com with an app-specific password for iCloud, https://HOST/remote.php/dav \
                   with an app password for Nextcloud, the server's own address for Radicale and others";
        Self { why: why.into() }
    }

    fn error<T>(&self) -> Result<T, Error> {
        Err(Error::Absent { why: self.why.clone() })
    }
}

#[async_trait]
impl Agenda for Absent {
    async fn calendars(&self) -> Result<Vec<Calendar>, Error> {
        self.error()
    }

    async fn events(&self, _range: &Range, _calendar: Option<&CalendarId>) -> Result<Events, Error> {
        self.error()
    }

    async fn event(&self, _id: &EventId) -> Result<Event, Error> {
        self.error()
    }

    async fn create_event(&self, _new: NewEvent) -> Result<Changed<Event>, Error> {
        self.error()
    }

    async fn change_event(&self, _: &EventId, _: EventPatch, _: Scope) -> Result<Changed<Event>, Error> {
        self.error()
    }

    async fn delete_event(&self, _id: &EventId, _scope: Scope) -> Result<Undo, Error> {
        self.error()
    }

    async fn reminders(&self, _filter: &ReminderFilter) -> Result<Reminders, Error> {
        self.error()
    }

    async fn reminder(&self, _id: &ReminderId) -> Result<Reminder, Error> {
        self.error()
    }

    async fn create_reminder(&self, _new: NewReminder) -> Result<Changed<Reminder>, Error> {
        self.error()
    }

    async fn change_reminder(&self, _: &ReminderId, _: ReminderPatch) -> Result<Changed<Reminder>, Error> {
        self.error()
    }

    async fn complete_reminder(&self, _id: &ReminderId) -> Result<Changed<Reminder>, Error> {
        self.error()
    }

    async fn delete_reminder(&self, _id: &ReminderId) -> Result<Undo, Error> {
        self.error()
    }

    async fn restore(&self, _undo: &Undo) -> Result<Undo, Error> {
        self.error()
    }
}
