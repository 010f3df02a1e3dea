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
mod tests {
    use super::*;

    /// A window at 137,91 of 1000x700, its page 992x553, as seen of Chromium 156 on X11.
    const WINDOW: [f64; 10] = [137.0, 91.0, 1000.0, 700.0, 992.0, 553.0, 1.0, 1.0, 0.0, 0.0];
    const DISPLAY: PhysicalRect = PhysicalRect { x: 0, y: 0, width: 1000, height: 1000 };

    #[test]
    fn a_page_is_where_its_pointer_events_say() {
        let events = [[143.0, 500.0, 2.0, 266.0], [1131.0, 510.0, 990.0, 276.0]];
        let place = PageTransform::measured(&WINDOW, &events).unwrap();
        assert_eq!(place, PageTransform { x: 141.0, y: 234.0, zoom: 1.0, scale: 1.0 });
        let expected = NormRect { x: 151.0, y: 254.0, width: 30.0, height: 40.0 };
        assert_eq!(place.rect(10.0, 20.0, 30.0, 40.0, &DISPLAY), expected);
        assert_eq!(place.point(2000.0, 0.0, &DISPLAY), None);
    }

    #[test]
    fn zoom_and_the_displays_scale_are_told_apart() {
        // The page at 150 %, on a display with two pixels a unit: three pixels for one of the page's.
        let window = [100.0, 50.0, 900.0, 700.0, 600.0, 400.0, 3.0, 1.0, 0.0, 0.0];
        let events = [[100.0, 150.0, 0.0, 0.0], [400.0, 150.0, 200.0, 0.0]];
        let place = PageTransform::measured(&window, &events).unwrap();
        assert_eq!(place, PageTransform { x: 100.0, y: 150.0, zoom: 1.5, scale: 2.0 });
        assert_eq!(place.rect(10.0, 0.0, 10.0, 0.0, &DISPLAY).x, 230.0);
        assert_eq!(place.rect(10.0, 0.0, 10.0, 0.0, &DISPLAY).width, 30.0);
    }

    #[test]
    fn events_that_lie_or_say_too_little_are_not_believed() {
        let page = [[2.0, 266.0, 2.0, 266.0], [990.0, 276.0, 990.0, 276.0]];
        assert_eq!(PageTransform::measured(&WINDOW, &page), None);
        let mut corner = WINDOW;
        (corner[0], corner[1]) = (0.0, 0.0);
        assert_eq!(PageTransform::measured(&corner, &page), None);
        assert_eq!(PageTransform::measured(&WINDOW, &page[..1]), None);
        assert_eq!(PageTransform::measured(&[], &page), None);
        let near = [[143.0, 500.0, 2.0, 266.0], [144.0, 500.0, 3.0, 266.0]];
        assert_eq!(PageTransform::measured(&WINDOW, &near), None);
    }
}
