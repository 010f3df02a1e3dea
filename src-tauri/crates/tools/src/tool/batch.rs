//! `batch`: several calls in a row, each checked by itself before the first one runs.
//!
//! No batch in a batch; no `done`, since a goal is reached only once its outcome was seen; nothing Consequential, such
//! as `osa`, since each of that is asked for by itself. How the parts are run is the router's business.

use protocol::tool::{Risk, ToolError, ToolErrorKind};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::{Builtin, Env, Group, Needs, Plan, Verify, bad_arguments, tool_error, within};

pub(crate) const NAME: &str = "batch";
const KEPT_OUT: [&str; 6] = [NAME, "continue", "done", "notes", "osa", "plan"];

pub(super) struct Batch;

/// Runs actions in order, to the first that fails, with one picture at the end: where no look is needed in between, such as
/// a click, a text and a key.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Input {
    /// Of any tool but batch, continue, done, notes, osa and plan.
    #[schemars(length(min = 1))]
    actions: Vec<Part>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Part {
    tool: String,
    /// The tool's arguments, as it takes them by itself.
    #[serde(default)]
    arguments: Map<String, Value>,
}

impl Builtin for Batch {
    const NAME: &'static str = NAME;
    /// The highest that a part can have.
    const RISK: Risk = Risk::Edit;
    const GROUP: Group = Group::Mind;
    const NEEDS: Needs = Needs::Nothing;
    const VERIFY: Verify = Verify::Own;
    const EGRESS: bool = true;
    type Input = Input;

    fn plan(input: Input, env: &Env<'_>) -> Result<Plan, ToolError> {
        let most = usize::try_from(env.limits.batch_actions).unwrap_or(usize::MAX);
        within("the number of actions", input.actions.len(), 1, most)?;
        let mut steps = Vec::new();
        for (index, part) in input.actions.into_iter().enumerate() {
            let place = format!("actions[{index}]");
            if KEPT_OUT.contains(&part.tool.as_str()) {
                return Err(bad_arguments(format!(
                    "{place}: {} cannot be part of a batch; call it by itself",
                    part.tool
                )));
            }
            let step = env.plan(&part.tool, &Value::Object(part.arguments)).map_err(|refusal| {
                tool_error(kind_of(&refusal.error), format!("{place}: {}", refusal.error.message))
            })?;
            if step.risk() > Self::RISK {
                return Err(bad_arguments(format!(
                    "{place}: this call of {} is asked for by itself, so it cannot be part of a batch",
                    part.tool
                )));
            }
            steps.push(step);
        }
        Ok(Plan::of_steps(steps))
    }
}

/// An unknown name within a batch is a wrong argument of the batch.
fn kind_of(error: &ToolError) -> ToolErrorKind {
    match error.kind {
        ToolErrorKind::UnknownTool => ToolErrorKind::BadArguments,
        other => other,
    }
}
