//! The tabs as they were listed, and their refs: `ta1`, `ta2` ... Pure.
//!
//! Safari's tabs have no ids, and their places change when others are closed: such a tab is known again by its window,
//! place and address, then by window and address, then by window and place.

use super::app::App;
use super::talk::{Listed, Spot, Window};
use crate::Tab;
use crate::address::check_page;

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
        self.of(app).map(view).filter(|tab| check_page(&tab.url).is_ok()).collect()
    }
}

/// The number in `ta3`.
pub(super) fn number(reference: &str) -> Option<u64> {
    reference.strip_prefix("ta")?.parse().ok()
}

#[cfg(test)]
mod tests;
