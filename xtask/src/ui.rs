//! The windows: `ui` compiled to wasm, bound to JavaScript, optimised, and laid into `ui/dist` with its page and styles.
//!
//! Trunk is not needed: the binding step is a library, and one page serves all windows.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::checkout::{Build, Checkout};
use crate::shell::{heading, note, run};
use crate::stamp::{self, Stamp};
use crate::{setup, shell};

/// What WebKit, WebView2 and rustc's wasm agree on. `--all-features` gave a blank window in WebKitGTK.
const FEATURES: [&str; 6] = [
    "--enable-bulk-memory",
    "--enable-nontrapping-float-to-int",
    "--enable-reference-types",
    "--enable-sign-ext",
    "--enable-mutable-globals",
    "--enable-multivalue",
];

/// Builds `ui/dist`, or says that it is already made from what is there.
pub fn build(checkout: &Checkout, build: Build) -> Result<()> {
    let dist = checkout.root.join("ui/dist");
    let wanted = stamp_of(checkout, build)?;
    let held = dist.join(".stamp");
    // Optimised ones serve wherever debug ones would, so that `test` and `run` do not build by turns.
    if stamp::holds(&held, &wanted) || stamp::holds(&held, &stamp_of(checkout, Build::Release)?) {
        note("the windows are up to date");
        return Ok(());
    }
    // Made aside and put in place at the end: a broken build leaves the old windows, never half of the new ones.
    // Kept there too: another checkout of the same windows takes them as they are.
    let made = checkout.ui_target().join("dist");
    let made_of = made.with_extension("stamp");
    if stamp::holds(&made_of, &wanted) {
        note("the windows were built before, from the same sources");
    } else {
        heading(match build {
            Build::Debug => "building the windows (wasm, debug)",
            Build::Release => "building the windows (wasm, optimised)",
        });
        remove(&made_of)?;
        remove(&made)?;
        make(checkout, build, &made)?;
        stamp::leave(&made_of, &wanted)?;
    }
    remove(&dist)?;
    copy_folder(&made, &dist)?;
    stamp::leave(&held, &wanted)?;
    let size = std::fs::metadata(dist.join("ui_bg.wasm"))?.len();
    note(&format!("ui/dist is ready ({} kB of wasm)", size / 1000));
    Ok(())
}

fn make(checkout: &Checkout, build: Build, made: &Path) -> Result<()> {
    let wasm = compile(checkout, build)?;
    std::fs::create_dir_all(made)?;
    bind(&wasm, made, build)?;
    if build == Build::Release {
        optimise(checkout, &made.join("ui_bg.wasm"))?;
    }
    copy_sources(&checkout.root.join("ui"), made)
}

fn remove(path: &Path) -> Result<()> {
    let removed = match path.symlink_metadata() {
        Err(_) => Ok(()),
        Ok(metadata) if metadata.is_dir() => std::fs::remove_dir_all(path),
        Ok(_) => std::fs::remove_file(path),
    };
    removed.with_context(|| format!("could not remove {}", path.display()))
}

/// All that the windows are made of. Cargo.lock stands for the dependencies.
fn stamp_of(checkout: &Checkout, build: Build) -> Result<String> {
    let mut stamp = Stamp::default().text(&format!("{build:?}")).text(&FEATURES.join(" "));
    for input in [
        "Cargo.lock",
        "Cargo.toml",
        ".cargo/config.toml",
        "rust-toolchain.toml",
        "xtask/src/ui.rs",
        "xtask/tools/package-lock.json",
    ] {
        stamp = stamp.path(&checkout.root, &checkout.root.join(input))?;
    }
    for folder in ["ui", "src-tauri/crates/protocol", "src-tauri/crates/fold"] {
        for file in stamp::files_below(&checkout.root.join(folder))? {
            if !file.starts_with(checkout.root.join("ui/dist")) {
                stamp = stamp.path(&checkout.root, &file)?;
            }
        }
    }
    Ok(stamp.finish())
}

fn compile(checkout: &Checkout, build: Build) -> Result<PathBuf> {
    let profile = match build {
        Build::Debug => "dev",
        Build::Release => "wasm-release",
    };
    run(shell::cargo(checkout)
        .args([
            "build",
            "--package",
            "ui",
            "--bin",
            "ui",
            "--target",
            "wasm32-unknown-unknown",
            "--profile",
            profile,
        ])
        .env("CARGO_TARGET_DIR", checkout.ui_target()))?;
    let folder = if build == Build::Debug { "debug" } else { profile };
    Ok(checkout.ui_target().join("wasm32-unknown-unknown").join(folder).join("ui.wasm"))
}

fn bind(wasm: &Path, to: &Path, build: Build) -> Result<()> {
    let mut bindgen = wasm_bindgen_cli_support::Bindgen::new();
    bindgen.input_path(wasm).web(true)?.typescript(false).debug(build == Build::Debug);
    if build == Build::Release {
        bindgen.remove_name_section(true).remove_producers_section(true);
    }
    bindgen.generate(to).with_context(|| format!("could not bind {}", wasm.display()))
}

fn optimise(checkout: &Checkout, wasm: &Path) -> Result<()> {
    let program = setup::wasm_opt(checkout)?;
    let small = wasm.with_extension("small");
    run(Command::new("node").arg(program).arg(wasm).arg("-Oz").args(FEATURES).arg("-o").arg(&small))?;
    std::fs::rename(&small, wasm)?;
    Ok(())
}

/// The page, the script that starts the wasm, every style sheet, and the folder of assets.
fn copy_sources(ui: &Path, to: &Path) -> Result<()> {
    for name in ["index.html", "start.js"] {
        let from = ui.join(name);
        if !from.is_file() {
            bail!("{} is missing: the windows cannot start without it", from.display());
        }
        std::fs::copy(&from, to.join(name))?;
    }
    for entry in std::fs::read_dir(ui)? {
        let path = entry?.path();
        if let (Some("css"), Some(name)) = (path.extension().and_then(|e| e.to_str()), path.file_name()) {
            std::fs::copy(&path, to.join(name))?;
        }
    }
    for folder in ["styles", "assets"] {
        if ui.join(folder).is_dir() {
            copy_folder(&ui.join(folder), &to.join(folder))?;
        }
    }
    Ok(())
}

fn copy_folder(from: &Path, to: &Path) -> Result<()> {
    for file in stamp::files_below(from)? {
        let target = to.join(file.strip_prefix(from)?);
        if let Some(folder) = target.parent() {
            std::fs::create_dir_all(folder)?;
        }
        std::fs::copy(&file, &target).with_context(|| format!("could not copy {}", file.display()))?;
    }
    Ok(())
}
