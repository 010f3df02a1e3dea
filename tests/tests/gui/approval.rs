//! The card that asks: focus on Deny, no yes in the first half second, and a no is a no.

use outside::LONG;
use outside::fake_model::{FakeModel, MindTurn, ScriptMind};
use outside::miki::{self, Miki};
use outside::stage::Stage;
use protocol::EventBody;
use protocol::tool::{Answer, Door, ToolErrorKind};
use serde_json::json;

use crate::browser::Browser;

/// Writes down, at each change of the page, when it was, whether a yes could be given, and what has the focus.
const WATCH: &str = "
    window.__seen = [];
    const look = () => {
        const card = document.querySelector('.approval');
        if (card) {
            const open = [...card.querySelectorAll('button.once, button.thread')].some((button) => !button.disabled);
            window.__seen.push([performance.now(), open, document.activeElement?.className ?? '']);
        }
    };
    new MutationObserver(look).observe(document.body, { subtree: true, childList: true, attributes: true });
";

#[tokio::test(flavor = "multi_thread")]
async fn a_question_has_its_focus_on_deny_and_takes_no_yes_in_the_first_half_second() {
    // bar: C30
    let stage = Stage::full().unwrap();
    let editor = stage.open_editor(None).unwrap();
    let click = MindTurn::call("", "click", json!({ "x": 200, "y": 400, "reason": "to write there" }));
    let model = FakeModel::start(ScriptMind::new([click])).unwrap();
    let miki = Miki::with_model(&stage, "miki", &model.url(), json!({ "approval": "ask" })).unwrap();
    let browser = Browser::open(&stage, &miki).await.unwrap();
    let screen = stage.screen().unwrap();
    let dashboard = screen.wait_for_window("the dashboard", LONG, |title| title == "Miki").unwrap();
    screen.place(&dashboard, 1000, 80, 880, 900).unwrap();
    let mut client = miki.connect(LONG).unwrap();
    client.subscribe().unwrap();
    browser.window("dashboard").await.unwrap();
    let field = browser.find("textarea#goal").await.unwrap();
    browser.script(WATCH).await.unwrap();
    field.send_keys("click into the editor").await.unwrap();
    browser.find("button#run").await.unwrap().click().await.unwrap();

    browser.find(".approval[data-approval] button.deny").await.unwrap();
    browser.until("a possible yes", "return window.__seen.some(([, open]) => open)").await.unwrap();
    let seen = browser.script("return window.__seen").await.unwrap();
    let seen = seen.as_array().unwrap();
    let time = |entry: &serde_json::Value| entry[0].as_f64().unwrap();
    let opened = seen.iter().find(|entry| entry[1] == true).unwrap();
    assert_eq!(seen[0][1], false, "a yes was possible at once");
    let wait = time(opened) - time(&seen[0]);
    assert!(wait >= 500.0, "a yes was possible after {wait} ms");
    assert!(opened[2].as_str().unwrap().contains("deny"), "the focus is on {}", opened[2]);

    let (witness, before) = (stage.witness().unwrap(), screen.pointer().unwrap());
    browser.find(".approval button.deny").await.unwrap().click().await.unwrap();
    let events =
        tokio::task::spawn_blocking(move || client.events_until(miki::is_end).unwrap()).await.unwrap();
    let answered = events.iter().find_map(|event| match &event.body {
        EventBody::ApprovalAnswered { answer, by, .. } => Some((*answer, *by)),
        _ => None,
    });
    assert_eq!(answered, Some((Answer::Deny, Door::Dashboard)));
    let denied = events.iter().any(|event| match &event.body {
        EventBody::ToolFinished { result, .. } => {
            result.error.as_ref().is_some_and(|e| e.kind == ToolErrorKind::Denied)
        }
        _ => false,
    });
    assert!(denied, "the run was not told");
    assert_eq!((witness.count(), screen.pointer().unwrap()), (0, before), "something was done after a no");
    browser.until("no card", "return document.querySelector('.approval') === null").await.unwrap();
    drop(editor);
}
