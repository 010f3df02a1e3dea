//! Where a page is on the screen, by what the browser says of its window and the page of itself. Pure.
//!
//! The window's place alone leaves out toolbars and side panels. All above the page is taken for toolbars, as they are;
//! a page narrower than its window has a panel beside it, and which side that is on nobody tells: such a page, and any
//! other where it matters, is measured by a pointer event.

use super::app::Family;
use crate::page_transform::PageTransform;

/// The zooms of Safari's menu, which its `devicePixelRatio` leaves out.
const SAFARI_ZOOMS: [f64; 11] = [1.0, 1.15, 1.25, 1.5, 1.75, 2.0, 2.5, 3.0, 0.85, 0.75, 0.5];
/// Address bar, tabs, bookmarks and what else lies above a page.
const TOOLBARS: std::ops::RangeInclusive<f64> = -1.0..=320.0;
/// Sizes that differ by less are one.
const SAME: f64 = 4.0;

/// What is known of a page's window.
pub(super) struct View<'a> {
    pub(super) family: Family,
    /// Ours of `collector.js`.
    pub(super) geometry: &'a [f64],
    /// As the application tells it: left, top, width and height in points.
    pub(super) bounds: Option<[f64; 4]>,
    /// Pixels of the display for a point.
    pub(super) scale: f64,
}

struct Window {
    at: (f64, f64),
    outer: (f64, f64),
    inner: (f64, f64),
    ratio: f64,
}

impl View<'_> {
    fn window(&self) -> Option<Window> {
        let &[x, y, outer_width, outer_height, width, height, ratio, ..] = self.geometry else { return None };
        let at = match self.bounds {
            None => (x, y),
            // A page that lies of its window's size is not believed.
            Some([_, _, wide, high])
                if (wide - outer_width).abs() > SAME || (high - outer_height).abs() > SAME =>
            {
                return None;
            }
            Some([left, top, ..]) => (left, top),
        };
        let window = Window { at, outer: (outer_width, outer_height), inner: (width, height), ratio };
        (width > 0.0 && height > 0.0).then_some(window)
    }

    /// Points of the screen for one of the page's.
    fn zoom(&self, window: &Window) -> Option<f64> {
        let zoom = match self.family {
            Family::Chromium | Family::Arc => window.ratio / self.scale,
            Family::Safari => {
                let wide = window.outer.0 / window.inner.0;
                SAFARI_ZOOMS.into_iter().find(|zoom| (zoom - wide).abs() < 0.01)?
            }
        };
        let zoom = if (zoom - 1.0).abs() < 0.02 { 1.0 } else { zoom };
        (0.2..=6.0).contains(&zoom).then_some(zoom)
    }

    /// `None` if something lies beside the page, or the page contradicts its window.
    pub(super) fn guessed(&self) -> Option<PageTransform> {
        let window = self.window()?;
        let zoom = self.zoom(&window)?;
        let beside = window.outer.0 - window.inner.0 * zoom;
        let above = window.outer.1 - window.inner.1 * zoom;
        let plain = beside.abs() <= SAME.max(window.outer.0 * 0.01) && TOOLBARS.contains(&above);
        plain.then(|| {
            PageTransform::new((window.at.0 + beside.max(0.0) / 2.0, window.at.1 + above), zoom, self.scale)
        })
    }

    /// From one event of the real pointer: screenX, screenY, clientX, clientY.
    pub(super) fn measured(&self, [screen_x, screen_y, x, y]: [f64; 4]) -> Option<PageTransform> {
        let window = self.window()?;
        // Beside a panel Safari's zoom is not known; hardly anybody has both.
        let zoom = self.zoom(&window).unwrap_or(1.0);
        let at = (screen_x - x * zoom, screen_y - y * zoom);
        let inside = |at: f64, from: f64, room: f64| at >= from - SAME && at <= from + room + SAME;
        let plausible =
            inside(at.0, window.at.0, window.outer.0) && inside(at.1, window.at.1, window.outer.1);
        plausible.then(|| PageTransform::new(at, zoom, self.scale))
    }

    /// A point of the screen that is within the page, whatever lies around it.
    pub(super) fn within(&self) -> Option<(f64, f64)> {
        let window = self.window()?;
        Some((window.at.0 + window.outer.0 * 0.5, window.at.1 + window.outer.1 * 0.7))
    }
}

#[cfg(test)]
mod tests;
