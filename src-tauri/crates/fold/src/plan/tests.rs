//! When a plan is asked, in force and used up.

use super::*;
use protocol::principal::Surface;
use protocol::tool::{Approval, Risk, ToolCall, ToolError, ToolErrorKind};
use serde_json::{Value, json};

use protocol::budget::BudgetOf;
use protocol::turn::{Cost, Usd};

use crate::budget::NextCall;
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
    vec![
        asked("q", About::Plan { contract, changes: Vec::new(), forecast: None }),
        answered("q", Answer::Once),
    ]
}

#[test]
fn only_a_yes_to_its_own_question_puts_a_plan_in_force_and_an_edited_one_is_the_users() {
    let plan = contract(json!({"steps": ["a"], "effects": ["edit", "send"]}));
    let ask =
        || asked("q", About::Plan { contract: Box::new(plan.clone()), changes: Vec::new(), forecast: None });
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
    let wider =
        About::Plan { contract: Box::default(), changes: vec!["+ effect pay".into()], forecast: None };
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
        let (plan, now) = (state(bodies), Timestamp(minutes * 60_000));
        let reached = plan.meter_in_force()?.reached(BudgetOf::Plan, now, NextCall::default());
        reached.map(|bound| bound.to_string())
    };
    let turns = |count| (0..count).map(|n| turn(n, "", Vec::new())).collect::<Vec<_>>();
    assert_eq!(after(json!({"turns": 2}), turns(1)), None);
    assert_eq!(after(json!({"turns": 2}), turns(2)), Some("2 of 2 steps".into()));
    assert_eq!(after(json!({"minutes": 3}), turns(2)), None);
    assert_eq!(after(json!({"minutes": 3}), turns(3)), Some("3 of 3 minutes".into()));
    // A turn of the sample costs $0.00123.
    assert_eq!(after(json!({"dollars": 0.002}), turns(1)), None);
    assert_eq!(after(json!({"dollars": 0.002}), turns(2)), Some("$0.00246 of $0.002".into()));
    // What was broken off was paid for, too.
    let cost = Cost::Priced { usd: Usd(1_230_000_000) };
    let dropped = EventBody::TurnDropped { turn: 1, usage: USAGE, cost, text: String::new() };
    assert_eq!(
        after(json!({"dollars": 0.002}), vec![dropped.clone(), dropped]),
        Some("$0.00246 of $0.002".into())
    );
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
    assert_eq!(after(json!({"minutes": 3}), waited), Some("3 of 3 minutes".into()));
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
    bodies.extend([
        asked("d", About::Call { outside: outside.clone(), diff: None, unconfined: false }),
        answered("d", Answer::Deny),
    ]);
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
