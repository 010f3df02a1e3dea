//! Parts of a display: in pixels of the screen, and cut out of a frame. Arithmetic only.

use pictures::Frame;
use protocol::geometry::{NormRect, PhysicalRect};

use crate::DesktopError;

/// A part of a display in pixels.
///
/// # Errors
/// `BadInput` where nothing of it is on the display.
pub(crate) fn region(rect: &NormRect, display: &PhysicalRect) -> Result<PhysicalRect, DesktopError> {
    let along = |start: f64, length: f64, from: i32, room: u32| {
        let pixel = |norm: f64| (norm.clamp(0.0, 1000.0) / 1000.0 * f64::from(room)).round() as i32;
        let (first, end) = (pixel(start), pixel(start + length));
        (from + first, u32::try_from(end - first).unwrap_or(0))
    };
    let (x, width) = along(rect.x, rect.width, display.x, display.width);
    let (y, height) = along(rect.y, rect.height, display.y, display.height);
    if width == 0 || height == 0 {
        return Err(DesktopError::BadInput("the region has no pixel on the display".into()));
    }
    Ok(PhysicalRect { x, y, width, height })
}

/// The part of a display's frame that shows `wanted`; a frame may have other pixels than the display says.
///
/// # Errors
/// `Failed` where the frame's bytes do not fit its size.
pub(crate) fn crop(
    frame: &Frame,
    display: &PhysicalRect,
    wanted: &PhysicalRect,
) -> Result<Frame, DesktopError> {
    let along = |start: i32, length: u32, from: i32, room: u32, pixels: u32| {
        let part = f64::from(pixels) / f64::from(room.max(1));
        let first = ((f64::from(start - from) * part).round().max(0.0) as u32).min(pixels.saturating_sub(1));
        let count = ((f64::from(length) * part).round().max(1.0) as u32).min(pixels - first);
        (first as usize, count as usize)
    };
    let (left, width) = along(wanted.x, wanted.width, display.x, display.width, frame.width);
    let (top, height) = along(wanted.y, wanted.height, display.y, display.height, frame.height);
    let mut pixels = Vec::with_capacity(width * height * 4);
    for row in top..top + height {
        let start = (row * frame.width as usize + left) * 4;
        let line = frame.pixels.get(start..start + width * 4);
        pixels.extend_from_slice(
            line.ok_or_else(|| DesktopError::Failed("the captured frame is too short".into()))?,
        );
    }
    Ok(Frame { width: width as u32, height: height as u32, order: frame.order, pixels })
}

#[cfg(test)]
mod tests;
