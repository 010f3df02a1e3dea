//! Where a window was, for each arrangement of displays, and where it goes again. Pure; the windows are asked and moved
//! by `windows`.

use std::collections::BTreeMap;

use protocol::geometry::PhysicalRect;
use serde::{Deserialize, Serialize};

/// Arrangements of displays that are remembered for a window.
const MOST: usize = 16;
/// Of a window's upper edge, in points, what must be seen of it so that it can be taken hold of.
const HANDLE: (f64, f64) = (120.0, 24.0);

/// Where a window was with certain displays, in points.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RememberedBounds {
    /// All that there were, by name and size.
    displays: Vec<String>,
    /// The one that it was on, from whose upper left corner it is measured.
    display: String,
    x: i32,
    y: i32,
    /// Without the frame.
    width: u32,
    height: u32,
    /// The rest is where it was before that.
    maximised: bool,
}

/// A display as it is now.
#[derive(Clone, Debug, PartialEq)]
pub struct Display {
    /// Its name and size; two of the same are numbered.
    pub name: String,
    pub bounds: PhysicalRect,
    /// Without the system's own bars.
    pub free: PhysicalRect,
    pub scale: f64,
}

impl Display {
    /// A window in its middle, no larger than it is.
    pub fn middle(&self, width: u32, height: u32) -> WindowBounds {
        let free = self.free;
        let (width, height) = (width.min(free.width), height.min(free.height));
        let (x, y) =
            (free.x + ((free.width - width) / 2) as i32, free.y + ((free.height - height) / 2) as i32);
        WindowBounds { at: PhysicalRect { x, y, width, height }, maximised: false }
    }
}

/// How a window is, or is to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WindowBounds {
    /// The upper left corner of its frame, and its size without the frame.
    pub at: PhysicalRect,
    pub maximised: bool,
}

/// The places of one window, the latest first.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Places(Vec<RememberedBounds>);

/// The places of all windows, by label.
pub type AllPlaces = BTreeMap<String, Places>;

impl Places {
    /// Takes what is of use from a file, which may say anything.
    pub fn of(value: serde_json::Value) -> Self {
        let serde_json::Value::Array(places) = value else { return Self::default() };
        let places = places.into_iter().filter_map(|place| serde_json::from_value(place).ok());
        Self(places.take(MOST).collect())
    }

    /// Remembers where the window is. Answers whether it is news.
    pub fn note(&mut self, seen: WindowBounds, displays: &[Display]) -> bool {
        let Some(display) = most_on(seen.at, displays) else { return false };
        let names = arrangement(displays);
        let before = self.0.iter().position(|place| place.displays == names).map(|at| self.0.remove(at));
        let points = |pixels: f64| (pixels / display.scale).round();
        let is = RememberedBounds {
            display: display.name.clone(),
            x: points(f64::from(seen.at.x) - f64::from(display.bounds.x)) as i32,
            y: points(f64::from(seen.at.y) - f64::from(display.bounds.y)) as i32,
            width: points(seen.at.width.into()) as u32,
            height: points(seen.at.height.into()) as u32,
            maximised: seen.maximised,
            displays: names,
        };
        let next = match before.clone() {
            // It goes back there when it is made smaller again.
            Some(before) if seen.maximised => {
                RememberedBounds { maximised: true, display: is.display, ..before }
            }
            _ => is,
        };
        let is_news = before.as_ref() != Some(&next);
        self.0.insert(0, next);
        self.0.truncate(MOST);
        is_news
    }

    /// Where the window goes with these displays; `None` if nothing is known of them. `least` is the smallest it may be,
    /// in points.
    pub fn find(&self, displays: &[Display], least: (f64, f64)) -> Option<WindowBounds> {
        let names = arrangement(displays);
        let on = |place: &RememberedBounds| displays.iter().find(|display| display.name == place.display);
        let same = self.0.iter().find(|place| place.displays == names);
        let (place, display) =
            same.into_iter().chain(&self.0).find_map(|place| on(place).map(|display| (place, display)))?;
        Some(WindowBounds { at: place.fit(display, displays, least), maximised: place.maximised })
    }
}

impl RememberedBounds {
    /// The place in pixels, on the display: as it was where it can be taken hold of there, else brought in whole.
    fn fit(&self, display: &Display, displays: &[Display], least: (f64, f64)) -> PhysicalRect {
        let Display { bounds, free, scale, .. } = display;
        let from =
            |origin: i32, points: i32| (f64::from(origin) + (f64::from(points) * scale).round()) as i32;
        let length = |points: u32, least: f64| (f64::from(points).max(least) * scale).round() as u32;
        let wanted = PhysicalRect {
            x: from(bounds.x, self.x),
            y: from(bounds.y, self.y),
            width: length(self.width, least.0),
            height: length(self.height, least.1),
        };
        let (width, height) = (wanted.width.min(free.width), wanted.height.min(free.height));
        let is_too_large = (width, height) != (wanted.width, wanted.height);
        if !is_too_large && displays.iter().any(|display| has_handle_on(wanted, display)) {
            return wanted;
        }
        let inside = |at: i32, length: u32, from: i32, room: u32| {
            i64::from(at).clamp(i64::from(from), i64::from(from) + i64::from(room) - i64::from(length)) as i32
        };
        PhysicalRect {
            x: inside(wanted.x, width, free.x, free.width),
            y: inside(wanted.y, height, free.y, free.height),
            width,
            height,
        }
    }
}

/// Names of all displays, whatever their order.
fn arrangement(displays: &[Display]) -> Vec<String> {
    let mut names: Vec<String> = displays.iter().map(|display| display.name.clone()).collect();
    names.sort();
    names
}

/// The display that most of the window is on; `None` if it is on none.
fn most_on(at: PhysicalRect, displays: &[Display]) -> Option<&Display> {
    let area = |display: &&Display| {
        let (width, height) = overlap(at, display.bounds);
        width * height
    };
    displays.iter().filter(|display| area(display) > 0).max_by_key(area)
}

fn has_handle_on(at: PhysicalRect, display: &Display) -> bool {
    let (wide, high) = ((HANDLE.0 * display.scale) as u32, (HANDLE.1 * display.scale) as u32);
    let edge = PhysicalRect { height: at.height.min(high), ..at };
    let (width, height) = overlap(edge, display.free);
    width >= i64::from(wide.min(at.width)) && height >= i64::from(edge.height)
}

/// Width and height of what two rectangles share; 0 where they do not meet.
fn overlap(a: PhysicalRect, b: PhysicalRect) -> (i64, i64) {
    let shared = |a: i32, a_length: u32, b: i32, b_length: u32| {
        let end = (i64::from(a) + i64::from(a_length)).min(i64::from(b) + i64::from(b_length));
        (end - i64::from(a.max(b))).max(0)
    };
    (shared(a.x, a.width, b.x, b.width), shared(a.y, a.height, b.y, b.height))
}

#[cfg(test)]
mod tests;
