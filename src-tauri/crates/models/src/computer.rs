//! The vendors' own computer tools: which model has which (`data/computers.json`), how it is declared, and how each action is translated into
//! calls of our tools (in `anthropic`, `gemini` and `openai`). [`with`] wraps a model so that nobody else sees any of it.
//!
//! Pure. Knows our tools by names and arguments only; whether a call may run is decided by policy, as for any other
//! call.

mod wrapper;

mod anthropic;
mod gemini;
mod openai;

use std::sync::LazyLock;

use protocol::geometry::PixelSize;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::{ProposedCall, Provider, families};

pub use wrapper::with;

/// The field of an answer with the vendor's warnings that the user accepted, as they came.
pub(crate) const ACKNOWLEDGED: &str = "acknowledged_safety_checks";

/// Tools of ours that are not offered beside a vendor's computer tool, which replaces them. A test of the agent checks
/// that these are names of tools.
pub const REPLACED: [&str; 16] = [
    "screenshot",
    "zoom",
    "click",
    "move",
    "drag",
    "scroll",
    "type",
    "press",
    "hotkey",
    "hold",
    "mouseDown",
    "mouseUp",
    "keyDown",
    "keyUp",
    "wait",
    "batch",
];

/// A vendor's computer tool, by its version. Written in recordings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Computer {
    /// `computer_toolset_20260801`: each action is a call of its own name.
    AnthropicToolset,
    Anthropic20251124,
    Anthropic20250124,
    /// `computer`: several actions in one call.
    OpenAi,
    /// `computer_use_preview`: one action a call.
    OpenAiPreview,
    /// `computerUse` of a desktop: each action is a call of its own name.
    Gemini,
}

/// Models that have the same tool.
#[derive(Deserialize)]
struct Family {
    starts: Vec<String>,
    computer: Computer,
}

static FAMILIES: LazyLock<Vec<Family>> =
    LazyLock::new(|| families::read(include_str!("../data/computers.json")));

/// One call of a tool of ours.
#[derive(Clone, Debug, PartialEq)]
pub struct OurCall {
    pub tool: &'static str,
    pub arguments: Value,
}

impl OurCall {
    fn new(tool: &'static str, arguments: Value) -> Self {
        Self { tool, arguments }
    }
}

/// Why an action cannot be done: told to the model.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum NotOurs {
    #[error("there is no action {0:?}")]
    Unknown(String),
    #[error("{0} is missing or not as described")]
    Missing(&'static str),
    #[error("{what} = {x},{y} is outside the screenshot of {width}x{height} pixels", width = .of.width, height = .of.height)]
    Outside { what: &'static str, x: f64, y: f64, of: PixelSize },
    #[error("{what} = {x},{y} is not within 0 to 999")]
    OffGrid { what: &'static str, x: f64, y: f64 },
    #[error("where the pointer is cannot be told: give a coordinate")]
    NoPointer,
    #[error("{0}")]
    Refused(&'static str),
}

/// A warning of the vendor, which the user must see before the call is done.
#[derive(Clone, Debug, PartialEq)]
struct SafetyCheck {
    message: String,
    /// Sent back if the user accepts it.
    as_it_came: Value,
}

impl Computer {
    /// The tool that a model has. `None` if it has none.
    pub fn of(provider: &Provider, model: &str) -> Option<Self> {
        // Behind OpenRouter, no model has its vendor's tool.
        let id = format!("{}/{model}", provider.id).replace('.', "-");
        families::best(&FAMILIES, |family| &family.starts, &id).map(|family| family.computer)
    }

    /// Whether a call is one of its own, and not of a function of ours.
    pub(crate) fn owns(self, name: &str) -> bool {
        match self {
            Self::AnthropicToolset => anthropic::ACTIONS.contains(&name),
            Self::Gemini => gemini::ACTIONS.contains(&name),
            Self::Anthropic20251124 | Self::Anthropic20250124 | Self::OpenAi | Self::OpenAiPreview => {
                name == "computer"
            }
        }
    }

    /// Whether each answer must have a picture, even if nothing has changed since the last one.
    fn needs_pictures(self) -> bool {
        matches!(self, Self::OpenAi | Self::OpenAiPreview | Self::Gemini)
    }

    /// The unit of its coordinates, for the prompt.
    fn places(self) -> &'static str {
        match self {
            Self::Gemini => "0-999",
            Self::AnthropicToolset
            | Self::Anthropic20251124
            | Self::Anthropic20250124
            | Self::OpenAi
            | Self::OpenAiPreview => "pixels",
        }
    }

    /// The beta that its requests must name.
    pub(crate) fn beta(self) -> Option<&'static str> {
        match self {
            Self::Anthropic20251124 => Some("computer-use-2025-11-24"),
            Self::Anthropic20250124 => Some("computer-use-2025-01-24"),
            Self::AnthropicToolset | Self::OpenAi | Self::OpenAiPreview | Self::Gemini => None,
        }
    }

    /// Its entry among the tools of a request, for pictures of this size.
    pub(crate) fn declared(self, display: PixelSize) -> Value {
        let PixelSize { width, height } = display;
        let mut old = json!({ "name": "computer", "display_width_px": width, "display_height_px": height });
        match self {
            // No tool of ours says where the pointer is.
            Self::AnthropicToolset => {
                let configs = json!({ "cursor_position": { "enabled": false } });
                json!({ "type": "computer_toolset_20260801", "configs": configs })
            }
            Self::Anthropic20251124 => {
                old["type"] = "computer_20251124".into();
                old["enable_zoom"] = true.into();
                old
            }
            Self::Anthropic20250124 => {
                old["type"] = "computer_20250124".into();
                old
            }
            Self::OpenAi => json!({ "type": "computer" }),
            Self::OpenAiPreview => json!({
                "type": "computer_use_preview",
                "display_width": width,
                "display_height": height,
                "environment": ENVIRONMENT,
            }),
            // Text on a screen may try to instruct the model.
            Self::Gemini => json!({ "computerUse": {
                "environment": "ENVIRONMENT_DESKTOP",
                "enablePromptInjectionDetection": true,
            } }),
        }
    }
}

const ENVIRONMENT: &str = if cfg!(target_os = "macos") {
    "mac"
} else if cfg!(windows) {
    "windows"
} else {
    "linux"
};

/// The fields of a call with the vendor's warnings: OpenAI's and Gemini's.
const PENDING: &str = "pending_safety_checks";
const DECISION: &str = "safety_decision";

/// A call's arguments without the vendor's warnings: in a turn that goes to another provider, nobody can accept them.
fn unwarned(call: &ProposedCall) -> Value {
    let mut arguments = call.arguments.clone();
    if let Value::Object(fields) = &mut arguments {
        fields.retain(|name, _| !matches!(name.as_str(), PENDING | DECISION));
    }
    arguments
}

/// The warnings that a call came with.
fn safety_checks(call: &ProposedCall) -> Vec<SafetyCheck> {
    let pending = call.arguments[PENDING].as_array();
    // Gemini's.
    let decision = call
        .arguments
        .get(DECISION)
        .filter(|decision| !matches!(decision["decision"].as_str(), None | Some("regular" | "allowed")));
    let told = |check: &Value| {
        let said = |field: &str| check[field].as_str().filter(|text| !text.trim().is_empty());
        let message = said("message")
            .or(said("explanation"))
            .or(said("code"))
            .unwrap_or("no reason was given")
            .to_owned();
        SafetyCheck { message, as_it_came: check.clone() }
    };
    pending.into_iter().flatten().chain(decision).map(told).collect()
}

/// Translates a vendor's calls into calls of ours. Keeps what later calls depend on: the size of the pictures and where
/// the pointer went.
#[derive(Clone, Debug)]
pub struct Adapter {
    computer: Computer,
    display: PixelSize,
    pointer: Option<Point>,
}

/// Gemini's coordinates are thousandths, whatever the picture's size.
const GRID: PixelSize = PixelSize { width: 1_000, height: 1_000 };

/// A point in 0-1000 of the display.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Point {
    x: f64,
    y: f64,
}

