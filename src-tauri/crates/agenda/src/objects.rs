//! An agenda of calendar objects, wherever they are kept: what CalDAV and the fake have in common.

mod edit;
mod read;
mod scope;
mod series;
mod store;
mod tasks;

use async_trait::async_trait;
use jiff::{Timestamp, ToSpan as _};
use uuid::Uuid;

use crate::ical::Component;
use crate::{
    Agenda, Before, Calendar, CalendarId, Changed, Error, Event, EventId, EventPatch, Events, Holds,
    MAX_LISTED, NewEvent, NewReminder, Range, Reminder, ReminderFilter, ReminderId, ReminderPatch, Reminders,
    Scope, Undo,
};
#[cfg(target_os = "macos")]
pub(crate) use edit::{fitting_end, placed, usual_end};
pub(crate) use store::{Expected, Kind, Object, Store};

/// Days and local times are as much earlier or later than UTC somewhere.
const MARGIN_HOURS: i64 = 26;
/// How many calendars are asked for at once.
const AT_ONCE: usize = 4;
/// The most objects that could not be understood and are named.
const MAX_UNREADABLE: usize = 20;

pub(crate) struct Objects<S> {
    store: S,
    now: fn() -> Timestamp,
}

/// What an edit makes of an object.
enum Outcome {
    Kept(Component),
    Gone,
}

impl<S: Store> Objects<S> {
    pub(crate) fn new(store: S, now: fn() -> Timestamp) -> Self {
        Self { store, now }
    }

    pub(crate) fn store(&self) -> &S {
        &self.store
    }

    async fn found(&self, id: &str, what: &str) -> Result<(Object, CalendarId), Error> {
        let missing = || Error::not_found(format!("the {what} {id}"));
        let calendar = self.store.calendar_of(id).ok_or_else(missing)?;
        Ok((self.store.get(id).await?.ok_or_else(missing)?, calendar))
    }

    /// The calendars of a kind, or the one that is named.
    async fn chosen(&self, wanted: Option<&CalendarId>, kind: Kind) -> Result<Vec<Calendar>, Error> {
        let holds = |holds: Holds| match kind {
            Kind::Event => holds.events(),
            Kind::Reminder => holds.reminders(),
        };
        let all = self.store.calendars().await?;
        let Some(id) = wanted else {
            return Ok(all.into_iter().filter(|calendar| holds(calendar.holds)).collect());
        };
        let calendar = all.into_iter().find(|calendar| calendar.id == *id);
        let calendar = calendar.ok_or_else(|| Error::not_found(format!("the calendar {id}")))?;
        if !holds(calendar.holds) {
            let what = if kind == Kind::Event { "events" } else { "reminders" };
            return Err(Error::invalid("calendar", format!("{} holds no {what}", calendar.name)));
        }
        Ok(vec![calendar])
    }

    /// The objects of each of these, a few calendars at a time.
    async fn queried(
        &self,
        calendars: Vec<Calendar>,
        kind: Kind,
        range: Option<(Timestamp, Timestamp)>,
    ) -> Result<Vec<(Calendar, Vec<Object>)>, Error> {
        let mut all = Vec::new();
        for some in calendars.chunks(AT_ONCE) {
            let asked = some.iter().map(|calendar| self.store.query(&calendar.id, kind, range));
            let objects = futures::future::try_join_all(asked).await?;
            all.extend(some.iter().cloned().zip(objects));
        }
        Ok(all)
    }

    async fn writable(&self, id: &CalendarId, kind: Kind) -> Result<Calendar, Error> {
        let calendar = self.chosen(Some(id), kind).await?.pop();
        let calendar = calendar.ok_or_else(|| Error::not_found(format!("the calendar {id}")))?;
        if calendar.read_only {
            return Err(Error::ReadOnly { calendar: calendar.name });
        }
        Ok(calendar)
    }

    /// Puts a new object there.
    async fn create(
        &self,
        calendar: &CalendarId,
        uid: &str,
        root: &Component,
    ) -> Result<(Object, Undo), Error> {
        let (id, text) = (self.store.new_id(calendar, uid), root.write());
        let version = self.store.put(&id, &text, &Expected::Nothing).await?;
        let before = Before {
            calendar: calendar.clone(),
            object: id.clone(),
            before: None,
            after: Some(text.clone()),
            version: Some(version.clone()),
        };
        Ok((Object { id, version, text }, Undo { objects: vec![before] }))
    }

