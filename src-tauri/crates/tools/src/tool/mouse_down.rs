//! `mouseDown`: a button goes down and stays down.

use desktop::Action;
use protocol::tool::{Risk, ToolError};
use schemars::JsonSchema;
use serde::Deserialize;

use super::gesture::{Gesture, Which, at, point};
use super::{Ability, Builtin, Env, Group, Plan, display};

pub(super) struct MouseDown;

/// Presses a mouse button and leaves it down, until mouseUp. For an ordinary drag use drag.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Input {
    #[schemars(range(min = 0, max = 1000))]
    x: f64,
    #[schemars(range(min = 0, max = 1000))]
    y: f64,
    /// Left if left out.
    button: Option<Which>,
    /// 0 if left out.
    #[schemars(range(min = 0, max = 63))]
    display: Option<u32>,
}

impl Builtin for MouseDown {
    const NAME: &'static str = "mouseDown";
    const RISK: Risk = Risk::Edit;
    const GROUP: Group = Group::Held;
    const ABILITY: Ability = Ability::Input;
    type Input = Input;

    fn plan(input: Input, _: &Env<'_>) -> Result<Plan, ToolError> {
        let place = point(input.x, input.y)?;
        let (button, name) = input.button.unwrap_or(Which::Left).named();
        let action = Action::ButtonDown { display: display(input.display)?, at: place, button };
        let summary = format!("pressed the {name} button down at {}", at(place));
        Ok(Gesture::plan::<Self>(action, summary, Some(place)))
    }
}
