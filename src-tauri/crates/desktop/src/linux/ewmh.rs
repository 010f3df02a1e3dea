//! Windows as the window manager knows them (EWMH): listed, focused, moved, closed, and read back each time.
//!
//! Without a window manager the server itself is asked, as far as it can. Our own windows do not exist here.

use std::sync::Arc;

use protocol::geometry::{NormPoint, PhysicalPoint, PhysicalRect};
use protocol::view::DisplayView;
use x11rb::protocol::xproto::{
    AtomEnum, ConnectionExt as _, GetGeometryReply, GetPropertyReply, TranslateCoordinatesReply, Window,
};

use super::device_pair::DevicePair;
use super::fence::Fenced;
use super::session::{Atoms, Session};
use super::windows::{Own, Reply};
use crate::worker::WorkerState;
use crate::{DesktopError, Taker, WindowId, WindowView};

const ICONIC: u32 = 3;
/// The workspace of a window that is on all of them.
const ALL: u32 = u32::MAX;

mod change;

/// A connection of its own: waiting for a window manager holds up neither pictures nor acts.
pub(super) struct Ewmh {
    session: Session,
    own: Own,
    pub(super) fence: Arc<Fenced>,
}

impl WorkerState for Ewmh {
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
    /// Without it.
    pub(super) inside: PhysicalRect,
    pub(super) states: Vec<String>,
    /// The window that it belongs to, as a dialog does.
    pub(super) over: Option<Window>,
}

impl Client {
    pub(super) fn is(&self, state: &str) -> bool {
        self.states.iter().any(|one| one == state)
    }

    /// Why nobody sees it, and what brings it back; `None` if it is on the screen.
    pub(super) fn put_away(&self) -> Option<&'static str> {
        if self.is("minimized") {
            return Some("is minimized; restore that first");
        }
        self.is("otherWorkspace").then_some("is on another workspace; bring it up with focusWindow first")
    }
}

impl Ewmh {
    /// With a pair, the window that counts as active is the one that it works in.
    pub(super) fn open(
        display: Option<&str>,
        pair: Option<&DevicePair>,
        own: Own,
        fence: Arc<Fenced>,
    ) -> Result<Self, DesktopError> {
        Ok(Self { session: Session::connect_as(display, pair)?, own, fence })
    }

    /// The active window's process and title.
    pub(super) fn active_named(&self) -> Result<Option<(u32, String)>, DesktopError> {
        let Some(window) = self.active()? else { return Ok(None) };
        let client = self.client(window, None)?;
        Ok(client.and_then(|client| Some((client.pid?, client.title))))
    }

    /// With hands of an agent's own.
    pub(super) fn works_beside_its_user(&self) -> bool {
        self.session.pair.is_some()
    }

    /// The window that has the pair's keyboard, which is the one under its pointer.
    fn worked_in(&self) -> Result<Option<Window>, DesktopError> {
        let managed = self.managed()?;
        let is_it = |window| Ok(managed.contains(&window).then_some(window));
        self.session.upwards_from_focus(is_it)
    }

    /// All windows for people, from top to bottom.
    pub(super) fn list(&self) -> Result<Vec<WindowView>, DesktopError> {
        let displays = self.session.displays()?;
        Ok(self.stacked(self.active()?)?.iter().map(|client| view(client, &displays)).collect())
    }

    /// Which window gets the keys, or a click at a point.
    pub(super) fn taker(&self, point: Option<PhysicalPoint>) -> Result<Taker, DesktopError> {
        self.session.taker(point, &self.own)
    }

    /// On which display the pointer is, and where; `None` if it is on none.
    pub(super) fn pointer(&self) -> Result<Option<(u32, NormPoint)>, DesktopError> {
        let at = self.session.pointer()?;
        let on = |display: &DisplayView| {
            let pixel = PhysicalRect { x: at.x, y: at.y, width: 1, height: 1 };
            let at = pixel.to_norm(&display.bounds).center().ok().filter(|_| display.bounds.contains(at))?;
            Some((display.index, at))
        };
        Ok(self.session.displays()?.iter().find_map(on))
    }

    /// The one with the focus first, then from top to bottom.
    pub(super) fn clients(&self) -> Result<Vec<Client>, DesktopError> {
        let active = self.active()?;
        let mut clients = self.stacked(active)?;
        clients.sort_by_key(|client| Some(client.window) != active);
        Ok(clients)
    }

    fn stacked(&self, active: Option<Window>) -> Result<Vec<Client>, DesktopError> {
        let mut windows = self.managed()?;
        // The list is from the bottom up.
        windows.reverse();
        self.told(&windows, active)
    }

