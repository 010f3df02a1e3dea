//! How a run comes to be, and how one that was put aside goes on.

use std::sync::{Arc, Mutex, PoisonError};

use futures::FutureExt;
use journal::OpenRun;
use journal::forecast::forecast;
use models::{RetryPolicy, SharedModel};
use protocol::budget::Forecast;
use protocol::command::{Recording, RunOverrides, StartRun, StartedRun, Unattended};
use protocol::event::Scope;
use protocol::ids::{AgentId, ModelId, RunId, SessionId};
use protocol::principal::Surface;
use protocol::run::{CARRY_ON, RunSpec};
use protocol::settings::Settings;
use protocol::tool::{ApprovalMode, Mode};
use protocol::{ErrorCode, ErrorView, EventBody};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;
use tools::{Grants, Group, Ports};

use crate::agents::OfRun;
use crate::approvals::GivenAnswer;
use crate::cancellation::StopSignal;
use crate::context::{Bounds, Context, Earlier};
use crate::engine::{Engine, check_length, fresh};
use crate::history::{self, Rebuilt};
use crate::ledger::Sum;
use crate::machine::Rules;
use crate::offer::Offer;
use crate::ports::OpenModel;
use crate::prompts;
use crate::recovery::GO_ON;
use crate::run::{Begin, CAPACITY, Ending, Message, Run, Waited, Woken, drive};
use crate::runs::{Entry, Live, Task};
use crate::sessions::{chosen, told};

/// Characters of a goal that make a session's title.
const TITLE_CHARS: usize = 60;
/// Characters of what a user says at once.
pub(crate) const GOAL_CHARS: usize = 100_000;
/// Events that are read for a message of the conversation: a turn has two messages, and an event or three for each call.
const EVENTS_PER_MESSAGE: u32 = 16;

impl Engine {
    /// Starts the work on a goal.
    ///
    /// # Errors
    /// As [`crate::AgentHandle::start_run`] has it.
    pub(crate) async fn start_run(
        self: &Arc<Self>,
        command: StartRun,
        surface: Surface,
    ) -> Result<StartedRun, ErrorView> {
        self.check_open()?;
        if command.overrides.recording.is_some() && surface != Surface::Cli {
            return Err(ErrorView::new(
                ErrorCode::BadRequest,
                "a run is recorded and replayed by the command line only",
            )
            .with_hint("miki run --record FILE \"GOAL\""));
        }
        check_length("goal", &command.goal, GOAL_CHARS)?;
        if command.goal.trim().is_empty() {
            return Err(ErrorView::new(ErrorCode::BadRequest, "the goal is empty")
                .with_hint("say what is to be done"));
        }
        let over = &command.overrides;
        let mut settings = self.with_overrides(over)?;
        let known = match &command.session {
            Some(session) => {
                self.runs.free(session).await?;
                Some(self.open_one(session).await?)
            }
            None => None,
        };
        let search = over.search.or(known.as_ref().map(|session| session.search)).unwrap_or(false);
        let what = OpenModel { search, recording: over.recording.as_ref(), ..OpenModel::of(&settings) };
        let model = self.models.open(what).await?;
        if let Some(Recording::Replay(_)) = over.recording {
            settings.model = model.id().clone();
        }
        let (mode, approval) = match &known {
            Some(session) => (session.mode, session.approval),
            None => (settings.mode, settings.approval),
        };
        let of_session = known.as_ref().and_then(|session| session.space.clone());
        // A session that begins in a folder of its own keeps it.
        let begins_in = over.space.clone().filter(|_| known.is_none());
        let session = known.map(|session| session.id);
        let (mode, approval) = (over.mode.unwrap_or(mode), over.approval.unwrap_or(approval));
        // Where nothing is asked there is nothing to agree to.
        let plan = over.plan.unwrap_or(settings.plan) && mode == Mode::Act && approval != ApprovalMode::Auto;
        let carries_on = over.carry_on.unwrap_or(settings.carry_on) && over.recording.is_none();
        let (goal, user_goal) = match over.goes_on {
            true => (format!("{GO_ON}{}", command.goal), Some(command.goal)),
            false => (command.goal, None),
        };
        let spec = RunSpec {
            goal,
            model: settings.model.clone(),
            base_url: over.base_url.clone(),
            mode,
            approval,
            max_steps: settings.max_steps,
            most: settings.most(),
            forecast: self.forecast(&settings.model).await?,
            search,
            fence: Some(settings.fence()),
            unattended: over.unattended,
            space: over.space.clone().or(of_session).or_else(|| Some(settings.space.clone())),
            parent: None,
            recording: over.recording.clone(),
            plan,
            user_goal,
            groups: over.groups.clone(),
            conducts: over.conducts,
            carry_on: if carries_on { CARRY_ON } else { 0 },
        };
        // On a task of its own: a caller that goes away must not leave half a run, nor one that nobody waits for.
        let (engine, gone) = (self.clone(), CancellationToken::new());
        let left = gone.clone().drop_guard();
        let began = tokio::spawn(async move {
            if gone.is_cancelled() {
                return Err(ErrorView::new(ErrorCode::Unavailable, "nobody waits for the run any more"));
            }
            let began = engine.begin((session, begins_in), spec, settings, model, Some(surface)).await;
            if let (Ok(unheard), true) = (&began, gone.is_cancelled()) {
                engine.stop_at_once(Some(&unheard.run), "whoever asked for it went away as it began");
            }
            began
        });
        let began = began.await.map_err(|panic| {
            ErrorView::new(ErrorCode::Internal, format!("the run's start ended badly: {panic}"))
        })?;
        left.disarm();
        began
    }

