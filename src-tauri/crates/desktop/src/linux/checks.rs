//! What this X session offers, and how to fix what it does not.

use protocol::view::{Check, CheckState, CheckView};
use x11rb::protocol::{shm, xproto::ConnectionExt as _, xtest};

use super::device_pair;
use super::session::Session;
use crate::{Abilities, DesktopError};

const WAYLAND: &str =
    "choose an X11 (Xorg) session at login: under Wayland only X programs can be seen and operated";

/// Abilities of a display that could be opened.
pub(super) fn abilities(session: &Session, has_bus: bool) -> Abilities {
    Abilities {
        screen: true,
        input: session.has(xtest::X11_EXTENSION_NAME),
        elements: has_bus,
        windows: true,
        ..Abilities::default()
    }
}

/// Display, capture, input and clipboard of a session, or of one that could not be opened.
pub(super) fn of_display(session: Result<&Session, &DesktopError>) -> Vec<CheckView> {
    let session = match session {
        Ok(session) => session,
        Err(error) => {
            // What to do stands below it.
            let told = error.to_string();
            let detail = told.split("; ").next().unwrap_or_default().to_owned();
            let remedy = "start this inside a desktop session, or set DISPLAY to a running X server";
            let missing = |check| view(check, CheckState::Missing, detail.clone(), Some(remedy));
            return vec![
                missing(Check::Display),
                missing(Check::ScreenCapture),
                missing(Check::Input),
                missing(Check::Clipboard),
            ];
        }
    };
    vec![display(session), capture(session), input(session), clipboard(session)]
}

fn display(session: &Session) -> CheckView {
    match session.displays() {
        Ok(displays) => {
            let sizes: Vec<String> = displays
                .iter()
                .map(|display| format!("{} {}x{}", display.name, display.bounds.width, display.bounds.height))
                .collect();
            let detail = format!("X11: {}", sizes.join(", "));
            if session.is_xwayland() {
                view(Check::Display, CheckState::Limited, format!("{detail}; inside Wayland"), Some(WAYLAND))
            } else {
                view(Check::Display, CheckState::Well, detail, None)
            }
        }
        Err(error) => view(
            Check::Display,
            CheckState::Missing,
            error.to_string(),
            Some("look into the X server's log, and start the session anew"),
        ),
    }
}

fn capture(session: &Session) -> CheckView {
    if session.is_xwayland() {
        let detail = "Wayland does not show the screen to X programs".into();
        return view(Check::ScreenCapture, CheckState::Missing, detail, Some(WAYLAND));
    }
    if session.has(shm::X11_EXTENSION_NAME) {
        view(Check::ScreenCapture, CheckState::Well, "by shared memory".into(), None)
    } else {
        let remedy = "use a local X server with MIT-SHM for fast pictures";
        view(Check::ScreenCapture, CheckState::Limited, "over the socket, slowly".into(), Some(remedy))
    }
}

fn input(session: &Session) -> CheckView {
    if !session.has(xtest::X11_EXTENSION_NAME) {
        let remedy = "start the X server with the XTEST extension";
        return view(Check::Input, CheckState::Missing, "the X server has no XTEST".into(), Some(remedy));
    }
    if session.is_xwayland() {
        view(Check::Input, CheckState::Limited, "XTEST reaches X programs only".into(), Some(WAYLAND))
    } else {
        let own = match device_pair::version(session) {
            Ok((major, minor)) => format!("an agent's own by XInput {major}.{minor}"),
            Err(error) => error.to_string(),
        };
        view(Check::Input, CheckState::Well, format!("pointer and keys by XTEST; {own}"), None)
    }
}

fn clipboard(session: &Session) -> CheckView {
    let asked = session.conn.get_selection_owner(session.atoms.CLIPBOARD).map_err(DesktopError::from);
    match asked.and_then(|cookie| Ok(cookie.reply()?)) {
        Ok(_) => view(Check::Clipboard, CheckState::Well, "the CLIPBOARD selection answers".into(), None),
        Err(error) => view(
            Check::Clipboard,
            CheckState::Missing,
            error.to_string(),
            Some("look into the X server's log, and start the session anew"),
        ),
    }
}

pub(super) fn view(check: Check, state: CheckState, detail: String, remedy: Option<&str>) -> CheckView {
    CheckView { check, state, detail, remedy: remedy.map(str::to_owned) }
}
