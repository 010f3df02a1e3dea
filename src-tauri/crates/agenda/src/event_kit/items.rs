//! What is done with a store: each function runs on the thread that owns it.

use block2::RcBlock;
use objc2::rc::Retained;
use objc2_event_kit::{
    EKCalendar, EKCalendarItem, EKEntityMask, EKEntityType, EKEvent, EKEventStatus, EKEventStore, EKReminder,
    EKSpan,
};
use objc2_foundation::{NSArray, NSString, NSURL};
use serde::{Deserialize, Serialize};

use super::convert::{
    from_components, from_date, from_event_date, from_event_end, from_rule, to_components, to_date,
    to_event_date, to_event_end, to_rule, to_zone,
};
use super::failed;
use crate::moment::zone_named;
use crate::objects::{fitting_end, placed, usual_end};
use crate::{
    Before, Calendar, CalendarId, Changed, Due, Error, Event, EventId, EventPatch, Events, Holds, MAX_LISTED,
    Moment, NewEvent, NewReminder, Range, RecurrenceId, Reminder, ReminderFilter, ReminderId, ReminderPatch,
    Reminders, Scope, Undo,
};

/// What an undo keeps of an item.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[allow(clippy::large_enum_variant, reason = "lives for one call")]
enum Kept {
    Event(Event, Scope),
    Reminder(Reminder),
}

fn text(text: &str) -> Retained<NSString> {
    NSString::from_str(text)
}

fn some(text: Option<Retained<NSString>>) -> Option<String> {
    text.map(|text| text.to_string()).filter(|text| !text.is_empty())
}

fn kept(kept: &Kept) -> Option<String> {
    serde_json::to_string(kept).ok()
}

pub(super) fn calendars(store: &EKEventStore, kind: EKEntityType) -> Vec<Calendar> {
    // SAFETY: getters of a store and of calendars that we hold.
    unsafe {
        let all = store.calendarsForEntityType(kind);
        let calendar = |calendar: Retained<EKCalendar>| {
            let types = calendar.allowedEntityTypes();
            let holds = match (types.contains(EKEntityMask::Event), types.contains(EKEntityMask::Reminder)) {
                (true, true) => Holds::Both,
                (false, true) => Holds::Reminders,
                _ => Holds::Events,
            };
            Calendar {
                id: CalendarId(calendar.calendarIdentifier().to_string()),
                name: calendar.title().to_string(),
                colour: None,
                holds,
                read_only: !calendar.allowsContentModifications(),
            }
        };
        all.to_vec().into_iter().map(calendar).collect()
    }
}

fn calendar(store: &EKEventStore, id: &CalendarId) -> Result<Retained<EKCalendar>, Error> {
    // SAFETY: any text may be asked for.
    let found = unsafe { store.calendarWithIdentifier(&text(&id.0)) };
    found.ok_or_else(|| Error::not_found(format!("the calendar {id}")))
}

fn writable(store: &EKEventStore, id: &CalendarId) -> Result<Retained<EKCalendar>, Error> {
    let calendar = calendar(store, id)?;
    // SAFETY: getters of a calendar that we hold.
    if unsafe { calendar.allowsContentModifications() } {
        return Ok(calendar);
    }
    // SAFETY: as above.
    Err(Error::ReadOnly { calendar: unsafe { calendar.title() }.to_string() })
}

fn version(item: &EKCalendarItem) -> String {
    // SAFETY: a getter of an item that we hold.
    unsafe { item.lastModifiedDate() }.map_or_else(String::new, |date| from_date(&date).to_string())
}

fn seen(event: &EKEvent) -> Event {
    // SAFETY: getters of an event that we hold.
    unsafe {
        let (all_day, zone) = (event.isAllDay(), event.timeZone());
        let start = from_event_date(&event.startDate(), zone.as_deref(), all_day);
        let rules = event.recurrenceRules().map(|rules| rules.to_vec()).unwrap_or_default();
        let of = event.occurrenceDate().filter(|_| !rules.is_empty() || event.isDetached());
        let invited = event.attendees().map(|people| people.to_vec()).unwrap_or_default();
        let address = |url: Retained<NSURL>| {
            let url = url.absoluteString()?.to_string();
            Some(url.strip_prefix("mailto:").unwrap_or(&url).to_owned())
        };
        Event {
            id: EventId(event.calendarItemIdentifier().to_string()),
            calendar: CalendarId(
                event
                    .calendar()
                    .map_or_else(String::new, |calendar| calendar.calendarIdentifier().to_string()),
            ),
            title: event.title().to_string(),
            end: from_event_end(&event.endDate(), zone.as_deref(), all_day),
            all_day,
            time_zone: start.zone_name().map(str::to_owned),
            location: some(event.location()),
            notes: some(event.notes()),
            url: event.URL().and_then(|url| url.absoluteString()).map(|url| url.to_string()),
            recurrence: rules.first().map(|rule| from_rule(rule)),
            recurrence_id: of.map(|of| RecurrenceId(from_event_date(&of, zone.as_deref(), all_day))),
            is_exception: event.isDetached(),
            cancelled: event.status() == EKEventStatus::Canceled,
            invited: invited.into_iter().filter_map(|person| address(person.URL())).take(50).collect(),
            version: version(event),
            start,
        }
    }
}

