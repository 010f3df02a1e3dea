//! The vendors' own searches: asked for in each one's way, told of in the stream, and missed where they do not come back.

use outside::fake_model::{Asked, FakeModel, MindTurn, ScriptMind, Search, Wire};
use serde_json::{Value, json};

use crate::bodies::{conversation, first, second};
use crate::client::{ask, data};
use crate::strictness::message;

const URL: &str = "https://example.com/a&b";

/// The wires that have one, and what it is called there.
const WITH: [(Wire, &[&str]); 5] = [
    (Wire::Gemini, &["googleSearch"]),
    (Wire::Anthropic, &["web_search"]),
    (Wire::Responses, &["web_search"]),
    (Wire::Xai, &["web_search", "x_search"]),
    (Wire::OpenRouter, &["web"]),
];

fn search() -> Search {
    let found = vec![(URL.to_owned(), "A page".to_owned()), ("https://b.example/".to_owned(), String::new())];
    Search { query: "rust \"news\"".into(), found, pauses: false }
}

fn turn() -> MindTurn {
    MindTurn {
        thinking: "I look it up.".into(),
        search: Some(search()),
        text: "Rust is — eleven.".into(),
        calls: vec![("click".into(), json!({ "x": 1, "y": 2 })), ("screenshot".into(), json!({}))],
        ..MindTurn::default()
    }
}

/// A request with a function and the vendor's search.
fn asking(wire: Wire, mut body: Value) -> Value {
    let schema = json!({ "type": "object", "properties": {} });
    let ours = json!({ "name": "click", "description": "Clicks.", "parameters": schema });
    match wire {
        Wire::Gemini => {
            body["tools"] = json!([{ "functionDeclarations": [ours] }, { "googleSearch": {} }]);
            body["toolConfig"] = json!({ "includeServerSideToolInvocations": true });
        }
        Wire::Anthropic => {
            let ours = json!({ "name": "click", "description": "Clicks.", "input_schema": schema });
            let theirs = json!({ "type": "web_search_20250305", "name": "web_search", "max_uses": 5 });
            body["tools"] = json!([ours, theirs]);
        }
        Wire::Responses | Wire::Xai => {
            let ours = json!({ "type": "function", "name": "click", "parameters": schema });
            let mut tools = vec![ours, json!({ "type": "web_search" })];
            tools.extend((wire == Wire::Xai).then(|| json!({ "type": "x_search" })));
            body["tools"] = tools.into();
        }
        Wire::OpenRouter => {
            body["tools"] = json!([{ "type": "function", "function": ours }]);
            body["plugins"] = json!([{ "id": "web" }]);
        }
        Wire::Chat | Wire::Ollama => {}
    }
    body
}

fn server() -> FakeModel {
    FakeModel::start(ScriptMind::new([turn()])).unwrap()
}

#[test]
fn a_search_that_is_asked_for_is_heard_and_told_of_and_comes_back() {
    for (wire, names) in WITH {
        let server = server();
        let answered = ask(&server, wire, &asking(wire, first(wire)));
        assert_eq!(answered.status, 200, "{wire:?}: {}", answered.body);
        let heard = &server.turns()[0].heard;
        assert_eq!(heard.tools, ["click"], "{wire:?}");
        assert_eq!(heard.searches, names, "{wire:?}");
        let told = Value::from(data(&answered.body)).to_string();
        assert!(told.contains(URL), "{wire:?}: {told}");
        let given = server.given().remove(0);
        let answered = ask(&server, wire, &asking(wire, second(wire, &given)));
        assert_eq!(answered.status, 200, "{wire:?}: {}", answered.body);
    }
}

#[test]
fn who_was_not_asked_to_search_does_not() {
    for wire in Wire::ALL {
        let server = server();
        let told = ask(&server, wire, &first(wire)).body;
        assert!(server.turns()[0].heard.searches.is_empty(), "{wire:?}");
        assert!(told.contains("eleven") && !told.contains("example.com"), "{wire:?}: {told}");
    }
}

