//! What all runs share: settings, the desktop's seat, the log, and the commands that are about none of them alone.
//!
//! No lock is held across an await, and nothing here waits for a run, a tool or a model but for its own caller.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use journal::OpenRun;
use models::pictures;
use protocol::command::{ReadEvents, Which};
use protocol::event::{Activity, Level, RunEnd, Scope, Status};
use protocol::ids::{CallId, RunId, SessionId, Timestamp};
use protocol::principal::{Principal, Surface};
use protocol::run::RunSpec;
use protocol::settings::{Settings, SettingsPatch, StandingGrant};
use protocol::tool::Grant;
use protocol::view::{EventPage, Overview, Platform, RunStatus, SessionView};
use protocol::{ErrorCode, ErrorView, EventBody};
use tokio_util::sync::CancellationToken;
use tools::{Grants, Interruption, Limits, Ports, Router};

use crate::agents::Questions;
use crate::approvals::Deadlines;
use crate::lease::{Seat, Seats};
use crate::ledger::{Ledger, Sum};
use crate::log::{Log, closed};
use crate::ports::{ModelSource, OpenPorts, PortSource, SettingsStore};
use crate::prompts;
use crate::recovery;
use crate::refusals::Refusals;
use crate::rights;
use crate::run::Message;
use crate::runs::{self, Entry, Live, Runs, Task, not_under_way};
use crate::sessions::{USUAL, tidy_daily, with_pinned};
use crate::summary::Count;

/// Why runs are stopped when the program ends.
pub(crate) const LEFT: &str = "the program ended";
/// Sessions and events in one answer, at the most.
const PAGE: u32 = 1_000;
/// After one interruption the next is heard this much later: one that goes on and means nothing here (a pointer that rests
/// in a corner nobody minds) must not keep the machine busy.
const BREATH: Duration = Duration::from_millis(50);
/// How long a run whose window is taken over may take to pause, and how often that is looked at.
const TAKEN_WITHIN: Duration = Duration::from_secs(5);
const BETWEEN_LOOKS: Duration = Duration::from_millis(25);

/// What was interrupted longer ago does not go on by itself: nobody thinks of it any more.
const RECENT_MS: i64 = 24 * 60 * 60 * 1_000;

pub struct Engine {
    pub(crate) log: Arc<Log>,
    pub(crate) tools: Arc<Router>,
    pub(crate) models: Arc<dyn ModelSource>,
    pub(crate) ports: Arc<dyn PortSource>,
    pub(crate) runs: Runs,
    pub(crate) ledger: Arc<Ledger>,
    pub(crate) questions: Questions,
    to_carry_on: Mutex<Vec<OpenRun>>,
    pub(crate) seats: Arc<Seats>,
    pub(crate) deadlines: Arc<Deadlines>,
    pub(crate) refusals: Refusals,
    store: Arc<dyn SettingsStore>,
    settings: Arc<Mutex<Settings>>,
    /// Held while settings are written: one change after the other.
    pub(crate) saving: tokio::sync::Mutex<()>,
    grants: Mutex<BTreeMap<SessionId, Arc<Mutex<Grants>>>>,
    /// Single calls of the user's own that act.
    calls: Mutex<BTreeMap<CallId, CancellationToken>>,
    pub(crate) leaving: CancellationToken,
    version: String,
}

/// What an engine is given at its start.
pub struct Parts {
    pub log: Arc<Log>,
    pub tools: Arc<Router>,
    pub models: Arc<dyn ModelSource>,
    pub ports: Arc<dyn PortSource>,
    pub store: Arc<dyn SettingsStore>,
    pub settings: Settings,
    pub version: String,
}