    /// Makes an object what an edit made of it, if it is still what was edited.
    async fn replace(
        &self,
        old: Object,
        calendar: &CalendarId,
        outcome: &Outcome,
    ) -> Result<(Object, Undo), Error> {
        let (after, version) = match outcome {
            Outcome::Kept(root) => {
                let text = root.write();
                let version = self.store.put(&old.id, &text, &Expected::Version(old.version.clone())).await?;
                (Some(text), Some(version))
            }
            Outcome::Gone => {
                self.store.delete(&old.id, &old.version).await?;
                (None, None)
            }
        };
        let now = Object {
            id: old.id.clone(),
            version: version.clone().unwrap_or_default(),
            text: after.clone().unwrap_or_default(),
        };
        let before =
            Before { calendar: calendar.clone(), object: old.id, before: Some(old.text), after, version };
        Ok((now, Undo { objects: vec![before] }))
    }

    async fn split(
        &self,
        old: Object,
        calendar: &CalendarId,
        split: scope::Split,
        uid: &str,
    ) -> Result<(Object, Undo), Error> {
        // The new one first: if the old one was changed meanwhile, only what we made has to go again.
        let (new, mut undo) = self.create(calendar, uid, &split.new).await?;
        match self.replace(old, calendar, &Outcome::Kept(split.old)).await {
            Ok((_, shortened)) => {
                undo.objects.extend(shortened.objects);
                Ok((new, undo))
            }
            Err(error @ Error::UnknownOutcome { .. }) => Err(error),
            Err(error) => {
                self.store.delete(&new.id, &new.version).await?;
                Err(error)
            }
        }
    }

    /// Where an object stands against what a change left: its version now, or that it is gone.
    async fn unchanged_since(&self, before: &Before) -> Result<Option<Object>, Error> {
        let conflict = || Error::Conflict { what: before.object.clone() };
        let now = self.store.get(&before.object).await?;
        let same = match (&now, &before.after) {
            (None, None) => true,
            (Some(now), Some(after)) => {
                Some(&now.version) == before.version.as_ref() || read::says_the_same(&now.text, after)
            }
            _ => false,
        };
        if same { Ok(now) } else { Err(conflict()) }
    }

    async fn put_back(&self, before: &Before, now: Option<Object>) -> Result<Option<Before>, Error> {
        let version = match (&before.before, &now) {
            (None, None) => return Ok(None),
            (None, Some(now)) => {
                self.store.delete(&before.object, &now.version).await?;
                None
            }
            (Some(text), now) => {
                let expected =
                    now.as_ref().map_or(Expected::Nothing, |now| Expected::Version(now.version.clone()));
                Some(self.store.put(&before.object, text, &expected).await?)
            }
        };
        Ok(Some(Before {
            calendar: before.calendar.clone(),
            object: before.object.clone(),
            before: now.map(|now| now.text),
            after: before.before.clone(),
            version,
        }))
    }
}

fn uid() -> String {
    Uuid::now_v7().to_string()
}

fn seen_version(object: &Object, wanted: Option<&String>) -> Result<(), Error> {
    match wanted {
        Some(wanted) if *wanted != object.version => Err(Error::Conflict { what: object.id.clone() }),
        _ => Ok(()),
    }
}

/// Gives a newtype over [`Objects`] its agenda.
macro_rules! delegate {
    ($name:ty) => {
        #[async_trait]
        impl Agenda for $name {
            async fn calendars(&self) -> Result<Vec<Calendar>, Error> {
                self.0.calendars().await
            }

            async fn events(&self, range: &Range, calendar: Option<&CalendarId>) -> Result<Events, Error> {
                self.0.events(range, calendar).await
            }

            async fn event(&self, id: &EventId) -> Result<Event, Error> {
                self.0.event(id).await
            }

            async fn create_event(&self, new: NewEvent) -> Result<Changed<Event>, Error> {
                self.0.create_event(new).await
            }

            async fn change_event(
                &self,
                id: &EventId,
                patch: EventPatch,
                scope: Scope,
            ) -> Result<Changed<Event>, Error> {
                self.0.change_event(id, patch, scope).await
            }

            async fn delete_event(&self, id: &EventId, scope: Scope) -> Result<Undo, Error> {
                self.0.delete_event(id, scope).await
            }

            async fn reminders(&self, filter: &ReminderFilter) -> Result<Reminders, Error> {
                self.0.reminders(filter).await
            }

            async fn reminder(&self, id: &ReminderId) -> Result<Reminder, Error> {
                self.0.reminder(id).await
            }

            async fn create_reminder(&self, new: NewReminder) -> Result<Changed<Reminder>, Error> {
                self.0.create_reminder(new).await
            }

            async fn change_reminder(
                &self,
                id: &ReminderId,
                patch: ReminderPatch,
            ) -> Result<Changed<Reminder>, Error> {
                self.0.change_reminder(id, patch).await
            }

            async fn complete_reminder(&self, id: &ReminderId) -> Result<Changed<Reminder>, Error> {
                self.0.complete_reminder(id).await
            }

            async fn delete_reminder(&self, id: &ReminderId) -> Result<Undo, Error> {
                self.0.delete_reminder(id).await
            }

            async fn restore(&self, undo: &Undo) -> Result<Undo, Error> {
                self.0.restore(undo).await
            }
        }
    };
}
pub(crate) use delegate;

