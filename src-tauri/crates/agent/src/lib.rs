//! The mind: one task that owns all state, one pure turn machine a run, one log that everything goes through.
//!
//! A surface calls [`AgentHandle`]; the orchestrator decides and appends an event before it acts on it; the
//! surfaces fold the events. Knows nothing of Tauri, sockets, HTTP servers or operating systems: it reaches the
//! desktop through `tools`, models through `models`, and the shell through the ports in [`ports`].

mod handle;
pub mod machine;
mod orchestrator;
mod run;

mod brakes;
mod context;
mod history;
mod log;
mod prompts;
mod recovery;

pub mod ports;

pub use handle::{AgentHandle, Setup};
pub use ports::{ModelSource, SettingsStore, Wanted};
