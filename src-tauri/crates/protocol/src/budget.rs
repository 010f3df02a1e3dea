//! What a run may use up, what it has used up, and what it may come to.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::turn::Usd;

/// What is counted of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Measure {
    /// Turns of the model.
    Steps,
    /// Of work: waiting for its user does not count.
    Minutes,
    /// Of the prompt, cached ones too, of answers and of thoughts.
    Tokens,
    /// As far as costs are known.
    Dollars,
}

/// The most that may be used up; `None` for no bound.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Most {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub steps: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub minutes: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<Usd>,
}

impl Most {
    pub fn is_open(&self) -> bool {
        *self == Self::default()
    }

    /// Of each the smaller.
    #[must_use]
    pub fn stricter(self, other: Self) -> Self {
        fn least<T: Ord>(one: Option<T>, other: Option<T>) -> Option<T> {
            one.into_iter().chain(other).min()
        }
        Self {
            steps: least(self.steps, other.steps),
            minutes: least(self.minutes, other.minutes),
            tokens: least(self.tokens, other.tokens),
            cost: least(self.cost, other.cost),
        }
    }
}

/// Whether a bound of which 0 means none lets more through than another.
pub fn is_looser<T: Ord + Default>(next: &T, before: &T) -> bool {
    let none = T::default();
    *before != none && (*next == none || next > before)
}

/// Whose bound it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum BudgetOf {
    /// The run's own, of the settings or as it was asked for.
    Run,
    /// The plan's that its user agreed to.
    Plan,
    /// That of an agent that it works for.
    Parent,
}

/// A bound that is near, or reached.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Bound {
    pub of: BudgetOf,
    pub measure: Measure,
    /// A decimal number, as `most` is: steps, minutes, tokens or dollars.
    pub used: String,
    pub most: String,
    /// What the next call to the model may take at the most, where that alone would pass the bound.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
}

/// Why a run waits for its user's word, and what that gives it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct UsedUp {
    pub bound: Bound,
    /// What it gets where it may go on, as `bound` counts; `None` if that is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub more: Option<String>,
}

impl Bound {
    /// Why a run waits whose bound is reached: `the run's budget is used up: 30 of 30 steps`
    pub fn used_up(&self) -> String {
        let whose = match self.of {
            BudgetOf::Run => "run's",
            BudgetOf::Plan => "plan's",
            BudgetOf::Parent => "parent's",
        };
        let next = match &self.next {
            Some(next) => format!(", and the next call may take {}", self.measure.with(next)),
            None => String::new(),
        };
        format!("the {whose} budget is used up: {self}{next}")
    }
}

/// `24 of 30 steps`, `$0.0412 of $0.05`
impl fmt::Display for Bound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let used = match self.measure {
            Measure::Dollars => format!("${}", self.used),
            Measure::Steps | Measure::Minutes | Measure::Tokens => self.used.clone(),
        };
        write!(f, "{used} of {}", self.measure.with(&self.most))
    }
}

impl Measure {
    fn with(self, number: &str) -> String {
        let unit = match self {
            Self::Dollars => return format!("${number}"),
            Self::Steps => "step",
            Self::Minutes => "minute",
            Self::Tokens => "token",
        };
        let more = if number == "1" { "" } else { "s" };
        format!("{number} {unit}{more}")
    }
}

/// How near a bound is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Reached {
    /// Four fifths of it are used.
    Near,
    /// Nothing more fits in: the run waits until it may have as much again.
    UsedUp,
}

/// What a run has used up so far, of what, and what it may come to.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Progress {
    pub minutes: u32,
    pub tokens: u64,
    /// As far as it is known; `None` if nothing is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<Usd>,
    /// The strictest of all bounds, counted from the run's start, with what was given to it again.
    #[serde(default, skip_serializing_if = "Most::is_open")]
    pub most: Most,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub forecast: Option<Forecast>,
}

/// What a run may come to: from a lower to an upper figure, as earlier runs of its model were.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Forecast {
    /// Of how many runs this is known.
    pub runs: u32,
    pub steps: (u32, u32),
    pub tokens: (u64, u64),
    /// `None` if too little is known of what they cost.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<(Usd, Usd)>,
}

/// `about $0.031-0.08, 12-20 steps (from 8 runs)`, `about 40k-90k tokens, 12-20 steps (from 8 runs)`
impl fmt::Display for Forecast {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (least, most) = self.steps;
        let steps = span(&least.to_string(), &most.to_string());
        let unit = if most == 1 { "step" } else { "steps" };
        write!(f, "about {}, {steps} {unit} (from {} runs)", self.takes(), self.runs)
    }
}

/// Turns after which a run itself tells more of what its next ones take than others do.
const TELLS: u32 = 3;

