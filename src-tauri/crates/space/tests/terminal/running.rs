//! What a command says and how it ends.

use std::io::{Read as _, Write as _};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use space::terminal::{
    Color, CommandSpec, Exit, Line, ProgramSpec, Sandbox, Setup, Stopped, Terminal, TerminalError, Unconfined,
};
use tokio_util::sync::CancellationToken;

use crate::stage::{Here, here, within};

#[tokio::test]
async fn a_command_says_what_it_says_and_ends_with_its_own_code() {
    let here = here();
    let outcome = here.run("echo one; echo two >&2; exit 7").await;
    assert_eq!((outcome.exit, outcome.text.as_str()), (Exit::Code(7), "one\ntwo"));
    assert_eq!(here.run("kill -9 $$").await.exit, Exit::Code(137));
    assert_eq!(here.run("true").await.exit, Exit::Code(0));
}

#[tokio::test]
async fn a_command_begins_in_the_space_or_in_a_folder_of_it() {
    let here = here();
    std::fs::create_dir(here.space.path().join("sub")).unwrap();
    let space = here.terminal.space().to_owned();
    assert_eq!(here.says("pwd").await, space.display().to_string());
    let spec = CommandSpec { cwd: Some("sub".into()), ..CommandSpec::new("pwd; echo hi > made") };
    assert_eq!(here.run_spec(spec).await.text, space.join("sub").display().to_string());
    assert_eq!(std::fs::read_to_string(space.join("sub/made")).unwrap(), "hi\n");
    for outside in ["..", "/etc", "sub/../.."] {
        let spec = CommandSpec { cwd: Some(outside.into()), ..CommandSpec::new("pwd") };
        let refused = here.terminal.run(spec, |_| {}, CancellationToken::new()).await;
        assert!(matches!(refused, Err(TerminalError::OutsideSpace(_))), "{outside}");
    }
}

#[tokio::test]
async fn home_and_tmp_stay_for_a_session_and_are_gone_after_it() {
    let here = here();
    here.run("echo a > ~/a; echo b > /tmp/b").await;
    assert_eq!(here.says("cat ~/a /tmp/b; echo $HOME").await, concat!("a\nb\n/home", "/space"));
    assert_eq!(
        crate::stage::here().says("ls -A ~ /tmp/b 2>&1 | head -1").await,
        "ls: cannot access '/tmp/b': No such file or directory"
    );
}

#[tokio::test]
async fn lines_come_while_the_command_runs_with_their_colours() {
    let here = here();
    let shown = Arc::new(Mutex::new(Vec::<Line>::new()));
    let seen = Arc::clone(&shown);
    let spec = CommandSpec::new("printf '\\033[1;31mred\\033[0m plain\\n'; read line; echo got $line");
    let job = here
        .terminal
        .start(spec, move |update| {
            let mut seen = seen.lock().unwrap();
            seen.truncate(update.first as usize);
            seen.extend(update.lines);
        })
        .unwrap();
    within(Duration::from_secs(5), "the first line", || shown.lock().unwrap().len() > 1);
    let first = shown.lock().unwrap()[0].clone();
    assert_eq!(first.spans[0].text, "red");
    assert!(first.spans[0].style.bold && first.spans[0].style.fg == Some(Color::Index(1)));
    assert_eq!(first.spans[1].text, " plain");
    job.write(b"hello\r").unwrap();
    assert_eq!(job.wait().await.unwrap().exit, Exit::Code(0));
    let text: Vec<String> = shown.lock().unwrap().iter().map(Line::text).collect();
    assert_eq!(text.join("\n").trim_end(), "red plain\nhello\ngot hello");
}

#[tokio::test]
async fn a_job_is_read_from_a_line_on_and_stopped() {
    let here = here();
    let job = here.terminal.start(CommandSpec::new("echo one; echo two; sleep 60"), |_| {}).unwrap();
    within(Duration::from_secs(5), "two lines", || job.read(0).next == 2);
    let page = job.read(1);
    assert_eq!((page.first, page.text.as_str(), page.next), (1, "two", 2));
    assert_eq!(job.read(page.next).text, "");
    assert!(here.terminal.job(job.id()).unwrap().is_running());
    job.stop(Stopped::Cancelled);
    assert_eq!(job.wait().await.unwrap().exit, Exit::Stopped(Stopped::Cancelled));
    assert!(matches!(job.write(b"x"), Err(TerminalError::Ended(_))));
    assert_eq!(here.terminal.list().len(), 1);
}

#[tokio::test]
async fn a_ctrl_c_ends_the_command_and_not_its_sandbox() {
    let here = here();
    for line in
        ["echo ready; sleep 60", "trap 'echo caught; exit 3' INT; echo ready; while :; do sleep 0.1; done"]
    {
        let job = here.terminal.start(CommandSpec::new(line), |_| {}).unwrap();
        within(Duration::from_secs(5), "the command", || job.read(0).text.contains("ready"));
        job.write(b"\x03").unwrap();
        let outcome = job.wait().await.unwrap();
        let wanted = if line.starts_with("trap") { 3 } else { 130 };
        assert_eq!(outcome.exit, Exit::Code(wanted), "{line}: {}", outcome.text);
        assert_eq!(outcome.text.contains("caught"), wanted == 3, "{}", outcome.text);
    }
}

