//! What comes from Gemini: one turn, put together from the responses of a stream.
//!
//! Pure. Nothing is finished before a `finishReason`, so no call of a cut stream can be run.

use std::borrow::Cow;

use protocol::turn::{StopReason, Usage};
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::hot::{Counts, Responses};
use super::interactions::Interaction;
use crate::decode::{Made, Progress, TurnInMaking, citation, json as read_json, taken};
use crate::forms::Forms;
use crate::text::{ListText, ObjectText};
use crate::{ModelError, ModelErrorKind, ProposedCall, TurnEvent, calls, refusal};

/// A turn whose end has not come yet, or has and waits to be taken.
pub(crate) struct Making {
    provider: String,
    forms: Forms<Responses>,
    role: Option<Value>,
    /// As they came, in order, never merged: a signature belongs to its part.
    parts: ListText,
    calls: Vec<ProposedCall>,
    text: String,
    usage: Usage,
    end: Option<End>,
    /// The newer API, where its events come instead.
    interaction: Option<Interaction>,
}

#[derive(Clone, Debug)]
enum End {
    Finish { reason: String, message: String },
    PromptBlocked { reason: String },
}

/// The parts of a response as they stand in it.
#[derive(Deserialize)]
struct Verbatim<'a> {
    #[serde(borrow)]
    candidates: Vec<VerbatimCandidate<'a>>,
}

#[derive(Deserialize)]
struct VerbatimCandidate<'a> {
    #[serde(borrow)]
    content: VerbatimContent<'a>,
}

#[derive(Deserialize)]
struct VerbatimContent<'a> {
    #[serde(borrow)]
    parts: Vec<&'a RawValue>,
}

impl Making {
    pub(super) fn new(provider: &str) -> Self {
        Self {
            provider: provider.to_owned(),
            forms: Forms::new(),
            role: None,
            parts: ListText::new(),
            calls: Vec::new(),
            text: String::new(),
            usage: Usage::default(),
            end: None,
            interaction: None,
        }
    }

    fn say(&mut self, text: String, is_thought: bool, events: &mut Vec<TurnEvent>) {
        if is_thought {
            events.push(TurnEvent::Thinking(text));
        } else {
            self.text.push_str(&text);
            events.push(TurnEvent::Text(text));
        }
    }

    fn part(&mut self, part: &Value, json: &str, events: &mut Vec<TurnEvent>) {
        let text = part["text"].as_str().unwrap_or_default();
        if !text.is_empty() {
            self.say(text.to_owned(), part["thought"] == true, events);
        }
        let call = part.get("functionCall").map(read_call);
        if let Some(call) = &call {
            // A response that came twice must not be done twice.
            if call.id.is_some() && self.calls.contains(call) {
                return;
            }
            calls::whole(self.calls.len(), call, events);
        }
        self.calls.extend(call);
        // Says nothing and signs nothing; sent back, Gemini would refuse it as empty.
        let is_empty = text.is_empty()
            && part.as_object().is_some_and(|fields| fields.len() == 1 && fields.contains_key("text"));
        if !is_empty {
            self.parts.push(json);
        }
    }

