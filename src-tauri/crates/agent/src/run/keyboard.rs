//! The user's keyboard: a run that took it away for its acts gives it back when it asks, so that the answer is not typed
//! into what it works on, and takes it again for what it does next. While it has none, its keys go nowhere.

use std::sync::Arc;
use std::time::Duration;

use protocol::event::Level;
use protocol::principal::Surface;
use protocol::tool::{ToolCall, ToolError, ToolErrorKind};
use protocol::{ErrorView, EventBody};
use tokio::time::Instant;
use tools::{FocusedWindow, Keyboard, Router};

use super::Driver;
use crate::lease::{FRONT_WITHIN, Holder};

/// Longest time in which the keyboard is taken again, with the user's own keys come to rest before.
const TAKE_WITHIN: Duration = Duration::from_secs(6);

/// Of the run's id, by which its devices are called.
const NAME_CHARS: usize = 8;

/// Of it, for the user's keys to come to rest.
const RESTS_WITHIN: Duration = Duration::from_secs(3);

/// Where the user had the keyboard before an act of the run could take it.
pub(super) struct UserAt {
    /// `None` if it was in one of our windows, or not to be told.
    window: Option<FocusedWindow>,
    /// When they had last pressed something in a window of others: after another press it is where they want it.
    pressed: Option<Instant>,
}

impl UserAt {
    fn is_in(&self, window: &FocusedWindow) -> bool {
        self.window.as_ref().is_some_and(|at| at.id == window.id)
    }
}

impl Driver {
    /// Before the first act: a pointer and a keyboard of its own, if its settings want that. Where there are none, those of
    /// its user do, and that is said. `false` if it was stopped or paused before it had any.
    pub(super) async fn take_own_hands(&mut self) -> Result<bool, ErrorView> {
        let id = self.run.id.as_str();
        let name = id.char_indices().rev().nth(NAME_CHARS - 1).map_or(id, |(at, _)| &id[at..]).to_owned();
        let router = self.run.router.clone();
        let make = tokio::time::timeout(TAKE_WITHIN, router.with_own_hands(name));
        let Some(made) = self.unless_heard(Box::pin(make)).await else { return Ok(false) };
        self.wants_own_hands = false;
        let why = match made {
            Ok(Ok(router)) => {
                // What it had of its user's.
                self.give_seat_back().await;
                self.run.router.release_all();
                self.run.router = Arc::new(router);
                self.run.seat = self.run.seats.add(&self.run.id, self.run.router.clone());
                self.has_own_hands = true;
                return Ok(true);
            }
            Ok(Err(error)) => error.message,
            Err(_) => "the display did not answer".to_owned(),
        };
        let message = format!("acts with your pointer and your keyboard: {why}");
        self.append(EventBody::Noted { level: Level::Warning, message, hint: None }).await?;
        Ok(true)
    }

    /// With hands of its own: why a call may not be done, if that is so. Of two such runs only one works in a window, and keys
    /// go only to one that this run has gone into before. `None` if it was stopped or paused before that was known.
    pub(super) async fn kept_from(&mut self, call: &ToolCall) -> Option<Result<(), ToolError>> {
        let (router, limits, seats) =
            (self.run.router.clone(), self.run.limits.clone(), self.run.seats.clone());
        let id = self.run.id.clone();
        let look = Box::pin(async move {
            let Some(acts_in) = router.acts_in(call, &limits).await else {
                return Err(not_done("the windows could not be looked at; try again"));
            };
            if !seats.give_windows(&id, &acts_in.enters) {
                return Err(not_done(
                    "another agent works in that window; act in another one, or wait until it has ended",
                ));
            }
            if !acts_in.types || seats.types_into_its_own(&id, &router).await {
                return Ok(());
            }
            if !router.is_below_ours().await {
                return Err(types_nowhere());
            }
            match seats.makes_room(&id, &router).await {
                true => Ok(()),
                false => Err(not_done(
                    "one of Miki's own windows lies over the one that you work in; act on elements by their refs, or ask the \
                     user to move it",
                )),
            }
        });
        self.unless_heard(look).await
    }

    /// Notes where the user has the keyboard. Without a press since the last note it is the run's own doing where it is now.
    pub(super) async fn note_keyboard(&mut self) {
        if self.has_own_hands {
            return;
        }
        let pressed = self.run.router.last_press().elsewhere;
        let is_theirs = self.user_at.as_ref().is_none_or(|known| known.pressed != pressed);
        let window = match keyboard(&self.run.router).await {
            Keyboard::At(window) if is_theirs => Some(window),
            // Nobody but the user goes there.
            Keyboard::Ours => None,
            // A window that closes takes it nowhere the user has been.
            Keyboard::At(_) | Keyboard::Unknown => return,
        };
        self.user_at = Some(UserAt { window, pressed });
    }

