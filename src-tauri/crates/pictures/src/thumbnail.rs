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

    /// A byte of brightness a pixel, in rows: of the frame itself where that is small.
    pub fn grey(&self) -> &[u8] {
        &self.grey
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
mod tests;
