//! What macOS and Windows share: one facade over a thread that looks, one that acts, one that reads the tree, one
//! that watches the pointer. What differs is behind [`Tree`].
//!
//! Type-checked for both platforms and never run by this project's tests, which run on Linux; the pure parts
//! (`held`, `list`, `place`) are tested there.

#[cfg(not(target_os = "linux"))]
mod eye;
#[cfg(not(target_os = "linux"))]
mod facade;
#[cfg(not(target_os = "linux"))]
mod hand;
#[cfg(not(target_os = "linux"))]
mod keymap;

pub(crate) mod held;
pub(crate) mod list;
pub(crate) mod place;

#[cfg(not(target_os = "linux"))]
pub(crate) use facade::{Tree, open, view};
