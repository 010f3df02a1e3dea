//! The shell: the app's windows, tray and shortcut, the command line, and the root where everything is put together.
//!
//! The only room that knows all others, Tauri, the keychain and the file layout. Decides nothing about runs.

mod app;
mod cli;

mod engine;
mod link;

mod checks;
mod keys;
mod lock;
mod model_source;
mod recording;
mod settings_file;
mod socket;
mod transfer;
mod workplaces;

mod atomic_file;
mod exit;
mod home;

use std::process::ExitCode;

/// The whole program: reads the command line, does it, and says how it went.
pub fn main_entry() -> ExitCode {
    // Warnings alone by default; keys are in no event and no log (`Secret` hides itself).
    tracing_subscriber::fmt()
        .with_env_filter(
            tracing_subscriber::EnvFilter::try_from_default_env().unwrap_or_else(|_| "warn".into()),
        )
        .with_writer(std::io::stderr)
        .with_target(false)
        .init();
    cli::main().into()
}
