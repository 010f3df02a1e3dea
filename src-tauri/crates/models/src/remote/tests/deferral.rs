//! Tools that come later: where they are deferred, none that is asked for changes what was sent before.

use serde_json::{Value, json};

use super::super::*;
use super::unasked;
use crate::{Message, Part, ProposedCall, ToolAnswer, ToolSpec, Turn};

fn tool(name: &str) -> ToolSpec {
    let schema = json!({"type": "object", "properties": {}});
    ToolSpec { name: name.into(), description: format!("It is {name}."), schema }
}

fn request(offered: &[&str], messages: Vec<Message>) -> Request {
    let tools = offered.iter().copied().map(tool).collect();
    let later = ["readFile", "writeFile", "webRead"].map(tool).to_vec();
    Request { system: "You operate a desktop.".into(), tools, later, messages, ..Request::default() }
}

fn goal() -> Message {
    Message::User(vec![Part::Text("Sum the invoices.".into())])
}

/// The model asks for files, and gets them.
fn asked(response: Value) -> Vec<Message> {
    let arguments = json!({ "groups": ["files"] });
    let calls = vec![ProposedCall::new(Some("c1".into()), "useTools", arguments)];
    let answer = ToolAnswer { id: Some("c1".into()), name: "useTools".into(), response, image: None };
    vec![goal(), Message::Assistant(Turn { calls, ..Turn::default() }), Message::ToolResults(vec![answer])]
}

fn brought() -> Value {
    let summary = "from your next turn on: readFile, writeFile";
    json!({ "effect": "notApplicable", "summary": summary, "data": { "tools": ["readFile", "writeFile"] } })
}

fn body(provider: &str, request: &Request) -> Value {
    let options = Options { defer_tools: provider == "anthropic", ..Options::default() };
    serde_json::from_str(&unasked(Provider::named(provider).unwrap(), options).body(request)).unwrap()
}

/// The names of a request's tools, with `later` where they are deferred.
fn told(body: &Value) -> Vec<String> {
    let name = |tool: &Value| {
        let mark = if tool["defer_loading"] == true { " later" } else { "" };
        format!("{}{mark}", tool["name"].as_str().unwrap())
    };
    body["tools"].as_array().unwrap().iter().map(name).collect()
}

#[test]
fn a_group_that_is_asked_for_comes_by_reference_and_the_prefix_stays() {
    let first = body("anthropic", &request(&["click", "useTools"], vec![goal()]));
    let all = ["click", "useTools", "readFile later", "writeFile later", "webRead later"];
    assert_eq!(told(&first), all);
    assert_eq!(
        first["tools"][1]["cache_control"]["type"], "ephemeral",
        "what is cached ends before what is deferred"
    );
    let offered = ["click", "useTools", "readFile", "writeFile"];
    let second = body("anthropic", &request(&offered, asked(brought())));
    assert_eq!((&second["tools"], &second["system"]), (&first["tools"], &first["system"]));
    let content = json!([
        { "type": "tool_reference", "tool_name": "readFile" },
        { "type": "tool_reference", "tool_name": "writeFile" },
    ]);
    assert_eq!(second["messages"][2]["content"][0]["content"], content);
}

#[test]
fn what_no_answer_refers_to_any_more_is_told_of_like_the_others() {
    let offered = ["click", "useTools", "readFile", "writeFile"];
    let every = ["click", "useTools", "readFile", "writeFile", "webRead later"];
    // The answer was left out of the conversation, or never was: a tool was used without being asked for.
    let now = body("anthropic", &request(&offered, vec![goal()]));
    assert_eq!(told(&now)[..2], ["click", "useTools"]);
    assert_eq!(told(&now), every);
    // An answer with more to tell is told in words.
    let mut noted = brought();
    noted["note"] = "you asked for this before".into();
    let now = body("anthropic", &request(&offered, asked(noted)));
    assert_eq!(told(&now), every);
    let content = now["messages"][2]["content"][0]["content"][0]["text"].as_str().unwrap();
    assert!(content.contains("you asked for this before"), "{content}");
}

#[test]
fn providers_that_cannot_defer_hear_of_nothing_but_what_is_offered() {
    for provider in ["gemini", "openai", "xai", "openrouter", "ollama"] {
        let text = body(provider, &request(&["click", "useTools"], asked(brought()))).to_string();
        assert!(text.contains("click") && !text.contains("It is readFile."), "{provider}: {text}");
        assert!(text.contains("from your next turn on"), "{provider}: {text}");
    }
}
