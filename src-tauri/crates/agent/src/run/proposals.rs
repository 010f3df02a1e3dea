//! The calls of one turn, each as the model proposed it and as it is journaled, and how the answers go back. Pure.

use models::{NOT_EXECUTED, ProposedCall, Translation, Turn};
use protocol::ids::CallId;
use protocol::tool::{ToolCall, ToolError, ToolErrorKind};

use crate::context::Answered;
use crate::history::unanswered;

/// The calls of the current turn, in their order.
#[derive(Default)]
pub(super) struct Proposals {
    all: Vec<Proposal>,
    /// A translated call failed: those after it are not done.
    failed: bool,
}

struct Proposal {
    call: ProposedCall,
    journaled: ToolCall,
}

impl Proposals {
    pub(super) fn of(turn: &Turn) -> Self {
        let journaled = turn.calls.iter().map(|call| ToolCall {
            id: CallId::from_suffix(uuid::Uuid::now_v7().simple()),
            tool: call.name.clone(),
            arguments: call.arguments.clone(),
        });
        Self::paired(turn, journaled)
    }

    /// Of a turn that was taken up again: its calls as they were journaled.
    pub(super) fn restored(turn: &Turn, calls: &[ToolCall]) -> Self {
        Self::paired(turn, calls.iter().cloned())
    }

    fn paired(turn: &Turn, journaled: impl Iterator<Item = ToolCall>) -> Self {
        let pairs = turn.calls.iter().cloned().zip(journaled);
        Self { all: pairs.map(|(call, journaled)| Proposal { call, journaled }).collect(), failed: false }
    }

    pub(super) fn calls(&self) -> Vec<ToolCall> {
        self.all.iter().map(|proposal| proposal.journaled.clone()).collect()
    }

    /// The provider's ids, call by call.
    pub(super) fn ids(&self) -> Vec<Option<String>> {
        self.all.iter().map(|proposal| proposal.call.id.clone()).collect()
    }

    /// Whether some of them are not as the model wrote them.
    pub(super) fn are_translated(&self) -> bool {
        self.all.iter().any(|proposal| proposal.call.translation.is_some())
    }

    pub(super) fn is_translated(&self, call: &CallId) -> bool {
        self.translation(call).is_some()
    }

    fn translation(&self, call: &CallId) -> Option<&Translation> {
        let proposal = self.all.iter().find(|proposal| proposal.journaled.id == *call)?;
        proposal.call.translation.as_deref()
    }

    /// Why a call is not even to be assessed.
    pub(super) fn refusal(&self, call: &CallId) -> Option<ToolError> {
        let translation = self.translation(call)?;
        if self.failed {
            return Some(ToolError { kind: ToolErrorKind::Cancelled, message: NOT_EXECUTED.into() });
        }
        let message = translation.refusal.clone()?;
        Some(ToolError { kind: ToolErrorKind::BadArguments, message })
    }

    /// What the user must be told of a call before it is done, whatever policy says.
    pub(super) fn warning(&self, call: &CallId) -> Option<String> {
        let warnings = &self.translation(call)?.warnings;
        (!warnings.is_empty()).then(|| format!("the model's provider warns: {}", warnings.join("; ")))
    }

    /// The user has said yes to a question about this call.
    pub(super) fn accept(&mut self, call: &CallId) {
        let proposal = self.all.iter_mut().find(|proposal| proposal.journaled.id == *call);
        if let Some(translation) = proposal.and_then(|proposal| proposal.call.translation.as_mut()) {
            translation.accepted = true;
        }
    }

    /// The call was not done as it should be.
    pub(super) fn note_failure(&mut self, call: &CallId) {
        self.failed |= self.is_translated(call);
    }

    /// The calls as the user left them, with their answers in the same order; the turn is over.
    pub(super) fn settle(self, mut answers: Vec<(CallId, Answered)>) -> (Vec<ProposedCall>, Vec<Answered>) {
        let settled = self.all.into_iter().map(|Proposal { call, journaled }| {
            // One that the run never came to says so.
            let mut answered = match answers.iter().position(|(answered, _)| *answered == journaled.id) {
                Some(at) => answers.swap_remove(at).1,
                None => Answered::from(unanswered(&call)),
            };
            answered.answer.id.clone_from(&call.id);
            answered.answer.name.clone_from(&call.name);
            if let Some(translation) = &call.translation {
                answered.must_show = translation.needs_picture;
                answered.goes_on = translation.goes_on;
            }
            (call, answered)
        });
        settled.unzip()
    }
}
