//! The code checked for the platforms this machine is not: clippy to the end, nothing linked.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

use crate::checkout::Checkout;
use crate::{setup, shell};

pub const MACOS: &str = "aarch64-apple-darwin";
pub const WINDOWS: &str = "x86_64-pc-windows-gnu";
pub const TARGETS: [&str; 2] = [MACOS, WINDOWS];

/// Clippy over the app and its crates for one target. The windows (wasm), the tests from outside (they drive an X
/// server) and this program are left out.
pub fn check(checkout: &Checkout, target: &str) -> Result<()> {
    let mut command = shell::cargo(checkout);
    command
        .args([
            "clippy",
            "--workspace",
            "--exclude",
            "ui",
            "--exclude",
            "outside",
            "--exclude",
            "xtask",
            "--target",
            target,
        ])
        .args(["--", "-D", "warnings"])
        .env("CARGO_TARGET_DIR", checkout.cross_target());
    if target == MACOS && cfg!(target_os = "linux") {
        use_zig(checkout, &mut command)?;
    }
    shell::run(&mut command)
}

/// Some dependencies compile C, which the host's compiler cannot do for macOS; zig brings the headers.
fn use_zig(checkout: &Checkout, command: &mut Command) -> Result<()> {
    let zig = setup::zig(checkout)?;
    let wrapper = wrapper(checkout, &zig)?;
    command
        .env("CC_aarch64_apple_darwin", wrapper)
        .env("ZIG_GLOBAL_CACHE_DIR", checkout.tools().join("zig-cache"))
        .env("ZIG_LOCAL_CACHE_DIR", checkout.tools().join("zig-cache"));
    Ok(())
}

/// zig names targets in its own way and refuses Apple's flags: the wrapper drops them.
fn wrapper(checkout: &Checkout, zig: &Path) -> Result<PathBuf> {
    let file = checkout.tools().join("cc-aarch64-macos");
    let script = format!(
        r#"#!/bin/sh
# Written by `cargo xtask`: zig as the C compiler for macOS.
n=$#
drop_next=no
while [ "$n" -gt 0 ]; do
  word=$1
  shift
  n=$((n - 1))
  if [ "$drop_next" = yes ]; then
    drop_next=no
    continue
  fi
  case $word in
    --target=*|-mmacosx-version-min=*|-mmacos-version-min=*) ;;
    -arch|-isysroot) drop_next=yes ;;
    *) set -- "$@" "$word" ;;
  esac
done
exec '{}' cc -target aarch64-macos "$@"
"#,
        zig.display()
    );
    // Written only when it differs: a build script that watches its compiler would run again otherwise.
    if std::fs::read_to_string(&file).ok().as_deref() != Some(script.as_str()) {
        std::fs::create_dir_all(checkout.tools())?;
        std::fs::write(&file, script).with_context(|| format!("could not write {}", file.display()))?;
        make_executable(&file)?;
    }
    Ok(file)
}

#[cfg(unix)]
fn make_executable(file: &Path) -> Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    std::fs::set_permissions(file, std::fs::Permissions::from_mode(0o755))?;
    Ok(())
}

#[cfg(not(unix))]
fn make_executable(_file: &Path) -> Result<()> {
    Ok(())
}
