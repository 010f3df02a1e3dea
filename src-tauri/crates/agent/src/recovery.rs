//! What an earlier process left unfinished: said, never run again.

use protocol::event::RunEnd;
use protocol::tool::{Answer, Door, Effect, ExecResult, Millis, ToolError, ToolErrorKind};
use protocol::{ErrorView, EventBody};
use serde_json::Value;

use crate::log::Log;

/// Ends every run that has no end: its calls in doubt become `unknown`, its open questions are answered with no.
///
/// # Errors
/// Where the journal cannot be read or written.
pub async fn end_interrupted(log: &Log) -> Result<usize, ErrorView> {
    let open = log.frozen(|journal| journal.open_runs()).await?;
    let count = open.len();
    for run in open {
        for call in run.in_doubt {
            let result = interrupted();
            log.append(run.scope.clone(), EventBody::ToolFinished { call: call.id, result }).await?;
        }
        for approval in run.pending {
            let answered = EventBody::ApprovalAnswered {
                approval: approval.id,
                answer: Answer::Deny,
                by: Door::Deadline,
            };
            log.append(run.scope.clone(), answered).await?;
        }
        log.append(run.scope, EventBody::RunEnded { end: RunEnd::Interrupted }).await?;
    }
    Ok(count)
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
