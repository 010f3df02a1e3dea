//! The stage's screen as an onlooker sees it: windows by title, pixels, what is held down.

use std::io::Cursor;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use x11rb::connection::Connection;
use x11rb::protocol::shape::{ConnectionExt as _, SK};
use x11rb::protocol::xinput::{ConnectionExt as _, Device};
use x11rb::protocol::xproto::{
    AtomEnum, ClientMessageEvent, ConfigureWindowAux, ConnectionExt, EventMask, ImageFormat, MapState,
};
use x11rb::rust_connection::RustConnection;

use super::Stage;
use super::xserver::SyncNow;
use crate::waiting::wait_for;

pub struct Screen {
    connection: RustConnection,
    root: u32,
}

/// A top-level window as the window manager lists it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Window {
    pub id: u32,
    pub title: String,
    /// As its program tells.
    pub pid: Option<u32>,
    /// Whether it is on the screen, not hidden or minimised.
    pub shown: bool,
    pub x: i32,
    pub y: i32,
    pub width: u32,
    pub height: u32,
}

impl Stage {
    /// # Errors
    /// Where the display is gone.
    pub fn screen(&self) -> Result<Screen> {
        let (connection, screen) = self.connect()?;
        let root = connection.setup().roots[screen].root;
        Ok(Screen { connection, root })
    }
}

impl Screen {
    /// All windows that the window manager manages.
    ///
    /// # Errors
    /// Where the display is gone.
    pub fn windows(&self) -> Result<Vec<Window>> {
        let list = self.property(self.root, "_NET_CLIENT_LIST")?;
        let ids = list.chunks_exact(4).map(|b| u32::from_ne_bytes([b[0], b[1], b[2], b[3]]));
        // A window may go while it is asked about.
        Ok(ids.filter_map(|id| self.window(id).ok()).collect())
    }

    fn window(&self, id: u32) -> Result<Window> {
        let geometry = self.connection.get_geometry(id)?.reply()?;
        let place = self.connection.translate_coordinates(id, self.root, 0, 0)?.reply()?;
        let shown = self.connection.get_window_attributes(id)?.reply()?.map_state == MapState::VIEWABLE;
        let mut title = self.property(id, "_NET_WM_NAME")?;
        if title.is_empty() {
            title = self.property(id, "WM_NAME")?;
        }
        let title = String::from_utf8_lossy(&title).into_owned();
        let pid = self.property(id, "_NET_WM_PID")?;
        let pid = pid.get(..4).map(|b| u32::from_ne_bytes([b[0], b[1], b[2], b[3]]));
        let (x, y) = (i32::from(place.dst_x), i32::from(place.dst_y));
        Ok(Window {
            id,
            title,
            pid,
            shown,
            x,
            y,
            width: geometry.width.into(),
            height: geometry.height.into(),
        })
    }

    fn property(&self, window: u32, name: &str) -> Result<Vec<u8>> {
        let atom = self.atom(name)?;
        Ok(self.connection.get_property(false, window, atom, AtomEnum::ANY, 0, 65_536)?.reply()?.value)
    }

    fn atom(&self, name: &str) -> Result<u32> {
        Ok(self.connection.intern_atom(false, name.as_bytes())?.reply()?.atom)
    }

    /// Waits for a shown window whose title passes `is_it`.
    ///
    /// # Errors
    /// Lists the windows that are there instead.
    pub fn wait_for_window(
        &self,
        what: &str,
        bound: Duration,
        is_it: impl Fn(&str) -> bool,
    ) -> Result<Window> {
        let found =
            wait_for(what, bound, || self.windows().ok()?.into_iter().find(|w| w.shown && is_it(&w.title)));
        found.with_context(|| {
            let titles: Vec<String> =
                self.windows().unwrap_or_default().into_iter().map(|w| w.title).collect();
            format!("windows on the screen: {titles:?}")
        })
    }

