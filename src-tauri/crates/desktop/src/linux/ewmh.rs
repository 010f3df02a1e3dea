//! Windows as the window manager knows them (EWMH): listed, focused, moved, closed, and read back each time.
//!
//! Without a window manager the server itself is asked, as far as it can. Our own windows do not exist here.

use std::sync::Arc;
use std::time::{Duration, Instant};

use protocol::geometry::{PhysicalPoint, PhysicalRect};
use protocol::view::DisplayView;
use x11rb::protocol::xproto::{
    AtomEnum, ClientMessageEvent, ConfigureWindowAux, ConnectionExt as _, EventMask, InputFocus, StackMode,
    Window,
};

use super::fence::Fenced;
use super::session::Session;
use super::windows::Own;
use crate::lane::Kept;
use crate::{Acted, DesktopError, Evidence, WindowChange, WindowId, WindowView};

/// How long a window manager may take to do what it was asked.
const PATIENCE: Duration = Duration::from_millis(1_500);
/// Between two looks whether it has.
const LOOK: Duration = Duration::from_millis(8);
/// Window managers keep to size steps (a terminal's characters) and to their panels.
const NEAR: i32 = 32;
/// Who asks, in EWMH's words: a pager, that is, the user's own wish.
const PAGER: u32 = 2;
const ICONIC: u32 = 3;

/// A connection of its own: waiting for a window manager holds up neither pictures nor acts.
pub(super) struct Ewmh {
    session: Session,
    own: Own,
    pub(super) fence: Arc<Fenced>,
}

impl Kept for Ewmh {
    fn is_alive(&self) -> bool {
        self.session.is_alive()
    }
}

/// A window as it is now, in pixels.
#[derive(Clone, Debug)]
pub(super) struct Client {
    pub(super) window: Window,
    pub(super) title: String,
    /// The class, as its program calls itself.
    pub(super) app: String,
    pub(super) pid: Option<u32>,
    /// With its frame.
    pub(super) rect: PhysicalRect,
    pub(super) states: Vec<String>,
}

impl Ewmh {
    pub(super) fn open(display: Option<&str>, own: Own, fence: Arc<Fenced>) -> Result<Self, DesktopError> {
        Ok(Self { session: Session::connect(display)?, own, fence })
    }

    /// All windows for people, the one with the focus first, then from top to bottom.
    pub(super) fn list(&self) -> Result<Vec<WindowView>, DesktopError> {
        let displays = self.session.displays()?;
        Ok(self.clients()?.iter().map(|client| view(client, &displays)).collect())
    }

    pub(super) fn clients(&self) -> Result<Vec<Client>, DesktopError> {
        let active = self.active()?;
        let mut clients = Vec::new();
        for window in self.managed()? {
            // A window may vanish between two requests; then it is simply not there.
            match self.client(window, active) {
                Ok(Some(client)) => clients.push(client),
                Ok(None) => {}
                Err(error) if self.session.is_alive() => tracing::debug!(%error, window, "a window is gone"),
                Err(error) => return Err(error),
            }
        }
        // The list is from the bottom up.
        clients.reverse();
        clients.sort_by_key(|client| Some(client.window) != active);
        Ok(clients)
    }

