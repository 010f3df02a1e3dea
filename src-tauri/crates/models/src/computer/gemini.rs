//! Gemini's actions on a desktop: places in 0-999 of the screenshot whatever its size, scrolled by pixels, one a call.
//!
//! Source: Google's page on computer use, the environment `ENVIRONMENT_DESKTOP` of gemini-3.5-flash.

use serde_json::{Value, json};

use super::openai::{MOST_NOTCHES, NOTCH};
use super::{Adapter, NotOurs, OurCall, Point, chord};

/// The names of its functions, which we do not declare.
pub(super) const ACTIONS: [&str; 17] = [
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

/// What `wait` and `scroll` are without a number.
const WAIT_SECONDS: f64 = 1.0;
const SCROLL_PIXELS: f64 = 300.0;

pub(super) fn adapt(at: &mut Adapter, action: &str, args: &Value) -> Result<Vec<OurCall>, NotOurs> {
    let call = match action {
        "click" => click(at, json!({}), args)?,
        "double_click" => click(at, json!({ "count": 2 }), args)?,
        "triple_click" => click(at, json!({ "count": 3 }), args)?,
        "middle_click" => click(at, json!({ "button": "middle" }), args)?,
        "right_click" => click(at, json!({ "button": "right" }), args)?,
        "mouse_down" => OurCall::new("mouseDown", point(at, args)?.json()),
        "mouse_up" => OurCall::new("mouseUp", point(at, args)?.json()),
        "move" => OurCall::new("move", point(at, args)?.json()),
        "drag_and_drop" => {
            let from = at.point("start_x, start_y", &args["start_x"], &args["start_y"])?.json();
            let to = at.point("end_x, end_y", &args["end_x"], &args["end_y"])?.json();
            OurCall::new("drag", json!({ "from": from, "to": to }))
        }
        "scroll" => scroll(at, args)?,
        "type" => {
            let text = OurCall::new("type", json!({ "text": said(args, "text")? }));
            let enter = OurCall::new("press", json!({ "key": "Return" }));
            return Ok(if args["press_enter"] == true { vec![text, enter] } else { vec![text] });
        }
        "press_key" => return Ok(chord(&[said(args, "key")?.to_owned()], 1)),
        "key_down" => OurCall::new("keyDown", json!({ "key": said(args, "key")? })),
        "key_up" => OurCall::new("keyUp", json!({ "key": said(args, "key")? })),
        "hotkey" => return hotkey(args),
        // The answer is a picture, and a wait leaves none.
        "wait" => {
            let seconds = or(args, "seconds", WAIT_SECONDS)?;
            return Ok(vec![
                OurCall::new("wait", json!({ "seconds": seconds })),
                OurCall::new("screenshot", json!({})),
            ]);
        }
        "take_screenshot" => OurCall::new("screenshot", json!({})),
        other => return Err(NotOurs::Unknown(other.to_owned())),
    };
    Ok(vec![call])
}

fn click(at: &mut Adapter, mut how: Value, args: &Value) -> Result<OurCall, NotOurs> {
    let Point { x, y } = point(at, args)?;
    how["x"] = x.into();
    how["y"] = y.into();
    Ok(OurCall::new("click", how))
}

fn scroll(at: &mut Adapter, args: &Value) -> Result<OurCall, NotOurs> {
    let mut arguments = point(at, args)?.json();
    let pixels = or(args, "magnitude_in_pixels", SCROLL_PIXELS)?;
    let notches = (pixels / NOTCH).round().clamp(1.0, MOST_NOTCHES) as i64;
    let (along, notches) = match args["direction"].as_str() {
        Some("down") => ("down", notches),
        Some("up") => ("down", -notches),
        Some("right") => ("right", notches),
        Some("left") => ("right", -notches),
        _ => return Err(NotOurs::Missing("direction")),
    };
    arguments[along] = notches.into();
    Ok(OurCall::new("scroll", arguments))
}

fn hotkey(args: &Value) -> Result<Vec<OurCall>, NotOurs> {
    let keys = args["keys"].as_array().into_iter().flatten().filter_map(Value::as_str);
    let keys: Vec<String> = keys.filter(|key| !key.is_empty()).map(str::to_owned).collect();
    match keys.is_empty() {
        true => Err(NotOurs::Missing("keys")),
        false => Ok(chord(&keys, 1)),
    }
}

fn point(at: &mut Adapter, args: &Value) -> Result<Point, NotOurs> {
    at.point("x, y", &args["x"], &args["y"])
}

fn said<'a>(args: &'a Value, name: &'static str) -> Result<&'a str, NotOurs> {
    args[name].as_str().filter(|text| !text.is_empty()).ok_or(NotOurs::Missing(name))
}

fn or(args: &Value, name: &'static str, without: f64) -> Result<f64, NotOurs> {
    match &args[name] {
        Value::Null => Ok(without),
        number => number.as_f64().filter(|number| *number >= 0.0).ok_or(NotOurs::Missing(name)),
    }
}
