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

/// A window with a title bar or in a window list.
#[derive(Debug)]
struct Managed {
    title: String,
    active: bool,
    /// Without the shadow that it draws itself.
    corner: Corner,
    size: (i32, i32),
}

/// A window as its application tells it.
pub(super) struct Told<'a> {
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

/// The windows of this process; none where the server does not answer.
pub(super) async fn of_process(display: Option<String>, pid: u32) -> Origins {
    let asked = tokio::task::spawn_blocking(move || find(display.as_deref(), pid));
    let found = tokio::time::timeout(PATIENCE, asked).await;
    found.ok().and_then(Result::ok).flatten().unwrap_or_default()
}

impl Origins {
    /// What to add to places in this window. Of several with its title the one of its size, or the active one; the
    /// only one, where the title fits none.
    pub(super) fn of_window(&self, told: &Told<'_>) -> Option<Corner> {
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
    let managed: Vec<Window> = list.reply().ok()?.value32()?.collect();
    let active = active.reply().ok().and_then(|reply| reply.value32()?.next());
    let unmanaged = tree.reply().ok()?.children;
    let mut origins = Origins::default();
    // All are asked at once: what costs is each wait for the server.
    let asked: Vec<_> = managed
        .iter()
        .filter_map(|&window| {
            let (pid, name) = (read(window, *pid_atom, 1).ok()?, read(window, *name_atom, 256).ok()?);
            let shadow = read(window, *shadow_atom, 4).ok()?;
            let place = conn.translate_coordinates(window, root, 0, 0).ok()?;
            Some((window, pid, name, shadow, place, conn.get_geometry(window).ok()?))
        })
        .collect();
    for (window, of, name, shadow, place, geometry) in asked {
        // All replies are taken, so that none is left behind in the connection.
        let (of, name, shadow) = (of.reply(), name.reply(), shadow.reply());
        let (place, geometry) = (place.reply(), geometry.reply());
        let (Ok(of), Ok(place), Ok(geometry)) = (of, place, geometry) else { continue };
        if of.value32().and_then(|mut values| values.next()) != Some(pid) {
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
            corner: (i32::from(place.dst_x) + left, i32::from(place.dst_y) + top),
            size: (i32::from(geometry.width) - left - right, i32::from(geometry.height) - top - bottom),
        });
    }
    let asked: Vec<_> = unmanaged
        .iter()
        .filter_map(|&window| {
            let attributes = conn.get_window_attributes(window).ok()?;
            Some((attributes, conn.get_geometry(window).ok()?, read(window, *pid_atom, 1).ok()?))
        })
        .collect();
    for (attributes, geometry, of) in asked {
        let (attributes, geometry, of) = (attributes.reply(), geometry.reply(), of.reply());
        let (Ok(attributes), Ok(geometry), Ok(of)) = (attributes, geometry, of) else { continue };
        let its = of.value32().and_then(|mut values| values.next()) == Some(pid);
        if its && attributes.override_redirect && attributes.map_state == MapState::VIEWABLE {
            let corner = (i32::from(geometry.x), i32::from(geometry.y));
            origins.popups.push((corner, (i32::from(geometry.width), i32::from(geometry.height))));
        }
    }
    Some(origins)
}

#[cfg(test)]
mod tests;
