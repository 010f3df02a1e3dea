//! What each toolkit does in a way of its own, as data: the one place that knows toolkits by name and version. What
//! reads or acts asks for a field here, never who drew the window.

use std::time::Duration;

use super::role::{States, number};

mod parts;
mod windows;

pub(super) use self::parts::Part;
pub(in super::super) use self::windows::{Typing, is_look};

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
    /// Roles whose value, set, is shown, but not told to the application: these are chosen and typed by hand.
    pub(super) set_by_hand: &'static [u32],
    /// The text that is set in a combo box with a field is held and read back, and the field that shows stays empty.
    pub(super) hides_combo_texts: bool,
    /// The list of a combo box opens for the pointer alone, in a window of its own that has the items a second time.
    pub(super) lists_apart: bool,
    /// Menus that hang from nothing in the tree, as a context menu, are not told.
    pub(super) hides_popups: bool,
    /// A menu's items do nothing before it is open.
    pub(super) menus_act_open: bool,
    /// A field of a date or time is typed into part by part from its start, and what replaces all of it misses the first.
    pub(super) types_by_sections: bool,
    /// A cell takes what is typed while it is the current one.
    pub(super) cells_take_keys: bool,
    /// A row of tabs is named by the one whose page shows, and no tab is selected.
    pub(super) names_rows_by_page: bool,
    /// A text is no object of its own: the box that it stands in says it, and has no name.
    pub(super) texts_in_boxes: bool,
    /// A check box that is called indeterminate is neither on nor off. Elsewhere it shows a dash whatever it is.
    pub(super) tells_between: bool,
    /// Text with characters beyond U+FFFF arrives as others, and cannot be read.
    pub(super) mangles_astral: bool,
    /// It can be asked which of all its objects match. Otherwise that search would not end: it would go through every
    /// cell of a sheet.
    pub(super) bears_matches: bool,
    /// How long after a change it still tells what was before.
    pub(super) late: Duration,
    /// A control keeps the name of a label that says something else now.
    pub(super) keeps_old_names: bool,
    /// Roles whose names change by themselves: a tab says how much memory its page uses.
    pub(super) restless: &'static [u32],
    /// What had the focus in a page that was left says that it has it still.
    pub(super) outlives_page: bool,
    /// Places below its root pane are those of an earlier layout, until it is laid out anew.
    pub(super) lags_behind: bool,
    /// How long a reading of a window may take that is compared with another one.
    pub(super) reading_takes: Duration,
    /// A panel may say that it is gone while it shows: it is shown where what holds it is.
    pub(super) calls_panels_defunct: bool,
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
    set_by_hand: &[],
    hides_combo_texts: false,
    lists_apart: false,
    hides_popups: false,
    menus_act_open: false,
    types_by_sections: false,
    cells_take_keys: false,
    names_rows_by_page: false,
    texts_in_boxes: false,
    tells_between: false,
    mangles_astral: false,
    bears_matches: true,
    late: Duration::ZERO,
    keeps_old_names: false,
    restless: &[],
    outlives_page: false,
    lags_behind: false,
    reading_takes: Duration::from_secs(1),
    calls_panels_defunct: false,
};

const GTK_3: Quirks = Quirks {
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
};

/// Applications that draw themselves and are only framed by the toolkit that they name: by their own names, that toolkit
/// and the start of its version, as in the table of toolkits. They tell no version of their own: these are of
/// LibreOffice 7.4. The first that fits counts.
const APPLICATIONS: &[(&str, &str, &str, Quirks)] = &[
    ("soffice", "gtk", "3.", OFFICE),
    // Framed by another toolkit, nobody has looked; what made it hang is its own.
    (
        "soffice",
        "",
        "",
        Quirks {
            reading: Way::Walk,
            clicked: &[number::TABLE_CELL],
            hides_combo_texts: true,
            menus_act_open: true,
            cells_take_keys: true,
            bears_matches: false,
            ..PLAIN
        },
    ),
];

