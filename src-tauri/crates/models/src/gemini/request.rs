//! What is asked of Gemini: the body of a request from neutral messages.
//!
//! Pure, and the same bytes for the same messages: the provider's cache knows a prefix by its bytes.

use protocol::ids::ModelId;
use serde_json::{Map, Value, json};

use crate::computer::ACKNOWLEDGED;
use crate::conversation::{Entry, MediaResolution, Target, base64, entries, object};
use crate::json_text::{JsonObject, json_list, to_json};
use crate::pictures;
use crate::{Detail, Image, Part, ProposedCall, Request, ToolAnswer, ToolSpec};

/// Fields of an answer that Google defines: that the user accepted its warning, and which part is the picture.
const ACKNOWLEDGEMENT: &str = "safety_acknowledgement";
const PICTURE: &str = "image";
/// Stands in for the signature of a call that another model made (Google's documented value).
const FOREIGN_SIGNATURE: &str = "skip_thought_signature_validator";

pub(crate) fn body(request: &Request, target: Target<'_>) -> String {
    let mut body = JsonObject::new();
    if !request.system.is_empty() {
        body.field("systemInstruction", &json!({ "parts": [{ "text": request.system }] }));
    }
    let generation = generation(target, target.max_output(request));
    if !generation.is_empty() {
        body.field("generationConfig", &generation);
    }
    let mut tools = Vec::new();
    if !request.tools.is_empty() {
        let mut tool = JsonObject::new();
        tool.verbatim("functionDeclarations", &json_list(request.tools.iter().map(declaration)));
        tools.push(tool.finish());
    }
    if target.options.search {
        tools.push(to_json(&json!({ "googleSearch": {} })));
    }
    let computer = target.options.computer.zip(request.display);
    tools.extend(computer.map(|(computer, display)| to_json(&computer.declared(display))));
    if !tools.is_empty() {
        body.verbatim("tools", &json_list(&tools));
    }
    if !request.tools.is_empty() {
        // Without `includeServerSideToolInvocations`, a search and functions are not taken together; with it, what the
        // search did comes as parts that go back with the turn, and the mode may not be AUTO (Google's page on
        // combining built-in tools with functions).
        let config = match target.options.search {
            false => json!({ "functionCallingConfig": { "mode": "AUTO" } }),
            true => json!({
                "functionCallingConfig": { "mode": "VALIDATED" },
                "includeServerSideToolInvocations": true,
            }),
        };
        body.field("toolConfig", &config);
    }
    let contents: Vec<String> =
        entries(request, target.provider).iter().map(|entry| content(entry, target)).collect();
    body.verbatim("contents", &json_list(&contents));
    body.finish()
}

fn generation(target: Target<'_>, max_output: Option<u32>) -> Map<String, Value> {
    let mut generation = Map::new();
    if target.options.thinking {
        generation.insert("thinkingConfig".into(), json!({ "includeThoughts": true }));
    }
    if let Some(most) = max_output {
        generation.insert("maxOutputTokens".into(), most.into());
    }
    if let Some(resolution) = target.options.media_resolution {
        let name = match resolution {
            MediaResolution::Low => "MEDIA_RESOLUTION_LOW",
            MediaResolution::Medium => "MEDIA_RESOLUTION_MEDIUM",
            MediaResolution::High => "MEDIA_RESOLUTION_HIGH",
            MediaResolution::UltraHigh => "MEDIA_RESOLUTION_ULTRA_HIGH",
        };
        generation.insert("mediaResolution".into(), name.into());
    }
    generation
}

fn declaration(tool: &ToolSpec) -> String {
    let mut declaration = JsonObject::new();
    declaration.field("name", &tool.name);
    declaration.field("description", &tool.description);
    declaration.field("parametersJsonSchema", &tool.schema);
    declaration.finish()
}

