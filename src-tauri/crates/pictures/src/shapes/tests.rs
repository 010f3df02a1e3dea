//! Tests of shapes: drawn windows, and what is found of what was drawn.

use std::time::Instant;

use super::*;
use crate::{Order, font};

/// A drawn window, and what was drawn in it.
struct Drawing {
    frame: Frame,
    texts: Vec<PhysicalRect>,
}

/// A kind, and the middle of what is of it.
type Found = (Kind, [u32; 2]);

const PANEL: [u8; 3] = [217, 217, 217];
const WHITE: [u8; 3] = [255; 3];
const BLACK: [u8; 3] = [20; 3];
const GREY: [u8; 3] = [150; 3];

impl Drawing {
    fn new(width: u32, height: u32, ground: [u8; 3]) -> Self {
        let pixels = [ground[0], ground[1], ground[2], 0].repeat((width * height) as usize);
        Self { frame: Frame { width, height, order: Order::Bgrx, pixels }, texts: Vec::new() }
    }

    fn fill(&mut self, [x, y, width, height]: [u32; 4], colour: [u8; 3]) {
        for (row, column) in (y..y + height).flat_map(|row| (x..x + width).map(move |column| (row, column))) {
            let at = ((row * self.frame.width + column) * 4) as usize;
            self.frame.pixels[at..at + 3].copy_from_slice(&colour);
        }
    }

    /// With a border of one pixel.
    fn bordered(&mut self, at: [u32; 4], border: [u8; 3], inside: [u8; 3]) {
        let [x, y, width, height] = at;
        self.fill(at, border);
        self.fill([x + 1, y + 1, width - 2, height - 2], inside);
    }

    /// Raised or sunken, as Motif, Tk and Windows 95 draw.
    fn bevelled(&mut self, [x, y, width, height]: [u32; 4], light: [u8; 3], dark: [u8; 3], inside: [u8; 3]) {
        self.fill([x, y, width, height], light);
        self.fill([x + 2, y + 2, width - 2, height - 2], dark);
        self.fill([x + 2, y + 2, width - 4, height - 4], inside);
    }

    /// As a reader of text would find it; one that is not read is drawn all the same.
    fn text(&mut self, x: u32, y: u32, text: &str, is_read: bool) {
        let mut at = x;
        for letter in text.chars() {
            let letter = if letter == ' ' { 'i' } else { letter };
            for (row, column) in font::dots(letter) {
                self.fill([at + column as u32 * 2, y + row as u32 * 2, 2, 2], BLACK);
            }
            at += font::ADVANCE as u32 * 2;
        }
        if is_read {
            let height = font::HEIGHT as u32 * 2;
            self.texts.push(PhysicalRect { x: x as i32, y: y as i32, width: at - x, height });
        }
    }

    fn disc(&mut self, [x, y, side]: [u32; 3], colour: [u8; 3]) {
        let middle = f64::from(side - 1) / 2.0;
        let is_in = |dx: u32, dy: u32| {
            (f64::from(dx) - middle).hypot(f64::from(dy) - middle) <= f64::from(side) / 2.0
        };
        for (dy, dx) in (0..side).flat_map(|dy| (0..side).map(move |dx| (dy, dx))) {
            if is_in(dx, dy) {
                self.fill([x + dx, y + dy, 1, 1], colour);
            }
        }
    }

    /// Three lines, as of a menu.
    fn lines(&mut self, x: u32, y: u32) {
        for line in 0..3 {
            self.fill([x, y + line * 5, 16, 2], BLACK);
        }
    }

    /// A folder of two colours.
    fn folder(&mut self, x: u32, y: u32) {
        self.fill([x, y, 9, 4], [60, 90, 170]);
        self.fill([x, y + 3, 20, 13], [60, 90, 170]);
        self.fill([x + 2, y + 7, 16, 7], [120, 160, 230]);
    }

    fn all(&self) -> Shapes {
        let Frame { width, height, .. } = self.frame;
        shapes(&self.frame, &PhysicalRect { x: 0, y: 0, width, height }, &self.texts)
    }

    /// What is found, each by its kind and the middle of it.
    fn found(&self) -> Vec<Found> {
        let middle = |at: &PhysicalRect| [at.x as u32 + at.width / 2, at.y as u32 + at.height / 2];
        self.all().all.iter().map(|shape| (shape.kind, middle(&shape.at))).collect()
    }
}