    /// Whether one window lies above another, as the window manager has them.
    ///
    /// # Errors
    /// Where the display is gone.
    pub fn is_above(&self, one: &Window, other: &Window) -> Result<bool> {
        // From bottom to top.
        let list = self.property(self.root, "_NET_CLIENT_LIST_STACKING")?;
        let place = |window: &Window| list.chunks_exact(4).position(|id| id == window.id.to_ne_bytes());
        Ok(place(one) > place(other))
    }

    /// Whether the window manager keeps a window below all others.
    ///
    /// # Errors
    /// Where the display is gone.
    pub fn is_kept_below(&self, window: &Window) -> Result<bool> {
        let (states, below) = (self.property(window.id, "_NET_WM_STATE")?, self.atom("_NET_WM_STATE_BELOW")?);
        Ok(states.chunks_exact(4).any(|state| state == below.to_ne_bytes()))
    }

    /// Moves and sizes a window, as its user would by dragging.
    ///
    /// # Errors
    /// Where the display is gone.
    pub fn place(&self, window: &Window, x: i32, y: i32, width: u32, height: u32) -> Result<()> {
        let there = ConfigureWindowAux::new().x(x).y(y).width(width).height(height);
        self.connection.configure_window(window.id, &there)?;
        self.connection.sync_now()
    }

    /// Raises a window and gives it the focus, as a click on its task bar button would.
    ///
    /// # Errors
    /// Where the display is gone.
    pub fn activate(&self, window: &Window) -> Result<()> {
        // 2: asked for by the user, through a pager.
        let ask = || self.tell_manager(window, "_NET_ACTIVE_WINDOW", [2, 0, 0, 0, 0]);
        ask()?;
        let mut asked = Instant::now();
        wait_for("a window to become active", Duration::from_secs(10), || {
            if self.active().ok()? == window.id {
                return Some(());
            }
            // Another window may have come up just then: its user would ask again.
            if asked.elapsed() > Duration::from_secs(1) {
                ask().ok()?;
                asked = Instant::now();
            }
            None
        })
    }

    /// Has a window fill the screen, or no longer, as the button in its frame does.
    ///
    /// # Errors
    /// Where the display is gone.
    pub fn toggle_maximised(&self, window: &Window) -> Result<()> {
        const TOGGLE: u32 = 2;
        let both = ["_NET_WM_STATE_MAXIMIZED_VERT", "_NET_WM_STATE_MAXIMIZED_HORZ"];
        let [vertical, horizontal] = [self.atom(both[0])?, self.atom(both[1])?];
        self.tell_manager(window, "_NET_WM_STATE", [TOGGLE, vertical, horizontal, 2, 0])
    }

    /// Closes a window, as the button in its frame does.
    ///
    /// # Errors
    /// Where the display is gone.
    pub fn close(&self, window: &Window) -> Result<()> {
        // 2: asked for by the user, through a pager.
        self.tell_manager(window, "_NET_CLOSE_WINDOW", [0, 2, 0, 0, 0])
    }

    /// Minimises a window.
    ///
    /// # Errors
    /// Where the display is gone.
    pub fn minimise(&self, window: &Window) -> Result<()> {
        const ICONIC: u32 = 3;
        self.tell_manager(window, "WM_CHANGE_STATE", [ICONIC, 0, 0, 0, 0])
    }

    /// The window that has the focus; 0 for none.
    ///
    /// # Errors
    /// Where the display is gone.
    pub fn active(&self) -> Result<u32> {
        let value = self.property(self.root, "_NET_ACTIVE_WINDOW")?;
        Ok(value.get(..4).map_or(0, |b| u32::from_ne_bytes([b[0], b[1], b[2], b[3]])))
    }

