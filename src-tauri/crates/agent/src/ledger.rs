//! What trees of agents use up. What an agent is about to spend is reserved with it and with each agent above it before it
//! is spent, all in one moment: whatever many agents do at once, no bound of any of them is passed but by what a single
//! call took more than was foreseen.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use journal::budget::Used;
use protocol::budget::{Bound, BudgetOf, Measure, Most};
use protocol::ids::RunId;
use protocol::turn::Usd;
use tokio::sync::watch;

/// The accounts of all runs that have not ended.
#[derive(Default)]
pub struct Ledger {
    accounts: Mutex<BTreeMap<RunId, Account>>,
    settled: watch::Sender<()>,
}

/// Why a call cannot be made now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NoRoom {
    /// This bound would be passed.
    Bound(Bound),
    /// There would be room, but for what calls of others that are under way may take. [`Ledger::settled`] tells when one
    /// of them has ended.
    Reserved,
}

/// What is counted of a whole tree. Minutes are not: agents of one tree work at the same time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sum {
    pub steps: u32,
    pub tokens: u64,
    pub cost: Usd,
}

#[derive(Clone, Debug, Default)]
struct Account {
    parent: Option<RunId>,
    most: Most,
    /// By itself.
    used: Sum,
    /// By agents below it that have ended.
    ended: Sum,
    /// For its call that is under way.
    reserved: Sum,
}

impl Sum {
    /// Of a run by itself.
    pub fn of(used: &Used) -> Self {
        Self { steps: used.turns, tokens: used.tokens(), cost: used.spent.usd }
    }

    pub fn plus(self, other: Self) -> Self {
        Self {
            steps: self.steps.saturating_add(other.steps),
            tokens: self.tokens.saturating_add(other.tokens),
            cost: self.cost.plus(other.cost),
        }
    }
}

impl Account {
    fn gone(&self) -> Sum {
        self.used.plus(self.ended)
    }

    fn all(&self) -> Sum {
        self.gone().plus(self.reserved)
    }

    /// The bound that is passed by `next` more than `used`, of which all but `next` is gone already.
    fn passed(&self, of: BudgetOf, used: Sum, next: Sum) -> Option<Bound> {
        let bound = |measure, used: String, most: String, next: String| {
            let next = (measure != Measure::Steps && next != "0").then_some(next);
            Some(Bound { of, measure, used, most, next })
        };
        let Most { steps, tokens, cost, .. } = self.most;
        if let Some(most) = steps.filter(|most| used.steps.saturating_add(next.steps) > *most) {
            return bound(Measure::Steps, used.steps.to_string(), most.to_string(), next.steps.to_string());
        }
        if let Some(most) = tokens.filter(|most| used.tokens.saturating_add(next.tokens) > *most) {
            return bound(
                Measure::Tokens,
                used.tokens.to_string(),
                most.to_string(),
                next.tokens.to_string(),
            );
        }
        if let Some(most) = cost.filter(|most| used.cost.plus(next.cost) > *most) {
            return bound(Measure::Dollars, used.cost.to_string(), most.to_string(), next.cost.to_string());
        }
        None
    }
}

impl Ledger {
    /// Opens a run's account, with what those below it used that have ended.
    pub fn open(&self, run: RunId, parent: Option<RunId>, most: Most, ended: Sum) {
        self.accounts().insert(run, Account { parent, most, ended, ..Account::default() });
    }

    /// What a run has used by itself so far, and may use with all below it. Nothing of it is reserved any more.
    pub fn note(&self, run: &RunId, most: Most, used: Sum) {
        let mut accounts = self.accounts();
        let Some(account) = accounts.get_mut(run) else { return };
        let has_settled = account.reserved != Sum::default();
        (account.most, account.used, account.reserved) = (most, used, Sum::default());
        // Nobody else's call has ended where it had reserved nothing: those that wait would wake each other for ever.
        if has_settled {
            self.settled.send_replace(());
        }
    }

