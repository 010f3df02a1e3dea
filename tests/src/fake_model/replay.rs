//! What the real server refuses in a history: lost or changed signatures, calls without answers, broken order.

use std::collections::HashMap;

use serde_json::Value;

use super::wire;

/// What stands for a signature in history that another model made.
const IMPORTED: &str = "skip_thought_signature_validator";

/// # Errors
/// The status and body that the real server sends.
pub(super) fn check(body: &Value, signatures: &HashMap<String, String>) -> Result<(), (u16, Value)> {
    let Some(contents) = body["contents"].as_array().filter(|contents| !contents.is_empty()) else {
        return Err(wire::bad_argument("* GenerateContentRequest.contents: contents is not specified"));
    };
    if contents[0]["role"] != "user" {
        return Err(wire::bad_argument(
            "Please ensure that single turn requests end with a user role or the role field is empty.",
        ));
    }
    for (position, content) in contents.iter().enumerate() {
        let calls = parts(content, "functionCall");
        let answers =
            contents.get(position + 1).map(|next| parts(next, "functionResponse")).unwrap_or_default();
        if let Some(first) = calls.first() {
            check_signature(first, position, signatures)?;
            if answers.len() != calls.len() {
                return Err(wire::bad_argument(
                    "Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.",
                ));
            }
        } else if !answers.is_empty() {
            return Err(wire::bad_argument(
                "Please ensure that function response turn comes immediately after a function call turn.",
            ));
        }
    }
    Ok(())
}

fn check_signature(
    part: &Value,
    position: usize,
    given: &HashMap<String, String>,
) -> Result<(), (u16, Value)> {
    let call = &part["functionCall"];
    let name = call["name"].as_str().unwrap_or_default();
    let Some(signature) = part["thoughtSignature"].as_str() else {
        return Err(wire::missing_signature(name, position));
    };
    let ours = call["id"].as_str().and_then(|id| given.get(id));
    if signature != IMPORTED && ours.is_none_or(|ours| ours != signature) {
        return Err(wire::bad_argument("Corrupted thought signature."));
    }
    Ok(())
}

fn parts<'a>(content: &'a Value, kind: &str) -> Vec<&'a Value> {
    let parts = content["parts"].as_array().map(Vec::as_slice).unwrap_or_default();
    parts.iter().filter(|part| part.get(kind).is_some()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn history(call: Value, answers: usize) -> Value {
        let answer = json!({ "functionResponse": { "name": "click", "response": {} } });
        json!({ "contents": [
            { "role": "user", "parts": [{ "text": "go" }] },
            { "role": "model", "parts": [call] },
            { "role": "user", "parts": vec![answer; answers] },
        ]})
    }

    fn given() -> HashMap<String, String> {
        HashMap::from([("c1".to_owned(), "c2lnbmVk".to_owned())])
    }

    #[test]
    fn a_faithful_replay_passes() {
        let call = json!({ "functionCall": { "id": "c1", "name": "click", "args": {} }, "thoughtSignature": "c2lnbmVk" });
        assert_eq!(check(&history(call, 1), &given()), Ok(()));
    }

    #[test]
    fn a_lost_signature_is_refused_as_the_real_server_does() {
        let call = json!({ "functionCall": { "id": "c1", "name": "click", "args": {} } });
        let (status, body) = check(&history(call, 1), &given()).unwrap_err();
        assert_eq!(status, 400);
        assert!(body["error"]["message"].as_str().unwrap().contains("missing a thought_signature"));
    }

    #[test]
    fn a_changed_signature_is_refused() {
        let call = json!({ "functionCall": { "id": "c1", "name": "click", "args": {} }, "thoughtSignature": "AAAA" });
        assert!(check(&history(call, 1), &given()).is_err());
    }

    #[test]
    fn a_call_without_its_answer_is_refused() {
        let call = json!({ "functionCall": { "id": "c1", "name": "click", "args": {} }, "thoughtSignature": "c2lnbmVk" });
        assert!(check(&history(call, 0), &given()).is_err());
    }
}
