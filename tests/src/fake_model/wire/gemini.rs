//! Gemini's generateContent.

use axum::http::HeaderMap;
use serde_json::{Value, json};

use super::{Dialect, Saying, Wrong, bad, header_of, items, picture, text, words};
use crate::fake_model::asked::{Answer, Call, Heard, Said, ToolResult};
use crate::fake_model::history::{Flaw, Given};

mod computer;
mod search;
mod tools;

use tools::Tools;

pub(in crate::fake_model) struct Gemini;

/// What stands for a signature in history that another model made.
const IMPORTED: &str = "skip_thought_signature_validator";

impl Dialect for Gemini {
    fn key(&self, headers: &HeaderMap) -> Option<String> {
        header_of(headers, "x-goog-api-key")
    }

    fn read(&self, _: &HeaderMap, body: &Value) -> Result<Heard, Wrong> {
        let mut messages = Vec::new();
        for (at, content) in items(body, "contents").iter().enumerate() {
            messages.push(match text(content, "role") {
                "model" => Said::Assistant(answer(content, at)?),
                "user" | "" => user(content, at)?,
                _ => return bad("Please use a valid role: user, model."),
            });
        }
        let system = items(&body["systemInstruction"], "parts").iter().map(|part| text(part, "text"));
        let Tools { functions, searches, computer } = tools::read(body)?;
        if computer.is_some() {
            computer::check_answers(body)?;
        }
        Ok(Heard {
            system: system.collect(),
            tools: functions,
            searches,
            computer,
            messages,
            thinks: body["generationConfig"]["thinkingConfig"]["includeThoughts"] == true,
            binds: false,
        })
    }

    fn flaw(&self, flaw: &Flaw) -> String {
        match flaw {
            Flaw::Empty => "* GenerateContentRequest.contents: contents is not specified",
            Flaw::NotTheUserFirst | Flaw::NotTheUserLast => {
                "Please ensure that single turn requests end with a user role or the role field is empty."
            }
            Flaw::Unanswered { .. } => {
                "Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn."
            }
            Flaw::Unasked { .. } | Flaw::Swapped { .. } => {
                "Please ensure that function response turn comes immediately after a function call turn."
            }
            Flaw::Lost { .. } | Flaw::Changed { .. } | Flaw::Forged { .. } | Flaw::Bound { .. } => {
                "Corrupted thought signature."
            }
        }
        .to_owned()
    }

    fn call_id(&self, number: usize, index: usize) -> String {
        format!("call-{number}-{index}")
    }

