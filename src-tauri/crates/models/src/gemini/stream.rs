//! What comes from Gemini: one turn, put together from the responses of a stream.
//!
//! Pure. Nothing is finished before a `finishReason`, so no call of a cut stream can be run.

use protocol::turn::{StopReason, Usage};
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::Value;
use serde_json::value::RawValue;

use super::interactions::Interaction;
use crate::decode::{DecodedTurn, Progress, StreamDecoder, read, reported};
use crate::json_text::{JsonObject, json_list};
use crate::lenient::{Lenient, Source};
use crate::{ModelError, ModelErrorKind, ProposedCall, TurnEvent, calls};

#[derive(Default)]
pub(crate) struct GeminiDecoder {
    role: Option<String>,
    /// As they came, in order, never merged: a signature belongs to its part.
    parts: Vec<String>,
    calls: Vec<ProposedCall>,
    text: String,
    usage: Usage,
    /// `None` before the end.
    end: Option<End>,
    /// Reads the stream in place of this if its events are the newer API's.
    interaction: Option<Interaction>,
}

#[derive(Clone, Debug)]
enum End {
    Finish { reason: String, message: String },
    PromptBlocked { reason: String },
}

/// The data of one event.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Response<'a> {
    #[serde(rename = "event_type")]
    event_type: Option<IgnoredAny>,
    error: Option<IgnoredAny>,
    usage_metadata: Lenient<Option<Counts>>,
    prompt_feedback: Lenient<Feedback>,
    /// One: we ask for no more.
    #[serde(borrow)]
    candidates: Lenient<Vec<Candidate<'a>>>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Feedback {
    block_reason: Lenient<Option<String>>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Candidate<'a> {
    finish_reason: Lenient<String>,
    finish_message: Lenient<String>,
    grounding_metadata: Lenient<Grounding>,
    #[serde(borrow)]
    content: Lenient<Content<'a>>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Grounding {
    web_search_queries: Lenient<Vec<IgnoredAny>>,
    grounding_chunks: Lenient<Vec<GroundingChunk>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct GroundingChunk {
    web: Lenient<Source>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Content<'a> {
    role: Lenient<Option<String>>,
    #[serde(borrow)]
    parts: Lenient<Vec<&'a RawValue>>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Part {
    text: Lenient<String>,
    thought: Lenient<bool>,
    function_call: Lenient<Option<Call>>,
}

/// A part that has a text and nothing else.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TextAlone {
    #[serde(rename = "text")]
    _text: IgnoredAny,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Call {
    id: Lenient<Option<String>>,
    name: Lenient<String>,
    args: Option<Value>,
}

/// Each response counts from the beginning of the turn.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Counts {
    /// The cached ones among them.
    prompt_token_count: Lenient<u64>,
    cached_content_token_count: Lenient<u64>,
    candidates_token_count: Lenient<u64>,
    thoughts_token_count: Lenient<u64>,
}

impl GeminiDecoder {
    fn candidate(
        &mut self,
        provider: &str,
        candidate: Candidate<'_>,
        events: &mut Vec<TurnEvent>,
    ) -> Result<(), ModelError> {
        let Candidate { finish_reason: Lenient(reason), finish_message: Lenient(message), .. } = candidate;
        if !matches!(reason.as_str(), "" | "FINISH_REASON_UNSPECIFIED") {
            self.end = Some(End::Finish { reason, message });
        }
        let Lenient(Grounding { web_search_queries, grounding_chunks }) = candidate.grounding_metadata;
        if !web_search_queries.0.is_empty() {
            events.push(TurnEvent::Searched);
        }
        events.extend(grounding_chunks.0.into_iter().filter_map(|chunk| chunk.web.0.citation()));
        let Lenient(Content { role, parts }) = candidate.content;
        self.role = self.role.take().or(role.0);
        parts.0.into_iter().map(RawValue::get).try_for_each(|json| self.part(provider, json, events))
    }

    fn part(&mut self, provider: &str, json: &str, events: &mut Vec<TurnEvent>) -> Result<(), ModelError> {
        let Part { text: Lenient(text), thought, function_call } = read(provider, json)?;
        let is_empty = text.is_empty() && serde_json::from_str::<TextAlone>(json).is_ok();
        if !text.is_empty() && thought.0 {
            events.push(TurnEvent::Thinking(text));
        } else if !text.is_empty() {
            self.text.push_str(&text);
            events.push(TurnEvent::Text(text));
        }
        if let Some(call) = function_call.0 {
            let arguments = call.args.unwrap_or_else(|| calls::arguments(""));
            let call = ProposedCall::new(call.id.0, call.name.0, arguments);
            // A response that came twice must not be done twice.
            if call.id.is_some() && self.calls.contains(&call) {
                return Ok(());
            }
            calls::whole(self.calls.len(), &call, events);
            self.calls.push(call);
        }
        // An empty one says nothing and signs nothing; sent back, Gemini would refuse it.
        if !is_empty {
            self.parts.push(json.to_owned());
        }
        Ok(())
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

impl StreamDecoder for GeminiDecoder {
    fn feed(&mut self, provider: &str, data: &str, events: &mut Vec<TurnEvent>) -> Result<(), ModelError> {
        // The end mark of the newer API.
        if data.trim() == "[DONE]" {
            return Ok(());
        }
        let response: Response<'_> = read(provider, data)?;
        if response.event_type.is_some() {
            return self.interaction.get_or_insert_default().feed(provider, data, events);
        }
        if response.error.is_some() {
            return Err(reported(provider, data));
        }
        if let Some(counts) = response.usage_metadata.0 {
            self.usage = counts.into();
            events.push(TurnEvent::Usage(self.usage));
        }
        if let Some(reason) = response.prompt_feedback.0.block_reason.0 {
            self.end = Some(End::PromptBlocked { reason });
        }
        match response.candidates.0.into_iter().next() {
            Some(candidate) => self.candidate(provider, candidate, events),
            None => Ok(()),
        }
    }

    fn progress(&self) -> Progress {
        match (&self.interaction, &self.end) {
            (Some(interaction), _) => interaction.progress(),
            (None, Some(_)) => Progress::Complete,
            (None, None) => Progress::Open,
        }
    }

    fn finish(&mut self) -> Result<DecodedTurn, ModelError> {
        if let Some(interaction) = &mut self.interaction {
            return interaction.finish();
        }
        let stop = match self.end.take() {
            None => return Err(ModelError::cut()),
            Some(End::PromptBlocked { reason }) => StopReason::Blocked { reason },
            Some(End::Finish { reason, message }) => self.stop(reason, &message)?,
        };
        let mut raw = JsonObject::new();
        raw.verbatim("parts", &json_list(&self.parts));
        raw.field("role", self.role.as_deref().unwrap_or("model"));
        Ok(DecodedTurn {
            text: std::mem::take(&mut self.text),
            calls: std::mem::take(&mut self.calls),
            raw: Some(raw.finish()),
            usage: self.usage,
            stop,
        })
    }
}

impl From<Counts> for Usage {
    fn from(counts: Counts) -> Self {
        Self {
            input: counts.prompt_token_count.0,
            cached: counts.cached_content_token_count.0,
            output: counts.candidates_token_count.0,
            thinking: counts.thoughts_token_count.0,
            cache_write: 0,
        }
    }
}

#[cfg(test)]
mod tests;
