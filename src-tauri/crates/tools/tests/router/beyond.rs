//! Work beyond the screen through the contract: files, commands, calendars, the web, and taking it back.

use std::path::Path;
use std::sync::Arc;

use agenda::fake::Fake;
use desktop::{WindowId, WindowView};
use protocol::geometry::NormRect;
use protocol::tool::{ApprovalMode, Changed, Effect, Mode, Risk, ToolErrorKind};
use serde_json::{Value, json};
use space::files::{Places, Space};
use space::terminal::{Sandbox, Setup, Terminal};
use tokio_util::sync::CancellationToken;
use tools::{AgendaPort, Decision, ExecRequest, Executed, Grants, Planning, Ports, Router, WebPort};
use web::{Fetcher, Guard, Searcher};

use crate::stage::{InMemory, desktop, execute, limits, request};

/// A session with a folder in somebody's home.
pub struct Session {
    pub home: tempfile::TempDir,
    pub router: Router,
    pub ports: Ports,
}

impl Session {
    pub fn new() -> Self {
        Self::with_sandbox(Sandbox::probe(None))
    }

    pub fn with_sandbox(sandbox: Sandbox) -> Self {
        let home = tempfile::tempdir().unwrap();
        let folder = home.path().join("Miki");
        std::fs::create_dir(&folder).unwrap();
        let places = Places {
            home: home.path().to_owned(),
            data: home.path().join(".data"),
            trash: home.path().join(".local/share/Trash"),
        };
        let space = Arc::new(Space::open(&folder, &places).unwrap());
        let terminal = Terminal::open(Setup::new(space.root()), Arc::new(sandbox)).unwrap();
        let ports = Ports {
            space: Some(space),
            terminal: Some(Arc::new(terminal)),
            keep: Some(Arc::new(InMemory::default())),
            agenda: Some(Arc::new(AgendaPort { agenda: Arc::new(Fake::new()), usual: String::new() })),
            web: Some(Arc::new(WebPort {
                fetcher: Fetcher::new("test", Guard::strict(&[])).unwrap(),
                searcher: Searcher::new("test").unwrap(),
                engine: None,
            })),
            home: Some(home.path().canonicalize().unwrap()),
            ..Ports::default()
        };
        Self { home, router: Router::builtin(desktop()), ports }
    }

    pub fn file(&self, name: &str) -> std::path::PathBuf {
        self.home.path().join("Miki").join(name)
    }

    pub fn text(&self, name: &str) -> Option<String> {
        std::fs::read_to_string(self.file(name)).ok()
    }

    pub fn request(&self, tool: &str, arguments: Value) -> ExecRequest {
        ExecRequest { ports: self.ports.clone(), ..request(tool, arguments) }
    }

    pub fn asking(&self, tool: &str, arguments: Value) -> ExecRequest {
        ExecRequest { approval: ApprovalMode::Ask, ..self.request(tool, arguments) }
    }

    pub async fn call(&self, tool: &str, arguments: Value) -> Executed {
        execute(&self.router, self.request(tool, arguments), CancellationToken::new()).await
    }

    pub async fn done(&self, tool: &str, arguments: Value) -> Executed {
        let executed = self.call(tool, arguments).await;
        assert_eq!(executed.result.error, None, "{executed:?}");
        executed
    }

    /// Why it asks; `None` if it runs.
    pub async fn asks(&self, request: &ExecRequest) -> Option<String> {
        match self.router.assess(request, &limits()).await.decision {
            Decision::Run => None,
            Decision::Ask { reason } => Some(reason),
            Decision::Forbid { error } => panic!("{error:?}"),
        }
    }

    pub async fn take_back(&self, executed: &Executed) {
        for change in executed.result.changes.iter().rev() {
            self.router.take_back(change, &self.ports).await.unwrap();
        }
    }
}

