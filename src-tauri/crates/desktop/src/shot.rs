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
    /// Scaled down to fit, never up.
    pub max: PictureBudget,
    /// JPEG quality, 20-100.
    pub quality: u8,
}

impl Shot {
    /// A whole display without marks.
    pub fn of_display(display: u32, max: impl Into<PictureBudget>, quality: u8) -> Self {
        let max = max.into();
        Self { area: Area::Display(display), dot: None, trail: Vec::new(), marks: Vec::new(), max, quality }
    }

    /// All of it but the area.
    pub(crate) fn style(&self) -> Style<'_> {
        let Self { area: _, dot, trail, marks, max, quality } = self;
        Style { dot: *dot, trail, marks, max: *max, quality: *quality }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_region_is_all_pixels_it_touches_and_none_beyond_the_display() {
        let display = PhysicalRect { x: 1920, y: 10, width: 1280, height: 800 };
        let rect = |x, y, width, height| NormRect { x, y, width, height };
        let cases = [
            (rect(0.0, 0.0, 1000.0, 1000.0), display),
            (rect(500.0, 250.0, 250.0, 125.0), PhysicalRect { x: 2560, y: 210, width: 320, height: 100 }),
            (rect(999.9, 999.9, 0.1, 0.1), PhysicalRect { x: 3199, y: 809, width: 1, height: 1 }),
            (rect(0.5, 0.0, 0.1, 1.25), PhysicalRect { x: 1920, y: 10, width: 1, height: 1 }),
        ];
        for (wished, expected) in cases {
            assert_eq!(region(&wished, &display), Ok(expected), "{wished:?}");
        }
        for bad in [
            rect(-1.0, 0.0, 10.0, 10.0),
            rect(990.0, 0.0, 11.0, 10.0),
            rect(0.0, 1000.0, 10.0, 10.0),
            rect(0.0, 0.0, 0.0, 10.0),
            rect(f64::NAN, 0.0, 10.0, 10.0),
            rect(0.0, 0.0, 10.0, f64::INFINITY),
        ] {
            assert!(matches!(region(&bad, &display), Err(DesktopError::BadInput(_))), "{bad:?}");
        }
    }
}
