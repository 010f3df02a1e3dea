//! By what an element is known again in a later run of its application: where it stands among roles and names. Pure.

use std::collections::HashMap;

use super::nodes::Facts;
use super::role::{self, Kind, number};

/// One for each object: eight hex digits.
pub(super) fn all(app: &str, nodes: &[(Option<usize>, &Facts)]) -> Vec<String> {
    let mut paths: Vec<u64> = Vec::with_capacity(nodes.len());
    let mut equals: HashMap<u64, u64> = HashMap::new();
    let mut found = Vec::with_capacity(nodes.len());
    for (parent, facts) in nodes {
        let above = parent.map_or_else(|| mix(START, app.as_bytes()), |parent| paths[parent]);
        let path = if counts(*parent, facts) { step(above, *parent, facts) } else { above };
        paths.push(path);
        let place = equals.entry(path).or_insert(0);
        *place += 1;
        let whole = mix(path, &place.to_le_bytes());
        found.push(format!("{:08x}", (whole ^ (whole >> 32)) & 0xffff_ffff));
    }
    found
}

/// Nameless boxes come and go with the toolkit's version.
fn counts(parent: Option<usize>, facts: &Facts) -> bool {
    parent.is_none() || !facts.name.is_empty() || role::describe(facts.role).1 == Kind::Control
}

fn step(above: u64, parent: Option<usize>, facts: &Facts) -> u64 {
    let with_role = mix(above, role::describe(facts.role).0.as_bytes());
    // A main window is named after what it shows.
    let changing = parent.is_none() && matches!(facts.role, number::FRAME | number::WINDOW);
    let name = if changing { "" } else { facts.name.trim() };
    mix(mix(with_role, &[0]), name.as_bytes())
}

/// FNV-1a: the same on every machine and in every version of the compiler.
const START: u64 = 0xcbf2_9ce4_8422_2325;

fn mix(hash: u64, bytes: &[u8]) -> u64 {
    bytes.iter().fold(hash, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3))
}

#[cfg(test)]
mod tests;
