//! Servers that are programs, and mean no good: what they do ends their own connection, and nothing else.
#![allow(clippy::unwrap_used, reason = "a test says what is wrong by breaking off")]

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Stdio;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use desktop::fake::FakeDesktop;
use futures::FutureExt as _;
use futures::future::BoxFuture;
use mcp::{Launch, Servers, Started, Tokens};
use protocol::command::Secret;
use protocol::elicitation::Elicitation;
use protocol::ids::CallId;
use protocol::mcp::{
    Agreed, AgreedTool, McpServer, PromptField, PromptView, ServerState, ServerView, ToolDoes,
};
use protocol::settings::Settings;
use protocol::terminal::Line;
use protocol::tool::{ApprovalMode, Effect, Mode, Risk, Source, ToolCall, ToolErrorKind};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;
use tools::{
    Asker, Call, Decision, ExecRequest, Executed, Grants, Limits, Planning, Ports, Progress, Registry, Router,
};

/// What its program gets from the keychain.
const KEY: &str = "canary-of-the-keychain";
const LONG: Duration = Duration::from_secs(60);
/// More than a server on a busy machine takes.
const SHORT: Duration = Duration::from_secs(2);

/// Without a sandbox, which is tested where it is.
#[derive(Default)]
struct Bare {
    started: AtomicU32,
}

impl Launch for Bare {
    fn launch<'a>(&'a self, _: &'a str, server: &'a McpServer) -> BoxFuture<'a, Result<Started, String>> {
        async {
            self.started.fetch_add(1, Ordering::Relaxed);
            let mut child = tokio::process::Command::new(&server.command)
                .args(&server.args)
                .stdin(Stdio::piped())
                .stdout(Stdio::piped())
                .stderr(Stdio::piped())
                .kill_on_drop(true)
                .spawn()
                .map_err(|error| error.to_string())?;
            let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
            Ok(Started {
                stdin: stdin.unwrap(),
                stdout: stdout.unwrap(),
                stderr: stderr.unwrap(),
                keys: vec![Secret(KEY.into())],
                process: Box::new(std::sync::Mutex::new(child)),
            })
        }
        .boxed()
    }

    fn headers<'a>(
        &'a self,
        _: &'a str,
        _: &'a McpServer,
    ) -> BoxFuture<'a, Result<Vec<(String, Secret)>, String>> {
        unreachable!("it is no program's")
    }

    fn sign_in<'a>(&'a self, _: &'a str, _: &'a McpServer) -> BoxFuture<'a, Result<Option<Secret>, String>> {
        unreachable!("it is no program's")
    }

    fn keep_sign_in<'a>(
        &'a self,
        _: &'a str,
        _: &'a McpServer,
        _: Tokens<'a>,
    ) -> BoxFuture<'a, Result<(), String>> {
        unreachable!("it is no program's")
    }
}

struct Stage {
    folder: tempfile::TempDir,
    bare: Arc<Bare>,
    registry: Arc<Registry>,
    servers: Arc<Servers>,
    router: Router,
    settings: BTreeMap<String, McpServer>,
}

