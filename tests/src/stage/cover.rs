//! A window that lies over another one, of a program that tells nothing of itself, and what reaches it by mistake.

use anyhow::Result;
use x11rb::connection::Connection;
use x11rb::protocol::Event;
use x11rb::protocol::xproto::{
    AtomEnum, ConnectionExt as _, CreateWindowAux, EventMask, PropMode, WindowClass,
};
use x11rb::rust_connection::RustConnection;
use x11rb::wrapper::ConnectionExt as _;

use super::xserver::SyncNow;
use super::{Stage, Window};
use crate::waiting::{LONG, wait_for};

/// Its title.
pub const COVER: &str = "Cover";
const COLOUR: u32 = 0x0080_8040;

/// Gone at drop, with its connection.
pub struct Cover {
    connection: RustConnection,
}

impl Stage {
    /// Lays a window over `below`, with the focus in it.
    ///
    /// # Errors
    /// Where it does not come to lie there.
    pub fn cover(&self, below: &Window) -> Result<Cover> {
        let (connection, screen) = self.connect()?;
        let setup = &connection.setup().roots[screen];
        let id = connection.generate_id()?;
        let aux = CreateWindowAux::new()
            .background_pixel(COLOUR)
            .event_mask(EventMask::BUTTON_PRESS | EventMask::KEY_PRESS);
        let (width, height) = (below.width as u16, below.height as u16);
        let class = WindowClass::INPUT_OUTPUT;
        connection.create_window(
            setup.root_depth,
            id,
            setup.root,
            below.x as i16,
            below.y as i16,
            width,
            height,
            0,
            class,
            0,
            &aux,
        )?;
        connection.change_property8(
            PropMode::REPLACE,
            id,
            AtomEnum::WM_NAME,
            AtomEnum::STRING,
            COVER.as_bytes(),
        )?;
        connection.map_window(id)?;
        connection.sync_now()?;
        let screen = self.screen()?;
        let window = wait_for("the covering window", LONG, || {
            screen.windows().ok()?.into_iter().find(|window| window.id == id && window.shown)
        })?;
        screen.place(&window, below.x, below.y, below.width, below.height)?;
        screen.activate(&window)?;
        Ok(Cover { connection })
    }
}

impl Cover {
    /// How many clicks and keys have come to it since it was asked last.
    ///
    /// # Errors
    /// Where the display is gone.
    pub fn touched(&self) -> Result<usize> {
        self.connection.sync_now()?;
        let mut count = 0;
        while let Some(event) = self.connection.poll_for_event()? {
            count += usize::from(matches!(event, Event::ButtonPress(_) | Event::KeyPress(_)));
        }
        Ok(count)
    }
}