#[async_trait]
impl<S: Store> Agenda for Objects<S> {
    async fn calendars(&self) -> Result<Vec<Calendar>, Error> {
        self.store.calendars().await
    }

    async fn events(&self, range: &Range, calendar: Option<&CalendarId>) -> Result<Events, Error> {
        let margin = MARGIN_HOURS.hours();
        let wide = (
            range.from().checked_sub(margin).unwrap_or(Timestamp::MIN),
            range.to().checked_add(margin).unwrap_or(Timestamp::MAX),
        );
        let mut found = Events::default();
        let calendars = self.chosen(calendar, Kind::Event).await?;
        for (calendar, objects) in self.queried(calendars, Kind::Event, Some(wide)).await? {
            for object in objects {
                match read::events_in(&object, &calendar.id, range) {
                    Ok((events, more)) => {
                        found.events.extend(events);
                        found.left_off += usize::from(more);
                    }
                    Err(_) if found.unreadable.len() < MAX_UNREADABLE => found.unreadable.push(object.id),
                    Err(_) => {}
                }
            }
        }
        read::sort(&mut found.events, range);
        found.left_off += found.events.len().saturating_sub(MAX_LISTED);
        found.events.truncate(MAX_LISTED);
        Ok(found)
    }

    async fn event(&self, id: &EventId) -> Result<Event, Error> {
        let (object, calendar) = self.found(&id.0, "event").await?;
        read::event(&object, &calendar, None)
    }

    async fn create_event(&self, new: NewEvent) -> Result<Changed<Event>, Error> {
        let calendar = self.writable(&new.calendar, Kind::Event).await?.id;
        let uid = uid();
        let root = edit::new_event(new, &uid, (self.now)())?;
        let (object, undo) = self.create(&calendar, &uid, &root).await?;
        Ok(Changed { now: read::event(&object, &calendar, None)?, undo })
    }

    async fn change_event(
        &self,
        id: &EventId,
        patch: EventPatch,
        scope: Scope,
    ) -> Result<Changed<Event>, Error> {
        let (object, calendar) = self.found(&id.0, "event").await?;
        seen_version(&object, patch.version.as_ref())?;
        let (root, now) = (Component::parse(&object.text)?, (self.now)());
        let scope = if scope::recurs(&root)? { scope } else { Scope::All };
        let mut occurrence = None;
        let edited = match scope {
            Scope::This(id) => {
                let (edited, of) = scope::change_this(&root, &patch, &id, now)?;
                occurrence = Some(of);
                edited
            }
            Scope::ThisAndFollowing(id) => {
                let uid = uid();
                if let Some(split) = scope::split(&root, &patch, &id, &uid, now)? {
                    let (object, undo) = self.split(object, &calendar, split, &uid).await?;
                    return Ok(Changed { now: read::event(&object, &calendar, None)?, undo });
                }
                scope::change_all(&root, &patch, Some(&id), now)?
            }
            Scope::All => scope::change_all(&root, &patch, None, now)?,
            Scope::AllSeenFrom(id) => scope::change_all(&root, &patch, Some(&id), now)?,
        };
        let (object, undo) = self.replace(object, &calendar, &Outcome::Kept(edited)).await?;
        Ok(Changed { now: read::event(&object, &calendar, occurrence.as_ref())?, undo })
    }

