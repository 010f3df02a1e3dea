//! Reading a window's objects: in bulk by `Collection.GetMatches` where the toolkit has it, otherwise by a walk,
//! a whole level of the tree at a time; then role, name, states, extents and text, pipelined.
//!
//! Reads only, and decides nothing: what becomes an element is `prune`'s to say.

use std::collections::HashMap;

use futures::StreamExt;
use tokio::time::Instant;
use zbus::zvariant::{OwnedObjectPath, OwnedValue};

use super::bus::{ACCESSIBLE, CallError, Object, Reference};
use super::role::{self, Kind, States};

/// Objects read at a time; each has up to five calls under way.
const AT_ONCE: usize = 64;
/// Objects read in all; a page may have a hundred thousand.
const MOST: usize = 3_000;
/// Characters of text kept as a value.
const VALUE_CHARS: i32 = 200;
const TEXT: &str = "org.a11y.atspi.Text";
const LABELLED_BY: u32 = 2;

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
    pub(super) value: String,
    pub(super) states: States,
    /// On the screen, in pixels: x, y, width, height.
    pub(super) extents: (i32, i32, i32, i32),
}

/// What a reading brought, whole or in part.
#[derive(Default)]
pub(super) struct Reading {
    pub(super) nodes: Vec<Node>,
    /// Objects that were known of but not read: the time was up, or there were too many.
    pub(super) unread: usize,
    /// The time was up.
    pub(super) late: bool,
}

/// Reads a window: itself as the first node, then everything on the screen below it.
pub(super) async fn read(window: &Object, deadline: Instant) -> Result<Reading, CallError> {
    let found = match tokio::time::timeout_at(deadline, matches(window, States::SHOWING, 0)).await {
        Ok(Ok(found)) => found,
        Ok(Err(error)) if lacks_matches(window, &error).await => return Ok(walk(window, deadline).await),
        Ok(Err(error)) => return Err(error),
        Err(_) => return Err(CallError::Late),
    };
    if found.is_empty() {
        return Ok(walk(window, deadline).await);
    }
    let mut reading = Reading { unread: found.len().saturating_sub(MOST), ..Reading::default() };
    let objects: Vec<Object> = std::iter::once(window.clone())
        .chain(found.iter().take(MOST).map(|(_, path)| Object::new(&window.program, path.as_str())))
        .collect();
    let mut parents = Vec::new();
    let wished = found.len().min(MOST) + 1;
    let mut answers = futures::stream::iter(objects)
        .map(|object| async move {
            let (facts, parent) = tokio::join!(facts(&object), parent(&object));
            (object, facts, parent)
        })
        .buffered(AT_ONCE);
    let mut asked = 0;
    while let Ok(Some((object, facts, parent))) = tokio::time::timeout_at(deadline, answers.next()).await {
        asked += 1;
        // An object may be gone by the time it is asked: then it is no element.
        if let Some(facts) = facts {
            reading.nodes.push(Node { object, parent: None, facts });
            parents.push(parent);
        }
    }
    reading.late = asked < wished;
    reading.unread += wished - asked;
    adopt(&mut reading.nodes, &parents);
    details(&mut reading.nodes, deadline).await;
    Ok(reading)
}

/// The objects below `root` that have all of `states`, in the tree's order; 0 asks for all.
pub(super) async fn matches(root: &Object, states: States, most: i32) -> Result<Vec<Reference>, CallError> {
    const ALL: i32 = 1;
    // An unused criterion is NONE, not 0: bridges refuse or misread 0.
    const NONE: i32 = 3;
    const CANONICAL: u32 = 1;
    let nothing: Vec<i32> = Vec::new();
    let rule = (
        states.words(),
        ALL,
        HashMap::<String, String>::new(),
        NONE,
        nothing,
        NONE,
        Vec::<String>::new(),
        NONE,
        false,
    );
    root.call("org.a11y.atspi.Collection", "GetMatches", &(rule, CANONICAL, most, true)).await
}

/// Whether the call failed since the toolkit has no `Collection`. Qt says "unknown object" then, of a live one.
async fn lacks_matches(object: &Object, error: &CallError) -> bool {
    match error {
        CallError::Refused(_) => true,
        CallError::Gone => object.states().await.is_ok(),
        CallError::Late | CallError::Broken(_) => false,
    }
}

