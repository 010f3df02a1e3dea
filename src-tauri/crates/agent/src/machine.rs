//! The turn machine of one run: pure. It decides; effects are performed elsewhere.
//!
//! `step(machine, input)` never touches a clock, a channel or the world. An input that does not fit the state
//! (an answer that comes after a stop) changes nothing and asks for nothing.

mod words;

use std::collections::VecDeque;

use protocol::budget::{Bound, BudgetOf, Measure};
use protocol::event::RunEnd;
use protocol::ids::ApprovalId;
use protocol::principal::Surface;
use protocol::tool::{Answer, ToolCall, ToolError, ToolErrorKind};
use protocol::turn::StopReason;

pub use words::{Calls, Effect, Finished, Input, Next, Rules, State, Verdict};

/// The tool whose question is answered by a yes to other arguments.
pub const PLAN: &str = "plan";

/// A run's state with its counters.
#[derive(Clone, Debug, PartialEq)]
pub struct Machine {
    pub state: State,
    pub turn: u32,
    rules: Rules,
    bad_turns: u32,
    pause: Option<String>,
    /// It is paused by itself, and its user is to say whether it goes on.
    wants_word: bool,
    /// Turns that it may take: as many again for each time that its user let it go on after the last of them.
    most_steps: u32,
    /// Why it is paused, where it is for want of more.
    used_up: Option<Bound>,
    /// The user said something that no request had in it yet.
    unread: bool,
    /// The plan has checks, which `done` looks at: a turn without calls does not end the run.
    pub must_call_done: bool,
}

impl Machine {
    pub fn new(rules: Rules) -> Self {
        Self {
            state: State::Idle,
            turn: 0,
            rules,
            bad_turns: 0,
            pause: None,
            wants_word: false,
            most_steps: rules.max_steps,
            used_up: None,
            unread: false,
            must_call_done: false,
        }
    }

    /// A run that asked in an earlier task, as it stands when its answer comes; with why it is paused, if it is.
    pub fn waiting(
        rules: Rules,
        turn: u32,
        calls: Calls,
        approval: ApprovalId,
        pause: Option<String>,
    ) -> Self {
        Self { state: State::AwaitingApproval { calls, approval }, turn, pause, ..Self::new(rules) }
    }

    /// A run that waited for its agents in an earlier task, as it goes on waiting; with why it is paused, if it is.
    pub fn in_call(rules: Rules, turn: u32, calls: Calls, pause: Option<String>) -> Self {
        Self { state: State::ExecutingTool { calls }, turn, pause, ..Self::new(rules) }
    }

    /// A run that was paused in an earlier task; with what it may have as much again of, if that was why.
    pub fn held(rules: Rules, turn: u32, reason: String, used_up: Option<Bound>) -> Self {
        let next = Next::Model { try_number: 1 };
        Self {
            state: State::AwaitingContinue { next },
            turn,
            pause: Some(reason),
            wants_word: used_up.is_some(),
            used_up,
            ..Self::new(rules)
        }
    }

    /// The same with what its user has let it take before.
    #[must_use]
    pub fn with_steps(self, most_steps: u32) -> Self {
        Self { most_steps: most_steps.max(self.rules.max_steps), ..self }
    }

    pub fn most_steps(&self) -> u32 {
        self.most_steps
    }

    pub fn is_over(&self) -> bool {
        matches!(self.state, State::Completed | State::Failed | State::Stopped)
    }

    pub fn is_paused(&self) -> bool {
        self.pause.is_some()
    }

    /// As [`protocol::event::Status`] has it.
    pub fn wants_word(&self) -> bool {
        self.wants_word
    }

    /// Whether the turn that is waited for may be asked for again, should it fail.
    pub fn has_tries_left(&self) -> bool {
        matches!(self.state, State::AwaitingModel { try_number } if try_number < self.rules.model_tries)
    }