    fn stop(&self, reason: String, message: &str) -> Result<StopReason, ModelError> {
        let error = |kind, what: &str| {
            let message: String = message.chars().take(200).collect();
            let colon = if message.is_empty() { "" } else { ": " };
            Err(ModelError::new(kind, format!("{what} ({reason}){colon}{message}")))
        };
        match reason.as_str() {
            "STOP" => Ok(StopReason::End),
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

impl TurnInMaking for Making {
    fn plain(&mut self, data: &[u8], events: &mut Vec<TurnEvent>) -> Result<bool, ModelError> {
        let Some(said) = self.forms.read(data) else { return Ok(false) };
        if let Some(usage) = said.usage {
            self.usage = usage;
            events.push(TurnEvent::Usage(usage));
        }
        if let (None, Some(role)) = (&self.role, said.role) {
            self.role = Some(role.0.into());
        }
        self.say(said.text, said.is_thought, events);
        self.parts.push(said.json);
        Ok(true)
    }

    /// The data of one event is a whole response.
    fn feed(&mut self, data: &str, events: &mut Vec<TurnEvent>) -> Result<(), ModelError> {
        // The end mark of the newer API.
        if data.trim() == "[DONE]" {
            return Ok(());
        }
        let mut response = read_json(&self.provider, data)?;
        if response.get("event_type").is_some() {
            let provider = &self.provider;
            return self
                .interaction
                .get_or_insert_with(|| Interaction::new(provider))
                .feed(&response, events);
        }
        if !response["error"].is_null() {
            return Err(refusal::from_error(&self.provider, 0, &response));
        }
        if let Ok(counts) = Counts::deserialize(&response["usageMetadata"]) {
            self.usage = counts.into();
            events.push(TurnEvent::Usage(self.usage));
        }
        if let Some(reason) = response["promptFeedback"]["blockReason"].as_str() {
            self.end = Some(End::PromptBlocked { reason: reason.to_owned() });
        }
        // We ask for one candidate; others would be other answers, not more of this one.
        let mut candidates = taken(&mut response, "candidates");
        let mut candidate = candidates.get_mut(0).map(Value::take).unwrap_or_default();
        let reason = candidate["finishReason"].as_str().unwrap_or_default();
        if !matches!(reason, "" | "FINISH_REASON_UNSPECIFIED") {
            let message = candidate["finishMessage"].as_str().unwrap_or_default().to_owned();
            self.end = Some(End::Finish { reason: reason.to_owned(), message });
        }
        sources(&candidate, events);
        let mut content = taken(&mut candidate, "content");
        if self.role.is_none() && content["role"].is_string() {
            self.role = Some(taken(&mut content, "role"));
        }
        let parts = match taken(&mut content, "parts") {
            Value::Array(parts) => parts,
            _ => Vec::new(),
        };
        let verbatim = serde_json::from_str::<Verbatim<'_>>(data).ok();
        let verbatim = verbatim.and_then(|all| all.candidates.into_iter().next());
        let verbatim = verbatim.map_or(Vec::new(), |candidate| candidate.content.parts);
        for (at, part) in parts.iter().enumerate() {
            let json =
                verbatim.get(at).map_or_else(|| part.to_string().into(), |raw| Cow::Borrowed(raw.get()));
            self.part(part, &json, events);
        }
        Ok(())
    }

    fn progress(&self) -> Progress {
        match (&self.interaction, &self.end) {
            (Some(interaction), _) => interaction.progress(),
            (None, Some(_)) => Progress::Complete,
            (None, None) => Progress::Open,
        }
    }

    fn finish(&mut self) -> Result<Made, ModelError> {
        if let Some(interaction) = &mut self.interaction {
            return interaction.finish();
        }
        let stop = match self.end.take() {
            None => return Err(ModelError::cut()),
            Some(End::PromptBlocked { reason }) => StopReason::Blocked { reason },
            Some(End::Finish { reason, message }) => self.stop(reason, &message)?,
        };
        let mut raw = ObjectText::new();
        raw.verbatim("parts", &std::mem::replace(&mut self.parts, ListText::new()).finish());
        raw.field("role", &self.role.take().unwrap_or_else(|| "model".into()));
        Ok(Made {
            text: std::mem::take(&mut self.text),
            calls: std::mem::take(&mut self.calls),
            raw: Some(raw.finish()),
            usage: self.usage,
            stop,
        })
    }
}

/// Whether there was a search, and what it found that the answer rests on.
fn sources(candidate: &Value, events: &mut Vec<TurnEvent>) {
    let queries = candidate["groundingMetadata"]["webSearchQueries"].as_array();
    if queries.is_some_and(|queries| !queries.is_empty()) {
        events.push(TurnEvent::Searched);
    }
    let chunks = candidate["groundingMetadata"]["groundingChunks"].as_array();
    events.extend(chunks.into_iter().flatten().filter_map(|chunk| citation(&chunk["web"])));
}

fn read_call(call: &Value) -> ProposedCall {
    ProposedCall {
        id: call["id"].as_str().map(str::to_owned),
        name: call["name"].as_str().unwrap_or_default().to_owned(),
        arguments: call.get("args").cloned().unwrap_or_else(|| calls::arguments("")),
    }
}

#[cfg(test)]
#[path = "stream_tests.rs"]
mod tests;
