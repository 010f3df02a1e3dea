//! A damaged journal, a full disk: the program stops with the reason, and deletes nothing.

use std::fs;

use outside::LONG;
use outside::fake_model::{Asked, FakeModel, MindTurn, ScriptMind};
use outside::miki::{self, Miki};
use outside::stage::Stage;
use protocol::command::StopRun;
use protocol::event::RunEnd;
use serde_json::json;

#[test]
fn a_damaged_journal_stops_the_start_with_the_reason_and_is_kept() {
    // bar: C71
    let stage = Stage::plain().unwrap();
    let model = FakeModel::start(ScriptMind::new([])).unwrap();
    let miki = Miki::with_model(&stage, "miki", &model.url(), json!({})).unwrap();
    assert_eq!(miki.run(&stage, &["run", "be done", "--json"]).unwrap().code(), 0);
    let mut damaged = fs::read(miki.journal()).unwrap();
    let end = damaged.len().min(3 * 4096);
    damaged[40..end].fill(0xa5);
    fs::write(miki.journal(), &damaged).unwrap();
    for _ in 0..2 {
        let done = miki.run(&stage, &["run", "again", "--json"]).unwrap();
        assert_eq!(done.code(), 1, "{}", done.stdout);
        assert!(done.stderr.contains("journal.db"), "{}", done.stderr);
        assert_eq!(fs::read(miki.journal()).unwrap(), damaged, "the journal was touched");
    }
    let copies: Vec<_> = fs::read_dir(&miki.home)
        .unwrap()
        .flatten()
        .filter(|entry| entry.file_name().to_string_lossy().contains("quarantine"))
        .filter(|entry| fs::read(entry.path()).unwrap() == damaged)
        .collect();
    assert_eq!(copies.len(), 1, "one copy of the same damage");
}

#[test]
fn a_full_disk_stops_the_run_with_the_reason_and_what_was_written_stays() {
    // bar: C70
    let stage = Stage::plain().unwrap();
    let _editor = stage.open_editor(None).unwrap();
    let model = FakeModel::start(|_: &Asked| MindTurn::call("", "screenshot", json!({}))).unwrap();
    let miki = Miki::with_model(&stage, "miki", &model.url(), json!({ "maxSteps": 500 })).unwrap();
    let kept = stage.path("kept");
    // A small disk in a mount namespace of its own, gone with the last process in it. The moment it is full comes
    // by pictures; then there is room again, and the journal is taken out to be looked at.
    let script = r#"
        set -e
        cp "$MIKI_HOME/settings.json" "$KEPT.settings"
        mount -t tmpfs -o size=3m tmpfs "$MIKI_HOME"
        cp "$KEPT.settings" "$MIKI_HOME/settings.json"
        set +e
        "$MIKI_BIN" run "fill the disk" --json
        echo "code=$?"
        df "$MIKI_HOME" >&2
        mount -o remount,size=64m "$MIKI_HOME"
        cp -r "$MIKI_HOME" "$KEPT"
    "#;
    let mut command = stage.command("unshare");
    if !is_root() {
        command.arg("--map-root-user");
    }
    command.args(["--mount", "sh", "-c", script]);
    command
        .env("MIKI_HOME", &miki.home)
        .env("MIKI_BIN", &miki.bin)
        .env("KEPT", &kept)
        .env("MIKI_KEY_GEMINI", "demo");
    let done = stage.run("util-linux", command, LONG * 2).unwrap();
    assert!(done.stdout.contains("code=1"), "{} {}", done.stdout, done.stderr);
    let told = format!("{} {}", done.stdout, done.stderr).to_lowercase();
    assert!(told.contains("full") || told.contains("space"), "no reason was told: {}", done.stderr);
    let after = Miki::with_model(&stage, "kept", &model.url(), json!({ "maxSteps": 500 })).unwrap();
    let mut run = after.start(&stage, "after", &["run", "look", "--json"]).unwrap();
    let mut client = after.connect(LONG).unwrap();
    let overview = client.overview().unwrap();
    let full = overview
        .sessions
        .iter()
        .find(|s| s.last_run.as_ref().is_some_and(|r| r.goal == "fill the disk"))
        .unwrap();
    assert!(matches!(
        full.last_run.as_ref().unwrap().end,
        Some(RunEnd::Failed { .. } | RunEnd::Interrupted { .. })
    ));
    let printed: String =
        done.stdout.lines().filter(|line| line.starts_with('{')).map(|line| format!("{line}\n")).collect();
    let history = client.history(&full.id).unwrap();
    for event in miki::events(&printed).unwrap().into_iter().filter(|event| event.body.is_durable()) {
        assert!(history.contains(&event), "told and lost: {event:?}");
    }
    client.call(StopRun { run: None }.into()).unwrap();
    run.wait(LONG).unwrap();
}

pub fn is_root() -> bool {
    fs::read_to_string("/proc/self/status")
        .unwrap()
        .lines()
        .find_map(|line| line.strip_prefix("Uid:"))
        .is_some_and(|ids| ids.split_whitespace().nth(1) == Some("0"))
}