impl Engine {
    /// Says what an earlier process left unfinished, then watches for the user's own hands.
    ///
    /// # Errors
    /// If the journal cannot be read or written.
    pub async fn start(parts: Parts) -> Result<Arc<Self>, ErrorView> {
        let Parts { log, tools, models, ports, store, settings, version } = parts;
        let (waiting, to_carry_on) = recovery::sort_open_runs(&log).await?;
        let settings = recovery::settings_as_written(&log, &store, settings).await?;
        let engine = Arc::new_cyclic(|weak: &Weak<Self>| Self {
            seats: Arc::new(Seats::new(Seat::new(tools.clone(), log.clone()))),
            deadlines: Arc::new(Deadlines::new(weak.clone())),
            refusals: Refusals::new(log.clone()),
            log,
            tools,
            models,
            ports,
            runs: Runs::default(),
            ledger: Arc::default(),
            questions: Questions::default(),
            to_carry_on: Mutex::new(to_carry_on),
            store,
            settings: Arc::new(Mutex::new(settings)),
            saving: tokio::sync::Mutex::new(()),
            grants: Mutex::default(),
            calls: Mutex::default(),
            leaving: CancellationToken::new(),
            version,
        });
        for run in &waiting {
            let below = match &run.scope.run {
                Some(id) => recovery::used_below(&engine.log, id, Count::Ended).await?,
                None => Sum::default(),
            };
            engine.adopt(run, below)?;
        }
        for run in waiting {
            engine.show_adopted(run);
        }
        engine.tools.keep_corner(engine.settings().failsafe);
        tokio::spawn(watch_the_user(Arc::downgrade(&engine)));
        tokio::spawn(tidy_daily(Arc::downgrade(&engine), engine.leaving.clone()));
        Ok(engine)
    }

    /// Goes on with what was interrupted where its user wanted that. What cannot go on is said in its session.
    ///
    /// # Errors
    /// `Storage`.
    pub(crate) async fn carry_on(self: &Arc<Self>) -> Result<(), ErrorView> {
        let interrupted = locked(&self.to_carry_on).clone();
        for run in interrupted {
            let Some(session) = run.scope.session.clone() else { continue };
            let last = self.session(&session).await?.updated;
            recovery::end_run(&self.log, run.clone(), RunEnd::Interrupted { reason: None }).await?;
            // Until it has an end, it is not shown as one that works.
            let is_here = |other: &OpenRun| other.scope.run == run.scope.run;
            let found = locked(&self.to_carry_on).iter().position(is_here);
            // Asked twice, it goes on once.
            if found.map(|at| locked(&self.to_carry_on).remove(at)).is_none() {
                continue;
            }
            if let Err(ErrorView { message, hint, .. }) = self.go_on_with(&session, run, last).await {
                let message = format!("what was interrupted does not go on by itself: {message}");
                let note = EventBody::Noted { level: Level::Warning, message, hint };
                self.log.append(Scope { session: Some(session), ..Scope::default() }, note).await?;
            }
        }
        Ok(())
    }

    /// Within what its session and the settings allow by now.
    async fn go_on_with(
        self: &Arc<Self>,
        session: &SessionId,
        run: OpenRun,
        last: Timestamp,
    ) -> Result<(), ErrorView> {
        let below = match &run.scope.run {
            Some(id) => recovery::used_below(&self.log, id, Count::Ended).await?,
            None => Sum::default(),
        };
        let unavailable = |why: &str| ErrorView::new(ErrorCode::Unavailable, why);
        let spec = recovery::carried_on(run, below).ok_or_else(|| unavailable("its budget is used up"))?;
        let now = self.open_one(session).await?;
        if self.log.now().0.saturating_sub(last.0) > RECENT_MS {
            return Err(unavailable("it was interrupted more than a day ago"));
        }
        let of_settings = self.settings().fence();
        if !spec.fence.as_ref().is_some_and(|fence| fence.is_within(&of_settings)) {
            return Err(unavailable("what agents may act on was narrowed since it began"));
        }
        let spec = RunSpec {
            approval: spec.approval.min(now.approval),
            mode: spec.mode.min(now.mode),
            search: spec.search && now.search,
            ..spec
        };
        let (settings, model) = self.as_specified(&spec).await?;
        self.begin((Some(session.clone()), None), spec, settings, model, None).await?;
        let scope = Scope { session: Some(session.clone()), ..Scope::default() };
        let message =
            "went on by itself: Miki had ended in the middle of it, and was started again".to_owned();
        self.log.append(scope, EventBody::Noted { level: Level::Info, message, hint: None }).await.map(drop)
    }

    pub fn settings(&self) -> Settings {
        locked(&self.settings).clone()
    }

    /// For a run, which sees by them what the user allows and forbids from now on.
    pub(crate) fn current_settings(&self) -> Arc<Mutex<Settings>> {
        self.settings.clone()
    }

    /// The bounds of a call, with pictures as the model takes them.
    pub(crate) fn limits(settings: &Settings) -> Arc<Limits> {
        let picture = pictures::family(&settings.model).best();
        Arc::new(Limits { picture, ..settings.into() })
    }

