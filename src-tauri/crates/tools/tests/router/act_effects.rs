//! What a plan covers of keys, controls, windows and applications: what is told, and everything that is not.

use browser::fake::FakeBrowser;
use desktop::fake::Call;
use desktop::{Element, Field, Owner, Taker, WindowId};
use protocol::contract::Check;
use protocol::geometry::NormRect;
use protocol::tool::{ApprovalMode, Effect};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;
use tools::{Decision, ExecRequest, Router};

use crate::planning::{asked, editing, field, middle, named, planned, stage, window};
use crate::stage::{desktop, execute, limits, request};

/// What is asked of one call under a plan for Mousepad, after the scene was changed.
async fn left(change: impl FnOnce(&mut desktop::fake::Scene), tool: &str, arguments: Value) -> Vec<String> {
    let fake = stage("Mousepad", "Save");
    fake.edit(|scene| {
        scene.owner = Some(Owner { app: "Mousepad".into(), pid: 7 });
        scene.program = Some("mousepad".into());
        scene.apps = vec![desktop::AppView { name: "Mousepad".into(), pid: None, windows: 0 }];
        change(scene);
    });
    asked(&Router::builtin(fake), &planned(&editing(), tool, arguments)).await
}

#[tokio::test(start_paused = true)]
async fn by_a_plan_only_keys_run_that_are_told_and_that_its_field_takes() {
    let none = |_: &mut desktop::fake::Scene| ();
    let keys = |all: &str| json!({ "keys": all.split('+').collect::<Vec<_>>() });
    for told in
        ["ctrl+a", "ctrl+x", "ctrl+z", "ctrl+shift+z", "ctrl+s", "shift+Left", "ctrl+End", "shift+Tab"]
    {
        assert_eq!(left(none, "hotkey", keys(told)).await, [""; 0], "{told}");
    }
    for told in ["Down", "Tab", "Escape", "PageUp", "Backspace", "Delete", "a", "Space", "Enter"] {
        assert_eq!(left(none, "press", json!({ "key": told })).await, [""; 0], "{told}");
    }
    for other in [
        "alt+F2",
        "ctrl+alt+t",
        "super+r",
        "alt+d",
        "ctrl+Enter",
        "ctrl+d",
        "ctrl+m",
        "ctrl+shift+v",
        "ctrl+shift+s",
        "ctrl+S",
        "alt+Tab",
        "ctrl+Tab",
        "a+b",
        "shift+F10",
    ] {
        assert_ne!(left(none, "hotkey", keys(other)).await, [""; 0], "{other}");
        let hold = json!({ "keys": other.split('+').collect::<Vec<_>>(), "seconds": 0.05 });
        assert_ne!(left(none, "hold", hold).await, [""; 0], "{other} held");
    }
    for other in ["F5", "Menu", "Insert", "Meta", "PrintScreen"] {
        assert_ne!(left(none, "press", json!({ "key": other })).await, [""; 0], "{other}");
    }
    assert_eq!(left(none, "hotkey", keys("ctrl+v")).await, ["effect clipboard"]);
    assert_eq!(left(none, "hotkey", keys("shift+Insert")).await, ["effect clipboard"]);
    assert_ne!(left(none, "type", json!({"text": "a\tb"})).await, [""; 0], "a tab leads elsewhere");
    // A button has the keyboard, or another program's field: what the keys do there, nobody has told.
    for field in [None, Some(Field { pid: Some(8), ..field() })] {
        for (tool, arguments) in [
            ("press", json!({"key": "Enter"})),
            ("press", json!({"key": "Space"})),
            ("press", json!({"key": "Delete"})),
            ("type", json!({"text": "a"})),
        ] {
            let lost = left(|scene| scene.field.clone_from(&field), tool, arguments).await;
            assert_eq!(lost, ["keys that no field takes"], "{tool}");
        }
    }
    let line = |scene: &mut desktop::fake::Scene| scene.field = Some(Field { takes_lines: false, ..field() });
    assert_eq!(left(line, "type", json!({"text": "a"})).await, [""; 0]);
    for (tool, arguments) in [("press", json!({"key": "Enter"})), ("type", json!({"text": "a\n"}))] {
        assert_eq!(left(line, tool, arguments).await, ["Enter in a field of one line"]);
    }
    // What is held changes what all others do.
    assert_ne!(left(none, "keyDown", json!({"key": "alt"})).await, [""; 0]);
    assert_ne!(left(none, "mouseDown", middle()).await, [""; 0]);
    let fake = stage("Mousepad", "Save");
    let router = Router::builtin(fake);
    execute(&router, request("keyDown", json!({"key": "alt"})), CancellationToken::new()).await;
    for (tool, arguments) in
        [("press", json!({"key": "d"})), ("click", middle()), ("type", json!({"text": "d"}))]
    {
        assert_ne!(asked(&router, &planned(&editing(), tool, arguments)).await, [""; 0], "{tool}");
    }
}