impl Adapter {
    pub fn new(computer: Computer, display: PixelSize) -> Self {
        Self { computer, display, pointer: None }
    }

    /// A call as calls of ours, in order.
    ///
    /// # Errors
    /// An unknown action, or a point outside the picture. None of the call's actions may be done then.
    pub fn adapt(&mut self, call: &ProposedCall) -> Result<Vec<OurCall>, NotOurs> {
        let before = self.pointer;
        let adapted = match self.computer {
            Computer::AnthropicToolset => anthropic::adapt(self, &call.name, &call.arguments),
            Computer::Anthropic20251124 | Computer::Anthropic20250124 => {
                let action = call.arguments["action"].as_str().ok_or(NotOurs::Missing("action"))?;
                anthropic::adapt(self, action, &call.arguments)
            }
            Computer::Gemini => gemini::adapt(self, &call.name, &call.arguments),
            Computer::OpenAi | Computer::OpenAiPreview => openai::adapt(self, &call.arguments),
        };
        if adapted.is_err() {
            self.pointer = before;
        }
        adapted
    }

    /// The middle of a pixel of the picture. Remembers it as the place of the pointer.
    fn point(&mut self, what: &'static str, x: &Value, y: &Value) -> Result<Point, NotOurs> {
        let (Some(x), Some(y)) = (x.as_f64(), y.as_f64()) else { return Err(NotOurs::Missing(what)) };
        let is_grid = self.computer == Computer::Gemini;
        let PixelSize { width, height } = if is_grid { GRID } else { self.display };
        let (width, height) = (f64::from(width), f64::from(height));
        if !(0.0..width).contains(&x) || !(0.0..height).contains(&y) {
            return Err(match is_grid {
                true => NotOurs::OffGrid { what, x, y },
                false => NotOurs::Outside { what, x, y, of: self.display },
            });
        }
        let along = |at: f64, length: f64| {
            let middle = (at + 0.5).min(length) * 1_000.0 / length;
            (middle * 1_000.0).round() / 1_000.0
        };
        let point = Point { x: along(x, width), y: along(y, height) };
        self.pointer = Some(point);
        Ok(point)
    }
}

impl Point {
    fn json(self) -> Value {
        json!({ "x": self.x, "y": self.y })
    }
}

/// Keys as a list of names, the form of our tools.
fn key_names(keys: &[String]) -> Value {
    keys.iter().map(String::as_str).collect()
}

/// One key is pressed, several are held together.
fn chord(keys: &[String], times: u64) -> Vec<OurCall> {
    match keys {
        [key] if times == 1 => vec![OurCall::new("press", json!({ "key": key }))],
        [key] => vec![OurCall::new("press", json!({ "key": key, "times": times }))],
        keys => (0..times).map(|_| OurCall::new("hotkey", json!({ "keys": key_names(keys) }))).collect(),
    }
}

#[cfg(test)]
mod tests;
