//! The calls of one turn: as the model wrote them, what each is in calls of ours, and how the answers go back together.
//!
//! A function of ours is one call. An action of a vendor's computer tool may be several, which are assessed and run like
//! any other; they stop at the first that fails, and what the vendor warns of is asked of the user first. Pure.

use models::computer::{ACKNOWLEDGED, Adapter, NOT_EXECUTED, SafetyCheck, safety_checks, unwarned};
use models::{ProposedCall, ToolAnswer, Turn};
use protocol::ids::CallId;
use protocol::tool::{ToolCall, ToolError, ToolErrorKind};
use serde_json::{Value, json};

use crate::context::Answered;
use crate::history::unanswered;

/// The calls of the current turn, in their order.
#[derive(Default)]
pub(super) struct Proposals {
    all: Vec<Proposal>,
    /// A computer action failed: the ones after it are not done.
    failed: bool,
}

struct Proposal {
    call: ProposedCall,
    /// Never empty.
    ours: Vec<ToolCall>,
    computer: Option<Action>,
}

/// What is to be known of an action of a vendor's computer tool.
struct Action {
    /// Why it is none of ours.
    refusal: Option<String>,
    checks: Vec<SafetyCheck>,
    consent: Consent,
    needs_picture: bool,
}

/// The user's word on a vendor's warnings.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Consent {
    Open,
    Given,
    Denied,
}

/// How a turn goes back.
pub(super) struct Settled {
    pub answers: Vec<Answered>,
    /// In place of the turn's own calls: one that was warned of cannot go back in the vendor's shape without a yes.
    pub retold: Option<Vec<ProposedCall>>,
}

impl Proposals {
    pub(super) fn of(turn: &Turn, mut adapter: Option<&mut Adapter>) -> Self {
        let all = turn.calls.iter().map(|call| {
            let own = adapter.as_deref_mut().filter(|adapter| adapter.computer.owns(&call.name));
            match own {
                Some(adapter) => Proposal::of_computer(call, adapter),
                None => Proposal {
                    ours: vec![fresh(&call.name, call.arguments.clone())],
                    call: call.clone(),
                    computer: None,
                },
            }
        });
        Self { all: all.collect(), failed: false }
    }

    /// Of a turn that was taken up again: its calls as they were journaled.
    pub(super) fn restored(turn: &Turn, calls: &[ToolCall]) -> Self {
        let pairs = turn.calls.iter().cloned().zip(calls.iter().cloned());
        let all = pairs.map(|(call, ours)| Proposal { call, ours: vec![ours], computer: None });
        Self { all: all.collect(), failed: false }
    }

    pub(super) fn calls(&self) -> Vec<ToolCall> {
        self.all.iter().flat_map(|proposal| proposal.ours.iter().cloned()).collect()
    }

    /// Whether some of them are not as the model wrote them.
    pub(super) fn are_adapted(&self) -> bool {
        self.all.iter().any(|proposal| proposal.computer.is_some())
    }

    /// The provider's ids, call by call of ours; an adapted turn has none that would fit.
    pub(super) fn ids(&self) -> Vec<Option<String>> {
        match self.are_adapted() {
            true => self.calls().iter().map(|_| None).collect(),
            false => self.all.iter().map(|proposal| proposal.call.id.clone()).collect(),
        }
    }

    fn action(&self, call: &CallId) -> Option<&Action> {
        let of = |proposal: &&Proposal| proposal.ours.iter().any(|ours| ours.id == *call);
        self.all.iter().find(of)?.computer.as_ref()
    }

    pub(super) fn is_computer(&self, call: &CallId) -> bool {
        self.action(call).is_some()
    }

    /// Why a call is not even to be assessed.
    pub(super) fn refusal(&self, call: &CallId) -> Option<ToolError> {
        let action = self.action(call)?;
        if self.failed {
            return Some(ToolError { kind: ToolErrorKind::Cancelled, message: NOT_EXECUTED.into() });
        }
        let message = action.refusal.clone()?;
        Some(ToolError { kind: ToolErrorKind::BadArguments, message })
    }

    /// What the user must be told of a call before it is done, whatever policy says.
    pub(super) fn warning(&self, call: &CallId) -> Option<String> {
        let action = self.action(call).filter(|action| action.consent == Consent::Open)?;
        let messages: Vec<&str> = action.checks.iter().map(|check| check.message.as_str()).collect();
        (!messages.is_empty()).then(|| format!("the model's provider warns: {}", messages.join("; ")))
    }

