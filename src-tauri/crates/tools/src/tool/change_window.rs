//! `changeWindow`: a window is moved, resized, minimized, maximized, restored or closed.

use async_trait::async_trait;
use desktop::{WindowChange, WindowId};
use protocol::tool::{Risk, ToolError};
use schemars::JsonSchema;
use serde::Deserialize;

use super::{Ability, Builtin, Context, Env, Group, Outcome, Plan, Task, bad_arguments, on_screen, within};
use crate::focus::name_of;
use crate::reach::Reach;

pub(super) struct ChangeWindow;

/// Changes a window (its id from listWindows). Its application may ask to save before it closes.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Input {
    window: u64,
    change: Which,
    /// move: where its top left corner goes.
    #[schemars(range(min = 0, max = 1000))]
    x: Option<f64>,
    #[schemars(range(min = 0, max = 1000))]
    y: Option<f64>,
    /// resize: with its frame.
    #[schemars(range(min = 10, max = 1000))]
    width: Option<f64>,
    #[schemars(range(min = 10, max = 1000))]
    height: Option<f64>,
}

#[derive(Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Which {
    Move,
    Resize,
    Minimize,
    Maximize,
    Restore,
    Close,
}

impl Builtin for ChangeWindow {
    const NAME: &'static str = "changeWindow";
    const RISK: Risk = Risk::Edit;
    const GROUP: Group = Group::Apps;
    const ABILITY: Ability = Ability::Windows;
    type Input = Input;

    fn plan(input: Input, _: &Env<'_>) -> Result<Plan, ToolError> {
        let Input { window, change, x, y, width, height } = input;
        let given = |name: &str, value: Option<f64>| {
            value.ok_or_else(|| bad_arguments(format!("{name} is missing; this change needs it")))
        };
        let unused = |wanted: &[&str]| {
            let fields = [("x", x), ("y", y), ("width", width), ("height", height)];
            let extra = fields.iter().find(|(name, value)| value.is_some() && !wanted.contains(name));
            extra.map_or(Ok(()), |(name, _)| {
                Err(bad_arguments(format!("{name} has no meaning for this change")))
            })
        };
        let (change, done) = match change {
            Which::Move => {
                unused(&["x", "y"])?;
                let x = within("x", given("x", x)?, 0.0, 1000.0)?;
                let y = within("y", given("y", y)?, 0.0, 1000.0)?;
                (WindowChange::Move { x, y }, "moved")
            }
            Which::Resize => {
                unused(&["width", "height"])?;
                let width = within("width", given("width", width)?, 10.0, 1000.0)?;
                let height = within("height", given("height", height)?, 10.0, 1000.0)?;
                (WindowChange::Resize { width, height }, "resized")
            }
            Which::Minimize => (WindowChange::Minimize, "minimized"),
            Which::Maximize => (WindowChange::Maximize, "maximized"),
            Which::Restore => (WindowChange::Restore, "restored"),
            Which::Close => (WindowChange::Close, "closed"),
        };
        if !matches!(change, WindowChange::Move { .. } | WindowChange::Resize { .. }) {
            unused(&[])?;
        }
        let task = Change { tool: Self::NAME, window: WindowId(window), change, done };
        Ok(Plan::new(Self::RISK, task).reaching(Reach::Window(window)))
    }
}

pub(super) struct Change {
    pub(super) tool: &'static str,
    pub(super) window: WindowId,
    pub(super) change: WindowChange,
    /// What it was made, for people.
    pub(super) done: &'static str,
}

#[async_trait]
impl Task for Change {
    async fn run(&self, cx: &Context) -> Outcome {
        // Asked before: a closed window has no title any more.
        let window = name_of(&*cx.desktop, self.window).await;
        let before = match self.change {
            // What is closed cannot be had back, and focus is nobody's loss.
            WindowChange::Close | WindowChange::Focus => None,
            _ => on_screen::window_of(cx, self.window).await,
        };
        cx.begin();
        match cx.desktop.change_window(self.window, self.change).await {
            Ok(acted) => {
                let mut outcome = Outcome::acted(&acted, &format!("{} {window}", self.done), None);
                outcome.changes.extend(on_screen::window_placed(cx, before).await);
                outcome
            }
            Err(error) => Outcome::failed_acting(self.tool, &error),
        }
    }
}
