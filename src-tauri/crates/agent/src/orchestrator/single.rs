//! A single call by a person, outside any run, through the same contract.

use protocol::command::CallTool;
use protocol::event::Scope;
use protocol::ids::CallId;
use protocol::tool::{ExecResult, PictureView, Risk, ToolCall};
use protocol::{ErrorView, EventBody};
use tokio_util::sync::CancellationToken;
use tools::{Decision, ExecRequest, Grants, Router};

use super::{Orchestrator, Reply, fresh};
use crate::log::Log;

impl Orchestrator {
    /// Runs one call on a task of its own. The person who asks is the approval; a looking call may run beside a run.
    pub(super) fn call_tool(&mut self, command: CallTool, reply: Reply<ExecResult>) {
        let router = self.router(&self.settings);
        let call =
            ToolCall { id: CallId::from_suffix(fresh()), tool: command.tool, arguments: command.arguments };
        let (mode, approval) = (self.settings.mode, self.settings.approval);
        let mut request = ExecRequest { call, mode, approval, grants: Grants::default(), approved: None };
        let assessment = router.assess(&request);
        let risk = assessment.risk.unwrap_or(Risk::Observe);
        if risk > Risk::Observe
            && let Err(busy) = self.check_free()
        {
            drop(reply.send(Err(busy)));
            return;
        }
        if matches!(assessment.decision, Decision::Ask { .. }) {
            request.approved = Some(assessment.digest);
        }
        let cancel = CancellationToken::new();
        let (log, token) = (self.log.clone(), cancel.clone());
        let task = tokio::spawn(async move {
            drop(reply.send(one_call(&log, &router, request, risk, token).await));
        });
        if risk > Risk::Observe {
            self.calling = Some((cancel, task));
        }
    }
}

/// One call outside a run, journaled like any other.
async fn one_call(
    log: &Log,
    router: &Router,
    request: ExecRequest,
    risk: Risk,
    cancel: CancellationToken,
) -> Result<ExecResult, ErrorView> {
    let call = request.call.clone();
    log.append(Scope::default(), EventBody::ToolStarted { call: call.clone(), risk }).await?;
    let executed = router.execute(request, cancel).await;
    let mut result = executed.result;
    if let Some(taken) = executed.picture {
        let (width, height, dot) = (taken.size.width, taken.size.height, taken.dot);
        let blob = log.put_blob(taken.jpeg, "image/jpeg").await?;
        result.picture = Some(PictureView { blob, width, height, dot });
    }
    log.append(Scope::default(), EventBody::ToolFinished { call: call.id, result: result.clone() }).await?;
    Ok(result)
}
