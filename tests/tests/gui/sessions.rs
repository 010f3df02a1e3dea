//! Sessions beside each other: what is typed in one goes to no other, each shows its own state, and one alone is stopped.

use std::time::Duration;

use outside::LONG;
use outside::fake_model::{Asked, FakeModel, MindTurn, ScriptMind};
use outside::miki::{self, Client, Miki};
use outside::stage::Stage;
use protocol::EventBody;
use protocol::command::{AnyCommand, RunOverrides, StartRun, StartedRun, Unattended, UpdateSettings};
use protocol::settings::SettingsPatch;
use serde_json::{Value, json};

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
    field.send_keys("to you").await.unwrap();
    field.send_keys(ENTER).await.unwrap();
    let said = |body: &EventBody| matches!(body, EventBody::RunSteered { .. });
    let events = tokio::task::spawn_blocking(move || client.events_until(said).unwrap()).await.unwrap();
    let body = events.last().map(|event| event.body.clone());
    assert_eq!(body, Some(EventBody::RunSteered { text: "to you".into() }));
    let emptied = "return document.querySelector('textarea#goal').value === ''";
    browser.until("the empty field", emptied).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_page_that_nobody_has_used_shows_the_run_that_begins_and_a_new_session_stays_empty() {
    let stage = Stage::full().unwrap();
    let silent = |_: &Asked| MindTurn { pause: Duration::from_secs(600), ..MindTurn::default() };
    let model = FakeModel::start(silent).unwrap();
    let miki = Miki::with_model(&stage, "miki", &model.url(), json!({})).unwrap();
    let browser = Browser::open(&stage, &miki).await.unwrap();
    let mut client = miki.connect(LONG).unwrap();
    browser.window("dashboard").await.unwrap();
    browser.find("textarea#goal").await.unwrap();
    start(&mut client, "the first", RunOverrides::default());
    let goals =
        "return [...document.querySelectorAll('#steps .goal-said p')].map((goal) => goal.textContent).join()";
    let shows_the_first = format!("{goals} === 'the first'");
    browser.until("the run on the page", &shows_the_first).await.unwrap();
    browser.until("its state", WORKS).await.unwrap();
    let second = start(&mut client, "the second", RunOverrides::default());
    browser.until("the second at work", &line(&second, "working", "nothing")).await.unwrap();
    assert_eq!(browser.script(goals).await.unwrap(), "the first", "a page that shows a run was taken over");

    browser.find("button#new-session").await.unwrap().click().await.unwrap();
    let third = start(&mut client, "the third", RunOverrides::default());
    browser.until("the third at work", &line(&third, "working", "nothing")).await.unwrap();
    assert_eq!(browser.script(goals).await.unwrap(), "", "a new session was taken over");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_that_ended_since_nobody_could_be_asked_is_told_as_ended_and_looks_like_it() {
    let stage = Stage::full().unwrap();
    let click = MindTurn::call("", "click", json!({ "x": 200, "y": 400 }));
    let model = FakeModel::start(ScriptMind::new([click])).unwrap();
    let miki = Miki::with_model(&stage, "miki", &model.url(), json!({ "approval": "ask" })).unwrap();
    let browser = Browser::open(&stage, &miki).await.unwrap();
    let mut client = miki.connect(LONG).unwrap();
    browser.window("dashboard").await.unwrap();
    browser.find("textarea#goal").await.unwrap();
    let overrides = RunOverrides { unattended: Unattended::End, ..RunOverrides::default() };
    let run = start(&mut client, "click somewhere", overrides);
    browser.until("its end", &line(&run, "needs_approval", "nothing")).await.unwrap();
    let looks = "
        const dot = document.querySelector('#sessions li .dot');
        const colour = () => getComputedStyle(dot).backgroundColor;
        const ended = colour();
        dot.dataset.state = 'asking';
        const asking = colour();
        dot.dataset.state = 'needs_approval';
        return [document.querySelector('#sessions li .faint').textContent, ended === asking]";
    assert_eq!(browser.script(looks).await.unwrap(), json!(["Ended unapproved · just now", false]));
    let later = "
        const now = Date.now;
        Date.now = () => now() + 5 * 60_000;
        dispatchEvent(new Event('focus'));
        return document.querySelector('#sessions li .faint').textContent === 'Ended unapproved · 5 min ago'";
    browser.until("its age five minutes later", later).await.unwrap();
}

fn start(client: &mut Client, goal: &str, overrides: RunOverrides) -> StartedRun {
    let start = StartRun { goal: goal.into(), session: None, overrides };
    serde_json::from_value(client.call(start.into()).unwrap()).unwrap()
}

/// Keeps the desktop for a turn that takes long, or wants it, as the goal says.
fn mind(asked: &Asked) -> MindTurn {
    let moves = json!({ "tool": "move", "arguments": { "x": 100, "y": 400 } });
    let waits = json!({ "tool": "wait", "arguments": { "seconds": 30 } });
    match asked.new_goal() {
        Some(goal) if goal.contains("hold") => {
            MindTurn::call("", "batch", json!({ "actions": [moves, waits], "reason": "to show it" }))
        }
        Some(goal) if goal.contains("queue") => MindTurn::call("", "batch", json!({ "actions": [moves] })),
        Some(_) | None => MindTurn { pause: Duration::from_secs(600), ..MindTurn::default() },
    }
}

/// What a session's line shows of its run: state and desktop.
fn line(run: &StartedRun, state: &str, desktop: &str) -> String {
    format!(
        "return document.querySelector(
            '#sessions li[data-session=\"{}\"][data-state={state}][data-desktop={desktop}]') !== null",
        run.session
    )
}