    pub(crate) fn grants(&self, session: &SessionId) -> Arc<Mutex<Grants>> {
        locked(&self.grants).entry(session.clone()).or_default().clone()
    }

    /// What a session works with beyond the screen.
    ///
    /// # Errors
    /// As [`PortSource::open`].
    pub(crate) async fn open_ports(
        &self,
        session: Option<&SessionId>,
        space: Option<&str>,
    ) -> Result<Ports, ErrorView> {
        let settings = self.settings();
        self.ports.open(OpenPorts { session, space, settings: &settings }).await
    }

    pub(crate) fn forget_grants(&self) {
        locked(&self.grants).clear();
    }

    /// Whether anything new may begin.
    ///
    /// # Errors
    /// `Storage` after the journal failed; `Leaving` when the program ends.
    pub(crate) fn check_open(&self) -> Result<(), ErrorView> {
        self.check_staying()?;
        if self.log.has_failed() { Err(closed()) } else { Ok(()) }
    }

    /// # Errors
    /// `Leaving` when the program ends.
    pub(crate) fn check_staying(&self) -> Result<(), ErrorView> {
        if self.leaving.is_cancelled() { Err(runs::closed()) } else { Ok(()) }
    }

    pub(crate) fn call_begins(&self, call: &CallId, cancel: CancellationToken) {
        locked(&self.calls).insert(call.clone(), cancel);
    }

    pub(crate) fn call_ends(&self, call: &CallId) {
        locked(&self.calls).remove(call);
    }

    /// Stops `run` and all below it, or whatever is under way if none is named, and releases what they hold. Past every
    /// queue; answers what was stopped.
    pub(crate) fn stop_at_once(&self, run: Option<&RunId>, reason: &str) -> Vec<(RunId, Entry)> {
        let stopped = self.runs.tree(run);
        for (id, entry) in &stopped {
            if let Task::Live(Live { stop, .. }) = &entry.task {
                stop.send(reason);
                // Another one's drag must go on.
                self.seats.release_if_held_by(id);
            }
        }
        if run.is_none() {
            for cancel in locked(&self.calls).values() {
                cancel.cancel();
            }
            self.seats.release_all();
        }
        stopped
    }

    /// Stops, and answers when nothing is held any more and each end is on disk.
    ///
    /// # Errors
    /// `NotFound` if a run is named that is not under way.
    pub(crate) async fn stop(self: &Arc<Self>, run: Option<&RunId>, reason: String) -> Result<(), ErrorView> {
        let stopped = self.stop_at_once(run, &reason);
        if let (Some(run), true) = (run, stopped.is_empty()) {
            return Err(not_under_way(run));
        }
        self.see_to_the_end(stopped, &reason).await;
        Ok(())
    }

    /// Ends those of the stopped runs that have no task, and waits for the others.
    pub(crate) async fn see_to_the_end(self: &Arc<Self>, stopped: Vec<(RunId, Entry)>, reason: &str) {
        for (id, entry) in stopped {
            if let Task::Live(live) = entry.task {
                live.over.cancelled().await;
            }
            // Also one that was put aside in this very moment; or one that is waking: then its task hears of it.
            if !self.end_parked(&id, &entry.session, reason.to_owned()).await
                && let Some(Entry { task: Task::Live(live), .. }) = self.runs.get(&id)
            {
                live.stop.send(reason);
                live.over.cancelled().await;
            }
        }
    }

    /// Says something to a run; to the newest if none is named.
    ///
    /// # Errors
    /// `NotFound` if it has no task; `Busy` if it does not take messages fast enough.
    pub(crate) fn tell(&self, run: Option<&RunId>, message: Message) -> Result<(), ErrorView> {
        let (id, entry) = match run {
            Some(run) => (run.clone(), self.runs.get(run).ok_or_else(|| not_under_way(run))?),
            None => self
                .runs
                .newest()
                .ok_or_else(|| ErrorView::new(ErrorCode::NotFound, "no run is under way"))?,
        };
        let Task::Live(live) = entry.task else {
            return Err(ErrorView::new(ErrorCode::NotFound, format!("run {id} waits for an answer"))
                .with_hint("answer its question, or stop it"));
        };
        live.mailbox.try_send(message).map_err(|error| match error {
            tokio::sync::mpsc::error::TrySendError::Closed(_) => not_under_way(&id),
            tokio::sync::mpsc::error::TrySendError::Full(_) => {
                ErrorView::new(ErrorCode::Busy, format!("run {id} has not taken the last messages yet"))
                    .with_hint("try again in a moment")
            }
        })
    }

