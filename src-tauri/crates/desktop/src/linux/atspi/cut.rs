//! What is left out of a snapshot for its length, and how what is left out is counted aloud. Pure.

use std::collections::HashSet;

use protocol::geometry::PhysicalRect;

use super::nodes::Facts;
use super::role::{self, Kind, States, number};
use crate::Element;

/// Where the query names none.
const LIMIT: usize = 200;

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
