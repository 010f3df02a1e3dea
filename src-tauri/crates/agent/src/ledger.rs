//! What trees of agents use up. What an agent is about to spend is reserved with it and with each agent above it before it
//! is spent, all in one moment: whatever many agents do at once, no bound of any of them is passed but by what a single
//! call took more than was foreseen.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use journal::budget::Used;
use protocol::budget::{Bound, BudgetOf, Measure, Most, Progress};
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

/// What is counted of a whole tree. Minutes are not, since its agents work at the same time: each has no more of them than
/// the one above it has left.
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

impl Sum {
    /// Adds what those below a run have used to what it has.
    pub fn add_to(self, progress: &mut Progress) {
        progress.tokens = progress.tokens.saturating_add(self.tokens);
        if self.cost.0 > 0 {
            progress.cost = Some(progress.cost.unwrap_or_default().plus(self.cost));
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

/// What bounds a run's account: all that it may use, and of minutes those that are left.
pub fn bounds(progress: &Progress) -> Most {
    let minutes = progress.most.minutes.map(|most| most.saturating_sub(progress.minutes));
    Most { minutes, ..progress.most }
}

impl Ledger {
    /// Opens a run's account, with what those below it used that have ended.
    pub fn open(&self, run: RunId, parent: Option<RunId>, most: Most, ended: Sum) {
        self.accounts().insert(run, Account { parent, most, ended, ..Account::default() });
    }

    /// What a run has used by itself so far, and its [`bounds`]. Nothing is reserved for it any more.
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
        // Those below it are about to be stopped: what they use until then is those above's all the same.
        for below in accounts.values_mut().filter(|account| account.parent.as_ref() == Some(run)) {
            below.parent.clone_from(&closed.parent);
        }
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
mod tests;
