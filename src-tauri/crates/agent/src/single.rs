//! A single call by a person, outside any run, through the same contract.

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use protocol::command::CallTool;
use protocol::event::Scope;
use protocol::ids::CallId;
use protocol::principal::Principal;
use protocol::tool::{ExecResult, Risk, ToolCall, ToolErrorKind};
use protocol::{ErrorCode, ErrorView, EventBody};
use serde_json::Value;
use tokio_util::sync::CancellationToken;
use tools::{Assessment, Call, Decision, ExecRequest, Grants, Interruption, Planning};

use crate::engine::{Engine, fresh};
use crate::lease::{Holder, Lease};
use crate::{recovery, rights};

/// Between two looks at whether someone who uses the mouse has gone on to the corner.
const BESIDE: Duration = Duration::from_millis(100);
/// How long a call waits for the desktop.
const FREE_WITHIN: Duration = Duration::from_secs(5);

impl Engine {
    /// The risk of a call; `None` if there is no such tool, or if its arguments cannot be read.
    pub(crate) async fn risk_of(&self, tool: &str, arguments: &Value) -> Option<Risk> {
        self.weigh(tool.to_owned(), arguments.clone()).await.1.risk
    }

    /// Why these are no arguments of that tool; `None` if they are.
    pub(crate) async fn fault_of(&self, tool: &str, arguments: Value) -> Option<String> {
        match self.weigh(tool.to_owned(), arguments).await.1.decision {
            Decision::Forbid { error } if error.kind == ToolErrorKind::BadArguments => Some(error.message),
            Decision::Forbid { .. } | Decision::Run | Decision::Ask { .. } => None,
        }
    }

    async fn weigh(&self, tool: String, arguments: Value) -> (ExecRequest, Assessment) {
        let settings = self.settings();
        let call = ToolCall { id: CallId::from_suffix(fresh()), tool, arguments };
        let (mode, approval) = (settings.mode, settings.approval);
        let grants = Grants::default().with_settings(&settings, || self.log.now());
        let (planning, fence) = (Planning::Off, settings.fence());
        let (has_read, approved, waived) = (false, None, Vec::new());
        // Where there is no folder, what needs one says so.
        let ports = self.open_ports(None, None).await.unwrap_or_default();
        let request =
            ExecRequest { call, mode, approval, grants, has_read, approved, planning, waived, fence, ports };
        let assessment = self.tools.outline(&request, &Self::limits(&settings));
        (request, assessment)
    }

    /// The desktop, for a call of the user's own, within the fence of the settings.
    ///
    /// # Errors
    /// `Busy` if it is not free in time.
    pub(crate) async fn seat_of_a_call(&self, id: &CallId) -> Result<Lease, ErrorView> {
        let taken = self.seats.shared.take(Holder::Call(id.clone()), self.settings().fence());
        tokio::time::timeout(FREE_WITHIN, taken).await.map_err(|_| {
            ErrorView::new(ErrorCode::Busy, "another call or a run has the desktop")
                .with_hint("wait for it, or stop it")
        })
    }

