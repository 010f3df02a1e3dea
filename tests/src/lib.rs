//! The whole app from outside: a private desktop, a fake model server, and the real app between them.
//!
//! Never touches the user's own desktop, keyring or files, and links none of the app's crates but `protocol`: what
//! is tested here is the program as it is built.

pub mod attacks;
pub mod browser;
pub mod fake_model;
pub mod miki;
pub mod notifications;
pub mod report;
pub mod stage;
pub mod truth;

mod pages;
mod process;
mod waiting;

pub use pages::{Page, serve, serve_pages};
pub use process::{Finished, Process};
pub use waiting::{LONG, wait_for};
