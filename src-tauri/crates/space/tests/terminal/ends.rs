//! How commands end: whatever they do, with everything they started, within a second, and within their limits.

use std::io::{BufRead, BufReader};
use std::time::{Duration, Instant};

use space::terminal::{CommandSpec, Exit, Sandbox, Setup, Stopped, Terminal, Unconfined};
use tokio_util::sync::CancellationToken;

use crate::confinement::told;
use crate::stage::{alive, here, here_with, mark, within};

const GONE: Duration = Duration::from_secs(1);

/// Processes that mean to stay: own session, double fork, deaf to TERM and HUP, and many.
fn stubborn(mark: &str, many: u32) -> String {
    format!(
        "trap '' TERM HUP INT; exec 2>/dev/null
        sleeper() {{ perl -e '$SIG{{$_}} = \"IGNORE\" for qw(TERM HUP INT); sleep 600' {mark}; }}
        setsid perl -e 'sleep 600' {mark} &
        (setsid sh -c '(trap \"\" TERM HUP; exec perl -e \"sleep 600\" {mark}) &' &)
        perl -e 'for (1..{many}) {{ if (!fork) {{ setpgrp; exec \"sleep\", \"600\", \"{mark}\" if 0; sleep 600; exit }} }} sleep 600' {mark} &
        sleeper & sleeper"
    )
}

fn gone(mark: &str) {
    within(GONE, "no survivors", || alive(mark).is_empty());
}

// bar: C15
#[tokio::test(flavor = "multi_thread")]
async fn cancelled_or_too_late_a_command_leaves_no_process_behind() {
    let here = here_with(|setup| setup.limits.processes = 2_000);
    for many in [3, 500] {
        let mark = mark();
        let cancel = CancellationToken::new();
        let stopper = {
            let (cancel, mark) = (cancel.clone(), mark.clone());
            std::thread::spawn(move || {
                within(Duration::from_secs(20), "all are there", || alive(&mark).len() > many as usize);
                cancel.cancel();
                gone(&mark);
            })
        };
        let outcome =
            here.terminal.run(CommandSpec::new(stubborn(&mark, many)), |_| {}, cancel).await.unwrap();
        assert_eq!(outcome.exit, Exit::Stopped(Stopped::Cancelled));
        stopper.join().unwrap();
        gone(&mark);
    }
    let mark = mark();
    let spec = CommandSpec { timeout: Some(Duration::from_secs(1)), ..CommandSpec::new(stubborn(&mark, 20)) };
    let began = Instant::now();
    assert_eq!(here.run_spec(spec).await.exit, Exit::Stopped(Stopped::Timeout));
    assert!(began.elapsed() < Duration::from_secs(2), "{:?}", began.elapsed());
    gone(&mark);
}

// bar: C15
#[tokio::test(flavor = "multi_thread")]
async fn what_a_command_leaves_in_the_background_ends_with_it_and_with_the_terminal() {
    let here = here();
    let first = mark();
    let outcome = here.run(&format!("(setsid perl -e 'sleep 600' {first} &) ; sleep 0.2; echo done")).await;
    assert_eq!((outcome.exit, outcome.text.as_str()), (Exit::Code(0), "done"));
    gone(&first);

    let second = mark();
    here.terminal.start(CommandSpec::new(stubborn(&second, 5)), |_| {}).unwrap();
    within(Duration::from_secs(10), "they are there", || alive(&second).len() > 5);
    drop(here);
    gone(&second);
}

// bar: C15
#[tokio::test(flavor = "multi_thread")]
async fn a_run_that_is_dropped_ends() {
    let here = std::sync::Arc::new(here());
    let mark = mark();
    let task = tokio::spawn({
        let (here, command) = (std::sync::Arc::clone(&here), stubborn(&mark, 2));
        async move { here.run(&command).await }
    });
    within(Duration::from_secs(10), "they are there", || alive(&mark).len() > 2);
    task.abort();
    gone(&mark);
}

