//! What comes from Gemini: one turn, put together from the responses of a stream.
//!
//! Pure. Nothing is finished before a `finishReason`, so no call of a cut stream can be run.

use protocol::turn::{StopReason, Usage};
use serde_json::{Map, Value, json};

use super::{PROVIDER, errors};
use crate::{ModelError, ModelErrorKind, ProposedCall, Turn, TurnEvent};

/// A turn whose end has not come yet, or has and waits to be taken.
#[derive(Debug, Default)]
pub(super) struct TurnInMaking {
    role: Option<Value>,
    /// Verbatim, in order, never merged: a signature belongs to its part.
    parts: Vec<Value>,
    text: String,
    calls: Vec<ProposedCall>,
    usage: Usage,
    end: Option<End>,
}

#[derive(Debug)]
enum End {
    Finish { reason: String, message: String },
    PromptBlocked { reason: String },
}

impl TurnInMaking {
    /// Takes the `data` of one event, a whole response, and gives what it adds to the turn.
    ///
    /// # Errors
    /// Data that is not a response, or an error in the middle of the stream.
    pub(super) fn feed(&mut self, data: &str) -> Result<Vec<TurnEvent>, ModelError> {
        let mut response: Value = serde_json::from_str(data).map_err(|error| {
            ModelError::new(ModelErrorKind::Protocol, format!("gemini sent what is not JSON: {error}"))
        })?;
        if let Some(error @ Value::Object(_)) = response.get("error") {
            let status = error["code"].as_u64().and_then(|code| u16::try_from(code).ok()).unwrap_or_default();
            return Err(errors::from_error(status, error));
        }
        if let Some(usage) = response.get("usageMetadata") {
            self.usage = read_usage(usage);
        }
        if let Some(reason) = response["promptFeedback"]["blockReason"].as_str() {
            self.end = Some(End::PromptBlocked { reason: reason.to_owned() });
        }
        // We ask for one candidate; others would be other answers, not more of this one.
        let Some(candidate) = response.get_mut("candidates").and_then(|candidates| candidates.get_mut(0))
        else {
            return Ok(Vec::new());
        };
        if let Some(reason) = candidate["finishReason"].as_str().filter(|r| *r != "FINISH_REASON_UNSPECIFIED")
        {
            let message = candidate["finishMessage"].as_str().unwrap_or_default().to_owned();
            self.end = Some(End::Finish { reason: reason.to_owned(), message });
        }
        let Some(Value::Object(content)) = candidate.get_mut("content").map(Value::take) else {
            return Ok(Vec::new());
        };
        Ok(self.content(content))
    }

    fn content(&mut self, mut content: Map<String, Value>) -> Vec<TurnEvent> {
        let mut events = Vec::new();
        self.role = self.role.take().or_else(|| content.remove("role"));
        let Some(Value::Array(parts)) = content.remove("parts") else { return events };
        for part in parts {
            let text = part["text"].as_str().unwrap_or_default();
            if !text.is_empty() && part["thought"] == true {
                events.push(TurnEvent::Thinking(text.to_owned()));
            } else if !text.is_empty() {
                self.text.push_str(text);
                events.push(TurnEvent::Text(text.to_owned()));
            }
            if let Some(call) = part.get("functionCall") {
                self.calls.push(read_call(call));
            }
            // Says nothing and signs nothing; sent back, Gemini would refuse it as empty.
            if part != json!({ "text": "" }) {
                self.parts.push(part);
            }
        }
        events
    }

    /// Whether the turn's end has come.
    pub(super) fn is_complete(&self) -> bool {
        self.end.is_some()
    }

    /// The whole turn. Calls only where it ended well.
    ///
    /// # Errors
    /// A turn without an end, or one that Gemini itself calls malformed.
    pub(super) fn finish(mut self) -> Result<TurnEvent, ModelError> {
        let stop = match self.end.take() {
            None => return Err(ModelError::cut()),
            Some(End::PromptBlocked { reason }) => StopReason::Blocked { reason },
            Some(End::Finish { reason, message }) => self.stop(reason, &message)?,
        };
        if !matches!(stop, StopReason::End | StopReason::ToolCalls) {
            // Also not in what is replayed: a call there would have to be answered.
            self.calls.clear();
            self.parts.retain(|part| part.get("functionCall").is_none());
        }
        let role = self.role.unwrap_or_else(|| "model".into());
        let raw = json!({ "parts": self.parts, "role": role });
        let turn = Turn { text: self.text, calls: self.calls, provider: PROVIDER.into(), raw };
        Ok(TurnEvent::Finished { turn, usage: self.usage, stop })
    }

    fn stop(&self, reason: String, message: &str) -> Result<StopReason, ModelError> {
        let error = |kind, what: &str| {
            let message: String = message.chars().take(200).collect();
            let colon = if message.is_empty() { "" } else { ": " };
            Err(ModelError::new(kind, format!("{what} ({reason}){colon}{message}")))
        };
        match reason.as_str() {
            "STOP" if self.calls.is_empty() => Ok(StopReason::End),
            "STOP" => Ok(StopReason::ToolCalls),
            "MAX_TOKENS" => Ok(StopReason::MaxTokens),
            "MALFORMED_FUNCTION_CALL"
            | "MALFORMED_RESPONSE"
            | "UNEXPECTED_TOOL_CALL"
            | "TOO_MANY_TOOL_CALLS" => {
                error(ModelErrorKind::Protocol, "the model wrote a call that cannot be read")
            }
            "MISSING_THOUGHT_SIGNATURE" => {
                error(ModelErrorKind::BadRequest, "gemini misses a signature in the history")
            }
            // SAFETY, RECITATION and whatever is to come: an end that is not known to be good runs nothing.
            _ => Ok(StopReason::Blocked { reason }),
        }
    }
}

fn read_call(call: &Value) -> ProposedCall {
    ProposedCall {
        id: call["id"].as_str().map(str::to_owned),
        name: call["name"].as_str().unwrap_or_default().to_owned(),
        arguments: call.get("args").cloned().unwrap_or_else(|| json!({})),
    }
}

/// Each response counts from the beginning of the turn. `promptTokenCount` has the cached ones in it already.
fn read_usage(usage: &Value) -> Usage {
    let count = |name: &str| usage[name].as_u64().unwrap_or_default();
    Usage {
        input: count("promptTokenCount"),
        cached: count("cachedContentTokenCount"),
        output: count("candidatesTokenCount"),
        thinking: count("thoughtsTokenCount"),
    }
}

#[cfg(test)]
#[path = "stream_tests.rs"]
mod tests;
