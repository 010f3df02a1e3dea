//! What the tests of the mind share: a scripted model, the real router, a fake desktop, a real journal.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use agent::{AgentHandle, ModelSource, OpenModel, SettingsStore, Setup, Subscription};
use desktop::fake::FakeDesktop;
use desktop::{Action, Desktop, WindowView};
use futures::FutureExt;
use futures::future::BoxFuture;
use journal::{Clock, Journal, SystemClock};
use models::SharedModel;
use models::scripted::{Scripted, Step};
use protocol::command::{ReadEvents, RunOverrides, StartRun, StartedRun, Subscribe};
use protocol::event::{Activity, RunEnd, Status};
use protocol::geometry::NormRect;
use protocol::ids::{SessionId, StreamId, Timestamp};
use protocol::principal::Surface;
use protocol::settings::Settings;
use protocol::tool::ApprovalMode;
use protocol::{ErrorView, Event, EventBody};
use serde_json::json;
use tools::Router;

use crate::asking::window;

pub struct One(pub Arc<Scripted>);

impl ModelSource for One {
    fn open<'a>(&'a self, _: OpenModel<'a>) -> BoxFuture<'a, Result<SharedModel, ErrorView>> {
        let model: SharedModel = self.0.clone();
        async move { Ok(model) }.boxed()
    }
}

/// The machine's clock, which breaks once where it is told to: the journal's write it is asked in breaks down with it.
#[derive(Default)]
pub struct FragileClock(AtomicUsize);

impl FragileClock {
    pub fn break_once(&self) {
        self.break_at(1);
    }

    /// In this write from now on.
    pub fn break_at(&self, time: usize) {
        self.0.store(time, Ordering::SeqCst);
    }
}

impl Clock for FragileClock {
    fn now(&self) -> Timestamp {
        if std::thread::current().name() != Some("journal") {
            return SystemClock.now();
        }
        let count_down = |left: usize| left.checked_sub(1);
        let left = self.0.fetch_update(Ordering::SeqCst, Ordering::SeqCst, count_down);
        assert!(left != Ok(1), "the clock breaks, as it was told to");
        SystemClock.now()
    }
}

struct Nowhere;

impl SettingsStore for Nowhere {
    fn save(&self, _: &Settings) -> Result<(), ErrorView> {
        Ok(())
    }
}

pub struct Bench {
    pub handle: AgentHandle,
    pub model: Arc<Scripted>,
    pub desktop: Arc<FakeDesktop>,
    pub clock: Arc<FragileClock>,
    pub home: tempfile::TempDir,
    pub events: Subscription,
}

impl Bench {
    pub async fn new(steps: Vec<Step>) -> Self {
        Self::at(home(), steps).await
    }

    pub async fn at(home: tempfile::TempDir, steps: Vec<Step>) -> Self {
        Self::with(home, steps, |_| {}).await
    }

    /// Another part in place of one of the usual ones.
    pub async fn other(steps: Vec<Step>, change: impl FnOnce(&mut Setup)) -> Self {
        Self::with(home(), steps, change).await
    }

    pub async fn with(home: tempfile::TempDir, steps: Vec<Step>, change: impl FnOnce(&mut Setup)) -> Self {
        let model = Arc::new(Scripted::new(steps));
        let desktop = FakeDesktop::new();
        let clock = Arc::new(FragileClock::default());
        let journal = Journal::open(home.path(), clock.clone()).unwrap();
        let router = Router::builtin(desktop.clone() as Arc<dyn Desktop>);
        let settings = settings();
        let mut setup = Setup {
            journal,
            clock: clock.clone(),
            router,
            ports: Arc::new(agent::NoPorts),
            models: Arc::new(One(model.clone())),
            settings,
            settings_store: Arc::new(Nowhere),
            version: "test".into(),
        };
        change(&mut setup);
        let handle = AgentHandle::init(setup).await.unwrap();
        let events = handle.subscribe(Subscribe { streams: None, after: None }).await.unwrap();
        Self { handle, model, desktop, clock, home, events }
    }

