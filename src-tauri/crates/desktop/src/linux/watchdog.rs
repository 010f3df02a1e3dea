//! The watchdog's near side: a process beside this one, told what goes down before it does, that lets go of it should
//! this one be killed. Its far side is `watchdog/program.rs`.
//!
//! Started at the first press, and again where it has gone; telling it is one small write that never waits.

use std::collections::BTreeSet;
use std::io::Write as _;
use std::os::unix::process::CommandExt as _;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::OFlags;

use super::pressed::Down;

pub(super) mod program;

pub(crate) use self::program::run_watchdog;

/// How long a watchdog may take to read what the clipboard held.
const LONGEST_WRITE: Duration = Duration::from_millis(500);
/// A watchdog that ends sooner than this is not started again before the next press.
const SHORT_LIFE: Duration = Duration::from_secs(1);

/// One word to the watchdog.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Message {
    Down(Down),
    Up(Down),
    /// A pointer and a keyboard of ours with this name are about to be there.
    Pair(String),
    /// So many bytes of the clipboard's earlier content follow.
    Keep(usize),
    /// The clipboard needs no keeping any more.
    Forget,
    /// The program ends as it should.
    End,
}

impl Message {
    pub(super) fn line(&self) -> String {
        match self {
            Self::Down(what) => format!("down {}\n", name(*what)),
            Self::Up(what) => format!("up {}\n", name(*what)),
            Self::Pair(name) => format!("pair {name}\n"),
            Self::Keep(length) => format!("keep {length}\n"),
            Self::Forget => "forget\n".into(),
            Self::End => "end\n".into(),
        }
    }

    pub(super) fn read(line: &str) -> Option<Self> {
        let (verb, object) = match line.trim_end().split_once(' ') {
            Some((verb, object)) => (verb, Some(object)),
            None => (line.trim_end(), None),
        };
        Some(match verb {
            "down" => Self::Down(parse(object?)?),
            "up" => Self::Up(parse(object?)?),
            "pair" => Self::Pair(object?.to_owned()),
            "keep" => Self::Keep(object?.parse().ok()?),
            "forget" => Self::Forget,
            "end" => Self::End,
            _ => return None,
        })
    }
}

fn name(what: Down) -> String {
    match what {
        Down::Key(code) => format!("k{code}"),
        Down::Button(number) => format!("b{number}"),
    }
}

fn parse(name: &str) -> Option<Down> {
    if let Some(code) = name.strip_prefix('k') {
        return code.parse().ok().map(Down::Key);
    }
    name.strip_prefix('b')?.parse().ok().map(Down::Button)
}

/// `None` if no command is given.
pub(super) struct Watchdog(Option<Arc<Shared>>);

struct Shared {
    command: Vec<String>,
    display: Option<String>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    pipe: Option<ChildStdin>,
    /// Counts the processes started.
    process: u64,
    down: BTreeSet<Down>,
    pairs: BTreeSet<String>,
    kept: Option<KeptClipboard>,
    ended: bool,
}

struct KeptClipboard {
    id: u64,
    content: Vec<u8>,
}

impl Watchdog {
    pub(super) fn new(command: Vec<String>, display: Option<String>) -> Self {
        let is_given = !command.is_empty();
        Self(is_given.then(|| Arc::new(Shared { command, display, state: Mutex::default() })))
    }

    /// To be called before something is pressed.
    pub(super) fn down(&self, what: Down) {
        if let Some(shared) = &self.0 {
            let mut state = shared.state();
            // What it watches already needs no second word, where there is a watchdog.
            if state.down.insert(what) || state.pipe.is_none() {
                shared.tell(&mut state, &Message::Down(what));
            }
        }
    }

    /// To be called before a pair is made. It goes with this program, whichever way that ends.
    pub(super) fn pair(&self, name: &str) {
        if let Some(shared) = &self.0 {
            let mut state = shared.state();
            state.pairs.insert(name.to_owned());
            shared.tell(&mut state, &Message::Pair(name.to_owned()));
        }
    }

    /// Nothing but this is down any more.
    pub(super) fn only(&self, down: &BTreeSet<Down>) {
        if let Some(shared) = &self.0 {
            let mut state = shared.state();
            let up: Vec<Down> = state.down.difference(down).copied().collect();
            for what in up {
                state.down.remove(&what);
                shared.tell(&mut state, &Message::Up(what));
            }
        }
    }

    /// Has the clipboard's earlier content put back, should this process be killed. The number names it.
    pub(super) fn keep(&self, content: Vec<u8>) -> u64 {
        let Some(shared) = &self.0 else { return 0 };
        let mut state = shared.state();
        let id = state.kept.as_ref().map_or(1, |kept| kept.id + 1);
        let word = Message::Keep(content.len());
        state.kept = Some(KeptClipboard { id, content });
        shared.tell(&mut state, &word);
        id
    }

