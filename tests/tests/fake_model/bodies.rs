//! A conversation of one turn with two calls, answered faithfully, as each wire tells it.

use outside::fake_model::{Given, Wire};
use serde_json::{Value, json};

pub const PNG: &str =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==";

pub const GOAL: &str = "go";
pub const SUMMARY: &str = "it is done";

/// The first request.
pub fn first(wire: Wire) -> Value {
    match wire {
        Wire::Gemini => json!({
            "systemInstruction": { "parts": [{ "text": "be good" }] },
            "generationConfig": { "thinkingConfig": { "includeThoughts": true } },
            "contents": [{ "role": "user", "parts": [{ "text": GOAL }] }],
        }),
        Wire::Anthropic => json!({
            "model": "m", "max_tokens": 100, "stream": true, "system": "be good",
            "thinking": { "type": "adaptive" },
            "messages": [{ "role": "user", "content": GOAL }],
        }),
        Wire::Responses => json!({
            "model": "m", "stream": true, "store": false, "instructions": "be good",
            "reasoning": { "summary": "auto" },
            "input": [{ "type": "message", "role": "user", "content": [{ "type": "input_text", "text": GOAL }] }],
        }),
        Wire::Xai => json!({
            "model": "m", "stream": true, "store": false,
            "input": [{ "role": "system", "content": "be good" }, { "role": "user", "content": GOAL }],
        }),
        Wire::Chat | Wire::OpenRouter | Wire::Ollama => json!({
            "model": "m", "stream": true, "reasoning": { "enabled": true },
            "messages": [{ "role": "system", "content": "be good" }, { "role": "user", "content": GOAL }],
        }),
    }
}

/// Where the conversation stands in a body.
pub fn conversation(wire: Wire) -> &'static str {
    match wire {
        Wire::Gemini => "contents",
        Wire::Responses | Wire::Xai => "input",
        Wire::Anthropic | Wire::Chat | Wire::OpenRouter | Wire::Ollama => "messages",
    }
}

/// The request after: the turn as it was given out, and an answer with a picture for each of its two calls.
pub fn second(wire: Wire, given: &Given) -> Value {
    let mut body = first(wire);
    let all = body[conversation(wire)].as_array_mut().unwrap();
    let response = json!({ "effect": "confirmed", "summary": SUMMARY }).to_string();
    let url = format!("data:image/png;base64,{PNG}");
    match wire {
        Wire::Gemini => {
            let calls = given.raw.iter().map(|part| &part["functionCall"]).filter(|call| call.is_object());
            let answers = calls.map(|call| {
                json!({ "functionResponse": {
                    "id": call["id"], "name": call["name"], "response": { "summary": SUMMARY },
                    "parts": [{ "inlineData": { "mimeType": "image/png", "data": PNG } }],
                }})
            });
            all.push(json!({ "role": "model", "parts": given.raw }));
            all.push(json!({ "role": "user", "parts": answers.collect::<Vec<_>>() }));
        }
        Wire::Anthropic => {
            let source = json!({ "type": "base64", "media_type": "image/png", "data": PNG });
            let answers = given.ids.iter().map(|id| {
                json!({ "type": "tool_result", "tool_use_id": id, "content": [
                    { "type": "text", "text": response }, { "type": "image", "source": source },
                ]})
            });
            all.push(json!({ "role": "assistant", "content": given.raw }));
            all.push(json!({ "role": "user", "content": answers.collect::<Vec<_>>() }));
        }
        Wire::Responses => {
            all.extend(given.raw.iter().cloned());
            all.extend(given.ids.iter().map(|id| {
                json!({ "type": "function_call_output", "call_id": id, "output": [
                    { "type": "input_text", "text": response }, { "type": "input_image", "image_url": url },
                ]})
            }));
        }
        Wire::Xai => {
            all.extend(given.raw.iter().cloned());
            let of = |id| json!({ "type": "function_call_output", "call_id": id, "output": response });
            all.extend(given.ids.iter().map(of));
            all.extend(given.ids.iter().map(|id| {
                json!({ "role": "user", "content": [
                    { "type": "input_text", "text": format!("The picture of {id}:") },
                    { "type": "input_image", "image_url": url },
                ]})
            }));
        }
        Wire::Chat | Wire::OpenRouter => {
            let is_call = |value: &&Value| value["type"] == "function";
            let (calls, thoughts): (Vec<&Value>, Vec<&Value>) = given.raw.iter().partition(is_call);
            let mut turn = json!({ "role": "assistant", "content": null, "tool_calls": calls });
            let picture = json!({ "type": "image_url", "image_url": { "url": url } });
            let text = json!({ "type": "text", "text": response });
            if wire == Wire::OpenRouter {
                turn["reasoning_details"] = json!(thoughts);
                all.push(turn);
                let content = json!([text, picture]);
                let of = |id| json!({ "role": "tool", "tool_call_id": id, "content": content });
                all.extend(given.ids.iter().map(of));
            } else {
                all.push(turn);
                let of = |id| json!({ "role": "tool", "tool_call_id": id, "content": response });
                all.extend(given.ids.iter().map(of));
                let pictures = given.ids.iter().flat_map(|id| {
                    [json!({ "type": "text", "text": format!("Result image of {id}:") }), picture.clone()]
                });
                all.push(json!({ "role": "user", "content": pictures.collect::<Vec<_>>() }));
            }
        }
        Wire::Ollama => {
            let (thought, calls) = given.raw.split_first().unwrap();
            all.push(json!({ "role": "assistant", "content": "", "thinking": thought, "tool_calls": calls }));
            all.extend(calls.iter().map(|call| {
                let name = &call["function"]["name"];
                json!({ "role": "tool", "tool_name": name, "content": response, "images": [PNG] })
            }));
        }
    }
    body
}
