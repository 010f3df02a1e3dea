//! What a mind is told: a request as the model would see it, whichever wire it came by.

use std::hash::{DefaultHasher, Hash, Hasher};

use axum::body::Bytes;
use serde_json::Value;

use super::Wire;
use super::computer::Computer;

/// A request for a turn.
#[derive(Clone, Debug, PartialEq)]
pub struct Asked {
    pub wire: Wire,
    pub model: String,
    /// As it came, byte for byte.
    pub text: Bytes,
    pub heard: Heard,
}

/// What a wire's reader makes of a body.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Heard {
    pub system: String,
    /// Names of the tools that are offered.
    pub tools: Vec<String>,
    pub messages: Vec<Said>,
    /// The provider's own searches that are asked for, in its own words.
    pub searches: Vec<String>,
    /// The vendor's own computer tool, where it is offered.
    pub computer: Option<Computer>,
    /// Thoughts are asked for; without, none are shown.
    pub thinks: bool,
    /// A thought that stands in another conversation than its own is refused, not left out.
    pub binds: bool,
}

/// One message.
#[derive(Clone, Debug, PartialEq)]
pub enum Said {
    User { texts: Vec<String>, images: Vec<Vec<u8>> },
    Assistant(Answer),
    Results(Vec<ToolResult>),
}

/// A turn of the model's, as it comes back.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Answer {
    pub text: String,
    pub calls: Vec<Call>,
    /// Signatures, encrypted thoughts: what only the server can write.
    pub signatures: Vec<String>,
    /// All that must come back as it was given out, in the wire's own form.
    pub raw: Vec<Value>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Call {
    pub id: Option<String>,
    pub name: String,
    pub arguments: Value,
}

/// An answer to one of the mind's calls.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ToolResult {
    pub id: Option<String>,
    /// Where the wire has none, that of the call.
    pub name: String,
    pub response: Value,
    /// Decoded.
    pub images: Vec<Vec<u8>>,
}

/// An element as it was sent, in 0-1000.
#[derive(Clone, Debug, PartialEq)]
pub struct SentElement {
    pub reference: String,
    pub role: String,
    pub name: String,
    pub value: String,
    pub states: Vec<String>,
    pub actions: Vec<String>,
    pub x: f64,
    pub y: f64,
    pub width: f64,
    pub height: f64,
}

impl SentElement {
    /// Where to click, in tenths.
    pub fn center(&self) -> (f64, f64) {
        let middle = |start: f64, length: f64| ((start + length / 2.0) * 10.0).round() / 10.0;
        (middle(self.x, self.width), middle(self.y, self.height))
    }

    pub fn is(&self, state: &str) -> bool {
        self.states.iter().any(|s| s == state)
    }
}

impl Asked {
    /// The goal, where this is the first turn after it was given.
    pub fn new_goal(&self) -> Option<&str> {
        match self.heard.messages.last()? {
            Said::User { texts, .. } => texts.first().map(String::as_str),
            Said::Assistant(_) | Said::Results(_) => None,
        }
    }

    /// What the conversation began with; an agent's own, where one asks. Empty if it began with something else.
    pub fn goal(&self) -> &str {
        match self.heard.messages.first() {
            Some(Said::User { texts, .. }) => texts.first().map_or("", String::as_str),
            _ => "",
        }
    }

    /// Answers to the calls of the turn before.
    pub fn results(&self) -> &[ToolResult] {
        match self.heard.messages.last() {
            Some(Said::Results(results)) => results,
            _ => &[],
        }
    }

    /// Elements in the answers of the turn before.
    pub fn elements(&self) -> Vec<SentElement> {
        self.results().iter().flat_map(ToolResult::elements).collect()
    }

    /// All pictures of the conversation.
    pub fn images(&self) -> Vec<&[u8]> {
        let mut all: Vec<&[u8]> = Vec::new();
        for said in &self.heard.messages {
            match said {
                Said::User { images, .. } => all.extend(images.iter().map(Vec::as_slice)),
                Said::Results(results) => {
                    all.extend(results.iter().flat_map(|result| &result.images).map(Vec::as_slice));
                }
                Said::Assistant(_) => {}
            }
        }
        all
    }
}

