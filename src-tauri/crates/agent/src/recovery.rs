//! What an earlier process left unfinished: said, and gone on with only where its user wanted that.

use std::collections::BTreeSet;
use std::sync::Arc;

pub use journal::interrupted;
use journal::{Budget, OpenRun};
use protocol::budget::Most;
use protocol::event::{Level, RunEnd, Scope};
use protocol::ids::{RunId, Timestamp};
use protocol::run::RunSpec;
use protocol::settings::Settings;
use protocol::tool::{Effect, ExecResult, ToolCall, ToolError, ToolErrorKind};
use protocol::turn::Usd;
use protocol::{ErrorCode, ErrorView, EventBody};

use crate::ledger::Sum;
use crate::log::Log;
use crate::ports::SettingsStore;
use crate::summary::{self, Count};

/// To the model.
pub(crate) const GO_ON: &str = "Go on where you were interrupted: Miki ended in the middle of it and was started again. Time has passed, so look at the screen, and at your agents, before you act. The goal was: ";

/// What a call came to that only looks.
const BROKEN_OFF: &str = "broken off before its end; it only looks, so that nothing was changed by it";

/// Ends every run that has no end and waits for nothing; its calls in doubt become `unknown`. Answers the runs that wait
/// for an answer, are paused, or wait for an agent of which that is so: they go on when their user says so. And those that
/// their user wants gone on with: they have no end until that is tried, so that who only looks in between changes nothing.
///
/// # Errors
/// If the journal cannot be read or written.
pub async fn sort_open_runs(log: &Log) -> Result<(Vec<OpenRun>, Vec<OpenRun>), ErrorView> {
    let (mut waiting, mut to_carry_on): (Vec<OpenRun>, Vec<OpenRun>) = (Vec::new(), Vec::new());
    let open = log.read(|journal| journal.open_runs()).await?;
    let kept = that_wait(&open);
    // The youngest first: what an agent did is told at the end of the one that it works for.
    for mut run in open.into_iter().rev() {
        if run.scope.run.as_ref().is_some_and(|id| kept.contains(id)) {
            if run.waits_for_agents().is_some() {
                run.budget.rests(&mut run.plan);
            }
            waiting.push(run);
            continue;
        }
        let asks = waits_for_its_user(&run);
        let why = match run.spec.is_guests() {
            true => "the program that worked here has to begin anew",
            false => "it was recorded, or begun by a version that kept too little of it",
        };
        let reason = match (asks, run.spec.can_go_on()) {
            (true, false) => Some(why.to_owned()),
            // An agent whose parent ends works for nobody any more.
            (true, true) => Some("the agent that it works for has ended".to_owned()),
            (false, _) => None,
        };
        // What its user held stays so, until they say otherwise.
        if !asks && run.paused.is_none() && run.spec.carries_on() {
            to_carry_on.push(run);
            continue;
        }
        end_run(log, run, RunEnd::Interrupted { reason }).await?;
    }
    // Those that others work for first.
    waiting.reverse();
    to_carry_on.reverse();
    Ok((waiting, to_carry_on))
}

fn waits_for_its_user(run: &OpenRun) -> bool {
    (run.approval.is_some() || run.is_held()) && run.in_doubt.is_empty()
}

/// Of runs without an end, those that can wait on: each that asks its user where all above it ask theirs or wait for their
/// agents, and these.
fn that_wait(open: &[OpenRun]) -> BTreeSet<RunId> {
    let of = |id: &RunId| open.iter().find(|run| run.scope.run.as_ref() == Some(id));
    let can_wait =
        |run: &OpenRun| run.spec.can_go_on() && (waits_for_its_user(run) || run.waits_for_agents().is_some());
    let mut kept = BTreeSet::new();
    for asking in open.iter().filter(|run| waits_for_its_user(run)) {
        let mut line = Vec::new();
        let mut at = asking.scope.run.clone();
        while let Some(id) = at {
            let Some(run) = of(&id).filter(|run| can_wait(run)) else {
                line.clear();
                break;
            };
            at = run.spec.parent.clone();
            line.push(id);
        }
        kept.extend(line);
    }
    kept
}

/// Whether an agent below a run waits for its user.
///
/// # Errors
/// If the journal cannot be read.
pub async fn is_waited_for_below(log: &Log, run: &RunId) -> Result<bool, ErrorView> {
    let open = log.read(|journal| journal.open_runs()).await?;
    let parent = |of: &RunId| {
        let found = open.iter().find(|open| open.scope.run.as_ref() == Some(of));
        found.and_then(|open| open.spec.parent.clone())
    };
    let is_below =
        |one: &&OpenRun| std::iter::successors(one.spec.parent.clone(), parent).any(|above| above == *run);
    Ok(open.iter().filter(is_below).any(waits_for_its_user))
}

