//! A rule as data: from text, and to text again in one form.

use std::fmt;

use jiff::civil::{DateTime, Weekday};
use jiff::tz::TimeZone;

use crate::ical::{TimeForm, date_text, read_time, time_text};
use crate::moment::in_zone;
use crate::{Error, Moment};

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Frequency {
    Yearly,
    Monthly,
    Weekly,
    Daily,
    Hourly,
    Minutely,
    Secondly,
}

/// Until when, that moment too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Until {
    Date(DateTime),
    Local(DateTime),
    /// On the clock in UTC.
    Utc(DateTime),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Rule {
    pub frequency: Frequency,
    pub interval: u32,
    pub count: Option<u32>,
    pub until: Option<Until>,
    pub by_month: Vec<i8>,
    pub by_week: Vec<i16>,
    pub by_year_day: Vec<i16>,
    pub by_month_day: Vec<i16>,
    /// With which of its kind in the month or year, counted from the end where negative; 0: each.
    pub by_day: Vec<(i16, Weekday)>,
    pub by_hour: Vec<i8>,
    pub by_minute: Vec<i8>,
    pub by_second: Vec<i8>,
    pub by_position: Vec<i16>,
    pub week_start: Weekday,
}

const FREQUENCIES: [(&str, Frequency); 7] = [
    ("YEARLY", Frequency::Yearly),
    ("MONTHLY", Frequency::Monthly),
    ("WEEKLY", Frequency::Weekly),
    ("DAILY", Frequency::Daily),
    ("HOURLY", Frequency::Hourly),
    ("MINUTELY", Frequency::Minutely),
    ("SECONDLY", Frequency::Secondly),
];

const WEEKDAYS: [(&str, Weekday); 7] = [
    ("MO", Weekday::Monday),
    ("TU", Weekday::Tuesday),
    ("WE", Weekday::Wednesday),
    ("TH", Weekday::Thursday),
    ("FR", Weekday::Friday),
    ("SA", Weekday::Saturday),
    ("SU", Weekday::Sunday),
];

pub(crate) fn weekday_text(day: Weekday) -> &'static str {
    WEEKDAYS.iter().find(|(_, other)| *other == day).map_or("MO", |(text, _)| text)
}

fn weekday(text: &str) -> Option<Weekday> {
    WEEKDAYS.iter().find(|(other, _)| *other == text).map(|(_, day)| *day)
}

impl Rule {
    /// # Errors
    /// [`Error::Invalid`] with the part that cannot be read, or that we do not know.
    pub(crate) fn parse(text: &str) -> Result<Self, Error> {
        let bad = |part: &str| {
            let part: String = part.chars().take(80).collect();
            Error::invalid(
                "recurrence",
                format!("{part:?} is no part of a rule; write one like FREQ=WEEKLY;BYDAY=MO,WE"),
            )
        };
        let text = text.trim().to_ascii_uppercase();
        let text = text.strip_prefix("RRULE:").unwrap_or(&text);
        let mut frequency = None;
        let mut rule = Self::every(Frequency::Daily);
        for part in text.split(';').filter(|part| !part.is_empty()) {
            let error = || bad(part);
            let (name, value) = part.split_once('=').ok_or_else(error)?;
            match name {
                "FREQ" => {
                    let found = FREQUENCIES.iter().find(|(text, _)| *text == value);
                    frequency = Some(found.ok_or_else(error)?.1);
                }
                "INTERVAL" => rule.interval = value.parse().ok().filter(|n| *n > 0).ok_or_else(error)?,
                "COUNT" => rule.count = Some(value.parse().ok().filter(|n| *n > 0).ok_or_else(error)?),
                "UNTIL" => {
                    let (time, form) = read_time(value).ok_or_else(error)?;
                    rule.until = Some(match form {
                        TimeForm::Date => Until::Date(time),
                        TimeForm::Local => Until::Local(time),
                        TimeForm::Utc => Until::Utc(time),
                    });
                }
                "BYMONTH" => rule.by_month = numbers(value, 1, 12).ok_or_else(error)?,
                "BYWEEKNO" => rule.by_week = signed(value, 53).ok_or_else(error)?,
                "BYYEARDAY" => rule.by_year_day = signed(value, 366).ok_or_else(error)?,
                "BYMONTHDAY" => rule.by_month_day = signed(value, 31).ok_or_else(error)?,
                "BYDAY" => {
                    rule.by_day =
                        value.split(',').map(nth_weekday).collect::<Option<_>>().ok_or_else(error)?
                }
                "BYHOUR" => rule.by_hour = numbers(value, 0, 23).ok_or_else(error)?,
                "BYMINUTE" => rule.by_minute = numbers(value, 0, 59).ok_or_else(error)?,
                "BYSECOND" => rule.by_second = numbers(value, 0, 59).ok_or_else(error)?,
                "BYSETPOS" => rule.by_position = signed(value, 366).ok_or_else(error)?,
                "WKST" => rule.week_start = weekday(value).ok_or_else(error)?,
                _ => return Err(error()),
            }
        }
        rule.frequency = frequency.ok_or_else(|| bad("a rule without FREQ"))?;
        Ok(rule)
    }

    pub(crate) fn every(frequency: Frequency) -> Self {
        Self {
            frequency,
            interval: 1,
            count: None,
            until: None,
            by_month: Vec::new(),
            by_week: Vec::new(),
            by_year_day: Vec::new(),
            by_month_day: Vec::new(),
            by_day: Vec::new(),
            by_hour: Vec::new(),
            by_minute: Vec::new(),
            by_second: Vec::new(),
            by_position: Vec::new(),
            week_start: Weekday::Monday,
        }
    }

