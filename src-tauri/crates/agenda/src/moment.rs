//! Points in time as calendars have them: a day, a local time, or a time in a zone.

use std::fmt;
use std::str::FromStr;

use jiff::civil::{Date, DateTime, Time};
use jiff::fmt::temporal::Pieces;
use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan as _, ZonedDateTime};
use serde::{Deserialize, Serialize};

/// As text: `2026-03-29`, `2026-03-29T10:00:00`, `2026-03-29T10:00:00+02:00[Europe/Berlin]`. Read besides:
/// `2026-03-29T08:00:00Z` and `2026-03-29T10:00:00+02:00`, whose zone is then that offset.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Moment {
    /// A whole day, wherever one is.
    Day(Date),
    /// A time of the clock on the wall, wherever one is.
    Local(DateTime),
    At(ZonedDateTime),
}

/// A text that is none of a [`Moment`]'s.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{0:?} is no time; write a day as 2026-03-29, a time as 2026-03-29T10:00:00, with [Europe/Berlin] or Z where it is in a zone"
)]
pub struct NotAMoment(pub String);

impl Moment {
    /// The day, and the time on the wall there; midnight of a whole day.
    pub fn wall(&self) -> DateTime {
        match self {
            Self::Day(day) => day.to_datetime(Time::midnight()),
            Self::Local(time) => *time,
            Self::At(zoned) => zoned.datetime(),
        }
    }

    pub fn date(&self) -> Date {
        self.wall().date()
    }

    /// When that is for someone in `zone`. A time that the clock skips there is the one after the gap.
    pub fn seen_in(&self, zone: &TimeZone) -> Timestamp {
        match self {
            Self::At(zoned) => zoned.timestamp(),
            Self::Day(_) | Self::Local(_) => instant(self.wall(), zone),
        }
    }

    pub fn is_day(&self) -> bool {
        matches!(self, Self::Day(_))
    }

    /// The IANA name of its zone, if it has one.
    pub fn zone_name(&self) -> Option<&str> {
        match self {
            Self::At(zoned) => zoned.time_zone().iana_name(),
            Self::Day(_) | Self::Local(_) => None,
        }
    }

    /// The same kind of moment at another time on the wall.
    pub(crate) fn with_wall(&self, wall: DateTime) -> Self {
        match self {
            Self::Day(_) => Self::Day(wall.date()),
            Self::Local(_) => Self::Local(wall),
            Self::At(zoned) => in_zone(wall, zoned.time_zone()).map_or(Self::Local(wall), Self::At),
        }
    }
}

/// The same point in time; a day, a local time and a zoned one are never the same.
impl PartialEq for Moment {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Day(one), Self::Day(other)) => one == other,
            (Self::Local(one), Self::Local(other)) => one == other,
            (Self::At(one), Self::At(other)) => one == other,
            (Self::Day(_) | Self::Local(_) | Self::At(_), _) => false,
        }
    }
}

impl Eq for Moment {}

/// As RFC 5545 reads a time that is skipped (as by the offset before the gap) or that comes twice (the first).
pub(crate) fn in_zone(wall: DateTime, zone: &TimeZone) -> Option<ZonedDateTime> {
    zone.to_ambiguous_zoned_datetime(wall).compatible().ok()
}

pub(crate) fn instant(wall: DateTime, zone: &TimeZone) -> Timestamp {
    in_zone(wall, zone).map_or(Timestamp::MAX, |zoned| zoned.timestamp())
}

/// A zone by its IANA name.
pub(crate) fn zone_named(name: &str) -> Result<TimeZone, crate::Error> {
    TimeZone::get(name).map_err(|_| {
        crate::Error::invalid("timeZone", format!("{name:?} is no time zone; use a name like Europe/Berlin"))
    })
}

impl fmt::Display for Moment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Day(day) => day.fmt(f),
            Self::Local(time) => time.fmt(f),
            Self::At(zoned) if zoned.time_zone().iana_name() == Some("UTC") => zoned.timestamp().fmt(f),
            Self::At(zoned) => zoned.fmt(f),
        }
    }
}

impl FromStr for Moment {
    type Err = NotAMoment;

    fn from_str(text: &str) -> Result<Self, NotAMoment> {
        let text = text.trim();
        let error = || NotAMoment(text.chars().take(60).collect());
        if text.len() == 10 {
            return text.parse().map(Self::Day).map_err(|_| error());
        }
        if text.contains('[') {
            return text.parse().map(Self::At).map_err(|_| error());
        }
        // An offset, and how far from UTC it is; the date has a "-" too, but no time does.
        let time = text.find(['T', 't', ' ']).map_or("", |at| &text[at..]);
        if !time.contains(['Z', 'z', '+', '-']) {
            return text.parse().map(Self::Local).map_err(|_| error());
        }
        let at: Timestamp = text.parse().map_err(|_| error())?;
        let offset = Pieces::parse(text).ok().and_then(|pieces| pieces.to_numeric_offset());
        let zone = match offset {
            Some(offset) if !time.ends_with(['Z', 'z']) => offset.to_time_zone(),
            _ => TimeZone::UTC,
        };
        Ok(Self::At(at.to_zoned_datetime(zone)))
    }
}

