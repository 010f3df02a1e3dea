//! What comes from Anthropic: one turn, put together from blocks that come in pieces.
//!
//! Pure. Blocks go back as they came, signatures and all; what we do not know of a block is kept as it stands.

use protocol::turn::{StopReason, Usage};
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use crate::calls;
use crate::decode::{DecodedTurn, Progress, StreamDecoder, payload, protocol_error, read, reported};
use crate::json_text::{JsonObject, json_list};
use crate::lenient::Lenient;
use crate::{ModelError, ProposedCall, TurnEvent};

#[derive(Default)]
pub(crate) struct AnthropicDecoder {
    begun: bool,
    blocks: Vec<Block>,
    calls: usize,
    /// Counts of tokens from the beginning of the turn, each as it was told last.
    usage: Map<String, Value>,
    stop: Option<Stop>,
    over: bool,
}

struct Block {
    fields: Map<String, Value>,
    /// The block's JSON while no delta has changed it: what a search found goes back with its own bytes.
    verbatim: Option<String>,
    /// A call's arguments as the model wrote them. Empty if they did not come in pieces.
    input: String,
    /// Its index among the turn's calls. `None` if it is no call.
    call: Option<usize>,
    open: bool,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Event<'a> {
    #[serde(rename = "type")]
    kind: Lenient<String>,
    index: Lenient<Option<u64>>,
    #[serde(borrow)]
    message: Option<&'a RawValue>,
    #[serde(borrow)]
    content_block: Option<&'a RawValue>,
    #[serde(borrow)]
    delta: Option<&'a RawValue>,
    #[serde(borrow)]
    usage: Option<&'a RawValue>,
    #[serde(borrow)]
    error: Option<&'a RawValue>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Message {
    usage: Lenient<Map<String, Value>>,
}

/// What is added to a block.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Delta {
    #[serde(rename = "type")]
    kind: Lenient<String>,
    text: Lenient<String>,
    thinking: Lenient<String>,
    partial_json: Lenient<String>,
    signature: Value,
    citation: Value,
}

/// How the turn ended.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Stop {
    stop_reason: Lenient<Option<String>>,
    stop_details: Lenient<StopDetails>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct StopDetails {
    category: Lenient<Option<String>>,
}

impl AnthropicDecoder {
    fn start(
        &mut self,
        provider: &str,
        event: &Event<'_>,
        events: &mut Vec<TurnEvent>,
    ) -> Result<(), ModelError> {
        if event.index.0 != Some(self.blocks.len() as u64) {
            return Err(broken(provider, "sent a block out of its order"));
        }
        let fields: Option<Map<String, Value>> = payload(provider, event.content_block)?;
        let (Some(fields), Some(json)) = (fields, event.content_block) else {
            return Err(broken(provider, "sent a block that is none"));
        };
        let is_call = fields.get("type").is_some_and(|kind| kind == "tool_use");
        let call = is_call.then_some(self.calls);
        if let Some(index) = call {
            self.calls += 1;
            let (id, name) = (string(&fields, "id"), string(&fields, "name").unwrap_or_default());
            events.push(TurnEvent::CallStarted { index, id, name });
        }
        if let Some(text) = string(&fields, "text").filter(|text| !text.is_empty()) {
            events.push(TurnEvent::Text(text));
        }
        let verbatim = Some(json.get().to_owned());
        self.blocks.push(Block { fields, verbatim, input: String::new(), call, open: true });
        Ok(())
    }

    /// The block of that index, which must be open.
    fn block(&mut self, provider: &str, index: Option<u64>) -> Result<&mut Block, ModelError> {
        index
            .and_then(|index| self.blocks.get_mut(usize::try_from(index).ok()?))
            .filter(|block| block.open)
            .ok_or_else(|| broken(provider, "speaks of a block that is not open"))
    }

    /// Cached and written tokens are not part of `input_tokens`; thinking is part of `output_tokens`.
    fn usage(&self) -> Usage {
        let count = |name: &str| self.usage.get(name).and_then(Value::as_u64).unwrap_or_default();
        let cached = count("cache_read_input_tokens");
        let cache_write = count("cache_creation_input_tokens");
        let thinking = self.detail("output_tokens_details", "thinking_tokens");
        Usage {
            input: count("input_tokens") + cached + cache_write,
            cached,
            output: count("output_tokens").saturating_sub(thinking),
            thinking,
            cache_write,
        }
    }

    fn detail(&self, of: &str, name: &str) -> u64 {
        self.usage.get(of).and_then(|of| of[name].as_u64()).unwrap_or_default()
    }

    /// Takes over what is told anew. An event has only some of the counts, or null.
    fn count(&mut self, newer: Map<String, Value>) {
        self.usage.extend(newer.into_iter().filter(|(_, value)| value.is_u64() || value.is_object()));
    }
}

impl StreamDecoder for AnthropicDecoder {
    fn feed(&mut self, provider: &str, data: &str, events: &mut Vec<TurnEvent>) -> Result<(), ModelError> {
        let event: Event<'_> = read(provider, data)?;
        match event.kind.0.as_str() {
            "message_start" if self.begun => return Err(broken(provider, "began a turn twice")),
            "message_start" => {
                self.begun = true;
                let message: Message = payload(provider, event.message)?;
                self.count(message.usage.0);
            }
            "content_block_start" => self.start(provider, &event, events)?,
            "content_block_delta" => {
                let delta = payload(provider, event.delta)?;
                self.block(provider, event.index.0)?.add(delta, events);
            }
            "content_block_stop" => {
                let block = self.block(provider, event.index.0)?;
                block.open = false;
                events.extend(block.call.map(|index| TurnEvent::CallEnded { index }));
            }
            "message_delta" => {
                self.count(payload(provider, event.usage)?);
                let stop: Stop = payload(provider, event.delta)?;
                if stop.stop_reason.0.is_some() {
                    self.stop = Some(stop);
                }
                events.push(TurnEvent::Usage(self.usage()));
                if self.detail("server_tool_use", "web_search_requests") > 0 {
                    events.push(TurnEvent::Searched);
                }
            }
            "message_stop" => self.over = true,
            "error" => return Err(reported(provider, data)),
            // The body of an answer that is no stream.
            "" if event.error.is_some() => return Err(reported(provider, data)),
            // `ping`, and whatever is to come.
            _ => {}
        }
        Ok(())
    }

