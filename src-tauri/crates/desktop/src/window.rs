//! Windows and applications as others see them. Data only.

use protocol::geometry::NormRect;
use serde::{Deserialize, Serialize};

/// A window, for as long as it is open.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct WindowId(pub u64);

/// A window of another program.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct WindowView {
    pub id: WindowId,
    pub title: String,
    pub app: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pid: Option<u32>,
    /// The display that shows most of it.
    pub display: u32,
    /// With its frame, in 0-1000 of that display.
    pub bounds: NormRect,
    /// `focused`, `minimized`, `otherWorkspace`, `maximized`, `fullscreen`, `modal`: its program takes nothing else before
    /// it is answered.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub states: Vec<String>,
}

impl WindowView {
    pub fn is(&self, state: &str) -> bool {
        self.states.iter().any(|one| one == state)
    }

    /// Neither minimized nor on another workspace; others may cover it.
    pub fn is_shown(&self) -> bool {
        !self.is("minimized") && !self.is("otherWorkspace")
    }
}

/// What gets the keys, or a click at a point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Taker {
    Window(WindowId),
    /// A menu or its like, of this process, which is in no list of windows.
    Popup(u32),
    /// One of our own windows.
    Ours,
    /// None that is listed: a panel, a launcher, the bare desktop.
    Other,
    /// The system does not say.
    Unsaid,
}

/// What is done to a window. Places and sizes are in 0-1000 of its display.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum WindowChange {
    /// Raised, and given the keyboard.
    Focus,
    Move {
        x: f64,
        y: f64,
    },
    Resize {
        width: f64,
        height: f64,
    },
    Minimize,
    Maximize,
    /// On the screen, and neither minimized nor maximized; one on another workspace is shown as it is there.
    Restore,
    /// As by its close button: the application may ask its user first.
    Close,
}

/// An application.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AppView {
    pub name: String,
    /// Of the first process; `None` if it does not run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pid: Option<u32>,
    /// Windows that are open.
    pub windows: u32,
}
