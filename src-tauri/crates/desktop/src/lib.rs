//! Eyes and hands: capture, pointer, keyboard, text, accessibility elements, clipboard, scripting.
//!
//! Knows nothing of agents, models, tools or policy. Everything above this crate sees one trait, [`Desktop`];
//! the platforms are below it, in `linux/`, `macos/` and `windows/`, and differ in nothing that callers see but
//! in [`Abilities`]. Blocking platform calls never run on the caller's thread.

use std::sync::Arc;
use std::time::Duration;

use futures::future::BoxFuture;
use protocol::geometry::{NormPoint, NormRect, PixelSize};
use protocol::view::{CheckView, DisplayView};
use serde::{Deserialize, Serialize};
use tokio_util::sync::CancellationToken;

/// What can be done to one desktop. All coordinates are 0-1000 of the chosen display.
///
/// Every method honours its deadline itself and answers [`DesktopError::Timeout`]; `cancel` ends an action between
/// two input events, and whatever it held is released before it answers.
pub trait Desktop: Send + Sync {
    fn abilities(&self) -> Abilities;
    fn displays(&self) -> BoxFuture<'_, Result<Vec<DisplayView>, DesktopError>>;
    /// Captures, leaves our own windows out, marks, scales, encodes.
    fn screenshot(&self, shot: Shot) -> BoxFuture<'_, Result<Picture, DesktopError>>;
    fn act(&self, action: Action, cancel: CancellationToken) -> BoxFuture<'_, Result<Acted, DesktopError>>;
    /// One bounded, pruned snapshot of the accessibility tree. Its refs are valid until the next snapshot.
    fn elements(&self, query: ElementQuery) -> BoxFuture<'_, Result<Snapshot, DesktopError>>;
    /// Gives an element of the last snapshot the keyboard focus, by its ref.
    fn focus_element(&self, reference: String) -> BoxFuture<'_, Result<Acted, DesktopError>>;
    /// Runs AppleScript in a killable child; `DesktopError::NotAvailable` off macOS.
    fn run_script(
        &self,
        script: Script,
        cancel: CancellationToken,
    ) -> BoxFuture<'_, Result<String, DesktopError>>;
    /// Releases every key and button this program holds down. Never waits for another call.
    fn release_all(&self);
    /// Completes when the failsafe trips (the pointer in the top left corner, put there by the user, not by us).
    fn failsafe(&self) -> BoxFuture<'_, ()>;
    /// Display, capture, input, accessibility, clipboard: what is there and how to mend what is not.
    fn checks(&self) -> BoxFuture<'_, Vec<CheckView>>;
}

/// Opens the desktop of this platform. Never fails: what is missing is said by [`Desktop::checks`] and by each call.
pub fn open(options: Options) -> Arc<dyn Desktop> {
    platform::open(options)
}

/// How the desktop is to be used.
#[derive(Clone, Debug)]
pub struct Options {
    pub failsafe: bool,
    /// Titles of our own windows: left out of pictures and element lists, and never acted on.
    pub own_titles: Vec<String>,
    /// Our own process; its windows are left out too.
    pub own_pid: u32,
    /// The X display, `:0`; the environment's `DISPLAY` where empty. Ignored off Linux.
    pub display: Option<String>,
    /// Address of the session bus; the environment's where empty. Ignored off Linux.
    pub session_bus: Option<String>,
}

impl Default for Options {
    /// Failsafe on, and no windows of our own but this process's.
    fn default() -> Self {
        Self {
            failsafe: true,
            own_titles: Vec::new(),
            own_pid: std::process::id(),
            display: None,
            session_bus: None,
        }
    }
}

/// What this platform and session can do; tools that cannot work are not offered to the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Abilities {
    pub screen: bool,
    pub input: bool,
    pub elements: bool,
    pub scripting: bool,
}

/// A wish for a picture.
#[derive(Clone, Debug, PartialEq)]
pub struct Shot {
    /// Index of the display; 0 is the first.
    pub display: u32,
    /// The red dot, where an action took place.
    pub dot: Option<NormPoint>,
    /// Scaled down to fit, never up.
    pub max: PixelSize,
    /// JPEG quality, 20-100.
    pub quality: u8,
}