    /// Changes one window, and looks whether it is so.
    pub(super) fn change(&self, id: WindowId, change: WindowChange) -> Result<Acted, DesktopError> {
        let client = self.find(id)?;
        self.fence.check_app(&[&client.app])?;
        let window = client.window;
        let called = format!("window \"{}\"", client.title);
        match change {
            WindowChange::Focus => {
                self.focus(window)?;
                let has_it = || Ok(self.active()? == Some(window));
                self.told(has_it, format!("{called} has the keyboard"), format!("{called} did not come up"))
            }
            WindowChange::Move { x, y } => {
                let display = self.display_of(&client)?;
                let to = PhysicalPoint {
                    x: along(x, display.x, display.width)?,
                    y: along(y, display.y, display.height)?,
                };
                self.loosen(&client)?;
                self.move_resize(window, Some(to), None)?;
                let near =
                    |rect: PhysicalRect| (rect.x - to.x).abs() <= NEAR && (rect.y - to.y).abs() <= NEAR;
                self.placed(window, near, &called)
            }
            WindowChange::Resize { width, height } => {
                let display = self.display_of(&client)?;
                let (wide, high) = (length(width, display.width)?, length(height, display.height)?);
                self.loosen(&client)?;
                // The wish is for the window with its frame; the manager is asked for what is within.
                let inner = self.session.conn.get_geometry(window)?.reply()?;
                let frame = self.client(window, None)?.map_or(client.rect, |client| client.rect);
                let (beside, above) = (
                    frame.width.saturating_sub(u32::from(inner.width)),
                    frame.height.saturating_sub(u32::from(inner.height)),
                );
                let size = (wide.saturating_sub(beside).max(1), high.saturating_sub(above).max(1));
                self.move_resize(window, None, Some(size))?;
                let near = |rect: PhysicalRect| {
                    rect.width.abs_diff(wide) <= NEAR as u32 && rect.height.abs_diff(high) <= NEAR as u32
                };
                self.placed(window, near, &called)
            }
            WindowChange::Minimize => {
                self.message(window, self.session.atoms.WM_CHANGE_STATE, [ICONIC, 0, 0, 0, 0])?;
                self.told(
                    self.has_state(window, "minimized"),
                    format!("{called} is minimized"),
                    called + " stays up",
                )
            }
            WindowChange::Maximize => {
                self.maximize(window, true)?;
                self.told(
                    self.has_state(window, "maximized"),
                    format!("{called} fills the screen"),
                    called + " stays as it is",
                )
            }
            WindowChange::Restore => {
                self.loosen(&client)?;
                if client.states.iter().any(|state| state == "minimized") {
                    self.focus(window)?;
                }
                let is_loose = || {
                    let states = self.client(window, None)?.map(|client| client.states).unwrap_or_default();
                    Ok(!states.iter().any(|state| state == "minimized" || state == "maximized"))
                };
                self.told(is_loose, format!("{called} is as it was"), called + " did not come back")
            }
            WindowChange::Close => {
                self.close(window)?;
                let is_gone = || Ok(!self.managed()?.contains(&window));
                let stays =
                    format!("{called} was asked to close and is still open; perhaps it asks its user first");
                let acted = self.told(is_gone, format!("{called} is closed"), stays)?;
                // It may close later: that it is still there is no proof of nothing having happened.
                let evidence =
                    if acted.evidence == Evidence::Mismatch { Evidence::Sent } else { acted.evidence };
                Ok(Acted { evidence, ..acted })
            }
        }
    }

    /// Asks a window to close, as its close button does.
    pub(super) fn close(&self, window: Window) -> Result<(), DesktopError> {
        let atoms = &self.session.atoms;
        if self.is_managed()? {
            return self.message(window, atoms._NET_CLOSE_WINDOW, [x11rb::CURRENT_TIME, PAGER, 0, 0, 0]);
        }
        let data = [atoms.WM_DELETE_WINDOW, x11rb::CURRENT_TIME, 0, 0, 0];
        let event = ClientMessageEvent::new(32, window, atoms.WM_PROTOCOLS, data);
        self.session.conn.send_event(false, window, EventMask::NO_EVENT, event)?;
        self.session.sync()
    }

    pub(super) fn focus(&self, window: Window) -> Result<(), DesktopError> {
        if self.is_managed()? {
            let data = [PAGER, x11rb::CURRENT_TIME, 0, 0, 0];
            return self.message(window, self.session.atoms._NET_ACTIVE_WINDOW, data);
        }
        let above = ConfigureWindowAux::new().stack_mode(StackMode::ABOVE);
        self.session.conn.configure_window(window, &above)?;
        self.session.conn.set_input_focus(InputFocus::PARENT, window, x11rb::CURRENT_TIME)?;
        self.session.sync()
    }

    /// The client that is meant, as it is now.
    fn find(&self, id: WindowId) -> Result<Client, DesktopError> {
        let window = u32::try_from(id.0).unwrap_or(0);
        let clients = self.clients()?;
        if let Some(client) = clients.iter().find(|client| client.window == window) {
            return Ok(client.clone());
        }
        if self.session.is_ours(window, &self.own)? {
            return Err(DesktopError::Forbidden("that is one of Miki's own windows".into()));
        }
        let open: Vec<String> =
            clients.iter().take(8).map(|client| format!("{} \"{}\"", client.window, client.title)).collect();
        let open = if open.is_empty() { "none".to_owned() } else { open.join(", ") };
        Err(DesktopError::NotFound(format!("window {}; it may have closed. open now: {open}", id.0)))
    }