    pub async fn start(&self, approval: ApprovalMode) -> SessionId {
        self.begin(approval).await.session
    }

    pub async fn begin(&self, approval: ApprovalMode) -> StartedRun {
        let overrides = RunOverrides { approval: Some(approval), ..RunOverrides::default() };
        self.handle.start_run(goal(None, overrides), Surface::Cli).await.unwrap()
    }

    pub async fn start_with(&self, session: Option<SessionId>, overrides: RunOverrides) -> SessionId {
        self.handle.start_run(goal(session, overrides), Surface::Cli).await.unwrap().session
    }

    /// The next status that is wanted.
    pub async fn status(&mut self, wanted: impl Fn(&Status) -> bool) -> Status {
        let is_it = |body: &EventBody| matches!(body, EventBody::StatusChanged { status } if wanted(status));
        match self.until(is_it).await.body {
            EventBody::StatusChanged { status } => status,
            _ => unreachable!(),
        }
    }

    pub async fn activity(&mut self, activity: Activity) -> Status {
        self.status(|status| status.activity == activity).await
    }

    pub async fn until(&mut self, wanted: impl Fn(&EventBody) -> bool) -> Event {
        loop {
            let event = tokio::time::timeout(Duration::from_secs(20), self.events.next()).await;
            let event = event.expect("the event did not come within 20 s").unwrap();
            if wanted(&event.body) {
                return event;
            }
        }
    }

    pub async fn end(&mut self) -> RunEnd {
        match self.until(|body| matches!(body, EventBody::RunEnded { .. })).await.body {
            EventBody::RunEnded { end } => end,
            _ => unreachable!(),
        }
    }

    pub async fn question(&mut self) -> protocol::tool::Approval {
        match self.until(|body| matches!(body, EventBody::ApprovalRequested { .. })).await.body {
            EventBody::ApprovalRequested { approval } => approval,
            _ => unreachable!(),
        }
    }

    /// From now on a window is in front that fills the display.
    pub fn show_editor(&self) {
        let whole = NormRect { x: 0.0, y: 0.0, width: 1000.0, height: 1000.0 };
        self.desktop.edit(|scene| scene.windows = vec![WindowView { bounds: whole, ..window(1, "letter") }]);
    }

    pub fn clicks(&self) -> usize {
        let is_click = |action: &&Action| matches!(action, Action::Click { .. });
        self.desktop.actions().iter().filter(is_click).count()
    }
}

/// A folder in memory where the system has one: each event is synced, and a busy disk takes a fifth of a second for that.
pub fn home() -> tempfile::TempDir {
    let memory = std::path::Path::new("/dev/shm");
    let folder = if memory.is_dir() { memory.to_owned() } else { std::env::temp_dir() };
    tempfile::tempdir_in(folder).unwrap()
}

/// Nothing waits but for what is tested.
pub fn settings() -> Settings {
    Settings {
        step_delay_ms: 0,
        batch_delay_ms: 0,
        settle_ms: 1,
        tool_timeout_ms: 5_000,
        tool_retries: 0,
        ..Settings::default()
    }
}

/// All events of a session, oldest first.
pub async fn history(handle: &AgentHandle, session: &SessionId) -> Vec<Event> {
    let mut events: Vec<Event> = Vec::new();
    loop {
        let after = Some(events.last().and_then(|event| event.position).map_or(0, |position| position.n));
        let stream = StreamId::of_session(session);
        let page = handle.read_events(ReadEvents { stream, before: None, after, limit: 100 }).await.unwrap();
        events.extend(page.events);
        if events.len() as u64 >= page.last {
            return events;
        }
    }
}

pub fn goal(session: Option<SessionId>, overrides: RunOverrides) -> StartRun {
    StartRun { goal: "press the button".into(), session, overrides }
}

pub fn click() -> Step {
    Step::call("click", json!({ "x": 500, "y": 500, "reason": "press it" }))
}

pub fn done() -> Step {
    Step::call("done", json!({ "summary": "pressed it" }))
}