/// Each of these, no more, in this order; a middle may be two pixels off.
fn check(found: &[Found], expected: &[Found]) {
    let is_same = |(one, other): (&Found, &Found)| {
        one.0 == other.0 && one.1.iter().zip(other.1).all(|(one, other)| one.abs_diff(other) <= 2)
    };
    let same = found.iter().zip(expected).all(is_same);
    assert!(same && found.len() == expected.len(), "\nfound    {found:?}\nexpected {expected:?}");
}

#[test]
fn a_forms_fields_check_boxes_icons_and_buttons_are_found_and_its_labels_are_not() {
    let mut form = Drawing::new(640, 400, PANEL);
    form.text(20, 20, "N4ME", true);
    form.bordered([120, 16, 200, 24], GREY, WHITE);
    form.text(20, 60, "STREET", true);
    form.bevelled([120, 56, 200, 24], BLACK, WHITE, WHITE);
    form.bordered([20, 100, 14, 14], BLACK, WHITE);
    form.text(42, 100, "2 DAY", true);
    // Tk's has its border at two sides only, and is part of its label for a reader of text.
    form.fill([199, 99, 11, 11], GREY);
    form.fill([200, 100, 10, 10], WHITE);
    form.fill([209, 99, 1, 1], WHITE);
    form.fill([199, 109, 1, 1], WHITE);
    form.text(217, 99, "3a", true);
    let label = form.texts.last_mut().unwrap();
    *label = PhysicalRect { x: 192, y: 91, width: label.width + 30, height: 28 };
    form.bordered([250, 100, 14, 14], BLACK, WHITE);
    form.disc([253, 103, 8], BLACK);
    form.disc([320, 100, 14], BLACK);
    form.disc([321, 101, 12], WHITE);
    form.lines(400, 20);
    form.folder(440, 20);
    form.bevelled([500, 14, 32, 30], WHITE, GREY, PANEL);
    form.folder(506, 20);
    form.bordered([20, 150, 300, 120], GREY, WHITE);
    form.bevelled([20, 300, 100, 30], WHITE, GREY, PANEL);
    form.text(46, 308, "SEND", true);
    // The only row of a list is met where it is, and not in the list's middle.
    form.bordered([400, 150, 200, 50], GREY, WHITE);
    form.text(404, 154, "ANT", true);
    // Lines apart things, and hold nothing.
    form.fill([10, 285, 600, 1], GREY);
    check(
        &form.found(),
        &[
            (Kind::Button, [516, 29]),
            (Kind::Field, [220, 28]),
            (Kind::Icon, [408, 26]),
            (Kind::Icon, [450, 28]),
            (Kind::Field, [220, 68]),
            (Kind::Small, [204, 104]),
            (Kind::Circle, [327, 107]),
            (Kind::Small, [27, 107]),
            (Kind::Small, [257, 107]),
            (Kind::Area, [170, 210]),
            (Kind::Around(4), [70, 315]),
        ],
    );
}

#[test]
fn what_is_dark_round_and_side_by_side_is_found_as_well() {
    let ground = [40, 38, 36];
    let mut bar = Drawing::new(500, 120, ground);
    // Buttons that share their borders.
    bar.fill([20, 20, 91, 30], [90; 3]);
    for button in 0..3 {
        bar.fill([21 + button * 30, 21, 29, 28], [60; 3]);
        bar.disc([30 + button * 30, 29, 12], [230; 3]);
    }
    // With round ends, and a picture in it.
    bar.disc([150, 20, 30], [90; 3]);
    bar.disc([420, 20, 30], [90; 3]);
    bar.fill([165, 20, 270, 30], [90; 3]);
    bar.disc([163, 29, 12], [200; 3]);
    // A tick in a square with round corners, and its label, which is one with it for a reader of text.
    bar.bordered([20, 80, 16, 16], [200; 3], [70; 3]);
    bar.text(46, 81, "day", true);
    let label = bar.texts.last_mut().unwrap();
    *label = PhysicalRect { x: 15, y: 74, width: label.width + 32, height: 28 };
    // A circle before its label, too; but a letter is none.
    bar.disc([380, 80, 14], [200; 3]);
    bar.disc([381, 81, 12], [70; 3]);
    bar.text(406, 81, "oda", true);
    let label = bar.texts.last_mut().unwrap();
    *label = PhysicalRect { x: 376, y: 74, width: label.width + 32, height: 28 };
    // A field in which nothing but a caret is, and a scale.
    bar.bordered([150, 76, 200, 26], [120; 3], [30; 3]);
    bar.fill([155, 80, 1, 18], [240; 3]);
    bar.fill([390, 104, 100, 10], [120; 3]);
    check(
        &bar.found(),
        &[
            (Kind::Field, [300, 35]),
            (Kind::Button, [35, 35]),
            (Kind::Button, [65, 35]),
            (Kind::Button, [95, 35]),
            (Kind::Circle, [169, 35]),
            (Kind::Field, [250, 89]),
            (Kind::Circle, [387, 87]),
            (Kind::Small, [28, 88]),
            (Kind::Bar, [440, 109]),
        ],
    );
}

