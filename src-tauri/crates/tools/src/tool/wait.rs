//! `wait`: some seconds pass.

use std::time::Duration;

use async_trait::async_trait;
use protocol::tool::{Effect, Risk, ToolError, ToolErrorKind};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::{Builtin, Context, Env, Group, Needs, Outcome, Plan, Task, Verify, tool_error, within};

const MOST_SECONDS: f64 = 30.0;

pub(super) struct Wait;

/// Waits, as for a page to load.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Input {
    #[schemars(range(min = 0, max = 30))]
    seconds: f64,
}

impl Builtin for Wait {
    const NAME: &'static str = "wait";
    const RISK: Risk = Risk::Observe;
    const GROUP: Group = Group::Mind;
    const NEEDS: Needs = Needs::Nothing;
    const VERIFY: Verify = Verify::Own;
    const READS: bool = false;
    type Input = Input;

    fn plan(input: Input, _: &Env<'_>) -> Result<Plan, ToolError> {
        let seconds = within("seconds", input.seconds, 0.0, MOST_SECONDS)?;
        let takes = Duration::from_secs_f64(seconds);
        Ok(Plan::new(Self::RISK, Pause { seconds, takes }).taking(takes))
    }
}

struct Pause {
    seconds: f64,
    takes: Duration,
}

#[async_trait]
impl Task for Pause {
    async fn run(&self, cx: &Context) -> Outcome {
        tokio::select! {
            biased;
            () = cx.cancel.cancelled() => {
                Outcome::failed(Wait::NAME, Effect::Refused, tool_error(ToolErrorKind::Cancelled, "stopped"))
            }
            () = tokio::time::sleep(self.takes) => {
                Outcome::looked(format!("waited {} s", self.seconds), Value::Null)
            }
        }
    }
}
