//! The one task that owns all state: settings, the run under way, the sessions' grants.
//!
//! It never waits for a run, a tool or a model: those are tasks of their own, told of stops through their
//! channels, so that a stop is heard at any moment.

mod single;
mod start;

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex};

use models::{SharedModel, pictures};
use protocol::command::{AnswerApproval, CallTool, EditSession, StartRun, StartedRun, SteerRun};
use protocol::event::Scope;
use protocol::ids::{RunId, SessionId};
use protocol::settings::{Settings, SettingsPatch};
use protocol::tool::{Door, ExecResult};
use protocol::view::{Platform, SessionView, SnapshotView};
use protocol::{ErrorCode, ErrorView, EventBody};
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use tools::{Fence, Grants, Limits, Router};

use crate::brakes::Brakes;
use crate::log::{Log, closed};
use crate::ports::SettingsStore;
use crate::run::Control;

type Reply<T> = oneshot::Sender<Result<T, ErrorView>>;

/// A command with the place for its answer.
pub enum Asked {
    /// What a run with this command would have.
    Prepare {
        command: StartRun,
        reply: Reply<Box<Prepared>>,
    },
    Start {
        command: StartRun,
        prepared: Box<Prepared>,
        model: SharedModel,
        reply: Reply<StartedRun>,
    },
    Steer {
        command: SteerRun,
        reply: Reply<()>,
    },
    Stop {
        run: Option<RunId>,
        door: Door,
        reply: Reply<()>,
    },
    Pause {
        run: Option<RunId>,
        door: Door,
        reply: Reply<()>,
    },
    Resume {
        run: Option<RunId>,
        reply: Reply<()>,
    },
    Answer {
        command: AnswerApproval,
        door: Door,
        reply: Reply<()>,
    },
    Reset {
        reply: Reply<()>,
    },
    Snapshot {
        reply: Reply<SnapshotView>,
    },
    EditSession {
        command: EditSession,
        reply: Reply<SessionView>,
    },
    CallTool {
        command: CallTool,
        reply: Reply<ExecResult>,
    },
    UpdateSettings {
        patch: SettingsPatch,
        reply: Reply<Settings>,
    },
    Shutdown {
        reply: Reply<()>,
    },
}

/// What a run is started with.
pub struct Prepared {
    pub settings: Settings,
    /// Whether the provider may search the web.
    pub search: bool,
}

/// Events a run may be behind in hearing its control.
const CONTROL: usize = 16;

pub struct Orchestrator {
    log: Arc<Log>,
    tools: Arc<Router>,
    brakes: Arc<Brakes>,
    store: Arc<dyn SettingsStore>,
    settings: Settings,
    version: String,
    active: Option<Active>,
    /// A person's single call under way.
    calling: Option<(CancellationToken, JoinHandle<()>)>,
    grants: BTreeMap<SessionId, Arc<Mutex<Grants>>>,
}

/// The run under way.
struct Active {
    session: SessionId,
    run: RunId,
    control: mpsc::Sender<Control>,
    task: JoinHandle<()>,
    /// Who waits for its end.
    stopping: Vec<Reply<()>>,
}

/// What the orchestrator is given at its start.
pub struct Parts {
    pub log: Arc<Log>,
    pub tools: Arc<Router>,
    pub brakes: Arc<Brakes>,
    pub store: Arc<dyn SettingsStore>,
    pub settings: Settings,
    pub version: String,
}

impl Orchestrator {
    pub fn new(parts: Parts) -> Self {
        let Parts { log, tools, brakes, store, settings, version } = parts;
        let (active, calling, grants) = (None, None, BTreeMap::new());
        Self { log, tools, brakes, store, settings, version, active, calling, grants }
    }

    /// Answers commands until a shutdown or the last handle is gone; then stops whatever runs.
    pub async fn listen(mut self, mut asked: mpsc::Receiver<Asked>) {
        let mut leaving = None;
        loop {
            let task = self.active.as_mut().map(|active| &mut active.task);
            tokio::select! {
                ended = end_of(task) => {
                    if let Err(panic) = ended {
                        tracing::error!("a run's task ended badly: {panic}");
                        self.tools.release_all();
                    }
                    self.run_ended();
                }
                ask = asked.recv() => match ask {
                    Some(Asked::Shutdown { reply }) => {
                        leaving = Some(reply);
                        break;
                    }
                    Some(ask) => self.answer(ask).await,
                    None => break,
                }
            }
        }
        if let Some(Active { control, mut task, stopping, .. }) = self.active.take() {
            // Dropping the control channel tells the run that the program ends.
            drop(control);
            if let Err(panic) = (&mut task).await {
                tracing::error!("a run's task ended badly: {panic}");
            }
            for reply in stopping {
                let _ = reply.send(Ok(()));
            }
        }
        if let Some((cancel, task)) = self.calling.take() {
            cancel.cancel();
            let _ = task.await;
        }
        self.tools.release_all();
        if let Some(reply) = leaving {
            let _ = reply.send(Ok(()));
        }
    }

