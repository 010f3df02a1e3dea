//! The Model Context Protocol, both ways: real servers of others (by the protocol's own SDKs) that our agent uses, and an
//! agent of another program that works at the desktop as ours do.

use std::path::{Path, PathBuf};

use outside::fake_model::{Asked, FakeModel, MindTurn, Said, ScriptMind};
use outside::miki::{self, Miki, check_file};
use outside::stage::Stage;
use outside::{LONG, wait_for};
use protocol::event::RunEnd;
use protocol::tool::{Effect, Source};
use protocol::{Event, EventBody};
use serde_json::{Value, json};

use crate::conformance;

const LINE: &str = "written by another program's agent";

/// Where set-up puts it.
pub fn tool(path: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).with_file_name("tools").join(path);
    assert!(path.exists(), "{} is missing; run: cargo xtask setup", path.display());
    path
}

pub fn peer(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/e2e/peers").join(name);
    path.to_str().unwrap().to_owned()
}

pub fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// Runs a command line that must succeed.
fn said(miki: &Miki, stage: &Stage, line: &[&str]) -> String {
    let done = miki.run(stage, line).unwrap();
    assert_eq!(done.code(), 0, "{line:?}: {}{}", done.stdout, done.stderr);
    done.stdout
}

#[test]
fn real_servers_are_connected_agreed_to_and_used_within_the_sandbox() {
    let stage = Stage::plain().unwrap();
    let notes = stage.path("notes");
    std::fs::create_dir_all(&notes).unwrap();
    std::fs::write(notes.join("pond.txt"), "carp: 3").unwrap();
    let call = |tool: &str, arguments: Value| MindTurn::call("", tool, arguments);
    let groups = json!({ "groups": ["everything", "notes", "pond"] });
    let resources = "everything__resources_read_88d169db";
    let model = FakeModel::start(ScriptMind::new([
        call("useTools", groups.clone()),
        call("everything__get-sum", json!({ "a": 2, "b": 40 })),
        call("useTools", groups),
        call("everything__get-sum", json!({ "a": 2, "b": 40 })),
        call("everything__get-tiny-image", json!({})),
        call("notes__read_text_file", json!({ "path": notes.join("pond.txt") })),
        call("notes__write_file", json!({ "path": notes.join("evil.txt"), "content": "x" })),
        call("pond__fish", json!({ "kind": "carp", "count": 3 })),
        call("pond__depth", json!({})),
        call(resources, json!({})),
        call(resources, json!({ "uri": "demo://resource/dynamic/text/1" })),
        MindTurn::done("asked them all", true),
    ]))
    .unwrap();
    let miki = Miki::with_model(&stage, "miki", &model.url(), json!({})).unwrap();
    let servers = tool("mcp-servers/node_modules/@modelcontextprotocol");
    let modules = tool("mcp-servers/node_modules");
    let everything = servers.join("server-everything/dist/index.js");
    let filesystem = servers.join("server-filesystem/dist/index.js");
    let add = ["mcp", "add", "--yes"];
    // What it runs is shown whole, and what it may do.
    let asked = said(
        &miki,
        &stage,
        &[&add[..], &["everything", "--read", text(&modules), "--", "node", text(&everything), "stdio"]]
            .concat(),
    );
    assert!(asked.contains(&format!("node {} stdio", everything.display())), "{asked}");
    assert!(asked.contains("in the sandbox") && asked.contains("get-sum (not agreed to)"), "{asked}");
    let reads = ["--read", text(&modules), "--read", text(&notes)];
    let line = ["--", "node", text(&filesystem), text(&notes)];
    said(&miki, &stage, &[&add[..], &["notes"], &reads, &line].concat());
    let (python, pond) = (tool("mcp/bin/python"), peer("pond.py"));
    let line = ["pond", "--unconfined", "--env", "POND_OWNER=ours", "--", text(&python), "-I", &pond];
    said(&miki, &stage, &[&add[..], &line].concat());
    let listed = said(&miki, &stage, &["mcp", "list"]);
    assert!(listed.contains("pond") && listed.contains("2 of 2 tools agreed to"), "{listed}");
    assert!(listed.contains("not started") && listed.contains("(not in the sandbox)"), "{listed}");

    // A tool of which its user has said nothing asks, once something was read; here nobody is there to be asked.
    let asks = miki.run(&stage, &["run", "ask the servers", "--json"]).unwrap();
    assert!(
        asks.code() == 4 && asks.stderr.contains("everything__get-sum"),
        "{}{}",
        asks.stdout,
        asks.stderr
    );
    let agree = |name: &str, does: &str, tools: &[&str]| {
        said(&miki, &stage, &[&["mcp", "agree", name, "--yes", "--does", does], tools].concat())
    };
    agree("everything", "looks", &["get-sum", "get-tiny-image", "resources/read"]);
    agree("notes", "edits", &["read_text_file", "write_file"]);
    agree("pond", "edits", &[]);

    let run = miki.run(&stage, &["run", "ask the servers", "--json"]).unwrap();
    let events = miki::events(&run.stdout).unwrap();
    assert!(matches!(miki::end(&events), Some(RunEnd::Completed { .. })), "{}{}", run.stdout, run.stderr);
    let results: Vec<_> = events
        .iter()
        .filter_map(|event| match &event.body {
            EventBody::ToolFinished { result, .. } => Some(result),
            _ => None,
        })
        .collect();
    let of = |at: usize| results[at].data.to_string();
    assert!(of(1).contains("is 42"), "{}", of(1));
    assert!(results[2].picture.is_some(), "{:?}", results[2]);
    assert_eq!(results[2].read, [Source::Server { name: "everything".into() }]);
    assert!(of(3).contains("carp: 3"), "{}", of(3));
    // It reads there, and the sandbox lets it write nothing there.
    assert!(results[4].error.is_some() && !notes.join("evil.txt").exists(), "{:?}", results[4]);
    assert!(of(5).contains("3 carp in the pond of ours"), "{}", of(5));
    assert_eq!(results[6].data["result"], json!({ "centimetres": 140 }), "{}", of(6));
    assert_eq!(results[6].effect, Effect::Unverified, "its word is all there is");
    assert!(of(7).contains("demo://resource/"), "{}", of(7));
    assert!(of(8).contains("demo://resource/dynamic/text/1"), "{}", of(8));

    // A text of it to begin a goal with.
    let prompt = said(&miki, &stage, &["mcp", "prompt", "everything", "args-prompt", "city=Rome"]);
    assert_eq!(prompt.trim_end(), "What's weather in Rome?");
    let lacks = miki.run(&stage, &["mcp", "prompt", "everything", "args-prompt"]).unwrap();
    assert!(lacks.code() == 1 && lacks.stderr.contains("city"), "{}{}", lacks.stdout, lacks.stderr);

    said(&miki, &stage, &["mcp", "remove", "pond"]);
    let gone = miki.run(&stage, &["mcp", "test", "pond"]).unwrap();
    assert!(gone.code() == 1 && gone.stderr.contains("there is no server \"pond\""), "{}", gone.stderr);
}

