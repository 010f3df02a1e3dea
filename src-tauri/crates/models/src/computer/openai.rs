//! OpenAI's actions: pixels of the screenshot, several in one call, scrolled by pixels.

use serde_json::{Value, json};

use super::{Adapter, NotOurs, OurCall, Point, chord, key_names};

/// Pixels that a notch of the wheel scrolls in most applications.
pub(super) const NOTCH: f64 = 100.0;
/// The most notches of one call.
pub(super) const MOST_NOTCHES: f64 = 50.0;
/// What `wait` is without a number.
const WAIT_SECONDS: f64 = 2.0;
/// The most actions in one call.
const MOST_ACTIONS: usize = 30;

pub(super) fn adapt(at: &mut Adapter, arguments: &Value) -> Result<Vec<OurCall>, NotOurs> {
    let actions = arguments["actions"].as_array().map(Vec::as_slice).unwrap_or_default();
    if actions.is_empty() {
        return Err(NotOurs::Missing("actions"));
    }
    if actions.len() > MOST_ACTIONS {
        return Err(NotOurs::Refused("these are too many actions at once: send them in smaller parts"));
    }
    let mut calls = Vec::with_capacity(actions.len() + 1);
    for action in actions {
        calls.push(one(at, action)?);
    }
    // The answer is a picture: a wait alone leaves none.
    if calls.last().is_some_and(|call| call.tool == "wait") {
        calls.push(OurCall::new("screenshot", json!({})));
    }
    Ok(calls)
}

fn one(at: &mut Adapter, action: &Value) -> Result<OurCall, NotOurs> {
    let kind = action["type"].as_str().ok_or(NotOurs::Missing("type"))?;
    Ok(match kind {
        "click" => click(at, action)?,
        "double_click" => {
            let Point { x, y } = point(at, action)?;
            OurCall::new("click", with_modifiers(json!({ "x": x, "y": y, "count": 2 }), action))
        }
        "move" => OurCall::new("move", point(at, action)?.json()),
        "drag" => {
            let points = action["path"].as_array().ok_or(NotOurs::Missing("path"))?;
            let path = points
                .iter()
                .map(|point| {
                    // Older models write pairs.
                    let (x, y) = match point.as_array().map(Vec::as_slice) {
                        Some([x, y]) => (x, y),
                        _ => (&point["x"], &point["y"]),
                    };
                    at.point("path", x, y).map(Point::json)
                })
                .collect::<Result<Vec<Value>, _>>()?;
            OurCall::new("drag", with_modifiers(json!({ "path": path }), action))
        }
        "scroll" => scroll(at, action)?,
        "type" => {
            let text = action["text"].as_str().filter(|text| !text.is_empty());
            OurCall::new("type", json!({ "text": text.ok_or(NotOurs::Missing("text"))? }))
        }
        "keypress" => {
            let mut calls = chord(&keys(action), 1);
            match (calls.pop(), keys(action).is_empty()) {
                (Some(call), false) => call,
                _ => return Err(NotOurs::Missing("keys")),
            }
        }
        "wait" => OurCall::new("wait", json!({ "seconds": WAIT_SECONDS })),
        "screenshot" => OurCall::new("screenshot", json!({})),
        other => return Err(NotOurs::Unknown(other.to_owned())),
    })
}

/// The side buttons are done as the keys for back and forward.
fn click(at: &mut Adapter, action: &Value) -> Result<OurCall, NotOurs> {
    let Point { x, y } = point(at, action)?;
    let arguments = match action["button"].as_str() {
        Some("left") | None => json!({ "x": x, "y": y }),
        Some("right") => json!({ "x": x, "y": y, "button": "right" }),
        Some("wheel") => json!({ "x": x, "y": y, "button": "middle" }),
        Some("back") => return Ok(OurCall::new("hotkey", json!({ "keys": ["alt", "Left"] }))),
        Some("forward") => return Ok(OurCall::new("hotkey", json!({ "keys": ["alt", "Right"] }))),
        Some(_) => return Err(NotOurs::Missing("button")),
    };
    Ok(OurCall::new("click", with_modifiers(arguments, action)))
}

fn scroll(at: &mut Adapter, action: &Value) -> Result<OurCall, NotOurs> {
    let Point { x, y } = point(at, action)?;
    let notches = |field: &str| {
        let pixels = action[field].as_f64().unwrap_or_default();
        let notches = (pixels.abs() / NOTCH).round().clamp(1.0, MOST_NOTCHES);
        if pixels == 0.0 { 0 } else { (notches * pixels.signum()) as i64 }
    };
    let mut arguments = json!({ "x": x, "y": y });
    for (name, notches) in [("down", notches("scroll_y")), ("right", notches("scroll_x"))] {
        if notches != 0 {
            arguments[name] = notches.into();
        }
    }
    Ok(OurCall::new("scroll", with_modifiers(arguments, action)))
}

fn point(at: &mut Adapter, action: &Value) -> Result<Point, NotOurs> {
    at.point("x, y", &action["x"], &action["y"])
}

fn keys(action: &Value) -> Vec<String> {
    let keys = action["keys"].as_array().into_iter().flatten();
    keys.filter_map(Value::as_str).filter(|key| !key.is_empty()).map(str::to_owned).collect()
}

fn with_modifiers(mut arguments: Value, action: &Value) -> Value {
    let keys = keys(action);
    if !keys.is_empty() {
        arguments["modifiers"] = key_names(&keys);
    }
    arguments
}
