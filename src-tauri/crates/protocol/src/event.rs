//! Everything that can be seen to happen: one closed enum, folded by every surface.
//!
//! *Durable* events are in the journal before anyone sees them, numbered without gaps. *Passing* ones (text as it
//! streams, the live status) are broadcast only and carry the number of the last durable one.

use serde::{Deserialize, Serialize};

use crate::citation::Citation;
use crate::ids::{AgentId, ApprovalId, BlobRef, CallId, ModelId, RunId, Seq, SessionId, Timestamp};
use crate::settings::Settings;
use crate::tool::{Answer, Approval, ApprovalMode, Door, ExecResult, Mode, Risk, ToolCall};
use crate::turn::{Cost, StopReason, Usage};

/// One thing that happened.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Event {
    /// Its own number where durable; the last durable one's where passing.
    pub seq: Seq,
    pub time: Timestamp,
    #[serde(flatten)]
    pub scope: Scope,
    #[serde(flatten)]
    pub body: EventBody,
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
    },
    SessionEdited {
        title: Option<String>,
        mode: Option<Mode>,
        approval: Option<ApprovalMode>,
        #[serde(default)]
        search: Option<bool>,
    },
    RunStarted {
        goal: String,
        model: ModelId,
        mode: Mode,
        approval: ApprovalMode,
        max_steps: u32,
        #[serde(default)]
        search: bool,
    },
    /// The user said something into a running run.
    RunSteered {
        text: String,
    },
    RunPaused {
        reason: String,
    },
    RunResumed,
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
        /// Nothing where no answer began.
        #[serde(default)]
        cost: Option<Cost>,
        /// Models to take in place of one that its provider does not know, the likeliest first.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        instead: Vec<ModelId>,
    },
    /// A turn that was under way when its run was stopped: nobody waits for it.
    TurnDropped {
        turn: u32,
        /// What was heard of it.
        usage: Usage,
        cost: Cost,
    },
    ApprovalRequested {
        approval: Approval,
    },
    ApprovalAnswered {
        approval: ApprovalId,
        answer: Answer,
        by: Door,
    },
    /// The write-ahead of an intent: it is on disk before the tool runs.
    ToolStarted {
        call: ToolCall,
        risk: Risk,
    },
    ToolFinished {
        call: CallId,
        result: ExecResult,
    },
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
    TextDelta {
        text: String,
    },
    ThinkingDelta {
        text: String,
    },
    StatusChanged {
        status: Status,
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
            | Self::RunStarted { .. }
            | Self::RunSteered { .. }
            | Self::RunPaused { .. }
            | Self::RunResumed
            | Self::TurnFinished { .. }
            | Self::TurnFailed { .. }
            | Self::TurnDropped { .. }
            | Self::ApprovalRequested { .. }
            | Self::ApprovalAnswered { .. }
            | Self::ToolStarted { .. }
            | Self::ToolFinished { .. }
            | Self::RunEnded { .. }
            | Self::SettingsChanged { .. }
            | Self::Noted { .. } => true,
            Self::TextDelta { .. }
            | Self::ThinkingDelta { .. }
            | Self::StatusChanged { .. }
            | Self::JournalFailed { .. } => false,
        }
    }
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
    /// A question was asked through a door that nobody stands at.
    NeedsApproval {
        approval: ApprovalId,
    },
    /// The program ended in the middle of it; found at the next start.
    Interrupted,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Level {
    Info,
    Warning,
    Error,
}

/// What the engine is doing, in one word for the tray and one line for people.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Status {
    pub activity: Activity,
    /// For people: "click Save", "waiting for the model".
    pub detail: String,
    /// The turn under way, from 1; 0 when idle.
    pub step: u32,
    pub max_steps: u32,
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
        Self { activity: Activity::Idle, detail: String::new(), step: 0, max_steps: 0 }
    }
}
