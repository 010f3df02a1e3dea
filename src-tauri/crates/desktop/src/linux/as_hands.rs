//! [`Hands`] of X11: calls to the acting thread, and text read back.

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use futures::future::BoxFuture;
use tokio_util::sync::CancellationToken;

use super::atspi::{shortened, unified};
use super::input::{InputSender, MOVED_ON};
use super::windows::KeyWindow;
use super::{LOOK, LinuxDesktop, echo};
use crate::{Acted, Action, DesktopError, Evidence, Fence, Hands, Interruption, LastPress};

/// An act; long texts and drags fit in.
const ACT: Duration = Duration::from_secs(25);
/// How long a hanging act may take to notice that it was stopped.
const GRACE: Duration = Duration::from_millis(60);
/// How long a field may take to show what was typed.
const READ_BACK: Duration = Duration::from_millis(1200);
/// How long it may take to show anything of it, before that nothing happened is said.
const WORKED_OFF: Duration = Duration::from_secs(3);
/// For an application to take it back, or to make something else of it.
const TAKEN_BACK: Duration = Duration::from_millis(500);
const LOOK_AGAIN: Duration = Duration::from_millis(20);

impl LinuxDesktop {
    /// The act itself, ended by its deadline, by cancellation, or by the caller going away.
    pub(super) async fn perform(
        &self,
        action: Action,
        cancel: &CancellationToken,
    ) -> Result<Acted, DesktopError> {
        let _kept = self.keep_users_window();
        let inner = cancel.child_token();
        let given_up = inner.clone().drop_guard();
        let work = self.input.run(ACT, move |input| input.perform(&action, inner));
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

    /// Types, and reads the focused field before and after where it can be read. Enter may empty the field or leave it:
    /// what stands before it is read first.
    async fn write(&self, text: String, cancel: &CancellationToken) -> Result<Acted, DesktopError> {
        let window = self.input.run(LOOK, |input| input.session.key_window()).await?;
        let before = tokio::select! {
            () = cancel.cancelled() => return Err(DesktopError::Cancelled),
            before = self.accessibility.focused_text() => before,
        };
        let Some(before) = before else { return self.write_unread(text, &window, cancel).await };
        let (line, enters) = line_and_enters(&text);
        let typed = if line.is_empty() { text.as_str() } else { line };
        let acted = self.perform(Action::Type { text: typed.to_owned() }, cancel).await?;
        if acted.evidence != Evidence::Sent {
            return Ok(acted);
        }
        let came = self.field_until(cancel, &before, |now| has_arrived(&before, now, typed)).await;
        let read_back =
            |what: &str| Acted { evidence: Evidence::ReadBack, note: format!("{}, {what}", acted.note) };
        if line.is_empty() || enters.is_empty() {
            return Ok(match came {
                Came::Wished(held) => match self.held_later(&held, cancel).await {
                    Some(now) if !has_arrived(&before, &now, typed) => Acted {
                        evidence: Evidence::Mismatch,
                        note: format!(
                            "{}, read back, but the field holds \"{}\" a moment later: the application changed it",
                            acted.note,
                            shortened(&now)
                        ),
                    },
                    _ => read_back("read back"),
                },
                Came::Other(after) if !text.contains(['\n', '\t']) => {
                    let note = format!("{}, but the focused field does not show it", acted.note);
                    // Something came: the rest may still come, or the application made something else of it.
                    let evidence = if after == before { Evidence::Nothing } else { Evidence::Mismatch };
                    Acted { evidence, note }
                }
                // Tab and Enter may have left the field: what it shows now says nothing.
                Came::Other(_) | Came::Nothing => acted,
            });
        }
        if let Some(moved_on) = self.enter(enters, &window, &acted, cancel).await? {
            return Ok(moved_on);
        }
        let Came::Wished(held) = came else { return Ok(acted) };
        let end = Instant::now() + READ_BACK;
        while Instant::now() < end && !cancel.is_cancelled() {
            if self.accessibility.has_left_field().await
                || self.accessibility.focused_text().await.is_some_and(|now| now != held)
            {
                return Ok(read_back("read back; Enter was taken"));
            }
            tokio::time::sleep(LOOK_AGAIN).await;
        }
        Ok(acted)
    }

    /// Types where no field tells what it holds, and reads the window's picture. Enter may scroll it: how it looks before that
    /// is kept, and read afterwards. What a field hides is in no picture that is looked at.
    async fn write_unread(
        &self,
        text: String,
        window: &KeyWindow,
        cancel: &CancellationToken,
    ) -> Result<Acted, DesktopError> {
        let (line, enters) = line_and_enters(&text);
        let hides = async { self.accessibility.focused_field().await.is_some_and(|field| field.hides) };
        let before =
            if echo::is_telling(line) && !hides.await { self.picture_of(window).await } else { None };
        let Some(before) = before else { return self.perform(Action::Type { text }, cancel).await };
        let acted = self.perform(Action::Type { text: line.to_owned() }, cancel).await?;
        if acted.evidence != Evidence::Sent {
            return Ok(acted);
        }
        let typed = self.settled(&before, cancel).await;
        if !enters.is_empty()
            && let Some(moved_on) = self.enter(enters, window, &acted, cancel).await?
        {
            return Ok(moved_on);
        }
        let Some(typed) = typed else { return Ok(acted) };
        if !enters.is_empty() && !self.goes_on(&before, &typed, cancel).await {
            return Ok(acted);
        }
        let itself = typed.window;
        if !self.shows_typed(before, typed, line, cancel).await {
            return Ok(acted);
        }
        // A dialog that Enter has closed does not say what it made of the line.
        if !enters.is_empty() && !self.is_there(itself).await {
            return Ok(acted);
        }
        let taken = if enters.is_empty() { "" } else { "; Enter was taken" };
        let note = format!("{}, read back in its window's picture{taken}", acted.note);
        Ok(Acted { evidence: Evidence::ReadBack, note })
    }

    /// Presses Enter after what was typed; `Some` if the keyboard is elsewhere now, or Enter did not go where that did.
    async fn enter(
        &self,
        enters: &str,
        window: &KeyWindow,
        typed: &Acted,
        cancel: &CancellationToken,
    ) -> Result<Option<Acted>, DesktopError> {
        self.locks.refuse().await?;
        let there = *window;
        if !self.input.run(LOOK, move |input| input.session.keys_stay(&there)).await? {
            let note = format!("{} without the Enter after it: {MOVED_ON}", typed.note);
            return Ok(Some(Acted { evidence: Evidence::Mismatch, note }));
        }
        let text = enters.replace("\r\n", "\n").replace('\r', "\n");
        let entered = self.perform(Action::Type { text }, cancel).await?;
        let note = format!("{}, and Enter after it: {}", typed.note, entered.note);
        Ok((entered.evidence != Evidence::Sent).then_some(Acted { evidence: Evidence::Mismatch, note }))
    }

    /// What the same field holds a moment later, where that is something else.
    async fn held_later(&self, held: &str, cancel: &CancellationToken) -> Option<String> {
        let (field, _) = self.accessibility.focused_field_text().await?;
        tokio::select! {
            () = cancel.cancelled() => return None,
            () = tokio::time::sleep(TAKEN_BACK) => {}
        }
        let (same, now) = self.accessibility.focused_field_text().await?;
        (same == field && now != held).then_some(now)
    }

    /// What the focused field holds, once it is as wished, or the time is up. One that is still as before may be a busy
    /// application's: it is waited for longer.
    async fn field_until(
        &self,
        cancel: &CancellationToken,
        before: &str,
        is_wished: impl Fn(&str) -> bool,
    ) -> Came {
        let begun = Instant::now();
        let mut last = Came::Nothing;
        while !cancel.is_cancelled() {
            match self.accessibility.focused_text().await {
                Some(now) if is_wished(&now) => return Came::Wished(now),
                Some(now) => last = Came::Other(now),
                None => {}
            }
            let is_as_before = matches!(&last, Came::Other(now) if now == before);
            if begun.elapsed() >= if is_as_before { WORKED_OFF } else { READ_BACK } {
                break;
            }
            tokio::time::sleep(LOOK_AGAIN).await;
        }
        last
    }
}

/// A text without the line breaks at its end, and these.
fn line_and_enters(text: &str) -> (&str, &str) {
    text.split_at(text.trim_end_matches(['\n', '\r']).len())
}

/// What was read of the focused field.
enum Came {
    Wished(String),
    Other(String),
    Nothing,
}

/// Whether the text is in the field once more than before.
fn has_arrived(before: &str, after: &str, text: &str) -> bool {
    let (before, after, text) = (unified(before), unified(after), unified(text));
    let count = |field: &str| field.match_indices(text.as_str()).count();
    // Where a selection was replaced by the same text, the field is equal and that is as wished.
    count(&after) > count(&before) || after == text
}

impl Hands for LinuxDesktop {
    fn act(&self, action: Action, cancel: CancellationToken) -> BoxFuture<'_, Result<Acted, DesktopError>> {
        Box::pin(async move {
            // What is down may come up whatever is shown.
            if !matches!(action, Action::ButtonUp { .. } | Action::KeyUp { .. }) {
                self.locks.refuse().await?;
            }
            match action {
                Action::Type { text } => self.write(text, &cancel).await,
                action => self.perform(action, &cancel).await,
            }
        })
    }

    fn release_all(&self) {
        self.held.release_all();
    }

    fn is_holding(&self) -> bool {
        !self.held.is_empty()
    }

    fn fence(&self, fence: Fence) {
        self.fence.set(fence);
    }

    fn fenced(&self) -> Fence {
        self.fence.now()
    }

    fn keep_corner(&self, on: bool) {
        self.corner.store(on, Ordering::SeqCst);
    }

    fn close_menus(&self) -> BoxFuture<'_, bool> {
        Box::pin(async move {
            let closed = self.input.run(ACT, InputSender::close_menus).await;
            closed.inspect_err(|error| tracing::debug!(%error, "menus were not closed")).unwrap_or(false)
        })
    }

    fn interrupted(&self) -> BoxFuture<'_, Interruption> {
        // Taken at once, not at the first poll: nothing that happens in between is missed.
        let seat = self.watch.seat();
        Box::pin(seat.interrupted())
    }

    fn presses(&self) -> u64 {
        self.watch.presses()
    }

    fn last_press(&self) -> LastPress {
        self.watch.last_press()
    }
}

#[cfg(test)]
mod tests;
