//! The whole engine on the long session's data folder: opened as a window does, paged from end to end, gone on with.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use agent::{AgentHandle, ModelSource, OpenModel, SettingsStore, Setup};
use desktop::Desktop;
use desktop::fake::FakeDesktop;
use futures::FutureExt;
use futures::future::BoxFuture;
use journal::{Journal, SystemClock};
use models::SharedModel;
use models::scripted::{Scripted, Step};
use protocol::ErrorView;
use protocol::command::{ReadEvents, RunOverrides, StartRun, StopRun};
use protocol::ids::{SessionId, StreamId};
use protocol::principal::Surface;
use protocol::settings::Settings;
use protocol::tool::ApprovalMode;
use serde_json::{Value, json};
use tools::Router;

use crate::{Failure, contender, session, since};

/// Events that a window asks for at first.
const FIRST_PAGE: u32 = 200;
const OPENED: usize = 30;
const STARTED: usize = 30;
/// How often the session is paged: half of it, a look at the memory, the other half.
const PAGED: usize = 20;

/// What the model of the next run says.
pub type Script = Box<dyn Fn() -> Vec<Step> + Send + Sync>;

struct Models(Mutex<Script>);

impl ModelSource for Models {
    fn open<'a>(&'a self, _: OpenModel<'a>) -> BoxFuture<'a, Result<SharedModel, ErrorView>> {
        let steps = self.0.lock().unwrap_or_else(PoisonError::into_inner)();
        let model: SharedModel = Arc::new(Scripted::new(steps));
        async { Ok(model) }.boxed()
    }
}

struct Nowhere;

impl SettingsStore for Nowhere {
    fn save(&self, _: &Settings) -> Result<(), ErrorView> {
        Ok(())
    }
}

/// An engine on a data folder, with a fake desktop and models that say what `script` makes.
pub async fn engine(home: &Path, desktop: Arc<FakeDesktop>, script: Script) -> Result<AgentHandle, Failure> {
    let clock = Arc::new(SystemClock);
    let settings = Settings {
        approval: ApprovalMode::Auto,
        max_steps: 500,
        step_delay_ms: 0,
        settle_ms: 1,
        tool_retries: 0,
        ..Settings::default()
    };
    let setup = Setup {
        journal: Journal::open(home, clock.clone())?,
        clock,
        router: Router::builtin(desktop as Arc<dyn Desktop>),
        ports: Arc::new(agent::NoPorts),
        models: Arc::new(Models(Mutex::new(script))),
        settings,
        settings_store: Arc::new(Nowhere),
        version: "bench".into(),
    };
    Ok(AgentHandle::init(setup).await?)
}

async fn silent(home: &Path) -> Result<AgentHandle, Failure> {
    engine(home, FakeDesktop::new(), Box::new(|| vec![Step::silence()])).await
}

pub fn goal(session: Option<SessionId>) -> StartRun {
    let goal = "go on with the next report".into();
    StartRun { goal, session, overrides: RunOverrides::default() }
}

/// What a window asks for when it is opened: where everything stands, and the session's newest events, as JSON. Each
/// trial by an engine that was just started: nothing of the session was read before.
pub async fn open(home: &Path, session: &SessionId) -> Result<Value, Failure> {
    let mut ms = Vec::new();
    for _ in 0..OPENED {
        let engine = silent(home).await?;
        let began = Instant::now();
        let overview = serde_json::to_string(&engine.overview().await?)?;
        let page = serde_json::to_string(&engine.read_events(newest(session)).await?)?;
        ms.push(since(began));
        std::hint::black_box((overview, page));
        engine.shutdown().await;
    }
    Ok(json!({ "work": "open", "contenders": [contender("ours", session::STEPS, &ms)] }))
}

fn newest(session: &SessionId) -> ReadEvents {
    ReadEvents { stream: StreamId::of_session(session), before: None, after: None, limit: FIRST_PAGE }
}

/// From the command to the run's start on disk, in the long session.
pub async fn start(home: &Path, session: &SessionId) -> Result<Value, Failure> {
    let engine = silent(home).await?;
    let mut ms = Vec::new();
    for _ in 0..STARTED {
        let command = goal(Some(session.clone()));
        let began = Instant::now();
        let started = engine.start_run(command, Surface::Dashboard).await?;
        ms.push(since(began));
        engine.stop_run(StopRun { run: Some(started.run) }, Surface::Dashboard).await?;
    }
    engine.shutdown().await;
    Ok(json!({ "work": "start", "contenders": [contender("ours", session::STEPS, &ms)] }))
}

/// What is resident before the session is paged from its end to its beginning, in the middle, and after it. It was paged
/// once before, so that the first connections and buffers are there.
pub async fn page(home: &Path, session: &SessionId) -> Result<Value, Failure> {
    let engine = silent(home).await?;
    page_once(&engine, session).await?;
    let mut held = vec![held()?];
    for round in 1..=PAGED {
        page_once(&engine, session).await?;
        if round % (PAGED / 2) == 0 {
            held.push(self::held()?);
        }
    }
    engine.shutdown().await;
    Ok(json!({ "work": "times the session paged", "count": PAGED, "held": held }))
}

/// As a window scrolls back to the beginning.
async fn page_once(engine: &AgentHandle, session: &SessionId) -> Result<(), Failure> {
    let mut before = None;
    loop {
        let command = ReadEvents { before, ..newest(session) };
        let page = engine.read_events(command).await?;
        std::hint::black_box(serde_json::to_string(&page)?);
        let Some(first) = page.events.first().and_then(|event| event.position) else { return Ok(()) };
        before = Some(first.n);
    }
}

/// Resident and proportional memory of this process; there is no X server.
fn held() -> Result<Value, Failure> {
    let text = std::fs::read_to_string("/proc/self/smaps_rollup")?;
    let field = |name: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(name));
        line.and_then(|line| line.split_whitespace().next()?.parse::<i64>().ok())
            .ok_or_else(|| format!("the system does not tell {name}"))
    };
    Ok(json!({ "rssKb": field("Rss:")?, "pssKb": field("Pss:")?, "serverRssKb": 0, "serverPssKb": 0 }))
}
