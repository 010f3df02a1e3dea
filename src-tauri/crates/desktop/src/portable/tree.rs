//! What a platform's accessibility tree has to bring. Which object is meant, what is remembered and what is tried is
//! the reader's.

use std::hash::Hash;
use std::time::Instant;

use protocol::geometry::ScaleFactor;

use super::list::TreeItem;
use super::scene::Top;
use crate::DesktopError;
use crate::worker::WorkerState;

/// An accessibility tree. Lives on one thread.
pub(crate) trait Tree: Sized + WorkerState {
    /// An object; equal to another where it is the same object.
    type Node: Clone + Eq + Hash + 'static;

    #[cfg_attr(target_os = "linux", allow(dead_code, reason = "the tests there script a tree"))]
    fn open() -> Result<Self, DesktopError>;
    /// The window's objects with its menu bar, in the tree's order, until `deadline`.
    fn read_window(
        &mut self,
        window: &Top,
        scale: ScaleFactor,
        deadline: Instant,
    ) -> Result<Reading<Self::Node>, DesktopError>;
    /// An object and what is below it.
    fn read_below(&mut self, node: &Self::Node, scale: ScaleFactor, deadline: Instant)
    -> Reading<Self::Node>;
    /// What an object says now; `None` if it is gone.
    fn look(&mut self, node: &Self::Node, scale: ScaleFactor) -> Option<TreeItem>;
    /// The whole value; `None` if it has none. A password's is never read.
    fn value(&mut self, node: &Self::Node) -> Option<String>;
    /// The plain press, toggle, selection or unfolding. False where the object has none.
    fn press(&mut self, node: &Self::Node) -> bool;
    fn set_value(&mut self, node: &Self::Node, text: &str) -> bool;
    fn focus(&mut self, node: &Self::Node) -> bool;
    /// One of the actions that [`TreeItem`] named.
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
    pub(crate) seen: Vec<TreeItem>,
    pub(crate) nodes: Vec<N>,
    /// Objects known to be there, and not read.
    pub(crate) unread: usize,
}

impl<N> Default for Reading<N> {
    fn default() -> Self {
        Self { seen: Vec::new(), nodes: Vec::new(), unread: 0 }
    }
}
