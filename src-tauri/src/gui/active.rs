//! Linux: which window is the active one, asked of the window manager. While a global shortcut is held, no window of an
//! application has the keyboard, so GTK cannot tell.

use tauri::WebviewWindow;
use x11rb::connection::Connection;
use x11rb::errors::{ConnectError, ReplyError};
use x11rb::protocol::xproto::{AtomEnum, ConnectionExt as _};

use super::click_through::x11_window;

#[derive(Debug, thiserror::Error)]
enum ActiveError {
    #[error("the display cannot be reached: {0}")]
    Connect(#[from] ConnectError),
    #[error("the display is gone or refused: {0}")]
    Reply(#[from] ReplyError),
}

/// Whether it is the active window; by its own word where the window manager does not say.
pub fn has_keyboard(view: &WebviewWindow) -> tauri::Result<bool> {
    let Some(window) = x11_window(view) else { return view.is_focused() };
    match active_window() {
        Ok(Some(active)) => Ok(active == window),
        Ok(None) => view.is_focused(),
        Err(error) => {
            tracing::debug!("which window is active cannot be told: {error}");
            view.is_focused()
        }
    }
}

/// `_NET_ACTIVE_WINDOW` of the root window; `None` without a window manager that sets it.
fn active_window() -> Result<Option<u32>, ActiveError> {
    let (connection, screen) = x11rb::connect(None)?;
    let Some(screen) = connection.setup().roots.get(screen) else { return Ok(None) };
    let name = connection.intern_atom(false, b"_NET_ACTIVE_WINDOW").map_err(ReplyError::from)?.reply()?.atom;
    let property = connection.get_property(false, screen.root, name, AtomEnum::WINDOW, 0, 1);
    Ok(property.map_err(ReplyError::from)?.reply()?.value32().and_then(|mut windows| windows.next()))
}
