//! `run` and `demo`: build the app, then open it, or show it at work where there is no display.

use std::process::Command;

use anyhow::Result;

use crate::checkout::{Build, Checkout};
use crate::setup::{self, Need};
use crate::shell::{self, heading, note};
use crate::ui;

/// Opens the app on the user's desktop; without one, says so and carries out the demo.
pub fn run(checkout: &Checkout, build: Build, arguments: &[String]) -> Result<()> {
    if !has_display() {
        heading(
            "there is no display here (neither DISPLAY nor WAYLAND_DISPLAY is set): carrying out the demo instead",
        );
        return demo(checkout, build);
    }
    setup::ready(checkout, &needs(build))?;
    app(checkout, build)?;
    heading("opening the app; close it from its tray menu or with Ctrl+C here");
    let mut command = Command::new(checkout.app(build));
    command.args(arguments).current_dir(&checkout.root);
    if !cfg!(target_os = "macos") {
        command.env("MIKI_OCR_MODELS", setup::ocr_models(checkout)?);
    }
    shell::run(&mut command)
}

/// The real app operates a real editor on a private desktop; a scripted model stands in for the mind.
pub fn demo(checkout: &Checkout, build: Build) -> Result<()> {
    setup::ready(checkout, &[needs(build).as_slice(), &[Need::Desktop]].concat())?;
    app(checkout, build)?;
    heading("the demo");
    let out = checkout.artifacts().join("demo");
    std::fs::create_dir_all(&out)?;
    shell::run(
        shell::cargo(checkout)
            .args(["run", "--quiet", "--package", "outside", "--bin", "demo", "--"])
            .arg(&out)
            .env("MIKI_BIN", checkout.app(build)),
    )
}

/// Windows, then the binary that embeds them, both built the same way.
pub fn app(checkout: &Checkout, build: Build) -> Result<()> {
    ui::build(checkout, build)?;
    heading(match build {
        Build::Debug => "building the app (the first time takes some minutes)",
        Build::Release => "building the app, optimised (takes some minutes)",
    });
    let mut command = shell::cargo(checkout);
    command.args(["build", "--package", "miki", "--bin", "miki", "--bin", "miki-gui"]);
    if cfg!(target_os = "linux") {
        command.args(["--package", "space", "--bin", "miki-confine"]);
    }
    if build == Build::Release {
        // Without it Tauri loads the windows from a development server's address, if one is configured.
        command.args(["--release", "--features", "tauri/custom-protocol"]);
        // Tauri leaves out its commands that no window is granted: 1.5 MB. Not while developing: its crates would be
        // built anew for each checkout.
        command.env("REMOVE_UNUSED_COMMANDS", &checkout.root);
    }
    shell::run(&mut command)?;
    note(&format!("{}", checkout.app(build).display()));
    Ok(())
}

fn needs(build: Build) -> Vec<Need> {
    match build {
        Build::Debug => vec![Need::Build],
        Build::Release => vec![Need::Build, Need::SmallWindows],
    }
}

/// Linux says by its environment whether there is a desktop; the others always have one.
fn has_display() -> bool {
    !cfg!(target_os = "linux")
        || ["DISPLAY", "WAYLAND_DISPLAY"]
            .iter()
            .any(|name| std::env::var_os(name).is_some_and(|value| !value.is_empty()))
}
