//! What comes from a server of Chat Completions: one turn, put together from chunks.
//!
//! Pure. Lenient in form (no ids, whole calls in one chunk, calls under `stop`, no `[DONE]`), strict in one thing: without
//! a `finish_reason` there is no turn.

use protocol::turn::{StopReason, Usage, Usd};
use serde_json::{Value, json};

use super::hot::{Chunk, Chunks};
use super::reasoning::Reasoning;
use crate::decode::{Made, Progress, TurnInMaking, citation, json as read_json};
use crate::forms::Forms;
use crate::responses::billed;
use crate::text::ObjectText;
use crate::{ModelError, ProposedCall, TurnEvent, calls, refusal};

pub(crate) struct Making {
    provider: String,
    forms: Forms<Chunks>,
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
    /// The number that the server gives it, where it gives one.
    number: Option<u64>,
    id: Option<String>,
    name: String,
    arguments: String,
    told: bool,
    extra: Option<Value>,
}

impl Making {
    pub(super) fn new(provider: &str) -> Self {
        Self {
            provider: provider.to_owned(),
            forms: Forms::new(),
            id: String::new(),
            text: String::new(),
            refusal: false,
            reasoning: Reasoning::default(),
            calls: Vec::new(),
            usage: Usage::default(),
            stop: None,
            over: false,
        }
    }

    /// Adds a chunk of one plain piece. Where it is more than that, nothing is done.
    fn grow(&mut self, data: &[u8], events: &mut Vec<TurnEvent>) -> bool {
        let Some(Chunk { id, thinking, detail, text, arguments }) = self.forms.read(data) else {
            return false;
        };
        let call = arguments.as_ref().map(|(number, _)| self.numbered(Some(*number), None));
        if call == Some(None) || detail.as_ref().is_some_and(|detail| !self.reasoning.grow(detail)) {
            return false;
        }
        if self.id.is_empty() {
            self.id = id.into_owned();
        }
        events.extend(thinking.map(TurnEvent::Thinking));
        if let Some(text) = text {
            self.text.push_str(&text);
            events.push(TurnEvent::Text(text));
        }
        if let (Some(Some(index)), Some((_, json))) = (call, arguments)
            && !json.is_empty()
        {
            self.calls[index].arguments.push_str(&json);
            events.push(TurnEvent::CallArguments { index, json });
        }
        true
    }

    fn delta(&mut self, delta: &Value, events: &mut Vec<TurnEvent>) {
        let said = |name: &str| delta[name].as_str().filter(|text| !text.is_empty()).map(str::to_owned);
        if let Some(thought) = said("reasoning_content").or_else(|| said("reasoning")) {
            events.push(TurnEvent::Thinking(thought));
        }
        self.reasoning.add(&delta["reasoning_details"]);
        self.refusal |= said("refusal").is_some();
        for text in [said("content"), said("refusal")].into_iter().flatten() {
            self.text.push_str(&text);
            events.push(TurnEvent::Text(text));
        }
        for annotation in delta["annotations"].as_array().into_iter().flatten() {
            if let Some(citation) = citation(&annotation["url_citation"]) {
                events.extend([TurnEvent::Searched, citation]);
            }
        }
        let pieces = delta["tool_calls"].as_array().into_iter().flatten();
        for piece in pieces.filter(|piece| piece.is_object()) {
            self.call(piece, events);
        }
    }

    fn call(&mut self, piece: &Value, events: &mut Vec<TurnEvent>) {
        let index = self.place(piece);
        let Some(call) = self.calls.get_mut(index) else { return };
        let function = &piece["function"];
        if call.id.is_none() {
            call.id = piece["id"].as_str().filter(|id| !id.is_empty()).map(str::to_owned);
        }
        if call.name.is_empty() {
            function["name"].as_str().unwrap_or_default().clone_into(&mut call.name);
        }
        // Signatures of other vendors' models ride here.
        if let Some(extra) = piece.get("extra_content").filter(|extra| !extra.is_null()) {
            call.extra = Some(extra.clone());
        }
        if !call.told && !call.name.is_empty() {
            call.told = true;
            events.push(TurnEvent::CallStarted { index, id: call.id.clone(), name: call.name.clone() });
        }
        let arguments = match &function["arguments"] {
            Value::String(text) => text.clone(),
            Value::Null => String::new(),
            // An object, as Ollama's own wire has it.
            whole => whole.to_string(),
        };
        if !arguments.is_empty() {
            call.arguments.push_str(&arguments);
            events.push(TurnEvent::CallArguments { index, json: arguments });
        }
    }

