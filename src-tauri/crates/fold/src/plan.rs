//! How a run stands to its plan: what was agreed to, what it took since, what left it, and what its checks found.

use protocol::contract::{About, Contract, Deviation, Finding, Report};
use protocol::event::{Event, EventBody};
use protocol::ids::{ApprovalId, CallId, Timestamp};
use protocol::tool::{Answer, Grant};

use crate::budget::Meter;

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
    /// What it may use up and has used up since the yes; kept where the yes is taken back.
    pub meter: Option<Meter>,
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
        if let Some(meter) = &mut self.meter {
            meter.used.fold(event);
        }
        match &event.body {
            EventBody::ApprovalRequested { approval } => match &*approval.about {
                About::Plan { contract, .. } => {
                    self.proposed = Some((approval.id.clone(), (**contract).clone()));
                }
                About::Call { outside, .. } if !outside.is_empty() => {
                    let (tool, outside) = (approval.call.tool.clone(), outside.clone());
                    self.deviations.push((approval.id.clone(), Deviation { tool, outside, answer: None }));
                }
                About::Call { .. } | About::Result { .. } | About::Elicitation(_) => {}
            },
            EventBody::ApprovalAnswered { approval, answer, .. } => {
                self.answered(approval, answer, event.time);
            }
            EventBody::GrantTakenBack { grant } if *grant == Self::taken_back() => {
                (self.agreed, self.agreed_in) = (None, None);
            }
            EventBody::ToolStarted { call, .. } if call.tool == DONE => self.done = Some(call.id.clone()),
            EventBody::ToolFinished { call, result } => {
                let looked = self.done.take_if(|done| done == call);
                let checks = looked.and_then(|_| result.data.get("checks")).cloned();
                if let Some(findings) = checks.and_then(|checks| serde_json::from_value(checks).ok()) {
                    self.findings = findings;
                    self.refusals += u32::from(result.error.is_some());
                }
            }
            _ => {}
        }
    }

    /// `None` if nothing is agreed to.
    pub fn meter_in_force(&self) -> Option<&Meter> {
        self.meter.as_ref().filter(|_| self.agreed.is_some())
    }

    /// A question was answered. Told twice, it is the same.
    pub fn answered(&mut self, approval: &ApprovalId, answer: &Answer, at: Timestamp) {
        // A call that was changed is asked about again, as it is then.
        if matches!(answer, Answer::Edit { .. }) {
            self.deviations.retain(|(asked, _)| asked != approval);
        }
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
            let meter = Some(Meter::new(agreed.budget.most(), at));
            *self = Self { agreed: Some(agreed), agreed_in, deviations, meter, ..Self::default() };
        }
    }

    /// What came of it; `None` if nothing was agreed to.
    pub fn report(&self) -> Option<Report> {
        let deviations = self.deviations.iter().map(|(_, deviation)| deviation.clone()).collect();
        let findings = self.findings.clone();
        self.agreed.clone().map(|contract| Report { contract, deviations, findings })
    }
}

#[cfg(test)]
mod tests;