pub(super) fn events(
    store: &EKEventStore,
    range: &Range,
    wanted: Option<&CalendarId>,
) -> Result<Events, Error> {
    let only =
        wanted.map(|id| calendar(store, id)).transpose()?.map(|one| NSArray::from_retained_slice(&[one]));
    let mut found = Events::default();
    for event in matching(store, range, only.as_deref()) {
        let event = seen(&event);
        if range.holds(&event.start, &event.end) {
            found.events.push(event);
        }
    }
    found.events.sort_by_cached_key(|event| (event.start.seen_in(range.zone()), event.title.clone()));
    found.left_off = found.events.len().saturating_sub(MAX_LISTED);
    found.events.truncate(MAX_LISTED);
    Ok(found)
}

fn matching(
    store: &EKEventStore,
    range: &Range,
    only: Option<&NSArray<EKCalendar>>,
) -> Vec<Retained<EKEvent>> {
    // SAFETY: the range is shorter than the four years that EventKit takes at once (`MAX_DAYS`), and the predicate is
    // made by the store that it is given to.
    unsafe {
        let predicate = store.predicateForEventsWithStartDate_endDate_calendars(
            &to_date(range.from()),
            &to_date(range.to()),
            only,
        );
        store.eventsMatchingPredicate(&predicate).to_vec()
    }
}

/// The series with the times of its first occurrence.
fn main_event(store: &EKEventStore, id: &EventId) -> Result<Retained<EKEvent>, Error> {
    // SAFETY: any text may be asked for.
    let item = unsafe { store.calendarItemWithIdentifier(&text(&id.0)) };
    item.and_then(|item| item.downcast().ok()).ok_or_else(|| Error::not_found(format!("the event {id}")))
}

fn occurrence(store: &EKEventStore, id: &EventId, of: &RecurrenceId) -> Result<Retained<EKEvent>, Error> {
    let main = main_event(store, id)?;
    let zone = jiff::tz::TimeZone::system();
    let start = seen(&main).start;
    let of = match (&of.0, &start) {
        (Moment::Local(wall), Moment::At(_)) => start.with_wall(*wall),
        (of, _) => of.clone(),
    };
    let at = of.seen_in(&zone);
    // An exception may have been moved: it is looked for some weeks around.
    let around = jiff::Span::new().hours(24 * 60);
    let missing = || Error::not_found(format!("an occurrence at {of}"));
    let (from, to) = (at.checked_sub(around), at.checked_add(around));
    let range = Range::new(from.map_err(|_| missing())?, to.map_err(|_| missing())?, zone.clone())?;
    let is = |event: &Retained<EKEvent>| {
        let event = seen(event);
        event.id == *id && event.recurrence_id.is_some_and(|other| other.0.seen_in(&zone) == at)
    };
    matching(store, &range, None).into_iter().find(is).ok_or_else(missing)
}

pub(super) fn event(store: &EKEventStore, id: &EventId) -> Result<Event, Error> {
    Ok(Event { recurrence_id: None, ..seen(&*main_event(store, id)?) })
}

fn chosen(store: &EKEventStore, id: &EventId, scope: &Scope) -> Result<(Retained<EKEvent>, EKSpan), Error> {
    let main = main_event(store, id)?;
    // SAFETY: a getter of an event that we hold.
    let recurs = unsafe { main.hasRecurrenceRules() };
    match scope {
        Scope::This(of) if recurs => Ok((occurrence(store, id, of)?, EKSpan::ThisEvent)),
        Scope::ThisAndFollowing(of) if recurs => Ok((occurrence(store, id, of)?, EKSpan::FutureEvents)),
        _ => Ok((main, EKSpan::FutureEvents)),
    }
}