    /// Runs one call. One that only looks may run beside runs; one that acts takes the desktop.
    ///
    /// # Errors
    /// `Busy` if the desktop is not free in time. A tool's failure is in the result.
    pub(crate) async fn call_tool(
        self: &Arc<Self>,
        command: CallTool,
        by: &Principal,
    ) -> Result<ExecResult, ErrorView> {
        self.check_open()?;
        let (mut request, assessment) = self.weigh(command.tool, command.arguments).await;
        let settings = self.settings();
        let acts = assessment.seat;
        let cancel = CancellationToken::new();
        let id = request.call.id.clone();
        let _registered = acts.then(|| Registered::new(self, &id, cancel.clone()));
        let lease = if acts {
            let lease = tokio::select! {
                biased;
                () = cancel.cancelled() => {
                    return Err(ErrorView::new(ErrorCode::Busy, "the call was stopped before it began"));
                }
                lease = self.seat_of_a_call(&id) => lease?,
            };
            // A run may have begun meanwhile.
            rights::may_act(self, by).await?;
            Some(lease)
        } else {
            None
        };
        // The person who asks is the approval. Of what is grave, where they are not in one of our windows, only once they
        // have been told of it.
        if matches!(assessment.decision, Decision::Ask { .. }) {
            let asked = self.tools.assess(&request, &Self::limits(&settings)).await;
            let is_grave = asked.risk >= Some(Risk::Consequential) && !by.surface.is_window();
            if is_grave && command.asked.as_ref() != Some(&asked.digest) {
                return Err(needs_approval(asked));
            }
            request.approved = Some(asked.yes());
        }
        let call = Single {
            engine: self.clone(),
            call: Call { request, cancel: cancel.clone(), limits: Self::limits(&settings) },
            risk: assessment.risk.unwrap_or(Risk::Observe),
            acts,
            watched: acts && settings.failsafe,
        };
        // On a task of its own: who asks may go away, and what came of it is journaled all the same.
        let gone = cancel.drop_guard();
        let task = tokio::spawn(async move {
            let outcome = call.carry_out().await;
            drop(lease);
            outcome
        });
        let outcome = task.await;
        gone.disarm();
        match outcome {
            Ok(outcome) => outcome,
            Err(panic) => {
                let interrupted = EventBody::ToolFinished { call: id, result: recovery::interrupted() };
                self.log.append(Scope::default(), interrupted).await?;
                let message = format!("the call's task ended badly: {panic}");
                Err(ErrorView::new(ErrorCode::Internal, message))
            }
        }
    }
}

fn needs_approval(asked: Assessment) -> ErrorView {
    let message = match asked.decision {
        Decision::Ask { reason } => reason,
        Decision::Forbid { error } => error.message,
        Decision::Run => "this can do what cannot be undone, or send something out".into(),
    };
    let hint =
        "run it in a terminal, which asks you; a program that asks its own user sends it again with `asked`";
    let error = ErrorView::new(ErrorCode::NeedsApproval, message).with_hint(hint);
    ErrorView { asks: Some(asked.digest), ..error }
}

/// A call that a stop of everything reaches, for as long as this lives.
struct Registered<'a> {
    engine: &'a Engine,
    id: CallId,
}

impl<'a> Registered<'a> {
    fn new(engine: &'a Engine, id: &CallId, cancel: CancellationToken) -> Self {
        engine.call_begins(id, cancel);
        Self { engine, id: id.clone() }
    }
}

impl Drop for Registered<'_> {
    fn drop(&mut self) {
        self.engine.call_ends(&self.id);
    }
}

/// One call outside a run.
struct Single {
    engine: Arc<Engine>,
    call: Call,
    risk: Risk,
    acts: bool,
    /// By the failsafe.
    watched: bool,
}

impl Single {
    /// Ends early if nobody waits for it any more, or if the pointer is thrown into the corner.
    async fn carry_out(&self) -> Result<ExecResult, ErrorView> {
        let mut work = pin!(self.journaled());
        tokio::select! {
            biased;
            outcome = &mut work => return outcome,
            () = self.call.cancel.cancelled() => {}
            () = self.stepped_in() => {}
        }
        self.call.cancel.cancel();
        if self.acts {
            self.engine.tools.release_all();
        }
        work.await
    }

    async fn stepped_in(&self) {
        if !self.watched {
            std::future::pending::<()>().await;
        }
        // Whoever asks by hand may use the mouse meanwhile; the failsafe is what counts.
        while self.engine.tools.interrupted().await == Interruption::UserInput {
            tokio::time::sleep(BESIDE).await;
        }
    }

    /// Journaled like any other call.
    async fn journaled(&self) -> Result<ExecResult, ErrorView> {
        let (log, call) = (&self.engine.log, self.call.request.call.clone());
        log.append(Scope::default(), EventBody::ToolStarted { call: call.clone(), risk: self.risk }).await?;
        let executed = self.engine.tools.execute(self.call.clone()).await;
        self.engine.tools.told(executed.told).await;
        let mut result = executed.result;
        if let Some(taken) = executed.picture {
            result.picture = Some(log.put_picture(taken).await?);
        }
        log.append(Scope::default(), EventBody::ToolFinished { call: call.id, result: result.clone() })
            .await?;
        Ok(result)
    }
}
