//! Which windows there are, which of them are ours, and which one takes a click or a key.
//!
//! A window is ours by its process. A click-through window of ours (the overlay: an empty input shape)
//! takes no clicks, so it does not stand in the way of one.

use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::time::{Duration, Instant};

use protocol::geometry::{PhysicalPoint, PhysicalRect};
use x11rb::connection::Connection as _;
use x11rb::cookie::Cookie;
use x11rb::protocol::shape::{ConnectionExt as _, SK};
use x11rb::protocol::xproto::{
    AtomEnum, ConnectionExt as _, GetPropertyReply, MapState, QueryTreeReply, Visualid, Window, WindowClass,
};
use x11rb::rust_connection::RustConnection;

use super::session::Session;
use crate::{DesktopError, WindowsProcess};

/// How our own windows are known: by their process, never by what they call themselves.
#[derive(Clone, Debug)]
pub(super) struct Own {
    pid: u32,
    /// Device and inode of each; they stay when a file is replaced.
    programs: Vec<(u64, u64)>,
    windows: WindowsProcess,
}

impl Own {
    pub(super) fn new(pid: u32, windows: WindowsProcess) -> Self {
        let programs = [program_of(pid), windows.program().and_then(file_of)];
        Self { pid, programs: programs.into_iter().flatten().collect(), windows }
    }

    /// Whether a process is ours, or runs one of our programs: Miki with another data folder.
    pub(super) fn has(&self, pid: u32) -> bool {
        self.is(pid) || program_of(pid).is_some_and(|program| self.programs.contains(&program))
    }

    /// Whether it is this very process, or the one that has its windows.
    pub(super) fn is(&self, pid: u32) -> bool {
        pid == self.pid || self.windows.is(pid)
    }
}

fn program_of(pid: u32) -> Option<(u64, u64)> {
    file_of(format!("/proc/{pid}/exe").as_ref())
}

fn file_of(path: &Path) -> Option<(u64, u64)> {
    let file = std::fs::metadata(path).ok()?;
    Some((file.dev(), file.ino()))
}

/// A visible child of the root window: a client with its frame, or a menu and the like without one.
#[derive(Clone, Debug)]
pub(super) struct Top {
    pub(super) window: Window,
    /// With its border.
    pub(super) rect: PhysicalRect,
    pub(super) border: u32,
    pub(super) visual: Visualid,
    /// The window in it that is ours; the same as `window` where there is no frame.
    pub(super) own: Option<Window>,
}

/// How long a window of ours may take to step aside, and how often that is looked at.
const ASIDE: Duration = Duration::from_millis(500);
const A_LOOK: Duration = Duration::from_millis(10);
/// The most windows below a frame that are looked at, and how deep.
const MOST_CHILDREN: usize = 24;
const DEEPEST: u32 = 2;

impl Session {
    /// All visible top-level windows, lowest first.
    pub(super) fn tops(&self, own: &Own) -> Result<Vec<Top>, DesktopError> {
        let mut tops = self.frames()?;
        let windows: Vec<Window> = tops.iter().map(|top| top.window).collect();
        for (top, own) in tops.iter_mut().zip(self.own_within(&windows, own)?) {
            top.own = own;
        }
        Ok(tops)
    }

    /// The same, without a look whose they are.
    fn frames(&self) -> Result<Vec<Top>, DesktopError> {
        let children = self.conn.query_tree(self.root)?.reply()?.children;
        let mut cookies = Vec::with_capacity(children.len());
        for window in children {
            cookies.push((window, self.conn.get_window_attributes(window)?, self.conn.get_geometry(window)?));
        }
        let mut tops = Vec::new();
        for (window, attributes, geometry) in cookies {
            // A window may vanish between two requests; then it is simply not there.
            let (Ok(attributes), Ok(geometry)) = (attributes.reply(), geometry.reply()) else { continue };
            if attributes.map_state != MapState::VIEWABLE || attributes.class != WindowClass::INPUT_OUTPUT {
                continue;
            }
            let border = u32::from(geometry.border_width);
            let rect = PhysicalRect {
                x: i32::from(geometry.x),
                y: i32::from(geometry.y),
                width: u32::from(geometry.width) + 2 * border,
                height: u32::from(geometry.height) + 2 * border,
            };
            tops.push(Top { window, rect, border, visual: attributes.visual, own: None });
        }
        Ok(tops)
    }

