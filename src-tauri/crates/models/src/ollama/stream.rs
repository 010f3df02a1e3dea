//! What comes from Ollama: one turn, put together from messages that each are whole JSON.
//!
//! Pure. Calls come whole; ids are rare, and answers name the tool instead.

use protocol::turn::{StopReason, Usage};
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::hot::Messages;
use crate::decode::{Made, Progress, TurnInMaking, json as read_json};
use crate::forms::Forms;
use crate::text::{ObjectText, list};
use crate::{ModelError, ProposedCall, TurnEvent, calls, refusal};

pub(crate) struct Making {
    provider: String,
    forms: Forms<Messages>,
    /// Lines of a value that goes over several, as an error's body does.
    lines: String,
    text: String,
    thinking: String,
    calls: Vec<Call>,
    usage: Usage,
    stop: Option<String>,
}

struct Call {
    json: String,
    proposed: ProposedCall,
}

#[derive(Deserialize)]
struct Verbatim<'a> {
    #[serde(borrow)]
    message: VerbatimMessage<'a>,
}

#[derive(Deserialize)]
struct VerbatimMessage<'a> {
    #[serde(borrow)]
    tool_calls: Vec<&'a RawValue>,
}

impl Making {
    pub(super) fn new(provider: &str) -> Self {
        Self {
            provider: provider.to_owned(),
            forms: Forms::new(),
            lines: String::new(),
            text: String::new(),
            thinking: String::new(),
            calls: Vec::new(),
            usage: Usage::default(),
            stop: None,
        }
    }

    fn say(&mut self, thinking: Option<String>, text: Option<String>, events: &mut Vec<TurnEvent>) {
        if let Some(thought) = thinking {
            self.thinking.push_str(&thought);
            events.push(TurnEvent::Thinking(thought));
        }
        if let Some(text) = text {
            self.text.push_str(&text);
            events.push(TurnEvent::Text(text));
        }
    }

    fn message(&mut self, value: &Value, data: &str, events: &mut Vec<TurnEvent>) {
        let message = &value["message"];
        let said = |name: &str| message[name].as_str().filter(|text| !text.is_empty()).map(str::to_owned);
        self.say(said("thinking"), said("content"), events);
        let Some(made) = message["tool_calls"].as_array() else { return };
        let verbatim = serde_json::from_str::<Verbatim<'_>>(data);
        let verbatim = verbatim.map_or(Vec::new(), |value| value.message.tool_calls);
        for (at, call) in made.iter().enumerate().filter(|(_, call)| call.is_object()) {
            let json = verbatim.get(at).map_or_else(|| call.to_string(), |raw| raw.get().to_owned());
            let proposed = ProposedCall {
                id: call["id"].as_str().filter(|id| !id.is_empty()).map(str::to_owned),
                name: call["function"]["name"].as_str().unwrap_or_default().to_owned(),
                arguments: match &call["function"]["arguments"] {
                    Value::String(text) => calls::arguments(text),
                    Value::Null => calls::arguments(""),
                    object => object.clone(),
                },
            };
            calls::whole(self.calls.len(), &proposed, events);
            self.calls.push(Call { json, proposed });
        }
    }
}

impl TurnInMaking for Making {
    fn plain(&mut self, data: &[u8], events: &mut Vec<TurnEvent>) -> Result<bool, ModelError> {
        let said = if self.lines.is_empty() { self.forms.read(data) } else { None };
        let Some(said) = said else { return Ok(false) };
        self.say(said.thinking, said.text, events);
        Ok(true)
    }

    fn feed(&mut self, data: &str, events: &mut Vec<TurnEvent>) -> Result<(), ModelError> {
        self.lines.push_str(data);
        let value = match serde_json::from_str::<Value>(&self.lines) {
            Err(error) if error.is_eof() => {
                self.lines.push('\n');
                return Ok(());
            }
            _ => read_json(&self.provider, &self.lines)?,
        };
        let data = std::mem::take(&mut self.lines);
        if !value["error"].is_null() {
            return Err(refusal::from_error(&self.provider, 0, &value));
        }
        self.message(&value, &data, events);
        if value["done"] == true {
            let count = |name: &str| value[name].as_u64().unwrap_or_default();
            // Thinking is not told apart.
            self.usage =
                Usage { input: count("prompt_eval_count"), output: count("eval_count"), ..Usage::default() };
            events.push(TurnEvent::Usage(self.usage));
            self.stop = Some(value["done_reason"].as_str().unwrap_or("stop").to_owned());
        }
        Ok(())
    }

    fn progress(&self) -> Progress {
        if self.stop.is_some() { Progress::Over } else { Progress::Open }
    }

    fn finish(&mut self) -> Result<Made, ModelError> {
        let reason = self.stop.take().ok_or_else(ModelError::cut)?;
        let stop = match reason.as_str() {
            "stop" => StopReason::End,
            "length" => StopReason::MaxTokens,
            // `load` and `unload` answer no question.
            _ => StopReason::Blocked { reason },
        };
        let mut raw = ObjectText::new();
        raw.field("role", "assistant");
        raw.field("content", &self.text);
        if !self.thinking.is_empty() {
            raw.field("thinking", &self.thinking);
        }
        if !self.calls.is_empty() {
            let calls: Vec<String> = self.calls.iter().map(|call| call.json.clone()).collect();
            raw.verbatim("tool_calls", &list(&calls));
        }
        Ok(Made {
            raw: Some(raw.finish()),
            text: std::mem::take(&mut self.text),
            calls: std::mem::take(&mut self.calls).into_iter().map(|call| call.proposed).collect(),
            usage: self.usage,
            stop,
        })
    }
}
