//! What is asked by OpenAI's Responses: the body of a request from neutral messages.
//!
//! Pure, and the same bytes for the same messages. Nothing is stored with the provider: whole items go back.

use protocol::ids::ModelId;
use serde_json::{Value, json};

use crate::computer::{ACKNOWLEDGED, Computer};
use crate::conversation::{Said, Target, data_url, said};
use crate::text::{ObjectText, list, written};
use crate::{Image, Part, Request, ToolAnswer, ToolSpec, pictures};

/// Whose habits the body has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Manner {
    OpenAi,
    /// No `instructions`, and pictures in the user's messages only.
    Xai,
}

/// How closely pictures are to be looked at. Our pictures have the model's own size: none need be made smaller.
struct Looks(&'static str);

impl Looks {
    fn of(target: Target<'_>, manner: Manner) -> Self {
        let id = ModelId(format!("{}/{}", target.provider, target.model));
        let usual = match manner {
            Manner::OpenAi => "original",
            Manner::Xai => "high",
        };
        Self(pictures::family(&id).detail.as_deref().unwrap_or(usual))
    }
}

pub(crate) fn body(request: &Request, target: Target<'_>, manner: Manner) -> String {
    let options = target.options;
    let looks = Looks::of(target, manner);
    let mut body = ObjectText::new();
    body.field("model", target.model);
    body.field("stream", &true);
    body.field("store", &false);
    body.field("include", &json!(["reasoning.encrypted_content"]));
    let mut input = Vec::new();
    match manner {
        _ if request.system.is_empty() => {}
        Manner::OpenAi => body.field("instructions", &request.system),
        Manner::Xai => input.push(written(&json!({ "role": "system", "content": request.system }))),
    }
    if options.thinking && manner == Manner::OpenAi {
        body.field("reasoning", &json!({ "summary": "auto" }));
    }
    if let Some(most) = options.max_output {
        body.field("max_output_tokens", &most);
    }
    let mut tools: Vec<String> = request.tools.iter().map(tool).collect();
    let searches: &[&str] = match (options.search, manner) {
        (false, _) => &[],
        (true, Manner::OpenAi) => &["web_search"],
        (true, Manner::Xai) => &["web_search", "x_search"],
    };
    tools.extend(searches.iter().map(|kind| written(&json!({ "type": kind }))));
    let computer = options.computer.zip(request.display).filter(|_| manner == Manner::OpenAi);
    tools.extend(computer.map(|(computer, display)| written(&computer.declared(display))));
    let computer = computer.map(|(computer, _)| computer);
    if computer == Some(Computer::OpenAiPreview) {
        body.field("truncation", "auto");
    }
    if !tools.is_empty() {
        body.verbatim("tools", &list(&tools));
        body.field("tool_choice", "auto");
        body.field("parallel_tool_calls", &true);
    }
    for one in said(request, target.provider) {
        items(&one, manner, &looks, computer, &mut input);
    }
    body.verbatim("input", &list(&input));
    body.finish()
}

/// Our schemas are not of the kind that `strict` takes: fields may be left out.
fn tool(tool: &ToolSpec) -> String {
    let mut told = ObjectText::new();
    told.field("type", "function");
    told.field("name", &tool.name);
    told.field("description", &tool.description);
    told.field("parameters", &tool.schema);
    told.field("strict", &false);
    told.finish()
}

fn items(
    said: &Said<'_>,
    manner: Manner,
    looks: &Looks,
    computer: Option<Computer>,
    input: &mut Vec<String>,
) {
    match said {
        Said::Own(json) => {
            // The items of a turn, without their brackets: each is one of ours.
            let inner = json.trim().strip_prefix('[').and_then(|json| json.strip_suffix(']'));
            input.extend(inner.filter(|inner| !inner.trim().is_empty()).map(str::to_owned));
        }
        Said::Assistant { text, calls } => {
            if !text.trim().is_empty() {
                let content = json!([{ "type": "output_text", "text": text, "annotations": [] }]);
                input.push(message("assistant", &content));
            }
            input.extend(calls.iter().map(|(id, call)| {
                let arguments = written(&call.arguments);
                let name = &call.name;
                written(
                    &json!({ "type": "function_call", "call_id": id, "name": name, "arguments": arguments }),
                )
            }));
        }
        Said::User(parts) => {
            let parts: Vec<Value> = parts.iter().map(|one| part(one, looks)).collect();
            input.push(message("user", &parts.into()));
        }
        Said::Answers { answers, own } => {
            for (id, one) in answers {
                // A turn that is told in neutral form has calls of functions only.
                match computer.filter(|computer| own.is_some() && computer.owns(&one.name)) {
                    Some(computer) => done(id, one, computer, looks, input),
                    None => input.push(answer(id, one, manner, looks)),
                }
            }
            let pictures = answers.iter().filter_map(|(id, one)| Some((id, one.image.as_ref()?)));
            for (id, image) in pictures.filter(|_| manner == Manner::Xai) {
                let said = json!({ "type": "input_text", "text": format!("The picture of {id}:") });
                input.push(message("user", &json!([said, picture(image, looks)])));
            }
        }
    }
}

fn message(role: &str, content: &Value) -> String {
    written(&json!({ "type": "message", "role": role, "content": content }))
}

fn part(part: &Part, looks: &Looks) -> Value {
    match part {
        Part::Text(text) => json!({ "type": "input_text", "text": text }),
        Part::Image(image) => picture(image, looks),
    }
}

fn picture(image: &Image, looks: &Looks) -> Value {
    json!({ "type": "input_image", "image_url": data_url(image), "detail": looks.0 })
}

fn answer(id: &str, answer: &ToolAnswer, manner: Manner, looks: &Looks) -> String {
    let text = written(&answer.response);
    let output = match (&answer.image, manner) {
        (Some(image), Manner::OpenAi) => {
            json!([{ "type": "input_text", "text": text }, picture(image, looks)])
        }
        _ => text.into(),
    };
    written(&json!({ "type": "function_call_output", "call_id": id, "output": output }))
}

/// Stands where a picture was taken out: the wire takes no answer without one. One grey pixel.
const NO_PICTURE: &str = "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR42mNoAAAAggCB2kUIOwAAAABJRU5ErkJggg==";

/// What came of the vendor's own actions: a picture, and the checks that the user said yes to. What a picture does not
/// tell, why something was not done above all, follows in words.
fn done(id: &str, answer: &ToolAnswer, computer: Computer, looks: &Looks, input: &mut Vec<String>) {
    let response = &answer.response;
    let url = answer.image.as_ref().map_or_else(|| NO_PICTURE.to_owned(), data_url);
    let mut output = json!({ "type": "computer_screenshot", "image_url": url });
    if computer == Computer::OpenAi {
        output["detail"] = looks.0.into();
    }
    let mut item = json!({ "type": "computer_call_output", "call_id": id });
    if let Some(checks) = response.get(ACKNOWLEDGED) {
        item[ACKNOWLEDGED] = checks.clone();
    }
    item["output"] = output;
    input.push(written(&item));
    let words = [&response["error"]["message"], &response["picture"]].into_iter().filter_map(Value::as_str);
    let words = words.collect::<Vec<_>>().join("; ");
    if !words.is_empty() {
        let said = json!([{ "type": "input_text", "text": format!("[of {id}: {words}]") }]);
        input.push(message("user", &said));
    }
}