    /// For each of these trees the window in it that is ours. All are asked at once, a level at a time: what costs is
    /// each wait for the server, not each question.
    pub(super) fn own_within(
        &self,
        trees: &[Window],
        own: &Own,
    ) -> Result<Vec<Option<Window>>, DesktopError> {
        let mut found = vec![None; trees.len()];
        let mut level: Vec<(usize, Window)> = trees.iter().copied().enumerate().collect();
        for _ in 0..=DEEPEST {
            let asked = level.iter().map(|(_, window)| self.ask(*window));
            let asked = asked.collect::<Result<Vec<WindowQuery<'_>>, DesktopError>>()?;
            let mut below = Vec::new();
            for ((tree, window), asked) in level.into_iter().zip(asked) {
                let WindowFacts { is_own, is_client, children } = asked.facts(own);
                if is_own {
                    found[tree].get_or_insert(window);
                } else if !is_client {
                    below.extend(children.into_iter().rev().take(MOST_CHILDREN).map(|child| (tree, child)));
                }
            }
            below.retain(|(tree, _)| found[*tree].is_none());
            level = below;
        }
        Ok(found)
    }

    /// Whether this window, or one within it, is ours.
    pub(super) fn is_ours(&self, window: Window, own: &Own) -> Result<bool, DesktopError> {
        Ok(self.own_within(&[window], own)?.iter().any(Option::is_some))
    }

    fn is_own(&self, window: Window, own: &Own) -> Result<bool, DesktopError> {
        Ok(self.ask(window)?.facts(own).is_own)
    }

