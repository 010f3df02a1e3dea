//! What is asked of Gemini: the body of a request from neutral messages.
//!
//! Pure, and the same bytes for the same messages: the provider's cache knows a prefix by its bytes.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value, json};

use super::PROVIDER;
use crate::{Image, Message, Part, ProposedCall, Request, ToolAnswer, ToolSpec, Turn};

/// Stands in for the signature of a call that another model made (Google's documented value).
const FOREIGN_SIGNATURE: &str = "skip_thought_signature_validator";

pub(super) fn body(request: &Request, thinking_summaries: bool) -> Value {
    let mut body = Map::new();
    if !request.system.is_empty() {
        body.insert("systemInstruction".into(), json!({ "parts": [{ "text": request.system }] }));
    }
    if thinking_summaries {
        body.insert("generationConfig".into(), json!({ "thinkingConfig": { "includeThoughts": true } }));
    }
    if !request.tools.is_empty() {
        let declarations: Vec<Value> = request.tools.iter().map(declaration).collect();
        body.insert("tools".into(), json!([{ "functionDeclarations": declarations }]));
        body.insert("toolConfig".into(), json!({ "functionCallingConfig": { "mode": "AUTO" } }));
    }
    let contents: Vec<Value> = request.messages.iter().filter_map(content).collect();
    body.insert("contents".into(), contents.into());
    Value::Object(body)
}

fn declaration(tool: &ToolSpec) -> Value {
    json!({ "name": tool.name, "description": tool.description, "parametersJsonSchema": tool.schema })
}

/// Nothing for a message without parts: Gemini refuses an empty content.
fn content(message: &Message) -> Option<Value> {
    let (role, parts) = match message {
        Message::User(parts) => ("user", parts.iter().map(part).collect::<Vec<_>>()),
        Message::Assistant(turn) if turn.provider == PROVIDER && has_parts(&turn.raw) => {
            return Some(turn.raw.clone());
        }
        Message::Assistant(turn) => ("model", neutral(turn)),
        Message::ToolResults(answers) => ("user", answers.iter().map(answer).collect()),
    };
    (!parts.is_empty()).then(|| json!({ "role": role, "parts": parts }))
}

fn has_parts(raw: &Value) -> bool {
    raw["parts"].as_array().is_some_and(|parts| !parts.is_empty())
}

fn part(part: &Part) -> Value {
    match part {
        Part::Text(text) => json!({ "text": text }),
        Part::Image(image) => json!({ "inlineData": inline(image) }),
    }
}

fn inline(image: &Image) -> Value {
    json!({ "mimeType": image.media_type, "data": STANDARD.encode(&image.bytes) })
}

/// A turn that another provider made, or whose own form is lost. As with Gemini's own, the first call is signed.
fn neutral(turn: &Turn) -> Vec<Value> {
    let text = (!turn.text.is_empty()).then(|| json!({ "text": turn.text }));
    let calls = turn.calls.iter().enumerate().map(|(index, call)| {
        let mut part = json!({ "functionCall": function_call(call) });
        if index == 0 {
            part["thoughtSignature"] = FOREIGN_SIGNATURE.into();
        }
        part
    });
    text.into_iter().chain(calls).collect()
}

fn function_call(call: &ProposedCall) -> Value {
    let mut value = Map::new();
    if let Some(id) = &call.id {
        value.insert("id".into(), id.as_str().into());
    }
    value.insert("name".into(), call.name.as_str().into());
    value.insert("args".into(), object(&call.arguments, "arguments"));
    Value::Object(value)
}

/// The picture is a part of the answer, named by it so that the model knows which answer it belongs to.
fn answer(answer: &ToolAnswer) -> Value {
    let mut value = Map::new();
    if let Some(id) = &answer.id {
        value.insert("id".into(), id.as_str().into());
    }
    value.insert("name".into(), answer.name.as_str().into());
    let mut response = object(&answer.response, "output");
    if let Some(image) = &answer.image {
        let name = format!("screen.{}", image.media_type.rsplit('/').next().unwrap_or_default());
        response["image"] = json!({ "$ref": name });
        let mut data = json!({ "displayName": name });
        if let (Value::Object(data), Value::Object(inline)) = (&mut data, inline(image)) {
            data.extend(inline);
        }
        value.insert("response".into(), response);
        value.insert("parts".into(), json!([{ "inlineData": data }]));
    } else {
        value.insert("response".into(), response);
    }
    json!({ "functionResponse": value })
}

