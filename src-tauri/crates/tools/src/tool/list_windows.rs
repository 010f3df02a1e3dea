//! `listWindows`: the windows of other programs.

use async_trait::async_trait;
use protocol::tool::{Risk, ToolError};
use schemars::JsonSchema;
use serde::Deserialize;

use super::{Ability, Builtin, Context, Env, Group, Outcome, Plan, Task, Verify};
use crate::focus::has_focus;
use crate::untrusted;

/// Characters of a title.
const TITLE_CHARS: usize = 200;

pub(super) struct ListWindows;

/// Lists the open windows: id, title, application, display, bounds, states. The one with the keyboard first, then from the
/// top.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Input {}

impl Builtin for ListWindows {
    const NAME: &'static str = "listWindows";
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
        let mut windows = match cx.desktop.windows().await {
            Ok(windows) => windows,
            Err(error) => return Outcome::failed_looking(ListWindows::NAME, &error),
        };
        windows.sort_by_key(|window| !has_focus(window));
        for window in &mut windows {
            window.title = untrusted::line(&window.title, TITLE_CHARS);
            window.app = untrusted::line(&window.app, TITLE_CHARS);
        }
        let count = windows.len();
        let summary = format!("{count} {} open", if count == 1 { "window is" } else { "windows are" });
        Outcome::listed(ListWindows::NAME, summary, "windows", &windows)
    }
}
