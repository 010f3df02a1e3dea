//! From everything that was read to the few elements an agent can use: on the screen, with a size, and either
//! operable or saying something. Pure; what is left out is counted.

use protocol::geometry::PhysicalRect;

use super::cut::{self, grouped, lists};
use super::fingerprint;
use super::nodes::Facts;
use super::role::{self, Kind, States};
use crate::{Element, ElementQuery, Scope};

/// Characters of a name; a paragraph is a name in some toolkits.
const NAME_CHARS: usize = 200;
/// How far above a label is looked for something of the same name.
const ECHO: usize = 3;

/// The elements, each with the index of the object it stands for.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Pruned {
    pub(super) elements: Vec<Element>,
    pub(super) sources: Vec<usize>,
    pub(super) cut: Vec<String>,
    /// Where nothing is told of what is shown.
    pub(super) untold: Vec<PhysicalRect>,
}

/// What the objects are looked at for.
pub(super) struct View<'a> {
    pub(super) app: &'a str,
    pub(super) display: &'a PhysicalRect,
    /// The one below which elements are wished for, itself included.
    pub(super) root: Option<usize>,
    /// All ancestors were read, so that paths of names can be told.
    pub(super) whole: bool,
}

/// Objects in the tree's order, each with its parent's index, which is smaller than its own.
pub(super) fn prune(nodes: &[(Option<usize>, &Facts)], view: &View<'_>, query: &ElementQuery) -> Pruned {
    let rects = visible(nodes, view.display);
    let is_below = below(nodes, view.root);
    let (mut cut, mut untold) = (Vec::new(), Vec::new());
    let mut kept: Vec<usize> = (0..nodes.len()).filter(|&at| is_below[at] && is_useful(nodes, at)).collect();
    if query.scope == Scope::Interactive {
        kept.retain(|&at| nodes[at].1.states.has(States::FOCUSABLE));
    }
    if query.scope != Scope::All {
        let before = kept.len();
        kept.retain(|&at| rects[at].is_some());
        if before > kept.len() {
            let (count, before) = (grouped(before - kept.len()), grouped(before));
            cut.push(format!("cut: {count} of {before} elements off screen or scrolled away"));
        }
        cut.extend(lists(nodes, &rects, &is_below));
        for (line, place) in cut::untold(nodes, &rects, &is_below, view.display) {
            cut.push(line);
            untold.push(place);
        }
    }
    if let Some(wanted) = query.query.as_deref().map(str::trim).filter(|wanted| !wanted.is_empty()) {
        let before = kept.len();
        let wanted = wanted.to_lowercase();
        kept.retain(|&at| mentions(nodes[at].1, &wanted));
        if before > kept.len() {
            let (count, before) = (grouped(before - kept.len()), grouped(before));
            cut.push(format!("cut: {count} of {before} elements do not mention \"{wanted}\""));
        }
    }
    let fingerprints = if view.whole { fingerprint::all(view.app, nodes) } else { Vec::new() };
    let mut depths: Vec<Option<u32>> = vec![None; nodes.len()];
    let mut elements = Vec::with_capacity(kept.len());
    for &at in &kept {
        let depth = ancestors(nodes, at).find_map(|above| depths[above]).map_or(0, |depth| depth + 1);
        depths[at] = Some(depth);
        let chars = NAME_CHARS.max(query.text_chars as usize);
        let mut element = element(nodes[at].1, depth, rects[at].as_ref(), view.display, chars);
        element.fingerprint = fingerprints.get(at).cloned().unwrap_or_default();
        elements.push(element);
    }
    Pruned { elements, sources: kept, cut, untold }
}

/// `rect` is the part that can be seen; `None` if it is off the screen.
fn element(
    facts: &Facts,
    depth: u32,
    rect: Option<&PhysicalRect>,
    display: &PhysicalRect,
    chars: usize,
) -> Element {
    let (name, kind) = role::describe(facts.role);
    let cut = |text: &str| text.trim().chars().take(chars).collect();
    let unlike = |text: &str| if text == facts.name { String::new() } else { cut(text) };
    // What is put back when it is undone is the value, whatever else says the same.
    let can_be_set = role::is_textual(facts.role, facts.states) || role::is_numeric(facts.role);
    let mut states = facts.states.names(kind);
    if rect.is_none() {
        states.push("offscreen".to_owned());
    }
    Element {
        // Given by the refs.
        reference: String::new(),
        role: name.to_owned(),
        name: cut(&facts.name),
        description: unlike(&facts.description),
        value: if facts.value == facts.name && !can_be_set { String::new() } else { facts.value.clone() },
        states,
        actions: facts.actions.clone(),
        bounds: rect.copied().unwrap_or_else(|| own_rect(facts)).to_norm(display),
        depth,
        fingerprint: String::new(),
    }
}

