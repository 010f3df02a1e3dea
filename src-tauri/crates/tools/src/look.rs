//! What of the screen is new to whoever has an earlier picture of it. Pure.

use pictures::Thumbnail;
use protocol::geometry::{NormPoint, NormRect, PixelSize};

/// Parts of a whole that say that much changed: then all of it is shown.
pub(crate) const MUCH_PERCENT: usize = 40;
/// Around what changed, and the least that is cut, in 0-1000: words beside a tick, a line around a letter.
const MARGIN: f64 = 12.0;
const LEAST: (f64, f64) = (160.0, 110.0);
/// From the point of an act to what is shown of its surroundings.
const BESIDE_DOT: f64 = 20.0;
/// Of a cut: it was encoded before.
const QUALITY: u8 = 90;

/// What a picture of a whole display looked like, to compare later ones with.
#[derive(Clone, Debug, PartialEq)]
pub struct Look {
    pub display: u32,
    pub(crate) thumbnail: Thumbnail,
    /// Of the places that are black in its picture, though not in the thumbnail.
    covered: u64,
}

/// A part of a picture of a whole display.
#[derive(Clone, Debug, PartialEq)]
pub struct Part {
    pub jpeg: Vec<u8>,
    pub size: PixelSize,
    /// In 0-1000 of the display.
    pub shows: NormRect,
}

impl Part {
    /// Of the whole display, from 0 to 1.
    pub fn share(&self) -> f64 {
        self.shows.width * self.shows.height / 1_000_000.0
    }
}

impl Look {
    pub fn new(display: u32, thumbnail: Thumbnail, covered: u64) -> Self {
        Self { display, thumbnail, covered }
    }

    /// What is new in `jpeg`, which is of this look, to whoever has a picture that looked like `before`; `None` if the whole
    /// is to be shown: much changed, or what changed cannot be told. Unpacks the picture: some milliseconds.
    pub fn part_since(&self, before: &Self, jpeg: &[u8], dot: Option<NormPoint>) -> Option<Part> {
        if before.display != self.display || before.covered != self.covered {
            return None;
        }
        // Pixels may differ that nobody sees in a small grey copy: colours alone.
        let changed = before.thumbnail.difference(&self.thumbnail)?.bounds;
        let rect = around(changed, dot);
        let cut = (!is_much(&rect)).then(|| pictures::cut(jpeg, &rect, QUALITY))?.ok()?;
        Some(Part { jpeg: cut.jpeg, size: cut.size, shows: cut.shows })
    }
}

fn is_much(rect: &NormRect) -> bool {
    rect.width * rect.height > MUCH_PERCENT as f64 * 10_000.0
}

/// What is shown for a change: some of what is beside it, with the act's own point where that is near enough.
fn around(changed: NormRect, dot: Option<NormPoint>) -> NormRect {
    let alone = grown(changed, MARGIN);
    let with_dot = dot.map(|dot| {
        let place = NormRect { x: dot.x(), y: dot.y(), width: 0.0, height: 0.0 };
        union(alone, grown(place, BESIDE_DOT))
    });
    at_least(with_dot.filter(|rect| !is_much(rect)).unwrap_or(alone))
}

fn grown(rect: NormRect, by: f64) -> NormRect {
    NormRect { x: rect.x - by, y: rect.y - by, width: rect.width + 2.0 * by, height: rect.height + 2.0 * by }
}

fn union(one: NormRect, other: NormRect) -> NormRect {
    let (x, y) = (one.x.min(other.x), one.y.min(other.y));
    let right = (one.x + one.width).max(other.x + other.width);
    let bottom = (one.y + one.height).max(other.y + other.height);
    NormRect { x, y, width: right - x, height: bottom - y }
}

/// Within the display, and not too small to know what it belongs to.
fn at_least(rect: NormRect) -> NormRect {
    let along = |from: f64, length: f64, least: f64| {
        let (from, to) = (from.max(0.0), (from + length).min(1000.0));
        let length = (to - from).max(least);
        (((from + to - length) / 2.0).clamp(0.0, 1000.0 - length), length)
    };
    let (x, width) = along(rect.x, rect.width, LEAST.0);
    let (y, height) = along(rect.y, rect.height, LEAST.1);
    NormRect { x, y, width, height }
}