/// Weaker: what means to escape can. What does not is ended.
#[tokio::test(flavor = "multi_thread")]
async fn without_a_sandbox_a_stopped_command_ends_with_its_children() {
    let space = tempfile::tempdir().unwrap();
    let sandbox = std::sync::Arc::new(Sandbox::none("tried"));
    let terminal = Terminal::open(Setup::new(space.path()), sandbox).unwrap();
    let mark = mark();
    let command = format!(
        "for i in 1 2 3; do setsid perl -e '$SIG{{TERM}} = \"IGNORE\"; sleep 600' {mark} & done; wait"
    );
    let spec = CommandSpec { unconfined: Unconfined::Allowed, ..CommandSpec::new(command) };
    let job = terminal.start(spec, |_| {}).unwrap();
    within(Duration::from_secs(10), "they are there", || alive(&mark).len() > 3);
    job.stop(Stopped::Cancelled);
    assert_eq!(job.wait().await.unwrap().exit, Exit::Stopped(Stopped::Cancelled));
    gone(&mark);
}

// bar: C15
#[test]
fn killed_without_a_word_we_leave_no_process_behind() {
    for _ in 0..5 {
        let mark = mark();
        // Our own process has the mark in its environment only.
        let mut child = told(&stubborn(&mark, 100)).spawn().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        assert!(lines.any(|line| line.unwrap() == "started"));
        within(Duration::from_secs(20), "all are there", || alive(&mark).len() > 100);
        child.kill().unwrap();
        child.wait().unwrap();
        gone(&mark);
    }
}

fn own_memory() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("RssAnon:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap() << 10
}

// bar: C16
#[tokio::test]
async fn memory_is_bounded_for_one_process_and_for_all_together() {
    let here = here_with(|setup| setup.limits.memory = 200 << 20);
    let outcome = here.run("perl -e 'my @a; push @a, \"x\" x (1 << 20) while 1'").await;
    assert_ne!(outcome.exit, Exit::Code(0), "{outcome:?}");
    let outcome = here
        .run("for i in 1 2 3 4 5 6; do perl -e 'my $a = \"x\" x (60 << 20); sleep 60' & done; wait")
        .await;
    assert_eq!(outcome.exit, Exit::Stopped(Stopped::Memory));
    // Files in shared memory are no way around it.
    let outcome = here.run("dd if=/dev/zero of=/dev/shm/a bs=1M count=300").await;
    assert_eq!(outcome.exit, Exit::Code(1), "{outcome:?}");
}

// bar: C16
#[tokio::test(flavor = "multi_thread")]
async fn endless_output_is_cut_off_and_our_memory_stays_bounded() {
    let here = here_with(|setup| setup.limits.output = 4 << 20);
    let before = own_memory();
    for endless in
        ["yes", "cat /dev/zero", "cat /dev/urandom", "tr '\\0' x < /dev/zero", "yes $'\\e[31mred' "]
    {
        let outcome = here.run(endless).await;
        assert_eq!(outcome.exit, Exit::Stopped(Stopped::Output), "{endless}");
        assert!(outcome.text.len() <= 40 << 10, "{endless}: {}", outcome.text.len());
        assert!(outcome.bytes < 16 << 20, "{}", outcome.bytes);
        assert!(!outcome.text.contains('\u{1b}') && !outcome.text.contains('\0'));
    }
    let grown = own_memory().saturating_sub(before);
    assert!(grown < 64 << 20, "{grown}");
}

#[tokio::test]
async fn a_file_has_a_largest_size_and_a_process_a_longest_time() {
    let here = here_with(|setup| {
        setup.limits.file = 1 << 20;
        setup.limits.cpu = 1;
    });
    assert_ne!(here.run("dd if=/dev/zero of=big bs=1M count=8").await.exit, Exit::Code(0));
    assert!(here.space.path().join("big").metadata().unwrap().len() <= 2 << 20);
    let outcome = here.run("perl -e '1 while 1'").await;
    assert!(matches!(outcome.exit, Exit::Code(137 | 152)), "{outcome:?}");
}
