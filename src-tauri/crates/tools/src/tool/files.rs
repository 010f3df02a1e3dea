//! What the tools for files share: their paths, the work off the runtime, and how a folder's errors become the contract's.

use std::io::{self, Read};
use std::sync::Arc;

use protocol::tool::{Change, Changed, Effect, ToolError, ToolErrorKind};
use space::files::{self, Changes, Content, FileError, Keep, Space, SpacePath, Why};

use super::{Context, Env, Outcome, Plan, bad_arguments, tool_error};
use crate::ports::Intent;
use crate::reach::{FileAct, Reach};
use crate::{Ports, untrusted};

const PATH_CHARS: usize = 4_096;
/// Characters of a difference that people see.
const DIFF_CHARS: usize = 20_000;
/// Characters of a path in a line for people.
const SHOWN_CHARS: usize = 120;

/// A path as it was written, checked by its letters.
pub(super) fn path(field: &str, text: &str, env: &Env<'_>) -> Result<SpacePath, ToolError> {
    super::filled(field, text, PATH_CHARS)?;
    let space = env.ports.space.as_ref().ok_or_else(no_space)?;
    space.path(text).map_err(|error| bad_arguments(format!("{field}: {error}")))
}

/// The folder itself where none is named.
pub(super) fn folder(text: Option<&str>, env: &Env<'_>) -> Result<SpacePath, ToolError> {
    match text {
        Some(text) => path("path", text, env),
        None => Ok(SpacePath::root()),
    }
}

fn no_space() -> ToolError {
    tool_error(ToolErrorKind::NotAvailable, "not available here: this session has no folder to work in")
}

/// A plan that changes these files: some are asked about each time, whatever was allowed.
pub(super) fn changing(plan: Plan, paths: &[&SpacePath], does: FileAct) -> Plan {
    // Under another name it would be read unasked.
    let secret = |path: &SpacePath| files::holds_secret(path).then_some(Why::Secret);
    let guarded =
        paths.iter().find_map(|path| Some((path, files::protected(path).or_else(|| secret(path))?)));
    let paths = paths.iter().map(|path| path.to_string()).collect();
    let plan = plan.reaching(Reach::Files { paths, does });
    match guarded {
        Some((path, why)) => plan.asking_always(format!("{path} {}", said(why))),
        None => plan,
    }
}

/// A plan that reads a file: one that holds keys is asked about each time.
pub(super) fn reading(plan: Plan, path: &SpacePath) -> Plan {
    if files::holds_secret(path) { plan.asking_always(format!("{path} {}", said(Why::Secret))) } else { plan }
}

/// What a command line names that reading, or changing, asks for: it is asked about each time, and open to that command once
/// it is allowed. All else of the kind is closed to commands, which can reach a file without naming it.
#[derive(Default)]
pub(crate) struct Named {
    /// Why it asks; `None` if it names nothing of the kind.
    pub(crate) why: Option<String>,
    pub(super) opened: Vec<SpacePath>,
}

pub(crate) fn named_in(line: &str, folder: Option<&str>, changes: bool, ports: &Ports) -> Named {
    let mut named = Named::default();
    let Some(space) = ports.space.as_ref() else { return named };
    let apart = |c: char| c.is_whitespace() || "\"'`;|&<>(){}=,$#".contains(c);
    for word in line.split(apart).filter(|word| !word.is_empty()) {
        let path = folder.map_or_else(|| word.to_owned(), |folder| format!("{folder}/{word}"));
        let Ok(path) = space.path(&path) else { continue };
        let why = match files::protected(&path) {
            _ if files::holds_secret(&path) => Why::Secret,
            Some(why) if changes => why,
            _ => continue,
        };
        named.why.get_or_insert_with(|| format!("{path} {}", said(why)));
        named.opened.push(path);
    }
    named
}

pub(super) fn said(why: Why) -> &'static str {
    match why {
        Why::Git => "tells Git what to run",
        Why::Startup => "is run by a shell or at a login",
        Why::Secret => "holds keys or passwords",
        Why::AgentConfig => "tells an agent or an editor what it may start",
        Why::EditorTask => "is run by an editor that opens the folder",
        Why::Autostart => "is run by the system by itself",
        Why::BuildHook => "is run when something is built or installed",
    }
}

/// Does something with the folder where blocking is allowed. Ends early if the call is stopped.
pub(super) async fn blocking<T: Send + 'static>(
    cx: &Context,
    work: impl FnOnce(&Space, &dyn Fn() -> bool) -> Result<T, FileError> + Send + 'static,
) -> Result<T, ToolError> {
    let space = cx.ports.space.clone().ok_or_else(no_space)?;
    let cancel = cx.cancel.clone();
    let done = tokio::task::spawn_blocking(move || work(&space, &|| cancel.is_cancelled())).await;
    done.map_err(|panic| tool_error(ToolErrorKind::Failed, panic.to_string()))?
        .map_err(|error| from_files(&error))
}

