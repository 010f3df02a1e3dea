//! Acts on applications of all toolkits, judged by what the applications did: a table, and `docs/APPLICATIONS.md`.

use anyhow::{Result, ensure};

use crate::checkout::{Build, Checkout};
use crate::setup::{self, Need};
use crate::shell::{self, heading};

/// With the app of the tests, whose words are the same.
pub fn bench(checkout: &Checkout) -> Result<()> {
    ensure!(cfg!(target_os = "linux"), "applications are operated on a private X server, on Linux only");
    setup::ready(checkout, &[Need::Build, Need::SmallWindows, Need::Desktop, Need::Applications])?;
    setup::cef(checkout)?;
    crate::run::app(checkout, Build::Debug)?;
    heading("operating applications of all toolkits (some fifteen minutes)");
    let mut run = shell::cargo(checkout);
    run.args(["run", "--package", "outside", "--bin", "truth", "--", "--matrix"])
        .arg(checkout.root.join("docs/APPLICATIONS.md"))
        .env("MIKI_BIN", checkout.app(Build::Debug));
    shell::run(&mut run)
}
