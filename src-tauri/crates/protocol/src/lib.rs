//! All that goes between the engine and its surfaces: commands, events, views, settings, ids and geometry.
//!
//! Every surface (windows, CLI, socket, later REST and MCP) speaks these types and nothing else. Serde only: no
//! clock, no randomness, no I/O, so that it compiles to wasm and can be tested as plain data.

pub mod agent;
pub mod budget;
pub mod command;
pub mod contract;
pub mod elicitation;
pub mod event;
pub mod mcp;
pub mod offer;
pub mod principal;
pub mod recap;
pub mod remembered;
pub mod run;
pub mod view;

pub mod settings;
pub mod terminal;
pub mod tool;
pub mod turn;

pub mod address;
pub mod citation;
pub mod escape;

pub mod error;
pub mod geometry;
pub mod ids;
pub mod socket;

pub use command::Command;
pub use error::{ErrorCode, ErrorView};
pub use event::{Event, EventBody};
