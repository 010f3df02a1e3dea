use outside::stage::Stage;
use x11rb::connection::Connection;
use x11rb::protocol::shape::{ConnectionExt as _, SK, SO};
use x11rb::protocol::xproto::*;
use x11rb::wrapper::ConnectionExt as _;
fn main() {
    let stage = Stage::plain().unwrap();
    let d = stage.env("DISPLAY").unwrap().to_str().unwrap().to_owned();
    let (c, s) = x11rb::connect(Some(&d)).unwrap();
    let root = c.setup().roots[s].root;
    let one = Rectangle { x: 0, y: 0, width: 1, height: 1 };
    for (name, before, rects) in [("1x1 before", true, vec![one]), ("empty before", true, vec![]), ("1x1 after", false, vec![one]), ("empty after", false, vec![])] {
        let w = c.generate_id().unwrap();
        c.create_window(0, w, root, 0, 0, 1920, 1080, 0, WindowClass::INPUT_OUTPUT, 0, &CreateWindowAux::new()).unwrap();
        let m = c.intern_atom(false, b"_MOTIF_WM_HINTS").unwrap().reply().unwrap().atom;
        c.change_property32(PropMode::REPLACE, w, m, m, &[2, 0, 0, 0, 0]).unwrap();
        let set = || c.shape_rectangles(SO::SET, SK::INPUT, ClipOrdering::UNSORTED, w, 0, 0, &rects).unwrap();
        if before { set(); }
        c.map_window(w).unwrap(); c.sync().unwrap();
        std::thread::sleep(std::time::Duration::from_millis(500));
        if !before { set(); c.sync().unwrap(); std::thread::sleep(std::time::Duration::from_millis(500)); }
        let frame = c.query_tree(w).unwrap().reply().unwrap().parent;
        let r = c.shape_get_rectangles(frame, SK::INPUT).unwrap().reply().unwrap().rectangles;
        println!("{name}: frame {:?}", r.iter().map(|q| (q.x, q.y, q.width, q.height)).collect::<Vec<_>>());
        c.destroy_window(w).unwrap(); c.sync().unwrap();
    }
}
