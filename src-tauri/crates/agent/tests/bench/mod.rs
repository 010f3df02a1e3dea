//! A mind to try: a scripted model, the real router, a fake desktop, a real journal.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    dead_code,
    reason = "a test's way to say that it failed; each test file uses a part of this"
)]

use std::sync::Arc;
use std::time::Duration;

use agent::{AgentHandle, ModelSource, SettingsStore, Setup};
use desktop::fake::FakeDesktop;
use desktop::{Action, Desktop};
use journal::{Journal, SystemClock};
use models::SharedModel;
use models::scripted::{Scripted, Step};
use protocol::command::{RunOverrides, StartRun};
use protocol::event::RunEnd;
use protocol::ids::{ModelId, SessionId};
use protocol::settings::Settings;
use protocol::tool::{ApprovalMode, Door};
use protocol::{ErrorView, Event, EventBody};
use serde_json::json;
use tokio::sync::broadcast;
use tools::{Limits, Router};

struct One(Arc<Scripted>);

impl ModelSource for One {
    fn open(&self, _: &ModelId, _: &Settings, _: Option<&str>) -> Result<SharedModel, ErrorView> {
        Ok(self.0.clone())
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
    pub home: tempfile::TempDir,
    pub events: broadcast::Receiver<Event>,
}

impl Bench {
    pub async fn new(steps: Vec<Step>) -> Self {
        Self::at(tempfile::tempdir().unwrap(), steps).await
    }

    pub async fn at(home: tempfile::TempDir, steps: Vec<Step>) -> Self {
        let model = Arc::new(Scripted::new(steps));
        let desktop = FakeDesktop::new();
        let journal = Arc::new(Journal::open(home.path(), Arc::new(SystemClock)).unwrap());
        let limits = Limits { settle: Duration::from_millis(1), ..limits() };
        let router = Router::builtin(desktop.clone() as Arc<dyn Desktop>, limits);
        let settings = Settings { step_delay_ms: 0, batch_delay_ms: 0, ..Settings::default() };
        let setup = Setup {
            journal,
            clock: Arc::new(SystemClock),
            router,
            models: Arc::new(One(model.clone())),
            settings,
            settings_store: Arc::new(Nowhere),
            version: "test".into(),
        };
        let handle = AgentHandle::init(setup).await.unwrap();
        let events = handle.subscribe();
        Self { handle, model, desktop, home, events }
    }

    pub async fn start(&self, approval: ApprovalMode) -> SessionId {
        self.start_with(None, RunOverrides { approval: Some(approval), ..RunOverrides::default() }).await
    }

    pub async fn start_with(&self, session: Option<SessionId>, overrides: RunOverrides) -> SessionId {
        let command = StartRun { goal: "press the button".into(), session, overrides };
        self.handle.start_run(command, Door::Cli).await.unwrap().session
    }

    pub async fn until(&mut self, wanted: impl Fn(&EventBody) -> bool) -> Event {
        loop {
            let event = tokio::time::timeout(Duration::from_secs(20), self.events.recv()).await;
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

    pub fn clicks(&self) -> usize {
        let is_click = |action: &&Action| matches!(action, Action::Click { .. });
        self.desktop.actions().iter().filter(is_click).count()
    }
}

fn limits() -> Limits {
    Limits {
        timeout: Duration::from_secs(5),
        retries: 0,
        batch_delay: Duration::ZERO,
        batch_actions: 8,
        ui_nodes: 200,
        jpeg_quality: 85,
        picture: protocol::geometry::PixelSize { width: 64, height: 64 },
        data_chars: 2_000,
        settle: Duration::from_millis(1),
    }
}

pub fn click() -> Step {
    Step::call("click", json!({ "x": 500, "y": 500, "reason": "press it" }))
}

pub fn done() -> Step {
    Step::call("done", json!({ "summary": "pressed it" }))
}
