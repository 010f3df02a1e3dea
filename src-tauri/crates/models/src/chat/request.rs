//! What is asked by Chat Completions: the body of a request from neutral messages.
//!
//! Pure, and the same bytes for the same messages but for OpenRouter's marks of what to cache, which move on with the
//! newest words. Only text can be marked (its documentation, "Prompt caching"), so text stands last there.

use serde_json::{Value, json};

use crate::conversation::{Entry, Target, data_url, entries, mark, marked};
use crate::json_text::{JsonObject, json_list, to_json};
use crate::{Image, Part, Request, ToolAnswer, ToolSpec};

/// The variants of this wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Dialect {
    /// What every server of this wire takes: tool messages are text, pictures follow as the user's.
    Plain,
    /// Pictures in tool messages, and cache marks: all content of the user and of tools is in parts.
    OpenRouter,
}

pub(crate) fn body(request: &Request, target: Target<'_>, dialect: Dialect) -> String {
    let options = target.options;
    let mut body = JsonObject::new();
    body.field("model", target.model);
    body.field("stream", &true);
    match dialect {
        Dialect::Plain => body.field("stream_options", &json!({ "include_usage": true })),
        Dialect::OpenRouter => {
            if options.thinking {
                body.field("reasoning", &json!({ "enabled": true }));
            }
            // Only providers that support all that is asked for, above all tools.
            body.field("provider", &json!({ "require_parameters": true }));
            if options.search {
                body.field("plugins", &json!([{ "id": "web" }]));
            }
        }
    }
    if let Some(most) = target.max_output(request) {
        body.field("max_tokens", &most);
    }
    if !request.tools.is_empty() {
        body.verbatim("tools", &json_list(request.tools.iter().map(tool)));
        body.field("tool_choice", "auto");
    }
    let mut messages = Vec::new();
    if !request.system.is_empty() {
        messages.push(system(&request.system, dialect));
    }
    let all = entries(request, target.provider);
    for (one, is_marked) in all.iter().zip(marked(&all)) {
        add(one, dialect, is_marked && dialect == Dialect::OpenRouter, &mut messages);
    }
    body.verbatim("messages", &json_list(&messages));
    body.finish()
}

pub(crate) fn tool(tool: &ToolSpec) -> String {
    let mut function = JsonObject::new();
    function.field("name", &tool.name);
    function.field("description", &tool.description);
    function.field("parameters", &tool.schema);
    let mut told = JsonObject::new();
    told.field("type", "function");
    told.verbatim("function", &function.finish());
    told.finish()
}

fn system(text: &str, dialect: Dialect) -> String {
    let content = match dialect {
        Dialect::Plain => text.into(),
        Dialect::OpenRouter => content(vec![text_part(text)], true),
    };
    to_json(&json!({ "role": "system", "content": content }))
}

/// Content in parts, with a cache mark on the last text if `is_marked`.
fn content(mut parts: Vec<Value>, is_marked: bool) -> Value {
    let last = parts.iter_mut().rfind(|part| part["type"] == "text");
    last.filter(|_| is_marked).map(mark);
    parts.into()
}

fn add(entry: &Entry<'_>, dialect: Dialect, is_marked: bool, messages: &mut Vec<String>) {
    match entry {
        Entry::Own(json) => messages.push(json.clone().into_owned()),
        Entry::Assistant { text, calls } => {
            let content = if text.trim().is_empty() { Value::Null } else { (*text).into() };
            let mut message = json!({ "role": "assistant", "content": content });
            let calls: Vec<Value> = calls
                .iter()
                .map(|(id, call)| {
                    let function = json!({ "name": call.name, "arguments": to_json(&call.arguments) });
                    json!({ "id": id, "type": "function", "function": function })
                })
                .collect();
            if !calls.is_empty() {
                message["tool_calls"] = calls.into();
            }
            messages.push(to_json(&message));
        }
        Entry::User(parts) => messages.push(user(parts, dialect, is_marked)),
        Entry::Answers { answers, .. } => {
            let last = answers.len().saturating_sub(1);
            let told = answers.iter().enumerate();
            messages.extend(told.map(|(at, (id, one))| answer(id, one, dialect, is_marked && at == last)));
            let pictures = answers.iter().filter_map(|(id, one)| Some((id, one.image.as_ref()?)));
            let following: Vec<Value> = pictures
                .filter(|_| dialect == Dialect::Plain)
                .flat_map(|(id, image)| [text_part(&format!("Result image of {id}:")), picture(image)])
                .collect();
            if !following.is_empty() {
                messages.push(to_json(&json!({ "role": "user", "content": following })));
            }
        }
    }
}

/// Text alone is sent as text: some local servers take no parts.
fn user(parts: &[Part], dialect: Dialect, is_marked: bool) -> String {
    let content = match (parts, dialect) {
        ([Part::Text(text)], Dialect::Plain) => text.as_str().into(),
        (parts, _) => {
            let part = |part: &Part| match part {
                Part::Text(text) => text_part(text),
                Part::Image(image) => picture(image),
            };
            content(parts.iter().map(part).collect(), is_marked)
        }
    };
    to_json(&json!({ "role": "user", "content": content }))
}

fn text_part(text: &str) -> Value {
    json!({ "type": "text", "text": text })
}

fn picture(image: &Image) -> Value {
    json!({ "type": "image_url", "image_url": { "url": data_url(image) } })
}

fn answer(id: &str, answer: &ToolAnswer, dialect: Dialect, is_marked: bool) -> String {
    let text = to_json(&answer.response);
    let content = match dialect {
        Dialect::Plain => text.into(),
        Dialect::OpenRouter => {
            let picture = answer.image.as_ref().map(picture);
            content(picture.into_iter().chain([text_part(&text)]).collect(), is_marked)
        }
    };
    to_json(&json!({ "role": "tool", "tool_call_id": id, "content": content }))
}
