//! What a platform has to bring beside its [`Tree`]: its windows and applications, its capture, its reader of
//! text, its hooks. Thin: what is meant, remembered, tried and told is this folder's.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use futures::future::BoxFuture;
use pictures::Frame;
use protocol::geometry::ScaleFactor;
use protocol::view::{Check, CheckState, CheckView, DisplayView};
use tokio_util::sync::CancellationToken;

use super::scene::{Change, Own, Top};
use super::tree::Tree;
use super::watch::Heard;
use crate::{DesktopError, Script, ScriptedApp};

/// A platform.
pub(crate) trait Platform: 'static {
    type Tree: Tree;
    const SCRIPTING: bool;

    /// Pixels without our own windows; `None` if xcap is to take them.
    fn capture(wish: &Capture, own: &Own) -> Option<Result<Frame, DesktopError>>;
    /// The lines of text in the pixels, in reading order. Windows has the networks instead.
    #[cfg(target_os = "macos")]
    fn read_text(frame: &Frame) -> Result<Vec<Line>, DesktopError>;
    /// Whether the user has locked the screen, or another user has it.
    fn is_locked() -> bool;
    /// Tells what the user's own mouse and keys do, until the answer is dropped.
    fn listen(hear: Box<dyn Fn(Heard) + Send>) -> Result<Box<dyn Listening>, DesktopError>;

    /// Windows that are open and not on the screen: minimized ones.
    fn hidden(scale: ScaleFactor) -> Vec<Top>;
    /// `maximized`, `fullscreen`.
    fn states(top: &Top, display: &DisplayView) -> Vec<String>;
    fn change(top: &Top, change: Change, scale: ScaleFactor) -> Result<(), DesktopError>;
    /// Applications with a face: name and process.
    fn running() -> Vec<(String, u32)>;
    /// What could be started: name and file.
    fn installed() -> BTreeMap<String, PathBuf>;
    fn start(file: &Path) -> Result<(), DesktopError>;
    /// Asks; never kills.
    fn end(pid: u32) -> Result<(), DesktopError>;

    /// The permissions, and whether the tree and the screen may be read.
    fn checks(scripted: &[ScriptedApp]) -> Vec<CheckView>;
    fn open_permission(check: Check, scripted: Vec<ScriptedApp>) -> Result<(), DesktopError>;
    fn script(script: Script, cancel: CancellationToken) -> BoxFuture<'static, Result<String, DesktopError>>;
}

/// Ends listening when it is dropped.
pub(crate) trait Listening: Send + Sync {}

/// What is to be captured.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(windows, allow(dead_code, reason = "Windows leaves it to xcap"))]
pub(crate) enum Capture {
    /// By the platform's own number, with its size in pixels.
    Display {
        id: u32,
        width: u32,
        height: u32,
    },
    Window {
        id: u32,
        width: u32,
        height: u32,
    },
}

/// A line of text; places are parts of the frame, 0-1 from its top left corner.
#[cfg(target_os = "macos")]
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Line {
    pub(crate) text: String,
    pub(crate) x: f64,
    pub(crate) y: f64,
    pub(crate) width: f64,
    pub(crate) height: f64,
    pub(crate) confidence: f32,
}

pub(crate) fn view(check: Check, state: CheckState, detail: String, remedy: Option<&str>) -> CheckView {
    CheckView { check, state, detail, remedy: remedy.map(str::to_owned) }
}
