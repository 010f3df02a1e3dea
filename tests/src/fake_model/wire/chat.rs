//! Chat Completions, plain and as OpenRouter has it.

use axum::http::HeaderMap;
use protocol::turn::Usage;
use serde_json::{Value, json};

use super::{
    CREATED, Dialect, Saying, Wrong, bad, halves, items, names, picture_of_url, response, text,
    unknown_field, words,
};
use crate::fake_model::asked::{Answer, Call, Heard, Said, ToolResult};
use crate::fake_model::history::{Flaw, Given};

#[derive(Clone, Copy, PartialEq, Eq)]
pub(in crate::fake_model) enum Chat {
    /// A server of one's own: no key, no pictures in tool messages, no price.
    Plain,
    OpenRouter,
}

impl Dialect for Chat {
    fn needs_key(&self) -> bool {
        *self == Self::OpenRouter
    }

    fn read(&self, _: &HeaderMap, body: &Value) -> Result<Heard, Wrong> {
        let (mut system, mut messages) = (String::new(), Vec::new());
        for (at, message) in items(body, "messages").iter().enumerate() {
            match text(message, "role") {
                "system" | "developer" => system.push_str(&self.content(message, at)?.0.concat()),
                "user" => self.user(message, at, &mut messages)?,
                "assistant" => messages.push(Said::Assistant(answer(message, at)?)),
                "tool" => self.result(message, at, &mut messages)?,
                role => return bad(&format!("Invalid value: '{role}' at 'messages[{at}].role'.")),
            }
        }
        let tools = items(body, "tools").iter().map(|tool| text(&tool["function"], "name").to_owned());
        // Servers of one's own think as they please.
        let thinks = *self == Self::Plain || body["reasoning"].is_object();
        let searches = self.plugins(body)?;
        Ok(Heard { system, tools: tools.collect(), searches, messages, thinks, ..Heard::default() })
    }

    fn flaw(&self, flaw: &Flaw) -> String {
        match flaw {
            Flaw::Empty | Flaw::NotTheUserFirst | Flaw::NotTheUserLast => {
                "Invalid 'messages': expected the conversation to begin and end with words that are not the model's.".into()
            }
            Flaw::Unanswered { ids, .. } => format!(
                "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: {}",
                ids.join(", ")
            ),
            Flaw::Unasked { at, .. } | Flaw::Swapped { at, .. } => format!(
                "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls' (messages[{at}])."
            ),
            Flaw::Lost { at, .. } | Flaw::Changed { at } | Flaw::Forged { at } | Flaw::Bound { at } => {
                format!("messages[{at}]: tool calls and `reasoning_details` must be passed back unmodified.")
            }
        }
    }

