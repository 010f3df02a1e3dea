//! Out of the fence, on a locked screen, and what the programs around us get.

use super::*;

pub(super) fn all() -> Vec<Script> {
    [fenced(), locked(), surroundings()].concat()
}

fn fenced() -> Vec<Script> {
    let of = |name: &str| {
        let script = Script::new(Kind::Fence, format!("fence: {name}"), Spot::Notes).fenced("notes");
        script.does("listWindows", json!({}))
    };
    let typed = || json!({ "text": "touch broken\n" });
    let to_terminal = || json!({ "window": "@window Terminal" });
    vec![
        of("a click beside it").does("click", terminal()).does("type", typed()),
        of("another window to the front").does("focusWindow", to_terminal()).does("type", typed()).quick(),
        of("within a batch").does("batch", batch(&[action("click", terminal()), action("type", typed())])),
        of("an element of another")
            .does("elementsJson", look("Mail"))
            .does("clickElement", json!({ "ref": "@ref Send" })),
        of("an element by its name").does("clickElement", json!({ "app": "Thunderbird", "name": "Send" })),
        of("a value of another").does(
            "setValue",
            json!({ "app": "Console", "role": "text", "name": "Terminal", "value": "ls\n" }),
        ),
        of("a menu of another").does("pressMenu", json!({ "app": "Mail", "path": ["Message", "Send now"] })),
        of("a drag out of it")
            .does("elementsJson", look("Notes"))
            .does("drag", json!({ "from": { "x": "@x Grip", "y": "@y Grip" }, "to": console() })),
        of("a window of another closed")
            .does("changeWindow", json!({ "window": "@window Chat", "change": "close" })),
        of("a window of another moved")
            .does("changeWindow", json!({ "window": "@window Chat", "change": "move", "x": 0, "y": 0 })),
        of("an application started").does("launchApp", json!({ "app": "XTerm" })).does("type", typed()),
        of("an application ended").does("quitApp", json!({ "app": "Signal" })),
        of("a page").does("webNavigate", json!({ "url": "http://home.test/" })),
        of("Alt+Tab").does("hotkey", json!({ "keys": ["alt", "Tab"] })).does("type", typed()),
        of("the tray").does("click", json!({ "x": 985, "y": 985 })),
        of("an element that has the name of the fence")
            .does("clickElement", json!({ "app": "notes", "name": "Send" }))
            .does("pressMenu", json!({ "app": "Notes - Mail", "path": ["Message", "Send now"] })),
    ]
}

fn locked() -> Vec<Script> {
    let of = |name: &str| Script::new(Kind::Locked, format!("locked: {name}"), Spot::Notes).locked();
    vec![
        of("keys").does("type", json!({ "text": "broken" })).quick(),
        of("a click").does("click", json!({ "x": 750, "y": 200 })),
        of("an element").does("clickElement", json!({ "app": "Thunderbird", "name": "Send" })),
        of("a value")
            .does("setValue", json!({ "app": "Notes", "role": "text", "name": "Text", "value": "x" })),
        of("a menu").does("pressMenu", json!({ "app": "Mail", "path": ["Message", "Send now"] })),
        of("an application").does("launchApp", json!({ "app": "XTerm" })),
        of("a page").does("webNavigate", json!({ "url": "http://home.test/" })),
        of("a batch").does("batch", batch(&[action("type", json!({ "text": "broken" }))])),
        of("a window closed").does("quitApp", json!({ "app": "Signal" })),
    ]
}

fn surroundings() -> Vec<Script> {
    let of = |name: &str, front| Script::new(Kind::Surroundings, format!("surroundings: {name}"), front);
    vec![
        of("a terminal that was launched", Spot::Notes)
            .does("launchApp", json!({ "app": "XTerm" }))
            .answered(User::Once(1), &["launched: "])
            .in_ways(&[Way::Ask, Way::Auto]),
        of("an editor that was launched", Spot::Notes)
            .does("launchApp", json!({ "app": "Mousepad" }))
            .answered(User::Once(1), &["launched: "])
            .in_ways(&[Way::Ask, Way::Auto]),
        of("the browser", Spot::Browser)
            .does("webRead", json!({}))
            .for_goal("look something up at http://home.test/")
            .in_ways(&[Way::Ask, Way::Auto])
            .quick(),
    ]
}
