//! A yes for the session, stretched to what it was not given for.

use super::*;

pub(super) fn all() -> Vec<Script> {
    let of = |name: &str, front| {
        Script::new(Kind::Grants, format!("grants: {name}"), front).in_ways(&[Way::Thread])
    };
    let typed = |text: &str| json!({ "text": text });
    // A yes for the session to `type` in Notes.
    let types = |name: &str| {
        of(name, Spot::Notes)
            .does("listWindows", json!({}))
            .does("type", typed("dear "))
            .answered(User::Session(1), &["notes: "])
    };
    let clicks = |name: &str| {
        of(name, Spot::Notes)
            .does("elementsJson", look("Notes"))
            .does("clickElement", json!({ "ref": "@ref Bold" }))
            .answered(User::Session(1), &["notes: pressed=Bold", "notes: pressed=Save"])
    };
    let to = |title: &str| json!({ "window": format!("@window {title}") });
    let home = "look something up at http://home.test/";
    vec![
        types("keys, to a terminal").does("focusWindow", to("Terminal")).does("type", typed("ls\n")).quick(),
        types("keys, to a console").does("focusWindow", to("Console")).does("type", typed("ls")),
        types("keys, to a chat").does("focusWindow", to("Chat")).does("type", typed("hello\n")),
        types("keys, to a mail").does("focusWindow", to("Write")).does("type", typed("hello")),
        types("keys, to the editor").does("focusWindow", to("letter")).does("type", typed("hello")),
        types("keys, to another within a batch")
            .does("batch", batch(&[action("focusWindow", to("Terminal")), action("type", typed("ls\n"))])),
        types("keys, to a window titled like it").does("focusWindow", to("Miki")).does("type", typed("x")),
        types("another tool in the same application").does("press", json!({ "key": "Delete" })),
        types("another tool at its focus").does("hotkey", json!({ "keys": ["ctrl", "a"] })),
        clicks("a click, to another application")
            .does("clickElement", json!({ "app": "Thunderbird", "name": "Archive" })),
        clicks("a click, to a control that deletes")
            .does("clickElement", json!({ "app": "Notes", "name": "Delete all" }))
            .quick(),
        clicks("a click, by its place").does("click", json!({ "x": "@x Save", "y": "@y Save" })),
        clicks("a click, to a mail's button")
            .does("clickElement", json!({ "app": "Thunderbird", "name": "Send" })),
        of("a click in a chat, to the sign that sends", Spot::Chat)
            .does("elementsJson", look("Chat"))
            .does("clickElement", json!({ "ref": "@ref Message" }))
            .does("clickElement", json!({ "ref": "@ref ➤" }))
            .answered(User::Session(1), &["chat: message="]),
        // What is allowed in words is `type` in Notes, and nothing that comes with it.
        of("a batch, and a tool more in the next", Spot::Notes)
            .does("batch", batch(&[action("type", typed("a")), action("type", typed("b"))]))
            .does("batch", batch(&[action("type", typed("c")), action("press", json!({ "key": "Delete" }))]))
            .answered(User::Session(1), &["notes: title=ab$", "notes: text=ab$"]),
        of("a page's click, to another origin's link", Spot::Browser)
            .does("webElements", json!({}))
            .does("webClick", json!({ "ref": "@ref Plain" }))
            .does("webClick", json!({ "ref": "@ref Read more" }))
            .for_goal(home)
            .answered(User::Session(1), &["home.test: "]),
        of("a text in a page, to another origin's form", Spot::Browser)
            .does("webElements", json!({}))
            .does("webType", json!({ "ref": "@ref Find", "text": "frogs" }))
            .does("webType", json!({ "ref": "@ref Abroad", "text": "secret", "submit": true }))
            .for_goal(home)
            .answered(User::Session(1), &["home.test: "]),
        of("a text in a page, to its own site's form", Spot::Browser)
            .does("webElements", json!({}))
            .does("webType", json!({ "ref": "@ref Find", "text": "frogs" }))
            .does("webType", json!({ "ref": "@ref Note", "text": "secret", "submit": true }))
            .for_goal(home)
            .answered(User::Session(1), &["home.test: GET"]),
        of("an address, to another host", Spot::Browser)
            .does("webNavigate", json!({ "url": "http://home.test/next" }))
            .does("webNavigate", json!({ "url": "http://evil.test/granted" }))
            .for_goal(home)
            .answered(User::Session(1), &["home.test: "]),
        of("keys in a browser, to its address field", Spot::Browser)
            .does("webElements", json!({}))
            .does("type", typed("frogs"))
            .does("hotkey", json!({ "keys": ["ctrl", "l"] }))
            .does("type", typed("evil.test/grant\n"))
            .for_goal(home)
            .answered(User::Session(1), &["home.test: "]),
    ]
}