    async fn delete_event(&self, id: &EventId, scope: Scope) -> Result<Undo, Error> {
        let (object, calendar) = self.found(&id.0, "event").await?;
        let (root, now) = (Component::parse(&object.text)?, (self.now)());
        let scope = if scope::recurs(&root)? { scope } else { Scope::All };
        let left = match scope {
            Scope::This(id) => scope::without(&root, &id, now)?,
            Scope::ThisAndFollowing(id) => scope::cut(&root, &id, now)?.map(|(left, _)| left),
            Scope::All | Scope::AllSeenFrom(_) => None,
        };
        let outcome = left.map_or(Outcome::Gone, Outcome::Kept);
        Ok(self.replace(object, &calendar, &outcome).await?.1)
    }

    async fn reminders(&self, filter: &ReminderFilter) -> Result<Reminders, Error> {
        let mut found = Reminders::default();
        let lists = self.chosen(filter.list.as_ref(), Kind::Reminder).await?;
        for (list, objects) in self.queried(lists, Kind::Reminder, None).await? {
            for object in objects {
                match read::reminder(&object, &list.id) {
                    Ok(reminder) if filter.state.takes(reminder.done) => found.reminders.push(reminder),
                    Ok(_) => {}
                    Err(_) if found.unreadable.len() < MAX_UNREADABLE => found.unreadable.push(object.id),
                    Err(_) => {}
                }
            }
        }
        found.reminders.sort_by_cached_key(|reminder| {
            let due =
                reminder.due.as_ref().map_or(Timestamp::MAX, |due| due.seen_in(&jiff::tz::TimeZone::UTC));
            (reminder.done, due, reminder.title.clone(), reminder.id.clone())
        });
        found.left_off = found.reminders.len().saturating_sub(MAX_LISTED);
        found.reminders.truncate(MAX_LISTED);
        Ok(found)
    }

    async fn reminder(&self, id: &ReminderId) -> Result<Reminder, Error> {
        let (object, list) = self.found(&id.0, "reminder").await?;
        read::reminder(&object, &list)
    }

    async fn create_reminder(&self, new: NewReminder) -> Result<Changed<Reminder>, Error> {
        let list = self.writable(&new.list, Kind::Reminder).await?.id;
        let uid = uid();
        let root = edit::new_reminder(new, &uid, (self.now)())?;
        let (object, undo) = self.create(&list, &uid, &root).await?;
        Ok(Changed { now: read::reminder(&object, &list)?, undo })
    }

    async fn change_reminder(
        &self,
        id: &ReminderId,
        patch: ReminderPatch,
    ) -> Result<Changed<Reminder>, Error> {
        let (object, list) = self.found(&id.0, "reminder").await?;
        seen_version(&object, patch.version.as_ref())?;
        let edited = tasks::change(&Component::parse(&object.text)?, &patch, (self.now)())?;
        let (object, undo) = self.replace(object, &list, &Outcome::Kept(edited)).await?;
        Ok(Changed { now: read::reminder(&object, &list)?, undo })
    }

    async fn complete_reminder(&self, id: &ReminderId) -> Result<Changed<Reminder>, Error> {
        let (object, list) = self.found(&id.0, "reminder").await?;
        let edited = tasks::complete(&Component::parse(&object.text)?, (self.now)())?;
        let (object, undo) = self.replace(object, &list, &Outcome::Kept(edited)).await?;
        Ok(Changed { now: read::reminder(&object, &list)?, undo })
    }

    async fn delete_reminder(&self, id: &ReminderId) -> Result<Undo, Error> {
        let (object, list) = self.found(&id.0, "reminder").await?;
        // An event must not go by a reminder's id.
        read::reminder(&object, &list)?;
        Ok(self.replace(object, &list, &Outcome::Gone).await?.1)
    }

    async fn restore(&self, undo: &Undo) -> Result<Undo, Error> {
        // All are looked at before any is changed: a series is put together again as a whole or not at all.
        let mut now = Vec::new();
        for before in &undo.objects {
            if self.store.calendar_of(&before.object).is_none() {
                return Err(Error::not_found(format!("the object {}", before.object)));
            }
            now.push(self.unchanged_since(before).await?);
        }
        let mut redo = Undo::default();
        // What was changed last goes back first.
        for (before, now) in undo.objects.iter().zip(now).rev() {
            redo.objects.extend(self.put_back(before, now).await?);
        }
        Ok(redo)
    }
}
