//! Where a page is on the screen. `window.screenX` and the outer sizes leave out frames and toolbars, so it is told by
//! pointer events: what they say of the same point on the screen and in the page. Pure.

use protocol::geometry::{NormPoint, NormRect, PhysicalRect};

/// A page's points to the screen's: `screen = origin + point * zoom`, in the browser's screen units.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct PageTransform {
    x: f64,
    y: f64,
    zoom: f64,
    /// Pixels of the display for one of the browser's screen units.
    scale: f64,
}

/// Ours of `collector.js`'s `geometry`.
#[derive(Clone, Copy)]
struct Window {
    screen: (f64, f64),
    outer: (f64, f64),
    inner: (f64, f64),
    ratio: f64,
}

impl Window {
    fn of(geometry: &[f64]) -> Option<Self> {
        let &[x, y, outer_width, outer_height, width, height, ratio, ..] = geometry else { return None };
        Some(Self { screen: (x, y), outer: (outer_width, outer_height), inner: (width, height), ratio })
    }
}

/// A point's size of the page's visible part, in its own pixels.
pub(crate) fn inner_size(geometry: &[f64]) -> (f64, f64) {
    Window::of(geometry).map_or((0.0, 0.0), |window| window.inner)
}

impl PageTransform {
    /// The page's top left corner in the browser's screen units, its zoom, and the display's pixels for such a unit.
    #[cfg(any(target_os = "macos", test))]
    pub(crate) fn new((x, y): (f64, f64), zoom: f64, scale: f64) -> Self {
        Self { x, y, zoom, scale }
    }

    /// From two pointer events at different points; `None` if they contradict the window they are in, as
    /// synthetic ones of old browsers do.
    pub(crate) fn measured(geometry: &[f64], events: &[[f64; 4]]) -> Option<Self> {
        let window = Window::of(geometry)?;
        let &[[sx1, sy1, cx1, cy1], [sx2, _, cx2, _]] = events else { return None };
        if (cx2 - cx1).abs() < 50.0 {
            return None;
        }
        let zoom = (sx2 - sx1) / (cx2 - cx1);
        let zoom = if (zoom - 1.0).abs() < 0.02 { 1.0 } else { zoom };
        if !(0.2..=6.0).contains(&zoom) || window.ratio <= 0.0 {
            return None;
        }
        let place = Self { x: sx1 - cx1 * zoom, y: sy1 - cy1 * zoom, zoom, scale: window.ratio / zoom };
        // A frame or shadow of a few units may lie around the window.
        let room = |outer: f64, inner: f64| (outer - inner * zoom).max(0.0) + 16.0;
        let inside = |at: f64, screen: f64, outer: f64, inner: f64| {
            at >= screen - 16.0 && at <= screen + room(outer, inner)
        };
        let plausible = inside(place.x, window.screen.0, window.outer.0, window.inner.0)
            && inside(place.y, window.screen.1, window.outer.1, window.inner.1);
        // Events that name the page's own coordinates lie right at the screen's corner, below a toolbar of no height.
        let toolbar = window.outer.1 - window.inner.1 * zoom > 24.0;
        let lies = place.x == 0.0 && place.y == 0.0 && toolbar;
        (plausible && !lies).then_some(place)
    }

    pub(crate) fn rect(&self, x: f64, y: f64, width: f64, height: f64, display: &PhysicalRect) -> NormRect {
        let left = (self.x + x * self.zoom) * self.scale - f64::from(display.x);
        let top = (self.y + y * self.zoom) * self.scale - f64::from(display.y);
        let pixels = self.zoom * self.scale;
        let size = (f64::from(display.width), f64::from(display.height));
        norm((left, top, width * pixels, height * pixels), size)
    }

    pub(crate) fn point(&self, x: f64, y: f64, display: &PhysicalRect) -> Option<NormPoint> {
        let at = self.rect(x, y, 0.0, 0.0, display);
        NormPoint::new(at.x, at.y).ok()
    }
}

/// In 0-1000 of a size, rounded to a tenth.
pub(crate) fn norm((x, y, width, height): (f64, f64, f64, f64), size: (f64, f64)) -> NormRect {
    let part = |value: f64, whole: f64| (value * 10_000.0 / whole.max(1.0)).round() / 10.0;
    NormRect {
        x: part(x, size.0),
        y: part(y, size.1),
        width: part(width, size.0),
        height: part(height, size.1),
    }
}

#[cfg(test)]
mod tests;
