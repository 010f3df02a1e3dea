//! What pointer and keyboard tools share: one action sent to the desktop, and the words that tools check alike.

use async_trait::async_trait;
use desktop::{Abilities, Action, Key};
use protocol::geometry::NormPoint;
use protocol::tool::ToolError;

use super::{Context, Outcome, Plan, Task, bad_arguments};

/// One action of pointer or keyboard.
pub(super) struct Gesture {
    tool: &'static str,
    action: Action,
    summary: String,
    dot: Option<NormPoint>,
}

impl Gesture {
    pub(super) fn plan(
        tool: &'static str,
        action: Action,
        summary: impl Into<String>,
        dot: Option<NormPoint>,
    ) -> Plan {
        Plan::of(Self { tool, action, summary: summary.into(), dot })
    }
}

#[async_trait]
impl Task for Gesture {
    async fn run(&self, cx: &Context) -> Outcome {
        cx.begin();
        if let Action::Drag { path, .. } = &self.action {
            cx.dragged(path);
        }
        match cx.desktop.act(self.action.clone(), cx.cancel.clone()).await {
            Ok(acted) => Outcome::acted(&acted, &self.summary, self.dot),
            Err(error) => Outcome { dot: self.dot, ..Outcome::failed_acting(self.tool, &error) },
        }
    }
}

pub(super) fn needs_input(abilities: &Abilities) -> Option<&'static str> {
    (!abilities.input)
        .then_some("pointer and keyboard cannot be used on this desktop; `miki doctor` says why")
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
