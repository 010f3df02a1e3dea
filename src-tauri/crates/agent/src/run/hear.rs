//! What is said to a run under way, by people: heard at any moment, kept before it is answered.

use protocol::ids::{ApprovalId, RunId};
use protocol::tool::{Answer, Door, Risk};
use protocol::{ErrorCode, ErrorView, EventBody};
use tokio::sync::oneshot;

use super::Driver;
use crate::machine::Input;
use crate::orchestrator::not_under_way;

type Reply = oneshot::Sender<Result<(), ErrorView>>;

/// What may be said to a run under way. A stop goes another way: see [`crate::brakes`].
pub enum Control {
    Pause { reason: String },
    Resume,
    Steer { text: String, reply: Reply },
    Answer { approval: ApprovalId, digest: String, answer: Answer, by: Door, reply: Reply },
}

impl Control {
    /// Tells whoever waits that this run hears no more. One that has gone does not mind.
    pub fn refuse(self, run: &RunId) {
        match self {
            Self::Steer { reply, .. } => drop(reply.send(Err(not_under_way(run)))),
            other => other.refuse_for_none(),
        }
    }

    /// The same, where it is not known which run was meant.
    pub fn refuse_for_none(self) {
        match self {
            Self::Answer { approval, reply, .. } => drop(reply.send(Err(not_open(&approval)))),
            Self::Steer { reply, .. } => {
                drop(reply.send(Err(ErrorView::new(ErrorCode::NotFound, "no run is under way"))))
            }
            Self::Pause { .. } | Self::Resume => {}
        }
    }
}

fn not_open(approval: &ApprovalId) -> ErrorView {
    ErrorView::new(
        ErrorCode::NotFound,
        format!("approval {approval} is not open (answered, late or unknown)"),
    )
}

impl Driver {
    /// Refuses what came in the moment of the end.
    pub(super) fn hear_no_more(&mut self) {
        self.run.control.close();
        while let Ok(said) = self.run.control.try_recv() {
            match &self.run.scope.run {
                Some(run) => said.refuse(run),
                None => said.refuse_for_none(),
            }
        }
    }

    pub(super) async fn hear(&mut self, said: Control) -> Result<(), ErrorView> {
        match said {
            Control::Pause { reason } => self.feed(Input::Pause { reason }).await,
            Control::Resume => self.feed(Input::Resume).await,
            Control::Steer { text, reply } => self.steer(text, reply).await,
            Control::Answer { approval, digest, answer, by, reply } => {
                let checked = self.check_answer(&approval, &digest, answer);
                let refused = checked.is_err();
                // A caller that has gone does not mind.
                let _ = reply.send(checked);
                if refused {
                    return Ok(());
                }
                self.operation = None;
                self.answer(approval, answer, by).await
            }
        }
    }

    fn check_answer(&self, approval: &ApprovalId, digest: &str, answer: Answer) -> Result<(), ErrorView> {
        let Some(question) = self.question.as_ref().filter(|question| question.id == *approval) else {
            return Err(not_open(approval));
        };
        if question.digest != digest {
            return Err(ErrorView::new(
                ErrorCode::BadRequest,
                format!("approval {approval} is for another call"),
            ));
        }
        if answer == Answer::Thread && question.risk == Risk::Consequential {
            return Err(ErrorView::new(
                ErrorCode::BadRequest,
                "a consequential call is approved each time, not for the session",
            ));
        }
        Ok(())
    }

    pub(super) async fn answer(
        &mut self,
        approval: ApprovalId,
        answer: Answer,
        by: Door,
    ) -> Result<(), ErrorView> {
        let Some(question) = self.question.take() else { return Ok(()) };
        let answered = EventBody::ApprovalAnswered { approval: approval.clone(), answer, by };
        self.append(answered).await?;
        self.proposals.answered(&question.call.id, answer != Answer::Deny);
        if answer == Answer::Thread {
            self.grants().allow_call(&question.call);
        }
        self.feed(Input::Answered { approval, answer }).await
    }

    /// On disk before the answer: words that were taken are never lost, however the run ends.
    async fn steer(&mut self, text: String, reply: Reply) -> Result<(), ErrorView> {
        let kept = self.append(EventBody::RunSteered { text: text.clone() }).await;
        // A caller that has gone does not mind.
        let _ = reply.send(kept.clone());
        kept?;
        self.steers.push(text);
        self.feed(Input::Steered).await
    }
}