#[tokio::test]
async fn files_are_written_read_found_changed_and_moved_and_all_of_it_is_taken_back() {
    let session = Session::new();
    let wrote = session.done("writeFile", json!({"path": "a/notes.txt", "text": "one\ntwo\n"})).await;
    assert_eq!(wrote.result.effect, Effect::Confirmed);
    assert_eq!(wrote.result.changes[0].of, Changed::File);
    assert!(wrote.result.changes[0].diff.as_ref().unwrap().contains("+two"), "{wrote:?}");
    let read = session.done("readFile", json!({"path": "a/notes.txt", "fromLine": 2})).await;
    assert_eq!(read.result.data["text"], "two\n");
    let found = session.done("searchFiles", json!({"pattern": "tw."})).await;
    assert_eq!(found.result.data["files"][0]["lines"], json!(["2: two"]));
    let edits = json!([{"find": "two", "replace": "three"}]);
    let edited = session.done("editFile", json!({"path": "a/notes.txt", "edits": edits})).await;
    assert_eq!(session.text("a/notes.txt").unwrap(), "one\nthree\n");
    let moved = session.done("moveFile", json!({"from": "a/notes.txt", "to": "b.txt"})).await;
    let trashed = session.done("trashFile", json!({"path": "b.txt"})).await;
    assert_eq!(session.text("b.txt"), None);
    for executed in [&trashed, &moved, &edited, &wrote] {
        session.take_back(executed).await;
    }
    let left: Vec<_> = std::fs::read_dir(session.file("")).unwrap().collect();
    assert!(left.is_empty(), "{left:?}");
}

#[tokio::test]
async fn what_somebody_has_changed_since_is_not_taken_back() {
    let session = Session::new();
    let wrote = session.done("writeFile", json!({"path": "a.txt", "text": "mine"})).await;
    std::fs::write(session.file("a.txt"), "theirs").unwrap();
    let error = session.router.take_back(&wrote.result.changes[0], &session.ports).await.unwrap_err();
    assert!(error.message.contains("changed"), "{error:?}");
    assert_eq!(session.text("a.txt").unwrap(), "theirs");
    // What they have taken back themselves is told apart from what was taken back now.
    let other = session.done("writeFile", json!({"path": "b.txt", "text": "mine"})).await;
    std::fs::remove_file(session.file("b.txt")).unwrap();
    let back = async || session.router.take_back(&other.result.changes[0], &session.ports).await;
    assert!(matches!(back().await, Ok(false)));
    std::fs::write(session.file("b.txt"), "mine").unwrap();
    assert!(matches!(back().await, Ok(true)));
}

#[tokio::test]
async fn nobody_is_asked_about_a_change_that_would_then_not_be_made() {
    let session = Session::new();
    std::fs::write(session.file("a.txt"), "one\n").unwrap();
    std::fs::write(session.file(".env"), "TOKEN=canary").unwrap();
    let refused = async |tool: &str, arguments: Value| match session
        .router
        .assess(&session.asking(tool, arguments), &limits())
        .await
        .decision
    {
        Decision::Forbid { error } => Some(error.kind),
        Decision::Ask { .. } | Decision::Run => None,
    };
    let find = |find: &str| json!([{"find": find, "replace": "two"}]);
    let bad = ToolErrorKind::BadArguments;
    for (tool, arguments, why) in [
        ("writeFile", json!({"path": "a.txt", "text": "x"}), Some(ToolErrorKind::Failed)),
        ("writeFile", json!({"path": "a.txt", "text": "x", "mode": "replace"}), None),
        ("writeFile", json!({"path": "b.txt", "text": "x"}), None),
        ("editFile", json!({"path": "a.txt", "edits": find("absent")}), Some(bad)),
        ("editFile", json!({"path": "a.txt", "edits": find("one")}), None),
        ("editFile", json!({"path": "b.txt", "edits": find("one")}), Some(ToolErrorKind::NotFound)),
        // That would tell what is in a file that holds keys.
        ("editFile", json!({"path": ".env", "edits": find("guess")}), None),
        ("createEvent", json!({"title": "Tax", "start": "2026-12-01T12:00:00"}), None),
        (
            "createEvent",
            json!({"title": "Tax", "start": "2026-12-01T12:00:00", "calendar": "None such"}),
            Some(ToolErrorKind::NotFound),
        ),
        ("changeEvent", json!({"id": "none", "title": "x"}), Some(ToolErrorKind::NotFound)),
    ] {
        assert_eq!(refused(tool, arguments.clone()).await, why, "{tool} {arguments}");
    }
    // What a later part of a batch meets, those before it may make.
    let parts = json!({"actions": [
        {"tool": "writeFile", "arguments": {"path": "new.txt", "text": "one"}},
        {"tool": "editFile", "arguments": {"path": "new.txt", "edits": find("one")}},
    ]});
    assert_eq!(refused("batch", parts).await, None);
}