#[test]
fn the_desktop_and_the_agents_are_written_into_a_clients_configuration_and_a_copy_of_each_before_is_kept() {
    let stage = Stage::small().unwrap();
    let miki = Miki::on(&stage, "miki").unwrap();
    let file = stage.path("home").join(".cursor/mcp.json");
    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    let theirs = r#"{ "mcpServers": { "other": { "command": "x" } } }"#;
    std::fs::write(&file, theirs).unwrap();
    // Nobody is there to say yes.
    let asks = miki.run(&stage, &["mcp", "install", "cursor", "--agent"]).unwrap();
    assert!(
        asks.code() == 4 && asks.stdout.contains("+    \"miki-agent\": {"),
        "{}{}",
        asks.stdout,
        asks.stderr
    );
    check_file(&file, theirs).unwrap();

    let desktop = said(&miki, &stage, &["mcp", "install", "cursor", "--yes"]);
    assert!(desktop.contains("+    \"miki-desktop\": {"), "{desktop}");
    let with_desktop = std::fs::read_to_string(&file).unwrap();
    let agent = said(&miki, &stage, &["mcp", "install", "cursor", "--agent", "--yes"]);
    let added = |line: &&str| line.trim_start().starts_with('+');
    let added: String = agent.lines().filter(added).collect();
    assert!(added.contains("miki-agent") && !added.contains("miki-desktop"), "{agent}");
    let written: Value = serde_json::from_str(&std::fs::read_to_string(&file).unwrap()).unwrap();
    let servers = &written["mcpServers"];
    assert_eq!(servers["other"], json!({ "command": "x" }));
    for (name, serves) in [("miki-desktop", "desktop"), ("miki-agent", "agent")] {
        assert_eq!(servers[name], json!({ "command": text(&miki.bin), "args": ["mcp", serves] }));
    }
    check_file(&file.with_file_name("mcp.before-miki-desktop.json"), theirs).unwrap();
    check_file(&file.with_file_name("mcp.before-miki-agent.json"), &with_desktop).unwrap();
    let again = said(&miki, &stage, &["mcp", "install", "cursor", "--agent", "--yes"]);
    assert!(again.contains("has it already"), "{again}");
}

