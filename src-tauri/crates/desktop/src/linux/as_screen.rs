//! [`Screen`] of X11: calls to the capturing thread.

use std::time::Duration;

use futures::future::BoxFuture;
use ocr::{ReadRequest, TextRead};
use pictures::{Frame, Picture, Thumbnail, Viewport};
use protocol::geometry::NormRect;
use protocol::view::DisplayView;

use super::capture::Capturer;
use super::session::no_display;
use super::{LOOK, LinuxDesktop};
use crate::reading::{ENOUGH, TextReader, source_of};
use crate::{Area, DesktopError, Screen, Shot};

impl LinuxDesktop {
    pub(super) async fn display(&self, index: u32) -> Result<DisplayView, DesktopError> {
        let displays = self.displays().await?;
        let view = displays.iter().find(|display| display.index == index).cloned();
        view.ok_or_else(|| no_display(index, &displays))
    }

    /// The pixels of an area, and where that is.
    pub(super) async fn look_at(&self, area: Area) -> Result<(Frame, Viewport), DesktopError> {
        let look = self.capturer.run(LOOK, move |capturer| {
            let (frame, viewport) = capturer.look(&area)?;
            let Frame { width, height, order, pixels } = frame;
            // The capturer's memory is used again by the next picture, while this one is read.
            Ok((Frame { width, height, order, pixels: pixels.to_vec() }, viewport))
        });
        let (look, unlocked) = tokio::join!(look, self.locks.refuse());
        unlocked?;
        look
    }

    /// The text in an area, or in the part of it that is named once it is known where it is, its picture, and where that
    /// was.
    pub(super) async fn read(
        &self,
        area: Area,
        part_of: impl FnOnce(&Viewport) -> Option<NormRect>,
        enough: Duration,
    ) -> Result<(TextRead, Frame, Viewport), DesktopError> {
        let Some(reader) = &self.text_reader else { return Err(TextReader::missing()) };
        let (source, area, region) = source_of(area);
        let (frame, viewport) = self.look_at(area).await?;
        let part = region.or_else(|| part_of(&viewport));
        let (text, frame) = reader.read(ReadRequest { source, frame, viewport, part }, enough).await?;
        Ok((text, frame, viewport))
    }
}

impl Screen for LinuxDesktop {
    fn displays(&self) -> BoxFuture<'_, Result<Vec<DisplayView>, DesktopError>> {
        Box::pin(self.capturer.run(LOOK, Capturer::displays))
    }

    fn screenshot(&self, shot: Shot) -> BoxFuture<'_, Result<Picture, DesktopError>> {
        Box::pin(async move {
            let work = self.capturer.run(LOOK, move |capturer| capturer.photograph(&shot));
            // Side by side: a session's bus is not faster than a picture.
            let (picture, unlocked) = tokio::join!(work, self.locks.refuse());
            unlocked.and(picture)
        })
    }

    fn thumbnail(&self, area: Area) -> BoxFuture<'_, Result<Thumbnail, DesktopError>> {
        Box::pin(async move {
            let work = self.capturer.run(LOOK, move |capturer| capturer.thumbnail(&area));
            let (thumbnail, unlocked) = tokio::join!(work, self.locks.refuse());
            unlocked.and(thumbnail)
        })
    }

    fn read_text(&self, area: Area) -> BoxFuture<'_, Result<TextRead, DesktopError>> {
        Box::pin(async move { Ok(self.read(area, |_| None, ENOUGH).await?.0) })
    }

    fn is_locked(&self) -> BoxFuture<'_, bool> {
        Box::pin(async move {
            let saver = self.capturer.run(LOOK, |capturer| Ok(capturer.is_blanked()));
            let (saver, lock) = tokio::join!(saver, self.locks.refuse());
            saver.unwrap_or(false) || lock.is_err()
        })
    }
}
