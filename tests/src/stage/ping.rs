//! Whether a window's application still answers, as a window manager asks it before it offers to end it.

use std::time::Duration;

use anyhow::Result;
use x11rb::connection::Connection;
use x11rb::protocol::Event;
use x11rb::protocol::xproto::{ChangeWindowAttributesAux, ClientMessageEvent, ConnectionExt as _, EventMask};

use super::xserver::SyncNow;
use super::{Stage, Window};
use crate::patience::wait_for;

impl Stage {
    /// Whether the application answers within `bound`; `None` if its window does not offer to.
    ///
    /// # Errors
    /// Where the display is gone.
    pub fn answers(&self, window: &Window, bound: Duration) -> Result<Option<bool>> {
        let (connection, screen) = self.connect()?;
        let root = connection.setup().roots[screen].root;
        let atom =
            |name: &str| -> Result<u32> { Ok(connection.intern_atom(false, name.as_bytes())?.reply()?.atom) };
        let (protocols, ping) = (atom("WM_PROTOCOLS")?, atom("_NET_WM_PING")?);
        let offered = connection
            .get_property(false, window.id, protocols, x11rb::protocol::xproto::AtomEnum::ATOM, 0, 64)?
            .reply();
        // It may just have been closed.
        let Ok(offered) = offered else { return Ok(None) };
        if !offered.value32().is_some_and(|mut all| all.any(|one| one == ping)) {
            return Ok(None);
        }
        // Qt answers to those who asked for the one, others to those who asked for the other.
        let mask = EventMask::SUBSTRUCTURE_NOTIFY | EventMask::STRUCTURE_NOTIFY;
        let listen = ChangeWindowAttributesAux::new().event_mask(mask);
        connection.change_window_attributes(root, &listen)?;
        // Told back with the answer.
        let time = window.id;
        let question = ClientMessageEvent::new(32, window.id, protocols, [ping, time, window.id, 0, 0]);
        connection.send_event(false, window.id, EventMask::NO_EVENT, question)?;
        connection.sync_now()?;
        let answered = |event: &Event| match event {
            Event::ClientMessage(message) => {
                message.window == root && message.data.as_data32()[..2] == [ping, time]
            }
            _ => false,
        };
        let answer = wait_for("an answer of the application", bound, || {
            while let Some(event) = connection.poll_for_event().ok()? {
                if answered(&event) {
                    return Some(());
                }
            }
            None
        });
        Ok(Some(answer.is_ok()))
    }
}
