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

/// Whether a selector may mean this element: the loosest way in which one is chosen, wherever it is.
pub fn may_mean(selector: &Selector, element: &Element) -> bool {
    is_meant(std::slice::from_ref(element), 0, &Selector { within: None, ..selector.clone() }, contains)
}

/// A name as elements are compared by it: in lower case, without what stands around it.
pub fn plain(text: &str) -> String {
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
mod tests;