fn write_times(event: &EKEvent, start: &Moment, end: &Moment) {
    // SAFETY: setters of an event that we hold, with dates of which the end is not before the start.
    unsafe {
        event.setAllDay(start.is_day());
        event.setTimeZone(to_zone(start).as_deref());
        event.setStartDate(Some(&to_event_date(start)));
        event.setEndDate(Some(&to_event_end(end)));
    }
}

fn write_url(item: &EKCalendarItem, url: &str) -> Result<(), Error> {
    let url = match url {
        "" => None,
        url => {
            let url = reqwest::Url::parse(url).map_err(|error| Error::invalid("url", error.to_string()))?;
            NSURL::URLWithString(&text(url.as_str()))
        }
    };
    // SAFETY: a setter of an item that we hold.
    unsafe { item.setURL(url.as_deref()) };
    Ok(())
}

fn write_texts(item: &EKCalendarItem, title: Option<&str>, location: Option<&str>, notes: Option<&str>) {
    let set = |new: &str| (!new.is_empty()).then(|| text(new));
    // SAFETY: setters of an item that we hold; `nil` removes.
    unsafe {
        if let Some(title) = title {
            item.setTitle(Some(&text(title)));
        }
        if let Some(location) = location {
            item.setLocation(set(location).as_deref());
        }
        if let Some(notes) = notes {
            item.setNotes(set(notes).as_deref());
        }
    }
}

fn write_rule(item: &EKCalendarItem, rule: Option<&str>, start: &Moment) -> Result<(), Error> {
    let rules = match rule {
        None | Some("") => None,
        Some(rule) => Some(NSArray::from_retained_slice(&[to_rule(rule, start)?])),
    };
    // SAFETY: a setter of an item that we hold.
    unsafe { item.setRecurrenceRules(rules.as_deref()) };
    Ok(())
}

fn save(store: &EKEventStore, event: &EKEvent, span: EKSpan) -> Result<(), Error> {
    // SAFETY: the event belongs to this store.
    unsafe { store.saveEvent_span_commit_error(event, span, true) }.map_err(failed("a change of the event"))
}

fn before(event: &Event, was: Option<(Event, Scope)>) -> Undo {
    Undo {
        objects: vec![Before {
            calendar: event.calendar.clone(),
            object: event.id.0.clone(),
            before: was.and_then(|(event, scope)| kept(&Kept::Event(event, scope))),
            after: kept(&Kept::Event(event.clone(), Scope::All)),
            version: Some(event.version.clone()),
        }],
    }
}

pub(super) fn create_event(store: &EKEventStore, new: &NewEvent) -> Result<Changed<Event>, Error> {
    let zone = new.time_zone.as_deref().map(zone_named).transpose()?;
    let start = placed(new.start.clone(), zone.as_ref());
    let end = match &new.end {
        Some(end) => fitting_end(&start, placed(end.clone(), zone.as_ref()))?,
        None => usual_end(&start),
    };
    let calendar = writable(store, &new.calendar)?;
    // SAFETY: the event is made for this store, and the calendar is one of it.
    let event = unsafe { EKEvent::eventWithEventStore(store) };
    // SAFETY: as above.
    unsafe { event.setCalendar(Some(&calendar)) };
    write_texts(&event, Some(&new.title), new.location.as_deref(), new.notes.as_deref());
    write_url(&event, new.url.as_deref().unwrap_or_default())?;
    write_times(&event, &start, &end);
    write_rule(&event, new.recurrence.as_deref(), &start)?;
    save(store, &event, EKSpan::FutureEvents)?;
    let now = Event { recurrence_id: None, ..seen(&event) };
    Ok(Changed { undo: before(&now, None), now })
}

