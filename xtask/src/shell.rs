//! Starting other programs, saying which, and streaming what they print.

use std::io::{BufRead, BufReader, IsTerminal, Write};
use std::path::PathBuf;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

/// A heading for what follows, on standard error with everything else that is progress.
pub fn heading(text: &str) {
    if std::io::stderr().is_terminal() {
        eprintln!("\n\x1b[1;34m==> {text}\x1b[0m");
    } else {
        eprintln!("\n==> {text}");
    }
}

/// One line of progress below a heading.
pub fn note(text: &str) {
    eprintln!("    {text}");
}

/// The cargo that started this program, in the checkout.
pub fn cargo(checkout: &crate::checkout::Checkout) -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(&checkout.root).env("CARGO_TARGET_DIR", &checkout.target);
    // Set by the `cargo run` that started us; they would make build scripts run again for no reason.
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("CARGO_PKG_") || name == "CARGO_MANIFEST_DIR" {
            command.env_remove(name);
        }
    }
    command
}

/// A program that computes when others do not want to, where the system has `nice`.
pub fn giving_way(program: &std::path::Path) -> Command {
    match on_path("nice") {
        Some(nice) => {
            let mut command = Command::new(nice);
            command.args(["-n", "19"]).arg(program);
            command
        }
        None => Command::new(program),
    }
}

/// Runs to the end with its output streamed; fails with the command line where it fails.
pub fn run(command: &mut Command) -> Result<()> {
    let line = line_of(command);
    let status = command.status().with_context(|| format!("could not start `{line}`"))?;
    if !status.success() {
        bail!("`{line}` ended with {status}");
    }
    Ok(())
}

/// Runs to the end; each line of standard output is printed and handed to `see`. Tells whether it ended well.
pub fn run_seeing(command: &mut Command, mut see: impl FnMut(&str)) -> Result<bool> {
    let line = line_of(command);
    let mut child =
        command.stdout(Stdio::piped()).spawn().with_context(|| format!("could not start `{line}`"))?;
    let output = child.stdout.take().context("standard output was not piped")?;
    let mut reader = BufReader::new(output);
    let mut bytes = Vec::new();
    while reader.read_until(b'\n', &mut bytes)? > 0 {
        std::io::stdout().write_all(&bytes)?;
        std::io::stdout().flush()?;
        see(String::from_utf8_lossy(&bytes).trim_end());
        bytes.clear();
    }
    Ok(child.wait()?.success())
}

/// Runs to the end; whether it ended well, and all it said, which nobody saw meanwhile.
pub fn run_quietly(command: &mut Command) -> Result<(bool, String)> {
    let line = line_of(command);
    let output =
        command.stdin(Stdio::null()).output().with_context(|| format!("could not start `{line}`"))?;
    let said = [output.stderr, output.stdout].concat();
    Ok((output.status.success(), String::from_utf8_lossy(&said).into_owned()))
}

/// What a program prints; `None` if it is missing or fails. Its standard error is dropped.
pub fn answer_of(command: &mut Command) -> Option<String> {
    let output = command.stdin(Stdio::null()).stderr(Stdio::null()).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
}

/// The first file of that name in `PATH`.
pub fn on_path(program: &str) -> Option<PathBuf> {
    let name = format!("{program}{}", std::env::consts::EXE_SUFFIX);
    let folders = std::env::var_os("PATH")?;
    std::env::split_paths(&folders).map(|folder| folder.join(&name)).find(|file| file.is_file())
}

fn line_of(command: &Command) -> String {
    let mut words = vec![command.get_program().to_string_lossy().into_owned()];
    words.extend(command.get_args().map(|arg| arg.to_string_lossy().into_owned()));
    words.join(" ")
}
