//! The handle that surfaces hold: every command as a method.

use std::path::PathBuf;
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use journal::{Clock, Journal, JournalError};
use protocol::budget::Forecast;
use protocol::command::{
    AnswerApproval, BranchSession, BringUpWindow, CallTool, EditSession, ListSessions, PauseRun, ReadEvents,
    ResumeRun, SearchSessions, StartRun, StartedRun, SteerRun, StopRun, Subscribe, TakeBackGrant, Undo,
    Undone, Which,
};
use protocol::event::{Level, Scope, Status};
use protocol::ids::{BlobRef, ModelId, RunId, SessionId, StreamId};
use protocol::principal::{Principal, Surface};
use protocol::settings::{Settings, SettingsPatch};
use protocol::tool::{Answer, ExecResult, Grant, Mode};
use protocol::view::{EventPage, Found, Overview, RunStatus, SessionView};
use protocol::{ErrorCode, ErrorView, Event, EventBody};
use tokio::sync::oneshot;
use tools::Router;

use crate::approvals::TakenBack;
use crate::engine::{Engine, Parts, by, check_length};
use crate::log::{Log, Subscription};
use crate::ports::{ModelSource, PortSource, SettingsStore};
use crate::recovery::{self, PutBack};
use crate::rights;
use crate::run::{Message, not_allowed};
use crate::runs::Entry;
use crate::start::GOAL_CHARS;

/// What the mind is made of.
pub struct Setup {
    pub journal: Journal,
    pub clock: Arc<dyn Clock>,
    /// All tools.
    pub router: Router,
    pub models: Arc<dyn ModelSource>,
    pub ports: Arc<dyn PortSource>,
    pub settings: Settings,
    pub settings_store: Arc<dyn SettingsStore>,
    pub version: String,
}

/// A handle on the mind. Cheap to clone; the mind ends with [`AgentHandle::shutdown`] or with its last handle.
#[derive(Clone)]
pub struct AgentHandle {
    engine: Arc<Engine>,
    _alive: Arc<Alive>,
}

/// Gone with the last handle: the runs' tasks hold the engine, too.
struct Alive(Arc<Engine>);

impl Drop for Alive {
    fn drop(&mut self) {
        self.0.leave();
    }
}

impl AgentHandle {
    /// Says what an earlier process left unfinished, then starts to listen.
    ///
    /// # Errors
    /// If the journal cannot be read or written.
    pub async fn init(setup: Setup) -> Result<Self, ErrorView> {
        let engine = Engine::start(Parts {
            log: Arc::new(Log::new(setup.journal, setup.clock)),
            tools: Arc::new(setup.router),
            models: setup.models,
            ports: setup.ports,
            store: setup.settings_store,
            settings: setup.settings,
            version: setup.version,
        })
        .await?;
        Ok(Self { _alive: Arc::new(Alive(engine.clone())), engine })
    }

    /// Goes on with the runs that an earlier process ended in the middle of, where their users wanted that (`carryOn`).
    /// Once, by whoever stays: a command that ends at once would only interrupt them again.
    ///
    /// # Errors
    /// `Storage`.
    pub async fn carry_on(&self) -> Result<(), ErrorView> {
        self.engine.carry_on().await
    }

    /// How long ago a run had the pointer and the keyboard: no time while one has them, `None` before any had.
    pub fn desktop_last_taken(&self) -> Option<Duration> {
        self.engine.seats.shared.last_taken()
    }

    /// How often the user has pressed a key or a button outside our windows, counted while a run works.
    pub fn presses(&self) -> u64 {
        self.engine.tools.presses()
    }

    /// Whether `principal` may send this command now. A refusal is journaled.
    ///
    /// # Errors
    /// `Forbidden` with what it takes.
    pub async fn permit(
        &self,
        command: &protocol::command::AnyCommand,
        principal: &Principal,
    ) -> Result<(), ErrorView> {
        rights::permit(&self.engine, command, principal).await
    }

    /// Journals that the shell refused a command.
    ///
    /// # Errors
    /// `Storage`.
    pub async fn note_refusal(&self, command: &str, error: &ErrorView) -> Result<(), ErrorView> {
        self.engine.refusals.note(command, &error.message).await
    }

