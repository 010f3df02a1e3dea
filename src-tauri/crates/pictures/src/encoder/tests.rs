//! One picture, decoded again: sizes, colours, marks, hashes, and what is refused.

use protocol::geometry::{NormPoint, NormRect, PhysicalRect};

use super::*;
use crate::{Mark, Order, font, marks};

fn frame(width: u32, height: u32, bgrx: [u8; 4]) -> Frame {
    Frame { width, height, order: Order::Bgrx, pixels: bgrx.repeat((width * height) as usize) }
}

/// Every pixel another colour, with edges in all places.
fn noise(width: u32, height: u32) -> Frame {
    let pixel = |at: u32| {
        let (x, y) = (at % width, at / width);
        [(x * 7 + y) as u8, ((x / 9 + y / 5) * 31) as u8, (y * 3) as u8, 0]
    };
    Frame { width, height, order: Order::Bgrx, pixels: (0..width * height).flat_map(pixel).collect() }
}

fn style(width: u32, height: u32) -> Style<'static> {
    let max = PixelSize { width, height }.into();
    Style { dot: None, trail: &[], marks: &[], covers: &[], max, quality: 85 }
}

fn viewport(frame: &Frame) -> Viewport {
    Viewport::whole(PhysicalRect { x: 0, y: 0, width: frame.width, height: frame.height })
}

fn shown(frame: &Frame, style: &Style<'_>) -> Result<Picture, PictureError> {
    encode(&mut frame.clone(), viewport(frame), style)
}

fn decode(picture: &Picture) -> image::RgbImage {
    image::load_from_memory(&picture.jpeg).unwrap().to_rgb8()
}

fn point(x: f64, y: f64) -> NormPoint {
    NormPoint::new(x, y).unwrap()
}

fn is_red([r, g, b]: [u8; 3]) -> bool {
    r > 190 && g < 80 && b < 90
}

#[test]
fn colours_survive_scaling_and_encoding() {
    let picture = shown(&frame(800, 600, [10, 120, 240, 0]), &style(400, 400)).unwrap();
    let decoded = decode(&picture);
    assert_eq!(decoded.dimensions(), (400, 300));
    let [r, g, b] = decoded.get_pixel(200, 150).0;
    assert!(r.abs_diff(240) < 6 && g.abs_diff(120) < 6 && b.abs_diff(10) < 6, "{r},{g},{b}");
}

#[test]
fn stripes_join_to_the_very_picture_that_one_stripe_makes() {
    let (width, height) = (500, 1100);
    let mut frame = noise(width, height);
    let size = PixelSize { width, height };
    let mut encoder = JpegEncoder::new(90).unwrap();
    let whole = encoder.encode(&frame.pixels, size, frame.order).unwrap();
    let (_, whole) = (frame.width, image::load_from_memory(&whole).unwrap().to_rgb8());
    for rows in [64, 256, 576, 1088] {
        let stripes: Vec<_> = frame
            .pixels
            .chunks(rows * width as usize * 4)
            .map(|part| {
                let height = (part.len() / 4) as u32 / width;
                encoder.encode(part, PixelSize { width, height }, Order::Bgrx).unwrap()
            })
            .collect();
        let joined = jpeg::join(stripes, rows, width as usize, height as usize).unwrap();
        let joined = image::load_from_memory(&joined).unwrap().to_rgb8();
        assert_eq!(joined.dimensions(), (width, height));
        // Decoders blend colour across the rows of blocks; they do not across ours, so that edges may differ by little.
        let far = joined.as_raw().iter().zip(whole.as_raw()).filter(|(a, b)| a.abs_diff(**b) > 24).count();
        assert!(far < joined.as_raw().len() / 200, "{rows}: {far} colours differ");
    }
    assert!(
        encode(&mut frame, Viewport::whole(PhysicalRect { x: 0, y: 0, width, height }), &style(9000, 9000))
            .is_ok()
    );
}

#[test]
fn the_dot_is_red_in_a_white_ring_at_its_point_and_the_hash_is_of_the_unmarked_pixels() {
    let plain = frame(1000, 1000, [0, 0, 0, 0]);
    for max in [1000, 500] {
        let dot = Some(point(250.0, 750.0));
        let marked = shown(&plain, &Style { dot, ..style(max, max) }).unwrap();
        let unmarked = shown(&plain, &style(max, max)).unwrap();
        assert_eq!(marked.pixels, unmarked.pixels);
        let decoded = decode(&marked);
        let (x, y) = (max / 4, max * 3 / 4);
        assert!(is_red(decoded.get_pixel(x, y).0), "{:?}", decoded.get_pixel(x, y));
        let ring = if max == 1000 { 7 } else { 5 };
        assert!(decoded.get_pixel(x, y + ring).0.iter().all(|c| *c > 120));
        assert!(decoded.get_pixel(x, y + 30).0.iter().all(|c| *c < 30));
    }
}