impl Heard {
    /// The same for the same conversation before the message at `at`.
    pub(super) fn prefix(&self, at: usize) -> u64 {
        let mut hasher = DefaultHasher::new();
        (&self.system, &self.tools, at).hash(&mut hasher);
        for said in self.messages.iter().take(at) {
            match said {
                Said::User { texts, images } => (texts, images).hash(&mut hasher),
                Said::Assistant(answer) => {
                    (&answer.text, &answer.signatures).hash(&mut hasher);
                    answer.calls.iter().for_each(|call| call.arguments.to_string().hash(&mut hasher));
                }
                Said::Results(results) => results
                    .iter()
                    .for_each(|result| (result.response.to_string(), &result.images).hash(&mut hasher)),
            }
        }
        hasher.finish()
    }
}

/// Calls `see` on every value in `value`, outermost first.
pub(crate) fn visit(value: &Value, see: &mut dyn FnMut(&Value)) {
    see(value);
    match value {
        Value::Array(items) => items.iter().for_each(|item| visit(item, see)),
        Value::Object(fields) => fields.values().for_each(|field| visit(field, see)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

impl ToolResult {
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

    /// The first field of this name, wherever it stands; null where there is none.
    pub fn field(&self, name: &str) -> Value {
        self.first(name)
    }

    fn first(&self, field: &str) -> Value {
        let mut found = Value::Null;
        visit(&self.response, &mut |value| {
            if let (true, Some(value)) = (found.is_null(), value.get(field)) {
                found = value.clone();
            }
        });
        found
    }

    pub(crate) fn elements(&self) -> Vec<SentElement> {
        let list = self.first("elements");
        list.as_array().map(Vec::as_slice).unwrap_or_default().iter().map(seen).collect()
    }
}

/// A line as a model reads it: ``e12 text `Name` (`description`) = `value` [states] do `actions`; x,y WIDTHxHEIGHT``.
fn read(line: &str) -> SentElement {
    let (told, place) = line.rsplit_once("; ").unwrap_or((line, ""));
    // Texts stand between backticks; what stands before one tells which it is.
    let parts: Vec<&str> = told.trim_start().split('`').collect();
    let (reference, rest) = parts[0].split_once(' ').unwrap_or((parts[0], ""));
    let role =
        [" = ", " (", " [", " do "].iter().fold(rest, |role, sign| role.split(sign).next().unwrap_or(role));
    let (mut name, mut value, mut states) = (String::new(), String::new(), "");
    let mut actions = Vec::new();
    for (plain, text) in parts.iter().step_by(2).zip(parts.iter().skip(1).step_by(2)) {
        match plain.trim_end() {
            sign if sign.ends_with(" do") => actions.extend(text.split(", ").map(str::to_owned)),
            sign if sign.ends_with('=') => value = (*text).to_owned(),
            sign if sign.ends_with('(') => {}
            _ => name = (*text).to_owned(),
        }
    }
    for plain in parts.iter().step_by(2) {
        if let Some((_, rest)) = plain.split_once('[') {
            states = rest.split(']').next().unwrap_or_default();
        }
    }
    let numbers: Vec<f64> = place.split([',', ' ', 'x']).filter_map(|number| number.parse().ok()).collect();
    let number = |at: usize| numbers.get(at).copied().unwrap_or(-1.0);
    SentElement {
        reference: reference.to_owned(),
        role: role.trim().to_owned(),
        name,
        value,
        states: states.split(", ").filter(|state| !state.is_empty()).map(str::to_owned).collect(),
        actions,
        x: number(0),
        y: number(1),
        width: number(2),
        height: number(3),
    }
}

fn seen(element: &Value) -> SentElement {
    if let Some(line) = element.as_str() {
        return read(line);
    }
    let text = |field: &str| element[field].as_str().unwrap_or_default().to_owned();
    let number = |field: &str| element["bounds"][field].as_f64().unwrap_or(-1.0);
    let words = |field: &str| {
        let all = element[field].as_array().map(Vec::as_slice).unwrap_or_default();
        all.iter().filter_map(|word| word.as_str().map(str::to_owned)).collect()
    };
    SentElement {
        reference: text("ref"),
        role: text("role"),
        name: text("name"),
        value: text("value"),
        states: words("states"),
        actions: words("actions"),
        x: number("x"),
        y: number("y"),
        width: number("width"),
        height: number("height"),
    }
}
