//! Agents that agents start: a child is a run in a session of its own, bounded by all that bounds its parent. It has
//! nothing of what the user allowed there; what its parent's model told it, and what it reports, are nobody's orders.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use async_trait::async_trait;
use futures::future::BoxFuture;
use journal::{ChildRun, Took};
use protocol::budget::Most;
use protocol::command::StartedRun;
use protocol::event::RunEnd;
use protocol::ids::{ModelId, RunId, SessionId};
use protocol::run::RunSpec;
use protocol::tool::{ToolError, ToolErrorKind};
use protocol::view::Tried;
use protocol::{ErrorCode, ErrorView};
use tokio_util::sync::CancellationToken;
use tools::{AgentStage, AgentState, Agents, PARENTS_ANSWER, Until, WantedAgent};

use crate::engine::Engine;
use crate::runs::not_under_way;

mod questions;

pub use questions::Questions;

/// Why a child is stopped by its parent's model, and where that ends.
const KILLED: &str = "by the agent that it works for";
/// To a child's model, whose question nobody above it answered.
const ASK_USER: &str = "ask the user with askHuman, or report what you could not decide";
const PARENT_ENDED: &str = "the agent that it works for has ended";
/// How long those below a run may take to end before it does: their tools have two seconds for a last word.
const LAST_ENDS: Duration = Duration::from_secs(4);
/// The least that an agent can do anything with.
const LEAST_TOKENS: u64 = 1_000;

/// The agents of one run.
pub struct OfRun {
    engine: Weak<Engine>,
    run: RunId,
    /// Whose earlier runs may have been interrupted: their agents are told of, too.
    session: SessionId,
    is_child: bool,
    may_spawn: bool,
    /// What its agents asked that it was told, by their numbers.
    told: Mutex<BTreeMap<RunId, u64>>,
}

impl OfRun {
    pub fn new(engine: &Arc<Engine>, run: &RunId, session: &SessionId, spec: &RunSpec) -> Self {
        let depth = match &spec.parent {
            Some(parent) => engine.runs.depth(parent) + 1,
            None => 1,
        };
        let may_spawn = depth < engine.settings().agent_depth && spec.recording.is_none();
        let (run, session) = (run.clone(), session.clone());
        let (engine, is_child) = (Arc::downgrade(engine), spec.parent.is_some());
        Self { engine, run, session, is_child, may_spawn, told: Mutex::default() }
    }

    fn engine(&self) -> Result<Arc<Engine>, ToolError> {
        self.engine.upgrade().ok_or_else(|| told(&crate::runs::closed()))
    }

    /// Whether one of these asks what its model was not told before.
    fn is_asked(&self, states: &[AgentState]) -> bool {
        let told = self.told();
        let is_new = |state: &AgentState| match state.stage {
            AgentStage::AsksYou { number, .. } => told.get(&state.agent) != Some(&number),
            _ => false,
        };
        states.iter().any(is_new)
    }

    /// Its model is told these.
    fn tell(&self, states: Vec<AgentState>) -> Vec<AgentState> {
        let asks = |state: &AgentState| match state.stage {
            AgentStage::AsksYou { number, .. } => Some((state.agent.clone(), number)),
            _ => None,
        };
        self.told().extend(states.iter().filter_map(asks));
        states
    }

    fn told(&self) -> MutexGuard<'_, BTreeMap<RunId, u64>> {
        self.told.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[async_trait]
impl Agents for OfRun {
    fn is_child(&self) -> bool {
        self.is_child
    }

    fn may_spawn(&self) -> bool {
        self.may_spawn
    }

    async fn spawn(&self, wanted: WantedAgent) -> Result<StartedRun, ToolError> {
        let (engine, run) = (self.engine()?, self.run.clone());
        // On a task of its own: a call that is stopped must not leave half a run.
        let started = tokio::spawn(async move { engine.spawn_agent(&run, wanted).await });
        let started = started.await.unwrap_or_else(|panic| {
            Err(ErrorView::new(ErrorCode::Internal, format!("its start ended badly: {panic}")))
        });
        started.map_err(|error| told(&error))
    }

    async fn wait_for(
        &self,
        agents: &[RunId],
        until: Until,
        patience: Duration,
        cancel: &CancellationToken,
    ) -> Result<Vec<AgentState>, ToolError> {
        let engine = self.engine()?;
        let end = tokio::time::Instant::now() + patience;
        loop {
            let (mut seen, mut questions) = (engine.runs.seen(), engine.questions.seen());
            let states = engine.agent_states(&self.session, agents).await.map_err(|error| told(&error))?;
            let ended = |state: &AgentState| state.stage.has_ended();
            let is_enough = match until {
                Until::All => states.iter().all(ended),
                Until::Any => states.iter().any(ended),
            };
            if is_enough || self.is_asked(&states) {
                return Ok(self.tell(states));
            }
            tokio::select! {
                biased;
                () = cancel.cancelled() => {
                    return Err(ToolError { kind: ToolErrorKind::Cancelled, message: "stopped".into() });
                }
                () = tokio::time::sleep_until(end) => return Ok(self.tell(states)),
                () = seen.changed() => {}
                Ok(()) = questions.changed() => {}
            }
        }
    }

