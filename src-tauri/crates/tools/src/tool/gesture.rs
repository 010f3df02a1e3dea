//! What pointer and keyboard tools share: one action sent to the desktop, and the words that tools check alike.

use async_trait::async_trait;
use desktop::{Action, Button, Key};
use protocol::geometry::NormPoint;
use protocol::tool::{Effect, ToolError};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::reach::{Act, Reach};

use super::{Builtin, Context, DISPLAY, Outcome, Plan, Task, bad_arguments, within};

/// One action of pointer or keyboard.
pub(super) struct Gesture {
    tool: &'static str,
    action: Action,
    summary: String,
    dot: Option<NormPoint>,
}

impl Gesture {
    pub(super) fn plan<T: Builtin>(
        action: Action,
        summary: impl Into<String>,
        dot: Option<NormPoint>,
    ) -> Plan {
        let display = display_of(&action);
        let mut summary = summary.into();
        if display != DISPLAY {
            summary = format!("{summary} on display {display}");
        }
        let points = match &action {
            Action::Drag { path, .. } => path.clone(),
            _ => dot.into_iter().collect(),
        };
        let (reach, act) = (Reach::of(&action), Act::Input(action.clone()));
        Plan::new(T::RISK, Self { tool: T::NAME, action, summary, dot })
            .on(display)
            .at(&points)
            .reaching(reach)
            .doing(act)
    }
}

/// Where the pointer acts; keys go to the focus, wherever that is.
fn display_of(action: &Action) -> u32 {
    match *action {
        Action::Move { display, .. }
        | Action::Click { display, .. }
        | Action::Drag { display, .. }
        | Action::Scroll { display, .. }
        | Action::ButtonDown { display, .. }
        | Action::ButtonUp { display, .. } => display,
        Action::Type { .. }
        | Action::Press { .. }
        | Action::Hotkey { .. }
        | Action::Hold { .. }
        | Action::KeyDown { .. }
        | Action::KeyUp { .. } => DISPLAY,
    }
}

#[async_trait]
impl Task for Gesture {
    async fn run(&self, cx: &Context) -> Outcome {
        let action = match &self.action {
            Action::Type { text } => match cx.fill(text, &Reach::of(&self.action)).await {
                Ok(text) => Action::Type { text },
                Err(error) => return Outcome::failed(self.tool, Effect::Refused, error),
            },
            other => other.clone(),
        };
        cx.begin();
        if let Action::Drag { path, .. } = &self.action {
            cx.dragged(path);
        }
        match cx.desktop.act(action, cx.cancel.clone()).await {
            Ok(acted) => Outcome::acted(&acted, &self.summary, self.dot),
            Err(error) => Outcome { dot: self.dot, ..Outcome::failed_acting(self.tool, &error) },
        }
    }
}

/// A button, by the only names there are.
#[derive(Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum Which {
    Left,
    Middle,
    Right,
}

impl Which {
    /// The button, and its name for people.
    pub(super) fn named(self) -> (Button, &'static str) {
        match self {
            Self::Left => (Button::Left, "left"),
            Self::Middle => (Button::Middle, "middle"),
            Self::Right => (Button::Right, "right"),
        }
    }
}

/// Modifiers held during a gesture, and the words for it.
pub(super) fn modifiers(names: Option<Vec<String>>) -> Result<(Vec<Key>, String), ToolError> {
    let names = names.unwrap_or_default();
    within("the number of modifiers", names.len(), 0, 4)?;
    let held = names.iter().map(|name| key(name)).collect::<Result<Vec<_>, _>>()?;
    if let Some(other) = held.iter().find(|key| !key.is_modifier()) {
        return Err(bad_arguments(format!("{other} is no modifier; name shift, ctrl, alt or cmd")));
    }
    let words = if held.is_empty() { String::new() } else { format!(" with {}", chord(&held)) };
    Ok((held, words))
}

/// A point on the display; the error names the axis.
pub(super) fn point(x: f64, y: f64) -> Result<NormPoint, ToolError> {
    NormPoint::new(x, y).map_err(bad_arguments)
}

/// A key by any vendor's name; the error has the nearest names.
pub(super) fn key(name: &str) -> Result<Key, ToolError> {
    name.parse().map_err(bad_arguments)
}

/// `512,40`
pub(super) fn at(point: NormPoint) -> String {
    format!("{},{}", point.x(), point.y())
}

/// `Ctrl+Shift+t`
pub(super) fn chord(keys: &[Key]) -> String {
    keys.iter().map(ToString::to_string).collect::<Vec<_>>().join("+")
}