/// Level by level: one round trip for each level's children and facts, whatever its width.
async fn walk(window: &Object, deadline: Instant) -> Reading {
    struct Place {
        object: Object,
        /// Position among the siblings at each level: the tree's order, when sorted.
        order: Vec<u32>,
        facts: Facts,
    }
    let mut reading = Reading::default();
    let mut places: Vec<Place> = Vec::new();
    let mut level = vec![(window.clone(), Vec::new())];
    while !level.is_empty() {
        let room = MOST.saturating_sub(places.len());
        reading.unread += level.len().saturating_sub(room);
        level.truncate(room);
        let wished = level.len();
        let mut asked = 0;
        let mut next = Vec::new();
        let mut answers = futures::stream::iter(std::mem::take(&mut level))
            .map(|(object, order): (Object, Vec<u32>)| async move {
                let (facts, children) = tokio::join!(facts(&object), object.children());
                (object, order, facts, children)
            })
            .buffered(AT_ONCE);
        while let Ok(Some((object, order, facts, children))) =
            tokio::time::timeout_at(deadline, answers.next()).await
        {
            asked += 1;
            let Some(facts) = facts else { continue };
            // What is below something hidden is hidden too.
            if !facts.states.has(States::SHOWING) && !order.is_empty() {
                continue;
            }
            for (index, (_, path)) in (0_u32..).zip(children.unwrap_or_default()) {
                let mut place = order.clone();
                place.push(index);
                next.push((Object::new(&object.program, path.as_str()), place));
            }
            places.push(Place { object, order, facts });
        }
        if asked < wished {
            reading.late = true;
            reading.unread += wished - asked + next.len();
            break;
        }
        level = next;
    }
    places.sort_by(|one, other| one.order.cmp(&other.order));
    let index: HashMap<Vec<u32>, usize> =
        places.iter().enumerate().map(|(at, place)| (place.order.clone(), at)).collect();
    for place in places {
        let parent = place.order.split_last().and_then(|(_, above)| index.get(above)).copied();
        reading.nodes.push(Node { object: place.object, parent, facts: place.facts });
    }
    details(&mut reading.nodes, deadline).await;
    reading
}

/// Links each node to its parent, where that was read too; otherwise to the window.
fn adopt(nodes: &mut [Node], parents: &[Option<OwnedObjectPath>]) {
    let index: HashMap<String, usize> =
        nodes.iter().enumerate().map(|(at, node)| (node.object.path.to_string(), at)).collect();
    for (at, parent) in parents.iter().enumerate().skip(1) {
        let found = parent.as_ref().and_then(|path| index.get(path.as_str())).copied();
        nodes[at].parent = Some(found.filter(|&parent| parent < at).unwrap_or(0));
    }
}

async fn facts(object: &Object) -> Option<Facts> {
    let (role, name, states, extents) =
        tokio::join!(object.role(), object.name(), object.states(), extents(object));
    Some(Facts {
        role: role.ok()?,
        name: name.unwrap_or_default(),
        value: String::new(),
        states: states.ok()?,
        extents: extents.unwrap_or_default(),
    })
}

pub(super) async fn extents(object: &Object) -> Result<(i32, i32, i32, i32), CallError> {
    const SCREEN: u32 = 0;
    object.call("org.a11y.atspi.Component", "GetExtents", &SCREEN).await
}

async fn parent(object: &Object) -> Option<OwnedObjectPath> {
    let value: OwnedValue = object.program.property(&object.path, ACCESSIBLE, "Parent").await.ok()?;
    Reference::try_from(value).ok().map(|(_, path)| path)
}

