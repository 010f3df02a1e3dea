//! What counts as used, when a bound is near or reached, and what going on gives.

use protocol::event::RunEnd;
use protocol::turn::Cost;
use serde_json::json;

use super::*;
use crate::sample::{USAGE, event, question, turn};

const NOW: Timestamp = Timestamp(0);

fn dollars(dollars: f64) -> Usd {
    Usd::from_dollars(dollars).unwrap()
}

fn budget(most: Most) -> Budget {
    Budget { meter: Meter::new(most, Timestamp(0)), used_up: None }
}

/// A minute lies between two of them.
fn after(most: Most, bodies: Vec<EventBody>) -> (Budget, Timestamp) {
    let (mut budget, mut now) = (budget(most), Timestamp(0));
    for (n, body) in (1..).zip(bodies) {
        now = Timestamp(n * MINUTE);
        budget.fold(&Event { time: now, ..event(1, body) }, &mut PlanState::default());
    }
    (budget, now)
}

fn turns(count: u32) -> Vec<EventBody> {
    (1..=count).map(|n| turn(n, "", Vec::new())).collect()
}

fn reached(most: Most, bodies: Vec<EventBody>) -> Option<String> {
    let (budget, now) = after(most, bodies);
    budget.reached(&PlanState::default(), now, NextCall::default()).map(|bound| bound.to_string())
}

#[test]
fn a_bound_is_reached_by_turns_work_tokens_or_money() {
    let steps = Most { steps: Some(2), ..Most::default() };
    assert_eq!(reached(steps, turns(1)), None);
    assert_eq!(reached(steps, turns(2)), Some("2 of 2 steps".into()));
    let minutes = Most { minutes: Some(3), ..Most::default() };
    assert_eq!(reached(minutes, turns(2)), None);
    assert_eq!(reached(minutes, turns(3)), Some("3 of 3 minutes".into()));
    let each = USAGE.input + USAGE.output + USAGE.thinking;
    let tokens = Most { tokens: Some(2 * each), ..Most::default() };
    assert_eq!(reached(tokens, turns(1)), None);
    assert_eq!(reached(tokens, turns(2)), Some(format!("{0} of {0} tokens", 2 * each)));
    // A turn of the sample costs $0.00123; what was broken off was paid for, too.
    let cost = Most { cost: Some(dollars(0.002)), ..Most::default() };
    assert_eq!(reached(cost, turns(1)), None);
    assert_eq!(reached(cost, turns(2)), Some("$0.00246 of $0.002".into()));
    let (usage, price) = (USAGE, Cost::Priced { usd: dollars(0.002) });
    let dropped = EventBody::TurnDropped { turn: 1, usage, cost: price, text: String::new() };
    assert_eq!(reached(cost, vec![dropped]), Some("$0.002 of $0.002".into()));
    assert_eq!(reached(Most::default(), turns(50)), None);
}

#[test]
fn another_try_of_a_turn_is_no_step_of_its_own() {
    let steps = Most { steps: Some(2), ..Most::default() };
    let tries = vec![turn(1, "", Vec::new()), turn(1, "", Vec::new()), turn(1, "", Vec::new())];
    assert_eq!(reached(steps, tries), None);
}

#[test]
fn to_wait_for_the_user_is_no_work() {
    let minutes = |most| Most { minutes: Some(most), ..Most::default() };
    let paused = EventBody::RunPaused { reason: "by the user".into() };
    let asked = EventBody::ApprovalRequested { approval: question("q") };
    let waited = |wait: EventBody| {
        // Of these four minutes it works in the first two.
        vec![
            turn(1, "", Vec::new()),
            wait,
            EventBody::RunSteered { text: "go".into() },
            EventBody::RunResumed,
        ]
    };
    for wait in [paused, asked] {
        assert_eq!(reached(minutes(3), waited(wait.clone())), None);
        assert_eq!(reached(minutes(2), waited(wait)), Some("2 of 2 minutes".into()));
    }
}

#[test]
fn the_time_in_which_miki_was_not_there_is_no_work() {
    let minutes = |most| Most { minutes: Some(most), ..Most::default() };
    // A minute each: up to its turn, with nobody there, since it went on.
    let events = vec![turn(1, "", Vec::new()), EventBody::RunResumed, turn(2, "", Vec::new())];
    assert_eq!(reached(minutes(3), events.clone()), None);
    assert_eq!(reached(minutes(2), events), Some("2 of 2 minutes".into()));
}

