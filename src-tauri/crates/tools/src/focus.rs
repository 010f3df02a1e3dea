//! Windows as people know them, and the keyboard focus, for whoever answers a question in a window of ours and wants the
//! work to go on where it was.

use std::time::Duration;

use desktop::{Acted, Desktop, DesktopError, Taker, WindowChange, WindowId, WindowView};
use futures::future::BoxFuture;
use protocol::tool::{FrontWindow, ToolError, ToolErrorKind};
use protocol::view::PointerView;
use tokio::time::Instant;

use crate::Router;
use crate::tool::{from_desktop, tool_error};
use crate::{redaction, untrusted, whose};

/// Longest wait for a window to have the focus after it was activated.
const PATIENCE: Duration = Duration::from_secs(2);
/// The same while one of ours has it: whoever presses on in that takes it back each time.
const WHILE_OURS: Duration = Duration::from_secs(6);
/// After that it is asked for again, while no other has it.
const ASK_AGAIN: Duration = Duration::from_millis(250);
/// Between two looks whether it has.
const INTERVAL: Duration = Duration::from_millis(20);
/// Whoever has pressed no key for this long types no more.
const RESTS: Duration = Duration::from_millis(700);
/// Longest wait for that before keys are sent.
const TYPES: Duration = Duration::from_secs(3);
/// Characters of a title or an application's name in a line for people.
const NAME_CHARS: usize = 80;

/// The window that had the keyboard focus at some time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FocusedWindow {
    pub id: WindowId,
    pub app: String,
    pub title: String,
    /// `None` if the desktop does not tell.
    pub pid: Option<u32>,
}

/// Who has the keyboard focus.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Keyboard {
    At(FocusedWindow),
    /// A window of ours.
    Ours,
    /// A menu, a panel or the bare desktop; or the desktop cannot tell.
    Unknown,
}

impl From<FocusedWindow> for FrontWindow {
    fn from(window: FocusedWindow) -> Self {
        let FocusedWindow { id, app, title, pid } = window;
        Self { id: id.0, app, title, pid }
    }
}

impl From<FrontWindow> for FocusedWindow {
    fn from(window: FrontWindow) -> Self {
        let FrontWindow { id, app, title, pid } = window;
        Self { id: WindowId(id), app, title, pid }
    }
}

impl From<WindowView> for FocusedWindow {
    fn from(window: WindowView) -> Self {
        let WindowView { id, app, title, pid, .. } = window;
        Self { id, app, title, pid }
    }
}

impl FocusedWindow {
    /// Ids are given anew after a window has closed: the application has to be the same, too. Titles change.
    fn is(&self, window: &WindowView) -> bool {
        let same_process = self.pid.zip(window.pid).is_none_or(|(one, other)| one == other);
        self.id == window.id && self.app == window.app && same_process
    }
}

impl Router {
    /// The window that has the keyboard focus. While none but ours has it: the one that is above all others. `None` if
    /// there is none, or if the desktop cannot tell.
    pub async fn focus(&self) -> Option<FocusedWindow> {
        let windows = self.desktop().windows().await;
        let windows = windows.inspect_err(|error| tracing::debug!(%error, "the focus is not known")).ok()?;
        // Our own windows are not listed: while one of them has the focus, none of these has. They come from top to bottom.
        whose::front(&windows).cloned().map(Into::into)
    }

    /// Who has the keyboard focus.
    pub async fn keyboard(&self) -> Keyboard {
        let Ok(windows) = self.windows().await else { return Keyboard::Unknown };
        if let Some(window) = windows.into_iter().find(has_focus) {
            return Keyboard::At(window.into());
        }
        match self.desktop().taker(None).await {
            // Where the system does not say, what is no window of others is one of ours.
            Taker::Ours | Taker::Unsaid => Keyboard::Ours,
            Taker::Window(_) | Taker::Popup(_) | Taker::Other => Keyboard::Unknown,
        }
    }

    /// A window as it is now, if that is still the same one.
    pub async fn window_now(&self, known: &FrontWindow) -> Option<FocusedWindow> {
        let windows = self.desktop().windows().await.ok()?;
        let is_it = |one: &WindowView| one.id.0 == known.id && one.pid == known.pid;
        windows.into_iter().find(is_it).map(Into::into)
    }

    /// Where the pointer is that acts, if anybody knows.
    pub async fn pointer(&self) -> Option<PointerView> {
        let (display, at) = self.desktop().pointer().await?;
        Some(PointerView { display, at })
    }

    /// The window that a call names by its number, as it is called now; `None` if there is none, or if the desktop cannot
    /// tell.
    pub async fn window(&self, id: WindowId) -> Option<FrontWindow> {
        let mut window = named(self.desktop(), id).await?;
        let secrets = self.secrets().await;
        for text in [&mut window.app, &mut window.title] {
            *text = redaction::redacted(text, &secrets);
        }
        Some(window)
    }

