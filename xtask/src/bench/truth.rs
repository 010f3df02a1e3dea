//! Acts on applications of all toolkits, judged by what the applications did: a table, and `docs/APPLICATIONS.md`; then
//! the accessibility tests with applications that are too large for the test command.

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
    heading("operating applications of all toolkits (some half an hour)");
    let (matrix, kept) =
        (checkout.root.join("docs/APPLICATIONS.md"), checkout.target.join("bench/truth.json"));
    std::fs::create_dir_all(checkout.target.join("bench"))?;
    let run = |more: &[&str]| {
        let mut run = shell::cargo(checkout);
        run.args(["run", "--package", "outside", "--bin", "truth", "--"]).args(more);
        run.arg("--keep").arg(&kept).arg("--matrix").arg(&matrix).env("MIKI_BIN", checkout.app(Build::Debug));
        shell::run(&mut run)
    };
    // Two at a time: what is tried waits more than it computes. What was not as it should be is tried once more, alone.
    let told = run(&["--stages", "2"]).or_else(|_| run(&["--again"]));
    heading("the accessibility tests with LibreOffice, Firefox and Java");
    let tests = ["test", "--package", "desktop", "--features", "heavy", "--test", "atspi"];
    let tested = shell::run(shell::cargo(checkout).args(tests));
    told.and(tested)
}