#[tokio::test]
async fn a_command_gives_way_to_the_users_programs() {
    let here = here();
    let own: i32 = here.says("nice").await.trim().parse().unwrap();
    assert!(own >= 10, "{own}");
    // Only where the kernel knows it, which takes one such wish of a user in a tenth of a second: "/autogroup-217 nice 10".
    let end = std::time::Instant::now() + Duration::from_secs(20);
    loop {
        let group = here.says("cat /proc/self/autogroup 2>/dev/null; true").await;
        if group.is_empty() || group.trim().ends_with(" nice 10") {
            break;
        }
        assert!(std::time::Instant::now() < end, "{group}");
    }
}

#[tokio::test]
async fn the_terminal_has_a_size_and_takes_another() {
    let here = here();
    let spec = CommandSpec {
        rows: 30,
        columns: 90,
        ..CommandSpec::new("stty size; trap 'stty size; exit' WINCH; echo up; while :; do sleep 0.05; done")
    };
    let job = here.terminal.start(spec, |_| {}).unwrap();
    within(Duration::from_secs(5), "the trap", || job.read(0).text == "30 90\nup");
    job.resize(20, 50);
    assert_eq!(job.wait().await.unwrap().text, "30 90\nup\n20 50");
}

#[tokio::test]
async fn a_progress_bar_leaves_its_last_state() {
    let here = here();
    let text = here.says("for i in 10 50 100; do printf '\\rloading %s%%' $i; done; echo; echo done").await;
    assert_eq!(text, "loading 100%\ndone");
}

// bar: C19
#[tokio::test]
async fn without_a_sandbox_nothing_runs_that_the_user_did_not_allow() {
    let space = tempfile::tempdir().unwrap();
    let sandbox = Arc::new(Sandbox::none("bubblewrap is not installed"));
    let terminal = Terminal::open(Setup::new(space.path()), sandbox).unwrap();
    let refused = terminal.run(CommandSpec::new("touch made"), |_| {}, CancellationToken::new()).await;
    let Err(TerminalError::NoSandbox { why }) = refused else { panic!("{refused:?}") };
    assert_eq!(why, "bubblewrap is not installed");
    assert!(!space.path().join("made").exists());
    let spec = CommandSpec { unconfined: Unconfined::Allowed, ..CommandSpec::new("touch made; echo done") };
    let outcome = terminal.run(spec, |_| {}, CancellationToken::new()).await.unwrap();
    assert_eq!(outcome.text, "done");
    assert_eq!(outcome.confinement, space::terminal::Confinement::None);
    assert!(space.path().join("made").exists());
}

// bar: C19
#[tokio::test]
async fn a_sandbox_that_fails_is_no_command_that_failed() {
    let here = here();
    // The Space is gone between opening and running: bubblewrap cannot bind it.
    std::fs::remove_dir_all(here.space.path()).unwrap();
    let failed = here.terminal.run(CommandSpec::new("true"), |_| {}, CancellationToken::new()).await;
    assert!(matches!(failed, Err(TerminalError::SandboxFailed { .. } | TerminalError::Pty(_))), "{failed:?}");
}

#[test]
fn a_space_is_never_the_system_or_a_whole_home() {
    let sandbox = crate::stage::sandbox();
    let home = std::env::home_dir().filter(|home| home.exists());
    let wide = ["/", "/usr", "/etc", "/tmp", "/home", "/run"].map(std::path::PathBuf::from);
    for wide in wide.into_iter().chain(home) {
        let opened = Terminal::open(Setup::new(&wide), Arc::clone(&sandbox));
        assert!(matches!(opened, Err(TerminalError::SpaceTooWide(_))), "{}", wide.display());
    }
}

/// A server of tools outlives whatever it was started from.
#[test]
fn a_programs_home_and_tmp_are_there_as_long_as_it_runs() {
    let Here { terminal, space } = here();
    let script = "read go; echo kept > $HOME/kept && echo kept > /tmp/kept && cat $HOME/kept /tmp/kept";
    let spec = ProgramSpec {
        program: "/bin/sh".into(),
        arguments: vec!["-c".into(), script.into()],
        environment: Vec::new(),
    };
    let mut program = terminal.program(&spec, None).unwrap();
    drop(terminal);
    program.stdin.write_all(b"go\n").unwrap();
    let (mut said, mut errors) = (String::new(), String::new());
    program.stdout.read_to_string(&mut said).unwrap();
    program.stderr.read_to_string(&mut errors).unwrap();
    assert_eq!((said.as_str(), errors.as_str()), ("kept\nkept\n", ""));
    drop(space);
}
