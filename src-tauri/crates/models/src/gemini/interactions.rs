//! Streams of Gemini's newer API, Interactions. We ask by `generateContent` only, so nothing of such a turn is kept to
//! go back.

use std::collections::BTreeMap;

use protocol::turn::{StopReason, Usage};
use serde::Deserialize;

use crate::decode::{DecodedTurn, Progress, read, reported};
use crate::lenient::Lenient;
use crate::{ModelError, ProposedCall, TurnEvent, calls};

#[derive(Default)]
pub(super) struct Interaction {
    text: String,
    /// Calls by the index of their step.
    calls: BTreeMap<u64, Call>,
    usage: Usage,
    status: Option<String>,
}

struct Call {
    place: usize,
    id: Option<String>,
    name: String,
    arguments: String,
    open: bool,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Event {
    event_type: Lenient<String>,
    index: Lenient<u64>,
    step: Lenient<Step>,
    delta: Lenient<Delta>,
    interaction: Lenient<Completed>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Step {
    #[serde(rename = "type")]
    kind: Lenient<String>,
    id: Lenient<Option<String>>,
    name: Lenient<String>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Delta {
    #[serde(rename = "type")]
    kind: Lenient<String>,
    text: Lenient<String>,
    content: Lenient<Content>,
    arguments: Lenient<String>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Content {
    text: Lenient<String>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Completed {
    status: Lenient<Option<String>>,
    usage: Lenient<Counts>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Counts {
    total_input_tokens: Lenient<u64>,
    total_cached_tokens: Lenient<u64>,
    total_output_tokens: Lenient<u64>,
    total_thought_tokens: Lenient<u64>,
}

impl Interaction {
    pub(super) fn feed(
        &mut self,
        provider: &str,
        data: &str,
        events: &mut Vec<TurnEvent>,
    ) -> Result<(), ModelError> {
        let Event { event_type, index: Lenient(index), step, delta, interaction } = read(provider, data)?;
        match event_type.0.as_str() {
            "step.start" if step.0.kind.0 == "function_call" => {
                let Step { id: Lenient(id), name: Lenient(name), .. } = step.0;
                let place = self.calls.len();
                events.push(TurnEvent::CallStarted { index: place, id: id.clone(), name: name.clone() });
                let call = Call { place, id, name, arguments: String::new(), open: true };
                self.calls.insert(index, call);
            }
            "step.delta" => self.delta(index, delta.0, events),
            "step.stop" => {
                if let Some(call) = self.calls.get_mut(&index) {
                    call.open = false;
                    events.push(TurnEvent::CallEnded { index: call.place });
                }
            }
            "interaction.completed" => {
                let Completed { status, usage } = interaction.0;
                self.usage = usage.0.into();
                self.status = status.0;
                events.push(TurnEvent::Usage(self.usage));
            }
            "error" => return Err(reported(provider, data)),
            _ => {}
        }
        Ok(())
    }

    fn delta(&mut self, index: u64, delta: Delta, events: &mut Vec<TurnEvent>) {
        match delta.kind.0.as_str() {
            "thought_summary" => events.push(TurnEvent::Thinking(delta.content.0.text.0)),
            "text" => {
                self.text.push_str(&delta.text.0);
                events.push(TurnEvent::Text(delta.text.0));
            }
            "arguments_delta" => {
                if let Some(call) = self.calls.get_mut(&index) {
                    let json = delta.arguments.0;
                    call.arguments.push_str(&json);
                    events.push(TurnEvent::CallArguments { index: call.place, json });
                }
            }
            _ => {}
        }
    }

    pub(super) fn progress(&self) -> Progress {
        match self.status {
            Some(_) if self.calls.values().all(|call| !call.open) => Progress::Over,
            _ => Progress::Open,
        }
    }

    pub(super) fn finish(&mut self) -> Result<DecodedTurn, ModelError> {
        let stop = match self.status.take().ok_or_else(ModelError::cut)?.as_str() {
            "completed" | "requires_action" => StopReason::End,
            "incomplete" => StopReason::MaxTokens,
            status => StopReason::Blocked { reason: status.to_owned() },
        };
        let mut proposed: Vec<Call> = std::mem::take(&mut self.calls).into_values().collect();
        proposed.sort_by_key(|call| call.place);
        let calls = proposed
            .into_iter()
            .map(|call| ProposedCall::new(call.id, call.name, calls::arguments(&call.arguments)));
        Ok(DecodedTurn {
            text: std::mem::take(&mut self.text),
            calls: calls.collect(),
            raw: None,
            usage: self.usage,
            stop,
        })
    }
}

impl From<Counts> for Usage {
    fn from(counts: Counts) -> Self {
        Self {
            input: counts.total_input_tokens.0,
            cached: counts.total_cached_tokens.0,
            output: counts.total_output_tokens.0,
            thinking: counts.total_thought_tokens.0,
            cache_write: 0,
        }
    }
}
