//! What the tools of the terminal share: which terminal it is, and how its words become the contract's.

use std::sync::Arc;

use protocol::tool::{ToolError, ToolErrorKind};
use serde_json::{Value, json};
use space::terminal::{Exit, Job, JobId, Stopped, Terminal, TerminalError};

use super::{Context, tool_error};
use crate::untrusted;

/// Characters of a command's line for people.
const LINE_CHARS: usize = 120;
/// Characters of output in one answer: its beginning and its end, where it is longer.
const OUTPUT_CHARS: usize = 12_000;

pub(super) fn terminal(cx: &Context) -> Result<Arc<Terminal>, ToolError> {
    cx.ports.terminal.clone().ok_or_else(none)
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
