//! In the default mode an act that its user allows is done, of every kind and from every surface: seen in the file, the
//! windows, and by the witness.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use outside::fake_model::{FakeModel, MindTurn, ScriptMind};
use outside::miki::{self, Client, Miki};
use outside::stage::{Editor, Screen, Stage, Window};
use outside::{LONG, wait_for};
use protocol::EventBody;
use protocol::command::{RunOverrides, StartRun};
use protocol::event::RunEnd;
use protocol::principal::Surface;
use protocol::tool::{Approval, Effect, ExecResult};
use serde_json::{Value, json};

use crate::browser::{self, Browser};

type Act = (&'static str, Value);

/// An editor, an app whose model does one act after the other, and nobody who has said anything yet.
struct Desk {
    stage: Stage,
    file: PathBuf,
    editor: Editor,
    miki: Miki,
    _model: FakeModel,
}

/// What came of a run.
#[derive(Default)]
struct Followed {
    asked: Vec<String>,
    by: Vec<Surface>,
    done: Vec<ExecResult>,
    /// What the file held after each act, where that was something new.
    saved: Vec<String>,
}

impl Desk {
    fn new(acts: &[Act]) -> Self {
        let stage = Stage::full().unwrap();
        let file = stage.work().join("letter.txt");
        fs::write(&file, "").unwrap();
        let editor = stage.open_editor(Some(&file)).unwrap();
        let turns = acts.iter().map(|(tool, arguments)| MindTurn::call("", tool, arguments.clone()));
        let model = FakeModel::start(ScriptMind::new(turns.collect::<Vec<_>>())).unwrap();
        let miki = Miki::with_model(&stage, "miki", &model.url(), json!({ "approval": "ask" })).unwrap();
        Self { stage, file, editor, miki, _model: model }
    }

    /// The dashboard beside the editor, and a connection that hears all.
    fn open(&self, screen: &Screen) -> (Window, Client) {
        let dashboard = screen.wait_for_window("the dashboard", LONG, |title| title == "Miki").unwrap();
        screen.place(&dashboard, 1000, 80, 880, 900).unwrap();
        let mut client = self.miki.connect(LONG).unwrap();
        client.subscribe().unwrap();
        screen.activate(&self.editor.window).unwrap();
        (dashboard, client)
    }

    /// Hears a run of `acts` to its end, each event with `heard`, which answers; every act must have been done.
    fn follow(&self, acts: &[Act], client: &mut Client, mut heard: impl FnMut(&EventBody)) -> Followed {
        let mut followed = Followed::default();
        let end = loop {
            let body = client.event().unwrap().body;
            heard(&body);
            match body {
                EventBody::ApprovalRequested { approval } => followed.asked.push(approval.call.tool),
                EventBody::ApprovalAnswered { by, .. } => followed.by.push(by),
                EventBody::ToolFinished { result, .. } => {
                    let read = fs::read_to_string(&self.file).unwrap();
                    if followed.saved.last() != Some(&read) {
                        followed.saved.push(read);
                    }
                    followed.done.push(result);
                }
                EventBody::RunEnded { end } => break end,
                _ => {}
            }
        };
        println!("asked {:?}, saved {:?}", followed.asked, followed.saved);
        assert!(matches!(end, RunEnd::Completed { .. }), "{end:?}");
        for ((tool, arguments), result) in acts.iter().zip(&followed.done) {
            let is_done =
                result.error.is_none() && matches!(result.effect, Effect::Confirmed | Effect::Unverified);
            assert!(is_done, "{tool} {arguments}: {result:?}");
        }
        followed
    }
}

fn save() -> Act {
    ("hotkey", json!({ "keys": ["ctrl", "s"] }))
}

fn save_by_menu() -> Act {
    ("pressMenu", json!({ "app": "Mousepad", "path": ["File", "Save"] }))
}

fn set_value() -> Act {
    ("setValue", json!({ "app": "Mousepad", "role": "text", "value": "new" }))
}

/// One act of each kind that needs the focus in another way: by point, by keys, by element, by menu.
fn by_each_way() -> [Act; 5] {
    [
        ("click", json!({ "x": 200, "y": 400 })),
        ("type", json!({ "text": "dear" })),
        save(),
        set_value(),
        save_by_menu(),
    ]
}

/// All were asked about, answered at that surface, and done.
fn check_each_way(file: &Path, followed: &Followed, by: Surface) {
    assert_eq!(followed.asked, by_each_way().map(|(tool, _)| tool));
    assert_eq!(followed.by, [by; 5]);
    // The editor saves when it comes to it, the last time perhaps after the run's end.
    let read = || fs::read_to_string(file).unwrap();
    wait_for("the last save", LONG, || (read() == "new").then_some(())).unwrap();
    let mut saved = followed.saved.clone();
    if saved.last().is_some_and(|last| last != "new") {
        saved.push(read());
    }
    assert_eq!(saved, ["", "dear", "new"]);
}

fn start(client: &mut Client) {
    let start = StartRun { goal: "write".into(), session: None, overrides: RunOverrides::default() };
    client.call(start.into()).unwrap();
}

/// Allows it once, in the page that the browser drives.
fn allow(browser: &Browser, approval: &Approval) {
    let yes = format!("document.querySelector('.approval[data-approval=\"{}\"] button.once')", approval.id);
    tokio::task::block_in_place(|| {
        tokio::runtime::Handle::current().block_on(async {
            browser.until("a possible yes", &format!("return {yes}?.disabled === false")).await.unwrap();
            browser.script(browser::READ_TO_END).await.unwrap();
            let is_read = format!("return {yes}.textContent.trim() !== 'Show the rest'");
            browser.until("all of it read", &is_read).await.unwrap();
            browser.script(&format!("{yes}.click()")).await.unwrap();
        });
    });
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_allowed_in_the_dashboard_is_done_of_every_kind() {
    // What each does to the file, once it is saved.
    let acts: [Act; 13] = [
        ("click", json!({ "x": 200, "y": 400 })),
        ("type", json!({ "text": "dear" })),
        ("press", json!({ "key": "enter" })),
        save(),
        ("writeClipboard", json!({ "text": "Ada" })),
        ("hotkey", json!({ "keys": ["ctrl", "v"] })),
        save_by_menu(),
        ("drag", json!({ "from": { "x": 200, "y": 500 }, "to": { "x": 300, "y": 600 } })),
        ("scroll", json!({ "x": 200, "y": 400, "down": 1, "modifiers": ["shift"] })),
        set_value(),
        ("focusElement", json!({ "app": "Mousepad", "role": "text" })),
        save(),
        ("launchApp", json!({ "app": "galculator" })),
    ];
    let desk = Desk::new(&acts);
    let browser = Browser::open(&desk.stage, &desk.miki).await.unwrap();
    let screen = desk.stage.screen().unwrap();
    let (dashboard, mut client) = desk.open(&screen);
    browser.window("dashboard").await.unwrap();
    let witness = desk.stage.witness().unwrap();
    start(&mut client);

    let mut pressed = Vec::new();
    let followed = desk.follow(&acts, &mut client, |body| match body {
        EventBody::ApprovalRequested { approval } => {
            // Whoever answers has the dashboard in front.
            screen.activate(&dashboard).unwrap();
            allow(&browser, approval);
        }
        EventBody::ToolFinished { .. } => pressed.push(witness.count()),
        _ => {}
    });
    // A card that comes, goes and is drawn anew is not its reader scrolling up.
    browser.until("the list at its end", "return document.getElementById('newest').hidden").await.unwrap();
    for kind in
        ["click", "type", "press", "hotkey", "writeClipboard", "pressMenu", "drag", "setValue", "launchApp"]
    {
        assert!(followed.asked.iter().any(|tool| tool == kind), "{kind} did not ask: {:?}", followed.asked);
    }
    // The file has what was typed, pasted and set; the keys and buttons came from somewhere; the application is there.
    assert_eq!(followed.saved, ["", "dear\n", "dear\nAda", "new"]);
    let presses = |tool: &str| {
        let at = acts.iter().position(|(name, _)| *name == tool).unwrap();
        pressed[at] - pressed[at - 1]
    };
    assert_eq!((presses("drag"), presses("scroll") > 0), (1, true), "a button down, a wheel turned");
    screen.wait_for_window("the calculator", LONG, |title| title.contains("galculator")).unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_allowed_in_the_chat_widget_is_done_in_each_way() {
    let acts = by_each_way();
    let desk = Desk::new(&acts);
    let browser = Browser::open(&desk.stage, &desk.miki).await.unwrap();
    let (screen, user) = (desk.stage.screen().unwrap(), desk.stage.user().unwrap());
    let (_, mut client) = desk.open(&screen);
    browser.window("chat").await.unwrap();
    let chat = miki::open_chat(&screen, &user).unwrap();
    // Nothing that is acted on lies below it.
    screen.place(&chat, 1000, 600, 640, 400).unwrap();
    // It goes away for a run that was started in it, and comes back with what that asks.
    let field = browser.find("textarea#goal").await.unwrap();
    field.send_keys("write\u{e007}").await.unwrap();

    // A run that has not acted yet leaves the keyboard to whoever has it; from then on each question brings it back.
    let mut is_first = true;
    let followed = desk.follow(&acts, &mut client, |body| {
        if let EventBody::ApprovalRequested { approval } = body {
            let chat = screen.wait_for_window("the chat", LONG, |title| title == "Miki Chat").unwrap();
            match std::mem::take(&mut is_first) {
                true => screen.activate(&chat).unwrap(),
                false => wait_for_keyboard(&screen, &chat),
            }
            allow(&browser, approval);
        }
    });
    check_each_way(&desk.file, &followed, Surface::Chat);
}

fn wait_for_keyboard(screen: &Screen, window: &Window) {
    let has_it = || (screen.active().ok()? == window.id).then_some(());
    wait_for(&format!("{} to have the keyboard", window.title), LONG, has_it).unwrap();
}

/// Opens a terminal below the editor that runs `line`, and what is told there goes to `log` as well.
fn open_terminal(desk: &Desk, screen: &Screen, line: &str, log: &Path) -> (impl Sized + use<>, Window) {
    let mut xterm = desk.miki.starter(&desk.stage, "xterm");
    xterm.args(["-T", "Terminal", "-geometry", "100x14+60+820", "-e", "script", "--quiet", "--flush"]);
    xterm.args(["--command", line]).arg(log);
    let process = desk.stage.launch("xterm", "xterm", xterm).unwrap();
    let window = screen.wait_for_window("the terminal", LONG, |title| title == "Terminal").unwrap();
    (process, window)
}

#[test]
fn what_is_allowed_in_a_terminal_is_done_in_each_way() {
    let acts = by_each_way();
    let desk = Desk::new(&acts);
    let _app = desk.miki.start(&desk.stage, "app", &[]).unwrap();
    let (screen, user) = (desk.stage.screen().unwrap(), desk.stage.user().unwrap());
    let (_, mut client) = desk.open(&screen);
    let log = desk.stage.path("terminal.log");
    // Its user starts it there, and from then on does nothing but answer: each question has the keyboard where it is read.
    let line = format!("echo ready; read -r go; '{}' run write", desk.miki.bin.display());
    let (_process, terminal) = open_terminal(&desk, &screen, &line, &log);
    screen.activate(&terminal).unwrap();
    let told = |words: &str| fs::read_to_string(&log).unwrap_or_default().matches(words).count();
    wait_for("the shell", LONG, || (told("ready") > 0).then_some(())).unwrap();
    user.chord(&["enter"]).unwrap();

    let mut prompts = 0;
    let followed = desk.follow(&acts, &mut client, |body| {
        if !matches!(body, EventBody::ApprovalRequested { .. }) {
            return;
        }
        let answered = told(", on the command line");
        let is_answered = || told(", on the command line") > answered;
        loop {
            // Whoever answers before the question can have been read is asked again.
            let again = || (told("allow?") > prompts || is_answered()).then(|| told("allow?"));
            prompts = wait_for("the question in the terminal, or its answer", LONG, again).unwrap();
            if is_answered() {
                break;
            }
            wait_for_keyboard(&screen, &terminal);
            user.type_text("y").unwrap();
            user.chord(&["enter"]).unwrap();
        }
    });
    check_each_way(&desk.file, &followed, Surface::Cli);
}

#[test]
fn what_is_allowed_by_the_approver_key_is_done_in_each_way() {
    let acts = by_each_way();
    let desk = Desk::new(&acts);
    let made = desk.miki.run(&desk.stage, &["approvals", "key", "new"]).unwrap();
    assert_eq!(made.code(), 0, "{}", made.stderr);
    let key = desk.stage.path("key");
    fs::write(&key, made.stdout).unwrap();
    let _app = desk.miki.start(&desk.stage, "app", &[]).unwrap();
    let screen = desk.stage.screen().unwrap();
    let (_, mut client) = desk.open(&screen);
    // Whoever answers has a terminal in front.
    let (_process, terminal) = open_terminal(&desk, &screen, "cat", &desk.stage.path("terminal.log"));
    screen.activate(&desk.editor.window).unwrap();
    start(&mut client);

    let followed = desk.follow(&acts, &mut client, |body| {
        let EventBody::ApprovalRequested { approval } = body else { return };
        screen.activate(&terminal).unwrap();
        let mut answer = desk.miki.command(&desk.stage, &["approvals", "answer", &approval.id.0, "yes"]);
        answer.stdin(File::open(&key).unwrap());
        let answered = desk.stage.run("miki", answer, LONG).unwrap();
        assert_eq!(answered.code(), 0, "{}", answered.stderr);
    });
    check_each_way(&desk.file, &followed, Surface::Cli);
}
