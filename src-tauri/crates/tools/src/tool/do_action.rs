//! `doAction`: one of an element's own actions.

use desktop::ElementAction;
use protocol::tool::{Risk, ToolError};
use schemars::JsonSchema;
use serde::Deserialize;

use super::operate::{ElementArguments, Operation};
use super::{Ability, Builtin, Env, Group, Plan, filled};
use crate::untrusted;

const MOST_CHARS: usize = 100;

pub(super) struct DoAction;

/// Does one of the actions that elementsJson lists for an element, such as expand or show menu. For a plain click use
/// clickElement.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Input {
    /// Such as e12. Leave out the four below then.
    #[serde(rename = "ref")]
    #[schemars(length(max = 40))]
    reference: Option<String>,
    /// Such as tree item.
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
    /// The action's name.
    #[schemars(length(min = 1, max = 100))]
    action: String,
}

impl Builtin for DoAction {
    const NAME: &'static str = "doAction";
    const RISK: Risk = Risk::Edit;
    const GROUP: Group = Group::Elements;
    const ABILITY: Ability = Ability::Elements;
    type Input = Input;

    fn plan(input: Input, _: &Env<'_>) -> Result<Plan, ToolError> {
        let Input { reference, role, name, within, app, action } = input;
        filled("action", &action, MOST_CHARS)?;
        let target = ElementArguments { reference, app, role, name, within }.target()?;
        let verb = format!("did {} of", untrusted::line(&action, 40));
        Ok(Operation::plan::<Self>(target, ElementAction::Do(action), verb))
    }
}
