//! Pictures: what is wished for, what is had, and where its pixels are on the screen. Data and arithmetic only.

use protocol::geometry::{NormPoint, NormRect, PhysicalPoint, PhysicalRect, PixelSize};
use serde::{Deserialize, Serialize};

use crate::WindowId;

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
    pub max: PixelSize,
    /// JPEG quality, 20-100.
    pub quality: u8,
}

impl Shot {
    /// A whole display without marks.
    pub fn of_display(display: u32, max: PixelSize, quality: u8) -> Self {
        Self { area: Area::Display(display), dot: None, trail: Vec::new(), marks: Vec::new(), max, quality }
    }
}

/// A numbered box around an element.
#[derive(Clone, Debug, PartialEq)]
pub struct Mark {
    /// The element's ref.
    pub label: String,
    pub bounds: NormRect,
}

/// A JPEG of an area.
#[derive(Clone, Debug, PartialEq)]
pub struct Picture {
    pub jpeg: Vec<u8>,
    pub size: PixelSize,
    pub mapping: Mapping,
    /// A hash of the pixels before marking and encoding: equal means that nothing changed.
    pub pixels: u64,
    /// A perceptual hash (64 bits, compared by the number of differing ones): near means that it looks the same.
    pub looks: u64,
}

/// Where a picture's pixels are on the screen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mapping {
    /// What the picture shows, in the space that spans all displays.
    pub shows: PhysicalRect,
    pub size: PixelSize,
}

impl Mapping {
    /// The screen's pixel below the middle of a picture's pixel; nothing where the picture has no such pixel.
    pub fn to_screen(&self, x: u32, y: u32) -> Option<PhysicalPoint> {
        if x >= self.size.width || y >= self.size.height {
            return None;
        }
        let place = |at: u32, origin: i32, shown: u32, length: u32| {
            let middle = (f64::from(at) + 0.5) * f64::from(shown) / f64::from(length);
            origin + (middle.floor() as i32).min(shown as i32 - 1)
        };
        Some(PhysicalPoint {
            x: place(x, self.shows.x, self.shows.width, self.size.width),
            y: place(y, self.shows.y, self.shows.height, self.size.height),
        })
    }

    /// The picture's pixel that shows this one of the screen; nothing where it is not in the picture.
    pub fn to_picture(&self, point: PhysicalPoint) -> Option<(u32, u32)> {
        if !self.shows.contains(point) {
            return None;
        }
        let place = |at: i32, origin: i32, shown: u32, length: u32| {
            let part = (f64::from(at - origin) + 0.5) / f64::from(shown);
            ((part * f64::from(length)).floor() as u32).min(length.saturating_sub(1))
        };
        Some((
            place(point.x, self.shows.x, self.shows.width, self.size.width),
            place(point.y, self.shows.y, self.shows.height, self.size.height),
        ))
    }
}

/// A line of text that was read in a picture.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TextLine {
    pub text: String,
    /// In 0-1000 of the display.
    pub bounds: NormRect,
    /// 0-1, as the reader says.
    pub confidence: f32,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pixel_goes_to_the_screen_and_back() {
        let mapping = Mapping {
            shows: PhysicalRect { x: 1920, y: -200, width: 1600, height: 900 },
            size: PixelSize { width: 800, height: 450 },
        };
        for (x, y) in [(0, 0), (799, 449), (400, 225), (1, 448)] {
            let point = mapping.to_screen(x, y).unwrap();
            assert!(mapping.shows.contains(point));
            assert_eq!(mapping.to_picture(point), Some((x, y)));
        }
        assert_eq!(mapping.to_screen(800, 0), None);
        assert_eq!(mapping.to_picture(PhysicalPoint { x: 1919, y: 0 }), None);
    }
}
