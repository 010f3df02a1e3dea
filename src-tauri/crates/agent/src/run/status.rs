//! What the surfaces are told of a run: derived from the machine alone, so that it cannot say otherwise.

use std::collections::BTreeSet;

use protocol::contract::About;
use protocol::event::{Activity, RunEnd, Status};
use protocol::tool::{ASK_HUMAN, Approval, Grant, ToolCall, Until};
use protocol::{ErrorView, EventBody};
use serde_json::Value;
use tools::ASK_PARENT;

use super::Driver;
use crate::machine::{Next, State};
use crate::recovery;

impl Driver {
    /// Shows where the run stands; what is between two states shows nothing.
    pub(super) fn show_status(&self) {
        let in_call = self.question.as_ref().filter(|_| self.in_call.is_some());
        let waiting = match &self.machine.state {
            _ if let Some(asked) = in_call => Some(asks(asked)),
            State::AwaitingApproval { calls, .. } => Some(asks_for(&calls.current)),
            State::Idle | State::Completed | State::Failed | State::Stopped => return,
            State::ToolProposed { .. }
            | State::AwaitingModel { .. }
            | State::ExecutingTool { .. }
            | State::AwaitingContinue { .. } => self.machine.is_paused().then(|| match &self.running {
                Some(call) => format!("paused after this: {} goes on until it ends", call.tool),
                None => "paused".to_owned(),
            }),
        };
        if let Some(detail) = waiting {
            return self.show(Activity::Waiting, detail);
        }
        match &self.machine.state {
            State::AwaitingModel { .. } => self.show(Activity::Working, "waiting for the model".into()),
            State::ExecutingTool { calls } if self.seeks_seat => {
                self.show(Activity::Working, format!("waits for the desktop: {}", calls.current.tool));
            }
            State::ExecutingTool { calls } => {
                let call = &calls.current;
                self.show(Activity::Working, format!("{}{}", call.tool, reason_of(call)));
            }
            State::AwaitingContinue { next: Next::Model { .. } } => {
                if let Some(wait) = self.retrying {
                    let seconds = wait.as_secs_f32().ceil();
                    self.show(
                        Activity::Working,
                        format!("the model did not answer; trying again in {seconds} s"),
                    );
                }
            }
            State::AwaitingContinue { next: Next::Tool { .. } }
            | State::ToolProposed { .. }
            | State::AwaitingApproval { .. }
            | State::Idle
            | State::Completed
            | State::Failed
            | State::Stopped => {}
        }
    }

    /// What stays until the next run: a failure with its reason, otherwise rest.
    pub(super) fn show_end(&self, broken: Option<&ErrorView>) {
        let failure = match (broken, &self.end) {
            (Some(error), _) => Some(error.message.clone()),
            (None, Some(RunEnd::Failed { message, .. })) => Some(message.clone()),
            (None, _) => None,
        };
        let activity = if failure.is_some() { Activity::Error } else { Activity::Idle };
        let status = Status { activity, detail: failure.unwrap_or_default(), ..Status::default() };
        self.run.log.set_status(self.run.scope.clone(), status);
    }

    /// The run cannot go on though its journal can be written: then its end stands there, too.
    ///
    /// # Errors
    /// Where nothing can be written any more.
    pub(super) async fn broke_down(&mut self, error: ErrorView) -> Result<(), ErrorView> {
        if self.run.log.has_failed() {
            return Ok(());
        }
        if let Some(call) = self.running.take() {
            let result = recovery::in_doubt(&self.run.log, &self.run.scope, &call).await?;
            self.append(EventBody::ToolFinished { call: call.id, result }).await?;
        }
        let ErrorView { message, hint, .. } = error;
        self.append(EventBody::RunEnded { end: RunEnd::Failed { message, hint } }).await
    }

    fn show(&self, activity: Activity, detail: String) {
        let (step, max_steps) = (self.machine.turn, self.machine.most_steps());
        let progress = Some(Box::new(self.progress()));
        let grants = grants(self.grants().allowed().cloned(), &self.granted);
        let (paused, wants_word) = (self.machine.is_paused(), self.machine.wants_word());
        let used_up = self.budget.waits_for(&self.plan).map(Box::new);
        let asks_above =
            matches!(&self.machine.state, State::ExecutingTool { calls } if calls.current.tool == ASK_PARENT);
        let status = Status {
            activity,
            detail,
            step,
            max_steps,
            paused,
            wants_word,
            used_up,
            asks_above,
            grants,
            progress,
        };
        self.run.log.set_status(self.run.scope.clone(), status);
    }
}

/// What is allowed for a session and for a run of it; what is allowed for longer stands in the settings.
pub fn grants(of_session: impl IntoIterator<Item = Grant>, granted: &[(Grant, Until)]) -> Vec<Grant> {
    let of_run = granted.iter().filter(|(_, until)| *until == Until::Run).map(|(grant, _)| grant.clone());
    of_session.into_iter().chain(of_run).collect::<BTreeSet<_>>().into_iter().collect()
}

/// The status line of a run without a task that waits for its agents.
pub const AGENT_WAITS: &str = "waits for an agent that waits for you";

/// The status line of a run whose question is open.
pub fn asks(question: &Approval) -> String {
    match &*question.about {
        About::Elicitation(wanted) => format!("the server {} asks you something", wanted.server),
        About::Call { .. } | About::Plan { .. } | About::Result { .. } => asks_for(&question.call),
    }
}

/// The same of what a turn proposes.
fn asks_for(call: &ToolCall) -> String {
    match call.tool.as_str() {
        "plan" => "proposes a plan".to_owned(),
        "done" => "asks whether it is done".to_owned(),
        ASK_HUMAN => "asks you something".to_owned(),
        tool => format!("asks whether it may: {tool}"),
    }
}

/// What the model says the call is for, for the status line.
fn reason_of(call: &ToolCall) -> String {
    match call.arguments.get("reason").and_then(Value::as_str) {
        Some(reason) => format!(": {}", reason.chars().take(80).collect::<String>()),
        None => String::new(),
    }
}
