//! What an earlier process left unfinished: said, never run again.

use journal::OpenRun;
use protocol::event::RunEnd;
use protocol::tool::{Effect, ExecResult, Millis, ToolError, ToolErrorKind};
use protocol::{ErrorView, EventBody};
use serde_json::Value;

use crate::log::Log;

/// Ends every run that has no end and waits for nothing; its calls in doubt become `unknown`. Answers the runs that wait
/// for an answer: they go on when it comes.
///
/// # Errors
/// If the journal cannot be read or written.
pub async fn sort_open_runs(log: &Log) -> Result<Vec<OpenRun>, ErrorView> {
    let mut waiting = Vec::new();
    for run in log.read(|journal| journal.open_runs()).await? {
        if run.approval.is_some() && run.in_doubt.is_empty() && run.spec.can_go_on() {
            waiting.push(run);
            continue;
        }
        let reason = match run.approval {
            Some(_) if !run.spec.can_go_on() => {
                Some("it was recorded, or begun by a version that kept too little of it".to_owned())
            }
            Some(_) | None => None,
        };
        end_run(log, run, RunEnd::Interrupted { reason }).await?;
    }
    Ok(waiting)
}

/// Writes the end of a run whose task did not write it, and before that the outcome of each call in doubt.
///
/// # Errors
/// If the journal cannot be written.
pub async fn end_run(log: &Log, run: OpenRun, end: RunEnd) -> Result<(), ErrorView> {
    for call in run.in_doubt {
        let result = interrupted();
        log.append(run.scope.clone(), EventBody::ToolFinished { call: call.id, result }).await?;
    }
    log.append(run.scope, EventBody::RunEnded { end }).await.map(drop)
}

/// The outcome of a call that nobody saw the end of.
pub fn interrupted() -> ExecResult {
    let message =
        "interrupted: it may or may not have happened; look at the screen before going on".to_owned();
    ExecResult {
        effect: Effect::Unknown,
        summary: "interrupted".into(),
        data: Value::Null,
        error: Some(ToolError { kind: ToolErrorKind::Cancelled, message }),
        picture: None,
        took: Millis(0),
    }
}
