//! [`Hands`] of macOS and Windows: calls to the acting thread, text read back, and how the user steps in.

use std::sync::PoisonError;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use futures::future::BoxFuture;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::capture::Capturer;
use super::facade::{Facade, LOOK};
use super::input;
use super::platform::Platform;
use super::pressed::Stop;
use super::scene;
use super::watch::{Heard, UserInputAt, Watch};
use crate::{Acted, Action, DesktopError, Evidence, Fence, Hands, Interruption, locked};

const ACT: Duration = Duration::from_secs(25);
/// Reading or writing the focused text.
const TEXT: Duration = Duration::from_secs(2);
/// How long a field may take to show what was typed.
const READ_BACK: Duration = Duration::from_millis(1200);
/// Between two looks at the pointer, and between two tries where it cannot be asked for.
const POINTER: Duration = Duration::from_millis(50);
const RETRY: Duration = Duration::from_secs(2);
/// Events that may wait; more of them tell nothing new.
const WAITING: usize = 256;

impl<P: Platform> Facade<P> {
    pub(super) async fn perform(
        &self,
        action: Action,
        cancel: &CancellationToken,
    ) -> Result<Acted, DesktopError> {
        let inner = cancel.child_token();
        let given_up = inner.clone().drop_guard();
        let stop = Stop::new(inner, &self.held);
        let work = self.input.run(ACT, move |input| input.perform(&action, &stop));
        let result = tokio::select! {
            biased;
            result = work => result,
            () = cancel.cancelled() => Err(DesktopError::Cancelled),
        };
        drop(given_up);
        if matches!(result, Err(DesktopError::Cancelled | DesktopError::Timeout(_))) {
            self.release_all();
        }
        result
    }

    async fn focused_text(&self) -> Option<String> {
        self.tree.run(TEXT, |reader| Ok(reader.focused_text())).await.ok().flatten()
    }

    /// By the accessibility interface, then paste or keys; reads back where the field can be read.
    async fn write(&self, text: String, cancel: &CancellationToken) -> Result<Acted, DesktopError> {
        if cancel.is_cancelled() {
            return Err(DesktopError::Cancelled);
        }
        let (own, fence) = (self.own.clone(), self.fenced());
        self.capturer
            .run(LOOK, move |_| {
                let tops = Capturer::tops()?;
                if tops.iter().any(|top| top.focused && own.has(top)) {
                    return Err(DesktopError::Forbidden("Miki's own window has the keyboard".into()));
                }
                scene::check_fence(&fence, &tops, &own, None)
            })
            .await?;
        let before = self.focused_text().await;
        if before.is_some() {
            let wished = text.clone();
            let inserted = self.tree.run(TEXT, move |reader| Ok(reader.insert(&wished)));
            if inserted.await.unwrap_or(false) {
                let note = format!("typed {} characters, read back", text.chars().count());
                return Ok(Acted { evidence: Evidence::ReadBack, note });
            }
        }
        let acted = self.perform(Action::Type { text: text.clone() }, cancel).await?;
        let Some(before) = before else { return Ok(acted) };
        let end = Instant::now() + READ_BACK;
        let mut last = None;
        while Instant::now() < end && !cancel.is_cancelled() {
            if let Some(after) = self.focused_text().await {
                if after != before && after.contains(&text) {
                    let note = format!("{}, read back", acted.note);
                    return Ok(Acted { evidence: Evidence::ReadBack, note });
                }
                last = Some(after);
            }
            tokio::time::sleep(POINTER).await;
        }
        // Enter and Tab may have emptied or left the field: what it shows now says nothing.
        let Some(last) = last.filter(|_| !text.contains(['\n', '\t'])) else { return Ok(acted) };
        let note = format!("{}, but the focused field does not show it", acted.note);
        let evidence = if last == before { Evidence::Nothing } else { Evidence::Mismatch };
        Ok(Acted { evidence, note })
    }

    async fn watch_corner(&self) {
        loop {
            let look = self.pointer.run(LOOK, |enigo| {
                let displays = Capturer::displays()?;
                // The corner is 0,0 of a display in points and in pixels alike where that display is the first.
                Ok(scene::in_corner(input::pointer(enigo)?, &input::bounds(&displays), 0))
            });
            match look.await {
                Ok(true) => return,
                Ok(false) => tokio::time::sleep(POINTER).await,
                Err(error) => {
                    tracing::debug!(%error, "the failsafe corner cannot be watched");
                    tokio::time::sleep(RETRY).await;
                }
            }
        }
    }

    /// The user's own mouse and keys; never completes where they cannot be heard.
    async fn watch_user(&self) -> Interruption {
        let (sender, mut heard) = mpsc::channel::<Heard>(WAITING);
        let listening = P::listen(Box::new(move |event| {
            let _full = sender.try_send(event);
        }));
        let _listening = match listening {
            Ok(listening) => listening,
            Err(error) => {
                tracing::info!(%error, "the user's own input is not heard; the corner still stops everything");
                return std::future::pending().await;
            }
        };
        let mut watch = Watch::default();
        loop {
            let meant = tokio::select! {
                event = heard.recv() => match event {
                    Some(event) => watch.note(event, Instant::now()),
                    None => return std::future::pending().await,
                },
                () = tokio::time::sleep(POINTER) => watch.due(Instant::now()),
            };
            match meant {
                Some((Interruption::UserInput, place)) if self.is_ours(place).await => {}
                Some((interruption, _)) => return interruption,
                None => {}
            }
        }
    }

    /// Whether it was done to a window of ours: there the user may work without pausing the run.
    async fn is_ours(&self, place: UserInputAt) -> bool {
        let own = self.own.clone();
        let look = self.capturer.run(LOOK, move |_| {
            let tops = Capturer::tops()?;
            Ok(match place {
                UserInputAt::Keyboard => tops.iter().any(|top| top.focused && own.has(top)),
                UserInputAt::Pointer(point) => {
                    let displays = Capturer::displays()?;
                    let point = input::from_platform(point, &displays);
                    scene::hits_own(&tops, &own, point, &input::bounds(&displays))
                }
            })
        });
        look.await.unwrap_or(false)
    }
}

impl<P: Platform> Hands for Facade<P> {
    fn act(&self, action: Action, cancel: CancellationToken) -> BoxFuture<'_, Result<Acted, DesktopError>> {
        Box::pin(async move {
            // What is down may come up whatever is shown.
            if !matches!(action, Action::ButtonUp { .. } | Action::KeyUp { .. }) && P::is_locked() {
                return Err(locked());
            }
            match action {
                Action::Type { text } => self.write(text, &cancel).await,
                action => self.perform(action, &cancel).await,
            }
        })
    }

    fn release_all(&self) {
        let _done = input::release(&self.held);
    }

    fn is_holding(&self) -> bool {
        !self.held.is_empty()
    }

    fn fence(&self, fence: Fence) {
        *self.fence.lock().unwrap_or_else(PoisonError::into_inner) = fence;
    }

    fn fenced(&self) -> Fence {
        self.fence.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn keep_corner(&self, on: bool) {
        self.failsafe.store(on, Ordering::Relaxed);
    }

    fn interrupted(&self) -> BoxFuture<'_, Interruption> {
        Box::pin(async move {
            tokio::select! {
                () = self.watch_corner() => Interruption::Corner,
                interruption = self.watch_user() => interruption,
            }
        })
    }
}
