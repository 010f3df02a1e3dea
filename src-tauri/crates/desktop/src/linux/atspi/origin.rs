//! Where a window lies on the screen, as the X server knows it: for GTK 4, which tells places within the window only.

use std::time::Duration;

use x11rb::connection::Connection as _;
use x11rb::protocol::xproto::{AtomEnum, ConnectionExt as _, Window};
use x11rb::rust_connection::RustConnection;

const PATIENCE: Duration = Duration::from_millis(500);
/// Windows of one desktop that are looked at.
const MOST: u32 = 512;

/// The corner of the window of this process and title (its only one, where the title fits none), in pixels.
pub(super) async fn of_window(display: Option<String>, pid: u32, title: String) -> Option<(i32, i32)> {
    let asked = tokio::task::spawn_blocking(move || find(display.as_deref(), pid, &title));
    tokio::time::timeout(PATIENCE, asked).await.ok()?.ok()?
}

fn find(display: Option<&str>, pid: u32, title: &str) -> Option<(i32, i32)> {
    let (conn, number) = RustConnection::connect(display).ok()?;
    let root = conn.setup().roots.get(number)?.root;
    let names: [&[u8]; 4] = [b"_NET_CLIENT_LIST", b"_NET_WM_PID", b"_NET_WM_NAME", b"_GTK_FRAME_EXTENTS"];
    let asked: Vec<_> =
        names.iter().map(|name| conn.intern_atom(true, name)).collect::<Result<_, _>>().ok()?;
    let atoms: Vec<u32> = asked
        .into_iter()
        .map(|cookie| cookie.reply().map(|reply| reply.atom))
        .collect::<Result<_, _>>()
        .ok()?;
    let [clients, pid_atom, name_atom, shadow_atom] = atoms.as_slice() else { return None };
    let list = conn.get_property(false, root, *clients, AtomEnum::WINDOW, 0, MOST).ok()?.reply().ok()?;
    let windows: Vec<Window> = list.value32()?.collect();
    let mut ours: Vec<(Window, String)> = Vec::new();
    let asked: Vec<_> = windows
        .iter()
        .filter_map(|&window| {
            let pid = conn.get_property(false, window, *pid_atom, AtomEnum::CARDINAL, 0, 1).ok()?;
            let name = conn.get_property(false, window, *name_atom, AtomEnum::ANY, 0, 256).ok()?;
            Some((window, pid, name))
        })
        .collect();
    for (window, of, name) in asked {
        // All replies are taken, so that none is left behind in the connection.
        let (of, name) = (of.reply(), name.reply());
        let of = of.ok().and_then(|reply| reply.value32().and_then(|mut values| values.next()));
        if of == Some(pid) {
            let name = name.map(|reply| String::from_utf8_lossy(&reply.value).into_owned());
            ours.push((window, name.unwrap_or_default()));
        }
    }
    let titled = ours.iter().find(|(_, name)| name == title);
    let only = if let [only] = ours.as_slice() { Some(only) } else { None };
    let (window, _) = titled.or(only)?;
    let place = conn.translate_coordinates(*window, root, 0, 0).ok()?.reply().ok()?;
    // A window that draws its own shadow starts before its edge. No program need have made this name yet.
    let shadow = conn.get_property(false, *window, *shadow_atom, AtomEnum::CARDINAL, 0, 4).ok()?.reply();
    let shadow: Vec<i32> = shadow
        .ok()
        .and_then(|reply| reply.value32().map(|values| values.map(u32::cast_signed).collect()))
        .unwrap_or_default();
    // Left, right, top, bottom.
    let (left, top) = match shadow.as_slice() {
        [left, _, top, _] => (*left, *top),
        _ => (0, 0),
    };
    Some((i32::from(place.dst_x) + left, i32::from(place.dst_y) + top))
}
