//! What the windows remember: where they were, the theme, earlier goals, and what the dashboard showed.

use std::fs;

use outside::fake_model::{Asked, FakeModel, MindTurn};
use outside::miki::{self, Miki};
use outside::stage::{Screen, Stage, Window};
use outside::{LONG, wait_for};
use protocol::command::{Remember, UpdateSettings};
use protocol::remembered::{Change, Theme};
use protocol::settings::SettingsPatch;
use protocol::{ErrorCode, ErrorView};
use serde_json::{Value, json};

use crate::browser::Browser;

const ENTER: &str = "\u{e007}";
const UP: &str = "\u{e013}";
const DOWN: &str = "\u{e015}";
const IS_DARK: &str = "return document.documentElement.dataset.theme === 'dark'";
const ON_SETTINGS: &str =
    "return document.querySelector('#tab-settings')?.getAttribute('aria-selected') === 'true'";
const ON_WORK: &str = "return document.querySelector('#tab-work')?.getAttribute('aria-selected') === 'true'
        && document.querySelector('textarea#goal') !== null";

/// Where a shown window is and how large.
fn place(screen: &Screen, title: &str) -> Option<(i32, i32, u32, u32)> {
    let is_it = |window: &Window| window.shown && window.title == title;
    let window = screen.windows().ok()?.into_iter().find(is_it)?;
    Some((window.x, window.y, window.width, window.height))
}

fn wait_for_place(screen: &Screen, title: &str, there: (i32, i32, u32, u32)) {
    let is_there = wait_for(title, LONG, || (place(screen, title)? == there).then_some(()));
    is_there.unwrap_or_else(|error| panic!("{error}: at {:?}, not {there:?}", place(screen, title)));
}

/// Moves a window as its user would; answers where it is then.
fn move_to(
    screen: &Screen,
    window: &Window,
    x: i32,
    y: i32,
    width: u32,
    height: u32,
) -> (i32, i32, u32, u32) {
    screen.place(window, x, y, width, height).unwrap();
    wait_for("the window in its place", LONG, || {
        let (left, top, wide, high) = place(screen, &window.title)?;
        // The frame is around it.
        let is_there = (0..60).contains(&(left - x)) && (0..60).contains(&(top - y));
        (is_there && (wide, high) == (width, height)).then_some((left, top, wide, high))
    })
    .unwrap()
}

fn goals_shown(goal: &str, is_over: bool) -> String {
    format!(
        "const goals = [...document.querySelectorAll('#steps .goal-said p')].map((goal) => goal.textContent);
        return goals.join() === '{goal}' && (document.querySelector('#steps li.end') !== null) === {is_over}"
    )
}

fn holds(text: &str) -> String {
    format!("return document.querySelector('textarea#goal').value === '{text}'")
}

async fn say(browser: &Browser, goal: &str) {
    let field = browser.find("textarea#goal").await.unwrap();
    field.send_keys(goal).await.unwrap();
    field.send_keys(ENTER).await.unwrap();
    browser.until("the run's end", &goals_shown(goal, true)).await.unwrap();
    browser.until("the empty field", &holds("")).await.unwrap();
}

