//! Why a browser did not do what it was asked by Apple event: osascript's numbers and words, and what to do. Pure.

use std::time::Duration;

use desktop::DesktopError;
use serde::Deserialize;

use super::app::{App, Family};

/// An error as `script.js` tells it.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub(super) struct Refusal {
    pub(super) number: i64,
    pub(super) message: String,
}

/// Chromium's own number for "JavaScript through AppleScript is turned off"; its words are in the user's language.
const CHROMIUM_OFF: i64 = 12;
/// Safari's for the same.
const SAFARI_OFF: i64 = 8;

/// The error in the crate's words, with the menu or page of the settings that sets it right.
pub(super) fn explain(app: &App, refusal: &Refusal) -> DesktopError {
    let Refusal { number, message } = refusal;
    let name = app.name;
    let off = match app.family {
        Family::Safari => SAFARI_OFF,
        Family::Chromium | Family::Arc => CHROMIUM_OFF,
    };
    match number {
        // Refused, or not asked yet while nobody could be asked.
        -1743 | -1744 => DesktopError::Permission {
            what: format!("macOS does not let Miki control {name}"),
            remedy: format!(
                "switch on {name} below Miki in System Settings > Privacy & Security > Automation, then try again"
            ),
        },
        number if *number == off || says_off(message) => DesktopError::Permission {
            what: format!("{name} does not let other applications run JavaScript in its pages"),
            remedy: format!("{}, then try again", app.allow),
        },
        -600 => DesktopError::NotAvailable(format!("{name} is not running; open a page with webNavigate")),
        -1719 | -1728 => {
            DesktopError::NotFound(format!("that window or tab of {name}; list them with webTabs"))
        }
        -1712 => silent(name),
        -1708 | -10000 => DesktopError::NotAvailable(format!(
            "this version of {name} does not understand the Apple event ({message}); update it"
        )),
        number => DesktopError::Failed(format!("{name} refused the Apple event: {message} ({number})")),
    }
}

fn says_off(message: &str) -> bool {
    message.contains("Allow JavaScript from Apple Events")
        || message.contains("JavaScript through AppleScript is turned off")
}

/// The script itself was given up: nobody answered the event.
pub(super) fn late(app: &App, error: DesktopError) -> DesktopError {
    match error {
        DesktopError::Timeout(_) => silent(app.name),
        other => other,
    }
}

/// Also the words by which `webClick`'s answer to a dialog is found: a page says nothing while one is open.
fn silent(name: &str) -> DesktopError {
    DesktopError::Failed(format!(
        "the page in {name} does not answer: it is busy, or a dialog is open, or macOS asks whether Miki may control \
         {name}; look at a screenshot, and answer a dialog with webClick: dialog accept or dismiss"
    ))
}

/// A page that lets no script in: settings, an error, a document that is no page.
pub(super) fn mute(app: &App) -> DesktopError {
    DesktopError::NotAvailable(format!(
        "the page in {} takes no script (pages of the browser itself, PDF files and empty tabs do not); use the \
         screenshot and elementsJson for it",
        app.name
    ))
}

/// How long a browser may take for one event.
pub(super) const EVENT: Duration = Duration::from_secs(10);

#[cfg(test)]
mod tests;
