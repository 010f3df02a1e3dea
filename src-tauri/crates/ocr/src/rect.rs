//! Rectangles in a frame's pixels, and cutting them out. Arithmetic only.

use pictures::{Frame, Order, PIXEL, Part, Scaler, Source};

use crate::OcrError;

/// A part of a frame; `right` and `bottom` are outside of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Rect {
    pub left: u32,
    pub top: u32,
    pub right: u32,
    pub bottom: u32,
}

impl Rect {
    pub(crate) fn of(frame: &Frame) -> Self {
        Self { left: 0, top: 0, right: frame.width, bottom: frame.height }
    }

    pub(crate) fn width(&self) -> u32 {
        self.right.saturating_sub(self.left)
    }

    pub(crate) fn height(&self) -> u32 {
        self.bottom.saturating_sub(self.top)
    }

    pub(crate) fn area(&self) -> u64 {
        u64::from(self.width()) * u64::from(self.height())
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.area() == 0
    }

    /// The part of both; of no area where they do not meet.
    pub(crate) fn common(&self, other: &Self) -> Self {
        let (left, top) = (self.left.max(other.left), self.top.max(other.top));
        Self {
            left,
            top,
            right: self.right.min(other.right).max(left),
            bottom: self.bottom.min(other.bottom).max(top),
        }
    }

    pub(crate) fn meets(&self, other: &Self) -> bool {
        !self.common(other).is_empty()
    }

    pub(crate) fn union(&self, other: &Self) -> Self {
        Self {
            left: self.left.min(other.left),
            top: self.top.min(other.top),
            right: self.right.max(other.right),
            bottom: self.bottom.max(other.bottom),
        }
    }

    /// Larger on each side, within `all`.
    pub(crate) fn grown(&self, x: u32, y: u32, all: &Self) -> Self {
        Self {
            left: self.left.saturating_sub(x),
            top: self.top.saturating_sub(y),
            right: self.right.saturating_add(x),
            bottom: self.bottom.saturating_add(y),
        }
        .common(all)
    }

    pub(crate) fn middle(&self) -> (u32, u32) {
        (self.left + self.width() / 2, self.top + self.height() / 2)
    }

    pub(crate) fn holds(&self, (x, y): (u32, u32)) -> bool {
        (self.left..self.right).contains(&x) && (self.top..self.bottom).contains(&y)
    }
}

/// What a network takes: three planes of -1 to 1, blue first, rows and planes without gaps.
pub(crate) struct Planes<'a> {
    pub into: &'a mut [f32],
    /// Of each plane, which may be larger than what is put in.
    pub width: usize,
    pub height: usize,
}

/// Cuts a part out of a frame, scales it to `width` x `height` and puts it at the planes' top left.
pub(crate) fn cut(
    frame: &Frame,
    part: &Rect,
    (width, height): (u32, u32),
    planes: &mut Planes<'_>,
) -> Result<(), OcrError> {
    let source = Source { pixels: &frame.pixels, width: frame.width, height: frame.height };
    let part = Part { left: part.left, top: part.top, width: part.width(), height: part.height() };
    let mut target = vec![0; width as usize * height as usize * PIXEL];
    Scaler::default()
        .scale(source, Some(part), (width, height), &mut target)
        .map_err(|error| OcrError::Failed(format!("cut text out: {error}")))?;
    let bytes: [usize; 3] = match frame.order {
        Order::Bgrx => [0, 1, 2],
        Order::Rgbx => [2, 1, 0],
    };
    let size = planes.width * planes.height;
    let rows = target.chunks_exact(width as usize * PIXEL);
    for (plane, byte) in planes.into.chunks_exact_mut(size).zip(bytes) {
        for (to, from) in plane.chunks_exact_mut(planes.width).zip(rows.clone()) {
            for (value, pixel) in to.iter_mut().zip(from.chunks_exact(PIXEL)) {
                *value = pixel.get(byte).map_or(0.0, |colour| f32::from(*colour) / 127.5 - 1.0);
            }
        }
    }
    Ok(())
}