// bar: C1, C3
#[tokio::test]
async fn nothing_outside_of_the_folder_is_reached_by_any_tool() {
    let session = Session::new();
    std::fs::write(session.home.path().join("secret.txt"), "secret").unwrap();
    #[cfg(unix)]
    std::os::unix::fs::symlink(session.home.path(), session.file("out")).unwrap();
    for path in ["../secret.txt", "/etc/passwd", "~/secret.txt", "out/secret.txt", "a/../../secret.txt"] {
        for (tool, arguments) in [
            ("readFile", json!({"path": path})),
            ("writeFile", json!({"path": path, "text": "x", "mode": "replace"})),
            ("editFile", json!({"path": path, "edits": [{"find": "secret", "replace": "x"}]})),
            ("moveFile", json!({"from": path, "to": "here.txt"})),
            ("moveFile", json!({"from": path, "to": "here.txt", "copy": true})),
            ("trashFile", json!({"path": path})),
            ("listFiles", json!({"path": path})),
        ] {
            let executed = session.call(tool, arguments).await;
            assert_eq!(executed.result.effect, Effect::Refused, "{tool} {path}: {executed:?}");
        }
    }
    assert_eq!(std::fs::read_to_string(session.home.path().join("secret.txt")).unwrap(), "secret");
    assert!(!session.file("here.txt").exists());
}

// bar: C7
#[tokio::test]
async fn what_runs_something_later_or_holds_keys_asks_in_every_mode_whatever_was_allowed() {
    let session = Session::new();
    for path in [".git/hooks/pre-commit", ".GIT/config", ".bashrc", ".vscode/tasks.json"] {
        for approval in [ApprovalMode::Auto, ApprovalMode::Thread, ApprovalMode::Ask] {
            let write = json!({"path": path, "text": "x"});
            let mut request = ExecRequest { approval, ..session.request("writeFile", write) };
            let touches = session.router.assess(&request, &limits()).await.touches;
            request.grants.allow(touches.clone());
            request.grants.allow_in_run(touches);
            assert!(
                session.asks(&request).await.is_some_and(|why| why.contains(path)),
                "{path} {approval:?}"
            );
            let executed = execute(&session.router, request, CancellationToken::new()).await;
            assert_eq!(executed.result.error.unwrap().kind, ToolErrorKind::Forbidden);
        }
    }
    assert!(session.asks(&session.request("readFile", json!({"path": ".env"}))).await.is_some());
    assert!(session.asks(&session.request("readFile", json!({"path": ".npmrc"}))).await.is_some());
    let copied = json!({"from": "server.pem", "to": "plain.txt", "copy": true});
    assert!(session.asks(&session.request("moveFile", copied)).await.is_some());
    assert!(
        session
            .asks(&session.request("searchFiles", json!({"path": ".env", "pattern": "."})))
            .await
            .is_some()
    );
    assert!(session.asks(&session.request("readFile", json!({"path": "notes.txt"}))).await.is_none());
}

