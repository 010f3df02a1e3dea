//! From the cache of a GTK 3 application: one call tells the whole tree with names and states. What it lacks (places,
//! the cells of tables, the rows of lists, file choosers' contents) is asked after, for what is on the screen only.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::bus::{CallError, Object, Reference};
use super::interfaces::Interfaces;
use super::nodes::{
    Facts, MOST, Node, Reading, Wish, end_below, extents, insert_below, pipeline, replace_below,
};
use super::role::States;
use super::{matched, table};
use crate::Scope;

/// Object, application, parent, place among its siblings, children, interfaces, name, role, description, states.
type Item = (Reference, Reference, Reference, i32, i32, Vec<String>, String, u32, String, Vec<u32>);

const CACHE: &str = "/org/a11y/atspi/cache";

/// `None` if there is no such cache, or the window is not in it.
pub(super) async fn read(window: &Object, wish: Wish) -> Option<Reading> {
    let asked = window.program.call::<_, Vec<Item>>(CACHE, "org.a11y.atspi.Cache", "GetItems", &());
    let items = tokio::time::timeout_at(wish.deadline, asked).await.ok()?.ok()?;
    // The cache has a window's popovers below the widgets that they belong to, which it need not have.
    let own = window.children().await.unwrap_or_default();
    let Tree { mut reading, mut lacking, seen } = tree(window, &items, &own, wish)?;
    // What does not show has no place.
    let shows = |(at, node): &(usize, &Node)| *at == 0 || node.facts.states.has(States::SHOWING);
    let wished: Vec<(usize, Object)> =
        reading.nodes.iter().enumerate().filter(shows).map(|(at, node)| (at, node.object.clone())).collect();
    let ends: Vec<usize> = wished.iter().map(|(at, _)| *at).collect();
    let ask = |(at, object): (usize, Object)| async move { (at, extents(&object).await) };
    let answers = pipeline(wished, wish.deadline, ask, 1).await;
    if let Some(&unasked) = ends.get(answers.len()) {
        reading.late = true;
        reading.unread += reading.nodes.len() - unasked;
        reading.nodes.truncate(unasked);
        lacking.retain(|&at| at < unasked);
    }
    for (at, extents) in answers {
        reading.untold += usize::from(extents == Err(CallError::Late));
        reading.nodes[at].facts.extents = extents.unwrap_or_default();
    }
    // From the last one on, so that places before it stay as they are.
    for at in lacking.into_iter().rev() {
        let fetched = fetch_missing(&mut reading, at, &seen, wish).await;
        if let Err(error) = fetched {
            tracing::debug!(%error, "what the cache lacks was not read");
            reading.late |= error == CallError::Late;
            reading.unread += 1;
        }
    }
    table::add_cells(&mut reading, wish).await;
    Some(reading)
}

/// Reads what is below a node by matches, in place of what the cache has of it.
async fn fetch_below(reading: &mut Reading, at: usize, wish: Wish) -> Result<(), CallError> {
    // Without one it has nothing on the screen.
    if let Some(found) = matched::read(&reading.nodes[at].object.clone(), with_labels(wish)).await? {
        let mut below = take(reading, found);
        // The first one is the node itself.
        reading.nodes[at].facts.children = below.first().and_then(|node| node.facts.children);
        below = below
            .into_iter()
            .skip(1)
            .map(|node| Node { parent: node.parent.and_then(|at| at.checked_sub(1)), ..node })
            .collect();
        replace_below(&mut reading.nodes, at, below);
    }
    Ok(())
}

/// Reads those children of a node that the cache does not hold, and puts each before its next sibling.
async fn fetch_missing(
    reading: &mut Reading,
    at: usize,
    seen: &HashSet<&str>,
    wish: Wish,
) -> Result<(), CallError> {
    let mut next = end_below(&reading.nodes, at);
    if next == at + 1 {
        return fetch_below(reading, at, wish).await;
    }
    let here = reading.nodes[..next].iter().enumerate().filter(|(_, node)| node.parent == Some(at));
    let here: HashMap<Arc<str>, usize> = here.map(|(at, node)| (node.object.path.clone(), at)).collect();
    let parent = reading.nodes[at].object.clone();
    let children = parent.children().await?;
    let mut places = Vec::new();
    let mut missing = Vec::new();
    for path in children.iter().rev().map(|(_, path)| path.as_str()) {
        if let Some(&sibling) = here.get(path) {
            next = sibling;
        } else if !seen.contains(path) {
            places.push(next);
            missing.push(Object::new(&parent.program, path));
        }
    }
    let read = pipeline(missing, wish.deadline, |child| whole(child, wish), 5).await;
    reading.unread += places.len() - read.len();
    for (next, subtree) in places.into_iter().zip(read) {
        let subtree = take(reading, subtree?);
        insert_below(&mut reading.nodes, at, next, subtree);
    }
    Ok(())
}

