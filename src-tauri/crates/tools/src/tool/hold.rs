//! `hold`: keys held down for a while.

use std::time::Duration;

use desktop::Action;
use protocol::tool::{Risk, ToolError};
use schemars::JsonSchema;
use serde::Deserialize;

use super::gesture::{Gesture, chord, key};
use super::{Ability, Builtin, Env, Group, Plan, bad_arguments, within};

const MOST_KEYS: usize = 6;
const MOST_SECONDS: f64 = 10.0;
const LEAST_SECONDS: f64 = 0.01;

pub(super) struct Hold;

/// Holds keys down together for a while and lets them go, for games and for what repeats while a key is held.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Input {
    /// Names of the keys, such as ["Right"] or ["shift", "w"].
    #[schemars(length(min = 1, max = 6))]
    keys: Vec<String>,
    /// For how long.
    #[schemars(range(min = 0.01, max = 10))]
    seconds: f64,
}

impl Builtin for Hold {
    const NAME: &'static str = "hold";
    const RISK: Risk = Risk::Edit;
    const GROUP: Group = Group::Held;
    const ABILITY: Ability = Ability::Input;
    type Input = Input;

    fn plan(input: Input, _: &Env<'_>) -> Result<Plan, ToolError> {
        within("the number of keys", input.keys.len(), 1, MOST_KEYS)?;
        let keys = input.keys.iter().map(|name| key(name)).collect::<Result<Vec<_>, _>>()?;
        if let Some(twice) = keys.iter().enumerate().find(|(i, key)| keys[..*i].contains(key)) {
            return Err(bad_arguments(format!("keys has {} twice", twice.1)));
        }
        let seconds = within("seconds", input.seconds, LEAST_SECONDS, MOST_SECONDS)?;
        let time = Duration::from_secs_f64(seconds);
        let summary = format!("held {} for {seconds} s", chord(&keys));
        let plan = Gesture::plan::<Self>(Action::Hold { keys, time }, summary, None);
        Ok(plan.taking(time))
    }
}
