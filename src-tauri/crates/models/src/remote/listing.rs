//! A provider's list of its models, read leniently. Pure.

use protocol::offer::Abilities;
use serde_json::Value;

use crate::Wire;

/// A model as its provider lists it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedModel {
    /// Without the provider's id before it.
    pub id: String,
    /// A name for people. `None` if the provider gives none, or only the id again.
    pub name: Option<String>,
    /// The longest prompt in tokens. `None` if the provider does not say.
    pub context: Option<u64>,
    pub abilities: Abilities,
}

/// `None` if the body is no list.
pub(super) fn read(wire: Wire, body: &[u8]) -> Option<Vec<ListedModel>> {
    let body: Value = serde_json::from_slice(body).ok()?;
    let list = body["models"].as_array().or_else(|| body["data"].as_array()).or_else(|| body.as_array())?;
    let mut models: Vec<ListedModel> = list.iter().filter_map(|model| one(wire, model)).collect();
    models.sort_by(|one, other| one.id.cmp(&other.id));
    models.dedup_by(|one, other| one.id == other.id);
    Some(models)
}

fn one(wire: Wire, model: &Value) -> Option<ListedModel> {
    let text = |name: &str| model[name].as_str().filter(|text| !text.is_empty()).map(str::to_owned);
    let id = match wire {
        Wire::Gemini => {
            // The others are for embeddings or for pictures only.
            let methods = model["supportedGenerationMethods"].as_array();
            let answers =
                methods.is_none_or(|methods| methods.iter().any(|method| method == "generateContent"));
            text("name").filter(|_| answers)?.trim_start_matches("models/").to_owned()
        }
        Wire::Ollama => text("model").or_else(|| text("name"))?,
        Wire::Anthropic | Wire::OpenAiResponses | Wire::OpenAiChat | Wire::OpenRouter | Wire::Xai => {
            text("id")?
        }
    };
    let name = ["displayName", "display_name", "name"].into_iter().find_map(text);
    let context = ["inputTokenLimit", "context_length", "max_context_length", "max_input_tokens"];
    Some(ListedModel {
        name: name.filter(|name| *name != id && wire != Wire::Ollama),
        context: context.into_iter().find_map(|field| model[field].as_u64()),
        abilities: abilities(model),
        id,
    })
}

/// What the entry says of abilities: Gemini has `thinking`, OpenRouter parameters and kinds of input, LM Studio a type,
/// Anthropic capabilities, of whose kinds of thinking we use `adaptive`.
fn abilities(model: &Value) -> Abilities {
    let has = |list: &Value, wanted: &str| Some(list.as_array()?.iter().any(|one| one == wanted));
    let parameters = &model["supported_parameters"];
    let inputs = match &model["architecture"]["input_modalities"] {
        Value::Null => &model["input_modalities"],
        inputs => inputs,
    };
    let is_seeing =
        model["type"].as_str().filter(|kind| ["llm", "vlm"].contains(kind)).map(|kind| kind == "vlm");
    let capabilities = &model["capabilities"];
    let image_input = capabilities["image_input"]["supported"].as_bool();
    let adaptive = capabilities["thinking"]["types"]["adaptive"]["supported"].as_bool();
    Abilities {
        tools: has(parameters, "tools").or_else(|| has(capabilities, "tool_use")),
        pictures: has(inputs, "image").or(is_seeing).or(image_input),
        thinking: model["thinking"].as_bool().or_else(|| has(parameters, "reasoning")).or(adaptive),
    }
}

/// The model with what Ollama's `/api/show` says of it.
pub(super) fn described(model: ListedModel, body: &[u8]) -> ListedModel {
    let Ok(told) = serde_json::from_slice::<Value>(body) else { return model };
    let can = |what: &str| Some(told["capabilities"].as_array()?.iter().any(|one| one == what));
    let abilities = Abilities { tools: can("tools"), pictures: can("vision"), thinking: can("thinking") };
    let about = told["model_info"].as_object();
    let length = about.into_iter().flatten().find(|(name, _)| name.ends_with(".context_length"));
    ListedModel { abilities, context: length.and_then(|(_, length)| length.as_u64()), ..model }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_wires_list_is_read() {
        let listed = |id: &str, name: Option<&str>, context| ListedModel {
            id: id.into(),
            name: name.map(str::to_owned),
            context,
            abilities: Abilities::default(),
        };
        for (wire, body, expected) in [
            (
                Wire::Gemini,
                r#"{"models":[{"name":"models/gemini-3.8-flash","displayName":"Gemini 3.8 Flash","inputTokenLimit":1048576,"supportedGenerationMethods":["generateContent"]},{"name":"models/e","supportedGenerationMethods":["embedContent"]}]}"#,
                listed("gemini-3.8-flash", Some("Gemini 3.8 Flash"), Some(1_048_576)),
            ),
            (
                Wire::Anthropic,
                r#"{"data":[{"type":"model","id":"claude-opus-5-5","display_name":"Claude Opus 5.5"}],"has_more":false}"#,
                listed("claude-opus-5-5", Some("Claude Opus 5.5"), None),
            ),
            (
                Wire::OpenAiResponses,
                r#"{"object":"list","data":[{"id":"gpt-6-luna"},{"id":"gpt-6-luna"},{}]}"#,
                listed("gpt-6-luna", None, None),
            ),
            (
                Wire::OpenRouter,
                r#"{"data":[{"id":"a/b","name":"A: B","context_length":200000}]}"#,
                listed("a/b", Some("A: B"), Some(200_000)),
            ),
            (
                Wire::Ollama,
                r#"{"models":[{"name":"qwen3-vl:8b","model":"qwen3-vl:8b","size":1}]}"#,
                listed("qwen3-vl:8b", None, None),
            ),
        ] {
            assert_eq!(read(wire, body.as_bytes()), Some(vec![expected]), "{wire}");
        }
        let able = r#"{"data":[{"id":"a/b","architecture":{"input_modalities":["text","image"]},"supported_parameters":["tools"]},
            {"id":"c","type":"llm","capabilities":["tool_use"]},{"id":"d","thinking":true},
            {"id":"e","capabilities":{"image_input":{"supported":true},"thinking":{"supported":true,"types":{"adaptive":{"supported":false}}}}}]}"#;
        let abilities: Vec<_> =
            read(Wire::OpenRouter, able.as_bytes()).unwrap().iter().map(|one| one.abilities).collect();
        let told = |tools, pictures, thinking| Abilities { tools, pictures, thinking };
        assert_eq!(
            abilities,
            [
                told(Some(true), Some(true), Some(false)),
                told(Some(true), Some(false), None),
                told(None, None, Some(true)),
                told(None, Some(true), Some(false))
            ]
        );
        for body in ["", "{}", "3", "<html>"] {
            assert_eq!(read(Wire::OpenAiChat, body.as_bytes()), None, "{body}");
        }
    }
}
