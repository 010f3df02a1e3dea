//! The shell: the app's windows, tray and shortcut, the command line, and the root where everything is put together.
//!
//! The only room that knows all others, Tauri, the keychain and the file layout. Decides nothing about runs. Two programs
//! are made of it: `miki`, whose linker leaves Tauri out since nothing there calls [`gui`], and `miki-gui`, the windows.

mod cli;
mod gui;

mod engine;
mod guests;
mod line;
mod link;
mod windows;

mod checks;
mod keys;
mod lock;
mod model_source;
mod recording;
mod servers;
mod settings_file;
mod socket;
mod transfer;
mod workplaces;

mod atomic_file;
mod exit;
mod home;

use std::process::ExitCode;

use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;

/// `miki`: reads the command line, does it, and says how it went.
pub fn main_entry() -> ExitCode {
    log_to_stderr();
    cli::main().into()
}

/// `miki-gui`: the windows of the engine that has started it.
pub fn gui_entry() -> ExitCode {
    log_to_stderr();
    gui::main().into()
}

fn log_to_stderr() {
    // Warnings alone by default; keys are in no event and no log (`Secret` hides itself).
    let levels = std::env::var("RUST_LOG").ok().and_then(|levels| levels.parse().ok());
    // What rmcp says of a server that is not there, its user is told in words.
    let usual = || Targets::new().with_default(LevelFilter::WARN).with_target("rmcp", LevelFilter::OFF);
    let levels: Targets = levels.unwrap_or_else(usual);
    let levels = levels.with_target(::mcp::NEVER_LOGGED, LevelFilter::OFF);
    let told = tracing_subscriber::fmt::layer().with_writer(std::io::stderr).with_target(false);
    tracing_subscriber::registry().with(told).with(levels).init();
}
