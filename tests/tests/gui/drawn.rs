//! What a person sees of the windows: pixels, which WebDriver does not look at. A page can be whole and yet not drawn.

use std::collections::HashSet;
use std::time::Duration;

use outside::fake_model::{Asked, FakeModel, MindTurn, ScriptMind};
use outside::miki::{self, Miki};
use outside::stage::{Screen, Stage, Window};
use outside::{LONG, wait_for};
use protocol::EventBody;
use protocol::command::{AnyCommand, RunOverrides, StartRun};
use serde_json::json;

use crate::browser::Browser;

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
    let editor = stage.open_editor(None).unwrap();
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
    miki::hide_chat(&screen, &user).unwrap();

    // The editor stands beside the dashboard; what it shows must be seen below the overlay, too.
    let below = || pixels(&screen, &editor.window).pixels().collect::<HashSet<_>>().len();
    wait_for("the editor", LONG, || (below() >= COLOURS).then_some(())).unwrap();
    let before = below();
    let _run = miki.start(&stage, "run", &["run", "wait", "--json"]).unwrap();
    screen.wait_for_window("the overlay", LONG, |title| title == "Miki Overlay").unwrap();
    wait_for("the editor to be seen below the overlay", LONG, || (below() * 2 >= before).then_some(()))
        .unwrap();
}

/// More than the dashboard's list has room for.
const SESSIONS: usize = 30;

/// How far the page itself can be scrolled, by whatever means.
const SCROLLS: &str = "
    window.scrollTo(0, 100000);
    document.body.scrollTo(0, 100000);
    return Math.max(document.documentElement.scrollTop, document.body.scrollTop)";

#[tokio::test(flavor = "multi_thread")]
async fn a_start_without_a_key_but_with_a_history_shows_the_settings_from_their_top() {
    let stage = Stage::full().unwrap();
    let model = FakeModel::start(ScriptMind::new([])).unwrap();
    let miki = Miki::with_model(&stage, "miki", &model.url(), json!({})).unwrap();
    let app = miki.start(&stage, "before", &[]).unwrap();
    let mut client = miki.connect(LONG).unwrap();
    client.subscribe().unwrap();
    for number in 0..SESSIONS {
        let (goal, overrides) = (format!("goal {number}"), RunOverrides::default());
        let start = AnyCommand::StartRun(StartRun { goal, session: None, overrides });
        // Refused for a moment, while the run before lets go of the desktop.
        wait_for("a run's start", LONG, || client.call(start.clone()).ok()).unwrap();
        client.events_until(miki::is_end).unwrap();
    }
    drop((client, app));

    let without_key = Miki::on(&stage, "miki").unwrap();
    let browser = Browser::open(&stage, &without_key).await.unwrap();
    browser.window("dashboard").await.unwrap();
    let listed = format!("return document.querySelectorAll('#sessions li').length === {SESSIONS}");
    browser.until("the history", &listed).await.unwrap();
    browser.until("the settings", "return document.querySelector('.first-run') !== null").await.unwrap();
    assert_eq!(browser.script(SCROLLS).await.unwrap(), json!(0), "the page is scrolled out of its window");
    // The list still scrolls within itself, down to its last session.
    let last = "
        const list = document.querySelector('#sessions');
        list.scrollTo(0, 100000);
        const last = list.lastElementChild.getBoundingClientRect();
        return list.scrollTop > 0 && last.bottom <= list.getBoundingClientRect().bottom + 1";
    assert_eq!(browser.script(last).await.unwrap(), json!(true), "the last session cannot be reached");

    let screen = stage.screen().unwrap();
    let dashboard = screen.wait_for_window("the dashboard", LONG, |title| title == "Miki").unwrap();
    let (middle, half) = (dashboard.width / 2, dashboard.height / 2);
    for (x, y) in [(0, 0), (middle, 0), (0, half), (middle, half)] {
        let (x, y) = (dashboard.x + x.cast_signed(), dashboard.y + y.cast_signed());
        let title = format!("{} from {x}, {y}", dashboard.title);
        wait_until_drawn(&screen, &Window { x, y, width: middle, height: half, title, ..dashboard });
    }
}

