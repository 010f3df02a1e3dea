//! Calls under a plan that the user agreed to: what runs by it, and every way out of it that a call may try.

use std::path::Path;
use std::sync::Arc;

use crate::stage::{desktop, execute, limits, request};
use browser::WebTarget;
use browser::fake::FakeBrowser;
use desktop::fake::{Call, FakeDesktop};
use desktop::{Element, Field, Owner, Taker, WindowId, WindowView};
use protocol::contract::{Check, Contract};
use protocol::geometry::NormRect;
use protocol::tool::{ApprovalMode, Effect, Mode};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;
use tools::{Decision, ExecRequest, Planning, Router};

fn contract(value: &Value) -> Contract {
    let mut whole = json!({"steps": ["s"]});
    whole.as_object_mut().unwrap().extend(value.as_object().unwrap().clone());
    serde_json::from_value(whole).unwrap()
}

fn planned(plan: &Value, tool: &str, arguments: Value) -> ExecRequest {
    let planning = Planning::Agreed(Arc::new(contract(plan)));
    ExecRequest { approval: ApprovalMode::Ask, planning, ..request(tool, arguments) }
}

fn window(app: &str) -> WindowView {
    WindowView {
        id: WindowId(1),
        title: "a window".into(),
        app: app.into(),
        pid: Some(7),
        display: 0,
        bounds: NormRect { x: 0.0, y: 0.0, width: 1000.0, height: 1000.0 },
        states: vec!["focused".into()],
    }
}

/// A desktop with this application in front, and a control of this name in its middle.
fn stage(app: &str, control: &str) -> Arc<FakeDesktop> {
    let fake = desktop();
    fake.edit(|scene| {
        scene.windows = vec![window(app)];
        scene.snapshot.app = app.into();
        scene.snapshot.elements = vec![named(control)];
        scene.field = Some(field());
        scene.launches = Some("mousepad".into());
    });
    fake
}

/// A text of several lines, with the keyboard.
fn field() -> Field {
    Field { takes_lines: true, pid: Some(7), ..Field::default() }
}

fn named(control: &str) -> Element {
    let bounds = NormRect { x: 480.0, y: 480.0, width: 40.0, height: 40.0 };
    Element {
        reference: "e1".into(),
        role: "button".into(),
        name: control.into(),
        bounds,
        ..Element::default()
    }
}

fn editing() -> Value {
    json!({"applications": ["Mousepad"], "effects": ["edit"]})
}

fn middle() -> Value {
    json!({"x": 500, "y": 500})
}

/// What is asked of a call; nothing where it runs.
async fn asked(router: &Router, request: &ExecRequest) -> Vec<String> {
    let assessment = router.assess(request, &limits()).await;
    match assessment.decision {
        Decision::Run => {
            let executed = execute(router, request.clone(), CancellationToken::new()).await;
            assert_ne!(executed.result.effect, Effect::Refused, "{:?}", executed.result);
            Vec::new()
        }
        Decision::Ask { .. } => {
            // Whoever does not ask is refused.
            let executed = execute(router, request.clone(), CancellationToken::new()).await;
            assert_eq!(executed.result.effect, Effect::Refused);
            assessment.outside
        }
        Decision::Forbid { error } => panic!("{error:?}"),
    }
}

#[tokio::test(start_paused = true)]
async fn what_a_plan_names_runs_and_what_lies_outside_asks_and_says_so() {
    let typing = || json!({"text": "hello"});
    for (app, control, plan, tool, arguments, outside) in [
        ("Mousepad", "", editing(), "type", typing(), &[][..]),
        ("Mousepad", "Save", editing(), "click", middle(), &[]),
        ("Mousepad", "Send", editing(), "click", middle(), &["effect send"]),
        ("Mousepad", "", editing(), "readClipboard", json!({}), &["effect clipboard"]),
        ("gedit", "", editing(), "type", typing(), &["application gedit"]),
        ("xterm", "", editing(), "type", typing(), &["application xterm", "effect run"]),
        (
            "xterm",
            "",
            json!({"applications": ["xterm"], "effects": ["edit"]}),
            "type",
            typing(),
            &["effect run"],
        ),
        ("xterm", "", json!({"applications": ["xterm"], "effects": ["run"]}), "type", typing(), &[]),
        (
            "Mousepad",
            "",
            editing(),
            "launchApp",
            json!({"app": "xterm"}),
            &["application xterm", "effect run"],
        ),
    ] {
        let fake = stage(app, control);
        if tool == "launchApp" {
            fake.edit(|scene| scene.launches = Some("xterm".into()));
        }
        let router = Router::builtin(fake);
        let request = planned(&plan, tool, arguments);
        assert_eq!(asked(&router, &request).await, outside, "{app} {control} {tool}");
    }
}

