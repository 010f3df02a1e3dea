//! Whether the windows answer while a command of the agent's floods: `yes`, a file of 1 GB, 500 children, a fork bomb. For
//! `cargo xtask bench space`: one line of JSON with every trial. The arguments name the floods, all where none is named.
//! Measures the program that `MIKI_BIN` names, on a private desktop.

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use outside::browser::Browser;
use outside::fake_model::{FakeModel, MindTurn, Said};
use outside::miki::{self, Miki};
use outside::stage::Stage;
use protocol::EventBody;
use protocol::command::{AnswerApproval, RunOverrides, StartRun, StartedRun};
use protocol::ids::SessionId;
use protocol::tool::Answer;
use serde_json::json;

/// What each is called, and its command.
const FLOODS: [(&str, &str); 5] = [
    // What the first of all costs, of whatever kind: pages draw some things for the first time.
    ("first", "seq 1000; sleep 3"),
    ("yes", "timeout 6 yes"),
    ("cat", "cat large.txt"),
    ("children", "for n in $(seq 500); do sleep 4 & done; wait; echo $n children"),
    ("bomb", "bomb() { bomb | bomb & }; bomb; sleep 5"),
];
const LARGE: usize = 1_000_000_000;
const LINE: &str = "the quick brown fox jumps over the lazy dog, again and again\n";
/// A file that is there while the command runs.
const BEGUN: &str = "begun";
/// Between two looks.
const PAUSE: Duration = Duration::from_millis(20);

/// Until the page has drawn once more and got to its next task.
const LOOK: &str = "
    const answer = arguments[arguments.length - 1];
    requestAnimationFrame(() => setTimeout(() => answer(true)));";

#[tokio::main]
async fn main() -> Result<()> {
    let wanted: Vec<String> = std::env::args().skip(1).collect();
    let stage = Stage::full()?;
    let folder = stage.path("home").join("Miki");
    fs::create_dir_all(&folder)?;
    fs::write(folder.join("large.txt"), LINE.repeat(LARGE / LINE.len()))?;
    let model = FakeModel::start(|asked: &outside::fake_model::Asked| {
        let goal =
            format!("{:?}", asked.heard.messages.iter().rfind(|said| matches!(said, Said::User { .. })));
        let command =
            FLOODS.iter().find(|(name, _)| goal.contains(&format!("flood {name}."))).map(|flood| flood.1);
        let goals = asked.heard.messages.iter().rposition(|said| matches!(said, Said::User { .. }));
        let since = &asked.heard.messages[goals.unwrap_or_default()..];
        let results = since.iter().filter(|said| matches!(said, Said::Results(_))).count();
        match (results, command) {
            (0, _) => MindTurn::call("", "useTools", json!({ "groups": ["terminal"] })),
            (1, Some(command)) => {
                let command = format!("touch {BEGUN}; {command}");
                MindTurn::call("", "runCommand", json!({ "command": command, "seconds": 8 }))
            }
            _ => MindTurn::done("it is over", true),
        }
    })?;
    let miki = Miki::with_model(&stage, "flood", &model.url(), json!({}))?;
    let browser = Browser::open(&stage, &miki).await?;
    browser.window("dashboard").await?;
    browser.find("#new-session").await?;
    let load_before = load();
    let begun = folder.join(BEGUN);
    // How long the page takes to come up is another figure.
    wait_until_it_rests(&browser).await?;
    let [mut around, _] = looks(&browser, &AtomicBool::new(true), &begun).await?;
    let of = |who: &str, times: &[f64]| json!({ "who": who, "count": 1, "ms": times });
    let mut races = vec![json!({ "work": "flood none", "contenders": [of("window", &around)] })];
    around.clear();
    // All in one session, so that the window shows what is printed.
    let mut session = None;
    for (name, _) in FLOODS.iter().filter(|(name, _)| wanted.is_empty() || wanted.iter().any(|it| it == name))
    {
        eprintln!("    {name}");
        let over = Arc::new(AtomicBool::new(false));
        let watcher = tokio::task::spawn_blocking({
            let (mut client, over, session) = (miki.connect(outside::LONG)?, over.clone(), session.take());
            move || watch(&mut client, name, session, &over)
        });
        let [before_and_after, window] = looks(&browser, &over, &begun).await?;
        let (engine, shown) = watcher.await??;
        session = Some(shown);
        around.extend(before_and_after);
        fs::remove_file(&begun)?;
        let contenders = [of("window", &window), of("socket", &engine)];
        races.push(json!({ "work": format!("flood {name}"), "contenders": contenders }));
    }
    races.push(json!({ "work": "flood runs", "contenders": [of("window", &around)] }));
    println!("{}", json!({ "load": [load_before, load()], "races": races, "memory": [] }));
    Ok(())
}

