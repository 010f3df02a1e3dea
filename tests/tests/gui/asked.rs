//! What is asked in words: by a server in the middle of its call, and by a run that has used up what it may.

use std::path::Path;
use std::time::Duration;

use outside::fake_model::{Asked, FakeModel, MindTurn, Said, ScriptMind};
use outside::miki::{self, Miki};
use outside::stage::Stage;
use outside::{LONG, wait_for};
use protocol::command::{RunOverrides, StartRun, StartedRun};
use protocol::tool::Effect;
use protocol::{Event, EventBody};
use serde_json::{Value, json};

use crate::browser::Browser;

const CARD: &str = "
    const card = document.querySelector('.approval');
    const field = card?.querySelector('.answer');
    if (!field || document.activeElement !== field) return null;
    const choices = [...card.querySelectorAll('.choice')].map((one) => one.textContent.trim());
    return [card.querySelector('h3').textContent, card.querySelector('.question').textContent,
        card.querySelector('.wanted').textContent.trim(), choices]";

/// Writes the screen where `MIKI_LOOK` says, for whoever wants to see it.
fn look(stage: &Stage, name: &str) {
    if let Ok(folder) = std::env::var("MIKI_LOOK") {
        let png = stage.screen().unwrap().png().unwrap();
        std::fs::write(Path::new(&folder).join(format!("{name}.png")), png).unwrap();
    }
}

/// Ready to be asked by the server of `peers/asks.py`.
fn with_pond(stage: &Stage, model: &FakeModel, more: Value) -> Miki {
    let miki = Miki::with_model(stage, "miki", &model.url(), more).unwrap();
    let peers = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/gui/peers");
    let server = peers.join("asks.py");
    let server = server.to_str().unwrap();
    let add = ["mcp", "add", "pond", "--yes", "--unconfined", "--", "python3", "-I", server];
    for line in [&add[..], &["mcp", "agree", "pond", "--yes", "--does", "looks", "feed"]] {
        let done = miki.run(stage, line).unwrap();
        assert_eq!(done.code(), 0, "{line:?}: {}{}", done.stdout, done.stderr);
    }
    miki
}

/// A turn that takes the server's tools, and one that calls its tool.
fn feed() -> [MindTurn; 2] {
    let groups = json!({ "groups": ["pond"] });
    [MindTurn::call("", "useTools", groups), MindTurn::call("", "pond__feed", json!({}))]
}

fn start(client: &mut miki::Client, goal: &str) -> StartedRun {
    let start = StartRun { goal: goal.into(), session: None, overrides: RunOverrides::default() };
    serde_json::from_value(client.call(start.into()).unwrap()).unwrap()
}

fn told_to_the_server(history: &[Event]) -> Option<Value> {
    history.iter().rev().find_map(|event| match &event.body {
        EventBody::ToolFinished { result, .. } => {
            serde_json::from_str(result.data.get("text")?.as_str()?).ok()
        }
        _ => None,
    })
}

