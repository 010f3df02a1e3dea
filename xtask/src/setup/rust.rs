//! The toolchain's own parts: targets and components that `rust-toolchain.toml` names but an older install may lack.

use std::path::Path;
use std::process::Command;

use anyhow::{Result, bail};

use super::Need;
use crate::checkout::Checkout;
use crate::shell::{answer_of, heading, on_path, run};

pub const WASM: &str = "wasm32-unknown-unknown";

/// Adds the targets and components that are missing.
pub fn ready(checkout: &Checkout, needs: &[Need]) -> Result<()> {
    let mut targets = vec![WASM];
    if needs.contains(&Need::Cross) {
        targets.extend(crate::cross::TARGETS);
    }
    let missing: Vec<_> = targets.into_iter().filter(|target| !installed(checkout, target)).collect();
    if !missing.is_empty() {
        heading(&format!("rust targets are missing: {}", missing.join(" ")));
        run(rustup(checkout)?.args(["target", "add"]).args(&missing))?;
    }
    if needs.contains(&Need::Audit) {
        for (component, program) in [("rustfmt", "fmt"), ("clippy", "clippy")] {
            if answer_of(crate::shell::cargo(checkout).args([program, "--version"])).is_none() {
                heading(&format!("rust component {component} is missing"));
                run(rustup(checkout)?.args(["component", "add", component]))?;
            }
        }
    }
    Ok(())
}

/// Whether the target's standard library is there; asked of rustc, since not every toolchain is rustup's.
fn installed(checkout: &Checkout, target: &str) -> bool {
    answer_of(Command::new("rustc").current_dir(&checkout.root).args([
        "--print",
        "target-libdir",
        "--target",
        target,
    ]))
    .is_some_and(|folder| Path::new(folder.trim()).read_dir().is_ok_and(|mut files| files.next().is_some()))
}

fn rustup(checkout: &Checkout) -> Result<Command> {
    if on_path("rustup").is_none() {
        bail!("rustup is not in PATH; install it as its web page says, then try again");
    }
    let mut command = Command::new("rustup");
    command.current_dir(&checkout.root);
    Ok(command)
}
