//! Commands in pseudo-terminals, inside the system's sandbox, in the folder of a Space.
//!
//! One terminal and one process tree a command: an exit code is the command's own, and what a command leaves behind
//! ends with it. Every command begins in the Space's folder, or in a folder within it; nothing of the shell's state is
//! carried over, but `$HOME` and `/tmp` stay the same for a session. A command that outlives its turn is a job.
//!
//! Output is hostile: it becomes lines of styled text ([`Line`]) for people and plain text for the model, within
//! bounds; queries are never answered. Without a sandbox nothing runs unless the caller says that the user allowed it.
//! Whether a command may run is asked by the caller; [`policy`] says what there is to know about it.

pub mod confine;
mod job;
pub mod policy;
mod program;
mod sandbox;
mod screen;

mod watch;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use crate::files::{SpacePath, Why};

pub use job::{Exit, Job, JobId, Outcome, Page, Stopped, Update};
pub use program::{Ends, Program, ProgramSpec};
pub use protocol::terminal::{Color, Line, Span, Style};
pub use sandbox::{Confinement, Network, ProxyAt, Sandbox, Strength};

/// Ended jobs that can still be read.
const ENDED_KEPT: usize = 32;
/// Jobs that may run at once.
const RUNNING: usize = 16;
/// How far a command, and who reads what it prints, gives way to the user's own programs: what `nice` takes where nothing is
/// said.
#[cfg(target_os = "linux")]
const GIVES_WAY: i32 = 10;

/// What a session's commands run in.
#[derive(Debug, Clone)]
pub struct Setup {
    /// The session's folder: the only one that is written to.
    pub space: PathBuf,
    /// More folders that commands may read, say a toolchain in the user's home. Never written to.
    pub readable: Vec<PathBuf>,
    pub limits: Limits,
    /// `.git/config` and `.git/hooks` run code outside of the sandbox later, so they stay as they are unless allowed.
    pub git: GitConfig,
}

impl Setup {
    pub fn new(space: impl Into<PathBuf>) -> Self {
        Self {
            space: space.into(),
            readable: Vec::new(),
            limits: Limits::default(),
            git: GitConfig::ReadOnly,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GitConfig {
    ReadOnly,
    Writable,
}

/// What one command may take. A command that takes more is stopped, and its outcome says of what.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    pub processes: u32,
    /// Bytes of memory of all its processes.
    pub memory: u64,
    /// Bytes of output.
    pub output: u64,
    /// Bytes of one file.
    pub file: u64,
    /// Seconds of processor time of one process.
    pub cpu: u64,
    pub open_files: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            processes: 512,
            memory: 4 << 30,
            output: 64 << 20,
            file: 4 << 30,
            cpu: 30 * 60,
            open_files: 4096,
        }
    }
}

/// One command as it is to be run.
#[derive(Debug, Clone)]
pub struct CommandSpec {
    /// Run by `bash -c`, or `sh -c` where there is no bash.
    pub command: String,
    /// Relative to the Space, or absolute within it. `None`: the Space itself.
    pub cwd: Option<PathBuf>,
    /// `None` only for a job that is meant to stay, say a server.
    pub timeout: Option<Duration>,
    pub rows: u16,
    pub columns: u16,
    pub unconfined: Unconfined,
    /// What of the Space is closed to commands (files that hold keys, what runs something later) and open to this one.
    pub opened: Vec<SpacePath>,
    /// `None`: it reaches no network.
    pub network: Option<Network>,
    /// A program and its arguments, without a shell, in the place of `command`.
    pub direct: Option<(PathBuf, Vec<OsString>)>,
}

impl CommandSpec {
    pub fn new(command: impl Into<String>) -> Self {
        Self {
            command: command.into(),
            cwd: None,
            timeout: Some(Duration::from_secs(120)),
            rows: 40,
            columns: 120,
            unconfined: Unconfined::Refuse,
            opened: Vec::new(),
            network: None,
            direct: None,
        }
    }

    /// What is run: the program itself, or a shell with the command.
    fn words(&self) -> (PathBuf, Vec<OsString>) {
        self.direct.clone().unwrap_or_else(|| sandbox::shell(&self.command))
    }
}

/// What to do where the system has no sandbox.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unconfined {
    Refuse,
    /// The user was asked for this very command and said yes.
    Allowed,
}

#[derive(Debug, thiserror::Error)]
pub enum TerminalError {
    #[error("commands cannot be confined here ({why}); allow this command without a sandbox, or mend that")]
    NoSandbox { why: String },
    #[error("commands get no network here: {why}")]
    NoNetwork { why: String },
    #[error("the sandbox could not be set up, so the command was not run: {said}")]
    SandboxFailed { said: String },
    #[error("{} is too wide for a Space; choose a folder inside of it", .0.display())]
    SpaceTooWide(PathBuf),
    #[error("the folder {} cannot be used: {source}", path.display())]
    Folder { path: PathBuf, source: std::io::Error },
    #[error("the folder {} is not within the Space", .0.display())]
    OutsideSpace(PathBuf),
    #[error(
        "the command has a NUL character or is longer than 128 KiB; write it into a file of the Space and run that"
    )]
    Command,
    #[error("{RUNNING} jobs are running already; stop one first")]
    TooManyJobs,
    #[error("there is no job {0}; list the jobs")]
    NoSuchJob(JobId),
    #[error("job {0} has ended")]
    Ended(JobId),
    #[error("job {0} does not read what was already written to it; try again later")]
    NotReading(JobId),
    #[error("the terminal could not be opened: {0}")]
    Pty(String),
}