    /// Those of these windows that are there and neither ours nor furniture (a panel, the desktop). All are asked before an
    /// answer is waited for.
    fn told(&self, windows: &[Window], active: Option<Window>) -> Result<Vec<Client>, DesktopError> {
        let own = self.session.own_within(windows, &self.own)?;
        let shown = self.ask(self.session.root, self.session.atoms._NET_CURRENT_DESKTOP)?;
        let others = windows.iter().zip(own).filter(|(_, own)| own.is_none()).map(|(window, _)| *window);
        let asked: Vec<_> = others.map(|window| self.ask_all(window)).collect::<Result<_, _>>()?;
        let shown = cardinals(shown).first().copied();
        let mut clients = Vec::with_capacity(asked.len());
        for asked in asked {
            // A window may vanish between two requests; then it is simply not there.
            match asked.told(&self.session.atoms, active, shown) {
                Ok(client) => clients.extend(client),
                Err(error) if self.session.is_alive() => tracing::debug!(%error, "a window is gone"),
                Err(error) => return Err(error),
            }
        }
        Ok(clients)
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
        if self.session.pair.is_some() {
            return self.worked_in();
        }
        if self.is_managed()? {
            let active = self.cardinals(self.session.root, self.session.atoms._NET_ACTIVE_WINDOW)?;
            return Ok(active.first().copied().filter(|&window| window != x11rb::NONE));
        }
        self.session.focused()
    }

    /// `None` if the window is ours, or is furniture.
    ///
    /// # Errors
    /// Where it is gone.
    fn client(&self, window: Window, active: Option<Window>) -> Result<Option<Client>, DesktopError> {
        let client = self.told(&[window], active)?.pop();
        if client.is_none() {
            self.session.conn.get_geometry(window)?.reply()?;
        }
        Ok(client)
    }

    fn ask_all(&self, window: Window) -> Result<ClientQuery<'_>, DesktopError> {
        let atoms = &self.session.atoms;
        Ok(ClientQuery {
            window,
            kinds: self.ask(window, atoms._NET_WM_WINDOW_TYPE)?,
            states: self.ask(window, atoms._NET_WM_STATE)?,
            state: self.ask(window, atoms.WM_STATE)?,
            workspace: self.ask(window, atoms._NET_WM_DESKTOP)?,
            title: self.ask_text(window, atoms._NET_WM_NAME)?,
            plain_title: self.ask_text(window, AtomEnum::WM_NAME.into())?,
            class: self.ask_text(window, AtomEnum::WM_CLASS.into())?,
            pid: self.ask(window, atoms._NET_WM_PID)?,
            over: self.ask(window, AtomEnum::WM_TRANSIENT_FOR.into())?,
            place: self.ask_place(window)?,
        })
    }

    fn ask_place(&self, window: Window) -> Result<PlaceQuery<'_>, DesktopError> {
        let Session { conn, root, atoms, .. } = &self.session;
        Ok(PlaceQuery {
            size: conn.get_geometry(window)?,
            origin: conn.translate_coordinates(window, *root, 0, 0)?,
            frame: self.ask(window, atoms._NET_FRAME_EXTENTS)?,
        })
    }

    /// The workspace that it is on; `None` if that is the one that is shown.
    fn other_workspace(&self, window: Window) -> Result<Option<u32>, DesktopError> {
        let atoms = &self.session.atoms;
        let its = self.ask(window, atoms._NET_WM_DESKTOP)?;
        let shown = self.cardinals(self.session.root, atoms._NET_CURRENT_DESKTOP)?.first().copied();
        Ok(elsewhere(&cardinals(its), shown))
    }

    /// The window with its frame.
    fn framed(&self, window: Window) -> Result<PhysicalRect, DesktopError> {
        Ok(self.ask_place(window)?.told()?.0)
    }

    fn cardinals(&self, window: Window, property: u32) -> Result<Vec<u32>, DesktopError> {
        Ok(cardinals(self.ask(window, property)?))
    }

    fn ask(&self, window: Window, property: u32) -> Result<Reply<'_, GetPropertyReply>, DesktopError> {
        Ok(self.session.conn.get_property(false, window, property, AtomEnum::ANY, 0, 4_096)?)
    }

    /// At most 1,024 bytes of it.
    fn ask_text(&self, window: Window, property: u32) -> Result<Reply<'_, GetPropertyReply>, DesktopError> {
        Ok(self.session.conn.get_property(false, window, property, AtomEnum::ANY, 0, 256)?)
    }
}

/// What is asked about one window, on its way.
struct ClientQuery<'c> {
    window: Window,
    kinds: Reply<'c, GetPropertyReply>,
    states: Reply<'c, GetPropertyReply>,
    state: Reply<'c, GetPropertyReply>,
    workspace: Reply<'c, GetPropertyReply>,
    title: Reply<'c, GetPropertyReply>,
    plain_title: Reply<'c, GetPropertyReply>,
    class: Reply<'c, GetPropertyReply>,
    pid: Reply<'c, GetPropertyReply>,
    over: Reply<'c, GetPropertyReply>,
    place: PlaceQuery<'c>,
}