    async fn kill(&self, agent: &RunId) -> Result<AgentState, ToolError> {
        let engine = self.engine()?;
        let killed = async {
            let mut states = engine.agent_states(&self.session, std::slice::from_ref(agent)).await?;
            if states.first().is_some_and(|state| !state.stage.has_ended()) {
                match engine.stop(Some(agent), KILLED.to_owned()).await {
                    // It ended by itself meanwhile.
                    Err(error) if error.code == ErrorCode::NotFound => {}
                    stopped => stopped?,
                }
                states = engine.agent_states(&self.session, std::slice::from_ref(agent)).await?;
            }
            states.pop().ok_or_else(|| unknown(agent))
        };
        killed.await.map_err(|error: ErrorView| told(&error))
    }

    async fn stop_all(&self) {
        let Ok(engine) = self.engine() else { return };
        let below = engine.runs.tree(Some(&self.run)).into_iter();
        let children = below.filter(|(_, entry)| entry.spec.parent.as_ref() == Some(&self.run));
        let children: Vec<RunId> = children.map(|(run, _)| run).collect();
        let ends = children.iter().map(|child| engine.stop(Some(child), PARENT_ENDED.to_owned()));
        if tokio::time::timeout(LAST_ENDS, futures::future::join_all(ends)).await.is_err() {
            tracing::warn!("agents of {} end after it", self.run);
        }
    }

    async fn ask_parent(&self, question: String, cancel: &CancellationToken) -> Result<String, ToolError> {
        let engine = self.engine()?;
        let not_answered = |why: &str| ToolError {
            kind: ToolErrorKind::NotAvailable,
            message: format!("{why}: {ASK_USER}"),
        };
        let parent = engine.runs.get(&self.run).and_then(|own| own.spec.parent.clone());
        if parent.is_none_or(|parent| engine.runs.get(&parent).is_none()) {
            return Err(not_answered("no agent started you that could answer"));
        }
        let mut asked = engine.questions.ask(&self.run, question);
        tokio::select! {
            biased;
            () = cancel.cancelled() => {
                Err(ToolError { kind: ToolErrorKind::Cancelled, message: "stopped".into() })
            }
            answer = asked.answer() => answer.ok_or_else(|| not_answered("it gave no answer")),
            () = tokio::time::sleep(PARENTS_ANSWER) => Err(not_answered("it did not answer in time")),
        }
    }

    async fn answer(&self, agent: &RunId, number: Option<u64>, words: String) -> Result<(), ToolError> {
        let engine = self.engine()?;
        let known = engine.agent_states(&self.session, std::slice::from_ref(agent)).await;
        known.map_err(|error| told(&error))?;
        let number = number.or_else(|| self.told().get(agent).copied());
        if number.is_some_and(|number| engine.questions.answer(agent, number, words)) {
            return Ok(());
        }
        let message = match engine.questions.of(agent) {
            Some(_) => format!("{agent} asks something else now: waitFor tells it"),
            None => format!("{agent} asks nothing: it has its answer, or no longer waits for one"),
        };
        Err(ToolError { kind: ToolErrorKind::BadArguments, message })
    }
}

impl Engine {
    /// Boxed: a run that it starts may start others.
    fn spawn_agent<'a>(
        self: &'a Arc<Self>,
        parent: &'a RunId,
        wanted: WantedAgent,
    ) -> BoxFuture<'a, Result<StartedRun, ErrorView>> {
        Box::pin(async move {
            self.check_open()?;
            // What there is no room for opens no model.
            self.runs.has_room(parent, (&self.settings()).into())?;
            let above = self.runs.get(parent).ok_or_else(|| not_under_way(parent))?.spec;
            let left = self.ledger.left(parent);
            let settings = self.settings();
            let model = match settings.agent_model.as_str() {
                // A client's agent is no model that others could have: theirs is that of the settings.
                "" if above.is_guests() => &settings.model.0,
                other => other,
            };
            // A client has more steps than an agent of ours: they are for all that it starts.
            let steps = above.is_guests().then_some(settings.max_steps);
            let left = left.stricter(Most { steps, ..Most::default() });
            let spec = child_of(&above, parent, wanted, left, model)?;
            let (settings, model) = self.as_specified(&spec).await?;
            self.begin((None, None), spec, settings, model, None).await
        })
    }

    /// How the agents stand that runs of a session started: these, or all if none is named.
    async fn agent_states(
        &self,
        session: &SessionId,
        agents: &[RunId],
    ) -> Result<Vec<AgentState>, ErrorView> {
        let of = session.clone();
        let (children, questions) =
            self.log.read(move |journal| Ok((journal.children_in(&of)?, journal.questions()?))).await?;
        let is_of = |agent: &RunId, child: &ChildRun| child.scope.run.as_ref() == Some(agent);
        if let Some(stranger) = agents.iter().find(|agent| !children.iter().any(|child| is_of(agent, child)))
        {
            return Err(unknown(stranger));
        }
        let named = |child: &ChildRun| agents.is_empty() || agents.iter().any(|agent| is_of(agent, child));
        let states = children.into_iter().filter(named).filter_map(|child| {
            let agent = child.scope.run.clone()?;
            let asks = questions.iter().any(|question| question.run == agent);
            let asks_you = self.questions.of(&agent);
            let Took { steps, tokens, cost, exact } = child.took;
            Some(AgentState {
                stage: stage(child.end, &child.tried, asks, asks_you),
                agent,
                goal: child.spec.goal,
                report: child.report,
                steps,
                tokens,
                cost: (cost.0 > 0 || exact == Some(true)).then_some(cost),
            })
        });
        Ok(states.collect())
    }

    /// Takes a run out of those that have not ended, with all below it: nobody is there any more for whom they work.
    pub(crate) fn run_is_over(self: &Arc<Self>, run: &RunId) {
        self.runs.remove(run);
        self.seats.remove(run);
        self.ledger.close(run);
        let below = self.stop_at_once(Some(run), PARENT_ENDED);
        if !below.is_empty() {
            let engine = self.clone();
            tokio::spawn(async move { engine.see_to_the_end(below, PARENT_ENDED).await });
        }
    }
}