    /// Whether there is a window manager that speaks EWMH.
    fn is_managed(&self) -> Result<bool, DesktopError> {
        let check = self.cardinals(self.session.root, self.session.atoms._NET_SUPPORTING_WM_CHECK)?;
        let Some(&window) = check.first() else { return Ok(false) };
        // The property stays behind when the manager dies; its window does not.
        Ok(self.session.conn.get_window_attributes(window)?.reply().is_ok())
    }

    /// All windows of programs, from the bottom up.
    fn managed(&self) -> Result<Vec<Window>, DesktopError> {
        let atoms = &self.session.atoms;
        if self.is_managed()? {
            for list in [atoms._NET_CLIENT_LIST_STACKING, atoms._NET_CLIENT_LIST] {
                let windows = self.cardinals(self.session.root, list)?;
                if !windows.is_empty() {
                    return Ok(windows);
                }
            }
            return Ok(Vec::new());
        }
        Ok(self
            .session
            .tops(&self.own)?
            .into_iter()
            .filter(|top| top.own.is_none())
            .map(|top| top.window)
            .collect())
    }

    pub(super) fn active(&self) -> Result<Option<Window>, DesktopError> {
        if self.is_managed()? {
            let active = self.cardinals(self.session.root, self.session.atoms._NET_ACTIVE_WINDOW)?;
            return Ok(active.first().copied().filter(|&window| window != x11rb::NONE));
        }
        self.session.focused()
    }

    /// Nothing where the window is ours, or is furniture (a panel, the desktop).
    fn client(&self, window: Window, active: Option<Window>) -> Result<Option<Client>, DesktopError> {
        let atoms = &self.session.atoms;
        if self.session.is_ours(window, &self.own)? {
            return Ok(None);
        }
        let kinds = self.cardinals(window, atoms._NET_WM_WINDOW_TYPE)?;
        if kinds
            .iter()
            .any(|kind| [atoms._NET_WM_WINDOW_TYPE_DESKTOP, atoms._NET_WM_WINDOW_TYPE_DOCK].contains(kind))
        {
            return Ok(None);
        }
        let given = self.cardinals(window, atoms._NET_WM_STATE)?;
        let has = |state: u32| given.contains(&state);
        let mut states = Vec::new();
        let iconic = self.cardinals(window, atoms.WM_STATE)?.first() == Some(&ICONIC);
        for (is, name) in [
            (active == Some(window), "focused"),
            (iconic || has(atoms._NET_WM_STATE_HIDDEN), "minimized"),
            (has(atoms._NET_WM_STATE_MAXIMIZED_VERT) && has(atoms._NET_WM_STATE_MAXIMIZED_HORZ), "maximized"),
            (has(atoms._NET_WM_STATE_FULLSCREEN), "fullscreen"),
        ] {
            if is {
                states.push(name.to_owned());
            }
        }
        let title = match self.text(window, atoms._NET_WM_NAME)? {
            title if title.is_empty() => self.text(window, AtomEnum::WM_NAME.into())?,
            title => title,
        };
        let class = self.text(window, AtomEnum::WM_CLASS.into())?;
        let app = class.split('\0').nth(1).or(class.split('\0').next()).unwrap_or_default().to_owned();
        let pid = self.cardinals(window, atoms._NET_WM_PID)?.first().copied();
        Ok(Some(Client { window, title, app, pid, rect: self.framed(window)?, states }))
    }

    /// The window with its frame.
    fn framed(&self, window: Window) -> Result<PhysicalRect, DesktopError> {
        let conn = &self.session.conn;
        let size = conn.get_geometry(window)?.reply()?;
        let origin = conn.translate_coordinates(window, self.session.root, 0, 0)?.reply()?;
        let extents = self.cardinals(window, self.session.atoms._NET_FRAME_EXTENTS)?;
        let &[left, right, top, bottom] = extents.as_slice() else {
            return Ok(rect((origin.dst_x, origin.dst_y), (size.width, size.height), [0; 4]));
        };
        Ok(rect((origin.dst_x, origin.dst_y), (size.width, size.height), [left, right, top, bottom]))
    }

