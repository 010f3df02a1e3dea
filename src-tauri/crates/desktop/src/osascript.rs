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
        mend: format!("allow Miki in System Settings > Privacy & Security > {pane}, then try again"),
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
mod tests {
    use std::time::{Duration, Instant};

    use super::*;

    fn script(source: &str, arguments: &[&str], timeout: Duration) -> Script {
        let arguments = arguments.iter().map(|&argument| argument.into()).collect();
        Script { source: source.into(), arguments, timeout }
    }

    /// A shell in the program's place: `$0` is the dash, `$1` the first argument, the source is on the input.
    #[cfg(unix)]
    async fn in_place(
        shell: &str,
        script: &Script,
        cancel: &CancellationToken,
    ) -> Result<String, DesktopError> {
        let mut command = Command::new("sh");
        command.arg("-c").arg(shell);
        run_child(command, script, MOST, cancel).await
    }

    const LONG: Duration = Duration::from_secs(30);

    #[test]
    fn the_source_goes_by_the_input_and_arguments_stay_arguments() {
        let script = script("on run argv\nend run", &["-e", "a \" & b", "日本"], LONG);
        assert_eq!(argv(&script).collect::<Vec<_>>(), ["-", "-e", "a \" & b", "日本"]);
    }

    #[test]
    fn a_refused_automation_names_the_permission_to_give() {
        let errors = "12:40: execution error: Not authorized to send Apple events to Finder. (-1743)\n";
        let error = classify(errors, &script("", &[], LONG));
        assert!(matches!(error, DesktopError::Permission { .. }), "{error:?}");
        assert!(error.to_string().contains("Automation"), "{error}");
    }

    #[test]
    fn each_known_number_has_its_kind() {
        let kind = |errors: &str| classify(errors, &script("", &[], LONG));
        let assistive = "execution error: osascript is not allowed assistive access. (-1719)";
        assert!(matches!(kind(assistive), DesktopError::Permission { .. }));
        assert!(matches!(kind("Can't get window 9. Invalid index. (-1719)"), DesktopError::NotFound(_)));
        assert!(matches!(kind("Can't get application \"X\". (-1728)"), DesktopError::NotFound(_)));
        assert!(matches!(
            kind("0:3: syntax error: Expected end of line. (-2741)"),
            DesktopError::BadInput(_)
        ));
        assert_eq!(kind("AppleEvent timed out. (-1712)"), DesktopError::Timeout(LONG));
        assert!(matches!(kind("User canceled. (-128)"), DesktopError::Failed(_)));
        assert!(matches!(kind("no number at all"), DesktopError::Failed(_)));
        assert!(matches!(kind(""), DesktopError::Failed(_)));
    }

    #[cfg(unix)]
    #[tokio::test]
    async fn what_the_script_returns_comes_back_without_its_last_newline() {
        let script = script("return 1", &["first"], LONG);
        let answer = in_place("cat; echo \" $0 $1\"", &script, &CancellationToken::new()).await;
        assert_eq!(answer.as_deref(), Ok("return 1 - first"));
    }

    #[cfg(unix)]
    #[tokio::test]
    async fn a_failing_script_is_classified_by_what_it_says() {
        let shell = "cat >/dev/null; echo 'execution error: no. (-1743)' >&2; exit 1";
        let answer = in_place(shell, &script("x", &[], LONG), &CancellationToken::new()).await;
        assert!(matches!(answer, Err(DesktopError::Permission { .. })), "{answer:?}");
    }

    #[cfg(unix)]
    #[tokio::test]
    async fn a_script_without_end_is_killed_at_its_timeout_and_at_cancel() {
        let short = Duration::from_millis(100);
        let started = Instant::now();
        let late = in_place("exec sleep 60", &script("x", &[], short), &CancellationToken::new()).await;
        assert_eq!(late, Err(DesktopError::Timeout(short)));
        let cancel = CancellationToken::new();
        cancel.cancel();
        let stopped = in_place("exec sleep 60", &script("x", &[], LONG), &cancel).await;
        assert_eq!(stopped, Err(DesktopError::Cancelled));
        assert!(started.elapsed() < Duration::from_secs(10));
    }

    #[cfg(unix)]
    #[tokio::test]
    async fn output_without_end_is_bounded() {
        let shell = "cat >/dev/null; head -c 1000000 /dev/zero | tr '\\0' a";
        let answer = in_place(shell, &script("x", &[], LONG), &CancellationToken::new()).await;
        assert_eq!(answer.map(|text| text.len()), Ok(MOST));
    }
}
