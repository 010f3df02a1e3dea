//! The conversation of a session's earlier runs, made again from its events: what a restart leaves of it.

use std::collections::BTreeMap;

use journal::Blobs;
use models::{Message, Part, ProposedCall, ToolAnswer, Turn};
use protocol::ids::CallId;
use protocol::recap::Recap;
use protocol::tool::{ExecResult, Source, ToolCall};
use protocol::turn::StopReason;
use protocol::{Event, EventBody};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::context::{Bounds, Earlier, recap};
use crate::{context, undo};

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
    /// Some calls are kept in another form than the model wrote them in: later runs tell the turn in neutral form.
    #[serde(default)]
    pub adapted: bool,
}

/// A turn whose calls were not all answered when its run was put aside.
#[derive(Debug)]
pub struct OpenTurn {
    pub turn: Turn,
    pub number: u32,
    pub calls: Vec<ToolCall>,
    pub results: BTreeMap<CallId, ExecResult>,
    /// Some calls are in another form than the model wrote them in.
    pub adapted: bool,
}

/// A conversation as its events tell it, with what its end leaves open.
#[derive(Default)]
pub struct Rebuilt {
    pub told: Earlier,
    /// Where the newest goal stands among the messages; `None` if it is in none of the events.
    pub goal: Option<usize>,
    pub open: Option<OpenTurn>,
    /// What the user said since the last request that had it.
    pub said: Vec<String>,
    /// Where turns stand that their provider paused.
    paused: Vec<usize>,
    /// What its user has taken back.
    undos: Vec<ToolCall>,
    /// Where came from what was read so far.
    read: Vec<Source>,
}

/// The conversation of these events, oldest first, without pictures. Events before the first goal or turn among them are
/// passed over; what was left out once is left out again. A lost blob is no error: the turn is then told in neutral form.
pub fn rebuild(blobs: &Blobs, events: Vec<Event>, bounds: &Bounds) -> Rebuilt {
    let mut rebuilt = Rebuilt::default();
    for event in events {
        match event.body {
            EventBody::RunStarted(spec) => {
                rebuilt.close();
                rebuilt.tell(0);
                rebuilt.goal = Some(rebuilt.told.messages.len());
                rebuilt.told.messages.push(Message::User(vec![Part::Text(spec.goal)]));
            }
            EventBody::RunSteered { text } => rebuilt.said.push(text),
            EventBody::TurnFinished { turn: number, text, calls, raw, stop, .. } => {
                rebuilt.close();
                let kept = raw
                    .and_then(|blob| blobs.get(&blob.sha256).ok())
                    .and_then(|bytes| serde_json::from_slice::<KeptTurn>(&bytes).ok());
                rebuilt.tell(kept.as_ref().map_or(0, |kept| kept.unread));
                let adapted = kept.as_ref().is_some_and(|kept| kept.adapted);
                let mut turn = turn(text, &calls, kept);
                match stop {
                    StopReason::Paused => rebuilt.paused.push(rebuilt.told.messages.len()),
                    StopReason::End | StopReason::ToolCalls if turn.says_nothing() => continue,
                    StopReason::End | StopReason::ToolCalls => {}
                    // What did not end well goes back in our words only.
                    _ => turn.raw = Value::Null,
                }
                rebuilt.open = Some(OpenTurn { turn, number, calls, results: BTreeMap::new(), adapted });
            }
            // Not the model's call but its user's: it reads of it as of the user's words.
            EventBody::ToolStarted { call, .. } if call.tool == undo::UNDO => {
                rebuilt.undos.push(call);
            }
            EventBody::ToolFinished { call, result } if rebuilt.undos.iter().any(|undo| undo.id == call) => {
                let undo = rebuilt.undos.iter().find(|undo| undo.id == call);
                rebuilt.said.extend(undo.and_then(|undo| undo::note(undo, &result)));
            }
            EventBody::ContextCompacted { recap } => rebuilt.compact(*recap, bounds),
            EventBody::ToolFinished { call, result } => {
                Source::add(&mut rebuilt.read, result.read.iter().cloned());
                if let Some(open) = &mut rebuilt.open {
                    open.results.insert(call, result);
                }
            }
            _ => {}
        }
    }
    // What is left of a run that begins before the first of these events has no question before it.
    let messages = &rebuilt.told.messages;
    let first = messages.iter().position(|message| matches!(message, Message::User(_)));
    let before = first.unwrap_or(messages.len());
    rebuilt.told.messages.drain(..before);
    rebuilt.goal = rebuilt.goal.map(|goal| goal - before);
    rebuilt.move_paused(|at| at.checked_sub(before));
    rebuilt
}

