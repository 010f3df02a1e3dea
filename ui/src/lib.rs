//! Miki's three windows: dashboard, chat widget and overlay, told apart by the window's label.
//!
//! What is shown is a fold over the engine's events ([`state`]); words, escaping and shortening are plain functions,
//! tested on the host. The rest lays out, and is compiled for wasm only. Knows `protocol` and nothing else of ours;
//! decides nothing that the engine decides.

pub mod feed;
pub mod goal;
pub mod instead;
pub mod state;
pub mod transcript;

pub mod brief;
pub mod escape;
pub mod fields;
pub mod picker;
pub mod words;

#[cfg(target_arch = "wasm32")]
mod ipc;
#[cfg(target_arch = "wasm32")]
mod store;

#[cfg(target_arch = "wasm32")]
mod chat;
#[cfg(target_arch = "wasm32")]
mod dashboard;
#[cfg(target_arch = "wasm32")]
mod overlay;
#[cfg(target_arch = "wasm32")]
mod settings;
#[cfg(target_arch = "wasm32")]
mod widgets;

#[cfg(target_arch = "wasm32")]
pub use store::open;
