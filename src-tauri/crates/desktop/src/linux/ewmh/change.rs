//! Changes to one window, each read back.

use std::time::{Duration, Instant};

use protocol::geometry::{PhysicalPoint, PhysicalRect};
use x11rb::protocol::xproto::{
    ClientMessageEvent, ConfigureWindowAux, ConnectionExt as _, EventMask, InputFocus, StackMode, Window,
};

use super::{Client, Ewmh, ICONIC, most_of};
use crate::{Acted, DesktopError, Evidence, WindowChange, WindowId};

/// How long a window manager may take to do what it was asked.
const PATIENCE: Duration = Duration::from_millis(1_500);
/// Between two looks whether it has.
const LOOK: Duration = Duration::from_millis(8);
/// Window managers keep to size steps (a terminal's characters) and to their panels.
const NEAR: i32 = 32;
/// Who asks, in EWMH's words: a pager, that is, the user's own wish.
const PAGER: u32 = 2;

impl Ewmh {
    /// Changes one window, and looks whether it is so.
    pub(in crate::linux) fn change(&self, id: WindowId, change: WindowChange) -> Result<Acted, DesktopError> {
        let client = self.find(id)?;
        self.fence.check_app(&[&client.app])?;
        self.fence.check_display(most_of(&client.rect, &self.session.displays()?) as u32)?;
        let window = client.window;
        let called = format!("window \"{}\"", client.title);
        match change {
            WindowChange::Focus => self.bring_up(&client),
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
                self.placed(&client, near, &called)
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
                self.placed(&client, near, &called)
            }
            WindowChange::Minimize => {
                self.message(window, self.session.atoms.WM_CHANGE_STATE, [ICONIC, 0, 0, 0, 0])?;
                self.wait_until(
                    self.has_state(window, "minimized"),
                    format!("{called} is minimized"),
                    called + " stays up",
                )
            }
            WindowChange::Maximize => {
                self.maximize(window, true)?;
                self.wait_until(
                    self.has_state(window, "maximized"),
                    format!("{called} fills the screen"),
                    called + " stays as it is",
                )
            }
            WindowChange::Restore => {
                if client.put_away().is_some() {
                    self.focus(window)?;
                }
                let was_elsewhere = client.is("otherWorkspace");
                if !was_elsewhere {
                    self.loosen(&client)?;
                }
                let is_loose = || {
                    let client = self.client(window, None)?;
                    Ok(client.is_some_and(|client| {
                        client.put_away().is_none() && (was_elsewhere || !client.is("maximized"))
                    }))
                };
                self.wait_until(is_loose, format!("{called} is as it was"), called + " did not come back")
            }
            WindowChange::Close => {
                self.close(window)?;
                let is_gone = || Ok(!self.managed()?.contains(&window));
                let stays =
                    format!("{called} was asked to close and is still open; perhaps it asks its user first");
                let acted = self.wait_until(is_gone, format!("{called} is closed"), stays)?;
                // It may close later: that it is still there is no proof of nothing having happened.
                let evidence = if acted.evidence.falls_short() { Evidence::Sent } else { acted.evidence };
                Ok(Acted { evidence, ..acted })
            }
        }
    }

    /// The keyboard for a window of which no fence is asked.
    pub(in crate::linux) fn give_keyboard(&self, id: WindowId) -> Result<Acted, DesktopError> {
        self.bring_up(&self.find(id)?)
    }

    fn bring_up(&self, client: &Client) -> Result<Acted, DesktopError> {
        let called = format!("window \"{}\"", client.title);
        if self.session.pair.is_some() {
            return self.step_into(client, &called);
        }
        self.focus(client.window)?;
        // A manager may name the window before it gives it the keys, and acts are refused while ours has them.
        let has_it = || Ok(self.active()? == Some(client.window) && !self.session.focus_is_own(&self.own)?);
        self.wait_until(has_it, format!("{called} has the keyboard"), format!("{called} did not come up"))
    }

    /// The pair's pointer into a part of the window that can be seen: its keyboard goes with it, and nothing comes up.
    fn step_into(&self, client: &Client, called: &str) -> Result<Acted, DesktopError> {
        if let Some(why) = client.put_away() {
            return Err(DesktopError::BadInput(format!("{called} {why}")));
        }
        let top = self.session.top_of(client.window);
        let PhysicalRect { x, y, width, height } = client.inside;
        let part = |length: u32, of: u32| (f64::from(length) * f64::from(of) / 16.0) as i32;
        // From its middle outwards.
        const PARTS: [u32; 7] = [8, 5, 11, 2, 14, 1, 15];
        for point in PARTS.iter().flat_map(|row| PARTS.iter().map(move |column| (*column, *row))) {
            let point = PhysicalPoint { x: x + part(width, point.0), y: y + part(height, point.1) };
            let seen = self.session.top_at(point, &self.own)?;
            if seen.is_none_or(|seen| Some(seen.window) != top) {
                continue;
            }
            let out = |_| DesktopError::Failed(format!("{called} is beyond what X11 can address"));
            let to = (i16::try_from(point.x).map_err(out)?, i16::try_from(point.y).map_err(out)?);
            self.session.move_to(to)?;
            let has_it = || Ok(self.active()? == Some(client.window));
            let done = format!("{called} has the keyboard that is the agent's own");
            return self.wait_until(has_it, done, format!("{called} did not get the keyboard"));
        }
        Err(DesktopError::BadInput(format!(
            "{called} is covered by other windows; act on its elements, or ask the user to bring it up"
        )))
    }

    /// Asks a window to close, as its close button does.
    pub(in crate::linux) fn close(&self, window: Window) -> Result<(), DesktopError> {
        let atoms = &self.session.atoms;
        if self.is_managed()? {
            return self.message(window, atoms._NET_CLOSE_WINDOW, [x11rb::CURRENT_TIME, PAGER, 0, 0, 0]);
        }
        let data = [atoms.WM_DELETE_WINDOW, x11rb::CURRENT_TIME, 0, 0, 0];
        let event = ClientMessageEvent::new(32, window, atoms.WM_PROTOCOLS, data);
        self.session.conn.send_event(false, window, EventMask::NO_EVENT, event)?;
        self.session.sync()
    }

    pub(in crate::linux) fn focus(&self, window: Window) -> Result<(), DesktopError> {
        if self.is_managed()? {
            // Window managers only mark what is elsewhere.
            if let Some(workspace) = self.other_workspace(window)? {
                let data = [workspace, x11rb::CURRENT_TIME, 0, 0, 0];
                self.message(self.session.root, self.session.atoms._NET_CURRENT_DESKTOP, data)?;
            }
            let data = [PAGER, x11rb::CURRENT_TIME, 0, 0, 0];
            return self.message(window, self.session.atoms._NET_ACTIVE_WINDOW, data);
        }
        let above = ConfigureWindowAux::new().stack_mode(StackMode::ABOVE);
        self.session.conn.configure_window(window, &above)?;
        self.session.conn.set_input_focus(InputFocus::PARENT, window, x11rb::CURRENT_TIME)?;
        self.session.sync()
    }

    fn display_of(&self, client: &Client) -> Result<PhysicalRect, DesktopError> {
        let displays = self.session.displays()?;
        let index = most_of(&client.rect, &displays);
        Ok(displays.get(index).map_or(self.session.area, |display| display.bounds))
    }

    /// Neither minimized nor maximized any more: only then it can be placed.
    fn loosen(&self, client: &Client) -> Result<(), DesktopError> {
        if client.is("maximized") || client.is("fullscreen") {
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
            Ok(client.is_some_and(|client| client.is(wanted)))
        }
    }

    fn placed(
        &self,
        before: &Client,
        near: impl Fn(PhysicalRect) -> bool,
        called: &str,
    ) -> Result<Acted, DesktopError> {
        let is_there = || Ok(near(self.framed(before.window)?));
        let mut acted = self.wait_until(is_there, String::new(), String::new())?;
        let now = self.framed(before.window)?;
        if acted.evidence == Evidence::Nothing && now != before.rect {
            acted.evidence = Evidence::Mismatch;
        }
        let PhysicalRect { x, y, width, height } = now;
        acted.note = format!("{called} is now at {x},{y} with {width}x{height} pixels");
        Ok(acted)
    }

    /// Waits until it is so.
    fn wait_until(
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
                return Ok(Acted { evidence: Evidence::Nothing, note: not_done });
            }
            std::thread::sleep(LOOK);
        }
    }
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
mod tests;
