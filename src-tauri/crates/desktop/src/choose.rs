//! Which of the elements that are there is meant: by a selector, or as the nearest to one that is gone. Pure.

use crate::{DesktopError, Element, Selector};

/// Elements named in a message.
const MOST_NAMED: usize = 6;
/// Below this, nothing is near (0 nothing alike, 1 the same).
const NEAR: f64 = 0.45;

/// The one element meant.
///
/// # Errors
/// `NotFound` names the nearest; `BadInput` names all where several match and none is the only exact one.
pub(crate) fn choose<'a>(elements: &'a [Element], selector: &Selector) -> Result<&'a Element, DesktopError> {
    let by = |fits: fn(&str, &str) -> bool| -> Vec<usize> {
        (0..elements.len()).filter(|&at| is_meant(elements, at, selector, fits)).collect()
    };
    let mut found = by(same);
    if found.is_empty() {
        found = by(contains);
    }
    // A label often says what the control beside it is called.
    if found.len() > 1 && selector.role.is_none() {
        let controls: Vec<usize> = found.iter().copied().filter(|&at| is_control(&elements[at])).collect();
        if controls.len() == 1 {
            found = controls;
        }
    }
    match found.as_slice() {
        [] => Err(DesktopError::NotFound(none(elements, selector))),
        [only] => Ok(&elements[*only]),
        several => {
            let named: Vec<String> =
                several.iter().take(MOST_NAMED).map(|&at| placed(elements, at)).collect();
            let more = several.len().saturating_sub(MOST_NAMED);
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            Err(DesktopError::BadInput(format!(
                "{} elements are {}: {}{more}; name one by its ref, or say within what it is",
                several.len(),
                words(selector),
                named.join(", ")
            )))
        }
    }
}

/// The element most like one that is gone: the same by its fingerprint, else alike in role and name.
pub(crate) fn nearest<'a>(gone: &Element, elements: &'a [Element]) -> Option<&'a Element> {
    let same_print = |one: &&Element| !gone.fingerprint.is_empty() && one.fingerprint == gone.fingerprint;
    if let Some(found) = elements.iter().find(same_print) {
        return Some(found);
    }
    best(elements, |one| likeness(&gone.role, &gone.name, one))
}

/// `e12 (button "Save")`
pub(crate) fn called(element: &Element) -> String {
    format!("{} ({})", element.reference, plainly(element))
}

/// `button "Save"`
pub(crate) fn plainly(element: &Element) -> String {
    if element.name.is_empty() {
        return format!("{} without a name", element.role);
    }
    let name: String = element.name.chars().take(60).collect();
    let more = if name.len() < element.name.len() { "..." } else { "" };
    format!("{} \"{name}{more}\"", element.role)
}

/// The message for one that is gone: "e12 (button "Save") is gone; the nearest now is e40 (button "Save As...")".
pub(crate) fn gone(was: &Element, elements: &[Element]) -> DesktopError {
    let now = match nearest(was, elements) {
        Some(near) => format!("the nearest now is {}", called(near)),
        None => "there is nothing like it now; call elementsJson again".into(),
    };
    DesktopError::NotFound(format!("{} is gone; {now}", called(was)))
}

fn is_meant(elements: &[Element], at: usize, selector: &Selector, fits: fn(&str, &str) -> bool) -> bool {
    let element = &elements[at];
    let wished = |wish: &Option<String>, have: &str| wish.as_deref().is_none_or(|wish| fits(have, wish));
    wished(&selector.role, &element.role)
        && wished(&selector.name, &element.name)
        && selector.within.as_deref().is_none_or(|above| {
            ancestors(elements, at).any(|one| fits(&one.name, above) || fits(&one.role, above))
        })
}

/// From the nearest up: in reading order, what is above comes before and is less deep.
fn ancestors(elements: &[Element], at: usize) -> impl Iterator<Item = &Element> {
    let mut depth = elements[at].depth;
    elements[..at].iter().rev().filter(move |one| {
        let is_above = one.depth < depth;
        if is_above {
            depth = one.depth;
        }
        is_above
    })
}

fn is_control(element: &Element) -> bool {
    !matches!(
        element.role.as_str(),
        "label"
            | "static"
            | "paragraph"
            | "heading"
            | "section"
            | "panel"
            | "list"
            | "table"
            | "tool bar"
            | "scroll pane"
            | "status bar"
            | "image"
            | "icon"
            | "table cell"
            | "caption"
            | "tool tip"
    )
}

fn plain(text: &str) -> String {
    text.trim().trim_end_matches(['.', '…']).to_lowercase()
}

fn same(have: &str, wish: &str) -> bool {
    plain(have) == plain(wish)
}

fn contains(have: &str, wish: &str) -> bool {
    plain(have).contains(&plain(wish))
}

fn none(elements: &[Element], selector: &Selector) -> String {
    let role = selector.role.as_deref().unwrap_or_default();
    let name = selector.name.as_deref().unwrap_or_default();
    let near = best(elements, |one| likeness(role, name, one));
    let near = near.map_or_else(
        || "; call elementsJson to see what is there".to_owned(),
        |one| format!("; the nearest is {}", called(one)),
    );
    format!("no element is {}{near}", words(selector))
}

