//! The browser's pages in a real Chromium, on an X server of its own, served from loopback.
#![cfg(target_os = "linux")]

#[cfg(test)]
mod acting;
#[cfg(test)]
mod looking;
#[cfg(test)]
mod plain;
#[cfg(test)]
mod stage;
#[cfg(test)]
mod travelling;
#[cfg(test)]
mod writing;
