//! [`Screen`] of X11: the capturing thread's door.

use futures::future::BoxFuture;
use pictures::{Frame, Picture};
use protocol::view::DisplayView;

use super::capture::Eye;
use super::session::no_display;
use super::{LOOK, LinuxDesktop};
use crate::ocr::{Look, Ocr, What};
use crate::{Area, DesktopError, Screen, Shot, TextRead};

impl LinuxDesktop {
    pub(super) async fn display(&self, index: u32) -> Result<DisplayView, DesktopError> {
        let displays = self.displays().await?;
        let view = displays.iter().find(|display| display.index == index).cloned();
        view.ok_or_else(|| no_display(index, &displays))
    }
}

impl Screen for LinuxDesktop {
    fn displays(&self) -> BoxFuture<'_, Result<Vec<DisplayView>, DesktopError>> {
        Box::pin(self.eye.run(LOOK, Eye::displays))
    }

    fn screenshot(&self, shot: Shot) -> BoxFuture<'_, Result<Picture, DesktopError>> {
        Box::pin(async move {
            let work = self.eye.run(LOOK, move |eye| eye.photograph(&shot));
            // Side by side: a session's bus is not faster than a picture.
            let (picture, unlocked) = tokio::join!(work, self.locks.refuse());
            unlocked.and(picture)
        })
    }

    fn read_text(&self, area: Area) -> BoxFuture<'_, Result<TextRead, DesktopError>> {
        Box::pin(async move {
            let Some(ocr) = &self.ocr else { return Err(Ocr::without()) };
            let (what, area, part) = What::of(area);
            let look = self.eye.run(LOOK, move |eye| {
                let (frame, viewport) = eye.look(&area)?;
                let Frame { width, height, order, pixels } = frame;
                // The eye's memory is used again by the next picture, while this one is read.
                Ok((Frame { width, height, order, pixels: pixels.to_vec() }, viewport))
            });
            let (look, unlocked) = tokio::join!(look, self.locks.refuse());
            unlocked?;
            let (frame, viewport) = look?;
            ocr.read(Look { what, frame, viewport, part }).await
        })
    }
}
