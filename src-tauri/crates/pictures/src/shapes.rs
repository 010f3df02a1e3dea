//! Shapes without text in a frame: empty fields, small boxes as of check marks, icons, buttons with a picture. By pixels
//! alone, as UIED finds them (Chen et al. 2020): what hangs together in one colour, which of it is a box, and what stands
//! by itself on its ground.
//!
//! What something looks like is a guess: a picture does not tell what it does.

use protocol::geometry::PhysicalRect;

use self::surfaces::{Surface, Surfaces, Within};
use crate::Frame;

mod surfaces;

/// Shapes in one frame; those further down are left out.
const MOST: usize = 300;
/// The least side of a box or figure, and the longest of a figure.
const LEAST: u32 = 8;
const LONGEST: u32 = 96;
/// So many times longer than high, and the other way round, is no icon: text that was not read, or a line.
const LONG: u32 = 4;
/// Pixels between the outer and the inner edge of one border.
const BORDER: u32 = 5;
/// The longest side of a small box, and of a circle.
const SMALL: u32 = 32;
/// Of a small box with something in it: of what is larger, that is a picture.
const TICKED: u32 = 24;
/// What is higher, in pixels and in heights of the text in it, holds other things; a label does not name it.
const FIELD: u32 = 64;
const LINES: u32 = 4;
/// What is thinner is a bar, as of a scale.
const THIN: u32 = 14;
/// In pixels, what a reader of text takes too little.
const AROUND: u32 = 2;
/// Cells of a look, along each side.
const CELLS: u32 = 8;
/// Steps of colour by which a shape may differ and is the same: on average, in a cell, and in all together, as under
/// the pointer.
const ON_AVERAGE: u32 = 10;
const IN_A_CELL: u32 = 48;
const TOGETHER: u32 = 24;

/// What a shape looks like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Around one text of those that were named.
    Around(usize),
    /// Wide and empty.
    Field,
    /// Empty, too high for a line.
    Area,
    /// As a check box is.
    Small,
    /// As a radio button is.
    Circle,
    Icon,
    /// A box with an icon in it.
    Button,
    Bar,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Shape {
    pub kind: Kind,
    /// In the frame's pixels.
    pub at: PhysicalRect,
    pub look: Appearance,
}

/// The colours of a shape, coarsely: whether it is still what it was.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Appearance(Vec<[u8; 3]>);

/// What is found in a frame.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Shapes {
    /// From top to bottom.
    pub all: Vec<Shape>,
    /// Nothing was left out.
    pub whole: bool,
}

/// A part of a frame, in its pixels; `right` and `bottom` are outside of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Edges {
    left: u32,
    top: u32,
    right: u32,
    bottom: u32,
}

impl Edges {
    fn of(rect: &PhysicalRect, frame: &Frame) -> Self {
        let place = |at: i64, length: u32| at.clamp(0, length.into()) as u32;
        let (x, y) = (i64::from(rect.x), i64::from(rect.y));
        Self {
            left: place(x, frame.width),
            top: place(y, frame.height),
            right: place(x + i64::from(rect.width), frame.width),
            bottom: place(y + i64::from(rect.height), frame.height),
        }
    }

    fn rect(&self) -> PhysicalRect {
        PhysicalRect { x: self.left as i32, y: self.top as i32, width: self.width(), height: self.height() }
    }

    fn width(&self) -> u32 {
        self.right.saturating_sub(self.left)
    }

    fn height(&self) -> u32 {
        self.bottom.saturating_sub(self.top)
    }

    fn area(&self) -> u64 {
        u64::from(self.width()) * u64::from(self.height())
    }

    fn around(&self, other: &Self) -> Self {
        Self {
            left: self.left.min(other.left),
            top: self.top.min(other.top),
            right: self.right.max(other.right),
            bottom: self.bottom.max(other.bottom),
        }
    }

    fn grown(&self, by: u32) -> Self {
        Self {
            left: self.left.saturating_sub(by),
            top: self.top.saturating_sub(by),
            right: self.right + by,
            bottom: self.bottom + by,
        }
    }

    fn holds(&self, other: &Self) -> bool {
        self.left <= other.left
            && self.top <= other.top
            && other.right <= self.right
            && other.bottom <= self.bottom
    }

    fn holds_middle_of(&self, other: &Self) -> bool {
        let (x, y) = ((other.left + other.right) / 2, (other.top + other.bottom) / 2);
        (self.left..self.right).contains(&x) && (self.top..self.bottom).contains(&y)
    }

    /// As a button is around its label: a click in the middle of both is the same. What a list or a bar of menus holds is
    /// at its beginning.
    fn is_around(&self, text: &Self) -> bool {
        let apart = |one: [u32; 2], other: [u32; 2]| (one[0] + one[1]).abs_diff(other[0] + other[1]) / 2;
        let across = apart([self.left, self.right], [text.left, text.right]);
        let along = apart([self.top, self.bottom], [text.top, text.bottom]);
        self.height() <= LINES * text.height() && across * 8 <= self.width() && along * 4 <= self.height()
    }

