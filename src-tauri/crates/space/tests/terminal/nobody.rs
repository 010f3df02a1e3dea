//! The same for a user without rights, where root runs the tests: their sandbox is made otherwise, in a namespace of users.

use std::fs::{DirBuilder, copy};
use std::os::unix::fs::{DirBuilderExt, chown};
use std::os::unix::process::CommandExt;
use std::process::Command;

use crate::stage::{CONFINER, confiner};

/// Nobody's number on any system.
const NOBODY: u32 = 65_534;

#[test]
fn a_user_without_rights_is_confined_as_root_is() {
    if !rustix::process::geteuid().is_root() {
        // Then all the others are this test.
        return;
    }
    let folder =
        tempfile::Builder::new().permissions(std::os::unix::fs::PermissionsExt::from_mode(0o755)).tempdir();
    let folder = folder.unwrap();
    let at = |name: &str| folder.path().join(name);
    copy(std::env::current_exe().unwrap(), at("tests")).unwrap();
    copy(confiner(), at("confiner")).unwrap();
    for own in ["home", "tmp"] {
        DirBuilder::new().mode(0o700).create(at(own)).unwrap();
        chown(at(own), Some(NOBODY), Some(NOBODY)).unwrap();
    }
    let mut tests = Command::new(at("tests"));
    tests
        .args(["confinement::", "running::", "ends::", "--test-threads=2"])
        .env_clear()
        .env("PATH", "/usr/local/bin:/usr/bin:/bin")
        .env("HOME", at("home"))
        .env("TMPDIR", at("tmp"))
        .env(CONFINER, at("confiner"))
        .current_dir(at("home"))
        .gid(NOBODY)
        .uid(NOBODY);
    let output = tests.output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{said}{}", String::from_utf8_lossy(&output.stderr));
    let passed = said
        .lines()
        .find_map(|line| line.strip_prefix("test result: ok. ")?.split(' ').next()?.parse::<u32>().ok());
    assert!(passed.is_some_and(|passed| passed > 20), "{said}");
}