    /// Events as [`Subscribe`] has it.
    ///
    /// # Errors
    /// `NotFound` for a stream that does not exist.
    pub async fn subscribe(&self, command: Subscribe) -> Result<Subscription, ErrorView> {
        let Subscribe { streams, after } = command;
        for stream in streams.iter().flatten().filter(|stream| **stream != StreamId::app()) {
            match stream.session() {
                Some(session) => drop(self.engine.session(&session).await?),
                None => return Err(JournalError::UnknownStream { stream: stream.clone() }.into()),
            }
        }
        Ok(self.engine.log.subscribe(streams, after))
    }

    /// Where a blob's file is; `None` if `sha256` has not the form of one.
    pub fn blob_path(&self, sha256: &str) -> Option<PathBuf> {
        self.engine.log.journal().blobs().path(sha256)
    }

    /// Whether the program goes on.
    ///
    /// # Errors
    /// `Leaving` when it ends.
    pub fn check_staying(&self) -> Result<(), ErrorView> {
        self.engine.check_staying()
    }

    /// Starts the work on a goal.
    ///
    /// # Errors
    /// `Busy` if the session has a run that has not ended; `NoKey`, `BadRequest`, `NotFound` for the session, `Storage`.
    pub async fn start_run(&self, command: StartRun, surface: Surface) -> Result<StartedRun, ErrorView> {
        self.engine.start_run(command, surface).await
    }

    /// Takes back what a run or a call changed.
    ///
    /// # Errors
    /// `NotFound` if nothing was changed there; `Busy` while its run is at work; `Storage`.
    pub async fn undo(&self, command: Undo) -> Result<Undone, ErrorView> {
        self.engine.undo(command).await
    }

    /// Adds the user's words to a run; on disk when this answers.
    ///
    /// # Errors
    /// `NotFound` if that run has ended.
    pub async fn steer_run(&self, command: SteerRun) -> Result<(), ErrorView> {
        let SteerRun { run, text } = command;
        check_length("message", &text, GOAL_CHARS)?;
        if let Some(entry) = self.engine.runs.get(&run)
            && entry.is_parked()
        {
            let scope = Scope { session: Some(entry.session), run: Some(run), agent: None };
            return self.engine.log.append(scope, EventBody::RunSteered { text }).await.map(drop);
        }
        let (reply, answer) = oneshot::channel();
        self.engine.tell(Some(&run), Message::Steer { text, reply })?;
        answer.await.map_err(|_| crate::runs::not_under_way(&run))?
    }

    /// Takes back what was allowed for a run or its session; on disk when this answers.
    ///
    /// # Errors
    /// `NotFound` if that run has ended.
    pub async fn take_back_grant(&self, command: TakeBackGrant) -> Result<(), ErrorView> {
        let TakeBackGrant { run, grant } = command;
        if let Some(entry) = self.engine.runs.get(&run)
            && entry.is_parked()
        {
            let of_run = |(scope, status): &(Scope, Status)| {
                scope.run.as_ref() == Some(&run) && status.grants.contains(&grant)
            };
            if !self.engine.log.statuses().iter().any(of_run) {
                return Err(not_allowed(&grant));
            }
            self.engine
                .grants(&entry.session)
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .take_back(&grant);
            let scope = Scope { session: Some(entry.session), run: Some(run.clone()), agent: None };
            self.engine.log.append(scope.clone(), EventBody::GrantTakenBack { grant: grant.clone() }).await?;
            self.engine.log.change_status(scope, |status| status.grants.retain(|one| *one != grant));
            if self.engine.runs.get(&run).is_none_or(|entry| entry.is_parked()) {
                return Ok(());
            }
            // Its answer woke it meanwhile: it may have read the journal before.
            return match self.tell_of_take_back(&run, grant).await {
                Err(error) if error.code != ErrorCode::NotFound => Err(error),
                _ => Ok(()),
            };
        }
        self.tell_of_take_back(&run, grant).await
    }

    async fn tell_of_take_back(&self, run: &RunId, grant: Grant) -> Result<(), ErrorView> {
        let (reply, answer) = oneshot::channel();
        self.engine.tell(Some(run), Message::TakeBack { grant, reply })?;
        answer.await.map_err(|_| crate::runs::not_under_way(run))?
    }

    /// Stops at once a run and all below it, or whatever is under way; answers when nothing is held any more and the end
    /// is on disk.
    ///
    /// # Errors
    /// `NotFound` if a run is named that is not under way.
    pub async fn stop_run(&self, command: StopRun, surface: Surface) -> Result<(), ErrorView> {
        let engine = self.engine.clone();
        detached(async move { engine.stop(command.run.as_ref(), by(surface)).await }).await
    }