    /// Someone else has copied something, or the content went back to where it came from.
    pub(super) fn forget(&self, id: u64) {
        if let Some(shared) = &self.0 {
            let mut state = shared.state();
            if state.kept.as_ref().is_some_and(|kept| kept.id == id) {
                state.kept = Some(KeptClipboard { id, content: Vec::new() });
                shared.tell(&mut state, &Message::Forget);
            }
        }
    }

    pub(super) fn end(&self) {
        if let Some(shared) = &self.0 {
            let mut state = shared.state();
            state.ended = true;
            if let Some(mut pipe) = state.pipe.take() {
                // Where it has gone already, all the better.
                let _gone = pipe.write_all(Message::End.line().as_bytes());
            }
        }
    }
}

impl Drop for Watchdog {
    fn drop(&mut self) {
        self.end();
    }
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Tells the watchdog that runs, or starts one and tells it everything.
    fn tell(self: &Arc<Self>, state: &mut State, word: &Message) {
        if state.ended {
            return;
        }
        if let Some(pipe) = &mut state.pipe {
            let told = match (word, &state.kept) {
                (Message::Keep(_), Some(kept)) => write_kept(pipe, &kept.content),
                _ => write(pipe, word.line().as_bytes()),
            };
            match told {
                Ok(()) => return,
                Err(error) => tracing::debug!(%error, "the watchdog has gone or hangs; another is started"),
            }
            state.pipe = None;
        }
        // What comes up needs no watchdog.
        if matches!(word, Message::Down(_) | Message::Pair(_) | Message::Keep(_)) {
            self.start(state);
        }
    }

    fn start(self: &Arc<Self>, state: &mut State) {
        match self.spawn(state) {
            Ok((child, pipe)) => {
                state.pipe = Some(pipe);
                state.process += 1;
                let (shared, process) = (Arc::clone(self), state.process);
                let waited = std::thread::Builder::new()
                    .name("desktop-watchdog".into())
                    .spawn(move || shared.outlive(child, process));
                if let Err(error) = waited {
                    tracing::warn!(%error, "nobody waits for the watchdog's end");
                }
            }
            Err(error) => {
                tracing::warn!(%error, "no watchdog: should this program be killed, keys may stay down");
            }
        }
    }

    fn spawn(&self, state: &State) -> std::io::Result<(Child, ChildStdin)> {
        let Some((program, arguments)) = self.command.split_first() else {
            return Err(std::io::ErrorKind::NotFound.into());
        };
        let mut command = Command::new(program);
        command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        // What a terminal sends to this program's group (Ctrl+C) is not for the watchdog.
        command.process_group(0);
        command.env_clear().envs(crate::environment::for_children());
        if let Some(display) = &self.display {
            command.env("DISPLAY", display);
        }
        let mut child = command.spawn()?;
        let Some(mut pipe) = child.stdin.take() else { return Err(std::io::ErrorKind::BrokenPipe.into()) };
        rustix::fs::fcntl_setfl(&pipe, rustix::fs::fcntl_getfl(&pipe)? | OFlags::NONBLOCK)?;
        if let Some(kept) = state.kept.as_ref().filter(|kept| !kept.content.is_empty()) {
            write_kept(&mut pipe, &kept.content)?;
        }
        let down = state.down.iter().map(|what| Message::Down(*what));
        let pairs = state.pairs.iter().map(|name| Message::Pair(name.clone()));
        let words: String = down.chain(pairs).map(|word| word.line()).collect();
        write(&mut pipe, words.as_bytes())?;
        Ok((child, pipe))
    }

    /// Waits for a watchdog's end, and starts another one where it still has something to watchdog.
    fn outlive(self: Arc<Self>, mut child: Child, process: u64) {
        let begun = Instant::now();
        let ended = child.wait();
        let mut state = self.state();
        if state.ended || state.process != process {
            return;
        }
        tracing::debug!(?ended, "the watchdog ended before its time");
        state.pipe = None;
        if !(state.down.is_empty() && state.pairs.is_empty()) && begun.elapsed() > SHORT_LIFE {
            self.start(&mut state);
        }
    }
}

fn write_kept(pipe: &mut ChildStdin, content: &[u8]) -> std::io::Result<()> {
    write(pipe, Message::Keep(content.len()).line().as_bytes())?;
    write(pipe, content)
}

/// Writes all of it, or fails where the reader takes too long.
fn write(pipe: &mut ChildStdin, mut bytes: &[u8]) -> std::io::Result<()> {
    let end = Instant::now() + LONGEST_WRITE;
    while !bytes.is_empty() {
        match pipe.write(bytes) {
            Ok(0) => return Err(std::io::ErrorKind::WriteZero.into()),
            Ok(written) => bytes = &bytes[written..],
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => {
                let left = end.saturating_duration_since(Instant::now());
                if left.is_zero() {
                    return Err(std::io::ErrorKind::TimedOut.into());
                }
                let left = Timespec { tv_sec: 0, tv_nsec: left.subsec_nanos().into() };
                poll(&mut [PollFd::new(pipe, PollFlags::OUT)], Some(&left))?;
            }
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