    /// The settings and the model of a run that was not asked for by a command: it is gone on with, or an agent's.
    ///
    /// # Errors
    /// As [`crate::ModelSource::open`].
    pub(crate) async fn as_specified(&self, spec: &RunSpec) -> Result<(Settings, SharedModel), ErrorView> {
        let over = RunOverrides {
            model: Some(spec.model.clone()),
            base_url: spec.base_url.clone(),
            max_steps: Some(spec.max_steps),
            ..RunOverrides::default()
        };
        let settings = self.with_overrides(&over)?;
        let what = OpenModel { search: spec.search, ..OpenModel::of(&settings) };
        let model = self.models.open(what).await?;
        Ok((settings, model))
    }

    /// What a run of this model may come to; `None` if too little is known.
    ///
    /// # Errors
    /// `Storage`.
    pub(crate) async fn forecast(&self, model: &ModelId) -> Result<Option<Forecast>, ErrorView> {
        let model = model.clone();
        let past = self.log.read(move |journal| journal.past_runs(&model)).await?;
        Ok(forecast(&past, None))
    }

    /// The settings of one run.
    fn with_overrides(&self, over: &RunOverrides) -> Result<Settings, ErrorView> {
        let mut settings = self.settings();
        if let Some(max_steps) = over.max_steps {
            settings.max_steps = max_steps;
        }
        settings.max_minutes = over.max_minutes.unwrap_or(settings.max_minutes);
        settings.max_tokens = over.max_tokens.unwrap_or(settings.max_tokens);
        settings.max_cost = over.max_cost.unwrap_or(settings.max_cost);
        if let Some(model) = &over.model {
            settings.model = model.clone();
        }
        if let Some(url) = &over.base_url {
            let provider = settings.model.provider().unwrap_or_default().to_owned();
            settings.base_urls.insert(provider, url.clone());
        }
        if let Some(apps) = &over.only_apps {
            settings.fence_apps = apps.clone();
        }
        settings.validate()?;
        Ok(settings)
    }

    /// `from` is the surface where its user asked for it; `None` if an agent did.
    pub(crate) async fn begin(
        self: &Arc<Self>,
        (session, begins_in): (Option<SessionId>, Option<String>),
        spec: RunSpec,
        settings: Settings,
        model: SharedModel,
        from: Option<Surface>,
    ) -> Result<StartedRun, ErrorView> {
        // Opening the model may have taken a while: no session is left behind without its run.
        self.check_open()?;
        // A folder that cannot be worked in is said before anything is begun.
        self.open_ports(session.as_ref(), spec.space.as_deref()).await?;
        let is_new = session.is_none();
        let session = session.unwrap_or_else(|| SessionId::from_suffix(fresh()));
        let run = RunId::from_suffix(fresh());
        let scope = Scope {
            session: Some(session.clone()),
            run: Some(run.clone()),
            agent: Some(AgentId::from_suffix(fresh())),
        };
        let (live, mailbox) = live();
        let entry =
            Entry { session: session.clone(), spec: Arc::new(spec.clone()), task: Task::Live(live.clone()) };
        self.runs.insert(run.clone(), entry, Some((&self.settings()).into()))?;
        self.ledger.open(run.clone(), spec.parent.clone(), spec.budget(), Sum::default());
        let unbegun = Unbegun { engine: self, run: run.clone(), live: live.clone(), has_begun: false };
        if is_new {
            self.new_session(session.clone(), &spec, begins_in).await?;
        }
        let ports = self.open_ports(Some(&session), spec.space.as_deref()).await?;
        let ports = Ports { agents: Some(Arc::new(OfRun::new(self, &run, &session, &spec))), ..ports };
        match self.conversation(&session, &scope, &spec, &settings, &ports).await {
            Ok(told) => {
                unbegun.has_begun();
                let run_task = self.run(scope, spec, settings, (model, ports), told, &live, mailbox);
                let run_task = Run { from, ..run_task };
                self.spawn(run_task, Begin::Anew, live);
                Ok(StartedRun { session, run })
            }
            Err(error) => Err(error),
        }
    }

