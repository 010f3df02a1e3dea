//! Scaling down with SIMD, into memory of the caller's. Knows nothing of colours.

use fast_image_resize::images::{Image, ImageRef};
use fast_image_resize::{
    FilterType, ImageBufferError, PixelType, ResizeAlg, ResizeError, ResizeOptions, Resizer,
};

/// Bytes of a pixel. The fourth is no alpha: multiplying by it would blacken the picture.
pub const PIXEL: usize = 4;

/// Pixels in rows without gaps, [`PIXEL`] bytes each.
#[derive(Clone, Copy, Debug)]
pub struct Source<'a> {
    pub pixels: &'a [u8],
    pub width: u32,
    pub height: u32,
}

/// A part of a picture, in its pixels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    pub left: u32,
    pub top: u32,
    pub width: u32,
    pub height: u32,
}

/// Why a picture cannot be scaled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ScaleError {
    #[error("the picture is not as large as its pixels: {0}")]
    Source(ImageBufferError),
    #[error("there is no room for the scaled picture: {0}")]
    Target(ImageBufferError),
    #[error("the part is not within the picture: {0}")]
    Part(ResizeError),
}

/// Keeps its working memory from picture to picture.
#[derive(Default)]
pub struct Scaler(Resizer);

impl Scaler {
    /// Scales a part of `source` (all of it if `None`) bilinearly to `width` x `height` pixels, which `into` must
    /// hold at [`PIXEL`] bytes each.
    ///
    /// # Errors
    /// Source, part or target is not of its size.
    pub fn scale(
        &mut self,
        source: Source<'_>,
        part: Option<Part>,
        (width, height): (u32, u32),
        into: &mut [u8],
    ) -> Result<(), ScaleError> {
        let from = ImageRef::new(source.width, source.height, source.pixels, PixelType::U8x4)
            .map_err(ScaleError::Source)?;
        let mut to =
            Image::from_slice_u8(width, height, into, PixelType::U8x4).map_err(ScaleError::Target)?;
        let mut options =
            ResizeOptions::new().resize_alg(ResizeAlg::Convolution(FilterType::Bilinear)).use_alpha(false);
        if let Some(Part { left, top, width, height }) = part {
            options = options.crop(left.into(), top.into(), width.into(), height.into());
        }
        self.0.resize(&from, &mut to, &options).map_err(ScaleError::Part)
    }
}