/// Gemini takes objects only (a protobuf Struct).
fn object(value: &Value, name: &str) -> Value {
    match value {
        Value::Object(_) => value.clone(),
        Value::Null => json!({}),
        other => json!({ name: other }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fixture() -> Value {
        serde_json::from_str(include_str!(
            "../../../../../tests/fixtures/gemini/request_tools_image_result.json"
        ))
        .unwrap()
    }

    fn turn(provider: &str, raw: Value) -> Turn {
        let call =
            ProposedCall { id: Some("a1".into()), name: "click".into(), arguments: json!({"y": 2, "x": 1}) };
        Turn { text: "ok".into(), calls: vec![call.clone(), call], provider: provider.into(), raw }
    }

    #[test]
    fn a_request_with_tools_and_a_picture_has_the_documented_shape() {
        let mut expected = fixture();
        let declared = &expected["tools"][0]["functionDeclarations"];
        let tools = declared.as_array().unwrap().iter().map(|tool| ToolSpec {
            name: tool["name"].as_str().unwrap().into(),
            description: tool["description"].as_str().unwrap().into(),
            schema: tool["parametersJsonSchema"].clone(),
        });
        let png =
            expected["contents"][2]["parts"][0]["functionResponse"]["parts"][0]["inlineData"]["data"].clone();
        let image = Image {
            media_type: "image/png".into(),
            bytes: STANDARD.decode(png.as_str().unwrap()).unwrap().into(),
        };
        let request = Request {
            system: "You operate a desktop.".into(),
            tools: tools.collect(),
            messages: vec![
                Message::User(vec![Part::Text("Open settings.".into())]),
                Message::Assistant(Turn {
                    text: String::new(),
                    calls: Vec::new(),
                    provider: "gemini".into(),
                    raw: expected["contents"][1].clone(),
                }),
                Message::ToolResults(vec![ToolAnswer {
                    id: Some("a1b2c3d4".into()),
                    name: "screenshot".into(),
                    response: json!({"size": "1280x800"}),
                    image: Some(image),
                }]),
            ],
        };
        // Ours: the provider's default length and thinking level, and the answer's own keys without `output`.
        expected["generationConfig"] = json!({"thinkingConfig": {"includeThoughts": true}});
        let output = json!({"size": "1280x800", "image": {"$ref": "screen.png"}});
        expected["contents"][2]["parts"][0]["functionResponse"]["response"] = output;
        assert_eq!(body(&request, true), expected);
    }

    #[test]
    fn a_turn_of_geminis_own_goes_back_byte_for_byte() {
        let raw = r#"{"parts":[{"text":"z","thought":true},{"functionCall":{"name":"b","args":{"y":1.0,"x":2}},"thoughtSignature":"Sg=="},{"new":{}}],"role":"model"}"#;
        let turn = turn("gemini", serde_json::from_str(raw).unwrap());
        assert_eq!(serde_json::to_string(&content(&Message::Assistant(turn)).unwrap()).unwrap(), raw);
    }

    #[test]
    fn a_turn_of_another_provider_is_told_in_neutral_form_with_its_first_call_signed() {
        let content = content(&Message::Assistant(turn("anthropic", json!({"parts": [{"x": 1}]})))).unwrap();
        let call = json!({"id": "a1", "name": "click", "args": {"y": 2, "x": 1}});
        let expected = json!({"role": "model", "parts": [
            {"text": "ok"},
            {"functionCall": call, "thoughtSignature": "skip_thought_signature_validator"},
            {"functionCall": call},
        ]});
        assert_eq!(content, expected);
    }

    #[test]
    fn an_empty_turn_is_left_out_and_an_empty_request_has_no_empty_fields() {
        let request = Request { messages: vec![Message::Assistant(Turn::default())], ..Request::default() };
        assert_eq!(body(&request, false), json!({"contents": []}));
    }

    #[test]
    fn a_picture_of_the_users_goes_beside_the_text() {
        let image = Image { media_type: "image/jpeg".into(), bytes: vec![1, 2, 3].into() };
        let message = Message::User(vec![Part::Text("look".into()), Part::Image(image)]);
        let inline = json!({"inlineData": {"mimeType": "image/jpeg", "data": "AQID"}});
        assert_eq!(content(&message).unwrap(), json!({"role": "user", "parts": [{"text": "look"}, inline]}));
    }
}
