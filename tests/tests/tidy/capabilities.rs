//! Which window may call what: the capability files, command by command, and the content security policy.

use std::collections::{BTreeMap, BTreeSet};

use protocol::command::COMMANDS;
use serde_json::Value;

use crate::root;

/// The chat widget: give a goal, steer, stop, answer, and open the other windows.
const CHAT: [&str; 13] = [
    "start_run",
    "steer_run",
    "stop_run",
    "pause_run",
    "resume_run",
    "answer_approval",
    "get_overview",
    "get_forecast",
    "read_events",
    "subscribe",
    "show_window",
    "get_remembered",
    "remember",
];

/// The overlay shows and can do nothing.
const OVERLAY: [&str; 4] = ["get_overview", "read_events", "subscribe", "get_remembered"];

/// What comes from other programs' agents alone: no window has it.
const OF_GUESTS: [&str; 3] = ["open_guest", "guest_call", "close_guest"];

/// What a window has of Tauri's own, beyond our commands.
const OF_TAURI: &[(&str, &[&str])] =
    &[("dashboard", &[]), ("chat", &["core:window:allow-start-dragging"]), ("overlay", &[])];

fn expected() -> BTreeMap<&'static str, BTreeSet<String>> {
    let permission = |command: &&str| format!("allow-{}", command.replace('_', "-"));
    let mut windows = BTreeMap::from([
        (
            "dashboard",
            COMMANDS.iter().filter(|it| !OF_GUESTS.contains(it)).map(permission).collect::<BTreeSet<_>>(),
        ),
        ("chat", CHAT.iter().map(permission).collect()),
        ("overlay", OVERLAY.iter().map(permission).collect()),
    ]);
    for (window, permissions) in OF_TAURI {
        windows
            .get_mut(window)
            .unwrap()
            .extend(permissions.iter().map(|permission| (*permission).to_owned()));
    }
    windows
}

fn json(path: &str) -> Value {
    serde_json::from_str(&std::fs::read_to_string(root().join(path)).unwrap()).unwrap()
}

#[test]
fn every_command_is_in_exactly_the_capabilities_that_should_have_it() {
    let mut found = BTreeMap::new();
    for entry in std::fs::read_dir(root().join("capabilities")).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        let capability = json(&format!("capabilities/{name}"));
        let permissions: BTreeSet<String> = capability["permissions"]
            .as_array()
            .unwrap()
            .iter()
            .map(|permission| {
                permission.as_str().expect("a permission is a plain name, without a scope").to_owned()
            })
            .collect();
        found.insert(name.trim_end_matches(".json").to_owned(), permissions);
    }
    let expected: BTreeMap<String, BTreeSet<String>> =
        expected().into_iter().map(|(window, permissions)| (window.to_owned(), permissions)).collect();
    assert_eq!(found, expected);
    // A list there would leave out a file that it does not name.
    assert!(json("tauri.conf.json")["app"]["security"].get("capabilities").is_none());
}

#[test]
fn a_capability_is_of_one_window_and_of_no_web_page() {
    for window in expected().keys() {
        let capability = json(&format!("capabilities/{window}.json"));
        assert_eq!(capability["windows"], serde_json::json!([window]));
        assert_eq!(capability["identifier"], *window);
        assert!(capability.get("remote").is_none(), "{window} must not hand commands to a remote page");
        assert!(capability.get("webviews").is_none(), "{window} names its window only");
    }
}

#[test]
fn the_table_names_only_commands_that_exist() {
    for command in CHAT.iter().chain(&OVERLAY) {
        assert!(COMMANDS.contains(command), "there is no command {command}");
    }
}

#[test]
fn the_content_security_policy_lets_no_foreign_script_run() {
    let security = &json("tauri.conf.json")["app"]["security"];
    let policy = security["csp"].as_str().unwrap();
    let directives: BTreeMap<&str, Vec<&str>> = policy
        .split(';')
        .filter_map(|directive| {
            let mut words = directive.split_whitespace();
            Some((words.next()?, words.collect()))
        })
        .collect();
    assert_eq!(directives["default-src"], ["'self'"]);
    assert_eq!(directives["script-src"], ["'self'", "'wasm-unsafe-eval'"]);
    assert_eq!(directives["object-src"], ["'none'"]);
    assert_eq!(directives["base-uri"], ["'none'"]);
    assert_eq!(directives["frame-ancestors"], ["'none'"]);
    for (name, sources) in &directives {
        for source in sources {
            let open = ["'unsafe-inline'", "'unsafe-eval'", "data:", "blob:", "*", "https:", "http:"]
                .contains(source);
            assert!(!open, "{name} must not allow {source}");
        }
    }
    assert_eq!(security["freezePrototype"], true);
    assert!(security.get("dangerousDisableAssetCspModification").is_none());
    assert_ne!(json("tauri.conf.json")["app"]["withGlobalTauri"], true);
}

#[test]
fn the_page_has_no_inline_script_and_no_inline_style() {
    let page = std::fs::read_to_string(root().join("ui/index.html")).unwrap();
    for (at, _) in page.match_indices("<script") {
        let tag = &page[at..at + page[at..].find('>').unwrap()];
        assert!(tag.contains("src="), "an inline script would be refused by the policy: {tag}");
    }
    assert!(!page.contains("<style") && !page.contains("style=\"") && !page.contains("onclick="));
}
