//! Google's computer tool on a desktop: functions that nobody declares, in 0-999, answered by a picture.
//!
//! Source: Google's page on computer use.

use serde_json::{Value, json};

use super::Gemini;
use crate::fake_model::computer::{Computer, ComputerAction};
use crate::fake_model::wire::{Dialect, Saying, Written, Wrong, bad, items, text, unknown_field};

const FIELDS: [&str; 4] = [
    "environment",
    "enablePromptInjectionDetection",
    "disabledSafetyPolicies",
    "excludedPredefinedFunctions",
];
/// Its functions.
const ACTIONS: [&str; 17] = [
    "click",
    "double_click",
    "triple_click",
    "middle_click",
    "right_click",
    "mouse_down",
    "mouse_up",
    "move",
    "type",
    "drag_and_drop",
    "wait",
    "press_key",
    "key_down",
    "key_up",
    "hotkey",
    "take_screenshot",
    "scroll",
];

/// # Errors
/// A declaration in another form.
pub(super) fn declared(tool: &Value, at: usize) -> Result<Option<Computer>, Wrong> {
    let declared = &tool["computerUse"];
    if declared.is_null() {
        return Ok(None);
    }
    let place = format!("tools[{at}].computer_use");
    if let Some(name) = unknown_field(declared, &FIELDS) {
        return super::tools::unknown(name, &place);
    }
    match text(declared, "environment") {
        version @ "ENVIRONMENT_DESKTOP" => Ok(Some(Computer { version: version.to_owned(), display: None })),
        other => bad(&format!("Invalid value at '{place}.environment', \"{other}\"")),
    }
}

/// The actions of a turn as calls; the first has what is warned of.
pub(super) fn calls(saying: &Saying<'_>) -> Vec<Written> {
    let actions = saying.turn.actions.iter().enumerate();
    let written = actions.map(|(index, one)| {
        let (name, mut args) = action(one);
        args["intent"] = json!("to get on");
        if let (0, Some(warning)) = (index, &saying.turn.warning) {
            args["safety_decision"] = json!({ "decision": "require_confirmation", "explanation": warning });
        }
        let id = Gemini.call_id(saying.number, saying.turn.calls.len() + index);
        Written { id, name: name.to_owned(), arguments: args.to_string() }
    });
    written.collect()
}

fn action(one: &ComputerAction) -> (&'static str, Value) {
    // 1000 would be outside.
    let on_grid = |part: &f64| (*part * 0.999) as u32;
    match one {
        ComputerAction::Look => ("take_screenshot", json!({})),
        ComputerAction::Click { x, y } => ("click", json!({ "x": on_grid(x), "y": on_grid(y) })),
        ComputerAction::Write(words) => ("type", json!({ "text": words })),
        ComputerAction::Press(keys) => ("hotkey", json!({ "keys": keys })),
        ComputerAction::Scroll { x, y, notches } => (
            "scroll",
            json!({
                "x": on_grid(x), "y": on_grid(y), "direction": "down", "magnitude_in_pixels": notches * 100,
            }),
        ),
    }
}

/// Every action of this server's is answered by a picture, and what was warned of with the user's yes.
///
/// # Errors
/// The first that is not so.
pub(super) fn check_answers(body: &Value) -> Result<(), Wrong> {
    for pair in items(body, "contents").windows(2) {
        let [turn, answers] = pair else { continue };
        let calls = items(turn, "parts").iter().map(|part| &part["functionCall"]);
        // Calls without an id were told in neutral form.
        for call in calls.filter(|call| call["id"].is_string() && ACTIONS.contains(&text(call, "name"))) {
            let mut results = items(answers, "parts").iter().map(|part| &part["functionResponse"]);
            let Some(result) = results.find(|result| result["id"] == call["id"]) else { continue };
            let name = text(call, "name");
            if items(result, "parts").is_empty() {
                return bad(&format!(
                    "Function response for computer use action `{name}` is missing a screenshot."
                ));
            }
            let is_warned = call["args"]["safety_decision"]["decision"] == "require_confirmation";
            if is_warned && result["response"]["safety_acknowledgement"] != "true" {
                return bad(&format!(
                    "Function response for `{name}` is missing safety_acknowledgement, which its safety_decision requires."
                ));
            }
        }
    }
    Ok(())
}
