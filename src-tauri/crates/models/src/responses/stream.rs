//! What comes from OpenAI's Responses: one turn of whole items, shown in pieces before.
//!
//! Pure. The items go back as they stood in `output_item.done`: only there is a reasoning item's encrypted content whole.

use std::collections::BTreeMap;

use protocol::turn::{StopReason, Usage, Usd};
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::hot::{Event, Piece, Pieces};
use crate::decode::{Made, Progress, TurnInMaking, citation, json as read_json, taken};
use crate::forms::Forms;
use crate::text::list;
use crate::{ModelError, ProposedCall, TurnEvent, calls, refusal};

pub(crate) struct Making {
    provider: String,
    forms: Forms<Pieces>,
    /// Finished items by their place.
    items: BTreeMap<u64, Item>,
    /// Calls that were begun, by their item's place; the value is their place among the calls.
    begun: BTreeMap<u64, usize>,
    /// The number of the newest event: one that comes again is passed over.
    newest: Option<u64>,
    /// The whole response, at its end.
    response: Option<Value>,
}

struct Item {
    value: Value,
    json: String,
}

#[derive(Deserialize)]
struct Verbatim<'a> {
    #[serde(borrow)]
    item: &'a RawValue,
}

impl Making {
    pub(super) fn new(provider: &str) -> Self {
        Self {
            provider: provider.to_owned(),
            forms: Forms::new(),
            items: BTreeMap::new(),
            begun: BTreeMap::new(),
            newest: None,
            response: None,
        }
    }

    fn is_repeated(&mut self, number: Option<u64>) -> bool {
        let repeated = number.is_some() && number <= self.newest;
        self.newest = self.newest.max(number);
        repeated
    }

    fn piece(&self, place: u64, piece: Piece) -> Option<TurnEvent> {
        match piece {
            Piece::Text(text) => Some(TurnEvent::Text(text)),
            Piece::Thinking(text) => Some(TurnEvent::Thinking(text)),
            Piece::Arguments(json) => {
                self.begun.get(&place).map(|index| TurnEvent::CallArguments { index: *index, json })
            }
            Piece::Repeated => None,
        }
    }

    fn begin(&mut self, place: u64, item: &Value, events: &mut Vec<TurnEvent>) {
        if is_call(item) && !self.begun.contains_key(&place) {
            let index = self.begun.len();
            self.begun.insert(place, index);
            let call = proposed(item);
            events.push(TurnEvent::CallStarted { index, id: call.id, name: call.name });
        }
    }

    fn done(&mut self, place: u64, item: Value, json: String, events: &mut Vec<TurnEvent>) {
        if is_call(&item) {
            let arrived_whole = !self.begun.contains_key(&place);
            self.begin(place, &item, events);
            let index = self.begun.get(&place).copied().unwrap_or_default();
            if arrived_whole || item["type"] == "computer_call" {
                let json = proposed(&item).arguments.to_string();
                events.push(TurnEvent::CallArguments { index, json });
            }
            events.push(TurnEvent::CallEnded { index });
        }
        if is_search(&item) {
            events.push(TurnEvent::Searched);
        }
        self.items.insert(place, Item { value: item, json });
    }

    /// The end: items that were not told one by one are taken from the whole.
    fn complete(&mut self, mut response: Value, events: &mut Vec<TurnEvent>) {
        if let Value::Array(items) = taken(&mut response, "output") {
            for (place, item) in (0..).zip(items) {
                if !self.items.contains_key(&place) {
                    let json = item.to_string();
                    self.done(place, item, json, events);
                }
            }
        }
        events.push(TurnEvent::Usage(read_usage(&response["usage"])));
        events.extend(billed(&response["usage"]).map(TurnEvent::Billed));
        self.response = Some(response);
    }

    fn text(&self) -> String {
        self.contents().filter_map(|part| part["text"].as_str().or(part["refusal"].as_str())).collect()
    }

    fn contents(&self) -> impl Iterator<Item = &Value> {
        self.items
            .values()
            .filter(|item| item.value["type"] == "message")
            .flat_map(|item| item.value["content"].as_array().into_iter().flatten())
    }
}

impl TurnInMaking for Making {
    fn plain(&mut self, data: &[u8], events: &mut Vec<TurnEvent>) -> Result<bool, ModelError> {
        let Some(Event { number, place, piece }) = self.forms.read(data) else { return Ok(false) };
        if !self.is_repeated(number) {
            events.extend(self.piece(place, piece));
        }
        Ok(true)
    }