    fn ask(&self, window: Window) -> Result<WindowQuery<'_>, DesktopError> {
        let read =
            |property: u32, length| self.conn.get_property(false, window, property, AtomEnum::ANY, 0, length);
        Ok(WindowQuery {
            pid: read(self.atoms._NET_WM_PID, 1)?,
            state: read(self.atoms.WM_STATE, 0)?,
            tree: self.conn.query_tree(window)?,
        })
    }

    /// The window that takes a click at `point`, if any.
    pub(super) fn top_at(&self, point: PhysicalPoint, own: &Own) -> Result<Option<Top>, DesktopError> {
        for mut top in self.frames()?.into_iter().rev().filter(|top| top.rect.contains(point)) {
            top.own = self.own_within(&[top.window], own)?.pop().flatten();
            if self.takes_input_at(&top, point)? {
                return Ok(Some(top));
            }
        }
        Ok(None)
    }

    /// The same, after a window of ours that is stepping aside has done so; one that stays is told after [`ASIDE`].
    pub(super) fn top_once_clear(
        &self,
        point: PhysicalPoint,
        own: &Own,
    ) -> Result<Option<Top>, DesktopError> {
        let until = Instant::now() + ASIDE;
        loop {
            let top = self.top_at(point, own)?;
            if top.as_ref().is_none_or(|top| top.own.is_none()) || Instant::now() >= until {
                return Ok(top);
            }
            std::thread::sleep(A_LOOK);
        }
    }

    /// Whether the input shapes of the frame and of our window in it have this point.
    fn takes_input_at(&self, top: &Top, point: PhysicalPoint) -> Result<bool, DesktopError> {
        let border = top.border as i32;
        let frame_origin = (top.rect.x + border, top.rect.y + border);
        if !self.input_shape_has(top.window, frame_origin, point)? {
            return Ok(false);
        }
        let Some(inner) = top.own.filter(|inner| *inner != top.window) else { return Ok(true) };
        let Ok(origin) = self.conn.translate_coordinates(inner, self.root, 0, 0)?.reply() else {
            return Ok(true);
        };
        // Outside the client lies its frame, which is as much ours.
        let Ok(size) = self.conn.get_geometry(inner)?.reply() else { return Ok(true) };
        let area = PhysicalRect {
            x: i32::from(origin.dst_x),
            y: i32::from(origin.dst_y),
            width: u32::from(size.width),
            height: u32::from(size.height),
        };
        if !area.contains(point) {
            return Ok(true);
        }
        self.input_shape_has(inner, (area.x, area.y), point)
    }

    fn input_shape_has(
        &self,
        window: Window,
        origin: (i32, i32),
        point: PhysicalPoint,
    ) -> Result<bool, DesktopError> {
        let Ok(shape) = self.conn.shape_get_rectangles(window, SK::INPUT)?.reply() else { return Ok(true) };
        Ok(shape.rectangles.iter().any(|part| {
            PhysicalRect {
                x: origin.0 + i32::from(part.x),
                y: origin.1 + i32::from(part.y),
                width: u32::from(part.width),
                height: u32::from(part.height),
            }
            .contains(point)
        }))
    }

    /// The titled windows of others with their ids, for an error: `4194305 "Untitled - Mousepad"`.
    pub(super) fn windows_by_name(&self, tops: &[Top]) -> Result<String, DesktopError> {
        const MOST: usize = 12;
        let mut names = Vec::new();
        for top in tops.iter().rev().filter(|top| top.own.is_none()) {
            let Some((window, title)) = self.titled_within(top.window, 0)? else { continue };
            if names.len() == MOST {
                names.push("more".to_owned());
                break;
            }
            names.push(format!("{window} \"{title}\""));
        }
        Ok(if names.is_empty() { "no windows".into() } else { names.join(", ") })
    }

    fn titled_within(&self, window: Window, depth: u32) -> Result<Option<(Window, String)>, DesktopError> {
        for property in [self.atoms._NET_WM_NAME, AtomEnum::WM_NAME.into()] {
            let title = self.conn.get_property(false, window, property, AtomEnum::ANY, 0, 64)?.reply();
            if let Ok(title) = title
                && !title.value.is_empty()
            {
                return Ok(Some((window, String::from_utf8_lossy(&title.value).into_owned())));
            }
        }
        if depth == DEEPEST {
            return Ok(None);
        }
        let Ok(tree) = self.conn.query_tree(window)?.reply() else { return Ok(None) };
        for child in tree.children.into_iter().rev().take(MOST_CHILDREN) {
            if let Some(found) = self.titled_within(child, depth + 1)? {
                return Ok(Some(found));
            }
        }
        Ok(None)
    }

    /// Whether clicks go through this whole window.
    pub(super) fn is_click_through(&self, window: Window) -> Result<bool, DesktopError> {
        let shape = self.conn.shape_get_rectangles(window, SK::INPUT)?.reply();
        Ok(shape.is_ok_and(|shape| shape.rectangles.is_empty()))
    }

    /// Does something while no other program can: what was looked at is what is acted on. Never anything that waits.
    pub(super) fn undisturbed<T>(
        &self,
        act: impl FnOnce() -> Result<T, DesktopError>,
    ) -> Result<T, DesktopError> {
        self.conn.grab_server()?;
        let done = act();
        self.conn.ungrab_server()?;
        self.conn.flush()?;
        done
    }

    /// Where keys go now.
    pub(super) fn key_window(&self) -> Result<KeyWindow, DesktopError> {
        let focus = self.focused()?;
        Ok(KeyWindow { focus, top: self.key_top(focus)? })
    }

    /// Whether keys go there still, to whatever part of it.
    pub(super) fn keys_stay(&self, there: &KeyWindow) -> Result<bool, DesktopError> {
        let focus = self.focused()?;
        Ok((focus.is_some() && focus == there.focus) || self.key_top(focus)? == there.top)
    }

    /// The child of the root window that has the focus in it; the one below the pointer where the server names none.
    fn key_top(&self, focus: Option<Window>) -> Result<Option<Window>, DesktopError> {
        match focus {
            Some(window) => Ok(self.top_of(window)),
            None => Ok(Some(self.conn.query_pointer(self.root)?.reply()?.child)),
        }
    }

    /// Whether keys would go to a window of ours.
    pub(super) fn focus_is_own(&self, own: &Own) -> Result<bool, DesktopError> {
        let Some(mut window) = self.focused()? else {
            let below = self.top_at(self.pointer()?, own)?;
            return Ok(below.is_some_and(|top| top.own.is_some()));
        };
        while window != 0 && window != self.root {
            if self.is_own(window, own)? {
                return Ok(true);
            }
            let Ok(tree) = self.conn.query_tree(window)?.reply() else { break };
            window = tree.parent;
        }
        Ok(false)
    }

    /// The process of the window with the keyboard focus, as it tells.
    pub(super) fn focused_pid(&self) -> Result<Option<u32>, DesktopError> {
        let told = |window| {
            let pid =
                self.conn.get_property(false, window, self.atoms._NET_WM_PID, AtomEnum::CARDINAL, 0, 1)?;
            Ok(pid.reply().ok().and_then(|pid| pid.value32()?.next()))
        };
        self.upwards_from_focus(told)
    }

    /// Class and instance of the window with the keyboard focus, in lower case; empty if it has none.
    pub(super) fn focused_class(&self) -> Result<String, DesktopError> {
        let told = |window| {
            let class =
                self.conn.get_property(false, window, AtomEnum::WM_CLASS, AtomEnum::STRING, 0, 256)?.reply();
            let told = class.ok().filter(|class| !class.value.is_empty());
            Ok(told
                .map(|class| String::from_utf8_lossy(&class.value).replace('\0', " ").trim().to_lowercase()))
        };
        Ok(self.upwards_from_focus(told)?.unwrap_or_default())
    }

    /// What the window with the keyboard focus tells, or the nearest that it is in.
    pub(super) fn upwards_from_focus<T>(
        &self,
        told: impl Fn(Window) -> Result<Option<T>, DesktopError>,
    ) -> Result<Option<T>, DesktopError> {
        let Some(mut window) = self.focused()? else { return Ok(None) };
        while window != 0 && window != self.root {
            if let Some(told) = told(window)? {
                return Ok(Some(told));
            }
            let Ok(tree) = self.conn.query_tree(window)?.reply() else { break };
            window = tree.parent;
        }
        Ok(None)
    }
}

