//! `keyUp`: a key that is down comes up.

use desktop::Action;
use protocol::tool::{Risk, ToolError};
use schemars::JsonSchema;
use serde::Deserialize;

use super::gesture::{Gesture, key};
use super::{Ability, Builtin, Env, Group, Plan};

pub(super) struct KeyUp;

/// Lets go of a key that keyDown left down.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Input {
    /// The key's name, such as shift, ctrl, Space or one character.
    key: String,
}

impl Builtin for KeyUp {
    const NAME: &'static str = "keyUp";
    const RISK: Risk = Risk::Edit;
    const GROUP: Group = Group::Held;
    const ABILITY: Ability = Ability::Input;
    type Input = Input;

    fn plan(input: Input, _: &Env<'_>) -> Result<Plan, ToolError> {
        let key = key(&input.key)?;
        let summary = format!("let go of {key}");
        Ok(Gesture::plan::<Self>(Action::KeyUp { key }, summary, None))
    }
}