#[test]
fn a_search_in_a_form_that_is_not_the_vendors_is_refused() {
    let tool = |tool: Value| move |body: &mut Value| body["tools"][1] = tool;
    type Spoil = Box<dyn FnOnce(&mut Value)>;
    let cases: Vec<(Wire, Spoil, &str)> = vec![
        (Wire::Gemini, Box::new(tool(json!({ "google_search": {} }))), "Unknown name \"google_search\""),
        (Wire::Gemini, Box::new(tool(json!({ "googleSearch": true }))), "Invalid value at 'tools[1]"),
        (Wire::Gemini, Box::new(tool(json!({ "googleSearch": { "max": 1 } }))), "Unknown name \"max\""),
        (
            Wire::Gemini,
            Box::new(|body| body["toolConfig"] = json!({})),
            "include_server_side_tool_invocations",
        ),
        (
            Wire::Gemini,
            Box::new(|body| body["toolConfig"]["functionCallingConfig"] = json!({ "mode": "AUTO" })),
            "AUTO is not supported",
        ),
        (Wire::Anthropic, Box::new(tool(json!({ "type": "web_search" }))), "Input tag 'web_search'"),
        (
            Wire::Anthropic,
            Box::new(tool(json!({ "type": "web_search_20250305", "name": "look" }))),
            "Input should be 'web_search'",
        ),
        (
            Wire::Anthropic,
            Box::new(tool(json!({ "type": "web_search_20250305", "name": "web_search", "most": 1 }))),
            "most: Extra inputs",
        ),
        (
            Wire::Anthropic,
            Box::new(tool(json!({ "type": "web_search_20250305", "name": "web_search", "max_uses": 0 }))),
            "greater than 0",
        ),
        (Wire::Responses, Box::new(tool(json!({ "type": "x_search" }))), "Invalid value: 'x_search'"),
        (
            Wire::Responses,
            Box::new(tool(json!({ "type": "web_search", "max_uses": 5 }))),
            "Unknown parameter: 'tools[1].max_uses'",
        ),
        (
            Wire::Xai,
            Box::new(tool(json!({ "type": "web_search_preview" }))),
            "Invalid value: 'web_search_preview'",
        ),
        (Wire::Xai, Box::new(tool(json!({ "type": "x_search", "handles": [] }))), "tools[1].handles"),
        (Wire::OpenRouter, Box::new(|body| body["plugins"][0]["id"] = json!("www")), "plugins[0]"),
        (Wire::Chat, Box::new(|body| body["plugins"] = json!([{ "id": "web" }])), "plugins"),
    ];
    for (wire, spoil, words) in cases {
        let server = server();
        let mut body = asking(wire, first(wire));
        spoil(&mut body);
        let answered = ask(&server, wire, &body);
        assert_eq!(answered.status, 400, "{wire:?}, {words}: {}", answered.body);
        let said = message(wire, &answered.body);
        assert!(said.contains(words), "{wire:?}: {said}");
    }
}

#[test]
fn what_a_search_left_in_a_turn_must_come_back_as_it_was() {
    type Spoil = fn(&mut Value);
    let cases: [(Wire, &str, Spoil); 7] = [
        (Wire::Gemini, "thought_signature", |all| {
            drop(all[1]["parts"][0].as_object_mut().unwrap().remove("thoughtSignature"));
        }),
        (Wire::Gemini, "Corrupted", |all| drop(all[1]["parts"].as_array_mut().unwrap().remove(1))),
        (Wire::Anthropic, "cannot be modified", |all| {
            all[1]["content"][2]["content"][0]["encrypted_content"] = json!("AAAA");
        }),
        (Wire::Anthropic, "cannot be modified", |all| {
            all[1]["content"][3]["citations"][0]["encrypted_index"] = json!("AAAA");
        }),
        (Wire::Anthropic, "Expected", |all| drop(all[1]["content"].as_array_mut().unwrap().remove(1))),
        (Wire::Responses, "could not be verified", |all| all[2]["action"]["query"] = json!("else")),
        (Wire::Xai, "required 'reasoning'", |all| drop(all.as_array_mut().unwrap().remove(4))),
    ];
    for (wire, words, spoil) in cases {
        let server = server();
        assert_eq!(ask(&server, wire, &asking(wire, first(wire))).status, 200);
        let given = server.given().remove(0);
        let mut body = asking(wire, second(wire, &given));
        spoil(&mut body[conversation(wire)]);
        let answered = ask(&server, wire, &body);
        assert_eq!(answered.status, 400, "{wire:?}, {words}: {}", answered.body);
        let said = message(wire, &answered.body);
        assert!(said.contains(words), "{wire:?}: {said}");
    }
}

#[test]
fn a_turn_that_was_paused_goes_on_where_it_comes_back_as_the_last() {
    let wire = Wire::Anthropic;
    let goes_on = |asked: &Asked| match asked.heard.messages.len() {
        1 => MindTurn { search: Some(Search { pauses: true, ..search() }), ..MindTurn::default() },
        _ => MindTurn { text: "Eleven.".into(), ..MindTurn::default() },
    };
    let server = FakeModel::start(goes_on).unwrap();
    let begun = ask(&server, wire, &asking(wire, first(wire)));
    assert!(begun.body.contains("\"stop_reason\":\"pause_turn\""), "{}", begun.body);
    let mut body = asking(wire, first(wire));
    let paused = json!({ "role": "assistant", "content": server.given()[0].raw });
    body["messages"].as_array_mut().unwrap().push(paused);
    let end = ask(&server, wire, &body);
    assert!(end.body.contains("Eleven."), "{}", end.body);
    // One that ended is not gone on with.
    let ended = json!({ "role": "assistant", "content": "Eleven." });
    body["messages"].as_array_mut().unwrap().push(ended);
    let refused = ask(&server, wire, &body);
    assert!(message(wire, &refused.body).contains("must end with a user message"), "{}", refused.body);
}
