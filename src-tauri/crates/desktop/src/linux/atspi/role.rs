//! AT-SPI's numbers for roles and states, and what they mean to an agent.

use super::quirks::MoreActions;

/// The states of one object: bit `n` is AT-SPI's state number `n`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(in super::super) struct States(u64);

impl States {
    pub(super) const ACTIVE: Self = Self(1 << 1);
    pub(super) const CHECKED: Self = Self(1 << 4);
    pub(super) const DEFUNCT: Self = Self(1 << 6);
    pub(super) const EDITABLE: Self = Self(1 << 7);
    pub(super) const ENABLED: Self = Self(1 << 8);
    pub(super) const EXPANDABLE: Self = Self(1 << 9);
    pub(super) const EXPANDED: Self = Self(1 << 10);
    pub(super) const FOCUSABLE: Self = Self(1 << 11);
    pub(super) const FOCUSED: Self = Self(1 << 12);
    pub(super) const MODAL: Self = Self(1 << 16);
    pub(super) const MULTI_LINE: Self = Self(1 << 17);
    pub(super) const PRESSED: Self = Self(1 << 20);
    pub(super) const SELECTED: Self = Self(1 << 23);
    pub(super) const SENSITIVE: Self = Self(1 << 24);
    pub(super) const SHOWING: Self = Self(1 << 25);
    pub(super) const VISIBLE: Self = Self(1 << 30);
    /// Between on and off.
    pub(super) const INDETERMINATE: Self = Self(1 << 32);
    pub(super) const READ_ONLY: Self = Self(1 << 43);
    /// Its children are made when they are asked for: cells of a table.
    pub(super) const MANAGES_DESCENDANTS: Self = Self(1 << 31);

    pub(super) fn from_words(words: &[u32]) -> Self {
        let word = |index: usize| u64::from(words.get(index).copied().unwrap_or(0));
        Self(word(0) | word(1) << 32)
    }

    pub(super) const fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    pub(super) const fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    pub(super) const fn has(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// As a match rule takes them: two signed words.
    #[expect(clippy::cast_possible_truncation, reason = "the two halves of the set, bit by bit")]
    pub(super) fn words(self) -> Vec<i32> {
        vec![self.0 as u32 as i32, (self.0 >> 32) as u32 as i32]
    }

    /// The words of [`crate::Element::states`].
    pub(super) fn names(self, kind: Kind) -> Vec<String> {
        let mut names = Vec::new();
        let mut add = |is: bool, name: &str| {
            if is {
                names.push(name.to_owned());
            }
        };
        add(self.has(Self::FOCUSED), "focused");
        let able = self.has(Self::ENABLED) || self.has(Self::SENSITIVE);
        add(kind == Kind::Control && !able, "disabled");
        let is_between = self.has(Self::INDETERMINATE);
        add(self.has(Self::CHECKED) && !is_between, "checked");
        add(is_between, "indeterminate");
        add(self.has(Self::SELECTED), "selected");
        add(self.has(Self::EXPANDED), "expanded");
        add(self.has(Self::EDITABLE) && !self.has(Self::READ_ONLY), "editable");
        names
    }
}

/// What a role is good for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Can be operated: kept even without a name.
    Control,
    /// Tells something: kept with a name or a value.
    Content,
    /// Holds others: kept with a name only.
    Container,
    /// A top-level window or a part of the toolkit's furniture: never an element.
    Frame,
}