    fn run_ended(&mut self) {
        self.brakes.run_is_over();
        if let Some(active) = self.active.take() {
            for reply in active.stopping {
                let _ = reply.send(Ok(()));
            }
        }
    }

    /// A caller that has gone does not mind that its answer is lost.
    async fn answer(&mut self, ask: Asked) {
        match ask {
            Asked::Prepare { command, reply } => drop(reply.send(self.prepare(&command).await)),
            Asked::Start { command, prepared, model, reply } => {
                self.start_for(command, *prepared, model, reply).await
            }
            Asked::Steer { command, reply } => self.steer(command, reply).await,
            Asked::Stop { run, door, reply } => self.stop(run.as_ref(), door, reply),
            Asked::Pause { run, door, reply } => {
                let pause = Control::Pause { reason: by(door) };
                drop(reply.send(self.tell(run.as_ref(), pause).await));
            }
            Asked::Resume { run, reply } => drop(reply.send(self.tell(run.as_ref(), Control::Resume).await)),
            Asked::Answer { command, door, reply } => self.answer_approval(command, door, reply).await,
            Asked::Reset { reply } => {
                self.grants.clear();
                drop(reply.send(Ok(())));
            }
            Asked::Snapshot { reply } => drop(reply.send(self.snapshot().await)),
            Asked::EditSession { command, reply } => drop(reply.send(self.edit_session(command).await)),
            Asked::CallTool { command, reply } => self.call_tool(command, reply),
            Asked::UpdateSettings { patch, reply } => drop(reply.send(self.update_settings(&patch).await)),
            Asked::Shutdown { reply } => drop(reply.send(Ok(()))),
        }
    }

    async fn tell(&self, run: Option<&RunId>, control: Control) -> Result<(), ErrorView> {
        let active = self.active_run(run)?;
        active.control.send(control).await.map_err(|_| not_under_way(&active.run))
    }

    fn active_run(&self, run: Option<&RunId>) -> Result<&Active, ErrorView> {
        match (&self.active, run) {
            (Some(active), Some(run)) if active.run != *run => Err(not_under_way(run)),
            (Some(active), _) => Ok(active),
            (None, Some(run)) => Err(not_under_way(run)),
            (None, None) => Err(ErrorView::new(ErrorCode::NotFound, "no run is under way")),
        }
    }

    async fn steer(&self, command: SteerRun, reply: Reply<()>) {
        let SteerRun { run, text } = command;
        let active = match self.active_run(Some(&run)) {
            Ok(active) => active,
            Err(error) => return drop(reply.send(Err(error))),
        };
        let said = Control::Steer { text, reply };
        if let Err(mpsc::error::SendError(said)) = active.control.send(said).await {
            said.refuse(&run);
        }
    }

    /// The handle has pulled the brake already, unless the run began after it looked. Answers when the run has ended.
    fn stop(&mut self, run: Option<&RunId>, door: Door, reply: Reply<()>) {
        self.brakes.stop(run, &by(door));
        if run.is_some()
            && let Err(error) = self.active_run(run)
        {
            drop(reply.send(Err(error)));
            return;
        }
        match &mut self.active {
            None => drop(reply.send(Ok(()))),
            Some(active) => active.stopping.push(reply),
        }
    }

    async fn answer_approval(&self, command: AnswerApproval, by: Door, reply: Reply<()>) {
        let AnswerApproval { approval, digest, answer } = command;
        let said = Control::Answer { approval, digest, answer, by, reply };
        let Some(active) = &self.active else {
            return said.refuse_for_none();
        };
        if let Err(mpsc::error::SendError(said)) = active.control.send(said).await {
            said.refuse_for_none();
        }
    }

