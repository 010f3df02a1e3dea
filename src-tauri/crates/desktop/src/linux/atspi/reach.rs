//! Whether a person could reach an object now: it is not hidden, and no modal dialog stands before its window. An
//! application may carry out an action that nobody could have done. Looks only.

use futures::future::join_all;

use super::acting::{Operand, called, parent};
use super::bus::{CallError, Object, ROOT};
use super::role::{self, States, number};
use crate::DesktopError;

/// The deepest tree that is followed.
const DEEPEST: usize = 60;

/// Where an object is that does not show.
pub(super) enum Away {
    /// Scrolled away, folded in, or on another page of a window that is open.
    OutOfSight,
    /// It, or something that holds it, is hidden.
    Hidden,
    /// Its window is not open any more.
    Gone,
}

impl Operand {
    /// Refuses what a modal dialog of its application keeps from being used.
    pub(in super::super) async fn check_in_reach(&self) -> Result<(), DesktopError> {
        match modal_over(&self.object, &self.window).await {
            Ok(None) => Ok(()),
            Ok(Some(dialog)) => Err(self.behind(&dialog)),
            Err(error) => Err(self.failed(&error)),
        }
    }

    pub(in super::super) fn behind(&self, dialog: &str) -> DesktopError {
        DesktopError::BadInput(format!(
            "{} is behind {dialog}, which has to be answered first; nothing was done",
            self.called
        ))
    }

    /// For an object that does not show: why.
    pub(super) async fn away(&self) -> Result<Away, CallError> {
        let (mut at, mut inner, mut states) = (self.object.clone(), self.role, self.states);
        let (mut in_menu, mut hidden) = (false, false);
        for _ in 0..DEEPEST {
            // What a closed menu holds is not visible, and may be used all the same.
            in_menu |= role::pops_up(inner) || matches!(role::describe(inner).0, "menu item" | "combo box");
            let above = match parent(&at).await {
                Ok(above) => above,
                Err(CallError::Late) => return Err(CallError::Late),
                Err(_) => return Ok(Away::Gone),
            };
            let (role, told) = tokio::join!(above.role(), above.states());
            let role = match role {
                Ok(role) => role,
                Err(CallError::Late) => return Err(CallError::Late),
                Err(_) => return Ok(Away::Gone),
            };
            if role == number::APPLICATION {
                return Ok(match states.has(self.quirks.shown) {
                    true if hidden => Away::Hidden,
                    true => Away::OutOfSight,
                    false => Away::Gone,
                });
            }
            let told = told?;
            // A row that is scrolled away is not visible in some toolkits; Qt says so of the list that it is in.
            let scrolls = told.has(States::MANAGES_DESCENDANTS) || role::items(role).is_some();
            hidden |= !in_menu && !scrolls && !states.has(States::VISIBLE);
            (at, inner, states) = (above, role, told);
        }
        Ok(Away::OutOfSight)
    }
}

/// What the object that holds this one tells of itself, and so of all that it holds; `None` if it holds it no longer.
pub(super) async fn states_of_holder(object: &Object) -> Result<Option<States>, CallError> {
    const SHARED: [States; 4] = [States::ENABLED, States::SENSITIVE, States::SHOWING, States::VISIBLE];
    let holder = parent(object).await?;
    let (held, told) = tokio::join!(holder.children(), holder.states());
    let (held, told) = (held?, told?);
    let is_held = held.iter().any(|(_, path)| path.as_str() == &*object.path);
    let shared = || SHARED.into_iter().filter(|state| told.has(*state)).fold(States::default(), States::with);
    Ok(is_held.then(shared))
}

/// The modal dialog of the object's application that stands before this window of it; [`CallError::Gone`] where that
/// is closed.
async fn modal_over(object: &Object, window: &str) -> Result<Option<String>, CallError> {
    let root = Object::new(&object.program, ROOT);
    let windows = join_all(root.children().await?.into_iter().map(|(_, path)| {
        let one = Object::new(&object.program, path.as_str());
        async move {
            let (role, name, states) = tokio::join!(one.role(), one.name(), one.states());
            Some((one.path, role.ok()?, name.unwrap_or_default(), states.ok()?))
        }
    }));
    let windows: Vec<_> = windows.await.into_iter().flatten().collect();
    // What was in a window that has closed may still answer.
    let its = windows.iter().find(|(path, ..)| &**path == window);
    let Some((_, role, _, states)) = its else { return Err(CallError::Gone) };
    let (is_modal, is_active) = (states.has(States::MODAL), states.has(States::ACTIVE));
    // A popup may belong to the dialog itself.
    let is_popup = !matches!(
        role::describe(*role).0,
        "frame" | "dialog" | "alert" | "file chooser" | "color chooser" | "font chooser"
    );
    if is_popup || (is_modal && is_active) {
        return Ok(None);
    }
    let stands_before = |states: States| {
        // Of two dialogs the active one stands before the other.
        states.has(States::MODAL.with(States::VISIBLE)) && (!is_modal || states.has(States::ACTIVE))
    };
    let before = windows.iter().find(|(path, _, _, states)| &**path != window && stands_before(*states));
    Ok(before.map(|(_, role, name, _)| called(*role, name)))
}
