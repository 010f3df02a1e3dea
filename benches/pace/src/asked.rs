//! What is asked: requests of runs, of about so many tokens and with so many pictures, and a small one. And the least that
//! anybody would have to do for such a body.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use models::{Detail, Image, Message, Part, Request, ToolAnswer, ToolSpec, Turn, TurnEvent, Wire, decode};
use serde_json::{Value, json};

use crate::Failure;

/// A screen of 1280x800 at quality 85.
const PICTURE: usize = 150_000;
/// What a picture of that size is counted as, roughly, and a token in characters.
const OF_A_PICTURE: usize = 1_200;
const OF_A_TOKEN: usize = 4;
const TOOLS: usize = 43;

pub fn small() -> Request {
    Request { messages: vec![Message::User(vec![Part::Text("hello".into())])], ..Request::default() }
}

pub struct Size {
    pub tokens: usize,
    /// As many as turns.
    pub pictures: usize,
}

/// Turns as the provider wrote them, each answered with a picture and words enough for the tokens.
pub fn long(provider: &str, wire: Wire, stream: &[u8], Size { tokens, pictures }: Size) -> Request {
    let turn = match decode(wire, provider, stream).1 {
        Ok(TurnEvent::Finished { turn, .. }) => turn,
        _ => Turn::default(),
    };
    let system = "You operate a desktop for its user. Look before you act. ".repeat(100);
    let tools: Vec<ToolSpec> = (0..TOOLS).map(tool).collect();
    let fixed = system.len()
        + tools.iter().map(|tool| tool.description.len() + tool.schema.to_string().len()).sum::<usize>()
        + pictures * turn.raw.as_str().map_or(0, str::len);
    let words = (tokens - pictures * OF_A_PICTURE) * OF_A_TOKEN;
    let each = words.saturating_sub(fixed) / (pictures * turn.calls.len().max(1));
    let mut messages = vec![Message::User(vec![Part::Text("Set the display to 1920 by 1080.".into())])];
    for number in 0..pictures {
        let answers = turn.calls.iter().enumerate().map(|(at, call)| ToolAnswer {
            id: call.id.clone(),
            name: call.name.clone(),
            response: json!({ "effect": "confirmed", "summary": "done", "data": elements(each) }),
            image: (at == 0).then(|| picture(number)),
        });
        let answers = Message::ToolResults(answers.collect());
        messages.extend([Message::Assistant(turn.clone()), answers]);
    }
    Request { system, tools, messages, ..Request::default() }
}

fn tool(number: usize) -> ToolSpec {
    let field =
        json!({ "type": "integer", "minimum": 0, "maximum": 1000, "description": "Across, 0 to 1000." });
    let reason = json!({ "type": "string", "description": "Why, for the user, in a few words." });
    let button = json!({ "type": "string", "enum": ["left", "middle", "right"], "default": "left" });
    ToolSpec {
        name: format!("tool_{number}"),
        description: "Presses a button of the mouse at a place of the screen, and shows what came of it. "
            .repeat(4),
        schema: json!({
            "type": "object",
            "properties": { "x": field, "y": field, "button": button, "reason": reason },
            "required": ["x", "y"],
            "additionalProperties": false,
        }),
    }
}

/// What a look at the elements answers, so many characters of it.
fn elements(most: usize) -> Vec<Value> {
    let one = |number: usize| json!({ "ref": format!("e{number}"), "role": "button", "name": "Apply", "bounds": [12, number, 80, 24] });
    let each = one(100).to_string().len() + 1;
    (0..most / each).map(one).collect()
}

/// Of no sense, and each another: nobody looks inside.
fn picture(number: usize) -> Image {
    let mut state = number as u32 + 1;
    let bytes: Vec<u8> = std::iter::repeat_with(|| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 24) as u8
    })
    .take(PICTURE)
    .collect();
    Image { media_type: "image/jpeg".into(), bytes: bytes.into(), detail: Detail::Whole }
}

/// Each text escaped, each picture in base64, into one buffer: no wire's form.
pub fn bare(request: &Request) -> Result<Vec<u8>, Failure> {
    let mut body = Vec::new();
    serde_json::to_writer(&mut body, &request.system)?;
    for tool in &request.tools {
        serde_json::to_writer(&mut body, &(&tool.name, &tool.description, &tool.schema))?;
    }
    for message in &request.messages {
        match message {
            Message::User(parts) => {
                for part in parts {
                    if let Part::Text(text) = part {
                        serde_json::to_writer(&mut body, text)?;
                    }
                }
            }
            Message::Assistant(turn) => {
                body.extend_from_slice(turn.raw.as_str().unwrap_or_default().as_bytes());
            }
            Message::ToolResults(answers) => {
                for answer in answers {
                    serde_json::to_writer(&mut body, &answer.response.to_string())?;
                    if let Some(image) = &answer.image {
                        body.extend_from_slice(STANDARD.encode(&image.bytes).as_bytes());
                    }
                }
            }
        }
    }
    Ok(body)
}
