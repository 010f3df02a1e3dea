//! Responses, as OpenAI and xAI have it.

use axum::http::HeaderMap;
use protocol::turn::Usage;
use serde_json::{Value, json};

use super::{CREATED, Dialect, Saying, Wrong, bad, items, names, picture_of_url, response, text};
use crate::fake_model::asked::{Answer, Call, Heard, Said, ToolResult};
use crate::fake_model::computer::Computer;
use crate::fake_model::history::{Flaw, Given};

mod computer;
mod speech;
mod tools;

use speech::Speech;
use tools::Tools;

#[derive(Clone, Copy, PartialEq, Eq)]
pub(in crate::fake_model) enum Responses {
    OpenAi,
    /// No `instructions`, results of text only; it tells its price.
    Xai,
}

impl Dialect for Responses {
    fn read(&self, _: &HeaderMap, body: &Value) -> Result<Heard, Wrong> {
        if *self == Self::Xai && !body["instructions"].is_null() {
            return bad("Argument not supported: instructions");
        }
        let Tools { functions, searches, computer } = tools::read(*self, body)?;
        let mut reader = Reader { dialect: *self, computer, messages: Vec::new() };
        let mut system = text(body, "instructions").to_owned();
        for (at, item) in items(body, "input").iter().enumerate() {
            match (text(item, "type"), text(item, "role")) {
                ("message" | "", "system" | "developer") => system.push_str(text(item, "content")),
                ("message" | "", "assistant") => reader.words(item),
                ("web_search_call", _) => reader.search(item),
                ("custom_tool_call", _) if *self == Self::Xai => reader.search(item),
                ("message" | "", "user") => reader.user(item, at)?,
                ("reasoning", _) => reader.reasoning(item)?,
                ("function_call", _) => reader.call(item),
                ("computer_call", _) if *self == Self::OpenAi => reader.actions(item),
                ("computer_call_output", _) if *self == Self::OpenAi => reader.picture(item, at)?,
                ("function_call_output", _) => reader.result(item, at)?,
                (kind, _) => return unsupported(kind, &format!("input[{at}]")),
            }
        }
        if let Some(id) = reader.open_reasoning() {
            return bad(&format!(
                "Item '{id}' of type 'reasoning' was provided without its required following item."
            ));
        }
        Ok(Heard {
            system,
            tools: functions,
            searches,
            computer: reader.computer,
            messages: reader.messages,
            thinks: *self == Self::Xai || body["reasoning"]["summary"].is_string(),
            binds: false,
        })
    }

    fn flaw(&self, flaw: &Flaw) -> String {
        let id_of = |value: &Value| text(value, "id").to_owned();
        match flaw {
            Flaw::Empty | Flaw::NotTheUserFirst | Flaw::NotTheUserLast => {
                "One of \"input\" or \"previous_response_id\" or 'prompt' or 'conversation_id' must be provided.".into()
            }
            Flaw::Unanswered { ids, .. } => {
                format!("No tool output found for function call {}.", ids.first().map_or("", String::as_str))
            }
            Flaw::Unasked { id, .. } | Flaw::Swapped { id, .. } => {
                format!("No tool call found for function call output with call_id {id}.")
            }
            Flaw::Lost { raw, .. } => {
                let call = raw.iter().find(|item| item["type"] == "function_call").map(id_of);
                let thought = raw.iter().find(|item| item["type"] == "reasoning").map(id_of);
                format!(
                    "Item '{}' of type 'function_call' was provided without its required 'reasoning' item: '{}'.",
                    call.unwrap_or_default(),
                    thought.unwrap_or_default()
                )
            }
            Flaw::Changed { .. } | Flaw::Forged { .. } | Flaw::Bound { .. } => {
                "The encrypted content could not be verified. Reason: Encrypted content could not be decrypted or parsed.".into()
            }
        }
    }