#[tokio::test(start_paused = true)]
async fn nothing_that_cannot_be_told_runs_by_a_plan_that_names_everything() {
    let all = json!({"applications": ["Mousepad", "Firefox", "Editor"], "hosts": ["example.org"],
        "effects": ["edit", "clipboard", "browse", "run", "send", "submit", "publish", "delete", "pay", "sign",
            "install", "system", "remote", "passwords"]});
    let router = Router::builtin(stage("Firefox", ""));
    for (tool, arguments) in [
        ("osa", json!({"script": "a"})),
        ("type", json!({"text": "evil.test\n"})),
        ("click", middle()),
        // Which element has that role is anybody's guess.
        ("clickElement", json!({"role": "button"})),
    ] {
        assert_ne!(asked(&router, &planned(&all, tool, arguments)).await, [""; 0], "{tool}");
    }
    // No window is there: where the keys go is not known.
    let nowhere = desktop();
    let router = Router::builtin(nowhere);
    assert_ne!(asked(&router, &planned(&all, "type", json!({"text": "a"}))).await, [""; 0]);
}

#[tokio::test(start_paused = true)]
async fn plan_mode_and_another_run_have_nothing_of_a_plan() {
    let router = Router::builtin(stage("Mousepad", ""));
    let typing = planned(&editing(), "type", json!({"text": "a"}));
    let looking = ExecRequest { mode: Mode::Plan, ..typing.clone() };
    assert!(matches!(router.assess(&looking, &limits()).await.decision, Decision::Forbid { .. }));
    for planning in [Planning::Off, Planning::Open] {
        let other = ExecRequest { planning, ..typing.clone() };
        assert!(matches!(router.assess(&other, &limits()).await.decision, Decision::Ask { .. }));
    }
}

#[tokio::test(start_paused = true)]
async fn what_runs_by_a_plan_is_looked_at_again_right_before_it_is_done() {
    let fake = stage("Mousepad", "Save");
    let router = Router::builtin(fake.clone());
    let click = planned(&editing(), "click", middle());
    assert_eq!(router.assess(&click, &limits()).await.decision, Decision::Run);
    fake.edit(|scene| scene.snapshot.elements = vec![named("Send")]);
    let executed = execute(&router, click.clone(), CancellationToken::new()).await;
    assert_eq!(executed.result.effect, Effect::Refused, "the button is another");
    fake.edit(|scene| {
        scene.snapshot.elements = vec![named("Save")];
        scene.windows = vec![window("xterm")];
    });
    let executed = execute(&router, click, CancellationToken::new()).await;
    assert_eq!(executed.result.effect, Effect::Refused, "the window is another");
    assert_eq!(fake.actions(), []);
}