    fn progress(&self) -> Progress {
        let whole = self.over && self.stop.is_some() && self.blocks.iter().all(|block| !block.open);
        if whole { Progress::Over } else { Progress::Open }
    }

    fn finish(&mut self) -> Result<DecodedTurn, ModelError> {
        let stop = self.stop.take().ok_or_else(ModelError::cut)?;
        let blocks = std::mem::take(&mut self.blocks);
        let text = blocks.iter().filter(|block| block.is("text")).filter_map(|block| block.string("text"));
        let kept = || blocks.iter().filter(|block| !block.is_empty_text());
        let raw: Vec<String> = kept().map(Block::json).collect();
        // A pause that has thought only is not sent back: there is nothing to go on from.
        let is_more_than_thought =
            kept().any(|block| !block.is("thinking") && !block.is("redacted_thinking"));
        Ok(DecodedTurn {
            text: text.collect(),
            calls: blocks.iter().filter(|block| block.call.is_some()).map(Block::proposed).collect(),
            raw: is_more_than_thought.then(|| json_list(&raw)),
            usage: self.usage(),
            stop: stop.reason(),
        })
    }
}

fn broken(provider: &str, what: &str) -> ModelError {
    protocol_error(format!("{provider} {what}"))
}

impl Block {
    fn add(&mut self, delta: Delta, events: &mut Vec<TurnEvent>) {
        self.verbatim = None;
        match delta.kind.0.as_str() {
            "text_delta" => events.extend(self.append("text", delta.text.0).map(TurnEvent::Text)),
            "thinking_delta" => {
                events.extend(self.append("thinking", delta.thinking.0).map(TurnEvent::Thinking));
            }
            "input_json_delta" => {
                let json = delta.partial_json.0;
                self.input.push_str(&json);
                if let (Some(index), false) = (self.call, json.is_empty()) {
                    events.push(TurnEvent::CallArguments { index, json });
                }
            }
            "signature_delta" => drop(self.fields.insert("signature".into(), delta.signature)),
            "citations_delta" => {
                let source = delta.citation;
                let string = |name: &str| source[name].as_str().map(str::to_owned);
                if let Some(url) = string("url") {
                    let title = string("title").unwrap_or_default();
                    events.push(TurnEvent::Citation { url, title });
                }
                match self.fields.get_mut("citations") {
                    Some(Value::Array(citations)) => citations.push(source),
                    _ => drop(self.fields.insert("citations".into(), json!([source]))),
                }
            }
            _ => {}
        }
    }

    /// Adds to a field of text. `None` if there is nothing to add.
    fn append(&mut self, name: &str, piece: String) -> Option<String> {
        match self.fields.get_mut(name) {
            _ if piece.is_empty() => return None,
            Some(Value::String(text)) => text.push_str(&piece),
            _ => drop(self.fields.insert(name.to_owned(), piece.as_str().into())),
        }
        Some(piece)
    }

    fn is(&self, kind: &str) -> bool {
        self.fields.get("type").is_some_and(|value| value == kind)
    }

    fn string(&self, name: &str) -> Option<String> {
        string(&self.fields, name)
    }

    /// Sent back, it would be refused.
    fn is_empty_text(&self) -> bool {
        self.is("text") && self.string("text").is_none_or(|text| text.is_empty())
    }

    fn proposed(&self) -> ProposedCall {
        let arguments = match (self.input.trim().is_empty(), self.fields.get("input")) {
            (true, Some(input)) => input.clone(),
            _ => calls::arguments(&self.input),
        };
        ProposedCall::new(self.string("id"), self.string("name").unwrap_or_default(), arguments)
    }

    /// The block with its input as the model wrote it. Input that is no object is put into one, or it would be refused.
    fn json(&self) -> String {
        if let Some(verbatim) = &self.verbatim {
            return verbatim.clone();
        }
        let mut object = JsonObject::new();
        for (name, value) in &self.fields {
            if name != "input" || self.input.trim().is_empty() {
                object.field(name, value);
            } else if calls::arguments(&self.input).is_object() {
                object.verbatim(name, &self.input);
            } else {
                object.field(name, &json!({ "INVALID_JSON": self.input }));
            }
        }
        object.finish()
    }
}

fn string(fields: &Map<String, Value>, name: &str) -> Option<String> {
    fields.get(name).and_then(Value::as_str).map(str::to_owned)
}

impl Stop {
    fn reason(self) -> StopReason {
        let reason = self.stop_reason.0.unwrap_or_default();
        match reason.as_str() {
            "end_turn" | "stop_sequence" => StopReason::End,
            "tool_use" => StopReason::ToolCalls,
            "max_tokens" => StopReason::MaxTokens,
            "pause_turn" => StopReason::Paused,
            "refusal" => StopReason::Refused {
                category: self.stop_details.0.category.0.unwrap_or_else(|| "unspecified".into()),
            },
            "model_context_window_exceeded" => StopReason::ContextFull,
            // An end that is not known to be good runs nothing.
            _ => StopReason::Blocked { reason },
        }
    }
}
