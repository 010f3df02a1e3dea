//! Which interfaces an object offers. Nothing is asked of it by another: GTK 3 prints a critical message for each such
//! question.

use super::acting::{ACTION, COMPONENT, SELECTION};
use super::details::TEXT;
use super::setting::{EDITABLE_TEXT, VALUE};
use super::table::TABLE;

/// By their bits in [`Interfaces`].
const NAMES: [&str; 7] = [ACTION, COMPONENT, SELECTION, TEXT, EDITABLE_TEXT, VALUE, TABLE];

/// A set of them; all, where an object has not told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Interfaces(u8);

impl Interfaces {
    pub(super) const ALL: Self = Self(u8::MAX);

    pub(super) fn named(names: &[String]) -> Self {
        let bit = |name: &String| NAMES.iter().position(|known| *known == name.as_str());
        Self(names.iter().filter_map(bit).fold(0, |all, bit| all | 1 << bit))
    }

    /// Whether the interface of this name is offered; one that is not followed here counts as offered.
    pub(super) fn has(self, name: &str) -> bool {
        NAMES.iter().position(|known| *known == name).is_none_or(|bit| self.0 & (1 << bit) != 0)
    }
}

impl Default for Interfaces {
    fn default() -> Self {
        Self::ALL
    }
}

#[cfg(test)]
mod tests;
