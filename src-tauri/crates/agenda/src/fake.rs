//! An agenda in memory, for the tests of who uses one: the same rules as CalDAV's, without a server.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use async_trait::async_trait;
use jiff::Timestamp;

use crate::objects::{Expected, Kind, Object, Objects, Store};
use crate::{
    Agenda, Calendar, CalendarId, Changed, Error, Event, EventId, EventPatch, Events, Holds, NewEvent,
    NewReminder, Range, Reminder, ReminderFilter, ReminderId, ReminderPatch, Reminders, Scope, Undo,
};

/// Starts with the calendars `/office/` (events), `/home/` (both), `/tasks/` (reminders) and `/holidays/` (events, read
/// only), all empty.
pub struct Fake(Objects<Memory>);

#[derive(Default)]
struct Memory {
    objects: Mutex<BTreeMap<String, Object>>,
    /// Versions are never used again.
    versions: std::sync::atomic::AtomicU64,
}

impl Default for Fake {
    fn default() -> Self {
        Self::new()
    }
}

impl Fake {
    pub fn new() -> Self {
        Self(Objects::new(Memory::default(), Timestamp::now))
    }

    /// Puts an object there as another program would.
    pub fn set(&self, id: &str, text: &str) {
        self.0.store().write(id, text);
    }

    /// All objects by their ids: what a test compares before and after.
    pub fn all(&self) -> BTreeMap<String, String> {
        let objects = self.0.store().locked();
        objects.iter().map(|(id, object)| (id.clone(), object.text.clone())).collect()
    }
}

impl Memory {
    fn locked(&self) -> std::sync::MutexGuard<'_, BTreeMap<String, Object>> {
        self.objects.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self, id: &str, text: &str) -> String {
        let version = self.versions.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        let version = format!("\"{version}\"");
        let object = Object { id: id.into(), version: version.clone(), text: text.into() };
        self.locked().insert(id.into(), object);
        version
    }
}

const CALENDARS: [(&str, &str, Holds, bool); 4] = [
    ("/office/", "Work", Holds::Events, false),
    ("/home/", "Home", Holds::Both, false),
    ("/tasks/", "Tasks", Holds::Reminders, false),
    ("/holidays/", "Holidays", Holds::Events, true),
];

#[async_trait]
impl Store for Memory {
    async fn calendars(&self) -> Result<Vec<Calendar>, Error> {
        let calendar = |(id, name, holds, read_only): &(&str, &str, Holds, bool)| Calendar {
            id: CalendarId((*id).into()),
            name: (*name).into(),
            colour: None,
            holds: *holds,
            read_only: *read_only,
        };
        Ok(CALENDARS.iter().map(calendar).collect())
    }

    async fn query(
        &self,
        calendar: &CalendarId,
        kind: Kind,
        _range: Option<(Timestamp, Timestamp)>,
    ) -> Result<Vec<Object>, Error> {
        let begin = format!("BEGIN:{}", kind.component());
        let is = |object: &&Object| object.id.starts_with(&calendar.0) && object.text.contains(&begin);
        Ok(self.locked().values().filter(is).cloned().collect())
    }

    async fn get(&self, id: &str) -> Result<Option<Object>, Error> {
        Ok(self.locked().get(id).cloned())
    }

    async fn put(&self, id: &str, text: &str, expected: &Expected) -> Result<String, Error> {
        let there = self.locked().get(id).map(|object| object.version.clone());
        let fits = match expected {
            Expected::Nothing => there.is_none(),
            Expected::Version(version) => there.as_ref() == Some(version),
        };
        if !fits {
            return Err(Error::Conflict { what: id.into() });
        }
        Ok(self.write(id, text))
    }

    async fn delete(&self, id: &str, version: &str) -> Result<(), Error> {
        let mut objects = self.locked();
        let there = objects.get(id).ok_or_else(|| Error::not_found(id))?;
        if there.version != version {
            return Err(Error::Conflict { what: id.into() });
        }
        objects.remove(id);
        Ok(())
    }

    fn calendar_of(&self, id: &str) -> Option<CalendarId> {
        let calendar = CALENDARS.iter().find(|(calendar, ..)| id.starts_with(calendar));
        calendar.map(|(calendar, ..)| CalendarId((*calendar).into()))
    }

    fn new_id(&self, calendar: &CalendarId, uid: &str) -> String {
        format!("{calendar}{uid}.ics")
    }
}

crate::objects::delegate!(Fake);

#[cfg(test)]
mod tests;
