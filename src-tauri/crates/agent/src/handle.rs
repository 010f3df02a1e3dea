//! The handle that surfaces hold: every command as a method, answered by the orchestrator.

use std::path::PathBuf;
use std::sync::Arc;

use journal::{Clock, Journal};
use protocol::command::{
    AnswerApproval, CallTool, EditSession, PauseRun, Recording, ResumeRun, StartRun, StartedRun, SteerRun,
    StopRun,
};
use protocol::event::{Level, Scope};
use protocol::ids::SessionId;
use protocol::settings::{Settings, SettingsPatch};
use protocol::tool::{Door, ExecResult, Mode};
use protocol::view::{SessionHistory, SessionView, SnapshotView};
use protocol::{ErrorCode, ErrorView, Event, EventBody};
use tokio::sync::{broadcast, mpsc, oneshot};
use tools::Router;

use crate::brakes::Brakes;
use crate::log::Log;
use crate::orchestrator::{Asked, Orchestrator, Parts, by};
use crate::ports::{ModelSource, SettingsStore, Wanted};
use crate::recovery;

/// Commands that may wait for the orchestrator; a surface that sends more waits.
const WAITING: usize = 64;

/// What the mind is made of.
pub struct Setup {
    pub journal: Arc<Journal>,
    pub clock: Arc<dyn Clock>,
    /// All tools; the mind sets its limits from the settings.
    pub router: Router,
    pub models: Arc<dyn ModelSource>,
    pub settings: Settings,
    pub settings_store: Arc<dyn SettingsStore>,
    pub version: String,
}

/// A handle on the mind. Cheap to clone; the mind ends with [`AgentHandle::shutdown`] or with its last handle.
#[derive(Clone)]
pub struct AgentHandle {
    asks: mpsc::Sender<Asked>,
    log: Arc<Log>,
    models: Arc<dyn ModelSource>,
    brakes: Arc<Brakes>,
}

impl AgentHandle {
    /// Says what an earlier process left unfinished, then starts to listen.
    ///
    /// # Errors
    /// Where the journal cannot be read or written.
    pub async fn init(setup: Setup) -> Result<Self, ErrorView> {
        let log = Arc::new(Log::new(setup.journal.clone(), setup.clock.clone()));
        recovery::end_interrupted(&log).await?;
        let (asks, asked) = mpsc::channel(WAITING);
        let tools = Arc::new(setup.router);
        let brakes = Arc::new(Brakes::new(tools.clone()));
        let parts = Parts {
            log: log.clone(),
            tools,
            brakes: brakes.clone(),
            store: setup.settings_store,
            settings: setup.settings,
            version: setup.version,
        };
        tokio::spawn(Orchestrator::new(parts).listen(asked));
        Ok(Self { asks, log, models: setup.models, brakes })
    }

    /// All events from now on. A receiver that lags must fetch a snapshot.
    pub fn subscribe(&self) -> broadcast::Receiver<Event> {
        self.log.subscribe()
    }

    /// Where a blob's file is, if `sha256` has the form of one.
    pub fn blob_path(&self, sha256: &str) -> Option<PathBuf> {
        self.log.journal().blobs().path(sha256)
    }

    /// Starts the work on a goal.
    ///
    /// # Errors
    /// `Busy` while a run is under way; `NoKey`, `BadRequest`, `NotFound` for the session, `Storage`.
    pub async fn start_run(&self, command: StartRun, door: Door) -> Result<StartedRun, ErrorView> {
        if command.overrides.recording.is_some() && door != Door::Cli {
            return Err(ErrorView::new(
                ErrorCode::BadRequest,
                "a run is recorded and replayed by the command line only",
            )
            .with_hint("miki run --record FILE \"GOAL\""));
        }
        let prepared = command.clone();
        let mut prepared = self.ask(|reply| Asked::Prepare { command: prepared, reply }).await?;
        // Not in the orchestrator: a keychain may wait for its user, or hang.
        let wanted = Wanted {
            search: prepared.search,
            recording: command.overrides.recording.as_ref(),
            ..Wanted::of(&prepared.settings)
        };
        let model = self.models.open(wanted).await?;
        if let Some(Recording::Replay(_)) = command.overrides.recording {
            prepared.settings.model = model.id().clone();
        }
        self.ask(|reply| Asked::Start { command, prepared, model, reply }).await
    }

    /// Adds the user's words to the run under way.
    ///
    /// # Errors
    /// `NotFound` where that run is not under way.
    pub async fn steer_run(&self, command: SteerRun, _door: Door) -> Result<(), ErrorView> {
        self.ask(|reply| Asked::Steer { command, reply }).await
    }

    /// Stops at once, whatever the orchestrator is at; answers when nothing is held any more and the end is on disk.
    ///
    /// # Errors
    /// `NotFound` where a run is named that is not under way.
    pub async fn stop_run(&self, command: StopRun, door: Door) -> Result<(), ErrorView> {
        let under_way = self.brakes.stop(command.run.as_ref(), &by(door));
        match self.ask(|reply| Asked::Stop { run: command.run, door, reply }).await {
            // It has ended before the queue came to this.
            Err(error) if under_way && error.code == ErrorCode::NotFound => Ok(()),
            stopped => stopped,
        }
    }

    /// Holds the run before its next step.
    ///
    /// # Errors
    /// `NotFound` where that run is not under way.
    pub async fn pause_run(&self, command: PauseRun, door: Door) -> Result<(), ErrorView> {
        self.ask(|reply| Asked::Pause { run: command.run, door, reply }).await
    }

