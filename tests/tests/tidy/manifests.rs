//! What the manifests promise: the licence, one version of wasm-bindgen, the icons, no dependency that nobody uses.

use std::collections::BTreeSet;

use crate::{METADATA, assert_none, members, root, texts, tracked};

/// Dependencies that are used without being named in the sources, with the reason.
const UNNAMED: &[(&str, &str, &str)] = &[
    ("ui", "wasm-bindgen-futures", "what async imports of wasm-bindgen expand to"),
    ("tools", "tempfile", "the stage of browser's tests, on which miniwob stands, too"),
    ("tools", "x11rb", "the same stage"),
];

#[test]
fn every_package_has_the_licence_and_none_is_published() {
    for member in members() {
        assert_eq!(member["license"], "MIT OR Apache-2.0", "{}", member["name"]);
        assert_eq!(member["publish"], serde_json::json!([]), "{}", member["name"]);
    }
    for (file, words) in
        [("LICENSE-MIT", "Permission is hereby granted"), ("LICENSE-APACHE", "Apache License")]
    {
        assert!(
            std::fs::read_to_string(root().join(file)).unwrap().contains(words),
            "{file} is not the licence"
        );
    }
}

/// Otherwise the binding step refuses the wasm, minutes into the build.
#[test]
fn the_windows_and_their_binding_step_use_one_version_of_wasm_bindgen() {
    let versions = |name: &str| -> BTreeSet<String> {
        let packages = METADATA["packages"].as_array().unwrap();
        let named = packages.iter().filter(|package| package["name"] == name);
        named.map(|package| package["version"].as_str().unwrap().to_owned()).collect()
    };
    let linked = versions("wasm-bindgen");
    assert_eq!(linked.len(), 1);
    assert_eq!(linked, versions("wasm-bindgen-cli-support"));
}

#[test]
fn every_icon_that_the_bundle_names_is_there() {
    let text = std::fs::read_to_string(root().join("tauri.conf.json")).unwrap();
    let config: serde_json::Value = serde_json::from_str(&text).unwrap();
    let icons = config["bundle"]["icon"].as_array().unwrap();
    assert!(!icons.is_empty());
    for icon in icons {
        let file = root().join(icon.as_str().unwrap());
        assert!(file.is_file(), "{} is missing", file.display());
    }
}

#[test]
fn every_dependency_is_used_by_the_package_that_names_it() {
    let sources = texts(&[".rs"]);
    let folders: Vec<_> =
        members().map(|member| folder_of(member["manifest_path"].as_str().unwrap())).collect();
    let mut findings = Vec::new();
    for member in members() {
        let name = member["name"].as_str().unwrap();
        let folder = folder_of(member["manifest_path"].as_str().unwrap());
        // The top's package has its sources in `src-tauri`; the crates below that are packages of their own.
        let own = |file: &std::path::Path| {
            let nearest = folders
                .iter()
                .filter(|folder| file.starts_with(folder))
                .max_by_key(|folder| folder.iter().count());
            nearest == Some(&folder)
        };
        let text: String =
            sources.iter().filter(|(file, _)| own(file)).map(|(_, text)| text.as_str()).collect();
        for dependency in member["dependencies"].as_array().unwrap() {
            let on = dependency["rename"].as_str().or(dependency["name"].as_str()).unwrap();
            let unnamed = UNNAMED.iter().any(|(package, unnamed, _)| *package == name && *unnamed == on);
            if !unnamed && !is_named(&text, &on.replace('-', "_")) {
                findings.push(format!("{name}: {on}"));
            }
        }
    }
    assert_none(&findings, "dependencies that no source names: remove them");
}

#[test]
fn only_the_desktop_the_shell_and_the_systems_calendar_may_use_unsafe_code() {
    for (file, text) in texts(&["Cargo.toml"]) {
        let package = file.parent().unwrap().display().to_string();
        // EventKit, macOS's calendars, has no safe binding: `agenda` allows it in that one file.
        let may =
            package.is_empty() || package.ends_with("crates/desktop") || package.ends_with("crates/agenda");
        if may {
            continue;
        }
        let forbids = text.contains("unsafe_code = \"forbid\"") || text.contains("[lints]\nworkspace = true");
        assert!(forbids, "{} does not forbid unsafe code", file.display());
    }
    assert!(tracked().iter().any(|file| file.ends_with("deny.toml")));
}

fn folder_of(manifest: &str) -> std::path::PathBuf {
    let folder = std::path::Path::new(manifest).parent().unwrap();
    folder.strip_prefix(root()).unwrap().to_path_buf()
}

/// Whether `name` stands in the text as a word of its own.
fn is_named(text: &str, name: &str) -> bool {
    let of_a_word = |character: char| character.is_alphanumeric() || character == '_';
    text.match_indices(name).any(|(at, _)| {
        !text[..at].chars().next_back().is_some_and(of_a_word)
            && !text[at + name.len()..].chars().next().is_some_and(of_a_word)
    })
}