    /// Takes one input; answers what is to be done, in order.
    #[must_use]
    pub fn step(&mut self, input: Input) -> Vec<Effect> {
        if self.is_over() {
            return Vec::new();
        }
        match input {
            Input::Stop { reason } => self.end(RunEnd::Stopped { reason }),
            Input::Pause { reason } => {
                if self.pause.is_some() {
                    return Vec::new();
                }
                self.pause = Some(reason.clone());
                vec![Effect::NotePaused { reason }]
            }
            Input::Resume => self.resume(),
            Input::Steered => {
                self.unread = true;
                Vec::new()
            }
            Input::Start => match self.state {
                State::Idle => self.ask_model(1),
                _ => Vec::new(),
            },
            Input::TurnFinished { text, calls, stop } => self.turn_finished(text, calls, stop),
            Input::TurnFailed { message, hint, may_retry } => self.turn_failed(message, hint, may_retry),
            Input::OutOfBudget { bound } => self.turn_does_not_fit(bound),
            Input::GoesInCircles { reason } if self.rules.end_on_approval || self.rules.is_child => {
                self.fail(&reason, "say the goal in other words, or choose another model")
            }
            Input::GoesInCircles { reason } => {
                let reason = format!("{reason}; say what to do instead, or let it go on");
                self.wants_word |= self.pause.is_none();
                self.step(Input::Pause { reason })
            }
            Input::Assessed(verdict) => self.assessed(verdict),
            Input::NotAsked => match self.take() {
                State::AwaitingApproval { calls, .. } => self.put_off(calls),
                other => self.keep(other),
            },
            Input::Answered { approval, answer, by } => self.answered(&approval, &answer, by),
            Input::ToolFinished { finished } => match self.take() {
                State::ExecutingTool { mut calls } => {
                    calls.any_good = true;
                    calls.finished = calls.finished.or(finished);
                    self.next_call(calls)
                }
                other => self.keep(other),
            },
            Input::Continue => match self.take() {
                State::AwaitingContinue { next } if self.pause.is_none() => self.proceed(next),
                other => self.keep(other),
            },
        }
    }

    fn resume(&mut self) -> Vec<Effect> {
        if self.pause.take().is_none() {
            return Vec::new();
        }
        self.wants_word = false;
        if let Some(bound) = self.used_up.take()
            && (bound.of, bound.measure) == (BudgetOf::Run, Measure::Steps)
        {
            self.most_steps = self.most_steps.saturating_add(self.rules.max_steps);
        }
        let mut effects = vec![Effect::NoteResumed];
        match self.take() {
            State::AwaitingContinue { next } => effects.extend(self.proceed(next)),
            other => effects.extend(self.keep(other)),
        }
        effects
    }

    fn turn_does_not_fit(&mut self, bound: Bound) -> Vec<Effect> {
        match self.take() {
            State::AwaitingModel { try_number } => {
                // It was not asked, or its answer does not count.
                self.turn -= u32::from(try_number == 1);
                self.out_of_budget(try_number, bound)
            }
            other => self.keep(other),
        }
    }

    /// The run waits for the user to say that it may have as much again; where nobody can, it ends.
    fn out_of_budget(&mut self, try_number: u32, bound: Bound) -> Vec<Effect> {
        if self.pause.is_some() {
            // Its user's own: to go on after it gives nothing more.
            self.state = State::AwaitingContinue { next: Next::Model { try_number } };
            return Vec::new();
        }
        let used_up = bound.used_up();
        let mut effects = vec![Effect::NoteUsedUp { bound: bound.clone() }];
        if self.rules.is_child {
            // More of it is its parent's to give: whose own bound is its user's.
            effects.extend(self.fail(&used_up, "what is left to do is for the agent that it works for"));
            return effects;
        }
        if self.rules.end_on_approval {
            let hint = match bound.of {
                BudgetOf::Run => {
                    "raise it in the settings or with --max-steps, --max-minutes, --max-tokens or --max-cost, or say the \
                     goal in smaller parts"
                }
                BudgetOf::Plan => "start again, and allow a plan with a larger one",
                BudgetOf::Parent => "let the run that it works for have more",
            };
            effects.extend(self.fail(&format!("{used_up}; nobody can be asked whether it may go on"), hint));
            return effects;
        }
        self.state = State::AwaitingContinue { next: Next::Model { try_number } };
        self.used_up = Some(bound);
        self.wants_word = true;
        effects.extend(
            self.step(Input::Pause { reason: format!("{used_up}; go on with as much again, or stop") }),
        );
        effects
    }

    fn proceed(&mut self, next: Next) -> Vec<Effect> {
        match next {
            Next::Model { try_number } => self.ask_model(try_number),
            Next::Tool { calls } => self.propose(calls),
        }
    }

