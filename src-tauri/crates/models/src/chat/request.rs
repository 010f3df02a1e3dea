//! What is asked by Chat Completions: the body of a request from neutral messages.
//!
//! Pure, and the same bytes for the same messages but for OpenRouter's marks of what to cache, which move on with the
//! newest words. They are of text alone (its documentation, "Prompt caching"), so text stands last there.

use serde_json::{Value, json};

use crate::conversation::{Said, Target, data_url, mark, marked, said};
use crate::text::{ObjectText, list, written};
use crate::{Image, Part, Request, ToolAnswer, ToolSpec};

/// Whose habits the body has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Manner {
    /// What every server of this wire takes: tool messages are text, pictures follow as the user's.
    Plain,
    /// Pictures in tool messages, and marks of what to cache: of the user and tools everything is in parts.
    OpenRouter,
}

pub(crate) fn body(request: &Request, target: Target<'_>, manner: Manner) -> String {
    let options = target.options;
    let mut body = ObjectText::new();
    body.field("model", target.model);
    body.field("stream", &true);
    match manner {
        Manner::Plain => body.field("stream_options", &json!({ "include_usage": true })),
        Manner::OpenRouter => {
            if options.thinking {
                body.field("reasoning", &json!({ "enabled": true }));
            }
            // Only who serves all that is asked for: tools above all.
            body.field("provider", &json!({ "require_parameters": true }));
            if options.search {
                body.field("plugins", &json!([{ "id": "web" }]));
            }
        }
    }
    if let Some(most) = options.max_output {
        body.field("max_tokens", &most);
    }
    if !request.tools.is_empty() {
        body.verbatim("tools", &list(request.tools.iter().map(tool)));
        body.field("tool_choice", "auto");
    }
    let mut messages = Vec::new();
    if !request.system.is_empty() {
        messages.push(system(&request.system, manner));
    }
    let all = said(request, target.provider);
    for (one, is_marked) in all.iter().zip(marked(&all)) {
        tell(one, manner, is_marked && manner == Manner::OpenRouter, &mut messages);
    }
    body.verbatim("messages", &list(&messages));
    body.finish()
}

pub(crate) fn tool(tool: &ToolSpec) -> String {
    let mut function = ObjectText::new();
    function.field("name", &tool.name);
    function.field("description", &tool.description);
    function.field("parameters", &tool.schema);
    let mut told = ObjectText::new();
    told.field("type", "function");
    told.verbatim("function", &function.finish());
    told.finish()
}

fn system(text: &str, manner: Manner) -> String {
    let content = match manner {
        Manner::Plain => text.into(),
        Manner::OpenRouter => content(vec![text_part(text)], true),
    };
    written(&json!({ "role": "system", "content": content }))
}

/// Parts, the last text of them marked for the cache where that is wanted.
fn content(mut parts: Vec<Value>, is_marked: bool) -> Value {
    let last = parts.iter_mut().rfind(|part| part["type"] == "text");
    last.filter(|_| is_marked).map(mark);
    parts.into()
}

fn tell(said: &Said<'_>, manner: Manner, is_marked: bool, messages: &mut Vec<String>) {
    match said {
        Said::Own(json) => messages.push(json.clone().into_owned()),
        Said::Assistant { text, calls } => {
            let content = if text.trim().is_empty() { Value::Null } else { (*text).into() };
            let mut message = json!({ "role": "assistant", "content": content });
            let calls: Vec<Value> = calls
                .iter()
                .map(|(id, call)| {
                    let function = json!({ "name": call.name, "arguments": written(&call.arguments) });
                    json!({ "id": id, "type": "function", "function": function })
                })
                .collect();
            if !calls.is_empty() {
                message["tool_calls"] = calls.into();
            }
            messages.push(written(&message));
        }
        Said::User(parts) => messages.push(user(parts, manner, is_marked)),
        Said::Answers { answers, .. } => {
            let last = answers.len().saturating_sub(1);
            let told = answers.iter().enumerate();
            messages.extend(told.map(|(at, (id, one))| answer(id, one, manner, is_marked && at == last)));
            let pictures = answers.iter().filter_map(|(id, one)| Some((id, one.image.as_ref()?)));
            let following: Vec<Value> = pictures
                .filter(|_| manner == Manner::Plain)
                .flat_map(|(id, image)| [text_part(&format!("Result image of {id}:")), picture(image)])
                .collect();
            if !following.is_empty() {
                messages.push(written(&json!({ "role": "user", "content": following })));
            }
        }
    }
}

/// Text alone is sent as text: some local servers take no parts.
fn user(parts: &[Part], manner: Manner, is_marked: bool) -> String {
    let content = match (parts, manner) {
        ([Part::Text(text)], Manner::Plain) => text.as_str().into(),
        (parts, _) => {
            let part = |part: &Part| match part {
                Part::Text(text) => text_part(text),
                Part::Image(image) => picture(image),
            };
            content(parts.iter().map(part).collect(), is_marked)
        }
    };
    written(&json!({ "role": "user", "content": content }))
}

fn text_part(text: &str) -> Value {
    json!({ "type": "text", "text": text })
}

fn picture(image: &Image) -> Value {
    json!({ "type": "image_url", "image_url": { "url": data_url(image) } })
}

fn answer(id: &str, answer: &ToolAnswer, manner: Manner, is_marked: bool) -> String {
    let text = written(&answer.response);
    let content = match manner {
        Manner::Plain => text.into(),
        Manner::OpenRouter => {
            let picture = answer.image.as_ref().map(picture);
            content(picture.into_iter().chain([text_part(&text)]).collect(), is_marked)
        }
    };
    written(&json!({ "role": "tool", "tool_call_id": id, "content": content }))
}
