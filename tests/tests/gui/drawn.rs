//! What a person sees of the windows: pixels, which WebDriver does not look at. A page can be whole and yet not drawn.

use std::collections::HashSet;
use std::time::Duration;

use outside::fake_model::{Asked, FakeModel, MindTurn};
use outside::miki::{self, Miki};
use outside::stage::{Screen, Stage, Window};
use outside::{LONG, wait_for};
use serde_json::json;

/// Text with smooth edges has hundreds of colours, an empty window one.
const COLOURS: usize = 40;

fn pixels(screen: &Screen, window: &Window) -> image::RgbImage {
    let png = screen.png_of(window.x, window.y, window.width, window.height).unwrap();
    image::load_from_memory(&png).unwrap().into_rgb8()
}

fn wait_until_drawn(screen: &Screen, window: &Window) {
    let mut seen = 0;
    let drawn = wait_for("text on a window", LONG, || {
        seen = pixels(screen, window).pixels().collect::<HashSet<_>>().len();
        (seen >= COLOURS).then_some(())
    });
    assert!(drawn.is_ok(), "{:?} shows {seen} colours: its page is not drawn", window.title);
}

#[test]
fn the_dashboard_and_the_chat_widget_are_drawn_and_the_overlay_covers_nothing() {
    let stage = Stage::full().unwrap();
    let editor = stage.open_editor(None).unwrap().window;
    let silent = |_: &Asked| MindTurn { pause: Duration::from_secs(600), ..MindTurn::default() };
    let model = FakeModel::start(silent).unwrap();
    let miki = Miki::with_model(&stage, "miki", &model.url(), json!({})).unwrap();
    let _app = miki.start(&stage, "app", &[]).unwrap();
    let (screen, user) = (stage.screen().unwrap(), stage.user().unwrap());
    let dashboard = screen.wait_for_window("the dashboard", LONG, |title| title == "Miki").unwrap();
    screen.place(&dashboard, 1000, 80, 880, 900).unwrap();
    wait_until_drawn(&screen, &Window { x: 1000, y: 80, width: 880, height: 900, ..dashboard });
    miki.connect(LONG).unwrap();
    let chat = miki::open_chat(&screen, &user).unwrap();
    wait_until_drawn(&screen, &chat);
    // Pressed again where nothing came of it: the page may get the keyboard a moment after its window has.
    let hidden =
        || screen.windows().ok()?.iter().all(|window| window.id != chat.id || !window.shown).then_some(());
    wait_for("the chat widget to hide", LONG, || {
        user.chord(&["escape"]).ok()?;
        wait_for("it", Duration::from_secs(2), hidden).ok()
    })
    .unwrap();

    // The editor stands beside the dashboard; what it shows must be seen below the overlay, too.
    let below = || pixels(&screen, &editor).pixels().collect::<HashSet<_>>().len();
    wait_for("the editor", LONG, || (below() >= COLOURS).then_some(())).unwrap();
    let before = below();
    let _run = miki.start(&stage, "run", &["run", "wait", "--json"]).unwrap();
    screen.wait_for_window("the overlay", LONG, |title| title == "Miki Overlay").unwrap();
    wait_for("the editor to be seen below the overlay", LONG, || (below() * 2 >= before).then_some(()))
        .unwrap();
}
