//! Work beyond the screen: files and commands of the session's folder, with a model that asks for them, and back again.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use outside::fake_model::{FakeModel, MindTurn, ScriptMind};
use outside::miki::{self, Miki, check_file};
use outside::stage::Stage;
use protocol::EventBody;
use protocol::event::RunEnd;
use serde_json::json;

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

#[test]
fn a_command_is_led_to_the_hosts_that_were_asked_for_alone_and_says_which_it_missed() {
    let stage = Stage::plain().unwrap();
    // No host is there to be reached: a name that ends so leads nowhere.
    let get = |host: &str| format!("curl -s -m 60 -w '%{{http_code}} ' -o /dev/null http://{host}.invalid/");
    let line = format!("{}; {}", get("good"), get("evil"));
    let model = FakeModel::start(ScriptMind::new([
        MindTurn::call("", "useTools", json!({"groups": ["terminal"]})),
        MindTurn::call("", "runCommand", json!({"command": line, "hosts": ["good.invalid"]})),
    ]))
    .unwrap();
    let miki = Miki::with_model(&stage, "miki", &model.url(), json!({})).unwrap();
    let done = miki.run(&stage, &["run", "get them", "--approval", "auto", "--json"]).unwrap();
    assert_eq!(done.code(), 0, "{}", done.stderr);
    let events = miki::events(&done.stdout).unwrap();
    let result = events.iter().find_map(|event| match &event.body {
        EventBody::ToolFinished { result, .. } if result.summary.contains("curl") => Some(result.clone()),
        _ => None,
    });
    let data = result.unwrap().data;
    assert_eq!(data["output"], "502 403", "{data}");
    assert_eq!(data["refusedHosts"], json!(["evil.invalid"]), "{data}");
}