impl Stage {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        Self::in_folder(folder)
    }

    /// As a program that was started again finds it.
    fn in_folder(folder: tempfile::TempDir) -> Self {
        let (bare, registry) = (Arc::<Bare>::default(), Arc::new(Registry::builtin()));
        let servers = Servers::new(Arc::clone(&registry), bare.clone(), folder.path().join("mcp"));
        let router = Router::new(Arc::clone(&registry), FakeDesktop::new());
        Self { folder, bare, registry, servers, router, settings: BTreeMap::new() }
    }

    fn state(&self) -> String {
        self.folder.path().join("state").to_str().unwrap().to_owned()
    }

    async fn until_called(&self) {
        let begun = Instant::now();
        while !Path::new(&self.state()).exists() {
            assert!(begun.elapsed() < LONG, "it is not called");
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }

    fn set(&mut self, name: &str, mode: &str) {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/servers/hostile.py");
        let args = vec![script.to_str().unwrap().into(), mode.into(), self.state()];
        let server = McpServer { command: "python3".into(), args, ..McpServer::default() };
        self.settings.insert(name.into(), server);
        self.servers.set(&self.settings);
    }

    fn agree(&mut self, name: &str, view: &ServerView, does: ToolDoes) {
        let agreed = |tool: &protocol::mcp::ServerToolView| {
            (tool.name.clone(), AgreedTool { hash: tool.hash.clone(), does })
        };
        self.settings.get_mut(name).unwrap().tools = view.tools.iter().map(agreed).collect();
        self.servers.set(&self.settings);
    }

    async fn with(name: &str, mode: &str, does: ToolDoes) -> Self {
        let mut stage = Self::new();
        stage.set(name, mode);
        let view = stage.servers.test(name).await.unwrap();
        assert_eq!(view.state, ServerState::Connected, "{view:?}");
        stage.agree(name, &view, does);
        stage
    }

    fn request(&self, tool: &str, arguments: Value) -> ExecRequest {
        ExecRequest {
            call: ToolCall { id: CallId("c".into()), tool: tool.into(), arguments },
            mode: Mode::Act,
            approval: ApprovalMode::Auto,
            grants: Grants::default(),
            has_read: false,
            approved: None,
            planning: Planning::Off,
            waived: Vec::new(),
            fence: Default::default(),
            ports: Ports::default(),
        }
    }

    async fn call(&self, tool: &str, cancel: CancellationToken) -> Executed {
        let request = self.request(tool, json!({ "text": "hello" }));
        self.router.execute(Call { request, cancel, limits: limits(LONG) }).await
    }

    async fn says(&self, tool: &str) -> Executed {
        self.call(tool, CancellationToken::new()).await
    }

    fn view(&self, name: &str) -> ServerView {
        self.servers.list().into_iter().find(|view| view.name == name).unwrap()
    }

    fn names(&self) -> Vec<String> {
        let of_servers = |spec: &tools::Spec| matches!(spec.group, tools::Group::Server(_));
        self.registry
            .specs()
            .iter()
            .filter(|spec| of_servers(spec))
            .map(|spec| spec.name.to_string())
            .collect()
    }
}

fn limits(timeout: Duration) -> Arc<Limits> {
    Arc::new(Limits { timeout, ..Limits::from(&Settings::default()) })
}

#[tokio::test]
async fn what_its_user_agreed_to_is_called_and_is_data_of_its_server() {
    let stage = Stage::with("pond", "works", ToolDoes::Edits).await;
    assert_eq!(stage.names(), ["pond__echo"]);
    let done = stage.says("pond__echo").await.result;
    assert_eq!((done.effect, done.error), (Effect::Unverified, None));
    assert_eq!(done.data, json!({ "text": "you said hello" }));
    assert_eq!(done.read, [Source::Server { name: "pond".into() }]);
    assert_eq!(stage.view("pond").called, "hostile 1");
}

