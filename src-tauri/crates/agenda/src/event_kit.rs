//! The Mac's own calendars and reminders, by EventKit. Cross-checked, not run here.
//!
//! Thin: EventKit expands series and keeps exceptions itself. It shows no iCalendar text, so an undo holds our fields:
//! what was changed is put back into the object that is still there; what was deleted is made anew, under another id and
//! without alarms, invited people and attachments.

mod convert;
mod items;

use async_trait::async_trait;
use block2::RcBlock;
use objc2::rc::Retained;
use objc2::runtime::{Bool, NSObjectProtocol as _};
use objc2::sel;
use objc2_event_kit::{EKAuthorizationStatus, EKEntityType, EKEventStore};
use objc2_foundation::NSError;

use crate::{
    Agenda, Calendar, CalendarId, Changed, Error, Event, EventId, EventPatch, Events, NewEvent, NewReminder,
    Range, Reminder, ReminderFilter, ReminderId, ReminderPatch, Reminders, Scope, Undo,
};

/// How long someone may take to answer the system's question.
const ASKED: std::time::Duration = std::time::Duration::from_secs(120);

/// The calendars of who is logged in. The system asks the user at the first call; `Info.plist` says why
/// (`NSCalendarsFullAccessUsageDescription`, `NSRemindersFullAccessUsageDescription`).
#[derive(Clone, Copy, Debug, Default)]
pub struct EventKit;

/// Runs what talks to EventKit on a thread that may block, with a store of its own: no object crosses a thread.
async fn with_store<T: Send + 'static>(
    kind: EKEntityType,
    work: impl FnOnce(&EKEventStore) -> Result<T, Error> + Send + 'static,
) -> Result<T, Error> {
    let task = tokio::task::spawn_blocking(move || {
        // SAFETY: `new` has no preconditions; the store is used and dropped on this thread.
        let store = unsafe { EKEventStore::new() };
        permitted(&store, kind)?;
        work(&store)
    });
    let broken =
        |_| Error::Unreadable { what: "the Mac's calendar".into(), why: "its thread broke down".into() };
    task.await.map_err(broken)?
}

fn permitted(store: &EKEventStore, kind: EKEntityType) -> Result<(), Error> {
    let what = if kind == EKEntityType::Event { "calendars" } else { "reminders" };
    let denied = || Error::Denied {
        what: format!("access to {what}"),
        why: format!("allow it in System Settings, Privacy & Security, {what}"),
    };
    // SAFETY: a class method without preconditions.
    let status = unsafe { EKEventStore::authorizationStatusForEntityType(kind) };
    if status == EKAuthorizationStatus::FullAccess {
        return Ok(());
    }
    if status != EKAuthorizationStatus::NotDetermined {
        return Err(denied());
    }
    let (answer, answered) = std::sync::mpsc::channel();
    let block = RcBlock::new(move |granted: Bool, _: *mut NSError| {
        let _ = answer.send(granted.as_bool());
    });
    let handler = RcBlock::as_ptr(&block);
    // SAFETY: the selector is there (asked first, it came with macOS 14); the block takes the two arguments that the
    // handler is documented to get, and EventKit copies it, so that it may be called after we gave up.
    unsafe {
        if store.respondsToSelector(sel!(requestFullAccessToEventsWithCompletion:)) {
            if kind == EKEntityType::Event {
                store.requestFullAccessToEventsWithCompletion(handler);
            } else {
                store.requestFullAccessToRemindersWithCompletion(handler);
            }
        } else {
            #[allow(deprecated, reason = "the only way before macOS 14")]
            store.requestAccessToEntityType_completion(kind, handler);
        }
    }
    if answered.recv_timeout(ASKED) == Ok(true) { Ok(()) } else { Err(denied()) }
}

fn failed(what: &str) -> impl FnOnce(Retained<NSError>) -> Error {
    let what = what.to_owned();
    move |error| Error::Denied { what, why: error.localizedDescription().to_string() }
}

#[async_trait]
impl Agenda for EventKit {
    async fn calendars(&self) -> Result<Vec<Calendar>, Error> {
        let mut all =
            with_store(EKEntityType::Event, |store| Ok(items::calendars(store, EKEntityType::Event))).await?;
        // Who allows calendars only still has them.
        let lists =
            with_store(EKEntityType::Reminder, |store| Ok(items::calendars(store, EKEntityType::Reminder)));
        for list in lists.await.unwrap_or_default() {
            if !all.iter().any(|calendar| calendar.id == list.id) {
                all.push(list);
            }
        }
        Ok(all)
    }

    async fn events(&self, range: &Range, calendar: Option<&CalendarId>) -> Result<Events, Error> {
        let (range, calendar) = (range.clone(), calendar.cloned());
        with_store(EKEntityType::Event, move |store| items::events(store, &range, calendar.as_ref())).await
    }

    async fn event(&self, id: &EventId) -> Result<Event, Error> {
        let id = id.clone();
        with_store(EKEntityType::Event, move |store| items::event(store, &id)).await
    }

    async fn create_event(&self, new: NewEvent) -> Result<Changed<Event>, Error> {
        with_store(EKEntityType::Event, move |store| items::create_event(store, &new)).await
    }

    async fn change_event(
        &self,
        id: &EventId,
        patch: EventPatch,
        scope: Scope,
    ) -> Result<Changed<Event>, Error> {
        let id = id.clone();
        with_store(EKEntityType::Event, move |store| items::change_event(store, &id, &patch, &scope)).await
    }

    async fn delete_event(&self, id: &EventId, scope: Scope) -> Result<Undo, Error> {
        let id = id.clone();
        with_store(EKEntityType::Event, move |store| items::delete_event(store, &id, &scope)).await
    }

    async fn reminders(&self, filter: &ReminderFilter) -> Result<Reminders, Error> {
        let filter = filter.clone();
        with_store(EKEntityType::Reminder, move |store| items::reminders(store, &filter)).await
    }

    async fn reminder(&self, id: &ReminderId) -> Result<Reminder, Error> {
        let id = id.clone();
        with_store(EKEntityType::Reminder, move |store| items::one_reminder(store, &id)).await
    }

    async fn create_reminder(&self, new: NewReminder) -> Result<Changed<Reminder>, Error> {
        with_store(EKEntityType::Reminder, move |store| items::create_reminder(store, &new)).await
    }

    async fn change_reminder(
        &self,
        id: &ReminderId,
        patch: ReminderPatch,
    ) -> Result<Changed<Reminder>, Error> {
        let id = id.clone();
        with_store(EKEntityType::Reminder, move |store| items::change_reminder(store, &id, &patch)).await
    }

    async fn complete_reminder(&self, id: &ReminderId) -> Result<Changed<Reminder>, Error> {
        // EventKit itself makes the next one of a reminder that recurs.
        self.change_reminder(id, ReminderPatch { done: Some(true), ..ReminderPatch::default() }).await
    }

    async fn delete_reminder(&self, id: &ReminderId) -> Result<Undo, Error> {
        let id = id.clone();
        with_store(EKEntityType::Reminder, move |store| items::delete_reminder(store, &id)).await
    }

    async fn restore(&self, undo: &Undo) -> Result<Undo, Error> {
        let undo = undo.clone();
        let kind =
            if items::is_about_reminders(&undo) { EKEntityType::Reminder } else { EKEntityType::Event };
        with_store(kind, move |store| items::restore(store, &undo)).await
    }
}
