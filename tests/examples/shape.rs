use outside::stage::Stage;
use outside::miki::Miki;
use outside::fake_model::*;
use std::time::Duration;
use x11rb::connection::Connection;
use x11rb::protocol::shape::{ConnectionExt as _, SK};
use x11rb::protocol::xproto::*;
fn main() {
    let stage = Stage::full().unwrap();
    let editor = stage.open_editor(None).unwrap();
    let silent = |_: &GeminiRequest| MindTurn { pause: Duration::from_secs(600), ..MindTurn::default() };
    let model = FakeGemini::start(silent).unwrap();
    let miki = Miki::with_model(&stage, "miki", &model.url(), serde_json::json!({})).unwrap();
    let _app = miki.start(&stage, "app", &[]).unwrap();
    let (screen, user) = (stage.screen().unwrap(), stage.user().unwrap());
    miki.connect(outside::LONG).unwrap();
    let _run = miki.start(&stage, "run", &["run", "wait", "--json"]).unwrap();
    let overlay = screen.wait_for_window("the overlay", outside::LONG, |t| t == "Miki Overlay").unwrap();
    let d = stage.env("DISPLAY").unwrap().to_str().unwrap().to_owned();
    let (c, s) = x11rb::connect(Some(&d)).unwrap();
    let root = c.setup().roots[s].root;
    for i in 0..6 {
        let mut id = overlay.id;
        while id != root {
            let r = c.shape_get_rectangles(id, SK::INPUT).unwrap().reply().unwrap().rectangles;
            println!("{i} {id:x} {:?}", r.iter().map(|q| (q.x, q.y, q.width, q.height)).collect::<Vec<_>>());
            id = c.query_tree(id).unwrap().reply().unwrap().parent;
        }
        std::thread::sleep(Duration::from_millis(400));
        if i > 2 { user.click(500, 500).unwrap(); }
    }
    println!("active {:x} editor {:x} {:?}", screen.active().unwrap(), editor.window.id, screen.windows().unwrap());
    let mut at = root; 
    loop { let q = c.translate_coordinates(root, at, 500, 500).unwrap().reply().unwrap(); println!("{at:x} child {:x}", q.child); if q.child == 0 { break; } at = q.child; }
    println!("{}", stage.log("app"));
}
