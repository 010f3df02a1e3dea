//! A session's events as another session has them: branched at a step, or read from a file.
//!
//! A copy tells what happened and puts nothing into force: its runs have ended, no question in it is open, no yes in it is
//! for more than the one call.

use std::collections::{BTreeMap, BTreeSet};

use protocol::event::{Event, EventBody, RunEnd, Scope};
use protocol::ids::{AgentId, ApprovalId, CallId, RunId, SessionId, Timestamp};
use protocol::tool::{Answer, Effect, ExecResult, Millis, ToolError, ToolErrorKind};
use protocol::view::{Origin, SessionView};
use serde_json::Value;

use crate::run;

/// An event of a copy, at the time at which it happened.
#[derive(Clone, Debug, PartialEq)]
pub struct Copied {
    pub time: Timestamp,
    pub scope: Scope,
    pub body: EventBody,
}

/// What a copy is made with.
pub struct Into<'a> {
    /// The session as it is to be: its id, title and modes, and when it was made.
    pub session: &'a SessionView,
    /// Makes what an id ends in, another one each time.
    pub fresh: &'a mut dyn FnMut() -> String,
    /// Said where a run is cut off.
    pub reason: &'a str,
}

/// The copy of `events`, the first ones of a session, oldest first.
pub fn branched(events: &[Event], into: Into<'_>) -> Vec<Copied> {
    copy(events, into, false)
}

/// The same of events from a file: without what a provider would be sent of them.
pub fn imported(events: &[Event], into: Into<'_>) -> Vec<Copied> {
    copy(events, into, true)
}

fn copy(events: &[Event], into: Into<'_>, from_file: bool) -> Vec<Copied> {
    let Into { session, fresh, reason } = into;
    let open = open_questions(events);
    let mut names = Names { session: session.id.clone(), known: BTreeMap::new(), fresh };
    let before = session.origin.as_ref().map_or(0, |origin| origin.imported);
    let mut copied = Vec::with_capacity(events.len());
    let mut untold = 0;
    for event in events {
        if let EventBody::ApprovalRequested { approval } = &event.body
            && open.contains(&approval.id)
        {
            continue;
        }
        let Some(body) = names.body(&event.body, from_file) else { continue };
        copied.push(Copied { time: event.time, scope: names.scope(&event.scope), body });
        let n = event.position.map_or(u64::MAX, |position| position.n);
        if from_file || n <= before {
            // The beginning comes before it.
            untold = copied.len() as u64 + 1;
        }
    }
    let ends = ends(&copied, reason);
    if from_file && !ends.is_empty() {
        untold += ends.len() as u64;
    }
    copied.extend(ends);
    let origin = Origin { imported: untold, ..session.origin.clone().unwrap_or_default() };
    let created = EventBody::SessionCreated {
        title: session.title.clone(),
        mode: session.mode,
        approval: session.approval,
        search: session.search,
        origin: Some(origin),
    };
    let scope = Scope { session: Some(session.id.clone()), ..Scope::default() };
    copied.insert(0, Copied { time: session.created, scope, body: created });
    copied
}

fn open_questions(events: &[Event]) -> BTreeSet<ApprovalId> {
    let mut open: BTreeMap<ApprovalId, Option<RunId>> = BTreeMap::new();
    for event in events {
        match &event.body {
            EventBody::ApprovalRequested { approval } => {
                open.insert(approval.id.clone(), event.scope.run.clone());
            }
            EventBody::ApprovalAnswered { approval, .. } => drop(open.remove(approval)),
            EventBody::RunEnded { .. } => open.retain(|_, run| *run != event.scope.run),
            _ => {}
        }
    }
    open.into_keys().collect()
}

/// The ends of runs that have none: what was under way in them is in doubt, and nothing of it is carried out here.
fn ends(copied: &[Copied], reason: &str) -> Vec<Copied> {
    let mut runs = BTreeMap::new();
    let mut time = Timestamp::default();
    for Copied { time: at, scope, body } in copied {
        time = *at;
        let Some(id) = &scope.run else { continue };
        let event = Event {
            position: None,
            stream: scope.stream(),
            time: *at,
            scope: scope.clone(),
            body: body.clone(),
        };
        match run(runs.remove(id), &event) {
            Some(open) => drop(runs.insert(id.clone(), open)),
            None => continue,
        }
    }
    let end = |open: crate::OpenRun| {
        let in_doubt =
            open.in_doubt.into_iter().map(|call| (open.scope.clone(), call.id)).collect::<Vec<_>>();
        let finished = in_doubt.into_iter().map(move |(scope, call)| Copied {
            time,
            scope,
            body: EventBody::ToolFinished { call, result: interrupted() },
        });
        let end = RunEnd::Interrupted { reason: Some(reason.to_owned()) };
        finished
            .chain([Copied { time, scope: open.scope, body: EventBody::RunEnded { end } }])
            .collect::<Vec<_>>()
    };
    runs.into_values().flat_map(end).collect()
}

