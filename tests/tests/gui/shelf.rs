//! What can be done with sessions in their list: found by words, renamed, pinned, archived, branched, exported, deleted and
//! had back.

use std::fs;

use outside::LONG;
use outside::fake_model::{Asked, FakeModel, MindTurn};
use outside::miki::{Client, Miki};
use outside::stage::Stage;
use protocol::EventBody;
use protocol::command::{RunOverrides, StartRun, StartedRun};
use serde_json::json;

use crate::browser::Browser;

/// Of the buttons of a session's tools, in their order.
const PIN: usize = 0;
const RENAME: usize = 1;
const ARCHIVE: usize = 2;
const BRANCH: usize = 3;
const EXPORT_HTML: usize = 4;
const DELETE: usize = 7;

async fn run_to_its_end(miki: &Miki, goal: &str) -> StartedRun {
    let mut client: Client = miki.connect(LONG).unwrap();
    client.subscribe().unwrap();
    let start = StartRun { goal: goal.into(), session: None, overrides: RunOverrides::default() };
    let run = serde_json::from_value(client.call(start.into()).unwrap()).unwrap();
    tokio::task::spawn_blocking(move || {
        client.events_until(|body| matches!(body, EventBody::RunEnded { .. })).unwrap();
    })
    .await
    .unwrap();
    run
}

/// Opens the tools of the session and presses one of them.
async fn press(browser: &Browser, run: &StartedRun, tool: usize) {
    let line = format!("#sessions li[data-session='{}']", run.session.0);
    browser.click(&format!("{line} button.more")).await.unwrap();
    browser.click(&format!("{line} .session-tools button:nth-child({})", tool + 1)).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_is_found_renamed_pinned_archived_branched_exported_deleted_and_had_back() {
    let stage = Stage::full().unwrap();
    let says = |_: &Asked| MindTurn::done("the invoice of the pond is paid", true);
    let model = FakeModel::start(says).unwrap();
    let miki = Miki::with_model(&stage, "miki", &model.url(), json!({})).unwrap();
    let browser = Browser::open(&stage, &miki).await.unwrap();
    browser.window("dashboard").await.unwrap();
    browser.find("textarea#goal").await.unwrap();
    let carp = run_to_its_end(&miki, "feed the carp").await;
    let pike = run_to_its_end(&miki, "feed the pike").await;
    let titles =
        "[...document.querySelectorAll('#sessions .title')].map((title) => title.textContent).join()";
    let are = |wanted: &str| format!("return {titles} === '{wanted}'");
    browser.until("both", &are("feed the pike,feed the carp")).await.unwrap();

    let search = browser.find("#find-session").await.unwrap();
    search.send_keys("carp").await.unwrap();
    let found = "return [...document.querySelectorAll('#found li mark')].map((mark) => mark.textContent).join() === 'carp'";
    browser.until("what is looked for, marked", found).await.unwrap();
    browser.click("#found li button.open").await.unwrap();
    let shown = "return document.querySelector('#steps .goal-said p')?.textContent === 'feed the carp'";
    browser.until("the session that was found", shown).await.unwrap();
    search.send_keys("\u{e00c}").await.unwrap();
    browser.until("the list again", &are("feed the pike,feed the carp")).await.unwrap();

    press(&browser, &carp, PIN).await;
    browser.until("the pinned one first", &are("feed the carp,feed the pike")).await.unwrap();
    press(&browser, &carp, RENAME).await;
    let rename = "
        const field = document.querySelector('input.rename');
        if (field === null) return false;
        field.value = 'The carp';
        field.dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter', bubbles: true }));
        return true;";
    browser.until("the field of its name", rename).await.unwrap();
    browser.until("its new name", &are("The carp,feed the pike")).await.unwrap();

    press(&browser, &pike, ARCHIVE).await;
    browser.until("one in the list", &are("The carp")).await.unwrap();
    browser.click("#show-archived").await.unwrap();
    browser.click("#archived li button.quiet").await.unwrap();
    browser.click("#show-archived").await.unwrap();
    browser.until("both again", &are("The carp,feed the pike")).await.unwrap();

    press(&browser, &pike, BRANCH).await;
    let branched = "return document.querySelectorAll('#sessions li').length === 3
        && document.querySelector('#steps .goal-said p')?.textContent === 'feed the pike'";
    browser.until("the branch, shown", branched).await.unwrap();

    press(&browser, &carp, EXPORT_HTML).await;
    let toast = "document.querySelector('.toast p')?.textContent";
    browser.until("where it is", &format!("return {toast}?.includes('.html') === true")).await.unwrap();
    let toast = browser.script(&format!("return {toast}")).await.unwrap();
    let file = toast.as_str().unwrap().split_once(": ").unwrap().1.trim().to_owned();
    let page = fs::read_to_string(&file).unwrap();
    assert!(page.contains("feed the carp") && page.contains("the invoice of the pond is paid"), "{file}");

    press(&browser, &carp, DELETE).await;
    let gone = format!("return !{titles}.includes('The carp')");
    browser.until("one less", &gone).await.unwrap();
    browser.click(".toast button").await.unwrap();
    let back = format!("return {titles}.includes('The carp')");
    browser.until("the deleted one", &back).await.unwrap();
}
