//! Which item of a menu a name means. Pure.

use crate::DesktopError;

/// Names offered where nothing matches.
const OFFERED: usize = 30;

/// Dots, access keys and shortcuts do not count: `Save As...`, `Save &As…` and `save as` are one.
fn plain(name: &str) -> String {
    let name = name.split('\t').next().unwrap_or(name).replace('&', "");
    name.trim().trim_end_matches(['.', '…']).trim().to_lowercase()
}

/// The item that is meant: the same name first, then one that begins with it.
///
/// # Errors
/// `NotFound` names those that are there; `BadInput` for an empty name.
pub(crate) fn pick(names: &[String], wanted: &str, menu: &str) -> Result<usize, DesktopError> {
    let looked_for = plain(wanted);
    if looked_for.is_empty() {
        return Err(DesktopError::BadInput("a menu path has an empty name".into()));
    }
    let by = |fits: &dyn Fn(&str) -> bool| names.iter().position(|name| fits(&plain(name)));
    by(&|name| name == looked_for).or_else(|| by(&|name| name.starts_with(&looked_for))).ok_or_else(|| {
        let there: Vec<&str> =
            names.iter().map(|name| name.trim()).filter(|name| !name.is_empty()).take(OFFERED).collect();
        DesktopError::NotFound(format!("no \"{wanted}\" in {menu}; there are: {}", there.join(", ")))
    })
}

#[cfg(test)]
mod tests;
