//! From what a platform's tree told to the bounded list of elements. Pure; what is left out is counted.

use std::collections::{HashMap, HashSet};

use protocol::geometry::PhysicalRect;

use crate::{Element, ElementQuery};

const LIMIT: usize = 200;
/// Characters of a name, a description and a value, where no more are asked for.
const CHARS: usize = 200;

/// One object of the tree, in the tree's order.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct TreeItem {
    /// As an agent reads it: `menu item`.
    pub(crate) role: String,
    pub(crate) name: String,
    pub(crate) description: String,
    pub(crate) value: String,
    pub(crate) states: Vec<String>,
    /// Its own actions but the plain press.
    pub(crate) actions: Vec<String>,
    pub(crate) rect: PhysicalRect,
    /// Below the window, everything counted.
    pub(crate) depth: u32,
    /// Can be operated, so it is worth listing without a name.
    pub(crate) control: bool,
}

impl TreeItem {
    /// `button "Save"`.
    pub(crate) fn called(&self) -> String {
        if self.name.trim().is_empty() {
            self.role.clone()
        } else {
            format!("{} \"{}\"", self.role, self.name.trim())
        }
    }

    pub(crate) fn is(&self, state: &str) -> bool {
        self.states.iter().any(|one| one == state)
    }
}

/// The elements, each with the index of the object it stands for, and what was cut.
pub(crate) struct Listed {
    pub(crate) elements: Vec<Element>,
    pub(crate) sources: Vec<usize>,
    pub(crate) cut: Vec<String>,
}

/// `AXTextField` and `MenuItem` as words: `text field`, `menu item`.
pub(crate) fn words(name: &str) -> String {
    let mut words = String::new();
    for letter in name.strip_prefix("AX").unwrap_or(name).chars() {
        if letter.is_uppercase() && !words.is_empty() {
            words.push(' ');
        }
        words.extend(letter.to_lowercase());
    }
    words
}

/// Everything that is worth listing, in the tree's order. Refs are the caller's: each element has none yet.
pub(crate) fn list(app: &str, all: &[TreeItem], display: &PhysicalRect, query: &ElementQuery) -> Listed {
    let mut cut = Vec::new();
    let mut say = |before: usize, after: usize, what: &str| {
        if before > after {
            cut.push(format!("{} of {before} {what}", before - after));
        }
    };
    let prints = fingerprints(app, all);
    let useful =
        |seen: &TreeItem| seen.control || !seen.name.trim().is_empty() || !seen.value.trim().is_empty();
    let mut kept: Vec<usize> = (0..all.len()).filter(|&at| useful(&all[at])).collect();
    let before = kept.len();
    kept.retain(|&at| is_on(&all[at].rect, display));
    say(before, kept.len(), "are off screen or scrolled away");
    if let Some(wanted) = query.query.as_deref().map(str::trim).filter(|wanted| !wanted.is_empty()) {
        let before = kept.len();
        let wanted = wanted.to_lowercase();
        let says = |text: &str| text.to_lowercase().contains(&wanted);
        kept.retain(|&at| {
            let TreeItem { role, name, description, value, .. } = &all[at];
            [role, name, description, value].into_iter().any(|text| says(text))
        });
        say(before, kept.len(), &format!("do not mention \"{wanted}\""));
    }
    // Depth counts listed ancestors only: those before an object in the tree's order that are less deep.
    let mut above: Vec<(u32, bool)> = Vec::new();
    let mut elements = Vec::with_capacity(kept.len());
    let chars = CHARS.max(query.text_chars as usize);
    for (at, seen) in all.iter().enumerate() {
        while above.last().is_some_and(|&(depth, _)| depth >= seen.depth) {
            above.pop();
        }
        let is_kept = kept.binary_search(&at).is_ok();
        if is_kept {
            let depth = above.iter().filter(|&&(_, listed)| listed).count();
            elements
                .push(Element { fingerprint: prints[at].clone(), ..element(seen, depth, display, chars) });
        }
        above.push((seen.depth, is_kept));
    }
    Listed { elements, sources: kept, cut }
}

