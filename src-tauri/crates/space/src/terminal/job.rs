//! One command in its own pseudo-terminal: its process, its output, its end.
//!
//! A thread of its own starts the command, watches it and reaps it. It must be the same thread for as long as the
//! command lives: the sandbox ends with the *thread* that started it (`PDEATHSIG`), and only who has not reaped a
//! process yet may signal it by number.

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::sync::mpsc::{SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use portable_pty::{Child, CommandBuilder, MasterPty, PtySize, native_pty_system};
use serde::{Deserialize, Serialize};
use tokio::sync::watch;

use super::sandbox::{Confinement, Launch};
use super::screen::Screen;
use super::watch::{Tree, Watched};
use super::{CommandSpec, Limits, TerminalError};
use crate::files::{SpacePath, Why};
use protocol::terminal::Line;

/// Updates come at most this often, and where each leaves lines out, this often: a window that draws nothing else takes
/// some 80 ms for one without a graphics card.
const PACE: Duration = Duration::from_millis(100);
const FLOOD_PACE: Duration = Duration::from_millis(500);
/// How often limits are looked at.
const WATCH: Duration = Duration::from_millis(if cfg!(target_os = "macos") { 500 } else { 50 });
/// Lines in one update: as fast as a flood goes, nobody reads the others.
const UPDATE_LINES: u64 = 100;
/// Text of an outcome, for the model.
const TEXT: usize = 32 << 10;
/// How long output may keep coming after everything was ended.
const LAST_WORDS: Duration = Duration::from_millis(500);

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct JobId(pub u64);

impl std::fmt::Display for JobId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

/// Lines that changed: whoever draws them drops its lines from `first` on and puts these in their place.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Update {
    pub first: u64,
    pub lines: Vec<Line>,
}

