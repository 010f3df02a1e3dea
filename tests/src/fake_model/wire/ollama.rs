//! Ollama's own `/api/chat`, JSON lines.

use axum::http::HeaderMap;
use protocol::turn::Usage;
use serde_json::{Value, json};

use super::{Dialect, Saying, Wrong, bad, items, picture, response, text, words};
use crate::fake_model::asked::{Answer, Call, Heard, Said, ToolResult};
use crate::fake_model::history::{Flaw, Given};

pub(in crate::fake_model) struct Ollama;

impl Dialect for Ollama {
    fn needs_key(&self) -> bool {
        false
    }

    fn read(&self, _: &HeaderMap, body: &Value) -> Result<Heard, Wrong> {
        let (mut system, mut messages) = (String::new(), Vec::new());
        for message in items(body, "messages") {
            let Some(content) = message["content"].as_str() else {
                return bad(
                    "json: cannot unmarshal array into Go struct field ChatRequest.messages.content of type string",
                );
            };
            let images = items(message, "images").iter().map(image).collect::<Result<Vec<_>, _>>()?;
            match text(message, "role") {
                "system" => system.push_str(content),
                "user" => messages.push(Said::User { texts: vec![content.to_owned()], images }),
                "assistant" if images.is_empty() => messages.push(Said::Assistant(answer(message)?)),
                "tool" => {
                    let name = text(message, "tool_name").to_owned();
                    let result = ToolResult { id: None, name, response: response(content), images };
                    match messages.last_mut() {
                        Some(Said::Results(results)) => results.push(result),
                        _ => messages.push(Said::Results(vec![result])),
                    }
                }
                role => return bad(&format!("invalid role: {role}")),
            }
        }
        let tools = items(body, "tools").iter().map(|tool| text(&tool["function"], "name").to_owned());
        // Models that think do so where it is not forbidden.
        let thinks = body["think"] != false;
        Ok(Heard { system, tools: tools.collect(), messages, thinks, ..Heard::default() })
    }

    fn flaw(&self, flaw: &Flaw) -> String {
        match flaw {
            Flaw::Empty | Flaw::NotTheUserFirst | Flaw::NotTheUserLast => {
                "messages must begin and end with words that are not the model's".into()
            }
            Flaw::Unanswered { at, .. } => format!("messages: a tool call before {at} has no result"),
            Flaw::Unasked { at, id } | Flaw::Swapped { at, id } => {
                format!("messages: the result of {id} at {at} is of no call before it")
            }
            Flaw::Lost { at, .. } | Flaw::Changed { at } | Flaw::Forged { at } | Flaw::Bound { at } => {
                format!("messages: the turn at {at} is not as it was")
            }
        }
    }

    fn speak(&self, saying: &Saying<'_>) -> (Vec<String>, Given) {
        let turn = saying.turn;
        // Thinking is not told apart, and no cache is told of.
        let usage = Usage {
            input: saying.usage.input,
            output: saying.usage.output + saying.usage.thinking,
            ..Usage::default()
        };
        let mut given = Given { usage, ..Given::default() };
        let line = |message: &str, end: &str| {
            let model = json!(saying.asked.model);
            format!(
                "{{\"model\":{model},\"created_at\":\"2026-11-21T10:00:00.123456Z\",\"message\":{message},\"done\":{end}}}\n"
            )
        };
        let said = |name: &str, piece: &str| {
            let mut message = json!({ "role": "assistant", "content": "" });
            message[name] = json!(piece);
            line(&message.to_string(), "false")
        };
        let mut events: Vec<String> = words(&turn.thinking).map(|word| said("thinking", word)).collect();
        events.extend(words(&turn.text).map(|word| said("content", word)));
        if !turn.thinking.is_empty() {
            given.raw.push(json!(turn.thinking));
            given.verbatim.push(format!(r#""thinking":{}"#, json!(turn.thinking)));
        }
        for (index, call) in saying.calls(self).into_iter().enumerate() {
            let (id, name, arguments) = (&call.id, json!(call.name), &call.arguments);
            let whole = format!(
                r#"{{"id":"{id}","function": {{"index":{index},"name":{name},"arguments":{arguments}}}}}"#
            );
            let message = format!(r#"{{"role":"assistant","content":"","tool_calls":[{whole}]}}"#);
            events.push(line(&message, "false"));
            given.raw.push(response(&whole));
            given.verbatim.push(whole);
            given.ids.push(call.id);
        }
        let end = format!(
            r#"true,"done_reason":"stop","total_duration":1,"load_duration":1,"prompt_eval_count":{},"prompt_eval_duration":1,"eval_count":{},"eval_duration":1"#,
            usage.input, usage.output
        );
        events.push(line(r#"{"role":"assistant","content":""}"#, &end));
        (events, given)
    }

    fn content_type(&self) -> &'static str {
        "application/x-ndjson"
    }

    fn refuse(&self, wrong: &Wrong) -> (u16, Value) {
        let (status, message) = match wrong {
            Wrong::NoKey | Wrong::BadKey => (401, "unauthorized".to_owned()),
            Wrong::NotFound(what) => (404, format!("model '{what}' not found")),
            Wrong::Bad(message) => (400, message.clone()),
        };
        (status, json!({ "error": message }))
    }

    fn model(&self, _: &str) -> Value {
        json!({
            "capabilities": ["completion", "vision", "tools", "thinking"], "details": { "family": "qwen3vl" },
            "model_info": { "general.architecture": "qwen3vl", "qwen3vl.context_length": 262_144 },
        })
    }

    /// What a model can do is told of each, not here.
    fn list(&self, names: &[&str]) -> Value {
        let model =
            |name| json!({ "name": name, "model": name, "size": 1, "details": { "family": "qwen3vl" } });
        json!({ "models": names.iter().map(model).collect::<Vec<Value>>() })
    }

    fn usual(&self) -> &'static [&'static str] {
        &["qwen3-vl:8b"]
    }
}

fn image(data: &Value) -> Result<Vec<u8>, Wrong> {
    let image = data.as_str().and_then(picture);
    image.ok_or_else(|| Wrong::Bad("illegal base64 data at input byte 4".into()))
}

fn answer(message: &Value) -> Result<Answer, Wrong> {
    let mut answer = Answer { text: text(message, "content").to_owned(), ..Answer::default() };
    answer.raw.extend(message["thinking"].as_str().map(|thought| json!(thought)));
    for call in items(message, "tool_calls") {
        let function = &call["function"];
        if !function["arguments"].is_object() {
            return bad("Value looks like object, but can't find closing '}' symbol");
        }
        answer.calls.push(Call {
            id: call["id"].as_str().map(str::to_owned),
            name: text(function, "name").to_owned(),
            arguments: function["arguments"].clone(),
        });
        answer.raw.push(call.clone());
    }
    Ok(answer)
}