/// An object with everything below it, as far as that is wished for.
async fn whole(object: Object, wish: Wish) -> Result<Reading, CallError> {
    if let Some(found) = matched::read(&object, with_labels(wish)).await? {
        return Ok(found);
    }
    let (facts, _) = matched::facts(&object).await?;
    let wished = wish.scope == Scope::All || facts.states.has(States::SHOWING);
    let alone = wished.then_some(Node { object, parent: None, facts });
    Ok(Reading { nodes: alone.into_iter().collect(), ..Reading::default() })
}

/// A row is known by the labels in it, which take no focus.
fn with_labels(wish: Wish) -> Wish {
    let scope = if wish.scope == Scope::Interactive { Scope::Visible } else { wish.scope };
    Wish { scope, ..wish }
}

/// Adds to the reading what could not be read of a part of it.
fn take(reading: &mut Reading, part: Reading) -> Vec<Node> {
    reading.late |= part.late;
    reading.unread += part.unread;
    reading.untold += part.untold;
    part.nodes
}

/// What the cache has of a window.
struct Tree<'items> {
    reading: Reading,
    /// Nodes that have more children than the cache holds.
    lacking: Vec<usize>,
    /// Paths of what was come by, wished for or not.
    seen: HashSet<&'items str>,
}

/// The part of the cache below the window, whose children are `own`, in the tree's order.
fn tree<'items>(
    window: &Object,
    items: &'items [Item],
    own: &[Reference],
    wish: Wish,
) -> Option<Tree<'items>> {
    let mut index: HashMap<&str, usize> = HashMap::with_capacity(items.len());
    let mut children: HashMap<&str, Vec<usize>> = HashMap::new();
    for (at, item) in items.iter().enumerate() {
        index.insert(item.0.1.as_str(), at);
        children.entry(item.2.1.as_str()).or_default().push(at);
    }
    for below in children.values_mut() {
        below.sort_by_key(|&at| items[at].3);
    }
    let root = *index.get(&*window.path)?;
    let own: Vec<usize> = own.iter().filter_map(|(_, path)| index.get(path.as_str()).copied()).collect();
    if !own.is_empty() {
        children.insert(items[root].0.1.as_str(), own);
    }
    let mut reading = Reading { whole: true, ..Reading::default() };
    let mut lacking = Vec::new();
    let mut seen = HashSet::with_capacity(items.len());
    let mut waiting = vec![(root, None)];
    while let Some((at, parent)) = waiting.pop() {
        let (reference, _, _, _, count, interfaces, name, role, description, states) = &items[at];
        let path = reference.1.as_str();
        if !seen.insert(path) {
            continue;
        }
        let states = States::from_words(states);
        if wish.scope != Scope::All && at != root && !states.has(States::SHOWING) {
            reading.hidden += 1;
            continue;
        }
        if reading.nodes.len() == MOST {
            reading.unread += 1;
            continue;
        }
        let facts = Facts {
            role: *role,
            name: name.clone(),
            description: description.clone(),
            states,
            children: u32::try_from(*count).ok(),
            interfaces: Interfaces::named(interfaces),
            ..Facts::default()
        };
        let here = reading.nodes.len();
        let below = children.get(path).map(Vec::as_slice).unwrap_or_default();
        if lacks(&facts, *count, below.len()) {
            lacking.push(here);
        }
        let object = Object { program: window.program.clone(), path: Arc::from(path) };
        reading.nodes.push(Node { object, parent, facts });
        // Last in, first out: the first child is to be read next.
        waiting.extend(below.iter().rev().filter(|&&child| child != at).map(|&child| (child, Some(here))));
    }
    Some(Tree { reading, lacking, seen })
}

/// Whether there is more below a node than the cache tells. It does not count what makes its children only when they
/// are asked for; tables are asked for their cells (`table.rs`).
fn lacks(facts: &Facts, count: i32, cached: usize) -> bool {
    match usize::try_from(count) {
        Ok(count) => count > cached,
        Err(_) => cached == 0 && !facts.interfaces.has(table::TABLE),
    }
}

#[cfg(test)]
mod tests;