    fn speak(&self, saying: &Saying<'_>) -> (Vec<String>, Given) {
        let told = match self {
            Self::OpenAi => saying.usage,
            // It writes no cache that costs.
            Self::Xai => Usage { cache_write: 0, ..saying.usage },
        };
        let billed = (*self == Self::Xai).then(|| saying.charge());
        let given = Given { usage: told, billed, ..Given::default() };
        let mut speech = Speech::new(saying.number, given);
        let response = |status: &str, output: &[Value], usage: Value| {
            json!({
                "id": format!("resp_{:048}", saying.number), "object": "response", "created_at": CREATED,
                "status": status, "error": null, "incomplete_details": null, "model": saying.asked.model,
                "output": output, "parallel_tool_calls": true, "store": false, "usage": usage,
            })
        };
        let begun = response("in_progress", &[], Value::Null);
        speech.say(json!({ "type": "response.created", "response": begun.clone() }));
        speech.say(json!({ "type": "response.in_progress", "response": begun }));
        if !saying.turn.thinking.is_empty() {
            speech.think(&saying.turn.thinking, &saying.signature("reasoning"));
        }
        if let Some(search) = &saying.turn.search {
            speech.search(&search.query, &search.found);
            if *self == Self::Xai {
                speech.search_x(&search.query);
            }
        }
        if !saying.turn.text.is_empty() {
            let found = saying.turn.search.as_ref().map(|search| search.found.as_slice());
            speech.tell(&saying.turn.text, found.unwrap_or_default());
        }
        for call in saying.calls(self) {
            speech.call(&call);
        }
        for item in computer::items_of(saying) {
            speech.actions(item);
        }
        let mut usage = json!({
            "input_tokens": told.input,
            "input_tokens_details": { "cached_tokens": told.cached, "cache_write_tokens": told.cache_write },
            "output_tokens": told.output + told.thinking,
            "output_tokens_details": { "reasoning_tokens": told.thinking },
            "total_tokens": told.input + told.output + told.thinking,
        });
        if let Some(ticks) = billed {
            usage["cost_in_usd_ticks"] = json!(ticks);
        }
        let whole = response("completed", &speech.output, usage);
        speech.say(json!({ "type": "response.completed", "response": whole }));
        (speech.events, speech.given)
    }

    fn refuse(&self, wrong: &Wrong) -> (u16, Value) {
        let (status, kind, code, message) = match wrong {
            Wrong::NoKey => {
                (401, "invalid_request_error", Value::Null, "You didn't provide an API key.".to_owned())
            }
            Wrong::BadKey => (
                401,
                "invalid_request_error",
                json!("invalid_api_key"),
                "Incorrect API key provided.".to_owned(),
            ),
            Wrong::NotFound(what) => (
                404,
                "invalid_request_error",
                json!("model_not_found"),
                format!("The model `{what}` does not exist or you do not have access to it."),
            ),
            Wrong::Bad(message) => (400, "invalid_request_error", Value::Null, message.clone()),
        };
        match self {
            Self::OpenAi => {
                let error = json!({ "message": message, "type": kind, "param": null, "code": code });
                (status, json!({ "error": error }))
            }
            Self::Xai => {
                let code = match wrong {
                    Wrong::NoKey | Wrong::BadKey => {
                        "The caller does not have permission to execute the specified operation"
                    }
                    Wrong::NotFound(_) => "Some requested entity was not found",
                    Wrong::Bad(_) => "Client specified an invalid argument",
                };
                (status, json!({ "code": code, "error": message }))
            }
        }
    }
}

fn unsupported<T>(kind: &str, place: &str) -> Result<T, Wrong> {
    bad(&format!("Invalid value: '{kind}' at '{place}'. Supported values are listed in the documentation."))
}

fn texts(item: &Value) -> String {
    match &item["content"] {
        Value::String(text) => text.clone(),
        _ => items(item, "content").iter().map(|part| text(part, "text")).collect(),
    }
}

/// Items put together into messages.
struct Reader {
    dialect: Responses,
    computer: Option<Computer>,
    messages: Vec<Said>,
}

impl Reader {
    /// The turn that is being told; a new one after anything else.
    fn tell(&mut self, told: impl FnOnce(&mut Answer)) {
        if let Some(Said::Assistant(answer)) = self.messages.last_mut() {
            return told(answer);
        }
        let mut answer = Answer::default();
        told(&mut answer);
        self.messages.push(Said::Assistant(answer));
    }

    fn words(&mut self, item: &Value) {
        let is_cited = items(item, "content").iter().any(|part| !items(part, "annotations").is_empty());
        self.tell(|answer| {
            answer.text.push_str(&texts(item));
            if is_cited && item["id"].is_string() {
                answer.raw.push(item.clone());
            }
        });
    }

    /// A search of the provider's own.
    fn search(&mut self, item: &Value) {
        self.tell(|answer| {
            answer.signatures.push(text(item, "id").to_owned());
            answer.raw.push(item.clone());
        });
    }

    fn reasoning(&mut self, item: &Value) -> Result<(), Wrong> {
        let Some(sealed) = item["encrypted_content"].as_str() else {
            let id = text(item, "id");
            return bad(&format!(
                "Item with id '{id}' not found. Items are not persisted when `store` is set to false. Try again with `store` set to true, or remove this item from your input."
            ));
        };
        self.tell(|answer| {
            answer.signatures.push(sealed.to_owned());
            answer.raw.push(item.clone());
        });
        Ok(())
    }

