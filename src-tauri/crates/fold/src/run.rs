//! A run that has begun and not ended.

use protocol::event::{Event, EventBody, Scope};
use protocol::ids::Timestamp;
use protocol::run::RunSpec;
use protocol::tool::{Answer, Approval, Grant, Source, ToolCall, Until, WAIT_FOR};

use crate::budget::Budget;
use crate::plan::PlanState;

/// A run without an end: it is under way, or the program stopped in the middle of it.
#[derive(Clone, Debug, PartialEq)]
pub struct OpenRun {
    /// Of its `RunStarted`.
    pub scope: Scope,
    pub spec: RunSpec,
    pub started: Timestamp,
    /// The last turn that was finished; 0 for none.
    pub turn: u32,
    /// Calls without an outcome: they may or may not have happened. Never to be run again by themselves, but for a wait for
    /// agents.
    pub in_doubt: Vec<ToolCall>,
    /// The question it waits for, if it does.
    pub approval: Option<Approval>,
    /// Why it is paused; `None` if it is not.
    pub paused: Option<String>,
    pub plan: PlanState,
    /// What it may use up and has used up.
    pub budget: Budget,
    /// What its model has read, the newest last.
    pub read: Vec<Source>,
    /// What its user allowed until its end or longer.
    pub granted: Vec<(Grant, Until)>,
}

/// The run after one more of its events. `None` before its start and after its end.
pub fn run(before: Option<OpenRun>, event: &Event) -> Option<OpenRun> {
    if let EventBody::RunStarted(spec) = &event.body {
        return Some(OpenRun {
            scope: event.scope.clone(),
            spec: (**spec).clone(),
            started: event.time,
            turn: 0,
            in_doubt: Vec::new(),
            approval: None,
            paused: None,
            plan: PlanState::default(),
            budget: Budget::of(spec, event.time),
            read: Vec::new(),
            granted: Vec::new(),
        });
    }
    let mut run = before?;
    run.plan.fold(event);
    run.budget.fold(event, &mut run.plan);
    match &event.body {
        EventBody::RunEnded { .. } => return None,
        EventBody::TurnFinished { turn, .. } => run.turn = *turn,
        EventBody::ToolStarted { call, .. } => run.in_doubt.push(call.clone()),
        EventBody::ToolFinished { call, result } => {
            run.in_doubt.retain(|begun| begun.id != *call);
            Source::add(&mut run.read, result.read.iter().cloned());
        }
        EventBody::ApprovalRequested { approval } => run.approval = Some(approval.clone()),
        EventBody::ApprovalAnswered { approval, answer, .. } => {
            if let Some(asked) = run.approval.take_if(|asked| asked.id == *approval)
                && let Answer::Until { until } = answer
            {
                run.granted.extend(asked.touches.into_iter().map(|grant| (grant, *until)));
            }
        }
        EventBody::GrantTakenBack { grant } => run.granted.retain(|(granted, _)| granted != grant),
        EventBody::RunPaused { reason } => run.paused = Some(reason.clone()),
        EventBody::RunResumed => run.paused = None,
        // Exhaustive on purpose: a new event must say here whether it begins or ends something.
        EventBody::SessionCreated { .. }
        | EventBody::SessionEdited { .. }
        | EventBody::SessionDeleted
        | EventBody::SessionRestored
        | EventBody::SessionPurged { .. }
        | EventBody::RunStarted(_)
        | EventBody::RunSteered { .. }
        | EventBody::BudgetReached { .. }
        | EventBody::TurnFailed { .. }
        | EventBody::TurnDropped { .. }
        | EventBody::ChangeIntended { .. }
        | EventBody::ContextCompacted { .. }
        | EventBody::PlanReported { .. }
        | EventBody::AgentsUsed { .. }
        | EventBody::SettingsChanged { .. }
        | EventBody::Noted { .. }
        | EventBody::TurnDelta { .. }
        | EventBody::TurnSoFar { .. }
        | EventBody::CommandPrinted { .. }
        | EventBody::StatusChanged { .. }
        | EventBody::SessionChanged { .. }
        | EventBody::QuestionsChanged { .. }
        | EventBody::DesktopChanged { .. }
        | EventBody::JournalFailed { .. } => {}
    }
    Some(run)
}

impl OpenRun {
    /// Whether it is paused with no call under way and no question open: by its user, or until it may have as much again.
    pub fn is_held(&self) -> bool {
        self.paused.is_some() && self.in_doubt.is_empty() && self.approval.is_none()
    }

    /// The call in which it waits for its agents, if nothing else of it is under way.
    pub fn waits_for_agents(&self) -> Option<&ToolCall> {
        match &self.in_doubt[..] {
            [call] if call.tool == WAIT_FOR && self.approval.is_none() => Some(call),
            _ => None,
        }
    }
}