#[tokio::test(start_paused = true)]
async fn by_a_plan_only_controls_are_acted_on_that_say_what_they_are() {
    use desktop::fake::Scene;
    type Change = fn(&mut Element);
    let element = |change: fn(&mut Element)| {
        move |scene: &mut Scene| {
            scene.snapshot.elements.iter_mut().for_each(change);
        }
    };
    let told: [(&str, Change); 3] = [
        ("a button with a name", |_| ()),
        ("a field without one", |one| (one.role, one.name) = ("text".into(), String::new())),
        ("what can be edited", |one| {
            (one.role, one.name, one.states) = ("paragraph".into(), String::new(), vec!["editable".into()]);
        }),
    ];
    for (what, change) in told {
        assert_eq!(left(element(change), "click", middle()).await, [""; 0], "{what}");
    }
    let untold: [(&str, Change); 6] = [
        ("no name", |one| one.name.clear()),
        ("a sign", |one| one.name = "➤".into()),
        ("a picture", |one| one.role = "image".into()),
        ("a pane", |one| one.role = "panel".into()),
        ("a link", |one| one.role = "link".into()),
        ("elsewhere", |one| one.bounds.x = 900.0),
    ];
    for (what, change) in untold {
        assert_ne!(left(element(change), "click", middle()).await, [""; 0], "{what}");
        if what != "elsewhere" {
            assert_ne!(left(element(change), "clickElement", json!({"ref": "e1"})).await, [""; 0], "{what}");
        }
    }
    // A menu's item is larger than the button that it lies over; a list that was cut may have had the right one.
    let menu = |scene: &mut Scene| {
        let bounds = NormRect { x: 300.0, y: 300.0, width: 400.0, height: 400.0 };
        let item = Element { role: "menu item".into(), bounds, ..named("Delete") };
        scene.snapshot.elements.push(item);
    };
    assert_eq!(left(menu, "click", middle()).await, ["effect delete"]);
    assert_ne!(left(|scene| scene.snapshot.is_partial = true, "click", middle()).await, [""; 0]);
    assert_ne!(left(|scene| scene.snapshot.pid = Some(8), "click", middle()).await, [""; 0]);
    for odd in
        [json!({"x": 500, "y": 500, "button": "middle"}), json!({"x": 500, "y": 500, "modifiers": ["ctrl"]})]
    {
        assert_ne!(left(|_| (), "click", odd).await, [""; 0]);
    }
    // What a file's dialog does depends on all that stands in it.
    let dialog = |scene: &mut Scene| scene.windows[0].states.push("modal".into());
    let row = |scene: &mut Scene| {
        dialog(scene);
        scene.snapshot.elements[0].role = "table cell".into();
    };
    let confirm = |scene: &mut Scene| {
        dialog(scene);
        scene.snapshot.elements[0].name = "OK".into();
    };
    assert_eq!(left(dialog, "click", middle()).await, [""; 0], "Save");
    assert_ne!(left(dialog, "type", json!({"text": "~/.bashrc"})).await, [""; 0]);
    assert_ne!(left(dialog, "setValue", json!({"ref": "e1", "value": "~/.bashrc"})).await, [""; 0]);
    assert_ne!(left(row, "click", middle()).await, [""; 0]);
    assert_ne!(left(confirm, "click", middle()).await, [""; 0]);
    assert_ne!(left(confirm, "clickElement", json!({"ref": "e1"})).await, [""; 0]);
    // An action's own name counts, and a value's where it chooses.
    let action = |name: &str| json!({"ref": "e1", "action": name});
    assert_eq!(left(|_| (), "doAction", action("click")).await, [""; 0]);
    assert_eq!(left(|_| (), "doAction", action("show menu")).await, [""; 0]);
    assert_ne!(left(|_| (), "doAction", action("run")).await, [""; 0]);
    assert_ne!(left(|_| (), "doAction", action("anything")).await, [""; 0]);
    let entry = element(|one| one.role = "text".into());
    assert_ne!(left(entry, "doAction", action("activate")).await, [""; 0], "as Enter in it");
    let choice = element(|one| one.role = "combo box".into());
    assert_eq!(
        left(choice, "setValue", json!({"ref": "e1", "value": "Delete all"})).await,
        ["effect delete"]
    );
    let secret = element(|one| one.role = "password text".into());
    assert_eq!(left(secret, "setValue", json!({"ref": "e1", "value": "a"})).await, ["effect passwords"]);
}

