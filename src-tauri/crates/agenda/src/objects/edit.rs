//! Changes of one component's fields, and new objects. What is not named stays as it is.

use jiff::civil::Date;
use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan as _};
use reqwest::Url;

use super::series::after;
use crate::ical::{Component, Line, Part, moment_line, stamp_text, time_zone_component};
use crate::moment::{in_zone, zone_named};
use crate::recur::{Rule, Until};
use crate::{Error, EventPatch, Moment, NewEvent, NewReminder};

/// The most characters of a title, a place or an address, and of notes.
const MAX_SHORT: usize = 2_000;
const MAX_NOTES: usize = 100_000;

/// A moment as it is to be kept: a local time is one in the zone, another one is seen from it.
pub(crate) fn placed(moment: Moment, zone: Option<&TimeZone>) -> Moment {
    match (moment, zone) {
        (Moment::Local(wall), Some(zone)) => in_zone(wall, zone).map_or(Moment::Local(wall), Moment::At),
        (Moment::At(zoned), Some(zone)) => Moment::At(zoned.with_time_zone(zone.clone())),
        // An offset has no rules that an object could name.
        (Moment::At(zoned), None) if zoned.time_zone().iana_name().is_none() => {
            Moment::At(zoned.with_time_zone(TimeZone::UTC))
        }
        (moment, _) => moment,
    }
}

/// An end that fits a start. One day from and to is that whole day.
pub(crate) fn fitting_end(start: &Moment, end: Moment) -> Result<Moment, Error> {
    let end = match (start, end) {
        (Moment::At(zoned), end @ Moment::Local(_)) => placed(end, Some(zoned.time_zone())),
        (Moment::Day(day), Moment::Day(last)) if *day == last => after(start, 1.day()),
        (_, end) => end,
    };
    let same_kind = start.is_day() == end.is_day()
        && matches!(start, Moment::Local(_)) == matches!(end, Moment::Local(_));
    if !same_kind {
        return Err(Error::invalid(
            "end",
            "it must be of the start's kind: a day, a local time, or a time in a zone",
        ));
    }
    if end.seen_in(&TimeZone::UTC) < start.seen_in(&TimeZone::UTC) {
        return Err(Error::invalid("end", "it is before the start"));
    }
    Ok(end)
}

pub(crate) fn usual_end(start: &Moment) -> Moment {
    after(start, if start.is_day() { 1.day() } else { 1.hour() })
}

/// A rule whose end fits the start, as RFC 5545 has it: a day for days, UTC for times in a zone.
pub(super) fn fitting_rule(text: &str, start: &Moment) -> Result<Rule, Error> {
    let mut rule = Rule::parse(text)?;
    rule.until = rule.until.map(|until| fitting_until(until, start));
    Ok(rule)
}

fn fitting_until(until: Until, start: &Moment) -> Until {
    let end_of = |day: Date| day.at(23, 59, 59, 0);
    match start {
        Moment::Day(_) => match until {
            Until::Date(time) | Until::Local(time) | Until::Utc(time) => Until::Date(time),
        },
        Moment::Local(_) => match until {
            Until::Date(time) => Until::Local(end_of(time.date())),
            Until::Local(time) | Until::Utc(time) => Until::Local(time),
        },
        Moment::At(zoned) => {
            let wall = match until {
                Until::Date(time) => end_of(time.date()),
                Until::Local(time) => time,
                Until::Utc(_) => return until,
            };
            in_zone(wall, zoned.time_zone())
                .map_or(until, |end| Until::Utc(end.with_time_zone(TimeZone::UTC).datetime()))
        }
    }
}

pub(super) fn check_text(field: &'static str, text: &str, most: usize) -> Result<(), Error> {
    if text.chars().count() > most {
        return Err(Error::invalid(field, format!("it is longer than {most} characters")));
    }
    Ok(())
}