    /// Holds a run before its next step; every run if none is named.
    ///
    /// # Errors
    /// `NotFound` if no such run is under way.
    pub async fn pause_run(&self, command: PauseRun, surface: Surface) -> Result<(), ErrorView> {
        self.tell_each(command.run, || Message::Pause { reason: by(surface) }).await
    }

    /// Brings the window up that a run with hands of its own works in, paused before if it is taken from it.
    ///
    /// # Errors
    /// `NotFound` if it has no such window, or that has closed; what the desktop says otherwise.
    pub async fn bring_up_window(&self, command: BringUpWindow) -> Result<(), ErrorView> {
        let BringUpWindow { run, take } = command;
        let window =
            self.engine.seats.window_of(&run).ok_or_else(|| {
                ErrorView::new(ErrorCode::NotFound, "that run works in no window of its own")
            })?;
        let engine = self.engine.clone();
        detached(async move {
            if !take {
                return engine.seats.bring_up(&window).await;
            }
            engine.take_over(&run).await?;
            let brought = engine.seats.bring_up(&window).await;
            brought.map_err(|error| match error.hint {
                Some(_) => error,
                None => error.with_hint("the run is paused"),
            })
        })
        .await
    }

    /// Goes on with a paused run; with every one if none is named.
    ///
    /// # Errors
    /// `NotFound` if no such run is under way.
    pub async fn resume_run(&self, command: ResumeRun) -> Result<(), ErrorView> {
        self.tell_each(command.run, || Message::Resume).await
    }

    /// Tells a run, and all that work for it.
    async fn tell_each(&self, run: Option<RunId>, message: impl Fn() -> Message) -> Result<(), ErrorView> {
        let mut runs: Vec<RunId> = run.iter().cloned().collect();
        let tree = self.engine.runs.tree(run.as_ref()).into_iter().map(|(id, _)| id);
        runs.extend(tree.filter(|id| run.as_ref() != Some(id)));
        let mut told = Err(ErrorView::new(ErrorCode::NotFound, "no run is under way"));
        for run in runs {
            let one = match self.engine.runs.get(&run).filter(Entry::is_parked) {
                Some(entry) => self.engine.pause_parked(&run, entry, message()).await,
                None => self.engine.tell(Some(&run), message()),
            };
            told = told.or(one);
        }
        told
    }

    /// Answers an open approval. A no that comes after somebody else's yes cannot undo it, but pauses the run.
    ///
    /// # Errors
    /// `NotFound` if it is not open; `BadRequest` if the digest is of another call.
    pub async fn answer_approval(&self, command: AnswerApproval, surface: Surface) -> Result<(), ErrorView> {
        let no_to = (command.answer == Answer::Deny).then(|| command.approval.clone());
        let engine = self.engine.clone();
        let answered = detached(async move { engine.answer_approval(command, surface).await }).await;
        let (Err(late), Some(approval)) = (&answered, no_to) else { return answered };
        if late.code == ErrorCode::NotFound
            && let Some(taken_back) = self.engine.take_back_yes(approval).await?
        {
            return Err(late.clone().with_hint(match taken_back {
                TakenBack::Paused => "it was allowed a moment before; its run is paused now",
                TakenBack::Over => {
                    "it was allowed before, and its run is over; what it allowed for longer is so no more"
                }
            }));
        }
        answered
    }

    /// Stops whatever runs and forgets the sessions' grants.
    ///
    /// # Errors
    /// `Storage`.
    pub async fn reset(&self, surface: Surface) -> Result<(), ErrorView> {
        self.stop_run(StopRun { run: None }, surface).await?;
        self.engine.forget_grants();
        Ok(())
    }

    /// Tells every surface something that belongs to no call.
    ///
    /// # Errors
    /// `Storage`.
    pub async fn note(&self, level: Level, message: String, hint: Option<String>) -> Result<(), ErrorView> {
        self.engine.note(level, message, hint).await
    }

    pub fn settings(&self) -> Settings {
        self.engine.settings()
    }

    /// Where everything stands.
    ///
    /// # Errors
    /// `Storage`.
    pub async fn overview(&self) -> Result<Overview, ErrorView> {
        self.engine.overview().await
    }

