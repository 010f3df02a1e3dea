//! `type`: text at the keyboard focus.

use desktop::Action;
use protocol::tool::{Risk, ToolError};
use schemars::JsonSchema;
use serde::Deserialize;

use super::gesture::Gesture;
use super::{Ability, Builtin, Env, Group, Plan, filled};

const MOST_CHARS: usize = 20_000;

pub(super) struct Type;

/// Types text where the keyboard focus is. A line break types Enter. Focus the field first.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Input {
    #[schemars(length(min = 1, max = 20000))]
    text: String,
}

impl Builtin for Type {
    const NAME: &'static str = "type";
    const RISK: Risk = Risk::Edit;
    const GROUP: Group = Group::Input;
    const ABILITY: Ability = Ability::Input;
    type Input = Input;

    fn plan(input: Input, _: &Env<'_>) -> Result<Plan, ToolError> {
        filled("text", &input.text, MOST_CHARS)?;
        let count = input.text.chars().count();
        let characters = if count == 1 { "character" } else { "characters" };
        // Not the text: it may be a password, and stands in the arguments.
        let summary = format!("typed {count} {characters}");
        Ok(Gesture::plan::<Self>(Action::Type { text: input.text }, summary, None))
    }
}
