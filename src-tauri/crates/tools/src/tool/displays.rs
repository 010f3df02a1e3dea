//! `displays`: the screens there are.

use async_trait::async_trait;
use protocol::tool::{Risk, ToolError};
use schemars::JsonSchema;
use serde::Deserialize;

use super::{Ability, Builtin, Context, Env, Group, Outcome, Plan, Task, Verify};

pub(super) struct Displays;

/// Lists the displays: index, name, bounds in pixels, scale.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Input {}

impl Builtin for Displays {
    const NAME: &'static str = "displays";
    const RISK: Risk = Risk::Observe;
    const GROUP: Group = Group::Screen;
    const ABILITY: Ability = Ability::Displays;
    const VERIFY: Verify = Verify::Own;
    const READS: bool = false;
    type Input = Input;

    fn plan(Input {}: Input, _: &Env<'_>) -> Result<Plan, ToolError> {
        Ok(Plan::new(Self::RISK, List))
    }
}

struct List;

#[async_trait]
impl Task for List {
    async fn run(&self, cx: &Context) -> Outcome {
        match cx.desktop.displays().await {
            Ok(displays) => {
                let count = displays.len();
                let summary = format!("{count} {}", if count == 1 { "display" } else { "displays" });
                Outcome::listed(Displays::NAME, summary, "displays", &displays)
            }
            Err(error) => Outcome::failed_looking(Displays::NAME, &error),
        }
    }
}
