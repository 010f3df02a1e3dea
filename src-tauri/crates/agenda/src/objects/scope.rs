//! Changes of one occurrence, of it and those that follow, or of a whole series.
//!
//! Each takes an object's parsed text and returns it edited; nothing here talks to a server.

use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp, ToSpan as _};

use super::edit::{
    OwnZone, add_zones, fitting_end, fitting_rule, keep_moments, placed, set_moment, set_texts, stamp,
    usual_end,
};
use super::series::{Series, after};
use super::store::Kind;
use crate::ical::{Component, Line, Part, moment_line, stamp_text};
use crate::moment::{in_zone, zone_named};
use crate::recur::Until;
use crate::{Error, EventPatch, Moment, RecurrenceId};

const EVENT: &str = Kind::Event.component();

/// The old series, cut short, and a new one.
pub(super) struct Split {
    pub old: Component,
    pub new: Component,
}

fn main_mut(root: &mut Component) -> Option<&mut Component> {
    let at = root
        .components()
        .position(|component| component.name == EVENT && component.line("RECURRENCE-ID").is_none());
    let at = at.or_else(|| root.components().position(|component| component.name == EVENT))?;
    root.components_mut().nth(at)
}

fn empty() -> Error {
    Error::Unreadable { what: "an event".into(), why: "it has no start".into() }
}

/// Start and end after a patch, and the zone that patch speaks in.
fn patched_times(patch: &EventPatch, start: &Moment, end: &Moment) -> Result<(Moment, Moment), Error> {
    let named = patch.time_zone.as_deref().map(zone_named).transpose()?;
    let zone = named.clone().or_else(|| match start {
        Moment::At(zoned) => Some(zoned.time_zone().clone()),
        Moment::Day(_) | Moment::Local(_) => None,
    });
    let new_start = match &patch.start {
        Some(new) => placed(new.clone(), zone.as_ref()),
        None => placed(start.clone(), named.as_ref()),
    };
    let new_end = match &patch.end {
        Some(new) => fitting_end(&new_start, placed(new.clone(), zone.as_ref()))?,
        None => same_length(&new_start, start, end, named.as_ref()),
    };
    Ok((new_start, new_end))
}

/// The end of what was as long as from `start` to `end`; the usual one where days became times or the other way round.
fn same_length(new_start: &Moment, start: &Moment, end: &Moment, zone: Option<&TimeZone>) -> Moment {
    if new_start.is_day() != start.is_day() {
        return usual_end(new_start);
    }
    if new_start.is_day() {
        return after(new_start, (end.date() - start.date()).get_days().days());
    }
    let seconds = end.seen_in(&TimeZone::UTC).as_second() - start.seen_in(&TimeZone::UTC).as_second();
    match (after(new_start, seconds.seconds()), end) {
        // An end in a zone of its own (a flight) stays in it.
        (Moment::At(new), Moment::At(old)) if zone.is_none() => {
            Moment::At(new.with_time_zone(old.time_zone().clone()))
        }
        (new, _) => placed(new, zone),
    }
}

fn moves(patch: &EventPatch) -> bool {
    patch.start.is_some() || patch.end.is_some() || patch.time_zone.is_some()
}

/// Writes new times where they differ from the old.
fn set_times(component: &mut Component, old: (&Moment, &Moment), new: (&Moment, &Moment)) {
    let own = OwnZone::of(component, Some(old.0));
    set_moment(component, "DTSTART", new.0, &own);
    component.remove("DURATION");
    set_moment(component, "DTEND", new.1, &own);
}

