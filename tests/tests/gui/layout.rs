//! What lies where: the parts of a line stay whole, and none lies over another, at every width that a window may have.

use std::time::Duration;

use outside::LONG;
use outside::fake_model::{FakeModel, MindTurn, ScriptMind};
use outside::miki::Miki;
use outside::stage::Stage;
use protocol::command::{AnyCommand, RunOverrides, StartRun, UpdateSettings};
use protocol::settings::SettingsPatch;
use serde_json::json;

use crate::browser::Browser;

/// The smallest that the dashboard may be, what the demo has, what it begins with, and the whole screen.
const SIZES: [(u32, u32); 4] = [(760, 520), (880, 900), (1180, 800), (1900, 1000)];

/// What is wrong with the page, in words.
const WRONG: &str = "
    const wrong = [];
    const box = (part) => part.getBoundingClientRect();
    const name = (part) => part.id || part.className || part.textContent;
    for (const part of document.querySelectorAll('#steps .exact summary > span, .top .count, .top .activity')) {
        const range = document.createRange();
        range.selectNodeContents(part);
        const lines = new Set([...range.getClientRects()].map((line) => Math.round(line.top)));
        if (lines.size > 1) wrong.push(`${part.textContent} is broken`);
    }
    const parts = [...document.querySelectorAll('.top .status > *, .top button')]
        .filter((part) => part.checkVisibility() && box(part).width > 0);
    for (const part of parts) {
        if (box(part).right > innerWidth || part.tagName === 'BUTTON' && part.scrollWidth > part.clientWidth) {
            wrong.push(`${name(part)} is cut`);
        }
        for (const other of parts) {
            const [one, two] = [box(part), box(other)];
            const apart = one.right <= two.left || two.right <= one.left || one.bottom <= two.top || two.bottom <= one.top;
            if (part !== other && !apart) wrong.push(`${name(part)} lies over ${name(other)}`);
        }
    }
    const detail = document.querySelector('.top .detail');
    if (detail.clientWidth < 100 && detail.scrollWidth > detail.clientWidth) wrong.push('the detail has no room');
    if (detail.title !== detail.textContent || detail.title === '') wrong.push('the detail cannot be read whole');
    return wrong";

#[tokio::test(flavor = "multi_thread")]
async fn footers_and_header_keep_their_parts_whole_and_apart_at_every_width_in_both_languages() {
    let stage = Stage::full().unwrap();
    let editor = stage.open_editor(None).unwrap();
    let click = MindTurn::call("", "click", json!({ "x": 200, "y": 400, "reason": "to write there" }));
    let model = FakeModel::start(ScriptMind::new([click, silent(), silent()])).unwrap();
    let miki = Miki::with_model(&stage, "miki", &model.url(), json!({ "approval": "ask" })).unwrap();
    let browser = Browser::open(&stage, &miki).await.unwrap();
    let screen = stage.screen().unwrap();
    let dashboard = screen.wait_for_window("the dashboard", LONG, |title| title == "Miki").unwrap();
    let mut client = miki.connect(LONG).unwrap();
    browser.window("dashboard").await.unwrap();
    let start = |goal: &str| {
        AnyCommand::from(StartRun { goal: goal.into(), session: None, overrides: RunOverrides::default() })
    };
    browser.find("textarea#goal").await.unwrap();
    client.call(start("click into the editor")).unwrap();
    let allowed = "return document.querySelector('.approval button.once')?.disabled === false";
    browser.until("a possible yes", allowed).await.unwrap();
    browser.find(".approval button.once").await.unwrap().click().await.unwrap();
    let clicked = "return document.querySelector('#steps li.step[data-tool=click] .picture') !== null
        && document.querySelector('#status').dataset.activity === 'working'";
    browser.until("the click, and the next turn", clicked).await.unwrap();
    client.call(start("another")).unwrap();
    browser.until("Stop all", "return document.querySelector('#stop-all').checkVisibility()").await.unwrap();

    for language in ["english", "japanese"] {
        let patch = SettingsPatch(json!({ "language": language }).as_object().unwrap().clone());
        client.call(AnyCommand::UpdateSettings(UpdateSettings { patch })).unwrap();
        let code = &language[..2];
        let said = format!("return document.documentElement.lang === '{code}'");
        browser.until("the language", &said).await.unwrap();
        for (width, height) in SIZES {
            screen.place(&dashboard, 10, 30, width, height).unwrap();
            let sized = format!("return innerWidth === {width} && innerHeight === {height}");
            browser.until("the size", &sized).await.unwrap();
            let wrong = browser.script(WRONG).await.unwrap();
            assert_eq!(wrong, json!([]), "at {width}x{height} in {language}");
        }
    }
    drop(editor);
}

fn silent() -> MindTurn {
    MindTurn { pause: Duration::from_secs(600), ..MindTurn::default() }
}
