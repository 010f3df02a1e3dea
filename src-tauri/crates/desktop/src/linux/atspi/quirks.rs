//! What each toolkit does in a way of its own, as data: the one place that knows toolkits by name and version. What
//! reads or acts asks for a field here, never who drew the window.

use super::role::{States, number};

/// How one application's toolkit differs from what the protocol says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Quirks {
    pub(super) reading: Way,
    /// The state of what is on the screen.
    pub(super) shown: States,
    /// Places are told within the window, whatever is asked for.
    pub(super) places_in_window: bool,
    /// What has no name is named after its class: `GtkTextView`.
    pub(super) names_by_class: bool,
    pub(super) more_actions: MoreActions,
}

/// The way of reading a window that costs least.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    /// The whole application in one call; matches where it has no cache.
    Cache,
    /// One call names what has the wished states; a walk where it cannot match.
    Matches,
    /// Level by level.
    Walk,
}

/// Which objects may have actions other than the plain press.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MoreActions {
    Nobody,
    Roles(&'static [u32]),
    /// Every control and table cell.
    Controls,
}

/// Of a toolkit that is not in the table.
const PLAIN: Quirks = Quirks {
    reading: Way::Matches,
    shown: States::SHOWING,
    places_in_window: false,
    names_by_class: false,
    more_actions: MoreActions::Controls,
};

/// By the name that an application's root gives its toolkit, in lower case, and the start of its version. The first
/// that fits counts.
const TABLE: &[(&str, &str, Quirks)] = &[
    (
        "gtk",
        "4.",
        Quirks {
            reading: Way::Walk,
            // It does not tell what is showing.
            shown: States::VISIBLE,
            places_in_window: true,
            names_by_class: true,
            more_actions: MoreActions::Roles(&[
                number::COMBO_BOX,
                number::ENTRY,
                number::LIST_ITEM,
                number::SPIN_BUTTON,
                number::TEXT,
            ]),
        },
    ),
    (
        "gtk",
        "",
        Quirks {
            reading: Way::Cache,
            more_actions: MoreActions::Roles(&[
                number::TABLE_CELL,
                number::COMBO_BOX,
                number::LIST_ITEM,
                number::TREE_ITEM,
            ]),
            ..PLAIN
        },
    ),
    // It has no collections.
    ("qt", "", Quirks { reading: Way::Walk, ..PLAIN }),
    // Each thing has the same: the press and a context menu.
    ("chromium", "", Quirks { more_actions: MoreActions::Nobody, ..PLAIN }),
];

impl Quirks {
    /// Of the toolkit with this name and version, as the root of an application's tree tells them (`ToolkitName`,
    /// `Version`).
    pub(super) fn of(toolkit: &str, version: &str) -> Self {
        let toolkit = toolkit.to_lowercase();
        TABLE
            .iter()
            .find(|(name, start, _)| *name == toolkit && version.starts_with(start))
            .map_or(PLAIN, |(_, _, quirks)| *quirks)
    }
}

#[cfg(test)]
mod tests;
