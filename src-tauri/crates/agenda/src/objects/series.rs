//! One object's event or reminder with all its occurrences: rule, added and excluded dates, and exceptions.

use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use jiff::{Span, Timestamp, ToSpan as _};

use crate::ical::{Component, Zones};
use crate::recur::{Rule, Walls};
use crate::{Error, Moment, RecurrenceId};

/// The most occurrences of one series that are looked at, whatever is asked for.
const MAX_LOOKED: usize = 100_000;

pub(crate) struct Series<'a> {
    pub zones: Zones<'a>,
    /// Missing where only single occurrences of a series are known, as with an invitation to one.
    pub master: Option<&'a Component>,
    /// Occurrences that differ, with the starts that the rule gave them.
    pub exceptions: Vec<(Moment, &'a Component)>,
    rules: Vec<Rule>,
}

/// Starts in order, and whether there are more.
#[derive(Debug, Default)]
pub(crate) struct Starts {
    pub list: Vec<Moment>,
    pub more: bool,
}

impl<'a> Series<'a> {
    pub(crate) fn of(calendar: &'a Component, kind: &str) -> Result<Self, Error> {
        let zones = Zones::of(calendar);
        let (mut master, mut exceptions, mut rules) = (None, Vec::new(), Vec::new());
        for component in calendar.components().filter(|component| component.name == kind) {
            match component.line("RECURRENCE-ID") {
                Some(line) => {
                    let of = line.moment(&zones).ok_or_else(|| unreadable("its RECURRENCE-ID is no time"))?;
                    exceptions.push((of, component));
                }
                None if master.is_none() => master = Some(component),
                None => {}
            }
        }
        if let Some(master) = master {
            for line in master.lines("RRULE") {
                rules.push(Rule::parse(line.value()).map_err(|error| unreadable(&error.to_string()))?);
            }
        }
        if master.is_none() && exceptions.is_empty() {
            return Err(unreadable(&format!("it holds no {kind}")));
        }
        Ok(Self { zones, master, exceptions, rules })
    }

    /// The series, or the one occurrence that is known of it.
    pub(crate) fn main(&self) -> Result<&'a Component, Error> {
        let known = self.master.or_else(|| self.exceptions.first().map(|(_, component)| *component));
        known.ok_or_else(|| unreadable("it is empty"))
    }

    pub(crate) fn start_of(&self, component: &Component) -> Option<Moment> {
        component.line("DTSTART").and_then(|line| line.moment(&self.zones))
    }

    pub(crate) fn recurs(&self) -> bool {
        self.master.is_some_and(|master| !self.rules.is_empty() || master.line("RDATE").is_some())
    }

    pub(crate) fn rule(&self) -> Option<&Rule> {
        self.rules.first()
    }

    /// How long it is: nominal where it is in days, exact otherwise (RFC 5545, 3.8.5.3).
    pub(crate) fn length_of(&self, component: &Component) -> Span {
        let start = self.start_of(component);
        let end = component
            .line("DTEND")
            .or_else(|| component.line("DUE"))
            .and_then(|line| line.moment(&self.zones));
        let ours = match (&start, end) {
            (Some(Moment::Day(start)), Some(end)) => Some((end.date() - *start).get_days().max(1).days()),
            (Some(start), Some(end)) => {
                let seconds =
                    end.seen_in(&TimeZone::UTC).as_second() - start.seen_in(&TimeZone::UTC).as_second();
                Some(seconds.max(0).seconds())
            }
            _ => component.line("DURATION").and_then(|line| read_duration(line.value())),
        };
        let none = if start.is_some_and(|start| start.is_day()) { 1.day() } else { 0.seconds() };
        ours.unwrap_or(none)
    }

    /// The end of an occurrence of a component that starts then; in the zone that its end is in.
    pub(crate) fn end_from(&self, component: &Component, start: &Moment) -> Moment {
        let end = after(start, self.length_of(component));
        let theirs = component.line("DTEND").and_then(|line| line.moment(&self.zones));
        match (end, theirs) {
            (Moment::At(end), Some(Moment::At(theirs))) => {
                Moment::At(end.with_time_zone(theirs.time_zone().clone()))
            }
            (end, _) => end,
        }
    }

    /// The starts that rule and dates give from one time until before another, as seen in a zone; also of occurrences
    /// that began earlier and last until then. Exceptions are among them with the starts that they had.
    pub(crate) fn starts(&self, from: Timestamp, to: Timestamp, zone: &TimeZone, most: usize) -> Starts {
        let Some(master) = self.master else { return Starts::default() };
        let Some(first) = self.start_of(master) else { return Starts::default() };
        let length = self.length_of(master);
        let excluded = Excluded::of(master, &self.zones);
        let within = |start: &Moment| {
            let begins = start.seen_in(zone);
            let ends = after(start, length).seen_in(zone);
            begins < to && (ends > from || begins >= from) && !excluded.holds(start)
        };
        let mut found = Starts::default();
        if within(&first) {
            found.list.push(first.clone());
        }
        let early = from.to_zoned_datetime(zone.clone()).datetime();
        let early =
            early.checked_sub(length).and_then(|time| time.checked_sub(2.days())).unwrap_or(DateTime::MIN);
        for rule in &self.rules {
            for start in rule_starts(rule, &first, early) {
                if start.seen_in(zone) >= to {
                    break;
                }
                if found.list.len() > most {
                    found.more = true;
                    break;
                }
                if within(&start) {
                    found.list.push(start);
                }
            }
        }
        for line in master.lines("RDATE") {
            found.list.extend(line.moments(&self.zones).into_iter().filter(|start| within(start)));
        }
        found.list.sort_by_key(|start| start.seen_in(zone));
        found.list.dedup();
        if found.list.len() > most {
            found.list.truncate(most);
            found.more = true;
        }
        found
    }

    /// The occurrence that someone means: a time without a zone is one in the series' zone, and a day is the day of it.
    ///
    /// # Errors
    /// [`Error::NotFound`] if the series has none then.
    pub(crate) fn occurrence(&self, id: &RecurrenceId) -> Result<Moment, Error> {
        let missing = || Error::not_found(format!("an occurrence at {id}"));
        if let Some((known, _)) = self.exceptions.iter().find(|(of, _)| *of == id.0) {
            return Ok(known.clone());
        }
        let first = self.master.and_then(|master| self.start_of(master)).ok_or_else(missing)?;
        let (wanted, span) = match (&id.0, &first) {
            (Moment::Day(day), Moment::At(_) | Moment::Local(_)) => {
                (first.with_wall(day.to_datetime(jiff::civil::Time::midnight())), 1.day())
            }
            (Moment::Local(wall), Moment::At(_)) => (first.with_wall(*wall), 1.second()),
            (moment, Moment::Day(_)) => (Moment::Day(moment.date()), 1.day()),
            (moment, _) => (moment.clone(), 1.second()),
        };
        let from = wanted.seen_in(&TimeZone::UTC);
        let to = after(&wanted, span).seen_in(&TimeZone::UTC);
        let mut starts = self.starts(from, to, &TimeZone::UTC, 1000).list.into_iter();
        starts.find(|start| (from..to).contains(&start.seen_in(&TimeZone::UTC))).ok_or_else(missing)
    }

    /// How many occurrences the first rule has before a start, excluded ones too.
    pub(crate) fn counted_before(&self, start: &Moment) -> u32 {
        let (Some(rule), Some(first)) = (self.rule(), self.master.and_then(|master| self.start_of(master)))
        else {
            return 0;
        };
        let before = |other: &Moment| other.seen_in(&TimeZone::UTC) < start.seen_in(&TimeZone::UTC);
        let starts = std::iter::once(first.clone())
            .chain(rule_starts(rule, &first, DateTime::MIN).skip_while(|start| *start == first));
        u32::try_from(starts.take_while(before).count()).unwrap_or(u32::MAX)
    }

    /// The next start after one.
    pub(crate) fn next_after(&self, start: &Moment) -> Option<Moment> {
        let at = start.seen_in(&TimeZone::UTC);
        let starts = self.starts(at, Timestamp::MAX, &TimeZone::UTC, 3).list;
        starts.into_iter().find(|start| start.seen_in(&TimeZone::UTC) > at)
    }
}

