//! From objects to what callers see.

use std::collections::HashMap;

use super::series::Series;
use super::store::{Kind, Object};
use crate::ical::Component;
use crate::{
    CalendarId, Error, Event, EventId, MAX_LISTED, Moment, Range, RecurrenceId, Reminder, ReminderId,
};

/// The most addresses of invited people that an event is shown with.
const MAX_INVITED: usize = 50;

/// What an object has in a range, and whether there is more of it.
pub(super) fn events_in(
    object: &Object,
    calendar: &CalendarId,
    range: &Range,
) -> Result<(Vec<Event>, bool), Error> {
    let root = Component::parse(&object.text)?;
    let series = Series::of(&root, Kind::Event.component())?;
    let seen = Seen { object, calendar, series: &series };
    let mut events = Vec::new();
    let mut more = false;
    if let Some(master) = series.master {
        let starts = series.starts(range.from(), range.to(), range.zone(), MAX_LISTED);
        more = starts.more;
        for start in starts.list {
            if series.exceptions.iter().any(|(of, _)| *of == start) {
                continue;
            }
            let end = series.end_from(master, &start);
            if range.holds(&start, &end) {
                let id = series.recurs().then(|| start.clone());
                events.push(seen.event(master, start, end, id));
            }
        }
    }
    for (of, component) in &series.exceptions {
        let start = series.start_of(component).unwrap_or_else(|| of.clone());
        let end = series.end_from(component, &start);
        if range.holds(&start, &end) {
            events.push(seen.event(component, start, end, Some(of.clone())));
        }
    }
    Ok((events, more))
}

/// The event as a whole, or one occurrence of it.
pub(super) fn event(
    object: &Object,
    calendar: &CalendarId,
    occurrence: Option<&Moment>,
) -> Result<Event, Error> {
    let root = Component::parse(&object.text)?;
    let series = Series::of(&root, Kind::Event.component())?;
    let seen = Seen { object, calendar, series: &series };
    let exception = occurrence.and_then(|of| series.exceptions.iter().find(|(other, _)| other == of));
    let (component, start) = match (exception, occurrence) {
        (Some((of, component)), _) => (*component, series.start_of(component).unwrap_or_else(|| of.clone())),
        (None, Some(of)) => (series.main()?, of.clone()),
        (None, None) => {
            let main = series.main()?;
            let start = series.start_of(main).ok_or_else(|| Error::Unreadable {
                what: "an event".into(),
                why: "it has no start".into(),
            })?;
            (main, start)
        }
    };
    let end = series.end_from(component, &start);
    Ok(seen.event(component, start, end, occurrence.cloned()))
}

struct Seen<'a> {
    object: &'a Object,
    calendar: &'a CalendarId,
    series: &'a Series<'a>,
}

impl Seen<'_> {
    fn event(&self, component: &Component, start: Moment, end: Moment, occurrence: Option<Moment>) -> Event {
        let main = self.series.master.unwrap_or(component);
        let invited = component.lines("ATTENDEE").map(|line| {
            let address = line.value();
            address
                .get(..7)
                .filter(|scheme| scheme.eq_ignore_ascii_case("mailto:"))
                .map_or(address, |_| &address[7..])
        });
        Event {
            id: EventId(self.object.id.clone()),
            calendar: self.calendar.clone(),
            title: component.text("SUMMARY").unwrap_or_default(),
            all_day: start.is_day(),
            time_zone: start.zone_name().map(str::to_owned),
            location: component.text("LOCATION"),
            notes: component.text("DESCRIPTION"),
            url: component.line("URL").map(|line| line.value().to_owned()).filter(|url| !url.is_empty()),
            recurrence: main.line("RRULE").map(|line| line.value().to_owned()),
            is_exception: component.line("RECURRENCE-ID").is_some(),
            cancelled: component
                .text("STATUS")
                .is_some_and(|status| status.eq_ignore_ascii_case("CANCELLED")),
            recurrence_id: occurrence.map(RecurrenceId),
            invited: invited.take(MAX_INVITED).map(str::to_owned).collect(),
            version: self.object.version.clone(),
            start,
            end,
        }
    }
}

pub(super) fn reminder(object: &Object, list: &CalendarId) -> Result<Reminder, Error> {
    let root = Component::parse(&object.text)?;
    let series = Series::of(&root, Kind::Reminder.component())?;
    let main = series.main()?;
    let due = main.line("DUE").and_then(|line| line.moment(&series.zones));
    let due = due.or_else(|| {
        let start = series.start_of(main)?;
        main.line("DURATION").map(|_| series.end_from(main, &start))
    });
    let done_at = main.line("COMPLETED").and_then(|line| line.moment(&series.zones));
    let done_at = done_at.map(|moment| moment.seen_in(&jiff::tz::TimeZone::UTC));
    let status = main.text("STATUS").unwrap_or_default().to_ascii_uppercase();
    Ok(Reminder {
        id: ReminderId(object.id.clone()),
        list: list.clone(),
        title: main.text("SUMMARY").unwrap_or_default(),
        due,
        notes: main.text("DESCRIPTION"),
        priority: main.text("PRIORITY").and_then(|text| text.trim().parse().ok()).unwrap_or(0).min(9),
        done: done_at.is_some() || status == "COMPLETED" || status == "CANCELLED",
        done_at,
        recurrence: main.line("RRULE").map(|line| line.value().to_owned()),
        version: object.version.clone(),
    })
}

/// Sorts by start as seen in the range's zone, then by title, then by id, so that the order is always the same.
pub(super) fn sort(events: &mut [Event], range: &Range) {
    let zone = range.zone();
    events.sort_by_cached_key(|event| (event.start.seen_in(zone), event.title.clone(), event.id.clone()));
}

/// Whether two texts say the same: the same properties with the same values, in any order, whatever the server's own
/// stamps are.
pub(super) fn says_the_same(one: &str, other: &str) -> bool {
    let counted = |text: &str| Component::parse(text).ok().map(|root| count(&root));
    one == other || counted(one).is_some_and(|one| Some(one) == counted(other))
}

fn count(component: &Component) -> HashMap<(String, String), usize> {
    let mut counts = HashMap::new();
    let mut todo = vec![(component.name.clone(), component)];
    while let Some((path, component)) = todo.pop() {
        for part in &component.parts {
            match part {
                crate::ical::Part::Line(line) => {
                    if !matches!(line.name.as_str(), "DTSTAMP" | "LAST-MODIFIED" | "PRODID" | "CREATED") {
                        *counts
                            .entry((path.clone(), format!("{}:{}", line.name, line.value())))
                            .or_default() += 1;
                    }
                }
                crate::ical::Part::Component(inner) => todo.push((format!("{path}/{}", inner.name), inner)),
            }
        }
    }
    counts
}
