//! `listApps`: applications that run or could be launched.

use async_trait::async_trait;
use protocol::tool::{Risk, ToolError};
use schemars::JsonSchema;
use serde::Deserialize;

use super::{Ability, Builtin, Context, Env, Group, Outcome, Plan, Task, Verify};
use crate::untrusted;

const NAME_CHARS: usize = 100;
/// Most in one answer; those that run come first.
const MOST: usize = 200;

pub(super) struct ListApps;

/// Lists applications: those that run, then those that could be launched.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Input {}

impl Builtin for ListApps {
    const NAME: &'static str = "listApps";
    const RISK: Risk = Risk::Observe;
    const GROUP: Group = Group::Apps;
    const ABILITY: Ability = Ability::Windows;
    const VERIFY: Verify = Verify::Own;
    type Input = Input;

    fn plan(Input {}: Input, _: &Env<'_>) -> Result<Plan, ToolError> {
        Ok(Plan::new(Self::RISK, List))
    }
}

struct List;

#[async_trait]
impl Task for List {
    async fn run(&self, cx: &Context) -> Outcome {
        let mut apps = match cx.desktop.apps().await {
            Ok(apps) => apps,
            Err(error) => return Outcome::failed_looking(ListApps::NAME, &error),
        };
        for app in &mut apps {
            app.name = untrusted::line(&app.name, NAME_CHARS);
        }
        let (count, running) = (apps.len(), apps.iter().filter(|app| app.windows > 0).count());
        let left = count.saturating_sub(MOST);
        apps.truncate(MOST);
        let mut summary = format!("{count} applications, {running} of them running");
        if left > 0 {
            summary = format!("{summary}; cut: {left} that do not run");
        }
        Outcome::listed(ListApps::NAME, summary, "apps", &apps)
    }
}
