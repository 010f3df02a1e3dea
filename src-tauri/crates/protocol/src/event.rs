//! Everything that can be seen to happen: one closed enum, folded by every surface.
//!
//! *Durable* events are in the journal before anyone sees them, numbered without gaps in the journal and in their
//! stream. *Passing* ones (text as it streams, the live status) are broadcast only and have no number.

use serde::{Deserialize, Serialize};

use crate::agent::AgentsSummary;
use crate::budget::{Bound, Progress, Reached, UsedUp};
use crate::citation::Citation;
use crate::contract::Report;
use crate::ids::{AgentId, ApprovalId, BlobRef, CallId, ModelId, RunId, Seq, SessionId, StreamId, Timestamp};
use crate::principal::Surface;
use crate::recap::Recap;
use crate::run::RunSpec;
use crate::settings::Settings;
use crate::terminal::Line;
use crate::tool::{Answer, Approval, ApprovalMode, Change, ExecResult, Grant, Mode, Risk, ToolCall};
use crate::turn::{Cost, StopReason, Usage};
use crate::view::{DesktopView, Origin, Question, SessionView};

/// One thing that happened.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Event {
    /// `None` if it is passing.
    #[serde(flatten, default, skip_serializing_if = "Option::is_none")]
    pub position: Option<Position>,
    pub stream: StreamId,
    pub time: Timestamp,
    #[serde(flatten)]
    pub scope: Scope,
    #[serde(flatten)]
    pub body: EventBody,
}

impl Event {
    /// Its number in the journal; 0 if it is passing.
    pub fn seq(&self) -> Seq {
        self.position.map_or(Seq(0), |position| position.seq)
    }
}

/// Where a durable event stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Position {
    /// Among all events of the journal, from 1 without gaps.
    pub seq: Seq,
    /// Among the events of its stream, from 1 without gaps.
    pub n: u64,
}

/// Whose event it is.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Scope {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<SessionId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<RunId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<AgentId>,
}

impl Scope {
    pub fn stream(&self) -> StreamId {
        self.session.as_ref().map_or_else(StreamId::app, StreamId::of_session)
    }
}

/// What happened.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum EventBody {
    // durable
    SessionCreated {
        title: String,
        mode: Mode,
        approval: ApprovalMode,
        /// Whether the provider may search the web.
        #[serde(default)]
        search: bool,
        /// Where its first events came from; `None` if it began here.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        origin: Option<Origin>,
    },
    SessionEdited {
        title: Option<String>,
        mode: Option<Mode>,
        approval: Option<ApprovalMode>,
        #[serde(default)]
        search: Option<bool>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pinned: Option<bool>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        archived: Option<bool>,
        /// The folder that its runs work in from now on.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        space: Option<String>,
    },
    /// No list shows it, and no search finds it; until it is purged it can be restored.
    SessionDeleted,
    SessionRestored,
    /// All events of a session that was deleted are gone for good; their numbers are not given again.
    SessionPurged {
        purged: SessionId,
    },
    /// With all that is needed to go on with it in another process.
    RunStarted(Box<RunSpec>),
    /// The user took back what they had allowed for more than one call.
    GrantTakenBack {
        grant: Grant,
    },
    /// The user said something into a running run.
    RunSteered {
        text: String,
    },
    RunPaused {
        reason: String,
    },
    RunResumed,
    /// A bound of what the run may use up is near, or reached: then `RunPaused` or `RunEnded` follows.
    BudgetReached {
        reached: Reached,
        bound: Bound,
    },
    /// One model response, complete.
    TurnFinished {
        turn: u32,
        text: String,
        /// A summary of the model's thinking, where the provider gives one.
        thinking: String,
        calls: Vec<ToolCall>,
        /// What the text rests on, where the provider searched; each address once.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        citations: Vec<Citation>,
        usage: Usage,
        #[serde(default)]
        cost: Cost,
        stop: StopReason,
        /// The provider's own JSON of this turn, kept to be replayed to it byte for byte.
        raw: Option<BlobRef>,
    },
    /// A turn could not be had; `retry` says whether another try follows.
    TurnFailed {
        turn: u32,
        message: String,
        hint: Option<String>,
        retry: bool,
        /// What was heard of it before.
        #[serde(default)]
        usage: Usage,
        /// `None` if no answer began.
        #[serde(default)]
        cost: Option<Cost>,
        /// Models to take in place of one that its provider does not know, the likeliest first.
        /// Journals of earlier versions have it as `instead`.
        #[serde(default, alias = "instead", skip_serializing_if = "Vec::is_empty")]
        suggestions: Vec<ModelId>,
    },
    /// A turn that was under way when its run was stopped: nobody waits for it.
    TurnDropped {
        turn: u32,
        /// What was heard of it.
        usage: Usage,
        cost: Cost,
        /// What it had said.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        text: String,
    },
    ApprovalRequested {
        approval: Approval,
    },
    ApprovalAnswered {
        approval: ApprovalId,
        answer: Answer,
        by: Surface,
    },
    /// The write-ahead of an intent: it is on disk before the tool runs.
    ToolStarted {
        call: ToolCall,
        risk: Risk,
    },
    /// A call is about to change this: after a kill it can be taken back, whether it was done or not.
    ChangeIntended {
        call: CallId,
        change: Change,
    },
    ToolFinished {
        call: CallId,
        result: ExecResult,
    },
    /// From here on the model is told this of what stands before, in place of the messages themselves.
    ContextCompacted {
        recap: Box<Recap>,
    },
    /// What came of the run's plan, right before its end; not sent if it had none.
    PlanReported {
        report: Box<Report>,
    },
    /// What the run's agents used and did, right before its end; not sent if it had none.
    AgentsUsed(Box<AgentsSummary>),
    RunEnded {
        end: RunEnd,
    },
    SettingsChanged {
        settings: Box<Settings>,
    },
    /// Something a person should know that belongs to no call.
    Noted {
        level: Level,
        message: String,
        hint: Option<String>,
    },

    // passing
    /// More of a turn that is under way; its whole comes with `TurnFinished`.
    TurnDelta {
        turn: u32,
        /// Counts the deltas of this turn, from 0; the order is this one.
        index: u32,
        kind: DeltaKind,
        text: String,
    },
    /// What a turn that is under way has said, for a reader who came late.
    TurnSoFar {
        turn: u32,
        /// The number of its next delta.
        next: u32,
        text: String,
        thinking: String,
    },
    /// A command in the terminal has printed: whoever draws it drops its lines from `first` on and puts these in their place.
    CommandPrinted {
        call: CallId,
        first: u64,
        lines: Vec<Line>,
    },
    /// Of the run in its scope.
    StatusChanged {
        status: Status,
    },
    /// A session was made, or is shown otherwise in a list (not only later); for readers of any stream.
    SessionChanged {
        /// Beside the scope's `session`, which is its id.
        #[serde(rename = "view")]
        session: Box<SessionView>,
    },
    /// Which questions are open, oldest first, after one was asked or answered; for readers of any stream.
    QuestionsChanged {
        questions: Vec<Question>,
    },
    /// Who has the pointer and the keyboard; for readers of any stream.
    DesktopChanged {
        desktop: DesktopView,
    },
    /// The journal cannot be written (full disk, damage): whatever ran has stopped, and nothing more is accepted.
    JournalFailed {
        message: String,
        hint: Option<String>,
    },
}

