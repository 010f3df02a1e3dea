//! What a run may use up: the next turn is weighed before it is asked for, and what is near is told, once.

use journal::budget::NextCall;
use models::estimate::{Price, USUAL_OUTPUT, price};
use protocol::budget::{Bound, BudgetOf, Progress, Reached};
use protocol::event::Level;
use protocol::turn::Usd;
use protocol::{ErrorView, EventBody};

use super::Driver;
use crate::ledger::{self, NoRoom, Sum};

/// A shorter answer is not worth a call.
const LEAST_ANSWER: u64 = 1_024;
/// No model answers longer: where so much fits in, nothing is said of it.
const LONGEST_ANSWER: u64 = 131_072;
/// In milliseconds: what was sent so long ago is in no provider's cache by itself.
const CACHED_FOR: i64 = 240_000;

impl Driver {
    /// What is used up before anything is asked for.
    pub(super) fn used_up(&self) -> Option<Bound> {
        self.budget.reached(&self.plan, self.run.log.now(), NextCall::default())
    }

    /// Says what is near, to its user and to its model.
    pub(super) async fn tell_what_is_near(&mut self) -> Result<(), ErrorView> {
        for bound in self.budget.near(&self.plan, self.run.log.now()) {
            let whose = match bound.of {
                BudgetOf::Run => "this run may use",
                BudgetOf::Plan => "the plan allows",
                BudgetOf::Parent => "the agent that you work for may use",
            };
            self.steers.push(format!(
                "Most of what {whose} is used: {bound}. Do what matters most now, and call `done` in time, saying what is \
                 left to do."
            ));
            self.append(EventBody::BudgetReached { reached: Reached::Near, bound }).await?;
        }
        Ok(())
    }

    /// Whether the next turn fits in, at the most that it may take: its prompt by a formula, and the longest answer. The
    /// answer is bounded by what is left.
    pub(super) fn reserve(&mut self) -> Result<(), NoRoom> {
        self.note_used();
        let (tokens, cost) = self.budget.left(&self.plan);
        let in_tree = self.run.ledger.left(&self.run.id);
        let tokens = tokens.into_iter().chain(in_tree.tokens).min();
        let cost = cost.into_iter().chain(in_tree.cost).min();
        self.cut_at = None;
        self.run.context.set_left(tokens);
        if tokens.is_none() && cost.is_none() {
            self.run.context.set_max_output(None);
            return self.reserve_in_tree(NextCall::default());
        }
        let now = self.run.log.now();
        // Not kept: nothing else may share it when it is changed, or it is copied.
        drop(self.run.context.request());
        let input = self.run.context.asked_tokens();
        let read_from_cache =
            self.budget.meter.used.newest.filter(|(at, usage)| {
                usage.cached * 2 >= usage.input && now.0.saturating_sub(at.0) < CACHED_FOR
            });
        let cached = read_from_cache.map_or(0, |(_, usage)| usage.input.min(input));
        let price = price(self.run.model.id(), input, cached).filter(|_| cost.is_some());
        let usual = match self.run.settings.max_output {
            0 => USUAL_OUTPUT.into(),
            most => u64::from(most),
        };
        let fits = answer_that_fits(input, price, tokens, cost);
        let answer = fits.min(usual).max(LEAST_ANSWER.min(usual));
        let next =
            |answer: u64| NextCall { tokens: input.saturating_add(answer), cost: costs(price, answer) };
        if let Some(bound) = self.budget.reached(&self.plan, now, next(answer)) {
            return Err(NoRoom::Bound(bound));
        }
        self.cut_at = self.budget.reached(&self.plan, now, next(usual));
        let most = (fits < LONGEST_ANSWER).then(|| u32::try_from(answer).unwrap_or(u32::MAX));
        self.run.context.set_max_output(most);
        self.reserve_in_tree(next(answer))
    }

    /// With each agent above it, too.
    fn reserve_in_tree(&self, next: NextCall) -> Result<(), NoRoom> {
        let NextCall { tokens, cost } = next;
        self.run.ledger.reserve(&self.run.id, Sum { steps: 1, tokens, cost })
    }

    /// What it has used so far, for those above and below it.
    pub(super) fn note_used(&self) {
        let now = self.budget.progress(&self.plan, self.run.log.now());
        self.run.ledger.note(&self.run.id, ledger::bounds(&now), Sum::of(&self.budget.meter.used));
    }

    /// Where prices are not known, a bound in dollars bounds little.
    pub(super) async fn tell_of_unknown_prices(&mut self) -> Result<(), ErrorView> {
        let model = self.run.model.id().clone();
        if self.run.spec.most.cost.is_none() || price(&model, 1, 0).is_some() {
            return Ok(());
        }
        let message = format!("no price of {} is known: dollars bound only what its provider bills", model.0);
        let hint = Some("bound its steps, minutes or tokens".to_owned());
        self.append(EventBody::Noted { level: Level::Warning, message, hint }).await
    }

    pub(super) fn progress(&self) -> Progress {
        let mut now = self.budget.progress(&self.plan, self.run.log.now());
        self.run.ledger.below(&self.run.id).add_to(&mut now);
        let forecast = self.forecast.map(|told| told.while_it_runs(self.machine.turn, now.tokens, now.cost));
        Progress { forecast, ..now }
    }
}

/// Tokens of the longest answer that what is left has room for.
fn answer_that_fits(input: u64, price: Option<Price>, tokens: Option<u64>, cost: Option<Usd>) -> u64 {
    let by_tokens = tokens.map(|left| left.saturating_sub(input));
    let by_cost = cost.zip(price).map(|(left, price)| {
        let left = left.minus(price.input).0;
        left.checked_div(price.per_output.0).unwrap_or(u64::MAX)
    });
    by_tokens.into_iter().chain(by_cost).min().unwrap_or(u64::MAX)
}

fn costs(price: Option<Price>, answer: u64) -> Usd {
    price.map_or(Usd(0), |price| price.input.plus(price.per_output.times(answer)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_has_the_room_that_its_prompt_leaves_of_the_tighter_bound() {
        let price = Some(Price { input: Usd(600), per_output: Usd(10) });
        assert_eq!(answer_that_fits(300, price, Some(1_000), Some(Usd(2_000))), 140);
        assert_eq!(answer_that_fits(300, price, Some(400), Some(Usd(2_000))), 100);
        assert_eq!(answer_that_fits(300, price, Some(200), None), 0);
        assert_eq!(answer_that_fits(300, None, None, Some(Usd(2_000))), u64::MAX, "no price, no bound");
        assert_eq!(costs(price, 140), Usd(2_000));
    }
}
