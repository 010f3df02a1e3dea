//! Anthropic's actions, of the toolset and of the older tools: pixels of the screenshot, keys as xdotool names them.

use serde_json::{Value, json};

use super::{Adapter, NotOurs, OurCall, Point, chord, key_names};

/// The toolset's members; the older tools have them as `action`.
pub(super) const ACTIONS: [&str; 17] = [
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

/// The most calls of one action: more are a mistake of the model.
const MOST_CALLS: usize = 20;

pub(super) fn adapt(at: &mut Adapter, action: &str, input: &Value) -> Result<Vec<OurCall>, NotOurs> {
    let call = match action {
        "left_click" => click(at, "left", 1, input)?,
        "right_click" => click(at, "right", 1, input)?,
        "middle_click" => click(at, "middle", 1, input)?,
        "double_click" => click(at, "left", 2, input)?,
        "triple_click" => click(at, "left", 3, input)?,
        "mouse_move" => OurCall::new("move", coordinate(at, "coordinate", input)?.json()),
        "left_mouse_down" | "left_mouse_up" => {
            let tool = if action == "left_mouse_down" { "mouseDown" } else { "mouseUp" };
            OurCall::new(tool, point_or_pointer(at, input)?.json())
        }
        "left_click_drag" => drag(at, input)?,
        "scroll" => scroll(at, input)?,
        "type" => OurCall::new("type", json!({ "text": text(input)? })),
        "key" => return keys(input),
        "hold_key" => {
            let seconds = seconds(input)?;
            OurCall::new("hold", json!({ "keys": key_names(&together(text(input)?)), "seconds": seconds }))
        }
        "wait" => OurCall::new("wait", json!({ "seconds": seconds(input)? })),
        "screenshot" => OurCall::new("screenshot", json!({})),
        "zoom" => zoom(at, input)?,
        "cursor_position" => {
            return Err(NotOurs::Refused("the pointer's place is not told here: take a screenshot"));
        }
        other => return Err(NotOurs::Unknown(other.to_owned())),
    };
    Ok(vec![call])
}

fn click(at: &mut Adapter, button: &str, count: u8, input: &Value) -> Result<OurCall, NotOurs> {
    let Point { x, y } = point_or_pointer(at, input)?;
    let mut arguments = json!({ "x": x, "y": y });
    if button != "left" {
        arguments["button"] = button.into();
    }
    if count > 1 {
        arguments["count"] = count.into();
    }
    Ok(OurCall::new("click", with_modifiers(arguments, input)))
}

fn drag(at: &mut Adapter, input: &Value) -> Result<OurCall, NotOurs> {
    let from = match (given(input, "start_coordinate"), at.pointer) {
        (true, _) => coordinate(at, "start_coordinate", input)?,
        (false, Some(here)) => here,
        (false, None) => return Err(NotOurs::NoPointer),
    };
    let to = coordinate(at, "coordinate", input)?;
    Ok(OurCall::new("drag", with_modifiers(json!({ "from": from.json(), "to": to.json() }), input)))
}

fn scroll(at: &mut Adapter, input: &Value) -> Result<OurCall, NotOurs> {
    let Point { x, y } = point_or_pointer(at, input)?;
    let notches = input["scroll_amount"].as_i64().ok_or(NotOurs::Missing("scroll_amount"))?;
    let (along, notches) = match input["scroll_direction"].as_str() {
        Some("down") => ("down", notches),
        Some("up") => ("down", -notches),
        Some("right") => ("right", notches),
        Some("left") => ("right", -notches),
        _ => return Err(NotOurs::Missing("scroll_direction")),
    };
    Ok(OurCall::new("scroll", with_modifiers(json!({ "x": x, "y": y, along: notches }), input)))
}

/// As for xdotool, several combinations may be given, one after the other.
fn keys(input: &Value) -> Result<Vec<OurCall>, NotOurs> {
    let times = match &input["repeat"] {
        Value::Null => 1,
        repeat => {
            repeat.as_u64().filter(|times| (1..=50).contains(times)).ok_or(NotOurs::Missing("repeat"))?
        }
    };
    let chords = text(input)?.split_whitespace().map(together);
    let calls: Vec<OurCall> = chords.flat_map(|keys| chord(&keys, times)).collect();
    match calls.len() {
        0 => Err(NotOurs::Missing("text")),
        1..=MOST_CALLS => Ok(calls),
        _ => Err(NotOurs::Refused("these are too many keys at once: send them in smaller parts")),
    }
}

fn zoom(at: &mut Adapter, input: &Value) -> Result<OurCall, NotOurs> {
    let Some([x0, y0, x1, y1]) = input["region"].as_array().map(Vec::as_slice) else {
        return Err(NotOurs::Missing("region"));
    };
    let sides = [x0, y0, x1, y1].map(Value::as_f64);
    let [Some(x0), Some(y0), Some(x1), Some(y1)] = sides else { return Err(NotOurs::Missing("region")) };
    let (width, height) = (f64::from(at.display.width), f64::from(at.display.height));
    for (x, y) in [(x0, y0), (x1, y1)] {
        if !(0.0..=width).contains(&x) || !(0.0..=height).contains(&y) {
            return Err(NotOurs::Outside { what: "region", x, y, of: at.display });
        }
    }
    if x1 <= x0 || y1 <= y0 {
        return Err(NotOurs::Missing("region"));
    }
    let part = |pixels: f64, of: f64| (pixels * 1_000.0 / of * 1_000.0).round() / 1_000.0;
    let (x, y) = (part(x0, width), part(y0, height));
    // The parts are rounded each: the far edge must not come out beyond the display.
    let (wide, high) = (part(x1 - x0, width).min(1_000.0 - x), part(y1 - y0, height).min(1_000.0 - y));
    Ok(OurCall::new("zoom", json!({ "x": x, "y": y, "width": wide, "height": high })))
}

fn given(input: &Value, name: &str) -> bool {
    input.get(name).is_some_and(|value| !value.is_null())
}

/// The coordinate, or where the pointer is.
fn point_or_pointer(at: &mut Adapter, input: &Value) -> Result<Point, NotOurs> {
    match (given(input, "coordinate"), at.pointer) {
        (true, _) => coordinate(at, "coordinate", input),
        (false, Some(here)) => Ok(here),
        (false, None) => Err(NotOurs::NoPointer),
    }
}

fn coordinate(at: &mut Adapter, name: &'static str, input: &Value) -> Result<Point, NotOurs> {
    match input[name].as_array().map(Vec::as_slice) {
        Some([x, y]) => at.point(name, x, y),
        _ => Err(NotOurs::Missing(name)),
    }
}

fn text(input: &Value) -> Result<&str, NotOurs> {
    input["text"].as_str().filter(|text| !text.is_empty()).ok_or(NotOurs::Missing("text"))
}

fn seconds(input: &Value) -> Result<f64, NotOurs> {
    input["duration"].as_f64().ok_or(NotOurs::Missing("duration"))
}

/// `text` beside a click or a scroll is the keys held meanwhile.
fn with_modifiers(mut arguments: Value, input: &Value) -> Value {
    if let Ok(keys) = text(input) {
        arguments["modifiers"] = key_names(&together(keys));
    }
    arguments
}

/// `ctrl+shift+Escape`; a plus at the end is the key.
fn together(text: &str) -> Vec<String> {
    let (rest, plus) = match text.strip_suffix("++") {
        Some(rest) => (rest, true),
        None if text == "+" => ("", true),
        None => (text, false),
    };
    let keys = rest.split('+').filter(|key| !key.is_empty()).map(str::to_owned);
    keys.chain(plus.then(|| "+".to_owned())).collect()
}