    /// What the model is told at a run's start, with the start on disk.
    async fn conversation(
        &self,
        session: &SessionId,
        scope: &Scope,
        spec: &RunSpec,
        settings: &Settings,
        ports: &Ports,
    ) -> Result<(Context, Offer), ErrorView> {
        let events = self.recent(session, settings).await?;
        let bounds = Bounds::of(settings);
        let earlier = self.rebuilt(events, bounds).await?.closed();
        let offer = self.offer(spec, &earlier, ports);
        let secrets = self.tools.secrets().await;
        let system = prompts::system(spec, &secrets, offer.all(), settings, self.log.now());
        let context =
            Context::new(system, offer.tools(), earlier, &spec.goal, bounds).with_later(offer.later());
        self.log.append(scope.clone(), EventBody::RunStarted(Box::new(spec.clone()))).await?;
        Ok((context, offer))
    }

    /// Gives a run that waits without a task what it waits for (an answer; without one that it may go on, or its agents), and
    /// a task again.
    /// The screen is looked at before it acts: the window that was in front must be there, and the model is told that time
    /// has passed.
    ///
    /// # Errors
    /// Why it cannot go on.
    pub(crate) async fn wake(
        self: &Arc<Self>,
        scope: Scope,
        given: Option<GivenAnswer>,
        live: Live,
        mailbox: mpsc::Receiver<Message>,
    ) -> Result<(), ErrorView> {
        let cannot =
            |why: &str| ErrorView::new(ErrorCode::Unavailable, format!("the run cannot go on: {why}"));
        let (Some(session), Some(run)) = (scope.session.clone(), scope.run.clone()) else {
            return Err(cannot("it belongs to no session"));
        };
        let open = self.log.read(|journal| journal.open_runs()).await?;
        let open = open.into_iter().find(|open| open.scope.run.as_ref() == Some(&run));
        let open = open.ok_or_else(|| cannot("its start is not in the journal"))?;
        let waits_in = open.waits_for_agents().cloned();
        let OpenRun { spec, started, turn, paused, mut plan, mut budget, read, granted, .. } = open;
        if !spec.can_go_on() {
            return Err(cannot("it was recorded, or begun by a version that kept too little of it"));
        }
        let (settings, model) = self.as_specified(&spec).await?;
        let events = self.recent(&session, &settings).await?;
        let bounds = Bounds::of(&settings);
        let mut rebuilt = self.rebuilt(events, bounds).await?;
        if rebuilt.open.as_ref().is_some_and(|open| open.adapted) {
            return Err(cannot("its model acts by its vendor's own computer tool"));
        }
        let call = given.as_ref().map(|given| given.question.call.clone()).or(waits_in);
        let (mut told, goal, waited) = match call {
            Some(call) => {
                rebuilt.settle_paused();
                let Rebuilt { told, goal, open, said: steers, .. } = rebuilt;
                let open = open
                    .filter(|open| open.calls.iter().any(|one| one.id == call.id))
                    .ok_or_else(|| cannot("the turn that it waits in is not in the journal"))?;
                let waited = match given {
                    Some(given) => Waited::Answer { open, given, paused, steers },
                    None => {
                        budget.rests(&mut plan);
                        Waited::Agents { open, call, paused, steers }
                    }
                };
                (told, goal, waited)
            }
            None => {
                let reason = paused.ok_or_else(|| cannot("it is not paused"))?;
                let (goal, bound) = (rebuilt.goal, budget.used_up.clone());
                (rebuilt.closed(), goal, Waited::Paused { turn, reason, bound })
            }
        };
        let ports = self.open_ports(Some(&session), spec.space.as_deref()).await?;
        let ports = Ports { agents: Some(Arc::new(OfRun::new(self, &run, &session, &spec))), ..ports };
        let offer = self.offer(&spec, &told, &ports);
        let system = prompts::system(&spec, &self.tools.secrets().await, offer.all(), &settings, started);
        let context = match goal {
            Some(goal) => {
                // The recap may have had the beginning of it alone.
                told.messages[goal] = models::Message::User(vec![models::Part::Text(spec.goal.clone())]);
                Context::resumed(system, offer.tools(), told, goal, bounds)
            }
            // So long a run that its beginning is not read any more.
            None => Context::new(system, offer.tools(), Vec::new(), &spec.goal, bounds),
        };
        let context = context.with_later(offer.later());
        let run_task = self.run(scope, spec, settings, (model, ports), (context, offer), &live, mailbox);
        let woken = Woken { waited, plan, budget, read, granted };
        self.spawn(run_task, Begin::Woken(Box::new(woken)), live);
        Ok(())
    }

