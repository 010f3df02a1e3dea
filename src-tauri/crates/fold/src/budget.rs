//! How a run stands to what it may use up: what it has used, which bound is near, which is reached, what was given again.

use std::collections::{BTreeMap, BTreeSet};

use protocol::budget::{Bound, BudgetOf, Measure, Most, Progress, Reached, UsedUp};
use protocol::event::{Event, EventBody};
use protocol::ids::Timestamp;
use protocol::run::RunSpec;
use protocol::turn::{Spent, Usage, Usd};

use crate::plan::PlanState;

const MINUTE: i64 = 60_000;

/// What was used since a moment.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Used {
    /// Turns that came to an end; another try of one is none of its own.
    pub turns: u32,
    pub usage: Usage,
    pub spent: Spent,
    /// The newest turn that was counted, and when it ended.
    pub newest: Option<(Timestamp, Usage)>,
    last_turn: Option<u32>,
    /// Milliseconds of work up to `last`.
    worked: i64,
    /// The last event while it works; `None` while it waits.
    last: Option<Timestamp>,
}

impl Used {
    pub fn since(at: Timestamp) -> Self {
        Self { last: Some(at), ..Self::default() }
    }

    /// After one more event of the run.
    pub fn fold(&mut self, event: &Event) {
        self.works(event);
        match &event.body {
            EventBody::TurnFinished { turn, usage, cost, .. } => {
                self.turns += u32::from(Some(*turn) != self.last_turn);
                self.last_turn = Some(*turn);
                self.usage = self.usage.plus(*usage);
                self.spent = self.spent.plus(*cost);
                self.newest = Some((event.time, *usage));
            }
            EventBody::TurnFailed { usage, cost: Some(cost), .. }
            | EventBody::TurnDropped { usage, cost, .. } => {
                self.usage = self.usage.plus(*usage);
                self.spent = self.spent.plus(*cost);
            }
            // Of all others it only counts when they came.
            _ => {}
        }
    }

    /// It goes on after it has waited for its user. Told twice, it is the same.
    pub fn goes_on(&mut self, at: Timestamp) {
        self.last = self.last.or(Some(at));
    }

    /// Nothing works at it from its last event on.
    pub fn rests(&mut self) {
        self.last = None;
    }

    pub fn tokens(&self) -> u64 {
        let Usage { input, output, thinking, .. } = self.usage;
        input.saturating_add(output).saturating_add(thinking)
    }

    /// `None` if nothing is known.
    pub fn cost(&self) -> Option<Usd> {
        (!self.spent.is_unknown()).then_some(self.spent.usd)
    }

    /// In whole minutes.
    pub fn minutes(&self, now: Timestamp) -> u32 {
        u32::try_from(self.worked(now) / MINUTE).unwrap_or(u32::MAX)
    }

    fn worked(&self, now: Timestamp) -> i64 {
        let since = self.last.map_or(0, |last| now.0.saturating_sub(last.0).max(0));
        self.worked.saturating_add(since)
    }

    /// Waiting for the user is no work.
    fn works(&mut self, event: &Event) {
        // Of these, all that a run does is made; what else happens beside it says nothing of its time.
        if !matches!(
            event.body,
            EventBody::TurnFinished { .. }
                | EventBody::TurnFailed { .. }
                | EventBody::TurnDropped { .. }
                | EventBody::ToolStarted { .. }
                | EventBody::ToolFinished { .. }
                | EventBody::ApprovalRequested { .. }
                | EventBody::ApprovalAnswered { .. }
                | EventBody::BudgetReached { .. }
                | EventBody::RunPaused { .. }
                | EventBody::RunResumed
        ) {
            return;
        }
        // Without a pause before it: Miki had ended meanwhile, and that is no work.
        if let (Some(last), false) = (self.last.take(), matches!(event.body, EventBody::RunResumed)) {
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

/// The next call to the model, at the most.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NextCall {
    pub tokens: u64,
    /// 0 if no price is known.
    pub cost: Usd,
}

/// What may be used up, what is, and how often all of it was given again.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Meter {
    most: Most,
    pub used: Used,
    given: BTreeMap<Measure, u32>,
    /// Of which it was said that four fifths are used.
    told: BTreeSet<Measure>,
}

impl Meter {
    pub fn new(most: Most, at: Timestamp) -> Self {
        Self { most, used: Used::since(at), ..Self::default() }
    }