/// What the other program's agent says of its calls, after its list of tools.
fn drive(stage: &Stage, miki: &Miki, script: &str, mode: &str) -> Vec<Value> {
    drive_at(stage, miki, script, mode, &[])
}

/// `at` is where it is served, where it is no program that the client starts.
fn drive_at(stage: &Stage, miki: &Miki, script: &str, mode: &str, at: &[(&str, &str)]) -> Vec<Value> {
    let mut command = stage.command(tool("mcp/bin/python"));
    command.args(["-I", &peer(script)]).args([text(&miki.bin), text(&miki.home), LINE]);
    command.env("MCP_MODE", mode).envs(at.iter().copied());
    let done = stage.run("the protocol's SDK (run: cargo xtask setup)", command, LONG * 2).unwrap();
    let said = done.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(done.code(), 0, "{}{}", done.stdout, done.stderr);
    said
}

#[test]
fn another_programs_agent_works_at_the_desktop_as_ours_do() {
    for mode in ["legacy", "auto"] {
        let stage = Stage::full().unwrap();
        let file = stage.path("pond.txt");
        std::fs::write(&file, "").unwrap();
        let _editor = stage.open_editor(Some(&file)).unwrap();
        let miki = Miki::with_model(&stage, "miki", "http://127.0.0.1:9", json!({})).unwrap();
        let _app = miki.start(&stage, "app", &[]).unwrap();
        let mut client = miki.connect(LONG).unwrap();
        client.subscribe().unwrap();
        let said = drive(&stage, &miki, "drive.py", mode);
        let tools: Vec<&str> =
            said[0]["tools"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
        assert!(tools.contains(&"click") && tools.contains(&"webClick"), "{tools:?}");
        // Not what is no part of a desktop: files, commands, agents, a run's own end.
        for none in ["runCommand", "writeFile", "spawn", "done", "useTools", "plan"] {
            assert!(!tools.contains(&none), "{none}");
        }
        assert!(said[1..].iter().all(|call| call["failed"] == json!(false)), "{said:?}");
        assert_eq!(said[1]["pictures"], json!(["image/jpeg"]));
        check_file(&file, LINE).unwrap();

        // It is in the journal under its client's name, and it has ended with its client.
        let events = client.events_until(miki::is_end).unwrap();
        let started = events.iter().find_map(|event| match &event.body {
            EventBody::RunStarted(spec) => Some(spec),
            _ => None,
        });
        assert_eq!(started.unwrap().model.0, "mcp/pond-desktop");
        assert!(client.overview().unwrap().runs.is_empty());
    }
}

/// An agent of ours, that another program's agent has started.
fn worker(asked: &Asked) -> MindTurn {
    let goal = asked.heard.messages.iter().find_map(|said| match said {
        Said::User { texts, .. } => texts.first().cloned(),
        Said::Assistant(_) | Said::Results(_) => None,
    });
    let waits = goal.unwrap_or_default().starts_with("wait");
    match asked.results().last().map(|result| result.name.as_str()) {
        None if waits => {
            MindTurn::call("", "askHuman", json!({ "question": "Which of the two?", "reason": "to know" }))
        }
        None => MindTurn::call(
            "",
            "writeFile",
            json!({ "path": "pond.txt", "text": LINE, "mode": "replace", "reason": "as asked" }),
        ),
        Some("writeFile") => {
            MindTurn::call("", "report", json!({ "outcome": "wrote it", "files": ["pond.txt"] }))
        }
        Some(_) => MindTurn::done("wrote it", true),
    }
}

#[test]
fn another_programs_agent_gives_ours_goals_and_is_told_their_reports() {
    let stage = Stage::plain().unwrap();
    let model = FakeModel::start(worker).unwrap();
    let miki = Miki::with_model(&stage, "miki", &model.url(), json!({})).unwrap();
    let _app = miki.start(&stage, "app", &[]).unwrap();
    let mut client = miki.connect(LONG).unwrap();
    client.subscribe().unwrap();
    let said = drive(&stage, &miki, "give_goals.py", "auto");
    assert_eq!(said[0]["tools"], json!(["answerAgent", "kill", "run", "spawn", "status", "waitFor"]));
    let data = |at: usize| -> Value {
        let told: Value = serde_json::from_str(said[at]["text"][0].as_str().unwrap()).unwrap();
        told["data"]["agents"][0].clone()
    };
    let done = data(1);
    assert_eq!((&done["state"], &done["report"]["files"]), (&json!("completed"), &json!(["pond.txt"])));
    check_file(&stage.path("home").join("Miki/pond.txt"), LINE).unwrap();
    // What only the user can decide is open in Miki; the program cannot answer it.
    assert_eq!(data(2)["state"], "asks its user", "{said:?}");
    assert_eq!(data(3)["state"], "stopped", "{said:?}");

    // Each is in the journal below the run of their client, which has ended with it.
    let events = client.events_until(miki::is_end).unwrap();
    let first = events.iter().find_map(|event| match &event.body {
        EventBody::RunStarted(spec) => Some(spec),
        _ => None,
    });
    let first = first.unwrap();
    assert_eq!((first.model.0.as_str(), first.conducts), ("mcp/pond-conductor", true));
    wait_for("the end of all that it started", LONG, || {
        client.overview().ok()?.runs.is_empty().then_some(())
    })
    .unwrap();
}

/// An agent of ours that asks the one that it works for, and reports what it was answered.
fn asker(asked: &Asked) -> MindTurn {
    match asked.results().last() {
        None => MindTurn::call("", "askParent", json!({ "question": "Which pond?" })),
        Some(result) if result.name == "askParent" => {
            let answer = result.response["data"]["answer"].as_str().unwrap_or("none").to_owned();
            MindTurn::call("", "report", json!({ "outcome": answer }))
        }
        Some(_) => MindTurn::done("asked", true),
    }
}

#[test]
fn what_an_agent_asks_another_programs_agent_that_ones_user_answers_and_it_counts_as_an_agents_word() {
    for (mode, by_http) in [("legacy", false), ("auto", false), ("legacy", true), ("auto", true)] {
        let stage = Stage::plain().unwrap();
        let model = FakeModel::start(asker).unwrap();
        let miki = Miki::with_model(&stage, "miki", &model.url(), json!({})).unwrap();
        let _app = miki.start(&stage, "app", &[]).unwrap();
        let mut client = miki.connect(LONG).unwrap();
        client.subscribe().unwrap();
        let served = by_http.then(|| conformance::serve(&stage, &miki, "served", "agent"));
        let said = match &served {
            Some((_, url, header)) => {
                let token = header.rsplit(' ').next().unwrap();
                drive_at(&stage, &miki, "asked.py", mode, &[("MCP_URL", url), ("MCP_TOKEN", token)])
            }
            None => drive(&stage, &miki, "asked.py", mode),
        };
        let outcome = |at: usize| said[at]["answer"]["data"]["agents"][0]["report"]["outcome"].clone();
        assert_eq!(outcome(0), "the old one", "{mode}: {said:?}");
        // A no is told as none: what it could not decide it would ask Miki's user.
        assert!(outcome(1).as_str().unwrap().starts_with("No answer was given."), "{mode}: {said:?}");
        let question = "An agent of Miki's that works for you asks: “Which pond?”";
        assert_eq!(said[1]["asked"], json!([question, question]), "{mode}");
        // Nobody was asked in Miki, and nothing of it is the word of Miki's user.
        let events = client.events_until(miki::is_end).unwrap();
        let is_asked = |event: &Event| {
            matches!(event.body, EventBody::ApprovalRequested { .. } | EventBody::RunSteered { .. })
        };
        assert!(!events.iter().any(is_asked), "{mode}");
    }
}

#[test]
fn what_another_programs_agent_gives_up_stops_its_own_agent_and_nobody_else() {
    let stage = Stage::plain().unwrap();
    let model = FakeModel::start(worker).unwrap();
    let miki = Miki::with_model(&stage, "miki", &model.url(), json!({})).unwrap();
    let _app = miki.start(&stage, "app", &[]).unwrap();
    let mut client = miki.connect(LONG).unwrap();
    client.subscribe().unwrap();
    let said = drive(&stage, &miki, "give_up.py", "auto");
    let state = |at: usize| said[at]["data"]["data"]["agents"][0]["state"].clone();
    assert_eq!(state(0), "stopped", "{said:?}");
    let states = json!({
        "wait beside": "asks its user", "wait to be killed": "stopped", "wait to be given up": "stopped",
    });
    assert_eq!(said[1]["data"], states, "{said:?}");
    assert_eq!(state(2), "completed", "{said:?}");
    // All of it was one run of the client: none of its calls ended that.
    let mut events = Vec::new();
    let of_guests = |event: &&Event| matches!(&event.body, EventBody::RunStarted(spec) if spec.is_guests());
    loop {
        events.extend(client.events_until(miki::is_end).unwrap());
        let first = events.iter().find(of_guests).unwrap();
        if events.last().is_some_and(|last| last.scope.run == first.scope.run) {
            break;
        }
    }
    assert_eq!(events.iter().filter(of_guests).count(), 1);
}

#[test]
fn another_programs_agent_has_steps_for_all_that_it_starts_and_each_of_those_has_its_own() {
    let stage = Stage::plain().unwrap();
    let model = FakeModel::start(worker).unwrap();
    // Three of its own for each agent: four agents have more together than one run may take.
    let settings = json!({ "maxSteps": 4, "agents": 7 });
    let miki = Miki::with_model(&stage, "miki", &model.url(), settings).unwrap();
    let _app = miki.start(&stage, "app", &[]).unwrap();
    let mut client = miki.connect(LONG).unwrap();
    client.subscribe().unwrap();
    let said = drive(&stage, &miki, "give_many.py", "auto");
    let states: Vec<_> = said.iter().map(|one| &one["data"]["agents"][0]["state"]).collect();
    assert_eq!(states, ["completed"; 4], "{said:?}");
    let mut most = Vec::new();
    while most.len() < 5 {
        let events = client.events_until(|body| matches!(body, EventBody::RunStarted(_))).unwrap();
        most.extend(events.iter().filter_map(|event| match &event.body {
            EventBody::RunStarted(spec) => Some((spec.is_guests(), spec.max_steps)),
            _ => None,
        }));
    }
    assert_eq!(most, [(true, 28), (false, 4), (false, 4), (false, 4), (false, 4)]);
}
