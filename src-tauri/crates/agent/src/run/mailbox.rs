//! What is said to a run under way, heard at any moment, kept before it is answered.

use std::collections::VecDeque;
use std::convert::Infallible;

use journal::PlanState;
use protocol::contract::About;
use protocol::ids::RunId;
use protocol::tool::{Answer, Approval, Grant};
use protocol::{ErrorCode, ErrorView, EventBody};
use tokio::sync::{mpsc, oneshot};
use tools::Meanwhile;

use super::Driver;
use crate::approvals::GivenAnswer;
use crate::machine::{Input, PLAN};
use crate::runs::not_under_way;

type Reply = oneshot::Sender<Result<(), ErrorView>>;

/// Messages that may wait for a run; it takes them at any moment, also while it stops.
pub const CAPACITY: usize = 64;

/// Why a run is paused whose question was denied when it had been allowed already.
pub const LATE_NO: &str = "a no came after the yes: look at what was done, then go on or stop";

/// What may be said to a run under way. A stop goes another way: see [`crate::cancellation`].
pub enum Message {
    Pause {
        reason: String,
    },
    Resume,
    Steer {
        text: String,
        reply: Reply,
    },
    TakeBack {
        grant: Grant,
        reply: Reply,
    },
    /// It is on disk already, and was asked by this run.
    Answered(Box<GivenAnswer>),
    /// A no that came after this yes to this question: what was not begun yet is not done, what is under way ends.
    LateNo {
        question: Box<Approval>,
        answer: Answer,
    },
    /// The user has taken the mouse or the keyboard.
    UserInput,
    /// Whether it only waits for its user, and would be kept as it is if Miki ended now.
    OnlyWaits {
        reply: oneshot::Sender<bool>,
    },
}

impl Message {
    /// Tells whoever waits that this run hears no more. One that has gone does not mind.
    pub fn refuse(self, run: &RunId) {
        match self {
            Self::Steer { reply, .. } | Self::TakeBack { reply, .. } => {
                drop(reply.send(Err(not_under_way(run))))
            }
            // Whose reply is dropped knows it.
            Self::Pause { .. }
            | Self::Resume
            | Self::Answered(_)
            | Self::LateNo { .. }
            | Self::UserInput
            | Self::OnlyWaits { .. } => {}
        }
    }
}

/// The next that was said: what was kept first.
pub async fn next(kept: &mut VecDeque<Message>, mailbox: &mut mpsc::Receiver<Message>) -> Option<Message> {
    match kept.pop_front() {
        Some(message) => Some(message),
        None => mailbox.recv().await,
    }
}

/// Refuses all that comes, for as long as it is polled.
pub async fn refuse_all(mailbox: &mut mpsc::Receiver<Message>, run: &RunId) -> Infallible {
    while let Some(message) = mailbox.recv().await {
        message.refuse(run);
    }
    std::future::pending().await
}

/// Nobody has allowed it, or it was taken back already.
pub fn not_allowed(grant: &Grant) -> ErrorView {
    let message = format!("{} is not allowed for this run or its session", grant.tool);
    ErrorView::new(ErrorCode::NotFound, message).with_hint("`miki ps` lists what is")
}

impl Driver {
    /// Refuses what came in the moment of the end.
    pub(super) fn close_mailbox(&mut self) {
        self.run.mailbox.close();
        while let Some(message) = self.heard.pop_front().or_else(|| self.run.mailbox.try_recv().ok()) {
            message.refuse(&self.run.id);
        }
    }

    /// What came in the moment in which it was put aside counts like what came before. Answers the answer to its question,
    /// if one is among it: whoever wakes it takes that.
    pub(super) async fn drain_mailbox(&mut self) -> Result<Option<Box<GivenAnswer>>, ErrorView> {
        let mut answered = None;
        self.run.mailbox.close();
        while let Some(message) = self.heard.pop_front().or_else(|| self.run.mailbox.try_recv().ok()) {
            match message {
                Message::Answered(given) => answered = Some(given),
                // It is put aside as it waits; whoever says so again wakes it.
                Message::Resume if self.question.is_none() => {}
                other => self.handle(other).await?,
            }
        }
        Ok(answered)
    }

    pub(super) async fn handle(&mut self, message: Message) -> Result<(), ErrorView> {
        match message {
            Message::Pause { reason } => self.feed(Input::Pause { reason }).await,
            Message::Resume => {
                self.loops.forget();
                self.feed(Input::Resume).await?;
                self.take_up_call();
                Ok(())
            }
            Message::Steer { text, reply } => self.steer(text, reply).await,
            Message::TakeBack { grant, reply } => self.take_back(grant, reply).await,
            Message::Answered(given) => self.take_answer(*given).await,
            Message::LateNo { question, answer } => self.late_no(&question, &answer).await,
            Message::UserInput => self.user_takes_over().await,
            Message::OnlyWaits { reply } => {
                let only_waits = self.can_be_parked() && self.waits_for_its_user().await.unwrap_or(false);
                // A caller that has gone does not mind.
                let _ = reply.send(only_waits);
                Ok(())
            }
        }
    }

