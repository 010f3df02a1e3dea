//! [`Clipboard`] of X11.

use std::time::Duration;

use futures::future::BoxFuture;

use super::LinuxDesktop;
use super::clipboard::{Content, Offer, earlier_content};
use crate::{Acted, Clipboard, DesktopError, Evidence};

/// Longer than the owner of the clipboard is waited for.
const READ: Duration = Duration::from_secs(5);
const MOST_BYTES: usize = 1 << 20;

impl Clipboard for LinuxDesktop {
    fn clipboard(&self) -> BoxFuture<'_, Result<String, DesktopError>> {
        Box::pin(self.capturer.run(READ, |capturer| {
            let session = capturer.session();
            let Some(content) = earlier_content(session, session.atoms.CLIPBOARD)? else {
                return Err(DesktopError::Failed(
                    "the program that holds the clipboard does not answer, or holds too much".into(),
                ));
            };
            if content.is_secret(session) {
                return Err(DesktopError::Forbidden(
                    "the clipboard holds a password; its program marked it as secret".into(),
                ));
            }
            Ok(content.as_text(session).unwrap_or_default())
        }))
    }

    fn set_clipboard(&self, text: String) -> BoxFuture<'_, Result<Acted, DesktopError>> {
        Box::pin(async move {
            if text.len() > MOST_BYTES {
                let message = format!(
                    "a text of {} bytes is too long for the clipboard; at most {MOST_BYTES}",
                    text.len()
                );
                return Err(DesktopError::BadInput(message));
            }
            let display = self.address.display.clone();
            let wished = text.clone();
            self.capturer
                .run(READ, move |capturer| {
                    let session = capturer.session();
                    let copied = Content::copied(session, &wished);
                    // It is served until someone else copies something.
                    Offer::make(display.as_deref(), session.atoms.CLIPBOARD, copied).map(drop)
                })
                .await?;
            if self.clipboard().await? != text {
                let note = "the clipboard holds something else; another program may have copied".into();
                return Ok(Acted { evidence: Evidence::Mismatch, note });
            }
            let note = format!("{} characters are in the clipboard", text.chars().count());
            Ok(Acted { evidence: Evidence::ReadBack, note })
        })
    }
}