/// A child's run, bounded by its parent's in everything.
fn child_of(
    above: &RunSpec,
    parent: &RunId,
    wanted: WantedAgent,
    left: Most,
    model: &str,
) -> Result<RunSpec, ErrorView> {
    let WantedAgent { goal, context, groups, most } = wanted;
    let most = most.stricter(left);
    let most_steps = most.steps.unwrap_or(above.max_steps).min(above.max_steps);
    let is_too_little = most_steps == 0
        || most.minutes == Some(0)
        || most.tokens.is_some_and(|tokens| tokens < LEAST_TOKENS)
        || most.cost.is_some_and(|cost| cost.0 == 0);
    if is_too_little {
        let why = "too little of your budget is left, or was asked for, to start an agent with";
        return Err(ErrorView::new(ErrorCode::BadRequest, why).with_hint("do it yourself"));
    }
    // None of its parent's tools that this one has not, whatever it names.
    let groups = match (groups, &above.groups) {
        (Some(named), Some(of_parent)) => {
            Some(named.into_iter().filter(|name| of_parent.contains(name)).collect())
        }
        (named, of_parent) => named.or_else(|| of_parent.clone()),
    };
    let goal = match context.is_empty() {
        true => goal,
        false => format!("{goal}\n\nWhat you need to know:\n{context}"),
    };
    let (model, base_url) = match model {
        "" => (above.model.clone(), above.base_url.clone()),
        // The address is for the model of the parent.
        other => (ModelId(other.to_owned()), None),
    };
    Ok(RunSpec {
        goal,
        model,
        base_url,
        mode: above.mode,
        approval: above.approval,
        max_steps: most_steps,
        most: Most { steps: None, ..most },
        forecast: None,
        search: above.search,
        fence: above.fence.clone(),
        unattended: above.unattended,
        space: above.space.clone(),
        parent: Some(parent.clone()),
        recording: None,
        // Its parent's bounds hold; a contract is between the user and the one that they gave the goal to.
        plan: false,
        user_goal: Some(above.words().to_owned()),
        groups,
        conducts: false,
        carry_on: 0,
    })
}

fn stage(end: Option<RunEnd>, tried: &Tried, asks: bool, asks_you: Option<(u64, String)>) -> AgentStage {
    match end {
        None if asks => AgentStage::Asks,
        None => match asks_you {
            Some((number, question)) => AgentStage::AsksYou { question, number },
            None => AgentStage::Works,
        },
        Some(RunEnd::Completed { summary }) => {
            let not_done = if tried.came_to_nothing() { tried.not_done } else { 0 };
            AgentStage::Completed { summary, not_done }
        }
        Some(RunEnd::Failed { message, .. }) => AgentStage::Failed { why: message },
        Some(RunEnd::Stopped { reason }) => AgentStage::Stopped { why: reason },
        Some(RunEnd::NeedsApproval { .. }) => {
            AgentStage::Failed { why: "it needs the user's yes, and nobody can be asked here".to_owned() }
        }
        Some(RunEnd::Interrupted { reason }) => {
            AgentStage::Failed { why: reason.unwrap_or_else(|| "miki ended in the middle of it".to_owned()) }
        }
    }
}

fn unknown(agent: &RunId) -> ErrorView {
    ErrorView::new(ErrorCode::NotFound, format!("{agent} is no agent that you started"))
        .with_hint("spawn tells the id of each")
}

/// For the model. Never tried again by itself.
fn told(error: &ErrorView) -> ToolError {
    let kind = match error.code {
        ErrorCode::BadRequest | ErrorCode::NotFound => ToolErrorKind::BadArguments,
        _ => ToolErrorKind::NotAvailable,
    };
    let message = match &error.hint {
        Some(hint) => format!("{}; {hint}", error.message),
        None => error.message.clone(),
    };
    ToolError { kind, message }
}

#[cfg(test)]
mod tests;
