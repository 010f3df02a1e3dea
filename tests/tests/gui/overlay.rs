//! While work is done: the overlay is there, the dashboard makes room, and neither is in the way.

use std::time::Duration;

use outside::fake_model::{Asked, FakeModel, MindTurn, ScriptMind};
use outside::miki::{self, Miki};
use outside::stage::{Furniture, Stage};
use outside::{LONG, wait_for};
use protocol::EventBody;
use serde_json::json;

use crate::browser::Browser;

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
    let click = MindTurn::call("", "click", json!({ "x": 20, "y": 900 }));
    let silent = MindTurn { pause: Duration::from_secs(600), ..MindTurn::default() };
    let model = FakeModel::start(ScriptMind::new([click, silent])).unwrap();
    let miki = Miki::with_model(&stage, "miki", &model.url(), json!({ "approval": "auto" })).unwrap();
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

#[test]
fn after_a_run_from_elsewhere_the_dashboard_is_where_it_was_and_over_nothing_that_was_over_it() {
    let stage = Stage::full().unwrap();
    let editor = stage.open_editor(None).unwrap();
    let screen = stage.screen().unwrap();
    let mut xterm = stage.command("xterm");
    xterm.args(["-T", "Notes", "-geometry", "60x20+1000+300"]);
    let _xterm = stage.launch("xterm", "xterm", xterm).unwrap();
    let notes = screen.wait_for_window("the notes", LONG, |title| title == "Notes").unwrap();
    let click = MindTurn::call("", "click", json!({ "x": 200, "y": 400 }));
    let model = FakeModel::start(ScriptMind::new([click])).unwrap();
    let miki = Miki::with_model(&stage, "miki", &model.url(), json!({ "approval": "auto" })).unwrap();
    let _app = miki.start(&stage, "app", &[]).unwrap();
    let dashboard = screen.wait_for_window("the dashboard", LONG, |title| title == "Miki").unwrap();
    screen.place(&dashboard, 1000, 80, 880, 900).unwrap();
    let mut client = miki.connect(LONG).unwrap();
    client.subscribe().unwrap();
    for window in [&dashboard, &notes, &editor.window] {
        screen.activate(window).unwrap();
    }
    let _run = miki.start(&stage, "run", &["run", "click", "--json"]).unwrap();
    let aside = |wanted: bool| {
        let is = || (screen.is_kept_below(&dashboard).ok()? == wanted).then_some(());
        wait_for(&format!("the dashboard to be aside: {wanted}"), LONG, is).unwrap();
    };
    client.events_until(|body| matches!(body, EventBody::ToolFinished { .. })).unwrap();
    client.events_until(miki::is_end).unwrap();
    aside(false);
    // The window manager is told where to in a second message.
    let above = || screen.is_above(&notes, &dashboard).ok()?.then_some(());
    wait_for("the notes over the dashboard", LONG, above).unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn the_dashboard_makes_room_for_the_first_act_and_comes_back_with_the_answer() {
    let stage = Stage::full().unwrap();
    let editor = stage.open_editor(None).unwrap();
    let (window, screen) = (&editor.window, stage.screen().unwrap());
    let middle =
        |at: i32, length: u32, whole: f64| (f64::from(at) + f64::from(length) / 2.0) / whole * 1000.0;
    let (x, y) = (middle(window.x, window.width, 1920.0), middle(window.y, window.height, 1080.0));
    let think = MindTurn::call("", "think", json!({ "thought": "where to write" }));
    let click = MindTurn::call("", "click", json!({ "x": x, "y": y }));
    let slow = |turn: MindTurn| MindTurn { pause: Duration::from_secs(2), ..turn };
    let model = FakeModel::start(ScriptMind::new([think, slow(click)])).unwrap();
    let miki = Miki::with_model(&stage, "miki", &model.url(), json!({ "approval": "auto" })).unwrap();
    let browser = Browser::open(&stage, &miki).await.unwrap();
    let dashboard = screen.wait_for_window("the dashboard", LONG, |title| title == "Miki").unwrap();
    screen.place(&dashboard, window.x, 40, 880, 900).unwrap();
    let mut client = miki.connect(LONG).unwrap();
    client.subscribe().unwrap();
    browser.window("dashboard").await.unwrap();
    screen.activate(&dashboard).unwrap();
    let above = || screen.is_above(&dashboard, window).ok()?.then_some(());
    wait_for("the dashboard over the editor", LONG, above).unwrap();
    browser.find("textarea#goal").await.unwrap().send_keys("click\u{e007}").await.unwrap();

    let is_result = |body: &EventBody| matches!(body, EventBody::ToolFinished { .. });
    let (mut client, thought) = tokio::task::spawn_blocking(move || {
        let events = client.events_until(is_result).unwrap();
        (client, events)
    })
    .await
    .unwrap();
    assert!(
        !thought.is_empty() && !screen.is_kept_below(&dashboard).unwrap(),
        "nothing is done on the desktop"
    );
    above().expect("the dashboard left before it was in the way");
    let events =
        tokio::task::spawn_blocking(move || client.events_until(miki::is_end).unwrap()).await.unwrap();
    let clicked = events.iter().find_map(|event| match &event.body {
        EventBody::ToolFinished { result, .. } => Some(result.error.clone()),
        _ => None,
    });
    assert_eq!(clicked, Some(None), "{events:#?}");
    wait_for("the dashboard with the answer", LONG, above).unwrap();
    // The click took the keyboard from whoever typed the goal: they go on where they were.
    let back = || (screen.active().ok()? == dashboard.id).then_some(());
    wait_for("the keyboard in the dashboard", LONG, back).unwrap();
}
