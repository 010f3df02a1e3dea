//! The rules of the house, held by tests: who imports whom, what files look like, which window may call what, what the
//! manifests promise, and that what SECURITY.md promises has its tests. Reads files and `cargo metadata` only; starts nothing of the app.

mod capabilities;
mod files;
mod imports;
mod manifests;
mod names;
mod promises;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;

use serde_json::Value;

/// The checkout's top: asked when run, not when built, since checkouts may share a target folder.
static ROOT: LazyLock<PathBuf> =
    LazyLock::new(|| Path::new(&std::env::var("CARGO_MANIFEST_DIR").unwrap()).parent().unwrap().to_owned());

fn root() -> &'static Path {
    &ROOT
}

/// `cargo metadata` of the workspace, asked once.
static METADATA: LazyLock<Value> = LazyLock::new(|| {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version", "1", "--locked"])
        .current_dir(root())
        .output()
        .unwrap();
    assert!(output.status.success(), "cargo metadata failed: {}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
});

/// The packages of the workspace.
fn members() -> impl Iterator<Item = &'static Value> {
    let ids = METADATA["workspace_members"].as_array().unwrap();
    METADATA["packages"].as_array().unwrap().iter().filter(|package| ids.contains(&package["id"]))
}

/// Every file that is, or would be, in the repository, relative to its top.
fn tracked() -> Vec<PathBuf> {
    let output = Command::new("git")
        .args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"])
        .current_dir(root())
        .output()
        .unwrap();
    assert!(output.status.success(), "git ls-files failed: {}", String::from_utf8_lossy(&output.stderr));
    let mut files: Vec<PathBuf> = String::from_utf8(output.stdout)
        .unwrap()
        .split_terminator('\0')
        .map(PathBuf::from)
        // A file that was removed and not yet committed is still listed.
        .filter(|file| root().join(file).is_file())
        .collect();
    files.sort();
    files.dedup();
    assert!(files.len() > 20, "only {} files are tracked: this is not the checkout", files.len());
    files
}

/// The tracked files that end so, with their text.
fn texts(endings: &[&str]) -> Vec<(PathBuf, String)> {
    tracked()
        .into_iter()
        .filter(|file| endings.iter().any(|ending| file.to_string_lossy().ends_with(ending)))
        .map(|file| {
            let text = std::fs::read_to_string(root().join(&file)).unwrap();
            (file, text)
        })
        .collect()
}

/// Fails with all findings at once, a line each.
fn assert_none(findings: &[String], rule: &str) {
    assert!(findings.is_empty(), "{rule}:\n  {}", findings.join("\n  "));
}