    fn ask_model(&mut self, try_number: u32) -> Vec<Effect> {
        if self.pause.is_some() {
            self.state = State::AwaitingContinue { next: Next::Model { try_number } };
            return Vec::new();
        }
        if try_number == 1 {
            if self.turn >= self.most_steps {
                let most = self.most_steps.to_string();
                let (of, measure, used) = (BudgetOf::Run, Measure::Steps, self.turn.to_string());
                return self.out_of_budget(1, Bound { of, measure, used, most, next: None });
            }
            self.turn += 1;
        }
        self.unread = false;
        self.state = State::AwaitingModel { try_number };
        vec![Effect::AskModel { turn: self.turn }]
    }

    fn turn_finished(&mut self, text: String, calls: Vec<ToolCall>, stop: StopReason) -> Vec<Effect> {
        match self.take() {
            State::AwaitingModel { .. } => match stop {
                StopReason::End | StopReason::ToolCalls => {
                    let mut rest = VecDeque::from(calls);
                    match rest.pop_front() {
                        Some(current) => {
                            self.propose(Calls { current, rest, any_good: false, finished: None })
                        }
                        None if self.must_call_done || self.must_read_on() => self.ask_model(1),
                        None => self.end(RunEnd::Completed { summary: text }),
                    }
                }
                StopReason::Paused => self.ask_model(1),
                StopReason::MaxTokens => self.fail(
                    "the model's answer was cut at its token limit",
                    "say the goal in smaller parts, or choose a model with a longer answer",
                ),
                StopReason::ContextFull => {
                    self.fail("the conversation no longer fits the model", "start a new session")
                }
                StopReason::Refused { category } => {
                    self.fail(&format!("the model refused ({category})"), "say the goal in other words")
                }
                StopReason::Blocked { reason } => self.fail(
                    &format!("the provider blocked the turn ({reason})"),
                    "say the goal in other words",
                ),
            },
            other => self.keep(other),
        }
    }

    fn turn_failed(&mut self, message: String, hint: Option<String>, may_retry: bool) -> Vec<Effect> {
        let may_retry = may_retry && self.has_tries_left();
        match self.take() {
            State::AwaitingModel { try_number } if may_retry => {
                self.state = State::AwaitingContinue { next: Next::Model { try_number: try_number + 1 } };
                vec![Effect::DelayRetry { failures: try_number }]
            }
            State::AwaitingModel { .. } => self.end(RunEnd::Failed { message, hint }),
            other => self.keep(other),
        }
    }

    fn propose(&mut self, calls: Calls) -> Vec<Effect> {
        if self.pause.is_some() {
            self.state = State::AwaitingContinue { next: Next::Tool { calls } };
            return Vec::new();
        }
        let assess = Effect::Assess(calls.current.clone());
        self.state = State::ToolProposed { calls };
        vec![assess]
    }

    fn assessed(&mut self, verdict: Verdict) -> Vec<Effect> {
        match self.take() {
            State::ToolProposed { calls } => match verdict {
                Verdict::Run if self.pause.is_some() => self.propose(calls),
                Verdict::Run => {
                    let execute = Effect::Execute { call: calls.current.clone(), approved: false };
                    self.state = State::ExecutingTool { calls };
                    vec![execute]
                }
                Verdict::Ask { approval, risk, reason } => {
                    let call = calls.current.clone();
                    let request = Effect::RequestApproval { call, approval: approval.clone(), risk, reason };
                    if self.rules.end_on_approval {
                        let mut effects = vec![request];
                        effects.extend(self.end(RunEnd::NeedsApproval { approval }));
                        return effects;
                    }
                    self.state = State::AwaitingApproval { calls, approval };
                    vec![request]
                }
                Verdict::Later => self.put_off(calls),
                Verdict::Forbid(error) => {
                    let mut calls = calls;
                    calls.any_good |=
                        !matches!(error.kind, ToolErrorKind::UnknownTool | ToolErrorKind::BadArguments);
                    self.refuse(calls, error)
                }
            },
            other => self.keep(other),
        }
    }

    /// It was not looked at to the end: from the beginning, once what came meanwhile was heard.
    fn put_off(&mut self, calls: Calls) -> Vec<Effect> {
        self.state = State::AwaitingContinue { next: Next::Tool { calls } };
        vec![Effect::DelayStep]
    }