/// Role numbers that the code itself asks about.
pub(super) mod number {
    pub(in super::super) const CHECK_BOX: u32 = 7;
    pub(in super::super) const COMBO_BOX: u32 = 11;
    pub(in super::super) const DATE_EDITOR: u32 = 12;
    pub(in super::super) const DIAL: u32 = 15;
    pub(in super::super) const DIALOG: u32 = 16;
    pub(in super::super) const FRAME: u32 = 23;
    pub(in super::super) const LABEL: u32 = 29;
    pub(in super::super) const LIST: u32 = 31;
    pub(in super::super) const LIST_ITEM: u32 = 32;
    pub(in super::super) const MENU: u32 = 33;
    pub(in super::super) const MENU_BAR: u32 = 34;
    pub(in super::super) const PAGE_TAB: u32 = 37;
    pub(in super::super) const PANEL: u32 = 39;
    pub(in super::super) const PASSWORD: u32 = 40;
    pub(in super::super) const POPUP_MENU: u32 = 41;
    pub(in super::super) const PROGRESS_BAR: u32 = 42;
    pub(in super::super) const RADIO_BUTTON: u32 = 44;
    pub(in super::super) const ROOT_PANE: u32 = 46;
    pub(in super::super) const SCROLL_PANE: u32 = 49;
    pub(in super::super) const SLIDER: u32 = 51;
    pub(in super::super) const SPIN_BUTTON: u32 = 52;
    pub(in super::super) const TABLE: u32 = 55;
    pub(in super::super) const TABLE_CELL: u32 = 56;
    pub(in super::super) const TERMINAL: u32 = 60;
    pub(in super::super) const TEXT: u32 = 61;
    pub(in super::super) const TOGGLE_BUTTON: u32 = 62;
    pub(in super::super) const TREE: u32 = 65;
    pub(in super::super) const TREE_TABLE: u32 = 66;
    pub(in super::super) const VIEWPORT: u32 = 68;
    pub(in super::super) const WINDOW: u32 = 69;
    pub(in super::super) const PARAGRAPH: u32 = 73;
    pub(in super::super) const APPLICATION: u32 = 75;
    pub(in super::super) const ENTRY: u32 = 79;
    pub(in super::super) const SECTION: u32 = 85;
    pub(in super::super) const TABLE_ROW: u32 = 90;
    pub(in super::super) const TREE_ITEM: u32 = 91;
    pub(in super::super) const LIST_BOX: u32 = 98;
    pub(in super::super) const GROUPING: u32 = 99;
    pub(in super::super) const LEVEL_BAR: u32 = 103;
}

const ROLES: [(&str, Kind); 130] = {
    use Kind::{Container as Box, Content as Say, Control as Do, Frame as Top};
    [
        ("invalid", Box),
        ("accelerator label", Say),
        ("alert", Box),
        ("animation", Say),
        ("arrow", Say),
        ("calendar", Do),
        ("canvas", Box),
        ("check box", Do),
        ("check menu item", Do),
        ("color chooser", Do),
        ("column header", Do),
        ("combo box", Do),
        ("date editor", Do),
        ("desktop icon", Do),
        ("desktop frame", Top),
        ("dial", Do),
        ("dialog", Box),
        ("directory pane", Box),
        ("drawing area", Box),
        ("file chooser", Box),
        ("filler", Box),
        ("focus traversable", Box),
        ("font chooser", Do),
        ("frame", Top),
        ("glass pane", Box),
        ("html container", Box),
        ("icon", Say),
        ("image", Say),
        ("internal frame", Box),
        ("label", Say),
        ("layered pane", Box),
        ("list", Box),
        ("list item", Do),
        ("menu", Do),
        ("menu bar", Box),
        ("menu item", Do),
        ("option pane", Box),
        ("page tab", Do),
        ("page tab list", Box),
        ("panel", Box),
        ("password text", Do),
        ("popup menu", Box),
        ("progress bar", Say),
        ("button", Do),
        ("radio button", Do),
        ("radio menu item", Do),
        ("root pane", Top),
        ("row header", Say),
        ("scroll bar", Box),
        ("scroll pane", Box),
        ("separator", Box),
        ("slider", Do),
        ("spin button", Do),
        ("split pane", Box),
        ("status bar", Say),
        ("table", Box),
        ("table cell", Say),
        ("table column header", Do),
        ("table row header", Say),
        ("tearoff menu item", Box),
        ("terminal", Do),
        ("text", Do),
        ("toggle button", Do),
        ("tool bar", Box),
        ("tool tip", Say),
        ("tree", Box),
        ("tree table", Box),
        ("unknown", Box),
        ("viewport", Box),
        ("window", Top),
        ("extended", Box),
        ("header", Box),
        ("footer", Box),
        ("paragraph", Say),
        ("ruler", Box),
        ("application", Top),
        ("autocomplete", Do),
        ("edit bar", Do),
        ("embedded", Box),
        ("entry", Do),
        ("chart", Say),
        ("caption", Say),
        ("document frame", Box),
        ("heading", Say),
        ("page", Box),
        ("section", Box),
        ("redundant object", Box),
        ("form", Box),
        ("link", Do),
        ("input method window", Top),
        ("table row", Say),
        ("tree item", Do),
        ("document spreadsheet", Box),
        ("document presentation", Box),
        ("document text", Box),
        ("document web", Box),
        ("document email", Box),
        ("comment", Say),
        ("list box", Box),
        ("grouping", Box),
        ("image map", Say),
        ("notification", Say),
        ("info bar", Say),
        ("level bar", Say),
        ("title bar", Box),
        ("block quote", Say),
        ("audio", Say),
        ("video", Say),
        ("definition", Say),
        ("article", Box),
        ("landmark", Box),
        ("log", Box),
        ("marquee", Say),
        ("math", Say),
        ("rating", Say),
        ("timer", Say),
        ("static", Say),
        ("math fraction", Box),
        ("math root", Box),
        ("subscript", Say),
        ("superscript", Say),
        ("description list", Box),
        ("description term", Say),
        ("description value", Say),
        ("footnote", Say),
        ("content deletion", Say),
        ("content insertion", Say),
        ("mark", Say),
        ("suggestion", Say),
        ("push button menu", Do),
    ]
};