/// Keeps the `limit` elements that matter most, in their order; says what it cut.
pub(crate) fn limit(elements: Vec<Element>, limit: u32, cut: &mut Vec<String>) -> Vec<Element> {
    let limit = usize::try_from(limit).ok().filter(|&limit| limit > 0).unwrap_or(LIMIT);
    let before = elements.len();
    if before <= limit {
        return elements;
    }
    let is_focused = |one: &Element| one.states.iter().any(|state| state == "focused");
    let mut order: Vec<usize> = (0..before).collect();
    order.sort_by_key(|&at| (!is_focused(&elements[at]), elements[at].role == "label"));
    let kept: HashSet<usize> = order.into_iter().take(limit).collect();
    cut.push(format!(
        "{} of {before} are beyond the limit of {limit}; ask with a query for others",
        before - limit
    ));
    elements.into_iter().enumerate().filter(|(at, _)| kept.contains(at)).map(|(_, one)| one).collect()
}

/// Eight hex digits for each object: application, path of roles and names, place among equals. A window's own name
/// does not count, since it says what is open in it.
fn fingerprints(app: &str, all: &[TreeItem]) -> Vec<String> {
    const PRIME: u32 = 0x0100_0193;
    let mix = |from: u32, text: &str| {
        text.bytes().chain([0]).fold(from, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(PRIME))
    };
    let root = mix(0x811c_9dc5, app);
    let mut above: Vec<(u32, u32)> = Vec::new();
    let mut equals: HashMap<u32, u32> = HashMap::new();
    all.iter()
        .map(|seen| {
            while above.last().is_some_and(|&(depth, _)| depth >= seen.depth) {
                above.pop();
            }
            let path = above.last().map_or(root, |&(_, path)| path);
            let name = if seen.depth == 0 { "" } else { seen.name.trim() };
            let path = mix(mix(path, &seen.role), name);
            let place = equals.entry(path).and_modify(|place| *place += 1).or_insert(0);
            let own = if *place == 0 { path } else { mix(path, &place.to_string()) };
            above.push((seen.depth, own));
            format!("{own:08x}")
        })
        .collect()
}

/// A name as an element carries it by default.
pub(crate) fn shortened(text: &str) -> String {
    text.trim().chars().take(CHARS).collect()
}

fn element(seen: &TreeItem, depth: usize, display: &PhysicalRect, chars: usize) -> Element {
    let shorten = |text: &str| text.trim().chars().take(chars).collect::<String>();
    Element {
        role: seen.role.clone(),
        name: shorten(&seen.name),
        description: if seen.description == seen.name { String::new() } else { shorten(&seen.description) },
        actions: seen.actions.clone(),
        // Not trimmed: by how long it is told whether it is all there is.
        value: if seen.value == seen.name { String::new() } else { seen.value.chars().take(chars).collect() },
        states: seen.states.clone(),
        bounds: clip(&seen.rect, display).to_norm(display),
        depth: u32::try_from(depth).unwrap_or(u32::MAX),
        ..Element::default()
    }
}

pub(crate) fn is_on(rect: &PhysicalRect, display: &PhysicalRect) -> bool {
    let clipped = clip(rect, display);
    clipped.width > 0 && clipped.height > 0
}

/// The part on the display; without width or height where there is none.
fn clip(rect: &PhysicalRect, display: &PhysicalRect) -> PhysicalRect {
    let span = |start: i32, length: u32, from: i32, room: u32| {
        let first = start.max(from);
        let end = (i64::from(start) + i64::from(length)).min(i64::from(from) + i64::from(room));
        (first, u32::try_from(end - i64::from(first)).unwrap_or(0))
    };
    let (x, width) = span(rect.x, rect.width, display.x, display.width);
    let (y, height) = span(rect.y, rect.height, display.y, display.height);
    PhysicalRect { x, y, width, height }
}

#[cfg(test)]
mod tests;
