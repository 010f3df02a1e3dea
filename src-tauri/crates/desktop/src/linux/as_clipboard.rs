//! [`Clipboard`] of X11.

use futures::future::BoxFuture;

use super::LinuxDesktop;
use crate::{Acted, Clipboard, DesktopError};

impl Clipboard for LinuxDesktop {
    fn clipboard(&self) -> BoxFuture<'_, Result<String, DesktopError>> {
        Box::pin(async { Err(DesktopError::NotAvailable("not yet on this platform".into())) })
    }

    fn set_clipboard(&self, _: String) -> BoxFuture<'_, Result<Acted, DesktopError>> {
        Box::pin(async { Err(DesktopError::NotAvailable("not yet on this platform".into())) })
    }
}