const OFFICE: Quirks = Quirks {
    // Its cache lacks the fields that the toolkit draws in its tool bars.
    reading: Way::Walk,
    // Selecting a cell does not make it the current one.
    clicked: &[number::TABLE_CELL],
    hides_combo_texts: true,
    menus_act_open: true,
    cells_take_keys: true,
    bears_matches: false,
    lags_behind: true,
    // A sheet has some eight hundred parts that can be seen.
    reading_takes: Duration::from_secs(3),
    // Calc's input line.
    calls_panels_defunct: true,
    ..GTK_3
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
            ..PLAIN
        },
    ),
    ("gtk", "", GTK_3),
    // It has no collections.
    (
        "qt",
        "",
        Quirks {
            reading: Way::Walk,
            clicked: &[
                number::CHECK_BOX,
                number::RADIO_BUTTON,
                number::TOGGLE_BUTTON,
                number::LIST_ITEM,
                number::TABLE_CELL,
                number::TREE_ITEM,
            ],
            names_rows_by_page: true,
            tells_between: true,
            types_by_sections: true,
            hides_popups: true,
            ..PLAIN
        },
    ),
    // A page hears nothing of a choice or a number that was set.
    (
        "gecko",
        "",
        Quirks {
            set_by_hand: &[number::COMBO_BOX, number::SPIN_BUTTON],
            lists_apart: true,
            texts_in_boxes: true,
            ..PLAIN
        },
    ),
    (
        "j2se-access-bridge",
        "",
        Quirks {
            // A text field lists every command of its keyboard.
            more_actions: MoreActions::Roles(&[number::LABEL, number::SLIDER, number::SPIN_BUTTON]),
            // Its bridge to Java writes text as Java's own kind of UTF-8.
            mangles_astral: true,
            ..PLAIN
        },
    ),
    // Each thing has the same: the press and a context menu.
    (
        "chromium",
        "",
        Quirks {
            more_actions: MoreActions::Nobody,
            late: Duration::from_millis(300),
            keeps_old_names: true,
            restless: &[number::PAGE_TAB],
            outlives_page: true,
            ..PLAIN
        },
    ),
];

impl Quirks {
    /// Of an application, by its name and that and the version of its toolkit, as the root of its tree tells them
    /// (`Name`, `ToolkitName`, `Version`).
    pub(super) fn of(application: &str, toolkit: &str, version: &str) -> Self {
        let toolkit = toolkit.to_lowercase();
        let fits =
            |name: &str, start: &str| (name.is_empty() || name == toolkit) && version.starts_with(start);
        let itself = APPLICATIONS
            .iter()
            .find(|(name, drawn_by, start, _)| *name == application && fits(drawn_by, start))
            .map(|(.., quirks)| quirks);
        let by_toolkit =
            || TABLE.iter().find(|(name, start, _)| fits(name, start)).map(|(_, _, quirks)| quirks);
        *itself.or_else(by_toolkit).unwrap_or(&PLAIN)
    }

    /// Whether an object's states say nothing of whether it shows.
    pub(super) fn is_called_defunct(self, role: u32, states: States) -> bool {
        self.calls_panels_defunct && role == number::PANEL && states.has(States::DEFUNCT)
    }

    /// Whether what a spin button holds is a date or a time that is typed part by part.
    pub(super) fn has_sections(self, role: u32, text: &str) -> bool {
        let parted = text.matches(['-', '/', '.']).count() >= 2 || text.contains(':');
        let parted = parted && text.parse::<f64>().is_err();
        self.types_by_sections && role == number::SPIN_BUTTON && parted
    }

    pub(super) fn is_popover_content(self, told: &str) -> bool {
        !self.popover_content.is_empty() && told == self.popover_content
    }

    /// The same of one with this role: GTK 4 calls each tab "Tab".
    pub(super) fn own_name_of(self, role: u32, told: String) -> String {
        let is_none = self.names_by_class && role == number::PAGE_TAB && told == "Tab";
        if is_none { String::new() } else { self.own_name(told) }
    }

    /// Whether an object of this role that has no name is known by the labels in it.
    pub(super) fn is_known_by_labels(self, role: u32, name: &str) -> bool {
        let in_gtk_4 = self.names_by_class && matches!(role, number::PAGE_TAB | number::TABLE_CELL);
        name.trim().is_empty() && (role == number::LIST_ITEM || in_gtk_4)
    }

    /// The name that an object tells, without what is none.
    pub(super) fn own_name(self, told: String) -> String {
        if !self.names_by_class {
            return told;
        }
        if is_class(&told) {
            return String::new();
        }
        // A dialog's button has its label twice, first with its mnemonic: "_Close Close".
        let is_twice = |at: usize| {
            let (first, second) = (&told[..at], &told[at + 1..]);
            first.contains('_') && first.replace('_', "") == second
        };
        match told.match_indices(' ').map(|(at, _)| at).find(|&at| is_twice(at)) {
            Some(at) => told[at + 1..].to_owned(),
            None => told,
        }
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
