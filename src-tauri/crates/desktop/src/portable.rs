//! What macOS and Windows share: one facade over a thread that looks, one that acts, one that reads the tree, one
//! that watches the pointer, one for windows and applications. What differs is behind [`Platform`] and [`Tree`].
//!
//! Type-checked for both platforms and never run by this project's tests, which run on Linux; the pure parts (`ref_table`,
//! `bundles`, `crop`, `watchdog`, `pressed`, `list`, `menu`, `scene`, `reader` over a scripted tree, `settings`, `target`, `watch`) are tested there.

#[cfg(not(target_os = "linux"))]
mod as_clipboard;
#[cfg(not(target_os = "linux"))]
mod as_elements;
#[cfg(not(target_os = "linux"))]
mod as_hands;
#[cfg(not(target_os = "linux"))]
mod as_screen;
#[cfg(not(target_os = "linux"))]
mod as_windows;
#[cfg(not(target_os = "linux"))]
mod capture;
#[cfg(not(target_os = "linux"))]
mod facade;
#[cfg(not(target_os = "linux"))]
mod input;
#[cfg(not(target_os = "linux"))]
mod keymap;
#[cfg(not(target_os = "linux"))]
mod platform;

pub(crate) mod bundles;
pub(crate) mod crop;
pub(crate) mod list;
pub(crate) mod menu;
pub(crate) mod pressed;
mod reader;
pub(crate) mod ref_table;
pub(crate) mod scene;
#[cfg(any(target_os = "macos", test))]
pub(crate) mod settings;
pub(crate) mod target;
mod tree;
pub(crate) mod watch;
mod watchdog;

#[cfg(windows)]
pub(crate) use capture::Capturer;
#[cfg(not(target_os = "linux"))]
pub(crate) use facade::open;
#[cfg(target_os = "macos")]
pub(crate) use platform::Line;
#[cfg(not(target_os = "linux"))]
pub(crate) use platform::{Capture, Listening, Platform, view};
#[cfg(not(target_os = "linux"))]
pub(crate) use tree::{Reading, Tree};
#[cfg(not(target_os = "linux"))]
pub(crate) use watchdog::run_watchdog;
