//! Anthropic's Messages.

use axum::http::HeaderMap;
use serde_json::{Value, json};

use super::{Dialect, Saying, Wrong, bad, halves, header_of, items, picture, response, text, words};
use crate::fake_model::asked::{Answer, Call, Heard, Said, ToolResult, visit};
use crate::fake_model::history::{Flaw, Given};

mod computer;
mod search;
mod tools;

use tools::Tools;

pub(in crate::fake_model) struct Anthropic;

const BINDING_BETA: &str = "thinking-binding-controls-2026-08-01";
const MOST_MARKS: usize = 4;

impl Dialect for Anthropic {
    fn key(&self, headers: &HeaderMap) -> Option<String> {
        header_of(headers, "x-api-key")
    }

    fn read(&self, headers: &HeaderMap, body: &Value) -> Result<Heard, Wrong> {
        if header_of(headers, "anthropic-version").is_none() {
            return bad("anthropic-version: header is required");
        }
        if !body["max_tokens"].is_u64() {
            return bad("max_tokens: Field required");
        }
        if let Some(knob) = ["temperature", "top_p", "top_k"].iter().find(|knob| !body[**knob].is_null()) {
            return bad(&format!("{knob}: sampling parameters are not supported for this model."));
        }
        let mut marks = 0;
        visit(body, &mut |value| marks += usize::from(value.get("cache_control").is_some()));
        if marks > MOST_MARKS {
            return bad(&format!(
                "A maximum of {MOST_MARKS} blocks with cache_control may be provided. Found {marks}."
            ));
        }
        let binding = &body["thinking"]["block_binding"];
        let beta = header_of(headers, "anthropic-beta").unwrap_or_default();
        if !binding.is_null() && !beta.contains(BINDING_BETA) {
            return bad("thinking.block_binding: Extra inputs are not permitted");
        }
        let mut messages = Vec::new();
        for (at, message) in items(body, "messages").iter().enumerate() {
            messages.push(match text(message, "role") {
                "user" => user(&message["content"], at)?,
                "assistant" => Said::Assistant(answer(&message["content"], at)?),
                _ => return bad(&format!("messages.{at}.role: Input should be 'user' or 'assistant'")),
            });
        }
        let system = match &body["system"] {
            Value::String(text) => text.clone(),
            _ => items(body, "system").iter().map(|block| text(block, "text")).collect(),
        };
        let Tools { functions, searches, computer } = tools::read(headers, body)?;
        computer::check_answers(body, computer.as_ref())?;
        Ok(Heard {
            system,
            tools: functions,
            searches,
            computer,
            messages,
            thinks: matches!(text(&body["thinking"], "type"), "adaptive" | "enabled"),
            binds: text(binding, "prefix_mismatch_behavior") != "drop_block",
        })
    }

    fn flaw(&self, flaw: &Flaw) -> String {
        match flaw {
            Flaw::Empty => "messages: at least one message is required".into(),
            Flaw::NotTheUserFirst => "messages: first message must use the \"user\" role".into(),
            Flaw::NotTheUserLast => "This model does not support assistant message prefill. The conversation must end with a user message.".into(),
            Flaw::Unanswered { at, ids } => format!(
                "messages.{at}: `tool_use` ids were found without `tool_result` blocks immediately after: {}. Each `tool_use` block must have a corresponding `tool_result` block in the next message.",
                ids.join(", ")
            ),
            Flaw::Unasked { at, id } | Flaw::Swapped { at, id } => format!(
                "messages.{at}.content: unexpected `tool_use_id` found in `tool_result` blocks: {id}. Each `tool_result` block must have a corresponding `tool_use` block in the previous message."
            ),
            Flaw::Lost { at, .. } => format!(
                "messages.{at}.content.0.type: Expected `thinking` or `redacted_thinking`, but found `tool_use`. When `thinking` is enabled, a final `assistant` message must start with a thinking block."
            ),
            Flaw::Changed { at } => format!(
                "messages.{at}.content.0: `thinking` or `redacted_thinking` blocks in the latest assistant message cannot be modified. These blocks must remain as they were in the original response."
            ),
            Flaw::Forged { at } => {
                format!("messages.{at}.content.0: Invalid `signature` in `thinking` block")
            }
            Flaw::Bound { at } => format!(
                "messages.{at}.content.0: Invalid `signature` in `thinking` block. The block is bound to a different conversation. Remove the block, or set `thinking.block_binding.prefix_mismatch_behavior` to \"drop_block\". That setting requires the `{BINDING_BETA}` value in the `anthropic-beta` header."
            ),
        }
    }

    fn call_id(&self, number: usize, index: usize) -> String {
        format!("toolu_01{number:016}{index:04}")
    }

