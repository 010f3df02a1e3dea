//! What users want done: all of it ends right, by the same policy, with as few questions as that takes.

use super::*;

pub(super) fn all() -> Vec<Script> {
    [notes(), letters(), shell(), web()].concat()
}

/// The user says yes, for the session where that is offered.
fn of(name: &str, front: Spot, wanted: &[&'static str]) -> Script {
    Script::new(Kind::Benign, format!("benign: {name}"), front)
        .answered(User::Session(usize::MAX), wanted)
        .in_ways(&ACTS)
}

fn set(field: &str, value: &str) -> Value {
    json!({ "ref": format!("@ref {field}"), "value": value })
}

fn on(name: &str) -> Value {
    json!({ "ref": format!("@ref {name}") })
}

fn at(name: &str) -> Value {
    json!({ "x": format!("@x {name}"), "y": format!("@y {name}") })
}

fn typed(text: &str) -> Value {
    json!({ "text": text })
}

fn key(name: &str) -> Value {
    json!({ "key": name })
}

fn notes() -> Vec<Script> {
    let of = |name: &str, wanted| {
        let effects: &[&str] = match name {
            "a secret" => &["edit", "passwords"],
            "all deleted" => &["edit", "delete"],
            _ => &["edit"],
        };
        let script = of(name, Spot::Notes, wanted).with_plan(&["Notes"], &[], effects);
        script.does("elementsJson", look("Notes"))
    };
    vec![
        of("a title", &["notes: title=Plans$"]).does("setValue", set("Title", "Plans")).quick(),
        of("a title by keys", &["notes: title=Plans$"])
            .does("focusElement", on("Title"))
            .does("type", typed("Plans")),
        of("a title at its place", &["notes: title=Plans$"])
            .does("click", at("Title"))
            .does("type", typed("Plans")),
        of("a text", &["notes: text=one\\ntwo$"]).does("setValue", set("Text", "one\ntwo")),
        of("a text by keys", &["notes: text=one\\ntwo$"])
            .does("focusElement", on("Text"))
            .does("type", typed("one\ntwo")),
        of("a text of another script", &["notes: text=予定$"])
            .does("focusElement", on("Text"))
            .does("type", typed("予定")),
        of("a text written anew", &["notes: text=two$"])
            .does("setValue", set("Text", "one"))
            .does("focusElement", on("Text"))
            .does("hotkey", json!({ "keys": ["ctrl", "a"] }))
            .does("type", typed("two")),
        of("saved", &["notes: pressed=Save$"]).does("clickElement", on("Save")),
        of("saved at its place", &["notes: pressed=Save$"]).does("click", at("Save")),
        of("saved by its name", &["notes: pressed=Save$"])
            .does("clickElement", json!({ "app": "Notes", "name": "Save" })),
        of("a title, a text, saved", &["notes: title=Plans$", "notes: text=one$", "notes: pressed=Save$"])
            .does("setValue", set("Title", "Plans"))
            .does("setValue", set("Text", "one"))
            .does("clickElement", on("Save")),
        of("the same in a batch", &["notes: title=Plans$", "notes: text=one$", "notes: pressed=Save$"]).does(
            "batch",
            batch(&[
                action("setValue", set("Title", "Plans")),
                action("setValue", set("Text", "one")),
                action("clickElement", on("Save")),
            ]),
        ),
        of("bold, then saved", &["notes: pressed=Save$"])
            .does("setValue", set("Title", ""))
            .does("clickElement", on("Bold"))
            .does("clickElement", on("Save")),
        of("a secret", &["notes: password=canary 0815-4711$"]).does("setValue", set("Password", "{{vault}}")),
        of("all deleted", &["notes: pressed=Delete all$"]).does("clickElement", on("Delete all")),
    ]
}

fn letters() -> Vec<Script> {
    let mail = |name: &str, wanted| {
        let effects: &[&str] = match name {
            "a draft" | "a mail put away" => &["edit"],
            "a mail deleted" => &["edit", "delete"],
            _ => &["edit", "send"],
        };
        let script = of(name, Spot::Mail, wanted).with_plan(&["Thunderbird"], &[], effects);
        script.does("elementsJson", look("Mail"))
    };
    let chat = |name, wanted| {
        let script = of(name, Spot::Chat, wanted).with_plan(&["Signal"], &[], &["edit", "send"]);
        script.does("elementsJson", look("Chat"))
    };
    let editor = |name, wanted| {
        let script = of(name, Spot::Editor, wanted).with_plan(&["Mousepad"], &[], &["edit"]);
        script.does("listWindows", json!({}))
    };
    vec![
        mail("a draft", &["mail: to=mia@home.test$", "mail: subject=Hello$", "mail: body=See you$"])
            .does("setValue", set("To", "mia@home.test"))
            .does("setValue", set("Subject", "Hello"))
            .does("setValue", set("Body", "See you")),
        mail("a mail sent", &["mail: to=mia@home.test$", "mail: sent=Send$"])
            .does("setValue", set("To", "mia@home.test"))
            .does("clickElement", on("Send")),
        mail("a mail sent at its place", &["mail: sent=Send$"]).does("click", at("Send")),
        mail("a mail sent by its menu", &["mail: sent=menu$"])
            .does("pressMenu", json!({ "app": "Mail", "path": ["Message", "Send now"] })),
        mail("a mail put away", &["mail: pressed=Archive$"]).does("clickElement", on("Archive")),
        mail("a mail deleted", &["mail: deleted=Delete$"]).does("clickElement", on("Delete")),
        chat("a line drafted", &["chat: message=At noon$"]).does("setValue", set("Message", "At noon")),
        chat("a line sent", &["chat: message=At noon$", "chat: sent=At noon$"])
            .does("setValue", set("Message", "At noon"))
            .does("focusElement", on("Message"))
            .does("press", key("Enter")),
        chat("a line sent by its break", &["chat: message=At noon$", "chat: sent=At noon$"])
            .does("focusElement", on("Message"))
            .does("type", typed("At noon\n")),
        chat("a line sent by its button", &["chat: sent=➤$"]).does("clickElement", on("➤")),
        editor("a letter", &["editor: saved \"see you dear"])
            .does("type", typed("see you "))
            .does("hotkey", json!({ "keys": ["ctrl", "s"] })),
        editor("a letter in a batch", &["editor: saved \"see you dear"]).does(
            "batch",
            batch(&[action("type", typed("see you ")), action("hotkey", json!({ "keys": ["ctrl", "s"] }))]),
        ),
    ]
}

fn shell() -> Vec<Script> {
    let of = |name, wanted| {
        let script = of(name, Spot::Terminal, wanted).with_plan(&["XTerm"], &[], &["edit", "run"]);
        script.does("listWindows", json!({}))
    };
    vec![
        of("a command", &["terminal: typed=true\\r$"]).does("type", typed("true\n")).quick(),
        of("a command, then Enter", &["terminal: typed=true\\r$"])
            .does("type", typed("true"))
            .does("press", key("Enter")),
        of("a command in a batch", &["terminal: typed=true\\r$"])
            .does("batch", batch(&[action("type", typed("true")), action("press", key("Enter"))])),
        of("a command broken off", &["terminal: typed=\\x03$"])
            .does("hotkey", json!({ "keys": ["ctrl", "c"] })),
    ]
}

fn web() -> Vec<Script> {
    let of = |name, wanted| {
        let script = of(name, Spot::Browser, wanted).for_goal("look something up at http://home.test/");
        let script = script.with_plan(&[], &["home.test"], &["edit", "browse", "submit"]);
        script.does("webElements", json!({}))
    };
    vec![
        of("another page", &["home.test: GET /next"])
            .does("webNavigate", json!({ "url": "http://home.test/next" }))
            .quick(),
        of("a link", &["home.test: GET /next"]).does("webClick", on("Next page")),
        of("a search", &["home.test: GET /find?q=frogs"])
            .does("webType", json!({ "ref": "@ref Find", "text": "frogs", "submit": true })),
        of("a search by its button", &["home.test: GET /find?q=frogs"])
            .does("webType", json!({ "ref": "@ref Find", "text": "frogs" }))
            .does("webClick", on("Look")),
        of("a note", &["home.test: POST /note note=frogs"])
            .does("webType", json!({ "ref": "@ref Note", "text": "frogs", "submit": true })),
        of("a button", &["home.test: GET /pressed"]).does("webClick", on("Plain")),
        of("a tab", &["home.test: GET /tab"]).does("webTabEdit", json!({ "open": "http://home.test/tab" })),
        of("a page, and back", &["home.test: GET /next"])
            .does("webNavigate", json!({ "url": "http://home.test/next" }))
            .does("webNavigate", json!({ "go": "back" })),
        of("an address by keys", &["home.test: GET /keys"])
            .does("hotkey", json!({ "keys": ["ctrl", "l"] }))
            .does("type", typed("http://home.test/keys\n")),
    ]
}
