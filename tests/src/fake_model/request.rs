//! What a mind is told: the request as the model would see it, with its results, elements and pictures found.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use serde_json::Value;

/// A request's body.
#[derive(Clone, Debug, PartialEq)]
pub struct GeminiRequest {
    pub body: Value,
}

/// An answer to one of the mind's calls.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolResult {
    pub name: String,
    pub response: Value,
    /// Decoded.
    pub images: Vec<Vec<u8>>,
}

/// An element as it was sent, in 0-1000.
#[derive(Clone, Debug, PartialEq)]
pub struct Seen {
    pub reference: String,
    pub role: String,
    pub name: String,
    pub value: String,
    pub states: Vec<String>,
    pub x: f64,
    pub y: f64,
    pub width: f64,
    pub height: f64,
}

impl Seen {
    /// Where to click, in tenths.
    pub fn center(&self) -> (f64, f64) {
        let middle = |start: f64, length: f64| ((start + length / 2.0) * 10.0).round() / 10.0;
        (middle(self.x, self.width), middle(self.y, self.height))
    }

    pub fn is(&self, state: &str) -> bool {
        self.states.iter().any(|s| s == state)
    }
}

impl GeminiRequest {
    pub fn new(body: Value) -> Self {
        Self { body }
    }

    /// The goal, where this is the first turn after it was given.
    pub fn new_goal(&self) -> Option<&str> {
        let last = self.contents().last()?;
        let parts = last["parts"].as_array()?;
        if last["role"] != "user" || parts.iter().any(|part| part.get("functionResponse").is_some()) {
            return None;
        }
        parts.iter().find_map(|part| part["text"].as_str())
    }

    /// Answers to the calls of the turn before.
    pub fn results(&self) -> Vec<ToolResult> {
        let parts = self.contents().last().and_then(|last| last["parts"].as_array());
        let answers = parts.into_iter().flatten().filter_map(|part| part.get("functionResponse"));
        answers.map(ToolResult::read).collect()
    }

    /// Elements in the answers of the turn before.
    pub fn elements(&self) -> Vec<Seen> {
        self.results().iter().flat_map(ToolResult::elements).collect()
    }

    /// Names of the tools that are offered.
    pub fn offered(&self) -> Vec<&str> {
        let tools = self.body["tools"].as_array().map(Vec::as_slice).unwrap_or_default();
        let declared = tools.iter().filter_map(|tool| tool["functionDeclarations"].as_array()).flatten();
        declared.filter_map(|tool| tool["name"].as_str()).collect()
    }

    fn contents(&self) -> &[Value] {
        self.body["contents"].as_array().map(Vec::as_slice).unwrap_or_default()
    }

    /// Calls `see` on every value in `value`, outermost first.
    pub(super) fn visit(value: &Value, see: &mut dyn FnMut(&Value)) {
        see(value);
        match value {
            Value::Array(items) => items.iter().for_each(|item| Self::visit(item, see)),
            Value::Object(fields) => fields.values().for_each(|field| Self::visit(field, see)),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }
}

impl ToolResult {
    fn read(answer: &Value) -> Self {
        let parts = answer["parts"].as_array().map(Vec::as_slice).unwrap_or_default();
        let data = parts.iter().filter_map(|part| part["inlineData"]["data"].as_str());
        let images = data.filter_map(|data| BASE64_STANDARD.decode(data).ok()).collect();
        let name = answer["name"].as_str().unwrap_or_default().to_owned();
        Self { name, response: answer["response"].clone(), images }
    }

    /// What the result says of its effect: `confirmed`, `refused` ...
    pub fn effect(&self) -> String {
        self.first("effect").as_str().unwrap_or_default().to_owned()
    }

    /// The error's message, where it is one.
    pub fn error(&self) -> Option<String> {
        self.first("error")["message"].as_str().map(str::to_owned)
    }

    /// The window that a list of elements belongs to.
    pub fn window(&self) -> String {
        self.first("window").as_str().unwrap_or_default().to_owned()
    }

    fn first(&self, field: &str) -> Value {
        let mut found = Value::Null;
        GeminiRequest::visit(&self.response, &mut |value| {
            if let (true, Some(value)) = (found.is_null(), value.get(field)) {
                found = value.clone();
            }
        });
        found
    }

    fn elements(&self) -> Vec<Seen> {
        let list = self.first("elements");
        list.as_array().map(Vec::as_slice).unwrap_or_default().iter().map(seen).collect()
    }
}

fn seen(element: &Value) -> Seen {
    let text = |field: &str| element[field].as_str().unwrap_or_default().to_owned();
    let number = |field: &str| element["bounds"][field].as_f64().unwrap_or(-1.0);
    let states = element["states"].as_array().map(Vec::as_slice).unwrap_or_default();
    Seen {
        reference: text("ref"),
        role: text("role"),
        name: text("name"),
        value: text("value"),
        states: states.iter().filter_map(|state| state.as_str().map(str::to_owned)).collect(),
        x: number("x"),
        y: number("y"),
        width: number("width"),
        height: number("height"),
    }
}
