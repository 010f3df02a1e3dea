//! `done`: the model says that the goal is reached, or that it cannot be.

use std::time::Duration;

use async_trait::async_trait;
use protocol::contract::Finding;
use protocol::tool::{Effect, Risk, ToolError, ToolErrorKind};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{Builtin, Context, Env, Group, Needs, Outcome, Plan, Task, Verify, filled, tool_error};
use crate::contract::checks::CheckPorts;
use crate::{Finish, untrusted};

const MOST_CHARS: usize = 4_000;
/// Longest look at all checks of a plan.
const CHECKS: Duration = Duration::from_secs(5 * 60);

pub(super) struct Done;

/// Ends the work: once you have seen that the goal is reached, or that it cannot be.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Input {
    /// For the user: what was done, and how you know.
    #[schemars(length(min = 1, max = 4000))]
    summary: String,
    /// False if it is not reached.
    success: Option<bool>,
}

impl Builtin for Done {
    const NAME: &'static str = "done";
    const RISK: Risk = Risk::Observe;
    const GROUP: Group = Group::Mind;
    const NEEDS: Needs = Needs::Nothing;
    const VERIFY: Verify = Verify::Own;
    const READS: bool = false;
    type Input = Input;

    fn plan(input: Input, _: &Env<'_>) -> Result<Plan, ToolError> {
        filled("summary", &input.summary, MOST_CHARS)?;
        let (summary, _) = untrusted::clean(&input.summary);
        let end = End(Finish { summary, success: input.success.unwrap_or(true) });
        // Each check has a bound of its own.
        Ok(Plan::new(Self::RISK, end).taking(CHECKS))
    }
}

struct End(Finish);

#[async_trait]
impl Task for End {
    async fn run(&self, cx: &Context) -> Outcome {
        let findings = match &cx.agreed {
            Some(contract) if self.0.success => CheckPorts::of(cx).findings(contract, &cx.waived).await,
            Some(_) | None => Vec::new(),
        };
        let data = if findings.is_empty() { Value::Null } else { json!({ "checks": findings }) };
        // The user may take the work as it is: as they saw it, and nothing that fails since.
        let fails = |one: &&Finding| !one.passed && !cx.waived.contains(&one.check);
        if let Some(failed) = findings.iter().find(fails) {
            let message = format!(
                "not done: a check of the plan fails: {}; found: {}. Look what is missing and go on, or call done with \
                 success false",
                failed.check, failed.found
            );
            let error = tool_error(ToolErrorKind::Failed, untrusted::line(&message, 1_500));
            return Outcome { data, ..Outcome::failed(Done::NAME, Effect::Refused, error) };
        }
        let word = if self.0.success { "done" } else { "gave up" };
        let looked = Outcome::looked(format!("{word}: {}", untrusted::line(&self.0.summary, 200)), data);
        Outcome { finished: Some(self.0.clone()), ..looked }
    }
}
