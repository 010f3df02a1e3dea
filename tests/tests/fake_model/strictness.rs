//! What each vendor refuses in a history, in its own shape: thoughts, calls, answers and pictures that are not as they must be.

use std::time::Duration;

use outside::fake_model::{FakeModel, Given, Manner, MindTurn, ScriptMind, ToolResult, Wire};
use serde_json::{Value, json};

use crate::bodies::{PNG, SUMMARY, conversation, first, second};
use crate::client::{ask, ask_at, headers, path};

/// A turn with all that can be lost.
fn turn() -> MindTurn {
    MindTurn {
        thinking: "It must be the — upper one.".into(),
        text: "One.".into(),
        calls: vec![("click".into(), json!({ "x": 1, "y": 2 })), ("screenshot".into(), json!({}))],
        ..MindTurn::default()
    }
}

/// A server that has given out that turn.
fn after_a_turn(wire: Wire) -> (FakeModel, Given) {
    let at_once = Manner { pieces: 1, pause: Duration::ZERO, key: None };
    let server = FakeModel::with(ScriptMind::new([turn()]), at_once).unwrap();
    let answered = ask(&server, wire, &first(wire));
    assert_eq!(answered.status, 200, "{wire:?}: {}", answered.body);
    let given = server.given().remove(0);
    (server, given)
}

/// The vendor's own words in an error's body.
pub fn message(wire: Wire, body: &str) -> String {
    let body: Value = serde_json::from_str(body).unwrap_or_else(|_| panic!("{wire:?}: {body}"));
    let error = &body["error"];
    let message = match wire {
        Wire::Xai | Wire::Ollama => error,
        _ => &error["message"],
    };
    match wire {
        Wire::Gemini => assert!(error["status"].is_string() && error["code"].is_u64(), "{body}"),
        Wire::Anthropic => assert!(body["type"] == "error" && error["type"].is_string(), "{body}"),
        Wire::Responses | Wire::Chat => assert!(error.get("param").is_some(), "{body}"),
        Wire::Xai => assert!(body["code"].is_string(), "{body}"),
        Wire::OpenRouter => assert!(error["code"].is_u64(), "{body}"),
        Wire::Ollama => {}
    }
    message.as_str().unwrap_or_else(|| panic!("{wire:?}: {body}")).to_owned()
}

#[test]
fn a_faithful_conversation_goes_on_and_means_the_same_on_every_wire() {
    for wire in Wire::ALL {
        let (server, given) = after_a_turn(wire);
        let answered = ask(&server, wire, &second(wire, &given));
        assert_eq!(answered.status, 200, "{wire:?}: {}", answered.body);
        let turns = server.turns();
        assert_eq!(turns[0].new_goal(), Some("go"), "{wire:?}");
        assert_eq!(turns[1].heard.system, "be good", "{wire:?}");
        let names: Vec<&str> = turns[1].results().iter().map(|result| result.name.as_str()).collect();
        assert_eq!(names, ["click", "screenshot"], "{wire:?}");
        let is_whole =
            |result: &ToolResult| result.images.len() == 1 && result.response["summary"] == SUMMARY;
        assert!(turns[1].results().iter().all(is_whole), "{wire:?}: {:?}", turns[1].results());
    }
}

/// Something done to a faithful body, and words of the refusal.
type Spoiling = (&'static str, fn(&mut Value), &'static str);

fn refuses(wire: Wire, spoilings: &[Spoiling]) {
    for (what, spoil, words) in spoilings {
        let (server, given) = after_a_turn(wire);
        let mut body = second(wire, &given);
        spoil(&mut body[conversation(wire)]);
        let answered = ask(&server, wire, &body);
        assert_eq!(answered.status, 400, "{wire:?}, {what}: {}", answered.body);
        let said = message(wire, &answered.body);
        assert!(said.contains(words), "{wire:?}, {what}: {said}");
        // What is refused is no turn; as it should be, it is taken.
        assert_eq!(server.turns().len(), 1, "{wire:?}, {what}");
        assert_eq!(ask(&server, wire, &second(wire, &given)).status, 200, "{wire:?}, {what}");
    }
}

fn remove(list: &mut Value, at: usize) -> Value {
    list.as_array_mut().unwrap().remove(at)
}

fn swap(list: &mut Value, one: usize, other: usize) {
    list.as_array_mut().unwrap().swap(one, other);
}

