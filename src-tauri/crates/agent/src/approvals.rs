//! Questions to the user: rows in the journal, decided exactly once, whether their run has a task or not.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use journal::{Decided, PlanState};
use protocol::command::AnswerApproval;
use protocol::contract::About;
use protocol::event::{Activity, RunEnd, Scope, Status};
use protocol::ids::{ApprovalId, RunId, SessionId, Timestamp};
use protocol::principal::Surface;
use protocol::settings::StandingGrant;
use protocol::tool::{Answer, Approval, Grant, Until};
use protocol::{ErrorCode, ErrorView, EventBody};
use tokio::task::AbortHandle;
use tokio::time::Instant;
use tools::Meanwhile;

use crate::engine::Engine;
use crate::ledger::{self, Sum};
use crate::recovery;
use crate::run::{LATE_NO, Message, status};
use crate::runs::{Entry, Task};
use crate::start::live;

/// How long after an agent's act an answer from a terminal may be of its hands.
const HANDS: Duration = Duration::from_secs(1);
/// In milliseconds.
const A_DAY: i64 = 24 * 60 * 60 * 1000;

/// A question with the answer that counts.
#[derive(Clone, Debug)]
pub struct GivenAnswer {
    pub question: Approval,
    pub answer: Answer,
    pub by: Surface,
    pub at: Timestamp,
    pub meanwhile: Meanwhile,
}

/// How a yes was taken back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TakenBack {
    Paused,
    /// Its run has ended.
    Over,
}

/// Says no to what nobody has answered in time.
pub struct Deadlines {
    engine: Weak<Engine>,
    timers: Mutex<BTreeMap<ApprovalId, Timer>>,
}

struct Timer {
    handle: AbortHandle,
    /// How often the user had pressed something elsewhere when its screen was looked at.
    presses: u64,
    asked: Instant,
}

impl Deadlines {
    pub fn new(engine: Weak<Engine>) -> Self {
        Self { engine, timers: Mutex::default() }
    }

    /// The monotonic clock decides, so that a changed wall clock neither hurries nor stalls it.
    pub fn arm(&self, approval: ApprovalId, within: Duration, presses: u64) {
        let (engine, id) = (self.engine.clone(), approval.clone());
        let timer = tokio::spawn(async move {
            tokio::time::sleep(within).await;
            let Some(engine) = engine.upgrade() else { return };
            if let Err(error) = engine.let_lapse(&id).await {
                tracing::error!("the question {id} did not lapse: {error}");
            }
        });
        self.timers()
            .insert(approval, Timer { handle: timer.abort_handle(), presses, asked: Instant::now() });
    }

    /// When it was asked; `None` if it was asked before the program was started again.
    fn asked(&self, approval: &ApprovalId) -> Option<Instant> {
        self.timers().get(approval).map(|timer| timer.asked)
    }

    /// Of a question that is open no more.
    fn disarm(&self, approval: &ApprovalId) {
        // A timer that decided it is running right now and must not be cut off: it removes itself from the list alone.
        self.timers().remove(approval);
    }

    pub fn cancel(&self, approval: &ApprovalId) {
        if let Some(timer) = self.timers().remove(approval) {
            timer.handle.abort();
        }
    }

    fn presses(&self, approval: &ApprovalId) -> Option<u64> {
        self.timers().get(approval).map(|timer| timer.presses)
    }

