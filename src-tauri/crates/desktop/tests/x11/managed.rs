//! Waits for a window manager that has been started.

use std::time::{Duration, Instant};

use x11rb::connection::Connection as _;
use x11rb::protocol::xproto::{AtomEnum, ConnectionExt as _, CreateWindowAux, Window, WindowClass};
use x11rb::rust_connection::RustConnection;

/// What is mapped while it starts may be forgotten: it is ready when it manages a window.
pub fn wait_for_manager(conn: &RustConnection) {
    let root = conn.setup().roots[0].root;
    let name = conn.intern_atom(false, b"_NET_CLIENT_LIST").unwrap().reply().unwrap().atom;
    let managed = |window: Window| {
        let list = conn.get_property(false, root, name, AtomEnum::ANY, 0, 64).unwrap().reply().unwrap();
        list.value32().is_some_and(|mut windows| windows.any(|one| one == window))
    };
    let probe = conn.generate_id().unwrap();
    let values = CreateWindowAux::new();
    conn.create_window(0, probe, root, 0, 0, 9, 9, 0, WindowClass::INPUT_OUTPUT, 0, &values).unwrap();
    let until = Instant::now() + Duration::from_secs(60);
    let wait_until = |is_so: &dyn Fn() -> bool| {
        while !is_so() {
            assert!(Instant::now() < until, "the window manager manages nothing");
            std::thread::sleep(Duration::from_millis(10));
        }
    };
    wait_until(&|| {
        conn.map_window(probe).unwrap();
        conn.flush().unwrap();
        managed(probe)
    });
    conn.destroy_window(probe).unwrap();
    conn.flush().unwrap();
    wait_until(&|| !managed(probe));
}
