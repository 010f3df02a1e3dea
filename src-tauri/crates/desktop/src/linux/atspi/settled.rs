//! Places that lag behind the layout: LibreOffice tells where the parts of its window were before the menu bar came
//! above them, until the window has another size. The pane that holds all of them is told where it is by its frame.

use super::acting::parent;
use super::bus::{Object, ROOT};
use super::nodes::{self, Node};
use super::role::number;

/// On the screen: x, y, width, height.
type Extents = (i32, i32, i32, i32);
/// The deepest tree that is followed.
const DEEPEST: usize = 60;

/// Puts the objects where they are. Parents come before their children.
pub(super) fn settle(all: &mut [Node]) {
    let told: Vec<_> = all.iter().map(|node| (node.parent, node.facts.role, node.facts.extents)).collect();
    for (node, (right, down)) in all.iter_mut().zip(lags(&told)) {
        let (x, y, _, _) = &mut node.facts.extents;
        (*x, *y) = (x.saturating_add(right), y.saturating_add(down));
    }
}

/// What an object's told place is worth.
pub(super) enum Correction {
    /// It is so far right and down of that.
    Lags(i32, i32),
    /// It is there, as all below this one, which the toolkit itself draws.
    Known(Object),
}

pub(super) async fn correction_of(object: &Object) -> Correction {
    let nothing = Correction::Lags(0, 0);
    // From the object up to the pane, which does not know what it is in.
    let mut chain = Vec::new();
    let (mut below, mut at) = (None, object.clone());
    loop {
        let (role, extents) = tokio::join!(at.role(), nodes::extents(&at));
        let (Ok(role), Ok(extents)) = (role, extents) else { return nothing };
        chain.push((role, extents));
        if role == number::ROOT_PANE {
            break;
        }
        match parent(&at).await {
            Ok(above) if chain.len() < DEEPEST => (below, at) = (Some(at), above),
            Ok(_) | Err(_) => return nothing,
        }
    }
    // What the toolkit itself draws leads up to the pane past what holds it.
    if let Some(below) = below
        && at.children().await.is_ok_and(|held| !held.iter().any(|(_, path)| path.as_str() == &*below.path))
    {
        return Correction::Known(below);
    }
    let Some(frame) = frame_of(&at).await else { return nothing };
    chain.push((number::FRAME, frame));
    let told: Vec<_> = chain
        .into_iter()
        .rev()
        .enumerate()
        .map(|(depth, (role, extents))| (depth.checked_sub(1), role, extents))
        .collect();
    let (right, down) = lags(&told).last().copied().unwrap_or_default();
    Correction::Lags(right, down)
}

/// Where what holds a pane is told to be; looked for from the windows down.
async fn frame_of(pane: &Object) -> Option<Extents> {
    const LEVELS: u32 = 5;
    const MOST: usize = 200;
    let mut level = vec![Object::new(&pane.program, ROOT)];
    for _ in 0..LEVELS {
        let mut below = Vec::new();
        for object in &level {
            for (_, path) in object.children().await.unwrap_or_default() {
                if path.as_str() == &*pane.path {
                    return nodes::extents(object).await.ok();
                }
                below.push(Object::new(&pane.program, path.as_str()));
            }
        }
        below.truncate(MOST);
        level = below;
    }
    None
}

/// Of each object (its parent's index, its role, where it is told to be), how far right and down of that it is.
fn lags(told: &[(Option<usize>, u32, Extents)]) -> Vec<(i32, i32)> {
    let mut lags: Vec<(i32, i32)> = Vec::with_capacity(told.len());
    for &(parent, role, place) in told {
        let Some(parent) = parent else {
            lags.push((0, 0));
            continue;
        };
        let lag = lags[parent];
        let (x, y, width, height) = told[parent].2;
        let frame = (x.saturating_add(lag.0), y.saturating_add(lag.1), width, height);
        let same_size = (place.2, place.3) == (width, height);
        lags.push(if role == number::ROOT_PANE && same_size {
            (frame.0.saturating_sub(place.0), frame.1.saturating_sub(place.1))
        } else if place == frame {
            // A part that the toolkit itself draws knows where it is.
            (0, 0)
        } else {
            lag
        });
    }
    lags
}

#[cfg(test)]
mod tests;
