//! The card that asks: focus on Deny, no yes in the first half second, a no is a no, and any session's page can say it.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use outside::fake_model::{FakeModel, MindTurn, ScriptMind};
use outside::miki::{self, Miki};
use outside::notifications::{NotificationEvent, Notifications};
use outside::stage::Stage;
use outside::{LONG, wait_for};
use protocol::EventBody;
use protocol::command::{AnswerApproval, RunOverrides, StartRun, StartedRun};
use protocol::event::RunEnd;
use protocol::principal::Surface;
use protocol::tool::{Answer, Effect, ToolErrorKind};
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

/// The first notification, once it is there.
fn shown(notifications: &Notifications) -> (u32, String, String) {
    let first = || match notifications.told().first().cloned()? {
        NotificationEvent::Shown { id, title, body } => Some((id, title, body)),
        NotificationEvent::Closed { .. } => None,
    };
    wait_for("the notification", LONG, first).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_question_has_its_focus_on_deny_and_takes_no_yes_in_the_first_half_second() {
    // bar: C30
    let stage = Stage::full().unwrap();
    let editor = stage.open_editor(None).unwrap();
    let click = MindTurn::call("", "click", json!({ "x": 200, "y": 400, "reason": "to write there" }));
    let model = FakeModel::start(ScriptMind::new([click])).unwrap();
    let miki = Miki::with_model(&stage, "miki", &model.url(), json!({ "approval": "ask" })).unwrap();
    let notifications = Notifications::on(&stage).await.unwrap();
    let browser = Browser::open(&stage, &miki).await.unwrap();
    let screen = stage.screen().unwrap();
    let dashboard = screen.wait_for_window("the dashboard", LONG, |title| title == "Miki").unwrap();
    // Partly below the editor, once that is in front.
    screen.place(&dashboard, editor.window.x + 100, 80, 880, 900).unwrap();
    let mut client = miki.connect(LONG).unwrap();
    client.subscribe().unwrap();
    browser.window("dashboard").await.unwrap();
    let field = browser.find("textarea#goal").await.unwrap();
    browser.script(WATCH).await.unwrap();
    field.send_keys("click into the editor").await.unwrap();
    screen.activate(&editor.window).unwrap();
    browser.script("document.querySelector('button#run').click()").await.unwrap();

    browser.find(".approval[data-approval] button.deny").await.unwrap();
    let above = || screen.is_above(&dashboard, &editor.window).ok()?.then_some(());
    wait_for("the dashboard with its question above the editor", LONG, above).unwrap();
    assert_eq!(screen.active().unwrap(), editor.window.id, "the question took the keyboard");
    let there =
        browser.script("return document.querySelector('.approval .there').textContent").await.unwrap();
    let there = there.as_str().unwrap();
    assert!(there.contains("text") && there.contains(&editor.window.title), "what is at the point: {there}");
    let prose = "
        const parts = document.querySelectorAll('.approval > :not(.asked), .approval .asked > :not(.whole)');
        return [...parts].map((part) => part.textContent).join(' ')";
    let prose = browser.script(prose).await.unwrap();
    let said = prose.as_str().unwrap().matches("to write there").count();
    assert_eq!(said, 1, "the model's reason is on the card {said} times: {prose}");
    browser.until("a possible yes", "return window.__seen.some(([, open]) => open)").await.unwrap();
    let seen = browser.script("return window.__seen").await.unwrap();
    let seen = seen.as_array().unwrap();
    let time = |entry: &serde_json::Value| entry[0].as_f64().unwrap();
    let opened = seen.iter().find(|entry| entry[1] == true).unwrap();
    assert_eq!(seen[0][1], false, "a yes was possible at once");
    let wait = time(opened) - time(&seen[0]);
    assert!(wait >= 500.0, "a yes was possible after {wait} ms");
    assert!(opened[2].as_str().unwrap().contains("deny"), "the focus is on {}", opened[2]);

    let picture = "
        const image = document.querySelector('.approval button.picture img');
        return image !== null && image.complete && image.naturalWidth === 480 && image.naturalHeight === 270
            && image.alt.includes('click')";
    browser.until("the picture of what would be clicked", picture).await.unwrap();
    let large = |is_open: bool| {
        format!(
            "return (document.querySelector('dialog.large[open] img[src^=picture]') !== null) === {is_open}"
        )
    };
    browser.script("document.querySelector('.approval button.picture').click()").await.unwrap();
    browser.until("it, enlarged", &large(true)).await.unwrap();
    browser.script("document.querySelector('dialog.large[open]').click()").await.unwrap();
    browser.until("the card again", &large(false)).await.unwrap();

    // Words that begin as a question comes are nobody's answer, with their spaces.
    browser.find(".approval button.deny").await.unwrap().send_keys("and so on").await.unwrap();
    browser
        .until("the words in the field", "return document.querySelector('#goal').value === 'and so on'")
        .await
        .unwrap();

    // A click on its notification leads to it, and answers nothing.
    notifications.click(shown(&notifications).0).await.unwrap();
    let in_front = || (screen.active().ok()? == dashboard.id).then_some(());
    wait_for("the dashboard, with the keyboard", LONG, in_front).unwrap();

    let (witness, before) = (stage.witness().unwrap(), screen.pointer().unwrap());
    browser.find(".approval button.deny").await.unwrap().click().await.unwrap();
    let events =
        tokio::task::spawn_blocking(move || client.events_until(miki::is_end).unwrap()).await.unwrap();
    let answered = events.iter().find_map(|event| match &event.body {
        EventBody::ApprovalAnswered { answer, by, .. } => Some((answer.clone(), *by)),
        _ => None,
    });
    assert_eq!(answered, Some((Answer::Deny, Surface::Dashboard)));
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

#[tokio::test(flavor = "multi_thread")]
async fn a_question_of_a_session_that_is_not_shown_is_answered_from_the_page_of_another() {
    let stage = Stage::full().unwrap();
    let editor = stage.open_editor(None).unwrap();
    let typing = MindTurn::call("", "type", json!({ "text": "hello", "reason": "to greet" }));
    let click = MindTurn::call("", "click", json!({ "x": 210, "y": 400, "reason": "to write there" }));
    let save = json!({ "tool": "hotkey", "arguments": { "keys": ["ctrl", "s"] } });
    let write = json!({ "tool": "type", "arguments": { "text": "hello" } });
    let both = MindTurn::call("", "batch", json!({ "actions": [write, save] }));
    let model = FakeModel::start(ScriptMind::new([typing, click, both])).unwrap();
    let miki = Miki::with_model(&stage, "miki", &model.url(), json!({ "approval": "thread" })).unwrap();
    let notifications = Notifications::on(&stage).await.unwrap();
    let browser = Browser::open(&stage, &miki).await.unwrap();
    let screen = stage.screen().unwrap();
    let dashboard = screen.wait_for_window("the dashboard", LONG, |title| title == "Miki").unwrap();
    screen.place(&dashboard, 1000, 80, 880, 900).unwrap();
    let mut client = miki.connect(LONG).unwrap();
    client.subscribe().unwrap();
    browser.window("dashboard").await.unwrap();
    let field = browser.find("textarea#goal").await.unwrap();
    field.send_keys("half a sentence").await.unwrap();
    screen.activate(&editor.window).unwrap();

    let goal = "click into the editor";
    let start = StartRun { goal: goal.into(), session: None, overrides: RunOverrides::default() };
    let run: StartedRun = serde_json::from_value(client.call(start.into()).unwrap()).unwrap();
    let card = format!(".approval[data-session='{}']", run.session);
    browser.find(&format!("{card} button.deny")).await.unwrap();
    let words = "return [document.querySelector('.approval .asker .link').textContent,
        document.querySelector('.approval .goes-to').textContent,
        document.activeElement.id, document.querySelector('#steps').children.length]";
    let words = browser.script(words).await.unwrap();
    assert_eq!((&words[0], &words[2], &words[3]), (&json!(goal), &json!("goal"), &json!(0)), "{words}");
    assert!(words[1].as_str().unwrap().contains(&editor.window.title), "{words}");
    let listed = format!(
        "return document.querySelector('#sessions li[data-session=\"{}\"][data-state=asking] .marks').textContent",
        run.session
    );
    assert_eq!(browser.script(&listed).await.unwrap(), json!("1 question"));
    // Beside a question, a window is not ready and nothing else.
    let says = "const status = document.querySelector('#status');
        return status.dataset.activity === 'waiting'
            && status.querySelector('.activity').textContent === '1 question waits'";
    browser.until("the question in the dashboard's line", says).await.unwrap();
    browser.window("chat").await.unwrap();
    browser.until("the question in the chat's line", says).await.unwrap();
    let goal = "return document.querySelector('.approval') !== null && document.querySelector('#goal').checkVisibility()";
    browser.until("the goal field beside the question", goal).await.unwrap();
    browser.window("dashboard").await.unwrap();
    // Its user is in the editor: the system tells of it, and takes it back with its answer.
    let (id, title, body) = shown(&notifications);
    assert!(title == "Miki asks" && body.contains("hello"), "{title}: {body}");
    browser.find(&format!("{card} button.deny")).await.unwrap().click().await.unwrap();
    let taken_back = || notifications.told().contains(&NotificationEvent::Closed { id }).then_some(());
    wait_for("the notification to be taken back", LONG, taken_back).unwrap();

    let is_answer = |body: &EventBody| matches!(body, EventBody::ApprovalAnswered { .. });
    let (mut client, events) = tokio::task::spawn_blocking(move || {
        let events = client.events_until(is_answer).unwrap();
        (client, events)
    })
    .await
    .unwrap();
    let Some(EventBody::ApprovalAnswered { approval, answer, by }) = events.last().map(|event| &event.body)
    else {
        panic!("no answer: {events:?}")
    };
    assert_eq!((answer, *by), (&Answer::Deny, Surface::Dashboard));

    // The next one is looked at first, in its own session.
    let asks_again = format!(
        "const card = document.querySelector('.approval');
         return card !== null && card.dataset.approval !== '{approval}'"
    );
    browser.until("the next question", &asks_again).await.unwrap();
    browser.find(".approval .asker .link").await.unwrap().click().await.unwrap();
    let opened = "return document.querySelectorAll('#steps .goal-said').length === 1
        && document.querySelector('.approval') !== null && document.querySelector('.approval .asker') === null
        && document.querySelector('textarea#goal').value === ''";
    browser.until("its page, with the question as its own", opened).await.unwrap();
    // The next question takes the keyboard from nobody who types, not in its own session, either.
    field.send_keys("go on").await.unwrap();
    let ready = "return !document.querySelector('.approval button.once').disabled";
    browser.until("a card that takes keys", ready).await.unwrap();
    browser.script("document.querySelector('.approval button.thread').click()").await.unwrap();
    let lines = "
        const lines = [...document.querySelectorAll('.approval .call')];
        return lines.length === 2 && lines.map((line) => line.textContent).join() === 'type“hello”,hotkeyCtrl + S'
            && document.querySelector('.approval button.thread').textContent.includes('type, hotkey')";
    browser.until("both actions, and an answer for the session that names both", lines).await.unwrap();
    // What was allowed for the session is listed, until it is taken back.
    let allowed = "
        const rows = [...document.querySelectorAll('#allowed .grant span')];
        return rows.length === 1 && rows[0].textContent.startsWith('click in ')";
    browser.until("what was allowed", allowed).await.unwrap();
    browser.script("document.querySelector('#allowed .grant button').click()").await.unwrap();
    browser.until("nothing allowed", "return document.getElementById('allowed') === null").await.unwrap();
    // From the first action to the answers, in the smallest window, too.
    screen.place(&dashboard, 1000, 80, 760, 520).unwrap();
    let whole = "
        const [cards, call, answers] = ['.approvals', '.approval .call', '.approval footer']
            .map((part) => document.querySelector(part).getBoundingClientRect());
        return innerHeight === 520 && cards.top <= call.top && answers.bottom <= cards.bottom + 1";
    browser.until("the whole card", whole).await.unwrap();
    let typed = "return [document.activeElement.id, document.activeElement.value]";
    assert_eq!(browser.script(typed).await.unwrap(), json!(["goal", "go on"]));
    browser.find(".approval button.deny").await.unwrap().click().await.unwrap();
    tokio::task::spawn_blocking(move || client.events_until(miki::is_end).unwrap()).await.unwrap();
    browser.until("no card", "return document.querySelector('.approval') === null").await.unwrap();
    browser.find("button#new-session").await.unwrap().click().await.unwrap();
    let draft = "return document.querySelector('textarea#goal').value === 'half a sentence'";
    browser.until("what was typed in the other page", draft).await.unwrap();
    drop(editor);
}

/// How often the app is killed; `MIKI_KILLS` says otherwise, for who has the time (7 s each). Twenty times without windows:
/// `tests/e2e/asking.rs`.
const KILLS: usize = 2;
/// A kill comes this long after its question at the latest.
const LATEST_KILL_MS: u128 = 500;

// bar: C28
#[tokio::test(flavor = "multi_thread")]
async fn a_question_is_open_again_after_a_kill_and_a_yes_in_the_dashboard_lets_the_run_go_on() {
    let kills = std::env::var("MIKI_KILLS").ok().and_then(|kills| kills.parse().ok()).unwrap_or(KILLS);
    let stage = Stage::full().unwrap();
    let editor = stage.open_editor(None).unwrap();
    let screen = stage.screen().unwrap();
    let witness = stage.witness().unwrap();
    for kill in 0..kills {
        screen.activate(&editor.window).unwrap();
        let click = MindTurn::call("", "click", json!({ "x": 200, "y": 400, "reason": "to write there" }));
        let model = FakeModel::start(ScriptMind::new([click])).unwrap();
        let name = format!("miki-{kill}");
        let miki = Miki::with_model(&stage, &name, &model.url(), json!({ "approval": "ask" })).unwrap();
        let mut app = miki.start(&stage, "first", &[]).unwrap();
        let mut client = miki.connect(LONG).unwrap();
        let goal = "click into the editor".into();
        let start = StartRun { goal, session: None, overrides: RunOverrides::default() };
        client.call(start.into()).unwrap();
        let questions = |client: &mut miki::Client| client.overview().unwrap().questions;
        let seen = wait_for("the question", LONG, || questions(&mut client).pop()).unwrap();
        // The random moment itself: no condition could stand for it.
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_nanos();
        std::thread::sleep(Duration::from_millis((now / 1_000 % LATEST_KILL_MS) as u64));
        app.kill();
        let before = witness.count();

        let browser = Browser::open(&stage, &miki).await.unwrap();
        let dashboard = screen.wait_for_window("the dashboard", LONG, |title| title == "Miki").unwrap();
        screen.place(&dashboard, 1000, 80, 880, 900).unwrap();
        let mut client = miki.connect(LONG).unwrap();
        let asked = questions(&mut client).pop().expect("the question is gone");
        assert_eq!(asked, seen, "another question than before the kill");
        // Not over this connection, which did not start the run.
        let (approval, digest) = (asked.approval.id.clone(), asked.approval.digest.clone());
        client.call(AnswerApproval { approval, digest, answer: Answer::Once }.into()).unwrap_err();
        assert_eq!(client.overview().unwrap().runs[0].status.step, 1, "the steps of before are forgotten");
        browser.window("dashboard").await.unwrap();
        let card = format!(".approval[data-approval='{}']", asked.approval.id);
        browser.find(&card).await.unwrap();
        let open = format!("return document.querySelector(\"{card} button.once\")?.disabled === false");
        browser.until("a possible yes", &open).await.unwrap();
        browser.find(&format!("{card} button.once")).await.unwrap().click().await.unwrap();
        let history = wait_for("the run's end", LONG, || {
            let history = client.history(&asked.session).ok()?;
            miki::end(&history).is_some().then_some(history)
        })
        .unwrap();
        assert!(matches!(miki::end(&history), Some(RunEnd::Completed { .. })), "{history:#?}");
        let answers = history.iter().filter_map(|event| match &event.body {
            EventBody::ApprovalAnswered { answer, by, .. } => Some((answer.clone(), *by)),
            _ => None,
        });
        assert_eq!(answers.collect::<Vec<_>>(), [(Answer::Once, Surface::Dashboard)]);
        assert_eq!(witness.count() - before, 1, "one click, once: {history:#?}");
        browser.until("no card", "return document.querySelector('.approval') === null").await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_allowed_in_the_dashboard_is_typed_into_the_window_that_was_asked_about() {
    let stage = Stage::full().unwrap();
    let editor = stage.open_editor(None).unwrap();
    let typing = MindTurn::call("", "type", json!({ "text": "hello", "reason": "to greet" }));
    let model = FakeModel::start(ScriptMind::new([typing])).unwrap();
    let miki = Miki::with_model(&stage, "miki", &model.url(), json!({ "approval": "ask" })).unwrap();
    let browser = Browser::open(&stage, &miki).await.unwrap();
    let screen = stage.screen().unwrap();
    let dashboard = screen.wait_for_window("the dashboard", LONG, |title| title == "Miki").unwrap();
    screen.place(&dashboard, 1000, 80, 880, 900).unwrap();
    let mut client = miki.connect(LONG).unwrap();
    client.subscribe().unwrap();
    browser.window("dashboard").await.unwrap();
    screen.activate(&editor.window).unwrap();
    let start = StartRun { goal: "greet".into(), session: None, overrides: RunOverrides::default() };
    client.call(start.into()).unwrap();

    browser.find(".approval[data-approval]").await.unwrap();
    // Whoever answers has the dashboard in front.
    screen.activate(&dashboard).unwrap();
    browser
        .until("a possible yes", "return !document.querySelector('.approval button.once').disabled")
        .await
        .unwrap();
    browser.find(".approval button.once").await.unwrap().click().await.unwrap();
    let events =
        tokio::task::spawn_blocking(move || client.events_until(miki::is_end).unwrap()).await.unwrap();
    let typed = events.iter().find_map(|event| match &event.body {
        EventBody::ToolFinished { result, .. } => Some(result.clone()),
        _ => None,
    });
    let typed = typed.unwrap();
    assert_eq!((typed.effect, &typed.error), (Effect::Confirmed, &None), "{}", typed.summary);
    drop(editor);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_yes_takes_only_what_was_read_to_its_end() {
    let stage = Stage::full().unwrap();
    let lines: Vec<String> = (1..=400).map(|n| format!("line {n} of many")).collect();
    let typing = MindTurn::call("", "type", json!({ "text": lines.join("\n"), "reason": "to write" }));
    let model = FakeModel::start(ScriptMind::new([typing])).unwrap();
    let miki = Miki::with_model(&stage, "miki", &model.url(), json!({ "approval": "ask" })).unwrap();
    let browser = Browser::open(&stage, &miki).await.unwrap();
    let mut client = miki.connect(LONG).unwrap();
    browser.window("dashboard").await.unwrap();
    let start = StartRun { goal: "write".into(), session: None, overrides: RunOverrides::default() };
    client.call(start.into()).unwrap();
    browser.find(".approval[data-approval]").await.unwrap();
    let ready = "return !document.querySelector('.approval button.once').disabled";
    browser.until("a possible yes", ready).await.unwrap();
    let word = "document.querySelector('.approval button.once').textContent.trim()";
    // Each press shows more of it; none of what is asked scrolls by itself.
    let at_end = "(() => { const asked = document.querySelector('.approval > .asked');
        const inner = [...asked.querySelectorAll('pre')].every((one) => one.scrollHeight - one.clientHeight <= 6);
        return inner && asked.scrollHeight - asked.clientHeight - asked.scrollTop <= 6; })()";
    let mut presses = 0;
    while browser.script(&format!("return {word}")).await.unwrap() == json!("Show the rest") {
        assert_eq!(browser.script(&format!("return {at_end}")).await.unwrap(), json!(false));
        browser.find(".approval button.once").await.unwrap().click().await.unwrap();
        presses += 1;
        assert!(presses < 40, "there is no end of it");
    }
    assert!(presses > 1, "so many lines are not seen at once");
    assert_eq!(
        browser.script(&format!("return [{word}, {at_end}]")).await.unwrap(),
        json!(["Allow once", true])
    );
    // What is there only later, as a picture is that takes its time, has to be seen as well.
    let grow = "const later = document.createElement('div'); later.style.height = '900px';
        document.querySelector('.approval > .asked').append(later);";
    browser.script(grow).await.unwrap();
    browser.until("more to be seen", &format!("return {word} === 'Show the rest'")).await.unwrap();
    assert_eq!(client.overview().unwrap().questions.len(), 1, "it was allowed unread");
}

#[tokio::test(flavor = "multi_thread")]
async fn in_a_window_made_larger_all_that_is_asked_is_in_view_and_no_press_is_needed_to_see_it() {
    let stage = Stage::full().unwrap();
    let lines: Vec<String> = (1..=60).map(|n| format!("line {n} of many")).collect();
    let typing = MindTurn::call("", "type", json!({ "text": lines.join("\n"), "reason": "to write" }));
    let model = FakeModel::start(ScriptMind::new([typing])).unwrap();
    let miki = Miki::with_model(&stage, "miki", &model.url(), json!({ "approval": "ask" })).unwrap();
    let browser = Browser::open(&stage, &miki).await.unwrap();
    let screen = stage.screen().unwrap();
    let dashboard = screen.wait_for_window("the dashboard", LONG, |title| title == "Miki").unwrap();
    screen.place(&dashboard, 40, 40, 760, 520).unwrap();
    let mut client = miki.connect(LONG).unwrap();
    browser.window("dashboard").await.unwrap();
    let start = StartRun { goal: "write".into(), session: None, overrides: RunOverrides::default() };
    client.call(start.into()).unwrap();
    browser.find(".approval[data-approval]").await.unwrap();
    let says = |word: &str| {
        format!("return document.querySelector('.approval button.once').textContent.trim() === '{word}'")
    };
    browser.until("more than is in view", &says("Show the rest")).await.unwrap();
    screen.place(&dashboard, 40, 40, 1000, 1000).unwrap();
    browser.until("all of it in view", &says("Allow once")).await.unwrap();
    assert_eq!(client.overview().unwrap().questions.len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_in_view_whole_is_to_be_read_again_once_another_question_has_made_it_smaller() {
    let stage = Stage::full().unwrap();
    let lines: Vec<String> = (1..=60).map(|n| format!("line {n} of many")).collect();
    let typing = || MindTurn::call("", "type", json!({ "text": lines.join("\n"), "reason": "to write" }));
    let model = FakeModel::start(ScriptMind::new([typing(), typing()])).unwrap();
    let miki = Miki::with_model(&stage, "miki", &model.url(), json!({ "approval": "ask" })).unwrap();
    let browser = Browser::open(&stage, &miki).await.unwrap();
    let screen = stage.screen().unwrap();
    let dashboard = screen.wait_for_window("the dashboard", LONG, |title| title == "Miki").unwrap();
    screen.place(&dashboard, 40, 40, 1000, 1000).unwrap();
    let mut client = miki.connect(LONG).unwrap();
    browser.window("dashboard").await.unwrap();
    let mut ask = || {
        let start = StartRun { goal: "write".into(), session: None, overrides: RunOverrides::default() };
        let run = client.call(start.into()).unwrap();
        format!(".approval[data-session='{}']", run["session"].as_str().unwrap())
    };
    let says = |card: &str, word: &str| {
        let button = format!("document.querySelector(\"{card} button.once\")");
        format!("return {button}?.disabled === false && {button}.textContent.trim() === '{word}'")
    };
    let first = ask();
    browser.until("all of it in view", &says(&first, "Allow once")).await.unwrap();
    let second = ask();
    browser.until("the second question", &says(&second, "Show the rest")).await.unwrap();
    browser.until("more of the first to be seen", &says(&first, "Show the rest")).await.unwrap();
    assert_eq!(client.overview().unwrap().questions.len(), 2);
}