    /// Gives the keyboard back to the window that the user had it in, unless they have gone elsewhere since, or another run
    /// acts. Ours come forward by themselves, for whoever is in them still.
    pub(super) async fn give_keyboard_back(&mut self) {
        let Some(UserAt { window: Some(window), pressed }) = &self.user_at else { return };
        // Where it is after one of ours has hidden itself for the run, nobody has gone, unless they pressed something there.
        let is_from_ours = matches!(self.run.from, Some(Surface::Dashboard | Surface::Chat));
        let are_in_ours = is_from_ours && pressed.is_none_or(|at| at < self.began);
        // What it is given back from has to be known, or the run would not find its way there again.
        if are_in_ours || self.front.is_none() || *pressed != self.run.router.last_press().elsewhere {
            return;
        }
        match keyboard(&self.run.router).await {
            Keyboard::At(now) if now.id != window.id => {}
            Keyboard::At(_) | Keyboard::Ours | Keyboard::Unknown => return,
        }
        let Some(lease) = self.run.seat.take_if_free(Holder::Run(self.run.id.clone()), self.fence()) else {
            return;
        };
        // Also where it comes too late to be seen here.
        self.handed_back = true;
        let given = tokio::time::timeout(FRONT_WITHIN, self.run.router.give_keyboard(window)).await;
        drop(lease);
        match given {
            Ok(Ok(())) => {}
            Ok(Err(error)) => tracing::debug!(?error, "the keyboard stays where it is"),
            Err(_) => tracing::debug!("the keyboard was not given back in time"),
        }
    }

    /// Before a call that needs the desktop: gives the keyboard to the window that it was given back from.
    ///
    /// # Errors
    /// Where that window does not get it, or the user works elsewhere now: the call is not to be done, since it was meant
    /// for what the run saw there. From then on the run's keys go nowhere until an act has brought a window forward.
    pub(super) async fn take_keyboard_again(&mut self, call: &ToolCall) -> Result<(), ToolError> {
        if self.disturbed || !self.is_seated().await {
            return Ok(());
        }
        let Some(worked_in) = self.front.clone() else {
            let is_at_an_own = match (keyboard(&self.run.router).await, &self.user_at) {
                (Keyboard::At(now), Some(at)) => {
                    !at.is_in(&now) && at.pressed == self.run.router.last_press().elsewhere
                }
                _ => false,
            };
            self.handed_back = !is_at_an_own;
            return if self.handed_back && types(call) { Err(has_none()) } else { Ok(()) };
        };
        let router = self.run.router.clone();
        let user_at = self.user_at.as_ref().and_then(|at| Some(at.window.as_ref()?.id));
        let take = async {
            router.user_rests(RESTS_WITHIN).await?;
            match keyboard(&router).await {
                Keyboard::At(now) if now.id != worked_in.id && user_at != Some(now.id) => Err(elsewhere()),
                Keyboard::At(_) | Keyboard::Ours | Keyboard::Unknown => {
                    router.restore_focus(&worked_in).await
                }
            }
        };
        // Whoever has stopped or paused it meanwhile is heard at once: the call is put off.
        let Some(taken) = self.unless_heard(Box::pin(tokio::time::timeout(TAKE_WITHIN, take))).await else {
            return Ok(());
        };
        let taken = taken.unwrap_or_else(|_| Err(has_none()));
        match taken {
            Ok(()) => self.handed_back = false,
            Err(_) => self.front = None,
        }
        taken
    }

    /// For a call whose keys go to whatever has the keyboard while the user is in one of ours: gives it to the window in
    /// front. Which field gets them could not be told otherwise, and neither a plan nor a yes be held to it. Whether it did.
    pub(super) async fn take_keyboard_from_ours(&mut self, call: &ToolCall) -> bool {
        let router = self.run.router.clone();
        let is_needed = call.goes_to_the_focus() && router.is_focus_ours().await.is_ok_and(|ours| ours);
        if self.disturbed || !is_needed || !self.is_seated().await {
            return false;
        }
        let take = Box::pin(tokio::time::timeout(TAKE_WITHIN, router.take_focus_from_ours()));
        matches!(self.unless_heard(take).await, Some(Ok(Ok(()))))
    }

    /// Whether it has the desktop, or could take it at once.
    async fn is_seated(&mut self) -> bool {
        if self.lease.is_none() {
            self.lease = self.run.seat.take_if_free(Holder::Run(self.run.id.clone()), self.fence());
            if self.lease.is_none() {
                return false;
            }
            self.note_keyboard().await;
        }
        true
    }
}

/// Whether what it does may go to wherever the keyboard is.
fn types(call: &ToolCall) -> bool {
    call.goes_to_the_focus() || call.tool == "batch"
}

/// A desktop that hangs holds nobody up.
async fn keyboard(router: &Router) -> Keyboard {
    tokio::time::timeout(FRONT_WITHIN, router.keyboard()).await.unwrap_or(Keyboard::Unknown)
}

fn has_none() -> ToolError {
    let message = "not done: the keyboard is in a window of the user's, and no window that you worked in has it; look \
                   again, and bring the window you mean to the front before you type";
    ToolError { kind: ToolErrorKind::NotAvailable, message: message.to_owned() }
}

/// To the model.
pub(super) fn types_nowhere() -> ToolError {
    not_done(
        "your keyboard is in no window that you work in; click into the one you mean, or focusWindow, first",
    )
}

fn not_done(why: &str) -> ToolError {
    ToolError { kind: ToolErrorKind::NotAvailable, message: format!("not done: {why}") }
}

fn elsewhere() -> ToolError {
    let message = "not done: the user works in another window now; look again before you act";
    ToolError { kind: ToolErrorKind::Cancelled, message: message.to_owned() }
}