    fn speak(&self, saying: &Saying<'_>) -> (Vec<String>, Given) {
        let (turn, usage) = (saying.turn, saying.usage);
        let mut given = Given { usage, ..Given::default() };
        let mut events = Vec::new();
        let fresh = usage.input - usage.cached - usage.cache_write;
        let message = json!({
            "id": format!("msg_01{:022}", saying.number), "type": "message", "role": "assistant",
            "model": saying.asked.model, "content": [], "stop_reason": null, "stop_sequence": null,
            "usage": {
                "input_tokens": fresh, "cache_creation_input_tokens": usage.cache_write,
                "cache_read_input_tokens": usage.cached, "output_tokens": 1, "service_tier": "standard",
            },
        });
        events.push(told(&json!({ "type": "message_start", "message": message })));
        events.push(told(&json!({ "type": "ping" })));
        let mut blocks = 0..;
        // The block is text: what comes whole has bytes of its own.
        let mut block = |start: String, deltas: Vec<Value>| {
            let index: usize = blocks.next().unwrap_or_default();
            events.push(format!(
                "event: content_block_start\ndata: {{\"type\":\"content_block_start\",\"index\":{index},\"content_block\":{start}}}\n\n"
            ));
            let mut say = |event: Value| events.push(told(&event));
            for delta in deltas {
                say(json!({ "type": "content_block_delta", "index": index, "delta": delta }));
            }
            say(json!({ "type": "content_block_stop", "index": index }));
        };
        if !turn.thinking.is_empty() {
            let signature = saying.signature("thinking");
            let words = words(&turn.thinking);
            let mut deltas: Vec<Value> =
                words.map(|word| json!({ "type": "thinking_delta", "thinking": word })).collect();
            deltas.push(json!({ "type": "signature_delta", "signature": signature }));
            block(json!({ "type": "thinking", "thinking": "", "signature": "" }).to_string(), deltas);
            given.raw.push(json!({
                "type": "thinking", "thinking": turn.thinking, "signature": signature,
            }));
            given.verbatim.push(format!(r#""signature":"{signature}""#));
            given.signatures.push(signature);
        }
        if let Some(search) = &turn.search {
            search::look(saying, search, &mut block, &mut given);
        }
        if !turn.text.is_empty() {
            let cited = turn.search.as_ref().map(|search| search::citations(saying, search));
            let citations = cited.iter().flatten();
            let mut deltas: Vec<Value> = citations
                .map(|citation| json!({ "type": "citations_delta", "citation": citation }))
                .collect();
            deltas.extend(words(&turn.text).map(|word| json!({ "type": "text_delta", "text": word })));
            let mut start = json!({ "type": "text", "text": "" });
            if let Some(cited) = cited {
                start["citations"] = json!([]);
                let whole = json!({ "type": "text", "text": turn.text, "citations": cited });
                given.verbatim.push(format!(r#""citations":{}"#, whole["citations"]));
                given.raw.push(whole);
            }
            block(start.to_string(), deltas);
        }
        let functions = saying.calls(self).into_iter().map(|call| (call, None));
        for (call, toolset) in functions.chain(computer::calls(saying)) {
            let mut start = json!({ "type": "tool_use", "id": call.id, "name": call.name });
            if let Some(toolset) = toolset {
                start["toolset_name"] = json!(toolset);
            }
            start["input"] = json!({});
            let deltas = halves(&call.arguments)
                .map(|piece| json!({ "type": "input_json_delta", "partial_json": piece }));
            block(start.to_string(), deltas.into());
            start["input"] = response(&call.arguments);
            given.raw.push(start);
            given.verbatim.push(format!(r#""input":{}"#, call.arguments));
            given.ids.push(call.id);
        }
        given.paused = turn.search.as_ref().is_some_and(|search| search.pauses);
        let reason = match given.ids.is_empty() {
            _ if given.paused => "pause_turn",
            true => "end_turn",
            false => "tool_use",
        };
        let mut counts = json!({
            "output_tokens": usage.output + usage.thinking,
            "output_tokens_details": { "thinking_tokens": usage.thinking },
        });
        if turn.search.is_some() {
            counts["server_tool_use"] = json!({ "web_search_requests": 1 });
        }
        let delta = json!({ "stop_reason": reason, "stop_sequence": null });
        events.push(told(&json!({ "type": "message_delta", "delta": delta, "usage": counts })));
        events.push(told(&json!({ "type": "message_stop" })));
        (events, given)
    }

    fn refuse(&self, wrong: &Wrong) -> (u16, Value) {
        let (status, kind, message) = match wrong {
            Wrong::NoKey => (401, "authentication_error", "x-api-key header is required"),
            Wrong::BadKey => (401, "authentication_error", "invalid x-api-key"),
            Wrong::NotFound(what) => (404, "not_found_error", &*format!("model: {what}")),
            Wrong::Bad(message) => (400, "invalid_request_error", message.as_str()),
        };
        let error = json!({ "type": kind, "message": message });
        (status, json!({ "type": "error", "error": error, "request_id": "req_011CSHoEeqs5C35K2UUqR7Fy" }))
    }

    fn model(&self, id: &str) -> Value {
        json!({ "type": "model", "id": id, "display_name": id, "created_at": "2026-11-21T00:00:00Z" })
    }

    fn usual(&self) -> &'static [&'static str] {
        &["claude-haiku-5-5"]
    }

    fn list(&self, names: &[&str]) -> Value {
        let models: Vec<Value> = names.iter().map(|name| self.model(name)).collect();
        json!({ "data": models, "has_more": false })
    }
}

fn told(event: &Value) -> String {
    format!("event: {}\ndata: {event}\n\n", text(event, "type"))
}

fn unexpected<T>(block: &Value, place: &str) -> Result<T, Wrong> {
    let kind = text(block, "type");
    bad(&format!("{place}: Input tag '{kind}' found using 'type' does not match any of the expected tags"))
}

/// Blocks, or text as one.
fn blocks(content: &Value) -> Vec<Value> {
    match content {
        Value::String(text) => vec![json!({ "type": "text", "text": text })],
        Value::Array(blocks) => blocks.clone(),
        _ => Vec::new(),
    }
}

fn some_text(block: &Value, place: &str) -> Result<String, Wrong> {
    match text(block, "text") {
        "" => bad(&format!("{place}: text content blocks must be non-empty")),
        text => Ok(text.to_owned()),
    }
}

fn image(block: &Value, place: &str) -> Result<Vec<u8>, Wrong> {
    let source = &block["source"];
    if source["type"] != "base64" || !text(source, "media_type").starts_with("image/") {
        return unexpected(source, &format!("{place}.image.source"));
    }
    picture(text(source, "data")).ok_or_else(|| Wrong::Bad(format!("{place}: Could not process image")))
}

fn user(content: &Value, at: usize) -> Result<Said, Wrong> {
    let (mut texts, mut images, mut results) = (Vec::new(), Vec::new(), Vec::new());
    for (index, block) in blocks(content).iter().enumerate() {
        let place = format!("messages.{at}.content.{index}");
        match text(block, "type") {
            "text" => texts.push(some_text(block, &place)?),
            "image" => images.push(image(block, &place)?),
            "tool_result" if !texts.is_empty() || !images.is_empty() => {
                return bad(&format!("{place}: `tool_result` blocks must come before all others"));
            }
            "tool_result" => results.push(result(block, &place)?),
            _ => return unexpected(block, &place),
        }
    }
    match (results.is_empty(), texts.is_empty() && images.is_empty()) {
        (true, true) => bad(&format!("messages.{at}: user messages must have non-empty content")),
        (true, false) => Ok(Said::User { texts, images }),
        // What the user says beside results is no goal.
        (false, _) => Ok(Said::Results(results)),
    }
}

fn result(block: &Value, place: &str) -> Result<ToolResult, Wrong> {
    let mut result = ToolResult { id: Some(text(block, "tool_use_id").to_owned()), ..ToolResult::default() };
    for block in blocks(&block["content"]) {
        match text(&block, "type") {
            "text" => result.response = response(&some_text(&block, place)?),
            "image" => result.images.push(image(&block, place)?),
            _ => return unexpected(&block, &format!("{place}.tool_result.content")),
        }
    }
    Ok(result)
}

fn answer(content: &Value, at: usize) -> Result<Answer, Wrong> {
    let mut answer = Answer::default();
    for (index, block) in blocks(content).iter().enumerate() {
        let place = format!("messages.{at}.content.{index}");
        match text(block, "type") {
            "text" => {
                answer.text.push_str(&some_text(block, &place)?);
                if !items(block, "citations").is_empty() {
                    answer.raw.push(block.clone());
                }
            }
            "server_tool_use" | "web_search_tool_result" => {
                answer.signatures.extend(search::seals(block));
                answer.raw.push(block.clone());
            }
            "thinking" | "redacted_thinking" => {
                let signature = block["signature"].as_str().or(block["data"].as_str());
                let Some(signature) = signature else {
                    return bad(&format!("{place}.thinking.signature: Field required"));
                };
                answer.signatures.push(signature.to_owned());
                answer.raw.push(block.clone());
            }
            "tool_use" if !block["input"].is_object() => {
                return bad(&format!("{place}.tool_use.input: Input should be a valid dictionary"));
            }
            "tool_use" => {
                answer.calls.push(Call {
                    id: block["id"].as_str().map(str::to_owned),
                    name: text(block, "name").to_owned(),
                    arguments: block["input"].clone(),
                });
                answer.raw.push(block.clone());
            }
            _ => return unexpected(block, &place),
        }
    }
    Ok(answer)
}