/// A session's commands. Dropping it ends them all.
pub struct Terminal {
    sandbox: Arc<Sandbox>,
    place: Arc<sandbox::Enclosure>,
    jobs: Mutex<Jobs>,
}

#[derive(Default)]
struct Jobs {
    last: u64,
    all: BTreeMap<JobId, Arc<Job>>,
}

impl Terminal {
    /// `sandbox` is probed once by the application and shared by all sessions.
    pub fn open(setup: Setup, sandbox: Arc<Sandbox>) -> Result<Self, TerminalError> {
        let place = Arc::new(sandbox::Enclosure::new(setup)?);
        Ok(Self { sandbox, place, jobs: Mutex::default() })
    }

    /// How commands are confined here: for the banner and for the card that asks.
    pub fn strength(&self) -> &Strength {
        self.sandbox.strength()
    }

    pub fn space(&self) -> &Path {
        self.place.space()
    }

    /// Runs one command to its end. `on_update` gets lines as they change, at most 25 times a second. Cancelled,
    /// timed out or dropped, the command ends with all it has started.
    pub async fn run(
        &self,
        spec: CommandSpec,
        on_update: impl FnMut(Update) + Send + 'static,
        cancel: CancellationToken,
    ) -> Result<Outcome, TerminalError> {
        let job = self.start(spec, on_update)?;
        let dropped = StopOnDrop(&job);
        let outcome = tokio::select! {
            outcome = job.wait() => outcome,
            () = cancel.cancelled() => {
                job.stop(Stopped::Cancelled);
                job.wait().await
            }
        };
        std::mem::forget(dropped);
        self.forget(job.id());
        outcome
    }

    /// Starts a command and leaves it running. It is read and stopped as a job.
    pub fn start(
        &self,
        spec: CommandSpec,
        on_update: impl FnMut(Update) + Send + 'static,
    ) -> Result<Arc<Job>, TerminalError> {
        if spec.command.contains('\0') || spec.command.len() > 128 << 10 {
            return Err(TerminalError::Command);
        }
        let id = {
            let mut jobs = self.jobs();
            if jobs.all.values().filter(|job| job.is_running()).count() >= RUNNING {
                return Err(TerminalError::TooManyJobs);
            }
            jobs.last += 1;
            JobId(jobs.last)
        };
        let found = self.place.look();
        let mut before = self.place.runs_later(&found);
        // What those made that go on is not there by anybody's yes.
        let running = self.list();
        let running = running.iter().filter(|job| job.is_running());
        running
            .for_each(|job| before.retain(|path, _| job.before().contains_key(path) || job.may_make(path)));
        let launch = self.sandbox.launch(&self.place, &spec, &found)?;
        let mut job = job::start(id, spec, launch, self.place.limits(), Box::new(on_update))?;
        job.note_before(before, found.closed());
        let job = Arc::new(job);
        let mut jobs = self.jobs();
        jobs.all.insert(id, Arc::clone(&job));
        let ended: Vec<JobId> =
            jobs.all.values().filter(|job| !job.is_running()).map(|job| job.id()).collect();
        for id in ended.iter().take(ended.len().saturating_sub(ENDED_KEPT)) {
            jobs.all.remove(id);
        }
        Ok(job)
    }

    /// What runs something later, outside of the sandbox, that was not there when a command began: the outermost paths.
    pub fn made_by(&self, job: &Job) -> Vec<(SpacePath, Why)> {
        let now = self.place.runs_later(&self.place.look());
        let is_new = |path: &SpacePath| !job.before().contains_key(path) && !job.may_make(path);
        now.into_iter().filter(|(path, _)| is_new(path)).collect()
    }

    pub fn job(&self, id: JobId) -> Result<Arc<Job>, TerminalError> {
        self.jobs().all.get(&id).cloned().ok_or(TerminalError::NoSuchJob(id))
    }

    /// Running jobs, and the last ones that ended, oldest first.
    pub fn list(&self) -> Vec<Arc<Job>> {
        self.jobs().all.values().cloned().collect()
    }

    /// Ends all that runs: what worked here was stopped.
    pub fn stop_all(&self) {
        for job in self.list() {
            job.stop(Stopped::Cancelled);
        }
    }

    fn forget(&self, id: JobId) {
        self.jobs().all.remove(&id);
    }

    fn jobs(&self) -> MutexGuard<'_, Jobs> {
        self.jobs.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        self.stop_all();
    }
}

struct StopOnDrop<'a>(&'a Job);

impl Drop for StopOnDrop<'_> {
    fn drop(&mut self) {
        self.0.stop(Stopped::Cancelled);
    }
}
