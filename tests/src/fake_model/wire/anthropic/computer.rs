//! Anthropic's computer tools: the toolset, whose actions are calls of their own names, and the older ones.

use axum::http::HeaderMap;
use serde_json::{Value, json};

use super::{Anthropic, tools::only};
use crate::fake_model::computer::{Computer, ComputerAction, size};
use crate::fake_model::wire::{
    Dialect, Saying, Written, Wrong, bad, header_of, items, picture, text, unknown_field,
};

pub(super) const TOOLSET: &str = "computer_toolset_20260801";
/// The older ones, each with its beta.
const OLDER: [(&str, &str); 2] =
    [("computer_20251124", "computer-use-2025-11-24"), ("computer_20250124", "computer-use-2025-01-24")];
const NOT_EXECUTED: &str = "Not executed: an earlier computer action in this turn failed.";
const ACTIONS: [&str; 17] = [
    "key",
    "hold_key",
    "type",
    "cursor_position",
    "mouse_move",
    "left_mouse_down",
    "left_mouse_up",
    "left_click",
    "left_click_drag",
    "right_click",
    "middle_click",
    "double_click",
    "triple_click",
    "scroll",
    "wait",
    "screenshot",
    "zoom",
];

/// The tool, where this entry is one of them.
///
/// # Errors
/// One in another form, without its beta, or that the model does not take.
pub(super) fn declared(
    headers: &HeaderMap,
    model: &str,
    tool: &Value,
    place: &str,
) -> Result<Option<Computer>, Wrong> {
    let kind = text(tool, "type");
    if kind == TOOLSET {
        only(tool, &["type", "configs", "cache_control"], place)?;
        if let Some(name) = unknown_field(&tool["configs"], &ACTIONS) {
            return bad(&format!("{place}.configs.{name}: Extra inputs are not permitted"));
        }
        return Ok(Some(Computer { version: kind.to_owned(), display: None }));
    }
    let Some((_, beta)) = OLDER.iter().find(|(version, _)| *version == kind) else { return Ok(None) };
    let betas = header_of(headers, "anthropic-beta").unwrap_or_default();
    if !betas.split(',').any(|one| one.trim() == *beta) {
        return bad(&format!(
            "tools: Input tag '{kind}' found using 'type' does not match any of the expected tags"
        ));
    }
    // As it is recorded: of 5.5 and later.
    if model.contains("-5-5") {
        return bad(&format!("'{model}' does not support tool types: {kind}."));
    }
    let mut known = vec!["type", "name", "display_width_px", "display_height_px", "display_number"];
    known.push("cache_control");
    known.extend((kind == OLDER[0].0).then_some("enable_zoom"));
    only(tool, &known, place)?;
    let pixels = |field: &str| tool[field].as_u64().and_then(|pixels| u32::try_from(pixels).ok());
    match (text(tool, "name"), pixels("display_width_px").zip(pixels("display_height_px"))) {
        ("computer", Some(display)) => {
            Ok(Some(Computer { version: kind.to_owned(), display: Some(display) }))
        }
        ("computer", None) => bad(&format!("{place}.display_width_px: Field required")),
        _ => bad(&format!("{place}.name: Input should be 'computer'")),
    }
}

/// The actions of a turn as calls, and whose they are where that is said.
pub(super) fn calls(saying: &Saying<'_>) -> Vec<(Written, Option<&'static str>)> {
    let is_toolset = saying.asked.heard.computer.as_ref().is_some_and(|computer| computer.version == TOOLSET);
    let actions = saying.turn.actions.iter().enumerate();
    let written = actions.map(|(index, one)| {
        let (action, mut input) = action(saying, one);
        let id = Anthropic.call_id(saying.number, saying.turn.calls.len() + index);
        if is_toolset {
            return (Written { id, name: action.to_owned(), arguments: input.to_string() }, Some("computer"));
        }
        input["action"] = json!(action);
        (Written { id, name: "computer".to_owned(), arguments: input.to_string() }, None)
    });
    written.collect()
}

/// Keys are named as xdotool names them.
fn action(saying: &Saying<'_>, one: &ComputerAction) -> (&'static str, Value) {
    match one {
        ComputerAction::Look => ("screenshot", json!({})),
        ComputerAction::Click { x, y } => ("left_click", json!({ "coordinate": saying.pixel(*x, *y) })),
        ComputerAction::Write(words) => ("type", json!({ "text": words })),
        ComputerAction::Press(keys) => ("key", json!({ "text": keys.join("+") })),
        ComputerAction::Scroll { x, y, notches } => (
            "scroll",
            json!({
                "coordinate": saying.pixel(*x, *y), "scroll_direction": "down", "scroll_amount": notches,
            }),
        ),
    }
}

/// The answers to actions: marked as the actions are, none done after one that failed, pictures of the size declared.
///
/// # Errors
/// The first that is not so.
pub(super) fn check_answers(body: &Value, computer: Option<&Computer>) -> Result<(), Wrong> {
    let messages = items(body, "messages");
    for (at, pair) in messages.windows(2).enumerate() {
        let [turn, answers] = pair else { continue };
        let mut failed = false;
        for (index, answer) in items(answers, "content").iter().enumerate() {
            let is_its = |call: &&Value| call["type"] == "tool_use" && call["id"] == answer["tool_use_id"];
            let Some(call) = items(turn, "content").iter().find(is_its) else { continue };
            let place = format!("messages.{}.content.{index}.tool_result", at + 1);
            if answer["toolset_name"] != call["toolset_name"] {
                return bad(&format!("{place}.toolset_name: Input should be that of its `tool_use` block"));
            }
            let is_action = call["toolset_name"] == "computer" || call["name"] == "computer";
            if call["toolset_name"] == "computer" {
                let is_error = answer["is_error"] == true;
                if failed && !(is_error && answer["content"] == NOT_EXECUTED) {
                    return bad(&format!("{place}: an earlier computer action in this turn failed"));
                }
                failed |= is_error;
            }
            if let (true, Some(display)) = (is_action, computer.and_then(|computer| computer.display)) {
                for block in items(answer, "content").iter().filter(|block| block["type"] == "image") {
                    let found = picture(text(&block["source"], "data")).and_then(|bytes| size(&bytes));
                    if found != Some(display) {
                        return bad(&format!("{place}: the screenshot does not have the declared size"));
                    }
                }
            }
        }
    }
    Ok(())
}
