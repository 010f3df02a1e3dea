//! What is asked of Anthropic: the body of a request from neutral messages.
//!
//! Pure, and the same bytes for the same messages but for the marks of what to cache, which stand at the end of the
//! stable prefix and of the newest words.

use serde::Deserialize;
use serde_json::{Value, json};

use crate::computer::Computer;
use crate::conversation::{Entry, MARK, Target, base64, entries, mark, mark_value, marked, object};
use crate::json_text::{JsonObject, json_list, to_json};
use crate::lenient::Lenient;
use crate::{Image, Message, NOT_EXECUTED, Part, Request, ToolAnswer, ToolSpec};

/// The field is required. All models of the last generations take this value.
const MAX_OUTPUT: u32 = crate::estimate::USUAL_OUTPUT;

pub(crate) fn body(request: &Request, target: Target<'_>) -> String {
    let options = target.options;
    let mut body = JsonObject::new();
    body.field("model", target.model);
    body.field("max_tokens", &target.max_output(request).unwrap_or(MAX_OUTPUT));
    body.field("stream", &true);
    if options.thinking {
        // Lets Anthropic drop thinking that compaction has moved out of its place, instead of refusing the request.
        let binding = json!({ "prefix_mismatch_behavior": "drop_block" });
        let thinking = json!({ "type": "adaptive", "display": "summarized", "block_binding": binding });
        body.field("thinking", &thinking);
    }
    if !request.system.is_empty() {
        let mut system = json!({ "type": "text", "text": request.system });
        mark(&mut system);
        body.field("system", &json!([system]));
    }
    let tools = tools(request, target);
    if !tools.is_empty() {
        body.verbatim("tools", &json_list(&tools));
        body.field("tool_choice", &json!({ "type": "auto" }));
    }
    body.verbatim("messages", &json_list(messages(request, target)));
    body.finish()
}

/// Our tools and the vendor's own, the last one with a cache mark.
fn tools(request: &Request, target: Target<'_>) -> Vec<String> {
    let mut own = Vec::new();
    if target.options.search {
        own.push(json!({ "type": "web_search_20250305", "name": "web_search", "max_uses": 5 }));
    }
    let computer = target.options.computer.zip(request.display);
    own.extend(computer.map(|(computer, display)| computer.declared(display)));
    if let Some(last) = own.last_mut() {
        mark(last);
    }
    let deferred = deferred(request, target);
    let ours: Vec<&ToolSpec> = match deferred.is_empty() {
        true => request.tools.iter().collect(),
        false => request.tools.iter().filter(|one| !is_one_of(&one.name, &deferred)).collect(),
    };
    let last = ours.len().checked_sub(1).filter(|_| own.is_empty());
    let ours = ours
        .into_iter()
        .enumerate()
        .map(|(at, one)| tool(one, &Loading::Now { is_marked: Some(at) == last }));
    let deferred = deferred.into_iter().map(|one| tool(one, &Loading::Deferred));
    ours.chain(own.iter().map(to_json)).chain(deferred).collect()
}

/// The tools that are no part of the prompt but where an answer names them: those that were not asked for, and those
/// that an answer in this conversation brings. One whose answer was left out of it is told of like the others.
fn deferred<'a>(request: &'a Request, target: Target<'_>) -> Vec<&'a ToolSpec> {
    if !target.options.defer_tools {
        return Vec::new();
    }
    let answers = request.messages.iter().flat_map(|message| match message {
        Message::ToolResults(answers) => answers.as_slice(),
        Message::User(_) | Message::Assistant(_) => &[],
    });
    let brought: Vec<&str> = answers.flat_map(|answer| brought(answer, request)).collect();
    let is_offered = |one: &ToolSpec| request.tools.iter().any(|other| other.name == one.name);
    let is_deferred = |one: &&ToolSpec| !is_offered(one) || brought.contains(&one.name.as_str());
    request.later.iter().filter(is_deferred).collect()
}

fn is_one_of(name: &str, tools: &[&ToolSpec]) -> bool {
    tools.iter().any(|tool| tool.name == name)
}

/// The tool of ours whose answer brings others.
const BRINGS_TOOLS: &str = "useTools";

/// The deferred tools that an answer brings; none if it has more to tell, since such an answer holds nothing but references.
fn brought<'a>(answer: &'a ToolAnswer, request: &Request) -> Vec<&'a str> {
    let has_more = ["error", "note", "picture", "changedByTheUser"]
        .iter()
        .any(|key| answer.response.get(key).is_some_and(|value| !value.is_null()));
    if answer.name != BRINGS_TOOLS || has_more || answer.image.is_some() {
        return Vec::new();
    }
    let named = answer.response["data"]["tools"].as_array().into_iter().flatten().filter_map(Value::as_str);
    named.filter(|name| request.later.iter().any(|one| one.name == *name)).collect()
}

enum Loading {
    Now { is_marked: bool },
    Deferred,
}

