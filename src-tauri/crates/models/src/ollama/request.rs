//! What is asked of Ollama: the body of a request from neutral messages.
//!
//! Pure, and the same bytes for the same messages.

use serde_json::{Value, json};

use crate::chat::tool;
use crate::conversation::{Entry, Target, base64, entries, object};
use crate::json_text::{JsonObject, json_list, to_json};
use crate::{Image, Part, Request};

/// The context window. Without the field, Ollama silently cuts the conversation to 4,096 tokens.
const CONTEXT: u32 = 32_768;
/// How long the model stays in memory between two turns of a run.
const KEEP: &str = "10m";

pub(crate) fn body(request: &Request, target: Target<'_>) -> String {
    let options = target.options;
    let mut body = JsonObject::new();
    body.field("model", target.model);
    body.field("stream", &true);
    body.field("keep_alive", KEEP);
    let mut knobs = json!({ "num_ctx": options.context.unwrap_or(CONTEXT) });
    if let Some(most) = target.max_output(request) {
        knobs["num_predict"] = most.into();
    }
    body.field("options", &knobs);
    if !request.tools.is_empty() {
        body.verbatim("tools", &json_list(request.tools.iter().map(tool)));
    }
    let mut messages = Vec::new();
    if !request.system.is_empty() {
        messages.push(to_json(&json!({ "role": "system", "content": request.system })));
    }
    for one in entries(request, target.provider) {
        add(&one, &mut messages);
    }
    body.verbatim("messages", &json_list(&messages));
    body.finish()
}

fn add(entry: &Entry<'_>, messages: &mut Vec<String>) {
    match entry {
        Entry::Own(json) => messages.push(json.clone().into_owned()),
        Entry::Assistant { text, calls } => {
            let mut message = json!({ "role": "assistant", "content": text });
            let calls: Vec<Value> = calls
                .iter()
                .map(|(_, call)| {
                    let arguments = object(&call.arguments, "arguments");
                    json!({ "function": { "name": call.name, "arguments": arguments } })
                })
                .collect();
            if !calls.is_empty() {
                message["tool_calls"] = calls.into();
            }
            messages.push(to_json(&message));
        }
        Entry::User(parts) => {
            let text = |part: &Part| match part {
                Part::Text(text) => Some(text.clone()),
                Part::Image(_) => None,
            };
            let image = |part: &Part| match part {
                Part::Image(image) => Some(base64(image)),
                Part::Text(_) => None,
            };
            let content = parts.iter().filter_map(text).collect::<Vec<_>>().join("\n\n");
            let images: Vec<String> = parts.iter().filter_map(image).collect();
            let mut message = json!({ "role": "user", "content": content });
            if !images.is_empty() {
                message["images"] = images.into();
            }
            messages.push(to_json(&message));
        }
        Entry::Answers { answers, .. } => messages.extend(answers.iter().map(|(_, answer)| {
            let content = to_json(&answer.response);
            let mut message = json!({ "role": "tool", "tool_name": answer.name, "content": content });
            if let Some(image) = &answer.image {
                message["images"] = json!([picture(image)]);
            }
            to_json(&message)
        })),
    }
}

fn picture(image: &Image) -> Value {
    base64(image).into()
}
