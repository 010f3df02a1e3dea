//! Linux with X11: one facade over threads that may block and an accessibility bus that may not.
//!
//! Capturing and acting each have a thread (`lane.rs`) with a connection of its own; releasing and the failsafe have
//! theirs, so that neither waits for the other two. Wayland without an X server is named and refused.

use std::sync::Arc;
use std::time::{Duration, Instant};

use futures::future::BoxFuture;
use protocol::view::{Check, CheckState, CheckView, DisplayView};
use tokio_util::sync::CancellationToken;

pub use self::atspi::Accessibility;
use self::capture::Eye;
use self::failsafe::Failsafe;
use self::held::Held;
use self::input::Hand;
use self::session::Session;
use self::windows::Own;
use crate::lane::Lane;
use crate::picture::develop;
use crate::{
    Abilities, Acted, Action, Desktop, DesktopError, ElementQuery, Evidence, Options, Picture, Script, Shot,
    Snapshot,
};

mod atspi;
mod capture;
mod checks;
mod clipboard;
mod compose;
mod failsafe;
mod held;
mod input;
mod keymap;
mod session;
mod typing;
mod windows;

/// A picture, a list of displays, a check: what only looks.
const LOOK: Duration = Duration::from_secs(10);
/// An act; long texts and drags fit in.
const ACT: Duration = Duration::from_secs(25);
/// How long a hanging act may take to notice that it was stopped.
const GRACE: Duration = Duration::from_millis(60);
/// Elements, where the query names no deadline.
const ELEMENTS: Duration = Duration::from_secs(10);
/// How long a field may take to show what was typed.
const READ_BACK: Duration = Duration::from_millis(1200);
/// How long opening may wait for an X server that does not answer.
const OPENING: Duration = Duration::from_secs(2);

pub(crate) fn open(options: Options) -> Arc<dyn Desktop> {
    Arc::new(LinuxDesktop::open(options))
}

struct LinuxDesktop {
    abilities: Abilities,
    eye: Lane<Eye>,
    hand: Lane<Hand>,
    held: Arc<Held>,
    failsafe: Option<Arc<Failsafe>>,
    accessibility: Accessibility,
}

impl LinuxDesktop {
    fn open(options: Options) -> Self {
        let Options { failsafe, own_titles, own_pid, display, session_bus } = options;
        let session = first_session(display.clone());
        let has_bus = session_bus.is_some() || names_a_bus();
        let abilities = match &session {
            Some(session) => checks::abilities(session, has_bus),
            None => Abilities { screen: false, input: false, elements: false, scripting: false },
        };
        let own = Own { titles: own_titles.clone(), pid: own_pid };
        let held = Held::new(display.clone(), session.map(Arc::new));
        let eye = {
            let (display, own) = (display.clone(), own.clone());
            Lane::new("capture", move || Eye::open(display.as_deref(), own.clone()))
        };
        let hand = {
            let (display, held) = (display.clone(), Arc::clone(&held));
            Lane::new("input", move || Hand::open(display.clone(), own.clone(), Arc::clone(&held), failsafe))
        };
        Self {
            abilities,
            eye,
            hand,
            held,
            failsafe: failsafe.then(|| Failsafe::new(display)),
            accessibility: Accessibility::new(session_bus, own_pid, own_titles),
        }
    }

    async fn display(&self, index: u32) -> Result<DisplayView, DesktopError> {
        let displays = self.displays().await?;
        let count = displays.len();
        displays.into_iter().find(|display| display.index == index).ok_or_else(|| {
            DesktopError::NotFound(format!("display {index}; there are {count}, counted from 0"))
        })
    }

    /// The act itself, ended by its deadline, by cancellation, or by the caller going away.
    async fn perform(&self, action: Action, cancel: &CancellationToken) -> Result<Acted, DesktopError> {
        let inner = cancel.child_token();
        let given_up = inner.clone().drop_guard();
        let work = self.hand.run(ACT, move |hand| hand.perform(&action, inner));
        let stopped = async {
            cancel.cancelled().await;
            tokio::time::sleep(GRACE).await;
        };
        let result = tokio::select! {
            biased;
            result = work => result,
            () = stopped => Err(DesktopError::Cancelled),
        };
        drop(given_up);
        if matches!(result, Err(DesktopError::Cancelled | DesktopError::Timeout(_))) {
            self.held.release_all();
        }
        result
    }

