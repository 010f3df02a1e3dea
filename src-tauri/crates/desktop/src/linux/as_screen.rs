//! [`Screen`] of X11: the capturing thread's door.

use futures::future::BoxFuture;
use protocol::view::DisplayView;

use super::capture::Eye;
use super::session::no_display;
use super::{LOOK, LinuxDesktop};
use crate::ocr::Ocr;
use crate::picture::Frame;
use crate::{Area, DesktopError, Picture, Screen, Shot, TextRead};

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
        Box::pin(self.eye.run(LOOK, move |eye| eye.photograph(&shot)))
    }

    fn read_text(&self, area: Area) -> BoxFuture<'_, Result<TextRead, DesktopError>> {
        Box::pin(async move {
            let Some(ocr) = &self.ocr else { return Err(Ocr::without()) };
            let (display, part) = match area {
                Area::Display(display) => (display, None),
                Area::Region { display, rect } => (display, Some(rect)),
                Area::Window(_) => {
                    return Err(DesktopError::BadInput(
                        "text is read in a display or a region of it; give the window's bounds".into(),
                    ));
                }
            };
            let look = self.eye.run(LOOK, move |eye| {
                let (frame, place) = eye.look(&Area::Display(display))?;
                let Frame { width, height, order, pixels } = frame;
                // The eye's memory is used again by the next picture, while this one is read.
                Ok((Frame { width, height, order, pixels: pixels.to_vec() }, place.shows))
            });
            let (frame, shows) = look.await?;
            ocr.read(display, frame, shows, part).await
        })
    }
}
