//! The card of a plan: all that it names, what is struck out stays out, and what came of it stands at the run's end.

use outside::LONG;
use outside::fake_model::{FakeModel, MindTurn, ScriptMind};
use outside::miki::{self, Miki};
use outside::stage::Stage;
use protocol::EventBody;
use protocol::command::{RunOverrides, StartRun, StartedRun};
use protocol::event::RunEnd;
use protocol::tool::Answer;
use serde_json::json;

use crate::browser::{self, Browser};

#[tokio::test(flavor = "multi_thread")]
async fn a_plan_is_shown_whole_and_allowed_as_its_user_leaves_it() {
    let stage = Stage::full().unwrap();
    let plan = json!({
        "steps": ["Open the letter and read it", "Write the answer\u{202e}below it", "Save it"],
        "applications": ["Mousepad", "Thunderbird"],
        "hosts": ["example.org"],
        "folders": ["~/Documents/letters"],
        "effects": ["edit", "browse", "send"],
        "budget": { "turns": 20 },
        "checks": [
            { "check": "window", "application": "Mousepad", "title": "letter" },
            { "check": "askUser", "question": "Is the answer what you meant?" },
        ],
    });
    let _editor = stage.open_editor(None).unwrap();
    let turns = [MindTurn::call("", "plan", plan), MindTurn::call("", "type", json!({ "text": "Dear Ada" }))];
    let model = FakeModel::start(ScriptMind::new(turns)).unwrap();
    let miki = Miki::with_model(&stage, "miki", &model.url(), json!({ "approval": "ask" })).unwrap();
    let browser = Browser::open(&stage, &miki).await.unwrap();
    let screen = stage.screen().unwrap();
    let dashboard = screen.wait_for_window("the dashboard", LONG, |title| title == "Miki").unwrap();
    screen.place(&dashboard, 100, 80, 760, 520).unwrap();
    let mut client = miki.connect(LONG).unwrap();
    client.subscribe().unwrap();
    browser.window("dashboard").await.unwrap();
    let start = StartRun { goal: "answer it".into(), session: None, overrides: RunOverrides::default() };
    let run: StartedRun = serde_json::from_value(client.call(start.into()).unwrap()).unwrap();
    browser.find(".approval .terms").await.unwrap();
    // From the title to the answers, in the smallest window, too.
    let whole = "
        const [cards, title, answers] = ['.approvals', '.approval h3', '.approval footer']
            .map((part) => document.querySelector(part).getBoundingClientRect());
        return innerHeight === 520 && cards.top <= title.top && answers.bottom <= cards.bottom + 1";
    browser.until("the whole card", whole).await.unwrap();
    let terms =
        "return [...document.querySelectorAll('.approval .term > span')].map((term) => term.textContent)";
    assert_eq!(
        browser.script(terms).await.unwrap(),
        json!([
            "Mousepad",
            "Thunderbird",
            "example.org",
            "change things",
            "browse and enter text",
            "send",
            "Mousepad has a window titled “letter”",
            "you say yes to: Is the answer what you meant?",
            "~/Documents/letters",
        ])
    );
    let step = "return document.querySelectorAll('.plan-steps li')[1].textContent";
    assert_eq!(browser.script(step).await.unwrap(), json!("Write the answerbelow it"), "nothing turns about");
    let open = "return document.querySelector('.approval button.once')?.disabled === false";
    browser.until("a possible yes", open).await.unwrap();
    for what in [
        "Thunderbird",
        "example.org",
        "send",
        "browse and enter text",
        "Mousepad has a window titled “letter”",
    ] {
        let strike = format!(
            "[...document.querySelectorAll('.approval .term')]
                .find((term) => term.querySelector('span').textContent === {what:?}).querySelector('button').click()"
        );
        browser.script(&strike).await.unwrap();
    }
    // One is put back, and one bound is set.
    browser
        .script(
            "[...document.querySelectorAll('.approval .term.struck')]
                .find((term) => term.textContent.includes('example.org')).querySelector('button').click();
             const minutes = document.querySelectorAll('.approval .bounds input')[1];
             minutes.value = '15';
             minutes.dispatchEvent(new Event('input', { bubbles: true }))",
        )
        .await
        .unwrap();
    // What is no bound takes none away, neither whole nor on the way to it.
    let turns = browser.find(".approval .bounds input").await.unwrap();
    turns.send_keys("\u{e003}\u{e003}-3").await.unwrap();
    let refused = "const turns = document.querySelector('.approval .bounds input');
         return turns.value === '-3' && turns.getAttribute('aria-invalid') === 'true'";
    browser.until("a bound that is none", refused).await.unwrap();
    let rest =
        "return document.querySelector('.approval button.once').textContent.trim() === 'Show the rest'";
    browser.until("a plan that is not read to its end", rest).await.unwrap();
    browser.script(browser::READ_TO_END).await.unwrap();
    let changed =
        "return document.querySelector('.approval button.once').textContent.trim() === 'Allow as changed'";
    browser.until("what is allowed now", changed).await.unwrap();
    // Whoever answers has the dashboard in front.
    screen.activate(&dashboard).unwrap();
    browser.find(".approval button.once").await.unwrap().click().await.unwrap();
    let asks = "return document.querySelector('.approval h3')?.textContent === 'Is it done?'";
    browser.until("the plan's own question", asks).await.unwrap();
    browser.until("a possible yes", open).await.unwrap();
    browser.find(".approval button.once").await.unwrap().click().await.unwrap();
    let events =
        tokio::task::spawn_blocking(move || client.events_until(miki::is_end).unwrap()).await.unwrap();
    let asked = events.iter().filter_map(|event| match &event.body {
        EventBody::ApprovalRequested { approval } => {
            Some((approval.call.tool.as_str(), approval.reason.as_str()))
        }
        _ => None,
    });
    let asked: Vec<_> = asked.collect();
    println!("asked {asked:?}");
    assert_eq!(
        asked.iter().map(|(tool, _)| *tool).collect::<Vec<_>>(),
        ["plan", "done"],
        "what the plan has"
    );
    let edited = events.iter().find_map(|event| match &event.body {
        EventBody::ApprovalAnswered { answer: Answer::Edit { arguments }, .. } => Some(arguments.clone()),
        _ => None,
    });
    assert_eq!(
        edited.unwrap(),
        json!({
            "steps": ["Open the letter and read it", "Write the answerbelow it", "Save it"],
            "applications": ["Mousepad"],
            "folders": ["~/Documents/letters"],
            "hosts": ["example.org"],
            "effects": ["edit"],
            "budget": { "turns": 20, "minutes": 15 },
            "checks": [{ "check": "askUser", "question": "Is the answer what you meant?" }],
        })
    );
    assert!(matches!(miki::end(&events), Some(RunEnd::Completed { .. })), "{events:#?}");
    let report = format!(
        "return document.querySelector('#sessions li[data-session=\"{}\"]') !== null
            && document.querySelector('#steps .end .report .finding')?.dataset.passed === 'yes'",
        run.session
    );
    browser.until("the report", &report).await.unwrap();
}