#[test]
fn a_picture_is_no_hundred_icons_and_a_large_screen_is_looked_at_in_no_time() {
    let mut screen = Drawing::new(1920, 1080, WHITE);
    for (row, column) in (0..14).flat_map(|row| (0..8).map(move |column| (row, column))) {
        screen.bordered([20 + column * 230, 300 + row * 50, 150, 24], GREY, WHITE);
        screen.folder(190 + column * 230, 303 + row * 50);
    }
    let mut seed = 1_u32;
    let mut noise = || {
        seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (seed >> 24) as u8
    };
    for (y, x) in (10..290).flat_map(|y| (10..700).map(move |x| (y, x))) {
        screen.fill([x, y, 1, 1], [noise(), noise(), noise()]);
    }
    let begun = Instant::now();
    let found = screen.found();
    println!("1920x1080 took {:?}", begun.elapsed());
    let of = |kind| found.iter().filter(|(one, _)| *one == kind).count();
    assert_eq!((of(Kind::Field), of(Kind::Icon), found.len()), (112, 112, 224));
    assert!(screen.all().whole);

    let noise: Vec<u8> = (0..1920 * 1080 * 4).map(|_| noise()).collect();
    let begun = Instant::now();
    let frame = Frame { pixels: noise, ..screen.frame };
    let found = shapes(&frame, &PhysicalRect { x: 0, y: 0, width: 1920, height: 1080 }, &[]);
    println!("noise took {:?}", begun.elapsed());
    assert_eq!(found.all, []);
}

#[test]
fn more_than_are_listed_are_said_to_be_left_out() {
    let mut screen = Drawing::new(1000, 1000, WHITE);
    for (row, column) in (0..30).flat_map(|row| (0..30).map(move |column| (row, column))) {
        screen.bordered([10 + column * 32, 10 + row * 32, 14, 14], BLACK, WHITE);
    }
    let found = screen.all();
    assert_eq!((found.all.len(), found.whole), (MOST, false));
}

#[test]
fn a_shape_is_known_again_under_the_pointer_and_with_a_caret_and_is_another_with_a_tick_or_picture() {
    let look = |draw: &dyn Fn(&mut Drawing)| {
        let mut drawing = Drawing::new(200, 60, PANEL);
        drawing.bordered([10, 10, 20, 20], BLACK, WHITE);
        drawing.bordered([50, 10, 140, 24], BLACK, WHITE);
        draw(&mut drawing);
        let of = |[left, top, right, bottom]: [u32; 4]| {
            Appearance::of(&drawing.frame, &Edges { left, top, right, bottom })
        };
        (of([11, 11, 29, 29]), of([51, 11, 189, 33]))
    };
    let (plain, field) = look(&|_| ());
    assert!(plain.is_like(&plain));
    let shone = look(&|drawing| drawing.fill([11, 11, 18, 18], [238; 3])).0;
    assert!(plain.is_like(&shone), "the pointer is over it");
    assert!(field.is_like(&look(&|drawing| drawing.fill([54, 14, 1, 16], BLACK)).1), "a caret");
    let others: [&dyn Fn(&mut Drawing); 4] = [
        &|drawing| drawing.text(14, 13, "x", false),
        &|drawing| drawing.folder(10, 12),
        &|drawing| drawing.fill([11, 11, 18, 18], [60, 200, 60]),
        &|drawing| drawing.lines(13, 14),
    ];
    let others: Vec<Appearance> = others.into_iter().map(|draw| look(draw).0).collect();
    for (at, one) in others.iter().enumerate() {
        assert!(!plain.is_like(one), "{at}");
        assert!(others[..at].iter().all(|other| !one.is_like(other)), "{at}");
    }
    assert!(!field.is_like(&look(&|drawing| drawing.text(54, 14, "abc", false)).1), "a text");
}
