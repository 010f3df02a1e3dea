//! The watchdog's near side, and what its far side hears: a process beside this one, told what goes down before it does,
//! that lets go of it should this one be killed. What lets go is `watchdog/program.rs`.
//!
//! Its pipe ends with this process, however that ends; what is down then comes up. Started at the first press, and
//! again where it has gone. Nothing here is of one platform, so that all of it is tested on Linux, which has a watchdog of
//! its own that knows the clipboard too.

use std::io::{BufRead, Write as _};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::pressed::Down;
use crate::Button;

#[cfg(not(target_os = "linux"))]
mod program;

#[cfg(not(target_os = "linux"))]
pub(crate) use program::run_watchdog;

/// How long a watchdog may take to read a line.
const LONGEST_WRITE: Duration = Duration::from_millis(500);
/// A watchdog that ends sooner than this is not started again before the next press.
const SHORT_LIFE: Duration = Duration::from_secs(1);

/// One word to the watchdog.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Message {
    Down(Down),
    Up(Down),
}

impl Message {
    fn line(self) -> String {
        let (verb, what) = match self {
            Self::Down(what) => ("down", what),
            Self::Up(what) => ("up", what),
        };
        match what {
            Down::Key(key) => format!("{verb} k{key}\n"),
            Down::Button(Button::Left) => format!("{verb} b1\n"),
            Down::Button(Button::Middle) => format!("{verb} b2\n"),
            Down::Button(Button::Right) => format!("{verb} b3\n"),
        }
    }

    fn read(line: &str) -> Option<Self> {
        let (verb, object) = line.strip_suffix('\n')?.split_once(' ')?;
        let what = match object {
            "b1" => Down::Button(Button::Left),
            "b2" => Down::Button(Button::Middle),
            "b3" => Down::Button(Button::Right),
            key => Down::Key(key.strip_prefix('k')?.parse().ok()?),
        };
        match verb {
            "down" => Some(Self::Down(what)),
            "up" => Some(Self::Up(what)),
            _ => None,
        }
    }
}

/// What is down when the other program has ended, whichever way; last pressed first. What cannot be read ends it too.
#[cfg_attr(target_os = "linux", allow(dead_code, reason = "Linux has a watchdog of its own"))]
pub(crate) fn heard(mut input: impl BufRead) -> Vec<Down> {
    let mut down = Vec::new();
    let mut line = String::new();
    loop {
        line.clear();
        let word = match input.read_line(&mut line) {
            Ok(1..) => Message::read(&line),
            Ok(0) | Err(_) => None,
        };
        match word {
            Some(Message::Down(what)) if !down.contains(&what) => down.insert(0, what),
            Some(Message::Down(_)) => {}
            Some(Message::Up(what)) => down.retain(|one| *one != what),
            None => return down,
        }
    }
}

/// `None` if no command is given.
#[derive(Default)]
pub(crate) struct Watchdog(Option<Arc<Shared>>);

struct Shared {
    command: Vec<String>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    pen: Option<Pen>,
    /// Counts the processes started.
    process: u64,
    down: Vec<Down>,
}

/// Writes to a watchdog on a thread of its own: one that hangs must not hang us.
struct Pen(SyncSender<(String, SyncSender<bool>)>);

impl Pen {
    fn new(pipe: ChildStdin) -> std::io::Result<Self> {
        let (sender, receiver) = sync_channel(1);
        let work = move || write_all(pipe, &receiver);
        std::thread::Builder::new().name("desktop-watchdog-pen".into()).spawn(work)?;
        Ok(Self(sender))
    }

    /// Whether the watchdog has it.
    fn write(&self, line: String) -> bool {
        let (told, written) = sync_channel(1);
        self.0.try_send((line, told)).is_ok() && written.recv_timeout(LONGEST_WRITE) == Ok(true)
    }
}

/// Until nobody writes any more; the pipe ends with it.
fn write_all(mut pipe: ChildStdin, lines: &Receiver<(String, SyncSender<bool>)>) {
    while let Ok((line, told)) = lines.recv() {
        let written = pipe.write_all(line.as_bytes()).is_ok();
        let _late = told.try_send(written);
        if !written {
            return;
        }
    }
}