    #[expect(clippy::too_many_arguments, reason = "one place puts a run together")]
    fn run(
        &self,
        scope: Scope,
        spec: RunSpec,
        settings: Settings,
        (model, ports): (SharedModel, Ports),
        (context, offer): (Context, Offer),
        live: &Live,
        mailbox: mpsc::Receiver<Message>,
    ) -> Run {
        let session = scope.session.clone().unwrap_or_else(|| SessionId(String::new()));
        let grants = grants_of(&spec, self.grants(&session));
        grants.lock().unwrap_or_else(PoisonError::into_inner).note_words(spec.words());
        Run {
            id: scope.run.clone().unwrap_or_else(|| RunId(String::new())),
            limits: Self::limits(&settings),
            rules: Rules {
                max_steps: spec.max_steps,
                model_tries: RetryPolicy::default().tries,
                repairs: 3,
                end_on_approval: spec.unattended == Unattended::End,
                is_child: spec.parent.is_some(),
            },
            grants,
            ports,
            current: self.current_settings(),
            log: self.log.clone(),
            ledger: self.ledger.clone(),
            router: Arc::new(self.tools.of_run()),
            seat: self.seats.shared.clone(),
            seats: self.seats.clone(),
            deadlines: self.deadlines.clone(),
            from: None,
            stop: live.stop.clone(),
            leaving: self.leaving.clone(),
            scope,
            spec,
            settings,
            model,
            context,
            offer,
            mailbox,
        }
    }

    fn spawn(self: &Arc<Self>, run: Run, begin: Begin, live: Live) {
        let (engine, id, scope) = (self.clone(), run.id.clone(), run.scope.clone());
        tokio::spawn(async move {
            let driven = std::panic::AssertUnwindSafe(drive(run, begin)).catch_unwind().await;
            let mut answered = None;
            match driven {
                Ok(Ok(Ending::Over)) => {
                    engine.run_is_over(&id);
                    engine.log.forget_status(&id);
                }
                Ok(Ok(Ending::Parked(answer))) => {
                    // Before its answer can wake it.
                    engine.seats.remove(&id);
                    engine.runs.park(&id);
                    let is_leaving = engine.leaving.is_cancelled();
                    if live.stop.token.is_cancelled() && !is_leaving {
                        // It was stopped in the very moment in which it was put aside.
                        let session = scope.session.clone().unwrap_or_else(|| SessionId(String::new()));
                        engine.end_parked(&id, &session, live.stop.received().await).await;
                    } else if !is_leaving {
                        answered = answer;
                    }
                }
                Ok(Err(error)) => {
                    tracing::error!("run {id} stopped: {error}");
                    engine.run_is_over(&id);
                }
                Err(_) => {
                    tracing::error!("run {id} broke down");
                    engine.run_is_over(&id);
                    engine.ended_badly(scope.clone()).await;
                }
            }
            live.over.cancel();
            if let Some(given) = answered {
                engine.wake_or_end(scope, *given).await;
            }
        });
    }

    /// What a model may be offered in a conversation.
    fn offer(&self, of: &RunSpec, earlier: &Earlier, ports: &Ports) -> Offer {
        let specs = self.tools.specs(of.mode, ports).into_iter();
        let specs = specs.filter(|spec| of.plan || &*spec.name != "plan");
        let offer = Offer::new(specs.filter(|spec| has_group(of, &spec.group)).collect(), earlier);
        // What it was given by name is there from the beginning.
        if of.groups.is_some() || of.conducts { offer.with_all() } else { offer }
    }

