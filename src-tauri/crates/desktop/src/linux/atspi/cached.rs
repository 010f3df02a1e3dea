//! From the cache of a GTK 3 application: one call tells the whole tree with names and states. What it lacks (places,
//! the cells of tables, the rows of lists, file choosers' contents) is asked after, for what is on the screen only.

use std::collections::HashMap;
use std::sync::Arc;

use super::bus::{CallError, Object, Reference};
use super::interfaces::Interfaces;
use super::nodes::{Facts, MOST, Node, Reading, Wish, extents, pipeline, replace_below};
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
    let Tree { mut reading, mut lacking } = tree(window, &items, wish)?;
    let wished: Vec<(usize, Object)> =
        reading.nodes.iter().enumerate().map(|(at, node)| (at, node.object.clone())).collect();
    let count = wished.len();
    let ask = |(at, object): (usize, Object)| async move { (at, extents(&object).await) };
    let answers = pipeline(wished, wish.deadline, ask, 1).await;
    if answers.len() < count {
        reading.late = true;
        reading.unread += count - answers.len();
        reading.nodes.truncate(answers.len());
        lacking.retain(|&at| at < answers.len());
    }
    for (at, extents) in answers {
        reading.untold += usize::from(extents == Err(CallError::Late));
        reading.nodes[at].facts.extents = extents.unwrap_or_default();
    }
    // From the last one on, so that places before it stay as they are.
    for at in lacking.into_iter().rev() {
        fetch_below(&mut reading, at, wish).await;
    }
    table::add_cells(&mut reading, wish).await;
    Some(reading)
}

/// Reads what is below a node by matches, in place of what the cache has of it.
async fn fetch_below(reading: &mut Reading, at: usize, wish: Wish) {
    // A row is known by the labels in it, which take no focus.
    let scope = if wish.scope == Scope::Interactive { Scope::Visible } else { wish.scope };
    let wish = Wish { scope, ..wish };
    match matched::read(&reading.nodes[at].object.clone(), wish).await {
        Ok(Some(found)) => {
            reading.late |= found.late;
            reading.unread += found.unread;
            reading.untold += found.untold;
            // The first one is the node itself.
            reading.nodes[at].facts.children = found.nodes.first().and_then(|node| node.facts.children);
            let below = found.nodes.into_iter().skip(1);
            let below =
                below.map(|node| Node { parent: node.parent.and_then(|at| at.checked_sub(1)), ..node });
            replace_below(&mut reading.nodes, at, below.collect());
        }
        // It has nothing on the screen.
        Ok(None) => {}
        Err(error) => {
            tracing::debug!(%error, "what the cache lacks was not read");
            reading.late |= error == CallError::Late;
            reading.unread += 1;
        }
    }
}

/// What the cache has below a window.
struct Tree {
    reading: Reading,
    /// Nodes that have more below them than the cache holds.
    lacking: Vec<usize>,
}

/// The part of the cache below the window, in the tree's order.
fn tree(window: &Object, items: &[Item], wish: Wish) -> Option<Tree> {
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
    let mut reading = Reading { whole: true, ..Reading::default() };
    let mut lacking = Vec::new();
    let mut waiting = vec![(root, None)];
    while let Some((at, parent)) = waiting.pop() {
        let (reference, _, _, _, count, interfaces, name, role, description, states) = &items[at];
        let states = States::from_words(states);
        if wish.scope != Scope::All && at != root && !states.has(States::SHOWING) {
            reading.hidden += 1;
            continue;
        }
        if reading.nodes.len() == MOST {
            reading.unread += 1;
            continue;
        }
        let path = reference.1.as_str();
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
    Some(Tree { reading, lacking })
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