/// Out of memory, or killed by somebody: what the window showed last would stay, with buttons that do nothing.
#[test]
fn a_page_whose_process_ends_is_loaded_again() {
    let stage = Stage::full().unwrap();
    let silent = |_: &Asked| MindTurn { pause: Duration::from_secs(600), ..MindTurn::default() };
    let model = FakeModel::start(silent).unwrap();
    let miki = Miki::with_model(&stage, "miki", &model.url(), json!({})).unwrap();
    let app = miki.start(&stage, "app", &[]).unwrap();
    let screen = stage.screen().unwrap();
    let dashboard = screen.wait_for_window("the dashboard", LONG, |title| title == "Miki").unwrap();
    wait_until_drawn(&screen, &dashboard);
    let pages = || -> HashSet<u32> {
        let of =
            |pid: u32, file: &str| std::fs::read_to_string(format!("/proc/{pid}/{file}")).unwrap_or_default();
        let all = std::fs::read_dir("/proc").unwrap().flatten();
        let all = all.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
        let is_its = |pid: &u32| {
            // The app's child has the windows, and theirs are the pages.
            let parent = |pid: u32| {
                let status = of(pid, "status");
                status.lines().find_map(|line| line.strip_prefix("PPid:\t")?.parse::<u32>().ok())
            };
            of(*pid, "comm").starts_with("WebKitWebP") && parent(*pid).and_then(parent) == Some(app.id())
        };
        all.filter(is_its).collect()
    };
    let before = pages();
    assert_eq!(before.len(), 3, "a page for each window");
    for page in &before {
        let pid = rustix::process::Pid::from_raw(i32::try_from(*page).unwrap()).unwrap();
        rustix::process::kill_process(pid, rustix::process::Signal::KILL).unwrap();
    }
    let again = || (pages().difference(&before).count() == 3).then_some(());
    wait_for("the pages again", LONG, again).unwrap();
    wait_until_drawn(&screen, &dashboard);
}

/// Without a graphics card WebKit leaves in a transparent window what it drew there before. (Not where a test drives its page.)
#[test]
fn the_overlay_shows_nothing_of_what_it_said_before() {
    let stage = Stage::full().unwrap();
    let _editor = stage.open_editor(None).unwrap();
    let hold = |reason: &str| {
        MindTurn::call("", "hold", json!({ "keys": ["shift"], "seconds": 8, "reason": reason }))
    };
    let long = "to see how the words are shown where there are as many of them as fit in";
    let model = FakeModel::start(ScriptMind::new([hold(long), hold("so")])).unwrap();
    let miki = Miki::with_model(&stage, "miki", &model.url(), json!({ "approval": "auto" })).unwrap();
    let _app = miki.start(&stage, "app", &[]).unwrap();
    let screen = stage.screen().unwrap();
    let dashboard = screen.wait_for_window("the dashboard", LONG, |title| title == "Miki").unwrap();
    screen.place(&dashboard, 1000, 80, 880, 700).unwrap();
    let mut client = miki.connect(LONG).unwrap();
    client.subscribe().unwrap();
    let _run = miki.start(&stage, "run", &["run", "wait", "--json"]).unwrap();
    // A row through the upper part of its words, from beside them to the middle of the screen.
    let row = Window { x: 200, y: 1018, width: 760, height: 2, title: "a row".into(), ..dashboard };
    let begins = || {
        let row = pixels(&screen, &row);
        let bare = *row.get_pixel(0, 0);
        let differs = |x: &u32| row.get_pixel(*x, 0).0.iter().zip(bare.0).any(|(a, b)| a.abs_diff(b) > 24);
        (0..row.width()).find(differs)
    };
    let is_begun = |body: &EventBody| matches!(body, EventBody::ToolStarted { .. });
    client.events_until(is_begun).unwrap();
    let long = wait_for("the long words", LONG, || begins().filter(|x| *x < 400)).unwrap();
    client.events_until(is_begun).unwrap();
    wait_for("nothing where they were", Duration::from_secs(6), || begins().filter(|x| *x > long + 60))
        .unwrap();
}