impl EventBody {
    /// Whether it is journaled before anyone sees it.
    pub fn is_durable(&self) -> bool {
        match self {
            Self::SessionCreated { .. }
            | Self::SessionEdited { .. }
            | Self::SessionDeleted
            | Self::SessionRestored
            | Self::SessionPurged { .. }
            | Self::RunStarted(_)
            | Self::GrantTakenBack { .. }
            | Self::RunSteered { .. }
            | Self::RunPaused { .. }
            | Self::RunResumed
            | Self::BudgetReached { .. }
            | Self::TurnFinished { .. }
            | Self::TurnFailed { .. }
            | Self::TurnDropped { .. }
            | Self::ApprovalRequested { .. }
            | Self::ApprovalAnswered { .. }
            | Self::ToolStarted { .. }
            | Self::ChangeIntended { .. }
            | Self::ToolFinished { .. }
            | Self::ContextCompacted { .. }
            | Self::PlanReported { .. }
            | Self::AgentsUsed { .. }
            | Self::RunEnded { .. }
            | Self::SettingsChanged { .. }
            | Self::Noted { .. } => true,
            Self::TurnDelta { .. }
            | Self::TurnSoFar { .. }
            | Self::CommandPrinted { .. }
            | Self::StatusChanged { .. }
            | Self::SessionChanged { .. }
            | Self::QuestionsChanged { .. }
            | Self::DesktopChanged { .. }
            | Self::JournalFailed { .. } => false,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum DeltaKind {
    Text,
    Thinking,
}

/// How a run ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "outcome", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum RunEnd {
    Completed {
        summary: String,
    },
    Failed {
        message: String,
        hint: Option<String>,
    },
    /// By the user, the failsafe or the tray; `reason` says which.
    Stopped {
        reason: String,
    },
    /// A question was asked where nobody can answer it, and the run was not to wait.
    NeedsApproval {
        approval: ApprovalId,
    },
    /// The program ended in the middle of it; found at the next start.
    Interrupted {
        /// Why it cannot go on, if that was tried.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Level {
    Info,
    Warning,
    Error,
}

/// What a run is doing, in one word for the tray and one line for people.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Status {
    pub activity: Activity,
    /// For people: "click Save", "waiting for the model".
    pub detail: String,
    /// The turn under way, from 1; 0 when idle.
    pub step: u32,
    pub max_steps: u32,
    /// Held by the user: it goes on when it is resumed.
    #[serde(default)]
    pub paused: bool,
    /// Paused by itself: its user is to say whether it goes on, since a budget is used up, or it goes in circles.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub wants_word: bool,
    /// What is used up, where it waits for that; `None` if it waits for nothing, or for another reason.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub used_up: Option<Box<UsedUp>>,
    /// Whether it asks the agent that it works for, and waits for the answer.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub asks_above: bool,
    /// What was allowed for it, or for its session, and is not asked about again.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub grants: Vec<Grant>,
    /// `None` if nothing runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub progress: Option<Box<Progress>>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Activity {
    #[default]
    Idle,
    Working,
    /// Waits for the user: an approval or a pause.
    Waiting,
    Error,
}

impl Default for Status {
    fn default() -> Self {
        let (detail, grants) = (String::new(), Vec::new());
        Self {
            activity: Activity::Idle,
            detail,
            step: 0,
            max_steps: 0,
            paused: false,
            wants_word: false,
            used_up: None,
            asks_above: false,
            grants,
            progress: None,
        }
    }
}

#[cfg(test)]
mod tests;
