//! `press`: one key, once or several times.

use desktop::Action;
use protocol::tool::{Risk, ToolError};
use schemars::JsonSchema;
use serde::Deserialize;

use super::gesture::{Gesture, key};
use super::{Ability, Builtin, Env, Group, Plan, Verify, within};

const MOST_TIMES: u32 = 50;

pub(super) struct Press;

/// Presses one key. For keys held together use hotkey; for text use type.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Input {
    /// Such as Enter, PageDown, F5, or one character.
    key: String,
    #[schemars(range(min = 1, max = 50))]
    times: Option<u32>,
}

impl Builtin for Press {
    const NAME: &'static str = "press";
    const RISK: Risk = Risk::Edit;
    const GROUP: Group = Group::Input;
    const ABILITY: Ability = Ability::Input;
    const VERIFY: Verify = Verify::Keys;
    type Input = Input;

    fn plan(input: Input, _: &Env<'_>) -> Result<Plan, ToolError> {
        let key = key(&input.key)?;
        let times = within("times", input.times.unwrap_or(1), 1, MOST_TIMES)?;
        let often = if times == 1 { String::new() } else { format!(" {times} times") };
        let summary = format!("pressed {key}{often}");
        Ok(Gesture::plan::<Self>(Action::Press { key, times }, summary, None))
    }
}
