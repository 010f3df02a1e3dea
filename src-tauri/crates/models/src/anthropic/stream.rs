//! What comes from Anthropic: one turn, put together from blocks that come in pieces.
//!
//! Pure. Blocks go back as they came, signatures and all; what we do not know of a block is kept as it stands.

use std::borrow::Cow;

use protocol::turn::{StopReason, Usage};
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use super::hot::{Piece, Pieces};
use crate::calls;
use crate::decode::{Made, Progress, TurnInMaking, citation, json as read_json, protocol_error, taken};
use crate::forms::Forms;
use crate::text::{ObjectText, list};
use crate::{ModelError, ProposedCall, TurnEvent, refusal};

pub(crate) struct Making {
    provider: String,
    forms: Forms<Pieces>,
    begun: bool,
    blocks: Vec<Block>,
    calls: usize,
    /// Counts by name, the newest of each: they are told in parts, from the beginning of the turn.
    counts: Map<String, Value>,
    stop: Option<(String, Value)>,
    over: bool,
}

struct Block {
    fields: Map<String, Value>,
    /// As it came, while nothing was added to it: what a search found goes back with its own bytes.
    whole: Option<String>,
    /// The input as the model wrote it, where it came in pieces.
    input: String,
    /// Text that was added, and to which field: put there when it is all.
    added: (&'static str, String),
    /// Which call of the turn it is.
    call: Option<usize>,
    open: bool,
}

#[derive(Deserialize)]
struct Verbatim<'a> {
    #[serde(borrow)]
    content_block: &'a RawValue,
}

impl Making {
    pub(super) fn new(provider: &str) -> Self {
        Self {
            provider: provider.to_owned(),
            forms: Forms::new(),
            begun: false,
            blocks: Vec::new(),
            calls: 0,
            counts: Map::new(),
            stop: None,
            over: false,
        }
    }

    fn broken(&self, what: &str) -> ModelError {
        protocol_error(format!("{} {what}", self.provider))
    }

    fn start(&mut self, data: &str, mut event: Value, events: &mut Vec<TurnEvent>) -> Result<(), ModelError> {
        if event["index"].as_u64() != Some(self.blocks.len() as u64) {
            return Err(self.broken("sent a block out of its order"));
        }
        let Value::Object(fields) = taken(&mut event, "content_block") else {
            return Err(self.broken("sent a block that is none"));
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
        let whole = serde_json::from_str::<Verbatim<'_>>(data).ok();
        let whole = whole.map(|verbatim| verbatim.content_block.get().to_owned());
        self.blocks.push(Block {
            fields,
            whole,
            input: String::new(),
            added: Default::default(),
            call,
            open: true,
        });
        Ok(())
    }

    /// The block that an event speaks of, while it is open.
    fn block(&mut self, index: Option<u64>) -> Result<&mut Block, ModelError> {
        let index = index.and_then(|index| usize::try_from(index).ok());
        let (blocks, provider) = (&mut self.blocks, &self.provider);
        index
            .and_then(|index| blocks.get_mut(index))
            .filter(|block| block.open)
            .ok_or_else(|| protocol_error(format!("{provider} speaks of a block that is not open")))
    }

    fn finish_message(&mut self, event: &mut Value) {
        self.count(&event["usage"]);
        let mut delta = taken(event, "delta");
        if let Some(reason) = delta["stop_reason"].as_str().map(str::to_owned) {
            self.stop = Some((reason, taken(&mut delta, "stop_details")));
        }
    }

    fn count(&mut self, usage: &Value) {
        let told = usage.as_object().into_iter().flatten().filter(|(_, count)| !count.is_null());
        self.counts.extend(told.map(|(name, count)| (name.clone(), count.clone())));
    }

    /// Cached and written tokens are told apart from `input_tokens`; thinking is part of `output_tokens`.
    fn usage(&self) -> Usage {
        let count = |name: &str| self.counts.get(name).and_then(Value::as_u64).unwrap_or_default();
        let (cached, cache_write) = (count("cache_read_input_tokens"), count("cache_creation_input_tokens"));
        let details = self.counts.get("output_tokens_details");
        let thinking = details.and_then(|details| details["thinking_tokens"].as_u64()).unwrap_or_default();
        Usage {
            input: count("input_tokens") + cached + cache_write,
            cached,
            output: count("output_tokens").saturating_sub(thinking),
            thinking,
            cache_write,
        }
    }
}

impl TurnInMaking for Making {
    fn plain(&mut self, data: &[u8], events: &mut Vec<TurnEvent>) -> Result<bool, ModelError> {
        let Some((index, piece)) = self.forms.read(data) else { return Ok(false) };
        self.block(Some(index))?.grow(piece, events);
        Ok(true)
    }

