//! One turn as each provider would stream it: thoughts, an answer by the word, three calls; in the forms of the recorded
//! streams, every field of theirs included.

use serde_json::{Value, json};

use crate::Failure;

const THOUGHTS: usize = 60;
const WORDS: usize = 160;
/// Gemini sends more at once than the others.
const OF_GEMINI: usize = 6;

/// What the words of an answer are made of: with escapes, and letters of more bytes than one.
const PIECES: [&str; 8] = [
    "I can see ",
    "the settings window, ",
    "which is open at ",
    "\"Display\"; ",
    "the button ",
    "“Apply” is below it.\n",
    "Next I look at the field for the ",
    "width – it says 1,920.\n\n",
];

fn words(count: usize, at_once: usize) -> Vec<String> {
    let pieces: Vec<&str> = PIECES.into_iter().cycle().take(count).collect();
    pieces.chunks(at_once).map(<[&str]>::concat).collect()
}

struct Call {
    id: String,
    name: &'static str,
    arguments: Value,
}

fn calls() -> Vec<Call> {
    let reason = "the button that applies what was chosen is at the lower right of the window";
    let call = |(index, name): (usize, &'static str)| Call {
        id: format!("call_{index}"),
        name,
        arguments: json!({ "x": 640 + index, "y": 60, "reason": reason, "button": "left" }),
    };
    ["click", "screenshot", "click"].into_iter().enumerate().map(call).collect()
}

/// The arguments' text in pieces.
fn pieces(call: &Call) -> Vec<String> {
    let text: Vec<char> = call.arguments.to_string().chars().collect();
    text.chunks(12).map(|piece| piece.iter().collect()).collect()
}

/// The stream of one turn.
pub fn of(provider: &str) -> Result<Vec<u8>, Failure> {
    Ok(match provider {
        "gemini" => gemini(),
        "anthropic" => anthropic(),
        "openai" | "xai" => responses(),
        "openrouter" => chat(true),
        "lmstudio" => chat(false),
        "ollama" => ollama(),
        other => return Err(format!("no stream of {other} is known").into()),
    })
}

fn data(events: impl IntoIterator<Item = Value>) -> Vec<u8> {
    events.into_iter().flat_map(|event| format!("data: {event}\r\n\r\n").into_bytes()).collect()
}

/// With each event's type before it.
fn named(events: impl IntoIterator<Item = Value>) -> Vec<u8> {
    let event =
        |event: Value| format!("event: {}\ndata: {event}\n\n", event["type"].as_str().unwrap_or_default());
    events.into_iter().flat_map(|one| event(one).into_bytes()).collect()
}

fn gemini() -> Vec<u8> {
    let thoughts =
        words(THOUGHTS, OF_GEMINI).into_iter().map(|text| json!({ "text": text, "thought": true }));
    let said = words(WORDS, OF_GEMINI).into_iter().map(|text| json!({ "text": text }));
    let calls = calls().into_iter().map(|Call { id, name, arguments }| {
        let call = json!({ "id": id, "name": name, "args": arguments });
        json!({ "functionCall": call, "thoughtSignature": "CiQB0e2KbzJ3mSigAbCd".repeat(20) })
    });
    let parts: Vec<Value> = thoughts.chain(said).chain(calls).collect();
    let last = parts.len() - 1;
    data(parts.into_iter().enumerate().map(|(at, part)| {
        let mut candidate = json!({ "content": { "parts": [part], "role": "model" }, "index": 0 });
        if at == last {
            candidate["finishReason"] = "STOP".into();
        }
        json!({
            "candidates": [candidate],
            "usageMetadata": {
                "promptTokenCount": 1500, "candidatesTokenCount": at * 9, "totalTokenCount": 1564 + at * 9,
                "promptTokensDetails": [
                    { "modality": "TEXT", "tokenCount": 380 },
                    { "modality": "IMAGE", "tokenCount": 1120 },
                ],
                "thoughtsTokenCount": 64,
            },
            "modelVersion": "some-model",
            "responseId": "Zq4faYv2L5-nmtkP",
        })
    }))
}

