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
                About::Call { outside } if !outside.is_empty() => {
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
mod tests {
    use super::*;
    use protocol::principal::Surface;
    use protocol::tool::{Approval, Risk, ToolCall, ToolError, ToolErrorKind};
    use serde_json::{Value, json};

    use protocol::turn::Cost;

    use crate::sample::{USAGE, clicked, event, question, turn};

    fn contract(value: Value) -> Contract {
        serde_json::from_value(value).unwrap()
    }

    fn state(bodies: Vec<EventBody>) -> PlanState {
        let mut state = PlanState::default();
        for (n, body) in (1..).zip(bodies) {
            // A minute lies between two of them.
            let happened = Event { time: Timestamp(n * 60_000), ..event(1, body) };
            state.fold(&happened);
        }
        state
    }

    fn asked(id: &str, about: About) -> EventBody {
        EventBody::ApprovalRequested { approval: Approval { about: Box::new(about), ..question(id) } }
    }

    fn answered(id: &str, answer: Answer) -> EventBody {
        EventBody::ApprovalAnswered { approval: ApprovalId(id.into()), answer, by: Surface::Chat }
    }

    fn agreed(budget: &Value) -> Vec<EventBody> {
        let contract = Box::new(contract(json!({"steps": ["a"], "effects": ["edit"], "budget": budget})));
        vec![asked("q", About::Plan { contract, changes: Vec::new() }), answered("q", Answer::Once)]
    }

    #[test]
    fn only_a_yes_to_its_own_question_puts_a_plan_in_force_and_an_edited_one_is_the_users() {
        let plan = contract(json!({"steps": ["a"], "effects": ["edit", "send"]}));
        let ask = || asked("q", About::Plan { contract: Box::new(plan.clone()), changes: Vec::new() });
        let of = |bodies| state(bodies).agreed;
        assert_eq!(of(vec![ask()]), None);
        assert_eq!(of(vec![ask(), answered("q", Answer::Deny)]), None);
        assert_eq!(of(vec![ask(), answered("other", Answer::Once)]), None);
        assert_eq!(of(vec![ask(), answered("q", Answer::Once)]), Some(plan.clone()));
        let edited = json!({"steps": ["a"], "effects": ["edit"]});
        let edit = Answer::Edit { arguments: edited.clone() };
        assert_eq!(of(vec![ask(), answered("q", edit)]), Some(contract(edited)));
        let broken = Answer::Edit { arguments: json!({"effects": "all"}) };
        assert_eq!(of(vec![ask(), answered("q", broken)]), None);
        // Taken back, it is in force no more.
        let back = EventBody::GrantTakenBack { grant: PlanState::taken_back() };
        assert_eq!(of(vec![ask(), answered("q", Answer::Once), back]), None);
        let other = EventBody::GrantTakenBack { grant: Grant { tool: "click".into(), app: None } };
        assert_eq!(of(vec![ask(), answered("q", Answer::Once), other]), Some(plan.clone()));
        // Another that is denied leaves the first in force.
        let wider = About::Plan { contract: Box::default(), changes: vec!["+ effect pay".into()] };
        let bodies = vec![ask(), answered("q", Answer::Once), asked("r", wider), answered("r", Answer::Deny)];
        assert_eq!(of(bodies), Some(plan));
    }

    #[test]
    fn a_budget_is_of_turns_work_and_money_since_the_yes() {
        let after = |budget: Value, then: Vec<EventBody>| {
            let mut bodies = vec![turn(1, "", Vec::new())];
            bodies.extend(agreed(&budget));
            bodies.extend(then);
            let minutes = i64::try_from(bodies.len()).unwrap();
            state(bodies).over_budget(Timestamp(minutes * 60_000))
        };
        let turns = |count| (0..count).map(|n| turn(n, "", Vec::new())).collect::<Vec<_>>();
        assert_eq!(after(json!({"turns": 2}), turns(1)), None);
        assert_eq!(after(json!({"turns": 2}), turns(2)), Some("2 turns".into()));
        assert_eq!(after(json!({"minutes": 3}), turns(2)), None);
        assert_eq!(after(json!({"minutes": 3}), turns(3)), Some("3 minutes".into()));
        // A turn of the sample costs $0.00123.
        assert_eq!(after(json!({"dollars": 0.002}), turns(1)), None);
        assert_eq!(after(json!({"dollars": 0.002}), turns(2)), Some("$0.002".into()));
        // What was broken off was paid for, too.
        let cost = Cost::Priced { usd: Usd(1_230_000_000) };
        let dropped = EventBody::TurnDropped { turn: 1, usage: USAGE, cost, text: String::new() };
        assert_eq!(after(json!({"dollars": 0.002}), vec![dropped.clone(), dropped]), Some("$0.002".into()));
        assert_eq!(after(json!({}), turns(50)), None);
        // What was waited for the user is no work: of these five minutes, three are.
        let waited = vec![
            turn(1, "", Vec::new()),
            asked("s", About::default()),
            EventBody::RunSteered { text: "wait".into() },
            answered("s", Answer::Once),
            turn(2, "", Vec::new()),
        ];
        assert_eq!(after(json!({"minutes": 4}), waited.clone()), None);
        assert_eq!(after(json!({"minutes": 3}), waited), Some("3 minutes".into()));
    }

    #[test]
    fn the_report_has_what_left_the_plan_and_what_done_found_and_no_other_tools_word() {
        let finding =
            |passed| json!([{"check": {"check": "pageText", "text": "t"}, "passed": passed, "found": "f"}]);
        let call = |tool: &str| ToolCall { id: CallId("c".into()), tool: tool.into(), arguments: json!({}) };
        let ran = |tool: &str, passed: bool, refused: bool| {
            let mut result = clicked();
            result.data = json!({ "checks": finding(passed) });
            result.error =
                refused.then(|| ToolError { kind: ToolErrorKind::Failed, message: "a check fails".into() });
            [
                EventBody::ToolStarted { call: call(tool), risk: Risk::Observe },
                EventBody::ToolFinished { call: CallId("c".into()), result },
            ]
        };
        let mut bodies = agreed(&json!({}));
        bodies.extend(ran("done", false, true));
        let outside = vec!["application xterm".to_owned()];
        bodies.extend([asked("d", About::Call { outside: outside.clone() }), answered("d", Answer::Deny)]);
        // A page that says so proves nothing.
        bodies.extend(ran("webRead", true, false));
        let state = state(bodies);
        let report = state.report().unwrap();
        let answer = Some(Answer::Deny);
        assert_eq!(report.deviations, [Deviation { tool: "click".into(), outside, answer }]);
        assert_eq!(serde_json::to_value(&report.findings).unwrap(), finding(false));
        assert_eq!(state.refusals, 1);
        assert_eq!(PlanState::default().report(), None);
    }
}