    /// The user has answered a question about this call.
    pub(super) fn answered(&mut self, call: &CallId, yes: bool) {
        let of = |proposal: &&mut Proposal| proposal.ours.iter().any(|ours| ours.id == *call);
        let action = self.all.iter_mut().find(of).and_then(|proposal| proposal.computer.as_mut());
        if let Some(action) = action.filter(|action| action.consent == Consent::Open) {
            action.consent = if yes { Consent::Given } else { Consent::Denied };
        }
    }

    /// The call was not done as it should be.
    pub(super) fn note_failure(&mut self, call: &CallId) {
        self.failed |= self.is_computer(call);
    }

    /// All answers, in the order of the calls; the turn is over.
    pub(super) fn settle(self, mut answers: Vec<(CallId, Answered)>) -> Settled {
        // Also what was refused before anyone was asked: it would go back with its warning open.
        let unheeded = |proposal: &Proposal| {
            let action = proposal.computer.as_ref();
            action.is_some_and(|action| action.consent != Consent::Given && !action.checks.is_empty())
        };
        let retell = self.all.iter().any(unheeded);
        let mut settled = Settled { answers: Vec::new(), retold: retell.then(Vec::new) };
        for proposal in self.all {
            let Proposal { call, ours, computer } = proposal;
            let parts: Vec<Answered> = ours.iter().map(|one| taken(&mut answers, one)).collect();
            match (&mut settled.retold, computer) {
                (Some(retold), _) => {
                    retold.extend(ours.into_iter().map(told));
                    settled.answers.extend(parts);
                }
                (None, None) => settled.answers.extend(parts.into_iter().map(|part| part.named(&call))),
                (None, Some(action)) => settled.answers.push(action.together(&call, parts)),
            }
        }
        settled
    }
}

impl Proposal {
    fn of_computer(call: &ProposedCall, adapter: &mut Adapter) -> Self {
        let mut action = Action {
            refusal: None,
            checks: safety_checks(call),
            consent: Consent::Open,
            needs_picture: adapter.computer.needs_pictures(),
        };
        let ours = match adapter.adapt(call) {
            Ok(ours) => ours.into_iter().map(|one| fresh(one.tool, one.arguments)).collect(),
            Err(error) => {
                action.refusal = Some(error.to_string());
                vec![fresh(&call.name, unwarned(call))]
            }
        };
        Self { call: call.clone(), ours, computer: Some(action) }
    }
}

impl Action {
    /// One answer for all parts of an action.
    fn together(self, call: &ProposedCall, mut parts: Vec<Answered>) -> Answered {
        let sight = parts.iter().rev().find_map(|part| part.sight.clone());
        let mut response = match (parts.len(), parts.pop()) {
            (1, Some(only)) => only.answer.response,
            (_, last) => {
                parts.extend(last);
                let responses = || parts.iter().map(|part| &part.answer.response);
                let said: Vec<&str> =
                    responses().filter_map(|response| response["summary"].as_str()).collect();
                let mut response = json!({ "summary": said.join("; ") });
                response["effect"] = responses().next_back().map_or(Value::Null, |one| one["effect"].clone());
                if let Some(error) = responses().find_map(|response| response.get("error")) {
                    response["error"] = error.clone();
                }
                response
            }
        };
        if self.consent == Consent::Given && !self.checks.is_empty() {
            response[ACKNOWLEDGED] = self.checks.into_iter().map(|check| check.as_it_came).collect();
        }
        let answer = ToolAnswer { id: call.id.clone(), name: call.name.clone(), response, image: None };
        Answered { answer, sight, must_show: self.needs_picture }
    }
}

/// The answer to a call of ours; one that the run never came to says so.
fn taken(answers: &mut Vec<(CallId, Answered)>, call: &ToolCall) -> Answered {
    match answers.iter().position(|(answered, _)| *answered == call.id) {
        Some(at) => answers.swap_remove(at).1,
        None => Answered::from(unanswered(&told(call.clone()))),
    }
}

fn told(call: ToolCall) -> ProposedCall {
    ProposedCall { id: None, name: call.tool, arguments: call.arguments }
}

fn fresh(tool: &str, arguments: Value) -> ToolCall {
    ToolCall { id: CallId::from_suffix(uuid::Uuid::now_v7().simple()), tool: tool.to_owned(), arguments }
}