#[test]
fn a_dot_in_a_corner_stays_within_the_picture() {
    for (x, y) in [(0.0, 0.0), (1000.0, 0.0), (0.0, 1000.0), (1000.0, 1000.0)] {
        let dot = NormPoint::new(x, y).ok();
        shown(&frame(64, 48, [9, 9, 9, 0]), &Style { dot, ..style(64, 48) }).unwrap();
    }
}

#[test]
fn a_drags_line_goes_through_its_points_up_to_the_dot() {
    let plain = frame(1000, 1000, [60, 60, 60, 0]);
    let trail = vec![point(100.0, 100.0), point(100.0, 800.0)];
    let picture =
        shown(&plain, &Style { trail: &trail, dot: Some(point(900.0, 800.0)), ..style(1000, 1000) }).unwrap();
    let decoded = decode(&picture);
    for (x, y) in [(100, 120), (100, 400), (100, 640), (300, 800), (700, 800), (900, 800)] {
        let near = (-2..=2).any(|d: i32| {
            let at = |v: u32| v.saturating_add_signed(d);
            is_red(decoded.get_pixel(at(x), y).0) || is_red(decoded.get_pixel(x, at(y)).0)
        });
        assert!(near, "{x},{y}: {:?}", decoded.get_pixel(x, y));
    }
    assert!(!is_red(decoded.get_pixel(500, 450).0));
}

#[test]
fn the_dot_of_a_regions_picture_is_where_it_is_on_the_display() {
    let mut part = frame(400, 200, [0, 0, 0, 0]);
    let display = PhysicalRect { x: 100, y: 50, width: 1000, height: 1000 };
    let shows = PhysicalRect { x: 600, y: 550, width: 400, height: 200 };
    let dot = Some(point(600.0, 600.0));
    let picture = encode(&mut part, Viewport { shows, display }, &Style { dot, ..style(400, 200) }).unwrap();
    assert!(is_red(decode(&picture).get_pixel(100, 100).0));
    let mut part = frame(400, 200, [0, 0, 0, 0]);
    let elsewhere = Some(point(100.0, 100.0));
    let picture =
        encode(&mut part, Viewport { shows, display }, &Style { dot: elsewhere, ..style(400, 200) }).unwrap();
    assert!(decode(&picture).pixels().all(|pixel| pixel.0.iter().all(|c| *c < 40)));
}

#[test]
fn what_must_not_be_seen_is_black_whatever_is_drawn_there() {
    let plain = frame(1000, 1000, [255, 255, 255, 0]);
    let covers = [NormRect { x: 100.0, y: 200.0, width: 300.0, height: 50.0 }];
    for max in [1000, 500] {
        let picture = shown(&plain, &Style { covers: &covers, ..style(max, max) }).unwrap();
        let decoded = decode(&picture);
        let dark = |x: u32, y: u32| {
            let at = |length| length * max / 1000;
            decoded.get_pixel(at(x), at(y)).0.iter().all(|colour| *colour < 60)
        };
        assert!([(102, 202), (250, 225), (397, 247)].iter().all(|(x, y)| dark(*x, *y)), "{max}");
        assert!(![(80, 225), (250, 180), (420, 225), (250, 270)].iter().any(|(x, y)| dark(*x, *y)), "{max}");
    }
}

#[test]
fn marks_are_boxes_at_their_elements_with_labels_that_lie_apart() {
    let plain = frame(1000, 1000, [255, 255, 255, 0]);
    let marks: Vec<Mark> = (0..12)
        .map(|n| Mark {
            label: format!("e{}", n + 90),
            bounds: NormRect { x: 100.0 + f64::from(n) * 15.0, y: 300.0, width: 14.0, height: 40.0 },
        })
        .collect();
    let picture = shown(&plain, &Style { marks: &marks, ..style(1000, 1000) }).unwrap();
    let decoded = decode(&picture);
    let dark = |x: u32, y: u32| decoded.get_pixel(x, y).0.iter().map(|c| u32::from(*c)).sum::<u32>() < 500;
    // The right edge of the last box; its middle is as before.
    assert!(dark(278, 320) && !dark(272, 330));
    let display = PhysicalRect { x: 0, y: 0, width: 1000, height: 1000 };
    let size = PixelSize { width: 1000, height: 1000 };
    let boxes = marks::lay_out(&marks, &display, &Mapping { shows: display, size });
    assert_eq!(boxes.len(), 12);
    let off = NormRect { x: 1200.0, y: 0.0, width: 10.0, height: 10.0 };
    let away = [Mark { label: "e1".into(), bounds: off }];
    assert!(marks::lay_out(&away, &display, &Mapping { shows: display, size }).is_empty());
}

