//! What a run's agents used and did, with all below them, as the journal has it.

use std::collections::BTreeSet;

use journal::{ChildRun, JournalError, Reader, Took};
use protocol::agent::{AgentsChange, AgentsSummary};
use protocol::event::RunEnd;
use protocol::ids::RunId;
use protocol::tool::Change;
use protocol::{Event, EventBody};

use crate::ledger::Sum;
use crate::undo;

/// Changes that are named, at the most.
const MOST_CHANGES: usize = 500;

/// All runs below one.
///
/// # Errors
/// If the journal cannot be read.
pub fn below(journal: &Reader<'_>, run: &RunId) -> Result<Vec<ChildRun>, JournalError> {
    let mut all = journal.children_of_run(run)?;
    let mut at = 0;
    while let Some(child) = all.get(at) {
        if let Some(run) = &child.scope.run {
            let below = journal.children_of_run(run)?;
            all.extend(below);
        }
        at += 1;
    }
    Ok(all)
}

/// Which of the runs below another are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Count {
    All,
    /// Those that have ended, but for what is below one that has not: it has an account of its own.
    Ended,
}

/// What those below a run used.
pub fn used(run: &RunId, below: &[ChildRun], count: Count) -> Sum {
    let mut counted = BTreeSet::from([run]);
    let mut sum = Sum::default();
    // Each stands behind the one that it works for.
    for child in below {
        let is_counted = (count == Count::All || child.end.is_some())
            && child.spec.parent.as_ref().is_some_and(|parent| counted.contains(parent));
        if is_counted {
            counted.extend(&child.scope.run);
            let Took { steps, tokens, cost, .. } = child.took;
            sum = sum.plus(Sum { steps, tokens, cost });
        }
    }
    sum
}

/// What is told at a run's end, where `used` is what its agents did; `None` if it had none.
///
/// # Errors
/// If the journal cannot be read.
pub fn at_the_end(
    journal: &Reader<'_>,
    run: &RunId,
    used: Sum,
) -> Result<Option<AgentsSummary>, JournalError> {
    let all = below(journal, run)?;
    if all.is_empty() {
        return Ok(None);
    }
    let cost = (used.cost.0 > 0).then_some(used.cost);
    let mut summary = AgentsSummary { tokens: used.tokens, cost, ..AgentsSummary::default() };
    let mut events: Vec<Event> = Vec::new();
    for child in &all {
        // Of one that has ended it is with all below it.
        if child.spec.parent.as_ref() == Some(run) {
            summary.done += child.tried.done;
            summary.not_done += child.tried.not_done;
        }
        let ends = &mut summary.ends;
        match &child.end {
            Some(RunEnd::Completed { .. }) if child.tried.came_to_nothing() => {
                ends.came_to_nothing += 1;
            }
            Some(RunEnd::Completed { .. }) => ends.completed += 1,
            Some(RunEnd::NeedsApproval { .. }) => {
                ends.failed += 1;
                ends.unanswered += 1;
            }
            Some(RunEnd::Failed { .. } | RunEnd::Interrupted { .. }) => ends.failed += 1,
            // It is stopped with the one that it works for.
            Some(RunEnd::Stopped { .. }) | None => ends.stopped += 1,
        }
        if let Some(id) = &child.scope.run {
            events.extend(journal.run_calls(id)?);
        }
    }
    events.sort_by_key(|event| event.position.map(|position| position.seq));
    summary.stays = undo::stays(&events);
    let changes = events.into_iter().flat_map(|event| match event.body {
        EventBody::ToolFinished { call, result } => {
            let change = |Change { of, name, .. }| AgentsChange { call: call.clone(), of, name };
            result.changes.into_iter().map(change).collect()
        }
        _ => Vec::new(),
    });
    summary.changes = changes.take(MOST_CHANGES).collect();
    Ok(Some(summary))
}
