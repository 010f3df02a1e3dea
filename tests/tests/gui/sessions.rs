//! Sessions beside each other: what is typed in one goes to no other.

use std::time::Duration;

use outside::LONG;
use outside::fake_model::{Asked, FakeModel, MindTurn};
use outside::miki::Miki;
use outside::stage::Stage;
use protocol::EventBody;
use protocol::command::{AnyCommand, UpdateSettings};
use protocol::settings::SettingsPatch;
use serde_json::json;

use crate::browser::Browser;

const ENTER: &str = "\u{e007}";
const WORKS: &str = "return document.querySelector('#status').dataset.activity === 'working'";

#[tokio::test(flavor = "multi_thread")]
async fn a_goal_typed_in_a_new_session_is_not_said_to_the_run_of_another() {
    let stage = Stage::full().unwrap();
    let silent = |_: &Asked| MindTurn { pause: Duration::from_secs(600), ..MindTurn::default() };
    let model = FakeModel::start(silent).unwrap();
    let miki = Miki::with_model(&stage, "miki", &model.url(), json!({})).unwrap();
    let browser = Browser::open(&stage, &miki).await.unwrap();
    let mut client = miki.connect(LONG).unwrap();
    client.subscribe().unwrap();
    browser.window("dashboard").await.unwrap();
    let field = browser.find("textarea#goal").await.unwrap();
    field.send_keys("take your time").await.unwrap();
    field.send_keys(ENTER).await.unwrap();
    browser.until("the run", WORKS).await.unwrap();

    browser.find("button#new-session").await.unwrap().click().await.unwrap();
    let empty = "return document.querySelector('#steps').children.length === 0";
    browser.until("an empty page", empty).await.unwrap();
    // No run can begin with a model that has no key: this one is refused whatever else is at work.
    let patch = json!({ "model": "anthropic/claude-haiku-5-5" });
    let patch = SettingsPatch(patch.as_object().unwrap().clone());
    client.call(AnyCommand::UpdateSettings(UpdateSettings { patch })).unwrap();
    field.send_keys("something else").await.unwrap();
    field.send_keys(ENTER).await.unwrap();
    let refused = "
        const said = document.querySelector('.error-line p');
        return said !== null && said.textContent.trim().length > 10
            && document.querySelector('textarea#goal').value === 'something else'
            && document.querySelector('#steps').children.length === 0";
    browser.until("the refusal, with the words still there", refused).await.unwrap();

    // Back where the run is at work, words are said to it.
    browser.find("#sessions li button").await.unwrap().click().await.unwrap();
    let shown = "return document.querySelectorAll('#steps .goal-said').length === 1";
    browser.until("the run's session", shown).await.unwrap();
    field.send_keys(" to you").await.unwrap();
    field.send_keys(ENTER).await.unwrap();
    let said = |body: &EventBody| matches!(body, EventBody::RunSteered { .. });
    let events = tokio::task::spawn_blocking(move || client.events_until(said).unwrap()).await.unwrap();
    let body = events.last().map(|event| event.body.clone());
    assert_eq!(body, Some(EventBody::RunSteered { text: "something else to you".into() }));
    let emptied = "return document.querySelector('textarea#goal').value === ''";
    browser.until("the empty field", emptied).await.unwrap();
}
