//! Gemini's newer API, Interactions: its streams are read where they come. We ask by `generateContent` only, so nothing
//! of such a turn is kept to go back.

use std::collections::BTreeMap;

use protocol::turn::{StopReason, Usage};
use serde_json::Value;

use crate::decode::{Made, Progress};
use crate::{ModelError, ProposedCall, TurnEvent, calls, refusal};

pub(super) struct Interaction {
    provider: String,
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

impl Interaction {
    pub(super) fn new(provider: &str) -> Self {
        Self {
            provider: provider.to_owned(),
            text: String::new(),
            calls: BTreeMap::new(),
            usage: Usage::default(),
            status: None,
        }
    }

    pub(super) fn feed(&mut self, event: &Value, events: &mut Vec<TurnEvent>) -> Result<(), ModelError> {
        let index = event["index"].as_u64().unwrap_or_default();
        match event["event_type"].as_str().unwrap_or_default() {
            "step.start" if event["step"]["type"] == "function_call" => {
                let step = &event["step"];
                let call = Call {
                    place: self.calls.len(),
                    id: step["id"].as_str().map(str::to_owned),
                    name: step["name"].as_str().unwrap_or_default().to_owned(),
                    arguments: String::new(),
                    open: true,
                };
                let (id, name) = (call.id.clone(), call.name.clone());
                events.push(TurnEvent::CallStarted { index: call.place, id, name });
                self.calls.insert(index, call);
            }
            "step.delta" => self.delta(index, &event["delta"], events),
            "step.stop" => {
                if let Some(call) = self.calls.get_mut(&index) {
                    call.open = false;
                    events.push(TurnEvent::CallEnded { index: call.place });
                }
            }
            "interaction.completed" => {
                let interaction = &event["interaction"];
                self.usage = read_usage(&interaction["usage"]);
                self.status = interaction["status"].as_str().map(str::to_owned);
                events.push(TurnEvent::Usage(self.usage));
            }
            "error" => return Err(refusal::from_error(&self.provider, 0, event)),
            _ => {}
        }
        Ok(())
    }

    fn delta(&mut self, index: u64, delta: &Value, events: &mut Vec<TurnEvent>) {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        match delta["type"].as_str().unwrap_or_default() {
            "thought_summary" => events.push(TurnEvent::Thinking(text(&delta["content"]["text"]))),
            "text" => {
                let text = text(&delta["text"]);
                self.text.push_str(&text);
                events.push(TurnEvent::Text(text));
            }
            "arguments_delta" => {
                if let Some(call) = self.calls.get_mut(&index) {
                    let json = text(&delta["arguments"]);
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

    pub(super) fn finish(&mut self) -> Result<Made, ModelError> {
        let stop = match self.status.take().ok_or_else(ModelError::cut)?.as_str() {
            "completed" | "requires_action" => StopReason::End,
            "incomplete" => StopReason::MaxTokens,
            status => StopReason::Blocked { reason: status.to_owned() },
        };
        let mut proposed: Vec<Call> = std::mem::take(&mut self.calls).into_values().collect();
        proposed.sort_by_key(|call| call.place);
        let calls = proposed.into_iter().map(|call| ProposedCall {
            arguments: calls::arguments(&call.arguments),
            id: call.id,
            name: call.name,
        });
        Ok(Made {
            text: std::mem::take(&mut self.text),
            calls: calls.collect(),
            raw: None,
            usage: self.usage,
            stop,
        })
    }
}

fn read_usage(usage: &Value) -> Usage {
    let count = |name: &str| usage[name].as_u64().unwrap_or_default();
    Usage {
        input: count("total_input_tokens"),
        cached: count("total_cached_tokens"),
        output: count("total_output_tokens"),
        thinking: count("total_thought_tokens"),
        cache_write: 0,
    }
}
