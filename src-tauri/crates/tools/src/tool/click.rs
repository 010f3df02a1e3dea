//! `click`: one or more clicks at a point.

use desktop::Action;
use protocol::tool::{Risk, ToolError};
use schemars::JsonSchema;
use serde::Deserialize;

use super::gesture::{Gesture, Which, at, modifiers, point};
use super::{Ability, Builtin, Env, Group, Plan, display, within};

pub(super) struct Click;

/// Clicks at a point: the middle of an element's bounds, or a place in a screenshot.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Input {
    #[schemars(range(min = 0, max = 1000))]
    x: f64,
    #[schemars(range(min = 0, max = 1000))]
    y: f64,
    button: Option<Which>,
    /// 2: double click.
    #[schemars(range(min = 1, max = 3))]
    count: Option<u8>,
    /// Held meanwhile: ctrl, shift.
    #[schemars(length(max = 4))]
    modifiers: Option<Vec<String>>,
    #[schemars(range(min = 0, max = 63))]
    display: Option<u32>,
}

impl Builtin for Click {
    const NAME: &'static str = "click";
    const RISK: Risk = Risk::Edit;
    const GROUP: Group = Group::Input;
    const ABILITY: Ability = Ability::Input;
    type Input = Input;

    fn plan(input: Input, _: &Env<'_>) -> Result<Plan, ToolError> {
        let point = point(input.x, input.y)?;
        let count = within("count", input.count.unwrap_or(1), 1, 3)?;
        let (held, with) = modifiers(input.modifiers)?;
        let (button, name) = input.button.unwrap_or(Which::Left).named();
        let times = ["", " twice", " three times"][usize::from(count - 1)];
        let summary = format!("clicked {name}{times} at {}{with}", at(point));
        let action = Action::Click { display: display(input.display)?, at: point, button, count, held };
        Ok(Gesture::plan::<Self>(action, summary, Some(point)))
    }
}
