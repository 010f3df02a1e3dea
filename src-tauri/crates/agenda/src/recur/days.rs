//! Which days of a period a rule takes.

use jiff::civil::{Date, Weekday};
use jiff::{Span, ToSpan as _};

use super::{Frequency, Rule};

/// The days of a rule, with what it leaves to its first start filled in.
pub(super) struct Days {
    frequency: Frequency,
    by_month: Vec<i8>,
    by_week: Vec<i16>,
    by_year_day: Vec<i16>,
    by_month_day: Vec<i16>,
    by_day: Vec<(i16, Weekday)>,
    week_start: Weekday,
}

impl Days {
    pub(super) fn of(rule: &Rule, first: Date) -> Self {
        let mut days = Self {
            frequency: rule.frequency,
            by_month: rule.by_month.clone(),
            by_week: rule.by_week.clone(),
            by_year_day: rule.by_year_day.clone(),
            by_month_day: rule.by_month_day.clone(),
            by_day: rule.by_day.clone(),
            week_start: rule.week_start,
        };
        let open = days.by_week.is_empty()
            && days.by_year_day.is_empty()
            && days.by_month_day.is_empty()
            && days.by_day.is_empty();
        match rule.frequency {
            Frequency::Yearly if open => {
                if days.by_month.is_empty() {
                    days.by_month.push(first.month());
                }
                days.by_month_day.push(first.day().into());
            }
            Frequency::Monthly if open => days.by_month_day.push(first.day().into()),
            Frequency::Weekly if open => days.by_day.push((0, first.weekday())),
            // A week without a day of it: the first start's.
            Frequency::Yearly
                if !days.by_week.is_empty()
                    && days.by_day.is_empty()
                    && days.by_year_day.is_empty()
                    && days.by_month_day.is_empty() =>
            {
                days.by_day.push((0, first.weekday()));
            }
            _ => {}
        }
        days
    }

    /// The days of the period that `day` is in, in order.
    pub(super) fn in_period_of(&self, day: Date) -> Vec<Date> {
        let (start, length) = match self.frequency {
            Frequency::Yearly => (day.first_of_year(), day.days_in_year()),
            Frequency::Monthly => (day.first_of_month(), day.days_in_month().into()),
            Frequency::Weekly => (week_of(day, self.week_start), 7),
            _ => (day, 1),
        };
        let all = (0..length).map_while(|ahead| start.checked_add(Span::new().days(ahead)).ok());
        all.filter(|day| self.takes(*day)).collect()
    }

    pub(super) fn takes(&self, day: Date) -> bool {
        let any = |list: &[i16], from_start: i16, length: i16| {
            list.is_empty() || list.iter().any(|n| *n == from_start || *n == from_start - length - 1)
        };
        (self.by_month.is_empty() || self.by_month.contains(&day.month()))
            && any(&self.by_year_day, day.day_of_year(), day.days_in_year())
            && any(&self.by_month_day, day.day().into(), day.days_in_month().into())
            && self.takes_week(day)
            && self.takes_weekday(day)
    }

    /// Of the year that the period is: a week at its edge counts in the year that has most of it.
    fn takes_week(&self, day: Date) -> bool {
        if self.by_week.is_empty() {
            return true;
        }
        let Some((week, weeks)) = week_number(day, self.week_start) else { return false };
        self.by_week.iter().any(|n| *n == week || *n == week - weeks - 1)
    }

    fn takes_weekday(&self, day: Date) -> bool {
        if self.by_day.is_empty() {
            return true;
        }
        let in_month = self.frequency == Frequency::Monthly
            || (self.frequency == Frequency::Yearly && !self.by_month.is_empty());
        let (at, length) = match self.frequency {
            _ if in_month => (i16::from(day.day()), i16::from(day.days_in_month())),
            Frequency::Yearly => (day.day_of_year(), day.days_in_year()),
            // "The second Monday" of a week or a day is any Monday.
            _ => return self.by_day.iter().any(|(_, weekday)| *weekday == day.weekday()),
        };
        let (nth, from_end) = ((at - 1) / 7 + 1, -((length - at) / 7 + 1));
        let weekday = day.weekday();
        self.by_day.iter().any(|(n, other)| *other == weekday && (*n == 0 || *n == nth || *n == from_end))
    }
}

/// The first day of the week that a day is in.
pub(super) fn week_of(day: Date, week_start: Weekday) -> Date {
    let into = week_start.until(day.weekday());
    day.checked_sub(i64::from(into).days()).unwrap_or(day)
}

/// The number of a day's week, and how many its year has; the first week is the one with four days or more of the year.
fn week_number(day: Date, week_start: Weekday) -> Option<(i16, i16)> {
    let first_week = |year: i16| Some(week_of(Date::new(year, 1, 4).ok()?, week_start));
    let this = week_of(day, week_start);
    let days = |from: Date, to: Date| (to - from).get_days();
    let year = [day.year() + 1, day.year(), day.year() - 1]
        .into_iter()
        .find(|year| first_week(*year).is_some_and(|first| first <= this))?;
    let first = first_week(year)?;
    let week = i16::try_from(days(first, this) / 7 + 1).ok()?;
    Some((week, i16::try_from(days(first, first_week(year + 1)?) / 7).ok()?))
}