pub(super) fn change_event(
    store: &EKEventStore,
    id: &EventId,
    patch: &EventPatch,
    scope: &Scope,
) -> Result<Changed<Event>, Error> {
    let (event, span) = chosen(store, id, scope)?;
    let was = seen(&event);
    if patch.version.as_ref().is_some_and(|version| *version != was.version) {
        return Err(Error::Conflict { what: id.0.clone() });
    }
    if patch.recurrence.is_some() && matches!(scope, Scope::This(_)) {
        return Err(Error::invalid(
            "recurrence",
            "one occurrence has no rule of its own; change the whole series",
        ));
    }
    let named = patch.time_zone.as_deref().map(zone_named).transpose()?;
    let seen_from = match scope {
        Scope::AllSeenFrom(of) if was.recurrence.is_some() => seen(&*occurrence(store, id, of)?),
        _ => was.clone(),
    };
    if patch.start.is_some() || patch.end.is_some() || named.is_some() {
        let own = match &was.start {
            Moment::At(zoned) => Some(zoned.time_zone().clone()),
            Moment::Day(_) | Moment::Local(_) => None,
        };
        let zone = named.or(own);
        let start = placed(patch.start.clone().unwrap_or_else(|| seen_from.start.clone()), zone.as_ref());
        let end = match &patch.end {
            Some(end) => fitting_end(&start, placed(end.clone(), zone.as_ref()))?,
            None if start.is_day() != was.all_day => usual_end(&start),
            None => start.with_wall(
                start.wall().saturating_add(seen_from.end.wall().duration_since(seen_from.start.wall())),
            ),
        };
        // As far as the occurrence that the times are of is from the one that is written.
        let by = was.start.wall().duration_since(seen_from.start.wall());
        let moved = |moment: &Moment| moment.with_wall(moment.wall().saturating_add(by));
        write_times(&event, &moved(&start), &moved(&end));
    }
    write_texts(&event, patch.title.as_deref(), patch.location.as_deref(), patch.notes.as_deref());
    if let Some(url) = &patch.url {
        write_url(&event, url)?;
    }
    if let Some(rule) = &patch.recurrence {
        write_rule(&event, Some(rule), &was.start)?;
    }
    save(store, &event, span)?;
    let now = seen(&event);
    Ok(Changed { undo: before(&now, Some((was, scope.clone()))), now })
}

pub(super) fn delete_event(store: &EKEventStore, id: &EventId, scope: &Scope) -> Result<Undo, Error> {
    let (event, span) = chosen(store, id, scope)?;
    let was = seen(&event);
    // SAFETY: the event belongs to this store.
    unsafe { store.removeEvent_span_commit_error(&event, span, true) }
        .map_err(failed("deletion of the event"))?;
    let mut undo = before(&was.clone(), Some((was, scope.clone())));
    for before in &mut undo.objects {
        (before.after, before.version) = (None, None);
    }
    Ok(undo)
}

fn seen_reminder(reminder: &EKReminder) -> Reminder {
    // SAFETY: getters of a reminder that we hold.
    unsafe {
        let rules = reminder.recurrenceRules().map(|rules| rules.to_vec()).unwrap_or_default();
        Reminder {
            id: ReminderId(reminder.calendarItemIdentifier().to_string()),
            list: CalendarId(
                reminder.calendar().map_or_else(String::new, |list| list.calendarIdentifier().to_string()),
            ),
            title: reminder.title().to_string(),
            due: reminder.dueDateComponents().and_then(|parts| from_components(&parts)),
            notes: some(reminder.notes()),
            priority: u8::try_from(reminder.priority()).unwrap_or(0).min(9),
            done: reminder.isCompleted(),
            done_at: reminder.completionDate().map(|date| from_date(&date)),
            recurrence: rules.first().map(|rule| from_rule(rule)),
            version: version(reminder),
        }
    }
}

pub(super) fn reminders(store: &EKEventStore, filter: &ReminderFilter) -> Result<Reminders, Error> {
    let only = filter.list.as_ref().map(|id| calendar(store, id)).transpose()?;
    let only = only.map(|one| NSArray::from_retained_slice(&[one]));
    let (answer, answered) = std::sync::mpsc::channel();
    let block = RcBlock::new(move |all: *mut NSArray<EKReminder>| {
        // SAFETY: EventKit gives an array that lives during the call, or `nil`. Read here: no object leaves its thread.
        let all = unsafe { all.as_ref() };
        let all: Vec<Reminder> =
            all.map(|all| all.to_vec().iter().map(|one| seen_reminder(one)).collect()).unwrap_or_default();
        let _ = answer.send(all);
    });
    // SAFETY: the predicate is made by the store that it is given to; EventKit copies the block.
    let _fetch = unsafe {
        let predicate = store.predicateForRemindersInCalendars(only.as_deref());
        store.fetchRemindersMatchingPredicate_completion(&predicate, &block)
    };
    let late = |_| Error::TimedOut { host: "the Mac's reminders".into(), seconds: 60 };
    let mut all = answered.recv_timeout(std::time::Duration::from_secs(60)).map_err(late)?;
    all.retain(|reminder| filter.state.takes(reminder.done));
    all.sort_by_cached_key(|reminder| {
        let due = reminder.due.as_ref().map(|due| due.seen_in(&jiff::tz::TimeZone::system()));
        (reminder.done, due.unwrap_or(jiff::Timestamp::MAX), reminder.title.clone())
    });
    let left_off = all.len().saturating_sub(MAX_LISTED);
    all.truncate(MAX_LISTED);
    Ok(Reminders { reminders: all, left_off, unreadable: Vec::new() })
}

