//! The user steps in: everything stops, or the run pauses at once and the model is told to look again.

use std::time::Duration;

use futures::future::BoxFuture;
use protocol::ErrorView;
use protocol::tool::{Risk, ToolError, ToolErrorKind};
use tools::{Interruption, Router};

use super::Driver;
use crate::machine::{Input, Verdict};

/// What the model is told when it goes on.
const DISTURBED: &str = "The user used the mouse or the keyboard while you worked. The screen, the focus and what \
    was under way may have changed: look again before you act.";

/// After one interruption the next is heard this much later: one that goes on and means nothing here (a pointer
/// that rests in a corner nobody minds) must not keep the run from its work.
const BREATH: Duration = Duration::from_millis(50);

/// The interruption after this one. Nothing is missed meanwhile.
pub(super) fn next(router: &Router) -> BoxFuture<'_, Interruption> {
    let next = router.interrupted();
    Box::pin(async move {
        tokio::time::sleep(BREATH).await;
        next.await
    })
}

impl Driver {
    pub(super) async fn give_way(&mut self, how: Interruption) -> Result<(), ErrorView> {
        let settings = &self.run.settings;
        match how {
            Interruption::Corner | Interruption::Escape if !settings.failsafe => Ok(()),
            Interruption::Corner => {
                self.stop("failsafe: the pointer was put into the top left corner".into()).await
            }
            Interruption::Escape => self.stop("failsafe: escape was held down".into()).await,
            // Who answers a question or has paused is expected to use the computer.
            Interruption::UserInput
                if !settings.pause_on_user_input || self.question.is_some() || self.machine.is_paused() =>
            {
                Ok(())
            }
            Interruption::UserInput => {
                // What is under way ends and comes up first; what became of it is told as after every tool.
                self.halt.cancel();
                self.run.router.release_all();
                self.disturbed = true;
                let reason = "you took the mouse or the keyboard".into();
                self.feed(Input::Pause { reason }).await
            }
        }
    }

    /// Refuses what was planned before the user used the computer, unless it only looks.
    pub(super) fn unless_disturbed(&self, risk: Option<Risk>, verdict: Verdict) -> Verdict {
        if !self.disturbed || risk == Some(Risk::Observe) || matches!(verdict, Verdict::Forbid(_)) {
            return verdict;
        }
        Verdict::Forbid(ToolError {
            kind: ToolErrorKind::Cancelled,
            message: "not done: the user used the computer meanwhile; look again before you act".into(),
        })
    }

    /// Before the next turn: the model has a fresh start from here.
    pub(super) fn tell_of_disturbance(&mut self) {
        if std::mem::take(&mut self.disturbed) {
            self.run.context.push_user(DISTURBED.into());
        }
    }
}
