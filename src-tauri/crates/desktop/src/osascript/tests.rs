//! Tests of `osascript`.

use std::time::{Duration, Instant};

use super::*;

fn script(source: &str, arguments: &[&str], timeout: Duration) -> Script {
    let arguments = arguments.iter().map(|&argument| argument.into()).collect();
    Script { source: source.into(), arguments, timeout }
}

/// A shell in the program's place: `$0` is the dash, `$1` the first argument, the source is on the input.
#[cfg(unix)]
async fn in_place(shell: &str, script: &Script, cancel: &CancellationToken) -> Result<String, DesktopError> {
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
    assert!(matches!(kind("0:3: syntax error: Expected end of line. (-2741)"), DesktopError::BadInput(_)));
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
async fn a_script_runs_without_our_environment() {
    let script = script("", &[], LONG);
    let environment = in_place("cat; env", &script, &CancellationToken::new()).await.unwrap();
    // This program was started by cargo, whose variables are no script's business: so would be our keys.
    assert!(std::env::vars().any(|(name, _)| name.starts_with("CARGO_")), "started without cargo");
    assert!(environment.contains("PATH=") && !environment.contains("CARGO"), "{environment}");
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
