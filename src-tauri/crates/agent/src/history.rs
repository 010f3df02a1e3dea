//! The conversation of a session's earlier runs, made again from its events: what a restart leaves of it.

use std::collections::BTreeMap;

use journal::{Journal, JournalError};
use models::{Message, Part, ProposedCall, ToolAnswer, Turn};
use protocol::EventBody;
use protocol::ids::{CallId, SessionId};
use protocol::tool::{ExecResult, ToolCall};
use protocol::turn::StopReason;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::context;

/// What a turn's blob holds: all that the event leaves out, so that it can be replayed byte for byte.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct KeptTurn {
    pub provider: String,
    pub raw: Value,
    /// The provider's ids of the calls, in order.
    pub call_ids: Vec<Option<String>>,
    /// How many of the user's newest words came while this turn was under way, and were not in its request.
    #[serde(default)]
    pub unread: usize,
    /// Its calls were a vendor's computer actions, kept as calls of ours: later runs tell the turn in neutral form.
    #[serde(default)]
    pub adapted: bool,
}

/// Messages of all runs of `session`, oldest first, without pictures. Every call has an answer: one that was never
/// given says so.
///
/// # Errors
/// Where the journal cannot be read. A lost blob is no error: the turn is then told in neutral form.
pub fn rebuild(journal: &Journal, session: &SessionId) -> Result<Vec<Message>, JournalError> {
    let mut messages = Vec::new();
    let mut open: Option<(Turn, Vec<ToolCall>)> = None;
    let mut results: BTreeMap<CallId, ExecResult> = BTreeMap::new();
    // The user's words since the last request that had them.
    let mut said: Vec<String> = Vec::new();
    // Where turns stand that their provider paused.
    let mut paused: Vec<usize> = Vec::new();
    for event in journal.session_events(session)? {
        match event.body {
            EventBody::RunStarted { goal, .. } => {
                close(&mut messages, &mut open, &mut results);
                tell(&mut messages, &mut said, 0);
                messages.push(Message::User(vec![Part::Text(goal)]));
            }
            EventBody::RunSteered { text } => said.push(text),
            EventBody::TurnFinished { text, calls, raw, stop, .. } => {
                close(&mut messages, &mut open, &mut results);
                let kept = raw
                    .and_then(|blob| journal.blobs().get(&blob.sha256).ok())
                    .and_then(|bytes| serde_json::from_slice::<KeptTurn>(&bytes).ok());
                tell(&mut messages, &mut said, kept.as_ref().map_or(0, |kept| kept.unread));
                let mut turn = turn(text, &calls, kept);
                match stop {
                    StopReason::Paused => paused.push(messages.len()),
                    StopReason::End | StopReason::ToolCalls if turn.says_nothing() => continue,
                    StopReason::End | StopReason::ToolCalls => {}
                    // What did not end well goes back in our words only.
                    _ => turn.raw = Value::Null,
                }
                open = Some((turn, calls));
            }
            EventBody::ToolFinished { call, result } => {
                results.insert(call, result);
            }
            _ => {}
        }
    }
    close(&mut messages, &mut open, &mut results);
    tell(&mut messages, &mut said, 0);
    for at in paused {
        let goes_on = matches!(messages.get(at + 1), Some(Message::Assistant(_)));
        if let (false, Some(Message::Assistant(turn))) = (goes_on, messages.get_mut(at)) {
            turn.raw = Value::Null;
        }
    }
    Ok(messages)
}

/// Puts the user's words where the model was told them: all but the `unread` newest.
fn tell(messages: &mut Vec<Message>, said: &mut Vec<String>, unread: usize) {
    let told = said.len().saturating_sub(unread);
    messages.extend(said.drain(..told).map(|text| Message::User(vec![Part::Text(text)])));
}

fn turn(text: String, calls: &[ToolCall], kept: Option<KeptTurn>) -> Turn {
    let (provider, raw, ids) = match kept {
        Some(kept) if kept.adapted => (kept.provider, Value::Null, Vec::new()),
        Some(kept) => (kept.provider, kept.raw, kept.call_ids),
        None => (String::new(), Value::Null, Vec::new()),
    };
    let mut ids = ids.into_iter();
    let proposed = |call: &ToolCall| ProposedCall {
        id: ids.next().flatten(),
        name: call.tool.clone(),
        arguments: call.arguments.clone(),
    };
    Turn { text, calls: calls.iter().map(proposed).collect(), provider, raw }
}

fn close(
    messages: &mut Vec<Message>,
    open: &mut Option<(Turn, Vec<ToolCall>)>,
    results: &mut BTreeMap<CallId, ExecResult>,
) {
    let Some((turn, calls)) = open.take() else { return };
    let answers: Vec<ToolAnswer> = turn
        .calls
        .iter()
        .zip(&calls)
        .map(|(proposed, call)| match results.remove(&call.id) {
            Some(result) => {
                let mut answer = context::answer(proposed.id.clone(), &call.tool, &result);
                if result.picture.is_some() {
                    context::without_picture(&mut answer);
                }
                answer
            }
            None => unanswered(proposed),
        })
        .collect();
    messages.push(Message::Assistant(turn));
    if !answers.is_empty() {
        messages.push(Message::ToolResults(answers));
    }
}

/// The answer to a call that the run ended before.
pub fn unanswered(call: &ProposedCall) -> ToolAnswer {
    let response = json!({ "effect": "refused", "summary": "not executed: the run ended before it" });
    ToolAnswer { id: call.id.clone(), name: call.name.clone(), response, image: None }
}
