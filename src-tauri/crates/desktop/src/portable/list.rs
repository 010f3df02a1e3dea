//! From what a platform's tree told to the bounded list of elements. Pure; what is left out is counted.

use protocol::geometry::PhysicalRect;

use crate::{Element, ElementQuery};

const LIMIT: usize = 200;
const CHARS: usize = 200;

/// One object of the tree, in the tree's order.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Seen {
    /// As an agent reads it: `menu item`.
    pub(crate) role: String,
    pub(crate) name: String,
    pub(crate) value: String,
    pub(crate) states: Vec<String>,
    pub(crate) rect: PhysicalRect,
    /// Below the window, everything counted.
    pub(crate) depth: u32,
    /// Can be operated, so it is worth listing without a name.
    pub(crate) control: bool,
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

pub(crate) fn list(all: &[Seen], display: &PhysicalRect, query: &ElementQuery) -> Listed {
    let mut cut = Vec::new();
    let mut say = |before: usize, after: usize, what: &str| {
        if before > after {
            cut.push(format!("{} of {before} {what}", before - after));
        }
    };
    let useful = |seen: &Seen| seen.control || !seen.name.trim().is_empty() || !seen.value.trim().is_empty();
    let mut kept: Vec<usize> = (0..all.len()).filter(|&at| useful(&all[at])).collect();
    let before = kept.len();
    kept.retain(|&at| is_on(&all[at].rect, display));
    say(before, kept.len(), "are off screen or scrolled away");
    if let Some(wanted) = query.query.as_deref().map(str::trim).filter(|wanted| !wanted.is_empty()) {
        let before = kept.len();
        let wanted = wanted.to_lowercase();
        let says = |text: &str| text.to_lowercase().contains(&wanted);
        kept.retain(|&at| says(&all[at].name) || says(&all[at].value) || says(&all[at].role));
        say(before, kept.len(), &format!("do not mention \"{wanted}\""));
    }
    let limit = usize::try_from(query.limit).ok().filter(|&limit| limit > 0).unwrap_or(LIMIT);
    if kept.len() > limit {
        let before = kept.len();
        kept.sort_by_key(|&at| (!all[at].states.iter().any(|state| state == "focused"), !all[at].control));
        kept.truncate(limit);
        kept.sort_unstable();
        say(before, limit, &format!("are beyond the limit of {limit}; ask with a query for others"));
    }
    // Depth counts listed ancestors only: those before an object in the tree's order that are less deep.
    let mut above: Vec<(u32, bool)> = Vec::new();
    let mut elements = Vec::with_capacity(kept.len());
    for (at, seen) in all.iter().enumerate() {
        while above.last().is_some_and(|&(depth, _)| depth >= seen.depth) {
            above.pop();
        }
        let is_kept = kept.binary_search(&at).is_ok();
        if is_kept {
            let depth = above.iter().filter(|&&(_, listed)| listed).count();
            elements.push(element(seen, elements.len() + 1, depth, display));
        }
        above.push((seen.depth, is_kept));
    }
    Listed { elements, sources: kept, cut }
}

fn element(seen: &Seen, number: usize, depth: usize, display: &PhysicalRect) -> Element {
    let shorten = |text: &str| text.trim().chars().take(CHARS).collect::<String>();
    Element {
        reference: format!("e{number}"),
        role: seen.role.clone(),
        name: shorten(&seen.name),
        value: if seen.value == seen.name { String::new() } else { shorten(&seen.value) },
        states: seen.states.clone(),
        bounds: clip(&seen.rect, display).to_norm(display),
        depth: u32::try_from(depth).unwrap_or(u32::MAX),
        ..Element::default()
    }
}

fn is_on(rect: &PhysicalRect, display: &PhysicalRect) -> bool {
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
mod tests {
    use super::*;
    use protocol::geometry::NormRect;

    const SCREEN: PhysicalRect = PhysicalRect { x: 1000, y: 0, width: 1000, height: 1000 };

    fn seen(name: &str, depth: u32, x: i32) -> Seen {
        Seen {
            role: "button".into(),
            name: name.into(),
            value: String::new(),
            states: Vec::new(),
            rect: PhysicalRect { x, y: 10, width: 100, height: 20 },
            depth,
            control: true,
        }
    }

    #[test]
    fn camel_case_becomes_words() {
        assert_eq!(words("AXTextField"), "text field");
        assert_eq!(words("MenuItem"), "menu item");
        assert_eq!(words("AXButton"), "button");
    }

    #[test]
    fn what_is_half_on_the_display_is_clipped_and_what_is_beside_it_is_counted() {
        let listed = list(&[seen("Half", 1, 950), seen("Beside", 1, 10)], &SCREEN, &ElementQuery::default());
        assert_eq!(listed.sources, [0]);
        let bounds = NormRect { x: 0.0, y: 10.0, width: 50.0, height: 20.0 };
        assert_eq!(listed.elements[0].bounds, bounds);
        assert_eq!(listed.cut, ["1 of 2 are off screen or scrolled away"]);
    }

    #[test]
    fn an_unlisted_group_adds_no_depth() {
        let group = Seen { control: false, name: String::new(), ..seen("", 1, 1000) };
        let all = [seen("Bar", 1, 1000), seen("Item", 2, 1000), group, seen("Alone", 2, 1000)];
        let depths: Vec<u32> =
            list(&all, &SCREEN, &ElementQuery::default()).elements.iter().map(|one| one.depth).collect();
        assert_eq!(depths, [0, 1, 0]);
    }

    #[test]
    fn the_limit_keeps_what_is_focused_and_what_can_be_operated() {
        let label = Seen { control: false, ..seen("label", 1, 1000) };
        let focused = Seen { states: vec!["focused".into()], control: false, ..seen("here", 1, 1000) };
        let query = ElementQuery { limit: 2, ..ElementQuery::default() };
        let listed = list(&[label, seen("Save", 1, 1000), focused], &SCREEN, &query);
        assert_eq!(listed.sources, [1, 2]);
        assert_eq!(listed.cut, ["1 of 3 are beyond the limit of 2; ask with a query for others"]);
    }
}
