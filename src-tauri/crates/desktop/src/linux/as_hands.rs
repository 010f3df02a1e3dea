//! [`Hands`] of X11: the acting thread's door, and text read back.

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use futures::future::BoxFuture;
use tokio_util::sync::CancellationToken;

use super::LinuxDesktop;
use super::atspi::unified;
use crate::{Acted, Action, DesktopError, Evidence, Fence, Hands, Interruption};

/// An act; long texts and drags fit in.
const ACT: Duration = Duration::from_secs(25);
/// How long a hanging act may take to notice that it was stopped.
const GRACE: Duration = Duration::from_millis(60);
/// How long a field may take to show what was typed.
const READ_BACK: Duration = Duration::from_millis(1200);

impl LinuxDesktop {
    /// The act itself, ended by its deadline, by cancellation, or by the caller going away.
    async fn perform(&self, action: Action, cancel: &CancellationToken) -> Result<Acted, DesktopError> {
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

    /// Types, and reads the focused field before and after where it can be read.
    async fn write(&self, text: String, cancel: &CancellationToken) -> Result<Acted, DesktopError> {
        let before = tokio::select! {
            () = cancel.cancelled() => return Err(DesktopError::Cancelled),
            before = self.accessibility.focused_text() => before,
        };
        let acted = self.perform(Action::Type { text: text.clone() }, cancel).await?;
        let Some(before) = before.filter(|_| acted.evidence == Evidence::Sent) else { return Ok(acted) };
        let end = Instant::now() + READ_BACK;
        let mut last = None;
        while Instant::now() < end && !cancel.is_cancelled() {
            if let Some(after) = self.accessibility.focused_text().await {
                if has_arrived(&before, &after, &text) {
                    let note = format!("{}, read back", acted.note);
                    return Ok(Acted { evidence: Evidence::ReadBack, note });
                }
                last = Some(after);
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        // Enter and Tab may have emptied or left the field: what it shows now says nothing.
        let Some(after) = last.filter(|_| !text.contains(['\n', '\t'])) else { return Ok(acted) };
        let note = format!("{}, but the focused field does not show it", acted.note);
        // Something came: the rest may still come, or the application made something else of it.
        let evidence = if after == before { Evidence::Mismatch } else { Evidence::Sent };
        Ok(Acted { evidence, note })
    }
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

    fn interrupted(&self) -> BoxFuture<'_, Interruption> {
        // Taken at once, not at the first poll: nothing that happens in between is missed.
        let seat = self.watch.seat();
        Box::pin(seat.interrupted())
    }
}

#[cfg(test)]
mod tests;