/// `a button named "OK" within "Save"`
fn words(selector: &Selector) -> String {
    let mut words = selector.role.clone().unwrap_or_else(|| "anything".into());
    if let Some(name) = &selector.name {
        words = format!("{words} named \"{name}\"");
    }
    if let Some(within) = &selector.within {
        words = format!("{words} within \"{within}\"");
    }
    words
}

/// `e3 (button "OK" in dialog "Save")`
fn placed(elements: &[Element], at: usize) -> String {
    let element = &elements[at];
    match ancestors(elements, at).find(|one| !one.name.is_empty()) {
        Some(above) => format!("{} ({} in {})", element.reference, plainly(element), plainly(above)),
        None => called(element),
    }
}

fn best(elements: &[Element], score: impl Fn(&Element) -> f64) -> Option<&Element> {
    let scored = elements.iter().map(|one| (one, score(one)));
    scored
        .filter(|(_, score)| *score >= NEAR)
        // The first of equals.
        .fold(None, |best: Option<(&Element, f64)>, one| match best {
            Some(best) if best.1 >= one.1 => Some(best),
            _ => Some(one),
        })
        .map(|(one, _)| one)
}

/// The name counts most; without one, the role alone.
fn likeness(role: &str, name: &str, element: &Element) -> f64 {
    let roles = if role.is_empty() || same(role, &element.role) { 1.0 } else { 0.0 };
    if name.is_empty() && element.name.is_empty() {
        return roles;
    }
    let (wish, have) = (plain(name), plain(&element.name));
    if wish.is_empty() || have.is_empty() {
        return 0.3 * roles;
    }
    let starts = if have.starts_with(&wish) || wish.starts_with(&have) { 0.3 } else { 0.0 };
    let names = (strsim::normalized_levenshtein(&wish, &have) + starts).min(1.0);
    0.75 * names + 0.25 * roles
}

#[cfg(test)]
mod tests {
    use super::*;

    fn element(reference: &str, role: &str, name: &str, depth: u32) -> Element {
        Element {
            reference: reference.into(),
            role: role.into(),
            name: name.into(),
            depth,
            ..Element::default()
        }
    }

    fn window() -> Vec<Element> {
        vec![
            element("e1", "tool bar", "Main", 0),
            element("e2", "button", "Save", 1),
            element("e3", "button", "Save As...", 1),
            element("e4", "dialog", "Print", 0),
            element("e5", "button", "OK", 1),
            element("e6", "dialog", "Find", 0),
            element("e7", "label", "Search for", 1),
            element("e8", "entry", "Search for", 1),
            element("e9", "button", "OK", 1),
        ]
    }

    fn selector(role: &str, name: &str, within: &str) -> Selector {
        let filled = |text: &str| (!text.is_empty()).then(|| text.to_owned());
        Selector { app: None, role: filled(role), name: filled(name), within: filled(within) }
    }

    #[test]
    fn a_whole_name_counts_before_a_part_of_one_in_any_case() {
        let all = window();
        for (wish, found) in [
            (selector("button", "save", ""), "e2"),
            (selector("", "Save as", ""), "e3"),
            (selector("", "as", ""), "e3"),
            (selector("button", "OK", "find"), "e9"),
            (selector("button", "", "Print"), "e5"),
            (selector("", "search for", ""), "e8"),
        ] {
            assert_eq!(choose(&all, &wish).unwrap().reference, found, "{wish:?}");
        }
    }

    #[test]
    fn several_that_match_are_refused_by_name_and_place() {
        let error = choose(&window(), &selector("", "OK", "")).unwrap_err();
        let expected = "2 elements are anything named \"OK\": e5 (button \"OK\" in dialog \"Print\"), \
            e9 (button \"OK\" in dialog \"Find\"); name one by its ref, or say within what it is";
        assert_eq!(error, DesktopError::BadInput(expected.into()));
    }

    #[test]
    fn nothing_that_matches_is_answered_with_the_nearest() {
        let error = choose(&window(), &selector("button", "Sve", "")).unwrap_err();
        let expected = "no element is button named \"Sve\"; the nearest is e2 (button \"Save\")";
        assert_eq!(error, DesktopError::NotFound(expected.into()));
    }

    #[test]
    fn what_is_gone_is_named_with_the_nearest_of_what_is_there() {
        let was = element("e12", "button", "Save", 0);
        let now = [element("e38", "label", "Saved", 0), element("e40", "button", "Save As...", 0)];
        let expected = "e12 (button \"Save\") is gone; the nearest now is e40 (button \"Save As...\")";
        assert_eq!(gone(&was, &now), DesktopError::NotFound(expected.into()));
        let expected = "e12 (button \"Save\") is gone; there is nothing like it now; call elementsJson again";
        assert_eq!(gone(&was, &[element("e1", "entry", "", 0)]), DesktopError::NotFound(expected.into()));
    }

    #[test]
    fn the_fingerprint_counts_before_the_name() {
        let was = Element { fingerprint: "0a1b2c3d".into(), ..element("e1", "button", "Pause", 0) };
        let same = Element { fingerprint: "0a1b2c3d".into(), ..element("e9", "button", "Play", 0) };
        let now = [element("e8", "button", "Pause", 0), same];
        assert_eq!(nearest(&was, &now).unwrap().reference, "e9");
    }
}