    /// As many of a session's newest events as its next conversation can have in it.
    async fn recent(
        &self,
        session: &SessionId,
        settings: &Settings,
    ) -> Result<Vec<protocol::Event>, ErrorView> {
        let (id, most) = (session.clone(), settings.history_messages.saturating_mul(EVENTS_PER_MESSAGE));
        let events = self
            .log
            .read(move |journal| {
                let mut events = journal.tail(&id, most)?;
                let is_recap =
                    |event: &protocol::Event| matches!(event.body, EventBody::ContextCompacted { .. });
                // Where the newest do not reach back to it, what it says is told all the same.
                if events.len() == most as usize && !events.iter().any(is_recap) {
                    events.splice(..0, journal.last_recap(&id)?).for_each(drop);
                }
                Ok(events)
            })
            .await?;
        Ok(told(&self.session(session).await?, events))
    }

    /// Reads the turns' blobs, too.
    async fn rebuilt(&self, events: Vec<protocol::Event>, bounds: Bounds) -> Result<Rebuilt, ErrorView> {
        let journal = self.log.journal().clone();
        let rebuilding = move || history::rebuild(journal.blobs(), events, &bounds);
        tokio::task::spawn_blocking(rebuilding).await.map_err(|panic| {
            ErrorView::new(ErrorCode::Internal, format!("a session cannot be read: {panic}"))
        })
    }

    async fn new_session(
        &self,
        id: SessionId,
        spec: &RunSpec,
        folder: Option<String>,
    ) -> Result<(), ErrorView> {
        let title = spec.goal.trim().lines().next().unwrap_or_default().chars().take(TITLE_CHARS).collect();
        let created = EventBody::SessionCreated {
            title,
            mode: spec.mode,
            approval: spec.approval,
            search: spec.search,
            origin: None,
        };
        let scope = Scope { session: Some(id.clone()), ..Scope::default() };
        self.log.append(scope.clone(), created).await?;
        if let Some(folder) = folder {
            self.log.append(scope, chosen(folder)).await?;
        }
        Ok(())
    }
}

pub(crate) fn live() -> (Live, mpsc::Receiver<Message>) {
    let (mailbox, heard) = mpsc::channel(CAPACITY);
    (Live { stop: StopSignal::default(), mailbox, over: CancellationToken::new() }, heard)
}

/// Whether a run has the tools of a group. Those for the course of the work itself it always has.
pub(crate) fn has_group(of: &RunSpec, group: &Group) -> bool {
    let named = |groups: &Vec<String>| groups.iter().any(|name| *name == group.name());
    match group {
        Group::Mind => true,
        Group::Agents if of.conducts => true,
        _ => !of.conducts && of.groups.as_ref().is_none_or(named),
    }
}

/// What a run may without a question: what the user allowed in its session; a child none of it, its parent's plan neither.
fn grants_of(spec: &RunSpec, of_session: Arc<Mutex<Grants>>) -> Arc<Mutex<Grants>> {
    match spec.parent {
        Some(_) => Arc::default(),
        None => of_session,
    }
}

/// A run between its place among the runs and its task: whatever breaks in between, nobody waits for it in vain.
struct Unbegun<'a> {
    engine: &'a Engine,
    run: RunId,
    live: Live,
    has_begun: bool,
}

impl Unbegun<'_> {
    fn has_begun(mut self) {
        self.has_begun = true;
    }
}

impl Drop for Unbegun<'_> {
    fn drop(&mut self) {
        if !self.has_begun {
            self.engine.runs.remove(&self.run);
            self.engine.ledger.close(&self.run);
            self.live.over.cancel();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use protocol::tool::Grant;

    // bar: C25, C38
    #[test]
    fn a_child_is_allowed_nothing_of_what_its_parent_was() {
        let grant = Grant { tool: "click".into(), app: Some("Editor".into()) };
        let of_session: Arc<Mutex<Grants>> = Arc::default();
        of_session.lock().unwrap().allow([grant.clone()]);
        of_session.lock().unwrap().visit(&["evil.test".to_owned()]);
        let spec = |parent: Option<&str>| -> RunSpec {
            let mut spec = serde_json::json!({
                "goal": "go", "model": "test/one", "mode": "act", "approval": "thread", "maxSteps": 3,
            });
            if let Some(parent) = parent {
                spec["parent"] = parent.into();
            }
            serde_json::from_value(spec).unwrap()
        };
        let alone = grants_of(&spec(None), of_session.clone());
        assert!(alone.lock().unwrap().covers(&grant));
        let child = grants_of(&spec(Some("r-1")), of_session.clone());
        assert_eq!(*child.lock().unwrap(), Grants::default());
        // Nor does what a child is allowed go to its parent.
        let other = Grant { tool: "type".into(), ..grant };
        child.lock().unwrap().allow([other.clone()]);
        assert!(!of_session.lock().unwrap().covers(&other));
    }
}
