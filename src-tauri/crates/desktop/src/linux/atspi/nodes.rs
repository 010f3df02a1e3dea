//! Reading a window's objects, each toolkit in the way that costs least: from its cache, by `Collection.GetMatches`,
//! or by a walk; then what only some have (value, label, actions), pipelined.
//!
//! Reads only, and decides nothing: what becomes an element is `prune`'s to say.

use std::collections::HashMap;

use futures::StreamExt;
use tokio::time::Instant;
use zbus::zvariant::OwnedObjectPath;

use super::acting::COMPONENT;
use super::bus::{CallError, Object};
pub(super) use super::details::text;
use super::interfaces::Interfaces;
use super::quirks::{Quirks, Way};
use super::role::States;
use super::{cached, details, matched, settled, walk};
use crate::Scope;

/// Calls under way at a time. A program that hangs reads none, and the socket holds no more than some two hundred.
pub(super) const AT_ONCE: usize = 128;
/// Objects read in all; a page may have a hundred thousand.
pub(super) const MOST: usize = 6_000;

/// What is to be read.
#[derive(Clone, Copy)]
pub(super) struct Wish {
    pub(super) quirks: Quirks,
    pub(super) scope: Scope,
    /// Characters of a text; the usual number if `None`.
    pub(super) text_chars: Option<i32>,
    pub(super) deadline: Instant,
}

/// One object as it was read. The parent comes before its children.
#[derive(Clone)]
pub(super) struct Node {
    pub(super) object: Object,
    /// Index of the nearest ancestor that was read.
    pub(super) parent: Option<usize>,
    pub(super) facts: Facts,
}

/// What is known of an object; plain data.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Facts {
    pub(super) role: u32,
    pub(super) name: String,
    pub(super) description: String,
    pub(super) value: String,
    pub(super) states: States,
    /// On the screen, in pixels: x, y, width, height.
    pub(super) extents: (i32, i32, i32, i32),
    pub(super) actions: Vec<String>,
    /// How many it has, on the screen or not, where that is known; rows, for a table.
    pub(super) children: Option<u32>,
    pub(super) interfaces: Interfaces,
    /// It is switched on and off, whatever its role: a table's cell with a check box.
    pub(super) toggles: bool,
    /// It is the content of a popover, which has a place of its own.
    pub(super) in_popover: bool,
}

/// What a reading brought, whole or in part.
#[derive(Clone, Default)]
pub(super) struct Reading {
    /// In the tree's order.
    pub(super) nodes: Vec<Node>,
    /// All ancestors of each node were read too.
    pub(super) whole: bool,
    /// Objects that are there and were not wished for.
    pub(super) hidden: usize,
    /// Objects that were known of but not read: the time was up, or there were too many.
    pub(super) unread: usize,
    /// The time was up.
    pub(super) late: bool,
    /// Objects that were read, but for what only some have: values, labels, actions.
    pub(super) untold: usize,
}

/// Reads a window: itself as the first node, then what is wished for below it.
pub(super) async fn read(window: &Object, wish: Wish) -> Result<Reading, CallError> {
    let mut reading = match wish.quirks.reading {
        Way::Cache => match cached::read(window, wish).await {
            Some(reading) => reading,
            None => by_matches(window, wish).await?,
        },
        Way::Walk => walk::read(window, wish).await,
        Way::Matches => by_matches(window, wish).await?,
    };
    if reading.nodes.is_empty() && reading.late {
        return Err(CallError::Late);
    }
    if wish.quirks.lags_behind {
        settled::settle(&mut reading.nodes);
    }
    drop_dashes(&mut reading.nodes, wish.quirks);
    reading.untold += details::add(&mut reading.nodes, wish).await;
    Ok(reading)
}

/// Leaves out that a box is between on and off where that is only how it is drawn.
fn drop_dashes(nodes: &mut [Node], quirks: Quirks) {
    for node in nodes.iter_mut().filter(|_| !quirks.tells_between) {
        node.facts.states = node.facts.states.without(States::INDETERMINATE);
    }
}

async fn by_matches(window: &Object, wish: Wish) -> Result<Reading, CallError> {
    if !wish.quirks.bears_matches {
        return Ok(walk::read(window, wish).await);
    }
    match matched::read(window, wish).await {
        Ok(Some(reading)) => Ok(reading),
        Ok(None) => Ok(walk::read(window, wish).await),
        Err(error) => Err(error),
    }
}