    /// Where everything stands.
    ///
    /// # Errors
    /// `Storage`.
    pub async fn overview(&self) -> Result<Overview, ErrorView> {
        let unattended = self.unattended();
        let (seq, sessions, questions, open) = self
            .log
            .read(|journal| {
                Ok((
                    journal.last_seq()?,
                    with_pinned(
                        journal.sessions(Which::Open, None, USUAL)?,
                        journal.sessions(Which::Pinned, None, USUAL)?,
                    ),
                    journal.questions()?,
                    journal.running()?,
                ))
            })
            .await?;
        Ok(Overview {
            seq,
            settings: self.settings(),
            sessions,
            questions,
            runs: self.statuses(open, &unattended),
            desktop: self.seats.shared.view(),
            version: self.version.clone(),
            platform: PLATFORM,
        })
    }

    /// Runs that have not ended, oldest first.
    ///
    /// # Errors
    /// `Storage`.
    pub async fn list_runs(&self) -> Result<Vec<RunStatus>, ErrorView> {
        let unattended = self.unattended();
        let open = self.log.read(|journal| journal.running()).await?;
        Ok(self.statuses(open, &unattended))
    }

    /// Runs that have no end, and nothing works at them. Asked for before the journal is read: between the two
    /// one may be ended.
    fn unattended(&self) -> Vec<RunId> {
        locked(&self.to_carry_on).iter().filter_map(|run| run.scope.run.clone()).collect()
    }

    fn statuses(&self, open: Vec<(Scope, RunSpec)>, unattended: &[RunId]) -> Vec<RunStatus> {
        let statuses = self.log.statuses();
        open.into_iter()
            .filter_map(|(scope, spec)| {
                let (session, run) = (scope.session?, scope.run.filter(|run| !unattended.contains(run))?);
                let of_run = |(scope, _): &&(Scope, Status)| scope.run.as_ref() == Some(&run);
                let status =
                    statuses.iter().find(of_run).map(|(_, status)| status.clone()).unwrap_or_default();
                Some(RunStatus { goal: spec.told().to_owned(), session, run, status, parent: spec.parent })
            })
            .collect()
    }

    /// # Errors
    /// `NotFound` for a stream that does not exist, or a page beyond its end; `BadRequest` for a limit out of range.
    pub async fn read_events(&self, command: ReadEvents) -> Result<EventPage, ErrorView> {
        let ReadEvents { stream, before, after, limit } = command;
        check_page(limit)?;
        if before.is_some() && after.is_some() {
            return Err(ErrorView::new(
                ErrorCode::BadRequest,
                "a page is before a number or after one, not both",
            ));
        }
        self.log.read(move |journal| journal.page(&stream, before, after, limit)).await
    }

    /// A session that there is.
    ///
    /// # Errors
    /// `NotFound`, `Storage`.
    pub async fn session(&self, session: &SessionId) -> Result<SessionView, ErrorView> {
        let id = session.clone();
        self.log.read(move |journal| journal.session(&id)).await?.ok_or_else(|| {
            ErrorView::new(ErrorCode::NotFound, format!("session {session} does not exist"))
                .with_hint("the dashboard lists those there are")
        })
    }

    /// The file first, the event then; if there is no event, the file is as it was.
    ///
    /// # Errors
    /// `BadRequest` with the range, `Storage`; nothing is changed then.
    pub async fn update_settings(
        &self,
        patch: &SettingsPatch,
        by: &Principal,
    ) -> Result<Settings, ErrorView> {
        let _one_at_a_time = self.saving.lock().await;
        self.check_open()?;
        let old = self.settings();
        let next = old.patched(patch)?;
        if !prompts::knows_zone(&next.time_zone) {
            let message = format!("setting timeZone = {:?} is not known to this machine", next.time_zone);
            return Err(ErrorView::new(ErrorCode::BadRequest, message)
                .with_hint("for example Asia/Tokyo or UTC; empty for the system's"));
        }
        // Under the lock: what was no loosening when it was sent may be one now.
        if let Some(what) = old.loosened_by(&next) {
            rights::may_loosen(self, by, "update_settings", what).await?;
        }
        self.change_settings(old, next).await
    }