    /// Changes with each call that has ended.
    pub fn settled(&self) -> watch::Receiver<()> {
        self.settled.subscribe()
    }

    /// Reserves what a run's next call may take, with it and with each one above it, or with none of them.
    ///
    /// # Errors
    /// Whose bound would be passed, its own or that of one above it; or that it has to wait.
    pub fn reserve(&self, run: &RunId, next: Sum) -> Result<(), NoRoom> {
        let mut accounts = self.accounts();
        let mut at = Some(run.clone());
        while let Some(here) = at {
            let Some(account) = accounts.get(&here) else { break };
            let of = if here == *run { BudgetOf::Run } else { BudgetOf::Parent };
            let gone = account.gone().plus(below(&accounts, &here, Account::gone));
            if let Some(bound) = account.passed(of, gone, next) {
                return Err(NoRoom::Bound(bound));
            }
            let all = account.all().plus(below(&accounts, &here, Account::all));
            if account.passed(of, all, next).is_some() {
                return Err(NoRoom::Reserved);
            }
            at = account.parent.clone();
        }
        if let Some(account) = accounts.get_mut(run) {
            account.reserved = next;
        }
        Ok(())
    }

    /// What those below a run have used and reserved.
    pub fn below(&self, run: &RunId) -> Sum {
        let accounts = self.accounts();
        let ended = accounts.get(run).map(|account| account.ended).unwrap_or_default();
        below(&accounts, run, Account::all).plus(ended)
    }

    /// What is left to a run, of its own bounds and of those of each above it; `None` in each measure for no bound.
    pub fn left(&self, run: &RunId) -> Most {
        let accounts = self.accounts();
        let (mut left, mut at) = (Most::default(), Some(run.clone()));
        while let Some(here) = at {
            let Some(account) = accounts.get(&here) else { break };
            let used = account.gone().plus(below(&accounts, &here, Account::gone));
            let Most { steps, minutes, tokens, cost } = account.most;
            left = left.stricter(Most {
                steps: steps.map(|most| most.saturating_sub(used.steps)),
                minutes,
                tokens: tokens.map(|most| most.saturating_sub(used.tokens)),
                cost: cost.map(|most| most.minus(used.cost)),
            });
            at = account.parent.clone();
        }
        left
    }

    /// Of a run that has ended: what it and those below it used stays with the one above it.
    pub fn close(&self, run: &RunId) {
        let mut accounts = self.accounts();
        let Some(closed) = accounts.remove(run) else { return };
        self.settled.send_replace(());
        let used = closed.used.plus(closed.ended);
        if let Some(above) = closed.parent.and_then(|parent| accounts.get_mut(&parent)) {
            above.ended = above.ended.plus(used);
        }
    }

    fn accounts(&self) -> MutexGuard<'_, BTreeMap<RunId, Account>> {
        self.accounts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn below(accounts: &BTreeMap<RunId, Account>, run: &RunId, of: fn(&Account) -> Sum) -> Sum {
    let children = accounts.iter().filter(|(_, account)| account.parent.as_ref() == Some(run));
    children
        .fold(Sum::default(), |sum, (child, account)| sum.plus(of(account)).plus(below(accounts, child, of)))
}

#[cfg(test)]
mod tests {
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

    #[test]
    fn where_money_is_short_it_says_so_in_dollars() {
        let ledger = Ledger::default();
        let few = Most { cost: Some(sum(0, 0, 5).cost), ..Most::default() };
        ledger.open(run(1), None, few, Sum::default());
        ledger.open(run(2), Some(run(1)), Most::default(), Sum::default());
        let NoRoom::Bound(bound) = ledger.reserve(&run(2), sum(1, 0, 6)).unwrap_err() else { panic!() };
        assert_eq!(
            (bound.of, bound.measure, bound.most.as_str()),
            (BudgetOf::Parent, Measure::Dollars, "0.05")
        );
    }

    proptest! {
        // bar: 67
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
}