    /// With what was given again.
    pub fn most(&self) -> Most {
        let times = |measure| self.given.get(&measure).map_or(1, |given| given.saturating_add(1));
        Most {
            steps: self.most.steps.map(|steps| steps.saturating_mul(times(Measure::Steps))),
            minutes: self.most.minutes.map(|minutes| minutes.saturating_mul(times(Measure::Minutes))),
            tokens: self.most.tokens.map(|tokens| tokens.saturating_mul(times(Measure::Tokens).into())),
            cost: self.most.cost.map(|cost| cost.times(times(Measure::Dollars).into())),
        }
    }

    /// The bound that is reached, or that the next call may pass; `None` if it fits in.
    pub fn reached(&self, of: BudgetOf, now: Timestamp, next: NextCall) -> Option<Bound> {
        let is_reached = |gauge: &Gauge| gauge.used >= gauge.most || gauge.used + gauge.next > gauge.most;
        self.gauges(now, next).into_iter().find(is_reached).map(|gauge| gauge.bound(of))
    }

    /// Bounds of which four fifths are used and some is left, and of which that was not said.
    pub fn near(&self, of: BudgetOf, now: Timestamp) -> Vec<Bound> {
        let is_near = |gauge: &Gauge| {
            let used = gauge.used * 5 >= gauge.most * 4 && gauge.used < gauge.most;
            used && !self.told.contains(&gauge.measure)
        };
        let near = self.gauges(now, NextCall::default()).into_iter().filter(is_near);
        near.map(|gauge| gauge.bound(of)).collect()
    }

    /// Tokens and dollars that are left.
    pub fn left(&self) -> (Option<u64>, Option<Usd>) {
        let Most { tokens, cost, .. } = self.most();
        let tokens = tokens.map(|tokens| tokens.saturating_sub(self.used.tokens()));
        (tokens, cost.map(|cost| cost.minus(self.used.spent.usd)))
    }

    fn gauges(&self, now: Timestamp, next: NextCall) -> Vec<Gauge> {
        let Most { steps, minutes, tokens, cost } = self.most();
        let gauge = |measure, used: u64, most: u64, next: u64| Gauge {
            measure,
            used: used.into(),
            most: most.into(),
            next: next.into(),
        };
        let worked = u64::try_from(self.used.worked(now)).unwrap_or(0);
        let minute = MINUTE.unsigned_abs();
        [
            steps.map(|steps| gauge(Measure::Steps, self.used.turns.into(), steps.into(), 0)),
            minutes.map(|minutes| gauge(Measure::Minutes, worked, u64::from(minutes) * minute, 0)),
            tokens.map(|tokens| gauge(Measure::Tokens, self.used.tokens(), tokens, next.tokens)),
            cost.map(|cost| gauge(Measure::Dollars, self.used.spent.usd.0, cost.0, next.cost.0)),
        ]
        .into_iter()
        .flatten()
        .collect()
    }

    fn is_told(&mut self, measure: Measure) {
        self.told.insert(measure);
    }

    /// What a yes to as much again gives, as [`Bound`] counts.
    fn again(&self, measure: Measure) -> Option<String> {
        match measure {
            Measure::Steps => self.most.steps.map(|steps| steps.to_string()),
            Measure::Minutes => self.most.minutes.map(|minutes| minutes.to_string()),
            Measure::Tokens => self.most.tokens.map(|tokens| tokens.to_string()),
            Measure::Dollars => self.most.cost.map(|cost| cost.to_string()),
        }
    }

    fn gets_as_much_again(&mut self, measure: Measure) {
        *self.given.entry(measure).or_default() += 1;
        self.told.remove(&measure);
    }
}

/// One measure, in its smallest pieces: turns, milliseconds, tokens, pieces of a dollar.
struct Gauge {
    measure: Measure,
    used: u128,
    most: u128,
    next: u128,
}

impl Gauge {
    fn bound(&self, of: BudgetOf) -> Bound {
        let said = |pieces: u128| {
            let pieces = u64::try_from(pieces).unwrap_or(u64::MAX);
            match self.measure {
                Measure::Steps | Measure::Tokens => pieces.to_string(),
                Measure::Minutes => (pieces / MINUTE.unsigned_abs()).to_string(),
                Measure::Dollars => Usd(pieces).to_string(),
            }
        };
        let next = (self.used < self.most && self.next > 0).then(|| said(self.next));
        Bound { of, measure: self.measure, used: said(self.used), most: said(self.most), next }
    }
}

/// A run's own budget, and the bound that it waits at.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Budget {
    pub meter: Meter,
    /// It is paused since this is used up: to go on is a yes to as much again.
    pub used_up: Option<Bound>,
}

