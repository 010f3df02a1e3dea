//! Tool schemas: derived from the input types, made plain enough for every provider. Never written by hand.
//!
//! Providers read a subset of JSON Schema. So everything is inlined, a field that may be left out is said to be so by
//! not being required (never by `null`), and words that only some know (`$schema`, `title`, `format`, `default`)
//! are left out.

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::Value;

/// A tool's description (the doc comment of its input) and the schema of its arguments.
pub(crate) struct Derived {
    pub description: String,
    pub schema: Value,
}

pub(crate) fn derive<T: JsonSchema>() -> Derived {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.inline_subschemas = true;
        settings.meta_schema = None;
    });
    let mut schema = Value::from(settings.into_generator().into_root_schema_for::<T>());
    let description = schema
        .as_object_mut()
        .and_then(|object| object.shift_remove("description"))
        .and_then(|text| text.as_str().map(unwrapped))
        .unwrap_or_default();
    plain(&mut schema);
    if let Some(object) = schema.as_object_mut() {
        // Some providers refuse an object without `properties`.
        object.entry("properties").or_insert_with(|| Value::Object(serde_json::Map::new()));
    }
    Derived { description, schema }
}

/// Doc comments are wrapped for the reader of the source; the model pays for every line break.
fn unwrapped(text: &str) -> String {
    text.split("\n\n")
        .map(|paragraph| paragraph.split_whitespace().collect::<Vec<_>>().join(" "))
        .collect::<Vec<_>>()
        .join("\n")
}

fn plain(schema: &mut Value) {
    let Value::Object(object) = schema else { return };
    for word in ["title", "format", "default"] {
        object.shift_remove(word);
    }
    if let Some(Value::String(text)) = object.get_mut("description") {
        *text = unwrapped(text);
    }
    without_null(object);
    for word in ["items", "additionalProperties"] {
        if let Some(inner) = object.get_mut(word) {
            plain(inner);
        }
    }
    for word in ["anyOf", "oneOf", "allOf"] {
        if let Some(Value::Array(inner)) = object.get_mut(word) {
            inner.iter_mut().for_each(plain);
        }
    }
    if let Some(Value::Object(properties)) = object.get_mut("properties") {
        // Names of fields are not words of the schema: only what they hold is made plain.
        properties.values_mut().for_each(plain);
    }
}

/// `["string", "null"]` becomes `"string"`, and a choice between one thing and null becomes that thing.
fn without_null(object: &mut serde_json::Map<String, Value>) {
    if let Some(Value::Array(types)) = object.get_mut("type") {
        types.retain(|name| name != "null");
        if let [only] = types.as_slice() {
            let only = only.clone();
            object.insert("type".into(), only);
        }
    }
    if let Some(Value::Array(values)) = object.get_mut("enum") {
        values.retain(|value| !value.is_null());
    }
    let Some(Value::Array(choices)) = object.get_mut("anyOf") else { return };
    choices.retain(|choice| choice.get("type").is_none_or(|name| name != "null"));
    if let [Value::Object(only)] = choices.as_slice() {
        let only = only.clone();
        object.shift_remove("anyOf");
        for (word, value) in only {
            // The field's own description is nearer than its type's.
            object.entry(word).or_insert(value);
        }
    }
}

/// Where `value` has a list and `schema` an object: its path, such as `path[1]`. serde would fill the fields in their
/// order, and `[100, 200]` is y and x for some models.
pub(crate) fn list_for_object(value: &Value, schema: &Value) -> Option<String> {
    let inner = |step: String, value, schema| {
        list_for_object(value, schema).map(|rest| {
            let dot = if rest.is_empty() || rest.starts_with('[') { "" } else { "." };
            format!("{step}{dot}{rest}")
        })
    };
    match value {
        Value::Array(_) if schema["type"] == "object" => Some(String::new()),
        Value::Array(parts) => {
            parts.iter().enumerate().find_map(|(at, part)| inner(format!("[{at}]"), part, &schema["items"]))
        }
        Value::Object(fields) => fields
            .iter()
            .find_map(|(name, field)| inner(name.clone(), field, schema["properties"].get(name.as_str())?)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// Does a thing,
    /// in two lines.
    #[derive(schemars::JsonSchema)]
    #[expect(dead_code, reason = "only its schema is looked at")]
    struct Input {
        /// Where.
        at: Option<Inner>,
        which: Option<Choice>,
        #[schemars(range(min = 1, max = 3))]
        count: Option<u8>,
        list: Vec<Inner>,
    }

    #[derive(schemars::JsonSchema)]
    #[expect(dead_code, reason = "only its schema is looked at")]
    struct Inner {
        x: f64,
    }

    #[derive(schemars::JsonSchema)]
    #[serde(rename_all = "lowercase")]
    #[expect(dead_code, reason = "only its schema is looked at")]
    enum Choice {
        Left,
        Right,
    }

    #[test]
    fn a_schema_is_inlined_and_has_no_null_title_format_or_default() {
        let derived = derive::<Input>();
        assert_eq!(derived.description, "Does a thing, in two lines.");
        let inner = json!({"type": "object", "properties": {"x": {"type": "number"}}, "required": ["x"]});
        let mut at = inner.clone();
        at["description"] = json!("Where.");
        assert_eq!(
            derived.schema,
            json!({
                "type": "object",
                "properties": {
                    "at": at,
                    "which": {"type": "string", "enum": ["left", "right"]},
                    "count": {"type": "integer", "minimum": 1, "maximum": 3},
                    "list": {"type": "array", "items": inner},
                },
                "required": ["list"],
            })
        );
    }

    #[test]
    fn a_list_in_an_objects_place_is_found_wherever_it_is() {
        let schema = derive::<Input>().schema;
        for (value, path) in [
            (json!({"at": {"x": 1}, "list": [{"x": 1}]}), None),
            (json!({"at": [1], "list": []}), Some("at")),
            (json!({"list": [{"x": 1}, [2]]}), Some("list[1]")),
            (json!({"unknown": [1], "list": []}), None),
        ] {
            assert_eq!(list_for_object(&value, &schema).as_deref(), path, "{value}");
        }
    }
}
