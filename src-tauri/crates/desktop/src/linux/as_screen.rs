//! [`Screen`] of X11: the capturing thread's door.

use futures::future::BoxFuture;
use protocol::view::DisplayView;

use super::capture::Eye;
use super::{LOOK, LinuxDesktop};
use crate::ocr::Ocr;
use crate::picture::develop;
use crate::{Area, DesktopError, Picture, Screen, Shot, TextLine};

impl LinuxDesktop {
    pub(super) async fn display(&self, index: u32) -> Result<DisplayView, DesktopError> {
        let displays = self.displays().await?;
        let count = displays.len();
        displays.into_iter().find(|display| display.index == index).ok_or_else(|| {
            DesktopError::NotFound(format!("display {index}; there are {count}, counted from 0"))
        })
    }
}

impl Screen for LinuxDesktop {
    fn displays(&self) -> BoxFuture<'_, Result<Vec<DisplayView>, DesktopError>> {
        Box::pin(self.eye.run(LOOK, Eye::displays))
    }

    fn screenshot(&self, shot: Shot) -> BoxFuture<'_, Result<Picture, DesktopError>> {
        Box::pin(self.eye.run(LOOK, move |eye| {
            let Area::Display(display) = shot.area else {
                return Err(DesktopError::NotAvailable("not yet on this platform".into()));
            };
            let (frame, shows) = eye.look(display)?;
            develop(&frame, shows, &shot)
        }))
    }

    fn read_text(&self, area: Area) -> BoxFuture<'_, Result<Vec<TextLine>, DesktopError>> {
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
            let (frame, shows) = self.eye.run(LOOK, move |eye| eye.look(display)).await?;
            ocr.read(display, frame, shows, part).await
        })
    }
}