#[tokio::test(flavor = "multi_thread")]
async fn a_servers_question_says_who_asks_and_is_answered_where_the_keyboard_is() {
    for (language, heading) in
        [("english", "The server pond asks you"), ("japanese", "サーバー「pond」からの質問")]
    {
        let stage = Stage::full().unwrap();
        let [groups, call] = feed();
        let end = MindTurn::done("fed", true);
        let model = FakeModel::start(ScriptMind::new([groups, call, end])).unwrap();
        let theme = if language == "japanese" { "dark" } else { "light" };
        let miki = with_pond(&stage, &model, json!({ "language": language, "theme": theme }));
        let browser = Browser::open(&stage, &miki).await.unwrap();
        let screen = stage.screen().unwrap();
        let dashboard = screen.wait_for_window("the dashboard", LONG, |title| title == "Miki").unwrap();
        screen.place(&dashboard, 60, 60, 1000, 800).unwrap();
        screen.activate(&dashboard).unwrap();
        browser.window("dashboard").await.unwrap();
        browser.find("#goal").await.unwrap();
        let mut client = miki.connect(LONG).unwrap();
        let run = start(&mut client, "feed the fish");

        let text = "return document.querySelector('.approval input.answer') === document.activeElement";
        browser.until("the field with the keyboard", text).await.unwrap();
        let shown = browser.script(CARD).await.unwrap();
        assert_eq!(shown[0], heading);
        assert_eq!(shown[1], "Which fish are hungry?");
        assert!(shown[2].as_str().unwrap().starts_with("Pond: Where the fish are"), "{shown}");
        look(&stage, &format!("asked-text-{language}"));
        let ready = "return document.activeElement.value === 'the old one'
            && !document.querySelector('.approval button.once').disabled";
        browser.find(".approval .answer").await.unwrap().send_keys("the old one").await.unwrap();
        browser.until("a possible answer", ready).await.unwrap();
        browser.find(".approval .answer").await.unwrap().send_keys("\u{e007}").await.unwrap();

        // What the server names is chosen.
        let choice = "return document.activeElement.matches('.approval .choice input')";
        browser.until("the choices with the keyboard", choice).await.unwrap();
        let shown = browser.script(CARD).await.unwrap();
        assert_eq!(shown[3], json!(["Flakes", "Worms", "Bread"]));
        look(&stage, &format!("asked-choice-{language}"));
        browser.script("document.querySelectorAll('.approval .choice')[1].click()").await.unwrap();
        let ready = "return !document.querySelector('.approval button.once').disabled";
        browser.until("a possible answer", ready).await.unwrap();
        browser.find(".approval button.once").await.unwrap().click().await.unwrap();
        let history = wait_for("the run's end", LONG, || {
            let history = client.history(&run.session).ok()?;
            miki::end(&history).is_some().then_some(history)
        })
        .unwrap();
        let content = json!({ "food": "Worms", "pond": "the old one" });
        assert_eq!(
            told_to_the_server(&history),
            Some(json!({ "action": "accept", "content": content })),
            "{history:#?}"
        );

        // In the story it is the server's question, with its answer, and nothing that was done.
        let story = "const asked = [...document.querySelectorAll('#steps .asked-by-server')];
            return asked.length === 2 && asked[1].querySelector('.reply').textContent === 'Worms'
                && asked.every((one) => one.querySelector('.badge') === null)
                && document.querySelector('#steps [data-tool=askHuman]') === null";
        browser.until("the two questions in the story", story).await.unwrap();
        look(&stage, &format!("asked-story-{language}"));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_that_has_used_up_its_steps_has_a_card_and_goes_on_by_its_button_and_by_go_on() {
    let stage = Stage::full().unwrap();
    let looks = || MindTurn::call("", "listWindows", json!({}));
    let mind = ScriptMind::new([looks(), looks(), looks(), MindTurn::done("looked", true)]);
    let model = FakeModel::start(mind).unwrap();
    let more = json!({ "maxSteps": 1 });
    let miki = Miki::with_model(&stage, "miki", &model.url(), more).unwrap();
    let browser = Browser::open(&stage, &miki).await.unwrap();
    let screen = stage.screen().unwrap();
    let dashboard = screen.wait_for_window("the dashboard", LONG, |title| title == "Miki").unwrap();
    screen.place(&dashboard, 60, 60, 1000, 800).unwrap();
    screen.activate(&dashboard).unwrap();
    browser.window("dashboard").await.unwrap();
    browser.find("#goal").await.unwrap();
    let mut client = miki.connect(LONG).unwrap();
    let run = start(&mut client, "look at the windows");
    let says = |used: u32| {
        format!(
            "const card = document.querySelector('.wants-word');
            return card?.querySelector('h3').textContent === '{used} of {used} steps are used'
                && card.querySelector('.go-on').textContent === 'Go on with 1 more'"
        )
    };
    browser.until("the card", &says(1)).await.unwrap();
    look(&stage, "used-up");
    let ready = "return !document.querySelector('.wants-word .go-on').disabled";
    browser.until("a possible yes", ready).await.unwrap();
    browser.find(".wants-word .go-on").await.unwrap().click().await.unwrap();
    browser.until("the card again", &says(2)).await.unwrap();
    // A word in the field does the same.
    browser.find("textarea#goal").await.unwrap().send_keys("go on\u{e007}").await.unwrap();
    browser.until("the card again", &says(3)).await.unwrap();
    browser.window("chat").await.unwrap();
    browser.script("document.querySelector('.wants-word .end-it').click()").await.unwrap();
    let history = wait_for("the run's end", LONG, || {
        let history = client.history(&run.session).ok()?;
        miki::end(&history).is_some().then_some(history)
    })
    .unwrap();
    let resumed = history.iter().filter(|event| matches!(event.body, EventBody::RunResumed)).count();
    let steered = history.iter().any(|event| matches!(event.body, EventBody::RunSteered { .. }));
    assert_eq!((resumed, steered), (2, false));
    browser.until("no card", "return document.querySelector('.wants-word') === null").await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn whoever_presses_again_and_again_allows_one_question_and_never_the_next() {
    let stage = Stage::full().unwrap();
    let editor = stage.open_editor(None).unwrap();
    let click = |x: u32| MindTurn::call("", "click", json!({ "x": x, "y": 400, "reason": "to write there" }));
    let model = FakeModel::start(ScriptMind::new([click(200), click(220), click(240)])).unwrap();
    let miki = Miki::with_model(&stage, "miki", &model.url(), json!({ "approval": "ask" })).unwrap();
    let browser = Browser::open(&stage, &miki).await.unwrap();
    let screen = stage.screen().unwrap();
    let dashboard = screen.wait_for_window("the dashboard", LONG, |title| title == "Miki").unwrap();
    screen.place(&dashboard, 1000, 80, 880, 900).unwrap();
    browser.window("dashboard").await.unwrap();
    let mut client = miki.connect(LONG).unwrap();
    let run = start(&mut client, "click into the editor");
    browser.find(".approval[data-approval]").await.unwrap();
    screen.activate(&dashboard).unwrap();
    let ready = "return !document.querySelector('.approval button.once').disabled";
    browser.until("a possible yes", ready).await.unwrap();
    let place = "const box = document.querySelector('.approval button.once').getBoundingClientRect();
        return [Math.round(box.x + box.width / 2), Math.round(box.y + box.height / 2)]";
    let place = browser.script(place).await.unwrap();
    let at = |n: usize| i32::try_from(place[n].as_i64().unwrap()).unwrap();
    let inner = screen.windows().unwrap().into_iter().find(|one| one.id == dashboard.id).unwrap();
    let user = stage.user().unwrap();
    // The presses themselves are what is tested, and their pace: no condition stands for it.
    let presses = |n: usize| {
        for _ in 0..n {
            user.click(inner.x + at(0), inner.y + at(1)).unwrap();
            std::thread::sleep(Duration::from_millis(300));
        }
    };
    let asked = |history: &[Event]| {
        history.iter().filter(|event| matches!(event.body, EventBody::ApprovalRequested { .. })).count()
    };
    let next = wait_for("the next question", LONG, || {
        presses(1);
        (asked(&client.history(&run.session).ok()?) == 2).then_some(())
    });
    next.unwrap();
    presses(12);
    let history = client.history(&run.session).unwrap();
    let count = |is_it: fn(&EventBody) -> bool| history.iter().filter(|event| is_it(&event.body)).count();
    let answered = count(|body| matches!(body, EventBody::ApprovalAnswered { .. }));
    let done = count(
        |body| matches!(body, EventBody::ToolFinished { result, .. } if result.effect != Effect::Refused),
    );
    assert_eq!((asked(&history), answered, done), (2, 1, 1), "{history:#?}");
    browser.until("a possible yes, once nobody presses", ready).await.unwrap();
    drop(editor);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_story_stays_at_its_end_after_an_answer_and_while_pictures_come_late() {
    let stage = Stage::full().unwrap();
    let editor = stage.open_editor(None).unwrap();
    let call = |tool: &str, arguments: Value| MindTurn::call("a few words beside it", tool, arguments);
    let click = || call("click", json!({ "x": 200, "y": 400, "reason": "to write there" }));
    let looks = || call("screenshot", json!({}));
    let mut turns: Vec<MindTurn> = (0..8).map(|_| call("listWindows", json!({}))).collect();
    turns.extend([click(), looks(), click(), looks(), looks(), MindTurn::done("looked", true)]);
    let model = FakeModel::start(ScriptMind::new(turns)).unwrap();
    let miki = Miki::with_model(&stage, "miki", &model.url(), json!({ "approval": "ask" })).unwrap();
    let browser = Browser::open(&stage, &miki).await.unwrap();
    let screen = stage.screen().unwrap();
    let dashboard = screen.wait_for_window("the dashboard", LONG, |title| title == "Miki").unwrap();
    screen.place(&dashboard, 1000, 80, 880, 700).unwrap();
    browser.window("dashboard").await.unwrap();
    let mut client = miki.connect(LONG).unwrap();
    let run = start(&mut client, "look about");
    for _ in 0..2 {
        browser.find(".approval[data-approval]").await.unwrap();
        screen.activate(&dashboard).unwrap();
        let ready = "return document.querySelector('.approval button.once')?.disabled === false";
        browser.until("a possible yes", ready).await.unwrap();
        browser.find(".approval button.once").await.unwrap().send_keys("\u{e007}").await.unwrap();
        browser.until("no card", "return document.querySelector('.approval') === null").await.unwrap();
    }
    wait_for("the run's end", LONG, || miki::end(&client.history(&run.session).ok()?)).unwrap();
    let at_end = "const story = document.querySelector('.story');
        const pictures = [...story.querySelectorAll('button.picture img')];
        return story.querySelector('.end') !== null && pictures.length >= 5
            && pictures.every((one) => one.complete && one.naturalWidth > 0)
            && story.scrollHeight > story.clientHeight
            && story.scrollHeight - story.clientHeight - story.scrollTop <= 2
            && document.getElementById('newest').hidden";
    browser.until("the end in view, with all pictures", at_end).await.unwrap();
    look(&stage, "followed");
    drop(editor);
}

const COLOUR: &str = "ask which colour";

/// Has an agent ask its user for a colour.
fn by_an_agent(asked: &Asked) -> MindTurn {
    let results = asked.heard.messages.iter().filter(|said| matches!(said, Said::Results(_))).count();
    let ask = json!({ "question": "Which colour?", "reason": "to go on" });
    let spawn = json!({ "goal": COLOUR, "tools": ["files"], "reason": "to ask" });
    match (asked.goal() == COLOUR, results) {
        (true, 0) => MindTurn::call("", "askHuman", ask),
        (false, 0) => MindTurn::call("", "useTools", json!({ "groups": ["agents"] })),
        (false, 1) => MindTurn::call("", "spawn", spawn),
        (false, 2) => MindTurn::call("", "waitFor", json!({})),
        _ => MindTurn::done("it was asked", true),
    }
}

/// As somebody does who types fast: the last letters are still on their way when the button is pressed.
#[tokio::test(flavor = "multi_thread")]
async fn an_answer_has_all_that_was_typed_before_the_click_and_an_agents_page_leads_back() {
    let stage = Stage::full().unwrap();
    let model = FakeModel::start(by_an_agent).unwrap();
    let miki = Miki::with_model(&stage, "miki", &model.url(), json!({})).unwrap();
    let browser = Browser::open(&stage, &miki).await.unwrap();
    let screen = stage.screen().unwrap();
    let dashboard = screen.wait_for_window("the dashboard", LONG, |title| title == "Miki").unwrap();
    screen.place(&dashboard, 60, 60, 1000, 800).unwrap();
    screen.activate(&dashboard).unwrap();
    browser.window("dashboard").await.unwrap();
    browser.find("#goal").await.unwrap();
    let mut client = miki.connect(LONG).unwrap();
    let run = start(&mut client, "paint the fence");
    browser.find("#sessions .agents li button.open").await.unwrap().click().await.unwrap();
    let back = "return document.querySelector('#back-up')?.textContent";
    browser.until("the way back", &format!("{back} === 'Back to “paint the fence”'")).await.unwrap();

    let field = browser.find(".approval textarea.answer").await.unwrap();
    field.click().await.unwrap();
    let user = stage.user().unwrap();
    user.type_text("a colour like").unwrap();
    let ready = "return document.querySelector('.approval textarea.answer')?.value === 'a colour like'
        && !document.querySelector('.approval button.once').disabled";
    browser.until("a possible answer", ready).await.unwrap();
    let place = "const box = document.querySelector('.approval button.once').getBoundingClientRect();
        return [Math.round(box.x + box.width / 2), Math.round(box.y + box.height / 2)]";
    let place = browser.script(place).await.unwrap();
    let at = |n: usize| i32::try_from(place[n].as_i64().unwrap()).unwrap();
    let inner = screen.windows().unwrap().into_iter().find(|one| one.id == dashboard.id).unwrap();
    // The page works at something else meanwhile, so that what is typed is not yet in the field.
    let busy = "setTimeout(() => { const end = Date.now() + 400; while (Date.now() < end); }, 30)";
    browser.script(busy).await.unwrap();
    user.type_text(" that of the sea in the evening").unwrap();
    user.click(inner.x + at(0), inner.y + at(1)).unwrap();
    wait_for("the run's end", LONG, || miki::end(&client.history(&run.session).ok()?)).unwrap();
    let turns = model.turns();
    let answered = turns.iter().rev().find(|asked| asked.goal() == COLOUR).unwrap();
    let told = format!("{:?}", answered.results());
    assert!(told.contains("a colour like that of the sea in the evening"), "{told}");

    browser.find("#back-up").await.unwrap().click().await.unwrap();
    let goal = "return document.querySelector('#steps .goal-said p')?.textContent === 'paint the fence'
        && document.querySelector('#back-up') === null";
    browser.until("the page that it was opened from", goal).await.unwrap();
}
