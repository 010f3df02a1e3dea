//! Between EventKit's kinds and ours.

use jiff::civil::{DateTime, Weekday};
use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan as _};
use objc2::AllocAnyThread as _;
use objc2::rc::Retained;
use objc2_event_kit::{
    EKRecurrenceDayOfWeek, EKRecurrenceEnd, EKRecurrenceFrequency, EKRecurrenceRule, EKWeekday,
};
use objc2_foundation::{
    NSArray, NSDate, NSDateComponentUndefined, NSDateComponents, NSNumber, NSString, NSTimeZone,
};

use crate::moment::in_zone;
use crate::recur::{Frequency, Rule, Until};
use crate::{Error, Moment};

pub(super) fn to_date(time: Timestamp) -> Retained<NSDate> {
    #[allow(clippy::cast_precision_loss, reason = "seconds of our times are far below 2^52")]
    NSDate::dateWithTimeIntervalSince1970(time.as_second() as f64)
}

#[allow(clippy::cast_possible_truncation, reason = "what a calendar has are whole seconds within centuries")]
pub(super) fn from_date(date: &NSDate) -> Timestamp {
    Timestamp::from_second(date.timeIntervalSince1970().round() as i64).unwrap_or(Timestamp::MIN)
}

pub(super) fn to_zone(moment: &Moment) -> Option<Retained<NSTimeZone>> {
    NSTimeZone::timeZoneWithName(&NSString::from_str(moment.zone_name()?))
}

/// A date as EventKit has it for an event: days begin in the system's zone.
pub(super) fn from_event_date(date: &NSDate, zone: Option<&NSTimeZone>, all_day: bool) -> Moment {
    let at = from_date(date);
    if all_day {
        return Moment::Day(at.to_zoned_datetime(TimeZone::system()).date());
    }
    let named = zone.and_then(|zone| TimeZone::get(&zone.name().to_string()).ok());
    match named {
        Some(zone) => Moment::At(at.to_zoned_datetime(zone)),
        None => Moment::Local(at.to_zoned_datetime(TimeZone::system()).datetime()),
    }
}

/// The last second of its last day, as EventKit has it, is for us the day after.
pub(super) fn from_event_end(date: &NSDate, zone: Option<&NSTimeZone>, all_day: bool) -> Moment {
    match from_event_date(date, zone, all_day) {
        Moment::Day(day) => {
            let at = from_date(date).to_zoned_datetime(TimeZone::system());
            let is_midnight = at.datetime() == day.to_datetime(jiff::civil::Time::midnight());
            Moment::Day(if is_midnight { day } else { day.tomorrow().unwrap_or(day) })
        }
        end => end,
    }
}

pub(super) fn to_event_date(moment: &Moment) -> Retained<NSDate> {
    to_date(moment.seen_in(&TimeZone::system()))
}

/// The last second of the day before an end that is a day.
pub(super) fn to_event_end(end: &Moment) -> Retained<NSDate> {
    let at = end.seen_in(&TimeZone::system());
    to_date(if end.is_day() { at.checked_sub(1.second()).unwrap_or(at) } else { at })
}

pub(super) fn to_components(moment: &Moment) -> Retained<NSDateComponents> {
    let parts = NSDateComponents::new();
    let wall = moment.wall();
    parts.setYear(wall.year().into());
    parts.setMonth(wall.month().into());
    parts.setDay(wall.day().into());
    if !moment.is_day() {
        parts.setHour(wall.hour().into());
        parts.setMinute(wall.minute().into());
        parts.setSecond(wall.second().into());
        parts.setTimeZone(to_zone(moment).as_deref());
    }
    parts
}

pub(super) fn from_components(parts: &NSDateComponents) -> Option<Moment> {
    let part = |value: isize| i8::try_from(value).ok();
    let date =
        jiff::civil::Date::new(i16::try_from(parts.year()).ok()?, part(parts.month())?, part(parts.day())?)
            .ok()?;
    if parts.hour() == NSDateComponentUndefined {
        return Some(Moment::Day(date));
    }
    let or_zero = |value: isize| if value == NSDateComponentUndefined { Some(0) } else { part(value) };
    let (hour, minute, second) = (part(parts.hour())?, or_zero(parts.minute())?, or_zero(parts.second())?);
    let wall: DateTime =
        jiff::civil::Time::new(hour, minute, second, 0).ok().map(|time| date.to_datetime(time))?;
    let zone = parts.timeZone().and_then(|zone| TimeZone::get(&zone.name().to_string()).ok());
    Some(zone.and_then(|zone| in_zone(wall, &zone)).map_or(Moment::Local(wall), Moment::At))
}

fn to_weekday(day: Weekday) -> EKWeekday {
    EKWeekday(isize::from(day.to_sunday_one_offset()))
}

fn from_weekday(day: EKWeekday) -> Option<Weekday> {
    Weekday::from_sunday_one_offset(i8::try_from(day.0).ok()?).ok()
}