#[tokio::test]
async fn a_search_withholds_what_stands_in_files_that_hold_keys() {
    let session = Session::new();
    for name in [".env", "server.pem", "notes.txt"] {
        std::fs::write(session.file(name), "token=17\n").unwrap();
    }
    let found = session.done("searchFiles", json!({"pattern": "token"})).await.result;
    let files = found.data["files"].as_array().unwrap();
    assert_eq!((files.len(), &files[0]["path"]), (1, &json!("notes.txt")), "{found:?}");
    assert!(found.summary.starts_with("1 line matches in the folder"), "{found:?}");
    // Whether they match is not told either: one question after the other would spell it out.
    for pattern in ["^token=1", "^token=2", "nowhere"] {
        let asked = session.done("searchFiles", json!({"pattern": pattern})).await.result;
        assert_eq!(
            (&asked.data["withheld"], &asked.data["skipped"]),
            (&found.data["withheld"], &found.data["skipped"])
        );
        assert!(asked.data["withheld"].is_string(), "{asked:?}");
    }
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_command_that_names_what_holds_keys_or_runs_later_asks_in_every_mode() {
    let session = Session::new();
    for (line, named) in [
        ("cat .env", ".env"),
        ("grep -r x '.ssh/id_rsa'", ".ssh/id_rsa"),
        ("touch .vscode/tasks.json", ".vscode/tasks.json"),
        ("echo x >.envrc", ".envrc"),
    ] {
        let command = session.request("runCommand", json!({"command": line}));
        let request = ExecRequest { approval: ApprovalMode::Auto, ..command };
        assert!(session.asks(&request).await.is_some_and(|why| why.contains(named)), "{line}");
    }
    let there = json!({"command": "cat id_rsa", "folder": "keys"});
    std::fs::create_dir(session.file("keys")).unwrap();
    assert!(session.asks(&session.request("runCommand", there)).await.is_some());
    assert!(
        session.asks(&session.request("runCommand", json!({"command": "cat notes.txt"}))).await.is_none()
    );
}

#[tokio::test]
async fn a_yes_for_a_file_is_for_what_it_holds_and_a_grant_for_its_folder() {
    let session = Session::new();
    std::fs::write(session.file("a.txt"), "old").unwrap();
    let mut asked = session.asking("writeFile", json!({"path": "a.txt", "text": "new", "mode": "replace"}));
    let assessment = session.router.assess(&asked, &limits()).await;
    assert!(matches!(assessment.decision, Decision::Ask { .. }));
    assert_eq!(assessment.touches[0].app.as_deref(), Some("~/Miki"));
    let diff = session.router.diff(&asked, &limits()).await.unwrap();
    assert!(diff.contains("-old") && diff.contains("+new"), "{diff}");
    asked.approved = Some(assessment.yes());
    std::fs::write(session.file("a.txt"), "somebody else's").unwrap();
    let executed = execute(&session.router, asked.clone(), CancellationToken::new()).await;
    assert_eq!(executed.result.error.unwrap().kind, ToolErrorKind::Forbidden);
    assert_eq!(session.text("a.txt").unwrap(), "somebody else's");
    // For the run: the same tool in the same folder.
    let mut granted = session.asking("writeFile", json!({"path": "b.txt", "text": "new"}));
    granted.grants.allow_in_run(assessment.touches.clone());
    assert_eq!(session.asks(&granted).await, None);
    let mut other = session.asking("trashFile", json!({"path": "a.txt"}));
    other.grants.allow_in_run(assessment.touches);
    assert!(session.asks(&other).await.is_some());
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_yes_for_longer_to_a_batch_covers_no_part_that_none_can_name() {
    let session = Session::new();
    let write = |path: &str| json!({"tool": "writeFile", "arguments": {"path": path, "text": "x"}});
    let by_itself = session.asking("writeFile", json!({"path": "a.sh", "text": "x"}));
    let allowed = session.router.assess(&by_itself, &limits()).await.touches;
    let run = |line: &str| json!({"tool": "runCommand", "arguments": {"command": line}});
    let tell = json!({"tool": "typeCommand", "arguments": {"job": 1, "text": "x"}});
    for other in [run("sh a.sh"), run("A=1 make"), run("./a.sh"), tell] {
        let mut batch = session.asking("batch", json!({"actions": [write("a.sh"), other]}));
        let question = session.router.assess(&batch, &limits()).await;
        assert_eq!(question.touches, [], "a yes for longer would be offered: {batch:?}");
        batch.grants.allow_in_run(allowed.clone());
        assert!(session.asks(&batch).await.is_some(), "{batch:?}");
    }
    let mut both = session.asking("batch", json!({"actions": [write("a.sh"), write("b.sh")]}));
    both.grants.allow_in_run(allowed);
    assert_eq!(session.asks(&both).await, None);
}

#[tokio::test]
async fn a_plan_covers_files_of_the_folders_that_it_names_and_no_others() {
    let session = Session::new();
    let contract = |folders: Value, effects: Value| {
        let contract = json!({"steps": ["write"], "folders": folders, "effects": effects});
        Planning::Agreed(Arc::new(serde_json::from_value(contract).unwrap()))
    };
    let write = |planning| ExecRequest {
        planning,
        ..session.asking("writeFile", json!({"path": "sub/a.txt", "text": "new"}))
    };
    assert_eq!(session.asks(&write(contract(json!(["~/Miki/sub"]), json!(["edit"])))).await, None);
    let outside = session.asks(&write(contract(json!(["~/Miki/other"]), json!(["edit"])))).await.unwrap();
    assert!(outside.contains("folder of ~/Miki/sub/a.txt"), "{outside}");
    assert!(session.asks(&write(contract(json!(["~/Miki/su"]), json!(["edit"])))).await.is_some());
    assert!(session.asks(&write(contract(json!(["~/Miki/sub"]), json!([])))).await.is_some());
    let trash = ExecRequest {
        planning: contract(json!(["~/Miki"]), json!(["edit"])),
        ..session.asking("trashFile", json!({"path": "sub/a.txt"}))
    };
    assert!(session.asks(&trash).await.unwrap().contains("effect delete"));
}

#[tokio::test]
async fn plan_mode_reads_files_and_changes_none() {
    let session = Session::new();
    std::fs::write(session.file("a.txt"), "old").unwrap();
    let plan = |tool: &str, arguments| ExecRequest { mode: Mode::Plan, ..session.request(tool, arguments) };
    let read =
        execute(&session.router, plan("readFile", json!({"path": "a.txt"})), CancellationToken::new()).await;
    assert_eq!(read.result.error, None);
    for (tool, arguments) in [
        ("writeFile", json!({"path": "b.txt", "text": "x"})),
        ("trashFile", json!({"path": "a.txt"})),
        ("runCommand", json!({"command": "touch b.txt"})),
    ] {
        let executed = execute(&session.router, plan(tool, arguments), CancellationToken::new()).await;
        assert_eq!(executed.result.error.unwrap().kind, ToolErrorKind::Forbidden, "{tool}");
    }
    assert_eq!(std::fs::read_dir(session.file("")).unwrap().count(), 1);
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_command_works_in_the_folder_and_tells_its_output_and_how_it_ended() {
    let session = Session::new();
    let made = session
        .done("runCommand", json!({"command": "printf '\\033[31mred\\033[0m\\n'; echo hi > made.txt"}))
        .await;
    assert_eq!(made.result.data["output"], "red", "{made:?}");
    assert_eq!(made.result.data["exit"], 0);
    assert!(made.result.output[0].spans[0].style.fg.is_some(), "its colours are kept for people");
    assert_eq!(session.text("made.txt").unwrap(), "hi\n");
    let failed = session.call("runCommand", json!({"command": "ls nothing-here"})).await;
    assert_eq!(failed.result.effect, Effect::Unverified);
    assert_ne!(failed.result.data["exit"], 0);
    let outside = session.call("runCommand", json!({"command": "echo x > /etc/miki-was-here"})).await;
    assert!(!Path::new("/etc/miki-was-here").exists(), "{outside:?}");
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_job_goes_on_is_typed_into_read_and_stopped() {
    let session = Session::new();
    let begun = session.done("runCommand", json!({"command": "cat", "background": true})).await;
    let job = begun.result.data["job"].clone();
    let typed = session.call("typeCommand", json!({"job": job, "text": "hello\n"})).await;
    assert_eq!(typed.result.error, None, "{typed:?}");
    let read = session.done("readCommand", json!({"job": job, "seconds": 1})).await;
    assert!(read.result.data["output"].as_str().unwrap().contains("hello"), "{read:?}");
    let stopped = session.done("stopCommand", json!({"job": job})).await;
    assert_eq!(stopped.result.data["exit"], "stopped", "{stopped:?}");
    let none = session.call("readCommand", json!({"job": 99})).await;
    assert_eq!(none.result.error.unwrap().kind, ToolErrorKind::NotFound);
}

#[tokio::test]
async fn a_command_that_only_reads_runs_and_others_ask_each_by_its_program() {
    let session = Session::new();
    let asks = |line: &str| {
        let request = session.asking("runCommand", json!({"command": line}));
        async { (session.asks(&request).await, request) }
    };
    assert_eq!(asks("ls -la").await.0, None);
    let (why, request) = asks("git commit -m x").await;
    assert!(why.is_some());
    let touches = session.router.assess(&request, &limits()).await.touches;
    assert_eq!(touches[0].app.as_deref(), Some("git commit (~/Miki)"));
    // bar: C20, C21
    for line in ["git commit -m x; rm -rf .", "git -c core.pager=x commit", "git push", "$(git commit)"] {
        let mut request = session.asking("runCommand", json!({"command": line}));
        request.grants.allow_in_run(touches.clone());
        assert!(session.asks(&request).await.is_some(), "{line}");
    }
    let auto = session.request("runCommand", json!({"command": "eval \"$(cat x)\""}));
    assert!(session.asks(&auto).await.is_some(), "what cannot be told asks in auto, too");
}

// bar: C19
#[tokio::test]
async fn without_a_sandbox_each_command_asks_in_every_mode_and_says_so() {
    let session = Session::with_sandbox(Sandbox::none("bubblewrap is missing"));
    for approval in [ApprovalMode::Ask, ApprovalMode::Thread, ApprovalMode::Auto] {
        let mut request = ExecRequest { approval, ..session.request("runCommand", json!({"command": "ls"})) };
        request.grants.allow_in_run(session.router.assess(&request, &limits()).await.touches);
        let why = session.asks(&request).await.unwrap();
        assert!(why.contains("bubblewrap is missing"), "{why}");
        let executed = execute(&session.router, request, CancellationToken::new()).await;
        assert_eq!(executed.result.effect, Effect::Refused);
    }
}

#[tokio::test]
async fn a_page_is_fetched_from_a_host_that_was_named_and_asked_about_otherwise() {
    let session = Session::new();
    let fetch = |words: &str| {
        let mut grants = Grants::default();
        grants.note_words(words);
        ExecRequest { grants, ..session.asking("webFetch", json!({"url": "https://example.org/a?b=c"})) }
    };
    assert_eq!(session.asks(&fetch("read example.org for me")).await, None);
    let assessment = session.router.assess(&fetch("read the news"), &limits()).await;
    assert_eq!(assessment.risk, Some(Risk::Consequential));
    assert_eq!(assessment.hosts, ["example.org"]);
    let tainted = ExecRequest { approval: ApprovalMode::Auto, has_read: true, ..fetch("read the news") };
    assert!(session.asks(&tainted).await.is_some());
}

#[tokio::test]
async fn without_a_search_engine_it_is_said_how_to_set_one() {
    let session = Session::new();
    let executed = session.call("webSearch", json!({"query": "weather"})).await;
    let error = executed.result.error.unwrap();
    assert_eq!(error.kind, ToolErrorKind::NotAvailable);
    assert!(error.message.contains("searchEngine"), "{error:?}");
}

/// A server on this machine that answers each request with this.
fn server(content_type: &'static str, body: &'static str) -> u16 {
    use std::io::{BufRead, BufReader, Write};
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let asked = BufReader::new(stream.try_clone().unwrap()).lines().map_while(Result::ok);
            asked.take_while(|line| !line.is_empty()).for_each(drop);
            let head = format!("content-type: {content_type}\r\ncontent-length: {}", body.len());
            let _ = write!(stream, "HTTP/1.1 200 OK\r\n{head}\r\nconnection: close\r\n\r\n{body}");
        }
    });
    port
}

#[tokio::test]
async fn a_page_is_fetched_as_markdown_and_a_search_brings_titles_and_addresses() {
    let page = server(
        "text/html",
        "<title>Fish</title><nav>menu</nav><article><h1>Carp</h1><p>It lives in <a href='/pond'>ponds</a>, and has lived \
         there for a long time, as far as anybody can tell.</p></article>",
    );
    let found = server(
        "application/json",
        r#"{"results":[{"title":"Carp","url":"https://example.org/carp","content":"A fish."}]}"#,
    );
    let mut session = Session::new();
    session.ports.web = Some(Arc::new(WebPort {
        fetcher: Fetcher::new("test", Guard::reaching_loopback()).unwrap(),
        searcher: Searcher::new("test").unwrap(),
        engine: Some(Ok(web::Engine::SearXng { url: format!("http://127.0.0.1:{found}") })),
    }));
    let fetched = session.done("webFetch", json!({"url": format!("http://127.0.0.1:{page}/fish")})).await;
    let text = fetched.result.data.to_string();
    assert!(text.contains("# Carp") && text.contains("ponds") && !text.contains("<p>"), "{text}");
    assert!(!fetched.result.read.is_empty(), "who wrote it is known");
    let found = session.done("webSearch", json!({"query": "carp"})).await;
    let text = found.result.data.to_string();
    assert!(text.contains("https://example.org/carp") && text.contains("A fish."), "{text}");
    assert!(!found.result.read.is_empty());
}

#[tokio::test]
async fn a_change_on_the_screen_is_taken_back_where_it_is_as_it_was_left() {
    let session = Session::new();
    let copied = session.done("writeClipboard", json!({"text": "new"})).await;
    assert_eq!(copied.result.changes[0].of, Changed::Clipboard);
    assert!(
        !copied.result.changes[0].data.to_string().contains("new"),
        "no text of a clipboard is kept on disk"
    );
    session.take_back(&copied).await;
    let again = session.done("writeClipboard", json!({"text": "new"})).await;
    session.done("writeClipboard", json!({"text": "newer"})).await;
    let error = session.router.take_back(&again.result.changes[0], &session.ports).await.unwrap_err();
    assert!(error.message.contains("since"), "{error:?}");
}

#[tokio::test]
async fn a_value_and_a_windows_place_are_put_back_where_nobody_has_changed_them_since() {
    let fake = desktop();
    let (bounds, id) = (NormRect { x: 100.0, y: 100.0, width: 300.0, height: 200.0 }, WindowId(7));
    fake.edit(|scene| {
        let element = &mut scene.snapshot.elements[0];
        (element.role, element.name, element.value) = ("entry".into(), "Name".into(), "Ada".into());
        let (title, app) = ("Untitled".into(), "Editor".into());
        scene.windows =
            vec![WindowView { id, title, app, pid: Some(7), display: 0, bounds, states: Vec::new() }];
    });
    let session = Session { router: Router::builtin(fake.clone()), ..Session::new() };
    let value = || {
        let mut value = String::new();
        fake.edit(|scene| value.clone_from(&scene.snapshot.elements[0].value));
        value
    };
    let place = || {
        let mut place = None;
        fake.edit(|scene| place = Some(scene.windows[0].bounds));
        place.unwrap()
    };
    // However the element is meant: also by its name alone, in whatever application is in front.
    for meant in [
        json!({"ref": "e1", "value": "Grace"}),
        json!({"name": "Name", "value": "Grace"}),
        json!({"app": "Editor", "name": "Name", "value": "Grace"}),
    ] {
        let set = session.done("setValue", meant.clone()).await;
        assert_eq!(value(), "Grace");
        assert_eq!(set.result.changes[0].of, Changed::Value, "{meant}");
        session.take_back(&set).await;
        assert_eq!(value(), "Ada", "{meant}");
    }
    // What may be listed in part is not kept: put back, it would be all that is left. Nor is what nothing tells from others
    // of its kind, and what stands for a picture in a text.
    for (name, before) in [
        ("Name", "a".repeat(200)),
        ("Name", "a".repeat(197) + "🐸"),
        ("Name", "see \u{fffc}".to_owned()),
        ("", "Ada".to_owned()),
    ] {
        fake.edit(|scene| {
            let element = &mut scene.snapshot.elements[0];
            (element.name, element.value) = (name.into(), before.clone());
        });
        let set = session.done("setValue", json!({"ref": "e1", "value": "Grace"})).await;
        assert!(set.result.changes.is_empty(), "{before}: {:?}", set.result.changes);
    }
    fake.edit(|scene| {
        let element = &mut scene.snapshot.elements[0];
        (element.name, element.value) = ("Name".into(), "Ada".into());
    });
    let set = session.done("setValue", json!({"ref": "e1", "value": "Grace"})).await;
    fake.edit(|scene| scene.snapshot.elements[0].value = "typed by its user".into());
    let error = session.router.take_back(&set.result.changes[0], &session.ports).await.unwrap_err();
    assert!(error.message.contains("since"), "{error:?}");
    assert_eq!(value(), "typed by its user");
    for change in [
        json!({"window": 7, "change": "move", "x": 400, "y": 300}),
        json!({"window": 7, "change": "resize", "width": 500, "height": 400}),
    ] {
        let changed = session.done("changeWindow", change.clone()).await;
        assert_ne!(place(), bounds, "{change}");
        session.take_back(&changed).await;
        assert_eq!(place(), bounds, "{change}");
    }
    let moved =
        session.done("changeWindow", json!({"window": 7, "change": "move", "x": 400, "y": 300})).await;
    fake.edit(|scene| scene.windows[0].bounds.x = 20.0);
    let error = session.router.take_back(&moved.result.changes[0], &session.ports).await.unwrap_err();
    assert!(error.message.contains("since"), "{error:?}");
}

/// A query can carry away what was read.
// bar: C35
#[tokio::test]
async fn a_search_asks_once_something_was_read_unless_its_words_are_the_users_or_its_engine_was_named() {
    let mut session = Session::new();
    let engine = web::Engine::SearXng { url: "https://search.test/x".into() };
    let web = WebPort {
        fetcher: Fetcher::new("test", Guard::strict(&[])).unwrap(),
        searcher: Searcher::new("test").unwrap(),
        engine: Some(Ok(engine)),
    };
    session.ports.web = Some(Arc::new(web));
    let search = |approval, has_read, words: &str| {
        let mut grants = Grants::default();
        grants.note_words(words);
        ExecRequest {
            approval,
            has_read,
            grants,
            ..session.request("webSearch", json!({"query": "my PIN is 1234"}))
        }
    };
    for approval in [ApprovalMode::Ask, ApprovalMode::Thread, ApprovalMode::Auto] {
        let asks = async |has_read, words: &str| session.asks(&search(approval, has_read, words)).await;
        assert_eq!(asks(false, "find it").await, None, "{approval:?}");
        assert_eq!(asks(true, "look for: my PIN is 1234").await, None, "{approval:?}");
        assert_eq!(asks(true, "ask search.test").await, None, "{approval:?}");
        let why = asks(true, "find it").await.unwrap();
        assert!(why.contains("named search.test"), "{why}");
        let mut once = search(approval, true, "find it");
        let hosts = session.router.assess(&once, &limits()).await.hosts;
        assert_eq!(hosts, ["search.test"]);
        let executed = execute(&session.router, once.clone(), CancellationToken::new()).await;
        assert_eq!(executed.result.error.unwrap().kind, ToolErrorKind::Forbidden);
        // A yes makes it known.
        once.grants.visit(&hosts);
        assert_eq!(session.asks(&once).await, None);
    }
    let contract = json!({"steps": ["search"], "hosts": ["search.test"], "effects": ["browse"]});
    let planning = Planning::Agreed(Arc::new(serde_json::from_value(contract).unwrap()));
    let planned = ExecRequest { planning, ..search(ApprovalMode::Ask, true, "find it") };
    assert_eq!(session.asks(&planned).await, None);
}

#[tokio::test]
async fn in_plan_mode_no_group_of_tools_is_promised_that_acts() {
    let session = Session::new();
    let add = |groups: Value| ExecRequest {
        mode: Mode::Plan,
        ..session.request("useTools", json!({"groups": groups}))
    };
    let executed = execute(&session.router, add(json!(["files", "agenda"])), CancellationToken::new()).await;
    let offered: Vec<_> =
        session.router.specs(Mode::Plan, &session.ports).into_iter().map(|spec| spec.name).collect();
    let promised = executed.result.data["tools"].as_array().unwrap().clone();
    assert!(promised.len() >= 3, "{promised:?}");
    for name in promised {
        assert!(offered.iter().any(|one| **one == *name.as_str().unwrap()), "{name}");
    }
    let executed = execute(&session.router, add(json!(["held"])), CancellationToken::new()).await;
    assert_eq!(executed.result.error.unwrap().kind, ToolErrorKind::NotAvailable);
}

/// A command reaches files without naming them.
// bar: C7
#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_command_reads_what_holds_keys_and_leaves_what_runs_later_only_where_its_line_names_it() {
    let session = Session::new();
    std::fs::write(session.file(".env"), "TOKEN=canary").unwrap();
    std::fs::create_dir(session.file(".vscode")).unwrap();
    std::fs::write(session.file(".vscode/tasks.json"), "{}").unwrap();
    let run = async |line: &str| session.call("runCommand", json!({"command": line})).await.result;
    let searched = run("grep -rn TOKEN .").await;
    assert!(!searched.data.to_string().contains("canary"), "{searched:?}");
    assert_eq!(searched.data["closed"], json!([".env"]));
    // Named, it is asked about, and open once it was allowed.
    let mut named = session.request("runCommand", json!({"command": "cat .env"}));
    let assessment = session.router.assess(&named, &limits()).await;
    assert!(matches!(&assessment.decision, Decision::Ask { reason } if reason.contains(".env holds keys")));
    named.approved = Some(assessment.yes());
    let executed = execute(&session.router, named, CancellationToken::new()).await.result;
    assert_eq!(executed.data["output"], "TOKEN=canary", "{executed:?}");
    std::fs::write(session.file("w.py"), "open('.vsc'+'ode/tasks.json', 'w').write('evil')").unwrap();
    let wrote = run("python3 w.py").await;
    assert_eq!(
        (wrote.effect, session.text(".vscode/tasks.json").unwrap().as_str()),
        (Effect::Unverified, "{}")
    );
    // What is made anew, under a name that the line does not have, does not stay where it would run.
    let made =
        run("n=.envrc; echo evil > $n; mkdir -p sub/.vsc$(echo ode); echo {} > sub/.vsc*/tasks.json").await;
    let said = made.error.map(|error| error.message);
    assert!(said.is_some(), "a computed line asks");
    std::fs::write(session.file("x.py"), "open('.env'+'rc', 'w').write('evil')").unwrap();
    let made = run("python3 x.py").await;
    assert_eq!(made.error, None);
    assert!(made.summary.contains(".envrc is run by a shell"), "{}", made.summary);
    assert_eq!((session.text(".envrc"), session.text(".envrc.held").unwrap().as_str()), (None, "evil"));
    let job =
        session.done("runCommand", json!({"command": "python3 x.py; sleep 60", "background": true})).await;
    let job = job.result.data["job"].clone();
    let deadline = std::time::Instant::now() + std::time::Duration::from_secs(10);
    while session.text(".envrc").as_deref() != Some("evil") {
        assert!(std::time::Instant::now() < deadline);
        tokio::task::yield_now().await;
    }
    session.call("readCommand", json!({"job": job})).await;
    assert_eq!((session.text(".envrc"), session.text(".envrc.held-2").unwrap().as_str()), (None, "evil"));
    session.done("stopCommand", json!({"job": job})).await;
}