    /// Activates a window that had the focus, and waits until it has it again.
    ///
    /// # Errors
    /// `NotFound` if it has closed; `Forbidden` if it is outside the fence; `Failed` if another window keeps the
    /// focus; what the desktop says otherwise.
    pub async fn restore_focus(&self, window: &FocusedWindow) -> Result<(), ToolError> {
        self.until_focused(window, || self.desktop().change_window(window.id, WindowChange::Focus)).await
    }

    /// The same with a window that the user had the keyboard in, wherever the fence is.
    ///
    /// # Errors
    /// As [`Router::restore_focus`], but never `Forbidden` for the fence.
    pub async fn give_keyboard(&self, window: &FocusedWindow) -> Result<(), ToolError> {
        self.until_focused(window, || self.desktop().give_keyboard(window.id)).await
    }

    async fn until_focused<'a>(
        &'a self,
        window: &FocusedWindow,
        give: impl Fn() -> BoxFuture<'a, Result<Acted, DesktopError>>,
    ) -> Result<(), ToolError> {
        let app = untrusted::line(&window.app, NAME_CHARS);
        let title = untrusted::line(&window.title, NAME_CHARS);
        let gone = || {
            let message = format!("the window \"{title}\" of {app}, which had the keyboard, is gone");
            tool_error(ToolErrorKind::NotFound, message)
        };
        if !self.windows().await?.iter().any(|one| window.is(one)) {
            return Err(gone());
        }
        let ask = || async { give().await.map_err(|error| from_desktop(&error)) };
        ask().await?;
        let begun = Instant::now();
        let mut asked = begun;
        loop {
            let windows = self.windows().await?;
            let now = windows.iter().find(|one| window.is(one)).ok_or_else(gone)?;
            if has_focus(now) {
                return Ok(());
            }
            // The second click of a double click on the answer takes it back to us.
            let is_ours = !windows.iter().any(has_focus);
            if asked.elapsed() >= ASK_AGAIN && is_ours {
                ask().await?;
                asked = Instant::now();
            }
            if begun.elapsed() >= if is_ours { WHILE_OURS } else { PATIENCE } {
                let holder = match windows.iter().find(|one| has_focus(one)) {
                    Some(other) => format!("\"{}\" has it", untrusted::line(&other.title, NAME_CHARS)),
                    None => "no other window but perhaps one of Miki's has it".to_owned(),
                };
                let message =
                    format!("the window \"{title}\" of {app} did not get the keyboard back; {holder}");
                return Err(tool_error(ToolErrorKind::Failed, message));
            }
            tokio::time::sleep(INTERVAL).await;
        }
    }

    /// Gives the keyboard to the window that is in front of all others, if none but ours has it: whoever started a run
    /// in one of ours has it there.
    ///
    /// # Errors
    /// As [`Router::restore_focus`]; `NotAvailable` while the user types there.
    pub async fn take_focus_from_ours(&self) -> Result<(), ToolError> {
        if !self.is_focus_ours().await? {
            return Ok(());
        }
        match self.focus().await {
            Some(window) => {
                self.user_rests(TYPES).await?;
                self.restore_focus(&window).await
            }
            None => Ok(()),
        }
    }

    /// Waits, at most this long, until the user has pressed no key for a moment, so that what they type ends where they began
    /// it.
    ///
    /// # Errors
    /// `NotAvailable` if they type on.
    pub async fn user_rests(&self, within: Duration) -> Result<(), ToolError> {
        let end = Instant::now() + within;
        while let Some(pressed) = self.last_press().key {
            let left = RESTS.saturating_sub(pressed.elapsed());
            if left.is_zero() {
                break;
            }
            if Instant::now() >= end {
                let message =
                    "not done: the user is typing in another window; wait a moment, then look again";
                return Err(tool_error(ToolErrorKind::NotAvailable, message));
            }
            tokio::time::sleep(left).await;
        }
        Ok(())
    }

    /// Our windows are not listed: none of the others has it.
    pub async fn is_focus_ours(&self) -> Result<bool, ToolError> {
        Ok(!self.windows().await?.iter().any(has_focus))
    }

    async fn windows(&self) -> Result<Vec<WindowView>, ToolError> {
        self.desktop().windows().await.map_err(|error| from_desktop(&error))
    }
}

async fn named(desktop: &dyn Desktop, id: WindowId) -> Option<FrontWindow> {
    let windows = desktop.windows().await;
    let windows =
        windows.inspect_err(|error| tracing::debug!(%error, "a window's title is not known")).ok()?;
    let WindowView { id, app, title, pid, .. } = windows.into_iter().find(|one| one.id == id)?;
    let clean = |text: &str| untrusted::line(text, NAME_CHARS);
    Some(FrontWindow { id: id.0, app: clean(&app), title: clean(&title), pid })
}

/// A window in a line for people: by its number only where nothing else is known of it.
pub(crate) async fn name_of(desktop: &dyn Desktop, id: WindowId) -> String {
    named(desktop, id).await.map_or_else(|| format!("window {}", id.0), |window| window.to_string())
}

pub(crate) fn has_focus(window: &WindowView) -> bool {
    window.is("focused")
}
