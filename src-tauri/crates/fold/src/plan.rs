//! How a run stands to its plan: what was agreed to, what it took since, what left it, and what its checks found.

use protocol::contract::{About, Budget, Contract, Deviation, Finding, Report};
use protocol::event::{Event, EventBody};
use protocol::ids::{ApprovalId, CallId, Timestamp};
use protocol::tool::{Answer, Grant};
use protocol::turn::{Spent, Usd};

/// How the reason of a pause begins whose run has used up its plan's budget. To go on is a yes to as much again.
pub const BUDGET_USED_UP: &str = "the plan's budget is used up";

/// The tool that proposes a plan; what is taken back of a yes to one is this, in no application.
const PLAN: &str = "plan";
/// The tool that ends the run, and looks at the checks first.
const DONE: &str = "done";

#[derive(Clone, Debug, Default, PartialEq)]
pub struct PlanState {
    /// The contract in force.
    pub agreed: Option<Contract>,
    /// The question that it was agreed to in.
    pub agreed_in: Option<ApprovalId>,
    /// How often `done` was refused for a check that fails.
    pub refusals: u32,
    /// Turns since the yes, and what they cost as far as that is known.
    turns: u32,
    spent: Spent,
    /// Milliseconds of work since the yes, up to `last`.
    worked: i64,
    /// The last event while it works; `None` while it waits.
    last: Option<Timestamp>,
    /// It is paused since the budget is used up.
    asks_for_more: bool,
    /// How often the user gave it the whole budget again.
    renewed: u32,
    deviations: Vec<(ApprovalId, Deviation)>,
    findings: Vec<Finding>,
    proposed: Option<(ApprovalId, Contract)>,
    /// The call that looks at the checks.
    done: Option<CallId>,
}

impl PlanState {
    /// What the journal has of a plan whose yes was taken back.
    pub fn taken_back() -> Grant {
        Grant { tool: PLAN.into(), app: None }
    }

    /// After one more event of the run.
    pub fn fold(&mut self, event: &Event) {
        if self.agreed.is_some()
            && !matches!(event.body, EventBody::RunSteered { .. } | EventBody::GrantTakenBack { .. })
        {
            self.works(event);
        }
        match &event.body {
            EventBody::TurnFinished { cost, .. } if self.agreed.is_some() => {
                self.turns += 1;
                self.spent = self.spent.plus(*cost);
            }
            EventBody::TurnFailed { cost: Some(cost), .. } | EventBody::TurnDropped { cost, .. }
                if self.agreed.is_some() =>
            {
                self.spent = self.spent.plus(*cost);
            }
            EventBody::ApprovalRequested { approval } => match &*approval.about {
                About::Plan { contract, .. } => {
                    self.proposed = Some((approval.id.clone(), (**contract).clone()));
                }
                About::Call { outside, .. } if !outside.is_empty() => {
                    let (tool, outside) = (approval.call.tool.clone(), outside.clone());
                    self.deviations.push((approval.id.clone(), Deviation { tool, outside, answer: None }));
                }
                About::Call { .. } | About::Result { .. } => {}
            },
            EventBody::ApprovalAnswered { approval, answer, .. } => {
                self.answered(approval, answer, event.time);
            }
            EventBody::GrantTakenBack { grant } if *grant == Self::taken_back() => {
                (self.agreed, self.agreed_in) = (None, None);
            }
            EventBody::RunPaused { reason } => self.asks_for_more = reason.starts_with(BUDGET_USED_UP),
            EventBody::RunResumed => self.renewed += u32::from(std::mem::take(&mut self.asks_for_more)),
            EventBody::ToolStarted { call, .. } if call.tool == DONE => self.done = Some(call.id.clone()),
            EventBody::ToolFinished { call, result } => {
                let looked = self.done.take_if(|done| done == call);
                let checks = looked.and_then(|_| result.data.get("checks")).cloned();
                if let Some(findings) = checks.and_then(|checks| serde_json::from_value(checks).ok()) {
                    self.findings = findings;
                    self.refusals += u32::from(result.error.is_some());
                }
            }
            // Of all others it only counts when they came.
            _ => {}
        }
    }

    /// A question was answered. Told twice, it is the same.
    pub fn answered(&mut self, approval: &ApprovalId, answer: &Answer, at: Timestamp) {
        for (asked, deviation) in &mut self.deviations {
            if asked == approval {
                deviation.answer = Some(answer.clone());
            }
        }
        let Some((_, proposed)) = self.proposed.take_if(|(asked, _)| asked == approval) else { return };
        let agreed = match answer {
            Answer::Once | Answer::Thread | Answer::Until { .. } => Some(proposed),
            Answer::Edit { arguments } => serde_json::from_value(arguments.clone()).ok(),
            Answer::Deny => None,
        };
        if let Some(agreed) = agreed {
            let deviations = std::mem::take(&mut self.deviations);
            let agreed_in = Some(approval.clone());
            *self = Self { agreed: Some(agreed), agreed_in, deviations, last: Some(at), ..Self::default() };
        }
    }

    /// What of the budget is used up; `None` if there is some left.
    pub fn over_budget(&self, now: Timestamp) -> Option<String> {
        let Budget { turns, minutes, dollars } = self.agreed.as_ref()?.budget;
        let times = self.renewed.saturating_add(1);
        let turns = turns.map(|turns| turns.saturating_mul(times));
        let minutes = minutes.map(|minutes| minutes.saturating_mul(times));
        let dollars = dollars.map(|dollars| dollars * f64::from(times));
        let since = self.last.map_or(0, |last| now.0.saturating_sub(last.0).max(0));
        let worked = self.worked.saturating_add(since) / 60_000;
        let spent = dollars.and_then(Usd::from_dollars).filter(|dollars| self.spent.usd >= *dollars);
        if let Some(turns) = turns.filter(|turns| self.turns >= *turns) {
            return Some(format!("{turns} turns"));
        }
        if let Some(minutes) = minutes.filter(|minutes| worked >= i64::from(*minutes)) {
            return Some(format!("{minutes} minutes"));
        }
        spent.map(|dollars| format!("${dollars}"))
    }

    /// What came of it; `None` if nothing was agreed to.
    pub fn report(&self) -> Option<Report> {
        let deviations = self.deviations.iter().map(|(_, deviation)| deviation.clone()).collect();
        let findings = self.findings.clone();
        self.agreed.clone().map(|contract| Report { contract, deviations, findings })
    }

    /// Waiting for the user is no work.
    fn works(&mut self, event: &Event) {
        if let Some(last) = self.last.take() {
            self.worked = self.worked.saturating_add(event.time.0.saturating_sub(last.0).max(0));
            self.last = Some(event.time);
        }
        match event.body {
            EventBody::ApprovalRequested { .. } | EventBody::RunPaused { .. } => self.last = None,
            EventBody::ApprovalAnswered { .. } | EventBody::RunResumed => self.last = Some(event.time),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests;
