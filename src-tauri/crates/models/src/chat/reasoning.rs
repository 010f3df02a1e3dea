//! OpenRouter's `reasoning_details`: pieces of thinking put together again, in order, as they must go back.

use serde_json::{Map, Value};

#[derive(Default)]
pub(super) struct Reasoning(Vec<Map<String, Value>>);

impl Reasoning {
    /// Takes the details of one chunk.
    pub(super) fn add(&mut self, details: &Value) {
        for detail in details.as_array().into_iter().flatten().filter_map(Value::as_object) {
            match self.0.last_mut().filter(|last| goes_on(last, detail)) {
                Some(last) => join(last, detail),
                None => self.0.push(detail.clone()),
            }
        }
    }

    pub(super) fn finish(self) -> Option<Value> {
        let details: Vec<Value> = self.0.into_iter().map(Value::Object).collect();
        (!details.is_empty()).then_some(Value::Array(details))
    }
}

/// Whether `next` is more of `last`. Encrypted ones come whole.
fn goes_on(last: &Map<String, Value>, next: &Map<String, Value>) -> bool {
    let same = |name: &str| last.get(name) == next.get(name);
    let kind = next.get("type").and_then(Value::as_str);
    matches!(kind, Some("reasoning.text" | "reasoning.summary")) && same("type") && same("index")
}

/// Text is added to text; the rest is said once, in whichever piece.
fn join(last: &mut Map<String, Value>, next: &Map<String, Value>) {
    for (name, value) in next {
        match (last.get_mut(name), value) {
            (Some(Value::String(text)), Value::String(more))
                if matches!(name.as_str(), "text" | "summary") =>
            {
                text.push_str(more);
            }
            (None | Some(Value::Null), value) => drop(last.insert(name.clone(), value.clone())),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn pieces_of_one_thought_become_one_and_others_stay_apart() {
        let mut reasoning = Reasoning::default();
        reasoning.add(&json!([{"type": "reasoning.text", "text": "I ", "index": 0}]));
        reasoning.add(&json!([{"type": "reasoning.text", "text": "see", "index": 0, "signature": null}]));
        reasoning.add(&json!([{"type": "reasoning.text", "signature": "S", "index": 0}, 3]));
        reasoning.add(&json!([{"type": "reasoning.encrypted", "data": "x", "index": 0}]));
        reasoning.add(&json!([{"type": "reasoning.encrypted", "data": "x", "index": 0}]));
        reasoning.add(&json!(null));
        let sealed = json!({"type": "reasoning.encrypted", "data": "x", "index": 0});
        let thought = json!({"type": "reasoning.text", "text": "I see", "index": 0, "signature": "S"});
        assert_eq!(reasoning.finish(), Some(json!([thought, sealed, sealed])));
        assert_eq!(Reasoning::default().finish(), None);
    }
}
