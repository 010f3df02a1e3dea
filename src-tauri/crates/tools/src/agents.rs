//! What an agent's tools work with where it starts others, or was started by one: implemented by whoever has the runs.

use std::time::Duration;

use async_trait::async_trait;
use protocol::agent::AgentReport;
use protocol::budget::Most;
use protocol::command::StartedRun;
use protocol::ids::RunId;
use protocol::tool::ToolError;
use protocol::turn::Usd;
use tokio_util::sync::CancellationToken;

/// The agents of one run: those that it started, and the one that it works for.
#[async_trait]
pub trait Agents: Send + Sync {
    /// Whether another agent started this one.
    fn is_child(&self) -> bool;

    /// Whether agents of its depth start others.
    fn may_spawn(&self) -> bool;

    /// Starts an agent. All that bounds this one bounds it, too; of what the user allowed to this one it has nothing.
    ///
    /// # Errors
    /// Which limit it would pass, or why it cannot begin, in words for the model.
    async fn spawn(&self, wanted: WantedAgent) -> Result<StartedRun, ToolError>;

    /// How these stand (all that runs of its session started, if none is named), as soon as enough of them have ended, one asks
    /// what it was not told before, or after `patience`.
    ///
    /// # Errors
    /// One of them was not started in its session.
    async fn wait_for(
        &self,
        agents: &[RunId],
        until: Until,
        patience: Duration,
        cancel: &CancellationToken,
    ) -> Result<Vec<AgentState>, ToolError>;

    /// Stops one and all below it; its state then.
    ///
    /// # Errors
    /// It was not started in its session.
    async fn kill(&self, agent: &RunId) -> Result<AgentState, ToolError>;

    /// Stops all that have not ended, with all below them, and waits for their ends, a few seconds at the most.
    async fn stop_all(&self);

    /// Asks the agent that this one works for, and waits for its answer.
    ///
    /// # Errors
    /// There is none that could answer, or it did not in time.
    async fn ask_parent(&self, question: String, cancel: &CancellationToken) -> Result<String, ToolError>;

    /// Answers what one asks this one: the question of this number, or the one that [`Self::wait_for`] last told.
    ///
    /// # Errors
    /// It was not started in its session, asks nothing, or something else by now.
    async fn answer(&self, agent: &RunId, number: Option<u64>, words: String) -> Result<(), ToolError>;
}

/// Of how many of those that are waited for the end is enough. A question of one of them that was not told before always is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Until {
    #[default]
    All,
    /// One, which may have ended before.
    Any,
}

/// An agent as it is asked for.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct WantedAgent {
    pub goal: String,
    /// What it has to know; empty for nothing.
    pub context: String,
    /// The names of the groups of tools that it has; `None` for all that its parent has.
    pub groups: Option<Vec<String>>,
    /// What it may use up, within what its parent has left.
    pub most: Most,
}

/// How an agent stands.
#[derive(Clone, Debug, PartialEq)]
pub struct AgentState {
    pub agent: RunId,
    pub goal: String,
    pub stage: AgentStage,
    /// `None` if it made none.
    pub report: Option<AgentReport>,
    pub steps: u32,
    pub tokens: u64,
    /// `None` if nothing is known.
    pub cost: Option<Usd>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AgentStage {
    Works,
    /// A question to the user is open.
    Asks,
    /// It asks the one that started it, and waits.
    AsksYou {
        question: String,
        /// Tells the question from those before and after it.
        number: u64,
    },
    Completed {
        summary: String,
        /// Acts that it tried, if none of them was done; else 0.
        not_done: u32,
    },
    /// Why it came to nothing.
    Failed {
        why: String,
    },
    Stopped {
        why: String,
    },
}

impl AgentStage {
    pub fn has_ended(&self) -> bool {
        !matches!(self, Self::Works | Self::Asks | Self::AsksYou { .. })
    }
}
