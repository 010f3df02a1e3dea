//! What is drawn into a picture: the red dot, a drag's line, numbered boxes. Clipped to the rows at hand.

use protocol::geometry::{NormPoint, NormRect, PhysicalRect, PixelSize};

use crate::marks::{self, Box};
use crate::{Mapping, Order, Style};

pub(crate) const WHITE: [u8; 3] = [255; 3];
const BLACK: [u8; 3] = [0; 3];
const RED: [u8; 3] = [230, 20, 30];

/// Some rows of a picture, from `top` on.
pub(crate) struct Canvas<'a> {
    pub(crate) pixels: &'a mut [u8],
    /// Of the whole picture.
    pub(crate) size: PixelSize,
    pub(crate) top: usize,
    pub(crate) order: Order,
}

impl Canvas<'_> {
    /// Colours one pixel of the picture, where it is among these rows.
    pub(crate) fn put(&mut self, x: i32, y: i32, [red, green, blue]: [u8; 3]) {
        let (Ok(x), Ok(y)) = (usize::try_from(x), usize::try_from(y)) else { return };
        let width = self.size.width as usize;
        let Some(row) = y.checked_sub(self.top) else { return };
        if x >= width {
            return;
        }
        let start = (row * width + x) * 4;
        if let Some(pixel) = self.pixels.get_mut(start..start + 3) {
            pixel.copy_from_slice(&match self.order {
                Order::Bgrx => [blue, green, red],
                Order::Rgbx => [red, green, blue],
            });
        }
    }

    /// The rows at hand, as the picture counts them.
    fn rows(&self) -> std::ops::Range<i32> {
        let rows = self.pixels.len() / 4 / self.size.width.max(1) as usize;
        self.top as i32..(self.top + rows) as i32
    }

    /// All pixels from `left,top` up to and without `right,bottom`.
    pub(crate) fn fill(&mut self, [left, top, right, bottom]: [i32; 4], colour: [u8; 3]) {
        let rows = self.rows();
        for y in top.max(rows.start)..bottom.min(rows.end) {
            for x in left.max(0)..right.min(self.size.width as i32) {
                self.put(x, y, colour);
            }
        }
    }

    fn disc(&mut self, (x, y): (f64, f64), radius: f64, colour: [u8; 3]) {
        let (from, to) = ((y - radius).floor() as i32, (y + radius).ceil() as i32);
        let rows = self.rows();
        for row in from.max(rows.start)..(to + 1).min(rows.end) {
            let reach = (radius.powi(2) - (f64::from(row) - y).powi(2)).max(-1.0);
            if reach < 0.0 {
                continue;
            }
            let (from, to) = ((x - reach.sqrt()).ceil() as i32, (x + reach.sqrt()).floor() as i32);
            for column in from.max(0)..=to.min(self.size.width as i32 - 1) {
                self.put(column, row, colour);
            }
        }
    }

    /// A line with round ends, of discs a pixel apart.
    fn line(&mut self, points: &[(f64, f64)], radius: f64, colour: [u8; 3]) {
        for pair in points.windows(2) {
            let [(x, y), (to_x, to_y)] = [pair[0], pair[1]];
            let steps = (to_x - x).abs().max((to_y - y).abs()).ceil().max(1.0);
            for step in 0..=steps as u32 {
                let part = f64::from(step) / steps;
                self.disc((x + (to_x - x) * part, y + (to_y - y) * part), radius, colour);
            }
        }
    }
}

/// All that is drawn into one picture, in its pixels.
pub(crate) struct Overlay {
    covers: Vec<[i32; 4]>,
    dot: Option<(f64, f64)>,
    trail: Vec<(f64, f64)>,
    boxes: Vec<Box>,
    /// Of the dot, without its ring.
    radius: f64,
}

impl Overlay {
    /// `display` is the one that the style's points are on.
    pub(crate) fn of(style: &Style<'_>, display: &PhysicalRect, mapping: &Mapping) -> Self {
        let place = |point: NormPoint| {
            let at = point.to_physical(display);
            let along = |at: i32, origin: i32, shown: u32, length: u32| {
                (f64::from(at) + 0.5 - f64::from(origin)) * f64::from(length) / f64::from(shown.max(1)) - 0.5
            };
            let Mapping { shows, size } = mapping;
            (along(at.x, shows.x, shows.width, size.width), along(at.y, shows.y, shows.height, size.height))
        };
        let mut trail: Vec<_> = style.trail.iter().copied().map(place).collect();
        let dot = style.dot.map(place);
        if !trail.is_empty() {
            trail.extend(dot);
        }
        let radius = (f64::from(mapping.size.width) * 0.006).clamp(4.0, 16.0);
        // A pixel more to each side: what is scaled down has its edge in two of them.
        let covered = |bounds: &NormRect| {
            let [left, top, right, bottom] = marks::edges(bounds, display, mapping);
            [left - 1, top - 1, right + 1, bottom + 1]
        };
        let covers = style.covers.iter().map(covered).collect();
        Self { covers, dot, trail, boxes: marks::lay_out(style.marks, display, mapping), radius }
    }

    pub(crate) fn draw(&self, canvas: &mut Canvas<'_>) {
        for cover in &self.covers {
            canvas.fill(*cover, BLACK);
        }
        for one in &self.boxes {
            one.outline(canvas);
        }
        for one in &self.boxes {
            one.label(canvas);
        }
        let thin = (self.radius * 0.3).max(1.5);
        self.line(canvas, thin + 1.5, WHITE);
        self.line(canvas, thin, RED);
        // A disc in a ring: seen on any background, about one hundredth of the width across.
        if let Some(dot) = self.dot {
            canvas.disc(dot, self.radius + (self.radius * 0.4).max(2.0), WHITE);
            canvas.disc(dot, self.radius, RED);
        }
    }

    fn line(&self, canvas: &mut Canvas<'_>, radius: f64, colour: [u8; 3]) {
        let near = f64::from(canvas.size.width.max(canvas.size.height)) * 2.0;
        // In a picture of a small region, the rest of a drag may be very far away.
        let is_near = |(x, y): &(f64, f64)| x.abs() < near && y.abs() < near;
        for pair in self.trail.windows(2).filter(|pair| pair.iter().all(is_near)) {
            canvas.line(pair, radius, colour);
        }
    }
}
