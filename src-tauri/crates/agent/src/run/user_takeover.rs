//! The user takes the mouse or the keyboard: the run that has the desktop pauses at once, and its model looks again.

use protocol::ErrorView;
use protocol::tool::{Risk, ToolError, ToolErrorKind};

use super::Driver;
use crate::machine::{Input, Verdict};

/// What the model is told when it goes on.
const DISTURBED: &str = "The user used the mouse or the keyboard while you worked. The screen, the focus and what \
    was under way may have changed: look again before you act.";

/// What the model is told when its run goes on after a long wait, perhaps in another process.
const WOKEN: &str = "Time has passed since you asked, and the program may have been started again. What you saw before \
    may be gone: look again before you act.";

impl Driver {
    pub(super) async fn user_takes_over(&mut self) -> Result<(), ErrorView> {
        // Who answers a question is expected to use the computer.
        if self.question.is_some() {
            return Ok(());
        }
        // What is under way ends and comes up first, also where its pause was to wait for its end; what became of it is told
        // as after every tool.
        self.halt.cancel();
        self.run.seat.release_if_held_by(&self.run.id);
        self.disturbed = true;
        if self.machine.is_paused() {
            return Ok(());
        }
        let reason = "you took the mouse or the keyboard".into();
        self.feed(Input::Pause { reason }).await
    }

    /// Refuses what was planned before the user used the computer, unless it only looks.
    pub(super) fn unless_disturbed(&self, risk: Option<Risk>, verdict: Verdict) -> Verdict {
        let why = self.disturbed.then_some("the user used the computer meanwhile");
        unless(why, risk, verdict)
    }

    /// Refuses what was planned before the run was put aside, unless it only looks, or its user is asked about it as things
    /// are now.
    pub(super) fn unless_woken(&self, risk: Option<Risk>, verdict: Verdict) -> Verdict {
        let is_unasked = matches!(verdict, Verdict::Run);
        let why = (self.is_woken && is_unasked).then_some("time has passed since it was planned");
        unless(why, risk, verdict)
    }

    /// Before the next turn: the model has a fresh start from here.
    pub(super) fn tell_of_disturbance(&mut self) {
        let (woken, disturbed) = (std::mem::take(&mut self.is_woken), std::mem::take(&mut self.disturbed));
        if woken {
            self.run.context.push_user(WOKEN.into());
        } else if disturbed {
            self.run.context.push_user(DISTURBED.into());
        }
    }
}

fn unless(why: Option<&str>, risk: Option<Risk>, verdict: Verdict) -> Verdict {
    match why {
        Some(why) if risk != Some(Risk::Observe) && !matches!(verdict, Verdict::Forbid(_)) => {
            let message = format!("not done: {why}; look again before you act");
            Verdict::Forbid(ToolError { kind: ToolErrorKind::Cancelled, message })
        }
        Some(_) | None => verdict,
    }
}