    /// Goes on with a paused run.
    ///
    /// # Errors
    /// `NotFound` where that run is not under way.
    pub async fn resume_run(&self, command: ResumeRun, _door: Door) -> Result<(), ErrorView> {
        self.ask(|reply| Asked::Resume { run: command.run, reply }).await
    }

    /// Answers an open approval.
    ///
    /// # Errors
    /// `NotFound` where it is not open; `BadRequest` where the digest is of another call.
    pub async fn answer_approval(&self, command: AnswerApproval, door: Door) -> Result<(), ErrorView> {
        self.ask(|reply| Asked::Answer { command, door, reply }).await
    }

    /// Stops whatever runs and forgets the session's grants.
    ///
    /// # Errors
    /// `Storage`.
    pub async fn reset(&self, door: Door) -> Result<(), ErrorView> {
        self.stop_run(StopRun { run: None }, door).await?;
        self.ask(|reply| Asked::Reset { reply }).await
    }

    /// Tells every surface something that belongs to no call.
    ///
    /// # Errors
    /// `Storage`.
    pub async fn note(&self, level: Level, message: String, hint: Option<String>) -> Result<(), ErrorView> {
        self.log.append(Scope::default(), EventBody::Noted { level, message, hint }).await.map(drop)
    }

    /// All that a surface needs to start folding.
    ///
    /// # Errors
    /// `Storage`.
    pub async fn snapshot(&self) -> Result<SnapshotView, ErrorView> {
        self.ask(|reply| Asked::Snapshot { reply }).await
    }

    /// Sessions, newest first.
    ///
    /// # Errors
    /// `Storage`.
    pub async fn list_sessions(&self) -> Result<Vec<SessionView>, ErrorView> {
        self.log.frozen(|journal| journal.sessions()).await
    }

    /// A session with all its events.
    ///
    /// # Errors
    /// `NotFound`, `Storage`.
    pub async fn open_session(&self, session: &SessionId) -> Result<SessionHistory, ErrorView> {
        let id = session.clone();
        let read =
            self.log.frozen(move |journal| Ok((journal.session(&id)?, journal.session_events(&id)?))).await?;
        match read {
            (Some(session), events) => Ok(SessionHistory { session, events }),
            (None, _) => Err(no_session(session)),
        }
    }

    /// Changes a session's title or modes; they hold from its next run.
    ///
    /// # Errors
    /// `NotFound`, `Storage`.
    pub async fn edit_session(&self, command: EditSession) -> Result<SessionView, ErrorView> {
        self.ask(|reply| Asked::EditSession { command, reply }).await
    }

    /// Sets the mode of all that comes: of new sessions, and of the current one from its next run. A run under way in
    /// another mode keeps it, which everyone is told.
    ///
    /// # Errors
    /// `Storage`.
    pub async fn set_mode(&self, mode: Mode) -> Result<(), ErrorView> {
        let patch = SettingsPatch(serde_json::Map::from_iter([("mode".into(), serde_json::json!(mode))]));
        self.update_settings(patch).await?;
        let SnapshotView { current, events, .. } = self.snapshot().await?;
        let Some(session) = current else { return Ok(()) };
        let edit = EditSession { session, title: None, mode: Some(mode), approval: None, search: None };
        self.edit_session(edit).await?;
        let under_way = events.iter().rev().find_map(|event| match &event.body {
            EventBody::RunStarted { mode, .. } => Some(Some(*mode)),
            EventBody::RunEnded { .. } => Some(None),
            _ => None,
        });
        match under_way.flatten() {
            Some(Mode::Act) if mode == Mode::Plan => {
                let message =
                    "plan mode holds from the next run; the run under way goes on acting".to_owned();
                self.note(Level::Warning, message, Some("stop it where it must not act".to_owned())).await
            }
            Some(Mode::Plan) if mode == Mode::Act => {
                let message = "act mode holds from the next run; the run under way only looks".to_owned();
                self.note(Level::Info, message, None).await
            }
            Some(_) | None => Ok(()),
        }
    }

    /// One call through the exec contract; a person's own call needs no approval, but Plan mode holds.
    ///
    /// # Errors
    /// `Busy` where a run has the desktop. A tool's failure is in the result.
    pub async fn call_tool(&self, command: CallTool, _door: Door) -> Result<ExecResult, ErrorView> {
        self.ask(|reply| Asked::CallTool { command, reply }).await
    }

    /// Checks, saves and announces changed settings.
    ///
    /// # Errors
    /// `BadRequest` with the range, `Storage`; nothing is changed then.
    pub async fn update_settings(&self, patch: SettingsPatch) -> Result<Settings, ErrorView> {
        self.ask(|reply| Asked::UpdateSettings { patch, reply }).await
    }

    /// Stops whatever runs, releases what is held, and ends the mind.
    pub async fn shutdown(&self) {
        self.brakes.stop(None, "the program ended");
        // Either answer means that it has stopped.
        let _ = self.ask(|reply| Asked::Shutdown { reply }).await;
    }

    async fn ask<T>(
        &self,
        asked: impl FnOnce(oneshot::Sender<Result<T, ErrorView>>) -> Asked,
    ) -> Result<T, ErrorView> {
        let gone =
            || ErrorView::new(ErrorCode::Unavailable, "the engine has ended").with_hint("start miki again");
        let (reply, answer) = oneshot::channel();
        self.asks.send(asked(reply)).await.map_err(|_| gone())?;
        answer.await.map_err(|_| gone())?
    }
}

pub fn no_session(session: &SessionId) -> ErrorView {
    ErrorView::new(ErrorCode::NotFound, format!("session {session} does not exist"))
}
