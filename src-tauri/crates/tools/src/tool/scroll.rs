//! `scroll`: notches of the wheel at a point.

use desktop::Action;
use protocol::tool::{Risk, ToolError};
use schemars::JsonSchema;
use serde::Deserialize;

use super::gesture::{Gesture, at, modifiers, point};
use super::{Ability, Builtin, Env, Group, Plan, bad_arguments, display, within};

const MOST_NOTCHES: i32 = 50;

pub(super) struct Scroll;

/// Scrolls what is below a point, in notches of the wheel; negative ones go up or left.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Input {
    #[schemars(range(min = 0, max = 1000))]
    x: f64,
    #[schemars(range(min = 0, max = 1000))]
    y: f64,
    #[schemars(range(min = -50, max = 50))]
    down: Option<i32>,
    #[schemars(range(min = -50, max = 50))]
    right: Option<i32>,
    #[schemars(length(max = 4))]
    modifiers: Option<Vec<String>>,
    #[schemars(range(min = 0, max = 63))]
    display: Option<u32>,
}

impl Builtin for Scroll {
    const NAME: &'static str = "scroll";
    const RISK: Risk = Risk::Edit;
    const GROUP: Group = Group::Input;
    const ABILITY: Ability = Ability::Input;
    type Input = Input;

    fn plan(input: Input, env: &Env<'_>) -> Result<Plan, ToolError> {
        let place = point(input.x, input.y)?;
        let down = within("down", input.down.unwrap_or(0), -MOST_NOTCHES, MOST_NOTCHES)?;
        let right = within("right", input.right.unwrap_or(0), -MOST_NOTCHES, MOST_NOTCHES)?;
        let words = [(down, "down", "up"), (right, "right", "left")]
            .into_iter()
            .filter(|(notches, ..)| *notches != 0)
            .map(|(notches, ahead, back)| {
                format!("{} {}", if notches > 0 { ahead } else { back }, notches.unsigned_abs())
            })
            .collect::<Vec<_>>();
        if words.is_empty() {
            return Err(bad_arguments("down and right are both 0; say how many notches to scroll"));
        }
        let (held, with) = modifiers(input.modifiers)?;
        // With a key or button down it zooms, drags or changes values.
        let risk = if env.is_holding || !held.is_empty() { Self::RISK } else { Risk::Navigate };
        let action = Action::Scroll { display: display(input.display)?, at: place, down, right, held };
        let summary = format!("scrolled {} at {}{with}", words.join(" and "), at(place));
        Ok(Gesture::plan::<Self>(action, summary, Some(place)).with_risk(risk))
    }
}
