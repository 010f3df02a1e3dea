//! `batch`: several calls in a row, each checked by itself before the first one runs.
//!
//! No batch in a batch; no `done`, since a goal is reached only once its outcome was seen; no `osa`, since each
//! script is asked for by itself. How the parts are run is the router's business.

use std::time::Duration;

use protocol::tool::{Risk, ToolError, ToolErrorKind};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::{Catalog, DISPLAY, Plan, Planned, Tool, Work, bad_arguments, tool_error, within};

pub(super) const NAME: &str = "batch";
/// The highest risk a part can have, `osa` being kept out.
pub(crate) const MOST_RISK: Risk = Risk::Edit;
const KEPT_OUT: [&str; 3] = [NAME, "done", "osa"];

pub(super) struct Batch;

/// Runs several actions in order, with one picture at the end. It stops at the first that fails. Use it only for
/// actions that need no look in between, such as a click, a text and a key.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Input {
    /// The actions in order. Any tool but batch, done and osa.
    #[schemars(length(min = 1))]
    actions: Vec<Part>,
    /// Why, in a few words for the user.
    reason: Option<String>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Part {
    /// The tool's name.
    tool: String,
    /// The tool's arguments, as it takes them by itself.
    #[serde(default)]
    arguments: Map<String, Value>,
}

impl Tool for Batch {
    const NAME: &'static str = NAME;
    const RISK: Risk = MOST_RISK;
    type Input = Input;

    fn plan(input: Input, catalog: &Catalog<'_>) -> Result<Plan, ToolError> {
        let most = usize::try_from(catalog.limits.batch_actions).unwrap_or(usize::MAX);
        within("the number of actions", input.actions.len(), 1, most)?;
        let mut parts = Vec::new();
        for (index, part) in input.actions.into_iter().enumerate() {
            let place = format!("actions[{index}]");
            if KEPT_OUT.contains(&part.tool.as_str()) {
                return Err(bad_arguments(format!(
                    "{place}: {} cannot be part of a batch; call it by itself",
                    part.tool
                )));
            }
            let planned = catalog.plan(&part.tool, &Value::Object(part.arguments)).map_err(|refusal| {
                tool_error(kind_of(&refusal.error), format!("{place}: {}", refusal.error.message))
            })?;
            parts.push(planned);
        }
        // One picture for all: of the display that the last one that acts is on.
        let acting = parts.iter().rfind(|part: &&Planned| part.risk != Risk::Observe);
        let display = acting.map_or(DISPLAY, |part| part.plan.display);
        let work = Work::Parts(parts);
        Ok(Plan { work, reason: None, takes: Duration::ZERO, display }.because(input.reason))
    }
}

/// An unknown name within a batch is a wrong argument of the batch.
fn kind_of(error: &ToolError) -> ToolErrorKind {
    match error.kind {
        ToolErrorKind::UnknownTool => ToolErrorKind::BadArguments,
        other => other,
    }
}