impl TryFrom<String> for Moment {
    type Error = NotAMoment;

    fn try_from(text: String) -> Result<Self, NotAMoment> {
        text.parse()
    }
}

impl From<Moment> for String {
    fn from(moment: Moment) -> Self {
        moment.to_string()
    }
}

/// Which occurrence of a series: the start that the rule gave it, wherever it has been moved since.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct RecurrenceId(pub Moment);

impl fmt::Display for RecurrenceId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// From one time until before another, and the zone of who looks: whole days and local times are theirs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Range {
    from: Timestamp,
    to: Timestamp,
    zone: TimeZone,
}

impl Range {
    /// # Errors
    /// [`crate::Error::Invalid`] if it is empty or longer than [`crate::MAX_DAYS`].
    pub fn new(from: Timestamp, to: Timestamp, zone: TimeZone) -> Result<Self, crate::Error> {
        if to <= from {
            return Err(crate::Error::invalid("range", "it ends before it begins"));
        }
        if to.as_second() - from.as_second() > crate::MAX_DAYS * 86_400 {
            return Err(crate::Error::invalid(
                "range",
                format!("it is longer than {} days", crate::MAX_DAYS),
            ));
        }
        Ok(Self { from, to, zone })
    }

    /// From a moment until before another, as someone in `zone` sees them.
    ///
    /// # Errors
    /// As [`Range::new`].
    pub fn between(from: &Moment, to: &Moment, zone: TimeZone) -> Result<Self, crate::Error> {
        Self::new(from.seen_in(&zone), to.seen_in(&zone), zone)
    }

    /// Whole days, the last one too.
    ///
    /// # Errors
    /// As [`Range::new`].
    pub fn days(first: Date, last: Date, zone: TimeZone) -> Result<Self, crate::Error> {
        let after =
            last.checked_add(1.day()).map_err(|_| crate::Error::invalid("range", "it ends too late"))?;
        Self::between(&Moment::Day(first), &Moment::Day(after), zone)
    }

    /// So many days before and after a point in time, which is in seconds since the Unix epoch.
    ///
    /// # Errors
    /// As [`Range::new`]; also for a time that is none.
    pub fn around(now: i64, before: i64, after: i64, zone: TimeZone) -> Result<Self, crate::Error> {
        let at = |days: i64| {
            let second = now.saturating_add(days.saturating_mul(86_400));
            Timestamp::from_second(second).map_err(|_| crate::Error::invalid("range", "that is no time"))
        };
        Self::new(at(-before)?, at(after)?, zone)
    }

    pub fn from(&self) -> Timestamp {
        self.from
    }

    pub fn to(&self) -> Timestamp {
        self.to
    }

    pub fn zone(&self) -> &TimeZone {
        &self.zone
    }

    /// Whether something from `start` to `end` is seen in it. What takes no time is seen where it starts.
    pub(crate) fn holds(&self, start: &Moment, end: &Moment) -> bool {
        let (start, end) = (start.seen_in(&self.zone), end.seen_in(&self.zone));
        start < self.to && (end > self.from || (start == end && start >= self.from))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moment_is_read_and_written_as_text() {
        for (text, again) in [
            ("2026-03-29", "2026-03-29"),
            ("2026-03-29T10:00", "2026-03-29T10:00:00"),
            ("2026-03-29T10:00:00[Europe/Berlin]", "2026-03-29T10:00:00+02:00[Europe/Berlin]"),
            ("2026-03-29T08:00:00Z", "2026-03-29T08:00:00Z"),
            ("2026-03-29T10:00:00+02:00", "2026-03-29T10:00:00+02:00[+02:00]"),
            ("2026-03-29T10:00:00-03:30", "2026-03-29T10:00:00-03:30[-03:30]"),
        ] {
            let moment: Moment = text.parse().unwrap_or_else(|error| panic!("{error}"));
            assert_eq!(moment.to_string(), again);
            assert_eq!(again.parse::<Moment>().unwrap(), moment);
        }
        for text in
            ["", "today", "2026-13-01", "2026-03-29T10:00:00[Nowhere/Land]", "2026-03-29T25:00", "29.3.2026"]
        {
            assert!(text.parse::<Moment>().is_err(), "{text}");
        }
    }

    #[test]
    fn a_time_that_the_clock_skips_is_after_the_gap_and_one_that_comes_twice_is_the_first() {
        let berlin = TimeZone::get("Europe/Berlin").unwrap();
        let local = |text: &str| text.parse::<Moment>().unwrap().seen_in(&berlin).to_string();
        assert_eq!(local("2026-03-29T02:30:00"), "2026-03-29T01:30:00Z");
        assert_eq!(local("2026-10-25T02:30:00"), "2026-10-25T00:30:00Z");
    }
}
