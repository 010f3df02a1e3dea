//! The user's keyboard: a run that took it away for its acts gives it back when it asks, so that the answer is not typed
//! into what it works on, and takes it again for what it does next.

use protocol::principal::Surface;
use protocol::tool::ToolCall;
use tools::{FocusedWindow, Router};

use super::Driver;
use crate::lease::{FRONT_WITHIN, Holder};

/// Where the user had the keyboard before an act of the run could take it.
pub(super) struct UserAt {
    /// `None` if it was in one of our windows, or in none that the desktop tells of.
    window: Option<FocusedWindow>,
    /// Presses of the user's own until then: after others it is where they want it.
    presses: u64,
}

impl Driver {
    /// Notes where the user has the keyboard. Without a press since the last note it is the run's own doing where it is now.
    pub(super) async fn note_keyboard(&mut self) {
        let presses = self.run.router.presses();
        let window = keyboard(&self.run.router).await;
        if window.is_none() || self.user_at.as_ref().is_none_or(|known| known.presses != presses) {
            self.user_at = Some(UserAt { window, presses });
        }
    }

    /// Gives the keyboard back to the window that the user had it in, unless they have gone elsewhere since, or another run
    /// acts. Ours come forward by themselves.
    pub(super) async fn give_keyboard_back(&mut self) {
        let Some(UserAt { window: Some(window), presses }) = &self.user_at else { return };
        let is_from_ours = matches!(self.run.from, Some(Surface::Dashboard | Surface::Chat));
        if is_from_ours || *presses != self.run.router.presses() {
            return;
        }
        if keyboard(&self.run.router).await.is_none_or(|now| now.id == window.id) {
            return;
        }
        let Some(lease) = self.run.seat.take_if_free(Holder::Run(self.run.id.clone()), self.fence()) else {
            return;
        };
        let given = tokio::time::timeout(FRONT_WITHIN, self.run.router.give_keyboard(window)).await;
        drop(lease);
        match given {
            Ok(Ok(())) => self.handed_back = true,
            Ok(Err(error)) => tracing::debug!(?error, "the keyboard stays where it is"),
            Err(_) => tracing::debug!("the keyboard was not given back in time"),
        }
    }

    /// Gives the keyboard to the window that it was given back from; else, for a call whose keys go to whatever has it while
    /// the user is in one of ours, to the window in front: which field gets them could not be told, and neither a plan nor
    /// a yes be held to it. Whether it did.
    pub(super) async fn take_keyboard(&mut self, call: &ToolCall) -> bool {
        let router = self.run.router.clone();
        let is_needed = self.handed_back
            || (call.goes_to_the_focus() && router.is_focus_ours().await.is_ok_and(|ours| ours));
        if self.disturbed || !is_needed {
            return false;
        }
        if self.lease.is_none() {
            self.lease = self.run.seat.take_if_free(Holder::Run(self.run.id.clone()), self.fence());
            if self.lease.is_none() {
                return false;
            }
            self.note_keyboard().await;
        }
        let worked_in = if self.handed_back { self.front.take() } else { None };
        let take = async {
            match &worked_in {
                Some(window) => router.restore_focus(window).await,
                None => router.take_focus_from_ours().await,
            }
        };
        let taken = tokio::select! {
            biased;
            () = self.run.stop.token.cancelled() => return false,
            taken = take => taken.is_ok(),
        };
        self.handed_back = false;
        taken
    }
}

/// The window of others that has the keyboard; a desktop that hangs holds nobody up.
async fn keyboard(router: &Router) -> Option<FocusedWindow> {
    tokio::time::timeout(FRONT_WITHIN, router.keyboard()).await.ok().flatten()
}