#[test]
fn every_letter_of_a_ref_is_drawn_and_told_apart() {
    let drawn: Vec<Vec<_>> =
        ('0'..='9').chain('a'..='z').map(|letter| font::dots(letter).collect()).collect();
    for (at, one) in drawn.iter().enumerate() {
        assert!(one.len() > 6);
        assert!(!drawn[at + 1..].contains(one));
    }
}

#[test]
fn one_changed_pixel_changes_the_hash_and_the_unused_byte_does_not() {
    let hash = |frame: &Frame| shown(frame, &style(16, 16)).unwrap().pixels;
    let before = noise(641, 481);
    for at in [0, 641 * 240 * 4 + 1, 641 * 481 * 4 - 2] {
        let mut after = before.clone();
        after.pixels[at] ^= 1;
        assert_ne!(hash(&after), hash(&before), "byte {at}");
    }
    let mut swapped = before.clone();
    swapped.pixels.swap(0, 64);
    assert_ne!(hash(&swapped), hash(&before));
    assert_eq!(hash(&frame(641, 481, [1, 2, 3, 255])), hash(&frame(641, 481, [1, 2, 3, 0])));
    assert_ne!(hash(&frame(100, 50, [1, 2, 3, 0])), hash(&frame(50, 100, [1, 2, 3, 0])));
}

#[test]
fn the_hash_is_the_same_whether_a_picture_is_scaled_or_not_and_a_thumbnail_has_it_too() {
    let frame = noise(700, 900);
    let full = shown(&frame, &style(700, 900)).unwrap();
    let small = shown(&frame, &style(70, 90)).unwrap();
    assert_eq!(full.pixels, small.pixels);
    assert_eq!(crate::thumbnail(&frame).unwrap().pixels, full.pixels);
}

#[test]
fn a_wish_out_of_range_is_refused_by_name() {
    let plain = frame(10, 10, [0; 4]);
    for bad in [Style { quality: 5, ..style(10, 10) }, Style { quality: 101, ..style(10, 10) }, style(0, 10)]
    {
        assert!(matches!(shown(&plain, &bad), Err(PictureError::Quality(_) | PictureError::NoSize)));
    }
}

#[test]
fn a_picture_after_others_is_the_very_one_that_a_new_encoder_makes() {
    let mut encoder = Encoder::default();
    let mut screen = noise(640, 700);
    let mut agree = |screen: &Frame, style: &Style<'_>, what: &str| {
        let told = encoder.encode(&mut screen.clone(), viewport(screen), style).unwrap();
        let fresh = shown(screen, style).unwrap();
        assert_eq!(told.pixels, fresh.pixels, "{what}");
        assert!(told.jpeg == fresh.jpeg, "{what}: the pictures differ");
        told
    };
    let whole = style(640, 700);
    let dot = Style { dot: Some(point(500.0, 500.0)), ..whole };
    let first = agree(&screen, &whole, "the first");
    agree(&screen, &whole, "nothing new");
    let marked = agree(&screen, &dot, "a mark");
    assert_ne!(marked.jpeg, first.jpeg);
    agree(&screen, &whole, "the mark is gone");
    // The last pixel, by one: what is noticed least.
    let last = screen.pixels.len() - 2;
    screen.pixels[last] ^= 1;
    let changed = agree(&screen, &whole, "one colour");
    assert_ne!(changed.pixels, first.pixels);
    screen.pixels.rotate_left(640 * 4);
    agree(&screen, &dot, "scrolled by a row, and a mark");
    agree(&screen, &Style { quality: 60, ..whole }, "another quality");
    agree(&screen, &style(320, 350), "scaled");
    agree(&screen, &style(320, 350), "scaled again");
    agree(&noise(640, 500), &whole, "a smaller screen");
    agree(&screen, &whole, "the first screen again");
}
