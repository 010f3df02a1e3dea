//! `focusWindow`: a window comes up and gets the keyboard.

use desktop::{WindowChange, WindowId};
use protocol::tool::{Risk, ToolError};
use schemars::JsonSchema;
use serde::Deserialize;

use super::change_window::Change;
use super::{Ability, Builtin, Env, Group, Plan};
use crate::reach::Reach;

pub(super) struct FocusWindow;

/// Raises a window (its id from listWindows) and gives it the keyboard.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Input {
    window: u64,
}

impl Builtin for FocusWindow {
    const NAME: &'static str = "focusWindow";
    const RISK: Risk = Risk::Navigate;
    const GROUP: Group = Group::Apps;
    const ABILITY: Ability = Ability::Windows;
    type Input = Input;

    fn plan(input: Input, _: &Env<'_>) -> Result<Plan, ToolError> {
        let change = Change {
            tool: Self::NAME,
            window: WindowId(input.window),
            change: WindowChange::Focus,
            done: "brought up",
        };
        Ok(Plan::new(Self::RISK, change).reaching(Reach::Window(input.window)))
    }
}