impl Watchdog {
    pub(crate) fn new(command: Vec<String>) -> Self {
        let is_given = !command.is_empty();
        Self(is_given.then(|| Arc::new(Shared { command, state: Mutex::default() })))
    }

    /// To be called before something is pressed.
    pub(crate) fn down(&self, what: Down) {
        let Some(shared) = &self.0 else { return };
        let mut state = shared.state();
        if !state.down.contains(&what) {
            state.down.push(what);
        } else if state.pen.is_some() {
            // What it watches already needs no second word.
            return;
        }
        let told = state.pen.as_ref().is_some_and(|pen| pen.write(Message::Down(what).line()));
        if !told {
            shared.start(&mut state);
        }
    }

    /// Nothing but this is down any more.
    pub(crate) fn only(&self, down: &[Down]) {
        let Some(shared) = &self.0 else { return };
        let mut state = shared.state();
        let (kept, up): (Vec<Down>, Vec<Down>) =
            std::mem::take(&mut state.down).into_iter().partition(|what| down.contains(what));
        state.down = kept;
        let line: String = up.into_iter().map(|what| Message::Up(what).line()).collect();
        if !line.is_empty() && !state.pen.as_ref().is_some_and(|pen| pen.write(line)) {
            // What comes up needs no watchdog.
            state.pen = None;
        }
    }
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Starts a watchdog, and tells it everything.
    fn start(self: &Arc<Self>, state: &mut State) {
        state.pen = None;
        match self.spawn(&state.down) {
            Ok((child, pen)) => {
                state.pen = Some(pen);
                state.process += 1;
                let (shared, process) = (Arc::downgrade(self), state.process);
                let waited = std::thread::Builder::new().name("desktop-watchdog".into()).spawn(move || {
                    let begun = Instant::now();
                    let ended = wait(child);
                    if let Some(shared) = shared.upgrade() {
                        tracing::debug!(?ended, "the watchdog ended before its time");
                        shared.outlive(process, begun);
                    }
                });
                if let Err(error) = waited {
                    tracing::warn!(%error, "nobody waits for the watchdog's end");
                }
            }
            Err(error) => {
                tracing::warn!(%error, "no watchdog: should this program be killed, keys may stay down");
            }
        }
    }

    fn spawn(&self, down: &[Down]) -> std::io::Result<(Child, Pen)> {
        let Some((program, arguments)) = self.command.split_first() else {
            return Err(std::io::ErrorKind::NotFound.into());
        };
        let mut command = Command::new(program);
        command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        command.env_clear().envs(crate::environment::for_children());
        apart(&mut command);
        let mut child = command.spawn()?;
        let Some(pipe) = child.stdin.take() else { return Err(std::io::ErrorKind::BrokenPipe.into()) };
        let pen = Pen::new(pipe)?;
        let told: String = down.iter().map(|what| Message::Down(*what).line()).collect();
        if pen.write(told) { Ok((child, pen)) } else { Err(std::io::ErrorKind::TimedOut.into()) }
    }

    /// A watchdog has gone: another one is started where it still has something to watchdog.
    fn outlive(self: &Arc<Self>, process: u64, begun: Instant) {
        let mut state = self.state();
        if state.process != process {
            return;
        }
        state.pen = None;
        if !state.down.is_empty() && begun.elapsed() > SHORT_LIFE {
            self.start(&mut state);
        }
    }
}

fn wait(mut child: Child) -> std::io::Result<std::process::ExitStatus> {
    child.wait()
}

/// What a terminal sends to this program (Ctrl+C) is not for the watchdog, nor does it show a window.
fn apart(command: &mut Command) {
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(command, 0);
    #[cfg(windows)]
    {
        /// `CREATE_NEW_PROCESS_GROUP | CREATE_NO_WINDOW`
        const APART: u32 = 0x0000_0200 | 0x0800_0000;
        std::os::windows::process::CommandExt::creation_flags(command, APART);
    }
}

#[cfg(test)]
mod tests;
