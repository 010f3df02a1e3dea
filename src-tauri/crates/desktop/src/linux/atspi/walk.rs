//! Level by level: one round trip for each level's children and facts, whatever its width. For what can do no better.

use std::collections::HashMap;

use tokio::time::Instant;

use super::bus::Object;
use super::nodes::{Facts, MOST, Node, Reading, Wish, extents, pipeline};
use super::quirks::Quirks;
use super::role::States;
use crate::Scope;

struct Visited {
    object: Object,
    /// Position among the siblings at each level: the tree's order, when sorted.
    order: Vec<u32>,
    facts: Facts,
}

pub(super) async fn read(window: &Object, wish: Wish) -> Reading {
    let mut reading = Reading { whole: true, ..Reading::default() };
    let mut visited: Vec<Visited> = Vec::new();
    let mut level = vec![(window.clone(), Vec::new())];
    while !level.is_empty() {
        let room = MOST.saturating_sub(visited.len());
        reading.unread += level.len().saturating_sub(room);
        level.truncate(room);
        let wished = level.len();
        let ask = |(object, order): (Object, Vec<u32>)| async move {
            let (facts, children) = tokio::join!(facts(&object, wish.quirks), object.children());
            (object, order, facts, children)
        };
        let answers = pipeline(std::mem::take(&mut level), wish.deadline, ask, 6).await;
        let asked = answers.len();
        for (object, order, facts, children) in answers {
            let Some(mut facts) = facts else { continue };
            // What is below something hidden is hidden too.
            let shown = facts.states.has(wish.quirks.shown) || order.is_empty();
            if !shown && wish.scope != Scope::All {
                reading.hidden += 1;
                continue;
            }
            let children = children.unwrap_or_default();
            facts.children = u32::try_from(children.len()).ok();
            for (index, (_, path)) in (0_u32..).zip(children) {
                let mut place = order.clone();
                place.push(index);
                level.push((Object::new(&object.program, path.as_str()), place));
            }
            visited.push(Visited { object, order, facts });
        }
        if asked < wished {
            reading.late = true;
            reading.unread += wished - asked + level.len();
            break;
        }
    }
    visited.sort_by(|one, other| one.order.cmp(&other.order));
    let index: HashMap<Vec<u32>, usize> =
        visited.iter().enumerate().map(|(at, place)| (place.order.clone(), at)).collect();
    for place in visited {
        let parent = place.order.split_last().and_then(|(_, above)| index.get(above)).copied();
        reading.nodes.push(Node { object: place.object, parent, facts: place.facts });
    }
    reading
}

async fn facts(object: &Object, quirks: Quirks) -> Option<Facts> {
    let (role, name, description, states, extents) =
        tokio::join!(object.role(), object.name(), object.description(), object.states(), extents(object));
    let name = name.unwrap_or_default();
    Some(Facts {
        role: role.ok()?,
        in_popover: quirks.is_popover_content(&name),
        name: quirks.own_name(name),
        description: description.unwrap_or_default(),
        states: states.ok()?,
        extents: extents.unwrap_or_default(),
        ..Facts::default()
    })
}

/// States and children only, until one object has all of `wished`.
pub(super) async fn find(root: &Object, wished: States, deadline: Instant) -> Option<Object> {
    let mut level = vec![root.clone()];
    let mut seen = 0;
    while !level.is_empty() && seen < MOST {
        seen += level.len();
        let asked = level.len();
        let ask = |object: Object| async move {
            let (states, children) = tokio::join!(object.states(), object.children());
            (object, states.unwrap_or_default(), children.unwrap_or_default())
        };
        let answers = pipeline(std::mem::take(&mut level), deadline, ask, 2).await;
        let late = answers.len() < asked;
        for (object, states, children) in answers {
            if states.has(wished) {
                return Some(object);
            }
            if states.has(States::SHOWING) || states.has(States::VISIBLE) {
                level.extend(children.iter().map(|(_, path)| Object::new(&object.program, path.as_str())));
            }
        }
        if late {
            return None;
        }
    }
    None
}