/// The window that gets the keys.
#[derive(Clone, Copy, Debug)]
pub(super) struct KeyWindow {
    focus: Option<Window>,
    pub(super) top: Option<Window>,
}

/// What is asked about one window, on its way.
struct WindowQuery<'c> {
    pid: Reply<'c, GetPropertyReply>,
    state: Reply<'c, GetPropertyReply>,
    tree: Reply<'c, QueryTreeReply>,
}

/// An answer of the X server that is on its way.
pub(super) type Reply<'c, R> = Cookie<'c, RustConnection, R>;

/// What came of it. A window that has gone meanwhile is nobody's and empty.
struct WindowFacts {
    is_own: bool,
    /// Below it are only its own parts.
    is_client: bool,
    /// Lowest first.
    children: Vec<Window>,
}

impl WindowQuery<'_> {
    fn facts(self, own: &Own) -> WindowFacts {
        let is_pid = |reply: GetPropertyReply| {
            reply.value32().and_then(|mut values| values.next()).is_some_and(|pid| own.has(pid))
        };
        WindowFacts {
            is_own: self.pid.reply().is_ok_and(is_pid),
            is_client: self.state.reply().is_ok_and(|reply| reply.type_ != 0),
            children: self.tree.reply().map_or_else(|_| Vec::new(), |tree| tree.children),
        }
    }
}

/// Whether two rectangles share a pixel.
pub(super) fn overlap(a: &PhysicalRect, b: &PhysicalRect) -> bool {
    let end = |origin: i32, length: u32| i64::from(origin) + i64::from(length);
    i64::from(a.x) < end(b.x, b.width)
        && i64::from(b.x) < end(a.x, a.width)
        && i64::from(a.y) < end(b.y, b.height)
        && i64::from(b.y) < end(a.y, a.height)
}
