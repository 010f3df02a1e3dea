//! Linux: clicks go through the overlay's window and, on X11, through the frame its window manager puts around it.
//!
//! An X11 window manager may copy a window's input shape to its frame only when it hears of a change after it has taken
//! the window in (openbox does): what was set before is lost on the frame. So it is set again until the frame has it.
//! Only shapes are touched here; showing and placing is done in `windows`.

use std::time::{Duration, Instant};

use raw_window_handle::{HasWindowHandle, RawWindowHandle};
use tauri::WebviewWindow;
use x11rb::connection::Connection;
use x11rb::errors::{ConnectError, ReplyError};
use x11rb::protocol::shape::{ConnectionExt as _, SK, SO};
use x11rb::protocol::xproto::{AtomEnum, ClipOrdering, ConnectionExt as _, MapState};
use x11rb::rust_connection::RustConnection;

/// How long the window manager may take.
const BOUND: Duration = Duration::from_secs(10);
const PAUSE: Duration = Duration::from_millis(15);
/// `NormalState` of the ICCCM.
const NORMAL: u32 = 1;

#[derive(Debug, thiserror::Error)]
enum ShapeError {
    #[error("the display cannot be reached: {0}")]
    Connect(#[from] ConnectError),
    #[error("the display is gone or refused: {0}")]
    Reply(#[from] ReplyError),
    #[error("the window refused: {0}")]
    Window(#[from] tauri::Error),
    #[error("the window manager has not taken it in, or has not let clicks through its frame, in {0:?}")]
    Bound(Duration),
}

/// Sees to it that clicks go through `view`, which was just shown; says so where they do not.
pub fn hold(view: WebviewWindow) {
    tauri::async_runtime::spawn_blocking(move || {
        if let Err(error) = let_through(&view) {
            tracing::warn!("the overlay takes clicks: {error}");
        }
    });
}

fn let_through(view: &WebviewWindow) -> Result<(), ShapeError> {
    // On Wayland the shape belongs to the window alone, and GTK sets it. On X11 GTK would leave one point that takes
    // clicks, at a time of its own.
    let Some(window) = x11_window(view) else { return Ok(view.set_ignore_cursor_events(true)?) };
    let (connection, screen) = x11rb::connect(None)?;
    let Some(screen) = connection.setup().roots.get(screen) else { return Ok(()) };
    let display = Display { root: screen.root, connection };
    let (start, mut was_visible) = (Instant::now(), false);
    loop {
        // GTK shows it a little after it was asked to. Hidden again: there is nothing left to click on.
        let visible = view.is_visible()?;
        if was_visible && !visible {
            return Ok(());
        }
        was_visible |= visible;
        if visible && display.lets_through(window)? {
            tracing::debug!("clicks go through the overlay after {:?}", start.elapsed());
            return Ok(());
        }
        if start.elapsed() > BOUND {
            return if was_visible { Err(ShapeError::Bound(BOUND)) } else { Ok(()) };
        }
        display.set_shape(window)?;
        std::thread::sleep(PAUSE);
    }
}

pub(super) fn x11_window(view: &WebviewWindow) -> Option<u32> {
    match view.window_handle().ok()?.as_raw() {
        RawWindowHandle::Xlib(handle) => u32::try_from(handle.window).ok(),
        _ => None,
    }
}

struct Display {
    connection: RustConnection,
    root: u32,
}

impl Display {
    /// Whether the window is on the screen, in the window manager's care, and no part of its frame takes a click.
    fn lets_through(&self, window: u32) -> Result<bool, ReplyError> {
        let attributes = self.connection.get_window_attributes(window)?.reply()?;
        // A manager marks a window with its state when it has put the frame around it.
        let taken_in = self.first_of(self.root, "_NET_SUPPORTING_WM_CHECK")?.is_none()
            || self.first_of(window, "WM_STATE")? == Some(NORMAL);
        if attributes.map_state != MapState::VIEWABLE || !taken_in {
            return Ok(false);
        }
        let frame = self.outermost(window)?;
        Ok(self.connection.shape_get_rectangles(frame, SK::INPUT)?.reply()?.rectangles.is_empty())
    }

    /// The child of the root that holds the window; the window itself where it has no frame.
    fn outermost(&self, mut window: u32) -> Result<u32, ReplyError> {
        loop {
            let parent = self.connection.query_tree(window)?.reply()?.parent;
            if parent == self.root || parent == x11rb::NONE {
                return Ok(window);
            }
            window = parent;
        }
    }

    fn set_shape(&self, window: u32) -> Result<(), ReplyError> {
        let order = ClipOrdering::UNSORTED;
        self.connection.shape_rectangles(SO::SET, SK::INPUT, order, window, 0, 0, &[])?.check()
    }

    /// A property's first number.
    fn first_of(&self, window: u32, property: &str) -> Result<Option<u32>, ReplyError> {
        let atom = self.connection.intern_atom(false, property.as_bytes())?.reply()?.atom;
        let value = self.connection.get_property(false, window, atom, AtomEnum::ANY, 0, 1)?.reply()?;
        Ok(value.value32().and_then(|mut numbers| numbers.next()))
    }
}
