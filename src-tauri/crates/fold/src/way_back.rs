//! What of a run can be taken back and what cannot: said before anybody takes it back. Whether a thing is still as the run
//! left it, only who does it finds out.

use protocol::agent::AgentsChange;
use protocol::ids::RunId;
use protocol::tool::Changed;

use crate::call::in_short;
use crate::transcript::{Entry, EntryBody, Stage, Step};

/// Acts that are named, at the most.
const NAMED: usize = 50;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WayBack {
    /// `None` if its beginning is not known: then nothing is said.
    pub run: Option<RunId>,
    /// What was there before is kept: its own, the newest first, then that of its agents.
    pub back: Vec<(Changed, String)>,
    /// Acts that stay as they are, its own first, the oldest first, each in one line.
    pub stays: Vec<String>,
    pub agents: OfAgents,
}

/// What a run's agents did, as the journal tells it at the run's end.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OfAgents {
    /// Not taken back yet, the oldest first.
    pub changes: Vec<AgentsChange>,
    pub stays: Vec<String>,
}

impl WayBack {
    /// Of the entries of one run, from its goal on.
    pub(crate) fn of(entries: &[Entry], agents: OfAgents) -> Self {
        let Some(EntryBody::Goal { run: Some(run), .. }) = entries.first().map(|entry| &entry.body) else {
            return Self::default();
        };
        let mut way = Self { run: Some(run.clone()), ..Self::default() };
        for entry in entries {
            if let EntryBody::Step(step) = &entry.body {
                way.add(step);
            }
        }
        way.back.reverse();
        way.back.extend(agents.changes.iter().rev().map(|change| (change.of, change.name.clone())));
        let room = NAMED.saturating_sub(way.stays.len());
        way.stays.extend(agents.stays.iter().take(room).cloned());
        way.agents = agents;
        // A thing that was changed twice is one thing.
        let mut seen = Vec::new();
        way.back.retain(|one| {
            !seen.contains(one) && {
                seen.push(one.clone());
                true
            }
        });
        way
    }

    fn add(&mut self, step: &Step) {
        let Stage::Done { result } = &step.stage else { return };
        if !step.is_undone {
            self.back.extend(result.changes.iter().map(|change| (change.of, change.name.clone())));
        }
        if step.risk.is_some_and(|risk| step.call.stays(risk, result)) && self.stays.len() < NAMED {
            let about = in_short(&step.call, step.window.as_ref());
            self.stays.push(format!("{} {about}", step.call.tool).trim().to_owned());
        }
    }
}

#[cfg(test)]
mod tests;
