//! The import table of ARCHITECTURE.md: which room may depend on which. Later rooms have their rows already.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::{METADATA, assert_none, members};

/// A room and those it may import. `miki`, the composition root, may import all.
const TABLE: &[(&str, &[&str])] = &[
    ("protocol", &[]),
    ("fold", &["protocol"]),
    ("pictures", &["protocol"]),
    ("ocr", &["pictures", "protocol"]),
    ("desktop", &["ocr", "pictures", "protocol"]),
    ("browser", &["desktop", "protocol"]),
    ("models", &["protocol"]),
    ("journal", &["fold", "protocol"]),
    ("knowledge", &["protocol"]),
    ("space", &["protocol"]),
    ("web", &["protocol"]),
    ("agenda", &["protocol"]),
    ("tools", &["desktop", "browser", "ocr", "pictures", "space", "web", "agenda", "knowledge", "protocol"]),
    ("mcp", &["tools", "protocol"]),
    ("agent", &["tools", "models", "journal", "protocol"]),
    ("rest", &["agent", "protocol"]),
    ("ui", &["fold", "protocol"]),
    ("outside", &["protocol"]),
    ("xtask", &[]),
];

/// What tests alone may import beyond the table: a fake lives beside its trait.
const IN_TESTS: &[(&str, &str)] = &[("agent", "desktop"), ("agent", "browser"), ("mcp", "desktop")];

/// What `protocol` may use from outside: it must compile to wasm and be plain data.
const OF_PROTOCOL: [&str; 3] = ["serde", "serde_json", "thiserror"];

/// What must be nowhere below a room, however deep: the daily loop never links WebKit, the mind sees no surface.
const NEVER_BELOW: &[(&str, &[&str])] = &[
    ("agent", &["tauri", "webkit2gtk", "wry", "axum", "rmcp", "leptos"]),
    ("tools", &["tauri", "webkit2gtk", "wry", "axum", "rmcp"]),
    ("protocol", &["tokio", "tauri"]),
    ("fold", &["tokio", "tauri", "rusqlite"]),
    ("ui", &["tauri", "reqwest", "tools", "agent"]),
];

#[test]
fn every_room_imports_only_what_the_table_allows() {
    let rooms: BTreeSet<&str> = members().map(|member| member["name"].as_str().unwrap()).collect();
    let mut findings = Vec::new();
    for member in members() {
        let name = member["name"].as_str().unwrap();
        if name == "miki" {
            continue;
        }
        let Some((_, allowed)) = TABLE.iter().find(|(room, _)| *room == name) else {
            findings.push(format!("{name} has no row in the table"));
            continue;
        };
        for dependency in member["dependencies"].as_array().unwrap() {
            let on = dependency["name"].as_str().unwrap();
            let in_tests = dependency["kind"] == "dev" && IN_TESTS.contains(&(name, on));
            if rooms.contains(on) && !allowed.contains(&on) && !in_tests {
                findings.push(format!("{name} -> {on}"));
            }
        }
    }
    assert_none(&findings, "imports that the table does not allow");
}

#[test]
fn protocol_uses_serde_and_little_else() {
    let protocol = members().find(|member| member["name"] == "protocol").unwrap();
    let findings: Vec<String> = protocol["dependencies"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|dependency| dependency["kind"] != "dev")
        .map(|dependency| dependency["name"].as_str().unwrap().to_owned())
        .filter(|name| !OF_PROTOCOL.contains(&name.as_str()))
        .collect();
    assert_none(&findings, "protocol is plain data; it must not depend on");
}

#[test]
fn nothing_below_a_room_is_what_it_must_never_see() {
    let names: BTreeMap<&str, &str> = METADATA["packages"]
        .as_array()
        .unwrap()
        .iter()
        .map(|package| (package["id"].as_str().unwrap(), package["name"].as_str().unwrap()))
        .collect();
    let nodes: BTreeMap<&str, &Value> = METADATA["resolve"]["nodes"]
        .as_array()
        .unwrap()
        .iter()
        .map(|node| (node["id"].as_str().unwrap(), node))
        .collect();
    let mut findings = Vec::new();
    for (room, never) in NEVER_BELOW {
        let start = members().find(|member| member["name"] == *room).unwrap()["id"].as_str().unwrap();
        let mut seen = BTreeSet::from([start]);
        let mut next = vec![start];
        while let Some(id) = next.pop() {
            for dependency in nodes[id]["deps"].as_array().unwrap() {
                let kinds = dependency["dep_kinds"].as_array().unwrap();
                let linked = kinds.iter().any(|kind| kind["kind"].is_null());
                let on = dependency["pkg"].as_str().unwrap();
                if linked && seen.insert(on) {
                    next.push(on);
                }
            }
        }
        let below: BTreeSet<&str> = seen.iter().map(|id| names[id]).collect();
        findings.extend(
            never.iter().filter(|name| below.contains(**name)).map(|name| format!("{room} ... -> {name}")),
        );
    }
    assert_none(&findings, "below a room is what it must never see");
}