struct PlaceQuery<'c> {
    size: Reply<'c, GetGeometryReply>,
    origin: Reply<'c, TranslateCoordinatesReply>,
    frame: Reply<'c, GetPropertyReply>,
}

impl ClientQuery<'_> {
    /// `None` if it is furniture; `shown` is the workspace that is shown.
    fn told(
        self,
        atoms: &Atoms,
        active: Option<Window>,
        shown: Option<u32>,
    ) -> Result<Option<Client>, DesktopError> {
        let window = self.window;
        let kinds = cardinals(self.kinds);
        if kinds
            .iter()
            .any(|kind| [atoms._NET_WM_WINDOW_TYPE_DESKTOP, atoms._NET_WM_WINDOW_TYPE_DOCK].contains(kind))
        {
            return Ok(None);
        }
        let given = cardinals(self.states);
        let has = |state: u32| given.contains(&state);
        let mut states = Vec::new();
        let iconic = cardinals(self.state).first() == Some(&ICONIC);
        let elsewhere = elsewhere(&cardinals(self.workspace), shown).is_some();
        for (is, name) in [
            (active == Some(window), "focused"),
            // Window managers make icons, in ICCCM's word, of what is on other workspaces, too.
            ((iconic && !elsewhere) || has(atoms._NET_WM_STATE_HIDDEN), "minimized"),
            (elsewhere, "otherWorkspace"),
            (has(atoms._NET_WM_STATE_MAXIMIZED_VERT) && has(atoms._NET_WM_STATE_MAXIMIZED_HORZ), "maximized"),
            (has(atoms._NET_WM_STATE_FULLSCREEN), "fullscreen"),
            (has(atoms._NET_WM_STATE_MODAL), "modal"),
        ] {
            if is {
                states.push(name.to_owned());
            }
        }
        let title = match text(self.title) {
            title if title.is_empty() => text(self.plain_title),
            title => title,
        };
        let class = text(self.class);
        let app = class.split('\0').nth(1).or(class.split('\0').next()).unwrap_or_default().to_owned();
        let pid = cardinals(self.pid).first().copied();
        let over = cardinals(self.over).first().copied();
        let (rect, inside) = self.place.told()?;
        Ok(Some(Client { window, title, app, pid, rect, inside, states, over }))
    }
}

impl PlaceQuery<'_> {
    /// The window with its frame, and without.
    fn told(self) -> Result<(PhysicalRect, PhysicalRect), DesktopError> {
        let (size, origin) = (self.size.reply()?, self.origin.reply()?);
        let with = |frame| rect((origin.dst_x, origin.dst_y), (size.width, size.height), frame);
        let frame = <[u32; 4]>::try_from(cardinals(self.frame).as_slice()).unwrap_or_default();
        Ok((with(frame), with([0; 4])))
    }
}

/// Empty if the window is gone, or has none.
fn cardinals(asked: Reply<'_, GetPropertyReply>) -> Vec<u32> {
    let reply = asked.reply().ok();
    reply.and_then(|reply| reply.value32().map(Iterator::collect)).unwrap_or_default()
}

fn text(asked: Reply<'_, GetPropertyReply>) -> String {
    let told = asked.reply().map(|reply| reply.value).unwrap_or_default();
    String::from_utf8_lossy(&told).into_owned()
}

/// The workspace of a window that tells it so; `None` if it is the one that is shown, or all.
fn elsewhere(told: &[u32], shown: Option<u32>) -> Option<u32> {
    told.first().copied().filter(|&its| its != ALL && shown.is_some_and(|shown| shown != its))
}

/// Whether a window belongs to another one, directly or by those between them, and so stays above it.
pub(super) fn is_above(upper: &Client, lower: &Client, clients: &[Client]) -> bool {
    let over = |window: &Client| clients.iter().find(|one| Some(one.window) == window.over);
    // Two windows may each say that they belong to the other.
    let chain = std::iter::successors(over(upper), |one| over(one)).take(clients.len());
    chain.into_iter().any(|one| one.window == lower.window)
}

/// The modal dialog that keeps its program's user from this window.
pub(super) fn modal_over<'a>(window: &Client, clients: &'a [Client]) -> Option<&'a Client> {
    let belongs = |dialog: &Client| clients.iter().any(|one| Some(one.window) == dialog.over);
    clients.iter().find(|dialog| {
        let is_another = dialog.window != window.window && dialog.pid == window.pid;
        let stands_before =
            is_above(dialog, window, clients) || (!belongs(dialog) && !is_above(window, dialog, clients));
        is_another && dialog.is("modal") && dialog.put_away().is_none() && stands_before
    })
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

#[cfg(test)]
mod tests;
