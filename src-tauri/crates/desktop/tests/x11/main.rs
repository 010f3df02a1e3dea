//! The desktop on a real, private X server, with real programs: what is seen, and what arrives.
#![cfg(target_os = "linux")]

// `cfg(test)` says to clippy what cargo knows anyway: that these are tests.
#[cfg(test)]
mod acting;
#[cfg(test)]
mod areas;
#[cfg(test)]
mod contract_screen;
#[cfg(test)]
mod screen;
#[cfg(test)]
mod seeing;
#[cfg(test)]
mod typing;
