//! What a server of the Model Context Protocol asks its user in the middle of a call: a question like `askHuman`'s, answered
//! wherever those are. The call waits for it; where the call ends first, so does the question.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use protocol::contract::About;
use protocol::elicitation::Elicitation;
use protocol::ids::{ApprovalId, CallId, Timestamp};
use protocol::principal::Surface;
use protocol::tool::{
    ASK_HUMAN, Answer, Approval, Effect, ExecResult, Millis, Risk, ToolCall, ToolError, ToolErrorKind,
};
use protocol::{ErrorView, EventBody};
use serde_json::{Value, json};
use tokio::sync::{mpsc, oneshot};
use tools::Asker;

use super::Driver;

/// What the user answered; `None` for a no.
type Reply = oneshot::Sender<Option<String>>;

pub(super) struct AskedInCall {
    /// The call that asks.
    call: CallId,
    wanted: Elicitation,
    reply: Reply,
}

/// The way of one call to its run's user.
pub(super) struct WayToUser {
    pub(super) call: CallId,
    pub(super) run: mpsc::Sender<AskedInCall>,
}

#[async_trait]
impl Asker for WayToUser {
    async fn ask(&self, wanted: Elicitation) -> Option<String> {
        let (reply, answer) = oneshot::channel();
        self.run.send(AskedInCall { call: self.call.clone(), wanted, reply }).await.ok()?;
        answer.await.ok()?
    }
}

impl Driver {
    /// The way to the user for a call; `None` if nobody could answer, and for a batch, which holds the desktop and goes on
    /// acting on what it was planned for.
    pub(super) fn asker_of(&self, call: &ToolCall) -> Option<Arc<dyn Asker>> {
        if self.run.rules.end_on_approval || call.tool == "batch" {
            return None;
        }
        Some(Arc::new(WayToUser { call: call.id.clone(), run: self.asker.clone() }))
    }

    /// Asks the user; says no for them at once where the call that asks has ended meanwhile.
    pub(super) async fn ask_in_call(&mut self, asked: AskedInCall) -> Result<(), ErrorView> {
        let AskedInCall { call, wanted, reply } = asked;
        let is_under_way = self.running.as_ref().is_some_and(|running| running.id == call);
        if !is_under_way || self.question.is_some() {
            let _ = reply.send(None); // the call has ended meanwhile
            return Ok(());
        }
        // Who is asked needs the mouse and the keyboard, and no menu over the question.
        self.give_seat_back().await;
        if std::mem::take(&mut self.has_acted) {
            self.run.router.close_menus().await;
        }
        let question = wanted.to_string();
        let call = ToolCall {
            id: CallId::from_suffix(uuid::Uuid::now_v7().simple()),
            tool: ASK_HUMAN.into(),
            arguments: json!({ "question": question }),
        };
        let digest = self.outline(&self.request(call.clone())).digest;
        let within = Duration::from_millis(self.run.settings.approval_deadline_ms);
        let deadline = Timestamp(self.run.log.now().0.saturating_add_unsigned(within.as_millis() as u64));
        let mut approval = Approval {
            id: ApprovalId::from_suffix(uuid::Uuid::now_v7().simple()),
            call,
            risk: Risk::Consequential,
            reason: question,
            digest,
            deadline,
            window: None,
            target: None,
            goes_to: Vec::new(),
            seen: None,
            picture: None,
            hosts: Vec::new(),
            touches: Vec::new(),
            read: Vec::new(),
            about: Box::new(About::Elicitation(Box::new(wanted))),
            asks: self.run.spec.approval,
        };
        self.run.router.redact_question(&mut approval).await;
        approval.call.arguments = json!({ "question": approval.reason });
        self.give_keyboard_back().await;
        self.run.deadlines.arm(approval.id.clone(), within, self.run.router.presses());
        self.append(EventBody::ApprovalRequested { approval: approval.clone() }).await?;
        (self.question, self.in_call) = (Some(approval), Some(reply));
        self.show_status();
        Ok(())
    }

    /// Gives the call what its question came to. The machine knows nothing of it: its call is still under way.
    pub(super) async fn answered_in_call(
        &mut self,
        reply: Reply,
        asked: &Approval,
        answer: &Answer,
    ) -> Result<(), ErrorView> {
        let said = match answer {
            Answer::Edit { arguments } => arguments.get("answer").and_then(Value::as_str).map(str::to_owned),
            Answer::Once => Some("yes".to_owned()),
            Answer::Deny | Answer::Thread | Answer::Until { .. } => None,
        };
        self.close_question(asked, said.is_some() && !reply.is_closed()).await?;
        let _ = reply.send(said); // the call has ended meanwhile
        self.show_status();
        Ok(())
    }

    /// The call that asked has ended: nobody waits for the answer any more.
    pub(super) async fn withdraw_question(&mut self) -> Result<(), ErrorView> {
        self.in_call_yes = None;
        if self.in_call.take().is_none() {
            return Ok(());
        }
        let Some(asked) = self.question.take() else { return Ok(()) };
        self.run.deadlines.cancel(&asked.id);
        // It may have been answered in this very moment.
        self.run.log.decide(&asked.id, &asked.digest, Answer::Deny, Surface::Deadline).await?;
        self.budget.goes_on(&mut self.plan, self.run.log.now());
        self.close_question(&asked, false).await
    }

    async fn close_question(&mut self, asked: &Approval, is_answered: bool) -> Result<(), ErrorView> {
        let refusal =
            || ToolError { kind: ToolErrorKind::Denied, message: "the user did not answer".to_owned() };
        let result = ExecResult {
            effect: if is_answered { Effect::Confirmed } else { Effect::Refused },
            summary: if is_answered { "the user answered" } else { "the user did not answer" }.to_owned(),
            data: Value::Null,
            error: (!is_answered).then(refusal),
            picture: None,
            read: Vec::new(),
            changes: Vec::new(),
            output: Vec::new(),
            took: Millis(0),
        };
        self.append(EventBody::ToolFinished { call: asked.call.id.clone(), result }).await
    }
}
