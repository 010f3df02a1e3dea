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
mod copied;
#[cfg(test)]
mod corner;
#[cfg(test)]
mod holding;
#[cfg(test)]
mod layouts;
#[cfg(test)]
mod locked;
#[cfg(test)]
mod own_hands;
#[cfg(test)]
mod prompt;
#[cfg(test)]
mod reading;
#[cfg(test)]
mod screen;
#[cfg(test)]
mod seeing;
#[cfg(test)]
mod shapes;
#[cfg(test)]
mod stepping_in;
#[cfg(test)]
mod trials;
#[cfg(test)]
mod typing;
#[cfg(test)]
mod user;
#[cfg(test)]
mod windows;
