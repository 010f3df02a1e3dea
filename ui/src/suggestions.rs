//! How a session goes on whose model its provider does not know: the end of its run, and what may be taken instead.
//!
//! Pure. Offered only while that end is the session's last word.

use fold::transcript::{Entry, EntryBody, EntryId};
use protocol::event::RunEnd;
use protocol::ids::{ModelId, SessionId};

use crate::state::State;

/// What can be gone on with.
#[derive(Clone, Debug, PartialEq)]
pub struct SuggestedModels {
    /// The entry that shows it.
    pub entry: EntryId,
    pub session: SessionId,
    /// What the failed run was to do.
    pub goal: String,
    /// The likeliest first.
    pub models: Vec<ModelId>,
}

/// What the shown session can go on with. `None` while it runs, and once anything else was said or done in it.
pub fn suggested_models(state: &State) -> Option<SuggestedModels> {
    let session = state.shown().filter(|_| state.run_shown().is_none() && state.broken.is_none())?.clone();
    let run = state.transcript()?.last_run();
    let Some(Entry { body: EntryBody::Goal { goal, .. }, .. }) = run.first() else { return None };
    match run.last() {
        Some(Entry { id, body: EntryBody::End { suggestions, .. }, .. }) if !suggestions.is_empty() => {
            Some(SuggestedModels { entry: *id, session, goal: goal.clone(), models: suggestions.clone() })
        }
        _ => None,
    }
}

/// A run that the program's end broke off, and that can be gone on with.
#[derive(Clone, Debug, PartialEq)]
pub struct BrokenOff {
    /// The entry that shows its end.
    pub entry: EntryId,
    pub session: SessionId,
    pub goal: String,
}

/// The shown session's last run, if it was interrupted. `None` while it runs, and once anything else was said or done in it.
pub fn broken_off(state: &State) -> Option<BrokenOff> {
    let session = state.shown().filter(|_| state.run_shown().is_none() && state.broken.is_none())?.clone();
    let run = state.transcript()?.last_run();
    // What an agent wrote does not become its user's words by a click.
    let Some(Entry { body: EntryBody::Goal { goal, by_agent: false, .. }, .. }) = run.first() else {
        return None;
    };
    match run.last() {
        Some(Entry { id, body: EntryBody::End { end: RunEnd::Interrupted { .. }, .. }, .. }) => {
            Some(BrokenOff { entry: *id, session, goal: goal.clone() })
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests;
