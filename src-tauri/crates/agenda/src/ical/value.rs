//! Values of properties: texts with their escapes, times with their zones.

use jiff::civil::{Date, DateTime, Time};
use jiff::tz::TimeZone;

use super::{Line, Zones};
use crate::Moment;
use crate::moment::in_zone;

/// A text as a TEXT value. No control character gets through: one that ends a line would begin a property.
pub(crate) fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for char in text.replace("\r\n", "\n").chars() {
        match char {
            '\\' | ';' | ',' => escaped.extend(['\\', char]),
            // All that readers may take for a line's end.
            '\n' | '\r' | '\u{b}' | '\u{c}' | '\u{85}' | '\u{2028}' | '\u{2029}' => escaped.push_str("\\n"),
            '\t' => escaped.push(char),
            char if char.is_control() => {}
            char => escaped.push(char),
        }
    }
    escaped
}

pub(crate) fn unescaped(value: &str) -> String {
    let mut text = String::with_capacity(value.len());
    let mut chars = value.chars();
    while let Some(char) = chars.next() {
        match char {
            '\\' => match chars.next() {
                Some('n' | 'N') => text.push('\n'),
                Some(other) => text.push(other),
                None => {}
            },
            char => text.push(char),
        }
    }
    text
}

/// `20260329`
pub(crate) fn date_text(date: Date) -> String {
    format!("{:04}{:02}{:02}", date.year(), date.month(), date.day())
}

/// `20260329T100000`
pub(crate) fn time_text(time: DateTime) -> String {
    format!("{}T{:02}{:02}{:02}", date_text(time.date()), time.hour(), time.minute(), time.second())
}

fn read_date(text: &str) -> Option<Date> {
    if text.len() != 8 || !text.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    Date::new(text[..4].parse().ok()?, text[4..6].parse().ok()?, text[6..].parse().ok()?).ok()
}

/// A date with a time, or a date alone, whose time is then midnight; whether it was in UTC.
pub(crate) fn read_time(text: &str) -> Option<(DateTime, TimeForm)> {
    let text = text.trim();
    if let Some(date) = read_date(text) {
        return Some((date.to_datetime(Time::midnight()), TimeForm::Date));
    }
    let (date, time) = text.split_once(['T', 't'])?;
    let (time, form) = match time.strip_suffix(['Z', 'z']) {
        Some(time) => (time, TimeForm::Utc),
        None => (time, TimeForm::Local),
    };
    if time.len() != 6 || !time.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let second: i8 = time[4..].parse().ok()?;
    let clock = Time::new(time[..2].parse().ok()?, time[2..4].parse().ok()?, second.min(59), 0).ok()?;
    Some((read_date(date)?.to_datetime(clock), form))
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TimeForm {
    Date,
    Local,
    Utc,
}

impl Line {
    /// The one time of this line.
    pub(crate) fn moment(&self, zones: &Zones<'_>) -> Option<Moment> {
        self.moments(zones).into_iter().next()
    }

    /// The times of this line; of periods, their starts. What cannot be read is left out.
    pub(crate) fn moments(&self, zones: &Zones<'_>) -> Vec<Moment> {
        let zone = self.param("TZID").and_then(|id| zones.zone(id));
        let texts = self.value().split(',').filter_map(|text| text.split('/').next());
        let moments = texts.filter_map(|text| {
            let (wall, form) = read_time(text)?;
            Some(match (form, &zone) {
                (TimeForm::Date, _) => Moment::Day(wall.date()),
                (TimeForm::Utc, _) => Moment::At(in_zone(wall, &TimeZone::UTC)?),
                (TimeForm::Local, Some(zone)) => Moment::At(in_zone(wall, zone)?),
                (TimeForm::Local, None) => Moment::Local(wall),
            })
        });
        moments.collect()
    }
}

/// A line for a moment. `tzid` is the name that the object has for the moment's zone, where it has one of its own.
pub(crate) fn moment_line(name: &str, moment: &Moment, tzid: Option<&str>) -> Line {
    match moment {
        Moment::Day(day) => Line::new(name, &[("VALUE", "DATE")], &date_text(*day)),
        Moment::Local(time) => Line::new(name, &[], &time_text(*time)),
        Moment::At(zoned) => match tzid.or_else(|| zoned.time_zone().iana_name()) {
            Some(zone) if zone != "UTC" => Line::new(name, &[("TZID", zone)], &time_text(zoned.datetime())),
            _ => Line::new(name, &[], &utc_text(moment)),
        },
    }
}

/// `20260329T080000Z`
pub(crate) fn utc_text(moment: &Moment) -> String {
    let utc = moment.seen_in(&TimeZone::UTC).to_zoned_datetime(TimeZone::UTC);
    format!("{}Z", time_text(utc.datetime()))
}

/// A time in UTC as CalDAV's queries have it.
pub(crate) fn stamp_text(time: jiff::Timestamp) -> String {
    utc_text(&Moment::At(time.to_zoned_datetime(TimeZone::UTC)))
}
