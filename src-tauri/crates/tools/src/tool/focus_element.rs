//! `focusElement`: the keyboard focus goes to an element.

use desktop::ElementAction;
use protocol::tool::{Risk, ToolError};
use schemars::JsonSchema;
use serde::Deserialize;

use super::operate::{ElementArguments, Operation};
use super::{Ability, Builtin, Env, Group, Plan};

pub(super) struct FocusElement;

/// Gives an element the keyboard focus: by its ref from elementsJson, or by its role and name.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Input {
    /// Such as e12. Leave out the four below then.
    #[serde(rename = "ref")]
    #[schemars(length(max = 40))]
    reference: Option<String>,
    /// Such as entry.
    #[schemars(length(max = 200))]
    role: Option<String>,
    /// The element's name, whole or in part.
    #[schemars(length(max = 200))]
    name: Option<String>,
    /// Name or role of an element above it, where several are alike.
    #[schemars(length(max = 200))]
    within: Option<String>,
    /// Part of an application's or window's name; the active one where it is left out.
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