impl Budget {
    pub fn of(spec: &RunSpec, started: Timestamp) -> Self {
        Self { meter: Meter::new(spec.budget(), started), used_up: None }
    }

    /// After one more event of the run, which `plan` has had.
    pub fn fold(&mut self, event: &Event, plan: &mut PlanState) {
        self.meter.used.fold(event);
        match &event.body {
            EventBody::BudgetReached { reached: Reached::Near, bound } => {
                if let Some(meter) = self.meter_of(bound, plan) {
                    meter.is_told(bound.measure);
                }
            }
            EventBody::BudgetReached { reached: Reached::UsedUp, bound } => {
                self.used_up = Some(bound.clone());
            }
            EventBody::RunResumed => {
                if let Some(bound) = self.used_up.take()
                    && let Some(meter) = self.meter_of(&bound, plan)
                {
                    meter.gets_as_much_again(bound.measure);
                }
            }
            // Of all others it only counts what they took.
            _ => {}
        }
    }

    /// What the run waits for, and what a yes gives; `None` if it does not wait for more.
    pub fn waits_for(&self, plan: &PlanState) -> Option<UsedUp> {
        let bound = self.used_up.clone()?;
        let meter = match bound.of {
            BudgetOf::Run => Some(&self.meter),
            BudgetOf::Plan => plan.meter.as_ref(),
            BudgetOf::Parent => None,
        };
        Some(UsedUp { more: meter.and_then(|meter| meter.again(bound.measure)), bound })
    }

    /// A question was answered.
    pub fn goes_on(&mut self, plan: &mut PlanState, at: Timestamp) {
        self.meter.used.goes_on(at);
        if let Some(meter) = &mut plan.meter {
            meter.used.goes_on(at);
        }
    }

    /// Miki ended in the middle of it.
    pub fn rests(&mut self, plan: &mut PlanState) {
        self.meter.used.rests();
        if let Some(meter) = &mut plan.meter {
            meter.used.rests();
        }
    }

    fn meter_of<'a>(&'a mut self, bound: &Bound, plan: &'a mut PlanState) -> Option<&'a mut Meter> {
        match bound.of {
            BudgetOf::Run => Some(&mut self.meter),
            BudgetOf::Plan => plan.meter.as_mut(),
            // It is counted with that one.
            BudgetOf::Parent => None,
        }
    }

    /// The bound that is reached or that the next call may pass, of the run or of the plan in force.
    pub fn reached(&self, plan: &PlanState, now: Timestamp, next: NextCall) -> Option<Bound> {
        let of_run = self.meter.reached(BudgetOf::Run, now, next);
        of_run.or_else(|| plan.meter_in_force()?.reached(BudgetOf::Plan, now, next))
    }

    /// Bounds that are near, of which that was not said.
    pub fn near(&self, plan: &PlanState, now: Timestamp) -> Vec<Bound> {
        let mut near = self.meter.near(BudgetOf::Run, now);
        near.extend(plan.meter_in_force().map(|meter| meter.near(BudgetOf::Plan, now)).unwrap_or_default());
        near
    }

    /// Tokens and dollars that are left to the run and to its plan.
    pub fn left(&self, plan: &PlanState) -> (Option<u64>, Option<Usd>) {
        let (tokens, cost) = self.meter.left();
        let (of_plan, cost_of_plan) = plan.meter_in_force().map(Meter::left).unwrap_or_default();
        let least = tokens.into_iter().chain(of_plan).min();
        (least, cost.into_iter().chain(cost_of_plan).min())
    }

    pub fn progress(&self, plan: &PlanState, now: Timestamp) -> Progress {
        let used = &self.meter.used;
        // From the run's start, as all that is shown beside it.
        let of_plan = plan.meter_in_force().map(|meter| {
            let (most, since) = (meter.most(), &meter.used);
            Most {
                steps: most.steps.map(|steps| steps.saturating_add(used.turns.saturating_sub(since.turns))),
                minutes: most
                    .minutes
                    .map(|most| most.saturating_add(used.minutes(now).saturating_sub(since.minutes(now)))),
                tokens: most
                    .tokens
                    .map(|most| most.saturating_add(used.tokens().saturating_sub(since.tokens()))),
                cost: most.cost.map(|most| most.plus(used.spent.usd.minus(since.spent.usd))),
            }
        });
        Progress {
            minutes: used.minutes(now),
            tokens: used.tokens(),
            cost: used.cost(),
            most: self.meter.most().stricter(of_plan.unwrap_or_default()),
            forecast: None,
        }
    }
}

#[cfg(test)]
mod tests;