fn anthropic() -> Vec<u8> {
    let usage = json!({ "input_tokens": 900, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0, "output_tokens": 2 });
    let mut events = vec![json!({ "type": "message_start", "message": {
        "id": "msg_014p7gG3wDgGV9EUtLvnow3U", "type": "message", "role": "assistant", "model": "some-model",
        "content": [], "stop_reason": null, "stop_sequence": null, "usage": usage,
    }})];
    let mut block = |index: usize, start: Value, deltas: Vec<Value>| {
        events.push(json!({ "type": "content_block_start", "index": index, "content_block": start }));
        let delta = |delta| json!({ "type": "content_block_delta", "index": index, "delta": delta });
        events.extend(deltas.into_iter().map(delta));
        events.push(json!({ "type": "content_block_stop", "index": index }));
    };
    let mut thoughts: Vec<Value> = words(THOUGHTS, 1)
        .into_iter()
        .map(|text| json!({ "type": "thinking_delta", "thinking": text }))
        .collect();
    thoughts.push(json!({ "type": "signature_delta", "signature": "EqQBCgIYAhIM".repeat(40) }));
    block(0, json!({ "type": "thinking", "thinking": "", "signature": "" }), thoughts);
    let said = words(WORDS, 1).into_iter().map(|text| json!({ "type": "text_delta", "text": text }));
    block(1, json!({ "type": "text", "text": "" }), said.collect());
    for (call, index) in calls().into_iter().zip(2..) {
        let start = json!({ "type": "tool_use", "id": call.id, "name": call.name, "input": {} });
        let piece = |json| json!({ "type": "input_json_delta", "partial_json": json });
        block(index, start, pieces(&call).into_iter().map(piece).collect());
    }
    events.push(json!({
        "type": "message_delta", "delta": { "stop_reason": "tool_use", "stop_sequence": null },
        "usage": { "output_tokens": 1211 },
    }));
    events.push(json!({ "type": "message_stop" }));
    named(events)
}

fn responses() -> Vec<u8> {
    let response = |status: &str, output: &[Value], usage: Value| {
        json!({
            "id": "resp_67c9fdcecf488190bdd9a0409de3a1ec", "object": "response", "created_at": 1_795_312_800,
            "status": status, "error": null, "incomplete_details": null, "model": "some-model", "output": output,
            "parallel_tool_calls": true, "store": false, "tool_choice": "auto", "tools": [], "usage": usage,
        })
    };
    let mut events =
        vec![json!({ "type": "response.created", "response": response("in_progress", &[], Value::Null) })];
    let mut output = Vec::new();
    let mut item = |begun: Value, delta: &str, extra: Value, texts: Vec<String>, done: Value| {
        let (place, id) = (output.len(), done["id"].clone());
        events.push(json!({ "type": "response.output_item.added", "output_index": place, "item": begun }));
        for text in &texts {
            let mut event = json!({ "type": delta, "item_id": id, "output_index": place, "delta": text });
            if let (Some(event), Value::Object(extra)) = (event.as_object_mut(), &extra) {
                event.extend(extra.clone());
            }
            events.push(event);
        }
        let whole = delta.replace(".delta", ".done");
        events.push(json!({ "type": whole, "item_id": id, "output_index": place, "text": texts.concat() }));
        events.push(json!({ "type": "response.output_item.done", "output_index": place, "item": done }));
        output.push(done);
    };
    let (thoughts, said) = (words(THOUGHTS, 1), words(WORDS, 1));
    let summary = json!([{ "type": "summary_text", "text": thoughts.concat() }]);
    item(
        json!({ "id": "rs_1", "type": "reasoning", "summary": [] }),
        "response.reasoning_summary_text.delta",
        json!({ "summary_index": 0 }),
        thoughts,
        json!({ "id": "rs_1", "type": "reasoning", "summary": summary, "encrypted_content": "gAAAAABo".repeat(100) }),
    );
    let content =
        json!([{ "type": "output_text", "annotations": [], "logprobs": [], "text": said.concat() }]);
    item(
        json!({ "id": "msg_1", "type": "message", "status": "in_progress", "role": "assistant", "content": [] }),
        "response.output_text.delta",
        json!({ "content_index": 0, "logprobs": [] }),
        said,
        json!({ "id": "msg_1", "type": "message", "status": "completed", "role": "assistant", "content": content }),
    );
    for call in calls() {
        let form = |status: &str, arguments: String| {
            json!({
                "id": format!("fc_{}", call.id), "type": "function_call", "status": status,
                "call_id": call.id, "name": call.name, "arguments": arguments,
            })
        };
        let whole = form("completed", call.arguments.to_string());
        let begun = form("in_progress", String::new());
        item(begun, "response.function_call_arguments.delta", json!({}), pieces(&call), whole);
    }
    let usage = json!({
        "input_tokens": 900, "input_tokens_details": { "cached_tokens": 0 }, "output_tokens": 1211,
        "output_tokens_details": { "reasoning_tokens": 300 }, "total_tokens": 2111,
    });
    events.push(json!({ "type": "response.completed", "response": response("completed", &output, usage) }));
    for (event, number) in events.iter_mut().zip(0_u64..) {
        event["sequence_number"] = number.into();
    }
    named(events)
}

