//! `keyDown`: a key goes down and stays down.

use desktop::Action;
use protocol::tool::{Risk, ToolError};
use schemars::JsonSchema;
use serde::Deserialize;

use super::gesture::{Gesture, key};
use super::{Ability, Builtin, Env, Group, Plan};

pub(super) struct KeyDown;

/// Presses a key and leaves it down, until keyUp. To hold keys for a while use hold; for shortcuts use hotkey.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Input {
    /// The key's name, such as shift, ctrl, Space or one character.
    key: String,
}

impl Builtin for KeyDown {
    const NAME: &'static str = "keyDown";
    const RISK: Risk = Risk::Edit;
    const GROUP: Group = Group::Held;
    const ABILITY: Ability = Ability::Input;
    type Input = Input;

    fn plan(input: Input, _: &Env<'_>) -> Result<Plan, ToolError> {
        let key = key(&input.key)?;
        let summary = format!("pressed {key} down");
        Ok(Gesture::plan::<Self>(Action::KeyDown { key }, summary, None))
    }
}