/// A rule as EventKit can have it.
///
/// # Errors
/// [`Error::Invalid`] for what it has no word for.
pub(super) fn to_rule(text: &str, start: &Moment) -> Result<Retained<EKRecurrenceRule>, Error> {
    let rule = Rule::parse(text)?;
    let frequency = match rule.frequency {
        Frequency::Yearly => EKRecurrenceFrequency::Yearly,
        Frequency::Monthly => EKRecurrenceFrequency::Monthly,
        Frequency::Weekly => EKRecurrenceFrequency::Weekly,
        Frequency::Daily => EKRecurrenceFrequency::Daily,
        Frequency::Hourly | Frequency::Minutely | Frequency::Secondly => {
            return Err(Error::invalid("recurrence", "the Mac's calendar has nothing more often than daily"));
        }
    };
    if !(rule.by_hour.is_empty() && rule.by_minute.is_empty() && rule.by_second.is_empty()) {
        return Err(Error::invalid("recurrence", "the Mac's calendar has one time a day for a series"));
    }
    let numbers = |list: &[i16]| {
        let list: Vec<_> = list.iter().map(|number| NSNumber::new_i16(*number)).collect();
        (!list.is_empty()).then(|| NSArray::from_retained_slice(&list))
    };
    let months: Vec<i16> = rule.by_month.iter().map(|month| (*month).into()).collect();
    let days: Vec<_> = rule
        .by_day
        .iter()
        // SAFETY: the weekday is one of the seven, the number within a year's weeks: the documented ranges.
        .map(|(nth, day)| unsafe {
            EKRecurrenceDayOfWeek::dayOfWeek_weekNumber(to_weekday(*day), (*nth).into())
        })
        .collect();
    let days = (!days.is_empty()).then(|| NSArray::from_retained_slice(&days));
    let last = rule.until.map(|until| match until {
        Until::Date(time) | Until::Local(time) => start.with_wall(time).seen_in(&TimeZone::system()),
        Until::Utc(time) => crate::moment::instant(time, &TimeZone::UTC),
    });
    // SAFETY: constructors that take any date, and any count above 0, which the rule's parser holds.
    let end = unsafe {
        match (rule.count, last) {
            (Some(count), _) => Some(EKRecurrenceEnd::recurrenceEndWithOccurrenceCount(count as usize)),
            (None, Some(last)) => Some(EKRecurrenceEnd::recurrenceEndWithEndDate(&to_date(last))),
            (None, None) => None,
        }
    };
    let interval = isize::try_from(rule.interval).unwrap_or(1);
    // SAFETY: the interval is above 0 and the lists are within RFC 5545's ranges, held by the rule's parser; EventKit
    // ignores those that the frequency does not take.
    Ok(unsafe {
        EKRecurrenceRule::initRecurrenceWithFrequency_interval_daysOfTheWeek_daysOfTheMonth_monthsOfTheYear_weeksOfTheYear_daysOfTheYear_setPositions_end(
            EKRecurrenceRule::alloc(),
            frequency,
            interval,
            days.as_deref(),
            numbers(&rule.by_month_day).as_deref(),
            numbers(&months).as_deref(),
            numbers(&rule.by_week).as_deref(),
            numbers(&rule.by_year_day).as_deref(),
            numbers(&rule.by_position).as_deref(),
            end.as_deref(),
        )
    })
}

pub(super) fn from_rule(theirs: &EKRecurrenceRule) -> String {
    let numbers = |list: Option<Retained<NSArray<NSNumber>>>| -> Vec<i16> {
        list.map(|list| list.to_vec().iter().map(|number| number.as_i16()).collect()).unwrap_or_default()
    };
    // SAFETY: getters of a rule that we hold.
    unsafe {
        let mut rule = Rule::every(match theirs.frequency() {
            EKRecurrenceFrequency::Yearly => Frequency::Yearly,
            EKRecurrenceFrequency::Monthly => Frequency::Monthly,
            EKRecurrenceFrequency::Weekly => Frequency::Weekly,
            _ => Frequency::Daily,
        });
        rule.interval = u32::try_from(theirs.interval()).unwrap_or(1).max(1);
        rule.by_month_day = numbers(theirs.daysOfTheMonth());
        rule.by_month =
            numbers(theirs.monthsOfTheYear()).into_iter().filter_map(|n| i8::try_from(n).ok()).collect();
        rule.by_week = numbers(theirs.weeksOfTheYear());
        rule.by_year_day = numbers(theirs.daysOfTheYear());
        rule.by_position = numbers(theirs.setPositions());
        let days = theirs.daysOfTheWeek().map(|days| days.to_vec()).unwrap_or_default();
        rule.by_day = days
            .iter()
            .filter_map(|day| {
                Some((i16::try_from(day.weekNumber()).ok()?, from_weekday(day.dayOfTheWeek())?))
            })
            .collect();
        if let Some(end) = theirs.recurrenceEnd() {
            rule.count = u32::try_from(end.occurrenceCount()).ok().filter(|count| *count > 0);
            rule.until = end
                .endDate()
                .map(|date| Until::Utc(from_date(&date).to_zoned_datetime(TimeZone::UTC).datetime()));
        }
        rule.to_string()
    }
}