/// Chat Completions; with OpenRouter's fields where they are asked for.
fn chat(of_openrouter: bool) -> Vec<u8> {
    let chunk = |delta: Value, reason: Value| {
        let mut chunk = json!({ "id": "gen-1795312800-AbC", "object": "chat.completion.chunk", "created": 1_795_312_800, "model": "some-model" });
        let mut choice = json!({ "index": 0, "delta": delta, "finish_reason": reason, "logprobs": null });
        if of_openrouter {
            chunk["provider"] = "Anthropic".into();
            choice["native_finish_reason"] = choice["finish_reason"].clone();
        }
        chunk["choices"] = json!([choice]);
        chunk
    };
    let thought = |text: String| match of_openrouter {
        true => {
            let detail = json!({ "type": "reasoning.text", "text": text, "format": "anthropic-claude-v1", "index": 0 });
            json!({ "content": "", "reasoning": text, "reasoning_details": [detail] })
        }
        false => json!({ "reasoning_content": text }),
    };
    let mut deltas: Vec<Value> = words(THOUGHTS, 1).into_iter().map(thought).collect();
    deltas.extend(words(WORDS, 1).into_iter().map(|text| json!({ "content": text })));
    for (index, call) in calls().into_iter().enumerate() {
        let function = json!({ "name": call.name, "arguments": "" });
        let begun = json!({ "index": index, "id": call.id, "type": "function", "function": function });
        deltas.push(json!({ "tool_calls": [begun] }));
        let more = |piece| json!({ "tool_calls": [{ "index": index, "function": { "arguments": piece } }] });
        deltas.extend(pieces(&call).into_iter().map(more));
    }
    let mut events: Vec<Value> = deltas.into_iter().map(|delta| chunk(delta, Value::Null)).collect();
    events.push(chunk(json!({}), "tool_calls".into()));
    let mut usage = chunk(json!({}), Value::Null);
    usage["choices"] = json!([]);
    usage["usage"] = json!({ "prompt_tokens": 900, "completion_tokens": 1211, "total_tokens": 2111 });
    events.push(usage);
    let mut stream = data(events);
    stream.extend_from_slice(b"data: [DONE]\n\n");
    stream
}

fn ollama() -> Vec<u8> {
    let thoughts = words(THOUGHTS, 1)
        .into_iter()
        .map(|text| json!({ "role": "assistant", "content": "", "thinking": text }));
    let said = words(WORDS, 1).into_iter().map(|text| json!({ "role": "assistant", "content": text }));
    let calls = calls().into_iter().map(|Call { id, name, arguments }| {
        let call = json!({ "id": id, "function": { "name": name, "arguments": arguments } });
        json!({ "role": "assistant", "content": "", "tool_calls": [call] })
    });
    let line = |message: Value| json!({ "model": "some-model", "created_at": "2026-11-21T10:00:00.123456Z", "message": message, "done": false });
    let mut lines: Vec<Value> = thoughts.chain(said).chain(calls).map(line).collect();
    let mut last = line(json!({ "role": "assistant", "content": "" }));
    last["done"] = true.into();
    last["done_reason"] = "stop".into();
    last["prompt_eval_count"] = 226.into();
    last["eval_count"] = 1211.into();
    lines.push(last);
    lines.into_iter().flat_map(|line| format!("{line}\n").into_bytes()).collect()
}
