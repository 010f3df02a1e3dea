//! AppleScript in a child process that can be killed: the source on its input, the arguments to `on run argv`.
//!
//! Arguments are never put into the source. Nothing here is of macOS but the program's name, so that all of it is
//! tested where there is no macOS.

use std::process::Stdio;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::process::Command;
use tokio_util::sync::CancellationToken;

use crate::{DesktopError, Script};

const PROGRAM: &str = "/usr/bin/osascript";
/// The most that is kept of a script's output; the rest is read and dropped, so that the child does not hang.
const MOST: usize = 64 * 1024;
/// The same of what a browser tells of a page, whose text alone may have two million characters.
#[cfg_attr(not(target_os = "macos"), allow(dead_code, reason = "only macOS has the program"))]
const MOST_OF_A_PAGE: usize = 16 * 1024 * 1024;

/// Runs the script and answers what it returned.
///
/// # Errors
/// Those of the script in the crate's words, with the permission to give where macOS withholds one.
#[cfg_attr(not(target_os = "macos"), allow(dead_code, reason = "only macOS has the program"))]
pub(crate) async fn run(script: &Script, cancel: &CancellationToken) -> Result<String, DesktopError> {
    run_child(Command::new(PROGRAM), script, MOST, cancel).await
}

/// Runs a script of ours in JavaScript for Automation, with one argument, and answers what its `run` returned. Nobody
/// who waits no more leaves a child behind.
///
/// # Errors
/// As for [`run`].
#[cfg_attr(not(target_os = "macos"), allow(dead_code, reason = "only macOS has the program"))]
pub async fn run_javascript(
    source: &str,
    argument: String,
    timeout: std::time::Duration,
) -> Result<String, DesktopError> {
    let script = Script { source: source.into(), arguments: vec![argument], timeout };
    let mut command = Command::new(PROGRAM);
    command.args(["-l", "JavaScript"]);
    run_child(command, &script, MOST_OF_A_PAGE, &CancellationToken::new()).await
}

/// `-` reads the source from the input; what follows goes to `on run argv`, even where it begins with a dash.
fn argv(script: &Script) -> impl Iterator<Item = &str> {
    std::iter::once("-").chain(script.arguments.iter().map(String::as_str))
}

async fn run_child(
    mut command: Command,
    script: &Script,
    most: usize,
    cancel: &CancellationToken,
) -> Result<String, DesktopError> {
    if script.arguments.iter().any(|argument| argument.contains('\0')) {
        return Err(DesktopError::BadInput("a script's argument contains a zero byte".into()));
    }
    let mut child = command
        .env_clear()
        .envs(crate::environment::for_children())
        .args(argv(script))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .map_err(|error| DesktopError::NotAvailable(format!("osascript does not start: {error}")))?;
    let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    let talk = async {
        let write = async {
            if let Some(mut stdin) = stdin {
                // A child that ends early closes its input: its own error says more.
                let _closed = stdin.write_all(script.source.as_bytes()).await;
            }
        };
        let ((), output, errors, status) =
            tokio::join!(write, read(stdout, most), read(stderr, MOST), child.wait());
        (output, errors, status)
    };
    // Dropping the child, which every way out of here does, kills it.
    let (output, errors, status) = tokio::select! {
        () = cancel.cancelled() => return Err(DesktopError::Cancelled),
        () = tokio::time::sleep(script.timeout) => return Err(DesktopError::Timeout(script.timeout)),
        done = talk => done,
    };
    let status = status.map_err(|error| DesktopError::Failed(format!("wait for osascript: {error}")))?;
    if status.success() {
        Ok(output.trim_end_matches(['\n', '\r']).to_owned())
    } else {
        Err(classify(&errors, script))
    }
}

async fn read(pipe: Option<impl tokio::io::AsyncRead + Unpin>, most: usize) -> String {
    let Some(mut pipe) = pipe else { return String::new() };
    let mut kept = Vec::new();
    let mut chunk = vec![0; 8192];
    while let Ok(count @ 1..) = pipe.read(&mut chunk).await {
        let room = most - kept.len();
        kept.extend_from_slice(&chunk[..count.min(room)]);
    }
    String::from_utf8_lossy(&kept).into_owned()
}

/// The number in brackets at the end of osascript's message.
fn error_number(errors: &str) -> Option<i32> {
    let (_, after) = errors.trim_end().rsplit_once('(')?;
    after.strip_suffix(')')?.parse().ok()
}

fn classify(errors: &str, script: &Script) -> DesktopError {
    let said = errors.trim().to_owned();
    let permission = |what: &str, pane: &str| DesktopError::Permission {
        what: what.into(),
        remedy: format!("allow Miki in System Settings > Privacy & Security > {pane}, then try again"),
    };
    match error_number(errors) {
        Some(-1743) => permission("macOS does not let Miki control that application", "Automation"),
        Some(-1719 | -25211) if said.contains("assistive") || said.contains("-25211") => {
            permission("macOS does not let the script use other applications' windows", "Accessibility")
        }
        Some(-1712) => DesktopError::Timeout(script.timeout),
        Some(-128) => DesktopError::Failed("the script was cancelled by the user".into()),
        Some(-600 | -1719 | -1728) => DesktopError::NotFound(format!("what the script names: {said}")),
        // The compiler's numbers: syntax errors and unknown words.
        Some(-2763..=-2700) => DesktopError::BadInput(format!("the script is wrong: {said}")),
        _ => DesktopError::Failed(format!("the script failed: {said}")),
    }
}

#[cfg(test)]
mod tests;
