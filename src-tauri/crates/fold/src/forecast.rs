//! What a run may come to: from what earlier runs of its model took, and from its plan.

use protocol::budget::Forecast;
use protocol::contract::Contract;
use protocol::turn::Usd;

/// Fewer tell nothing.
pub const LEAST_RUNS: usize = 3;
/// Older ones tell less.
pub const MOST_RUNS: usize = 20;

/// What a run took that came to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PastRun {
    pub steps: u32,
    pub tokens: u64,
    /// `None` if not all of it is known.
    pub cost: Option<Usd>,
}

/// What a run may come to, from the middle half of earlier ones; by its plan, where it has one. `None` if too little is
/// known.
pub fn forecast(past: &[PastRun], plan: Option<&Contract>) -> Option<Forecast> {
    let past: Vec<&PastRun> = past.iter().filter(|run| run.steps > 0).take(MOST_RUNS).collect();
    if past.len() < LEAST_RUNS {
        return None;
    }
    let steps = match plan {
        Some(plan) => by_plan(plan),
        None => middle(past.iter().map(|run| u64::from(run.steps)).collect()),
    };
    let (per_least, per_most) = middle(past.iter().map(|run| run.tokens / u64::from(run.steps)).collect());
    let costs: Vec<u64> =
        past.iter().filter_map(|run| run.cost.map(|cost| cost.0 / u64::from(run.steps))).collect();
    let cost = (costs.len() >= LEAST_RUNS).then(|| {
        let (least, most) = middle(costs);
        (Usd(least).times(steps.0), Usd(most).times(steps.1))
    });
    let whole = |steps| u32::try_from(steps).unwrap_or(u32::MAX);
    Some(Forecast {
        runs: whole(past.len() as u64),
        steps: (whole(steps.0), whole(steps.1)),
        tokens: (per_least.saturating_mul(steps.0), per_most.saturating_mul(steps.1)),
        cost,
    })
}

/// A turn for each of its steps and one to end, at the least; three times as many, or what it may take, at the most.
fn by_plan(plan: &Contract) -> (u64, u64) {
    let named = plan.steps.len() as u64 + 1;
    match plan.budget.turns.map(u64::from) {
        Some(turns) => (named.min(turns), turns),
        None => (named, named.saturating_mul(3)),
    }
}

/// The values at a quarter and at three quarters of them.
fn middle(mut values: Vec<u64>) -> (u64, u64) {
    values.sort_unstable();
    let last = values.len().saturating_sub(1);
    let at = |index: usize| values.get(index).copied().unwrap_or(0);
    (at(last / 4), at((last * 3).div_ceil(4)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn run(steps: u32, tokens: u64, cents: Option<u64>) -> PastRun {
        PastRun { steps, tokens, cost: cents.map(|cents| Usd(cents * 10_000_000_000)) }
    }

    #[test]
    fn of_too_few_runs_nothing_is_said() {
        let one = run(10, 1_000, Some(1));
        assert_eq!(forecast(&[one, one], None), None);
        assert_eq!(forecast(&[one, one, run(0, 0, None)], None), None);
        assert!(forecast(&[one; 3], None).is_some());
    }

    #[test]
    fn it_is_the_middle_half_of_what_runs_took_by_the_step() {
        let past = [
            run(4, 400, Some(4)),
            run(8, 1_600, Some(16)),
            run(500, 5_000_000, Some(9_999)),
            run(12, 3_600, Some(36)),
        ];
        let told = forecast(&past, None).unwrap();
        // Of a step: 100, 200, 10,000 and 300 tokens.
        assert_eq!((told.runs, told.steps, told.tokens), (4, (4, 500), (400, 5_000_000)));
        let many = [past.to_vec(), vec![run(8, 1_600, Some(16)); 5]].concat();
        let told = forecast(&many, None).unwrap();
        assert_eq!((told.runs, told.steps, told.tokens), (9, (8, 8), (1_600, 1_600)));
        assert_eq!(told.cost, Some((Usd(160_000_000_000), Usd(160_000_000_000))));
    }

    #[test]
    fn by_a_plan_it_is_between_its_steps_and_what_it_may_take() {
        let past = [run(10, 1_000, None); 3];
        let plan = |more: serde_json::Value| {
            let mut plan = json!({"steps": ["a", "b"]});
            plan.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            serde_json::from_value(plan).unwrap()
        };
        let steps = |more| forecast(&past, Some(&plan(more))).unwrap().steps;
        assert_eq!(steps(json!({})), (3, 9));
        assert_eq!(steps(json!({"budget": {"turns": 20}})), (3, 20));
        assert_eq!(steps(json!({"budget": {"turns": 2}})), (2, 2));
    }

    #[test]
    fn where_prices_are_not_known_only_tokens_are_told() {
        let past = [run(10, 1_000, Some(1)), run(10, 1_000, Some(1)), run(10, 1_000, None)];
        assert_eq!(forecast(&past, None).unwrap().cost, None);
    }
}
