//! `mouseUp`: a button that is down comes up.

use desktop::Action;
use protocol::tool::{Risk, ToolError};
use schemars::JsonSchema;
use serde::Deserialize;

use super::gesture::{Gesture, Which, at, point};
use super::{Ability, Builtin, Env, Group, Plan, display};

pub(super) struct MouseUp;

/// Moves to a point and lets go of the mouse button that mouseDown left down.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Input {
    /// From the left edge (0) to the right edge (1000).
    #[schemars(range(min = 0, max = 1000))]
    x: f64,
    /// From the top edge (0) to the bottom edge (1000).
    #[schemars(range(min = 0, max = 1000))]
    y: f64,
    /// Left where it is left out.
    button: Option<Which>,
    /// Index of the display; 0 where it is left out.
    #[schemars(range(min = 0, max = 63))]
    display: Option<u32>,
}

impl Builtin for MouseUp {
    const NAME: &'static str = "mouseUp";
    const RISK: Risk = Risk::Edit;
    const GROUP: Group = Group::Input;
    const ABILITY: Ability = Ability::Input;
    type Input = Input;

    fn plan(input: Input, _: &Env<'_>) -> Result<Plan, ToolError> {
        let place = point(input.x, input.y)?;
        let (button, name) = input.button.unwrap_or(Which::Left).named();
        let action = Action::ButtonUp { display: display(input.display)?, at: place, button };
        let summary = format!("let go of the {name} button at {}", at(place));
        Ok(Gesture::plan::<Self>(action, summary, Some(place)))
    }
}