impl Forecast {
    /// The same for a run that is in its turn `step`, and what it took so far: never less than that, and what is left of it by
    /// what its own turns took.
    #[must_use]
    pub fn while_it_runs(self, step: u32, tokens: u64, cost: Option<Usd>) -> Self {
        let steps = (self.steps.0.max(step), self.steps.1.max(step));
        let is_known = step >= TELLS;
        let by_its_own = |used: u64, steps: u32, usual: u64| match is_known {
            true => used.saturating_add(used.saturating_mul((steps - step).into()) / u64::from(step)),
            false => usual.max(used),
        };
        let tokens = (by_its_own(tokens, steps.0, self.tokens.0), by_its_own(tokens, steps.1, self.tokens.1));
        let cost = match (cost, self.cost) {
            (Some(used), Some((least, most))) => {
                let cost = |steps, usual: Usd| Usd(by_its_own(used.0, steps, usual.0));
                Some((cost(steps.0, least), cost(steps.1, most)))
            }
            // What it took is not known: what others took is all there is.
            (None, usual) => usual,
            (Some(used), None) if is_known => {
                let cost = |steps| Usd(by_its_own(used.0, steps, 0));
                Some((cost(steps.0), cost(steps.1)))
            }
            (Some(_), None) => None,
        };
        Self { steps, tokens, cost, ..self }
    }

    /// Dollars where they are known, else tokens: `$0.031-0.08`, `40k-90k tokens`
    pub fn takes(&self) -> String {
        match self.cost {
            Some((least, most)) => format!("${}", span(&least.rough(), &most.rough())),
            None => format!("{} tokens", span(&thousands(self.tokens.0), &thousands(self.tokens.1))),
        }
    }
}

fn span(least: &str, most: &str) -> String {
    if least == most { most.to_owned() } else { format!("{least}-{most}") }
}

/// For glancing: `850`, `41k`, `1.2M`
pub fn thousands(tokens: u64) -> String {
    match tokens {
        0..1_000 => tokens.to_string(),
        1_000..999_500 => format!("{}k", (tokens + 500) / 1_000),
        _ => format!("{}.{}M", (tokens + 50_000) / 1_000_000, (tokens + 50_000) / 100_000 % 10),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bound(measure: Measure, used: &str, most: &str) -> Bound {
        Bound { of: BudgetOf::Run, measure, used: used.into(), most: most.into(), next: None }
    }

    #[test]
    fn a_bound_says_what_is_used_of_what_and_whose_it_is() {
        assert_eq!(
            bound(Measure::Steps, "30", "30").used_up(),
            "the run's budget is used up: 30 of 30 steps"
        );
        let plan = Bound { of: BudgetOf::Plan, ..bound(Measure::Minutes, "1", "1") };
        assert_eq!(plan.used_up(), "the plan's budget is used up: 1 of 1 minute");
        let next = Bound { next: Some("0.02".into()), ..bound(Measure::Dollars, "0.04", "0.05") };
        assert_eq!(
            next.used_up(),
            "the run's budget is used up: $0.04 of $0.05, and the next call may take $0.02"
        );
    }

    #[test]
    fn of_two_budgets_the_stricter_holds_in_each_measure() {
        let one = Most { steps: Some(3), tokens: Some(10), ..Most::default() };
        let other = Most { steps: Some(5), tokens: Some(4), minutes: Some(1), cost: None };
        let both = Most { steps: Some(3), tokens: Some(4), minutes: Some(1), cost: None };
        assert_eq!(one.stricter(other), both);
        assert!(Most::default().stricter(Most::default()).is_open());
    }

    #[test]
    fn no_bound_is_looser_than_any() {
        for (next, before, looser) in
            [(2, 1, true), (0, 1, true), (1, 2, false), (1, 0, false), (0, 0, false)]
        {
            assert_eq!(is_looser(&next, &before), looser, "{next} after {before}");
        }
    }

    #[test]
    fn a_forecast_follows_what_its_run_takes() {
        let cent = |cents: u64| Usd(cents * 10_000_000_000);
        let before =
            Forecast { runs: 8, steps: (4, 10), tokens: (4_000, 20_000), cost: Some((cent(4), cent(20))) };
        assert_eq!(before.while_it_runs(1, 900, Some(cent(1))), before, "its first turn tells nothing");
        let early = before.while_it_runs(2, 30_000, Some(cent(1)));
        assert_eq!(early.tokens, (30_000, 30_000), "never less than what it took");
        // Three thousand tokens and three cents a turn, where others took one or two.
        let middle = before.while_it_runs(5, 15_000, Some(cent(15)));
        assert_eq!(middle.steps, (5, 10));
        assert_eq!((middle.tokens, middle.cost), ((15_000, 30_000), Some((cent(15), cent(30)))));
        let beyond = before.while_it_runs(12, 36_000, None);
        assert_eq!((beyond.steps, beyond.tokens, beyond.cost), ((12, 12), (36_000, 36_000), before.cost));
    }

    #[test]
    fn a_forecast_says_dollars_only_where_they_are_known_and_from_how_many_runs() {
        let dollars = |dollars| Usd::from_dollars(dollars).unwrap();
        let known = Forecast {
            runs: 8,
            steps: (12, 20),
            tokens: (39_600, 1_240_000),
            cost: Some((dollars(0.030_71), dollars(0.080_01))),
        };
        assert_eq!(known.to_string(), "about $0.031-0.081, 12-20 steps (from 8 runs)");
        let unknown = Forecast { cost: None, steps: (1, 1), ..known };
        assert_eq!(unknown.to_string(), "about 40k-1.2M tokens, 1 step (from 8 runs)");
        assert_eq!([999, 999_499, 999_500].map(thousands), ["999", "999k", "1.0M"]);
    }
}