    /// Whoever has this changes the settings.
    pub(crate) async fn saving(&self) -> tokio::sync::MutexGuard<'_, ()> {
        self.saving.lock().await
    }

    /// The user has allowed it beyond the run that asked. What has run out goes.
    pub(crate) async fn keep_grants(
        &self,
        grants: Vec<StandingGrant>,
        _one_at_a_time: &tokio::sync::MutexGuard<'_, ()>,
    ) -> Result<(), ErrorView> {
        let (old, now) = (self.settings(), self.log.now());
        let mut next = old.clone();
        let is_other = |one: &StandingGrant| {
            !grants.iter().any(|grant| (&one.tool, &one.app) == (&grant.tool, &grant.app))
        };
        next.grants.retain(|one| is_other(one) && one.until.is_none_or(|until| until > now));
        next.grants.extend(grants);
        if next == old {
            return Ok(());
        }
        self.change_settings(old, next).await.map(drop)
    }

    /// What a yes that was taken back had allowed beyond its run.
    pub(crate) async fn drop_grants(&self, touches: &[Grant]) -> Result<(), ErrorView> {
        let _one_at_a_time = self.saving().await;
        let old = self.settings();
        let mut next = old.clone();
        next.grants.retain(|one| {
            !touches.iter().any(|grant| grant.tool == one.tool && grant.app.as_ref() == Some(&one.app))
        });
        if next == old { Ok(()) } else { self.change_settings(old, next).await.map(drop) }
    }

    async fn change_settings(&self, old: Settings, next: Settings) -> Result<Settings, ErrorView> {
        self.save(next.clone()).await?;
        // Before anyone hears of it: who does may ask at once.
        *locked(&self.settings) = next.clone();
        let changed = EventBody::SettingsChanged { settings: Box::new(next.clone()) };
        if let Err(error) = self.log.append(Scope::default(), changed).await {
            *locked(&self.settings) = old.clone();
            if let Err(unsaved) = self.save(old).await {
                tracing::error!("the old settings cannot be written back: {unsaved}");
            }
            return Err(error);
        }
        self.tools.keep_corner(next.failsafe);
        Ok(next)
    }

    async fn save(&self, settings: Settings) -> Result<(), ErrorView> {
        let store = self.store.clone();
        let saved = tokio::task::spawn_blocking(move || store.save(&settings)).await;
        saved.unwrap_or_else(|panic| {
            Err(ErrorView::new(ErrorCode::Internal, format!("the settings' thread ended: {panic}")))
        })
    }

    /// The end of a run whose task broke down.
    pub(crate) async fn ended_badly(&self, scope: Scope) {
        if let Some(run) = &scope.run {
            self.seats.release_if_held_by(run);
        }
        let message = "the run broke down; this is a defect of miki".to_owned();
        let end = RunEnd::Failed { message, hint: Some("start it again; the log has the details".into()) };
        if let Err(error) = self.end_open_run(&scope, end).await {
            tracing::error!("its end cannot be written: {error}");
        }
        self.log.set_status(scope, Status::default());
    }

    async fn end_open_run(&self, scope: &Scope, end: RunEnd) -> Result<(), ErrorView> {
        let open = self.log.read(|journal| journal.open_runs()).await?;
        match open.into_iter().find(|open| open.scope.run == scope.run) {
            Some(run) => recovery::end_run(&self.log, run, end).await,
            None => Ok(()),
        }
    }

    /// Tells every surface something that belongs to no call.
    ///
    /// # Errors
    /// `Storage`.
    pub async fn note(&self, level: Level, message: String, hint: Option<String>) -> Result<(), ErrorView> {
        self.log.append(Scope::default(), EventBody::Noted { level, message, hint }).await.map(drop)
    }

    /// Stops whatever runs, releases what is held, and lets nothing new begin. What waits for an answer goes on waiting.
    pub async fn shutdown(&self) {
        self.leave();
        self.runs.none_live().await;
        self.seats.release_all();
    }

    /// The short part of [`Self::shutdown`].
    pub fn leave(&self) {
        self.leaving.cancel();
        self.runs.close();
        self.stop_at_once(None, LEFT);
    }
}

