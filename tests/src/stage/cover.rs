//! A window that lies over another one, of a program that tells nothing of itself, and what reaches it by mistake.

use anyhow::Result;
use x11rb::connection::Connection;
use x11rb::protocol::Event;
use x11rb::protocol::xproto::{
    AtomEnum, ConnectionExt as _, CreateWindowAux, EventMask, NotifyMode, PropMode, WindowClass,
};
use x11rb::rust_connection::RustConnection;
use x11rb::wrapper::ConnectionExt as _;

use super::xserver::SyncNow;
use super::{Stage, Window};
use crate::waiting::{LONG, wait_for};

/// Its title.
pub const COVER: &str = "Cover";
/// The title of the one that its user works in.
pub const USERS: &str = "The user's own";
const COLOUR: u32 = 0x0080_8040;

/// Gone at drop, with its connection.
pub struct Cover {
    connection: RustConnection,
    pub window: Window,
}

impl Stage {
    /// Lays a window over `below`, with the focus in it.
    ///
    /// # Errors
    /// Where it does not come to lie there.
    pub fn cover(&self, below: &Window) -> Result<Cover> {
        self.window_over(COVER, (below.x, below.y, below.width, below.height))
    }

    /// A small window of the user's, with the focus and the pointer in it, at the screen's lower right corner.
    ///
    /// # Errors
    /// As [`Stage::cover`].
    pub fn users_window(&self) -> Result<Cover> {
        const SIDE: u32 = 12;
        let (connection, screen) = self.connect()?;
        let root = &connection.setup().roots[screen];
        let edge = |length: u16| i32::from(length) - SIDE as i32;
        let place = (edge(root.width_in_pixels), edge(root.height_in_pixels));
        let window = self.window_over(USERS, (place.0, place.1, SIDE, SIDE))?;
        self.user()?.move_to(place.0 + 6, place.1 + 6)?;
        Ok(window)
    }

    fn window_over(&self, title: &str, (x, y, width, height): (i32, i32, u32, u32)) -> Result<Cover> {
        let (connection, screen) = self.connect()?;
        let setup = &connection.setup().roots[screen];
        let id = connection.generate_id()?;
        let aux = CreateWindowAux::new()
            .background_pixel(COLOUR)
            .event_mask(EventMask::BUTTON_PRESS | EventMask::KEY_PRESS | EventMask::FOCUS_CHANGE);
        let class = WindowClass::INPUT_OUTPUT;
        connection.create_window(
            setup.root_depth,
            id,
            setup.root,
            x as i16,
            y as i16,
            width as u16,
            height as u16,
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
            title.as_bytes(),
        )?;
        connection.map_window(id)?;
        connection.sync_now()?;
        let screen = self.screen()?;
        let window = wait_for("the covering window", LONG, || {
            screen.windows().ok()?.into_iter().find(|window| window.id == id && window.shown)
        })?;
        screen.place(&window, x, y, width, height)?;
        screen.activate(&window)?;
        Ok(Cover { connection, window })
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

    /// What was done to who works in it: keys and clicks that came, and how it lost the keyboard.
    ///
    /// # Errors
    /// As [`Cover::touched`].
    pub fn disturbed(&self) -> Result<Vec<String>> {
        self.connection.sync_now()?;
        let mut told = Vec::new();
        while let Some(event) = self.connection.poll_for_event()? {
            match event {
                Event::ButtonPress(_) => told.push("a click".to_owned()),
                Event::KeyPress(_) => told.push("a key".to_owned()),
                Event::FocusOut(out) if out.mode == NotifyMode::GRAB => {
                    told.push("its keyboard was grabbed".to_owned());
                }
                Event::FocusOut(out) if out.mode == NotifyMode::NORMAL => {
                    told.push("the keyboard was taken away".to_owned());
                }
                _ => {}
            }
        }
        Ok(told)
    }
}
