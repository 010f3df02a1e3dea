//! `think`: the model writes down a thought. It stands in the call; nothing else happens.

use async_trait::async_trait;
use protocol::tool::{Risk, ToolError};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::{Builtin, Context, Env, Group, Needs, Outcome, Plan, Task, Verify, filled};
use crate::untrusted;

const MOST_CHARS: usize = 20_000;
const SHOWN_CHARS: usize = 120;

pub(super) struct Think;

/// Writes down a thought. Changes nothing.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Input {
    #[schemars(length(min = 1, max = 20000))]
    thought: String,
}

impl Builtin for Think {
    const NAME: &'static str = "think";
    const RISK: Risk = Risk::Observe;
    const GROUP: Group = Group::Mind;
    const NEEDS: Needs = Needs::Nothing;
    const VERIFY: Verify = Verify::Own;
    const READS: bool = false;
    type Input = Input;

    fn plan(input: Input, _: &Env<'_>) -> Result<Plan, ToolError> {
        filled("thought", &input.thought, MOST_CHARS)?;
        let shown = input.thought.chars().take(SHOWN_CHARS).collect::<String>();
        let more = if input.thought.chars().count() > SHOWN_CHARS { "…" } else { "" };
        Ok(Plan::new(Self::RISK, Thought(format!("thought: {}{more}", untrusted::line(&shown, SHOWN_CHARS)))))
    }
}

struct Thought(String);

#[async_trait]
impl Task for Thought {
    async fn run(&self, _: &Context) -> Outcome {
        Outcome::looked(self.0.clone(), Value::Null)
    }
}