async fn choose_dark(browser: &Browser) {
    let choose = "
        const list = document.querySelector('#set-theme');
        if (!list) return false;
        list.value = 'dark';
        list.dispatchEvent(new Event('change', { bubbles: true }));
        return true";
    browser.until("the choice of themes", choose).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn the_next_start_finds_the_windows_as_they_were_left() {
    let stage = Stage::full().unwrap();
    let model = FakeModel::start(|_: &Asked| MindTurn::done("it is done", true)).unwrap();
    let miki = Miki::with_model(&stage, "miki", &model.url(), json!({})).unwrap();
    let (screen, user) = (stage.screen().unwrap(), stage.user().unwrap());
    let browser = Browser::open(&stage, &miki).await.unwrap();
    let dashboard = screen.wait_for_window("the dashboard", LONG, |title| title == "Miki").unwrap();
    let there = move_to(&screen, &dashboard, 1000, 80, 880, 900);

    browser.window("dashboard").await.unwrap();
    say(&browser, "the first goal").await;
    browser.find("button#new-session").await.unwrap().click().await.unwrap();
    browser.until("an empty page", &goals_shown("", false)).await.unwrap();
    say(&browser, "the second goal").await;
    browser.click("#sessions li:last-child button.open").await.unwrap();
    browser.until("the first session", &goals_shown("the first goal", true)).await.unwrap();
    browser.find("button#tab-settings").await.unwrap().click().await.unwrap();
    choose_dark(&browser).await;
    browser.until("the theme", IS_DARK).await.unwrap();
    browser.window("chat").await.unwrap();
    browser.until("the theme in the other window", IS_DARK).await.unwrap();

    let chat = miki::open_chat(&screen, &user).unwrap();
    let chat_there = move_to(&screen, &chat, 60, 500, chat.width, chat.height);
    user.chord(&["ctrl", "shift", "space"]).unwrap();
    wait_for("the chat to hide", LONG, || place(&screen, "Miki Chat").is_none().then_some(())).unwrap();
    miki::open_chat(&screen, &user).unwrap();
    wait_for_place(&screen, "Miki Chat", chat_there);
    miki.quit().unwrap();
    drop(browser);

    let browser = Browser::open(&stage, &miki).await.unwrap();
    wait_for_place(&screen, "Miki", there);
    browser.window("dashboard").await.unwrap();
    browser.until("the theme", IS_DARK).await.unwrap();
    browser.until("the settings", ON_SETTINGS).await.unwrap();
    browser.find("button#tab-work").await.unwrap().click().await.unwrap();
    browser.until("the first session", &goals_shown("the first goal", true)).await.unwrap();
    let field = browser.find("textarea#goal").await.unwrap();
    field.send_keys("half a sentence").await.unwrap();
    for (key, text) in [
        (UP, "the second goal"),
        (UP, "the first goal"),
        (UP, "the first goal"),
        (DOWN, "the second goal"),
        (DOWN, "half a sentence"),
        (DOWN, "half a sentence"),
    ] {
        field.send_keys(key).await.unwrap();
        browser.until(text, &holds(text)).await.unwrap();
    }
    miki::open_chat(&screen, &user).unwrap();
    wait_for_place(&screen, "Miki Chat", chat_there);
}

#[test]
fn a_maximised_dashboard_comes_back_so_and_remembers_how_it_was_before() {
    let stage = Stage::full().unwrap();
    let miki = Miki::on(&stage, "miki").unwrap();
    let screen = stage.screen().unwrap();
    let find = || screen.wait_for_window("the dashboard", LONG, |title| title == "Miki").unwrap();
    let is_large = || place(&screen, "Miki").filter(|(x, _, wide, _)| *x == 0 && *wide == 1920);
    let app = miki.start(&stage, "app", &[]).unwrap();
    let there = move_to(&screen, &find(), 300, 200, 900, 600);
    let kept = || fs::read_to_string(miki.home.join("windows.json")).ok();
    let keeps = |what: &str| wait_for(what, LONG, || kept()?.contains(what).then_some(())).unwrap();
    keeps("\"width\": 900");
    screen.toggle_maximised(&find()).unwrap();
    let large = wait_for("a large dashboard", LONG, is_large).unwrap();
    keeps("\"maximised\": true");
    miki.quit().unwrap();
    drop(app);

    let _app = miki.start(&stage, "again", &[]).unwrap();
    wait_for_place(&screen, "Miki", large);
    screen.toggle_maximised(&find()).unwrap();
    wait_for_place(&screen, "Miki", there);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_broken_file_is_put_aside_and_an_old_theme_is_taken_over() {
    let stage = Stage::full().unwrap();
    let model = FakeModel::start(|_: &Asked| MindTurn::done("it is done", true)).unwrap();
    let keyless = Miki::on(&stage, "miki").unwrap();
    let miki = Miki::with_model(&stage, "miki", &model.url(), json!({ "theme": "dark" })).unwrap();
    let broken = "{\"goals\":[\"half";
    fs::write(miki.home.join("windows.json"), broken).unwrap();

    let browser = Browser::open(&stage, &keyless).await.unwrap();
    browser.window("dashboard").await.unwrap();
    browser.until("the theme of before", IS_DARK).await.unwrap();
    browser.until("the settings, for want of a key", ON_SETTINGS).await.unwrap();
    assert_eq!(fs::read_to_string(miki.home.join("windows.broken.json")).unwrap(), broken);
    let file = |name: &str| serde_json::from_slice::<Value>(&fs::read(miki.home.join(name)).ok()?).ok();
    wait_for("settings without a theme", LONG, || {
        file("settings.json")?.get("theme").is_none().then_some(())
    })
    .unwrap();
    assert_eq!(file("windows.json").unwrap()["theme"], "dark");

    // It is the windows' own: nobody else changes it.
    let mut client = miki.connect(LONG).unwrap();
    let patch = SettingsPatch([("theme".to_owned(), json!("light"))].into_iter().collect());
    let change = Change::Theme(Theme::Light);
    for (command, code) in [
        (UpdateSettings { patch }.into(), ErrorCode::BadRequest),
        (Remember { change }.into(), ErrorCode::Forbidden),
    ] {
        let error = client.call(command).unwrap_err().downcast::<ErrorView>().unwrap();
        assert_eq!(error.code, code, "{error:?}");
    }
    drop(client);
    miki.quit().unwrap();
    drop(browser);

    let browser = Browser::open(&stage, &miki).await.unwrap();
    browser.window("dashboard").await.unwrap();
    browser.until("the theme", IS_DARK).await.unwrap();
    browser.until("the work: the settings were not the user's choice", ON_WORK).await.unwrap();
}
