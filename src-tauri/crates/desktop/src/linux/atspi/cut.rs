//! What is left out of a snapshot for its length, and how what is left out is counted aloud. Pure.

use std::collections::HashSet;

use protocol::geometry::{NormRect, PhysicalRect};

use super::nodes::Facts;
use super::role::{self, Kind, States, number};
use crate::Element;

/// Where the query names none.
const LIMIT: usize = 200;
/// Pixels of what is large enough to show several things.
const LARGE: u32 = 120;

/// Keeps what has the focus and what can be operated first; the order stays the tree's.
pub(super) fn limit(elements: &mut Vec<Element>, most: u32, cut: &mut Vec<String>) {
    let most = usize::try_from(most).ok().filter(|&most| most > 0).unwrap_or(LIMIT);
    let before = elements.len();
    if before <= most {
        return;
    }
    let rank = |element: &Element| {
        let named = !element.name.is_empty() || !element.value.is_empty();
        match role::kind_of(&element.role) {
            _ if element.states.iter().any(|state| state == "focused") => 0,
            Kind::Control if named => 1,
            Kind::Control => 2,
            Kind::Content => 3,
            Kind::Container | Kind::Frame => 4,
        }
    };
    let mut best: Vec<usize> = (0..before).collect();
    best.sort_by_key(|&at| rank(&elements[at]));
    best.truncate(most);
    best.sort_unstable();
    let mut at = 0;
    elements.retain(|_| {
        at += 1;
        best.binary_search(&(at - 1)).is_ok()
    });
    cut.push(format!(
        "cut: {} of {} elements beyond the limit of {most}; ask with query or root for others",
        grouped(before - most),
        grouped(before)
    ));
}

/// Whether these lines say that elements on the screen are missing.
pub(super) fn is_partial(cut: &[String]) -> bool {
    let parts = ["beyond the limit of", "objects were not read", "are not known: the time was up"];
    cut.iter().any(|line| parts.iter().any(|part| line.contains(part)))
}

/// How many rows or items of each list are not on the screen.
pub(super) fn lists(
    nodes: &[(Option<usize>, &Facts)],
    rects: &[Option<PhysicalRect>],
    is_below: &[bool],
) -> Vec<String> {
    let mut seen: Vec<u32> = vec![0; nodes.len()];
    let mut rows: Vec<HashSet<i32>> = vec![HashSet::new(); nodes.len()];
    for (at, (parent, facts)) in nodes.iter().enumerate() {
        if let (Some(parent), Some(_)) = (parent, &rects[at]) {
            seen[*parent] += 1;
            if matches!(facts.role, number::TABLE_CELL | number::TABLE_ROW | number::TREE_ITEM) {
                rows[*parent].insert(facts.extents.1);
            }
        }
    }
    let mut lines = Vec::new();
    for (at, (_, facts)) in nodes.iter().enumerate() {
        let (Some(all), Some(what), true) = (facts.children, role::items(facts.role), is_below[at]) else {
            continue;
        };
        // A table has its rows counted, and its cells as children.
        let managed = facts.states.has(States::MANAGES_DESCENDANTS) && what == "rows";
        let shown = if managed { u32::try_from(rows[at].len()).unwrap_or(u32::MAX) } else { seen[at] };
        if rects[at].is_none() || all <= shown {
            continue;
        }
        let name = facts.name.trim();
        let of = if name.is_empty() { String::new() } else { format!(" of \"{name}\"") };
        let (left, all) = (grouped((all - shown) as usize), grouped(all as usize));
        lines.push(format!("cut: {left} of {all} {what}{of} off screen"));
    }
    lines
}

/// Where something is shown of which the application tells nothing, in words and pixels: what is large and holds
/// nothing, and is a whole window, or takes the keyboard as an icon view does that draws its files itself.
pub(super) fn untold(
    nodes: &[(Option<usize>, &Facts)],
    rects: &[Option<PhysicalRect>],
    is_below: &[bool],
    display: &PhysicalRect,
) -> Vec<(String, PhysicalRect)> {
    let is_untold = |at: usize| {
        let facts = nodes[at].1;
        let shows_something = match role::describe(facts.role).1 {
            Kind::Frame => true,
            Kind::Container => facts.states.has(States::FOCUSABLE),
            Kind::Control | Kind::Content => false,
        };
        shows_something && facts.children == Some(0)
    };
    let mut found = Vec::new();
    for at in (0..nodes.len()).filter(|&at| is_below[at] && is_untold(at)) {
        let Some(rect) = rects[at].filter(|rect| rect.width >= LARGE && rect.height >= LARGE) else {
            continue;
        };
        let chain = std::iter::successors(Some(at), |&at| nodes[at].0).take(3);
        let name = chain.map(|at| nodes[at].1.name.trim()).find(|name| !name.is_empty());
        let of = name.map(|name| format!(" of \"{name}\"")).unwrap_or_default();
        let what = format!("the {}{of}", role::describe(nodes[at].1.role).0);
        found.push((shown_untold(&what, &rect, display), rect));
    }
    found
}

/// A popup of an application that does not tell of all.
pub(super) fn untold_popup(rect: &PhysicalRect, display: &PhysicalRect) -> String {
    shown_untold("an open menu or popup, where its items are not listed,", rect, display)
}

fn shown_untold(what: &str, rect: &PhysicalRect, display: &PhysicalRect) -> String {
    let NormRect { x, y, width, height } = rect.to_norm(display);
    format!(
        "not told: what {what} shows at x {x}, y {y}, width {width}, height {height}; look at a screenshot, and click \
         at points"
    )
}

/// 1404 is `1,404`.
pub(super) fn grouped(count: usize) -> String {
    let digits = count.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests;