/// The second round: values of those that have one, and names of controls that have none of their own.
async fn details(nodes: &mut [Node], deadline: Instant) {
    let names: HashMap<String, String> =
        nodes.iter().map(|node| (node.object.path.to_string(), node.facts.name.clone())).collect();
    let names = &names;
    let wished: Vec<(usize, Object, Facts)> = nodes
        .iter()
        .enumerate()
        .filter(|(_, node)| wants_details(&node.facts))
        .map(|(at, node)| (at, node.object.clone(), node.facts.clone()))
        .collect();
    let mut answers = futures::stream::iter(wished)
        .map(|(at, object, facts)| async move {
            let value = async {
                if role::is_textual(facts.role, facts.states) {
                    text(&object, VALUE_CHARS).await.unwrap_or_default()
                } else if role::is_numeric(facts.role) {
                    number(&object).await.unwrap_or_default()
                } else {
                    String::new()
                }
            };
            let label = async { if facts.name.is_empty() { label(&object, names).await } else { None } };
            let (value, label) = tokio::join!(value, label);
            (at, value, label)
        })
        .buffer_unordered(AT_ONCE);
    while let Ok(Some((at, value, label))) = tokio::time::timeout_at(deadline, answers.next()).await {
        nodes[at].facts.value = value;
        if let Some(label) = label {
            nodes[at].facts.name = label;
        }
    }
}

fn wants_details(facts: &Facts) -> bool {
    let nameless = facts.name.is_empty() && role::describe(facts.role).1 == Kind::Control;
    nameless || role::is_textual(facts.role, facts.states) || role::is_numeric(facts.role)
}

/// The first `most` characters; -1 asks for all.
pub(super) async fn text(object: &Object, most: i32) -> Result<String, CallError> {
    let text: String = object.call(TEXT, "GetText", &(0_i32, most)).await?;
    if most < 0 || !text.is_empty() {
        return Ok(text);
    }
    // Some bridges answer nothing when the end lies beyond the text.
    object
        .call(TEXT, "GetText", &(0_i32, -1_i32))
        .await
        .map(|all: String| all.chars().take(usize::try_from(most).unwrap_or(0)).collect())
}

async fn number(object: &Object) -> Result<String, CallError> {
    let value: f64 = object.program.property(&object.path, "org.a11y.atspi.Value", "CurrentValue").await?;
    Ok(((value * 100.0).round() / 100.0).to_string())
}

/// What a person would call a control without a name: its label's text, or its description.
async fn label(object: &Object, names: &HashMap<String, String>) -> Option<String> {
    let relations: Vec<(u32, Vec<Reference>)> =
        object.call(ACCESSIBLE, "GetRelationSet", &()).await.unwrap_or_default();
    let labels = relations.iter().filter(|(kind, _)| *kind == LABELLED_BY).flat_map(|(_, targets)| targets);
    for (_, path) in labels {
        let name = match names.get(path.as_str()) {
            Some(name) => name.clone(),
            None => Object::new(&object.program, path.as_str()).name().await.unwrap_or_default(),
        };
        if !name.trim().is_empty() {
            return Some(name);
        }
    }
    let description: String = object.program.property(&object.path, ACCESSIBLE, "Description").await.ok()?;
    Some(description).filter(|description| !description.trim().is_empty())
}

/// The editable object below `root` that has the keyboard focus.
pub(super) async fn focused(root: &Object, deadline: Instant) -> Option<Object> {
    let wished = States::FOCUSED.with(States::EDITABLE);
    let found = tokio::time::timeout_at(deadline, matches(root, wished, 1)).await.ok()?;
    match found {
        Ok(found) => found.first().map(|(_, path)| Object::new(&root.program, path.as_str())),
        Err(error) if lacks_matches(root, &error).await => walk_for(root, wished, deadline).await,
        Err(_) => None,
    }
}

/// Level by level, states and children only, until one object has all of `wished`.
async fn walk_for(root: &Object, wished: States, deadline: Instant) -> Option<Object> {
    let mut level = vec![root.clone()];
    let mut seen = 0;
    while !level.is_empty() && seen < MOST {
        seen += level.len();
        let mut next = Vec::new();
        let mut answers = futures::stream::iter(std::mem::take(&mut level))
            .map(|object| async move {
                let (states, children) = tokio::join!(object.states(), object.children());
                (object, states.unwrap_or_default(), children.unwrap_or_default())
            })
            .buffered(AT_ONCE);
        while let Some((object, states, children)) =
            tokio::time::timeout_at(deadline, answers.next()).await.ok()?
        {
            if states.has(wished) {
                return Some(object);
            }
            if states.has(States::SHOWING) {
                next.extend(children.iter().map(|(_, path)| Object::new(&object.program, path.as_str())));
            }
        }
        level = next;
    }
    None
}
