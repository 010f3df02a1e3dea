//! Where an application's windows lie on the screen, as the X server knows them: for GTK 4, which tells places within
//! the window only, and in a popover within that.

use std::time::Duration;

use protocol::geometry::PhysicalRect;
use x11rb::connection::Connection as _;
use x11rb::protocol::xproto::{Atom, AtomEnum, ConnectionExt as _, MapState, Window};
use x11rb::rust_connection::RustConnection;

use super::nodes::{Facts, Node};

const PATIENCE: Duration = Duration::from_millis(500);
/// Windows of one desktop that are looked at.
const MOST: u32 = 512;

type Corner = (i32, i32);
type Extents = (i32, i32, i32, i32);

/// The windows of one process.
#[derive(Debug, Default)]
pub(super) struct Origins {
    managed: Vec<Managed>,
    /// Popovers, menus and tool tips, lowest first.
    popups: Vec<(Corner, (i32, i32))>,
}

/// A window that has a title, in a window list mostly.
#[derive(Debug)]
struct Managed {
    title: String,
    active: bool,
    /// Without the shadow that it draws itself.
    corner: Corner,
    size: (i32, i32),
}

/// A window as its application tells it.
pub(super) struct ReportedWindow<'a> {
    pub(super) title: &'a str,
    pub(super) active: bool,
    pub(super) size: (i32, i32),
}

/// A popover's place, and that of what it hangs from, as the application tells them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Popover {
    pub(super) own: Extents,
    pub(super) anchor: Extents,
}

/// The windows of this process; none if the server does not answer.
pub(super) async fn of_process(display: Option<String>, pid: u32) -> Origins {
    let asked = tokio::task::spawn_blocking(move || find(display.as_deref(), pid));
    let found = tokio::time::timeout(PATIENCE, asked).await;
    found.ok().and_then(Result::ok).flatten().unwrap_or_default()
}

/// The processes of all windows, the front one's first; none if the server does not answer.
pub(super) async fn front_first(display: Option<String>) -> Vec<u32> {
    let asked = tokio::task::spawn_blocking(move || stacked(display.as_deref()));
    let found = tokio::time::timeout(PATIENCE, asked).await;
    found.ok().and_then(Result::ok).flatten().unwrap_or_default()
}

impl Origins {
    /// What to add to places in this window. Of several with its title the one of its size, or the active one; the
    /// only one, where the title fits none.
    pub(super) fn of_window(&self, told: &ReportedWindow<'_>) -> Option<Corner> {
        let mut fitting: Vec<&Managed> = self.managed.iter().filter(|one| one.title == told.title).collect();
        if fitting.is_empty() && self.managed.len() == 1 {
            fitting = self.managed.iter().collect();
        }
        let narrow = |fitting: &mut Vec<&Managed>, fits: &dyn Fn(&Managed) -> bool| {
            if fitting.iter().any(|one| fits(one)) {
                fitting.retain(|one| fits(one));
            }
        };
        narrow(&mut fitting, &|one| one.size == told.size);
        narrow(&mut fitting, &|one| one.active == told.active);
        match fitting.as_slice() {
            [one] => Some(one.corner),
            // Which of them it is cannot be told.
            _ => None,
        }
    }

    /// What to add to places in this popover.
    pub(super) fn of_popover(&self, told: Popover) -> Option<Corner> {
        let (x, y, width, height) = told.own;
        let (left, top, ..) = told.anchor;
        let size = (x - left + width, y - top + height);
        let (corner, _) = self.popups.iter().rev().find(|(_, known)| *known == size)?;
        Some((corner.0 - left, corner.1 - top))
    }

    /// Where popovers, menus and tool tips are.
    pub(super) fn popups(&self) -> impl Iterator<Item = PhysicalRect> + '_ {
        self.popups.iter().map(|&((x, y), (width, height))| PhysicalRect {
            x,
            y,
            width: width.unsigned_abs(),
            height: height.unsigned_abs(),
        })
    }

    /// Moves everything that was read of a window to where it is on the screen. What lies in a window that the server
    /// does not name has no place.
    pub(super) fn place(&self, nodes: &mut [Node], window: Option<Corner>) {
        let popovers: Vec<Option<Popover>> = (0..nodes.len()).map(|at| popover(nodes, at)).collect();
        let mut origins: Vec<Option<Corner>> = Vec::with_capacity(nodes.len());
        for (node, popover) in nodes.iter_mut().zip(popovers) {
            let origin = match (popover, node.parent) {
                (Some(popover), _) => self.of_popover(popover),
                (None, Some(parent)) => origins[parent],
                (None, None) => window,
            };
            origins.push(origin);
            node.facts.extents = moved(node.facts.extents, origin);
        }
    }
}

/// The popover that this node is: what holds its content is known by that.
fn popover(nodes: &[Node], at: usize) -> Option<Popover> {
    let is_content = |node: &&Node| node.parent == Some(at) && node.facts.in_popover;
    nodes.get(at + 1..)?.iter().take(1).find(is_content)?;
    let anchor = nodes[at].parent.map_or_else(Extents::default, |parent| nodes[parent].facts.extents);
    Some(Popover { own: nodes[at].facts.extents, anchor })
}