    fn timers(&self) -> MutexGuard<'_, BTreeMap<ApprovalId, Timer>> {
        self.timers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Engine {
    /// Decides an open question and lets its run go on.
    ///
    /// # Errors
    /// `NotFound` if it is not open; `BadRequest` if the digest is of another call, or if a consequential call is to be
    /// allowed for the session.
    pub async fn answer_approval(
        self: &Arc<Self>,
        command: AnswerApproval,
        by: Surface,
    ) -> Result<(), ErrorView> {
        let AnswerApproval { approval, digest, mut answer } = command;
        let id = approval.clone();
        let asked = self.log.read(move |journal| journal.approval(&id)).await?;
        let Some((question, _, true)) = asked else { return Err(not_open(&approval)) };
        if by == Surface::Cli && answer != Answer::Deny && self.may_be_typed_by_an_agent(&approval) {
            let message =
                "an agent is acting on the screen just now, and may have typed this: nothing was answered";
            return Err(ErrorView::new(ErrorCode::Busy, message).with_hint("answer again in a moment"));
        }
        let may_be = match answer {
            Answer::Until { until: Until::Run } => question.for_run().is_some(),
            _ => question.for_session().is_some(),
        };
        if answer.allows_more() && !may_be {
            let message = match question.for_run() {
                Some(_) => "its run asks about every step: allow it once, or until the run ends",
                None => {
                    "this is approved each time, not for longer: it cannot be undone, or goes to several places or to \
                     none that is known"
                }
            };
            return Err(ErrorView::new(ErrorCode::BadRequest, message));
        }
        let is_for_long = matches!(answer, Answer::Until { until: Until::Day | Until::Always });
        if is_for_long && !by.is_window() {
            let message = "only one of Miki's windows allows something beyond the run and its session";
            return Err(ErrorView::new(ErrorCode::Forbidden, message));
        }
        if let Answer::Edit { arguments } = &mut answer {
            let bad = |message: String| ErrorView::new(ErrorCode::BadRequest, message);
            match &*question.about {
                About::Plan { .. } => {
                    let edited = self.tools.contract(std::mem::take(arguments)).await;
                    let edited = edited.map_err(|error| bad(error.message))?;
                    *arguments = serde_json::to_value(edited).map_err(|error| {
                        ErrorView::new(ErrorCode::Internal, format!("a plan cannot be kept: {error}"))
                    })?;
                }
                About::Call { .. } | About::Elicitation(_) => {
                    if let Some(error) = self.fault_of(&question.call.tool, arguments.clone()).await {
                        return Err(bad(error));
                    }
                }
                About::Result { .. } => return Err(bad("what the checks found cannot be changed".into())),
            }
        }
        let until = match answer {
            Answer::Until { until: Until::Day } => Some(Some(Timestamp(self.log.now().0 + A_DAY))),
            Answer::Until { until: Until::Always } => Some(None),
            _ => None,
        };
        // A no that comes after it finds what it allowed, or waits.
        let saving = if until.is_some() { Some(self.saving().await) } else { None };
        self.decide(&approval, &digest, answer, by).await?;
        self.deadlines.cancel(&approval);
        if let Some((until, saving)) = until.zip(saving.as_ref()) {
            let all: BTreeSet<Grant> = question.touches.into_iter().collect();
            let standing = |Grant { tool, app }| app.map(|app| StandingGrant { tool, app, until });
            self.keep_grants(all.into_iter().filter_map(standing).collect(), saving).await?;
        }
        Ok(())
    }

    /// Whether an agent has acted on the screen since it was asked, right before now: of another run, since its own waits.
    fn may_be_typed_by_an_agent(&self, approval: &ApprovalId) -> bool {
        let asked = self.deadlines.asked(approval);
        self.tools
            .last_act()
            .is_some_and(|acted| asked.is_none_or(|asked| acted > asked) && acted.elapsed() < HANDS)
    }

    /// A no that came after a yes: its run is paused, and what the yes allowed for longer is not allowed any more: for the
    /// run, its session, a day or from now on, by a plan, at a host. `None` if it was not allowed.
    ///
    /// # Errors
    /// `Storage`.
    pub(crate) async fn take_back_yes(
        self: &Arc<Self>,
        approval: ApprovalId,
    ) -> Result<Option<TakenBack>, ErrorView> {
        let given = self.log.read(move |journal| {
            Ok(match journal.allowed(&approval)? {
                Some(allowed) => journal.approval(&approval)?.map(|asked| (allowed, asked)),
                None => None,
            })
        });
        let Some(((run, answer), (question, scope, _))) = given.await? else { return Ok(None) };
        if let Answer::Until { until: Until::Day | Until::Always } = answer {
            self.drop_grants(&question.touches).await?;
        }
        let told = match self.runs.get(&run).filter(Entry::is_parked) {
            Some(entry) => self.take_back_parked(&run, entry, &question, &answer).await,
            None => self.tell(Some(&run), late_no(&question, &answer)),
        };
        match told {
            Ok(()) => Ok(Some(TakenBack::Paused)),
            Err(error) if error.code == ErrorCode::NotFound => {
                self.forget_yes(&scope, &question, &answer, &[]).await?;
                Ok(Some(TakenBack::Over))
            }
            Err(error) => Err(error),
        }
    }

    async fn take_back_parked(
        self: &Arc<Self>,
        run: &RunId,
        entry: Entry,
        question: &Approval,
        answer: &Answer,
    ) -> Result<(), ErrorView> {
        let scope = Scope { session: Some(entry.session.clone()), run: Some(run.clone()), agent: None };
        let open = self.log.read(|journal| journal.open_runs()).await?;
        let open = open.into_iter().find(|open| open.scope.run.as_ref() == Some(run));
        let (plan, granted) = open.map(|open| (open.plan.agreed_in, open.granted)).unwrap_or_default();
        self.forget_yes(&scope, question, answer, &granted).await?;
        if plan.as_ref() == Some(&question.id) {
            let grant = PlanState::taken_back();
            self.log.append(scope, EventBody::GrantTakenBack { grant }).await?;
        }
        self.pause_parked(run, entry, Message::Pause { reason: LATE_NO.into() }).await?;
        // Its own answer may have woken it meanwhile: it may have read the journal before.
        match self.runs.get(run) {
            Some(entry) if !entry.is_parked() => self.tell(Some(run), late_no(question, answer)),
            Some(_) | None => Ok(()),
        }
    }

    /// Of a run without a task, to which these were granted.
    async fn forget_yes(
        &self,
        scope: &Scope,
        question: &Approval,
        answer: &Answer,
        granted: &[(Grant, Until)],
    ) -> Result<(), ErrorView> {
        let Some(session) = &scope.session else { return Ok(()) };
        let grants = self.grants(session);
        let locked = || grants.lock().unwrap_or_else(PoisonError::into_inner);
        locked().unvisit(&question.hosts);
        if !matches!(answer, Answer::Thread | Answer::Until { .. }) {
            return Ok(());
        }
        for grant in &question.touches {
            let was_allowed = locked().take_back(grant) || granted.iter().any(|(one, _)| one == grant);
            if was_allowed {
                self.log.append(scope.clone(), EventBody::GrantTakenBack { grant: grant.clone() }).await?;
                self.log.change_status(scope.clone(), |status| status.grants.retain(|one| one != grant));
            }
        }
        Ok(())
    }

    async fn let_lapse(self: &Arc<Self>, approval: &ApprovalId) -> Result<(), ErrorView> {
        let id = approval.clone();
        let asked = self.log.read(move |journal| journal.approval(&id)).await?;
        if let Some((question, _, true)) = asked {
            self.decide(approval, &question.digest, Answer::Deny, Surface::Deadline).await?;
        }
        self.deadlines.disarm(approval);
        Ok(())
    }

    async fn decide(
        self: &Arc<Self>,
        approval: &ApprovalId,
        digest: &str,
        answer: Answer,
        by: Surface,
    ) -> Result<(), ErrorView> {
        match self.log.decide(approval, digest, answer.clone(), by).await? {
            Decided::Answered(question, event) => {
                let meanwhile = self.meanwhile(approval, by);
                let given = GivenAnswer { question, answer, by, at: event.time, meanwhile };
                self.tell_run(given, event.scope).await;
                Ok(())
            }
            Decided::NotOpen => Err(not_open(approval)),
            Decided::OtherCall => {
                Err(ErrorView::new(ErrorCode::BadRequest, format!("approval {approval} is for another call")))
            }
        }
    }

    /// What is said in a terminal is itself pressed in a window of another.
    fn meanwhile(&self, approval: &ApprovalId, by: Surface) -> Meanwhile {
        let is_in_ours = matches!(by, Surface::Dashboard | Surface::Chat);
        match self.deadlines.presses(approval) {
            Some(before) if is_in_ours && self.tools.presses() != before => Meanwhile::Used,
            Some(_) | None => Meanwhile::Idle,
        }
    }

    /// It is decided; here it is only told. Whoever decided it is the only one who comes here for it.
    async fn tell_run(self: &Arc<Self>, given: GivenAnswer, scope: Scope) {
        let Some(run) = scope.run.clone() else { return };
        match self.runs.get(&run).map(|entry| entry.task) {
            Some(Task::Live(live)) => {
                let message = Message::Answered(Box::new(given.clone()));
                if live.mailbox.send(message).await.is_err() {
                    // It was put aside in this very moment, or has ended.
                    live.over.cancelled().await;
                    if self.runs.get(&run).is_some_and(|entry| entry.is_parked()) {
                        self.wake_or_end(scope, given).await;
                    }
                }
            }
            Some(Task::Parked) => self.wake_or_end(scope, given).await,
            None => {}
        }
    }

    /// Goes on with a run that has no task, or says why that cannot be.
    pub async fn wake_or_end(self: &Arc<Self>, scope: Scope, given: GivenAnswer) {
        let Some(entry) = scope.run.as_ref().and_then(|run| self.runs.get(run)) else { return };
        // They are to hear of it, and it may ask the one above it.
        self.wait_again(entry.spec.parent.as_ref()).await;
        self.go_on(scope, Some(given)).await;
    }

    /// Lets a run without a task, and those above it, wait again for their agents. One that asks its user does not.
    async fn wait_again(self: &Arc<Self>, run: Option<&RunId>) {
        let line = run.map(|run| self.runs.line(run)).unwrap_or_default();
        let is_parked = |run: &RunId| self.runs.get(run).is_some_and(|entry| entry.is_parked());
        if !line.iter().any(is_parked) {
            return;
        }
        let open = match self.log.read(|journal| journal.open_runs()).await {
            Ok(open) => open,
            Err(error) => return tracing::error!("who waits for agents cannot be read: {error}"),
        };
        for above in line.iter().rev() {
            let found = open.iter().find(|open| open.scope.run.as_ref() == Some(above));
            if let Some(open) = found.filter(|open| open.waits_for_agents().is_some()) {
                self.go_on(open.scope.clone(), None).await;
            }
        }
    }

    /// Without an answer it waits on for its agents.
    async fn go_on(self: &Arc<Self>, scope: Scope, given: Option<GivenAnswer>) {
        let Some(run) = scope.run.clone() else { return };
        // From here on it has a task: a stop reaches it, whatever it takes to open its model.
        let (live, mailbox) = live();
        if !self.runs.unpark(&run, live.clone()) {
            return;
        }
        let Err(error) = self.wake(scope.clone(), given, live.clone(), mailbox).await else { return };
        tracing::warn!("run {run} cannot go on: {error}");
        let end = RunEnd::Interrupted { reason: Some(error.message) };
        if let Err(error) = recovery::write_end(&self.log, scope.clone(), end).await {
            tracing::error!("its end cannot be written: {error}");
        }
        self.run_is_over(&run);
        self.log.set_status(scope, Status::default());
        live.over.cancel();
    }

    /// Goes on with a paused run that has no task.
    ///
    /// # Errors
    /// Why it cannot; it waits on then.
    async fn wake_held(self: &Arc<Self>, scope: Scope, run: &RunId) -> Result<(), ErrorView> {
        self.check_open()?;
        let (live, mailbox) = live();
        if !self.runs.unpark(run, live.clone()) {
            // Somebody else has just said so.
            return self.tell(Some(run), Message::Resume);
        }
        let woken = self.wake(scope, None, live.clone(), mailbox).await;
        if woken.is_err() {
            self.runs.park(run);
            live.over.cancel();
        }
        woken
    }

    /// Takes a run of an earlier process among those that have not ended, with its question open.
    /// `below` is what agents used that it started and that have ended.
    pub fn adopt(&self, waiting: &journal::OpenRun, below: Sum) -> Result<(), ErrorView> {
        let (Some(session), Some(run)) = (waiting.scope.session.clone(), waiting.scope.run.clone()) else {
            return Ok(());
        };
        let entry = Entry { session, spec: Arc::new(waiting.spec.clone()), task: Task::Parked };
        self.runs.insert(run.clone(), entry, None)?;
        let progress = waiting.budget.progress(&waiting.plan, self.log.now());
        let most = ledger::bounds(&progress);
        self.ledger.open(run.clone(), waiting.spec.parent.clone(), most, below);
        self.ledger.note(&run, most, Sum::of(&waiting.budget.meter.used));
        if let Some(approval) = &waiting.approval {
            // The time in which nobody could answer does not count.
            let left = u64::try_from(approval.deadline.0.saturating_sub(self.log.now().0)).unwrap_or(0);
            let within = left.max(self.settings().approval_deadline_ms);
            self.deadlines.arm(approval.id.clone(), Duration::from_millis(within), self.tools.presses());
        }
        Ok(())
    }

    /// Shows where a run of an earlier process stands, once all of its tree were taken in.
    pub fn show_adopted(&self, waiting: journal::OpenRun) {
        let detail = match (&waiting.approval, waiting.waits_for_agents()) {
            (Some(approval), _) => status::asks(approval),
            (None, Some(_)) if waiting.paused.is_none() => status::AGENT_WAITS.to_owned(),
            (None, _) => "paused".to_owned(),
        };
        let mut progress = waiting.budget.progress(&waiting.plan, self.log.now());
        progress.forecast = waiting.spec.forecast;
        if let Some(run) = &waiting.scope.run {
            self.ledger.below(run).add_to(&mut progress);
        }
        let status = Status {
            activity: Activity::Waiting,
            detail,
            step: waiting.turn,
            max_steps: waiting.budget.meter.most().steps.unwrap_or(waiting.spec.max_steps),
            paused: waiting.paused.is_some(),
            wants_word: waiting.budget.used_up.is_some(),
            used_up: waiting.budget.waits_for(&waiting.plan).map(Box::new),
            asks_above: false,
            grants: status::grants([], &waiting.granted),
            progress: Some(Box::new(progress)),
        };
        self.log.set_status(waiting.scope, status);
    }

    /// Pauses a run that waits without a task, or lets it go on: the journal keeps that, and it holds when it is answered. One
    /// that waits for nothing else goes on at once.
    ///
    /// # Errors
    /// `Storage`; as [`Engine::tell`] if it has just come to a task.
    pub async fn pause_parked(
        self: &Arc<Self>,
        run: &RunId,
        entry: Entry,
        message: Message,
    ) -> Result<(), ErrorView> {
        let scope = Scope { session: Some(entry.session), run: Some(run.clone()), agent: None };
        let open = self.log.read(|journal| journal.open_runs()).await?;
        let before = open.into_iter().find(|open| open.scope.run.as_ref() == Some(run));
        let is_paused = matches!(message, Message::Pause { .. });
        if let Some(open) = before.as_ref().filter(|open| !is_paused && open.is_held()) {
            // They are to hear of it.
            self.wait_again(open.spec.parent.as_ref()).await;
            return self.wake_held(open.scope.clone(), run).await;
        }
        let waits_for_agents = before.as_ref().is_some_and(|open| open.waits_for_agents().is_some());
        let was_paused = before.is_some_and(|open| open.paused.is_some());
        let body = match &message {
            Message::Pause { reason } => EventBody::RunPaused { reason: reason.clone() },
            _ => EventBody::RunResumed,
        };
        if is_paused != was_paused {
            // Up to now nothing has worked at it.
            if is_paused && waits_for_agents {
                self.log.append(scope.clone(), EventBody::RunResumed).await?;
            }
            self.log.append(scope.clone(), body).await?;
        }
        // It may have been answered meanwhile, and have looked into the journal before.
        if self.runs.get(run).is_some_and(|entry| !entry.is_parked()) {
            return self.tell(Some(run), message);
        }
        let status = self.log.statuses().into_iter().find(|(of, _)| of.run.as_ref() == Some(run));
        if let Some((scope, status)) = status {
            self.log.set_status(scope, Status { paused: is_paused, ..status });
        }
        Ok(())
    }

    /// Ends a run that waits for an answer without a task; `false` if it has one, or has ended.
    pub async fn end_parked(self: &Arc<Self>, run: &RunId, session: &SessionId, reason: String) -> bool {
        let spec = self.runs.get(run).map(|entry| entry.spec);
        if !self.runs.remove_parked(run) {
            return false;
        }
        let scope = Scope { session: Some(session.clone()), run: Some(run.clone()), agent: None };
        // On disk before its end is: whatever becomes of Miki until then, it does not go on by itself.
        if spec.as_ref().is_some_and(|spec| spec.carries_on()) {
            let paused = EventBody::RunPaused { reason: reason.clone() };
            if let Err(error) = self.log.append(scope.clone(), paused).await {
                tracing::error!("that run {run} is stopped cannot be written: {error}");
            }
        }
        self.run_is_over(run);
        let end = RunEnd::Stopped { reason };
        if let Err(error) = recovery::write_end(&self.log, scope.clone(), end).await {
            tracing::error!("the end of run {run} cannot be written: {error}");
        }
        self.log.set_status(scope, Status::default());
        // Its end is on disk, where who waits for it reads it.
        self.wait_again(spec.as_ref().and_then(|spec| spec.parent.as_ref())).await;
        true
    }
}

fn late_no(question: &Approval, answer: &Answer) -> Message {
    Message::LateNo { question: Box::new(question.clone()), answer: answer.clone() }
}

fn not_open(approval: &ApprovalId) -> ErrorView {
    ErrorView::new(
        ErrorCode::NotFound,
        format!("approval {approval} is not open (answered, late or unknown)"),
    )
}
