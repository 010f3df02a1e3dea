//! What the X server knows of the scene: the window with the focus, all windows' titles, and whose window lies at a
//! point. Looks only.

use std::time::Duration;

use protocol::geometry::PhysicalPoint;
use x11rb::protocol::xproto::{Atom, AtomEnum, ConnectionExt as _, Window};

use super::LinuxDesktop;
use super::session::Session;
use super::windows::Own;
use crate::{DesktopError, Glance, Glimpse, Taker, WindowId};

/// Windows whose titles are read.
const MOST: u32 = 200;
/// Longest title, in units of four bytes.
const TITLE: u32 = 128;
/// A glance is for between two acts; a server that hangs gives none.
const GLANCE: Duration = Duration::from_millis(500);
/// How deep below a frame its client is looked for.
const DEEPEST: u32 = 3;

/// Whose window takes a click.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Cover {
    /// The client's, within its frame.
    pub(super) window: Window,
    pub(super) title: String,
    pub(super) pid: Option<u32>,
    pub(super) ours: bool,
}

impl Session {
    /// The window that takes a click at a point; `None` over the bare desktop.
    pub(super) fn cover_at(&self, point: PhysicalPoint, own: &Own) -> Result<Option<Cover>, DesktopError> {
        let Some(top) = self.top_once_clear(point, own)? else { return Ok(None) };
        let net_pid = self.atoms._NET_WM_PID;
        let (client, pid) = self.client_in(top.window, net_pid, 0)?.unwrap_or((top.window, None));
        Ok(Some(Cover { window: client, title: self.title(client)?, pid, ours: top.own.is_some() }))
    }

    /// Which window gets the keys, or a click at a point.
    pub(super) fn taker(&self, point: Option<PhysicalPoint>, own: &Own) -> Result<Taker, DesktopError> {
        let (top, ours) = match point {
            Some(point) => {
                let top = self.top_at(point, own)?;
                (top.as_ref().map(|top| top.window), top.is_some_and(|top| top.own.is_some()))
            }
            None => (self.key_window()?.top.filter(|top| *top != x11rb::NONE), self.focus_is_own(own)?),
        };
        if ours {
            return Ok(Taker::Ours);
        }
        let Some(top) = top else { return Ok(Taker::Other) };
        let (client, pid) = self.client_in(top, self.atoms._NET_WM_PID, 0)?.unwrap_or((top, None));
        let attributes = self.conn.get_window_attributes(client)?.reply();
        Ok(match pid {
            // No window manager lists it.
            Some(pid) if attributes.is_ok_and(|of| of.override_redirect) => Taker::Popup(pid),
            Some(_) | None => Taker::Window(WindowId(client.into())),
        })
    }

    /// The window below a frame that names its process, or is managed.
    pub(super) fn client_in(
        &self,
        window: Window,
        net_pid: Atom,
        depth: u32,
    ) -> Result<Option<(Window, Option<u32>)>, DesktopError> {
        let pid = self.conn.get_property(false, window, net_pid, AtomEnum::CARDINAL, 0, 1)?;
        let state = self.conn.get_property(false, window, self.atoms.WM_STATE, AtomEnum::ANY, 0, 0)?;
        let (pid, state) = (pid.reply(), state.reply());
        let pid = pid.ok().and_then(|reply| reply.value32()?.next());
        if pid.is_some() || state.is_ok_and(|reply| reply.type_ != 0) {
            return Ok(Some((window, pid)));
        }
        if depth == DEEPEST {
            return Ok(None);
        }
        let Ok(tree) = self.conn.query_tree(window)?.reply() else { return Ok(None) };
        for child in tree.children.into_iter().rev() {
            if let Some(found) = self.client_in(child, net_pid, depth + 1)? {
                return Ok(Some(found));
            }
        }
        Ok(None)
    }

    fn title(&self, window: Window) -> Result<String, DesktopError> {
        let new = self.conn.get_property(false, window, self.atoms._NET_WM_NAME, AtomEnum::ANY, 0, TITLE)?;
        let old = self.conn.get_property(false, window, AtomEnum::WM_NAME, AtomEnum::ANY, 0, TITLE)?;
        let (new, old) = (new.reply(), old.reply());
        let text = |value: Vec<u8>| String::from_utf8_lossy(&value).into_owned();
        let new = new.map(|reply| text(reply.value)).unwrap_or_default();
        Ok(if new.is_empty() { old.map(|reply| text(reply.value)).unwrap_or_default() } else { new })
    }

    /// All windows that a window manager knows of, ours left out, and the one with the focus.
    pub(super) fn glance(&self, own: &Own) -> Result<Glance, DesktopError> {
        let read =
            |window, name: u32, length| self.conn.get_property(false, window, name, AtomEnum::ANY, 0, length);
        let list = read(self.root, self.atoms._NET_CLIENT_LIST, MOST)?;
        let active = read(self.root, self.atoms._NET_ACTIVE_WINDOW, 1)?;
        let (list, active) = (list.reply()?, active.reply()?);
        let mut asked = Vec::new();
        for window in list.value32().into_iter().flatten() {
            let title = read(window, self.atoms._NET_WM_NAME, TITLE)?;
            let old = read(window, AtomEnum::WM_NAME.into(), TITLE)?;
            asked.push((window, title, old, read(window, self.atoms._NET_WM_PID, 1)?));
        }
        let mut windows = Vec::new();
        for (window, title, old, pid) in asked {
            // A window may close between two requests.
            let (title, old, pid) = (title.reply(), old.reply(), pid.reply());
            let (Ok(title), Ok(old)) = (title, old) else { continue };
            let bytes = if title.value.is_empty() { old.value } else { title.value };
            let title = String::from_utf8_lossy(&bytes).into_owned();
            let pid = pid.ok().and_then(|reply| reply.value32()?.next());
            if !pid.is_some_and(|pid| own.has(pid)) {
                windows.push(Glimpse { id: WindowId(window.into()), title });
            }
        }
        let active = active.value32().and_then(|mut windows| windows.next());
        let active = active.map(|window| WindowId(window.into()));
        let active = active.filter(|active| windows.iter().any(|one| one.id == *active));
        Ok(Glance { windows, active, ..Glance::default() })
    }
}

impl LinuxDesktop {
    /// Windows from the X server, the focused element from what applications have told.
    pub(super) async fn look_around(&self) -> Result<Glance, DesktopError> {
        let windows = self.input.run(GLANCE, |input| input.session.glance(&input.own));
        let (windows, (focused, events)) = tokio::join!(windows, self.accessibility.focus_now());
        Ok(Glance { focused, events, ..windows? })
    }
}
