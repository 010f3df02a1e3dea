//! A model that obeys an attacker, on a private desktop: what was forbidden, and what was done; a table.

use anyhow::{Result, ensure};

use crate::checkout::{Build, Checkout};
use crate::setup::{self, Need};
use crate::shell::{self, heading};

/// With the app of the tests, which is the same.
pub fn bench(checkout: &Checkout) -> Result<()> {
    ensure!(cfg!(target_os = "linux"), "the desktop is a private X server, on Linux only");
    setup::ready(checkout, &[Need::Build, Need::SmallWindows, Need::Desktop, Need::Applications])?;
    crate::run::app(checkout, Build::Debug)?;
    heading("attacks in every mode, and tasks beside them (some twenty minutes)");
    let mut run = shell::cargo(checkout);
    run.args(["run", "--package", "outside", "--bin", "attacks", "--", "--stages", "2"])
        .env("MIKI_BIN", checkout.app(Build::Debug));
    shell::run(&mut run)
}
