//! What the tools of the terminal share: which terminal it is, and how its words become the contract's.

use std::sync::Arc;

use protocol::tool::{ToolError, ToolErrorKind};
use serde_json::{Value, json};
use space::files::{FileError, SpacePath, Why};
use space::terminal::{Exit, Job, JobId, Stopped, Strength, Terminal, TerminalError};

use super::{Context, Outcome, files, tool_error};
use crate::{Ports, untrusted};

/// Characters of a command's line for people.
const LINE_CHARS: usize = 120;
/// Characters of output in one answer: its beginning and its end, where it is longer.
const OUTPUT_CHARS: usize = 12_000;

/// Paths in one answer.
const MOST_PATHS: usize = 10;
/// Ends the name of what is not left where it would run.
const HELD: &str = ".held";

pub(super) fn terminal(cx: &Context) -> Result<Arc<Terminal>, ToolError> {
    cx.ports.terminal.clone().ok_or_else(none)
}

/// Why a command asks where nothing confines it.
pub(super) fn unconfined(why: &str) -> String {
    format!("nothing confines commands here ({why})")
}

pub(super) fn none() -> ToolError {
    tool_error(
        ToolErrorKind::NotAvailable,
        "not available here: this session has no folder to run commands in",
    )
}

pub(super) fn job(cx: &Context, number: u32) -> Result<Arc<Job>, ToolError> {
    terminal(cx)?.job(JobId(number.into())).map_err(|error| from_terminal(&error))
}

pub(super) fn shown(line: &str) -> String {
    untrusted::line(line, LINE_CHARS)
}

/// How a command ended, for people and for the model.
pub(super) fn ended(exit: &Exit) -> (String, Value) {
    match exit {
        Exit::Code(0) => ("done".into(), json!(0)),
        Exit::Code(code) => (format!("ended with {code}"), json!(code)),
        Exit::Stopped(why) => {
            let why = match why {
                Stopped::Cancelled => "stopped",
                Stopped::Timeout => "stopped: its time was up",
                Stopped::Memory => "stopped: it took too much memory",
                Stopped::Processes => "stopped: it started too many processes",
                Stopped::Output => "stopped: it wrote too much",
            };
            (why.into(), json!(why))
        }
    }
}

/// The beginning and the end of a long text, with what is left out between them.
pub(super) fn bounded(text: &str) -> String {
    let (text, _) = untrusted::clean(text);
    let length = text.chars().count();
    if length <= OUTPUT_CHARS {
        return text;
    }
    let half = OUTPUT_CHARS / 2;
    let head: String = text.chars().take(half).collect();
    let tail: String = text.chars().skip(length - half).collect();
    format!("{head}\n[... {} characters left out ...]\n{tail}", length - OUTPUT_CHARS)
}

pub(super) fn from_terminal(error: &TerminalError) -> ToolError {
    let kind = match error {
        TerminalError::NoSandbox { .. }
        | TerminalError::NoNetwork { .. }
        | TerminalError::SandboxFailed { .. }
        | TerminalError::SpaceTooWide(_) => ToolErrorKind::NotAvailable,
        TerminalError::OutsideSpace(_) => ToolErrorKind::Forbidden,
        TerminalError::Command | TerminalError::Folder { .. } => ToolErrorKind::BadArguments,
        TerminalError::NoSuchJob(_) => ToolErrorKind::NotFound,
        TerminalError::TooManyJobs
        | TerminalError::Ended(_)
        | TerminalError::NotReading(_)
        | TerminalError::Pty(_) => ToolErrorKind::Failed,
    };
    tool_error(kind, untrusted::line(&error.to_string(), 500))
}

/// A command that failed may have missed what is closed to it.
pub(super) fn tell_closed(told: &mut Outcome, job: &Job) {
    let closed: Vec<_> = job.closed().iter().take(MOST_PATHS).map(files::shown).collect();
    if !closed.is_empty() && told.data.is_object() {
        told.data["closed"] = json!(closed);
    }
}

/// What runs something later, outside of the sandbox, does not stay where a command has put it unasked: it gets another
/// name, and whoever wants it there asks for it by its own.
pub(super) async fn hold_back(cx: &Context, told: &mut Outcome, job: &Arc<Job>) {
    let held = held_back(&cx.ports, job).await;
    for (path, moved, why) in held.iter().take(MOST_PATHS) {
        let (path, why) = (files::shown(path), files::said(*why));
        told.say(&match moved {
            Ok(name) => format!(
                "{path} {why}, and was not asked for: it is {} now",
                untrusted::line(name, LINE_CHARS)
            ),
            Err(error) => format!(
                "{path} {why}, was not asked for, and is still there ({})",
                untrusted::line(error, LINE_CHARS)
            ),
        });
    }
    if !held.is_empty() {
        told.effect = protocol::tool::Effect::Unverified;
    }
}

/// What was held back of what a command has made: its path, its new name or why it has none, what it is.
type Held = (SpacePath, Result<String, String>, Why);

pub(crate) async fn held_back(ports: &Ports, job: &Arc<Job>) -> Vec<Held> {
    let Ports { space: Some(space), terminal: Some(terminal), keep: Some(keep), .. } = ports.clone() else {
        return Vec::new();
    };
    if matches!(terminal.strength(), Strength::None { .. }) {
        return Vec::new();
    }
    let job = Arc::clone(job);
    let work = move || {
        let mut held: Vec<Held> = Vec::new();
        for (path, why) in terminal.made_by(&job) {
            // A stop does not leave it there.
            let changes = space.changes(&*keep, &|| false);
            let names = (1..20).map(|number| match number {
                1 => format!("{path}{HELD}"),
                number => format!("{path}{HELD}-{number}"),
            });
            for name in names {
                let Ok(to) = space.path(&name) else { break };
                let moved = match changes.move_to(&path, &to) {
                    Err(FileError::Exists { .. }) => continue,
                    moved => moved,
                };
                held.push((path.clone(), moved.map(|_| name).map_err(|error| error.to_string()), why));
                break;
            }
        }
        held
    };
    tokio::task::spawn_blocking(work).await.unwrap_or_default()
}