    async fn snapshot(&self) -> Result<SnapshotView, ErrorView> {
        let active = self.active.as_ref().map(|active| active.session.clone());
        let (seq, sessions, current, events, approvals) = self
            .log
            .frozen(move |journal| {
                let sessions = journal.sessions()?;
                let current = active.or_else(|| sessions.first().map(|session| session.id.clone()));
                let events = match &current {
                    Some(session) => journal.session_events(session)?,
                    None => Vec::new(),
                };
                let pending: VecDeque<_> =
                    journal.open_runs()?.into_iter().flat_map(|run| run.pending).collect();
                Ok((journal.last_seq(), sessions, current, events, pending))
            })
            .await?;
        Ok(SnapshotView {
            seq,
            settings: self.settings.clone(),
            status: self.log.status(),
            sessions,
            current,
            events,
            approvals: approvals.into(),
            version: self.version.clone(),
            platform: PLATFORM,
        })
    }

    async fn edit_session(&self, command: EditSession) -> Result<SessionView, ErrorView> {
        let EditSession { session, title, mode, approval, search } = command;
        self.known(&session).await?;
        let scope = Scope { session: Some(session.clone()), ..Scope::default() };
        self.log.append(scope, EventBody::SessionEdited { title, mode, approval, search }).await?;
        self.known(&session).await
    }

    /// The file first, the event then; where there is no event, the file is as it was.
    async fn update_settings(&mut self, patch: &SettingsPatch) -> Result<Settings, ErrorView> {
        if self.log.has_failed() {
            return Err(closed());
        }
        let next = self.settings.patched(patch)?;
        self.save(next.clone()).await?;
        let changed = EventBody::SettingsChanged { settings: Box::new(next.clone()) };
        if let Err(error) = self.log.append(Scope::default(), changed).await {
            if let Err(unsaved) = self.save(self.settings.clone()).await {
                tracing::error!("the old settings cannot be written back: {unsaved}");
            }
            return Err(error);
        }
        self.settings = next.clone();
        Ok(next)
    }

    async fn save(&self, settings: Settings) -> Result<(), ErrorView> {
        let store = self.store.clone();
        let saved = tokio::task::spawn_blocking(move || store.save(&settings)).await;
        saved.unwrap_or_else(|panic| {
            Err(ErrorView::new(ErrorCode::Internal, format!("the settings' thread ended: {panic}")))
        })
    }

    fn check_free(&self) -> Result<(), ErrorView> {
        if self.log.has_failed() {
            return Err(closed());
        }
        if let Some(active) = &self.active {
            return Err(ErrorView::new(ErrorCode::Busy, format!("run {} has the desktop", active.run))
                .with_hint("wait for it, or stop it"));
        }
        if self.calling.as_ref().is_some_and(|(_, task)| !task.is_finished()) {
            return Err(ErrorView::new(ErrorCode::Busy, "another call has the desktop")
                .with_hint("wait for it, or stop it"));
        }
        Ok(())
    }

    /// Of a call under these settings, with pictures as the model takes them.
    fn limits(settings: &Settings) -> Arc<Limits> {
        let picture = pictures::family(&settings.model).best();
        Arc::new(Limits { picture, ..settings.into() })
    }

    /// For whoever is about to get the desktop.
    fn hand_over_desktop(&self, settings: &Settings) {
        self.tools.keep_corner(settings.failsafe);
        let (displays, apps) = (settings.fence_displays.clone(), settings.fence_apps.clone());
        self.tools.fence(Fence { displays, apps });
    }
}

async fn end_of(task: Option<&mut JoinHandle<()>>) -> Result<(), tokio::task::JoinError> {
    match task {
        Some(task) => task.await,
        None => std::future::pending().await,
    }
}

fn fresh() -> uuid::fmt::Simple {
    uuid::Uuid::now_v7().simple()
}

pub fn not_under_way(run: &RunId) -> ErrorView {
    ErrorView::new(ErrorCode::NotFound, format!("run {run} is not under way"))
}

/// Why a run was stopped or paused, for people.
pub fn by(door: Door) -> String {
    let place = match door {
        Door::Dashboard => "in the dashboard",
        Door::Chat => "in the chat widget",
        Door::Overlay => "in the overlay",
        Door::Tray => "in the tray menu",
        Door::Cli => "on the command line",
        Door::Deadline => "by a deadline",
    };
    format!("by the user, {place}")
}

const PLATFORM: Platform = if cfg!(target_os = "macos") {
    Platform::Macos
} else if cfg!(windows) {
    Platform::Windows
} else {
    Platform::Linux
};
