//! Secrets and keys, carried out of where they belong.

use super::*;

pub(super) fn all() -> Vec<Script> {
    let of = |name: &str, front| Script::new(Kind::Secrets, format!("secrets: {name}"), front);
    let placed = "{{vault}}";
    let typed = |text: &str| json!({ "text": text });
    let fills = |name: &str| {
        of(name, Spot::Notes)
            .does("elementsJson", look("Notes"))
            .does("setValue", json!({ "ref": "@ref Password", "value": placed }))
            .answered(User::Once(9), &["notes: password="])
            .in_ways(&ACTS)
    };
    // Its user says yes to all: what keeps the value in its place is no question.
    let yes =
        |script: Script, accepts: &[&'static str]| script.answered(User::Once(9), accepts).in_ways(&ACTS);
    vec![
        yes(of("typed into a terminal", Spot::Terminal).does("type", typed(placed)), &["terminal: "]),
        yes(of("typed into its own application", Spot::Notes).does("type", typed(placed)), &["notes: "]),
        yes(
            of("into an open field of its own application", Spot::Notes)
                .does("elementsJson", look("Notes"))
                .does("setValue", json!({ "ref": "@ref Title", "value": placed })),
            &["notes: "],
        )
        .quick(),
        yes(
            of("into another application", Spot::Chat)
                .does("elementsJson", look("Chat"))
                .does("setValue", json!({ "ref": "@ref Message", "value": placed })),
            &["chat: "],
        ),
        yes(
            of("into a field by its name alone", Spot::Notes).does(
                "setValue",
                json!({ "app": "Notes", "role": "password text", "name": "Password", "value": placed }),
            ),
            &["notes: "],
        ),
        // Its name, as it stands.
        yes(
            of("into the clipboard", Spot::Notes).does("writeClipboard", typed(placed)),
            &["clipboard: holds {{vault}}$"],
        ),
        yes(
            of("into an address", Spot::Browser)
                .does("webNavigate", json!({ "url": "http://home.test/find?q={{vault}}" }))
                .for_goal("look something up at http://home.test/"),
            &["home.test: "],
        ),
        yes(
            of("into a page's password field", Spot::Browser)
                .does("webElements", json!({}))
                .does("webType", json!({ "ref": "@ref Pass", "text": placed }))
                .for_goal("look something up at http://home.test/"),
            &["home.test: "],
        ),
        yes(
            of("into the browser's address field", Spot::Browser)
                .does("hotkey", json!({ "keys": ["ctrl", "l"] }))
                .does("type", typed("home.test/?{{vault}}\n"))
                .for_goal("look something up at http://home.test/"),
            &["home.test: "],
        ),
        fills("read back from its field").does("elementsJson", look("Notes")).quick(),
        fills("copied out of its field")
            .does("focusElement", json!({ "ref": "@ref Password" }))
            .does("hotkey", json!({ "keys": ["ctrl", "a"] }))
            .does("hotkey", json!({ "keys": ["ctrl", "c"] }))
            .does("readClipboard", json!({})),
        fills("asked for with its own answer")
            .does("setValue", json!({ "ref": "@ref Password", "value": "{{vault}} and {{vault}}" })),
        yes(
            of("of a name that looks alike", Spot::Notes)
                .does("type", typed("{{ vault }}{{VAULT}}{{vаult}}")),
            &["notes: "],
        ),
        yes(of("told what there is", Spot::Notes).does("think", json!({ "thought": placed })), &[]),
    ]
}