fn set_checked(
    component: &mut Component,
    field: (&'static str, &str),
    text: Option<&String>,
    most: usize,
) -> Result<(), Error> {
    if let Some(text) = text {
        check_text(field.0, text, most)?;
        component.set_text(field.1, text);
    }
    Ok(())
}

/// What is text of an event or a reminder.
pub(super) fn set_texts(component: &mut Component, patch: &EventPatch) -> Result<(), Error> {
    set_checked(component, ("title", "SUMMARY"), patch.title.as_ref(), MAX_SHORT)?;
    set_checked(component, ("location", "LOCATION"), patch.location.as_ref(), MAX_SHORT)?;
    set_checked(component, ("notes", "DESCRIPTION"), patch.notes.as_ref(), MAX_NOTES)?;
    match patch.url.as_deref() {
        None => {}
        Some("") => component.remove("URL"),
        Some(text) => {
            check_text("url", text, MAX_SHORT)?;
            // Not a TEXT: nothing in it is escaped, so nothing but an address may be in it.
            let url = Url::parse(text).map_err(|error| Error::invalid("url", error.to_string()))?;
            component.set(Line::new("URL", &[], url.as_str()));
        }
    }
    Ok(())
}

/// Writes a time. A zone of the object's own keeps the name that the object has for it.
pub(super) fn set_moment(component: &mut Component, name: &str, moment: &Moment, own: &OwnZone) {
    component.set(moment_line(name, moment, own.name_for(moment)));
}

/// The zone that an object's event is in, by the object's name for it.
#[derive(Clone, Debug, Default)]
pub(super) struct OwnZone(Option<(String, TimeZone)>);

impl OwnZone {
    pub(super) fn of(component: &Component, start: Option<&Moment>) -> Self {
        let name = component.line("DTSTART").and_then(|line| line.param("TZID"));
        match (name, start) {
            (Some(name), Some(Moment::At(zoned))) => Self(Some((name.to_owned(), zoned.time_zone().clone()))),
            _ => Self(None),
        }
    }

    pub(super) fn name_for(&self, moment: &Moment) -> Option<&str> {
        let (name, zone) = self.0.as_ref()?;
        matches!(moment, Moment::At(zoned) if zoned.time_zone() == zone).then_some(name)
    }
}

/// Marks a component as changed now.
pub(super) fn stamp(component: &mut Component, now: Timestamp) {
    let now = stamp_text(now);
    component.set(Line::new("DTSTAMP", &[], &now));
    component.set(Line::new("LAST-MODIFIED", &[], &now));
    let sequence = component.line("SEQUENCE").and_then(|line| line.value().trim().parse::<u32>().ok());
    component.set(Line::new("SEQUENCE", &[], &(sequence.unwrap_or(0).saturating_add(1)).to_string()));
}

/// Adds the rules of the zones that an object names and does not have.
pub(super) fn add_zones(root: &mut Component, moments: &[&Moment]) {
    for moment in moments {
        let Moment::At(zoned) = moment else { continue };
        let Some(zone) = time_zone_component(zoned) else { continue };
        let name = zone.line("TZID").map(|line| line.value().to_owned());
        let has = |component: &Component| {
            component.name == "VTIMEZONE" && component.line("TZID").map(Line::value) == name.as_deref()
        };
        let has = root.components().any(has);
        if !has {
            let at = root
                .parts
                .iter()
                .position(|part| matches!(part, Part::Component(_)))
                .unwrap_or(root.parts.len());
            root.parts.insert(at, Part::Component(zone));
        }
    }
}

fn new_root(inner: Component, moments: &[&Moment]) -> Component {
    let mut root = Component::new("VCALENDAR");
    root.add(Line::new("VERSION", &[], "2.0"));
    root.add(Line::new("PRODID", &[], "-//Miki//Agenda//EN"));
    root.parts.push(Part::Component(inner));
    add_zones(&mut root, moments);
    root
}

pub(super) fn new_event(new: NewEvent, uid: &str, now: Timestamp) -> Result<Component, Error> {
    let zone = new.time_zone.as_deref().map(zone_named).transpose()?;
    let start = placed(new.start, zone.as_ref());
    let end = match new.end {
        Some(end) => fitting_end(&start, placed(end, zone.as_ref()))?,
        None => usual_end(&start),
    };
    let mut event = Component::new("VEVENT");
    event.add(Line::new("UID", &[], uid));
    stamp(&mut event, now);
    event.set(Line::new("SEQUENCE", &[], "0"));
    event.add(Line::new("CREATED", &[], &stamp_text(now)));
    set_moment(&mut event, "DTSTART", &start, &OwnZone::default());
    set_moment(&mut event, "DTEND", &end, &OwnZone::default());
    if let Some(rule) = new.recurrence.filter(|rule| !rule.is_empty()) {
        event.add(Line::new("RRULE", &[], &fitting_rule(&rule, &start)?.to_string()));
    }
    let texts = EventPatch {
        title: Some(new.title),
        location: new.location,
        notes: new.notes,
        url: new.url,
        ..EventPatch::default()
    };
    set_texts(&mut event, &texts)?;
    Ok(new_root(event, &[&start, &end]))
}

pub(super) fn new_reminder(new: NewReminder, uid: &str, now: Timestamp) -> Result<Component, Error> {
    let zone = new.time_zone.as_deref().map(zone_named).transpose()?;
    let due = new.due.map(|due| placed(due, zone.as_ref()));
    let mut todo = Component::new("VTODO");
    todo.add(Line::new("UID", &[], uid));
    stamp(&mut todo, now);
    todo.set(Line::new("SEQUENCE", &[], "0"));
    todo.add(Line::new("CREATED", &[], &stamp_text(now)));
    set_due(&mut todo, due.as_ref(), &OwnZone::default());
    if let Some(rule) = new.recurrence.filter(|rule| !rule.is_empty()) {
        let due = due
            .as_ref()
            .ok_or_else(|| Error::invalid("recurrence", "a reminder without a date cannot recur"))?;
        // A rule counts from DTSTART.
        set_moment(&mut todo, "DTSTART", due, &OwnZone::default());
        todo.add(Line::new("RRULE", &[], &fitting_rule(&rule, due)?.to_string()));
    }
    let texts = EventPatch { title: Some(new.title), notes: new.notes, ..EventPatch::default() };
    set_texts(&mut todo, &texts)?;
    set_priority(&mut todo, new.priority)?;
    todo.add(Line::new("STATUS", &[], "NEEDS-ACTION"));
    Ok(new_root(todo, due.as_ref().as_slice()))
}

pub(super) fn set_due(todo: &mut Component, due: Option<&Moment>, own: &OwnZone) {
    match due {
        Some(due) => set_moment(todo, "DUE", due, own),
        None => todo.remove("DUE"),
    }
}

pub(super) fn set_priority(todo: &mut Component, priority: u8) -> Result<(), Error> {
    match priority {
        0 => todo.remove("PRIORITY"),
        1..=9 => todo.set(Line::new("PRIORITY", &[], &priority.to_string())),
        _ => return Err(Error::invalid("priority", "it is from 1 (most) to 9 (least), or 0 for none")),
    }
    Ok(())
}

/// Keeps of a property's times those that are wanted; a line of which all are stays as it is.
pub(super) fn keep_moments(component: &mut Component, name: &str, keep: impl Fn(&Line, &str) -> bool) {
    let edit = |part: Part| match part {
        Part::Line(line) if line.name == name => {
            let all: Vec<&str> = line.value().split(',').collect();
            let kept: Vec<&str> = all.iter().copied().filter(|value| keep(&line, value)).collect();
            if kept.is_empty() {
                None
            } else if kept.len() == all.len() {
                Some(Part::Line(line))
            } else {
                Some(Part::Line(line.with_value(&kept.join(","))))
            }
        }
        part => Some(part),
    };
    component.parts = std::mem::take(&mut component.parts).into_iter().filter_map(edit).collect();
}