#[test]
fn a_call_that_would_pass_a_bound_is_not_made() {
    let (tokens, cost) = (Some(1_000_000), Some(dollars(1.0)));
    let (budget, now) = after(Most { tokens, cost, ..Most::default() }, turns(1));
    let next = |tokens, cost: f64| NextCall { tokens, cost: dollars(cost) };
    let over =
        |call| budget.reached(&PlanState::default(), now, call).map(|bound| (bound.measure, bound.next));
    let left = 1_000_000 - budget.meter.used.tokens();
    assert_eq!(over(next(left, 0.998_77)), None, "what fits in to the last token is made");
    assert_eq!(over(next(left + 1, 0.0)), Some((Measure::Tokens, Some((left + 1).to_string()))));
    assert_eq!(over(next(0, 0.998_78)), Some((Measure::Dollars, Some("0.99878".into()))));
    assert_eq!(budget.left(&PlanState::default()), (Some(left), Some(dollars(0.998_77))));
}

#[test]
fn at_four_fifths_it_is_near_and_said_once() {
    let most = Most { steps: Some(5), minutes: Some(100), ..Most::default() };
    let near = |(budget, now): (Budget, Timestamp)| {
        let near = budget.near(&PlanState::default(), now);
        near.iter().map(Bound::to_string).collect::<Vec<_>>()
    };
    assert_eq!(near(after(most, turns(3))), Vec::<String>::new());
    assert_eq!(near(after(most, turns(4))), ["4 of 5 steps"]);
    assert_eq!(near(after(most, turns(5))), Vec::<String>::new(), "it is more than near");
    let bound = after(most, turns(4)).0.near(&PlanState::default(), NOW).remove(0);
    let told = EventBody::BudgetReached { reached: Reached::Near, bound };
    assert_eq!(near(after(most, [turns(4), vec![told]].concat())), Vec::<String>::new());
}

#[test]
fn to_go_on_gives_as_much_again_of_what_was_used_up_and_of_nothing_else() {
    let most = Most { steps: Some(2), minutes: Some(50), ..Most::default() };
    let bound = after(most, turns(2)).0.reached(&PlanState::default(), NOW, NextCall::default()).unwrap();
    let paused = vec![
        EventBody::BudgetReached { reached: Reached::UsedUp, bound: bound.clone() },
        EventBody::RunPaused { reason: bound.used_up() },
    ];
    let (waits, _) = after(most, [turns(2), paused.clone()].concat());
    let more = UsedUp { bound: bound.clone(), more: Some("2".into()) };
    assert_eq!(waits.waits_for(&PlanState::default()), Some(more), "what a yes gives");
    assert_eq!(waits.used_up, Some(bound));
    let resumed = [turns(2), paused, vec![EventBody::RunResumed]].concat();
    let (goes_on, _) = after(most, resumed.clone());
    assert_eq!(goes_on.used_up, None);
    assert_eq!(goes_on.meter.most(), Most { steps: Some(4), minutes: Some(50), ..Most::default() });
    // Any other pause gives nothing.
    let other = vec![EventBody::RunPaused { reason: "by the user".into() }, EventBody::RunResumed];
    assert_eq!(after(most, [resumed, other].concat()).0.meter.most().steps, Some(4));
}

#[test]
fn what_is_shown_is_counted_from_the_start_and_the_stricter_bound_holds() {
    let contract = serde_json::from_value(json!({"steps": ["a"], "budget": {"turns": 3}})).unwrap();
    let mut plan = PlanState::default();
    plan.agreed = Some(contract);
    plan.meter = Some(Meter::new(Most { steps: Some(3), ..Most::default() }, Timestamp(0)));
    let (mut budget, now) = after(Most { steps: Some(30), ..Most::default() }, turns(2));
    let steps = |budget: &Budget, plan: &PlanState| budget.progress(plan, now).most.steps;
    assert_eq!(steps(&budget, &plan), Some(5));
    assert_eq!(steps(&budget, &PlanState::default()), Some(30));
    plan.agreed = None;
    assert_eq!(steps(&budget, &plan), Some(30), "a plan that was taken back bounds nothing");
    let end = EventBody::RunEnded { end: RunEnd::Stopped { reason: String::new() } };
    budget.fold(&event(9, end), &mut plan);
}