    fn display_of(&self, client: &Client) -> Result<PhysicalRect, DesktopError> {
        let displays = self.session.displays()?;
        let index = most_of(&client.rect, &displays);
        Ok(displays.get(index).map_or(self.session.area, |display| display.bounds))
    }

    /// Neither minimized nor maximized any more: only then it can be placed.
    fn loosen(&self, client: &Client) -> Result<(), DesktopError> {
        if client.states.iter().any(|state| state == "maximized" || state == "fullscreen") {
            self.maximize(client.window, false)?;
            let atoms = &self.session.atoms;
            let data = [0, atoms._NET_WM_STATE_FULLSCREEN, 0, PAGER, 0];
            self.message(client.window, atoms._NET_WM_STATE, data)?;
        }
        Ok(())
    }

    fn maximize(&self, window: Window, on: bool) -> Result<(), DesktopError> {
        let atoms = &self.session.atoms;
        let (vertical, horizontal) = (atoms._NET_WM_STATE_MAXIMIZED_VERT, atoms._NET_WM_STATE_MAXIMIZED_HORZ);
        self.message(window, atoms._NET_WM_STATE, [u32::from(on), vertical, horizontal, PAGER, 0])
    }

    fn move_resize(
        &self,
        window: Window,
        to: Option<PhysicalPoint>,
        size: Option<(u32, u32)>,
    ) -> Result<(), DesktopError> {
        if !self.is_managed()? {
            let wish = ConfigureWindowAux::new()
                .x(to.map(|to| to.x))
                .y(to.map(|to| to.y))
                .width(size.map(|size| size.0))
                .height(size.map(|size| size.1));
            self.session.conn.configure_window(window, &wish)?;
            return self.session.sync();
        }
        // Gravity north-west (1): the frame's corner is what is placed. Bits 8-11 say which values are meant.
        let flags = 1
            | ((u32::from(to.is_some()) * 0b0011) << 8)
            | ((u32::from(size.is_some()) * 0b1100) << 8)
            | (PAGER << 12);
        let (x, y) = to.map_or((0, 0), |to| (to.x as u32, to.y as u32));
        let (width, height) = size.unwrap_or((0, 0));
        self.message(window, self.session.atoms._NET_MOVERESIZE_WINDOW, [flags, x, y, width, height])
    }

    /// A wish to the window manager.
    fn message(&self, window: Window, kind: u32, data: [u32; 5]) -> Result<(), DesktopError> {
        let event = ClientMessageEvent::new(32, window, kind, data);
        let heard_by = EventMask::SUBSTRUCTURE_REDIRECT | EventMask::SUBSTRUCTURE_NOTIFY;
        self.session.conn.send_event(false, self.session.root, heard_by, event)?;
        self.session.sync()
    }

    fn has_state(
        &self,
        window: Window,
        wanted: &'static str,
    ) -> impl Fn() -> Result<bool, DesktopError> + '_ {
        move || {
            let client = self.client(window, None)?;
            Ok(client.is_some_and(|client| client.states.iter().any(|state| state == wanted)))
        }
    }

    fn placed(
        &self,
        window: Window,
        near: impl Fn(PhysicalRect) -> bool,
        called: &str,
    ) -> Result<Acted, DesktopError> {
        let is_there = || Ok(near(self.framed(window)?));
        let mut acted = self.told(is_there, String::new(), String::new())?;
        let PhysicalRect { x, y, width, height } = self.framed(window)?;
        acted.note = format!("{called} is now at {x},{y} with {width}x{height} pixels");
        Ok(acted)
    }

    /// Waits until it is so.
    fn told(
        &self,
        is_so: impl Fn() -> Result<bool, DesktopError>,
        done: String,
        not_done: String,
    ) -> Result<Acted, DesktopError> {
        let end = Instant::now() + PATIENCE;
        loop {
            if is_so()? {
                return Ok(Acted { evidence: Evidence::ReadBack, note: done });
            }
            if Instant::now() > end {
                return Ok(Acted { evidence: Evidence::Mismatch, note: not_done });
            }
            std::thread::sleep(LOOK);
        }
    }

    fn cardinals(&self, window: Window, property: u32) -> Result<Vec<u32>, DesktopError> {
        let reply = self.session.conn.get_property(false, window, property, AtomEnum::ANY, 0, 4_096)?.reply();
        Ok(reply.ok().and_then(|reply| reply.value32().map(Iterator::collect)).unwrap_or_default())
    }

    fn text(&self, window: Window, property: u32) -> Result<String, DesktopError> {
        let reply = self.session.conn.get_property(false, window, property, AtomEnum::ANY, 0, 256)?.reply();
        Ok(reply.map(|reply| String::from_utf8_lossy(&reply.value).into_owned()).unwrap_or_default())
    }
}

