//! What comes from a server of Chat Completions: one turn, put together from chunks.
//!
//! Pure. Lenient in form (no ids, whole calls in one chunk, calls under `stop`, no `[DONE]`), strict in one thing:
//! without a `finish_reason` there is no turn.

use protocol::turn::{StopReason, Usage, Usd};
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::reasoning::Reasoning;
use crate::decode::{DecodedTurn, Progress, StreamDecoder, read, reported};
use crate::json_text::JsonObject;
use crate::lenient::{Lenient, Source};
use crate::responses::billed;
use crate::{ModelError, ProposedCall, TurnEvent, calls};

#[derive(Default)]
pub(crate) struct ChatDecoder {
    /// The answer's id, from which calls without one get theirs.
    id: String,
    text: String,
    refusal: bool,
    reasoning: Reasoning,
    calls: Vec<Call>,
    usage: Usage,
    stop: Option<String>,
    over: bool,
}

#[derive(Default)]
struct Call {
    /// The number that the server gives it. `None` if it gives none.
    number: Option<u64>,
    id: Option<String>,
    name: String,
    arguments: String,
    told: bool,
    extra: Option<Value>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Chunk<'a> {
    id: Lenient<String>,
    #[serde(borrow)]
    error: Option<&'a RawValue>,
    usage: Lenient<Option<Counts>>,
    #[serde(borrow)]
    choices: Lenient<Vec<Choice<'a>>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Choice<'a> {
    #[serde(borrow)]
    error: Option<&'a RawValue>,
    delta: Lenient<Option<Delta>>,
    /// What a server that does not stream sends in place of `delta`: all at once.
    message: Lenient<Option<Delta>>,
    finish_reason: Lenient<String>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Delta {
    reasoning_content: Lenient<String>,
    reasoning: Lenient<String>,
    reasoning_details: Value,
    content: Lenient<String>,
    refusal: Lenient<String>,
    annotations: Lenient<Vec<Annotation>>,
    tool_calls: Lenient<Vec<Piece>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Annotation {
    url_citation: Lenient<Source>,
}

/// A part of a call.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Piece {
    index: Lenient<Option<u64>>,
    id: Lenient<String>,
    function: Lenient<Function>,
    /// Signatures of other vendors' models.
    extra_content: Option<Value>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Function {
    name: Lenient<Option<String>>,
    /// Text; an object from servers that are built on Ollama.
    arguments: Value,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Counts {
    prompt_tokens: Lenient<u64>,
    prompt_tokens_details: Lenient<PromptDetails>,
    completion_tokens: Lenient<u64>,
    completion_tokens_details: Lenient<CompletionDetails>,
    total_tokens: Lenient<Option<u64>>,
    /// OpenRouter's, in dollars.
    cost: Lenient<Option<f64>>,
    /// xAI's.
    cost_in_usd_ticks: Lenient<Option<u64>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct PromptDetails {
    cached_tokens: Lenient<u64>,
    cache_write_tokens: Lenient<u64>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct CompletionDetails {
    reasoning_tokens: Lenient<u64>,
}

impl ChatDecoder {
    fn delta(&mut self, delta: Delta, events: &mut Vec<TurnEvent>) {
        let Delta { reasoning_content, reasoning, content, refusal, .. } = delta;
        // Some servers send a thought under both names.
        let thought = if reasoning_content.0.is_empty() { reasoning.0 } else { reasoning_content.0 };
        if !thought.is_empty() {
            events.push(TurnEvent::Thinking(thought));
        }
        self.reasoning.add(&delta.reasoning_details);
        self.refusal |= !refusal.0.is_empty();
        for text in [content.0, refusal.0].into_iter().filter(|text| !text.is_empty()) {
            self.text.push_str(&text);
            events.push(TurnEvent::Text(text));
        }
        for annotation in delta.annotations.0 {
            if let Some(citation) = annotation.url_citation.0.citation() {
                events.extend([TurnEvent::Searched, citation]);
            }
        }
        for piece in delta.tool_calls.0 {
            self.call(piece, events);
        }
    }

    fn call(&mut self, piece: Piece, events: &mut Vec<TurnEvent>) {
        let Piece { index: Lenient(number), id, function: Lenient(function), extra_content } = piece;
        let id = Some(id.0).filter(|id| !id.is_empty());
        let index = self.index_of(number, id.as_deref(), function.name.0.is_some());
        let Some(call) = self.calls.get_mut(index) else { return };
        call.id = call.id.take().or(id);
        if call.name.is_empty() {
            call.name = function.name.0.unwrap_or_default();
        }
        call.extra = extra_content.or(call.extra.take());
        if !call.told && !call.name.is_empty() {
            call.told = true;
            events.push(TurnEvent::CallStarted { index, id: call.id.clone(), name: call.name.clone() });
        }
        let json = match function.arguments {
            Value::String(text) => text,
            Value::Null => String::new(),
            whole => whole.to_string(),
        };
        if !json.is_empty() {
            call.arguments.push_str(&json);
            events.push(TurnEvent::CallArguments { index, json });
        }
    }

    /// The call that a piece belongs to, which may be a new one.
    fn index_of(&mut self, number: Option<u64>, id: Option<&str>, is_named: bool) -> usize {
        let known = match (number, id) {
            (Some(_), id) => self.numbered(number, id),
            (None, Some(id)) => self.calls.iter().position(|call| call.id.as_deref() == Some(id)),
            (None, None) if is_named => None,
            (None, None) => self.calls.len().checked_sub(1),
        };
        known.unwrap_or_else(|| {
            self.calls.push(Call { number, ..Call::default() });
            self.calls.len() - 1
        })
    }

    /// Some servers number all calls 0; another id tells them apart.
    fn numbered(&self, number: Option<u64>, id: Option<&str>) -> Option<usize> {
        self.calls.iter().rposition(|call| {
            call.number == number && (id.is_none() || call.id.is_none() || call.id.as_deref() == id)
        })
    }

    fn id_of(&self, index: usize, call: &Call) -> String {
        let made = || format!("{}-{index}", if self.id.is_empty() { "call" } else { &self.id });
        call.id.clone().unwrap_or_else(made)
    }

    fn raw(&self, reasoning: Option<Value>) -> String {
        let mut raw = JsonObject::new();
        raw.field("role", "assistant");
        let content = if self.text.is_empty() { Value::Null } else { self.text.as_str().into() };
        raw.field("content", &content);
        if let Some(details) = reasoning {
            raw.field("reasoning_details", &details);
        }
        let calls = self.calls.iter().enumerate().map(|(index, call)| {
            let arguments = calls::arguments_text(&call.arguments);
            let function = json!({ "name": call.name, "arguments": arguments });
            let mut value =
                json!({ "id": self.id_of(index, call), "type": "function", "function": function });
            if let Some(extra) = &call.extra {
                value["extra_content"] = extra.clone();
            }
            value
        });
        let calls: Vec<Value> = calls.collect();
        if !calls.is_empty() {
            raw.field("tool_calls", &calls);
        }
        raw.finish()
    }
}

impl StreamDecoder for ChatDecoder {
    fn feed(&mut self, provider: &str, data: &str, events: &mut Vec<TurnEvent>) -> Result<(), ModelError> {
        if data.trim() == "[DONE]" {
            self.over = true;
            return Ok(());
        }
        let chunk: Chunk<'_> = read(provider, data)?;
        if chunk.error.is_some() {
            return Err(reported(provider, data));
        }
        if self.id.is_empty() {
            self.id = chunk.id.0;
        }
        if let Some(counts) = chunk.usage.0 {
            self.usage = counts.usage();
            events.push(TurnEvent::Usage(self.usage));
            events.extend(counts.billed().map(TurnEvent::Billed));
        }
        let Some(choice) = chunk.choices.0.into_iter().next() else { return Ok(()) };
        if let Some(error) = choice.error {
            return Err(reported(provider, error.get()));
        }
        if let Some(delta) = choice.delta.0.or(choice.message.0) {
            self.delta(delta, events);
        }
        if !choice.finish_reason.0.is_empty() && self.stop.is_none() {
            self.stop = Some(choice.finish_reason.0);
            events.extend((0..self.calls.len()).map(|index| TurnEvent::CallEnded { index }));
        }
        Ok(())
    }

    fn progress(&self) -> Progress {
        match (&self.stop, self.over) {
            (Some(_), true) => Progress::Over,
            (Some(_), false) => Progress::Complete,
            // `[DONE]` alone may come from a proxy that has lost its connection to the server.
            (None, _) => Progress::Open,
        }
    }

    fn finish(&mut self) -> Result<DecodedTurn, ModelError> {
        let reason = self.stop.take().ok_or_else(ModelError::cut)?;
        let stop = match reason.to_lowercase().as_str() {
            "stop" if self.refusal => StopReason::Refused { category: "refusal".into() },
            "stop" | "eos" | "eos_token" | "end_turn" | "stop_sequence" => StopReason::End,
            "tool_calls" | "function_call" | "tool_use" => StopReason::ToolCalls,
            "length" | "max_tokens" => StopReason::MaxTokens,
            // Also `content_filter`: an end that is not known to be good runs nothing.
            _ => StopReason::Blocked { reason },
        };
        let reasoning = std::mem::take(&mut self.reasoning).finish();
        let raw = self.raw(reasoning);
        let calls = self.calls.iter().enumerate().map(|(index, call)| {
            let id = Some(self.id_of(index, call));
            ProposedCall::new(id, &*call.name, calls::arguments(&call.arguments))
        });
        Ok(DecodedTurn {
            calls: calls.collect(),
            raw: Some(raw),
            text: std::mem::take(&mut self.text),
            usage: self.usage,
            stop,
        })
    }
}

impl Counts {
    /// Reasoning is part of the output for most and beside it for xAI: the total tells.
    fn usage(&self) -> Usage {
        let (input, output) = (self.prompt_tokens.0, self.completion_tokens.0);
        let thinking = self.completion_tokens_details.0.reasoning_tokens.0;
        let is_beside = self.total_tokens.0 == Some(input + output + thinking);
        Usage {
            input,
            cached: self.prompt_tokens_details.0.cached_tokens.0,
            output: if is_beside { output } else { output.saturating_sub(thinking) },
            thinking,
            cache_write: self.prompt_tokens_details.0.cache_write_tokens.0,
        }
    }

    /// What the provider says it charges.
    fn billed(&self) -> Option<Usd> {
        self.cost.0.and_then(Usd::from_dollars).or_else(|| billed(self.cost_in_usd_ticks.0))
    }
}