fn reminder(store: &EKEventStore, id: &ReminderId) -> Result<Retained<EKReminder>, Error> {
    // SAFETY: any text may be asked for.
    let item = unsafe { store.calendarItemWithIdentifier(&text(&id.0)) };
    item.and_then(|item| item.downcast().ok()).ok_or_else(|| Error::not_found(format!("the reminder {id}")))
}

pub(super) fn one_reminder(store: &EKEventStore, id: &ReminderId) -> Result<Reminder, Error> {
    Ok(seen_reminder(&*reminder(store, id)?))
}

fn save_reminder(store: &EKEventStore, reminder: &EKReminder) -> Result<(), Error> {
    // SAFETY: the reminder belongs to this store.
    unsafe { store.saveReminder_commit_error(reminder, true) }.map_err(failed("a change of the reminder"))
}

fn reminder_before(now: &Reminder, was: Option<Reminder>) -> Undo {
    Undo {
        objects: vec![Before {
            calendar: now.list.clone(),
            object: now.id.0.clone(),
            before: was.and_then(|was| kept(&Kept::Reminder(was))),
            after: kept(&Kept::Reminder(now.clone())),
            version: Some(now.version.clone()),
        }],
    }
}

fn write_reminder(
    reminder: &EKReminder,
    due: Option<&Due>,
    priority: Option<u8>,
    done: Option<bool>,
) -> Result<(), Error> {
    if priority.is_some_and(|priority| priority > 9) {
        return Err(Error::invalid("priority", "it is from 1 (most) to 9 (least), or 0 for none"));
    }
    // SAFETY: setters of a reminder that we hold; the priority is within the documented 0 to 9.
    unsafe {
        match due {
            None => {}
            Some(Due::Never) => reminder.setDueDateComponents(None),
            Some(Due::At(due)) => reminder.setDueDateComponents(Some(&to_components(due))),
        }
        if let Some(priority) = priority {
            reminder.setPriority(priority.into());
        }
        if let Some(done) = done {
            reminder.setCompleted(done);
        }
    }
    Ok(())
}

pub(super) fn create_reminder(store: &EKEventStore, new: &NewReminder) -> Result<Changed<Reminder>, Error> {
    let list = writable(store, &new.list)?;
    let zone = new.time_zone.as_deref().map(zone_named).transpose()?;
    let due = new.due.clone().map(|due| placed(due, zone.as_ref()));
    // SAFETY: the reminder is made for this store, and the list is one of it.
    let reminder = unsafe { EKReminder::reminderWithEventStore(store) };
    // SAFETY: as above.
    unsafe { reminder.setCalendar(Some(&list)) };
    write_texts(&reminder, Some(&new.title), None, new.notes.as_deref());
    write_reminder(&reminder, due.clone().map(Due::At).as_ref(), Some(new.priority), None)?;
    if let Some(rule) = new.recurrence.as_deref().filter(|rule| !rule.is_empty()) {
        let due = due.as_ref();
        let due =
            due.ok_or_else(|| Error::invalid("recurrence", "a reminder without a date cannot recur"))?;
        write_rule(&reminder, Some(rule), due)?;
    }
    save_reminder(store, &reminder)?;
    let now = seen_reminder(&reminder);
    Ok(Changed { undo: reminder_before(&now, None), now })
}

pub(super) fn change_reminder(
    store: &EKEventStore,
    id: &ReminderId,
    patch: &ReminderPatch,
) -> Result<Changed<Reminder>, Error> {
    let reminder = reminder(store, id)?;
    let was = seen_reminder(&reminder);
    if patch.version.as_ref().is_some_and(|version| *version != was.version) {
        return Err(Error::Conflict { what: id.0.clone() });
    }
    let zone = patch.time_zone.as_deref().map(zone_named).transpose()?;
    let due = match &patch.due {
        Some(Due::At(due)) => Some(Due::At(placed(due.clone(), zone.as_ref()))),
        other => other.clone(),
    };
    write_texts(&reminder, patch.title.as_deref(), None, patch.notes.as_deref());
    write_reminder(&reminder, due.as_ref(), patch.priority, patch.done)?;
    save_reminder(store, &reminder)?;
    let now = seen_reminder(&reminder);
    Ok(Changed { undo: reminder_before(&now, Some(was)), now })
}