/// The whole series, or an event that does not recur. `seen_from`: the patch's times are those of this occurrence.
pub(super) fn change_all(
    root: &Component,
    patch: &EventPatch,
    seen_from: Option<&RecurrenceId>,
    now: Timestamp,
) -> Result<Component, Error> {
    let series = Series::of(root, EVENT)?;
    let main = series.main()?;
    let start = series.start_of(main).ok_or_else(empty)?;
    let end = series.end_from(main, &start);
    let mut edited = root.clone();
    let mut new = (start.clone(), end.clone());
    if moves(patch) {
        new = match seen_from.filter(|_| series.recurs()) {
            None => patched_times(patch, &start, &end)?,
            Some(id) => {
                let occurrence = series.occurrence(id)?;
                let (seen_start, seen_end) =
                    patched_times(patch, &occurrence, &series.end_from(main, &occurrence))?;
                let by = seen_start.wall().duration_since(occurrence.wall());
                let wall = start
                    .wall()
                    .checked_add(by)
                    .map_err(|_| Error::invalid("start", "it is too far away"))?;
                let first = seen_start.with_wall(wall);
                let last = same_length(&first, &seen_start, &seen_end, None);
                (first, last)
            }
        };
    }
    let moved = moves(patch)
        && (new.0 != start || new.0.zone_name() != start.zone_name() || new.0.is_day() != start.is_day());
    let component = main_mut(&mut edited).ok_or_else(empty)?;
    set_texts(component, patch)?;
    if moves(patch) {
        set_times(component, (&start, &end), (&new.0, &new.1));
    }
    match patch.recurrence.as_deref() {
        Some("") => {
            for name in ["RRULE", "RDATE", "EXDATE", "EXRULE"] {
                component.remove(name);
            }
        }
        Some(rule) => component.set(Line::new("RRULE", &[], &fitting_rule(rule, &new.0)?.to_string())),
        None if moved && series.recurs() => move_rule(component, &series, &start, &new.0)?,
        None => {}
    }
    stamp(component, now);
    if moved && series.recurs() {
        move_dates(&mut edited, &series, &start, &new.0);
    }
    add_zones(&mut edited, &[&new.0, &new.1]);
    if series.recurs() && (moved || patch.recurrence.is_some()) {
        drop_orphans(&mut edited)?;
    }
    Ok(edited)
}

/// Moves a time of the series as its start was moved: the same way on the clock on the wall.
fn moved(moment: &Moment, old: &Moment, new: &Moment) -> Moment {
    let wall: DateTime = match (moment, old) {
        (Moment::At(zoned), Moment::At(series)) => {
            zoned.with_time_zone(series.time_zone().clone()).datetime()
        }
        (moment, _) => moment.wall(),
    };
    let by: SignedDuration = new.wall().duration_since(old.wall());
    new.with_wall(wall.checked_add(by).unwrap_or(wall))
}

fn move_rule(
    component: &mut Component,
    series: &Series<'_>,
    old: &Moment,
    new: &Moment,
) -> Result<(), Error> {
    let Some(rule) = series.rule() else { return Ok(()) };
    let days = (new.date() - old.date()).get_days();
    let mut rule = rule.clone().moved(days.into())?;
    if new.wall().time() != old.wall().time() {
        let fixed = !rule.by_hour.is_empty() || !rule.by_minute.is_empty() || !rule.by_second.is_empty();
        if fixed {
            let why =
                format!("the series follows {rule}, which another time does not fit; give its new rule too");
            return Err(Error::invalid("recurrence", why));
        }
    }
    if let Some(until) = rule.until {
        let last = match until {
            Until::Date(time) => Moment::Day(time.date()),
            Until::Local(time) => Moment::Local(time),
            Until::Utc(time) => in_zone(time, &TimeZone::UTC).map_or(Moment::Local(time), Moment::At),
        };
        let last = moved(&last, old, new);
        rule.until = Some(match &last {
            Moment::Day(day) => Until::Date(day.at(0, 0, 0, 0)),
            Moment::Local(time) => Until::Local(*time),
            Moment::At(zoned) => Until::Utc(zoned.with_time_zone(TimeZone::UTC).datetime()),
        });
    }
    component.set(Line::new("RRULE", &[], &rule.to_string()));
    Ok(())
}

/// Excluded and added dates and exceptions go with their series; an exception's own time only where it was the rule's.
fn move_dates(root: &mut Component, series: &Series<'_>, old: &Moment, new: &Moment) {
    for component in root.components_mut().filter(|component| component.name == EVENT) {
        let own = OwnZone::of(component, Some(old));
        for name in ["EXDATE", "RDATE"] {
            let moments: Vec<Moment> =
                component.lines(name).flat_map(|line| line.moments(&series.zones)).collect();
            component.remove(name);
            for moment in moments {
                let moment = moved(&moment, old, new);
                component.add(moment_line(name, &moment, own.name_for(&moment)));
            }
        }
        let Some(of) = component.line("RECURRENCE-ID").and_then(|line| line.moment(&series.zones)) else {
            continue;
        };
        let start = series.start_of(component);
        let new_of = moved(&of, old, new);
        component.set(moment_line("RECURRENCE-ID", &new_of, own.name_for(&new_of)));
        if let Some(start) = start.filter(|start| *start == of) {
            let end = series.end_from(component, &start);
            let new_end = same_length(&new_of, &start, &end, None);
            set_times(component, (&start, &end), (&new_of, &new_end));
        }
    }
}

