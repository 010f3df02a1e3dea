//! OpenAI's computer tools: `computer` with several actions in a call, and the older one with one; each call is answered
//! by a picture.

use serde_json::{Value, json};

use super::{Responses, unsupported};
use crate::fake_model::asked::ToolResult;
use crate::fake_model::computer::{Computer, ComputerAction, size};
use crate::fake_model::wire::{Saying, Wrong, bad, items, picture_of_url, text, unknown_field};

pub(super) const PREVIEW: &str = "computer_use_preview";
const ENVIRONMENTS: [&str; 5] = ["windows", "mac", "linux", "ubuntu", "browser"];

/// # Errors
/// A declaration in another form.
pub(super) fn declared(
    dialect: Responses,
    body: &Value,
    tool: &Value,
    at: usize,
) -> Result<Option<Computer>, Wrong> {
    let kind = text(tool, "type");
    let known: &[&str] = match (kind, dialect) {
        ("computer", Responses::OpenAi) => &["type"],
        (PREVIEW, Responses::OpenAi) => &["type", "display_width", "display_height", "environment"],
        _ => return Ok(None),
    };
    if let Some(field) = unknown_field(tool, known) {
        return bad(&format!("Unknown parameter: 'tools[{at}].{field}'."));
    }
    if kind != PREVIEW {
        return Ok(Some(Computer { version: kind.to_owned(), display: None }));
    }
    if body["truncation"] != "auto" {
        return bad("The computer_use_preview tool requires 'truncation' to be 'auto'.");
    }
    let environment = text(tool, "environment");
    if !ENVIRONMENTS.contains(&environment) {
        return unsupported(environment, &format!("tools[{at}].environment"));
    }
    let pixels = |field: &str| tool[field].as_u64().and_then(|pixels| u32::try_from(pixels).ok());
    match pixels("display_width").zip(pixels("display_height")) {
        Some(display) => Ok(Some(Computer { version: kind.to_owned(), display: Some(display) })),
        None => bad(&format!("Missing required parameter: 'tools[{at}].display_width'.")),
    }
}

/// The actions of a turn, call by call; the first has what is warned of.
pub(super) fn items_of(saying: &Saying<'_>) -> Vec<Value> {
    let Some(computer) = &saying.asked.heard.computer else { return Vec::new() };
    let mut actions: Vec<Value> = saying.turn.actions.iter().map(|one| action(saying, one)).collect();
    if computer.version != PREVIEW && !actions.is_empty() {
        actions = vec![Value::from(actions)];
    }
    let item = |(index, actions): (usize, Value)| {
        let warning = saying.turn.warning.as_ref().filter(|_| index == 0);
        let checks = warning.map(|words| {
            let id = format!("cu_sc_{}", saying.number);
            json!({ "id": id, "code": "malicious_instructions", "message": words })
        });
        let mut item = json!({
            "id": format!("cu_{:022}{index:02}", saying.number), "type": "computer_call",
            "status": "completed", "call_id": format!("call_{}_c{index}", saying.number),
            "pending_safety_checks": checks.into_iter().collect::<Vec<_>>(),
        });
        let name = if actions.is_array() { "actions" } else { "action" };
        item[name] = actions;
        item
    };
    actions.into_iter().enumerate().map(item).collect()
}

fn action(saying: &Saying<'_>, one: &ComputerAction) -> Value {
    match one {
        ComputerAction::Look => json!({ "type": "screenshot" }),
        ComputerAction::Click { x, y } => {
            let [x, y] = saying.pixel(*x, *y);
            json!({ "type": "click", "button": "left", "x": x, "y": y })
        }
        ComputerAction::Write(words) => json!({ "type": "type", "text": words }),
        ComputerAction::Press(keys) => {
            let keys: Vec<String> = keys.iter().map(|key| key.to_uppercase()).collect();
            json!({ "type": "keypress", "keys": keys })
        }
        ComputerAction::Scroll { x, y, notches } => {
            let [x, y] = saying.pixel(*x, *y);
            json!({ "type": "scroll", "x": x, "y": y, "scroll_x": 0, "scroll_y": notches * 100 })
        }
    }
}

/// The answer to one of its calls: a picture, and a word on each warning.
///
/// # Errors
/// What is not so.
pub(super) fn answer(
    item: &Value,
    call: Option<&Value>,
    computer: Option<&Computer>,
    at: usize,
) -> Result<ToolResult, Wrong> {
    let (id, output) = (text(item, "call_id"), &item["output"]);
    let place = format!("input[{at}].output");
    if output["type"] != "computer_screenshot" {
        return unsupported(text(output, "type"), &place);
    }
    let mut known = vec!["type", "image_url", "file_id"];
    known.extend(computer.is_none_or(|computer| computer.version != PREVIEW).then_some("detail"));
    if let Some(field) = unknown_field(output, &known) {
        return bad(&format!("Unknown parameter: '{place}.{field}'."));
    }
    let Some(picture) = picture_of_url(text(output, "image_url")) else {
        return bad(&format!(
            "Invalid '{place}.image_url'. The image data you provided does not represent a valid image."
        ));
    };
    let display = computer.and_then(|computer| computer.display);
    // One pixel stands for a picture that is not there any more.
    let found = size(&picture);
    if display.is_some() && found != display && found != Some((1, 1)) {
        return bad(&format!("Invalid '{place}.image_url'. The screenshot does not have the declared size."));
    }
    let pending = call.map(|call| items(call, "pending_safety_checks")).unwrap_or_default();
    let acknowledged = items(item, "acknowledged_safety_checks");
    if let Some(check) = pending.iter().find(|check| !acknowledged.contains(check)) {
        let check = text(check, "id");
        return bad(&format!("Safety check '{check}' of computer call '{id}' must be acknowledged."));
    }
    if let Some(check) = acknowledged.iter().find(|check| !pending.contains(check)) {
        let check = text(check, "id");
        return bad(&format!("Safety check '{check}' is none of computer call '{id}'."));
    }
    Ok(ToolResult { id: Some(id.to_owned()), images: vec![picture], ..ToolResult::default() })
}