    fn answered(&mut self, answered: &ApprovalId, answer: &Answer, by: Surface) -> Vec<Effect> {
        match self.take() {
            State::AwaitingApproval { mut calls, approval } if approval == *answered => {
                calls.any_good = true;
                match answer {
                    // Of a plan, the yes is to the arguments as they were changed.
                    Answer::Edit { arguments } if calls.current.tool != PLAN => {
                        calls.current.arguments = arguments.clone();
                        self.propose(calls)
                    }
                    Answer::Once | Answer::Thread | Answer::Until { .. } | Answer::Edit { .. } => {
                        let execute = Effect::Execute { call: calls.current.clone(), approved: true };
                        self.state = State::ExecutingTool { calls };
                        vec![execute]
                    }
                    Answer::Deny => {
                        let error = denial(by, &calls.current.tool);
                        self.refuse(calls, error)
                    }
                }
            }
            other => self.keep(other),
        }
    }

    fn refuse(&mut self, calls: Calls, error: ToolError) -> Vec<Effect> {
        let mut effects = vec![Effect::Refuse { call: calls.current.clone(), error }];
        effects.extend(self.next_call(calls));
        effects
    }

    /// The current call is answered: on to the next of the turn, or to the end of the turn.
    fn next_call(&mut self, mut calls: Calls) -> Vec<Effect> {
        if let Some(next) = calls.rest.pop_front() {
            calls.current = next;
            return self.propose(calls);
        }
        if let Some(Finished { summary, success }) = calls.finished
            && !self.must_read_on()
        {
            return self.end(match success {
                true => RunEnd::Completed { summary },
                false => RunEnd::Failed { message: format!("the model gave up: {summary}"), hint: None },
            });
        }
        self.bad_turns = if calls.any_good { 0 } else { self.bad_turns + 1 };
        if self.bad_turns > self.rules.repairs {
            return self.fail("the model kept sending malformed calls", "try another model");
        }
        self.state = State::AwaitingContinue { next: Next::Model { try_number: 1 } };
        vec![Effect::DelayStep]
    }

    /// Words of the user that came too late for the last turn are worth one more, within the steps there are.
    fn must_read_on(&self) -> bool {
        self.unread && self.turn < self.most_steps
    }

    fn fail(&mut self, message: &str, hint: &str) -> Vec<Effect> {
        self.end(RunEnd::Failed { message: message.into(), hint: Some(hint.into()) })
    }

    fn end(&mut self, end: RunEnd) -> Vec<Effect> {
        self.state = match end {
            RunEnd::Completed { .. } => State::Completed,
            RunEnd::Failed { .. } => State::Failed,
            RunEnd::Stopped { .. } | RunEnd::NeedsApproval { .. } | RunEnd::Interrupted { .. } => {
                State::Stopped
            }
        };
        vec![Effect::End(end)]
    }

    /// Moves the state out to be matched by value; every arm puts one back.
    fn take(&mut self) -> State {
        std::mem::replace(&mut self.state, State::Idle)
    }

    fn keep(&mut self, state: State) -> Vec<Effect> {
        self.state = state;
        Vec::new()
    }
}

/// What the model is told of a call that it may not make.
fn denial(by: Surface, tool: &str) -> ToolError {
    let (kind, message) = match (by, tool) {
        (Surface::Deadline, _) => (
            ToolErrorKind::Timeout,
            "not done: nobody answered the question within its time. That is not a no: the user may be away. Go on with \
             what needs no answer, or say what still has to be allowed",
        ),
        (_, "plan") => (
            ToolErrorKind::Denied,
            "the user said no to this plan: propose another one if they said what is wrong with it, or go on without a plan, \
             being asked about each change",
        ),
        (_, "done") => (
            ToolErrorKind::Denied,
            "the user does not take the work as it is: go on, or call done with success false",
        ),
        (Surface::Dashboard | Surface::Chat | Surface::Overlay | Surface::Tray | Surface::Cli, _) => {
            (ToolErrorKind::Denied, "the user said no to this call; do not try it again in another form")
        }
    };
    ToolError { kind, message: message.into() }
}

#[cfg(test)]
mod tests;
