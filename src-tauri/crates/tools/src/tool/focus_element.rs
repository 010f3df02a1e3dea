//! `focusElement`: the keyboard focus goes to an element.

use desktop::ElementAction;
use protocol::tool::{Risk, ToolError};
use schemars::JsonSchema;
use serde::Deserialize;

use super::operate::{ElementArguments, Operation};
use super::{Ability, Builtin, Env, Group, Plan};

pub(super) struct FocusElement;

/// Gives an element, named as for clickElement, the keyboard focus.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Input {
    #[serde(rename = "ref")]
    #[schemars(length(max = 40))]
    reference: Option<String>,
    #[schemars(length(max = 200))]
    role: Option<String>,
    #[schemars(length(max = 200))]
    name: Option<String>,
    #[schemars(length(max = 200))]
    within: Option<String>,
    #[schemars(length(max = 200))]
    app: Option<String>,
}

impl Builtin for FocusElement {
    const NAME: &'static str = "focusElement";
    const RISK: Risk = Risk::Navigate;
    const GROUP: Group = Group::Elements;
    const ABILITY: Ability = Ability::Elements;
    type Input = Input;

    fn plan(input: Input, _: &Env<'_>) -> Result<Plan, ToolError> {
        let Input { reference, role, name, within, app } = input;
        let target = ElementArguments { reference, app, role, name, within }.target()?;
        Ok(Operation::plan::<Self>(target, ElementAction::Focus, "focused"))
    }
}