/// The outcome of a call that nobody saw the end of.
pub fn interrupted() -> ExecResult {
    let message =
        "interrupted: it may or may not have happened; look at the screen before going on".to_owned();
    ExecResult {
        effect: Effect::Unknown,
        summary: "interrupted".into(),
        data: Value::Null,
        error: Some(ToolError { kind: ToolErrorKind::Cancelled, message }),
        picture: None,
        read: Vec::new(),
        changes: Vec::new(),
        output: Vec::new(),
        took: Millis(0),
    }
}

/// The ids of a copy by those of what it is made from.
struct Names<'a> {
    session: SessionId,
    known: BTreeMap<String, String>,
    fresh: &'a mut dyn FnMut() -> String,
}

impl Names<'_> {
    fn suffix(&mut self, id: &str) -> String {
        if let Some(known) = self.known.get(id) {
            return known.clone();
        }
        let new = (self.fresh)();
        self.known.insert(id.to_owned(), new.clone());
        new
    }

    fn run(&mut self, id: &RunId) -> RunId {
        RunId::from_suffix(self.suffix(&id.0))
    }

    fn call(&mut self, id: &CallId) -> CallId {
        CallId::from_suffix(self.suffix(&id.0))
    }

    fn approval(&mut self, id: &ApprovalId) -> ApprovalId {
        ApprovalId::from_suffix(self.suffix(&id.0))
    }

    fn scope(&mut self, of: &Scope) -> Scope {
        let agent = of.agent.as_ref().map(|id| AgentId::from_suffix(self.suffix(&id.0)));
        let run = of.run.as_ref().map(|id| self.run(id));
        Scope { session: Some(self.session.clone()), run, agent }
    }

    /// `None` if a copy does not have it.
    fn body(&mut self, of: &EventBody, from_file: bool) -> Option<EventBody> {
        let mut body = of.clone();
        match &mut body {
            // The copy's own beginning says it.
            EventBody::SessionCreated { .. }
            | EventBody::SessionEdited { .. }
            | EventBody::SessionDeleted
            | EventBody::SessionRestored
            | EventBody::SessionPurged { .. }
            | EventBody::SettingsChanged { .. }
            // As a result's changes, below.
            | EventBody::ChangeIntended { .. } => return None,
            EventBody::RunStarted(spec) => {
                // Whoever copies a session has it as their own: no other run is shown with it.
                spec.parent = None;
                if from_file {
                    // Whoever wrote the file does not choose a folder here.
                    spec.space = None;
                }
            }
            EventBody::TurnFinished { calls, raw, .. } => {
                calls.iter_mut().for_each(|call| call.id = self.call(&call.id));
                if from_file {
                    *raw = None;
                }
            }
            EventBody::ApprovalRequested { approval } => {
                approval.id = self.approval(&approval.id);
                approval.call.id = self.call(&approval.call.id);
            }
            EventBody::ApprovalAnswered { approval, answer, .. } => {
                *approval = self.approval(approval);
                if answer.allows_more() {
                    *answer = Answer::Once;
                }
            }
            EventBody::ToolStarted { call, .. } => call.id = self.call(&call.id),
            EventBody::ToolFinished { call, result } => {
                *call = self.call(call);
                // What was done is undone where it was done; a file could name changes that were never made.
                result.changes.clear();
            }
            EventBody::RunEnded { end: RunEnd::NeedsApproval { approval } } => {
                *approval = self.approval(approval);
            }
            EventBody::RunEnded { .. }
            | EventBody::GrantTakenBack { .. }
            | EventBody::RunSteered { .. }
            | EventBody::RunPaused { .. }
            | EventBody::RunResumed
            | EventBody::BudgetReached { .. }
            | EventBody::TurnFailed { .. }
            | EventBody::TurnDropped { .. }
            | EventBody::ContextCompacted { .. }
            | EventBody::PlanReported { .. }
            | EventBody::AgentsUsed { .. }
            | EventBody::Noted { .. } => {}
            // Never kept.
            EventBody::TurnDelta { .. }
            | EventBody::TurnSoFar { .. }
            | EventBody::CommandPrinted { .. }
            | EventBody::StatusChanged { .. }
            | EventBody::SessionChanged { .. }
            | EventBody::QuestionsChanged { .. }
            | EventBody::DesktopChanged { .. }
            | EventBody::JournalFailed { .. } => return None,
        }
        Some(body)
    }
}

#[cfg(test)]
mod tests;
