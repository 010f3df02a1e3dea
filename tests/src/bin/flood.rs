//! Whether the windows answer while a command of the agent's floods: `yes`, a file of 1 GB, 500 children, a fork bomb. For
//! `cargo xtask bench space`: one line of JSON with every trial. The arguments name the floods, all where none is named.
//! Measures the program that `MIKI_BIN` names, on a private desktop.

use std::fs;
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
use protocol::tool::Answer;
use serde_json::{Value, json};

/// What each is called, and its command.
const FLOODS: [(&str, &str); 4] = [
    ("yes", "timeout 6 yes"),
    ("cat", "cat large.txt"),
    ("children", "for n in $(seq 500); do sleep 4 & done; wait; echo $n children"),
    ("bomb", "bomb() { bomb | bomb & }; bomb; sleep 5"),
];
const LARGE: usize = 1_000_000_000;
const LINE: &str = "the quick brown fox jumps over the lazy dog, again and again\n";
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
        let goal = format!("{:?}", asked.heard.messages.first());
        let command =
            FLOODS.iter().find(|(name, _)| goal.contains(&format!("flood {name}."))).map(|flood| flood.1);
        let results = asked.heard.messages.iter().filter(|said| matches!(said, Said::Results(_))).count();
        match (results, command) {
            (0, _) => MindTurn::call("", "useTools", json!({ "groups": ["terminal"] })),
            (1, Some(command)) => {
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
    let mut races =
        vec![json!({ "work": "flood none", "contenders": [looks(&browser, &AtomicBool::new(true)).await?] })];
    for (name, _) in FLOODS.iter().filter(|(name, _)| wanted.is_empty() || wanted.iter().any(|it| it == name))
    {
        eprintln!("    {name}");
        let over = Arc::new(AtomicBool::new(false));
        let watcher = tokio::task::spawn_blocking({
            let (mut client, over) = (miki.connect(outside::LONG)?, over.clone());
            move || watch(&mut client, name, &over)
        });
        let window = looks(&browser, &over).await?;
        races.push(json!({ "work": format!("flood {name}"), "contenders": [window, watcher.await??] }));
    }
    println!("{}", json!({ "load": [load_before, load()], "races": races, "memory": [] }));
    Ok(())
}

/// Starts the flood and sees to its end; how long the engine took to say where everything stands meanwhile.
fn watch(client: &mut miki::Client, name: &str, over: &AtomicBool) -> Result<Value> {
    let watched = watch_to_its_end(client, name);
    over.store(true, Ordering::Relaxed);
    watched
}

fn watch_to_its_end(client: &mut miki::Client, name: &str) -> Result<Value> {
    let goal = format!("flood {name}.");
    let start = StartRun { goal, session: None, overrides: RunOverrides::default() };
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
    let told = history.iter().rev().find_map(|event| match &event.body {
        EventBody::ToolFinished { result, .. } if !result.output.is_empty() => Some(result.summary.clone()),
        _ => None,
    });
    eprintln!("      {}", told.context("the command was not run")?);
    Ok(json!({ "who": "socket", "count": 1, "ms": times }))
}

/// Looks at the dashboard until it is over, and for two seconds at least.
async fn looks(browser: &Browser, over: &AtomicBool) -> Result<Value> {
    let began = Instant::now();
    let mut times = Vec::new();
    while !over.load(Ordering::Relaxed) || began.elapsed() < Duration::from_secs(2) {
        let asked = Instant::now();
        browser.script_async(LOOK, Vec::new()).await?;
        times.push(asked.elapsed().as_secs_f64() * 1_000.0);
        tokio::time::sleep(PAUSE).await;
    }
    Ok(json!({ "who": "window", "count": 1, "ms": times }))
}

/// Of the last minute; 0 where the system does not say.
fn load() -> f64 {
    let text = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    text.split_whitespace().next().and_then(|first| first.parse().ok()).unwrap_or_default()
}
