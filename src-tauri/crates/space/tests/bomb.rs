//! A fork bomb in the real sandbox. Alone in its program: for root the system counts no processes, so that until the bomb is
//! ended no other test could start any.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests")]

#[allow(dead_code, reason = "helpers of other tests")]
#[path = "terminal/stage.rs"]
mod stage;

use std::time::{Duration, Instant};

use space::terminal::{CommandSpec, Exit, Stopped};

use stage::{alive, here_with, mark, within};

/// Whether others get their turn: how late a sleep of 5 ms came back at most.
fn latest<T>(during: impl FnOnce() -> T) -> (T, Duration) {
    let stop = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false));
    let measure = {
        let stop = std::sync::Arc::clone(&stop);
        std::thread::spawn(move || {
            let mut most = Duration::ZERO;
            while !stop.load(std::sync::atomic::Ordering::Relaxed) {
                let began = Instant::now();
                std::thread::sleep(Duration::from_millis(5));
                most = most.max(began.elapsed().saturating_sub(Duration::from_millis(5)));
            }
            most
        })
    };
    let done = during();
    stop.store(true, std::sync::atomic::Ordering::Relaxed);
    (done, measure.join().unwrap())
}

// bar: C16
#[test]
fn a_fork_bomb_is_held_and_ended_while_others_get_their_turn() {
    // The bounds are for a quiet machine; this one may be building at the same time, and then is not in one of three.
    let most = Duration::from_secs(1);
    let missed: Vec<(Duration, Duration)> =
        (0..3).map(|_| bomb()).take_while(|(late, survived)| *late >= most || *survived >= most).collect();
    assert!(missed.len() < 3, "{missed:?}");
}

/// How late others got their turn while one was held and ended, and how long some of it was still there then.
fn bomb() -> (Duration, Duration) {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let here = here_with(|setup| setup.limits.processes = 100);
    let mark = mark();
    let bomb = format!("exec 2>/dev/null; bomb() {{ bomb {mark} | bomb {mark}; }}; bomb; # {mark}");
    let spec = CommandSpec { timeout: Some(Duration::from_secs(3)), ..CommandSpec::new(bomb) };
    let (outcome, late) = latest(|| runtime.block_on(here.run_spec(spec)));
    assert!(
        matches!(outcome.exit, Exit::Stopped(Stopped::Processes | Stopped::Timeout) | Exit::Code(_)),
        "{outcome:?}"
    );
    let ended = Instant::now();
    within(Duration::from_secs(30), "no survivors", || alive(&mark).is_empty());
    (late, ended.elapsed())
}