#[cfg(test)]
mod tests {
    use pictures::{Frame, Order, Style, Viewport, encode, thumbnail};
    use protocol::geometry::PhysicalRect;

    use super::*;

    const SIZE: (u32, u32) = (800, 400);

    /// A grey display with white boxes, each x, y, width, height in pixels.
    fn screen(display: u32, boxes: &[[u32; 4]]) -> (Look, Vec<u8>) {
        covered_screen(display, boxes, 0)
    }

    fn covered_screen(display: u32, boxes: &[[u32; 4]], covered: u64) -> (Look, Vec<u8>) {
        let (width, height) = SIZE;
        let is_white = |at: u32| {
            let (column, row) = (at % width, at / width);
            boxes.iter().any(|[x, y, w, h]| (*x..x + w).contains(&column) && (*y..y + h).contains(&row))
        };
        let pixels: Vec<u8> =
            (0..width * height).flat_map(|at| if is_white(at) { [250; 4] } else { [90; 4] }).collect();
        let mut frame = Frame { width, height, order: Order::Rgbx, pixels };
        let look = Look::new(display, thumbnail(&frame).unwrap(), covered);
        let whole = Viewport::whole(PhysicalRect { x: 0, y: 0, width, height });
        let max = PixelSize { width, height }.into();
        let style = Style { dot: None, trail: &[], marks: &[], covers: &[], max, quality: 90 };
        (look, encode(&mut frame, whole, &style).unwrap().jpeg)
    }

    fn part(before: &[[u32; 4]], after: &[[u32; 4]], dot: Option<(f64, f64)>) -> Option<Part> {
        let dot = dot.map(|(x, y)| NormPoint::new(x, y).unwrap());
        let (now, jpeg) = screen(0, after);
        now.part_since(&screen(0, before).0, &jpeg, dot)
    }

    #[test]
    fn what_changed_is_shown_with_something_around_it_and_the_rest_is_not() {
        let part = part(&[], &[[400, 200, 40, 20]], None).unwrap();
        let NormRect { x, y, width, height } = part.shows;
        assert!(x < 500.0 && x + width > 550.0 && y < 500.0 && y + height > 550.0, "{:?}", part.shows);
        assert!(part.share() < 0.05, "{}", part.share());
        // At the scale of the whole.
        assert_eq!(
            (part.size.width, part.size.height),
            ((width * 0.8).round() as u32, (height * 0.4).round() as u32)
        );
    }

    #[test]
    fn the_point_of_the_act_is_in_it_where_it_is_near() {
        let near = part(&[], &[[400, 200, 40, 20]], Some((450.0, 500.0))).unwrap().shows;
        assert!(near.x <= 430.0, "{near:?}");
        let far = part(&[], &[[700, 20, 40, 20]], Some((20.0, 950.0))).unwrap().shows;
        assert!(far.x > 500.0, "{far:?}");
    }

    #[test]
    fn where_much_changed_or_nothing_can_be_seen_to_the_whole_is_shown() {
        assert_eq!(part(&[], &[[0, 0, 700, 300]], None), None);
        assert_eq!(part(&[], &[[0, 0, 10, 10], [780, 380, 10, 10]], None), None, "far apart");
        assert_eq!(part(&[], &[], None), None, "the same as far as is seen");
        let (now, jpeg) = screen(1, &[[400, 200, 40, 20]]);
        assert_eq!(now.part_since(&screen(0, &[]).0, &jpeg, None), None, "another display");
        assert_eq!(now.part_since(&screen(1, &[]).0, b"broken", None), None);
        assert_eq!(now.part_since(&covered_screen(1, &[], 7).0, &jpeg, None), None, "the rest was black");
    }

    #[test]
    fn a_change_at_an_edge_stays_within_the_display() {
        for at in [[0, 0, 4, 4], [796, 396, 4, 4], [0, 396, 4, 4]] {
            let NormRect { x, y, width, height } = part(&[], &[at], None).unwrap().shows;
            assert!(x >= 0.0 && y >= 0.0 && x + width <= 1000.01 && y + height <= 1000.01, "{at:?}");
            assert!(width >= LEAST.0 - 3.0 && height >= LEAST.1 - 3.0, "{at:?}: {width} {height}");
        }
    }
}