/// The corner and Escape stop everything; the user's mouse and keyboard pause the run that has the desktop.
async fn watch_the_user(engine: Weak<Engine>) {
    loop {
        let Some(one) = engine.upgrade() else { return };
        let leaving = one.leaving.clone();
        tokio::select! {
            () = leaving.cancelled() => return,
            () = one.runs.some_open() => {}
        }
        // From here on nothing is missed until every run has ended.
        let mut next = one.tools.interrupted();
        loop {
            let how = tokio::select! {
                biased;
                how = &mut next => how,
                () = one.runs.none_open() => break,
                () = leaving.cancelled() => return,
            };
            next = one.tools.interrupted();
            one.interrupted(how);
            tokio::time::sleep(BREATH).await;
        }
    }
}

impl Engine {
    fn interrupted(self: &Arc<Self>, how: Interruption) {
        let settings = self.settings();
        match how {
            Interruption::Corner | Interruption::Escape if !settings.failsafe => {}
            Interruption::Corner => {
                self.stop_everything("failsafe: the pointer was put into the top left corner");
            }
            Interruption::Escape => self.stop_everything("failsafe: escape was held down"),
            Interruption::UserInput if !settings.pause_on_user_input => {}
            Interruption::UserInput => {
                let tell = |engine: &Arc<Self>, run: &RunId| {
                    if let Err(error) = engine.tell(Some(run), Message::UserInput) {
                        tracing::debug!("the user's input concerns no run: {error}");
                    }
                };
                if let Some(run) = self.seats.shared.user_meets() {
                    tell(self, &run);
                }
                // One with hands of its own is met in its window alone.
                let engine = self.clone();
                tokio::spawn(async move {
                    for run in engine.seats.met_in_their_window().await {
                        tell(&engine, &run);
                    }
                });
            }
        }
    }

    /// As if its user had gone into the window that a run works in: what it does there ends first.
    ///
    /// # Errors
    /// `NotFound` if it is not under way; `Busy` if it does not pause.
    pub(crate) async fn take_over(self: &Arc<Self>, run: &RunId) -> Result<(), ErrorView> {
        self.tell(Some(run), Message::UserInput)?;
        let end = tokio::time::Instant::now() + TAKEN_WITHIN;
        loop {
            let runs = self.list_runs().await?;
            let rests = |one: &RunStatus| one.status.paused || one.status.activity == Activity::Waiting;
            if runs.iter().find(|one| one.run == *run).is_none_or(rests) {
                return Ok(());
            }
            if tokio::time::Instant::now() >= end {
                return Err(ErrorView::new(ErrorCode::Busy, "the run does not pause").with_hint("stop it"));
            }
            tokio::time::sleep(BETWEEN_LOOKS).await;
        }
    }

    /// Also runs without a task: a question that is open is nobody's any more.
    fn stop_everything(self: &Arc<Self>, reason: &'static str) {
        let stopped = self.stop_at_once(None, reason);
        let engine = self.clone();
        tokio::spawn(async move { engine.see_to_the_end(stopped, reason).await });
    }
}

/// # Errors
/// `BadRequest` for a text that is longer than `most` characters.
pub(crate) fn check_length(what: &str, text: &str, most: usize) -> Result<(), ErrorView> {
    let length = text.chars().count();
    if length <= most {
        return Ok(());
    }
    let message = format!("the {what} has {length} characters; at most {most} are taken");
    Err(ErrorView::new(ErrorCode::BadRequest, message))
}

pub(crate) fn check_page(limit: u32) -> Result<(), ErrorView> {
    if (1..=PAGE).contains(&limit) {
        return Ok(());
    }
    Err(ErrorView::new(ErrorCode::BadRequest, format!("limit = {limit} is outside 1-{PAGE}")))
}

/// A panic under these locks leaves nothing half done.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

pub(crate) fn fresh() -> uuid::fmt::Simple {
    uuid::Uuid::now_v7().simple()
}

/// Why a run was stopped or paused, for people.
pub(crate) fn by(surface: Surface) -> String {
    let place = match surface {
        Surface::Dashboard => "in the dashboard",
        Surface::Chat => "in the chat widget",
        Surface::Overlay => "in the overlay",
        Surface::Tray => "in the tray menu",
        Surface::Cli => "on the command line",
        Surface::Deadline => "by a deadline",
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