/// The run that goes on with one that was interrupted, by what its user said, within what is left to it; `below` is what its
/// agents used. `None` if nothing is left.
pub fn carried_on(run: OpenRun, below: Sum) -> Option<RunSpec> {
    let OpenRun { spec, budget, started, .. } = run;
    let left = left(&budget, spec.max_steps, below, started)?;
    let words = spec.words().to_owned();
    Some(RunSpec {
        goal: format!("{GO_ON}{words}"),
        user_goal: Some(words),
        carry_on: spec.carry_on.saturating_sub(1),
        max_steps: left.steps.unwrap_or(spec.max_steps),
        most: Most { steps: spec.most.steps, ..left },
        ..spec
    })
}

/// What a run that began then may use up still. `None` if nothing is left of something.
fn left(budget: &Budget, max_steps: u32, below: Sum, started: Timestamp) -> Option<Most> {
    let used = Sum::of(&budget.meter.used).plus(below);
    let most = budget.meter.most();
    // Up to the last thing that it did: the time in which Miki did not run is no work.
    let worked = budget.meter.used.minutes(started);
    let steps = most.steps.unwrap_or(max_steps).checked_sub(used.steps).filter(|left| *left > 0)?;
    let minutes = match most.minutes {
        Some(minutes) => Some(minutes.checked_sub(worked).filter(|left| *left > 0)?),
        None => None,
    };
    let tokens = match most.tokens {
        Some(tokens) => Some(tokens.checked_sub(used.tokens).filter(|left| *left > 0)?),
        None => None,
    };
    let cost = match most.cost {
        Some(cost) => Some(cost.0.checked_sub(used.cost.0).filter(|left| *left > 0).map(Usd)?),
        None => None,
    };
    Some(Most { steps: Some(steps), minutes, tokens, cost })
}

/// What was put back of the settings' file.
#[derive(Clone, Debug)]
pub struct PutBack {
    /// Which settings, and what to do.
    pub said: ErrorView,
    pub at: Timestamp,
}

/// What a note of it begins with.
const PUT_BACK: &str = "the settings' file was changed while Miki was not running";

/// What the settings' file says, but for what would give an agent more than Miki itself wrote last: a file can be changed
/// by any program while Miki does not run, and a window has to say so instead.
///
/// # Errors
/// If the journal or the settings cannot be read or written.
pub async fn settings_as_written(
    log: &Log,
    store: &Arc<dyn SettingsStore>,
    found: Settings,
) -> Result<Settings, ErrorView> {
    let last = log.read(|journal| journal.settings()).await?;
    let (settings, kept) = match &last {
        Some(last) => last.without_loosening(found),
        None => (found, Vec::new()),
    };
    if last.as_ref() != Some(&settings) {
        let settings = Box::new(settings.clone());
        log.append(Scope::default(), EventBody::SettingsChanged { settings }).await?;
    }
    // After that: it stands until the settings are changed the next time.
    if !kept.is_empty() {
        let told = kept.iter().map(|name| match store.line_of(name) {
            Some(line) => format!("{name} (line {line})"),
            None => (*name).to_owned(),
        });
        let kept: Vec<String> = told.collect();
        let message = format!(
            "{PUT_BACK}: {} would give an agent more than you have allowed, and stays as it was",
            kept.join(", ")
        );
        let hint = Some("if that was you, change it in the settings of Miki's window".to_owned());
        log.append(Scope::default(), EventBody::Noted { level: Level::Warning, message, hint }).await?;
        store.save(&settings)?;
    }
    Ok(settings)
}

/// What of the settings' file was put back at a start, with what to do, if the settings were not changed since.
///
/// # Errors
/// If the journal cannot be read.
pub async fn put_back(log: &Log) -> Result<Option<PutBack>, ErrorView> {
    let last = log.read(|journal| journal.last_of_settings(PUT_BACK)).await?;
    Ok(last.and_then(|event| match event.body {
        EventBody::Noted { message, hint, .. } => {
            let said = ErrorView { hint, ..ErrorView::new(ErrorCode::Forbidden, message) };
            Some(PutBack { said, at: event.time })
        }
        _ => None,
    }))
}