    /// What a run of this model, of the usual one where none is named, may come to.
    ///
    /// # Errors
    /// `Storage`.
    pub async fn forecast(&self, model: Option<ModelId>) -> Result<Option<Forecast>, ErrorView> {
        let model = model.unwrap_or_else(|| self.engine.settings().model);
        self.engine.forecast(&model).await
    }

    /// # Errors
    /// `Storage`.
    pub async fn list_runs(&self) -> Result<Vec<RunStatus>, ErrorView> {
        self.engine.list_runs().await
    }

    /// # Errors
    /// `NotFound`, `BadRequest`, `Storage`.
    pub async fn read_events(&self, command: ReadEvents) -> Result<EventPage, ErrorView> {
        self.engine.read_events(command).await
    }

    /// # Errors
    /// `NotFound`, `BadRequest`, `Storage`.
    pub async fn list_sessions(&self, command: ListSessions) -> Result<Vec<SessionView>, ErrorView> {
        self.engine.list_sessions(command).await
    }

    /// # Errors
    /// `BadRequest`, `Storage`.
    pub async fn search_sessions(&self, command: SearchSessions) -> Result<Vec<Found>, ErrorView> {
        self.engine.search_sessions(command).await
    }

    /// A new session with another one's events up to one of them.
    ///
    /// # Errors
    /// `NotFound`, `Storage`.
    pub async fn branch_session(&self, command: BranchSession) -> Result<SessionView, ErrorView> {
        let engine = self.engine.clone();
        detached(async move { engine.branch_session(command).await }).await
    }

    /// # Errors
    /// `NotFound`, `Busy` while a run is under way in it, `Storage`.
    pub async fn delete_session(&self, session: SessionId) -> Result<SessionView, ErrorView> {
        let engine = self.engine.clone();
        detached(async move { engine.delete_session(&session).await }).await
    }

    /// # Errors
    /// `NotFound`, `Storage`.
    pub async fn restore_session(&self, session: SessionId) -> Result<SessionView, ErrorView> {
        let engine = self.engine.clone();
        detached(async move { engine.restore_session(&session).await }).await
    }

    /// All events of a session, oldest first.
    ///
    /// # Errors
    /// `NotFound`, `Storage`.
    pub async fn events_of(&self, session: &SessionId) -> Result<Vec<Event>, ErrorView> {
        self.engine.events_of(session, None).await
    }

    /// A session of events from a file, after [`Self::import_picture`] of each picture in it.
    ///
    /// # Errors
    /// `Storage`; nothing of it is written then.
    pub async fn import_session(&self, title: String, events: Vec<Event>) -> Result<SessionView, ErrorView> {
        let engine = self.engine.clone();
        detached(async move { engine.import_session(&title, events).await }).await
    }

    /// # Errors
    /// `Storage`.
    pub async fn import_picture(
        &self,
        bytes: Vec<u8>,
        media_type: &'static str,
    ) -> Result<BlobRef, ErrorView> {
        self.engine.import_picture(bytes, media_type).await
    }

    /// # Errors
    /// `NotFound`, `Storage`.
    pub async fn open_session(&self, session: &SessionId) -> Result<SessionView, ErrorView> {
        self.engine.session(session).await
    }

    /// A session's runs work in this folder, from the next one on.
    ///
    /// # Errors
    /// `NotFound`, `Storage`.
    pub async fn work_in(&self, session: &SessionId, folder: String) -> Result<SessionView, ErrorView> {
        self.engine.work_in(session, folder).await
    }

    /// Changes a session's title or modes; they hold from its next run.
    ///
    /// # Errors
    /// `NotFound`, `Storage`.
    pub async fn edit_session(&self, command: EditSession) -> Result<SessionView, ErrorView> {
        self.edit_session_by(command, &Principal::of(Surface::Dashboard)).await
    }

    /// The same by whoever asks: looser modes take the right.
    ///
    /// # Errors
    /// `Forbidden` too.
    pub async fn edit_session_by(
        &self,
        command: EditSession,
        by: &Principal,
    ) -> Result<SessionView, ErrorView> {
        let (engine, by) = (self.engine.clone(), by.clone());
        detached(async move { engine.edit_session(command, &by).await }).await
    }

