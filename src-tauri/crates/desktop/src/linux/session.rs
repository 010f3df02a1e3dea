//! One connection to the X server: opening it, what it says of displays, and X errors as ours.
//!
//! Each thread that may block has a session of its own. Moves and captures nothing.

use protocol::geometry::{PhysicalPoint, PhysicalRect, ScaleFactor};
use protocol::view::DisplayView;
use x11rb::connection::{Connection as _, RequestConnection as _};
use x11rb::errors::{ConnectError, ConnectionError, ReplyError, ReplyOrIdError};
use x11rb::protocol::randr::ConnectionExt as _;
use x11rb::protocol::xproto::{
    ConnectionExt as _, EventMask, GrabMode, GrabStatus, KeyButMask, MOTION_NOTIFY_EVENT, Window,
};
use x11rb::protocol::xtest::ConnectionExt as _;
use x11rb::rust_connection::RustConnection;

use super::device_pair::{DevicePair, PairIds};
use crate::DesktopError;

x11rb::atom_manager! {
    /// The names we speak with.
    pub(super) Atoms: AtomsCookie {
        _NET_WM_PID,
        _NET_WM_PING,
        _NET_WM_NAME,
        _NET_WM_CM_S0,
        _NET_SUPPORTING_WM_CHECK,
        _NET_CLIENT_LIST,
        _NET_CLIENT_LIST_STACKING,
        _NET_ACTIVE_WINDOW,
        _NET_CLOSE_WINDOW,
        _NET_MOVERESIZE_WINDOW,
        _NET_FRAME_EXTENTS,
        _NET_WM_WINDOW_TYPE,
        _NET_WM_WINDOW_TYPE_DESKTOP,
        _NET_WM_WINDOW_TYPE_DOCK,
        _NET_WM_STATE,
        _NET_WM_STATE_HIDDEN,
        _NET_WM_DESKTOP,
        _NET_CURRENT_DESKTOP,
        _NET_WM_STATE_FULLSCREEN,
        _NET_WM_STATE_MODAL,
        _NET_WM_STATE_MAXIMIZED_VERT,
        _NET_WM_STATE_MAXIMIZED_HORZ,
        WM_CHANGE_STATE,
        WM_PROTOCOLS,
        WM_DELETE_WINDOW,
        _XROOTPMAP_ID,
        WM_STATE,
        UTF8_STRING,
        CLIPBOARD,
        TARGETS,
        TEXT,
        INCR,
        TEXT_PLAIN_UTF8: b"text/plain;charset=utf-8",
        TEXT_PLAIN: b"text/plain",
        TEXT_HTML: b"text/html",
        TEXT_RTF: b"text/rtf",
        TEXT_URI_LIST: b"text/uri-list",
        COPIED_FILES: b"x-special/gnome-copied-files",
        IMAGE_PNG: b"image/png",
        PASSWORD_HINT: b"x-kde-passwordManagerHint",
        MIKI_TRANSFER: b"MIKI_TRANSFER",
    }
}

pub(super) struct Session {
    pub(super) conn: RustConnection,
    pub(super) root: Window,
    /// The root window's size.
    pub(super) area: PhysicalRect,
    pub(super) atoms: Atoms,
    /// The pair that its pointer and keyboard are, if they are not the user's.
    pub(super) pair: Option<PairIds>,
}

impl Session {
    /// Whether another program has the pointer for itself while no button is down, as one with an open menu does.
    ///
    /// # Errors
    /// The display is gone.
    pub(super) fn is_pointer_held(&self) -> Result<bool, DesktopError> {
        let buttons = KeyButMask::BUTTON1 | KeyButMask::BUTTON2 | KeyButMask::BUTTON3;
        let pointer = self.conn.query_pointer(self.root)?.reply()?;
        if pointer.mask.intersects(buttons) {
            return Ok(false);
        }
        let (none, now, mode) = (x11rb::NONE, x11rb::CURRENT_TIME, GrabMode::ASYNC);
        let asked =
            self.conn.grab_pointer(false, self.root, EventMask::NO_EVENT, mode, mode, none, none, now);
        let is_free = asked?.reply()?.status == GrabStatus::SUCCESS;
        if is_free {
            self.conn.ungrab_pointer(now)?.check()?;
        }
        Ok(!is_free)
    }

