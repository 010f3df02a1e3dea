//! A VTIMEZONE for a zone of the system's: readers that do not know the name read its rules.

use jiff::ZonedDateTime;
use jiff::civil::{Date, DateTime};
use jiff::tz::{Dst, Offset, TimeZone, TimeZoneTransition};

use super::value::time_text;
use super::{Component, Line, Part};

/// For how many years the changes are looked at, and listed where no rule describes them.
const YEARS: i16 = 6;

/// The rules of a zone from the year of `first` on. `None` for UTC and for what has no name.
pub(crate) fn time_zone_component(first: &ZonedDateTime) -> Option<Component> {
    let zone = first.time_zone();
    let name = zone.iana_name().filter(|name| *name != "UTC")?;
    let mut component = Component::new("VTIMEZONE");
    component.add(Line::new("TZID", &[], name));
    let year = first.year().clamp(1970, 9000);
    let start = Date::new(year, 1, 1).ok()?.to_datetime(jiff::civil::Time::midnight());
    let start = zone.to_ambiguous_zoned_datetime(start).compatible().ok()?.timestamp();
    let mut changes: Vec<TimeZoneTransition<'_>> = zone
        .following(start)
        .take_while(|change| change.timestamp().to_zoned_datetime(TimeZone::UTC).year() < year + YEARS)
        .collect();
    // What holds until the first change; the change before the year says since when.
    let before = zone.preceding(start).next();
    if changes.is_empty() {
        let offset = zone.to_offset(start);
        let abbreviation = zone.to_offset_info(start).abbreviation().to_owned();
        let since = Date::new(1970, 1, 1).ok()?.to_datetime(jiff::civil::Time::midnight());
        component.parts.push(observance("STANDARD", since, (offset, offset), &abbreviation, Vec::new()));
        return Some(component);
    }
    changes.splice(0..0, before);
    for (name, dst) in [("DAYLIGHT", Dst::Yes), ("STANDARD", Dst::No)] {
        let of_kind: Vec<Change> = changes
            .iter()
            .filter(|change| change.dst() == dst)
            .filter_map(|change| Change::of(zone, change))
            .collect();
        let Some(first) = of_kind.first() else { continue };
        let alike = of_kind.iter().all(|change| (change.from, change.to) == (first.from, first.to));
        let rule = Some(&of_kind).filter(|_| alike).and_then(|changes| yearly(changes));
        if let Some(rule) = rule {
            let lines = vec![Line::new("RRULE", &[], &rule)];
            component.parts.push(observance(
                name,
                first.wall,
                (first.from, first.to),
                &first.abbreviation,
                lines,
            ));
        } else {
            for change in &of_kind {
                component.parts.push(observance(
                    name,
                    change.wall,
                    (change.from, change.to),
                    &change.abbreviation,
                    vec![],
                ));
            }
        }
    }
    Some(component)
}

struct Change {
    /// On the clock before the change.
    wall: DateTime,
    from: Offset,
    to: Offset,
    abbreviation: String,
}

impl Change {
    fn of(zone: &TimeZone, change: &TimeZoneTransition<'_>) -> Option<Self> {
        let just_before = change.timestamp().checked_sub(jiff::Span::new().seconds(1)).ok()?;
        let from = zone.to_offset(just_before);
        let wall = from.to_datetime(change.timestamp());
        Some(Self { wall, from, to: change.offset(), abbreviation: change.abbreviation().to_owned() })
    }
}

/// The rule that all of these follow, once a year.
fn yearly(changes: &[Change]) -> Option<String> {
    let first = changes.first()?.wall;
    let next_year = |pair: &[Change]| pair[1].wall.year() == pair[0].wall.year() + 1;
    let same = |change: &Change| {
        (change.wall.month(), change.wall.weekday(), change.wall.time())
            == (first.month(), first.weekday(), first.time())
    };
    if changes.len() < usize::try_from(YEARS).ok()? - 1
        || !changes.windows(2).all(next_year)
        || !changes.iter().all(same)
    {
        return None;
    }
    let nth = |change: &Change| (change.wall.day() - 1) / 7 + 1;
    let is_last = |change: &Change| change.wall.day() + 7 > change.wall.days_in_month();
    let which = if changes.iter().all(|change| nth(change) == nth(&changes[0])) {
        nth(&changes[0])
    } else if changes.iter().all(is_last) {
        -1
    } else {
        return None;
    };
    let day = crate::recur::weekday_text(first.weekday());
    Some(format!("FREQ=YEARLY;BYMONTH={};BYDAY={which}{day}", first.month()))
}

fn observance(
    name: &str,
    since: DateTime,
    offsets: (Offset, Offset),
    abbreviation: &str,
    more: Vec<Line>,
) -> Part {
    let mut part = Component::new(name);
    part.add(Line::new("DTSTART", &[], &time_text(since)));
    for line in more {
        part.add(line);
    }
    part.add(Line::new("TZOFFSETFROM", &[], &offset_text(offsets.0)));
    part.add(Line::new("TZOFFSETTO", &[], &offset_text(offsets.1)));
    part.add(Line::new("TZNAME", &[], abbreviation));
    Part::Component(part)
}

fn offset_text(offset: Offset) -> String {
    let seconds = offset.seconds();
    let sign = if seconds < 0 { '-' } else { '+' };
    let seconds = seconds.abs();
    let rest = if seconds % 60 == 0 { String::new() } else { format!("{:02}", seconds % 60) };
    format!("{sign}{:02}{:02}{rest}", seconds / 3600, seconds / 60 % 60)
}