    /// Whether a click on a window goes to what lies below, wherever it is clicked: its frame's input shape is empty.
    ///
    /// # Errors
    /// Where the window or the display is gone.
    pub fn lets_clicks_through(&self, window: &Window) -> Result<bool> {
        let mut frame = window.id;
        loop {
            let parent = self.connection.query_tree(frame)?.reply()?.parent;
            if parent == self.root || parent == x11rb::NONE {
                break;
            }
            frame = parent;
        }
        Ok(self.connection.shape_get_rectangles(frame, SK::INPUT)?.reply()?.rectangles.is_empty())
    }

    fn tell_manager(&self, window: &Window, message: &str, data: [u32; 5]) -> Result<()> {
        let event = ClientMessageEvent::new(32, window.id, self.atom(message)?, data);
        let mask = EventMask::SUBSTRUCTURE_REDIRECT | EventMask::SUBSTRUCTURE_NOTIFY;
        self.connection.send_event(false, self.root, mask, event)?;
        self.connection.sync_now()
    }

    /// Everything on the screen, our own windows included, as a PNG.
    ///
    /// # Errors
    /// Where the display is gone.
    pub fn png(&self) -> Result<Vec<u8>> {
        let size = self.connection.get_geometry(self.root)?.reply()?;
        self.png_of(0, 0, size.width.into(), size.height.into())
    }

    /// A part of the screen as a PNG, cut at its edges.
    ///
    /// # Errors
    /// Where nothing of it is on the screen.
    pub fn png_of(&self, x: i32, y: i32, width: u32, height: u32) -> Result<Vec<u8>> {
        let size = self.connection.get_geometry(self.root)?.reply()?;
        let (x, y) = (x.clamp(0, i32::from(size.width)), y.clamp(0, i32::from(size.height)));
        let width = width.min(u32::from(size.width) - x.unsigned_abs());
        let height = height.min(u32::from(size.height) - y.unsigned_abs());
        ensure!(width > 0 && height > 0, "nothing of it is on the screen");
        let reply = self
            .connection
            .get_image(
                ImageFormat::Z_PIXMAP,
                self.root,
                x as i16,
                y as i16,
                width as u16,
                height as u16,
                u32::MAX,
            )?
            .reply()?;
        // 24 bit deep pixels come as blue, green, red, unused.
        let rgb = reply.data.chunks_exact(4).flat_map(|p| [p[2], p[1], p[0]]).collect();
        let picture =
            image::RgbImage::from_raw(width, height, rgb).context("the screen is not 24 bit deep")?;
        let mut png = Cursor::new(Vec::new());
        picture.write_to(&mut png, image::ImageFormat::Png)?;
        Ok(png.into_inner())
    }

    /// Keycodes that are down, whoever holds them.
    ///
    /// # Errors
    /// Where the display is gone.
    pub fn held_keys(&self) -> Result<Vec<u8>> {
        let down = self.connection.query_keymap()?.reply()?.keys;
        Ok((0..=255_u8).filter(|code| down[usize::from(code / 8)] & (1 << (code % 8)) != 0).collect())
    }

    /// Pointer buttons and modifiers that are down, as X11 masks them.
    ///
    /// # Errors
    /// Where the display is gone.
    pub fn held_mask(&self) -> Result<u16> {
        Ok(self.connection.query_pointer(self.root)?.reply()?.mask.into())
    }

    /// The names of all pointers and keyboards, those of the server and of programs alike.
    ///
    /// # Errors
    /// Where the display is gone.
    pub fn devices(&self) -> Result<Vec<String>> {
        self.connection.xinput_xi_query_version(2, 2)?.reply()?;
        let devices = self.connection.xinput_xi_query_device(Device::ALL)?.reply()?.infos;
        Ok(devices.iter().map(|device| String::from_utf8_lossy(&device.name).into_owned()).collect())
    }

    /// Where the pointer is.
    ///
    /// # Errors
    /// Where the display is gone.
    pub fn pointer(&self) -> Result<(i32, i32)> {
        let reply = self.connection.query_pointer(self.root)?.reply()?;
        Ok((reply.root_x.into(), reply.root_y.into()))
    }
}
