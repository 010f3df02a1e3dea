//! What is asked by OpenAI's Responses: the body of a request from neutral messages.
//!
//! Pure, and the same bytes for the same messages. Nothing is stored with the provider: whole items go back.

use protocol::ids::ModelId;
use serde_json::{Value, json};

use crate::computer::{ACKNOWLEDGED, Computer};
use crate::conversation::{Entry, Target, data_url, entries};
use crate::json_text::{JsonObject, json_list, to_json};
use crate::{Image, Part, Request, ToolAnswer, ToolSpec, pictures};

/// The variants of this wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Dialect {
    OpenAi,
    /// No `instructions`, and pictures in the user's messages only.
    Xai,
}

/// The resolution at which pictures are read. Ours have the model's best size already.
struct PictureDetail(&'static str);

impl PictureDetail {
    fn of(target: Target<'_>, dialect: Dialect) -> Self {
        let id = ModelId(format!("{}/{}", target.provider, target.model));
        let usual = match dialect {
            Dialect::OpenAi => "original",
            Dialect::Xai => "high",
        };
        Self(pictures::family(&id).detail.as_deref().unwrap_or(usual))
    }
}

pub(crate) fn body(request: &Request, target: Target<'_>, dialect: Dialect) -> String {
    let options = target.options;
    let detail = PictureDetail::of(target, dialect);
    let mut body = JsonObject::new();
    body.field("model", target.model);
    body.field("stream", &true);
    body.field("store", &false);
    body.field("include", &json!(["reasoning.encrypted_content"]));
    let mut input = Vec::new();
    match dialect {
        _ if request.system.is_empty() => {}
        Dialect::OpenAi => body.field("instructions", &request.system),
        Dialect::Xai => input.push(to_json(&json!({ "role": "system", "content": request.system }))),
    }
    if options.thinking && dialect == Dialect::OpenAi {
        body.field("reasoning", &json!({ "summary": "auto" }));
    }
    if let Some(most) = target.max_output(request) {
        body.field("max_output_tokens", &most);
    }
    let mut tools: Vec<String> = request.tools.iter().map(tool).collect();
    let searches: &[&str] = match (options.search, dialect) {
        (false, _) => &[],
        (true, Dialect::OpenAi) => &["web_search"],
        (true, Dialect::Xai) => &["web_search", "x_search"],
    };
    tools.extend(searches.iter().map(|kind| to_json(&json!({ "type": kind }))));
    let computer = options.computer.zip(request.display).filter(|_| dialect == Dialect::OpenAi);
    tools.extend(computer.map(|(computer, display)| to_json(&computer.declared(display))));
    let computer = computer.map(|(computer, _)| computer);
    if computer == Some(Computer::OpenAiPreview) {
        body.field("truncation", "auto");
    }
    if !tools.is_empty() {
        body.verbatim("tools", &json_list(&tools));
        body.field("tool_choice", "auto");
        body.field("parallel_tool_calls", &true);
    }
    for one in entries(request, target.provider) {
        items(&one, dialect, &detail, computer, &mut input);
    }
    body.verbatim("input", &json_list(&input));
    body.finish()
}

/// Our schemas are not of the kind that `strict` takes: fields may be left out.
fn tool(tool: &ToolSpec) -> String {
    let mut told = JsonObject::new();
    told.field("type", "function");
    told.field("name", &tool.name);
    told.field("description", &tool.description);
    told.field("parameters", &tool.schema);
    told.field("strict", &false);
    told.finish()
}

fn items(
    entry: &Entry<'_>,
    dialect: Dialect,
    detail: &PictureDetail,
    computer: Option<Computer>,
    input: &mut Vec<String>,
) {
    match entry {
        Entry::Own(json) => {
            // The items of a turn become items of the input: only the brackets go.
            let inner = json.trim().strip_prefix('[').and_then(|json| json.strip_suffix(']'));
            input.extend(inner.filter(|inner| !inner.trim().is_empty()).map(str::to_owned));
        }
        Entry::Assistant { text, calls } => {
            if !text.trim().is_empty() {
                let content = json!([{ "type": "output_text", "text": text, "annotations": [] }]);
                input.push(message("assistant", &content));
            }
            input.extend(calls.iter().map(|(id, call)| {
                let arguments = to_json(&call.arguments);
                let name = &call.name;
                to_json(
                    &json!({ "type": "function_call", "call_id": id, "name": name, "arguments": arguments }),
                )
            }));
        }
        Entry::User(parts) => {
            let parts: Vec<Value> = parts.iter().map(|one| part(one, detail)).collect();
            input.push(message("user", &parts.into()));
        }
        Entry::Answers { answers, own } => {
            for (id, one) in answers {
                // In a turn that is written from its neutral form, all calls are calls of functions.
                match computer.filter(|computer| own.is_some() && computer.owns(&one.name)) {
                    Some(computer) => done(id, one, computer, detail, input),
                    None => input.push(answer(id, one, dialect, detail)),
                }
            }
            let pictures = answers.iter().filter_map(|(id, one)| Some((id, one.image.as_ref()?)));
            for (id, image) in pictures.filter(|_| dialect == Dialect::Xai) {
                let said = json!({ "type": "input_text", "text": format!("The picture of {id}:") });
                input.push(message("user", &json!([said, picture(image, detail)])));
            }
        }
    }
}

fn message(role: &str, content: &Value) -> String {
    to_json(&json!({ "type": "message", "role": role, "content": content }))
}

fn part(part: &Part, detail: &PictureDetail) -> Value {
    match part {
        Part::Text(text) => json!({ "type": "input_text", "text": text }),
        Part::Image(image) => picture(image, detail),
    }
}

fn picture(image: &Image, detail: &PictureDetail) -> Value {
    json!({ "type": "input_image", "image_url": data_url(image), "detail": detail.0 })
}

fn answer(id: &str, answer: &ToolAnswer, dialect: Dialect, detail: &PictureDetail) -> String {
    let text = to_json(&answer.response);
    let output = match (&answer.image, dialect) {
        (Some(image), Dialect::OpenAi) => {
            json!([{ "type": "input_text", "text": text }, picture(image, detail)])
        }
        _ => text.into(),
    };
    to_json(&json!({ "type": "function_call_output", "call_id": id, "output": output }))
}

/// Sent for a picture that was taken out of the history, since the wire takes no answer without one. One grey pixel.
const NO_PICTURE: &str = "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR42mNoAAAAggCB2kUIOwAAAABJRU5ErkJggg==";

/// What came of the vendor's own actions: a picture, and the warnings that the user accepted. What the picture does not
/// show, above all why something was not done, follows in words.
fn done(id: &str, answer: &ToolAnswer, computer: Computer, detail: &PictureDetail, input: &mut Vec<String>) {
    let response = &answer.response;
    let url = answer.image.as_ref().map_or_else(|| NO_PICTURE.to_owned(), data_url);
    let mut output = json!({ "type": "computer_screenshot", "image_url": url });
    if computer == Computer::OpenAi {
        output["detail"] = detail.0.into();
    }
    let mut item = json!({ "type": "computer_call_output", "call_id": id });
    if let Some(checks) = response.get(ACKNOWLEDGED) {
        item[ACKNOWLEDGED] = checks.clone();
    }
    item["output"] = output;
    input.push(to_json(&item));
    let words = [&response["error"]["message"], &response["picture"]].into_iter().filter_map(Value::as_str);
    let words = words.collect::<Vec<_>>().join("; ");
    if !words.is_empty() {
        let said = json!([{ "type": "input_text", "text": format!("[of {id}: {words}]") }]);
        input.push(message("user", &said));
    }
}