#[tokio::test(start_paused = true)]
async fn what_really_gets_the_keys_or_the_click_counts_and_not_the_list_of_windows() {
    for (taker, runs) in [
        (Taker::Window(WindowId(1)), true),
        (Taker::Popup(7), true),
        (Taker::Ours, true),
        // A launcher that no window manager lists, a panel, the bare desktop.
        (Taker::Window(WindowId(99)), false),
        (Taker::Popup(99), false),
        (Taker::Other, false),
    ] {
        for (tool, arguments) in [("type", json!({"text": "a"})), ("click", middle())] {
            let fake = stage("Mousepad", "Save");
            fake.edit(|scene| scene.taker = taker);
            let router = Router::builtin(fake);
            let by_plan = asked(&router, &planned(&editing(), tool, arguments.clone())).await;
            assert_eq!(by_plan.is_empty(), runs, "{taker:?} {tool}");
            // Nor does a yes for the session cover it.
            let mut granted = ExecRequest { approval: ApprovalMode::Thread, ..request(tool, arguments) };
            let app = Some("Mousepad".into());
            granted.grants.allow([protocol::tool::Grant { tool: tool.into(), app }]);
            let decision = router.assess(&granted, &limits()).await.decision;
            assert_eq!(decision == Decision::Run, runs, "{taker:?} {tool} in a session");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn only_an_application_of_the_systems_own_is_started_by_a_plan() {
    let launch = || json!({"app": "Mousepad"});
    assert_eq!(left(|_| (), "launchApp", launch()).await, [""; 0]);
    let own = left(|scene| scene.launches = None, "launchApp", launch()).await;
    assert_eq!(own, ["an application that is not the system's own"]);
    let other = left(|scene| scene.launches = Some("evil".into()), "launchApp", launch()).await;
    assert_eq!(other, ["application evil"]);
}

#[tokio::test(start_paused = true)]
async fn what_opens_files_may_start_them_and_an_editors_terminal_is_anywhere_in_it() {
    let fake = stage("Thunar", "letter.txt");
    fake.edit(|scene| scene.owner = Some(Owner { app: "Thunar".into(), pid: 7 }));
    let router = Router::builtin(fake.clone());
    let all = json!({"applications": ["Thunar", "Code"], "effects": ["edit"]});
    let asks = async |app: &str, tool: &str, arguments: Value| {
        let app = Some(app.to_owned());
        let mut granted = ExecRequest { approval: ApprovalMode::Thread, ..request(tool, arguments.clone()) };
        granted.grants.allow([protocol::tool::Grant { tool: tool.into(), app }]);
        let decision = router.assess(&granted, &limits()).await.decision;
        assert_ne!(asked(&router, &planned(&all, tool, arguments)).await, [""; 0], "{tool} by a plan");
        matches!(decision, Decision::Ask { .. })
    };
    let twice = json!({"x": 500, "y": 500, "count": 2});
    for (tool, arguments, grave) in [
        ("click", middle(), false),
        ("click", twice, true),
        ("press", json!({"key": "Enter"}), true),
        ("type", json!({"text": "a"}), false),
        ("type", json!({"text": "a\n"}), true),
        ("hotkey", json!({"keys": ["alt", "t"]}), true),
        ("clickElement", json!({"ref": "e1"}), true),
        ("pressMenu", json!({"path": ["File", "Open"]}), true),
    ] {
        assert_eq!(asks("Thunar", tool, arguments.clone()).await, grave, "{tool} {arguments}");
    }
    fake.edit(|scene| {
        scene.windows = vec![window("Code")];
        scene.owner = Some(Owner { app: "Code".into(), pid: 7 });
    });
    let elsewhere = json!({"from": middle(), "to": {"x": 505, "y": 505}});
    for (tool, arguments, grave) in [
        ("click", middle(), false),
        ("click", json!({"x": 500, "y": 500, "button": "middle"}), true),
        ("drag", elsewhere, true),
        ("setValue", json!({"ref": "e1", "value": "ls"}), true),
    ] {
        assert_eq!(asks("Code", tool, arguments.clone()).await, grave, "{tool} {arguments}");
    }
    // A line break that is set, and not typed, sends as well.
    fake.edit(|scene| {
        scene.windows = vec![window("Signal")];
        scene.owner = Some(Owner { app: "Signal".into(), pid: 7 });
        scene.snapshot.elements[0].role = "text".into();
    });
    assert!(asks("Signal", "setValue", json!({"ref": "e1", "value": "hi\n"})).await);
}

#[tokio::test(start_paused = true)]
async fn the_window_is_looked_at_last_and_right_before_the_act() {
    // It changes when the picture of before is taken, after the call was permitted.
    let fake = stage("Mousepad", "Save");
    let router = Router::builtin(fake.clone());
    let click = planned(&editing(), "click", middle());
    assert_eq!(router.assess(&click, &limits()).await.decision, Decision::Run);
    let swap = async {
        let pictured = |call: &Call| matches!(call, Call::Screenshot(_) | Call::Thumbnail(_));
        while !fake.calls().iter().any(pictured) {
            tokio::time::sleep(std::time::Duration::from_millis(1)).await;
        }
        fake.edit(|scene| scene.windows = vec![window("xterm")]);
    };
    fake.edit(|scene| scene.delay = std::time::Duration::from_millis(20));
    let (executed, ()) = tokio::join!(execute(&router, click, CancellationToken::new()), swap);
    assert_eq!(executed.result.effect, Effect::Refused, "{:?}", executed.result);
    assert_eq!(fake.actions(), []);
}

#[tokio::test(start_paused = true)]
async fn a_yes_to_done_takes_what_was_shown_to_fail_and_nothing_else() {
    let check = |text: &str| Check::PageText { text: text.into() };
    let ask = Check::AskUser { question: "is it fine?".into() };
    let browser = FakeBrowser::new();
    browser.edit(|pages| pages.text.text = "paid".into());
    let router = Router::builtin(desktop()).with_browser(browser.clone());
    let plan = json!({"checks": [check("paid"), check("sent"), ask.clone()]});
    let done = |waived: Vec<Check>| ExecRequest {
        waived,
        ..planned(&plan, "done", json!({"summary": "all is done"}))
    };
    let ends =
        async |waived| execute(&router, done(waived), CancellationToken::new()).await.finished.is_some();
    assert!(!ends(Vec::new()).await);
    assert!(!ends(vec![ask.clone()]).await, "a check fails that the user was not asked about");
    assert!(!ends(vec![check("sent")]).await, "the user was not asked");
    assert!(ends(vec![check("sent"), ask.clone()]).await);
    browser.edit(|pages| pages.text.text = "nothing".into());
    assert!(!ends(vec![check("sent"), ask]).await, "it was so when they were asked");
}