impl Rebuilt {
    /// As it goes on with a new goal: every call has an answer; one that was never given says so.
    pub fn closed(mut self) -> Earlier {
        self.close();
        self.tell(0);
        self.settle_paused();
        self.told
    }

    /// The messages before the open turn.
    pub fn settle_paused(&mut self) {
        for at in std::mem::take(&mut self.paused) {
            let messages = &mut self.told.messages;
            let goes_on = matches!(messages.get(at + 1), Some(Message::Assistant(_)));
            if let (false, Some(Message::Assistant(turn))) = (goes_on, messages.get_mut(at)) {
                turn.raw = Value::Null;
            }
        }
    }

    /// Puts the user's words where the model was told them: all but the `unread` newest.
    fn tell(&mut self, unread: usize) {
        let told = self.said.len().saturating_sub(unread);
        let said = self.said.drain(..told).map(|text| Message::User(vec![Part::Text(text)]));
        self.told.messages.extend(said);
    }

    /// From here on the model was told this of what stands before, and the newest turns.
    fn compact(&mut self, mut recap: Recap, bounds: &Bounds) {
        self.close();
        let messages = &mut self.told.messages;
        let is_turn = |message: &Message| matches!(message, Message::Assistant(_));
        let turns = messages.iter().enumerate().rev().filter(|(_, message)| is_turn(message));
        let from = match recap.turns {
            0 => messages.len(),
            kept => turns.take(kept as usize).last().map_or(messages.len(), |(at, _)| at),
        };
        let mut kept = messages.split_off(from);
        context::shrink(&mut kept, bounds);
        // Its own event has it whole.
        if let Some(Message::User(parts)) = self.goal.and_then(|goal| messages.get(goal)) {
            recap.goal = recap::text_of(parts);
        }
        *messages = recap::messages(&recap);
        let head = messages.len();
        messages.extend(kept);
        self.goal = Some(0);
        self.move_paused(|at| at.checked_sub(from).map(|at| head + at));
        (self.told.head, self.told.notes) = (head, recap.notes.clone());
        self.told.recap = recap;
    }

    fn move_paused(&mut self, to: impl Fn(usize) -> Option<usize>) {
        self.paused = std::mem::take(&mut self.paused).into_iter().filter_map(to).collect();
    }

    fn close(&mut self) {
        let Some(OpenTurn { turn, calls, mut results, .. }) = self.open.take() else { return };
        for call in &calls {
            if let Some(result) = results.get(&call.id) {
                context::note(&mut self.told.notes, call, result, &self.read);
            }
        }
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
        self.told.messages.push(Message::Assistant(turn));
        if !answers.is_empty() {
            self.told.messages.push(Message::ToolResults(answers));
        }
    }
}

fn turn(text: String, calls: &[ToolCall], kept: Option<KeptTurn>) -> Turn {
    let (provider, raw, ids) = match kept {
        Some(kept) if kept.adapted => (kept.provider, Value::Null, Vec::new()),
        Some(kept) => (kept.provider, kept.raw, kept.call_ids),
        None => (String::new(), Value::Null, Vec::new()),
    };
    let mut ids = ids.into_iter();
    let proposed =
        |call: &ToolCall| ProposedCall::new(ids.next().flatten(), &*call.tool, call.arguments.clone());
    Turn { text, calls: calls.iter().map(proposed).collect(), provider, raw }
}

/// The answer to a call that the run ended before.
pub fn unanswered(call: &ProposedCall) -> ToolAnswer {
    let response = json!({ "effect": "refused", "summary": "not executed: the run ended before it" });
    ToolAnswer { id: call.id.clone(), name: call.name.clone(), response, image: None }
}
