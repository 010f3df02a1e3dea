//! Where two pictures of the same area differ. Pure.

use image::{GrayImage, ImageFormat};
use protocol::geometry::NormRect;
use serde::{Deserialize, Serialize};

/// Steps of grey that count as another colour: less is the encoder's doing.
const NOTABLE: u8 = 10;

/// What changed between two pictures.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Difference {
    /// Around everything that changed, in 0-1000 of the pictures.
    pub bounds: NormRect,
    /// Of all pixels.
    pub percent: f64,
}

/// Compares two JPEGs of the same size. `None` if they look alike, or cannot be compared.
pub fn difference(before: &[u8], after: &[u8]) -> Option<Difference> {
    let (before, after) = (grey(before)?, grey(after)?);
    if before.dimensions() != after.dimensions() {
        return None;
    }
    let (width, height) = before.dimensions();
    let (mut left, mut top, mut right, mut bottom) = (width, height, 0, 0);
    let mut count = 0_u32;
    let row = width.max(1) as usize;
    for (y, (old, new)) in (0_u32..).zip(before.as_raw().chunks(row).zip(after.as_raw().chunks(row))) {
        if old == new {
            continue;
        }
        for (x, (old, new)) in (0_u32..).zip(old.iter().zip(new)) {
            if old.abs_diff(*new) > NOTABLE {
                count += 1;
                (left, right) = (left.min(x), right.max(x + 1));
                (top, bottom) = (top.min(y), bottom.max(y + 1));
            }
        }
    }
    if count == 0 {
        return None;
    }
    let part = |length: u32, of: u32| tidy(f64::from(length) * 1000.0 / f64::from(of));
    let bounds = NormRect {
        x: part(left, width),
        y: part(top, height),
        width: part(right - left, width),
        height: part(bottom - top, height),
    };
    let percent = tidy(f64::from(count) * 100.0 / (f64::from(width) * f64::from(height))).max(0.1);
    Some(Difference { bounds, percent })
}

fn grey(jpeg: &[u8]) -> Option<GrayImage> {
    image::load_from_memory_with_format(jpeg, ImageFormat::Jpeg).ok().map(|image| image.into_luma8())
}

fn tidy(number: f64) -> f64 {
    (number * 10.0).round() / 10.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use image::{ImageBuffer, Luma};
    use std::io::Cursor;

    fn jpeg(paint: impl Fn(u32, u32) -> u8) -> Vec<u8> {
        let image: GrayImage = ImageBuffer::from_fn(400, 200, |x, y| Luma([paint(x, y)]));
        let mut bytes = Vec::new();
        image.write_to(&mut Cursor::new(&mut bytes), ImageFormat::Jpeg).unwrap();
        bytes
    }

    #[test]
    fn the_box_is_around_what_changed() {
        let texture = |x: u32, y: u32| ((x * 7 + y * 13) % 200) as u8;
        let before = jpeg(texture);
        let inside = |x: u32, y: u32| (160..240).contains(&x) && (80..120).contains(&y);
        let after = jpeg(|x, y| if inside(x, y) { 255 } else { texture(x, y) });
        let Difference { bounds, percent } = difference(&before, &after).unwrap();
        // A block of eight pixels around it may have changed too.
        assert!((380.0..=400.0).contains(&bounds.x) && (580.0..=620.0).contains(&(bounds.x + bounds.width)));
        assert!((360.0..=400.0).contains(&bounds.y) && (580.0..=640.0).contains(&(bounds.y + bounds.height)));
        assert!((3.0..=5.0).contains(&percent), "{percent}");
    }

    #[test]
    fn equal_pictures_and_broken_ones_have_no_difference() {
        let one = jpeg(|x, _| x as u8);
        assert_eq!(difference(&one, &one), None);
        assert_eq!(difference(&one, b"not a picture"), None);
    }
}