/// Exceptions of occurrences that the series has no more would be shown as events of their own.
fn drop_orphans(root: &mut Component) -> Result<(), Error> {
    let orphans: Vec<Moment> = {
        let series = Series::of(root, EVENT)?;
        let has = |of: &Moment| {
            let at = of.seen_in(&TimeZone::UTC);
            let to = at.checked_add(1.second()).unwrap_or(Timestamp::MAX);
            series.starts(at, to, &TimeZone::UTC, 1000).list.contains(of)
        };
        series.exceptions.iter().filter(|(of, _)| !has(of)).map(|(of, _)| of.clone()).collect()
    };
    drop_exceptions(root, |of| orphans.contains(of))
}

fn drop_exceptions(root: &mut Component, drop: impl Fn(&Moment) -> bool) -> Result<(), Error> {
    let dropped: Vec<bool> = {
        let series = Series::of(root, EVENT)?;
        let of = |component: &Component| {
            component.line("RECURRENCE-ID").and_then(|line| line.moment(&series.zones))
        };
        root.parts
            .iter()
            .map(|part| match part {
                Part::Component(component) if component.name == EVENT => {
                    of(component).is_some_and(|of| drop(&of))
                }
                Part::Component(_) | Part::Line(_) => false,
            })
            .collect()
    };
    let mut dropped = dropped.into_iter();
    root.parts.retain(|_| !dropped.next().unwrap_or(false));
    Ok(())
}

/// One occurrence; returns which.
pub(super) fn change_this(
    root: &Component,
    patch: &EventPatch,
    id: &RecurrenceId,
    now: Timestamp,
) -> Result<(Component, Moment), Error> {
    if patch.recurrence.is_some() {
        return Err(Error::invalid(
            "recurrence",
            "one occurrence has no rule of its own; change the whole series",
        ));
    }
    let series = Series::of(root, EVENT)?;
    let of = series.occurrence(id)?;
    let mut edited = root.clone();
    let known = series.exceptions.iter().position(|(other, _)| *other == of);
    let (start, end);
    let component = match known {
        Some(at) => {
            let theirs = series.exceptions[at].1;
            start = series.start_of(theirs).unwrap_or_else(|| of.clone());
            end = series.end_from(theirs, &start);
            let mut exceptions = edited
                .components_mut()
                .filter(|component| component.name == EVENT && component.line("RECURRENCE-ID").is_some());
            exceptions.nth(at).ok_or_else(empty)?
        }
        None => {
            let master = series.main()?;
            (start, end) = (of.clone(), series.end_from(master, &of));
            let own = OwnZone::of(master, Some(&of));
            let mut exception = master.clone();
            for name in ["RRULE", "RDATE", "EXDATE", "EXRULE"] {
                exception.remove(name);
            }
            set_times(&mut exception, (&of, &end), (&start, &end));
            let at = exception
                .parts
                .iter()
                .position(|part| matches!(part, Part::Line(line) if line.name == "DTSTART"));
            let line = moment_line("RECURRENCE-ID", &of, own.name_for(&of));
            exception.parts.insert(at.unwrap_or(0), Part::Line(line));
            edited.parts.push(Part::Component(exception));
            match edited.parts.last_mut() {
                Some(Part::Component(component)) => component,
                _ => return Err(empty()),
            }
        }
    };
    let new = if moves(patch) { patched_times(patch, &start, &end)? } else { (start.clone(), end.clone()) };
    set_texts(component, patch)?;
    if moves(patch) {
        set_times(component, (&start, &end), (&new.0, &new.1));
    }
    stamp(component, now);
    add_zones(&mut edited, &[&new.0, &new.1]);
    Ok((edited, of))
}

