//! The words of the turn machine: where a run stands, what can happen to it, what is to be done.

use std::collections::VecDeque;

use protocol::budget::Bound;
use protocol::event::RunEnd;
use protocol::ids::ApprovalId;
use protocol::principal::Surface;
use protocol::tool::{Answer, Risk, ToolCall, ToolError};
use protocol::turn::StopReason;

/// Where a run stands.
#[derive(Clone, Debug, PartialEq)]
pub enum State {
    Idle,
    AwaitingModel {
        try_number: u32,
    },
    /// The first call waits for the policy's word; the others wait behind it.
    ToolProposed {
        calls: Calls,
    },
    AwaitingApproval {
        calls: Calls,
        approval: ApprovalId,
    },
    ExecutingTool {
        calls: Calls,
    },
    /// Between two steps: the step delay, a retry's delay, or a pause.
    AwaitingContinue {
        next: Next,
    },
    Completed,
    Failed,
    Stopped,
}

/// Calls of one turn that are not done: never empty.
#[derive(Clone, Debug, PartialEq)]
pub struct Calls {
    pub current: ToolCall,
    pub rest: VecDeque<ToolCall>,
    /// Whether a call of this turn was well-formed.
    pub(super) any_good: bool,
    pub(super) finished: Option<Finished>,
}

impl Calls {
    /// What is left of a turn: `current` and the calls after it.
    pub fn left(current: ToolCall, rest: VecDeque<ToolCall>) -> Self {
        Self { current, rest, any_good: true, finished: None }
    }
}

/// What the model said in `done`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finished {
    pub summary: String,
    pub success: bool,
}

/// What follows a wait.
#[derive(Clone, Debug, PartialEq)]
pub enum Next {
    Model { try_number: u32 },
    Tool { calls: Calls },
}

/// What a run may use up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rules {
    /// Turns until it asks for as many again.
    pub max_steps: u32,
    /// Tries for one turn, the first included.
    pub model_tries: u32,
    /// Turns in a row with nothing but malformed calls that are answered with an error before the run fails.
    pub repairs: u32,
    /// An approval ends the run instead of waiting for an answer.
    pub end_on_approval: bool,
    /// It works for another agent: what it may use up, and what it goes in circles over, are for that one to know of.
    pub is_child: bool,
}

/// All that can happen to a run.
#[derive(Clone, Debug, PartialEq)]
pub enum Input {
    Start,
    TurnFinished {
        text: String,
        calls: Vec<ToolCall>,
        stop: StopReason,
    },
    TurnFailed {
        message: String,
        hint: Option<String>,
        may_retry: bool,
    },
    /// What the run or its plan may use up is used up, or would be by the turn that was asked for.
    OutOfBudget {
        bound: Bound,
    },
    /// Its model does the same again and again, though it was told so.
    GoesInCircles {
        reason: String,
    },
    /// The policy's word on the current call.
    Assessed(Verdict),
    /// The question was given up before it was asked: the run is stopped or paused meanwhile.
    NotAsked,
    Answered {
        approval: ApprovalId,
        answer: Answer,
        by: Surface,
    },
    ToolFinished {
        finished: Option<Finished>,
    },
    /// The wait is over.
    Continue,
    Pause {
        reason: String,
    },
    Resume,
    /// The user's words were kept, and go into the next request.
    Steered,
    Stop {
        reason: String,
    },
}

/// What policy says of a call.
#[derive(Clone, Debug, PartialEq)]
pub enum Verdict {
    Run,
    /// The question is asked under this id.
    Ask {
        approval: ApprovalId,
        risk: Risk,
        reason: String,
    },
    Forbid(ToolError),
    /// The look at it was given up: the run is stopped or paused meanwhile.
    Later,
}

/// What is to be done now.
#[derive(Clone, Debug, PartialEq)]
pub enum Effect {
    AskModel {
        turn: u32,
    },
    Assess(ToolCall),
    RequestApproval {
        call: ToolCall,
        approval: ApprovalId,
        risk: Risk,
        reason: String,
    },
    Execute {
        call: ToolCall,
        approved: bool,
    },
    /// Give an error result back for a call that does not run.
    Refuse {
        call: ToolCall,
        error: ToolError,
    },
    /// Wait the step delay, then [`Input::Continue`].
    DelayStep,
    /// Wait before trying the model again, then [`Input::Continue`].
    DelayRetry {
        failures: u32,
    },
    NotePaused {
        reason: String,
    },
    /// A bound is reached: a pause or the end follows.
    NoteUsedUp {
        bound: Bound,
    },
    NoteResumed,
    End(RunEnd),
}