    fn call(&mut self, item: &Value) {
        self.tell(|answer| {
            answer.calls.push(Call {
                id: item["call_id"].as_str().map(str::to_owned),
                name: text(item, "name").to_owned(),
                arguments: response(text(item, "arguments")),
            });
            // Those without an id of their own were told in neutral form.
            if item["id"].is_string() {
                answer.raw.push(item.clone());
            }
        });
    }

    /// A call of the computer tool.
    fn actions(&mut self, item: &Value) {
        self.tell(|answer| {
            answer.signatures.push(text(item, "id").to_owned());
            answer.calls.push(Call {
                id: item["call_id"].as_str().map(str::to_owned),
                name: "computer".to_owned(),
                arguments: json!({ "actions": item["actions"] }),
            });
            answer.raw.push(item.clone());
        });
    }

    /// The answer to one.
    fn picture(&mut self, item: &Value, at: usize) -> Result<(), Wrong> {
        let turns = self.messages.iter().rev().filter_map(|said| match said {
            Said::Assistant(answer) => Some(answer),
            Said::User { .. } | Said::Results(_) => None,
        });
        let call =
            turns.take(1).flat_map(|answer| &answer.raw).find(|call| call["call_id"] == item["call_id"]);
        let result = computer::answer(item, call, self.computer.as_ref(), at)?;
        self.push(result);
        Ok(())
    }

    fn push(&mut self, result: ToolResult) {
        match self.messages.last_mut() {
            Some(Said::Results(results)) => results.push(result),
            _ => self.messages.push(Said::Results(vec![result])),
        }
    }

    /// The id of a thought after which nothing comes.
    fn open_reasoning(&self) -> Option<String> {
        self.messages.iter().find_map(|said| match said {
            Said::Assistant(answer) if answer.calls.is_empty() && answer.text.is_empty() => {
                answer.raw.first().map(|item| text(item, "id").to_owned())
            }
            _ => None,
        })
    }

    fn result(&mut self, item: &Value, at: usize) -> Result<(), Wrong> {
        let id = text(item, "call_id").to_owned();
        let mut result = ToolResult { id: Some(id), ..ToolResult::default() };
        match &item["output"] {
            Value::String(text) => result.response = response(text),
            _ if self.dialect == Responses::Xai => {
                return bad(&format!("input[{at}].output: invalid type: sequence, expected a string"));
            }
            _ => {
                for part in items(item, "output") {
                    match text(part, "type") {
                        "input_text" => result.response = response(text(part, "text")),
                        "input_image" => result.images.push(image(part, at)?),
                        kind => return unsupported(kind, &format!("input[{at}].output")),
                    }
                }
            }
        }
        self.push(result);
        Ok(())
    }

    /// The user's words, which may be of an action, named in brackets; with xAI also the pictures of results, each named by words before it.
    fn user(&mut self, item: &Value, at: usize) -> Result<(), Wrong> {
        let (mut texts, mut images) = (Vec::new(), Vec::new());
        if let Some(text) = item["content"].as_str() {
            texts.push(text.to_owned());
        }
        for part in items(item, "content") {
            match text(part, "type") {
                "input_text" => texts.push(text(part, "text").to_owned()),
                "input_image" => images.push(image(part, at)?),
                kind => return unsupported(kind, &format!("input[{at}].content")),
            }
        }
        if let (Some(Said::Results(results)), Responses::Xai) = (self.messages.last_mut(), self.dialect)
            && let (Some(words), false) = (texts.first(), images.is_empty())
        {
            let named = |result: &&mut ToolResult| result.id.as_ref().is_some_and(|id| names(words, id));
            if let Some(result) = results.iter_mut().find(named) {
                result.images.extend(images);
                return Ok(());
            }
        }
        if let (Some(Said::Results(results)), [words]) = (self.messages.last_mut(), texts.as_slice())
            && let Some((id, said)) = words.strip_prefix("[of ").and_then(|words| words.split_once(": "))
            && let Some(result) = results.iter_mut().find(|result| result.id.as_deref() == Some(id))
        {
            result.response = json!({ "said": said.trim_end_matches(']') });
            return Ok(());
        }
        self.messages.push(Said::User { texts, images });
        Ok(())
    }
}

fn image(part: &Value, at: usize) -> Result<Vec<u8>, Wrong> {
    picture_of_url(text(part, "image_url")).ok_or_else(|| {
        Wrong::Bad(format!(
            "Invalid 'input[{at}].image_url'. The image data you provided does not represent a valid image."
        ))
    })
}
