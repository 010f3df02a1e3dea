//! Calls under a plan that the user agreed to: what runs by it, and every way out of it that a call may try.

use std::path::Path;
use std::sync::Arc;

use crate::stage::{desktop, execute, limits, request};
use browser::WebTarget;
use browser::fake::FakeBrowser;
use desktop::fake::{Call, FakeDesktop};
use desktop::{Element, Field, Owner, WindowId, WindowView};
use protocol::contract::Contract;
use protocol::geometry::NormRect;
use protocol::tool::{ApprovalMode, Effect, Mode};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;
use tools::{Decision, ExecRequest, Planning, Ports, Router};

pub fn contract(value: &Value) -> Contract {
    let mut whole = json!({"steps": ["s"]});
    whole.as_object_mut().unwrap().extend(value.as_object().unwrap().clone());
    serde_json::from_value(whole).unwrap()
}

pub fn planned(plan: &Value, tool: &str, arguments: Value) -> ExecRequest {
    let planning = Planning::Agreed(Arc::new(contract(plan)));
    ExecRequest { approval: ApprovalMode::Ask, planning, ..request(tool, arguments) }
}

pub fn window(app: &str) -> WindowView {
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
pub fn stage(app: &str, control: &str) -> Arc<FakeDesktop> {
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
pub fn field() -> Field {
    Field { takes_lines: true, pid: Some(7), ..Field::default() }
}

pub fn named(control: &str) -> Element {
    let bounds = NormRect { x: 480.0, y: 480.0, width: 40.0, height: 40.0 };
    Element {
        reference: "e1".into(),
        role: "button".into(),
        name: control.into(),
        bounds,
        ..Element::default()
    }
}

pub fn editing() -> Value {
    json!({"applications": ["Mousepad"], "effects": ["edit"]})
}

pub fn middle() -> Value {
    json!({"x": 500, "y": 500})
}

/// What is asked of a call; empty if it runs.
pub async fn asked(router: &Router, request: &ExecRequest) -> Vec<String> {
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
    assert_eq!(
        asked(&router, &click).await,
        ["an element that cannot be told", "a control that does not say what it does"]
    );
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
        let plan = contract(&check(one.clone()));
        let findings = router.check(&plan, &Arc::new(limits()), &Ports::default()).await;
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
    let (limits, ports) = (Arc::new(limits()), Ports::default());
    for (finding, (_, passes)) in router.check(&plan, &limits, &ports).await.iter().zip(&all) {
        assert_eq!(finding.passed, *passes, "{finding:?}");
    }
    fake.edit(|scene| scene.locked = true);
    let findings = router.check(&plan, &limits, &ports).await;
    assert!(findings.iter().all(|finding| !finding.passed), "nothing is looked at behind a locked screen");
}