/// The same of what changes something: what was there before is kept first. `content` is what a file is to hold, for the
/// difference that people see.
pub(super) async fn change(
    cx: &Context,
    tool: &str,
    summary: String,
    work: impl FnOnce(&Changes<'_>) -> Result<files::Change, FileError> + Send + 'static,
) -> Outcome {
    let Some(keep) = cx.ports.keep.clone() else {
        return Outcome::failed(tool, Effect::Refused, no_space());
    };
    cx.begin();
    let keep = Intending { keep, intent: cx.ports.intent.clone() };
    match blocking(cx, move |space, stop| work(&space.changes(&keep, stop))).await {
        Ok(change) => {
            let mut outcome = Outcome::looked(summary, serde_json::Value::Null);
            match change.undoable() {
                Ok(()) => outcome.changes.extend(changed(&change)),
                Err(why) => outcome.say(&format!("it cannot be taken back: {why}")),
            }
            outcome
        }
        Err(error) => Outcome::failed(tool, Effect::Refused, error),
    }
}

/// Keeps what was there before, and has what comes on disk before it is done.
struct Intending {
    keep: Arc<dyn Keep + Send + Sync>,
    intent: Option<Arc<dyn Intent>>,
}

impl Keep for Intending {
    fn keep(&self, bytes: &mut dyn Read) -> io::Result<String> {
        self.keep.keep(bytes)
    }

    fn open(&self, name: &str) -> io::Result<Box<dyn Read>> {
        self.keep.open(name)
    }

    fn intend(&self, change: &files::Change) -> io::Result<()> {
        match (&self.intent, changed(change)) {
            (Some(intent), Some(change)) => intent.write_down(change),
            _ => Ok(()),
        }
    }
}

/// The same of a file's content, with the difference that it makes.
pub(super) async fn write(cx: &Context, tool: &str, summary: String, write: FileWrite) -> Outcome {
    let wanted = write.clone();
    let diff = blocking(cx, move |space, _| wanted.preview(space)).await;
    let FileWrite { path, text, mode } = write;
    let mut outcome =
        change(cx, tool, summary, move |changes| text.with(|content| changes.write(&path, content, mode)))
            .await;
    if let (Ok(diff), Some(change)) = (diff, outcome.changes.last_mut()) {
        outcome.summary = format!("{} (+{} -{})", outcome.summary, diff.added, diff.removed);
        change.diff = shown_diff(&diff);
    }
    outcome
}

/// A file that is to be written.
#[derive(Clone)]
pub(crate) struct FileWrite {
    pub path: SpacePath,
    pub text: Text,
    pub mode: files::WriteMode,
}

impl FileWrite {
    /// Why it would fail as the file is now. Blocks.
    pub(crate) fn check(&self, space: &Space) -> Result<(), FileError> {
        self.text.with(|content| space.check_write(&self.path, content, self.mode))
    }

    /// What it would change, or why it would not be done. Blocks.
    pub(crate) fn preview(&self, space: &Space) -> Result<files::Diff, FileError> {
        self.text.with(|content| space.preview(&self.path, content, self.mode))
    }
}

/// What a file is to hold.
#[derive(Clone)]
pub(crate) enum Text {
    Whole(String),
    More(String),
    Edits(Vec<files::Edit>),
    Patch(String),
}

impl Text {
    pub(crate) fn with<T>(&self, then: impl FnOnce(Content<'_>) -> T) -> T {
        match self {
            Self::Whole(text) => then(Content::Whole(text.as_bytes())),
            Self::More(text) => then(Content::Append(text.as_bytes())),
            Self::Edits(edits) => then(Content::Edits(edits)),
            Self::Patch(diff) => then(Content::Patch(diff)),
        }
    }
}

/// For people, cleaned; `None` if nothing can be shown.
pub(crate) fn shown_diff(diff: &files::Diff) -> Option<String> {
    let (text, _) = untrusted::clean(&diff.text);
    let more = if diff.cut { "\n..." } else { "" };
    (!text.trim().is_empty()).then(|| format!("{}{more}", untrusted::cut(&text, DIFF_CHARS)))
}

fn changed(change: &files::Change) -> Option<Change> {
    let data = serde_json::to_value(change).ok()?;
    Some(Change { of: Changed::File, name: shown(change.path()), diff: None, data })
}

/// Takes a change back.
pub(crate) async fn take_back(
    space: Arc<Space>,
    keep: Arc<dyn Keep + Send + Sync>,
    change: &Change,
) -> Result<bool, ToolError> {
    let change: files::Change = serde_json::from_value(change.data.clone()).map_err(|error| {
        tool_error(ToolErrorKind::Failed, format!("what was changed cannot be read: {error}"))
    })?;
    let work = move || space.changes(&*keep, &|| false).undo(&change).map(|undone| !undone.paths.is_empty());
    let done = tokio::task::spawn_blocking(work).await;
    done.map_err(|panic| tool_error(ToolErrorKind::Failed, panic.to_string()))?.map_err(|error| match error {
        FileError::Changed { path } => {
            let path = shown(&path);
            let message = format!(
                "{path} was changed again since: by somebody else, or by a later step, which is to be taken back first"
            );
            tool_error(ToolErrorKind::Failed, message)
        }
        error => from_files(&error),
    })
}

pub(super) fn shown(path: &SpacePath) -> String {
    untrusted::line(&path.to_string(), SHOWN_CHARS)
}

pub(crate) fn from_files(error: &FileError) -> ToolError {
    let kind = match error {
        FileError::Path(_) | FileError::Pattern { .. } | FileError::Edit { .. } => {
            ToolErrorKind::BadArguments
        }
        FileError::Missing { .. } => ToolErrorKind::NotFound,
        FileError::Link { .. } | FileError::HardLinked { .. } | FileError::WholeSpace { .. } => {
            ToolErrorKind::Forbidden
        }
        FileError::Permission { .. } => ToolErrorKind::Permission,
        FileError::Stopped => ToolErrorKind::Cancelled,
        _ => ToolErrorKind::Failed,
    };
    tool_error(kind, untrusted::line(&error.to_string(), 500))
}