/// The starts of a rule in its order; where the rule does not take the first start, that one counts all the same. Without
/// a `COUNT`, what is clearly earlier than `early` may be left out.
fn rule_starts<'a>(rule: &'a Rule, first: &'a Moment, early: DateTime) -> impl Iterator<Item = Moment> + 'a {
    let walls = Walls::new(rule, first.wall());
    let most = match rule.count {
        None => MAX_LOOKED,
        Some(count) => {
            let takes_first = Walls::new(rule, first.wall()).next() == Some(first.wall());
            usize::try_from(count).unwrap_or(MAX_LOOKED).min(MAX_LOOKED) - usize::from(!takes_first)
        }
    };
    let walls = if rule.count.is_none() { walls.skipped_to(early) } else { walls };
    walls.take(most).map(|wall| first.with_wall(wall)).take_while(|start| rule.reaches(start))
}

/// A moment later by a span: days by the calendar, the rest exactly.
pub(crate) fn after(start: &Moment, span: Span) -> Moment {
    match start {
        Moment::Day(day) => Moment::Day(day.checked_add(span).unwrap_or(*day)),
        Moment::Local(time) => Moment::Local(time.checked_add(span).unwrap_or(*time)),
        Moment::At(zoned) => Moment::At(zoned.checked_add(span).unwrap_or_else(|_| zoned.clone())),
    }
}

/// The starts that EXDATE takes away. One that is a day takes away all of that day, as some writers mean it.
struct Excluded(Vec<Moment>);

impl Excluded {
    fn of(master: &Component, zones: &Zones<'_>) -> Self {
        Self(master.lines("EXDATE").flat_map(|line| line.moments(zones)).collect())
    }

    fn holds(&self, start: &Moment) -> bool {
        self.0.iter().any(|excluded| match excluded {
            Moment::Day(day) => start.date() == *day,
            other => other == start,
        })
    }
}

/// `P1DT2H`, `-PT15M`, `P2W`; what is negative takes no time.
fn read_duration(text: &str) -> Option<Span> {
    let text = text.trim().trim_start_matches('+');
    if text.starts_with('-') {
        return Some(0.seconds());
    }
    let mut rest = text.strip_prefix('P')?;
    let (mut days, mut seconds) = (0_i64, 0_i64);
    while !rest.is_empty() {
        rest = rest.strip_prefix('T').unwrap_or(rest);
        let end = rest.find(|char: char| !char.is_ascii_digit())?;
        let number: i64 = rest[..end].parse().ok().filter(|number| *number < 10_000_000)?;
        match &rest[end..=end] {
            "W" => days += 7 * number,
            "D" => days += number,
            "H" => seconds += 3600 * number,
            "M" => seconds += 60 * number,
            "S" => seconds += number,
            _ => return None,
        }
        rest = &rest[end + 1..];
    }
    Span::new().try_days(days).and_then(|span| span.try_seconds(seconds)).ok()
}

fn unreadable(why: &str) -> Error {
    Error::Unreadable { what: "a calendar object".into(), why: why.into() }
}
