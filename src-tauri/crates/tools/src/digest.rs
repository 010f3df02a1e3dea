//! SHA-256 over canonical JSON: what an approval is bound to (tool and arguments), and by what a tool is known.

use serde_json::{Value, json};
use sha2::{Digest, Sha256};

/// Of `{"arguments":...,"targets":[...],"tool":...}`.
pub(crate) fn digest(tool: &str, arguments: &Value, targets: &[Value]) -> String {
    of(&json!({ "tool": tool, "arguments": arguments, "targets": targets }))
}

/// Lower-case hex SHA-256 of a value's canonical JSON: keys sorted at every depth, no spaces.
pub(crate) fn of(value: &Value) -> String {
    hex(&Sha256::digest(sorted(value).to_string().as_bytes()))
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The order of keys says nothing in JSON, so it must not tell two equal calls apart.
fn sorted(value: &Value) -> Value {
    match value {
        Value::Object(map) => {
            let mut entries: Vec<_> = map.iter().collect();
            entries.sort_by_key(|(key, _)| *key);
            Value::Object(entries.into_iter().map(|(key, value)| (key.clone(), sorted(value))).collect())
        }
        Value::Array(items) => Value::Array(items.iter().map(sorted).collect()),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => value.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_digest_is_the_sha256_of_the_canonical_json() {
        let hash = Sha256::digest(br#"{"arguments":{"x":1,"y":{"a":2,"b":3}},"targets":[],"tool":"click"}"#);
        let expected: String = hash.iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(digest("click", &json!({"y": {"b": 3, "a": 2}, "x": 1}), &[]), expected);
    }

    // bar: C26
    #[test]
    fn any_difference_in_tool_or_arguments_is_another_digest() {
        let one = digest("click", &json!({"x": 1, "y": 2}), &[]);
        assert_ne!(digest("click", &json!({"x": 1, "y": 2}), &[json!({"app": "xterm"})]), one);
        for (tool, arguments) in [
            ("move", json!({"x": 1, "y": 2})),
            ("click", json!({"x": 2, "y": 1})),
            ("click", json!({"x": 1, "y": 2, "reason": "again"})),
            ("click", json!({"x": "1", "y": 2})),
            ("click ", json!({"x": 1, "y": 2})),
        ] {
            assert_ne!(digest(tool, &arguments, &[]), one, "{tool} {arguments}");
        }
    }
}