    /// They are two edges of one border.
    fn is_same(&self, other: &Self) -> bool {
        self.grown(BORDER).holds(other) && other.grown(BORDER).holds(self)
    }
}

/// The shapes in `part` of a frame, and the boxes around the texts that were read there.
pub fn shapes(frame: &Frame, part: &PhysicalRect, texts: &[PhysicalRect]) -> Shapes {
    let part = Edges::of(part, frame);
    let texts: Vec<Edges> = texts.iter().map(|text| Edges::of(text, frame)).collect();
    let surfaces = Surfaces::of(frame, &part);
    let boxes = boxes(&surfaces.all, &part, &texts);
    let read: Vec<Edges> = texts.iter().map(|text| text.grown(AROUND)).collect();
    let mut all = figures(&surfaces.figures(&read, Within::TheRest));
    let in_texts = figures(&surfaces.figures(&read, Within::Texts));
    let is_mark =
        |one: &Figure| one.kind != Kind::Icon && read.iter().any(|text| stands_before(&one.at, text));
    all.extend(in_texts.into_iter().filter(is_mark));
    let (boxes, figures) = apart(&boxes, all);
    let mut found = judged(&boxes, &figures, &texts);
    found.sort_by_key(|(_, at)| (at.top, at.left));
    let whole = surfaces.whole && found.len() <= MOST;
    found.truncate(MOST);
    let shape = |(kind, at): (Kind, Edges)| Shape { kind, at: at.rect(), look: Appearance::of(frame, &at) };
    Shapes { all: found.into_iter().map(shape).collect(), whole }
}

/// The inside of a box.
#[derive(Clone, Copy)]
struct Inside {
    at: Edges,
    /// There is nothing in it.
    is_bare: bool,
}

/// What stands by itself on its ground.
#[derive(Clone, Copy)]
struct Figure {
    at: Edges,
    kind: Kind,
}

/// The insides of boxes, each once, the smaller ones first.
fn boxes(surfaces: &[Surface], part: &Edges, texts: &[Edges]) -> Vec<Inside> {
    let is_box = |surface: &&Surface| {
        let at = &surface.edges;
        let [left, top, right, bottom] = surface.straightness();
        // Round corners take from all of them, round ends from the sides.
        let is_straight = top.min(bottom) >= 60 && left.min(right) >= 35;
        let at_the_rim =
            [at.left == part.left, at.top == part.top, at.right == part.right, at.bottom == part.bottom];
        // A pane, and no box in one.
        let is_pane = at_the_rim.into_iter().filter(|is| *is).count() >= 3;
        let is_sharp = left.min(top).min(right).min(bottom) >= 90;
        let is_square = at.width().abs_diff(at.height()) <= 2;
        // The inside of a letter.
        let is_letter = texts
            .iter()
            .any(|text| text.grown(AROUND).holds(at) && !(is_sharp && is_square && stands_before(at, text)));
        at.width().min(at.height()) >= LEAST && (is_straight || is_bare(surface)) && !is_pane && !is_letter
    };
    let inside = |surface: &Surface| Inside { at: surface.edges, is_bare: is_bare(surface) };
    let mut all: Vec<Inside> = surfaces.iter().filter(is_box).map(inside).collect();
    all.sort_by_key(|inside| inside.at.area());
    let mut kept: Vec<Inside> = Vec::new();
    for one in all {
        if kept.len() < 4 * MOST && !kept.iter().any(|other| other.at.is_same(&one.at)) {
            kept.push(one);
        }
    }
    kept
}

/// A reader may take a check box for the first or last letter of its label.
fn stands_before(at: &Edges, text: &Edges) -> bool {
    let near = text.height() / 2;
    text.holds_middle_of(at) && (at.left <= text.left + near || at.right + near >= text.right)
}

fn is_bare(surface: &Surface) -> bool {
    surface.area * 10 >= surface.edges.area() * 9
}

/// What may be an icon by its size.
fn figures(all: &[Surface]) -> Vec<Figure> {
    let of_a_size = all.iter().filter(|figure| {
        let (width, height) = (figure.edges.width(), figure.edges.height());
        let (short, long) = (width.min(height), width.max(height));
        short >= LEAST && long <= LONGEST && long <= short * LONG
    });
    let kind = |figure: &Surface| {
        let (width, height) = (figure.edges.width(), figure.edges.height());
        match width.max(height) {
            _ if width.abs_diff(height) > 2 => Kind::Icon,
            // With its inside.
            side if side <= TICKED && is_bare(figure) => Kind::Small,
            side if side <= SMALL && figure.straightness().iter().all(|edge| (20..=60).contains(edge)) => {
                Kind::Circle
            }
            _ => Kind::Icon,
        }
    };
    of_a_size.take(4 * MOST).map(|one| Figure { at: one.edges, kind: kind(one) }).collect()
}