#[tokio::test(start_paused = true)]
async fn a_batch_runs_by_a_plan_only_as_far_as_each_part_is_in_it() {
    let click = json!({"tool": "click", "arguments": middle()});
    let batch = |parts: Value| planned(&editing(), "batch", json!({ "actions": parts }));
    let fake = stage("Mousepad", "Save");
    let router = Router::builtin(fake.clone());
    assert_eq!(asked(&router, &batch(json!([click, click]))).await, [""; 0]);
    assert_eq!(fake.actions().len(), 2);
    // One part outside is enough.
    let launch = json!({"tool": "launchApp", "arguments": {"app": "xterm"}});
    assert_eq!(asked(&router, &batch(json!([click, launch]))).await, ["application xterm", "effect run"]);
    // The first click brings something else under the second one's point.
    for change in
        [(|scene| scene.snapshot.elements = vec![named("Send")]) as fn(&mut desktop::fake::Scene), |scene| {
            scene.windows = vec![window("xterm")]
        }]
    {
        let fake = stage("Mousepad", "Menu");
        fake.react(move |_, scene| change(scene));
        let router = Router::builtin(fake.clone());
        let executed = execute(&router, batch(json!([click, click])), CancellationToken::new()).await;
        assert_eq!(fake.actions().len(), 1, "{:?}", executed.result);
        let error = executed.result.error.unwrap().message;
        assert!(error.contains("not in the plan: "), "{error}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_part_of_a_name_hides_nothing_of_what_its_control_does() {
    let fake = stage("Mousepad", "Send letter");
    fake.edit(|scene| scene.owner = Some(Owner { app: "Mousepad".into(), pid: 7 }));
    let router = Router::builtin(fake.clone());
    let click =
        planned(&editing(), "clickElement", json!({"role": "button", "name": "end le", "app": "Mousepad"}));
    assert_eq!(asked(&router, &click).await, ["effect send"]);
    // A picture has a description in place of a name.
    fake.edit(|scene| {
        scene.snapshot.elements = vec![Element { description: "Send letter".into(), ..named("") }];
    });
    assert_eq!(asked(&router, &click).await, ["effect send"]);
    let point = planned(&editing(), "click", middle());
    assert_eq!(asked(&router, &point).await, ["effect send"]);
    // Nothing of that name is listed: what it finds then is anybody's guess.
    fake.edit(|scene| scene.snapshot.elements.clear());
    assert_eq!(asked(&router, &click).await, ["a control that does not say what it does"]);
}

#[tokio::test(start_paused = true)]
async fn an_element_is_what_it_is_called_now_not_what_it_was_when_it_was_listed() {
    let fake = stage("Mousepad", "Next");
    fake.edit(|scene| scene.owner = Some(Owner { app: "Mousepad".into(), pid: 7 }));
    let router = Router::builtin(fake.clone());
    let click = planned(&editing(), "clickElement", json!({"ref": "e1"}));
    assert_eq!(asked(&router, &click).await, [""; 0]);
    let looked = |call: &Call| matches!(call, Call::Elements(query) if query.root.as_deref() == Some("e1"));
    assert!(fake.calls().iter().any(looked), "it was only asked what was listed");
    fake.edit(|scene| scene.snapshot.elements = vec![named("Pay now")]);
    assert_eq!(asked(&router, &click).await, ["effect pay"]);
}

#[tokio::test(start_paused = true)]
async fn in_pages_hosts_count_and_where_links_and_forms_lead() {
    let plan = || json!({"hosts": ["example.org"], "effects": ["edit", "browse"]});
    let browser = FakeBrowser::new();
    let router = Router::builtin(desktop()).with_browser(browser.clone());
    let go = |url: &str| planned(&plan(), "webNavigate", json!({ "url": url }));
    assert_eq!(asked(&router, &go("https://example.org/a")).await, [""; 0]);
    assert_eq!(asked(&router, &go("https://evil.test/?q=secret")).await, ["host evil.test"]);
    assert_eq!(asked(&router, &go("https://example.org.evil.test/")).await, ["host example.org.evil.test"]);
    let click = || planned(&plan(), "webClick", json!({"ref": "w1"}));
    let at = |url: &str, called: &str, leads_to: Option<&str>| {
        let (url, called, leads_to) = (url.to_owned(), called.to_owned(), leads_to.map(str::to_owned));
        let goes_there = leads_to.is_some();
        browser.edit(|pages| {
            pages.target = WebTarget { url, called, leads_to, goes_there, ..WebTarget::default() }
        });
    };
    at("https://example.org/", "More", Some("https://example.org/more"));
    assert_eq!(asked(&router, &click()).await, [""; 0]);
    at("https://example.org/", "More", Some("https://evil.test/more"));
    assert_eq!(asked(&router, &click()).await, ["host evil.test"]);
    at("https://example.org/", "Place order", None);
    assert_eq!(asked(&router, &click()).await, ["effect pay"]);
    at("https://evil.test/", "More", None);
    assert_eq!(asked(&router, &click()).await, ["host evil.test"]);
    at("https://example.org/", "Search", None);
    browser.edit(|pages| pages.target.sends_form = true);
    assert_eq!(asked(&router, &click()).await, ["effect submit"], "a form's button");
    let enter = json!({"ref": "w1", "text": "frogs", "submit": true});
    assert_eq!(asked(&router, &planned(&plan(), "webType", enter)).await, ["effect submit"]);
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn files_are_checked_where_they_really_are_and_nothing_in_them_is_told() {
    let (home, outside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let at = |path: &str| home.path().join(path);
    std::fs::create_dir(at("docs")).unwrap();
    std::fs::create_dir(at("docs/folder")).unwrap();
    std::fs::write(at("docs/a"), "the words").unwrap();
    std::fs::write(at("b"), "another's words").unwrap();
    std::fs::write(outside.path().join("secret"), "the words").unwrap();
    let link = |to: &Path, name: &str| std::os::unix::fs::symlink(to, at(name)).unwrap();
    link(&outside.path().join("secret"), "docs/out");
    link(&at("b"), "docs/beside");
    link(outside.path(), "docs/away");
    let router = Router::builtin(desktop()).with_home(Some(home.path().to_owned()));
    // Of "the words", by the tool sha256sum.
    let hash = "6ad71a0b2081adc8a0730fab6c56be70cdf99fac2a7e27aa8ff5d49a92490abf";
    let check = |check: Value| json!({"folders": ["~/docs"], "checks": [check]});
    for (one, passes, told) in [
        (json!({"check": "fileExists", "path": "~/docs/a"}), true, "it is there"),
        (json!({"check": "fileContains", "path": "~/docs/a", "text": "e word"}), true, "it is so"),
        (json!({"check": "fileContains", "path": "~/docs/a", "text": "x"}), false, "without that text"),
        (json!({"check": "fileHash", "path": "~/docs/a", "sha256": hash}), true, "it is so"),
        (
            json!({"check": "fileHash", "path": "~/docs/a", "sha256": hash.replace('a', "b")}),
            false,
            "another hash",
        ),
        (json!({"check": "fileExists", "path": "~/docs/none"}), false, "it is not there"),
        (json!({"check": "fileExists", "path": "~/docs/folder"}), false, "no file"),
        (json!({"check": "fileContains", "path": "~/docs/out", "text": "the"}), false, "by a link"),
        (
            json!({"check": "fileContains", "path": "~/docs/beside", "text": "words"}),
            false,
            "a link leads it out",
        ),
        (json!({"check": "fileExists", "path": "~/docs/away/secret"}), false, "by a link"),
        (json!({"check": "fileExists", "path": "~/b"}), false, "none of the plan's folders"),
    ] {
        let findings = router.check(&contract(&check(one.clone())), &Arc::new(limits())).await;
        assert_eq!(findings.len(), 1);
        assert_eq!(findings[0].passed, passes, "{one} {}", findings[0].found);
        assert!(findings[0].found.contains(told), "{one} {}", findings[0].found);
        assert!(!findings[0].found.contains("the words"), "{}", findings[0].found);
    }
}

#[tokio::test(start_paused = true)]
async fn windows_elements_and_pages_are_checked_by_what_they_are() {
    let fake = stage("Mousepad", "Total");
    fake.edit(|scene| scene.snapshot.elements[0].value = "42".into());
    let browser = FakeBrowser::new();
    browser.edit(|pages| {
        let (reference, title, url) = ("t1".into(), String::new(), "https://example.org/paid?x".into());
        pages.tabs = vec![browser::Tab { reference, title, url, front: true }];
        pages.text.text = "Thank you".into();
    });
    let router = Router::builtin(fake.clone()).with_browser(browser);
    let all = [
        (json!({"check": "window", "application": "mousepad"}), true),
        (json!({"check": "window", "application": "Mousepad", "title": "A WINDOW"}), true),
        (json!({"check": "window", "application": "Mouse"}), false),
        (json!({"check": "window", "application": "Mousepad", "title": "other"}), false),
        (json!({"check": "element", "application": "Mousepad", "name": "Total", "value": "42"}), true),
        (json!({"check": "element", "application": "Mousepad", "name": "Total", "value": "4"}), false),
        (json!({"check": "element", "application": "Mousepad", "name": "Tot"}), false),
        (json!({"check": "element", "application": "gedit", "name": "Total"}), false),
        (json!({"check": "pageAddress", "address": "https://example.org/paid"}), true),
        (json!({"check": "pageAddress", "address": "https://example.org/pai"}), false),
        (json!({"check": "pageText", "text": "Thank"}), true),
        (json!({"check": "pageText", "text": "thank"}), false),
        (json!({"check": "askUser", "question": "q"}), false),
    ];
    let plan = contract(&json!({"checks": all.clone().map(|(check, _)| check)}));
    for (finding, (_, passes)) in router.check(&plan, &Arc::new(limits())).await.iter().zip(&all) {
        assert_eq!(finding.passed, *passes, "{finding:?}");
    }
    fake.edit(|scene| scene.locked = true);
    let findings = router.check(&plan, &Arc::new(limits())).await;
    assert!(findings.iter().all(|finding| !finding.passed), "nothing is looked at behind a locked screen");
}

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
