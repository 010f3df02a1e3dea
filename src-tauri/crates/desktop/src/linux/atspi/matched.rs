//! By `Collection.GetMatches`: one call names all objects with the wished states, then each is asked, pipelined.

use std::collections::HashMap;

use zbus::zvariant::{OwnedObjectPath, OwnedValue};

use super::bus::{ACCESSIBLE, CallError, Object, PROPERTIES, Reference};
use super::nodes::{Facts, MOST, Node, Reading, Wish, adopt, extents, or_nothing, pipeline};
use super::role::States;
use crate::Scope;

/// Everything wished for below a window; `None` if the program cannot match, or matches nothing.
pub(super) async fn read(window: &Object, wish: Wish) -> Result<Option<Reading>, CallError> {
    let states = match wish.scope {
        Scope::Interactive => States::SHOWING.with(States::FOCUSABLE),
        Scope::Visible => States::SHOWING,
        Scope::All => States::default(),
    };
    let found = match tokio::time::timeout_at(wish.deadline, matches(window, states, 0)).await {
        Ok(Ok(found)) => found,
        Ok(Err(error)) if lacks_matches(window, &error).await => return Ok(None),
        Ok(Err(error)) => return Err(error),
        Err(_) => return Err(CallError::Late),
    };
    if found.is_empty() {
        return Ok(None);
    }
    let objects: Vec<Object> = std::iter::once(window.clone())
        .chain(found.iter().take(MOST).map(|(_, path)| Object::new(&window.program, path.as_str())))
        .collect();
    let wished = objects.len();
    let ask = |object: Object| async move {
        let facts = facts(&object).await;
        (object, facts)
    };
    let answers = pipeline(objects, wish.deadline, ask, 4).await;
    let asked = answers.len();
    let mut reading = Reading {
        unread: found.len() + 1 - asked,
        late: asked < wished,
        whole: wish.scope != Scope::Interactive,
        ..Reading::default()
    };
    let mut parents = Vec::new();
    for (object, facts) in answers {
        // An object may be gone by the time it is asked: then it is no element.
        match facts {
            Ok((facts, parent)) => {
                reading.nodes.push(Node { object, parent: None, facts });
                parents.push(parent);
            }
            Err(CallError::Late) => {
                reading.late = true;
                reading.unread += 1;
            }
            Err(_) => {}
        }
    }
    adopt(&mut reading.nodes, &parents);
    Ok(Some(reading))
}

/// The objects below `root` that have all of `states`, in the tree's order; at most `most`, 0 being all.
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
pub(super) async fn lacks_matches(object: &Object, error: &CallError) -> bool {
    match error {
        CallError::Refused(_) => true,
        CallError::Gone => object.states().await.is_ok(),
        CallError::Late | CallError::Broken(_) => false,
    }
}

/// Four calls: one brings name, description, parent and the number of children together.
pub(super) async fn facts(object: &Object) -> Result<(Facts, Option<OwnedObjectPath>), CallError> {
    let all = object.call::<_, HashMap<String, OwnedValue>>(PROPERTIES, "GetAll", &ACCESSIBLE);
    let (all, role, states, extents) = tokio::join!(all, object.role(), object.states(), extents(object));
    let mut all = or_nothing(all)?;
    let mut text = |name: &str| all.remove(name).and_then(|value| String::try_from(value).ok());
    let (name, description) = (text("Name"), text("Description"));
    let parent = all.remove("Parent").and_then(|value| Reference::try_from(value).ok());
    let children = all.remove("ChildCount").and_then(|value| i32::try_from(value).ok());
    let facts = Facts {
        role: role?,
        name: name.unwrap_or_default(),
        description: description.unwrap_or_default(),
        states: states?,
        extents: or_nothing(extents)?,
        children: children.and_then(|count| u32::try_from(count).ok()),
        ..Facts::default()
    };
    Ok((facts, parent.map(|(_, path)| path)))
}