/// The lower-case name of a role, and what it is good for. A number newer than this table is content.
pub(super) fn describe(role: u32) -> (&'static str, Kind) {
    usize::try_from(role)
        .ok()
        .and_then(|index| ROLES.get(index))
        .copied()
        .unwrap_or(("element", Kind::Content))
}

/// What the role with this name is good for.
pub(super) fn kind_of(name: &str) -> Kind {
    ROLES.iter().find(|(role, _)| *role == name).map_or(Kind::Content, |(_, kind)| *kind)
}

/// Whether such an object cuts its children off at its own edge. Windows don't: a menu's items are below the window in
/// the tree and reach over its edge. A bar without height is not shown; a list that makes its items when they are asked for has some anywhere.
pub(super) fn clips(role: u32, states: States) -> bool {
    matches!(role, number::SCROLL_PANE | number::VIEWPORT | number::MENU_BAR)
        || states.has(States::MANAGES_DESCENDANTS)
}

/// Whether it is a menu or in one.
pub(super) fn is_of_menu(role: u32) -> bool {
    matches!(
        describe(role).0,
        "menu" | "popup menu" | "menu item" | "check menu item" | "radio menu item" | "tearoff menu item"
    )
}

/// Whether what is below this role lies in a window of its own, whatever cuts it off itself.
pub(super) fn pops_up(role: u32) -> bool {
    matches!(role, number::MENU | number::POPUP_MENU | number::WINDOW | number::DIALOG)
}

/// The same of a part with this role: the list of a combo box does, its field does not.
pub(super) fn opens_apart(holder: u32, part: u32) -> bool {
    pops_up(holder) || (holder == number::COMBO_BOX && items(part).is_some())
}

/// What the children of a list of this role are called, where it may have very many.
pub(super) fn items(role: u32) -> Option<&'static str> {
    match role {
        number::TABLE | number::TREE | number::TREE_TABLE => Some("rows"),
        number::LIST | number::LIST_BOX => Some("items"),
        _ => None,
    }
}

/// Whether an object of this role may have actions other than the plain press.
pub(super) fn may_do_more(role: u32, which: MoreActions) -> bool {
    match which {
        MoreActions::Nobody => false,
        MoreActions::Roles(roles) => roles.contains(&role),
        MoreActions::Controls => describe(role).1 == Kind::Control || role == number::TABLE_CELL,
    }
}

/// Whether the value of this role is a number.
pub(super) fn is_numeric(role: u32) -> bool {
    use number::{DIAL, LEVEL_BAR, PROGRESS_BAR, SLIDER, SPIN_BUTTON};
    matches!(role, DIAL | LEVEL_BAR | PROGRESS_BAR | SLIDER | SPIN_BUTTON)
}

/// Whether a page is below it.
pub(super) fn is_page(role: u32) -> bool {
    matches!(describe(role).0, "document web" | "document frame" | "internal frame")
}

/// Whether what this role says is its text. A password's is never read.
pub(super) fn is_textual(role: u32, states: States) -> bool {
    role != number::PASSWORD
        && (matches!(role, number::TEXT | number::ENTRY | number::TERMINAL) || states.has(States::EDITABLE))
        && !is_numeric(role)
}

#[cfg(test)]
mod tests;
