//! `continue`: ends the conversation, and goes on in a fresh one from what the model writes down. Whoever runs it does
//! that, with the next turn; the state stands in the place of the notes.

use async_trait::async_trait;
use protocol::tool::{Risk, ToolError};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::{Builtin, Context, Env, Group, Needs, Outcome, Plan, Task, Verify, filled};
use crate::tool::NOTE_CHARS;

pub const NAME: &str = "continue";

pub(super) struct Continue;

/// Ends this conversation and goes on in a fresh one, which has the goal, the user's words and this state alone. For long
/// work, once most of what was read is not needed any more.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Input {
    /// What is done, what was found, what is left, which agents work: all that you need to know (4,000 characters). Your
    /// notes go, too.
    state: String,
}

impl Builtin for Continue {
    const NAME: &'static str = NAME;
    const RISK: Risk = Risk::Observe;
    const GROUP: Group = Group::Agents;
    const NEEDS: Needs = Needs::Nothing;
    const VERIFY: Verify = Verify::Own;
    const READS: bool = false;
    type Input = Input;

    fn plan(input: Input, _: &Env<'_>) -> Result<Plan, ToolError> {
        filled("state", input.state.trim(), NOTE_CHARS)?;
        Ok(Plan::new(Self::RISK, WrittenDown))
    }
}

struct WrittenDown;

#[async_trait]
impl Task for WrittenDown {
    async fn run(&self, _: &Context) -> Outcome {
        Outcome::looked("the state is written down; what stood before is left out from here on", Value::Null)
    }
}