    /// Sets the mode of all that comes: of new sessions, and of the newest one from its next run. A run under way in
    /// another mode keeps it, which everyone is told.
    ///
    /// # Errors
    /// `Storage`.
    pub async fn set_mode(&self, mode: Mode) -> Result<(), ErrorView> {
        let patch = SettingsPatch(serde_json::Map::from_iter([("mode".into(), serde_json::json!(mode))]));
        self.update_settings(patch).await?;
        let newest =
            self.list_sessions(ListSessions { before: None, limit: Some(1), which: Which::Open }).await?;
        if let Some(session) = newest.into_iter().next() {
            let edit = EditSession {
                session: session.id,
                title: None,
                mode: Some(mode),
                approval: None,
                search: None,
                pinned: None,
                archived: None,
            };
            self.edit_session(edit).await?;
        }
        let others =
            self.engine.runs.tree(None).into_iter().filter(|(_, entry)| entry.spec.mode != mode).count();
        let (level, message, hint) = match (others, mode) {
            (0, _) => return Ok(()),
            (_, Mode::Plan) => (
                Level::Warning,
                "plan mode holds from the next run; what is under way goes on acting",
                Some("stop it if it must not act"),
            ),
            (_, Mode::Act) => {
                (Level::Info, "act mode holds from the next run; what is under way only looks", None)
            }
        };
        self.note(level, message.to_owned(), hint.map(str::to_owned)).await
    }

    /// One call through the exec contract; a person's own call needs no approval, but Plan mode holds.
    ///
    /// # Errors
    /// `Busy` if the desktop is not free in time. A tool's failure is in the result.
    pub async fn call_tool(&self, command: CallTool) -> Result<ExecResult, ErrorView> {
        self.call_tool_by(command, &Principal::of(Surface::Dashboard)).await
    }

    /// The same by whoever asks: one that acts takes the right.
    ///
    /// # Errors
    /// `Forbidden` too.
    pub async fn call_tool_by(&self, command: CallTool, by: &Principal) -> Result<ExecResult, ErrorView> {
        self.engine.call_tool(command, by).await
    }

    /// What of the settings' file was put back at a start, if they were not changed since.
    ///
    /// # Errors
    /// `Storage`.
    pub async fn put_back(&self) -> Result<Option<PutBack>, ErrorView> {
        recovery::put_back(&self.engine.log).await
    }

    /// Checks, saves and announces changed settings.
    ///
    /// # Errors
    /// `BadRequest` with the range, `Storage`; nothing is changed then.
    pub async fn update_settings(&self, patch: SettingsPatch) -> Result<Settings, ErrorView> {
        self.update_settings_by(patch, &Principal::of(Surface::Dashboard)).await
    }

    /// The same by whoever asks: what loosens takes the right.
    ///
    /// # Errors
    /// `Forbidden` too.
    pub async fn update_settings_by(
        &self,
        patch: SettingsPatch,
        by: &Principal,
    ) -> Result<Settings, ErrorView> {
        let (engine, by) = (self.engine.clone(), by.clone());
        detached(async move { engine.update_settings(&patch, &by).await }).await
    }

    /// Completes when no run is at work; one that waits for an answer without a task is at rest.
    pub async fn at_rest(&self) {
        self.engine.runs.none_live().await;
    }

    /// Whether nothing goes on without its user: each run waits for an answer or is paused, or waits for an agent of which
    /// that is so, and would be kept as it is if Miki ended now.
    pub async fn only_waits(&self) -> bool {
        for (run, _) in self.engine.runs.tree(None).into_iter().filter(|(_, entry)| !entry.is_parked()) {
            let (reply, only_waits) = oneshot::channel();
            let told = self.engine.tell(Some(&run), Message::OnlyWaits { reply });
            if told.is_err() || !only_waits.await.unwrap_or(false) {
                return false;
            }
        }
        true
    }

    /// Stops whatever runs, releases what is held, and ends the mind.
    pub async fn shutdown(&self) {
        self.engine.shutdown().await;
    }
}

/// Carries it out to its end even if nobody waits for it any more: what was decided is done.
async fn detached<T: Send + 'static>(
    work: impl Future<Output = Result<T, ErrorView>> + Send + 'static,
) -> Result<T, ErrorView> {
    tokio::spawn(work).await.unwrap_or_else(|panic| {
        Err(ErrorView::new(ErrorCode::Internal, format!("a command's task ended badly: {panic}")))
    })
}
