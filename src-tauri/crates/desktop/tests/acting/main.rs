//! Acting by element on real applications, and what they show for it.
#![cfg(target_os = "linux")]

// `cfg(test)` says to clippy what cargo knows anyway: that these are tests.
#[cfg(test)]
mod clicking;
#[cfg(test)]
mod glancing;
#[cfg(test)]
mod menus;
#[cfg(test)]
mod stage;
#[cfg(test)]
mod values;
