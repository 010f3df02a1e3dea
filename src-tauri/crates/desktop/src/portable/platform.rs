//! What a platform has to bring: its accessibility tree, its windows and applications, its capture, its reader of
//! text, its hooks. Thin: what is meant, remembered, tried and told is this folder's.

use std::collections::BTreeMap;
use std::hash::Hash;
use std::path::{Path, PathBuf};
use std::time::Instant;

use futures::future::BoxFuture;
use protocol::geometry::ScaleFactor;
use protocol::view::{Check, CheckState, CheckView, DisplayView};
use tokio_util::sync::CancellationToken;

use super::list::Seen;
use super::place::{Change, Own, Top};
use super::watch::Heard;
use crate::lane::Kept;
use crate::picture::Frame;
use crate::{DesktopError, Script};

/// A platform.
pub(crate) trait Platform: 'static {
    type Tree: Tree;
    const SCRIPTING: bool;
    /// Whether [`Platform::read_text`] can work.
    const OCR: bool;

    /// Pixels without our own windows; nothing where xcap is to take them.
    fn capture(wish: &Capture, own: &Own) -> Option<Result<Frame, DesktopError>>;
    /// The lines of text in the pixels, in reading order.
    fn read_text(frame: &Frame) -> Result<Vec<Line>, DesktopError>;
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
    fn checks() -> Vec<CheckView>;
    fn open_permission(check: Check) -> Result<(), DesktopError>;
    fn script(script: Script, cancel: CancellationToken) -> BoxFuture<'static, Result<String, DesktopError>>;
}

/// Ends listening when it is dropped.
pub(crate) trait Listening: Send + Sync {}

/// What is to be captured.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(windows, allow(dead_code, reason = "Windows leaves it to xcap"))]
pub(crate) enum Capture {
    /// By the platform's own number, with its size in pixels.
    Display { id: u32, width: u32, height: u32 },
    Window { id: u32, width: u32, height: u32 },
}

/// A line of text; places are parts of the frame, 0-1 from its top left corner.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Line {
    pub(crate) text: String,
    pub(crate) x: f64,
    pub(crate) y: f64,
    pub(crate) width: f64,
    pub(crate) height: f64,
    pub(crate) confidence: f32,
}

/// An accessibility tree. Lives on one thread.
pub(crate) trait Tree: Sized + Kept {
    /// An object; equal to another where it is the same object.
    type Node: Clone + Eq + Hash + 'static;

    fn open() -> Result<Self, DesktopError>;
    /// The window's objects with its menu bar, in the tree's order, until `deadline`.
    fn read_window(
        &mut self,
        window: &Top,
        scale: ScaleFactor,
        deadline: Instant,
    ) -> Result<Reading<Self::Node>, DesktopError>;
    /// An object and what is below it.
    fn read_below(&mut self, node: &Self::Node, scale: ScaleFactor, deadline: Instant) -> Reading<Self::Node>;
    /// What an object says now; nothing where it is gone.
    fn look(&mut self, node: &Self::Node, scale: ScaleFactor) -> Option<Seen>;
    /// The whole value; nothing where it has none. A password's is never read.
    fn value(&mut self, node: &Self::Node) -> Option<String>;
    /// The plain press, toggle, selection or unfolding. False where the object has none.
    fn press(&mut self, node: &Self::Node) -> bool;
    fn set_value(&mut self, node: &Self::Node, text: &str) -> bool;
    fn focus(&mut self, node: &Self::Node) -> bool;
    /// One of the actions that [`Seen`] named.
    fn perform(&mut self, node: &Self::Node, action: &str) -> bool;
    fn menu_bar(&mut self, window: &Top) -> Option<Self::Node>;
    /// The items of a menu bar, or of an item's menu where that is open.
    fn menu_items(&mut self, node: &Self::Node) -> Vec<(Self::Node, String)>;
    /// Opens an item's menu, where items can only be read in an open one.
    fn unfold(&mut self, node: &Self::Node);
    fn fold(&mut self, node: &Self::Node);
    /// The text of the focused editable object; a password's is never read.
    fn focused_text(&mut self) -> Option<String>;
    /// Inserts at the caret without keys. False where that did nothing.
    fn insert(&mut self, text: &str) -> bool;
}

/// Objects as they were read.
pub(crate) struct Reading<N> {
    pub(crate) seen: Vec<Seen>,
    pub(crate) nodes: Vec<N>,
    /// Objects known to be there, and not read.
    pub(crate) unread: usize,
}

impl<N> Default for Reading<N> {
    fn default() -> Self {
        Self { seen: Vec::new(), nodes: Vec::new(), unread: 0 }
    }
}

pub(crate) fn view(check: Check, state: CheckState, detail: String, mend: Option<&str>) -> CheckView {
    CheckView { check, state, detail, mend: mend.map(str::to_owned) }
}
