//! `drag`: a button goes down at the first point and up at the last.

use desktop::Action;
use protocol::geometry::NormPoint;
use protocol::tool::{Risk, ToolError};
use schemars::JsonSchema;
use serde::Deserialize;

use super::gesture::{Gesture, Which, at, modifiers, point};
use super::{Ability, Builtin, Env, Group, Plan, bad_arguments, display, within};

const MOST_POINTS: usize = 100;

pub(super) struct Drag;

/// Drags with a button held: give either `from` and `to`, or a `path` of two or more points.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Input {
    from: Option<DragPoint>,
    to: Option<DragPoint>,
    #[schemars(length(min = 2, max = 100))]
    path: Option<Vec<DragPoint>>,
    button: Option<Which>,
    /// Held meanwhile: shift, ctrl, alt, cmd.
    #[schemars(length(max = 4))]
    modifiers: Option<Vec<String>>,
    #[schemars(range(min = 0, max = 63))]
    display: Option<u32>,
}

#[derive(Clone, Copy, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct DragPoint {
    #[schemars(range(min = 0, max = 1000))]
    x: f64,
    #[schemars(range(min = 0, max = 1000))]
    y: f64,
}

impl Builtin for Drag {
    const NAME: &'static str = "drag";
    const RISK: Risk = Risk::Edit;
    const GROUP: Group = Group::Held;
    const ABILITY: Ability = Ability::Input;
    type Input = Input;

    fn plan(input: Input, _: &Env<'_>) -> Result<Plan, ToolError> {
        let places = match (input.path, input.from, input.to) {
            (Some(path), None, None) => path,
            (None, Some(from), Some(to)) => vec![from, to],
            _ => return Err(bad_arguments("give either from and to, or a path, and not both")),
        };
        within("the number of points", places.len(), 2, MOST_POINTS)?;
        let path: Vec<NormPoint> =
            places.iter().map(|place| point(place.x, place.y)).collect::<Result<_, _>>()?;
        let [first, .., last] = path[..] else { return Err(bad_arguments("a path has two or more points")) };
        let (held, with) = modifiers(input.modifiers)?;
        let (button, _) = input.button.unwrap_or(Which::Left).named();
        let summary = format!("dragged from {} to {}{with}", at(first), at(last));
        let action = Action::Drag { display: display(input.display)?, path, button, held };
        Ok(Gesture::plan::<Self>(action, summary, Some(last)))
    }
}