/// A name or description as an element carries it by default.
pub(super) fn shortened(text: &str) -> String {
    text.trim().chars().take(NAME_CHARS).collect()
}

fn ancestors<'a>(nodes: &'a [(Option<usize>, &Facts)], at: usize) -> impl Iterator<Item = usize> + 'a {
    std::iter::successors(nodes[at].0, |&above| nodes[above].0)
}

/// Which objects are the root or below it.
fn below(nodes: &[(Option<usize>, &Facts)], root: Option<usize>) -> Vec<bool> {
    let mut is_below: Vec<bool> = Vec::with_capacity(nodes.len());
    for (at, (parent, _)) in nodes.iter().enumerate() {
        let inherited = parent.is_some_and(|parent| is_below[parent]);
        is_below.push(root.is_none_or(|root| root == at) || inherited);
    }
    is_below
}

fn is_useful(nodes: &[(Option<usize>, &Facts)], at: usize) -> bool {
    let (parent, facts) = nodes[at];
    let named = !facts.name.trim().is_empty();
    match role::describe(facts.role).1 {
        Kind::Frame => false,
        Kind::Control => true,
        Kind::Container => named && parent.is_some(),
        // A label says what the button, the heading or the paragraph it stands in says by its name.
        Kind::Content if facts.toggles => true,
        Kind::Content => {
            let echo = ancestors(nodes, at).take(ECHO).any(|above| says_already(nodes[above].1, facts));
            (named && !echo && !is_label_of_next(nodes, at)) || !facts.value.trim().is_empty()
        }
    }
}

fn says_already(element: &Facts, label: &Facts) -> bool {
    role::describe(element.role).1 != Kind::Frame && element.name == label.name
}

/// A label before its field, which has its name from it.
fn is_label_of_next(nodes: &[(Option<usize>, &Facts)], at: usize) -> bool {
    let (parent, label) = nodes[at];
    let mut after = nodes[at + 1..].iter().filter(|(above, _)| *above != Some(at));
    after.next().is_some_and(|(above, next)| {
        *above == parent && role::describe(next.role).1 == Kind::Control && next.name == label.name
    })
}

fn mentions(facts: &Facts, wanted: &str) -> bool {
    facts.name.to_lowercase().contains(wanted)
        || facts.value.to_lowercase().contains(wanted)
        || facts.description.to_lowercase().contains(wanted)
        || role::describe(facts.role).0.contains(wanted)
}

/// What of each object can be seen: cut at the display's edge and at every pane that scrolls above it.
fn visible(nodes: &[(Option<usize>, &Facts)], display: &PhysicalRect) -> Vec<Option<PhysicalRect>> {
    let mut panes: Vec<Option<PhysicalRect>> = Vec::with_capacity(nodes.len());
    let mut rects = Vec::with_capacity(nodes.len());
    for (parent, facts) in nodes {
        let frame = match parent {
            Some(above) if !role::opens_apart(nodes[*above].1.role, facts.role) => panes[*above],
            _ => Some(*display),
        };
        let rect = frame.and_then(|frame| intersection(&own_rect(facts), &frame));
        panes.push(if role::clips(facts.role, facts.states) { rect } else { frame });
        rects.push(rect);
    }
    rects
}

fn own_rect(facts: &Facts) -> PhysicalRect {
    let (x, y, width, height) = facts.extents;
    let length = |length: i32| u32::try_from(length).unwrap_or(0);
    PhysicalRect { x, y, width: length(width), height: length(height) }
}

pub(super) fn intersection(one: &PhysicalRect, other: &PhysicalRect) -> Option<PhysicalRect> {
    let span = |a: i32, a_length: u32, b: i32, b_length: u32| {
        let start = a.max(b);
        let end = (i64::from(a) + i64::from(a_length)).min(i64::from(b) + i64::from(b_length));
        u32::try_from(end - i64::from(start)).ok().filter(|&length| length > 0).map(|length| (start, length))
    };
    let (x, width) = span(one.x, one.width, other.x, other.width)?;
    let (y, height) = span(one.y, one.height, other.y, other.height)?;
    Some(PhysicalRect { x, y, width, height })
}

#[cfg(test)]
mod tests;
