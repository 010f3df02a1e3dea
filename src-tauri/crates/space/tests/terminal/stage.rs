//! A Space, a terminal in it, and what a command said.

use std::path::PathBuf;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use space::terminal::{CommandSpec, Outcome, Sandbox, Setup, Strength, Terminal};
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

pub struct Here {
    pub terminal: Terminal,
    pub space: TempDir,
}

/// Names another confiner, for those who cannot read the folder of the build.
pub const CONFINER: &str = "TEST_CONFINER";

pub fn confiner() -> PathBuf {
    let built = || env!("CARGO_BIN_EXE_miki-confine").into();
    std::env::var_os(CONFINER).map_or_else(built, PathBuf::from)
}

pub fn sandbox() -> Arc<Sandbox> {
    static SANDBOX: OnceLock<Arc<Sandbox>> = OnceLock::new();
    Arc::clone(SANDBOX.get_or_init(|| {
        let found = Sandbox::probe(Some(&confiner()));
        assert_eq!(*found.strength(), Strength::Bubblewrap { seccomp: true, landlock: true });
        Arc::new(found)
    }))
}

pub fn here() -> Here {
    here_with(|_| {})
}

pub fn here_with(change: impl FnOnce(&mut Setup)) -> Here {
    let space = tempfile::tempdir().unwrap();
    let mut setup = Setup::new(space.path());
    change(&mut setup);
    Here { terminal: Terminal::open(setup, sandbox()).unwrap(), space }
}

impl Here {
    pub async fn run(&self, command: &str) -> Outcome {
        self.run_spec(CommandSpec::new(command)).await
    }

    pub async fn run_spec(&self, spec: CommandSpec) -> Outcome {
        self.terminal.run(spec, |_| {}, CancellationToken::new()).await.unwrap()
    }

    pub async fn says(&self, command: &str) -> String {
        self.run(command).await.text
    }
}

/// Waits until it is so; how long at most is the case's own bound.
pub fn within(most: Duration, what: &str, mut is_so: impl FnMut() -> bool) {
    let began = Instant::now();
    while !is_so() {
        assert!(began.elapsed() < most, "not within {most:?}: {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Processes of this system whose command line has the mark in it, and which have not ended.
pub fn alive(mark: &str) -> Vec<u32> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir("/proc").unwrap().flatten() {
        let Some(pid) = entry.file_name().to_str().and_then(|name| name.parse::<u32>().ok()) else {
            continue;
        };
        let line = std::fs::read(entry.path().join("cmdline")).unwrap_or_default();
        if pid != std::process::id() && String::from_utf8_lossy(&line).contains(mark) {
            found.push(pid);
        }
    }
    found
}

/// A word that stands in no other command line.
pub fn mark() -> String {
    static LAST: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(0);
    let last = LAST.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
    format!("mark{}x{last}x", std::process::id())
}