fn moved((x, y, width, height): Extents, origin: Option<Corner>) -> Extents {
    match origin {
        Some((left, top)) => (x.saturating_add(left), y.saturating_add(top), width, height),
        None => Facts::default().extents,
    }
}

fn stacked(display: Option<&str>) -> Option<Vec<u32>> {
    let (conn, number) = RustConnection::connect(display).ok()?;
    let root = conn.setup().roots.get(number)?.root;
    let read = |window: Window, name: &[u8]| {
        let name = conn.intern_atom(true, name).ok()?.reply().ok()?.atom;
        let told = conn.get_property(false, window, name, AtomEnum::ANY, 0, MOST).ok()?.reply().ok()?;
        Some(told.value32()?.collect::<Vec<u32>>())
    };
    // From the bottom up.
    let windows = read(root, b"_NET_CLIENT_LIST_STACKING")?;
    Some(
        windows
            .into_iter()
            .rev()
            .filter_map(|window| read(window, b"_NET_WM_PID")?.first().copied())
            .collect(),
    )
}

fn find(display: Option<&str>, pid: u32) -> Option<Origins> {
    let (conn, number) = RustConnection::connect(display).ok()?;
    let root = conn.setup().roots.get(number)?.root;
    let names: [&[u8]; 5] =
        [b"_NET_CLIENT_LIST", b"_NET_WM_PID", b"_NET_WM_NAME", b"_GTK_FRAME_EXTENTS", b"_NET_ACTIVE_WINDOW"];
    let asked: Vec<_> =
        names.iter().map(|name| conn.intern_atom(true, name)).collect::<Result<_, _>>().ok()?;
    let atoms: Vec<Atom> = asked
        .into_iter()
        .map(|cookie| cookie.reply().map(|reply| reply.atom))
        .collect::<Result<_, _>>()
        .ok()?;
    let [clients, pid_atom, name_atom, shadow_atom, active_atom] = atoms.as_slice() else { return None };
    let read = |window: Window, name: Atom, length: u32| {
        conn.get_property(false, window, name, AtomEnum::ANY, 0, length)
    };
    let (list, active, tree) =
        (read(root, *clients, MOST).ok()?, read(root, *active_atom, 1).ok()?, conn.query_tree(root).ok()?);
    // A window manager that starts may forget a window, and there may be none; what it frames is not the root's child.
    let listed: Vec<Window> =
        list.reply().ok().and_then(|reply| Some(reply.value32()?.collect())).unwrap_or_default();
    let active = active.reply().ok().and_then(|reply| reply.value32()?.next());
    let children = tree.reply().ok()?.children;
    let unlisted = children.into_iter().filter(|child| !listed.contains(child));
    let mut origins = Origins::default();
    // All are asked at once: what costs is each wait for the server.
    let asked: Vec<_> = listed
        .iter()
        .copied()
        .chain(unlisted)
        .filter_map(|window| {
            let (pid, name) = (read(window, *pid_atom, 1).ok()?, read(window, *name_atom, 256).ok()?);
            let (shadow, attributes) =
                (read(window, *shadow_atom, 4).ok()?, conn.get_window_attributes(window).ok()?);
            let place = conn.translate_coordinates(window, root, 0, 0).ok()?;
            Some((window, pid, name, shadow, attributes, place, conn.get_geometry(window).ok()?))
        })
        .collect();
    for (window, of, name, shadow, attributes, place, geometry) in asked {
        // All replies are taken, so that none is left behind in the connection.
        let (of, name, shadow, attributes) = (of.reply(), name.reply(), shadow.reply(), attributes.reply());
        let (place, geometry) = (place.reply(), geometry.reply());
        let (Ok(of), Ok(attributes), Ok(place), Ok(geometry)) = (of, attributes, place, geometry) else {
            continue;
        };
        let is_shown = listed.contains(&window) || attributes.map_state == MapState::VIEWABLE;
        if of.value32().and_then(|mut values| values.next()) != Some(pid) || !is_shown {
            continue;
        }
        let corner = (i32::from(place.dst_x), i32::from(place.dst_y));
        let size = (i32::from(geometry.width), i32::from(geometry.height));
        if attributes.override_redirect {
            origins.popups.push((corner, size));
            continue;
        }
        let shadow: Vec<i32> = shadow
            .ok()
            .and_then(|reply| reply.value32().map(|values| values.map(u32::cast_signed).collect()))
            .unwrap_or_default();
        // A window that draws its own shadow starts before its edge. No program need have made this name yet.
        let [left, right, top, bottom] = shadow.try_into().unwrap_or([0; 4]);
        origins.managed.push(Managed {
            title: name.map(|name| String::from_utf8_lossy(&name.value).into_owned()).unwrap_or_default(),
            active: Some(window) == active,
            corner: (corner.0 + left, corner.1 + top),
            size: (size.0 - left - right, size.1 - top - bottom),
        });
    }
    Some(origins)
}

#[cfg(test)]
mod tests;
