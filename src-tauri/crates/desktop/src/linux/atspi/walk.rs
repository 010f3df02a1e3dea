//! Level by level: one round trip for each level's children and facts, whatever its width. For what can do no better.

use std::collections::HashMap;

use tokio::time::Instant;

use super::bus::{CallError, Object};
use super::nodes::{Facts, MOST, Node, Reading, Wish, extents, or_nothing, pipeline};
use super::quirks::Quirks;
use super::role::{self, States};
use super::table::{self, Below};
use crate::Scope;

struct Visited {
    object: Object,
    /// Position among the siblings at each level: the tree's order, when sorted.
    order: Vec<u32>,
    facts: Facts,
}

struct ToVisit {
    object: Object,
    order: Vec<u32>,
    /// It is in something that lies in a window of its own.
    pops_up: bool,
}

pub(super) async fn read(window: &Object, wish: Wish) -> Reading {
    let mut reading = Reading { whole: true, ..Reading::default() };
    let mut visited: Vec<Visited> = Vec::new();
    let mut level = vec![ToVisit { object: window.clone(), order: Vec::new(), pops_up: false }];
    // Of the window; what lies outside of it is scrolled away, with everything in it.
    let mut frame = None;
    while !level.is_empty() {
        let room = MOST.saturating_sub(visited.len());
        reading.unread += level.len().saturating_sub(room);
        level.truncate(room);
        let wished = level.len();
        let ask = |asked: ToVisit| async move {
            let facts = facts(&asked.object, wish.quirks).await;
            let below = match &facts {
                Ok(facts) if facts.states.has(States::MANAGES_DESCENDANTS) => {
                    table::below(&asked.object, facts.extents, wish.scope).await
                }
                Ok(_) => asked.object.all_children().await.map(Below::all),
                Err(_) => Ok(Below::default()),
            };
            (asked, facts, below)
        };
        let answers = pipeline(std::mem::take(&mut level), wish.deadline, ask, 6).await;
        let asked = answers.len();
        for (ToVisit { object, order, pops_up }, facts, below) in answers {
            let mut facts = match facts {
                Ok(facts) => facts,
                Err(CallError::Late) => {
                    reading.late = true;
                    reading.unread += 1;
                    continue;
                }
                // An object may be gone by the time it is asked: then it is none.
                Err(_) => continue,
            };
            // What is below something hidden is hidden too.
            let shown = facts.states.has(wish.quirks.shown)
                || wish.quirks.is_called_defunct(facts.role, facts.states)
                || order.is_empty();
            if !shown && wish.scope != Scope::All {
                reading.hidden += 1;
                continue;
            }
            if matches!(below, Err(CallError::Late)) {
                reading.late = true;
                reading.unread += 1;
            }
            let below = below.unwrap_or_default();
            facts.children = Some(below.count);
            let pops_up = pops_up || facts.in_popover || role::pops_up(facts.role);
            let frame = *frame.get_or_insert(facts.extents);
            let out_of_sight = wish.quirks.places_in_window && !pops_up && !overlaps(facts.extents, frame);
            if out_of_sight && wish.scope != Scope::All {
                reading.hidden += below.read.len();
            } else {
                for (index, (_, path)) in (0_u32..).zip(below.read) {
                    let mut order = order.clone();
                    order.push(index);
                    level.push(ToVisit {
                        object: Object::new(&object.program, path.as_str()),
                        order,
                        pops_up,
                    });
                }
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

/// Whether an object in a window has a part in it, or no place at all. Places count from the window's corner.
fn overlaps((x, y, width, height): (i32, i32, i32, i32), window: (i32, i32, i32, i32)) -> bool {
    let placed = width > 0 && height > 0 && window.2 > 0 && window.3 > 0;
    let within = |start: i32, length: i32, whole: i32| start < whole && start.saturating_add(length) > 0;
    !placed || (within(x, width, window.2) && within(y, height, window.3))
}

pub(super) async fn facts(object: &Object, quirks: Quirks) -> Result<Facts, CallError> {
    let (role, name, description, states, extents) =
        tokio::join!(object.role(), object.name(), object.description(), object.states(), extents(object));
    let name = or_nothing(name)?;
    let role = role?;
    Ok(Facts {
        role,
        in_popover: quirks.is_popover_content(&name),
        name: quirks.own_name_of(role, name),
        description: or_nothing(description)?,
        states: states?,
        extents: or_nothing(extents)?,
        ..Facts::default()
    })
}

/// States and children only, until one object has all of `wished`.
pub(super) async fn find(root: &Object, wished: States, quirks: Quirks, deadline: Instant) -> Option<Object> {
    let mut level = vec![root.clone()];
    let mut seen = 0;
    while !level.is_empty() && seen < MOST {
        seen += level.len();
        let asked = level.len();
        let ask = |object: Object| async move {
            let states = object.states().await.unwrap_or_default();
            let may_show = states.has(States::DEFUNCT) && quirks.calls_panels_defunct;
            let is_shown = may_show || states.has(States::SHOWING) || states.has(States::VISIBLE);
            let children = match states.has(States::MANAGES_DESCENDANTS) {
                _ if !is_shown => Vec::new(),
                // A text's paragraphs; of cells, which are not edited themselves, there may be very many.
                true => object.few_children().await.unwrap_or_default(),
                false => object.all_children().await.unwrap_or_default(),
            };
            (object, states, children)
        };
        let answers = pipeline(std::mem::take(&mut level), deadline, ask, 2).await;
        let late = answers.len() < asked;
        for (object, states, children) in answers {
            if states.has(wished) {
                return Some(object);
            }
            level.extend(children.iter().map(|(_, path)| Object::new(&object.program, path.as_str())));
        }
        if late {
            return None;
        }
    }
    None
}
