//! What a TZID means: an IANA name (also behind a prefix), a Windows name, or the rules that the object brings itself.

use std::cell::RefCell;
use std::collections::HashMap;

use jiff::tz::{Offset, TimeZone};

use super::Component;
use super::value::read_time;
use super::windows_zones::iana_of_windows;
use crate::recur::Rule;

/// The zones of one object.
pub(crate) struct Zones<'a> {
    calendar: &'a Component,
    known: RefCell<HashMap<String, Option<TimeZone>>>,
}

impl<'a> Zones<'a> {
    pub(crate) fn of(calendar: &'a Component) -> Self {
        Self { calendar, known: RefCell::default() }
    }

    /// `None` if nothing says what it means; the time is then one of the clock on the wall.
    pub(crate) fn zone(&self, tzid: &str) -> Option<TimeZone> {
        if let Some(known) = self.known.borrow().get(tzid) {
            return known.clone();
        }
        let zone = self.look_up(tzid);
        self.known.borrow_mut().insert(tzid.into(), zone.clone());
        zone
    }

    fn look_up(&self, tzid: &str) -> Option<TimeZone> {
        if let Some(zone) = named(tzid) {
            return Some(zone);
        }
        let theirs = self
            .calendar
            .components()
            .filter(|component| component.name == "VTIMEZONE")
            .find(|component| component.line("TZID").is_some_and(|line| line.value() == tzid))?;
        let place = theirs.text("X-LIC-LOCATION").and_then(|place| named(&place));
        place.or_else(|| ruled(theirs))
    }
}

/// By an IANA name, also at the end of a path (`/citadel.org/20210210_1/Europe/Berlin`), or a Windows name.
fn named(tzid: &str) -> Option<TimeZone> {
    let get = |name: &str| TimeZone::get(name).ok();
    if let Some(zone) = get(iana_of_windows(tzid).unwrap_or(tzid)) {
        return Some(zone);
    }
    // From the left: "America/Argentina/Salta" before "Salta".
    tzid.match_indices('/').find_map(|(at, _)| get(&tzid[at + 1..]).filter(|_| tzid[at + 1..].contains('/')))
}

/// By the rules of a VTIMEZONE as they are today: what changed in past years is not looked at.
fn ruled(component: &Component) -> Option<TimeZone> {
    let last = |name: &str| {
        let of_name = component.components().filter(|part| part.name == name);
        of_name.max_by_key(|part| {
            part.line("DTSTART").and_then(|line| read_time(line.value())).map(|(time, _)| time)
        })
    };
    let standard = last("STANDARD").or_else(|| last("DAYLIGHT"))?;
    let offset = read_offset(standard.line("TZOFFSETTO")?.value())?;
    let summer = last("DAYLIGHT").and_then(|summer| {
        let ahead = read_offset(summer.line("TZOFFSETTO")?.value())?;
        let (begins, ends) = (posix_change(summer)?, posix_change(standard)?);
        TimeZone::posix(&format!("STD{}DST{},{begins},{ends}", posix_offset(offset), posix_offset(ahead)))
            .ok()
    });
    Some(summer.unwrap_or_else(|| offset.to_time_zone()))
}

/// `+0530`
fn read_offset(text: &str) -> Option<Offset> {
    let text = text.trim();
    let (sign, digits) = match text.strip_prefix('-') {
        Some(digits) => (-1, digits),
        None => (1, text.strip_prefix('+').unwrap_or(text)),
    };
    if !matches!(digits.len(), 4 | 6) || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let part = |at: usize| digits.get(at..at + 2).map_or(Some(0), |part| part.parse::<i32>().ok());
    Offset::from_seconds(sign * (part(0)? * 3600 + part(2)? * 60 + part(4)?)).ok()
}

/// POSIX counts to the west.
fn posix_offset(offset: Offset) -> String {
    let seconds = -offset.seconds();
    let sign = if seconds < 0 { "-" } else { "" };
    let seconds = seconds.abs();
    format!("{sign}{}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60)
}

/// `M3.5.0/2:00:00`: month, which of its weeks (5: the last), weekday.
fn posix_change(part: &Component) -> Option<String> {
    let rule = Rule::parse(part.line("RRULE")?.value()).ok()?;
    let (time, _) = read_time(part.line("DTSTART")?.value())?;
    let (month, week, weekday) = rule.yearly_weekday()?;
    let clock = format!("{}:{:02}:{:02}", time.hour(), time.minute(), time.second());
    Some(format!("M{month}.{week}.{}/{clock}", weekday.to_sunday_zero_offset()))
}