    /// Which call a piece belongs to; a new one, where it begins one.
    fn place(&mut self, piece: &Value) -> usize {
        let number = piece["index"].as_u64();
        let id = piece["id"].as_str().filter(|id| !id.is_empty());
        let known = match (number, id) {
            (Some(_), id) => self.numbered(number, id),
            (None, Some(id)) => self.calls.iter().position(|call| call.id.as_deref() == Some(id)),
            (None, None) if piece["function"]["name"].is_string() => None,
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
        let mut raw = ObjectText::new();
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

impl TurnInMaking for Making {
    fn plain(&mut self, data: &[u8], events: &mut Vec<TurnEvent>) -> Result<bool, ModelError> {
        Ok(self.grow(data, events))
    }

    fn feed(&mut self, data: &str, events: &mut Vec<TurnEvent>) -> Result<(), ModelError> {
        if data.trim() == "[DONE]" {
            self.over = true;
            return Ok(());
        }
        let chunk = read_json(&self.provider, data)?;
        if !chunk["error"].is_null() {
            return Err(refusal::from_error(&self.provider, 0, &chunk));
        }
        if self.id.is_empty() {
            chunk["id"].as_str().unwrap_or_default().clone_into(&mut self.id);
        }
        if chunk["usage"].is_object() {
            self.usage = read_usage(&chunk["usage"]);
            events.push(TurnEvent::Usage(self.usage));
            let cost = dollars(&chunk["usage"]["cost"]).or_else(|| billed(&chunk["usage"]));
            events.extend(cost.map(TurnEvent::Billed));
        }
        let choice = &chunk["choices"][0];
        if !choice["error"].is_null() {
            return Err(refusal::from_error(&self.provider, 0, choice));
        }
        // A server that does not stream says all in one `message`.
        let delta = if choice["delta"].is_object() { &choice["delta"] } else { &choice["message"] };
        self.delta(delta, events);
        if let Some(reason) = choice["finish_reason"].as_str().filter(|reason| !reason.is_empty())
            && self.stop.is_none()
        {
            self.stop = Some(reason.to_owned());
            events.extend((0..self.calls.len()).map(|index| TurnEvent::CallEnded { index }));
        }
        Ok(())
    }

    fn progress(&self) -> Progress {
        match (&self.stop, self.over) {
            (Some(_), true) => Progress::Over,
            (Some(_), false) => Progress::Complete,
            // `[DONE]` alone may be a proxy's, after its source was lost.
            (None, _) => Progress::Open,
        }
    }

    fn finish(&mut self) -> Result<Made, ModelError> {
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
        let calls = self.calls.iter().enumerate().map(|(index, call)| ProposedCall {
            id: Some(self.id_of(index, call)),
            name: call.name.clone(),
            arguments: calls::arguments(&call.arguments),
        });
        Ok(Made {
            calls: calls.collect(),
            raw: Some(raw),
            text: std::mem::take(&mut self.text),
            usage: self.usage,
            stop,
        })
    }
}

/// Reasoning is part of the output for most and beside it for xAI: the total tells.
fn read_usage(usage: &Value) -> Usage {
    let count = |value: &Value| value.as_u64().unwrap_or_default();
    let (input, output) = (count(&usage["prompt_tokens"]), count(&usage["completion_tokens"]));
    let thinking = count(&usage["completion_tokens_details"]["reasoning_tokens"]);
    let is_beside = usage["total_tokens"].as_u64() == Some(input + output + thinking);
    Usage {
        input,
        cached: count(&usage["prompt_tokens_details"]["cached_tokens"]),
        output: if is_beside { output } else { output.saturating_sub(thinking) },
        thinking,
        cache_write: count(&usage["prompt_tokens_details"]["cache_write_tokens"]),
    }
}

/// OpenRouter tells what it charges, in dollars.
fn dollars(cost: &Value) -> Option<Usd> {
    Usd::from_dollars(cost.as_f64()?)
}
