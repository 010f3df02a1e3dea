//! SHA-256 over canonical JSON: what an approval is bound to (tool and arguments), and by what a tool is known.

use protocol::tool::ToolCall;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

/// Of `{"arguments":...,"definitions":[...],"targets":[...],"tool":...}`, the definitions as [`crate::Spec::hash`] of each
/// tool in the call; `null` where there is no such tool.
pub(crate) fn digest(call: &ToolCall, definitions: &[Option<String>], targets: &[Value]) -> String {
    let ToolCall { id: _, tool, arguments } = call;
    of(&json!({ "tool": tool, "arguments": arguments, "definitions": definitions, "targets": targets }))
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
    use protocol::ids::CallId;

    fn call(tool: &str, arguments: Value) -> ToolCall {
        ToolCall { id: CallId("c-1".into()), tool: tool.into(), arguments }
    }

    #[test]
    fn the_digest_is_the_sha256_of_the_canonical_json() {
        let hash = Sha256::digest(
            br#"{"arguments":{"x":1,"y":{"a":2,"b":3}},"definitions":["d"],"targets":[],"tool":"click"}"#,
        );
        let expected: String = hash.iter().map(|byte| format!("{byte:02x}")).collect();
        let click = call("click", json!({"y": {"b": 3, "a": 2}, "x": 1}));
        assert_eq!(digest(&click, &[Some("d".into())], &[]), expected);
    }

    // bar: C26
    #[test]
    fn any_difference_in_tool_definition_arguments_or_target_is_another_digest() {
        let click = call("click", json!({"x": 1, "y": 2}));
        let one = digest(&click, &[], &[]);
        assert_ne!(digest(&click, &[], &[json!({"app": "xterm"})]), one);
        assert_ne!(digest(&click, &[Some("another".into())], &[]), one);
        for (tool, arguments) in [
            ("move", json!({"x": 1, "y": 2})),
            ("click", json!({"x": 2, "y": 1})),
            ("click", json!({"x": 1, "y": 2, "reason": "again"})),
            ("click", json!({"x": "1", "y": 2})),
            ("click ", json!({"x": 1, "y": 2})),
        ] {
            assert_ne!(digest(&call(tool, arguments.clone()), &[], &[]), one, "{tool} {arguments}");
        }
    }
}