    fn feed(&mut self, data: &str, events: &mut Vec<TurnEvent>) -> Result<(), ModelError> {
        let mut event = read_json(&self.provider, data)?;
        let kind = event["type"].as_str().unwrap_or_default().to_owned();
        match kind.as_str() {
            "message_start" if self.begun => return Err(self.broken("began a turn twice")),
            "message_start" => {
                self.begun = true;
                self.count(&event["message"]["usage"]);
            }
            "content_block_start" => self.start(data, event, events)?,
            "content_block_delta" => {
                let delta = taken(&mut event, "delta");
                self.block(event["index"].as_u64())?.add(delta, events);
            }
            "content_block_stop" => {
                let block = self.block(event["index"].as_u64())?;
                block.open = false;
                block.settle();
                events.extend(block.call.map(|index| TurnEvent::CallEnded { index }));
            }
            "message_delta" => {
                self.finish_message(&mut event);
                events.push(TurnEvent::Usage(self.usage()));
                let tools = self.counts.get("server_tool_use");
                let searches = tools.and_then(|tools| tools["web_search_requests"].as_u64());
                events.extend(searches.filter(|searches| *searches > 0).map(|_| TurnEvent::Searched));
            }
            "message_stop" => self.over = true,
            "error" => return Err(refusal::from_error(&self.provider, 0, &event)),
            // The body of an answer that is no stream.
            "" if event.get("error").is_some() => {
                return Err(refusal::from_error(&self.provider, 0, &event));
            }
            // `ping`, and whatever is to come.
            _ => {}
        }
        Ok(())
    }

    fn progress(&self) -> Progress {
        let whole = self.over && self.stop.is_some() && self.blocks.iter().all(|block| !block.open);
        if whole { Progress::Over } else { Progress::Open }
    }

    fn finish(&mut self) -> Result<Made, ModelError> {
        let (reason, details) = self.stop.take().ok_or_else(ModelError::cut)?;
        let blocks = std::mem::take(&mut self.blocks);
        let text = blocks.iter().filter(|block| block.is("text")).filter_map(|block| block.string("text"));
        let told = || blocks.iter().filter(|block| !block.is_empty_text());
        let raw: Vec<String> = told().map(Block::json).collect();
        // Also of a pause only what there is to go on from.
        let is_more_than_thought =
            told().any(|block| !block.is("thinking") && !block.is("redacted_thinking"));
        Ok(Made {
            text: text.collect(),
            calls: blocks.iter().filter(|block| block.call.is_some()).map(Block::proposed).collect(),
            raw: is_more_than_thought.then(|| list(&raw)),
            usage: self.usage(),
            stop: stop_reason(reason, &details),
        })
    }
}

impl Block {
    /// What is no plain piece, or one in another form.
    fn add(&mut self, mut delta: Value, events: &mut Vec<TurnEvent>) {
        self.whole = None;
        self.settle();
        let said = |name: &str| delta[name].as_str().map(|text| Cow::Owned(text.to_owned()));
        let piece = match delta["type"].as_str().unwrap_or_default() {
            "text_delta" => said("text").map(Piece::Text),
            "thinking_delta" => said("thinking").map(Piece::Thinking),
            "input_json_delta" => said("partial_json").map(Piece::Input),
            _ => None,
        };
        if let Some(piece) = piece {
            return self.grow(piece, events);
        }
        match delta["type"].as_str().unwrap_or_default() {
            "signature_delta" => {
                self.fields.insert("signature".into(), taken(&mut delta, "signature"));
            }
            "citations_delta" => {
                let source = taken(&mut delta, "citation");
                events.extend(citation(&source));
                match self.fields.get_mut("citations") {
                    Some(Value::Array(citations)) => citations.push(source),
                    _ => drop(self.fields.insert("citations".into(), json!([source]))),
                }
            }
            _ => {}
        }
    }

    fn grow(&mut self, piece: Piece<'_>, events: &mut Vec<TurnEvent>) {
        self.whole = None;
        match piece {
            Piece::Text(text) => events.extend(self.append("text", text).map(TurnEvent::Text)),
            Piece::Thinking(text) => events.extend(self.append("thinking", text).map(TurnEvent::Thinking)),
            Piece::Input(json) => {
                self.input.push_str(&json);
                if let (Some(index), false) = (self.call, json.is_empty()) {
                    events.push(TurnEvent::CallArguments { index, json: json.into_owned() });
                }
            }
        }
    }

    /// Adds to a field of text; gives what was added, where it says anything.
    fn append(&mut self, name: &'static str, piece: Cow<'_, str>) -> Option<String> {
        if piece.is_empty() {
            return None;
        }
        if self.added.0 != name {
            self.settle();
            self.added.0 = name;
        }
        self.added.1.push_str(&piece);
        Some(piece.into_owned())
    }

    fn settle(&mut self) {
        let (name, text) = std::mem::take(&mut self.added);
        match self.fields.get_mut(name) {
            _ if text.is_empty() => {}
            Some(Value::String(before)) => before.push_str(&text),
            _ => drop(self.fields.insert(name.to_owned(), text.into())),
        }
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
        ProposedCall { id: self.string("id"), name: self.string("name").unwrap_or_default(), arguments }
    }

    /// The block with its input as it was written. What is no object may only go back inside of one.
    fn json(&self) -> String {
        if let Some(whole) = &self.whole {
            return whole.clone();
        }
        let mut object = ObjectText::new();
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

fn stop_reason(reason: String, details: &Value) -> StopReason {
    match reason.as_str() {
        "end_turn" | "stop_sequence" => StopReason::End,
        "tool_use" => StopReason::ToolCalls,
        "max_tokens" => StopReason::MaxTokens,
        "pause_turn" => StopReason::Paused,
        "refusal" => {
            StopReason::Refused { category: details["category"].as_str().unwrap_or("unspecified").to_owned() }
        }
        "model_context_window_exceeded" => StopReason::ContextFull,
        // An end that is not known to be good runs nothing.
        _ => StopReason::Blocked { reason },
    }
}
