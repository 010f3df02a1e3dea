//! Which object a selector means, and which one is nearest where it means none. Pure rules over what was read.

use super::list::TreeItem;
use crate::{DesktopError, Selector};

/// Names offered where nothing matches.
const OFFERED: usize = 5;

/// The object that the selector means. Whole texts come before parts, controls before labels.
///
/// # Errors
/// `NotFound` names the nearest.
pub(crate) fn find(all: &[TreeItem], selector: &Selector) -> Result<usize, DesktopError> {
    let Selector { role, name, within, .. } = selector;
    if role.is_none() && name.is_none() {
        return Err(DesktopError::BadInput("a selector needs a role or a name".into()));
    }
    type Compare = fn(&str, &str) -> bool;
    let whole: Compare = |text, wanted| text.trim().to_lowercase() == wanted.trim().to_lowercase();
    let part: Compare = |text, wanted| text.to_lowercase().contains(wanted.trim().to_lowercase().as_str());
    let fits = |text: &str, wanted: &Option<String>, compare: Compare| {
        wanted.as_deref().is_none_or(|wanted| compare(text, wanted))
    };
    for compare in [whole, part] {
        let is_meant = |&at: &usize| {
            let seen = &all[at];
            (fits(&seen.name, name, compare) || (name.is_some() && fits(&seen.description, name, compare)))
                && fits(&seen.role, role, compare)
                && within.as_deref().is_none_or(|wanted| {
                    above(all, at).any(|one| compare(&one.name, wanted) || compare(&one.role, wanted))
                })
        };
        let found: Vec<usize> = (0..all.len()).filter(is_meant).collect();
        let on_screen = |at: &usize| all[*at].rect.width > 0 && all[*at].rect.height > 0;
        let best = found.iter().min_by_key(|at| (!on_screen(at), !all[**at].control, **at));
        if let Some(&best) = best {
            return Ok(best);
        }
    }
    let wanted = describe(selector);
    let near = nearest(all, role.as_deref(), name.as_deref());
    let near: Vec<String> = near.into_iter().take(OFFERED).map(|at| all[at].called()).collect();
    Err(DesktopError::NotFound(if near.is_empty() {
        format!("no {wanted} in the window")
    } else {
        format!("no {wanted} in the window; the nearest: {}", near.join(", "))
    }))
}

fn describe(selector: &Selector) -> String {
    let mut words = selector.role.clone().unwrap_or_else(|| "element".into());
    if let Some(name) = &selector.name {
        words = format!("{words} \"{name}\"");
    }
    if let Some(within) = &selector.within {
        words = format!("{words} within \"{within}\"");
    }
    words
}

/// The objects above one, the nearest first.
fn above(all: &[TreeItem], at: usize) -> impl Iterator<Item = &TreeItem> {
    let mut depth = all[at].depth;
    all[..at].iter().rev().filter(move |one| {
        let is_above = one.depth < depth;
        if is_above {
            depth = one.depth;
        }
        is_above
    })
}

/// Those that are most alike in name, then in role; nothing that is not alike at all.
pub(crate) fn nearest(all: &[TreeItem], role: Option<&str>, name: Option<&str>) -> Vec<usize> {
    let score = |seen: &TreeItem| {
        let by_name = name.map_or(0.0, |name| alike(&seen.name, name));
        let same_role = role.is_some_and(|role| seen.role.eq_ignore_ascii_case(role));
        let nothing_to_compare = name.is_none_or(|name| name.trim().is_empty());
        match (same_role, nothing_to_compare) {
            (true, true) => 1.0,
            (true, false) if by_name > 0.0 => by_name + 0.2,
            _ => by_name,
        }
    };
    let mut scored: Vec<(f64, usize)> = all
        .iter()
        .enumerate()
        .map(|(at, seen)| (score(seen), at))
        .filter(|(score, _)| *score > 0.25)
        .collect();
    scored.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    scored.into_iter().map(|(_, at)| at).collect()
}

/// The share of two-letter pieces that both have, 0-1; without regard to case.
pub(crate) fn alike(one: &str, other: &str) -> f64 {
    let pieces = |text: &str| -> Vec<(char, char)> {
        let letters: Vec<char> =
            std::iter::once(' ').chain(text.trim().to_lowercase().chars()).chain([' ']).collect();
        letters.windows(2).map(|pair| (pair[0], pair[1])).collect()
    };
    let (one, mut other) = (pieces(one), pieces(other));
    let total = one.len() + other.len();
    let mut both = 0;
    for piece in one {
        if let Some(at) = other.iter().position(|&have| have == piece) {
            other.swap_remove(at);
            both += 2;
        }
    }
    both as f64 / total as f64
}

#[cfg(test)]
mod tests;
