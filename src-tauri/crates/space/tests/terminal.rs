//! Commands in the real sandbox. They fail, and are never skipped, where it is missing. Run by root, they are run once more
//! by a user without rights.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests")]

#[path = "terminal/confinement.rs"]
mod confinement;
#[path = "terminal/ends.rs"]
mod ends;
#[path = "terminal/network.rs"]
mod network;
#[path = "terminal/nobody.rs"]
mod nobody;
#[path = "terminal/running.rs"]
mod running;
#[path = "terminal/stage.rs"]
mod stage;
