//! Three agents that type without a pause, in turns at one fake desktop, in real time: one of them is stopped, and
//! when its last input event came is seen at the desktop.

use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use agent::AgentHandle;
use desktop::Action;
use desktop::fake::FakeDesktop;
use models::scripted::Step;
use protocol::command::StopRun;
use protocol::ids::RunId;
use protocol::principal::Surface;
use serde_json::{Value, json};

use crate::engine::{engine, goal};
use crate::{Failure, contender, since};

const AGENTS: usize = 3;
const STOPS: usize = 200;
/// More than an agent takes before it is stopped.
const TURNS: usize = 400;
/// How long the desktop takes for each call.
const CALL: Duration = Duration::from_millis(5);
const LONGEST: Duration = Duration::from_secs(60);

/// When each agent's input events came, by the agent's number.
type InputTimes = Arc<Mutex<Vec<Vec<Instant>>>>;

pub async fn race(home: &Path) -> Result<Value, Failure> {
    let desktop = FakeDesktop::new();
    desktop.edit(|scene| scene.delay = CALL);
    let seen: InputTimes = InputTimes::default();
    let sees = seen.clone();
    desktop.react(move |action, scene| {
        // Each act shows at once: nothing waits for a change.
        scene.colour[0] = scene.colour[0].wrapping_add(8);
        if let Some(agent) = typist(action) {
            let mut seen = locked(&sees);
            if seen.len() <= agent {
                seen.resize(agent + 1, Vec::new());
            }
            seen[agent].push(Instant::now());
        }
    });
    let opened = AtomicUsize::new(0);
    let script = move || {
        let agent = opened.fetch_add(1, Ordering::Relaxed);
        let text = format!("agent {agent}");
        (0..TURNS).map(|_| Step::call("type", json!({ "text": text }))).collect()
    };
    let engine = engine(home, desktop, Box::new(script)).await?;

    let mut started = 0;
    let mut agents = Vec::new();
    for _ in 0..AGENTS {
        agents.push(begin(&engine, &mut started).await?);
    }
    let (mut last_input, mut answered) = (Vec::new(), Vec::new());
    for trial in 0..STOPS {
        at_work(&seen, &agents).await?;
        // Anywhere between two of its calls or in one.
        tokio::time::sleep(Duration::from_millis((trial as u64 * 7) % 40)).await;
        let (agent, run) = agents.remove(trial % AGENTS);
        let wished = Instant::now();
        engine.stop_run(StopRun { run: Some(run) }, Surface::Dashboard).await?;
        answered.push(since(wished));
        // The others have the desktop now; whatever the stopped one still had on its way would come meanwhile.
        at_work(&seen, &agents).await?;
        let last = locked(&seen)[agent].last().copied();
        let late = last.map_or(Duration::ZERO, |last| last.saturating_duration_since(wished));
        last_input.push(late.as_secs_f64() * 1_000.0);
        undisturbed(&engine, &agents).await?;
        agents.insert(trial % AGENTS, begin(&engine, &mut started).await?);
    }
    engine.shutdown().await;
    let contenders = [contender("ours", AGENTS, &last_input), contender("answered", AGENTS, &answered)];
    Ok(json!({ "work": "stop", "contenders": contenders }))
}

/// The number of the agent whose text is typed.
fn typist(action: &Action) -> Option<usize> {
    match action {
        Action::Type { text, .. } => text.strip_prefix("agent ")?.parse().ok(),
        _ => None,
    }
}

async fn begin(engine: &AgentHandle, started: &mut usize) -> Result<(usize, RunId), Failure> {
    let agent = *started;
    *started += 1;
    let run = engine.start_run(goal(None), Surface::Dashboard).await?.run;
    Ok((agent, run))
}

/// Waits until each of these agents has typed once more.
async fn at_work(seen: &InputTimes, agents: &[(usize, RunId)]) -> Result<(), Failure> {
    let typed = |agent: usize| locked(seen).get(agent).map_or(0, Vec::len);
    let before: Vec<usize> = agents.iter().map(|(agent, _)| typed(*agent)).collect();
    let began = Instant::now();
    while agents.iter().zip(&before).any(|((agent, _), before)| typed(*agent) <= *before) {
        if began.elapsed() > LONGEST {
            return Err(format!("an agent of {agents:?} typed nothing for a minute").into());
        }
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    Ok(())
}

/// A stop of one is no end of another.
async fn undisturbed(engine: &AgentHandle, agents: &[(usize, RunId)]) -> Result<(), Failure> {
    let open: Vec<RunId> = engine.list_runs().await?.into_iter().map(|run| run.run).collect();
    match agents.iter().find(|(_, run)| !open.contains(run)) {
        Some((agent, _)) => Err(format!("agent {agent} ended with another's stop").into()),
        None if open.len() == agents.len() => Ok(()),
        None => Err(format!("{} runs are under way, not {}", open.len(), agents.len()).into()),
    }
}

fn locked(seen: &InputTimes) -> MutexGuard<'_, Vec<Vec<Instant>>> {
    seen.lock().unwrap_or_else(PoisonError::into_inner)
}
