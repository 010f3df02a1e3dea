//! The mind: many runs side by side, each with one pure turn machine, and one log that everything goes through.
//!
//! A surface calls [`AgentHandle`]; what it decides is an event on disk before it is acted on; the surfaces fold the
//! events. Knows nothing of Tauri, sockets, HTTP servers or operating systems: it reaches the desktop through `tools`,
//! models through `models`, and the shell through the ports in [`ports`].

mod engine;
mod handle;
pub mod machine;
mod run;

mod agents;
mod approvals;
mod cancellation;
mod lease;
mod ledger;
mod refusals;
mod rights;
mod runs;
mod sessions;
mod single;
mod start;
mod summary;
mod undo;

mod context;
mod history;
mod log;
mod loop_detector;
mod offer;
mod prompts;
mod recovery;

pub mod ports;

pub use handle::{AgentHandle, Setup};
pub use log::Subscription;
pub use ports::{ModelSource, NoPorts, OpenModel, OpenPorts, PortSource, SettingsStore};
pub use recovery::PutBack;