/// A JPEG of a display.
#[derive(Clone, Debug, PartialEq)]
pub struct Picture {
    pub jpeg: Vec<u8>,
    pub size: PixelSize,
    /// A hash of the pixels before marking and encoding: equal means that nothing changed.
    pub pixels: u64,
}

/// One physical act. Points are on display `display`.
#[derive(Clone, Debug, PartialEq)]
pub enum Action {
    Move {
        display: u32,
        to: NormPoint,
    },
    Click {
        display: u32,
        at: NormPoint,
        button: Button,
        count: u8,
        held: Vec<Key>,
    },
    Drag {
        display: u32,
        path: Vec<NormPoint>,
        button: Button,
    },
    /// Notches; positive `down` scrolls towards the end, positive `right` to the right.
    Scroll {
        display: u32,
        at: NormPoint,
        down: i32,
        right: i32,
    },
    /// Text at the keyboard focus, in any script.
    Type {
        text: String,
    },
    /// One key, pressed and released, `times` times.
    Press {
        key: Key,
        times: u32,
    },
    /// All pressed in order, released in reverse.
    Hotkey {
        keys: Vec<Key>,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Button {
    Left,
    Middle,
    Right,
}

/// What an act is known to have done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Acted {
    pub evidence: Evidence,
    /// For people: "typed 17 characters by paste, read back equal".
    pub note: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Evidence {
    /// Read back, and as wished.
    ReadBack,
    /// The events were sent; nothing could be read back.
    Sent,
    /// Read back, and not as wished.
    Mismatch,
}

/// Which elements are wished for.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ElementQuery {
    /// Part of an application's or window's name; the active window's application where empty.
    pub app: Option<String>,
    /// Only elements whose name, value or role contains this, in any case.
    pub query: Option<String>,
    /// Most elements in the answer.
    pub limit: u32,
    pub display: u32,
    pub deadline: Option<Duration>,
}

/// Elements of one application, in reading order.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Snapshot {
    pub app: String,
    pub window: String,
    pub elements: Vec<Element>,
    /// What was left out, with counts, for the model: "cut: 1,204 of 1,404 off screen". Empty when nothing was.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cut: Vec<String>,
}

/// A thing on the screen.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Element {
    /// `e1`, `e2` ...: valid for its snapshot.
    #[serde(rename = "ref")]
    pub reference: String,
    /// Lower case, the accessibility role: `button`, `text`, `menu item`.
    pub role: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub name: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub value: String,
    /// Those that matter to an agent: `focused`, `disabled`, `checked`, `selected`, `expanded`, `editable`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub states: Vec<String>,
    pub bounds: NormRect,
    /// Depth below the window, for indentation.
    pub depth: u32,
}

/// An AppleScript with its arguments, which are passed to `on run argv`, never concatenated.
#[derive(Clone, Debug, PartialEq)]
pub struct Script {
    pub source: String,
    pub arguments: Vec<String>,
    pub timeout: Duration,
}

/// Why the desktop could not do it.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum DesktopError {
    /// "not available here: ..."
    #[error("not available here: {0}")]
    NotAvailable(String),
    #[error("no permission: {what}; {mend}")]
    Permission { what: String, mend: String },
    #[error("not found: {0}")]
    NotFound(String),
    #[error("{0}")]
    BadInput(String),
    /// The target is our own window, or the failsafe corner.
    #[error("forbidden: {0}")]
    Forbidden(String),
    #[error("no answer within {0:?}")]
    Timeout(Duration),
    #[error("stopped")]
    Cancelled,
    #[error("{0}")]
    Failed(String),
}

pub use keys::{Key, UnknownKey};
#[cfg(target_os = "linux")]
pub use platform::Accessibility;

pub mod fake;
mod keys;
mod lane;
mod picture;

#[cfg(any(target_os = "macos", test))]
mod osascript;
// What macOS and Windows share; its pure parts are tested on Linux too.
#[cfg(any(not(target_os = "linux"), test))]
mod portable;

#[cfg(target_os = "linux")]
#[path = "linux/mod.rs"]
mod platform;
#[cfg(target_os = "macos")]
#[path = "macos/mod.rs"]
mod platform;
#[cfg(windows)]
#[path = "windows/mod.rs"]
mod platform;
