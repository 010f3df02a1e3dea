//! From the cache of a GTK 3 application: one call tells the whole tree with names and states. What it lacks, places
//! and the cells of tables, is asked after, for what is on the screen only.

use std::collections::HashMap;
use std::sync::Arc;

use super::bus::{Object, Reference};
use super::nodes::{Facts, MOST, Node, Reading, Wish, extents, pipeline};
use super::role::States;
use super::table;
use crate::Scope;

/// Object, application, parent, place among its siblings, children, interfaces, name, role, description, states.
type Item = (Reference, Reference, Reference, i32, i32, Vec<String>, String, u32, String, Vec<u32>);

const CACHE: &str = "/org/a11y/atspi/cache";

/// `None` if there is no such cache, or the window is not in it.
pub(super) async fn read(window: &Object, wish: Wish) -> Option<Reading> {
    let asked = window.program.call::<_, Vec<Item>>(CACHE, "org.a11y.atspi.Cache", "GetItems", &());
    let items = tokio::time::timeout_at(wish.deadline, asked).await.ok()?.ok()?;
    let mut reading = tree(window, &items, wish)?;
    let wished: Vec<(usize, Object)> =
        reading.nodes.iter().enumerate().map(|(at, node)| (at, node.object.clone())).collect();
    let count = wished.len();
    let ask = |(at, object): (usize, Object)| async move { (at, extents(&object).await) };
    let answers = pipeline(wished, wish.deadline, ask, 1).await;
    if answers.len() < count {
        reading.late = true;
        reading.unread += count - answers.len();
        reading.nodes.truncate(answers.len());
    }
    for (at, extents) in answers {
        reading.nodes[at].facts.extents = extents.unwrap_or_default();
    }
    table::add_cells(&mut reading, wish).await;
    Some(reading)
}

/// The part of the cache below the window, in the tree's order.
fn tree(window: &Object, items: &[Item], wish: Wish) -> Option<Reading> {
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
    let mut waiting = vec![(root, None)];
    while let Some((at, parent)) = waiting.pop() {
        let (reference, _, _, _, count, _, name, role, description, states) = &items[at];
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
            ..Facts::default()
        };
        let here = reading.nodes.len();
        let object = Object { program: window.program.clone(), path: Arc::from(path) };
        reading.nodes.push(Node { object, parent, facts });
        let below = children.get(path).map(Vec::as_slice).unwrap_or_default();
        // Last in, first out: the first child is to be read next.
        waiting.extend(below.iter().rev().filter(|&&child| child != at).map(|&child| (child, Some(here))));
    }
    Some(reading)
}
