//! `clickElement`: a click on an element, wherever it is.

use desktop::{Button, ElementAction};
use protocol::tool::{Risk, ToolError};
use schemars::JsonSchema;
use serde::Deserialize;

use super::gesture::Which;
use super::operate::{ElementArguments, Operation};
use super::{Ability, Builtin, Env, Group, Plan, within};

pub(super) struct ClickElement;

/// Clicks an element, by its ref or by role and name.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Input {
    /// Such as e12; needs none of the next four.
    #[serde(rename = "ref")]
    #[schemars(length(max = 40))]
    reference: Option<String>,
    /// Such as button or check box.
    #[schemars(length(max = 200))]
    role: Option<String>,
    /// Whole or in part.
    #[schemars(length(max = 200))]
    name: Option<String>,
    /// Name or role of what it is in.
    #[schemars(length(max = 200))]
    within: Option<String>,
    #[schemars(length(max = 200))]
    app: Option<String>,
    button: Option<Which>,
    /// 2: double click.
    #[schemars(range(min = 1, max = 3))]
    count: Option<u8>,
}

impl Builtin for ClickElement {
    const NAME: &'static str = "clickElement";
    const RISK: Risk = Risk::Edit;
    const GROUP: Group = Group::Elements;
    const ABILITY: Ability = Ability::Elements;
    type Input = Input;

    fn plan(input: Input, _: &Env<'_>) -> Result<Plan, ToolError> {
        let Input { reference, role, name, within: above, app, button, count } = input;
        let count = within("count", count.unwrap_or(1), 1, 3)?;
        let (button, which) = button.unwrap_or(Which::Left).named();
        let which = if button == Button::Left { String::new() } else { format!(" {which}") };
        let times = ["", " twice", " three times"][usize::from(count - 1)];
        let target = ElementArguments { reference, app, role, name, within: above }.target()?;
        let action = ElementAction::Click { button, count };
        Ok(Operation::plan::<Self>(target, action, format!("clicked{which}{times}")))
    }
}
