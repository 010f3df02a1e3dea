//! Small grey copies of frames: whether and where a screen changed, without encoding anything.

use protocol::geometry::{NormRect, PictureBudget, PixelSize};
use serde::{Deserialize, Serialize};

use crate::scale::{PIXEL, Scaler, Source};
use crate::{Frame, Order, PictureError, hash};

/// The longest side, in pixels: enough to say where something changed.
const SIDE: u32 = 640;
/// Steps of grey that count as another colour; less is not noticed by people either.
const NOTABLE: u8 = 10;

/// What a frame looked like.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Thumbnail {
    /// A hash of the whole frame's pixels, as a picture of it has: equal means that nothing changed.
    pub pixels: u64,
    size: PixelSize,
    /// A byte a pixel, rows without gaps.
    grey: Vec<u8>,
}

/// What changed between two thumbnails.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Difference {
    /// Around everything that changed, in 0-1000 of the frames.
    pub bounds: NormRect,
    /// Of all pixels.
    pub percent: f64,
}

/// The thumbnail of one frame.
///
/// # Errors
/// The frame's bytes do not fit its size.
pub fn thumbnail<P: AsRef<[u8]>>(frame: &Frame<P>) -> Result<Thumbnail, PictureError> {
    Thumbnail::of(frame, &mut Scaler::default(), &mut Vec::new())
}

impl Thumbnail {
    /// `scaled` is working memory.
    pub(crate) fn of<P: AsRef<[u8]>>(
        frame: &Frame<P>,
        scaler: &mut Scaler,
        scaled: &mut Vec<u8>,
    ) -> Result<Self, PictureError> {
        let pixels = frame.pixels.as_ref();
        let full = frame.checked_size(pixels.len())?;
        let hash = hash::together(&hash::bands(pixels, full), full);
        let size = PictureBudget::from(PixelSize { width: SIDE, height: SIDE }).fit(full);
        let colours = if size == full {
            pixels
        } else {
            scaled.resize(size.width as usize * size.height as usize * PIXEL, 0);
            let source = Source { pixels, width: full.width, height: full.height };
            scaler.scale(source, None, (size.width, size.height), scaled)?;
            scaled
        };
        // Thousandths of brightness, in the order of the bytes.
        let [one, two, three]: [u32; 3] = match frame.order {
            Order::Bgrx => [114, 587, 299],
            Order::Rgbx => [299, 587, 114],
        };
        let grey = |&[a, b, c, _]: &[u8; PIXEL]| {
            ((u32::from(a) * one + u32::from(b) * two + u32::from(c) * three) / 1000) as u8
        };
        Ok(Self { pixels: hash, size, grey: colours.as_chunks::<PIXEL>().0.iter().map(grey).collect() })
    }

    /// What changed until `after`; `None` if both look alike, or are of different sizes.
    pub fn difference(&self, after: &Self) -> Option<Difference> {
        let PixelSize { width, height } = self.size;
        if after.size != self.size {
            return None;
        }
        let (mut left, mut top, mut right, mut bottom) = (width, height, 0, 0);
        let mut count = 0_u32;
        let row = width.max(1) as usize;
        for (y, (old, new)) in (0_u32..).zip(self.grey.chunks(row).zip(after.grey.chunks(row))) {
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
}

fn tidy(number: f64) -> f64 {
    (number * 10.0).round() / 10.0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame((width, height): (u32, u32), paint: impl Fn(u32, u32) -> u8) -> Frame {
        let pixel = |at: u32| [paint(at % width, at / width); 4];
        let pixels = (0..width * height).flat_map(pixel).collect();
        Frame { width, height, order: Order::Bgrx, pixels }
    }

    #[test]
    fn the_box_is_around_what_changed_in_small_frames_and_large_ones() {
        // A large frame's edge is blurred over two of the thumbnail's pixels.
        for (scale, room) in [(1, 0.0), (8, 7.0)] {
            let size = (400 * scale, 200 * scale);
            let texture = |x: u32, y: u32| ((x / scale * 7 + y / scale * 13) % 200) as u8;
            let inside =
                |x: u32, y: u32| (160..240).contains(&(x / scale)) && (80..120).contains(&(y / scale));
            let before = thumbnail(&frame(size, texture)).unwrap();
            let after =
                thumbnail(&frame(size, |x, y| if inside(x, y) { 255 } else { texture(x, y) })).unwrap();
            assert_ne!(before.pixels, after.pixels);
            let Difference { bounds, percent } = before.difference(&after).unwrap();
            let is_near = |is: f64, wanted: f64| (is - wanted).abs() <= room;
            assert!(is_near(bounds.x, 400.0) && is_near(bounds.width, 200.0), "{bounds:?}");
            assert!(is_near(bounds.y, 400.0) && is_near(bounds.height, 200.0), "{bounds:?}");
            assert!((3.8..=4.4).contains(&percent), "{percent}");
        }
    }

    #[test]
    fn equal_frames_and_those_of_another_size_have_no_difference() {
        let one = thumbnail(&frame((300, 200), |x, _| x as u8)).unwrap();
        assert_eq!(one.difference(&one), None);
        let faint = thumbnail(&frame((300, 200), |x, _| (x as u8).saturating_add(3))).unwrap();
        assert_ne!(one.pixels, faint.pixels);
        assert_eq!(one.difference(&faint), None);
        let other = thumbnail(&frame((200, 300), |x, _| x as u8)).unwrap();
        assert_eq!(one.difference(&other), None);
        let broken = Frame { pixels: vec![0; 7], ..frame((2, 2), |_, _| 0) };
        assert!(matches!(thumbnail(&broken), Err(PictureError::Frame { .. })));
    }

    #[test]
    fn green_is_brighter_than_blue_in_either_order() {
        let of = |order, pixel: [u8; 4]| {
            thumbnail(&Frame { width: 1, height: 1, order, pixels: pixel.to_vec() }).unwrap().grey
        };
        assert_eq!(of(Order::Rgbx, [0, 0, 200, 9]), of(Order::Bgrx, [200, 0, 0, 0]));
        assert!(of(Order::Rgbx, [0, 200, 0, 0]) > of(Order::Rgbx, [200, 0, 0, 0]));
    }
}
