//! An element whose ref outlived it: what to say, and which element is the nearest. Pure.

use desktop::DesktopError;

use crate::script::Found;

/// What a ref stood for.
pub(crate) struct Was<'a> {
    pub(crate) reference: &'a str,
    pub(crate) role: &'a str,
    pub(crate) name: &'a str,
}

/// The error of an act on it; `seen` is what the page has now, whose refs begin with `prefix`.
pub(crate) fn stale(was: &Was<'_>, seen: &[Found], prefix: &str) -> DesktopError {
    let Was { reference, role, name } = was;
    let gone = format!("{reference} ({role} {name:?}) is no longer in the page");
    let nearest = seen
        .iter()
        .map(|found| (likeness(was, &found.role, &found.name), found))
        .filter(|(likeness, _)| *likeness > 0)
        .max_by_key(|(likeness, found)| (*likeness, std::cmp::Reverse(found.id)));
    DesktopError::NotFound(match nearest {
        Some((_, found)) => {
            format!("{gone}; the nearest is {prefix}{} ({} {:?})", found.id, found.role, found.name)
        }
        None => format!("{gone}, nor is anything like it; look with webElements again"),
    })
}

/// How much an element is like one that is gone.
fn likeness(known: &Was<'_>, role: &str, name: &str) -> u32 {
    let (was, is) = (known.name.to_lowercase(), name.to_lowercase());
    let words =
        was.split_whitespace().filter(|word| is.split_whitespace().any(|other| other == *word)).count();
    let same = if !was.is_empty() && was == is { 20 } else { 0 };
    let part = if was.len() > 2 && is.len() > 2 && (was.contains(&is) || is.contains(&was)) { 5 } else { 0 };
    let named = same + part + u32::try_from(words).unwrap_or(0) * 2;
    let role = u32::from(known.role == role);
    // The same kind alone says nothing if names are known.
    if named > 0 || was.is_empty() { named + role } else { 0 }
}

#[cfg(test)]
mod tests;