/// Text from a line on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page {
    /// Number of the first line of `text`: later than asked for where older lines are gone.
    pub first: u64,
    pub text: String,
    /// What to ask for next: the first line that may still change.
    pub next: u64,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome {
    pub exit: Exit,
    /// What was said, cleaned: the last state of every line, head and tail where it is long.
    pub text: String,
    /// Bytes the command wrote.
    pub bytes: u64,
    pub lines: u64,
    pub took: Duration,
    pub confinement: Confinement,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Exit {
    /// As a shell says it: 128 and more where a signal ended it.
    Code(u32),
    /// Ended by us.
    Stopped(Stopped),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Stopped {
    Cancelled,
    Timeout,
    Memory,
    Processes,
    Output,
}

pub struct Job {
    id: JobId,
    spec: CommandSpec,
    shared: Arc<Shared>,
    ended: watch::Receiver<Option<Ended>>,
    before: BTreeMap<SpacePath, Why>,
    closed: Vec<SpacePath>,
    hosts: Vec<String>,
}

type Ended = Arc<Result<Outcome, String>>;
type OnUpdate = Box<dyn FnMut(Update) + Send>;

struct Shared {
    state: Mutex<State>,
    wake: Condvar,
}

struct State {
    screen: Screen,
    bytes: u64,
    /// Nobody holds the terminal any more.
    closed: bool,
    stop: Option<Stopped>,
    size: Option<(u16, u16)>,
    input: Option<SyncSender<Vec<u8>>>,
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Job {
    pub fn id(&self) -> JobId {
        self.id
    }

    pub fn command(&self) -> &str {
        &self.spec.command
    }

    /// The hosts that it may reach; empty where it has no network.
    pub fn hosts(&self) -> &[String] {
        &self.hosts
    }

    /// What ran something later when it began, and what holds keys and was closed to it then.
    pub(super) fn note_before(&mut self, before: BTreeMap<SpacePath, Why>, mut closed: Vec<SpacePath>) {
        closed.retain(|path| !self.may_make(path));
        (self.before, self.closed) = (before, closed);
    }

    pub(super) fn before(&self) -> &BTreeMap<SpacePath, Why> {
        &self.before
    }

    /// Whether it was opened to it.
    pub(super) fn may_make(&self, path: &SpacePath) -> bool {
        self.spec.opened.iter().any(|opened| opened.holds(path) || path.holds(opened))
    }

    /// Files and folders that hold keys, which it cannot read where it is confined.
    pub fn closed(&self) -> &[SpacePath] {
        &self.closed
    }

    pub fn is_running(&self) -> bool {
        self.ended.borrow().is_none()
    }

    /// `None` while it runs.
    pub fn outcome(&self) -> Option<Result<Outcome, TerminalError>> {
        self.ended.borrow().as_ref().map(|ended| told(ended))
    }

    pub async fn wait(&self) -> Result<Outcome, TerminalError> {
        let mut ended = self.ended.clone();
        match ended.wait_for(Option::is_some).await {
            Ok(ended) => match ended.as_ref() {
                Some(ended) => told(ended),
                None => Err(TerminalError::Ended(self.id)),
            },
            Err(_) => Err(TerminalError::Ended(self.id)),
        }
    }

    /// Plain text of the lines from number `since` on.
    pub fn read(&self, since: u64) -> Page {
        let state = self.shared.state();
        let (first, lines) = state.screen.lines(since);
        let text: Vec<String> = lines.iter().map(Line::text).collect();
        let next = if self.is_running() { state.screen.settled() } else { state.screen.end() };
        Page { first, text: text.join("\n").trim_end().to_owned(), next }
    }

    /// The lines from number `since` on, for a window that opens later.
    pub fn lines(&self, since: u64) -> Update {
        let (first, lines) = self.shared.state().screen.lines(since);
        Update { first, lines }
    }

    /// Types into the command's terminal. `\r` is Enter, `\x03` Ctrl-C, `\x04` the end of input.
    pub fn write(&self, bytes: &[u8]) -> Result<(), TerminalError> {
        let state = self.shared.state();
        let input = state.input.as_ref().ok_or(TerminalError::Ended(self.id))?;
        input.try_send(bytes.to_vec()).map_err(|error| match error {
            TrySendError::Full(_) => TerminalError::NotReading(self.id),
            TrySendError::Disconnected(_) => TerminalError::Ended(self.id),
        })
    }

    pub fn resize(&self, rows: u16, columns: u16) {
        self.shared.state().size = Some((rows.clamp(1, 500), columns.clamp(1, 1000)));
        self.shared.wake.notify_all();
    }

    /// Ends the command and all it has started. Returns at once; [`Job::wait`] says when it is gone.
    pub fn stop(&self, why: Stopped) {
        self.shared.state().stop.get_or_insert(why);
        self.shared.wake.notify_all();
    }
}

fn told(ended: &Result<Outcome, String>) -> Result<Outcome, TerminalError> {
    match ended {
        Ok(outcome) => Ok(outcome.clone()),
        Err(said) => Err(TerminalError::SandboxFailed { said: said.clone() }),
    }
}

pub(super) fn start(
    id: JobId,
    mut spec: CommandSpec,
    launch: Launch,
    limits: Limits,
    on_update: OnUpdate,
) -> Result<Job, TerminalError> {
    let (end, ended) = watch::channel(None);
    let shared = Arc::new(Shared {
        state: Mutex::new(State {
            screen: Screen::new(),
            bytes: 0,
            closed: false,
            stop: None,
            size: None,
            input: None,
        }),
        wake: Condvar::new(),
    });
    let (tell, started) = sync_channel(1);
    let keeper = {
        let (shared, spec) = (Arc::clone(&shared), spec.clone());
        move || match open(&launch, &spec, &shared, limits) {
            Ok((child, master)) => {
                let _ = tell.send(Ok(()));
                let keeper = Keeper { shared, spec, launch, limits, child, master, on_update };
                let _ = end.send(Some(Arc::new(keeper.keep())));
            }
            Err(error) => {
                let _ = tell.send(Err(error));
            }
        }
    };
    std::thread::Builder::new().name(format!("job-{id}")).spawn(keeper).map_err(pty)?;
    started.recv().map_err(pty)??;
    // What leads it out ends with it, however long it can be read.
    let hosts = spec.network.take().map(|network| network.hosts).unwrap_or_default();
    Ok(Job { id, spec, shared, ended, before: BTreeMap::new(), closed: Vec::new(), hosts })
}

fn pty(error: impl std::fmt::Display) -> TerminalError {
    TerminalError::Pty(error.to_string())
}

type Opened = (Box<dyn Child + Send + Sync>, Box<dyn MasterPty + Send>);

fn open(
    launch: &Launch,
    spec: &CommandSpec,
    shared: &Arc<Shared>,
    limits: Limits,
) -> Result<Opened, TerminalError> {
    let pair = native_pty_system().openpty(size(spec.rows, spec.columns)).map_err(pty)?;
    let mut command = CommandBuilder::new(&launch.program);
    command.args(&launch.arguments);
    command.env_clear();
    for (name, value) in &launch.environment {
        command.env(name, value);
    }
    command.cwd(&launch.folder);
    let mut reader = pair.master.try_clone_reader().map_err(pty)?;
    let mut writer = pair.master.take_writer().map_err(pty)?;
    let child = pair.slave.spawn_command(command).map_err(pty)?;
    drop(pair.slave);

    let output = Arc::clone(shared);
    let read = move || {
        // Of this thread: however much is printed, the windows come first, as they do before the command itself.
        #[cfg(target_os = "linux")]
        let _ = rustix::process::setpriority_process(None, super::GIVES_WAY);
        let mut buffer = vec![0; 64 << 10];
        // Linux says the end of a pseudo-terminal by an error.
        while let Ok(read @ 1..) = reader.read(&mut buffer) {
            let mut state = output.state();
            state.bytes += read as u64;
            if state.bytes > limits.output {
                state.stop.get_or_insert(Stopped::Output);
            } else {
                state.screen.feed(&buffer[..read]);
            }
            drop(state);
            output.wake.notify_all();
        }
        output.state().closed = true;
        output.wake.notify_all();
    };
    std::thread::Builder::new().name("job-output".into()).spawn(read).map_err(pty)?;

    let (input, typed) = sync_channel::<Vec<u8>>(64);
    // Blocks where the command does not read; its end makes the write fail.
    let write = move || {
        while let Ok(bytes) = typed.recv() {
            if writer.write_all(&bytes).and_then(|()| writer.flush()).is_err() {
                break;
            }
        }
    };
    std::thread::Builder::new().name("job-input".into()).spawn(write).map_err(pty)?;
    shared.state().input = Some(input);
    Ok((child, pair.master))
}

fn size(rows: u16, cols: u16) -> PtySize {
    PtySize { rows, cols, pixel_width: 0, pixel_height: 0 }
}

struct Keeper {
    shared: Arc<Shared>,
    spec: CommandSpec,
    launch: Launch,
    limits: Limits,
    child: Box<dyn Child + Send + Sync>,
    master: Box<dyn MasterPty + Send>,
    on_update: OnUpdate,
}

impl Keeper {
    fn keep(mut self) -> Result<Outcome, String> {
        let began = Instant::now();
        let tree = Tree::of(self.child.as_ref(), self.launch.confinement);
        let (mut due, mut watched) = (began, began);
        let mut quick = 0;
        let mut code = None;
        let stopped = loop {
            let (stop, closed) = self.pause(due, &mut quick);
            if Instant::now() >= due
                && let Some(pace) = self.show()
            {
                due = Instant::now() + pace;
            }
            if let Ok(Some(status)) = self.child.try_wait() {
                code = Some(status.exit_code());
                break self.shared.state().stop.filter(|_| stop.is_some());
            }
            let late = self.spec.timeout.is_some_and(|limit| began.elapsed() >= limit);
            let mut why = stop.or(late.then_some(Stopped::Timeout));
            if why.is_none() && !closed && watched.elapsed() >= WATCH {
                watched = Instant::now();
                why = match tree.watch(&self.limits) {
                    Watched::Within => None,
                    Watched::TooMany => Some(Stopped::Processes),
                    Watched::TooLarge => Some(Stopped::Memory),
                };
            }
            if let Some(why) = why {
                tree.kill();
                let _ = self.child.kill();
                let _ = self.child.wait();
                break Some(why);
            }
        };
        // Without a pid namespace something may have stayed behind.
        tree.kill_leftovers();
        self.last_words();
        self.show();
        let mut state = self.shared.state();
        state.input = None;
        let text = state.screen.text(TEXT);
        if stopped.is_none() && !self.launch.really_ran() {
            return Err(text);
        }
        let exit = stopped.map_or(Exit::Code(code.unwrap_or(u32::MAX)), Exit::Stopped);
        Ok(Outcome {
            exit,
            text,
            bytes: state.bytes,
            lines: state.screen.end(),
            took: began.elapsed(),
            confinement: self.launch.confinement,
        })
    }

    /// Sleeps until something is to be done: something to show, a stop, the end, or a look at the limits.
    fn pause(&self, due: Instant, quick: &mut u32) -> (Option<Stopped>, bool) {
        let mut state = self.shared.state();
        if state.stop.is_none() {
            let until_due = due.saturating_duration_since(Instant::now());
            let wait = match (state.closed, state.screen.is_changed()) {
                // The terminal is closed: the process ends any moment.
                (true, _) => {
                    *quick += 1;
                    Duration::from_millis(if *quick < 100 { 1 } else { 20 })
                }
                (false, true) => until_due.min(WATCH),
                (false, false) => WATCH,
            };
            if !wait.is_zero() {
                let busy = |state: &mut State| {
                    state.stop.is_none()
                        && state.size.is_none()
                        && !(state.closed && *quick == 0)
                        && (Instant::now() < due || !state.screen.is_changed())
                };
                state = self
                    .shared
                    .wake
                    .wait_timeout_while(state, wait, busy)
                    .unwrap_or_else(PoisonError::into_inner)
                    .0;
            }
        }
        if let Some((rows, columns)) = state.size.take() {
            let _ = self.master.resize(size(rows, columns));
        }
        (state.stop, state.closed)
    }

    /// Tells what is new; after how long the next may follow. `None` if nothing is.
    fn show(&mut self) -> Option<Duration> {
        let (update, pace) = {
            let mut state = self.shared.state();
            let changed = state.screen.take_changed()?;
            let from = changed.max(state.screen.end().saturating_sub(UPDATE_LINES));
            let (first, lines) = state.screen.lines(from);
            (Update { first, lines }, if from > changed { FLOOD_PACE } else { PACE })
        };
        (self.on_update)(update);
        Some(pace)
    }

    fn last_words(&self) {
        let state = self.shared.state();
        let _ = self.shared.wake.wait_timeout_while(state, LAST_WORDS, |state| !state.closed);
    }
}