fn content(entry: &Entry<'_>, target: Target<'_>) -> String {
    let (role, parts): (_, Vec<String>) = match entry {
        Entry::Own(json) => return json.clone().into_owned(),
        Entry::User(parts) => ("user", parts.iter().map(|one| to_json(&part(one))).collect()),
        Entry::Assistant { text, calls } => {
            let parts = neutral(text, &mut calls.iter().map(|(_, call)| *call));
            ("model", parts.iter().map(to_json).collect())
        }
        Entry::Answers { answers, .. } => {
            ("user", answers.iter().map(|(_, one)| answer(one, target)).collect())
        }
    };
    let mut content = JsonObject::new();
    content.field("role", role);
    content.verbatim("parts", &json_list(&parts));
    content.finish()
}

fn part(part: &Part) -> Value {
    match part {
        Part::Text(text) => json!({ "text": text }),
        Part::Image(image) => json!({ "inlineData": inline(image) }),
    }
}

fn inline(image: &Image) -> Value {
    json!({ "mimeType": image.media_type, "data": base64(image) })
}

/// A turn that another provider made, or whose own JSON is lost. As in Gemini's own turns, the first call is signed.
fn neutral(text: &str, calls: &mut dyn Iterator<Item = &ProposedCall>) -> Vec<Value> {
    let text = (!text.is_empty()).then(|| json!({ "text": text }));
    let calls = calls.enumerate().map(|(index, call)| {
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
    value.insert("args".into(), object(&call.arguments, "arguments").into_owned());
    Value::Object(value)
}

/// The picture is a part of the answer, named by it so that the model knows which answer it belongs to.
fn answer(answer: &ToolAnswer, target: Target<'_>) -> String {
    let mut function = JsonObject::new();
    if let Some(id) = &answer.id {
        function.field("id", id);
    }
    function.field("name", &answer.name);
    match &answer.image {
        None => function.verbatim("response", &response(answer, None)),
        Some(image) => {
            let name = format!("screen.{}", image.media_type.rsplit('/').next().unwrap_or_default());
            function.verbatim("response", &response(answer, Some(&name)));
            let data = json!({ "displayName": name, "mimeType": image.media_type, "data": base64(image) });
            let mut part = json!({ "inlineData": data });
            if let Some(level) = level(image.detail, target) {
                part["mediaResolution"] = json!({ "level": level });
            }
            function.field("parts", &json!([part]));
        }
    }
    let mut part = JsonObject::new();
    part.verbatim("functionResponse", &function.finish());
    part.finish()
}

/// The resolution of a picture of a part of the screen, which has so much fewer pixels: of models that know it of a single
/// picture, and where the user has chosen none for all.
fn level(detail: Detail, target: Target<'_>) -> Option<&'static str> {
    let model = ModelId(format!("gemini/{}", target.model));
    if target.options.media_resolution.is_some() || !pictures::family(&model).reads_parts_at_less() {
        return None;
    }
    match detail {
        Detail::Whole => None,
        Detail::Half => Some("MEDIA_RESOLUTION_MEDIUM"),
        Detail::Quarter => Some("MEDIA_RESOLUTION_LOW"),
    }
}

/// What came of a call, as an object, with Google's field for a warning that the user accepted.
fn response(answer: &ToolAnswer, image: Option<&str>) -> String {
    let mut response = JsonObject::new();
    let mut acknowledged = false;
    for (name, value) in object(&answer.response, "output").as_object().into_iter().flatten() {
        match name.as_str() {
            ACKNOWLEDGED => acknowledged = true,
            // Written below: a field that is there twice is refused.
            ACKNOWLEDGEMENT | PICTURE => {}
            name => response.field(name, value),
        }
    }
    if acknowledged {
        response.field(ACKNOWLEDGEMENT, "true");
    }
    if let Some(name) = image {
        response.field(PICTURE, &json!({ "$ref": name }));
    }
    response.finish()
}

#[cfg(test)]
mod tests;