    /// Connects to `display`, or to the environment's.
    ///
    /// # Errors
    /// [`DesktopError::NotAvailable`] says what to do about a missing display.
    pub(super) fn connect(display: Option<&str>) -> Result<Self, DesktopError> {
        let named =
            display.map(str::to_owned).or_else(|| std::env::var("DISPLAY").ok()).filter(|d| !d.is_empty());
        let Some(named) = named else {
            return Err(DesktopError::NotAvailable(without_display()));
        };
        // Above this, number and base make no port any more, and x11rb adds them unchecked.
        if number_of(&named).is_some_and(|number| number > u16::MAX - 6000) {
            let message = format!("X display {named} cannot exist; check DISPLAY");
            return Err(DesktopError::NotAvailable(message));
        }
        let (conn, number) =
            RustConnection::connect(Some(&named)).map_err(|error| refused(&named, &error))?;
        let Some(screen) = conn.setup().roots.get(number) else {
            return Err(DesktopError::NotAvailable(format!("X display {named} has no screen {number}")));
        };
        let root = screen.root;
        let area = PhysicalRect {
            x: 0,
            y: 0,
            width: u32::from(screen.width_in_pixels),
            height: u32::from(screen.height_in_pixels),
        };
        let atoms = Atoms::new(&conn)?.reply()?;
        Ok(Self { conn, root, area, atoms, pair: None })
    }

    /// The same, whose pointer and keyboard are those of the pair.
    pub(super) fn connect_as(display: Option<&str>, pair: Option<&DevicePair>) -> Result<Self, DesktopError> {
        let session = Self::connect(display)?;
        if let Some(pair) = pair {
            pair.speak_for(&session)?;
        }
        Ok(Self { pair: pair.map(|pair| pair.ids), ..session })
    }

    /// The innermost window below the pointer; the root window itself counts as none.
    fn below_pointer(&self) -> Result<Option<Window>, DesktopError> {
        let mut found = None;
        let mut child = self.conn.query_pointer(self.root)?.reply()?.child;
        while child != x11rb::NONE {
            found = Some(child);
            // It may close at any moment.
            let Ok(below) = self.conn.query_pointer(child)?.reply() else { break };
            child = below.child;
        }
        Ok(found)
    }

    /// The window that gets the keys, if the server names one, or if it is the one below the pointer of a pair of ours.
    pub(super) fn focused(&self) -> Result<Option<Window>, DesktopError> {
        // 0 and 1 mean no window, and the window below the pointer.
        match self.conn.get_input_focus()?.reply()?.focus {
            1 if self.pair.is_some() => self.below_pointer(),
            focus => Ok((focus > 1).then_some(focus)),
        }
    }

    /// Whether the server still answers.
    pub(super) fn is_alive(&self) -> bool {
        self.sync().is_ok()
    }

    /// Waits until the server has worked off all that was sent.
    pub(super) fn sync(&self) -> Result<(), DesktopError> {
        self.conn.get_input_focus()?.reply()?;
        Ok(())
    }

    /// Whether this is a Wayland session's X server, which sees X programs only.
    pub(super) fn is_xwayland(&self) -> bool {
        self.conn
            .query_extension(b"XWAYLAND")
            .ok()
            .and_then(|cookie| cookie.reply().ok())
            .is_some_and(|reply| reply.present)
    }

    pub(super) fn has(&self, extension: &'static str) -> bool {
        self.conn.extension_information(extension).ok().flatten().is_some()
    }

    /// All displays in the server's order; the whole screen where it knows none.
    pub(super) fn displays(&self) -> Result<Vec<DisplayView>, DesktopError> {
        let mut displays = Vec::new();
        if self.has(x11rb::protocol::randr::X11_EXTENSION_NAME) {
            // Servers before RandR 1.5 know no monitors; one that is gone fails the next request too.
            let monitors = self.conn.randr_get_monitors(self.root, true)?.reply();
            for monitor in monitors.map(|reply| reply.monitors).unwrap_or_default() {
                let name = self.conn.get_atom_name(monitor.name)?.reply()?.name;
                displays.push(DisplayView {
                    index: displays.len() as u32,
                    name: String::from_utf8_lossy(&name).into_owned(),
                    bounds: PhysicalRect {
                        x: i32::from(monitor.x),
                        y: i32::from(monitor.y),
                        width: u32::from(monitor.width),
                        height: u32::from(monitor.height),
                    },
                    scale: ScaleFactor(1.0),
                    primary: monitor.primary,
                });
            }
        }
        if displays.is_empty() {
            let root = self.conn.get_geometry(self.root)?.reply()?;
            let bounds =
                PhysicalRect { width: u32::from(root.width), height: u32::from(root.height), ..self.area };
            displays.push(DisplayView {
                index: 0,
                name: "screen".into(),
                bounds,
                scale: ScaleFactor(1.0),
                primary: true,
            });
        }
        // Virtual servers name no primary display.
        if !displays.iter().any(|display| display.primary) {
            displays[0].primary = true;
        }
        Ok(displays)
    }

