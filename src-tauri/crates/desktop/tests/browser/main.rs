//! The browser's pages in a real Chromium, on an X server of its own, served from loopback.
#![cfg(target_os = "linux")]

mod acting;
mod looking;
mod speed;
mod stage;
mod travelling;
mod writing;
