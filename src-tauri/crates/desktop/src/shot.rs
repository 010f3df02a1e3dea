//! What can be asked of a screen: a picture, the text of an area. Data and arithmetic only.

use pictures::{Mark, Style};
use protocol::geometry::{NormPoint, NormRect, PhysicalRect, PictureBudget};

use crate::{DesktopError, WindowId};

/// A part of the screen.
#[derive(Clone, Debug, PartialEq)]
pub enum Area {
    /// A whole display by its index; 0 is the first.
    Display(u32),
    /// One window with its frame, also where others cover it.
    Window(WindowId),
    /// A part of a display, in its 0-1000.
    Region { display: u32, rect: NormRect },
}

/// The pixels of a region of `display`: every one it touches.
///
/// # Errors
/// [`DesktopError::BadInput`] where it reaches beyond the display or has no area.
pub(crate) fn region(rect: &NormRect, display: &PhysicalRect) -> Result<PhysicalRect, DesktopError> {
    // What a model computed may be beyond the edge by a rounding error.
    let on_display = |from: f64, length: f64| {
        from >= 0.0 && length > 0.0 && from < 1000.0 && from + length <= 1000.0 + 1e-6
    };
    if !on_display(rect.x, rect.width) || !on_display(rect.y, rect.height) {
        let NormRect { x, y, width, height } = rect;
        return Err(DesktopError::BadInput(format!(
            "the region x = {x}, y = {y}, width = {width}, height = {height} is not within 0-1000 of the display"
        )));
    }
    let along = |from: f64, length: f64, origin: i32, pixels: u32| {
        let pixel = |norm: f64| norm * f64::from(pixels) / 1000.0;
        let first = (pixel(from) + 1e-6).floor().min(f64::from(pixels.saturating_sub(1))) as u32;
        let end = (pixel(from + length) - 1e-6).ceil().min(f64::from(pixels)) as u32;
        (origin + first as i32, end.saturating_sub(first).max(1))
    };
    let (x, width) = along(rect.x, rect.width, display.x, display.width);
    let (y, height) = along(rect.y, rect.height, display.y, display.height);
    Ok(PhysicalRect { x, y, width, height })
}

/// A wish for a picture.
#[derive(Clone, Debug, PartialEq)]
pub struct Shot {
    pub area: Area,
    /// The red dot, where an action took place: on the area's display, in 0-1000 of that display.
    pub dot: Option<NormPoint>,
    /// A drag's line, drawn up to the dot. In the same space.
    pub trail: Vec<NormPoint>,
    /// Numbered boxes. In the same space.
    pub marks: Vec<Mark>,
    /// Places that must not be seen: they are black. In the same space.
    pub covers: Vec<NormRect>,
    /// Scaled down to fit, never up.
    pub max: PictureBudget,
    /// JPEG quality, 20-100.
    pub quality: u8,
}

impl Shot {
    /// A whole display without marks.
    pub fn of_display(display: u32, max: impl Into<PictureBudget>, quality: u8) -> Self {
        let max = max.into();
        let (trail, marks, covers) = (Vec::new(), Vec::new(), Vec::new());
        Self { area: Area::Display(display), dot: None, trail, marks, covers, max, quality }
    }

    /// All of it but the area.
    pub(crate) fn style(&self) -> Style<'_> {
        let Self { area: _, dot, trail, marks, covers, max, quality } = self;
        Style { dot: *dot, trail, marks, covers, max: *max, quality: *quality }
    }
}

#[cfg(test)]
mod tests;
