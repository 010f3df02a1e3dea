//! Work beyond the screen: files and commands of the session's folder, with a model that asks for them, and back again.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use outside::LONG;
use outside::fake_model::{Asked, FakeModel, MindTurn, Said, ScriptMind};
use outside::miki::{self, Miki, check_file};
use outside::stage::{Furniture, Stage};
use protocol::EventBody;
use protocol::command::{RunOverrides, StartRun, StartedRun};
use protocol::contract::About;
use protocol::event::RunEnd;
use serde_json::json;

use crate::asking::{Approver, go_on};

/// All that is in a folder, by its path there: what files hold; of a folder nothing.
pub fn files(folder: &Path) -> BTreeMap<PathBuf, Option<Vec<u8>>> {
    let (mut found, mut left) = (BTreeMap::new(), vec![folder.to_owned()]);
    while let Some(at) = left.pop() {
        for entry in fs::read_dir(&at).unwrap() {
            let path = entry.unwrap().path();
            let content = path.is_file().then(|| fs::read(&path).unwrap());
            if path.is_dir() {
                left.push(path.clone());
            }
            found.insert(path.strip_prefix(folder).unwrap().to_owned(), content);
        }
    }
    found
}

#[test]
fn amounts_of_a_folder_are_summed_into_a_file_by_tools_and_taken_back_to_the_byte() {
    let stage = Stage::plain().unwrap();
    let folder = stage.path("home").join("Invoices");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("one.txt"), "Amount: 12\n").unwrap();
    fs::write(folder.join("two.txt"), "Amount: 30\n").unwrap();
    let before = files(&folder);
    let call = |tool: &str, arguments| MindTurn::call("", tool, arguments);
    let sum = "cat one.txt two.txt | awk '{ sum += $2 } END { print sum }'";
    let model = FakeModel::start(ScriptMind::new([
        call("useTools", json!({"groups": ["files", "terminal"]})),
        call("searchFiles", json!({"pattern": "Amount"})),
        call("runCommand", json!({"command": sum})),
        call("writeFile", json!({"path": "sum.txt", "text": "42\n"})),
        call("editFile", json!({"path": "one.txt", "edits": [{"find": "12", "replace": "12 (paid)"}]})),
        call("moveFile", json!({"from": "two.txt", "to": "done/two.txt"})),
    ]))
    .unwrap();
    let miki = Miki::with_model(&stage, "miki", &model.url(), json!({})).unwrap();
    let space = folder.to_string_lossy().into_owned();
    let line = ["run", "sum the invoices", "--space", &space, "--approval", "auto", "--json"];
    let done = miki.run(&stage, &line).unwrap();
    let events = miki::events(&done.stdout).unwrap();
    assert_eq!(done.code(), 0, "{:?} {}", miki::end(&events), done.stderr);
    assert!(matches!(miki::end(&events), Some(RunEnd::Completed { .. })));
    let told =
        model.turns().iter().flat_map(|turn| turn.results()).map(|it| format!("{it:?}")).collect::<String>();
    assert!(told.contains("42"), "the command's output reached the model: {told}");
    check_file(&folder.join("sum.txt"), "42\n").unwrap();
    check_file(&folder.join("one.txt"), "Amount: 12 (paid)\n").unwrap();
    assert!(folder.join("done/two.txt").exists());
    let run = events.iter().find_map(|event| event.scope.run.clone()).unwrap();
    let undone = miki.run(&stage, &["undo", run.as_str()]).unwrap();
    assert_eq!(undone.code(), 0, "{} {}", undone.stdout, undone.stderr);
    assert_eq!(files(&folder), before, "byte for byte as before");
    // Once is enough, and says so.
    let again = miki.run(&stage, &["undo", run.as_str()]).unwrap();
    assert_eq!(again.code(), 0, "{}", again.stderr);
    assert!(again.stdout.contains("already"), "{}", again.stdout);
}

#[test]
fn a_folder_that_cannot_be_worked_in_is_refused_before_anything_begins() {
    let stage = Stage::plain().unwrap();
    let model = FakeModel::start(ScriptMind::new([])).unwrap();
    let miki = Miki::with_model(&stage, "miki", &model.url(), json!({})).unwrap();
    let home = stage.path("home").to_string_lossy().into_owned();
    for space in ["/", "/etc", home.as_str(), "/nothing/here"] {
        let line = ["run", "anything", "--space", space, "--json"];
        let refused = miki.run(&stage, &line).unwrap();
        assert_ne!(refused.code(), 0, "{space}");
        assert!(refused.stderr.contains("cannot be worked in"), "{space}: {}", refused.stderr);
    }
    assert!(model.turns().is_empty());
}

