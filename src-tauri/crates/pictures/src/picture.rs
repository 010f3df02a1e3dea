//! A finished picture, and where its pixels are on the screen.

use protocol::geometry::{PhysicalPoint, PhysicalRect, PixelSize};

/// A JPEG of an area.
#[derive(Clone, Debug, PartialEq)]
pub struct Picture {
    pub jpeg: Vec<u8>,
    pub size: PixelSize,
    pub mapping: Mapping,
    /// A hash of the pixels before marking and encoding: equal means that nothing changed.
    pub pixels: u64,
    /// A hash of the places that were made black: equal means the same ones.
    pub covered: u64,
}

/// Where a picture's pixels are on the screen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mapping {
    /// What the picture shows, in the space that spans all displays.
    pub shows: PhysicalRect,
    pub size: PixelSize,
}

impl Mapping {
    /// The screen's pixel below the middle of a picture's pixel; `None` if the picture has no such pixel.
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

    /// The picture's pixel that shows this one of the screen; `None` if it is not in the picture.
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

#[cfg(test)]
mod tests;
