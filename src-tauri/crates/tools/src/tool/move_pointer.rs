//! `move`: the pointer goes to a point, and nothing is pressed.

use desktop::Action;
use protocol::tool::{Risk, ToolError};
use schemars::JsonSchema;
use serde::Deserialize;

use super::gesture::{Gesture, at, point};
use super::{Ability, Builtin, Env, Group, Plan, display};

pub(super) struct Move;

/// Moves the pointer to a point, and presses nothing: for menus that open by themselves.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Input {
    #[schemars(range(min = 0, max = 1000))]
    x: f64,
    #[schemars(range(min = 0, max = 1000))]
    y: f64,
    #[schemars(range(min = 0, max = 63))]
    display: Option<u32>,
}

impl Builtin for Move {
    const NAME: &'static str = "move";
    const RISK: Risk = Risk::Edit;
    const GROUP: Group = Group::Held;
    const ABILITY: Ability = Ability::Input;
    type Input = Input;

    fn plan(input: Input, env: &Env<'_>) -> Result<Plan, ToolError> {
        let to = point(input.x, input.y)?;
        let action = Action::Move { display: display(input.display)?, to };
        let summary = format!("moved the pointer to {}", at(to));
        // With a button down it drags, and that is asked about as a drag is.
        let risk = if env.is_holding { Self::RISK } else { Risk::Navigate };
        Ok(Gesture::plan::<Self>(action, summary, Some(to)).with_risk(risk))
    }
}
