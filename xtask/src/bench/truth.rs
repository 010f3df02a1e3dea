//! Acts on applications of all toolkits, judged by what the applications did: a table, and `docs/APPLICATIONS.md`; then
//! the accessibility tests with applications that are too large for the test command.

use anyhow::{Result, ensure};

use crate::place::{Build, Place};
use crate::setup::{self, Need};
use crate::shell::{self, heading};

/// With the app of the tests, whose words are the same.
pub fn bench(place: &Place) -> Result<()> {
    ensure!(cfg!(target_os = "linux"), "applications are operated on a private X server, on Linux only");
    setup::ready(place, &[Need::Build, Need::SmallWindows, Need::Desktop, Need::Applications])?;
    setup::cef(place)?;
    crate::run::app(place, Build::Debug)?;
    heading("operating applications of all toolkits (some half an hour)");
    let mut run = shell::cargo(place);
    // Two at a time: what is tried waits more than it computes.
    run.args(["run", "--package", "outside", "--bin", "truth", "--", "--stages", "2", "--matrix"])
        .arg(place.root.join("docs/APPLICATIONS.md"))
        .env("MIKI_BIN", place.app(Build::Debug));
    let told = shell::run(&mut run);
    heading("the accessibility tests with LibreOffice, Firefox and Java");
    let tests = ["test", "--package", "desktop", "--features", "heavy", "--test", "atspi"];
    let tested = shell::run(shell::cargo(place).args(tests));
    told.and(tested)
}