    fn feed(&mut self, data: &str, events: &mut Vec<TurnEvent>) -> Result<(), ModelError> {
        // Not this wire's, but its kin's; it ends nothing that has not ended.
        if data.trim() == "[DONE]" {
            return Ok(());
        }
        let mut event = read_json(&self.provider, data)?;
        if self.is_repeated(event["sequence_number"].as_u64()) {
            return Ok(());
        }
        let place = event["output_index"].as_u64().unwrap_or_default();
        let kind = event["type"].as_str().unwrap_or_default().to_owned();
        // In another form than the usual one.
        if let Some(piece) = Piece::of(&kind, event["delta"].as_str().map(str::to_owned)) {
            events.extend(self.piece(place, piece));
            return Ok(());
        }
        match kind.as_str() {
            "response.reasoning_summary_part.added" if event["summary_index"].as_u64() > Some(0) => {
                events.push(TurnEvent::Thinking("\n\n".into()));
            }
            "response.output_text.annotation.added" => {
                events.extend(citation(&event["annotation"]));
            }
            "response.output_item.added" => self.begin(place, &event["item"], events),
            "response.output_item.done" => {
                let item = taken(&mut event, "item");
                let verbatim = serde_json::from_str::<Verbatim<'_>>(data);
                let json = verbatim.map_or_else(|_| item.to_string(), |raw| raw.item.get().to_owned());
                self.done(place, item, json, events);
            }
            "response.completed" | "response.incomplete" => {
                self.complete(taken(&mut event, "response"), events)
            }
            "response.failed" => return Err(refusal::from_error(&self.provider, 0, &event["response"])),
            "error" => return Err(refusal::from_error(&self.provider, 0, &event)),
            "" if !event["error"].is_null() => return Err(refusal::from_error(&self.provider, 0, &event)),
            // `in_progress`, what `done` repeats, the provider's own searches, and whatever is to come.
            _ => {}
        }
        Ok(())
    }

    fn progress(&self) -> Progress {
        if self.response.is_some() { Progress::Over } else { Progress::Open }
    }

    fn finish(&mut self) -> Result<Made, ModelError> {
        let response = self.response.take().ok_or_else(ModelError::cut)?;
        let refused = self.contents().any(|part| part["type"] == "refusal");
        let stop = match (response["status"].as_str(), response["incomplete_details"]["reason"].as_str()) {
            (Some("completed"), _) if refused => StopReason::Refused { category: "refusal".into() },
            (Some("completed"), _) => StopReason::End,
            (_, Some("max_output_tokens")) => StopReason::MaxTokens,
            (_, Some(reason)) => StopReason::Blocked { reason: reason.to_owned() },
            (status, None) => StopReason::Blocked { reason: status.unwrap_or("unknown").to_owned() },
        };
        Ok(Made {
            text: self.text(),
            calls: self
                .items
                .values()
                .filter(|item| is_call(&item.value))
                .map(|item| proposed(&item.value))
                .collect(),
            raw: Some(list(self.items.values().map(|item| &item.json))),
            usage: read_usage(&response["usage"]),
            stop,
        })
    }
}

/// What is ours to run. A `custom_tool_call` or a search was the provider's own and is done.
fn is_call(item: &Value) -> bool {
    let is_ours = item["type"] == "function_call" || item["type"] == "computer_call";
    is_ours && item["status"] != "incomplete"
}

/// What the provider did by itself. We have no custom tools: such a call is one of its searches.
fn is_search(item: &Value) -> bool {
    matches!(item["type"].as_str(), Some("web_search_call" | "x_search_call" | "custom_tool_call"))
}

fn proposed(item: &Value) -> ProposedCall {
    let id = item["call_id"].as_str().map(str::to_owned);
    if item["type"] == "computer_call" {
        // The older tool has one action a call.
        let actions = match (&item["actions"], &item["action"]) {
            (Value::Null, Value::Object(_)) => json!([item["action"]]),
            (actions, _) => actions.clone(),
        };
        let arguments = json!({
            "actions": actions,
            "pending_safety_checks": item["pending_safety_checks"],
        });
        return ProposedCall { id, name: "computer".into(), arguments };
    }
    ProposedCall {
        id,
        name: item["name"].as_str().unwrap_or_default().to_owned(),
        arguments: calls::arguments(item["arguments"].as_str().unwrap_or_default()),
    }
}

/// Cached and written tokens are part of the input, reasoning is part of the output.
fn read_usage(usage: &Value) -> Usage {
    let count = |value: &Value| value.as_u64().unwrap_or_default();
    let thinking = count(&usage["output_tokens_details"]["reasoning_tokens"]);
    Usage {
        input: count(&usage["input_tokens"]),
        cached: count(&usage["input_tokens_details"]["cached_tokens"]),
        output: count(&usage["output_tokens"]).saturating_sub(thinking),
        thinking,
        cache_write: count(&usage["input_tokens_details"]["cache_write_tokens"]),
    }
}

/// xAI tells what it charges, in ticks of which a dollar has 10^10.
pub(crate) fn billed(usage: &Value) -> Option<Usd> {
    usage["cost_in_usd_ticks"].as_u64().map(|ticks| Usd(ticks.saturating_mul(100)))
}