/// The outcome of a call that nobody saw the end of, with what it was about to change.
///
/// # Errors
/// If the journal cannot be read.
pub async fn in_doubt(log: &Log, of: &Scope, call: &ToolCall) -> Result<ExecResult, ErrorView> {
    if call.only_looks() {
        let error = ToolError { kind: ToolErrorKind::Cancelled, message: BROKEN_OFF.to_owned() };
        let summary = "broken off before its end".to_owned();
        return Ok(ExecResult { effect: Effect::Refused, summary, error: Some(error), ..interrupted() });
    }
    let Some(run) = of.run.clone() else { return Ok(interrupted()) };
    let call = call.id.clone();
    let changes = log.read(move |journal| journal.intended(&run, &call)).await?;
    Ok(ExecResult { changes, ..interrupted() })
}

/// Writes the end of a run whose task did not write it, and before that the outcome of each call in doubt.
///
/// # Errors
/// If the journal cannot be written.
pub async fn end_run(log: &Log, run: OpenRun, end: RunEnd) -> Result<(), ErrorView> {
    for call in &run.in_doubt {
        let result = in_doubt(log, &run.scope, call).await?;
        log.append(run.scope.clone(), EventBody::ToolFinished { call: call.id.clone(), result }).await?;
    }
    report(log, &run).await?;
    if let Some(id) = &run.scope.run {
        let used = used_below(log, id, Count::All).await?;
        if let Some(told) = of_agents(log, id, used).await? {
            log.append(run.scope.clone(), told).await?;
        }
    }
    log.append(run.scope, EventBody::RunEnded { end }).await.map(drop)
}

/// What is told of a run's agents right before its end; `None` if it had none.
///
/// # Errors
/// If the journal cannot be read.
pub async fn of_agents(log: &Log, run: &RunId, used: Sum) -> Result<Option<EventBody>, ErrorView> {
    let of = run.clone();
    let summary = log.read(move |journal| summary::at_the_end(journal, &of, used)).await?;
    Ok(summary.map(|summary| EventBody::AgentsUsed(Box::new(summary))))
}

/// What those below a run used.
///
/// # Errors
/// If the journal cannot be read.
pub async fn used_below(log: &Log, run: &RunId, count: Count) -> Result<Sum, ErrorView> {
    let of = run.clone();
    let all = log.read(move |journal| summary::below(journal, &of)).await?;
    Ok(summary::used(run, &all, count))
}

/// Writes the end of a run that waited without a task.
///
/// # Errors
/// If the journal cannot be read or written.
pub async fn write_end(log: &Log, scope: Scope, end: RunEnd) -> Result<(), ErrorView> {
    let open = log.read(|journal| journal.open_runs()).await?;
    match open.into_iter().find(|open| open.scope.run == scope.run) {
        Some(run) => end_run(log, run, end).await,
        None => log.append(scope, EventBody::RunEnded { end }).await.map(drop),
    }
}

/// What came of the run's plan, if it had one.
async fn report(log: &Log, run: &OpenRun) -> Result<(), ErrorView> {
    let Some(report) = run.plan.report() else { return Ok(()) };
    let report = Box::new(report);
    log.append(run.scope.clone(), EventBody::PlanReported { report }).await.map(drop)
}

#[cfg(test)]
mod tests {
    use journal::PlanState;
    use journal::budget::Meter;
    use protocol::Event;
    use protocol::ids::CallId;
    use protocol::ids::StreamId;

    use super::*;

    const MINUTE: i64 = 60_000;

    #[test]
    fn of_its_minutes_a_run_that_goes_on_has_those_left_in_which_it_did_not_work() {
        let left_of = |minutes: u32| {
            let most = Most { minutes: Some(minutes), ..Most::default() };
            let mut budget = Budget { meter: Meter::new(most, Timestamp(0)), used_up: None };
            for minute in [3, 7] {
                let event = Event {
                    position: None,
                    stream: StreamId::app(),
                    time: Timestamp(minute * MINUTE),
                    scope: Scope::default(),
                    body: EventBody::ToolFinished { call: CallId("c-1".into()), result: interrupted() },
                };
                budget.fold(&event, &mut PlanState::default());
            }
            left(&budget, 30, Sum::default(), Timestamp(0))
        };
        let left = left_of(10).unwrap();
        assert_eq!((left.minutes, left.steps, left.tokens, left.cost), (Some(3), Some(30), None, None));
        assert_eq!(left_of(7), None);
    }
}
