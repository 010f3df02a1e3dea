//! The overlay: there while work is done, and never in the way.

use std::time::Duration;

use outside::fake_model::{Asked, FakeModel, MindTurn};
use outside::miki::Miki;
use outside::stage::{Furniture, Stage};
use outside::{LONG, wait_for};
use serde_json::json;

#[test]
fn a_click_goes_through_the_overlay_to_the_window_below() {
    let stage = Stage::full().unwrap();
    let editor = stage.open_editor(None).unwrap();
    let silent = |_: &Asked| MindTurn { pause: Duration::from_secs(600), ..MindTurn::default() };
    let model = FakeModel::start(silent).unwrap();
    let miki = Miki::with_model(&stage, "miki", &model.url(), json!({})).unwrap();
    let _app = miki.start(&stage, "app", &[]).unwrap();
    let (screen, user) = (stage.screen().unwrap(), stage.user().unwrap());
    let dashboard = screen.wait_for_window("the dashboard", LONG, |title| title == "Miki").unwrap();
    screen.place(&dashboard, 1000, 80, 880, 900).unwrap();
    miki.connect(LONG).unwrap();
    let _run = miki.start(&stage, "run", &["run", "wait", "--json"]).unwrap();
    let overlay = screen.wait_for_window("the overlay", LONG, |title| title == "Miki Overlay").unwrap();
    assert_eq!((overlay.x, overlay.y, overlay.width, overlay.height), (0, 0, 1920, 1080));
    // A window manager may take a moment to let clicks through a window that is new to it; the app sees to it.
    wait_for("the overlay's frame to let clicks through", LONG, || {
        screen.lets_clicks_through(&overlay).ok()?.then_some(())
    })
    .unwrap();
    screen.activate(&dashboard).unwrap();
    // Clicked again where nothing came of it: the dashboard may take the focus back when it hears late that it has it.
    wait_for("a click to reach the editor", LONG, || {
        user.click(500, 500).ok()?;
        let reached = || (screen.active().ok()? == editor.window.id).then_some(());
        wait_for("it", Duration::from_secs(2), reached).ok()
    })
    .unwrap();
    assert!(screen.lets_clicks_through(&overlay).unwrap(), "the overlay takes clicks again");
}

#[test]
fn where_nothing_composes_the_screen_no_overlay_blackens_it() {
    let stage = Stage::new(Furniture { windows: false, keyring: true }).unwrap();
    let silent = |_: &Asked| MindTurn { pause: Duration::from_secs(600), ..MindTurn::default() };
    let model = FakeModel::start(silent).unwrap();
    let miki = Miki::with_model(&stage, "miki", &model.url(), json!({})).unwrap();
    let _app = miki.start(&stage, "app", &[]).unwrap();
    let screen = stage.screen().unwrap();
    let dashboard = screen.wait_for_window("the dashboard", LONG, |title| title == "Miki").unwrap();
    miki.connect(LONG).unwrap();
    let _run = miki.start(&stage, "run", &["run", "wait", "--json"]).unwrap();
    // It steps aside after the overlay was shown, or was not.
    let aside = || screen.is_kept_below(&dashboard).ok()?.then_some(());
    wait_for("the dashboard to step aside", LONG, aside).unwrap();
    let shown = screen.windows().unwrap().into_iter().filter(|window| window.shown);
    assert_eq!(shown.map(|window| window.title).collect::<Vec<_>>(), ["Miki"]);
}
