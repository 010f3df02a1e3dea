//! What Miki starts for its user: nothing of its environment goes along, and its browser ends with it, however that ends.

use std::fs;

use outside::fake_model::{FakeModel, MindTurn, ScriptMind};
use outside::miki::Miki;
use outside::stage::Stage;
use outside::{LONG, wait_for};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;

const CANARY: &str = "canary-0815";
/// What may be in the environment of whoever starts Miki, and is nobody else's business.
const NAMES: [&str; 20] = [
    "MIKI_KEY_OPENAI",
    "OPENAI_API_KEY",
    "ANTHROPIC_API_KEY",
    "GEMINI_API_KEY",
    "XAI_API_KEY",
    "AWS_ACCESS_KEY_ID",
    "AWS_SECRET_ACCESS_KEY",
    "AWS_SESSION_TOKEN",
    "AZURE_CLIENT_SECRET",
    "GOOGLE_APPLICATION_CREDENTIALS",
    "GITHUB_TOKEN",
    "GH_TOKEN",
    "GITLAB_TOKEN",
    "NPM_TOKEN",
    "CARGO_REGISTRY_TOKEN",
    "DATABASE_URL",
    "PGPASSWORD",
    "SSH_AUTH_SOCK",
    "VAULT_TOKEN",
    "MY_OWN_PASSWORD",
];

/// A process that another one has started.
#[derive(Clone, Debug)]
struct Child {
    pid: i32,
    line: String,
    environment: String,
}

fn children(of: u32) -> Vec<Child> {
    let of = of.to_string();
    let look = |pid: i32| {
        let read = |what: &str| {
            Some(String::from_utf8_lossy(&fs::read(format!("/proc/{pid}/{what}")).ok()?).into_owned())
        };
        // Behind the name, which may have anything in it: state, parent.
        let is_its = read("stat")?.rsplit_once(')')?.1.split_whitespace().nth(1) == Some(of.as_str());
        is_its.then_some(Child { pid, line: read("cmdline")?, environment: read("environ")? })
    };
    let all = fs::read_dir("/proc").unwrap().flatten();
    all.filter_map(|entry| look(entry.file_name().to_str()?.parse().ok()?)).collect()
}

// bar: C14
#[test]
fn what_is_started_gets_nothing_of_our_environment_and_the_browser_ends_with_a_miki_that_is_killed() {
    let stage = Stage::small().unwrap();
    let turns = [
        MindTurn::call("", "launchApp", json!({ "app": "mousepad" })),
        MindTurn::call("", "webNavigate", json!({ "url": "about:blank" })),
        MindTurn::call("", "wait", json!({ "seconds": 30 })),
    ];
    let model = FakeModel::start(ScriptMind::new(turns)).unwrap();
    let miki = Miki::with_model(&stage, "miki", &model.url(), json!({})).unwrap();
    let miki = NAMES.iter().fold(miki, |miki, name| miki.env(name, CANARY));
    let mut run = miki.start(&stage, "run", &["run", "start them"]).unwrap();
    let profile = format!("--user-data-dir={}", miki.home.join("browser").display());
    let started = || {
        let all = children(run.id());
        let named = |part: &str| all.iter().find(|child| child.line.contains(part)).cloned();
        Some([named("mousepad")?, named(&profile)?])
    };
    let started = wait_for("the editor and the browser", LONG, started)
        .unwrap_or_else(|error| panic!("{error}: {}", stage.log("run")));
    for Child { line, environment, .. } in &started {
        assert!(environment.contains("DISPLAY=") && environment.contains("PATH="), "{line}: {environment}");
        let leaked = environment.contains(CANARY) || environment.contains("MIKI_");
        assert!(!leaked, "{line}: {environment}");
    }
    // It has the canaries itself.
    let own = fs::read(format!("/proc/{}/environ", run.id())).unwrap();
    assert_eq!(String::from_utf8_lossy(&own).matches(CANARY).count(), NAMES.len());

    run.kill();
    let [editor, browser] = started;
    let gone = || (!fs::exists(format!("/proc/{}", browser.pid)).ok()?).then_some(());
    wait_for("the browser's end", LONG, gone).unwrap();
    // An application is its user's, and goes on.
    kill_process(Pid::from_raw(editor.pid).unwrap(), Signal::KILL).unwrap();
}

// bar: C14
#[test]
fn a_server_of_the_users_in_no_sandbox_gets_nothing_of_our_environment() {
    let stage = Stage::plain().unwrap();
    let told = stage.work().join("told");
    let server = json!({
        "command": "sh", "args": ["-c", format!("env > '{}'", told.display())], "unconfined": true,
    });
    let miki =
        Miki::with_model(&stage, "miki", "http://127.0.0.1:9", json!({ "mcpServers": { "pond": server } }))
            .unwrap();
    let miki = NAMES.iter().fold(miki, |miki, name| miki.env(name, CANARY));
    let tested = miki.run(&stage, &["mcp", "test", "pond"]).unwrap();
    assert_ne!(tested.code(), 0, "it says nothing");
    let environment = fs::read_to_string(&told).unwrap_or_else(|error| panic!("{error}: {}", tested.stderr));
    assert!(environment.contains("PATH="), "{environment}");
    assert!(!environment.contains(CANARY) && !environment.contains("MIKI_"), "{environment}");
}
