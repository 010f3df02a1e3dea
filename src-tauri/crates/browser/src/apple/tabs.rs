//! The tabs as they were listed, and their refs: `ta1`, `ta2` ... Pure.
//!
//! Safari's tabs have no ids, and their places change when others are closed: such a tab is known again by its window,
//! place and address, then by window and address, then by window and place.

use super::app::App;
use super::talk::{Listed, Spot, Window};
use crate::Tab;

/// A tab that was listed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Known {
    pub(super) number: u64,
    pub(super) spot: Spot,
    pub(super) url: String,
    pub(super) title: String,
    /// In front of its window.
    pub(super) current: bool,
}

impl Known {
    pub(super) fn reference(&self) -> String {
        format!("ta{}", self.number)
    }
}

#[derive(Default)]
pub(super) struct TabTable {
    known: Vec<Known>,
    born: u64,
}

/// In which order a listed tab is taken for a known one.
#[derive(Clone, Copy)]
enum By {
    Id,
    PlaceAndAddress,
    Address,
    Place,
}

impl By {
    fn is(self, known: &Known, window: &str, place: usize, listed: &Listed) -> bool {
        let spot = &known.spot;
        let same_window = spot.window == window;
        match self {
            Self::Id => listed.id.is_some() && spot.id == listed.id,
            _ if listed.id.is_some() || spot.id.is_some() || !same_window => false,
            Self::PlaceAndAddress => spot.place == place && known.url == listed.url,
            Self::Address => known.url == listed.url,
            Self::Place => spot.place == place,
        }
    }
}

impl TabTable {
    /// Takes over what one application lists now; its tabs that are no longer listed are forgotten.
    pub(super) fn learn(&mut self, app: &'static App, windows: &[Window]) {
        let listed: Vec<(&Window, usize, &Listed)> = windows
            .iter()
            .flat_map(|window| window.tabs.iter().enumerate().map(move |(place, tab)| (window, place, tab)))
            .collect();
        let (mut old, others): (Vec<Known>, Vec<Known>) =
            std::mem::take(&mut self.known).into_iter().partition(|known| known.spot.app == app);
        let mut numbers: Vec<Option<u64>> = vec![None; listed.len()];
        for by in [By::Id, By::PlaceAndAddress, By::Address, By::Place] {
            for (number, (window, place, tab)) in numbers.iter_mut().zip(&listed) {
                if number.is_none()
                    && let Some(at) = old.iter().position(|known| by.is(known, &window.id, *place, tab))
                {
                    *number = Some(old.remove(at).number);
                }
            }
        }
        let now = listed.into_iter().zip(numbers).map(|((window, place, tab), number)| {
            let number = number.unwrap_or_else(|| {
                self.born += 1;
                self.born
            });
            Known {
                number,
                spot: Spot { app, window: window.id.clone(), id: tab.id.clone(), place },
                url: tab.url.clone(),
                title: tab.title.clone(),
                current: usize::try_from(window.current) == Ok(place),
            }
        });
        self.known = now.collect();
        self.known.extend(others);
    }

    /// The tab in front of the application's window in front.
    pub(super) fn front(&self, app: &'static App) -> Option<&Known> {
        let first = self.of(app).next()?;
        self.of(app).find(|known| known.current && known.spot.window == first.spot.window).or(Some(first))
    }

    pub(super) fn of(&self, app: &'static App) -> impl Iterator<Item = &Known> {
        self.known.iter().filter(move |known| known.spot.app == app)
    }

    pub(super) fn number(&self, number: u64) -> Option<&Known> {
        self.known.iter().find(|known| known.number == number)
    }

    pub(super) fn newest(&self) -> u64 {
        self.born
    }

    pub(super) fn views(&self, app: &'static App) -> Vec<Tab> {
        let front = self.front(app).map(|known| known.number);
        let view = |known: &Known| Tab {
            reference: known.reference(),
            title: known.title.clone(),
            url: known.url.clone(),
            front: Some(known.number) == front,
        };
        self.of(app).map(view).collect()
    }
}

/// The number in `ta3`.
pub(super) fn number(reference: &str) -> Option<u64> {
    reference.strip_prefix("ta")?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::apple::app::{SAFARI, named};

    fn window(id: &str, current: i64, tabs: &[(Option<&str>, &str)]) -> Window {
        let tab = |&(id, url): &(Option<&str>, &str)| Listed {
            id: id.map(str::to_owned),
            url: url.into(),
            title: url.to_uppercase(),
        };
        Window { id: id.into(), bounds: None, current, tabs: tabs.iter().map(tab).collect() }
    }

    fn refs(table: &TabTable, app: &'static App) -> Vec<(String, String)> {
        table.of(app).map(|known| (known.reference(), known.url.clone())).collect()
    }

    fn pairs(list: &[(&str, &str)]) -> Vec<(String, String)> {
        list.iter().map(|&(a, b)| (a.to_owned(), b.to_owned())).collect()
    }

    #[test]
    fn a_safari_tab_keeps_its_ref_when_one_before_it_closes_and_when_it_goes_elsewhere() {
        let mut table = TabTable::default();
        table.learn(&SAFARI, &[window("7", 0, &[(None, "a"), (None, "b"), (None, "c")])]);
        table.learn(&SAFARI, &[window("7", 0, &[(None, "b"), (None, "c")])]);
        assert_eq!(refs(&table, &SAFARI), pairs(&[("ta2", "b"), ("ta3", "c")]));
        table.learn(&SAFARI, &[window("7", 0, &[(None, "b"), (None, "elsewhere"), (None, "new")])]);
        assert_eq!(refs(&table, &SAFARI), pairs(&[("ta2", "b"), ("ta3", "elsewhere"), ("ta4", "new")]));
        assert_eq!(table.number(2).map(|known| known.spot.place), Some(0));
        assert_eq!(table.number(1), None);
    }

    #[test]
    fn a_chromium_tab_is_known_by_its_id_in_whatever_window() {
        let chrome = named("Google Chrome").unwrap();
        let mut table = TabTable::default();
        table.learn(chrome, &[window("1", 0, &[(Some("11"), "a"), (Some("12"), "b")])]);
        let moved = [window("2", 0, &[(Some("12"), "other")]), window("1", 0, &[(Some("11"), "a")])];
        table.learn(chrome, &moved);
        assert_eq!(refs(&table, chrome), pairs(&[("ta2", "other"), ("ta1", "a")]));
        assert_eq!(table.front(chrome).map(|known| known.number), Some(2));
        assert_eq!(table.newest(), 2);
    }

    #[test]
    fn tabs_of_two_applications_do_not_disturb_each_other() {
        let chrome = named("Google Chrome").unwrap();
        let mut table = TabTable::default();
        table.learn(chrome, &[window("1", 1, &[(Some("11"), "a"), (Some("12"), "b")])]);
        table.learn(&SAFARI, &[window("1", -1, &[(None, "a")])]);
        assert_eq!(refs(&table, &SAFARI), pairs(&[("ta3", "a")]));
        assert_eq!(refs(&table, chrome), pairs(&[("ta1", "a"), ("ta2", "b")]));
        let front: Vec<bool> = table.views(chrome).iter().map(|tab| tab.front).collect();
        assert_eq!(front, [false, true]);
        // Where the tab in front is not known, it is the first.
        assert!(table.views(&SAFARI)[0].front);
    }

    #[test]
    fn only_our_own_refs_have_a_number() {
        assert_eq!(number("ta12"), Some(12));
        for other in ["t12", "ta", "wa3", ""] {
            assert_eq!(number(other), None);
        }
    }
}
