//! `wait`: some seconds pass.

use std::time::Duration;

use async_trait::async_trait;
use protocol::tool::{Effect, Risk, ToolError, ToolErrorKind};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::{Catalog, Context, Outcome, Plan, Task, Tool, tool_error, within};

const MOST_SECONDS: f64 = 30.0;

pub(super) struct Wait;

/// Waits, for example for a page to load.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Input {
    #[schemars(range(min = 0, max = 30))]
    seconds: f64,
}

impl Tool for Wait {
    const NAME: &'static str = "wait";
    const RISK: Risk = Risk::Observe;
    type Input = Input;

    fn plan(input: Input, _: &Catalog<'_>) -> Result<Plan, ToolError> {
        let seconds = within("seconds", input.seconds, 0.0, MOST_SECONDS)?;
        let takes = Duration::from_secs_f64(seconds);
        Ok(Plan { takes, ..Plan::of(Pause { seconds, takes }) })
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