    /// The bounds of all displays in the same order, in one round trip.
    pub(super) fn bounds(&self) -> Result<Vec<PhysicalRect>, DesktopError> {
        let mut all = Vec::new();
        if self.has(x11rb::protocol::randr::X11_EXTENSION_NAME) {
            for monitor in self.conn.randr_get_monitors(self.root, true)?.reply()?.monitors {
                all.push(PhysicalRect {
                    x: i32::from(monitor.x),
                    y: i32::from(monitor.y),
                    width: u32::from(monitor.width),
                    height: u32::from(monitor.height),
                });
            }
        }
        if all.is_empty() {
            all.extend(self.displays()?.iter().map(|display| display.bounds));
        }
        Ok(all)
    }

    /// The bounds of one display.
    pub(super) fn display(&self, index: u32) -> Result<PhysicalRect, DesktopError> {
        match self.bounds()?.get(index as usize) {
            Some(bounds) => Ok(*bounds),
            None => Err(no_display(index, &self.displays()?)),
        }
    }

    /// Sends the pointer there.
    pub(super) fn move_to(&self, (x, y): (i16, i16)) -> Result<(), DesktopError> {
        if let Some(pair) = self.pair {
            return pair.move_to(self, (x, y));
        }
        self.conn.xtest_fake_input(MOTION_NOTIFY_EVENT, 0, 0, self.root, x, y, 0)?;
        Ok(())
    }

    pub(super) fn pointer(&self) -> Result<PhysicalPoint, DesktopError> {
        let reply = self.conn.query_pointer(self.root)?.reply()?;
        Ok(PhysicalPoint { x: i32::from(reply.root_x), y: i32::from(reply.root_y) })
    }
}

/// Names the displays there are.
pub(super) fn no_display(index: u32, displays: &[DisplayView]) -> DesktopError {
    let named = |display: &DisplayView| {
        let PhysicalRect { width, height, .. } = display.bounds;
        format!("{} ({}, {width}x{height})", display.index, display.name)
    };
    let there: Vec<_> = displays.iter().map(named).collect();
    DesktopError::NotFound(format!("display {index}; there are {}: {}", displays.len(), there.join(", ")))
}

/// The display's number: 1 in `host:1.0`.
fn number_of(display: &str) -> Option<u16> {
    display.rsplit_once(':')?.1.split('.').next()?.parse().ok()
}

fn without_display() -> String {
    if std::env::var_os("WAYLAND_DISPLAY").is_some() {
        "this is a Wayland session without an X server; choose an X11 (Xorg) session at login".into()
    } else {
        "no display; start this from a desktop session, or set DISPLAY to an X server such as Xvfb".into()
    }
}

fn refused(display: &str, error: &ConnectError) -> DesktopError {
    DesktopError::NotAvailable(format!(
        "X display {display} cannot be opened ({error}); check DISPLAY and XAUTHORITY, and that the X server runs"
    ))
}

impl From<ConnectionError> for DesktopError {
    fn from(error: ConnectionError) -> Self {
        Self::Failed(format!("the connection to the X server broke: {error}"))
    }
}

impl From<ReplyError> for DesktopError {
    fn from(error: ReplyError) -> Self {
        match error {
            ReplyError::ConnectionError(error) => error.into(),
            ReplyError::X11Error(error) => {
                let request = error.request_name.unwrap_or("a request");
                Self::Failed(format!("the X server refused {request}: {:?}", error.error_kind))
            }
        }
    }
}

impl From<ReplyOrIdError> for DesktopError {
    fn from(error: ReplyOrIdError) -> Self {
        match error {
            ReplyOrIdError::IdsExhausted => Self::Failed("the X server has no ids left for us".into()),
            ReplyOrIdError::ConnectionError(error) => error.into(),
            ReplyOrIdError::X11Error(error) => ReplyError::X11Error(error).into(),
        }
    }
}