fn tool(tool: &ToolSpec, loading: &Loading) -> String {
    let mut told = JsonObject::new();
    told.field("name", &tool.name);
    told.field("description", &tool.description);
    told.field("input_schema", &tool.schema);
    match loading {
        Loading::Now { is_marked: false } => {}
        Loading::Now { is_marked: true } => told.field(MARK, &mark_value()),
        Loading::Deferred => told.field("defer_loading", &true),
    }
    told.finish()
}

fn messages(request: &Request, target: Target<'_>) -> Vec<String> {
    let all = entries(request, target.provider);
    let mut messages = Vec::with_capacity(all.len());
    for (one, is_marked) in all.iter().zip(marked(&all)) {
        let mut blocks = match one {
            Entry::Own(json) => {
                messages.push(format!(r#"{{"role":"assistant","content":{json}}}"#));
                continue;
            }
            Entry::Assistant { text, calls } => {
                let text = (!text.trim().is_empty()).then(|| json!({ "type": "text", "text": text }));
                let calls = calls.iter().map(|(id, call)| {
                    let input = object(&call.arguments, "arguments");
                    json!({ "type": "tool_use", "id": id, "name": call.name, "input": input })
                });
                let blocks: Vec<Value> = text.into_iter().chain(calls).collect();
                messages.push(to_json(&json!({ "role": "assistant", "content": blocks })));
                continue;
            }
            Entry::User(parts) => parts.iter().filter_map(part).collect::<Vec<_>>(),
            Entry::Answers { answers, own } => {
                let computer = target.options.computer.filter(|_| request.display.is_some());
                let actions = computer.zip(own.as_deref()).map_or_else(Vec::new, actions);
                let told = |(id, one): &(String, &ToolAnswer)| match computer {
                    Some(computer) if actions.contains(id) => done(id, one, computer),
                    _ => {
                        let brought = match target.options.defer_tools {
                            true => brought(one, request),
                            false => Vec::new(),
                        };
                        if brought.is_empty() { answer(id, one) } else { references(id, &brought) }
                    }
                };
                answers.iter().map(told).collect()
            }
        };
        if is_marked {
            blocks.last_mut().map(mark);
        }
        messages.push(to_json(&json!({ "role": "user", "content": blocks })));
    }
    messages
}

/// `None` for an empty text, which would be refused.
fn part(part: &Part) -> Option<Value> {
    match part {
        Part::Text(text) if text.trim().is_empty() => None,
        Part::Text(text) => Some(json!({ "type": "text", "text": text })),
        Part::Image(image) => Some(picture(image)),
    }
}

fn picture(image: &Image) -> Value {
    let source = json!({ "type": "base64", "media_type": image.media_type, "data": base64(image) });
    json!({ "type": "image", "source": source })
}

fn answer(id: &str, answer: &ToolAnswer) -> Value {
    let mut content = vec![json!({ "type": "text", "text": to_json(&answer.response) })];
    content.extend(answer.image.as_ref().map(picture));
    let failed = answer.response.get("error").is_some_and(|error| !error.is_null());
    json!({ "type": "tool_result", "tool_use_id": id, "is_error": failed, "content": content })
}

/// An answer by which the model gets deferred tools.
fn references(id: &str, tools: &[&str]) -> Value {
    let content: Vec<Value> =
        tools.iter().map(|name| json!({ "type": "tool_reference", "tool_name": name })).collect();
    json!({ "type": "tool_result", "tool_use_id": id, "content": content })
}

/// The fields that tell an action of the computer tool from a call of a function. The name does not: tools of ours have
/// names of actions, too.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Call {
    id: Lenient<Option<String>>,
    name: Lenient<String>,
    toolset_name: Lenient<String>,
}

/// The ids of a turn's calls that are the computer tool's.
fn actions((computer, turn): (Computer, &str)) -> Vec<String> {
    let calls: Vec<Call> = serde_json::from_str(turn).unwrap_or_default();
    let is_action = |call: &Call| {
        let tool = if computer == Computer::AnthropicToolset { &call.toolset_name } else { &call.name };
        tool.0 == "computer"
    };
    calls.into_iter().filter(is_action).filter_map(|call| call.id.0).collect()
}

/// What came of one of the vendor's own actions: words and a picture, or why it was not done.
fn done(id: &str, answer: &ToolAnswer, computer: Computer) -> Value {
    let response = &answer.response;
    let mut result = json!({ "type": "tool_result", "tool_use_id": id });
    if computer == Computer::AnthropicToolset {
        result["toolset_name"] = "computer".into();
    }
    if let Some(error) = response.get("error").filter(|error| !error.is_null()) {
        let message = error["message"].as_str().unwrap_or("it could not be done");
        result["is_error"] = true.into();
        result["content"] = match message {
            NOT_EXECUTED => message.into(),
            message => format!("Error: {message}").into(),
        };
        return result;
    }
    let said = [&response["summary"], &response["picture"]].into_iter().filter_map(Value::as_str);
    let said = said.filter(|words| !words.is_empty()).collect::<Vec<_>>().join("; ");
    let mut content = vec![json!({ "type": "text", "text": if said.is_empty() { "OK" } else { &said } })];
    content.extend(answer.image.as_ref().map(picture));
    result["content"] = content.into();
    result
}
