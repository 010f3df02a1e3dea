//! What the machine asks for, done: each effect starts at most one operation.

use std::time::Duration;

use models::Patience;
use protocol::event::RunEnd;
use protocol::ids::{ApprovalId, Timestamp};
use protocol::tool::{Approval, Effect as CallEffect, ExecResult, Millis, Risk, ToolCall, ToolError};
use protocol::{ErrorView, EventBody};
use serde_json::Value;
use tools::{Call, Decision};

use super::{Driver, Outcome, ask};
use crate::machine::{Effect, Input, Verdict};

impl Driver {
    pub(super) async fn perform(&mut self, effect: Effect) -> Result<Option<Input>, ErrorView> {
        match effect {
            Effect::AskModel { turn } => {
                self.settle_turn();
                self.retrying = None;
                let hearing = ask::Hearing::default();
                let asked = ask::ask(
                    self.run.model.clone(),
                    self.run.context.request(),
                    self.run.log.clone(),
                    self.run.scope.clone(),
                    hearing.clone(),
                );
                self.asking = Some(hearing);
                tracing::debug!(turn, "asking the model");
                self.operation = Some(Box::pin(async move { Outcome::Turn(asked.await) }));
            }
            Effect::Assess(call) => return Ok(Some(Input::Assessed(self.assess(call)))),
            Effect::RequestApproval { call, approval, risk, reason } => {
                self.request_approval(call, approval, risk, reason).await?;
            }
            Effect::Execute { call, approved } => self.execute(call, approved).await?,
            Effect::Refuse { call, error } => {
                let result = refused(error);
                self.append(EventBody::ToolFinished { call: call.id.clone(), result: result.clone() })
                    .await?;
                self.answered(&call, &result, None);
            }
            Effect::DelayStep => self.wait(Duration::from_millis(self.run.settings.step_delay_ms)),
            Effect::DelayRetry { failures } => {
                let dice = f64::from(uuid::Uuid::now_v7().as_bytes()[15]) / 255.0;
                let wait = Patience::default().delay(self.retry_after.take(), failures, dice);
                self.retrying = Some(wait);
                self.wait(wait);
            }
            Effect::NotePaused { reason } => self.append(EventBody::RunPaused { reason }).await?,
            Effect::NoteResumed => self.append(EventBody::RunResumed).await?,
            Effect::End(end) => self.end(end).await?,
        }
        Ok(None)
    }

    async fn end(&mut self, end: RunEnd) -> Result<(), ErrorView> {
        self.operation = None;
        self.append(EventBody::RunEnded { end: end.clone() }).await?;
        self.end = Some(end);
        Ok(())
    }

    fn assess(&self, call: ToolCall) -> Verdict {
        if let Some(error) = self.proposals.refusal(&call.id) {
            return Verdict::Forbid(error);
        }
        let warning = self.proposals.warning(&call.id);
        let request = self.request(call, None);
        let assessment = self.run.router.assess(&request, &self.run.limits);
        let ask = |risk, reason| Verdict::Ask {
            approval: ApprovalId::from_suffix(uuid::Uuid::now_v7().simple()),
            risk,
            reason,
        };
        let verdict = match (assessment.decision, warning) {
            (Decision::Forbid { error }, _) => Verdict::Forbid(error),
            (Decision::Run, None) => Verdict::Run,
            (Decision::Ask { reason }, None) => ask(assessment.risk.unwrap_or(Risk::Consequential), reason),
            // Asked each time: a yes is to this very warning.
            (Decision::Run, Some(warning)) => ask(Risk::Consequential, warning),
            (Decision::Ask { reason }, Some(warning)) => {
                ask(Risk::Consequential, format!("{warning}; {reason}"))
            }
        };
        self.unless_disturbed(assessment.risk, verdict)
    }

    async fn request_approval(
        &mut self,
        call: ToolCall,
        id: ApprovalId,
        risk: Risk,
        reason: String,
    ) -> Result<(), ErrorView> {
        let within = self.run.settings.approval_deadline_ms;
        let deadline = Timestamp(self.run.log.now().0.saturating_add_unsigned(within));
        let digest = self.run.router.assess(&self.request(call.clone(), None), &self.run.limits).digest;
        let approval = Approval { id: id.clone(), call, risk, reason, digest, deadline };
        // Who is asked needs the mouse and the keyboard: nothing of ours may be down.
        self.run.router.release_all();
        self.append(EventBody::ApprovalRequested { approval: approval.clone() }).await?;
        self.question = Some(approval);
        // The monotonic clock decides, so that a changed wall clock neither hurries nor stalls it.
        self.operation = Some(Box::pin(async move {
            tokio::time::sleep(Duration::from_millis(within)).await;
            Outcome::Silence(id)
        }));
        Ok(())
    }

    async fn execute(&mut self, call: ToolCall, approved: bool) -> Result<(), ErrorView> {
        let mut request = self.request(call.clone(), None);
        let assessment = self.run.router.assess(&request, &self.run.limits);
        if approved {
            request.approved = Some(assessment.digest);
        }
        let risk = assessment.risk.unwrap_or(Risk::Consequential);
        self.append(EventBody::ToolStarted { call: call.clone(), risk }).await?;
        self.running = Some(call.clone());
        self.halt = self.run.brake.token.child_token();
        let (cancel, limits) = (self.halt.clone(), self.run.limits.clone());
        let router = self.run.router.clone();
        self.operation = Some(Box::pin(async move {
            let executed = router.execute(Call { request, cancel, limits }).await;
            Outcome::Tool(call, Box::new(executed))
        }));
        Ok(())
    }

    fn wait(&mut self, wait: Duration) {
        self.operation = Some(Box::pin(async move {
            tokio::time::sleep(wait).await;
            Outcome::Waited
        }));
    }
}

fn refused(error: ToolError) -> ExecResult {
    ExecResult {
        effect: CallEffect::Refused,
        summary: error.message.clone(),
        data: Value::Null,
        error: Some(error),
        picture: None,
        took: Millis(0),
    }
}
