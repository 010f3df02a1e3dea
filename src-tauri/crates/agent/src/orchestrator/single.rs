//! A single call by a person, outside any run, through the same contract.

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use protocol::command::CallTool;
use protocol::event::Scope;
use protocol::ids::CallId;
use protocol::tool::{ExecResult, PictureView, Risk, ToolCall};
use protocol::{ErrorView, EventBody};
use tokio_util::sync::CancellationToken;
use tools::{Decision, ExecRequest, Grants, Interruption, Router};

use super::{Orchestrator, Reply, fresh};
use crate::log::Log;

/// Between two looks at whether someone who uses the mouse has gone on to the corner.
const BESIDE: Duration = Duration::from_millis(100);

impl Orchestrator {
    /// Runs one call on a task of its own. The person who asks is the approval; a looking call may run beside a run.
    pub(super) fn call_tool(&mut self, command: CallTool, reply: Reply<ExecResult>) {
        if reply.is_closed() {
            return;
        }
        let (router, limits) = (self.tools.clone(), Self::limits(&self.settings));
        let call =
            ToolCall { id: CallId::from_suffix(fresh()), tool: command.tool, arguments: command.arguments };
        let (mode, approval) = (self.settings.mode, self.settings.approval);
        let mut request = ExecRequest { call, mode, approval, grants: Grants::default(), approved: None };
        let assessment = router.assess(&request, &limits);
        let risk = assessment.risk.unwrap_or(Risk::Observe);
        let acts = risk > Risk::Observe;
        if acts && let Err(busy) = self.check_free() {
            drop(reply.send(Err(busy)));
            return;
        }
        if acts {
            self.hand_over_desktop(&self.settings);
        }
        if matches!(assessment.decision, Decision::Ask { .. }) {
            request.approved = Some(assessment.digest);
        }
        let cancel = CancellationToken::new();
        let watched = acts && self.settings.failsafe;
        let call = tools::Call { request, cancel: cancel.clone(), limits };
        let call = Single { log: self.log.clone(), router, call, risk, acts, watched };
        let task = tokio::spawn(call.carry_out(reply));
        if acts {
            self.brakes.of_call(cancel.clone());
            self.calling = Some((cancel, task));
        }
    }
}

/// One call outside a run.
struct Single {
    log: Arc<Log>,
    router: Arc<Router>,
    call: tools::Call,
    risk: Risk,
    acts: bool,
    /// By the failsafe.
    watched: bool,
}

impl Single {
    /// Ends early where the one who asked has gone, or throws the pointer into the corner.
    async fn carry_out(self, mut reply: Reply<ExecResult>) {
        let mut work = pin!(self.journaled());
        let outcome = tokio::select! {
            biased;
            outcome = &mut work => outcome,
            () = reply.closed() => self.cut(work).await,
            () = self.stepped_in() => self.cut(work).await,
        };
        if self.acts && self.call.cancel.is_cancelled() {
            self.router.release_all();
        }
        drop(reply.send(outcome));
    }

    async fn cut(
        &self,
        work: impl Future<Output = Result<ExecResult, ErrorView>>,
    ) -> Result<ExecResult, ErrorView> {
        self.call.cancel.cancel();
        if self.acts {
            self.router.release_all();
        }
        work.await
    }

    async fn stepped_in(&self) {
        if !self.watched {
            std::future::pending::<()>().await;
        }
        // Whoever asks by hand may use the mouse meanwhile; the failsafe is what counts.
        while self.router.interrupted().await == Interruption::UserInput {
            tokio::time::sleep(BESIDE).await;
        }
    }

    /// Journaled like any other call.
    async fn journaled(&self) -> Result<ExecResult, ErrorView> {
        let (log, call) = (&self.log, self.call.request.call.clone());
        log.append(Scope::default(), EventBody::ToolStarted { call: call.clone(), risk: self.risk }).await?;
        let executed = self.router.execute(self.call.clone()).await;
        let mut result = executed.result;
        if let Some(taken) = executed.picture {
            let (width, height, dot) = (taken.size.width, taken.size.height, taken.dot);
            let blob = log.put_blob(taken.jpeg, "image/jpeg").await?;
            result.picture = Some(PictureView { blob, width, height, dot });
        }
        log.append(Scope::default(), EventBody::ToolFinished { call: call.id, result: result.clone() })
            .await?;
        Ok(result)
    }
}
