//! From a goal in the chat widget to a file, with the dashboard showing the steps.

use outside::fake_model::{FakeModel, HAIKU, HaikuMind};
use outside::miki::{self, GOAL, Miki, check_file};
use outside::stage::{Stage, Window};
use outside::{LONG, wait_for};
use protocol::event::RunEnd;
use serde_json::json;

use crate::browser::Browser;

/// Lazy pictures load when they come into view.
const PICTURES_ARE_SHOWN: &str = "
    const pictures = [...document.querySelectorAll('#steps li.step img')];
    pictures.forEach((picture) => picture.scrollIntoView());
    return pictures.length >= 3 && pictures.every((picture) => picture.complete && picture.naturalWidth > 0);
";

/// Opens the session as soon as it is listed, as its user would; then the most steps that were shown while the run was at
/// work.
const WATCH: &str = "
    window.__live = 0;
    let opened = false;
    new MutationObserver(() => {
        const line = document.querySelector('#sessions li button.open');
        if (line && !opened) {
            opened = true;
            line.click();
        }
        if (document.querySelector('#status')?.dataset.activity === 'working') {
            window.__live = Math.max(window.__live, document.querySelectorAll('ol#steps li.step').length);
        }
    }).observe(document.body, { subtree: true, childList: true, attributes: true });
";

#[tokio::test(flavor = "multi_thread")]
async fn a_goal_typed_into_the_chat_widget_is_done_and_the_dashboard_shows_the_steps() {
    let stage = Stage::full().unwrap();
    let editor = stage.open_editor(None).unwrap();
    let model = FakeModel::start(HaikuMind::default()).unwrap();
    let miki = Miki::with_model(&stage, "miki", &model.url(), json!({})).unwrap();
    let browser = Browser::open(&stage, &miki).await.unwrap();
    let (screen, user) = (stage.screen().unwrap(), stage.user().unwrap());
    let dashboard = screen.wait_for_window("the dashboard", LONG, |title| title == "Miki").unwrap();
    screen.place(&dashboard, 1000, 80, 880, 900).unwrap();
    screen.activate(&editor.window).unwrap();

    browser.window("dashboard").await.unwrap();
    browser.script(WATCH).await.unwrap();
    browser.window("chat").await.unwrap();
    let field = browser.find("textarea#goal").await.unwrap();
    let chat = miki::open_chat(&screen, &user).unwrap();
    let mut client = miki.connect(LONG).unwrap();
    client.subscribe().unwrap();
    field.send_keys(GOAL).await.unwrap();
    // Out of the way of the editor, as its user would drag it.
    screen.place(&chat, 60, 840, 640, 220).unwrap();
    field.send_keys("\u{e007}").await.unwrap();

    // No look through the driver before the end: switching to a window gives it the focus, which the agent needs.
    let events =
        tokio::task::spawn_blocking(move || client.events_until(miki::is_end).unwrap()).await.unwrap();
    assert!(matches!(miki::end(&events), Some(RunEnd::Completed { .. })), "{:?}", miki::end(&events));

    browser.window("dashboard").await.unwrap();
    let done =
        "return document.querySelector('ol#steps li.step[data-tool=done][data-effect=confirmed]') !== null";
    browser.until("the end", done).await.unwrap();
    let live = browser.script("return window.__live").await.unwrap();
    assert!(live.as_u64().unwrap() >= 5, "the dashboard showed {live} steps while they were done");
    browser.until("pictures", PICTURES_ARE_SHOWN).await.unwrap();
    browser
        .until("idle", "return document.querySelector('#status').dataset.activity === 'idle'")
        .await
        .unwrap();
    check_file(&stage.work().join("haiku.txt"), HAIKU).unwrap();
    let steps = browser
        .script("return [...document.querySelectorAll('ol#steps li.step')].map((step) => step.dataset.tool)")
        .await
        .unwrap();
    assert_eq!(
        steps.as_array().unwrap()[..4],
        [json!("elementsJson"), json!("click"), json!("type"), json!("hotkey")]
    );
    let sessions = "return document.querySelectorAll('#sessions li[data-session]').length === 1";
    browser.until("the session in the list", sessions).await.unwrap();
    let words = "return [...document.querySelectorAll('#steps li.step[data-tool=done] .result')].length";
    assert_eq!(browser.script(words).await.unwrap(), json!(0), "the end says it");

    // From the chat to the whole of its session.
    browser.find("button#new-session").await.unwrap().click().await.unwrap();
    browser
        .until("an empty page", "return document.querySelector('#steps').children.length === 0")
        .await
        .unwrap();
    browser.window("chat").await.unwrap();
    browser.find("button#open-dashboard").await.unwrap().click().await.unwrap();
    let hidden = || {
        let is_it = |window: &Window| window.shown && window.title == "Miki Chat";
        (!screen.windows().ok()?.iter().any(is_it)).then_some(())
    };
    wait_for("the chat to go away", LONG, hidden).unwrap();
    browser.window("dashboard").await.unwrap();
    let shown = "return document.querySelector('#steps .goal-said') !== null";
    browser.until("the chat's session", shown).await.unwrap();
}