#[tokio::test(flavor = "multi_thread")]
async fn runs_side_by_side_each_show_their_own_state_and_one_is_stopped_alone() {
    let stage = Stage::full().unwrap();
    let model = FakeModel::start(mind).unwrap();
    let miki = Miki::with_model(&stage, "miki", &model.url(), json!({})).unwrap();
    let browser = Browser::open(&stage, &miki).await.unwrap();
    let screen = stage.screen().unwrap();
    let dashboard = screen.wait_for_window("the dashboard", LONG, |title| title == "Miki").unwrap();
    screen.place(&dashboard, 1000, 80, 880, 900).unwrap();
    let mut client = miki.connect(LONG).unwrap();
    browser.window("dashboard").await.unwrap();
    let field = browser.find("textarea#goal").await.unwrap();
    field.send_keys("half a sentence").await.unwrap();

    let holds = start(&mut client, "hold the pointer", RunOverrides::default());
    browser.until("who has the desktop", &line(&holds, "working", "has")).await.unwrap();
    let waits = start(&mut client, "queue for the pointer", RunOverrides::default());
    browser.until("who waits for it", &line(&waits, "working", "waits")).await.unwrap();
    // Neither takes the page over; what stops is all of them, since none is shown.
    let page = "
        return document.querySelector('#steps').children.length === 0
            && document.querySelector('textarea#goal').value === 'half a sentence'
            && document.querySelector('#status').dataset.activity === 'idle'
            && document.querySelector('#status .activity').textContent.endsWith('at work elsewhere')
            && document.querySelector('#stop').disabled
            && document.querySelector('#stop-all').checkVisibility()";
    browser.until("the page as it was", page).await.unwrap();

    let stop = format!("#sessions li[data-session='{}'] button.stop", holds.session);
    browser.find(&stop).await.unwrap().click().await.unwrap();
    browser.until("the end of one", &line(&holds, "stopped", "nothing")).await.unwrap();
    // The other got the desktop, and returned it at the end of its turn.
    browser.until("the other at work", &line(&waits, "working", "nothing")).await.unwrap();
    let runs = client.overview().unwrap().runs;
    assert_eq!(runs.iter().map(|run| &run.run).collect::<Vec<_>>(), [&waits.run]);
    browser.until("the page as it was", page).await.unwrap();

    // In its own page it is the one that is stopped, and what another does stays out of it.
    let open = format!("#sessions li[data-session='{}'] button.open", waits.session);
    browser.find(&open).await.unwrap().click().await.unwrap();
    browser.until("its page", WORKS).await.unwrap();
    let third = start(&mut client, "think for long", RunOverrides::default());
    browser.until("a third", &line(&third, "working", "nothing")).await.unwrap();
    let goals =
        "return [...document.querySelectorAll('#steps .goal-said p')].map((goal) => goal.textContent)";
    assert_eq!(browser.script(goals).await.unwrap(), json!(["queue for the pointer"]));
    browser.find("button#stop").await.unwrap().click().await.unwrap();
    browser.until("its end", &line(&waits, "stopped", "nothing")).await.unwrap();
    browser.until("the third at work", &line(&third, "working", "nothing")).await.unwrap();
    browser.find("button#stop-all").await.unwrap().click().await.unwrap();
    browser.until("the end of all", &line(&third, "stopped", "nothing")).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn the_chat_lists_the_runs_of_other_sessions_and_stops_one_alone() {
    let stage = Stage::full().unwrap();
    let model = FakeModel::start(mind).unwrap();
    let miki = Miki::with_model(&stage, "miki", &model.url(), json!({})).unwrap();
    let browser = Browser::open(&stage, &miki).await.unwrap();
    let mut client = miki.connect(LONG).unwrap();
    browser.window("chat").await.unwrap();
    let field = browser.find("textarea#goal").await.unwrap();
    field.send_keys("think of this").await.unwrap();
    field.send_keys(ENTER).await.unwrap();
    browser.until("its own run", WORKS).await.unwrap();
    let own = client.overview().unwrap().runs[0].run.clone();
    let [one, other] =
        ["think of that", "think of more"].map(|goal| start(&mut client, goal, RunOverrides::default()));
    let listed = |runs: &[&StartedRun]| {
        let mut sessions: Vec<_> = runs.iter().map(|run| format!("'{}'", run.session)).collect();
        sessions.sort();
        format!(
            "return [...document.querySelectorAll('.others li[data-activity=working]')]
                .map((row) => row.dataset.session).sort().join() === [{}].join()",
            sessions.join(", ")
        )
    };
    browser.until("both of the others", &listed(&[&one, &other])).await.unwrap();
    let stop = format!(".others li[data-session='{}'] button.stop", one.session);
    browser.script(&format!("document.querySelector(\"{stop}\").click()")).await.unwrap();
    browser.until("the one that is left", &listed(&[&other])).await.unwrap();
    let mut left: Vec<_> = client.overview().unwrap().runs.into_iter().map(|run| run.run).collect();
    left.sort();
    let mut wanted = [own, other.run];
    wanted.sort();
    assert_eq!(left, wanted);
    browser.until("its own run, undisturbed", WORKS).await.unwrap();
}

/// Calls in each turn of a long session, each with two events: more pages than are read at once.
const CALLS: usize = 40;
const TURNS: usize = 20;

#[tokio::test(flavor = "multi_thread")]
async fn a_long_session_opens_with_its_newest_steps_and_scrolls_to_its_first() {
    let stage = Stage::full().unwrap();
    let mut turns = 0;
    let thinks = move |_: &Asked| {
        turns += 1;
        if turns > TURNS {
            return MindTurn::done("thought enough", true);
        }
        let thought = |call| ("think".to_owned(), json!({ "thought": format!("thought {turns}-{call}") }));
        MindTurn { calls: (0..CALLS).map(thought).collect(), ..MindTurn::default() }
    };
    let model = FakeModel::start(thinks).unwrap();
    let miki = Miki::with_model(&stage, "miki", &model.url(), json!({})).unwrap();
    let app = miki.start(&stage, "before", &[]).unwrap();
    let mut client = miki.connect(LONG).unwrap();
    client.subscribe().unwrap();
    let overrides = RunOverrides { max_steps: Some(100), ..RunOverrides::default() };
    let run = start(&mut client, "think a lot", overrides);
    client.events_until(miki::is_end).unwrap();
    let events = client.history(&run.session).unwrap().len();
    assert!(events > 2 * CALLS * TURNS, "the session has {events} events");
    drop((client, app));

    let browser = Browser::open(&stage, &miki).await.unwrap();
    browser.window("dashboard").await.unwrap();
    browser.until("its end", "return document.querySelector('#steps li.end') !== null").await.unwrap();
    let shown = browser.script("return document.querySelector('#steps').children.length").await.unwrap();
    assert!(shown.as_u64().unwrap() < 300, "{shown} entries were read at once");
    let goal = browser.script("return document.querySelector('#steps .goal-said')").await.unwrap();
    assert_eq!(goal, Value::Null);

    // What is looked at stays where it is while older steps come in above it.
    let scroll = "
        const [done] = arguments;
        const [story, steps] = [document.querySelector('.story'), document.querySelector('#steps')];
        const looked_at = [...steps.querySelectorAll('li.step')].at(-60);
        const count = steps.children.length;
        const top = () => looked_at.getBoundingClientRect().top;
        // By its reader's hand: a list that has just changed is put back to its end otherwise.
        story.dispatchEvent(new WheelEvent('wheel', { bubbles: true }));
        story.scrollTop = 200;
        const before = top();
        const more = () => steps.children.length > count
            ? requestAnimationFrame(() => requestAnimationFrame(() => done([before, top(), story.scrollTop])))
            : requestAnimationFrame(more);
        more();
    ";
    let moved = browser.client.execute_async(scroll, vec![]).await.unwrap();
    let [before, after, top] = [0, 1, 2].map(|at| moved[at].as_f64().unwrap());
    assert!(
        (before - after).abs() < 3.0 && top > 200.0,
        "it went from {before} to {after}, scrolled to {top}"
    );
    let first = "
        document.querySelector('.story').scrollTop = 0;
        return document.querySelector('#steps .goal-said') !== null
            && document.querySelector('#earlier') === null";
    browser.until("its first goal", first).await.unwrap();
    let bill =
        browser.script("return document.querySelector('#steps li.end .cost').textContent").await.unwrap();
    assert!(!bill.as_str().unwrap().contains("least"), "the bill has all turns in it by now: {bill}");
}
