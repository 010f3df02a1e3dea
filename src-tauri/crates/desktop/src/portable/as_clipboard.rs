//! [`Clipboard`] of macOS and Windows, by arboard.

use futures::future::BoxFuture;

use super::facade::{Facade, LOOK};
use super::platform::Platform;
use crate::{Acted, Clipboard, DesktopError, Evidence};

fn failed(error: &arboard::Error) -> DesktopError {
    DesktopError::Failed(format!("use the clipboard: {error}"))
}

pub(super) fn open() -> Result<arboard::Clipboard, DesktopError> {
    arboard::Clipboard::new().map_err(|error| failed(&error))
}

fn read() -> Result<String, DesktopError> {
    match open()?.get_text() {
        Ok(text) => Ok(text),
        // A picture, or nothing at all.
        Err(arboard::Error::ContentNotAvailable) => Ok(String::new()),
        Err(error) => Err(failed(&error)),
    }
}

impl<P: Platform> Clipboard for Facade<P> {
    fn clipboard(&self) -> BoxFuture<'_, Result<String, DesktopError>> {
        Box::pin(self.desk.run(LOOK, |_| read()))
    }

    fn set_clipboard(&self, text: String) -> BoxFuture<'_, Result<Acted, DesktopError>> {
        Box::pin(self.desk.run(LOOK, move |_| {
            open()?.set_text(text.as_str()).map_err(|error| failed(&error))?;
            let count = text.chars().count();
            // Windows stores its own line ends.
            if read()?.replace("\r\n", "\n") == text.replace("\r\n", "\n") {
                let note = format!("copied {count} characters, read back");
                Ok(Acted { evidence: Evidence::ReadBack, note })
            } else {
                let note = "the clipboard holds something else; another program may have copied".into();
                Ok(Acted { evidence: Evidence::Mismatch, note })
            }
        }))
    }
}