pub(super) fn delete_reminder(store: &EKEventStore, id: &ReminderId) -> Result<Undo, Error> {
    let reminder = reminder(store, id)?;
    let was = seen_reminder(&reminder);
    // SAFETY: the reminder belongs to this store.
    let removed = unsafe { store.removeReminder_commit_error(&reminder, true) };
    removed.map_err(failed("deletion of the reminder"))?;
    let mut undo = reminder_before(&was.clone(), Some(was));
    for before in &mut undo.objects {
        (before.after, before.version) = (None, None);
    }
    Ok(undo)
}

fn read(text: Option<&String>) -> Option<Kept> {
    text.and_then(|text| serde_json::from_str(text).ok())
}

pub(super) fn is_about_reminders(undo: &Undo) -> bool {
    undo.objects.iter().any(|before| {
        matches!(read(before.before.as_ref().or(before.after.as_ref())), Some(Kept::Reminder(_)))
    })
}

pub(super) fn restore(store: &EKEventStore, undo: &Undo) -> Result<Undo, Error> {
    let mut redo = Undo::default();
    for before in undo.objects.iter().rev() {
        let undone = match (read(before.before.as_ref()), read(before.after.as_ref())) {
            (None, Some(Kept::Event(now, _))) => {
                unchanged(&event(store, &now.id)?.version, before)?;
                delete_event(store, &now.id, &Scope::All)?
            }
            (None, Some(Kept::Reminder(now))) => {
                unchanged(&seen_reminder(&*reminder(store, &now.id)?).version, before)?;
                delete_reminder(store, &now.id)?
            }
            (Some(Kept::Event(was, scope)), Some(Kept::Event(now, _))) => {
                let empty = |text: Option<String>| Some(text.unwrap_or_default());
                let one = matches!(scope, Scope::This(_));
                let patch = EventPatch {
                    title: Some(was.title),
                    start: Some(was.start),
                    end: Some(was.end),
                    time_zone: was.time_zone,
                    location: empty(was.location),
                    notes: empty(was.notes),
                    url: empty(was.url),
                    recurrence: if one { None } else { empty(was.recurrence) },
                    version: before.version.clone(),
                };
                // A patch of the whole series has the times that its first occurrence had.
                let scope = if let Scope::AllSeenFrom(_) = scope { Scope::All } else { scope };
                change_event(store, &now.id, &patch, &scope)?.undo
            }
            (Some(Kept::Event(was, scope)), None) => {
                let one = matches!(scope, Scope::This(_));
                let new = NewEvent {
                    calendar: was.calendar,
                    title: was.title,
                    start: was.start,
                    end: Some(was.end),
                    time_zone: None,
                    location: was.location,
                    notes: was.notes,
                    url: was.url,
                    recurrence: was.recurrence.filter(|_| !one),
                };
                create_event(store, &new)?.undo
            }
            (Some(Kept::Reminder(was)), Some(Kept::Reminder(now))) => {
                let patch = ReminderPatch {
                    title: Some(was.title),
                    due: Some(was.due.map_or(Due::Never, Due::At)),
                    time_zone: None,
                    notes: Some(was.notes.unwrap_or_default()),
                    priority: Some(was.priority),
                    done: Some(was.done),
                    version: before.version.clone(),
                };
                change_reminder(store, &now.id, &patch)?.undo
            }
            (Some(Kept::Reminder(was)), None) => {
                let new = NewReminder {
                    list: was.list,
                    title: was.title,
                    due: was.due,
                    time_zone: None,
                    notes: was.notes,
                    priority: was.priority,
                    recurrence: was.recurrence,
                };
                create_reminder(store, &new)?.undo
            }
            _ => return Err(Error::not_found(format!("what undoes a change of {}", before.object))),
        };
        redo.objects.extend(undone.objects);
    }
    Ok(redo)
}

fn unchanged(version: &str, before: &Before) -> Result<(), Error> {
    if before.version.as_deref() == Some(version) {
        return Ok(());
    }
    Err(Error::Conflict { what: before.object.clone() })
}