#[test]
fn a_run_that_asks_shows_what_it_would_change_and_an_answer_with_no_changes_nothing() {
    let stage = Stage::plain().unwrap();
    let write = MindTurn::call("", "writeFile", json!({"path": "a.txt", "text": "new\n"}));
    let model = FakeModel::start(ScriptMind::new([write])).unwrap();
    let miki = Miki::with_model(&stage, "miki", &model.url(), json!({ "approval": "ask" })).unwrap();
    let asked = miki.run(&stage, &["run", "write it", "--json"]).unwrap();
    assert_eq!(asked.code(), 4, "{}", asked.stderr);
    let events = miki::events(&asked.stdout).unwrap();
    let question = events.iter().find_map(|event| match &event.body {
        EventBody::ApprovalRequested { approval } => Some(approval.clone()),
        _ => None,
    });
    let question = serde_json::to_value(question.unwrap()).unwrap();
    assert!(question["about"]["diff"].as_str().unwrap().contains("+new"), "{question}");
    assert_eq!(question["touches"][0]["app"], "~/Miki");
    assert!(!stage.path("home").join("Miki/a.txt").exists());
}

/// The one run gets two pages by a command; the other keeps the engine there.
fn getting(asked: &Asked) -> MindTurn {
    if !format!("{:?}", asked.heard.messages.first()).contains("get them") {
        let think = MindTurn::call("", "think", json!({"thought": "on and on"}));
        return MindTurn { pause: Duration::from_millis(500), ..think };
    }
    // No host is there to be reached: a name that ends so leads nowhere.
    let get = |host: &str| format!("curl -s -m 60 -w '%{{http_code}} ' -o /dev/null http://{host}.invalid/");
    let line = format!("{}; {}", get("good"), get("evil"));
    match asked.heard.messages.iter().filter(|said| matches!(said, Said::Results(_))).count() {
        0 => MindTurn::call("", "useTools", json!({"groups": ["terminal"]})),
        1 => MindTurn::call("", "runCommand", json!({"command": line, "hosts": ["good.invalid"]})),
        _ => MindTurn::done("got them", true),
    }
}

#[test]
fn a_command_is_led_to_the_hosts_that_were_asked_for_alone_and_says_which_it_missed() {
    let stage = Stage::sized(Furniture { windows: false, keyring: true }, "1024x768x24").unwrap();
    let model = FakeModel::start(getting).unwrap();
    let settings = json!({ "approval": "ask", "settleMs": 0, "maxSteps": 500 });
    let miki = Miki::with_model(&stage, "miki", &model.url(), settings).unwrap();
    let approver = Approver::new(&stage, &miki);
    let _engine = miki.start(&stage, "engine", &["run", "keep the engine", "--json"]).unwrap();
    let mut client = miki.connect(LONG).unwrap();
    let start = StartRun { goal: "get them".into(), session: None, overrides: RunOverrides::default() };
    let started = client.call(start.into()).unwrap();
    let started: StartedRun = serde_json::from_value(started).unwrap();
    let events = go_on(&mut client, &started, &approver);
    assert!(matches!(miki::end(&events), Some(RunEnd::Completed { .. })), "{:?}", miki::end(&events));
    let asked = events.iter().find_map(|event| match &event.body {
        EventBody::ApprovalRequested { approval } => Some(approval.reason.clone()),
        _ => None,
    });
    assert!(asked.is_some_and(|reason| reason.contains("send anything in its folder to good.invalid")));
    let result = events.iter().find_map(|event| match &event.body {
        EventBody::ToolFinished { result, .. } if result.summary.contains("curl") => Some(result.clone()),
        _ => None,
    });
    let data = result.unwrap().data;
    assert_eq!(data["output"], "502 403", "{data}");
    assert_eq!(data["refusedHosts"], json!(["evil.invalid"]), "{data}");
}

#[test]
fn without_a_sandbox_a_command_asks_even_in_auto_and_its_question_says_that_nothing_confines_it() {
    let stage = Stage::plain().unwrap();
    let call = |tool: &str, arguments| MindTurn::call("", tool, arguments);
    let model = FakeModel::start(ScriptMind::new([
        call("useTools", json!({"groups": ["terminal"]})),
        call("runCommand", json!({"command": "touch ran"})),
        MindTurn::done("asked", true),
    ]));
    let model = model.unwrap();
    let miki = Miki::with_model(&stage, "miki", &model.url(), json!({ "approval": "auto" })).unwrap();
    // Bubblewrap is covered up in a mount namespace of its own.
    let script = r#"mount --bind /dev/null "$(command -v bwrap)" && exec "$MIKI_BIN" run "look" --json"#;
    let mut command = miki.starter(&stage, "unshare");
    if !crate::storage::is_root() {
        command.arg("--map-root-user");
    }
    command.args(["--mount", "sh", "-c", script]).env("MIKI_BIN", &miki.bin);
    let asked = stage.run("util-linux", command, LONG * 2).unwrap();
    let events = miki::events(&asked.stdout).unwrap();
    let question = events.iter().find_map(|event| match &event.body {
        EventBody::ApprovalRequested { approval } => Some(approval.clone()),
        _ => None,
    });
    let question = question.unwrap_or_else(|| panic!("no question: {} {}", asked.stdout, asked.stderr));
    assert!(matches!(&*question.about, About::Call { unconfined: true, .. }), "{question:?}");
    assert!(question.reason.contains("bubblewrap is not installed"), "{}", question.reason);
    assert!(!stage.path("home").join("Miki/ran").exists());
}
