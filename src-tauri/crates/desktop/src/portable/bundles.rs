//! Applications by name: which one is meant, and, on macOS, the `.app` folders they are. Reads folders only.

#[cfg(any(target_os = "macos", test))]
use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use super::target;
use crate::DesktopError;

/// Folders within folders.
#[cfg(any(target_os = "macos", test))]
const DEPTH: u32 = 3;
/// Names offered where none is meant.
const OFFERED: usize = 5;

#[cfg(any(target_os = "macos", test))]
/// Every application below the folders by its name, without the ending; the first of a name wins.
pub(crate) fn find(folders: &[PathBuf], ending: &str) -> BTreeMap<String, PathBuf> {
    let mut found = BTreeMap::new();
    for folder in folders {
        collect(folder, ending, DEPTH, &mut found);
    }
    found
}

#[cfg(any(target_os = "macos", test))]
fn collect(folder: &Path, ending: &str, depth: u32, found: &mut BTreeMap<String, PathBuf>) {
    // A folder that is not there has no applications.
    let Ok(files) = std::fs::read_dir(folder) else { return };
    let mut paths: Vec<PathBuf> = files.flatten().map(|file| file.path()).collect();
    paths.sort();
    for path in paths {
        let is_app = path.extension().is_some_and(|have| have.eq_ignore_ascii_case(ending));
        if is_app {
            if let Some(name) = path.file_stem().and_then(|name| name.to_str()) {
                found.entry(name.to_owned()).or_insert(path);
            }
        } else if depth > 0 && path.is_dir() {
            collect(&path, ending, depth - 1, found);
        }
    }
}

/// The name that is meant: the same without regard to case, else the only or shortest one that begins with it, else
/// one that contains it.
///
/// # Errors
/// `NotFound` names the nearest.
pub(crate) fn meant<'a>(
    names: impl Iterator<Item = &'a str> + Clone,
    wanted: &str,
) -> Result<&'a str, DesktopError> {
    let plain = |name: &str| name.trim().trim_end_matches(".app").trim_end_matches(".exe").to_lowercase();
    let looked_for = plain(wanted);
    let shortest = |fits: &dyn Fn(&str) -> bool| {
        names.clone().filter(|name| fits(&plain(name))).min_by_key(|name| name.len())
    };
    if !looked_for.is_empty()
        && let Some(name) = shortest(&|name| name == looked_for)
            .or_else(|| shortest(&|name| name.starts_with(&looked_for)))
            .or_else(|| shortest(&|name| name.contains(&looked_for)))
    {
        return Ok(name);
    }
    let mut near: Vec<(f64, &str)> =
        names.map(|name| (target::alike(name, wanted), name)).filter(|(score, _)| *score > 0.2).collect();
    near.sort_by(|one, other| other.0.total_cmp(&one.0));
    near.dedup_by(|one, other| one.1 == other.1);
    let near: Vec<&str> = near.into_iter().take(OFFERED).map(|(_, name)| name).collect();
    Err(DesktopError::NotFound(if near.is_empty() {
        format!("no application named \"{wanted}\"")
    } else {
        format!("no application named \"{wanted}\"; the nearest: {}", near.join(", "))
    }))
}

#[cfg(test)]
mod tests;
