//! What comes from Ollama: one turn, put together from messages that each are whole JSON.
//!
//! Pure. Calls come whole; ids are rare, and answers name the tool instead.

use protocol::turn::{StopReason, Usage};
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::decode::{DecodedTurn, Progress, StreamDecoder, read, reported};
use crate::json_text::{JsonObject, json_list};
use crate::lenient::Lenient;
use crate::{ModelError, ProposedCall, TurnEvent, calls};

#[derive(Default)]
pub(crate) struct OllamaDecoder {
    /// The beginning of a value that goes over several lines, as an error's body does.
    unfinished: String,
    text: String,
    thinking: String,
    calls: Vec<ProposedCall>,
    /// The same calls as they came.
    raw_calls: Vec<String>,
    usage: Usage,
    stop: Option<String>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Line<'a> {
    #[serde(borrow)]
    error: Option<&'a RawValue>,
    #[serde(borrow)]
    message: Lenient<Message<'a>>,
    done: Lenient<bool>,
    done_reason: Lenient<Option<String>>,
    prompt_eval_count: Lenient<u64>,
    eval_count: Lenient<u64>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Message<'a> {
    thinking: Lenient<String>,
    content: Lenient<String>,
    #[serde(borrow)]
    tool_calls: Lenient<Vec<&'a RawValue>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct ToolCall {
    id: Lenient<String>,
    function: Lenient<Function>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Function {
    name: Lenient<String>,
    arguments: Value,
}

impl OllamaDecoder {
    fn message(
        &mut self,
        provider: &str,
        message: Message<'_>,
        events: &mut Vec<TurnEvent>,
    ) -> Result<(), ModelError> {
        let Message { thinking: Lenient(thinking), content: Lenient(text), tool_calls } = message;
        if !thinking.is_empty() {
            self.thinking.push_str(&thinking);
            events.push(TurnEvent::Thinking(thinking));
        }
        if !text.is_empty() {
            self.text.push_str(&text);
            events.push(TurnEvent::Text(text));
        }
        for json in tool_calls.0.into_iter().map(RawValue::get).filter(|json| json.starts_with('{')) {
            let ToolCall { id, function: Lenient(function) } = read(provider, json)?;
            let arguments = match function.arguments {
                Value::String(text) => calls::arguments(&text),
                Value::Null => calls::arguments(""),
                object => object,
            };
            let id = Some(id.0).filter(|id| !id.is_empty());
            let call = ProposedCall::new(id, function.name.0, arguments);
            calls::whole(self.calls.len(), &call, events);
            self.calls.push(call);
            self.raw_calls.push(json.to_owned());
        }
        Ok(())
    }
}

impl StreamDecoder for OllamaDecoder {
    fn feed(&mut self, provider: &str, data: &str, events: &mut Vec<TurnEvent>) -> Result<(), ModelError> {
        let data = std::mem::take(&mut self.unfinished) + data;
        if serde_json::from_str::<IgnoredAny>(&data).is_err_and(|error| error.is_eof()) {
            self.unfinished = data + "\n";
            return Ok(());
        }
        let line: Line<'_> = read(provider, &data)?;
        if line.error.is_some() {
            return Err(reported(provider, &data));
        }
        self.message(provider, line.message.0, events)?;
        if line.done.0 {
            let (input, output) = (line.prompt_eval_count.0, line.eval_count.0);
            // Thinking is not counted apart.
            self.usage = Usage { input, output, ..Usage::default() };
            events.push(TurnEvent::Usage(self.usage));
            self.stop = Some(line.done_reason.0.unwrap_or_else(|| "stop".into()));
        }
        Ok(())
    }

    fn progress(&self) -> Progress {
        if self.stop.is_some() { Progress::Over } else { Progress::Open }
    }

    fn finish(&mut self) -> Result<DecodedTurn, ModelError> {
        let reason = self.stop.take().ok_or_else(ModelError::cut)?;
        let stop = match reason.as_str() {
            "stop" => StopReason::End,
            "length" => StopReason::MaxTokens,
            // `load` and `unload` answer no question.
            _ => StopReason::Blocked { reason },
        };
        let mut raw = JsonObject::new();
        raw.field("role", "assistant");
        raw.field("content", &self.text);
        if !self.thinking.is_empty() {
            raw.field("thinking", &self.thinking);
        }
        if !self.raw_calls.is_empty() {
            raw.verbatim("tool_calls", &json_list(&self.raw_calls));
        }
        Ok(DecodedTurn {
            raw: Some(raw.finish()),
            text: std::mem::take(&mut self.text),
            calls: std::mem::take(&mut self.calls),
            usage: self.usage,
            stop,
        })
    }
}
