//! Set of marks: boxes around elements with labels that can be read, and that lie on one another as little as can be.

use protocol::geometry::{NormRect, PhysicalRect};

use crate::draw::{Canvas, WHITE};
use crate::font;
use crate::{Mapping, Mark};

/// Dark enough for white letters, and told apart where boxes meet.
const COLOURS: [[u8; 3]; 6] =
    [[176, 0, 32], [0, 82, 164], [0, 104, 56], [122, 31, 162], [150, 74, 0], [0, 96, 112]];
/// Around a label's letters.
const PADDING: i32 = 2;

/// A mark in the picture's pixels; edges are left, top, right, bottom, the last two without.
pub(crate) struct Box {
    edges: [i32; 4],
    label_at: [i32; 4],
    label: String,
    colour: [u8; 3],
    /// Pixels for one of the font's.
    scale: i32,
}

impl Box {
    pub(crate) fn outline(&self, canvas: &mut Canvas<'_>) {
        let [left, top, right, bottom] = self.edges;
        let thick = self.scale.min((right - left) / 2).min((bottom - top) / 2).max(1);
        for line in [
            [left, top, right, top + thick],
            [left, bottom - thick, right, bottom],
            [left, top, left + thick, bottom],
            [right - thick, top, right, bottom],
        ] {
            canvas.fill(line, self.colour);
        }
    }

    pub(crate) fn label(&self, canvas: &mut Canvas<'_>) {
        if self.label.is_empty() {
            return;
        }
        canvas.fill(self.label_at, self.colour);
        let (mut x, y) = (self.label_at[0] + PADDING, self.label_at[1] + PADDING);
        for letter in self.label.chars() {
            for (row, column) in font::dots(letter) {
                let (left, top) = (x + column * self.scale, y + row * self.scale);
                canvas.fill([left, top, left + self.scale, top + self.scale], WHITE);
            }
            x += font::ADVANCE * self.scale;
        }
    }
}

/// The boxes that can be seen in the picture, in the order of the marks.
pub(crate) fn lay_out(marks: &[Mark], display: &PhysicalRect, mapping: &Mapping) -> Vec<Box> {
    let (width, height) = (mapping.size.width as i32, mapping.size.height as i32);
    let scale = if mapping.size.width >= 480 { 2 } else { 1 };
    let mut taken: Vec<[i32; 4]> = Vec::new();
    let mut boxes = Vec::new();
    for mark in marks {
        let edges = edges(&mark.bounds, display, mapping);
        let [left, top, right, bottom] = edges;
        let is_seen = right > 0 && bottom > 0 && left < width && top < height && right > left && bottom > top;
        if !is_seen {
            continue;
        }
        let letters = mark.label.chars().count() as i32;
        let size =
            (letters * font::ADVANCE * scale - scale + 2 * PADDING, font::HEIGHT * scale + 2 * PADDING);
        let label_at = label_place(edges, size, (width, height), &taken);
        taken.push(label_at);
        let colour = COLOURS[boxes.len() % COLOURS.len()];
        boxes.push(Box { edges, label_at, label: mark.label.clone(), colour, scale });
    }
    boxes
}

/// Left, top, right and bottom of a place, in the picture's pixels; it may lie outside.
pub(crate) fn edges(bounds: &NormRect, display: &PhysicalRect, mapping: &Mapping) -> [i32; 4] {
    let Mapping { shows, size } = mapping;
    let along = |norm: f64, on: (i32, u32), shown: (i32, u32), length: u32| {
        let pixel = norm / 1000.0 * f64::from(on.1) + f64::from(on.0) - f64::from(shown.0);
        (pixel * f64::from(length) / f64::from(shown.1.max(1))).round() as i32
    };
    let x = |norm| along(norm, (display.x, display.width), (shows.x, shows.width), size.width);
    let y = |norm| along(norm, (display.y, display.height), (shows.y, shows.height), size.height);
    [x(bounds.x), y(bounds.y), x(bounds.x + bounds.width), y(bounds.y + bounds.height)]
}

/// Above the box, in it, below it or beside it: the first place within the picture that no other label has; where
/// there is none, above it all the same.
fn label_place(
    [left, top, right, bottom]: [i32; 4],
    (wide, high): (i32, i32),
    (width, height): (i32, i32),
    taken: &[[i32; 4]],
) -> [i32; 4] {
    let within = |x: i32, y: i32| {
        let (x, y) = (x.min(width - wide).max(0), y.min(height - high).max(0));
        [x, y, x + wide, y + high]
    };
    let places = [
        within(left, top - high),
        within(right - wide, top - high),
        within(left, bottom),
        within(right - wide, bottom),
        within(left - wide, top),
        within(right, top),
        within(left, top),
        within(right - wide, bottom - high),
    ];
    let is_free = |place: &&[i32; 4]| {
        taken.iter().all(|other| {
            place[0] >= other[2] || other[0] >= place[2] || place[1] >= other[3] || other[1] >= place[3]
        })
    };
    *places.iter().find(is_free).unwrap_or(&places[0])
}