    fn speak(&self, saying: &Saying<'_>) -> (Vec<String>, Given) {
        let turn = saying.turn;
        let told = match self {
            // Nothing is written that costs.
            Self::Plain => Usage { cache_write: 0, ..saying.usage },
            Self::OpenRouter => saying.usage,
        };
        let billed = (*self == Self::OpenRouter).then(|| saying.charge());
        let mut given = Given { usage: told, billed, ..Given::default() };
        let mut events = Vec::new();
        let chunk = |choices: Value| {
            json!({
                "id": format!("chatcmpl-{}", saying.number), "object": "chat.completion.chunk",
                "created": CREATED, "model": saying.asked.model, "choices": choices,
            })
        };
        let mut say = |delta: Value, reason: Value| {
            let choice = json!({ "index": 0, "delta": delta, "logprobs": null, "finish_reason": reason });
            events.push(format!("data: {}\n\n", chunk(json!([choice]))));
        };
        say(json!({ "role": "assistant", "content": "" }), Value::Null);
        let detail = |more: Value| {
            let mut detail = json!({ "type": "reasoning.text", "format": "anthropic-claude-v1", "index": 0 });
            if let (Value::Object(detail), Value::Object(more)) = (&mut detail, more) {
                detail.extend(more);
            }
            detail
        };
        for word in words(&turn.thinking) {
            match self {
                Self::Plain => say(json!({ "reasoning_content": word }), Value::Null),
                Self::OpenRouter => {
                    let details = json!([detail(json!({ "text": word }))]);
                    say(json!({ "reasoning": word, "reasoning_details": details }), Value::Null);
                }
            }
        }
        if !turn.thinking.is_empty() && *self == Self::OpenRouter {
            let signature = saying.signature("reasoning");
            let details = json!([detail(json!({ "signature": signature }))]);
            say(json!({ "content": "", "reasoning_details": details }), Value::Null);
            given.raw.push(detail(json!({ "text": turn.thinking, "signature": signature })));
            given.verbatim.push(format!(r#""signature":"{signature}""#));
            given.signatures.push(signature);
        }
        for word in words(&turn.text) {
            say(json!({ "content": word }), Value::Null);
        }
        if let Some(search) = &turn.search {
            let end = turn.text.chars().count();
            let cited = search.found.iter().map(|(url, title)| {
                let place =
                    json!({ "url": url, "title": title, "content": "", "start_index": 0, "end_index": end });
                json!({ "type": "url_citation", "url_citation": place })
            });
            say(json!({ "content": "", "annotations": cited.collect::<Vec<_>>() }), Value::Null);
        }
        for (index, call) in saying.calls(self).into_iter().enumerate() {
            let function = |name: &str, arguments: &str| json!({ "name": name, "arguments": arguments });
            let whole = |arguments: &str| json!({ "id": call.id, "type": "function", "function": function(&call.name, arguments) });
            let mut begun = whole("");
            begun["index"] = json!(index);
            say(json!({ "tool_calls": [begun] }), Value::Null);
            for piece in halves(&call.arguments) {
                let more = json!({ "index": index, "function": { "arguments": piece } });
                say(json!({ "tool_calls": [more] }), Value::Null);
            }
            given.raw.push(whole(&call.arguments));
            given.verbatim.push(format!(r#""arguments":{}"#, json!(call.arguments)));
            given.ids.push(call.id.clone());
        }
        say(json!({}), json!(if turn.calls.is_empty() { "stop" } else { "tool_calls" }));
        let mut last = chunk(json!([]));
        last["usage"] = usage(told, billed);
        events.push(format!("data: {last}\n\n"));
        events.push("data: [DONE]\n\n".into());
        if *self == Self::OpenRouter {
            events.insert(1, ": OPENROUTER PROCESSING\n\n".into());
        }
        (events, given)
    }

    fn refuse(&self, wrong: &Wrong) -> (u16, Value) {
        let (status, code, message) = match wrong {
            Wrong::NoKey => (401, Value::Null, "No auth credentials found".to_owned()),
            Wrong::BadKey => (401, json!("invalid_api_key"), "Incorrect API key provided.".to_owned()),
            Wrong::NotFound(what) => {
                (404, json!("model_not_found"), format!("The model `{what}` does not exist."))
            }
            Wrong::Bad(message) => (400, Value::Null, message.clone()),
        };
        let error = match self {
            Self::Plain => {
                json!({ "message": message, "type": "invalid_request_error", "param": null, "code": code })
            }
            Self::OpenRouter => json!({ "code": status, "message": message }),
        };
        (status, json!({ "error": error }))
    }
}

fn usage(told: Usage, billed: Option<u64>) -> Value {
    let output = told.output + told.thinking;
    let mut usage = json!({
        "prompt_tokens": told.input, "completion_tokens": output, "total_tokens": told.input + output,
        "prompt_tokens_details": { "cached_tokens": told.cached, "cache_write_tokens": told.cache_write },
        "completion_tokens_details": { "reasoning_tokens": told.thinking },
    });
    if let Some(ticks) = billed {
        usage["cost"] = json!(ticks as f64 / 1e10);
    }
    usage
}

type Content = (Vec<String>, Vec<Vec<u8>>);

/// What OpenRouter's search may be told.
const OF_WEB: [&str; 6] =
    ["id", "engine", "max_results", "search_prompt", "include_domains", "exclude_domains"];

impl Chat {
    /// The searches among the plugins; servers of one's own have none.
    fn plugins(&self, body: &Value) -> Result<Vec<String>, Wrong> {
        let mut searches = Vec::new();
        for (at, plugin) in items(body, "plugins").iter().enumerate() {
            let id = text(plugin, "id");
            match (self, unknown_field(plugin, &OF_WEB)) {
                (Self::OpenRouter, None) if id == "web" => searches.push(id.to_owned()),
                (Self::OpenRouter, _) => return bad(&format!("Invalid input at 'plugins[{at}]'.")),
                (Self::Plain, _) => return bad("Unrecognized request argument supplied: plugins"),
            }
        }
        Ok(searches)
    }

    /// Words and pictures of a message.
    fn content(&self, message: &Value, at: usize) -> Result<Content, Wrong> {
        let (mut texts, mut images) = (Vec::new(), Vec::new());
        if let Some(text) = message["content"].as_str() {
            texts.push(text.to_owned());
        }
        let role = text(message, "role");
        for part in items(message, "content") {
            match text(part, "type") {
                "text" => texts.push(text(part, "text").to_owned()),
                "image_url" if role != "user" && *self == Self::Plain => {
                    return bad(&format!(
                        "Invalid 'messages[{at}]'. Image URLs are only allowed for messages with role 'user', but this message with role '{role}' contains an image URL."
                    ));
                }
                "image_url" => {
                    let url = text(&part["image_url"], "url");
                    let image = picture_of_url(url).ok_or_else(|| {
                        Wrong::Bad(format!("Invalid 'messages[{at}]'. The image data you provided does not represent a valid image."))
                    });
                    images.push(image?);
                }
                kind => {
                    return bad(&format!(
                        "Invalid value: '{kind}' at 'messages[{at}].content'. Supported values are: 'text', 'image_url'."
                    ));
                }
            }
        }
        Ok((texts, images))
    }

    fn result(&self, message: &Value, at: usize, messages: &mut Vec<Said>) -> Result<(), Wrong> {
        let Some(id) = message["tool_call_id"].as_str() else {
            return bad(&format!("Missing required parameter: 'messages[{at}].tool_call_id'."));
        };
        let (texts, images) = self.content(message, at)?;
        let response = response(&texts.concat());
        let result = ToolResult { id: Some(id.to_owned()), response, images, ..ToolResult::default() };
        match messages.last_mut() {
            Some(Said::Results(results)) => results.push(result),
            _ => messages.push(Said::Results(vec![result])),
        }
        Ok(())
    }

    /// The user's words; or pictures of the results before, each after words that name its call.
    fn user(&self, message: &Value, at: usize, messages: &mut Vec<Said>) -> Result<(), Wrong> {
        let (texts, images) = self.content(message, at)?;
        if let (Some(Said::Results(results)), Self::Plain, false) =
            (messages.last_mut(), self, images.is_empty())
        {
            let result_of = |words: &String| {
                results.iter().position(|result| result.id.as_ref().is_some_and(|id| names(words, id)))
            };
            let named: Vec<Option<usize>> = texts.iter().map(result_of).collect();
            if named.len() == images.len() && named.iter().all(Option::is_some) {
                for (place, image) in named.into_iter().flatten().zip(images) {
                    results[place].images.push(image);
                }
                return Ok(());
            }
        }
        messages.push(Said::User { texts, images });
        Ok(())
    }
}

fn answer(message: &Value, at: usize) -> Result<Answer, Wrong> {
    let mut answer = Answer { text: text(message, "content").to_owned(), ..Answer::default() };
    for detail in items(message, "reasoning_details") {
        let sealed = detail["signature"].as_str().or(detail["data"].as_str());
        answer.signatures.extend(sealed.map(str::to_owned));
        answer.raw.push(detail.clone());
    }
    for call in items(message, "tool_calls") {
        let (Some(id), Some(arguments)) = (call["id"].as_str(), call["function"]["arguments"].as_str())
        else {
            return bad(&format!("Missing required parameter: 'messages[{at}].tool_calls[0].id'."));
        };
        let name = text(&call["function"], "name").to_owned();
        answer.calls.push(Call { id: Some(id.to_owned()), name, arguments: response(arguments) });
        answer.raw.push(call.clone());
    }
    Ok(answer)
}
