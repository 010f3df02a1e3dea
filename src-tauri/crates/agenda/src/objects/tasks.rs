//! Changes of reminders.

use jiff::Timestamp;

use super::edit::{OwnZone, add_zones, placed, set_due, set_moment, set_priority, set_texts, stamp};
use super::series::Series;
use super::store::Kind;
use crate::ical::{Component, Line, stamp_text};
use crate::moment::zone_named;
use crate::{Due, Error, EventPatch, Moment, ReminderPatch};

const TODO: &str = Kind::Reminder.component();

fn main_mut(root: &mut Component) -> Result<&mut Component, Error> {
    let main =
        |component: &&mut Component| component.name == TODO && component.line("RECURRENCE-ID").is_none();
    root.components_mut().find(main).ok_or_else(|| Error::Unreadable {
        what: "a reminder".into(),
        why: "only single occurrences of it are known".into(),
    })
}

pub(super) fn change(root: &Component, patch: &ReminderPatch, now: Timestamp) -> Result<Component, Error> {
    let series = Series::of(root, TODO)?;
    let main = series.main()?;
    let old = main.line("DUE").and_then(|line| line.moment(&series.zones)).or_else(|| series.start_of(main));
    let own = OwnZone::of(main, old.as_ref());
    let mut edited = root.clone();
    let todo = main_mut(&mut edited)?;
    let texts =
        EventPatch { title: patch.title.clone(), notes: patch.notes.clone(), ..EventPatch::default() };
    set_texts(todo, &texts)?;
    if let Some(priority) = patch.priority {
        set_priority(todo, priority)?;
    }
    let mut zones = Vec::new();
    match &patch.due {
        None => {}
        Some(Due::Never) => {
            if series.recurs() {
                return Err(Error::invalid("due", "a reminder that recurs needs a date"));
            }
            for name in ["DUE", "DTSTART", "DURATION"] {
                todo.remove(name);
            }
        }
        Some(Due::At(due)) => {
            let zone = match (patch.time_zone.as_deref(), &old) {
                (Some(name), _) => Some(zone_named(name)?),
                (None, Some(Moment::At(zoned))) => Some(zoned.time_zone().clone()),
                (None, _) => None,
            };
            let due = placed(due.clone(), zone.as_ref());
            // DUE must be after DTSTART and of its kind: an old start would make the object invalid.
            if todo.line("DTSTART").is_some() {
                set_moment(todo, "DTSTART", &due, &own);
            }
            todo.remove("DURATION");
            set_due(todo, Some(&due), &own);
            zones.push(due);
        }
    }
    match patch.done {
        None => {}
        Some(true) => finish(todo, now),
        Some(false) => reopen(todo),
    }
    stamp(todo, now);
    add_zones(&mut edited, &zones.iter().collect::<Vec<_>>());
    Ok(edited)
}

fn finish(todo: &mut Component, now: Timestamp) {
    todo.set(Line::new("STATUS", &[], "COMPLETED"));
    todo.set(Line::new("PERCENT-COMPLETE", &[], "100"));
    todo.set(Line::new("COMPLETED", &[], &stamp_text(now)));
}

fn reopen(todo: &mut Component) {
    todo.set(Line::new("STATUS", &[], "NEEDS-ACTION"));
    todo.remove("PERCENT-COMPLETE");
    todo.remove("COMPLETED");
}

/// Done, or on to the next date.
pub(super) fn complete(root: &Component, now: Timestamp) -> Result<Component, Error> {
    let series = Series::of(root, TODO)?;
    let main = series.main()?;
    let start = series.start_of(main);
    let next =
        start.as_ref().filter(|_| series.recurs()).and_then(|start| Some((start, series.next_after(start)?)));
    let mut edited = root.clone();
    let own = OwnZone::of(main, start.as_ref());
    let due = main.line("DUE").and_then(|line| line.moment(&series.zones));
    let todo = main_mut(&mut edited)?;
    match next {
        None => finish(todo, now),
        Some((start, next)) => {
            let by = next.wall().duration_since(start.wall());
            set_moment(todo, "DTSTART", &next, &own);
            if let Some(due) = due {
                let wall = due.wall().checked_add(by).unwrap_or_else(|_| due.wall());
                set_due(todo, Some(&due.with_wall(wall)), &own);
            }
            if let Some(rule) = series.rule() {
                let mut rule = rule.clone();
                let passed = series.counted_before(&next);
                rule.count = rule.count.map(|count| count.saturating_sub(passed).max(1));
                todo.set(Line::new("RRULE", &[], &rule.to_string()));
            }
            reopen(todo);
        }
    }
    stamp(todo, now);
    Ok(edited)
}
