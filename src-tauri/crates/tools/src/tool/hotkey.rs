//! `hotkey`: keys held together.

use desktop::Action;
use protocol::tool::{Risk, ToolError};
use schemars::JsonSchema;
use serde::Deserialize;

use super::gesture::{Gesture, chord, key};
use super::{Ability, Builtin, Env, Group, Plan, Verify, bad_arguments, within};

const MOST_KEYS: usize = 6;

pub(super) struct Hotkey;

/// Presses keys together.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Input {
    /// Modifiers first: ["ctrl", "s"]. `cmd`: the platform's key for shortcuts.
    #[schemars(length(min = 1, max = 6))]
    keys: Vec<String>,
}

impl Builtin for Hotkey {
    const NAME: &'static str = "hotkey";
    const RISK: Risk = Risk::Edit;
    const GROUP: Group = Group::Input;
    const ABILITY: Ability = Ability::Input;
    const VERIFY: Verify = Verify::Keys;
    type Input = Input;

    fn plan(input: Input, _: &Env<'_>) -> Result<Plan, ToolError> {
        within("the number of keys", input.keys.len(), 1, MOST_KEYS)?;
        let keys = input.keys.iter().map(|name| key(name)).collect::<Result<Vec<_>, _>>()?;
        if let Some(twice) = keys.iter().enumerate().find(|(i, key)| keys[..*i].contains(key)) {
            return Err(bad_arguments(format!("keys has {} twice", twice.1)));
        }
        let summary = format!("pressed {}", chord(&keys));
        Ok(Gesture::plan::<Self>(Action::Hotkey { keys }, summary, None))
    }
}
