//! `focusWindow`: a window comes up and gets the keyboard.

use desktop::{Abilities, WindowChange, WindowId};
use protocol::tool::{Risk, ToolError};
use schemars::JsonSchema;
use serde::Deserialize;

use super::change_window::Change;
use super::list_windows::needs_windows;
use super::{Catalog, Plan, Tool};

pub(super) struct FocusWindow;

/// Raises a window and gives it the keyboard.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Input {
    /// The id from listWindows.
    window: u64,
    /// Why, in a few words for the user.
    reason: Option<String>,
}

impl Tool for FocusWindow {
    const NAME: &'static str = "focusWindow";
    const RISK: Risk = Risk::Navigate;
    type Input = Input;

    fn missing(abilities: &Abilities) -> Option<&'static str> {
        needs_windows(abilities)
    }

    fn plan(input: Input, _: &Catalog<'_>) -> Result<Plan, ToolError> {
        let change = Change {
            tool: Self::NAME,
            window: WindowId(input.window),
            change: WindowChange::Focus,
            summary: format!("brought up window {}", input.window),
        };
        Ok(Plan::of(change).because(input.reason))
    }
}
