//! [`Windows`] of X11: what the window manager knows of windows, and applications by their desktop files.

use futures::future::BoxFuture;

use super::LinuxDesktop;
use crate::{Acted, AppView, DesktopError, Glance, WindowChange, WindowId, WindowView, Windows};

impl Windows for LinuxDesktop {
    fn glance(&self) -> BoxFuture<'_, Result<Glance, DesktopError>> {
        Box::pin(self.look_around())
    }

    fn windows(&self) -> BoxFuture<'_, Result<Vec<WindowView>, DesktopError>> {
        Box::pin(async { Err(DesktopError::NotAvailable("not yet on this platform".into())) })
    }

    fn change_window(&self, _: WindowId, _: WindowChange) -> BoxFuture<'_, Result<Acted, DesktopError>> {
        Box::pin(async { Err(DesktopError::NotAvailable("not yet on this platform".into())) })
    }

    fn apps(&self) -> BoxFuture<'_, Result<Vec<AppView>, DesktopError>> {
        Box::pin(async { Err(DesktopError::NotAvailable("not yet on this platform".into())) })
    }

    fn launch(&self, _: String) -> BoxFuture<'_, Result<Acted, DesktopError>> {
        Box::pin(async { Err(DesktopError::NotAvailable("not yet on this platform".into())) })
    }

    fn quit(&self, _: String) -> BoxFuture<'_, Result<Acted, DesktopError>> {
        Box::pin(async { Err(DesktopError::NotAvailable("not yet on this platform".into())) })
    }
}