/// Cuts a series before an occurrence. `None` if that is its first: it is about all of it.
pub(super) fn cut(
    root: &Component,
    id: &RecurrenceId,
    now: Timestamp,
) -> Result<Option<(Component, Moment)>, Error> {
    let series = Series::of(root, EVENT)?;
    let of = series.occurrence(id)?;
    let first = series.start_of(series.main()?).ok_or_else(empty)?;
    let at = of.seen_in(&TimeZone::UTC);
    if series.master.is_none() || at <= first.seen_in(&TimeZone::UTC) {
        return Ok(None);
    }
    let mut edited = root.clone();
    let component = main_mut(&mut edited).ok_or_else(empty)?;
    if let Some(rule) = series.rule() {
        let mut rule = rule.clone();
        rule.count = None;
        let last = match &of {
            Moment::Day(day) => Until::Date(day.yesterday().map_err(|_| empty())?.at(0, 0, 0, 0)),
            Moment::Local(time) => Until::Local(time.checked_sub(1.second()).map_err(|_| empty())?),
            Moment::At(zoned) => {
                let last = zoned.with_time_zone(TimeZone::UTC).datetime();
                Until::Utc(last.checked_sub(1.second()).map_err(|_| empty())?)
            }
        };
        rule.until = Some(last);
        component.set(Line::new("RRULE", &[], &rule.to_string()));
    }
    let is_before = |moment: &Moment| moment.seen_in(&TimeZone::UTC) < at;
    keep_only(component, &series, is_before);
    stamp(component, now);
    drop_exceptions(&mut edited, |of| !is_before(of))?;
    Ok(Some((edited, of)))
}

fn keep_only(component: &mut Component, series: &Series<'_>, wanted: impl Fn(&Moment) -> bool) {
    for name in ["EXDATE", "RDATE"] {
        keep_moments(component, name, |line, value| {
            line.with_value(value).moment(&series.zones).is_none_or(|moment| wanted(&moment))
        });
    }
}

/// This occurrence and all that follow, as a new series with a new UID. `None`: it is about the whole series.
pub(super) fn split(
    root: &Component,
    patch: &EventPatch,
    id: &RecurrenceId,
    uid: &str,
    now: Timestamp,
) -> Result<Option<Split>, Error> {
    let Some((old, of)) = cut(root, id, now)? else { return Ok(None) };
    let series = Series::of(root, EVENT)?;
    let master = series.main()?;
    let end = series.end_from(master, &of);
    let mut new = root.clone();
    for component in new.components_mut().filter(|component| component.name == EVENT) {
        component.set(Line::new("UID", &[], uid));
    }
    let at = of.seen_in(&TimeZone::UTC);
    let is_later = |moment: &Moment| moment.seen_in(&TimeZone::UTC) >= at;
    let component = main_mut(&mut new).ok_or_else(empty)?;
    keep_only(component, &series, is_later);
    set_times(component, (&of, &end), (&of, &end));
    component.set(Line::new("CREATED", &[], &stamp_text(now)));
    if let Some(rule) = series.rule() {
        let mut rule = rule.clone();
        if let Some(count) = rule.count {
            rule.count = Some(count.saturating_sub(series.counted_before(&of)).max(1));
        }
        component.set(Line::new("RRULE", &[], &rule.to_string()));
    }
    drop_exceptions(&mut new, |of| !is_later(of))?;
    // Seen from its first occurrence, which an excluded date may have taken away.
    let new = change_all(&new, patch, None, now)?;
    Ok(Some(Split { old, new }))
}

/// Takes one occurrence away. `None` if none is left.
pub(super) fn without(
    root: &Component,
    id: &RecurrenceId,
    now: Timestamp,
) -> Result<Option<Component>, Error> {
    let series = Series::of(root, EVENT)?;
    let of = series.occurrence(id)?;
    let mut edited = root.clone();
    drop_exceptions(&mut edited, |other| *other == of)?;
    let Some(master) = series.master else {
        let left = edited.components().any(|component| component.name == EVENT);
        return Ok(left.then_some(edited));
    };
    let own = OwnZone::of(master, series.start_of(master).as_ref());
    let component = main_mut(&mut edited).ok_or_else(empty)?;
    component.add(moment_line("EXDATE", &of, own.name_for(&of)));
    stamp(component, now);
    let left = {
        let series = Series::of(&edited, EVENT)?;
        let any = series.starts(Timestamp::MIN, Timestamp::MAX, &TimeZone::UTC, 1);
        !any.list.is_empty() || any.more || !series.exceptions.is_empty()
    };
    Ok(left.then_some(edited))
}

/// Whether an event recurs at all; one that does not is changed as a whole, whatever the scope.
pub(super) fn recurs(root: &Component) -> Result<bool, Error> {
    let series = Series::of(root, EVENT)?;
    Ok(series.recurs() || !series.exceptions.is_empty())
}