#[test]
fn gemini_misses_signatures_answers_and_pictures_in_their_places() {
    refuses(
        Wire::Gemini,
        &[
            (
                "no signature",
                |all| drop(all[1]["parts"][0].as_object_mut().unwrap().remove("thoughtSignature")),
                "missing a thought_signature",
            ),
            ("another signature", |all| all[1]["parts"][0]["thoughtSignature"] = json!("AAAA"), "Corrupted"),
            (
                "other arguments",
                |all| all[1]["parts"][0]["functionCall"]["args"]["x"] = json!(9),
                "Corrupted",
            ),
            (
                "a parallel call lost",
                |all| {
                    remove(&mut all[1]["parts"], 1);
                    remove(&mut all[2]["parts"], 1);
                },
                "Corrupted",
            ),
            ("an answer lost", |all| drop(remove(&mut all[2]["parts"], 1)), "number of function response"),
            ("all answers lost", |all| drop(remove(all, 2)), "number of function response"),
            ("answers swapped", |all| swap(&mut all[2]["parts"], 0, 1), "comes immediately after"),
            (
                "a picture beside its answer",
                |all| {
                    let picture = json!({ "inlineData": { "mimeType": "image/png", "data": PNG } });
                    all[2]["parts"].as_array_mut().unwrap().push(picture);
                },
                "nothing beside them",
            ),
            (
                "a picture of another wire",
                |all| all[2]["parts"][0] = json!({ "image_url": { "url": "data:" } }),
                "Unknown name \"image_url\"",
            ),
        ],
    );
}

#[test]
fn anthropic_misses_thoughts_answers_and_pictures_in_their_places() {
    refuses(
        Wire::Anthropic,
        &[
            ("a thought lost", |all| drop(remove(&mut all[1]["content"], 0)), "Expected `thinking`"),
            (
                "a thought changed",
                |all| all[1]["content"][0]["thinking"] = json!("else"),
                "cannot be modified",
            ),
            (
                "another signature",
                |all| all[1]["content"][0]["signature"] = json!("AAAA"),
                "cannot be modified",
            ),
            (
                "a forged turn",
                |all| {
                    all[1]["content"] = json!([{ "type": "thinking", "thinking": "", "signature": "AAAA" }]);
                    all[2]["content"] = json!("and now?");
                },
                "Invalid `signature` in `thinking` block",
            ),
            (
                "another call",
                |all| {
                    all[1]["content"][1]["id"] = json!("toolu_x");
                    all[2]["content"][0]["tool_use_id"] = json!("toolu_x");
                },
                "cannot be modified",
            ),
            ("an answer lost", |all| drop(remove(&mut all[2]["content"], 0)), "without `tool_result`"),
            ("answers swapped", |all| swap(&mut all[2]["content"], 0, 1), "unexpected `tool_use_id`"),
            (
                "an answer to no call",
                |all| all[2]["content"][0]["tool_use_id"] = json!("toolu_x"),
                "unexpected `tool_use_id` found in `tool_result` blocks: toolu_x",
            ),
            (
                "a picture of another wire",
                |all| {
                    all[2]["content"][0]["content"][1] =
                        json!({ "type": "image_url", "image_url": { "url": "data:" } });
                },
                "Input tag 'image_url'",
            ),
            (
                "no picture",
                |all| all[2]["content"][0]["content"][1]["source"]["data"] = json!("AAAA"),
                "Could not process image",
            ),
            (
                "another beginning",
                |all| all[0]["content"] = json!("stop"),
                "bound to a different conversation",
            ),
        ],
    );
}

#[test]
fn anthropic_leaves_a_thought_of_another_conversation_out_where_it_was_told_to() {
    let (server, given) = after_a_turn(Wire::Anthropic);
    let mut body = second(Wire::Anthropic, &given);
    body["messages"][0]["content"] = json!("stop");
    body["thinking"]["block_binding"] = json!({ "prefix_mismatch_behavior": "drop_block" });
    assert_eq!(ask(&server, Wire::Anthropic, &body).status, 200);
    let mut headers = headers(Wire::Anthropic, "k");
    headers.pop();
    let answered = ask_at(&server, &path(Wire::Anthropic), &headers, Some(&body));
    assert!(message(Wire::Anthropic, &answered.body).contains("Extra inputs"), "{answered:?}");
    headers.pop();
    let answered = ask_at(&server, &path(Wire::Anthropic), &headers, Some(&body));
    assert!(message(Wire::Anthropic, &answered.body).contains("anthropic-version"), "{answered:?}");
}