    pub(super) async fn take_answer(&mut self, given: GivenAnswer) -> Result<(), ErrorView> {
        let GivenAnswer { question, answer, by, at, meanwhile } = given;
        let approval = question.id.clone();
        if self.question.take_if(|open| open.id == approval).is_none() {
            return Ok(());
        }
        if let Some(reply) = self.in_call.take() {
            // What the turn does after this call was planned on a screen that may be another now.
            self.disturbed |= meanwhile == Meanwhile::Used;
            self.in_call_yes = (answer != Answer::Deny).then_some(approval);
            self.budget.goes_on(&mut self.plan, at);
            return self.answered_in_call(reply, &question, &answer).await;
        }
        self.operation = None;
        self.last_yes = None;
        // Of this very call its own check judges.
        self.disturbed |= meanwhile == Meanwhile::Used;
        self.plan.answered(&approval, &answer, at);
        self.budget.goes_on(&mut self.plan, at);
        self.work_by_the_plan();
        if let (About::Plan { forecast, .. }, false) = (&*question.about, answer == Answer::Deny) {
            self.forecast = *forecast;
        }
        match answer {
            Answer::Thread => self.grants().allow(question.touches.clone()),
            Answer::Until { until } => {
                self.granted.extend(question.touches.iter().map(|grant| (grant.clone(), until)));
            }
            Answer::Deny | Answer::Once | Answer::Edit { .. } => {}
        }
        let is_another_call = matches!(answer, Answer::Edit { .. }) && question.call.tool != PLAN;
        if is_another_call {
            self.edited.push(question.call.id.clone());
            self.before_edit = Some(question);
        } else if answer != Answer::Deny {
            self.proposals.accept(&question.call.id);
            self.grants().visit(&question.hosts);
            self.last_yes = Some((approval.clone(), question.call.id.clone()));
            self.allowed = Some((question, meanwhile));
        }
        self.feed(Input::Answered { approval, answer, by }).await
    }

    /// A no beats a yes, also one that comes late: what was allowed by it is not any more.
    async fn late_no(&mut self, question: &Approval, answer: &Answer) -> Result<(), ErrorView> {
        self.feed(Input::Pause { reason: LATE_NO.into() }).await?;
        if let Some((_, call)) = self.last_yes.take_if(|(asked, _)| *asked == question.id) {
            self.allowed = None;
            if self.running.as_ref().is_some_and(|running| running.id == call) {
                self.halt.cancel();
            }
        }
        if self.in_call_yes.take_if(|asked| *asked == question.id).is_some() {
            self.halt.cancel();
        }
        self.grants().unvisit(&question.hosts);
        let mut taken = Vec::new();
        if matches!(answer, Answer::Thread | Answer::Until { .. }) {
            taken.extend(question.touches.iter().cloned());
            taken.retain(|grant| self.forget(grant));
        }
        if self.plan.agreed_in.as_ref() == Some(&question.id) {
            taken.push(PlanState::taken_back());
        }
        // What is under way may be so by them.
        if !taken.is_empty() && self.running.is_some() {
            self.halt.cancel();
        }
        for grant in taken {
            self.append(EventBody::GrantTakenBack { grant }).await?;
        }
        self.work_by_the_plan();
        self.show_status();
        Ok(())
    }

    /// Whether it was allowed.
    fn forget(&mut self, grant: &Grant) -> bool {
        let in_run = self.granted.len();
        self.granted.retain(|(granted, _)| granted != grant);
        self.grants().take_back(grant) || self.granted.len() != in_run
    }

    /// Counts at once: a call that is under way by it ends. What was never allowed is not noted either.
    async fn take_back(&mut self, grant: Grant, reply: Reply) -> Result<(), ErrorView> {
        if !self.forget(&grant) {
            let _ = reply.send(Err(not_allowed(&grant)));
            return Ok(());
        }
        if self.running.is_some() {
            self.halt.cancel();
        }
        let kept = self.append(EventBody::GrantTakenBack { grant }).await;
        // A caller that has gone does not mind.
        let _ = reply.send(kept.clone());
        self.show_status();
        kept
    }

    /// On disk before the answer: words that were taken are never lost, however the run ends.
    async fn steer(&mut self, text: String, reply: Reply) -> Result<(), ErrorView> {
        let kept = self.append(EventBody::RunSteered { text: text.clone() }).await;
        // A caller that has gone does not mind.
        let _ = reply.send(kept.clone());
        kept?;
        // What is said beside a question may name a host to say no to it.
        if self.question.is_none() {
            self.grants().note_words(&text);
        }
        self.steers.push(text);
        self.loops.forget();
        self.feed(Input::Steered).await
    }
}