fn rect(origin: (i16, i16), size: (u16, u16), [left, right, top, bottom]: [u32; 4]) -> PhysicalRect {
    PhysicalRect {
        x: i32::from(origin.0) - left as i32,
        y: i32::from(origin.1) - top as i32,
        width: u32::from(size.0) + left + right,
        height: u32::from(size.1) + top + bottom,
    }
}

fn view(client: &Client, displays: &[DisplayView]) -> WindowView {
    let index = most_of(&client.rect, displays);
    let bounds = displays.get(index).map_or(client.rect, |display| display.bounds);
    WindowView {
        id: WindowId(u64::from(client.window)),
        title: client.title.clone(),
        app: client.app.clone(),
        pid: client.pid,
        display: u32::try_from(index).unwrap_or(0),
        bounds: client.rect.to_norm(&bounds),
        states: client.states.clone(),
    }
}

/// The display that shows most of a rectangle; the first where none shows any.
pub(super) fn most_of(rect: &PhysicalRect, displays: &[DisplayView]) -> usize {
    let shared = |display: &PhysicalRect| {
        let span = |a: i32, a_length: u32, b: i32, b_length: u32| {
            let end = (i64::from(a) + i64::from(a_length)).min(i64::from(b) + i64::from(b_length));
            (end - i64::from(a.max(b))).max(0)
        };
        span(rect.x, rect.width, display.x, display.width)
            * span(rect.y, rect.height, display.y, display.height)
    };
    let mut best = (0, 0);
    for (index, display) in displays.iter().enumerate() {
        let area = shared(&display.bounds);
        if area > best.1 {
            best = (index, area);
        }
    }
    best.0
}

/// A place on one axis; refused off the display, never clamped.
fn along(norm: f64, origin: i32, room: u32) -> Result<i32, DesktopError> {
    if !(0.0..=1000.0).contains(&norm) {
        return Err(DesktopError::BadInput(format!("a window's place {norm} is outside 0-1000")));
    }
    Ok(origin + (norm / 1000.0 * f64::from(room)).round() as i32)
}

fn length(norm: f64, room: u32) -> Result<u32, DesktopError> {
    if !(10.0..=1000.0).contains(&norm) {
        return Err(DesktopError::BadInput(format!(
            "a window's width or height of {norm} is outside 10-1000"
        )));
    }
    Ok((norm / 1000.0 * f64::from(room)).round() as u32)
}

#[cfg(test)]
mod tests {
    use super::*;
    use protocol::geometry::ScaleFactor;

    fn display(x: i32) -> DisplayView {
        let bounds = PhysicalRect { x, y: 0, width: 1000, height: 500 };
        DisplayView { index: 0, name: String::new(), bounds, scale: ScaleFactor(1.0), primary: x == 0 }
    }

    #[test]
    fn a_window_is_on_the_display_that_shows_most_of_it() {
        let displays = [display(0), display(1000)];
        let at = |x| most_of(&PhysicalRect { x, y: 10, width: 400, height: 100 }, &displays);
        assert_eq!((at(0), at(700), at(900), at(5000)), (0, 0, 1, 0));
    }

    #[test]
    fn a_place_off_the_display_is_refused_not_clamped() {
        assert_eq!(along(500.0, 1000, 800).unwrap(), 1400);
        for bad in [-1.0, 1000.5, f64::NAN] {
            assert!(along(bad, 0, 100).is_err());
            assert!(length(bad, 100).is_err());
        }
    }
}