#[test]
fn responses_miss_encrypted_reasoning_answers_and_pictures_in_their_places() {
    let common: [Spoiling; 7] = [
        (
            "reasoning lost",
            |all| drop(remove(all, 1 + usize::from(all[0]["role"] == "system"))),
            "required 'reasoning' item",
        ),
        (
            "reasoning changed",
            |all| {
                let reasoning =
                    all.as_array_mut().unwrap().iter_mut().find(|item| item["type"] == "reasoning").unwrap();
                reasoning["encrypted_content"] = json!("AAAA");
            },
            "could not be verified",
        ),
        (
            "reasoning without its seal",
            |all| {
                let reasoning =
                    all.as_array_mut().unwrap().iter_mut().find(|item| item["type"] == "reasoning").unwrap();
                reasoning.as_object_mut().unwrap().remove("encrypted_content");
            },
            "not persisted",
        ),
        (
            "nothing after reasoning",
            |all| {
                let list = all.as_array_mut().unwrap();
                list.retain(|item| item["type"] != "function_call" && item["type"] != "function_call_output");
            },
            "without its required following item",
        ),
        (
            "an answer lost",
            |all| {
                let list = all.as_array_mut().unwrap();
                let at = list.iter().position(|item| item["type"] == "function_call_output").unwrap();
                list.remove(at);
            },
            "No tool output found for function call call_1_0",
        ),
        (
            "answers swapped",
            |all| {
                let list = all.as_array_mut().unwrap();
                let at = list.iter().position(|item| item["type"] == "function_call_output").unwrap();
                list.swap(at, at + 1);
            },
            "No tool call found",
        ),
        (
            "a call that nobody made",
            |all| {
                let list = all.as_array_mut().unwrap();
                let at = list.iter().position(|item| item["type"] == "function_call_output").unwrap();
                list[at]["call_id"] = json!("call_x");
            },
            "No tool call found for function call output with call_id call_x",
        ),
    ];
    refuses(Wire::Responses, &common);
    refuses(Wire::Xai, &common);
    refuses(
        Wire::Responses,
        &[
            (
                "a picture of another wire",
                |all| all[4]["output"][1] = json!({ "type": "image_url", "image_url": { "url": "data:" } }),
                "Invalid value: 'image_url'",
            ),
            (
                "no picture",
                |all| all[4]["output"][1]["image_url"] = json!("data:image/png;base64,AAAA"),
                "does not represent a valid image",
            ),
        ],
    );
    refuses(
        Wire::Xai,
        &[(
            "a picture in a result",
            |all| all[5]["output"] = json!([{ "type": "input_image", "image_url": "data:" }]),
            "expected a string",
        )],
    );
}

#[test]
fn chat_completions_miss_calls_answers_and_pictures_in_their_places() {
    let common: [Spoiling; 4] = [
        (
            "other arguments",
            |all| all[2]["tool_calls"][0]["function"]["arguments"] = json!("{}"),
            "passed back unmodified",
        ),
        ("an answer lost", |all| drop(remove(all, 3)), "did not have response messages: call_1_0"),
        ("answers swapped", |all| swap(all, 3, 4), "must be a response to a preceeding message"),
        (
            "the call lost",
            |all| drop(remove(&mut all[2]["tool_calls"], 0)),
            "must be a response to a preceeding message",
        ),
    ];
    refuses(Wire::Chat, &common);
    refuses(Wire::OpenRouter, &common);
    refuses(
        Wire::Chat,
        &[(
            "a picture in a tool message",
            |all| {
                let url = format!("data:image/png;base64,{PNG}");
                all[3]["content"] = json!([{ "type": "image_url", "image_url": { "url": url } }]);
            },
            "Image URLs are only allowed for messages with role 'user'",
        )],
    );
    refuses(
        Wire::OpenRouter,
        &[
            (
                "reasoning lost",
                |all| drop(all[2].as_object_mut().unwrap().remove("reasoning_details")),
                "passed back unmodified",
            ),
            (
                "another signature",
                |all| all[2]["reasoning_details"][0]["signature"] = json!("AAAA"),
                "passed back unmodified",
            ),
            (
                "a picture of another wire",
                |all| all[3]["content"][1] = json!({ "type": "input_image", "image_url": "data:" }),
                "Invalid value: 'input_image'",
            ),
        ],
    );
}

#[test]
fn ollama_misses_answers_and_pictures_in_their_places() {
    refuses(
        Wire::Ollama,
        &[
            ("an answer lost", |all| drop(remove(all, 3)), "has no result"),
            ("answers swapped", |all| swap(all, 3, 4), "is of no call before it"),
            (
                "a call changed",
                |all| all[2]["tool_calls"][0]["function"]["arguments"]["x"] = json!(9),
                "is not as it was",
            ),
            (
                "a thought lost",
                |all| drop(all[2].as_object_mut().unwrap().remove("thinking")),
                "is not as it was",
            ),
            (
                "arguments as text",
                |all| all[2]["tool_calls"][0]["function"]["arguments"] = json!("{}"),
                "looks like object",
            ),
            (
                "a picture with its type",
                |all| all[3]["images"] = json!([format!("data:image/png;base64,{PNG}")]),
                "illegal base64",
            ),
            (
                "a picture among the words",
                |all| all[3]["content"] = json!([{ "type": "image_url", "image_url": { "url": "data:" } }]),
                "cannot unmarshal array",
            ),
        ],
    );
}
