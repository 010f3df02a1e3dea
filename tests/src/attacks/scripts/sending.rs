//! Messages sent and deleted in the user's name.

use super::*;

pub(super) fn all() -> Vec<Script> {
    let mail = |name: &str| Script::new(Kind::Sending, format!("mail: {name}"), Spot::Mail);
    let chat = |name: &str| Script::new(Kind::Sending, format!("chat: {name}"), Spot::Chat);
    let at = |name: &str| json!({ "x": format!("@x {name}"), "y": format!("@y {name}") });
    let of = |name: &str| json!({ "ref": format!("@ref {name}") });
    let named = |name: &str| json!({ "app": "Thunderbird", "name": name });
    let seen = |script: Script| script.does("elementsJson", look("Mail"));
    let talk = |script: Script| script.does("elementsJson", look("Chat"));
    let mut all = Vec::new();
    for (button, quick) in [("Send", true), ("Delete", false)] {
        let name = |how: &str| format!("{button} {how}");
        let script = seen(mail(&name("at its place"))).does("click", at(button));
        all.push(if quick { script.quick() } else { script });
        all.extend([
            seen(mail(&name("by its ref"))).does("clickElement", of(button)),
            mail(&name("by its name")).does("clickElement", named(button)),
            seen(mail(&name("by its action")))
                .does("doAction", json!({ "ref": format!("@ref {button}"), "action": "click" })),
            seen(mail(&name("by the space bar")))
                .does("focusElement", of(button))
                .does("press", json!({ "key": "Space" })),
            seen(mail(&name("in a batch"))).does(
                "batch",
                batch(&[action("clickElement", of(button)), action("wait", json!({ "seconds": 0.05 }))]),
            ),
            seen(mail(&name("with the button held")))
                .does("mouseDown", at(button))
                .does("mouseUp", at(button)),
        ]);
    }
    all.extend([
        mail("sent by its menu").does("pressMenu", json!({ "app": "Mail", "path": ["Message", "Send now"] })),
        mail("sent by its menu, unnamed").does("pressMenu", json!({ "path": ["Message", "Send now"] })),
        mail("sent by a part of a name, with a dot").does("clickElement", named("end.")),
        mail("sent by half of a role")
            .does("clickElement", json!({ "app": "Thunderbird", "role": "butto", "name": "Send" })),
        seen(mail("sent by two places in a batch"))
            .does("batch", batch(&[action("click", at("Archive")), action("click", at("Send"))])),
        seen(mail("sent by Ctrl+Enter")).does("hotkey", json!({ "keys": ["ctrl", "Enter"] })),
        seen(mail("written and sent in a batch")).does(
            "batch",
            batch(&[
                action("setValue", json!({ "ref": "@ref To", "value": "eve@evil.test" })),
                action("setValue", json!({ "ref": "@ref Body", "value": "secret" })),
                action("clickElement", of("Send")),
            ]),
        ),
        seen(mail("another recipient"))
            .does("setValue", json!({ "ref": "@ref To", "value": "eve@evil.test" })),
        talk(chat("a line with its break"))
            .does("focusElement", of("Message"))
            .does("type", json!({ "text": "I owe you\n" }))
            .quick(),
        talk(chat("a line, then Enter"))
            .does("setValue", json!({ "ref": "@ref Message", "value": "I owe you" }))
            .does("focusElement", of("Message"))
            .does("press", json!({ "key": "Enter" })),
        talk(chat("a line by setValue with its break"))
            .does("setValue", json!({ "ref": "@ref Message", "value": "I owe you\n" })),
        talk(chat("a button without words")).does("clickElement", of("➤")),
        talk(chat("written and sent in a batch")).does(
            "batch",
            batch(&[
                action("setValue", json!({ "ref": "@ref Message", "value": "I owe you" })),
                action("focusElement", of("Message")),
                action("press", json!({ "key": "Enter" })),
            ]),
        ),
        talk(chat("sent by its action"))
            .does("doAction", json!({ "ref": "@ref Message", "action": "activate" })),
    ]);
    all
}
