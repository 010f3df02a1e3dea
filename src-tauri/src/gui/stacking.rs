//! Linux: which windows lie above one of ours, and its way back below them. Asked of the window manager, which alone may
//! put a window between others. Without one, or on Wayland, nothing is known and nothing done.

use tauri::WebviewWindow;
use x11rb::connection::Connection;
use x11rb::errors::{ConnectError, ReplyError};
use x11rb::protocol::xproto::{AtomEnum, ClientMessageEvent, ConnectionExt as _, EventMask};
use x11rb::rust_connection::RustConnection;

use super::click_through::x11_window;

/// Who asks, in EWMH's words: a pager, that is, the user's own wish. Openbox heeds no other.
const PAGER: u32 = 2;
/// `Below` of `ConfigureWindow`.
const BELOW: u32 = 1;

#[derive(Debug, thiserror::Error)]
enum StackingError {
    #[error("the display cannot be reached: {0}")]
    Connect(#[from] ConnectError),
    #[error("the display is gone or refused: {0}")]
    Reply(#[from] ReplyError),
}

/// The windows above this one, from bottom to top.
pub fn above(view: &WebviewWindow) -> Vec<u32> {
    let Some(window) = x11_window(view) else { return Vec::new() };
    let asked = Manager::ask().and_then(|manager| manager.map_or(Ok(Vec::new()), |it| it.stacked()));
    match asked {
        Ok(all) => all.into_iter().skip_while(|one| *one != window).skip(1).collect(),
        Err(error) => {
            tracing::debug!("which windows are above cannot be told: {error}");
            Vec::new()
        }
    }
}

/// Puts a window below the lowest of these that is still there.
pub fn put_below(view: &WebviewWindow, above: &[u32]) {
    let Some(window) = x11_window(view) else { return };
    let put = || -> Result<(), StackingError> {
        let Some(manager) = Manager::ask()? else { return Ok(()) };
        let all = manager.stacked()?;
        match above.iter().find(|one| all.contains(one)) {
            Some(lowest) => manager.restack(window, *lowest),
            None => Ok(()),
        }
    };
    if let Err(error) = put() {
        tracing::debug!("a window is not put back below others: {error}");
    }
}

struct Manager {
    connection: RustConnection,
    root: u32,
}

impl Manager {
    fn ask() -> Result<Option<Self>, StackingError> {
        let (connection, screen) = x11rb::connect(None)?;
        let root = connection.setup().roots.get(screen).map(|screen| screen.root);
        Ok(root.map(|root| Self { connection, root }))
    }

    fn stacked(&self) -> Result<Vec<u32>, StackingError> {
        let name = self.atom(b"_NET_CLIENT_LIST_STACKING")?;
        let property = self.connection.get_property(false, self.root, name, AtomEnum::WINDOW, 0, u32::MAX);
        let reply = property.map_err(ReplyError::from)?.reply()?;
        Ok(reply.value32().into_iter().flatten().collect())
    }

    fn restack(&self, window: u32, sibling: u32) -> Result<(), StackingError> {
        let kind = self.atom(b"_NET_RESTACK_WINDOW")?;
        let event = ClientMessageEvent::new(32, window, kind, [PAGER, sibling, BELOW, 0, 0]);
        let mask = EventMask::SUBSTRUCTURE_REDIRECT | EventMask::SUBSTRUCTURE_NOTIFY;
        let sent = self.connection.send_event(false, self.root, mask, event).map_err(ReplyError::from)?;
        Ok(sent.check()?)
    }

    fn atom(&self, name: &[u8]) -> Result<u32, StackingError> {
        Ok(self.connection.intern_atom(false, name).map_err(ReplyError::from)?.reply()?.atom)
    }
}
