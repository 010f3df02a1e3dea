//! What a quick look at the scene tells: where the focus is, which windows are open. Data only; two of them, taken
//! before and after an act, show what the act did.

use crate::WindowId;

/// A quick look; a few milliseconds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Glance {
    pub windows: Vec<Glimpse>,
    /// The window with the focus.
    pub active: Option<WindowId>,
    /// The element with the focus, as `button "Save"`, where it is known.
    pub focused: Option<String>,
    /// Counts up with what applications tell of themselves; it rests while they rest.
    pub events: u64,
}

/// A window as a glance sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Glimpse {
    pub id: WindowId,
    pub title: String,
}

impl Glance {
    /// Windows that are here and not in the other one.
    pub fn without<'a>(&'a self, other: &'a Self) -> impl Iterator<Item = &'a Glimpse> {
        self.windows.iter().filter(|one| !other.windows.iter().any(|known| known.id == one.id))
    }

    /// The title of the window with the focus.
    pub fn active_title(&self) -> Option<&str> {
        let active = self.active?;
        self.windows.iter().find(|one| one.id == active).map(|one| one.title.as_str())
    }
}
