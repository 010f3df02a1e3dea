//! wasm-opt, which comes as WebAssembly in the npm package `binaryen`; pinned with its integrity in `xtask/tools/`.

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
    let lists = checkout.root.join("xtask/tools");
    let folder = tool_folder(checkout, "node");
    let mut wanted = Stamp::default();
    for list in LISTS {
        wanted = wanted.text(&std::fs::read_to_string(lists.join(list))?);
    }
    let wanted = wanted.finish();
    let held = folder.join(".stamp");
    let program = folder.join("node_modules/binaryen/bin/wasm-opt");
    if stamp::holds(&held, &wanted) {
        return Ok(program);
    }
    heading(&format!("installing wasm-opt by npm into {} (about 100 MB)", folder.display()));
    std::fs::create_dir_all(&folder)?;
    for list in LISTS {
        std::fs::copy(lists.join(list), folder.join(list))?;
    }
    let npm = if cfg!(windows) { "npm.cmd" } else { "npm" };
    run(Command::new(npm)
        .args(["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"])
        .current_dir(&folder))?;
    stamp::leave(&held, &wanted)?;
    note("installed, integrity checked");
    Ok(program)
}
