//! What trees of agents use up.

use super::*;
use proptest::prelude::*;

fn run(number: usize) -> RunId {
    RunId(format!("r-{number}"))
}

fn sum(steps: u32, tokens: u64, cents: u64) -> Sum {
    Sum { steps, tokens, cost: Usd(cents * 10_000_000_000) }
}

fn most(steps: u32, tokens: u64) -> Most {
    Most { steps: Some(steps), tokens: Some(tokens), ..Most::default() }
}

#[test]
fn a_childs_call_is_reserved_with_each_above_it() {
    let ledger = Ledger::default();
    ledger.open(run(1), None, most(10, 1_000), Sum::default());
    ledger.open(run(2), Some(run(1)), most(8, 5_000), Sum::default());
    ledger.open(run(3), Some(run(2)), most(5, 5_000), Sum::default());
    ledger.reserve(&run(3), sum(1, 700, 0)).unwrap();
    assert_eq!(ledger.reserve(&run(2), sum(1, 400, 0)), Err(NoRoom::Reserved), "it may take less");
    let NoRoom::Bound(bound) = ledger.reserve(&run(2), sum(1, 1_400, 0)).unwrap_err() else { panic!() };
    assert_eq!((bound.of, bound.measure), (BudgetOf::Parent, Measure::Tokens));
    assert_eq!(
        (bound.used.as_str(), bound.most.as_str(), bound.next.as_deref()),
        ("0", "1000", Some("1400"))
    );
    // It took less.
    ledger.note(&run(3), most(5, 5_000), sum(1, 300, 0));
    ledger.reserve(&run(2), sum(1, 400, 0)).unwrap();
    assert_eq!(ledger.below(&run(1)), sum(2, 700, 0));
    assert_eq!(ledger.left(&run(3)).tokens, Some(700));
    ledger.close(&run(3));
    assert_eq!(ledger.below(&run(1)), sum(2, 700, 0), "what it used stays used");
    ledger.note(&run(2), most(8, 5_000), sum(1, 100, 0));
    ledger.close(&run(2));
    assert_eq!(ledger.below(&run(1)), sum(2, 400, 0));
}

// bar: C67
#[test]
fn what_is_used_below_an_agent_that_has_ended_is_not_lost() {
    let ledger = Ledger::default();
    for number in 1..=3 {
        let parent = (number > 1).then(|| run(number - 1));
        ledger.open(run(number), parent, most(10, 1_000), Sum::default());
    }
    ledger.reserve(&run(3), sum(1, 700, 0)).unwrap();
    // The one in between ends first: the call below it is still under way.
    ledger.close(&run(2));
    assert_eq!(ledger.below(&run(1)), sum(1, 700, 0));
    ledger.note(&run(3), most(10, 1_000), sum(1, 600, 0));
    ledger.close(&run(3));
    assert_eq!(ledger.below(&run(1)), sum(1, 600, 0));
    assert_eq!(ledger.left(&run(1)).tokens, Some(400));
}

#[test]
fn a_child_has_no_more_minutes_than_its_parent_has_left() {
    let ten = Most { minutes: Some(10), ..Most::default() };
    let progress = Progress { minutes: 7, most: ten, ..Progress::default() };
    let ledger = Ledger::default();
    ledger.open(run(1), None, ten, Sum::default());
    ledger.note(&run(1), bounds(&progress), Sum::default());
    assert_eq!(ledger.left(&run(1)).minutes, Some(3));
}

#[test]
fn where_money_is_short_it_says_so_in_dollars() {
    let ledger = Ledger::default();
    let few = Most { cost: Some(sum(0, 0, 5).cost), ..Most::default() };
    ledger.open(run(1), None, few, Sum::default());
    ledger.open(run(2), Some(run(1)), Most::default(), Sum::default());
    let NoRoom::Bound(bound) = ledger.reserve(&run(2), sum(1, 0, 6)).unwrap_err() else { panic!() };
    assert_eq!((bound.of, bound.measure, bound.most.as_str()), (BudgetOf::Parent, Measure::Dollars, "0.05"));
}

proptest! {
    // bar: C67
    #[test]
    fn whatever_many_agents_do_at_once_no_bound_of_any_is_passed(
        parents in proptest::collection::vec(0_usize..8, 1..24),
        bounds in proptest::collection::vec((1_u32..40, 100_u64..4_000), 25),
        turns in proptest::collection::vec((0_usize..25, 1_u64..500, 0_u64..500, any::<bool>()), 0..300),
    ) {
        let ledger = Ledger::default();
        let limit = |at: usize| most(bounds[at].0, bounds[at].1);
        ledger.open(run(0), None, limit(0), Sum::default());
        for (at, parent) in parents.iter().enumerate() {
            ledger.open(run(at + 1), Some(run(parent % (at + 1))), limit(at + 1), Sum::default());
        }
        let count = parents.len() + 1;
        let mut used = vec![Sum::default(); count];
        let mut open = vec![true; count];
        for (who, asked, took, ends) in turns {
            let who = who % count;
            if !open[who] {
                continue;
            }
            if ledger.reserve(&run(who), sum(1, asked, 0)).is_ok() {
                // No call takes more than was reserved here: then no bound is passed at all.
                used[who] = used[who].plus(sum(1, took.min(asked), 0));
                ledger.note(&run(who), limit(who), used[who]);
            }
            // Whoever ends has none below it any more.
            let is_leaf = (1..count).all(|other| !open[other] || parents[other - 1] % other != who);
            if ends && is_leaf && who > 0 {
                ledger.close(&run(who));
                open[who] = false;
            }
        }
        let is_below = |mut at: usize, top: usize| loop {
            if at == top {
                return true;
            }
            if at == 0 {
                return false;
            }
            at = parents[at - 1] % at;
        };
        for (top, bound) in bounds.iter().enumerate().take(count) {
            let all = (0..count).filter(|at| is_below(*at, top)).fold(Sum::default(), |sum, at| sum.plus(used[at]));
            prop_assert!(all.steps <= bound.0 && all.tokens <= bound.1, "{top}: {all:?}");
        }
    }
}
