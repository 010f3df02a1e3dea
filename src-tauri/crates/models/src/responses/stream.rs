//! What comes from OpenAI's Responses: one turn of whole items, shown in pieces before.
//!
//! Pure. The items go back as they stood in `output_item.done`: only there is a reasoning item's encrypted content
//! whole.

use std::collections::BTreeMap;

use protocol::turn::{StopReason, Usage, Usd};
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::decode::{DecodedTurn, Progress, StreamDecoder, payload, read, reported};
use crate::json_text::json_list;
use crate::lenient::{Lenient, Source};
use crate::{ModelError, ProposedCall, TurnEvent, calls};

#[derive(Default)]
pub(crate) struct ResponsesDecoder {
    /// Finished items by their `output_index`.
    items: BTreeMap<u64, Item>,
    /// Calls that were begun: from their item's `output_index` to their index among the turn's calls.
    begun: BTreeMap<u64, usize>,
    /// The number of the newest event: one that comes again is passed over.
    newest: Option<u64>,
    /// How it ended. `None` before the end.
    response: Option<Response>,
}

struct Item {
    value: Value,
    /// As it came.
    json: String,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Event<'a> {
    #[serde(rename = "type")]
    kind: Lenient<String>,
    sequence_number: Lenient<Option<u64>>,
    output_index: Lenient<u64>,
    summary_index: Lenient<u64>,
    delta: Lenient<Option<String>>,
    #[serde(borrow)]
    annotation: Option<&'a RawValue>,
    #[serde(borrow)]
    item: Option<&'a RawValue>,
    #[serde(borrow)]
    response: Option<&'a RawValue>,
    #[serde(borrow)]
    error: Option<&'a RawValue>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Response {
    status: Lenient<Option<String>>,
    incomplete_details: Lenient<Incomplete>,
    output: Lenient<Vec<Box<RawValue>>>,
    usage: Lenient<Counts>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Incomplete {
    reason: Lenient<Option<String>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Counts {
    input_tokens: Lenient<u64>,
    input_tokens_details: Lenient<InputDetails>,
    output_tokens: Lenient<u64>,
    output_tokens_details: Lenient<OutputDetails>,
    cost_in_usd_ticks: Lenient<Option<u64>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct InputDetails {
    cached_tokens: Lenient<u64>,
    cache_write_tokens: Lenient<u64>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct OutputDetails {
    reasoning_tokens: Lenient<u64>,
}

impl ResponsesDecoder {
    fn is_repeated(&mut self, number: Option<u64>) -> bool {
        let repeated = number.is_some() && number <= self.newest;
        self.newest = self.newest.max(number);
        repeated
    }

    fn begin(&mut self, output_index: u64, item: &Value, events: &mut Vec<TurnEvent>) {
        if is_call(item) && !self.begun.contains_key(&output_index) {
            let index = self.begun.len();
            self.begun.insert(output_index, index);
            let call = proposed(item);
            events.push(TurnEvent::CallStarted { index, id: call.id, name: call.name });
        }
    }

    fn done(
        &mut self,
        provider: &str,
        output_index: u64,
        json: &RawValue,
        events: &mut Vec<TurnEvent>,
    ) -> Result<(), ModelError> {
        let item: Value = read(provider, json.get())?;
        if is_call(&item) {
            let arrived_whole = !self.begun.contains_key(&output_index);
            self.begin(output_index, &item, events);
            let index = self.begun.get(&output_index).copied().unwrap_or_default();
            if arrived_whole || item["type"] == "computer_call" {
                let json = proposed(&item).arguments.to_string();
                events.push(TurnEvent::CallArguments { index, json });
            }
            events.push(TurnEvent::CallEnded { index });
        }
        if is_search(&item) {
            events.push(TurnEvent::Searched);
        }
        self.items.insert(output_index, Item { value: item, json: json.get().to_owned() });
        Ok(())
    }

    /// The end: items that did not come one by one are taken from the whole.
    fn complete(
        &mut self,
        provider: &str,
        mut response: Response,
        events: &mut Vec<TurnEvent>,
    ) -> Result<(), ModelError> {
        for (output_index, json) in (0..).zip(std::mem::take(&mut response.output.0)) {
            if !self.items.contains_key(&output_index) {
                self.done(provider, output_index, &json, events)?;
            }
        }
        events.push(TurnEvent::Usage(response.usage.0.usage()));
        events.extend(billed(response.usage.0.cost_in_usd_ticks.0).map(TurnEvent::Billed));
        self.response = Some(response);
        Ok(())
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

impl StreamDecoder for ResponsesDecoder {
    fn feed(&mut self, provider: &str, data: &str, events: &mut Vec<TurnEvent>) -> Result<(), ModelError> {
        // The end mark of the chat wire, which some servers send here. It does not end a turn.
        if data.trim() == "[DONE]" {
            return Ok(());
        }
        let event: Event<'_> = read(provider, data)?;
        if self.is_repeated(event.sequence_number.0) {
            return Ok(());
        }
        let (output_index, delta) = (event.output_index.0, event.delta.0);
        match event.kind.0.as_str() {
            "response.output_text.delta" | "response.refusal.delta" => {
                events.extend(delta.map(TurnEvent::Text));
            }
            "response.reasoning_summary_text.delta" | "response.reasoning_text.delta" => {
                events.extend(delta.map(TurnEvent::Thinking));
            }
            "response.function_call_arguments.delta" => {
                if let (Some(json), Some(index)) = (delta, self.begun.get(&output_index)) {
                    events.push(TurnEvent::CallArguments { index: *index, json });
                }
            }
            "response.reasoning_summary_part.added" if event.summary_index.0 > 0 => {
                events.push(TurnEvent::Thinking("\n\n".into()));
            }
            "response.output_text.annotation.added" => {
                events.extend(payload::<Source>(provider, event.annotation)?.citation());
            }
            "response.output_item.added" => {
                self.begin(output_index, &payload(provider, event.item)?, events);
            }
            "response.output_item.done" => {
                if let Some(item) = event.item {
                    self.done(provider, output_index, item, events)?;
                }
            }
            "response.completed" | "response.incomplete" => {
                self.complete(provider, payload(provider, event.response)?, events)?;
            }
            "response.failed" => {
                return Err(reported(provider, event.response.map_or("null", RawValue::get)));
            }
            "error" => return Err(reported(provider, data)),
            "" if event.error.is_some() => return Err(reported(provider, data)),
            // `in_progress`, what `done` repeats, the provider's own searches, and whatever is to come.
            _ => {}
        }
        Ok(())
    }

    fn progress(&self) -> Progress {
        if self.response.is_some() { Progress::Over } else { Progress::Open }
    }

    fn finish(&mut self) -> Result<DecodedTurn, ModelError> {
        let response = self.response.take().ok_or_else(ModelError::cut)?;
        let refused = self.contents().any(|part| part["type"] == "refusal");
        let (status, reason) = (response.status.0, response.incomplete_details.0.reason.0);
        let stop = match (status.as_deref(), reason) {
            (Some("completed"), _) if refused => StopReason::Refused { category: "refusal".into() },
            (Some("completed"), _) => StopReason::End,
            (_, Some(reason)) if reason == "max_output_tokens" => StopReason::MaxTokens,
            (_, Some(reason)) => StopReason::Blocked { reason },
            (_, None) => StopReason::Blocked { reason: status.unwrap_or_else(|| "unknown".into()) },
        };
        let calls = self.items.values().filter(|item| is_call(&item.value));
        Ok(DecodedTurn {
            text: self.text(),
            calls: calls.map(|item| proposed(&item.value)).collect(),
            raw: Some(json_list(self.items.values().map(|item| &item.json))),
            usage: response.usage.0.usage(),
            stop,
        })
    }
}

impl Counts {
    /// Cached and written tokens are part of the input, reasoning is part of the output.
    fn usage(&self) -> Usage {
        let thinking = self.output_tokens_details.0.reasoning_tokens.0;
        Usage {
            input: self.input_tokens.0,
            cached: self.input_tokens_details.0.cached_tokens.0,
            output: self.output_tokens.0.saturating_sub(thinking),
            thinking,
            cache_write: self.input_tokens_details.0.cache_write_tokens.0,
        }
    }
}

/// Whether the item is a call for us to run. A `custom_tool_call` or a search was run by the provider itself.
fn is_call(item: &Value) -> bool {
    let is_ours = item["type"] == "function_call" || item["type"] == "computer_call";
    is_ours && item["status"] != "incomplete"
}

/// Whether the item is a search that the provider ran. We have no custom tools, so `custom_tool_call` is one of them.
fn is_search(item: &Value) -> bool {
    matches!(item["type"].as_str(), Some("web_search_call" | "x_search_call" | "custom_tool_call"))
}

fn proposed(item: &Value) -> ProposedCall {
    let id = item["call_id"].as_str().map(str::to_owned);
    if item["type"] == "computer_call" {
        // The older tool (`computer_use_preview`) has one action a call.
        let actions = match (&item["actions"], &item["action"]) {
            (Value::Null, Value::Object(_)) => json!([item["action"]]),
            (actions, _) => actions.clone(),
        };
        let arguments = json!({
            "actions": actions,
            "pending_safety_checks": item["pending_safety_checks"],
        });
        return ProposedCall::new(id, "computer", arguments);
    }
    let arguments = calls::arguments(item["arguments"].as_str().unwrap_or_default());
    ProposedCall::new(id, item["name"].as_str().unwrap_or_default(), arguments)
}

/// What xAI says it charges, in ticks of which a dollar has 10^10.
pub(crate) fn billed(ticks: Option<u64>) -> Option<Usd> {
    ticks.map(|ticks| Usd(ticks.saturating_mul(100)))
}
