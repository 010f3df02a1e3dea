//! What comes by npm: wasm-opt (WebAssembly in the package `binaryen`), servers of the Model Context Protocol, its conformance
//! suite and inspector. Pinned with their integrity in `xtask/tools/`.

use std::path::PathBuf;
use std::process::Command;

use anyhow::Result;

use super::tool_folder;
use crate::checkout::Checkout;
use crate::shell::{heading, note, run};
use crate::stamp::{self, Stamp};

const LISTS: [&str; 2] = ["package.json", "package-lock.json"];

/// The wasm-opt program (a script for node), installed first where it is missing or of another version.
pub fn wasm_opt(checkout: &Checkout) -> Result<PathBuf> {
    Ok(modules(checkout, "node", "", "wasm-opt", "about 100 MB")?.join("binaryen/bin/wasm-opt"))
}

/// The folder of the protocol's own servers. The tests look for it here.
pub fn mcp_servers(checkout: &Checkout) -> Result<PathBuf> {
    modules(checkout, "mcp-servers", "mcp", "the protocol's servers", "about 40 MB")
}

/// The folder of the protocol's conformance suite and its inspector, with a Node that is new enough for them, which comes as
/// a package of Linux on x86_64. The tests look for it here.
pub fn conformance(checkout: &Checkout) -> Result<PathBuf> {
    modules(checkout, "conformance", "conformance", "the protocol's conformance suite", "about 300 MB")
}

/// The `node_modules` with what the lists below `xtask/tools/` name, in the folder of a tool.
fn modules(checkout: &Checkout, tool: &str, lists: &str, what: &str, size: &str) -> Result<PathBuf> {
    let lists = checkout.root.join("xtask/tools").join(lists);
    let folder = tool_folder(checkout, tool);
    let mut wanted = Stamp::default();
    for list in LISTS {
        wanted = wanted.text(&std::fs::read_to_string(lists.join(list))?);
    }
    let wanted = wanted.finish();
    let held = folder.join(".stamp");
    let modules = folder.join("node_modules");
    if stamp::holds(&held, &wanted) {
        return Ok(modules);
    }
    heading(&format!("installing {what} by npm into {} ({size})", folder.display()));
    std::fs::create_dir_all(&folder)?;
    for list in LISTS {
        std::fs::copy(lists.join(list), folder.join(list))?;
    }
    let npm = if cfg!(windows) { "npm.cmd" } else { "npm" };
    run(Command::new(npm)
        .args(["ci", "--ignore-scripts", "--omit=optional", "--no-audit", "--no-fund", "--loglevel=error"])
        .current_dir(&folder))?;
    stamp::leave(&held, &wanted)?;
    note("installed, integrity checked");
    Ok(modules)
}