    /// Thoughts, then text by the word, then the calls in one event, then the end.
    fn speak(&self, saying: &Saying<'_>) -> (Vec<String>, Given) {
        // It writes no cache, or does not tell.
        let usage = protocol::turn::Usage { cache_write: 0, ..saying.usage };
        let mut given = Given { usage, ..Given::default() };
        let mut contents = Vec::new();
        if !saying.turn.thinking.is_empty() {
            contents.push(json!({ "text": saying.turn.thinking, "thought": true }).to_string());
        }
        if let Some(search) = &saying.turn.search {
            contents.extend(search::look(saying, search, &mut given));
        }
        contents.extend(words(&saying.turn.text).map(|word| json!({ "text": word }).to_string()));
        let mut calls = Vec::new();
        for call in saying.calls(self).into_iter().chain(computer::calls(saying)) {
            // Of parallel calls only the first has one.
            let signed = if calls.is_empty() {
                let signature = saying.signature(&call.id);
                given.signatures.push(signature.clone());
                format!(r#","thoughtSignature":"{signature}""#)
            } else {
                String::new()
            };
            let (id, name, arguments) = (&call.id, json!(call.name), &call.arguments);
            calls.push(format!(
                r#"{{"functionCall": {{"id":"{id}","name":{name},"args":{arguments}}}{signed}}}"#
            ));
            given.ids.push(call.id);
        }
        given.raw.extend(calls.iter().map(|call| super::response(call)));
        given.verbatim.extend(calls.clone());
        contents.extend((!calls.is_empty()).then(|| calls.join(",")));
        let last = contents.len();
        contents.push(r#"{"text":""}"#.into());
        let event = |(at, parts): (usize, String)| {
            let is_end = at == last;
            // The counts grow until the end.
            let mut told = json!({ "promptTokenCount": usage.input, "totalTokenCount": usage.input });
            if is_end {
                told["candidatesTokenCount"] = json!(usage.output);
                told["thoughtsTokenCount"] = json!(usage.thinking);
                told["totalTokenCount"] = json!(usage.input + usage.output + usage.thinking);
            }
            if usage.cached > 0 {
                told["cachedContentTokenCount"] = json!(usage.cached);
            }
            let mut finish = if is_end { r#","finishReason":"STOP""#.to_owned() } else { String::new() };
            if let (true, Some(search)) = (is_end, &saying.turn.search) {
                finish +=
                    &format!(r#","groundingMetadata":{}"#, search::grounding(search, &saying.turn.text));
            }
            let (model, number) = (json!(saying.asked.model), saying.number);
            format!(
                "data: {{\"candidates\":[{{\"content\":{{\"parts\":[{parts}],\"role\":\"model\"}},\"index\":0{finish}}}],\"usageMetadata\":{told},\"modelVersion\":{model},\"responseId\":\"fake-{number}\"}}\r\n\r\n"
            )
        };
        (contents.into_iter().enumerate().map(event).collect(), given)
    }

    fn refuse(&self, wrong: &Wrong) -> (u16, Value) {
        match wrong {
            Wrong::NoKey => error(
                403,
                "PERMISSION_DENIED",
                "Method doesn't allow unregistered callers (callers without established identity). Please use API Key or other form of API consumer identity to call this API.",
            ),
            Wrong::BadKey => {
                let (status, mut body) =
                    error(400, "INVALID_ARGUMENT", "API key not valid. Please pass a valid API key.");
                body["error"]["details"] = json!([{
                    "@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "API_KEY_INVALID",
                    "domain": "googleapis.com", "metadata": { "service": "generativelanguage.googleapis.com" },
                }]);
                (status, body)
            }
            Wrong::NotFound(what) => error(
                404,
                "NOT_FOUND",
                &format!("models/{what} is not found for this API version, or is not supported."),
            ),
            Wrong::Bad(message) => error(400, "INVALID_ARGUMENT", message),
        }
    }

    fn model(&self, id: &str) -> Value {
        json!({
            "name": format!("models/{id}"), "displayName": id, "inputTokenLimit": 1_048_576,
            "outputTokenLimit": 65_536, "supportedGenerationMethods": ["generateContent", "countTokens"],
        })
    }

    fn usual(&self) -> &'static [&'static str] {
        &["gemini-3-flash-preview"]
    }

    fn list(&self, names: &[&str]) -> Value {
        let models: Vec<Value> = names.iter().map(|name| self.model(name)).collect();
        json!({ "models": models })
    }
}

fn error(code: u16, status: &str, message: &str) -> (u16, Value) {
    (code, json!({ "error": { "code": code, "message": message, "status": status } }))
}

fn unknown<T>(part: &Value, at: usize) -> Result<T, Wrong> {
    let name = part.as_object().and_then(|fields| fields.keys().next());
    let name = name.map(String::as_str).unwrap_or_default();
    bad(&format!(
        "Invalid JSON payload received. Unknown name \"{name}\" at 'contents[{at}].parts': Cannot find field."
    ))
}

fn answer(content: &Value, at: usize) -> Result<Answer, Wrong> {
    let mut answer = Answer::default();
    for part in items(content, "parts") {
        let call = &part["functionCall"];
        if call.is_object() {
            let name = text(call, "name");
            match part["thoughtSignature"].as_str() {
                Some(IMPORTED) => {}
                Some(signature) => answer.signatures.push(signature.to_owned()),
                None if answer.calls.is_empty() => {
                    return bad(&format!(
                        "Function call is missing a thought_signature in functionCall parts. This is required for tools to work correctly, and missing thought_signature may lead to degraded model performance. Additional data, function call `default_api:{name}`, position {at}."
                    ));
                }
                None => {}
            }
            answer.calls.push(Call {
                id: call["id"].as_str().map(str::to_owned),
                name: name.to_owned(),
                arguments: call["args"].clone(),
            });
            answer.raw.push(part.clone());
        } else if part["toolCall"].is_object() || part["toolResponse"].is_object() {
            let Some(signature) = part["thoughtSignature"].as_str() else {
                return bad(&format!(
                    "Tool call is missing a thought_signature in toolCall or toolResponse parts, position {at}."
                ));
            };
            answer.signatures.push(signature.to_owned());
            answer.raw.push(part.clone());
        } else if part["thought"] != true {
            match part["text"].as_str() {
                Some(text) => answer.text.push_str(text),
                None => return unknown(part, at),
            }
        }
    }
    Ok(answer)
}

fn user(content: &Value, at: usize) -> Result<Said, Wrong> {
    let (mut texts, mut images, mut results) = (Vec::new(), Vec::new(), Vec::new());
    for part in items(content, "parts") {
        let result = &part["functionResponse"];
        if result.is_object() {
            let data = items(result, "parts").iter();
            let data = data.map(|part| image(part).unwrap_or_else(|| unknown(part, at)));
            results.push(ToolResult {
                id: result["id"].as_str().map(str::to_owned),
                name: text(result, "name").to_owned(),
                response: result["response"].clone(),
                images: data.collect::<Result<_, _>>()?,
            });
        } else if let Some(text) = part["text"].as_str() {
            texts.push(text.to_owned());
        } else {
            images.push(image(part).unwrap_or_else(|| unknown(part, at))?);
        }
    }
    match (results.is_empty(), texts.is_empty() && images.is_empty()) {
        (true, false) => Ok(Said::User { texts, images }),
        (false, true) => Ok(Said::Results(results)),
        (true, true) => bad("Unable to submit request because it must have a text parameter."),
        // A result's picture is a part of the result.
        (false, false) => bad(
            "Please ensure that a function response turn has function response parts and nothing beside them.",
        ),
    }
}

/// The picture of a part that has one.
fn image(part: &Value) -> Option<Result<Vec<u8>, Wrong>> {
    let data = part["inlineData"]["data"].as_str()?;
    let is_image = text(&part["inlineData"], "mimeType").starts_with("image/");
    let image = picture(data).filter(|_| is_image);
    Some(image.ok_or_else(|| Wrong::Bad("Unable to process input image. Please retry or report.".into())))
}
