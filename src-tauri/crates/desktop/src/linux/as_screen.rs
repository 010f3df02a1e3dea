//! [`Screen`] of X11: the capturing thread's door.

use futures::future::BoxFuture;
use protocol::view::DisplayView;

use super::capture::Eye;
use super::session::no_display;
use super::{LOOK, LinuxDesktop};
use crate::{Area, DesktopError, Picture, Screen, Shot, TextLine};

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

    fn read_text(&self, _: Area) -> BoxFuture<'_, Result<Vec<TextLine>, DesktopError>> {
        Box::pin(async { Err(DesktopError::NotAvailable("not yet on this platform".into())) })
    }
}
