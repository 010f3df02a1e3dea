//! A model that its provider does not know: the windows offer others, and one click goes on with one of them.

use outside::LONG;
use outside::fake_model::{FakeModel, MindTurn, ScriptMind};
use outside::miki::{self, Miki};
use outside::stage::Stage;
use protocol::event::RunEnd;
use protocol::{Event, EventBody};
use serde_json::json;

use crate::browser::Browser;

const HAS: [&str; 2] = ["gemini-9.9-flash", "gemini-3-flash-preview"];
const OFFERED: [&str; 2] = ["gemini/gemini-9.9-flash", "gemini/gemini-3-flash-preview"];
const GOAL: &str = "be done";

/// The offered models in a window, in order.
fn are_offered(within: &str) -> String {
    format!(
        "return JSON.stringify([...document.querySelectorAll('{within} .suggestions button')]
            .map((button) => button.dataset.model)) === '{}'",
        json!(OFFERED)
    )
}

#[tokio::test(flavor = "multi_thread")]
async fn a_click_on_an_offered_model_sets_it_and_goes_on_with_the_goal() {
    let stage = Stage::full().unwrap();
    let model = FakeModel::start(ScriptMind::new([])).unwrap();
    model.knows_only(&HAS);
    let settings = json!({ "model": "gemini/gemini-9.9-flsh" });
    let miki = Miki::with_model(&stage, "miki", &model.url(), settings).unwrap();
    let browser = Browser::open(&stage, &miki).await.unwrap();
    let mut client = miki.connect(LONG).unwrap();
    client.subscribe().unwrap();
    browser.window("dashboard").await.unwrap();
    let field = browser.find("textarea#goal").await.unwrap();
    field.send_keys(GOAL).await.unwrap();
    field.send_keys("\u{e007}").await.unwrap();
    browser.until("the offer", &are_offered("#steps li.end[data-outcome=failed]")).await.unwrap();
    let words = "return document.querySelector('.suggestions button').textContent";
    assert_eq!(browser.script(words).await.unwrap(), json!("Use gemini/gemini-9.9-flash and go on"));
    // The chat widget, which has a page of its own, offers the same for its own failure.
    browser.window("chat").await.unwrap();
    let field = browser.find("textarea#goal").await.unwrap();
    field.send_keys("something else").await.unwrap();
    field.send_keys("\u{e007}").await.unwrap();
    browser.until("the offer in the chat widget", &are_offered(".lines li.end")).await.unwrap();

    // By the keyboard: the second of them.
    browser.window("dashboard").await.unwrap();
    let focus = "document.querySelectorAll('#steps .suggestions button')[1].focus()";
    browser.script(focus).await.unwrap();
    browser.client.active_element().await.unwrap().send_keys("\u{e007}").await.unwrap();
    let done = "return document.querySelector('#steps li.end[data-outcome=completed]') !== null";
    browser.until("the end", done).await.unwrap();
    let left = "return document.querySelectorAll('.suggestions').length";
    assert_eq!(browser.script(left).await.unwrap(), json!(0), "the offer outlives its failure");
    let asked = "return [...document.querySelectorAll('#steps li.goal-said')].map((goal) => goal.innerText)";
    let asked = browser.script(asked).await.unwrap();
    for (said, id) in asked.as_array().unwrap().iter().zip(["gemini/gemini-9.9-flsh", OFFERED[1]]) {
        assert!(said.as_str().unwrap().contains(GOAL) && said.as_str().unwrap().contains(id), "{asked}");
    }

    let end = |body: &EventBody| matches!(body, EventBody::RunEnded { end: RunEnd::Completed { .. } });
    let events: Vec<Event> =
        tokio::task::spawn_blocking(move || client.events_until(end).unwrap()).await.unwrap();
    let runs: Vec<_> = events
        .iter()
        .filter_map(|event| match &event.body {
            EventBody::RunStarted(spec) => {
                Some((event.scope.session.clone(), spec.goal.as_str(), spec.model.0.as_str()))
            }
            _ => None,
        })
        .filter(|(_, goal, _)| *goal == GOAL)
        .collect();
    let session = runs[0].0.clone();
    assert_eq!(runs, [(session.clone(), GOAL, "gemini/gemini-9.9-flsh"), (session, GOAL, OFFERED[1])]);
    assert!(matches!(miki::end(&events), Some(RunEnd::Completed { .. })));
    assert_eq!(model.turns().pop().unwrap().model, HAS[1]);
    let set = std::fs::read_to_string(miki.home.join("settings.json")).unwrap();
    assert!(set.contains(OFFERED[1]), "{set}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_settings_test_of_an_unknown_model_offers_others_to_be_set() {
    let stage = Stage::full().unwrap();
    let seen = MindTurn::call("", "report", json!({ "colour": "red" }));
    let model = FakeModel::start(ScriptMind::new([seen])).unwrap();
    model.knows_only(&HAS);
    let settings = json!({ "model": "gemini/gemini-9.9-flsh" });
    let miki = Miki::with_model(&stage, "miki", &model.url(), settings).unwrap();
    let browser = Browser::open(&stage, &miki).await.unwrap();
    browser.window("dashboard").await.unwrap();
    browser.find("button#tab-settings").await.unwrap().click().await.unwrap();
    browser.find("button#test-model").await.unwrap().click().await.unwrap();
    browser.until("the offer", &are_offered("#models")).await.unwrap();
    browser.find("#models .suggestions button").await.unwrap().click().await.unwrap();
    let set = format!(
        "return document.querySelector('#set-model').value === '{}'
            && document.querySelector('#models .suggestions') === null
            && document.activeElement.id === 'test-model'",
        OFFERED[0]
    );
    browser.until("the choice", &set).await.unwrap();
    browser.find("button#test-model").await.unwrap().click().await.unwrap();
    let tried = "return document.querySelector('#trial').textContent.includes('tools work')";
    browser.until("the trial", tried).await.unwrap();
}