/// Asks many at once, and takes what comes in time, in the order of asking.
pub(super) async fn pipeline<T, R, F: Future<Output = R>>(
    all: impl IntoIterator<Item = T>,
    deadline: Instant,
    ask: impl Fn(T) -> F,
    each: usize,
) -> Vec<R> {
    let mut answers = std::pin::pin!(futures::stream::iter(all).map(ask).buffered((AT_ONCE / each).max(1)));
    let mut found = Vec::new();
    while let Ok(Some(answer)) = tokio::time::timeout_at(deadline, answers.next()).await {
        found.push(answer);
    }
    found
}

/// What an object does not tell is nothing; what it did not tell in time is not known.
pub(super) fn or_nothing<T: Default>(told: Result<T, CallError>) -> Result<T, CallError> {
    match told {
        Err(CallError::Late) => Err(CallError::Late),
        told => Ok(told.unwrap_or_default()),
    }
}

/// Zeros for what has no place now.
pub(super) async fn extents(object: &Object) -> Result<(i32, i32, i32, i32), CallError> {
    const SCREEN: u32 = 0;
    let told: (i32, i32, i32, i32) = object.call(COMPONENT, "GetExtents", &SCREEN).await?;
    // GTK's word for that; Java's is -1.
    let nowhere = told.0 == i32::MIN || told.1 == i32::MIN || told.2 < 0 || told.3 < 0;
    Ok(if nowhere { (0, 0, 0, 0) } else { told })
}

/// Links each node to its parent, where that was read too; otherwise to the window.
pub(super) fn adopt(nodes: &mut [Node], parents: &[Option<OwnedObjectPath>]) {
    let index: HashMap<String, usize> =
        nodes.iter().enumerate().map(|(at, node)| (node.object.path.to_string(), at)).collect();
    for (at, parent) in parents.iter().enumerate().skip(1) {
        let found = parent.as_ref().and_then(|path| index.get(path.as_str())).copied();
        nodes[at].parent = Some(found.filter(|&parent| parent < at).unwrap_or(0));
    }
}

/// Puts a subtree behind everything that is already below the node `at`. Its nodes' parents are indices in it; those
/// without one are children of `at`.
pub(super) fn append_below(all: &mut Vec<Node>, at: usize, subtree: Vec<Node>) {
    let end = end_below(all, at);
    insert_below(all, at, end, subtree);
}

/// The same before `next`, which is a child of `at` or the end of what is below it.
pub(super) fn insert_below(all: &mut Vec<Node>, at: usize, next: usize, subtree: Vec<Node>) {
    let more = subtree.len();
    for node in &mut all[next..] {
        node.parent = node.parent.map(|parent| if parent >= next { parent + more } else { parent });
    }
    let placed = |node: Node| Node { parent: Some(node.parent.map_or(at, |parent| next + parent)), ..node };
    all.splice(next..next, subtree.into_iter().map(placed));
}

/// Puts a subtree in place of everything that is below the node `at`.
pub(super) fn replace_below(all: &mut Vec<Node>, at: usize, subtree: Vec<Node>) {
    let end = end_below(all, at);
    let fewer = end - at - 1;
    all.drain(at + 1..end);
    for node in &mut all[at + 1..] {
        node.parent = node.parent.map(|parent| if parent >= end { parent - fewer } else { parent });
    }
    append_below(all, at, subtree);
}

/// The index behind the last node below `at`.
pub(super) fn end_below(all: &[Node], at: usize) -> usize {
    let is_outside = |node: &Node| node.parent.is_none_or(|parent| parent < at);
    all[at + 1..].iter().position(is_outside).map_or(all.len(), |more| at + 1 + more)
}

/// The editable object below `root` that has the keyboard focus.
pub(super) async fn focused(root: &Object, quirks: Quirks, deadline: Instant) -> Option<Object> {
    let wished = States::FOCUSED.with(States::EDITABLE);
    if !quirks.bears_matches {
        return walk::find(root, wished, quirks, deadline).await;
    }
    let found = tokio::time::timeout_at(deadline, matched::matches(root, wished, 1)).await.ok()?;
    match found {
        Ok(found) => found.first().map(|(_, path)| Object::new(&root.program, path.as_str())),
        Err(error) if matched::lacks_matches(root, &error).await => {
            walk::find(root, wished, quirks, deadline).await
        }
        Err(_) => None,
    }
}