    /// Whether a start is still within the rule.
    pub(crate) fn reaches(&self, start: &Moment) -> bool {
        match self.until {
            None => true,
            Some(Until::Date(last)) => start.date() <= last.date(),
            Some(Until::Local(last)) => start.wall() <= last,
            Some(Until::Utc(last)) if matches!(start, Moment::Local(_)) => start.wall() <= last,
            Some(Until::Utc(last)) if start.is_day() => start.date() <= last.date(),
            Some(Until::Utc(last)) => in_zone(last, &TimeZone::UTC)
                .is_some_and(|last| start.seen_in(&TimeZone::UTC) <= last.timestamp()),
        }
    }

    /// Month, which of its weeks (5: the last) and weekday, of a rule for once a year such as time zones have.
    pub(crate) fn yearly_weekday(&self) -> Option<(i8, i16, Weekday)> {
        let ([month], [(nth, day)]) = (self.by_month.as_slice(), self.by_day.as_slice()) else { return None };
        let week = match (nth, self.by_month_day.as_slice()) {
            (-1, []) => 5,
            (1..=4, []) => *nth,
            // "The Sunday among the days from the 8th on", as some write the second.
            (0, [first, ..]) if first % 7 == 1 => first / 7 + 1,
            _ => return None,
        };
        (self.frequency == Frequency::Yearly && self.until.is_none()).then_some((*month, week, *day))
    }

    /// The rule of a series whose starts have all been moved by whole days, where it says which days they are on.
    ///
    /// # Errors
    /// [`Error::Invalid`] where it cannot be told what the new rule is.
    pub(crate) fn moved(mut self, days: i64) -> Result<Self, Error> {
        if days == 0 {
            return Ok(self);
        }
        let plain = self.by_month.is_empty()
            && self.by_week.is_empty()
            && self.by_year_day.is_empty()
            && self.by_month_day.is_empty()
            && self.by_position.is_empty();
        if !plain || (self.frequency != Frequency::Weekly && !self.by_day.is_empty()) {
            let why =
                format!("the series follows {self}, which another day does not fit; give its new rule too");
            return Err(Error::invalid("recurrence", why));
        }
        for (_, day) in &mut self.by_day {
            *day = day.wrapping_add(days);
        }
        Ok(self)
    }
}

fn numbers(text: &str, least: i8, most: i8) -> Option<Vec<i8>> {
    let mut numbers = text
        .split(',')
        .map(|number| number.parse().ok().filter(|number| (least..=most).contains(number)))
        .collect::<Option<Vec<i8>>>()?;
    numbers.sort_unstable();
    numbers.dedup();
    Some(numbers)
}

fn signed(text: &str, most: i16) -> Option<Vec<i16>> {
    let number = |text: &str| text.parse().ok().filter(|number: &i16| *number != 0 && number.abs() <= most);
    text.split(',').map(number).collect()
}

/// `MO`, `2MO`, `-1SU`
fn nth_weekday(text: &str) -> Option<(i16, Weekday)> {
    let (nth, day) = text.split_at_checked(text.len().checked_sub(2)?)?;
    let nth =
        if nth.is_empty() { 0 } else { nth.parse().ok().filter(|nth: &i16| *nth != 0 && nth.abs() <= 53)? };
    Some((nth, weekday(day)?))
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let frequency = FREQUENCIES.iter().find(|(_, other)| *other == self.frequency);
        write!(f, "FREQ={}", frequency.map_or("DAILY", |(text, _)| text))?;
        if self.interval != 1 {
            write!(f, ";INTERVAL={}", self.interval)?;
        }
        if let Some(count) = self.count {
            write!(f, ";COUNT={count}")?;
        }
        match self.until {
            None => {}
            Some(Until::Date(last)) => write!(f, ";UNTIL={}", date_text(last.date()))?,
            Some(Until::Local(last)) => write!(f, ";UNTIL={}", time_text(last))?,
            Some(Until::Utc(last)) => write!(f, ";UNTIL={}Z", time_text(last))?,
        }
        list(f, "BYMONTH", &self.by_month)?;
        list(f, "BYWEEKNO", &self.by_week)?;
        list(f, "BYYEARDAY", &self.by_year_day)?;
        list(f, "BYMONTHDAY", &self.by_month_day)?;
        let nth = |(nth, day): &(i16, Weekday)| match nth {
            0 => weekday_text(*day).to_owned(),
            nth => format!("{nth}{}", weekday_text(*day)),
        };
        list(f, "BYDAY", &self.by_day.iter().map(nth).collect::<Vec<_>>())?;
        list(f, "BYHOUR", &self.by_hour)?;
        list(f, "BYMINUTE", &self.by_minute)?;
        list(f, "BYSECOND", &self.by_second)?;
        list(f, "BYSETPOS", &self.by_position)?;
        if self.week_start != Weekday::Monday {
            write!(f, ";WKST={}", weekday_text(self.week_start))?;
        }
        Ok(())
    }
}

fn list<T: fmt::Display>(f: &mut fmt::Formatter<'_>, name: &str, items: &[T]) -> fmt::Result {
    if items.is_empty() {
        return Ok(());
    }
    let items: Vec<String> = items.iter().map(ToString::to_string).collect();
    write!(f, ";{name}={}", items.join(","))
}