/// Starts the flood and sees to its end; how long the engine took to say where everything stands meanwhile.
fn watch(
    client: &mut miki::Client,
    name: &str,
    session: Option<SessionId>,
    over: &AtomicBool,
) -> Result<(Vec<f64>, SessionId)> {
    let watched = watch_to_its_end(client, name, session);
    over.store(true, Ordering::Relaxed);
    watched
}

fn watch_to_its_end(
    client: &mut miki::Client,
    name: &str,
    session: Option<SessionId>,
) -> Result<(Vec<f64>, SessionId)> {
    let goal = format!("flood {name}.");
    let start = StartRun { goal, session, overrides: RunOverrides::default() };
    let started: StartedRun = serde_json::from_value(client.call(start.into())?)?;
    let began = Instant::now();
    let mut times = Vec::new();
    loop {
        let asked = Instant::now();
        let overview = client.overview()?;
        times.push(asked.elapsed().as_secs_f64() * 1_000.0);
        for question in overview.questions {
            let (approval, digest) = (question.approval.id, question.approval.digest);
            client.call(AnswerApproval { approval, digest, answer: Answer::Once }.into())?;
        }
        if overview.runs.iter().all(|run| run.run != started.run) {
            break;
        }
        ensure!(began.elapsed() < Duration::from_secs(60), "the flood {name} does not end");
        std::thread::sleep(PAUSE);
    }
    let history = client.history(&started.session)?;
    let command = history.iter().rev().find_map(|event| match &event.body {
        EventBody::ToolStarted { call, .. } if call.tool == "runCommand" => Some(&call.id),
        _ => None,
    });
    let command = command.context("the command was not run")?;
    let told = history.iter().find_map(|event| match &event.body {
        EventBody::ToolFinished { call, result } if call == command => Some(&result.summary),
        _ => None,
    });
    eprintln!("      {}", told.context("the command did not end")?);
    Ok((times, started.session))
}

async fn wait_until_it_rests(browser: &Browser) -> Result<()> {
    let began = Instant::now();
    let mut quick = 0;
    while quick < 20 {
        let asked = Instant::now();
        browser.script_async(LOOK, Vec::new()).await?;
        quick = if asked.elapsed() < Duration::from_millis(50) { quick + 1 } else { 0 };
        ensure!(began.elapsed() < Duration::from_secs(60), "the window does not come to rest");
    }
    Ok(())
}

/// Looks at the dashboard until it is over, and for two seconds at least: how long it took to answer while a run begins and
/// ends, and while its command runs.
async fn looks(browser: &Browser, over: &AtomicBool, begun: &Path) -> Result<[Vec<f64>; 2]> {
    let began = Instant::now();
    let mut times = [Vec::new(), Vec::new()];
    while !over.load(Ordering::Relaxed) || began.elapsed() < Duration::from_secs(2) {
        let (asked, runs) = (Instant::now(), begun.exists());
        browser.script_async(LOOK, Vec::new()).await?;
        times[usize::from(runs && !over.load(Ordering::Relaxed))]
            .push(asked.elapsed().as_secs_f64() * 1_000.0);
        tokio::time::sleep(PAUSE).await;
    }
    Ok(times)
}

/// Of the last minute; 0 where the system does not say.
fn load() -> f64 {
    let text = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    text.split_whitespace().next().and_then(|first| first.parse().ok()).unwrap_or_default()
}
