//! The occurrences of a rule, in order, on the clock on the wall.

use std::collections::VecDeque;

use jiff::Span;
use jiff::civil::{Date, DateTime, Time};

use super::days::{Days, week_of};
use super::{Frequency, Rule};

/// The most periods that are looked through for one rule. A rule for each second would otherwise never get anywhere.
const MAX_PERIODS: u32 = 100_000;

/// Knows neither `COUNT`'s end nor `UNTIL`'s: who asks knows which starts count, and in which zone they are.
pub(crate) struct Walls<'a> {
    rule: &'a Rule,
    first: DateTime,
    days: Days,
    times: Vec<Time>,
    /// The next period, counted from the first start's.
    period: i64,
    looked: u32,
    ready: VecDeque<DateTime>,
}

impl<'a> Walls<'a> {
    /// From the first start on.
    pub(crate) fn new(rule: &'a Rule, first: DateTime) -> Self {
        let days = Days::of(rule, first.date());
        let mut walls =
            Self { rule, first, days, times: Vec::new(), period: 0, looked: 0, ready: VecDeque::new() };
        walls.times = walls.times_of_a_day();
        walls
    }

    /// Leaves out what is clearly before a time. Not for rules with a `COUNT`, whose occurrences must be counted.
    pub(crate) fn skipped_to(mut self, time: DateTime) -> Self {
        let days = i64::from((time.date() - self.first.date()).get_days());
        let between = match self.rule.frequency {
            Frequency::Yearly => i64::from(time.year() - self.first.year()),
            Frequency::Monthly => {
                12 * i64::from(time.year() - self.first.year()) + i64::from(time.month() - self.first.month())
            }
            Frequency::Weekly => days / 7,
            Frequency::Daily => days,
            Frequency::Hourly => days * 24,
            Frequency::Minutely => days * 1440,
            Frequency::Secondly => days * 86_400,
        };
        // One more each way: a period's start is earlier than the first start, a day may be shorter.
        let one_day = between / days.max(1) + 1;
        self.period = ((between - one_day) / i64::from(self.rule.interval) - 1).max(0);
        self
    }

    /// Whether the search was given up, rather than at an end.
    pub(crate) fn gave_up(&self) -> bool {
        self.looked >= MAX_PERIODS
    }

    /// A point within a period.
    fn period_start(&self, period: i64) -> Option<DateTime> {
        let steps = period.checked_mul(self.rule.interval.into())?;
        let date = self.first.date();
        let midnight = |date: Date| date.to_datetime(Time::midnight());
        let start = match self.rule.frequency {
            Frequency::Yearly => {
                midnight(Date::new(i16::try_from(i64::from(date.year()) + steps).ok()?, 1, 1).ok()?)
            }
            Frequency::Monthly => {
                let months = i64::from(date.year()) * 12 + i64::from(date.month()) - 1 + steps;
                let (year, month) = (i16::try_from(months.div_euclid(12)).ok()?, months.rem_euclid(12) + 1);
                midnight(Date::new(year, i8::try_from(month).ok()?, 1).ok()?)
            }
            Frequency::Weekly => {
                let week = week_of(date, self.rule.week_start);
                midnight(week.checked_add(Span::new().try_weeks(steps).ok()?).ok()?)
            }
            Frequency::Daily => midnight(date.checked_add(Span::new().try_days(steps).ok()?).ok()?),
            Frequency::Hourly => self.first.checked_add(Span::new().try_hours(steps).ok()?).ok()?,
            Frequency::Minutely => self.first.checked_add(Span::new().try_minutes(steps).ok()?).ok()?,
            Frequency::Secondly => self.first.checked_add(Span::new().try_seconds(steps).ok()?).ok()?,
        };
        (start.year() < 9000).then_some(start)
    }

    fn times_of_a_day(&self) -> Vec<Time> {
        let or = |list: &[i8], own: i8| if list.is_empty() { vec![own] } else { list.to_vec() };
        let (hours, minutes, seconds) = (
            or(&self.rule.by_hour, self.first.hour()),
            or(&self.rule.by_minute, self.first.minute()),
            or(&self.rule.by_second, self.first.second()),
        );
        times(&hours, &minutes, &seconds)
    }

    /// The occurrences of the period that begins there, in order.
    fn of_period(&self, start: DateTime) -> Vec<DateTime> {
        let rule = self.rule;
        let is = |list: &[i8], value: i8| list.is_empty() || list.contains(&value);
        let or = |list: &[i8], own: i8| if list.is_empty() { vec![own] } else { list.to_vec() };
        let (hour, minute, second) = (start.hour(), start.minute(), start.second());
        let mut within = Vec::new();
        let times = match rule.frequency {
            Frequency::Yearly | Frequency::Monthly | Frequency::Weekly | Frequency::Daily => &self.times,
            Frequency::Hourly => {
                if is(&rule.by_hour, hour) {
                    within = times(&[hour], &or(&rule.by_minute, minute), &or(&rule.by_second, second));
                }
                &within
            }
            Frequency::Minutely => {
                if is(&rule.by_hour, hour) && is(&rule.by_minute, minute) {
                    within = times(&[hour], &[minute], &or(&rule.by_second, second));
                }
                &within
            }
            Frequency::Secondly => {
                if is(&rule.by_hour, hour) && is(&rule.by_minute, minute) && is(&rule.by_second, second) {
                    within.push(start.time());
                }
                &within
            }
        };
        if times.is_empty() {
            return Vec::new();
        }
        let days = self.days.in_period_of(start.date());
        let all = days.iter().flat_map(|day| times.iter().map(|time| day.to_datetime(*time)));
        if rule.by_position.is_empty() {
            return all.collect();
        }
        let all: Vec<DateTime> = all.collect();
        let length = i64::try_from(all.len()).unwrap_or(i64::MAX);
        let mut chosen: Vec<DateTime> = rule
            .by_position
            .iter()
            .filter_map(|n| {
                let n = i64::from(*n);
                let at = if n > 0 { n - 1 } else { length + n };
                usize::try_from(at).ok().and_then(|at| all.get(at).copied())
            })
            .collect();
        chosen.sort_unstable();
        chosen.dedup();
        chosen
    }
}

fn times(hours: &[i8], minutes: &[i8], seconds: &[i8]) -> Vec<Time> {
    let mut times = Vec::new();
    for hour in hours {
        for minute in minutes {
            times.extend(seconds.iter().filter_map(|second| Time::new(*hour, *minute, *second, 0).ok()));
        }
    }
    times
}

impl Iterator for Walls<'_> {
    type Item = DateTime;

    fn next(&mut self) -> Option<DateTime> {
        while self.ready.is_empty() {
            if self.gave_up() {
                return None;
            }
            let start = self.period_start(self.period)?;
            self.period += 1;
            self.looked += 1;
            let found = self.of_period(start);
            if !found.is_empty() {
                self.looked = self.looked.saturating_sub(1);
            }
            self.ready.extend(found.into_iter().filter(|time| *time >= self.first));
        }
        self.ready.pop_front()
    }
}
