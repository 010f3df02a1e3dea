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
    /// What the content of a popover is named. It tells places within the popover; none do, where this is empty.
    pub(super) popover_content: &'static str,
    /// Roles whose actions and selection change a state, but tell the application of no click.
    pub(super) clicked: &'static [u32],
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
    popover_content: "",
    clicked: &[],
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
            popover_content: "GtkPopoverContent",
            // A click activates a list's row, too.
            clicked: &[number::LIST_ITEM],
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
            // A cell's check box only says that it was toggled.
            clicked: &[number::LIST_ITEM, number::TABLE_CELL],
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

    pub(super) fn is_popover_content(self, told: &str) -> bool {
        !self.popover_content.is_empty() && told == self.popover_content
    }

    /// The name that an object tells, without what is none.
    pub(super) fn own_name(self, told: String) -> String {
        if self.names_by_class && is_class(&told) { String::new() } else { told }
    }
}

fn is_class(name: &str) -> bool {
    ["Gtk", "Adw"].iter().any(|prefix| {
        name.strip_prefix(prefix).is_some_and(|rest| {
            rest.starts_with(|first: char| first.is_ascii_uppercase())
                && rest.chars().all(|letter| letter.is_ascii_alphanumeric())
        })
    })
}

#[cfg(test)]
mod tests;
