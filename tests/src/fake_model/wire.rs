//! Gemini's shapes: the stream's events, a model's description, the errors.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use serde_json::{Value, json};

use super::{GeminiRequest, MindTurn};

/// What the real one counts for a picture.
const TOKENS_OF_A_PICTURE: usize = 1_120;

/// A turn as it goes over the wire.
pub(super) struct Spoken {
    /// `data: ...` with the empty line after it.
    pub events: Vec<String>,
    /// By call id.
    pub signatures: Vec<(String, String)>,
}

/// A turn as a stream: thoughts, then text by the word, then the calls in one event, then the end.
///
/// `number` is the turn's own among all of the server's: ids and signatures never repeat.
pub(super) fn speak(turn: &MindTurn, model: &str, request: &Value, number: usize) -> Spoken {
    let prompt = prompt_tokens(request);
    let mut said = 0;
    let mut events = Vec::new();
    let mut push = |parts: Vec<Value>, end: bool| {
        said += parts.iter().map(|part| part.to_string().len() / 4).sum::<usize>();
        let mut candidate = json!({ "content": { "parts": parts, "role": "model" }, "index": 0 });
        if end {
            candidate["finishReason"] = json!("STOP");
        }
        let thought = turn.thinking.len() / 4;
        let usage = json!({
            "promptTokenCount": prompt, "candidatesTokenCount": said, "thoughtsTokenCount": thought,
            "totalTokenCount": prompt + said + thought,
        });
        let event = json!({
            "candidates": [candidate], "usageMetadata": usage,
            "modelVersion": model, "responseId": format!("fake-{number}"),
        });
        events.push(format!("data: {event}\r\n\r\n"));
    };
    if !turn.thinking.is_empty() {
        push(vec![json!({ "text": turn.thinking, "thought": true })], false);
    }
    for word in turn.text.split_inclusive(' ') {
        push(vec![json!({ "text": word })], false);
    }
    let mut signatures = Vec::new();
    let calls: Vec<Value> = turn
        .calls
        .iter()
        .enumerate()
        .map(|(index, (name, arguments))| {
            let id = format!("call-{number}-{index}");
            let mut part = json!({ "functionCall": { "id": id, "name": name, "args": arguments } });
            // Of parallel calls only the first has one.
            if index == 0 {
                let signature = BASE64_STANDARD.encode(format!("signed {id} {name}"));
                part["thoughtSignature"] = json!(signature);
                signatures.push((id, signature));
            }
            part
        })
        .collect();
    if !calls.is_empty() {
        push(calls, false);
    }
    push(vec![json!({ "text": "" })], true);
    Spoken { events, signatures }
}

/// About four characters a token, pictures apart.
fn prompt_tokens(request: &Value) -> usize {
    let (mut pictures, mut picture_chars) = (0, 0);
    GeminiRequest::visit(request, &mut |value| {
        if let Some(data) = value.get("inlineData").and_then(|inline| inline["data"].as_str()) {
            pictures += 1;
            picture_chars += data.len();
        }
    });
    request.to_string().len().saturating_sub(picture_chars) / 4 + pictures * TOKENS_OF_A_PICTURE
}

pub(super) fn model(id: &str) -> Value {
    json!({
        "name": format!("models/{id}"), "displayName": id, "inputTokenLimit": 1_048_576, "outputTokenLimit": 65_536,
        "supportedGenerationMethods": ["generateContent", "countTokens"],
    })
}

pub(super) fn no_key() -> (u16, Value) {
    error(
        403,
        "PERMISSION_DENIED",
        "Method doesn't allow unregistered callers (callers without established identity). Please use API Key or other form of API consumer identity to call this API.",
    )
}

pub(super) fn bad_key() -> (u16, Value) {
    let (status, mut body) =
        error(400, "INVALID_ARGUMENT", "API key not valid. Please pass a valid API key.");
    body["error"]["details"] = json!([{
        "@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "API_KEY_INVALID",
        "domain": "googleapis.com", "metadata": { "service": "generativelanguage.googleapis.com" },
    }]);
    (status, body)
}

pub(super) fn not_found(what: &str) -> (u16, Value) {
    error(404, "NOT_FOUND", &format!("models/{what} is not found for this API version, or is not supported."))
}

pub(super) fn missing_signature(name: &str, position: usize) -> (u16, Value) {
    error(
        400,
        "INVALID_ARGUMENT",
        &format!(
            "Function call is missing a thought_signature in functionCall parts. This is required for tools to work correctly, and missing thought_signature may lead to degraded model performance. Additional data, function call `default_api:{name}`, position {position}."
        ),
    )
}

pub(super) fn bad_argument(message: &str) -> (u16, Value) {
    error(400, "INVALID_ARGUMENT", message)
}

fn error(code: u16, status: &str, message: &str) -> (u16, Value) {
    (code, json!({ "error": { "code": code, "message": message, "status": status } }))
}
