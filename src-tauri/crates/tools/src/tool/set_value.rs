//! `setValue`: an element's whole value.

use desktop::ElementAction;
use protocol::tool::{Risk, ToolError};
use schemars::JsonSchema;
use serde::Deserialize;

use super::operate::{ElementArguments, Operation};
use super::{Ability, Builtin, Env, Group, Plan, bad_arguments};

/// Characters of a value.
const MOST_CHARS: usize = 20_000;

pub(crate) const NAME: &str = "setValue";

pub(super) struct SetValue;

/// Sets an element's whole value, and reads it back: a field's text, a slider's or spin button's number, the item of a list
/// or combo box by its name, a check box on or off. The element is named as for clickElement.
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
    #[schemars(length(max = 20_000))]
    value: String,
}

impl Builtin for SetValue {
    const NAME: &'static str = NAME;
    const RISK: Risk = Risk::Edit;
    const GROUP: Group = Group::Elements;
    const ABILITY: Ability = Ability::Elements;
    type Input = Input;

    fn plan(input: Input, _: &Env<'_>) -> Result<Plan, ToolError> {
        let Input { reference, role, name, within, app, value } = input;
        let length = value.chars().count();
        if length > MOST_CHARS {
            let message = format!("value has {length} characters; at most {MOST_CHARS} are taken");
            return Err(bad_arguments(message));
        }
        let target = ElementArguments { reference, app, role, name, within }.target()?;
        // The value is not said: it may be a password.
        Ok(Operation::plan::<Self>(target, ElementAction::SetValue(value), "set the value of"))
    }
}