/// What is a box and a figure both counts once: boxes in an icon are parts of it, small ones side by side that share
/// their borders are not.
fn apart(boxes: &[Inside], figures: Vec<Figure>) -> (Vec<Inside>, Vec<Figure>) {
    let is_in = |figure: &Edges, inner: &Edges| figure.holds(inner) && !figure.is_same(inner);
    let is_figure = |figure: &Figure| {
        let inner = boxes.iter().filter(|inner| is_in(&figure.at, &inner.at));
        let filled: u64 = inner.map(|inner| inner.at.area()).sum();
        !boxes.iter().any(|one| one.at.is_same(&figure.at)) && filled * 10 < figure.at.area() * 6
    };
    let figures: Vec<Figure> = figures.into_iter().filter(is_figure).collect();
    let is_part = |one: &Inside| figures.iter().any(|figure| is_in(&figure.at, &one.at));
    let boxes = boxes.iter().filter(|one| !is_part(one)).copied().collect();
    (boxes, figures)
}

fn judged(boxes: &[Inside], figures: &[Figure], texts: &[Edges]) -> Vec<(Kind, Edges)> {
    let mut found = Vec::new();
    let mut is_taken = vec![false; figures.len()];
    for (number, &Inside { at, is_bare }) in boxes.iter().enumerate() {
        let (width, height) = (at.width(), at.height());
        // The smaller ones come first.
        let holds_boxes = boxes[..number].iter().any(|inner| at.holds_middle_of(&inner.at));
        let mut of_texts = (0..texts.len()).filter(|&text| at.holds_middle_of(&texts[text]));
        let mut of_figures = (0..figures.len()).filter(|&figure| at.holds_middle_of(&figures[figure].at));
        let is_flat = height <= FIELD && width >= 2 * height;
        let most = if is_bare { SMALL } else { TICKED };
        let kind = match (of_texts.next(), of_texts.next(), of_figures.next(), of_figures.next()) {
            _ if holds_boxes => continue,
            (Some(text), None, _, _) if at.is_around(&texts[text]) => Kind::Around(text),
            (Some(_), ..) | (None, _, Some(_), Some(_)) => continue,
            (None, _, Some(figure), None) => {
                let icon = figures[figure].at;
                if height <= 3 * icon.height() && width <= LONG * icon.width() {
                    is_taken[figure] = true;
                    Kind::Button
                } else if is_flat {
                    Kind::Field
                } else {
                    continue;
                }
            }
            (None, _, None, _) => match (width.min(height), width.max(height)) {
                (short, long) if short < THIN && long >= LONG * short => Kind::Bar,
                (short, long) if long <= most && long * 2 <= short * 3 => Kind::Small,
                _ if is_bare && is_flat => Kind::Field,
                _ if is_bare => Kind::Area,
                _ if height <= FIELD => Kind::Button,
                // A pane of what is no figure: text that was not read, a drawing.
                _ => continue,
            },
        };
        found.push((kind, at));
    }
    let alone = figures.iter().zip(is_taken).filter(|(_, is_taken)| !is_taken);
    found.extend(alone.map(|(figure, _)| (figure.kind, figure.at)));
    found
}

impl Appearance {
    fn of(frame: &Frame, at: &Edges) -> Self {
        let pixels = frame.pixels.as_chunks::<4>().0;
        let cell = |from: u32, length: u32, number: u32| {
            let start = from + length * number / CELLS;
            start..(from + length * (number + 1) / CELLS).max(start + 1)
        };
        let mut cells = Vec::with_capacity((CELLS * CELLS) as usize);
        for (row, column) in (0..CELLS).flat_map(|row| (0..CELLS).map(move |column| (row, column))) {
            let (mut sum, mut count) = ([0_u32; 3], 0);
            for y in cell(at.top, at.height(), row) {
                for x in cell(at.left, at.width(), column) {
                    let Some(pixel) = pixels.get((y * frame.width + x) as usize) else { continue };
                    sum.iter_mut().zip(pixel).for_each(|(sum, colour)| *sum += u32::from(*colour));
                    count += 1;
                }
            }
            cells.push(sum.map(|sum| (sum / count.max(1)) as u8));
        }
        Self(cells)
    }

    /// The same, but for a caret or the shine of a pointer.
    pub fn is_like(&self, other: &Self) -> bool {
        let pairs = || self.0.as_flattened().iter().zip(other.0.as_flattened());
        let count = (self.0.len() * 3).max(1) as i32;
        let shift = pairs().map(|(one, other)| i32::from(*one) - i32::from(*other)).sum::<i32>() / count;
        let apart = |(one, other): (&u8, &u8)| (i32::from(*one) - i32::from(*other) - shift).unsigned_abs();
        let on_average = pairs().map(apart).sum::<u32>() / count.unsigned_abs();
        shift.unsigned_abs() <= TOGETHER
            && on_average <= ON_AVERAGE
            && pairs().map(apart).max().unwrap_or(0) <= IN_A_CELL
    }
}

#[cfg(test)]
mod tests;