    /// Types, and reads the focused field before and after where it can be read.
    async fn write(&self, text: String, cancel: &CancellationToken) -> Result<Acted, DesktopError> {
        let before = tokio::select! {
            () = cancel.cancelled() => return Err(DesktopError::Cancelled),
            before = self.accessibility.focused_text() => before,
        };
        let acted = self.perform(Action::Type { text: text.clone() }, cancel).await?;
        let Some(before) = before.filter(|_| acted.evidence == Evidence::Sent) else { return Ok(acted) };
        let end = Instant::now() + READ_BACK;
        let mut readable = false;
        while Instant::now() < end && !cancel.is_cancelled() {
            if let Some(after) = self.accessibility.focused_text().await {
                readable = true;
                if has_arrived(&before, &after, &text) {
                    let note = format!("{}, read back", acted.note);
                    return Ok(Acted { evidence: Evidence::ReadBack, note });
                }
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        // Enter and Tab may have emptied or left the field: what it shows now says nothing.
        if !readable || text.contains(['\n', '\t']) {
            return Ok(acted);
        }
        let note = format!("{}, but the focused field does not show it", acted.note);
        Ok(Acted { evidence: Evidence::Mismatch, note })
    }
}

/// Whether the text is in the field once more than before.
fn has_arrived(before: &str, after: &str, text: &str) -> bool {
    let plain = |text: &str| text.replace("\r\n", "\n");
    let (before, after, text) = (plain(before), plain(after), plain(text));
    let count = |field: &str| field.match_indices(text.as_str()).count();
    // Where a selection was replaced by the same text, the field is equal and that is as wished.
    count(&after) > count(&before) || after == text
}

impl Drop for LinuxDesktop {
    fn drop(&mut self) {
        self.held.release_all();
    }
}

/// The connection kept for releasing. An X server that accepts but never answers must not hang the start.
fn first_session(display: Option<String>) -> Option<Session> {
    let (sender, receiver) = std::sync::mpsc::sync_channel(1);
    std::thread::Builder::new()
        .name("desktop-open".into())
        .spawn(move || {
            let _gone = sender.send(Session::connect(display.as_deref()));
        })
        .ok()?;
    receiver.recv_timeout(OPENING).ok()?.ok()
}

/// Whether there is a session bus to ask for the accessibility bus.
fn names_a_bus() -> bool {
    let named = std::env::var_os("DBUS_SESSION_BUS_ADDRESS").is_some_and(|address| !address.is_empty());
    named
        || std::env::var_os("XDG_RUNTIME_DIR")
            .is_some_and(|folder| std::path::Path::new(&folder).join("bus").exists())
}

impl Desktop for LinuxDesktop {
    fn abilities(&self) -> Abilities {
        self.abilities
    }

    fn displays(&self) -> BoxFuture<'_, Result<Vec<DisplayView>, DesktopError>> {
        Box::pin(self.eye.run(LOOK, Eye::displays))
    }

    fn screenshot(&self, shot: Shot) -> BoxFuture<'_, Result<Picture, DesktopError>> {
        Box::pin(self.eye.run(LOOK, move |eye| develop(&eye.look(shot.display)?, &shot)))
    }

    fn act(&self, action: Action, cancel: CancellationToken) -> BoxFuture<'_, Result<Acted, DesktopError>> {
        Box::pin(async move {
            match action {
                Action::Type { text } => self.write(text, &cancel).await,
                action => self.perform(action, &cancel).await,
            }
        })
    }

    fn elements(&self, query: ElementQuery) -> BoxFuture<'_, Result<Snapshot, DesktopError>> {
        Box::pin(async move {
            let limit = query.deadline.unwrap_or(ELEMENTS);
            let display = self.display(query.display).await?;
            let read = self.accessibility.elements(&query, &display);
            tokio::time::timeout(limit, read).await.map_err(|_| DesktopError::Timeout(limit))?
        })
    }

    fn focus_element(&self, reference: String) -> BoxFuture<'_, Result<Acted, DesktopError>> {
        Box::pin(async move {
            let focus = self.accessibility.focus(&reference);
            tokio::time::timeout(LOOK, focus).await.map_err(|_| DesktopError::Timeout(LOOK))?
        })
    }

    fn run_script(&self, _: Script, _: CancellationToken) -> BoxFuture<'_, Result<String, DesktopError>> {
        Box::pin(async { Err(DesktopError::NotAvailable("AppleScript needs macOS".into())) })
    }

    fn release_all(&self) {
        self.held.release_all();
    }

    fn failsafe(&self) -> BoxFuture<'_, ()> {
        match &self.failsafe {
            Some(failsafe) => Box::pin(Arc::clone(failsafe).tripped()),
            None => Box::pin(std::future::pending()),
        }
    }

    fn checks(&self) -> BoxFuture<'_, Vec<CheckView>> {
        Box::pin(async move {
            let display = self.eye.run(LOOK, |eye| Ok(eye.checks())).await;
            let mut all = display.unwrap_or_else(|error| checks::of_display(Err(&error)));
            let accessibility = tokio::time::timeout(LOOK, self.accessibility.check()).await;
            all.push(accessibility.unwrap_or_else(|_| {
                let detail = format!("the accessibility bus did not answer within {LOOK:?}");
                let mend = "log out and in again, or restart at-spi2-core";
                checks::view(Check::Accessibility, CheckState::Missing, detail, Some(mend))
            }));
            all
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_has_arrived_when_it_is_there_once_more_than_before() {
        assert!(has_arrived("", "hello", "hello"));
        assert!(has_arrived("hello", "hello hello", "hello"));
        assert!(has_arrived("hello", "hello", "hello"));
        assert!(!has_arrived("say hello", "say hello", "hello"));
        assert!(!has_arrived("", "helo", "hello"));
        assert!(has_arrived("", "a\r\nb", "a\nb"));
    }
}
