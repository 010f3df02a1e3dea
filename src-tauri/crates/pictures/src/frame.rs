//! Raw pixels, and which part of which display they show. Data only.

use protocol::geometry::{PhysicalRect, PixelSize};

use crate::PictureError;

/// Raw pixels, four bytes each, rows without gaps; owned, or borrowed from memory that is kept elsewhere.
#[derive(Clone, Debug, PartialEq)]
pub struct Frame<P = Vec<u8>> {
    pub width: u32,
    pub height: u32,
    pub order: Order,
    pub pixels: P,
}

impl<P> Frame<P> {
    /// Its size, if so many bytes are that.
    pub(crate) fn checked_size(&self, bytes: usize) -> Result<PixelSize, PictureError> {
        let Self { width, height, .. } = *self;
        let expected = u64::from(width) * u64::from(height) * 4;
        if bytes as u64 != expected || expected == 0 {
            return Err(PictureError::Frame { bytes, width, height, expected });
        }
        Ok(PixelSize { width, height })
    }
}

/// Order of a pixel's bytes; the fourth byte means nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// X11's.
    Bgrx,
    /// That of captures on macOS and Windows.
    Rgbx,
}

/// Where a frame was taken, in the space that spans all displays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Viewport {
    /// What the frame shows.
    pub shows: PhysicalRect,
    /// The display whose 0-1000 the points of a [`crate::Style`] are in.
    pub display: PhysicalRect,
}

impl Viewport {
    /// A whole display.
    pub fn whole(display: PhysicalRect) -> Self {
        Self { shows: display, display }
    }
}