/// Answers after longer than a call may take.
struct SlowUser(Option<&'static str>);

#[async_trait]
impl Asker for SlowUser {
    async fn ask(&self, wanted: Elicitation) -> Option<String> {
        assert_eq!(wanted.to_string(), "the server pond asks: “Which one?” “pond”");
        tokio::time::sleep(SHORT * 3).await;
        self.0.map(str::to_owned)
    }
}

#[tokio::test]
async fn what_a_server_wants_to_know_its_user_is_asked_and_the_call_waits_for_the_answer() {
    let stage = Stage::with("pond", "asks", ToolDoes::Looks).await;
    let ask = async |asker: Option<SlowUser>| {
        let asker = asker.map(|user| Arc::new(user) as Arc<dyn Asker>);
        let ports = Ports { asker, ..Ports::default() };
        let request = ExecRequest { ports, ..stage.request("pond__echo", json!({})) };
        let call = Call { request, cancel: CancellationToken::new(), limits: limits(SHORT) };
        let done = stage.router.execute(call).await.result;
        serde_json::from_str::<Value>(done.data["text"].as_str().unwrap_or_else(|| panic!("{done:?}")))
            .unwrap()
    };
    // Whoever was not asked is told so, and why.
    let unasked = stage.says("pond__echo").await.result;
    let why = "nobody could be asked";
    assert!(
        unasked.summary.ends_with(&format!("(Miki did not ask you what it wanted to know: {why})")),
        "{}",
        unasked.summary
    );
    assert_eq!(unasked.data["userWasNotAsked"], why);
    let accepted = json!({ "action": "accept", "content": { "pond": "the old one" } });
    assert_eq!(ask(Some(SlowUser(Some("the old one")))).await, accepted);
    assert_eq!(ask(Some(SlowUser(None))).await, json!({ "action": "decline" }));
    assert_eq!(ask(None).await, json!({ "action": "decline" }), "nobody could be asked");
    assert!(stage.view("pond").log.iter().any(|line| line.contains("was not asked: nobody could be asked")));
}

/// Keeps the lines that it is shown.
#[derive(Default)]
struct Looking(Mutex<Vec<String>>);

impl Progress for Looking {
    fn tell(&self, first: u64, lines: Vec<Line>) {
        let mut all = self.0.lock().unwrap();
        assert_eq!(first, all.len() as u64);
        all.extend(lines.iter().map(Line::text));
    }
}

#[tokio::test]
async fn how_far_a_call_is_is_shown_without_keys_and_one_that_goes_on_is_waited_for() {
    let stage = Stage::with("pond", "tells-how-far", ToolDoes::Looks).await;
    let seen = Arc::new(Looking::default());
    let ports = Ports { progress: Some(seen.clone()), ..Ports::default() };
    let request = ExecRequest { ports, ..stage.request("pond__echo", json!({ "text": "hello" })) };
    // It takes half as long again as a call may, and says something of it in between.
    let call = Call { request, cancel: CancellationToken::new(), limits: limits(SHORT) };
    let done = stage.router.execute(call).await.result;
    assert_eq!(done.data, json!({ "text": "you said hello" }), "{done:?}");
    let seen = seen.0.lock().unwrap();
    assert!(
        seen.len() > 3 && seen.iter().all(|line| line.ends_with("% · at the pond of (a key)")),
        "{seen:?}"
    );
}

#[tokio::test]
async fn what_a_server_does_beside_is_asked_for_until_it_has_ended() {
    let stage = Stage::with("pond", "task", ToolDoes::Looks).await;
    let seen = Arc::new(Looking::default());
    let asker = Some(Arc::new(SlowUser(Some("the old one"))) as Arc<dyn Asker>);
    let ports = Ports { progress: Some(seen.clone()), asker, ..Ports::default() };
    let request = ExecRequest { ports, ..stage.request("pond__echo", json!({})) };
    let call = Call { request, cancel: CancellationToken::new(), limits: limits(SHORT) };
    let done = stage.router.execute(call).await.result;
    let said: Value =
        serde_json::from_str(done.data["text"].as_str().unwrap_or_else(|| panic!("{done:?}"))).unwrap();
    assert_eq!(said, json!({ "which": { "action": "accept", "content": { "pond": "the old one" } } }));
    assert_eq!(*seen.0.lock().unwrap(), ["going to the pond"]);
    let fails = Stage::with("pond", "task-fails", ToolDoes::Looks).await;
    let error = fails.says("pond__echo").await.result.error.unwrap();
    assert!(error.message.contains("the pond of (a key) froze"), "{}", error.message);
}

#[tokio::test]
async fn what_a_server_does_beside_is_given_up_with_its_call() {
    let stage = Stage::with("pond", "task-hangs", ToolDoes::Edits).await;
    let (cancel, seen) = (CancellationToken::new(), Arc::new(Looking::default()));
    let ports = Ports { progress: Some(seen.clone()), ..Ports::default() };
    let request = ExecRequest { ports, ..stage.request("pond__echo", json!({})) };
    let call = Call { request, cancel: cancel.clone(), limits: limits(SHORT) };
    let stop = async {
        let begun = Instant::now();
        while seen.0.lock().unwrap().is_empty() {
            assert!(begun.elapsed() < LONG, "it is not asked how far it is");
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        cancel.cancel();
    };
    let (done, ()) = tokio::join!(stage.router.execute(call), stop);
    assert_eq!(done.result.error.unwrap().kind, ToolErrorKind::Cancelled);
    stage.until_called().await;
    assert_eq!(std::fs::read_to_string(stage.state()).unwrap(), "given up\n");
}

#[tokio::test]
async fn a_prompt_is_filled_in_for_its_user_cleaned_and_within_bounds() {
    let stage = Stage::with("pond", "prompts", ToolDoes::Looks).await;
    let prompts = stage.view("pond").prompts;
    let [PromptView { name, about, fields }] = &prompts[..] else { panic!("{prompts:?}") };
    assert_eq!((name.as_str(), about.as_str()), ("fish", "Fishes."));
    let blank = PromptField { name: "pond".into(), about: "Which one of (a key)".into(), is_required: true };
    assert_eq!(fields, &[blank]);
    let fill = async |fields: &[(&str, &str)]| {
        let fields = fields.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        stage.servers.fill_prompt("pond", "fish", fields).await
    };
    let text = fill(&[("pond", "the old one")]).await.unwrap();
    let begins =
        "Fish in the old one with (a key).\n\n(The answer to that is to begin so: I have my rod.)\n\nzz";
    assert!(text.starts_with(begins) && text.len() < 9_000 && text.contains("(cut: "), "{}", &text[..200]);
    // A key over the place where it is cut is gone, and no part of it stays.
    assert!(!text.contains("canary") && text.ends_with("characters)"), "{}", &text[text.len() - 200..]);
    let error = fill(&[]).await.unwrap_err();
    assert!(error.message.ends_with("does not give this prompt: (a key): no pond"), "{}", error.message);
    let mut stage = stage;
    stage.settings.get_mut("pond").unwrap().off = true;
    stage.servers.set(&stage.settings);
    let started = stage.bare.started.load(Ordering::Relaxed);
    let error = stage.servers.fill_prompt("pond", "fish", BTreeMap::new()).await.unwrap_err();
    assert!(error.message.ends_with("is switched off"), "{}", error.message);
    assert_eq!(stage.bare.started.load(Ordering::Relaxed), started);
}

#[tokio::test]
async fn nothing_is_started_before_it_is_called_and_what_was_agreed_to_is_there_after_a_restart() {
    let first = Stage::with("pond", "works", ToolDoes::Looks).await;
    let Stage { folder, settings, .. } = first;
    let mut again = Stage::in_folder(folder);
    again.settings = settings;
    again.servers.set(&again.settings);
    assert_eq!(again.names(), ["pond__echo"]);
    assert_eq!(
        (again.bare.started.load(Ordering::Relaxed), again.view("pond").state),
        (0, ServerState::Idle)
    );
    assert_eq!(again.says("pond__echo").await.result.effect, Effect::Confirmed);
    assert_eq!(again.bare.started.load(Ordering::Relaxed), 1);
    // What was kept of it is damaged: it is put aside, and the server is asked again.
    let kept = again.folder.path().join("mcp/pond.json");
    std::fs::write(&kept, "{ no").unwrap();
    let Stage { folder, settings, .. } = again;
    let mut third = Stage::in_folder(folder);
    third.settings = settings;
    third.servers.set(&third.settings);
    assert!(third.names().is_empty() && kept.with_extension("broken.json").exists());
    third.servers.test("pond").await.unwrap();
    assert_eq!(third.names(), ["pond__echo"]);
}

#[tokio::test]
async fn what_is_not_agreed_to_is_no_tool_and_what_is_switched_off_or_removed_is_none_any_more() {
    let mut stage = Stage::new();
    stage.set("pond", "works");
    let view = stage.servers.test("pond").await.unwrap();
    assert!(stage.names().is_empty());
    assert_eq!(view.tools[0].agreed, Agreed::No);
    stage.agree("pond", &view, ToolDoes::Edits);
    assert_eq!(stage.names(), ["pond__echo"]);
    stage.settings.get_mut("pond").unwrap().off = true;
    stage.servers.set(&stage.settings);
    assert!(stage.names().is_empty());
    assert_eq!(stage.says("pond__echo").await.result.error.unwrap().kind, ToolErrorKind::UnknownTool);
    stage.settings.get_mut("pond").unwrap().off = false;
    stage.servers.set(&stage.settings);
    assert_eq!(stage.names(), ["pond__echo"]);
    stage.settings.clear();
    stage.servers.set(&stage.settings);
    assert!(stage.names().is_empty() && stage.servers.list().is_empty());
    assert!(stage.servers.test("pond").await.unwrap_err().message.contains("no server \"pond\""));
}

#[tokio::test]
async fn a_tool_that_changed_since_it_was_agreed_to_is_off_until_it_is_agreed_to_again() {
    // bar: C57
    let stage = Stage::with("pond", "changes", ToolDoes::Looks).await;
    assert_eq!(stage.says("pond__echo").await.result.error, None);
    // Its first call has written the state: from the next start on it describes itself otherwise.
    let Stage { folder, settings, .. } = stage;
    let mut again = Stage::in_folder(folder);
    again.settings = settings;
    again.servers.set(&again.settings);
    let calls = || std::fs::read_to_string(again.state()).unwrap().lines().count();
    let before = calls();
    let refused = again.says("pond__echo").await.result;
    let error = refused.error.unwrap();
    assert_eq!((refused.effect, error.kind), (Effect::Refused, ToolErrorKind::NotAvailable));
    assert!(error.message.contains("otherwise than when the user agreed"), "{}", error.message);
    assert_eq!((calls(), again.names()), (before, Vec::new()));
    let view = again.view("pond");
    assert_eq!(view.tools[0].agreed, Agreed::Changed);
    again.agree("pond", &view, ToolDoes::Edits);
    assert_eq!(again.says("pond__echo").await.result.error, None);
}

#[tokio::test]
async fn one_that_was_started_anew_is_asked_what_it_offers_before_it_is_called() {
    // bar: C57
    let stage = Stage::with("pond", "changes-and-ends", ToolDoes::Edits).await;
    assert_eq!(stage.says("pond__echo").await.result.error, None);
    // It ends by itself after its answer, and is another one when it is started again.
    let refused = loop {
        let result = stage.says("pond__echo").await.result;
        // Where it had not ended yet, the call was its last.
        if result.effect == Effect::Refused {
            break result;
        }
    };
    let error = refused.error.unwrap();
    assert!(error.message.contains("otherwise than when the user agreed"), "{}", error.message);
}

#[tokio::test]
async fn what_it_says_of_its_own_keys_is_told_to_nobody() {
    let stage = Stage::with("pond", "tells", ToolDoes::Edits).await;
    let result = stage.says("pond__echo").await.result;
    assert_eq!(result.data, json!({ "text": "invalid key: (a key)" }));
    let begun = Instant::now();
    while stage.view("pond").log.is_empty() {
        assert!(begun.elapsed() < LONG, "nothing is logged");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    assert_eq!(stage.view("pond").log, ["the key is (a key)"]);
}

#[tokio::test]
async fn names_of_others_are_never_taken_and_hints_lower_no_risk() {
    // bar: C56
    let mut stage = Stage::with("pond", "shadows", ToolDoes::Anything).await;
    stage.set("other", "shadows");
    let view = stage.servers.test("other").await.unwrap();
    stage.agree("other", &view, ToolDoes::Anything);
    let names = stage.names();
    assert!(
        names
            .iter()
            .all(|name| name.len() <= 64 && (name.starts_with("pond__") || name.starts_with("other__")))
    );
    let of_one = names.iter().filter(|name| name.starts_with("pond__")).count();
    // echo, click, other__click, Cyrillic echo, the one of 128 letters; the second echo, the hidden and the longer one not.
    assert_eq!((of_one, names.len()), (5, 10), "{names:?}");
    assert_eq!(stage.registry.get("click").unwrap().spec().group, tools::Group::Input);
    let spec = stage.registry.get("pond__click").unwrap().spec().clone();
    assert_eq!((spec.risk, spec.egress), (Risk::Consequential, true));
    let log = stage.view("pond").log.join("\n");
    assert!(log.contains("two tools \"echo\"") && log.contains("hidden or too long"), "{log}");
}

#[tokio::test]
async fn what_it_may_do_decides_when_its_user_is_asked() {
    let limits = limits(Duration::from_secs(5));
    for (does, expected) in [
        // Ask, once for a tool, auto, auto after something was read.
        (ToolDoes::Looks, [false, false, false, false]),
        (ToolDoes::Edits, [true, true, false, false]),
        (ToolDoes::Anything, [true, true, false, true]),
    ] {
        let stage = Stage::with("pond", "works", does).await;
        let asks = |approval, has_read, grants: Grants| {
            let request = stage.request("pond__echo", json!({}));
            let (stage, limits) = (&stage, &limits);
            async move {
                let request = ExecRequest { approval, has_read, grants, ..request };
                let assessed = stage.router.assess(&request, limits).await;
                (matches!(assessed.decision, Decision::Ask { .. }), assessed.touches)
            }
        };
        let none = Grants::default;
        let asked = [
            asks(ApprovalMode::Ask, false, none()).await.0,
            asks(ApprovalMode::Thread, false, none()).await.0,
            asks(ApprovalMode::Auto, false, none()).await.0,
            asks(ApprovalMode::Auto, true, none()).await.0,
        ];
        assert_eq!(asked, expected, "{does:?}");
        let touches = asks(ApprovalMode::Thread, false, none()).await.1;
        let mut granted = Grants::default();
        granted.allow(touches);
        let still = asks(ApprovalMode::Thread, false, granted).await.0;
        assert_eq!(still, does == ToolDoes::Anything, "a yes for the session, {does:?}");
    }
}

#[tokio::test]
async fn one_that_hangs_or_dies_in_a_call_leaves_an_unknown_outcome_and_is_never_called_again_by_itself() {
    // bar: C55
    for (mode, kind, within) in [
        ("hangs-at-call", ToolErrorKind::Timeout, Duration::from_secs(1)),
        ("dies-at-call", ToolErrorKind::Network, LONG),
    ] {
        // Also one that only looks: what it does, nobody but the server knows.
        for does in [ToolDoes::Edits, ToolDoes::Looks] {
            let stage = Stage::with("pond", mode, does).await;
            let request = stage.request("pond__echo", json!({}));
            let cancel = CancellationToken::new();
            let result = stage.router.execute(Call { request, cancel, limits: limits(within) }).await.result;
            let error = result.error.unwrap();
            assert_eq!((result.effect, error.kind), (Effect::Unknown, kind), "{mode}: {}", error.message);
            assert!(error.message.contains("whether it was done is not known"), "{}", error.message);
            stage.until_called().await;
            assert_eq!(std::fs::read_to_string(stage.state()).unwrap(), "called\n", "{mode} {does:?}");
        }
    }
}

#[tokio::test]
async fn a_stop_is_a_stop_while_a_server_hangs() {
    let stage = Stage::with("pond", "hangs-at-call", ToolDoes::Edits).await;
    let cancel = CancellationToken::new();
    let stop = async {
        stage.until_called().await;
        cancel.cancel();
        Instant::now()
    };
    let (result, stopped) = tokio::join!(stage.call("pond__echo", cancel.clone()), stop);
    assert!(stopped.elapsed() < LONG / 6, "its deadline was waited for");
    assert_eq!(result.result.error.unwrap().kind, ToolErrorKind::Cancelled);
}

#[tokio::test]
async fn a_flood_and_a_line_without_end_close_the_connection_with_the_reason() {
    // bar: C53
    for (mode, why) in [("floods", "20000 messages"), ("long", "more than 15 MB")] {
        let stage = Stage::with("pond", mode, ToolDoes::Edits).await;
        let request = stage.request("pond__echo", json!({}));
        let (cancel, limits) = (CancellationToken::new(), limits(LONG));
        let result = stage.router.execute(Call { request, cancel, limits }).await.result;
        let error = result.error.unwrap();
        assert!(error.message.contains(why), "{mode}: {}", error.message);
        let ServerState::Failed { why: shown, .. } = stage.view("pond").state else { panic!("{mode}") };
        assert!(shown.contains(why), "{shown}");
    }
}

#[tokio::test]
async fn noise_and_answers_to_nobody_are_passed_over() {
    // bar: C52, C54
    let noisy = Stage::with("pond", "noisy", ToolDoes::Edits).await;
    assert_eq!(noisy.says("pond__echo").await.result.data, json!({ "text": "you said hello" }));
    assert!(noisy.view("pond").log.len() <= 60);
    let confused = Stage::with("pond", "confused", ToolDoes::Edits).await;
    for _ in 0..3 {
        let done = confused.says("pond__echo").await.result;
        assert_eq!(done.data, json!({ "text": "you said hello" }), "{:?}", done.error);
    }
}

#[tokio::test]
async fn one_that_says_yes_to_whatever_it_has_never_heard_of_is_greeted_as_an_older_one() {
    let stage = Stage::with("pond", "agrees", ToolDoes::Looks).await;
    assert_eq!(stage.says("pond__echo").await.result.data, json!({ "text": "you said hello" }));
}

#[tokio::test]
async fn one_that_does_not_start_is_left_alone_for_a_while_and_says_why() {
    // bar: C55
    let mut stage = Stage::new();
    stage.set("pond", "dies-at-start");
    let view = stage.servers.test("pond").await.unwrap();
    let ServerState::Failed { why, .. } = view.state else { panic!("{view:?}") };
    assert!(why.contains("no licence was found"), "{why}");
    // Each failure makes the rest longer, until a test starts nothing any more.
    let started = || stage.bare.started.load(Ordering::Relaxed);
    let begun = Instant::now();
    loop {
        let before = started();
        let view = stage.servers.test("pond").await.unwrap();
        let ServerState::Failed { again_in, .. } = view.state else { panic!("{view:?}") };
        if started() == before {
            assert!(again_in > 0);
            break;
        }
        assert!(begun.elapsed() < LONG, "it is started again and again");
    }
    stage.set("nothing", "works");
    stage.settings.get_mut("nothing").unwrap().command = "/no/such/program".into();
    stage.servers.set(&stage.settings);
    let view = stage.servers.test("nothing").await.unwrap();
    assert!(matches!(view.state, ServerState::Failed { .. }), "{view:?}");
}

#[tokio::test]
async fn what_it_says_failed_or_is_too_long_is_told_within_bounds() {
    let fails = Stage::with("pond", "fails", ToolDoes::Edits).await;
    let result = fails.says("pond__echo").await.result;
    let error = result.error.unwrap();
    assert_eq!((result.effect, error.kind), (Effect::Unknown, ToolErrorKind::Failed));
    assert!(error.message.ends_with("the pond is frozen"), "{}", error.message);
    assert_eq!(result.read, [Source::Server { name: "pond".into() }]);
    let refuses = Stage::with("pond", "refuses", ToolDoes::Edits).await;
    let result = refuses.says("pond__echo").await.result;
    assert_eq!((result.effect, result.error.unwrap().kind), (Effect::Unknown, ToolErrorKind::BadArguments));
    let huge = Stage::with("pond", "huge", ToolDoes::Edits).await;
    let result = huge.says("pond__echo").await.result;
    let text = result.data["text"].as_str().unwrap();
    assert!(text.len() < 20_000 && text.contains("(cut: "), "{}", text.len());
    let many = Stage::with("pond", "many", ToolDoes::Edits).await;
    assert_eq!(many.names().len(), 128);
}
