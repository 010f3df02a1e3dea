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

/// Does an action that elementsJson lists for an element, such as expand. The element is named as for clickElement.
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
